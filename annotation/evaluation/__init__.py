"""Predictions on released data: runs and their reports."""
