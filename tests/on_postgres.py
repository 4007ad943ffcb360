"""The tests on PostgreSQL: `python -m tests.on_postgres [PYTEST ARGUMENTS]`.

On the server of DATABASE_URL where that is a PostgreSQL (tests make a database test_NAME of their own there), else on
a temporary one. The exit status is pytest's.
"""

from __future__ import annotations

import os
import signal
import sys

import pytest

from tests.temp_postgres import temporary_postgres


def main(arguments: list[str]) -> int:
    """Run pytest with these arguments and give its exit status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the server is stopped then, too
    if os.environ.get("DATABASE_URL", "").startswith("postgres"):
        try:
            return int(pytest.main(arguments))
        finally:
            drop_template()
    with temporary_postgres() as url:
        os.environ["DATABASE_URL"] = url
        return int(pytest.main(arguments))


def drop_template() -> None:
    """Leave no template of the test databases on a server that is not ours."""
    from django.apps import apps

    if apps.ready:  # else pytest ended before it made one
        from tests import template_database

        template_database.drop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
