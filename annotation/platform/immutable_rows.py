"""Rows that are written once: the database refuses to change or delete them.

`writable` is the only way around the triggers. It is for four uses: a migration that has to rewrite such rows, erasing what
must not stay (a person's data, what an unfinished import left, deleted sources and projects), an adjudicator's undo of a
decision on which nothing rests (`annotation.queue.decision_undo`), and emptying the test database.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.db import connection as default_connection
from django.db import transaction

TABLES: Final = (
    "annotation_annotation",
    "annotation_decision",
    "annotation_event",
    "annotation_example",
    "annotation_proposalreaction",
    "annotation_ledgerentry",
    "annotation_outcome",
    "annotation_proposal",
    "annotation_provenance",
    "annotation_reply",
    "annotation_storedtable",
    "annotation_proposalimpression",
    "annotation_trial",
    "annotation_verdict",
)
PARTLY_IMMUTABLE: Final = ("annotation_release", "annotation_source", "annotation_membership")
"""Tables of which some columns never change: of releases and sources once they are ready (migration 0063)."""


@contextmanager
def writable(connection: Any = default_connection) -> Iterator[None]:
    """Let this connection change and delete immutable rows, in its own transaction or the caller's.

    The triggers of all other connections go on refusing. A migration passes `schema_editor.connection`.
    """
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT coalesce(current_setting('askew.writable', true), '')")
            (before,) = cursor.fetchone()
            cursor.execute("SELECT set_config('askew.writable', 'on', true)")
            yield
            cursor.execute("SELECT set_config('askew.writable', %s, true)", [before])
        else:
            # Only the writer sees the row: it is gone again before any other person may read or write.
            cursor.execute("INSERT INTO askew_writable DEFAULT VALUES")
            key = cursor.lastrowid
            yield
            cursor.execute("DELETE FROM askew_writable WHERE id = %s", [key])
