"""How the rooms are put together: settings from the environment, the address map, the entry points for a web server."""
