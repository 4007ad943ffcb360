"""A module for each program: `write(sheets, path, plan)` writes a file with it; the first sheet has the questions."""
