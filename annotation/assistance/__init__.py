"""Models in the loop and proposals: what is asked of a model, what it replied, and whose a response is."""
