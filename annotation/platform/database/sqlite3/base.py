"""Django's backend for SQLite, whose writers take turns sooner; see `annotation.platform.database`.

One process writes at a time, and SQLite keeps no queue of waiting processes. So a statement that finds the database locked
is tried again at short random intervals, and a worker leaves room after each of its transactions.
"""

import random
import sqlite3
import time
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base, features
from django.utils.functional import cached_property

from annotation.platform.database import limits

TRY = 10
"""Milliseconds that SQLite itself waits for the write lock. It looks for it ever less often, up to ten times a second, and
loses against a process that writes again at once."""
LONGEST = 60.0
"""Seconds that a process waits for the lock whose statements may take longer."""
PAUSES = (0.002, 0.015)
"""Seconds between two tries of ours, at least and at most."""


ROOM = (0.03, 0.5)
"""Seconds that a worker leaves between two of its transactions, at least and at most: as long as the last one took. A person
who waits looks at least twice within that time."""


class Features(features.DatabaseFeatures):
    """What this database can do."""

    supports_tuple_lookups = True
    """It takes `(id) IN ((1), (2))`. Else Django prefetches by a condition for each row, of which 1,000 are too many."""

    @cached_property
    def supports_json_field(self) -> bool:  # type: ignore[override]  # the stubs take it for a plain attribute
        """Without the transaction in which Django asks: a locked database would be one that has no JSON."""
        with self.connection.cursor() as cursor:
            try:
                cursor.execute("SELECT json('{}')")
            except OperationalError:
                return False
        return True


class DatabaseWrapper(base.DatabaseWrapper):
    """Waits for the write lock for as long as the role's statements may take, and asks for it often."""

    features_class = Features
    _began = 0.0

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """As Django's; several processes that start at once wait for one another with SQLite's own patience."""
        new_connection = super().get_new_connection(conn_params)
        new_connection.execute(f"PRAGMA busy_timeout = {TRY}")
        return new_connection

    def _start_transaction_under_autocommit(self) -> None:
        super()._start_transaction_under_autocommit()  # type: ignore[misc]  # the stubs leave it out
        self._began = time.monotonic()

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]
        self._leave_room()

    def _rollback(self) -> None:
        super()._rollback()  # type: ignore[misc]
        self._leave_room()

    def _leave_room(self) -> None:
        """In a worker, for which no person waits: let waiting writers write, before it writes again."""
        if self._began and limits.is_worker():
            took, self._began = time.monotonic() - self._began, 0.0
            time.sleep(min(max(took, ROOM[0]), ROOM[1]))

    def create_cursor(self, name: Any = None) -> Any:
        return self.connection.cursor(factory=Cursor)


class Cursor(base.SQLiteCursorWrapper):
    """Tries a statement again while another process writes. Only a statement that begins to write can find that: within a
    transaction the lock is held already (`transaction_mode`)."""

    def execute(self, query: str, params: Any = None) -> Any:
        until = 0.0
        while True:
            try:
                return super().execute(query, params)
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                now = time.monotonic()
                until = until or now + min(limits.longest_answer() or LONGEST, LONGEST)
                if now >= until:
                    raise
            time.sleep(random.uniform(*PAUSES))  # nosec B311: so that waiting processes do not retry in step
