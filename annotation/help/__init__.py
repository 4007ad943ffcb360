"""The model beside the person: what is asked of it, what it said, what it proposed, and whose the result is."""
