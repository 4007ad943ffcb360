"""Charts as SVG, with their numbers in tables."""
