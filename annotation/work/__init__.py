"""What the loop of the annotators stands on: the queue and its places, shares, limits, and what comes before an item."""
