"""Figures of a study: charts as SVG for pages, as files for papers, with their numbers in tables."""
