"""Release folders: their records, read without holding them in memory, and what can be verified without task types."""
