"""PostgreSQL counts which kinds, names and values of response facts go together, as `ANALYZE` collects statistics.

By default it takes the three as independent: a filter by verdict or checklist was expected to match 60 items where it
matches 13,000, and both the list and its counts took twice as long.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations

STATISTICS = "response_facts_together"


def create(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(f"CREATE STATISTICS {STATISTICS} (mcv) ON kind, name, value FROM annotation_responsefact")


def drop(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(f"DROP STATISTICS {STATISTICS}")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0041_seconds_of_imported_labels")]
    operations = [migrations.RunPython(create, drop)]
