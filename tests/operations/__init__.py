"""How a site is run: under a path, behind a proxy, on several machines, watched."""
