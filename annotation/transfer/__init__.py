"""Work that people did in other annotation tools, into a project."""
