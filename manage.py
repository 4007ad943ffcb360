#!/usr/bin/env python
"""Django's commands. `./run manage ...` calls this with the environment set up and the key in place."""

import os
import sys


def main() -> None:
    """Run the command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        from django.conf import settings
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit("manage.py: this Python has no Django; ./run manage ... uses one that has.")
    try:
        settings.SECRET_KEY  # noqa: B018  loads the settings: what is wrong with them is one line, not a traceback
    except ImproperlyConfigured as error:
        sys.exit(f"manage.py: {error}")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
