import time
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections, transaction
from django.db.migrations.executor import MigrationExecutor

from annotation.platform import migration_state
from annotation.platform.database import limits

WAIT = "400ms"
"""Lock timeout: below PostgreSQL's deadlock timeout of 1 s, so that the migration gives way and not a submission."""
TRIES = 100
PAUSE = 0.3
BUSY = {"55P03", "40P01"}
"""PostgreSQL's codes for a lock timeout and for a deadlock."""
IN_ORDER = ("item", "tally", "personbatchcounts", "assignment", "place", "slot", "batch")
"""The tables that every submission locks, in the order in which it does (annotation/queue/reservations.py).

A table that migration 0055 renames is there under both names.
"""


def require_compatible_database() -> None:
    """Raise CommandError with the remedy where this code cannot migrate the database to its version."""
    if reason := migration_state.incompatibility(migration_state.applied()):
        raise CommandError(f"The database is {reason}.")


class InOrder(MigrationExecutor):
    """Lock the tables of the annotators' loop first, in their usual order, to prevent deadlocks."""

    def apply_migration(self, state: Any, migration: Any, *args: Any, **more: Any) -> Any:
        """As Django's own, inside a transaction that begins with the locks."""
        if (
            self.connection.vendor != "postgresql"
            or migration.app_label != "annotation"
            or not migration.atomic
        ):
            return super().apply_migration(state, migration, *args, **more)
        quote = self.connection.ops.quote_name
        with transaction.atomic(using=self.connection.alias):
            existing_tables = set(self.connection.introspection.table_names())
            tables = [
                quote(name)
                for name in (f"annotation_{suffix}" for suffix in IN_ORDER)
                if name in existing_tables
            ]
            if tables:
                with self.connection.cursor() as cursor:
                    cursor.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")
            return super().apply_migration(state, migration, *args, **more)


class Command(migrate.Command):
    help = (
        "Migrate the database to this version. Safe while people are working: both sides wait for each other."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """As Django's own. On PostgreSQL a migration that does not get its locks at once is undone and begun again.

        No statement of a migration is cut for the time it takes.
        """
        connection: Any = connections[options.get("database") or DEFAULT_DB_ALIAS]
        require_compatible_database()
        if connection.vendor != "postgresql":
            super().handle(*args, **options)
            return
        try:
            with limits.lifted():
                connection.set_limits()
                self._in_turns(connection, *args, **options)
        finally:
            connection.set_limits()

    def _in_turns(self, connection: Any, *args: Any, **options: Any) -> None:
        migrate.MigrationExecutor = InOrder  # type: ignore[attr-defined]
        for tries_left in reversed(range(TRIES)):
            with connection.cursor() as cursor:
                cursor.execute(f"SET lock_timeout = '{WAIT}'")
            try:
                super().handle(*args, **options)
                return
            except OperationalError as error:
                if getattr(error.__cause__, "pgcode", "") not in BUSY or not tries_left:
                    raise
                self.stdout.write("  tables are in use; trying again")
                time.sleep(PAUSE)
            finally:
                with connection.cursor() as cursor:
                    cursor.execute("RESET lock_timeout")
