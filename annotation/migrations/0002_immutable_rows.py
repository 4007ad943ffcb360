"""Sources' tables, examples, annotations, decisions and outcomes are written once: the database itself refuses updates."""

from __future__ import annotations

from typing import Any

from django.db import migrations

TABLES = (
    "annotation_storedtable",
    "annotation_example",
    "annotation_annotation",
    "annotation_decision",
    "annotation_outcome",
)


def forbid_updates(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(
            "CREATE FUNCTION askew_immutable() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION '% is immutable', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation'; "
            "END $$",
            params=None,  # else the % would be taken for a parameter's
        )
    for table in TABLES:
        if editor.connection.vendor == "postgresql":
            editor.execute(
                f"CREATE TRIGGER {table}_immutable BEFORE UPDATE ON {table} "
                "FOR EACH ROW EXECUTE FUNCTION askew_immutable()"
            )
        else:
            editor.execute(
                f"CREATE TRIGGER {table}_immutable BEFORE UPDATE ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is immutable'); END"
            )


def allow_updates(apps: Any, editor: Any) -> None:
    for table in TABLES:
        on = f" ON {table}" if editor.connection.vendor == "postgresql" else ""
        editor.execute(f"DROP TRIGGER {table}_immutable{on}")
    if editor.connection.vendor == "postgresql":
        editor.execute("DROP FUNCTION askew_immutable()")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial")]
    operations = [migrations.RunPython(forbid_updates, allow_updates)]
