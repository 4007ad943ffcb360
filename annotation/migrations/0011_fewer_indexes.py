"""The annotators' loop writes an entry into each index of each row: those that nobody looks anything up by are dropped.

Most are covered by a constraint or an index that begins with the same column. The indexes are dropped by name and not by
altering the fields: SQLite would make each table anew, without the trigger that keeps its rows as they are.
"""

from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

COLUMNS = (
    ("annotation_annotation", "assignment_id"),
    ("annotation_annotation", "guidelines_id"),
    ("annotation_assignment", "annotation_id"),
    ("annotation_assignment", "item_id"),
    ("annotation_assignment", "person_id"),
    ("annotation_event", "project_id"),
    ("annotation_item", "batch_id"),
    ("annotation_place", "item_id"),
    ("annotation_tally", "batch_id"),
)
NEVER_BY_BEGINNING = ("annotation_annotation", "annotation_assignment", "annotation_item")
"""PostgreSQL gets a second index for LIKE 'x%' on every unique text; nobody asks for the beginning of a public id."""


def drop(apps: Any, editor: Any) -> None:
    with editor.connection.cursor() as cursor:
        for table, column in COLUMNS:
            for name in _alone(editor, cursor, table, column):
                editor.execute(f"DROP INDEX {editor.quote_name(name)}")
        for table in NEVER_BY_BEGINNING:
            for name, found in editor.connection.introspection.get_constraints(cursor, table).items():
                if found["columns"] == ["public_id"] and name.endswith("_like"):
                    editor.execute(f"DROP INDEX {editor.quote_name(name)}")


def _alone(editor: Any, cursor: Any, table: str, column: str) -> list[str]:
    """The indexes on this column alone that keep nothing unique and hold every row."""
    found = editor.connection.introspection.get_constraints(cursor, table)
    return [
        name
        for name, one in found.items()
        if one["index"] and not one["unique"] and not one["primary_key"] and one["columns"] == [column]
    ]


def make_again(apps: Any, editor: Any) -> None:
    for table, column in COLUMNS:
        editor.execute(f"CREATE INDEX {table}_{column}_again ON {table} ({column})")


def _key(to: str, on_delete: Any, name: str, **more: Any) -> models.Field[Any, Any]:
    return models.ForeignKey(to, on_delete=on_delete, db_index=False, related_name=name, **more)


PROTECT, CASCADE = django.db.models.deletion.PROTECT, django.db.models.deletion.CASCADE


class Migration(migrations.Migration):
    dependencies = [("annotation", "0010_kept_along")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(drop, make_again)],
            state_operations=[
                migrations.AlterField(
                    "annotation", "assignment", _key("annotation.assignment", PROTECT, "annotations")
                ),
                migrations.AlterField(
                    "annotation", "guidelines", _key("annotation.guidelines", PROTECT, "+")
                ),
                migrations.AlterField(
                    "assignment", "annotation", _key("annotation.annotation", PROTECT, "+", null=True)
                ),
                migrations.AlterField("assignment", "item", _key("annotation.item", PROTECT, "assignments")),
                migrations.AlterField(
                    "assignment", "person", _key(settings.AUTH_USER_MODEL, PROTECT, "assignments")
                ),
                migrations.AlterField("event", "project", _key("annotation.project", PROTECT, "events")),
                migrations.AlterField("item", "batch", _key("annotation.batch", PROTECT, "items")),
                migrations.AlterField("place", "item", _key("annotation.item", CASCADE, "places")),
                migrations.AlterField("tally", "batch", _key("annotation.batch", CASCADE, "tallies")),
            ],
        )
    ]
