"""Test databases are copies of a migrated template, because migrating takes three seconds of CPU.

* SQLite: a file under `.venv/`, named by a hash of the migrations, the models and the locked packages. It stays for the
  next run.
* PostgreSQL: a database of the same server, which the workers of one run share.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from annotation.platform import immutable_rows

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (
    "annotation/migrations/*.py",
    "annotation/models/*.py",
    "annotation/platform/immutable_rows.py",
    "annotation/platform/public_ids.py",
    "annotation/platform/database/**/*.py",
    "config/settings.py",
    "requirements.txt",
    "tests/settings.py",
    "tests/template_database.py",
)
"""The files that decide what a migrated, empty database contains."""
MOST_FILES = 30
"""SQLite templates that are kept: worktrees with other models may share one `.venv/`."""


def create() -> str:
    """Make the test database of this process a copy of the template; returns the name that the settings had before."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        _copy_file()
    else:
        _copy_database()
    return name


def _copy_file() -> None:
    folder = Path(sys.prefix) / "test-databases"
    folder.mkdir(exist_ok=True)
    template = folder / f"{_key()}.sqlite3"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the first process migrates, the others wait for its file
        if template.exists():
            os.utime(template)
            test_name = _test_name()
            shutil.copyfile(template, test_name)
            _connect_to(test_name)
        else:
            test_name = _migrate()
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()
            shutil.copyfile(test_name, template.with_suffix(".new"))
            template.with_suffix(".new").replace(template)
        newest = sorted(folder.glob("*.sqlite3"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in newest[MOST_FILES:]:
            file.unlink()


def _copy_database() -> None:
    test_name = _test_name()
    template = f"askew_template_{_key()}"
    with _server() as cursor:
        cursor.execute("SELECT pg_advisory_lock(20261123)")  # released when this connection closes
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [template])
        if cursor.fetchone() is None:
            _migrate()
            connection.close()
            cursor.execute(f'ALTER DATABASE "{test_name}" RENAME TO "{template}"')
        cursor.execute(f'DROP DATABASE IF EXISTS "{test_name}"')
        cursor.execute(f'CREATE DATABASE "{test_name}" TEMPLATE "{template}"')
    _connect_to(test_name)


def empty() -> None:
    """Delete all rows except those that the migrations wrote: permissions and types of contents."""
    with immutable_rows.writable(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
            if cursor.fetchone() != (True,):
                cursor.execute(f"TRUNCATE {', '.join(_tables())}")
                return
            # Foreign keys are triggers there. Deleting few rows is much faster than truncating 60 tables.
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(";".join(f"DELETE FROM {table}" for table in _tables()))
        else:
            cursor.execute("PRAGMA defer_foreign_keys = ON")
            for table in _tables():
                cursor.execute(f"DELETE FROM {table}")


@cache
def _tables() -> list[str]:
    written = {"django_content_type", "auth_permission"}
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    return [connection.ops.quote_name(name) for name in names if name not in written]


def drop() -> None:
    """Drop the template on the PostgreSQL server."""
    with _server() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "askew_template_{_key()}"')


@contextmanager
def _server() -> Iterator[Any]:
    """A cursor on the server, outside of the test database."""
    with connection._nodb_cursor() as cursor:
        yield cursor


def _test_name() -> str:
    """As Django and pytest-django name it."""
    database = connection.settings_dict
    return str(database["TEST"]["NAME"] or f"test_{database['NAME']}")


def _migrate() -> str:
    return connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)


def _connect_to(test_name: str) -> None:
    connection.close()
    settings.DATABASES[connection.alias]["NAME"] = test_name
    connection.settings_dict["NAME"] = test_name


def _key() -> str:
    digest = hashlib.sha256(sys.version.encode())
    for pattern in SOURCES:
        for file in sorted(ROOT.glob(pattern)):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:20]
