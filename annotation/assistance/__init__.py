"""Models in the loop and proposals: requests to a model, its replies, and the origin of a response."""
