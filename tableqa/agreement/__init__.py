"""Agreement of annotators, and how many items an estimate needs."""
