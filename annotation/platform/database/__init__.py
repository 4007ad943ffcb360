"""Connections to the database that wait for a limited time, and what it means when one fails."""

SILENT = "the database does not respond"
