"""Triggers: releases and sources stay as they are once they are ready, and who has which pseudonym in a project."""

from __future__ import annotations

from typing import Any

from django.db import migrations

READY = "OLD.ready_at IS NOT NULL"
COLUMNS = {
    "annotation_release": (
        *("public_id", "project_id", "name", "format", "more_formats", "number", "watermark", "allow_simulated"),
        *("mix_seed", "waivers", "purpose", "digest", "manifest", "made_at", "ready_at"),
    ),
    "annotation_source": (
        *("public_id", "project_id", "name", "reader", "split", "how", "checksum", "citation", "url"),
        *("started_at", "ready_at"),
    ),
    "annotation_membership": ("project_id", "person_id", "pseudonym", "joined_at"),
}
"""The columns that do not change. Licences of sources, roles and characteristics do."""
KEYS = {
    "annotation_release": ("id = NEW.id", "public_id = NEW.public_id"),
    "annotation_source": ("id = NEW.id", "public_id = NEW.public_id"),
    "annotation_membership": (
        "id = NEW.id",
        "project_id = NEW.project_id AND person_id = NEW.person_id",
        "project_id = NEW.project_id AND pseudonym = NEW.pseudonym",
    ),
}
"""What finds the row that a REPLACE deletes (SQLite)."""


def refuse_changes(apps: Any, editor: Any) -> None:
    """Refuse UPDATE of these columns, DELETE, TRUNCATE on PostgreSQL, and REPLACE on SQLite (as in 0043_initial)."""
    for table, columns in COLUMNS.items():
        condition = "TRUE" if table == "annotation_membership" else READY
        if editor.connection.vendor == "postgresql":
            before, after = (", ".join(f"{row}.{name}" for name in columns) for row in ("OLD", "NEW"))
            changed = f"({before}) IS DISTINCT FROM ({after})"
            for name, event in (
                ("immutable", f"UPDATE ON {table} FOR EACH ROW WHEN ({condition} AND {changed})"),
                ("undeletable", f"DELETE ON {table} FOR EACH ROW WHEN ({condition})"),
                ("untruncatable", f"TRUNCATE ON {table} FOR EACH STATEMENT"),
            ):
                editor.execute(f"CREATE TRIGGER {table}_{name} BEFORE {event} EXECUTE FUNCTION askew_immutable()")
            continue
        changed = " OR ".join(f"OLD.{name} IS NOT NEW.{name}" for name in columns)
        # REPLACE deletes the existing row without calling a trigger for deletions.
        ready = condition.replace("OLD.", "")
        same = " OR ".join(f"({key})" for key in KEYS[table])
        replaced = f"EXISTS (SELECT 1 FROM {table} WHERE {ready} AND ({same}))"  # nosec B608
        for name, event, when in (
            ("immutable", "UPDATE", f"{condition} AND ({changed})"),
            ("undeletable", "DELETE", condition),
            ("irreplaceable", "INSERT", replaced),
        ):
            editor.execute(
                f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} "  # nosec B608
                f"WHEN {when} AND NOT EXISTS (SELECT 1 FROM askew_writable) "
                f"BEGIN SELECT RAISE(ABORT, '{table} is immutable'); END"
            )


def allow_changes(apps: Any, editor: Any) -> None:
    """Drop the triggers."""
    names = "immutable", "undeletable", "untruncatable", "irreplaceable"
    for table in COLUMNS:
        for name in names:
            on = f" ON {table}" if editor.connection.vendor == "postgresql" else ""
            editor.execute(f"DROP TRIGGER IF EXISTS {table}_{name}{on}")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0062_retention")]

    operations = [migrations.RunPython(refuse_changes, allow_changes)]
