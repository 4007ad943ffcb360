"""Whether the code and the database are of the same version, judged by their migrations."""

from collections.abc import Iterable

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from tableqa.core.command_line import manage


class Process:
    """This process's state of its database. Those that serve pages begin with False (`config.database_version`)."""

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


def incompatibility(migrations: Iterable[str]) -> str:
    """What keeps `migrate` from bringing a database with these migrations (`app.name`) to this version; "" if nothing does.

    The text continues "the database is" and ends with the remedy. Names are numbered, so a migration is newer than this code
    if it comes after the last one that this code has of its app. Others that this code lacks were replaced, or belong to an
    app that was removed. Of those that a migration replaces, a database has all or none.
    """
    present, on_disk = set(migrations), MigrationLoader(None).disk_migrations
    last = dict(sorted(on_disk))
    for app, name in sorted(migration.split(".", 1) for migration in present):
        if name > last.get(app, name):
            return (
                f"newer than this program: it has migration {app}.{name}. Install that version or a later "
                "one, or restore a backup of this version (docs/operations.md, Upgrading)"
            )
    for (app, name), migration in on_disk.items():
        replaced = [".".join(key) for key in migration.replaces if key not in on_disk]
        missing = [key for key in replaced if key not in present]
        if missing and len(missing) < len(replaced):
            return (
                f"between two versions: it lacks {len(missing)} of the {len(replaced)} migrations that {app}.{name} "
                f"replaces ({missing[0]}). Install the version whose last migration is "
                f"{replaced[-1]}, run {manage('migrate')} there, then install this version (docs/operations.md, Upgrading)"
            )
    return ""


def why_not_ready() -> str:
    """Why this code must not serve this database, in one sentence; "" if it may."""
    if reason := incompatibility(applied()):
        return f"the database is {reason}"
    if missing := unapplied():
        return f"{len(missing)} migrations are not applied: run {manage('migrate')}"
    return ""
