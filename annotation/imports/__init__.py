"""Imports of examples, of labels, and of responses of other annotation tools."""
