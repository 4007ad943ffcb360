"""Whether labels can be trusted: before, while and after people give them."""
