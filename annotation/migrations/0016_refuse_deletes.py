"""Immutable rows refuse DELETE and TRUNCATE as well as UPDATE, and the event log is immutable, too.

`annotation.immutable.writable` switches the triggers off: on PostgreSQL by a setting of the transaction, on SQLite by a row that
no other connection sees.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations

EVENT = "annotation_event"
TABLES = (
    "annotation_annotation",
    "annotation_decision",
    EVENT,
    "annotation_example",
    "annotation_handling",
    "annotation_outcome",
    "annotation_proposal",
    "annotation_provenance",
    "annotation_reply",
    "annotation_storedtable",
    "annotation_telling",
    "annotation_trial",
    "annotation_verdict",
)
REFUSE = (
    "RAISE EXCEPTION '% is immutable', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation'; END $$"
)
UNLESS_WRITABLE = (
    "IF current_setting('askew.writable', true) = 'on' THEN "
    "IF TG_OP = 'DELETE' THEN RETURN OLD; ELSIF TG_OP = 'UPDATE' THEN RETURN NEW; ELSE RETURN NULL; END IF; END IF; "
)
FUNCTION = "CREATE OR REPLACE FUNCTION askew_immutable() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "


def refuse_deletes(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(FUNCTION + UNLESS_WRITABLE + REFUSE, params=None)
        for table in TABLES:
            if table == EVENT:
                _on_postgresql(editor, table, "immutable", "UPDATE", "ROW")
            _on_postgresql(editor, table, "undeletable", "DELETE", "ROW")
            _on_postgresql(editor, table, "untruncatable", "TRUNCATE", "STATEMENT")
        return
    editor.execute("CREATE TABLE askew_writable (id integer PRIMARY KEY)")
    for table in TABLES:
        if table != EVENT:
            editor.execute(f"DROP TRIGGER IF EXISTS {table}_immutable")
        for name, what in (("immutable", "UPDATE"), ("undeletable", "DELETE")):
            editor.execute(
                f"CREATE TRIGGER {table}_{name} BEFORE {what} ON {table} "  # nosec B608
                "WHEN NOT EXISTS (SELECT 1 FROM askew_writable) "
                f"BEGIN SELECT RAISE(ABORT, '{table} is immutable'); END"
            )


def _on_postgresql(editor: Any, table: str, name: str, what: str, each: str) -> None:
    editor.execute(
        f"CREATE TRIGGER {table}_{name} BEFORE {what} ON {table} FOR EACH {each} EXECUTE FUNCTION askew_immutable()"
    )


def allow_deletes(apps: Any, editor: Any) -> None:
    postgresql = editor.connection.vendor == "postgresql"
    names = ("undeletable", "untruncatable") if postgresql else ("undeletable", "immutable")
    for table in TABLES:
        for name in {*names, *(["immutable"] if table == EVENT else [])}:
            editor.execute(f"DROP TRIGGER {table}_{name}" + (f" ON {table}" if postgresql else ""))
        if not postgresql and table != EVENT:
            editor.execute(
                f"CREATE TRIGGER {table}_immutable BEFORE UPDATE ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is immutable'); END"
            )
    if postgresql:
        editor.execute(FUNCTION + REFUSE, params=None)
    else:
        editor.execute("DROP TABLE askew_writable")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0015_unmet_conditions")]
    operations = [migrations.RunPython(refuse_deletes, allow_deletes)]
