"""Whether the code and the database are of the same version, judged by their migrations."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


class Process:
    """What this process knows of its database. Those that serve pages begin with False (`config.database_version`)."""

    is_fit = True


process = Process()


def applied() -> list[str]:
    """The migrations of the database as `app.name`, sorted."""
    return sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations())


def unapplied() -> list[str]:
    """The migrations that this code has and the database lacks, as `app.name`, in order."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def unknown(migrations: Iterable[str]) -> list[str]:
    """Those of these migrations (`app.name`) that are newer than this code, sorted.

    Names are numbered, so a migration is newer if it comes after the last one that this code has of its app. Others that
    this code lacks were merged into one (squashed), or belong to an app that was removed.
    """
    last: dict[str, str] = {}
    for app, name in MigrationLoader(None).disk_migrations:
        last[app] = max(name, last.get(app, ""))
    split = sorted(tuple(migration.split(".", 1)) for migration in migrations)
    return [f"{app}.{name}" for app, name in split if app in last and name > last[app]]


def newer() -> list[str]:
    """The migrations of the database that are newer than this code."""
    return unknown(applied())


def why_not_ready() -> str:
    """Why this code must not serve this database, in one sentence; "" if it may."""
    if found := newer():
        return (
            f"the database is newer than this program (migration {found[0]}): install that version or "
            "a later one"
        )
    if missing := unapplied():
        return f"{len(missing)} migrations are not applied: run ./run manage migrate"
    return ""
