#!/usr/bin/env python
"""Django's commands. `./run manage ...` calls this with the environment set up and the key in place."""

import os
import sys


def main() -> None:
    """Run the command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        import django
        from django.conf import settings
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line, get_commands
        from django.db import OperationalError, ProgrammingError
    except ImportError:
        sys.exit("manage.py: this Python has no Django; ./run manage ... uses one that has.")
    try:
        settings.SECRET_KEY  # noqa: B018  loads the settings: what is wrong with them is one line, not a traceback
    except ImproperlyConfigured as error:
        sys.exit(f"manage.py: {error}")
    django.setup()
    name = sys.argv[1] if len(sys.argv) > 1 else "help"
    if not name.startswith("-") and name not in {"help", "version", *get_commands()}:
        sys.stderr.write(f"manage.py: there is no command {name!r}; ./run manage help lists them\n")
        sys.exit(2)
    try:
        execute_from_command_line(sys.argv)
    except (OperationalError, ProgrammingError) as error:
        why = str(error).strip().partition("\n")[0]
        sys.exit(f"manage.py: the database: {why}. Is it there, and is ./run manage migrate done?")


if __name__ == "__main__":
    main()
