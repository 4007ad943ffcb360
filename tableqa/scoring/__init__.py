"""Answers of models and systems: matching, metrics, ratings and tables of results."""
