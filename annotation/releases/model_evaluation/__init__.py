"""Evaluation of models on a release: queries, stored runs and their report."""
