"""What was submitted, as a number beside the assignment: agreement counts who said the same without reading responses.

Rows that stand there keep null: agreement reads their responses, as before. What does not count for it is found by small
indexes. And places that are kept for nobody, which are most, leave the index by whom they are kept for. That is dropped by name
and not by altering the field, see 0011.
"""

from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def drop(apps: Any, editor: Any) -> None:
    with editor.connection.cursor() as cursor:
        found = editor.connection.introspection.get_constraints(cursor, "annotation_place")
    for name, one in found.items():
        if one["index"] and not one["unique"] and one["columns"] == ["reserved_for_id"]:
            editor.execute(f"DROP INDEX {editor.quote_name(name)}")


def make_again(apps: Any, editor: Any) -> None:
    editor.execute("CREATE INDEX annotation_place_reserved_for_id_again ON annotation_place (reserved_for_id)")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0011_fewer_indexes")]

    operations = [
        migrations.AddField("assignment", "said", models.BigIntegerField(null=True)),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(drop, make_again)],
            state_operations=[
                migrations.AlterField(
                    "place",
                    "reserved_for",
                    models.ForeignKey(
                        settings.AUTH_USER_MODEL,
                        django.db.models.deletion.PROTECT,
                        null=True,
                        db_index=False,
                        related_name="+",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            "item", models.Index(fields=["batch"], name="item_gold", condition=models.Q(is_gold=True))
        ),
        migrations.AddIndex(
            "place", models.Index(fields=["batch"], name="place_added", condition=models.Q(added=True))
        ),
        migrations.AddIndex(
            "place",
            models.Index(
                fields=["reserved_for"], name="place_kept", condition=models.Q(reserved_for__isnull=False)
            ),
        ),
    ]
