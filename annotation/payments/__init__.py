"""Time and pay of people, and the data statement of a release."""
