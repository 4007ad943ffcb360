"""People: how they come in, what is theirs, how they leave."""
