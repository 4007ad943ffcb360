"""On SQLite, REPLACE of an immutable row is refused, too: it deletes the row before without asking a trigger of deletions.

Rows that are added with ON CONFLICT DO NOTHING leave the one before as it is.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations

UNIQUE = {
    "annotation_annotation": ["public_id", "event_id", "assignment_id, revision"],
    "annotation_decision": ["item_id", "event_id"],
    "annotation_event": [],
    "annotation_example": ["public_id", "source_id, external_id"],
    "annotation_handling": [],
    "annotation_outcome": ["public_id", "example_id", "decision_id, number"],
    "annotation_proposal": ["public_id"],
    "annotation_provenance": ["annotation_id"],
    "annotation_reply": ["item_id, maker, category, repetition"],
    "annotation_storedtable": [],
    "annotation_telling": [],
    "annotation_trial": ["proposal_id, model"],
    "annotation_verdict": [],
}
"""What no second row of a table has, beside the key."""
KEPT = {
    "annotation_example": ["parent_id, perturbation, seed", "source_id, external_id, seed IS NOT NULL"],
    "annotation_proposal": ["item_id, maker, digest"],
    "annotation_storedtable": ["digest"],
    "annotation_telling": ["assignment_id, number", "assignment_id, proposal_id"],
}
"""The same of what is added unless it is there."""


def refuse_replacing(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        return  # there is no REPLACE, and ON CONFLICT DO UPDATE is an update
    for table, unique in UNIQUE.items():
        refuse = f"THEN RAISE(ABORT, '{table} is immutable') "
        cases = [
            f"WHEN {_is_there(table, 'id')} {refuse}",
            *(f"WHEN {_is_there(table, columns)} THEN RAISE(IGNORE) " for columns in KEPT.get(table, [])),
            *(f"WHEN {_is_there(table, columns)} {refuse}" for columns in unique),
        ]
        editor.execute(
            f"CREATE TRIGGER {table}_irreplaceable BEFORE INSERT ON {table} "  # nosec B608
            f"WHEN NOT EXISTS (SELECT 1 FROM askew_writable) BEGIN SELECT CASE {''.join(cases)}END; END"
        )


def _is_there(table: str, columns: str) -> str:
    same = " AND ".join(
        f"NEW.{column}" if " " in column else f"{column} = NEW.{column}" for column in columns.split(", ")
    )
    return f"EXISTS (SELECT 1 FROM {table} WHERE {same})"  # nosec B608: names of our own tables


def allow_replacing(apps: Any, editor: Any) -> None:
    if editor.connection.vendor != "postgresql":
        for table in UNIQUE:
            editor.execute(f"DROP TRIGGER {table}_irreplaceable")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0017_answers_read")]
    operations = [migrations.RunPython(refuse_replacing, allow_replacing)]
