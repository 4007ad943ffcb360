"""The queue of annotators: slots, leases, allocation, entry requirements, lineage of items, requests to models."""
