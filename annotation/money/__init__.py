"""Time at work, what it costs, and what a release says about it."""
