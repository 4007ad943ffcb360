"""Attacks on the platform, each as a test: docs/security.md names them beside what they try."""

import os

LONG_RUN = int(os.environ.get("ASKEW_FUZZ", "0"))
"""How many inputs a test that draws its own tries, where somebody asks for a long run (ASKEW_FUZZ=20000)."""
