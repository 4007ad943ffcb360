"""Commands, and what they run: consistency checks, backup, demo data, simulation, catalogues, reference pages."""
