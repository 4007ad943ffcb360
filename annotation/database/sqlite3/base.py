"""Django's backend for SQLite, whose writers take turns sooner; see `annotation.database`."""

from __future__ import annotations

import random
import time
from typing import Any

from django.db.backends.sqlite3 import base

from annotation.database import limits

TRY = 20
"""Milliseconds that SQLite itself waits for the write lock. It looks for it ever less often, up to ten times a second, and
loses against a process that writes again at once."""
LONGEST = 60.0
"""Seconds that a process waits for the lock whose statements may take longer."""
PAUSES = (0.002, 0.02)
"""Seconds between two tries of ours, at least and at most."""


class DatabaseWrapper(base.DatabaseWrapper):
    """Waits for the write lock for as long as the role's statements may take, and asks for it often."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """As Django's; several processes that start at once wait for one another with SQLite's own patience."""
        made = super().get_new_connection(conn_params)
        made.execute(f"PRAGMA busy_timeout = {TRY}")
        return made

    def create_cursor(self, name: Any = None) -> Any:
        return self.connection.cursor(factory=Cursor)


class Cursor(base.SQLiteCursorWrapper):
    """Tries a statement again while another process writes. Only a statement that begins to write can find that: within a
    transaction the lock is held already (`transaction_mode`)."""

    def execute(self, query: str, params: Any = None) -> Any:  # type: ignore[override]
        until = 0.0
        while True:
            try:
                return super().execute(query, params)
            except base.Database.OperationalError as error:
                if "locked" not in str(error):
                    raise
                now = time.monotonic()
                until = until or now + min(limits.longest_answer() or LONGEST, LONGEST)
                if now >= until:
                    raise
            time.sleep(random.uniform(*PAUSES))  # nosec B311: so that those who wait do not try in step
