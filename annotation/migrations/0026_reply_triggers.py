"""On SQLite, replies are immutable again: changing a constraint of a table makes the table anew, without its triggers."""

from __future__ import annotations

from typing import Any

from django.db import migrations

TABLE = "annotation_reply"
UNIQUE = ("id", "item_id, maker, category, repetition")


def restore(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        return  # its triggers stay
    refuse = f"RAISE(ABORT, '{TABLE} is immutable')"
    unless_writable = "WHEN NOT EXISTS (SELECT 1 FROM askew_writable)"
    same = [" AND ".join(f"{column} = NEW.{column}" for column in key.split(", ")) for key in UNIQUE]
    cases = "".join(f"WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE {key}) THEN {refuse} " for key in same)  # nosec B608
    for name, what, do in (
        ("immutable", "UPDATE", refuse),
        ("undeletable", "DELETE", refuse),
        ("irreplaceable", "INSERT", f"CASE {cases}END"),
    ):
        editor.execute(f"DROP TRIGGER IF EXISTS {TABLE}_{name}")
        editor.execute(
            f"CREATE TRIGGER {TABLE}_{name} BEFORE {what} ON {TABLE} {unless_writable} BEGIN SELECT {do}; END"
        )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0025_reply_states")]
    operations = [migrations.RunPython(restore, migrations.RunPython.noop)]
