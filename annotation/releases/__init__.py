"""Releases: created from the database, read and verified without one, restored, and evaluated."""
