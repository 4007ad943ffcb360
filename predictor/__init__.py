"""The model in the loop: one protocol, one client, one server process (docs/architecture.md)."""

from predictor.bundled import load_bundled
