#!/usr/bin/env python
"""Django's commands. `./run manage ...` calls this with the environment set up and the key in place."""

import os
import sys


def main() -> None:
    """Run the command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit(
            "manage.py: Django is not installed for this Python; use ./run manage ..., which sets it up."
        )
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
