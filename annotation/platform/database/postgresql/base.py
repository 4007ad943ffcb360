"""Django's backend for PostgreSQL with limits on how long anything waits; see `annotation.platform.database`."""

from typing import Any

import psycopg2
from django.db.backends.postgresql import base

from annotation.platform.database import limits, watchdog


class _Driver:
    """psycopg2, but for connecting."""

    connect = staticmethod(watchdog.connect)

    def __getattr__(self, name: str) -> Any:
        return getattr(psycopg2, name)


class DatabaseWrapper(base.DatabaseWrapper):
    """Connections with the limits of the process's role, on the server and on our side.

    The server keeps limits set with SET once connected: a pooler refuses `options` in the startup packet. Behind one that
    gives each transaction another connection (`DISABLE_SERVER_SIDE_CURSORS`), each transaction sets them with SET LOCAL.
    """

    Database: Any = _Driver()

    def init_connection_state(self) -> None:
        """As Django does; then the server's limits."""
        super().init_connection_state()
        self.set_limits()

    def set_limits(self) -> None:
        """Have the server keep the limits that this process has now."""
        if self.connection is not None and not self.is_pooled:
            self._set("SET")

    @property
    def is_pooled(self) -> bool:
        """Whether each transaction may run on another of the server's connections."""
        return bool(self.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"))

    def _set_autocommit(self, autocommit: bool) -> None:
        super()._set_autocommit(autocommit)  # type: ignore[misc]  # the stubs leave it out
        if self.is_pooled and not autocommit:
            with self.wrap_database_errors:
                self._set("SET LOCAL")

    def _set(self, how: str) -> None:
        timeouts = limits.current()
        values = {
            "statement_timeout": timeouts.statement,
            "idle_in_transaction_session_timeout": timeouts.idle_in_transaction,
        }
        statement = "; ".join(f"{how} {name} = {round(seconds * 1000)}" for name, seconds in values.items())
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
