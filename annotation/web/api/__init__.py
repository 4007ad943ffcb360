"""The REST interface: the journeys' functions under /api/, for pages and programs alike (docs/reference/api.md)."""
