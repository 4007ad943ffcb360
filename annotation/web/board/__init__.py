"""The board of a project: what needs a person now, what is blocked and why, how far the work is, and its flow."""
