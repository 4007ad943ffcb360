"""The platform Askew as an installed package. `python -m askew` puts this folder on the path, which has all its modules."""
