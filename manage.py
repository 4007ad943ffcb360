#!/usr/bin/env python
"""Django's commands. `./run manage ...` calls this with the environment set up and the key in place."""

import os
import sys

from tableqa.core.command_line import PROGRAM


def main() -> None:
    """Run the command named on the command line: status 2 for one that does not exist, one line for what is missing."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line, get_commands
        from django.db import OperationalError, ProgrammingError
        from django.db.migrations.exceptions import MigrationSchemaMissing

        from annotation.platform.database import SILENT
    except ImportError:
        sys.exit(f"manage.py: Django is not installed for this Python. Use {PROGRAM} manage.")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"manage.py: {error}")
    except (OperationalError, ProgrammingError, MigrationSchemaMissing) as error:
        why = str(error).strip().partition("\n")[0]
        if "locked" in why:
            sys.exit("manage.py: the database is locked by another process. Run the command again later.")
        if why == SILENT or "statement timeout" in why:
            sys.exit(f"manage.py: the database: {why}. Check whether it is busy and the network works.")
        sys.exit(f"manage.py: the database: {why}. Check that it exists and run {PROGRAM} manage migrate.")
    except SystemExit as end:
        name = sys.argv[1] if len(sys.argv) > 1 else "help"
        if end.code == 1 and not name.startswith("-") and name not in {"help", "version", *get_commands()}:
            sys.exit(2)
        raise


if __name__ == "__main__":
    main()
