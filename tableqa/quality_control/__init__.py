"""Careless responding, annotation artifacts, and audits of edits."""
