"""Index the own columns of examples. The search index of every project is built again where it is next read."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def collect_statistics(apps: Any, editor: Any) -> None:
    """Let PostgreSQL count which columns and values occur together: it takes them as independent by default."""
    if editor.connection.vendor == "postgresql":
        editor.execute(
            "CREATE STATISTICS indexed_values_together (mcv) ON column_id, number, value FROM annotation_indexedvalue"
        )


def build_again(apps: Any, editor: Any) -> None:
    alias = editor.connection.alias
    apps.get_model("annotation", "IndexedItem").objects.using(alias).all().delete()
    apps.get_model("annotation", "SearchIndex").objects.using(alias).update(items_count=0)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0056_release_number")]

    operations = [
        migrations.CreateModel(
            name="IndexedColumn",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="indexed_columns",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="one_column_per_name")
                ],
            },
        ),
        migrations.CreateModel(
            name="IndexedValue",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.FloatField()),
                ("value", models.CharField(max_length=200)),
                ("is_first", models.BooleanField()),
                (
                    "column",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="annotation.indexedcolumn",
                    ),
                ),
                (
                    "example",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="indexed_values",
                        to="annotation.example",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("column", "number", "value", "example"), name="one_row_per_value"
                    )
                ],
                "indexes": [models.Index(fields=["example", "column"], name="indexed_values_of")],
            },
        ),
        migrations.AlterField(
            model_name="responsefact",
            name="kind",
            field=models.CharField(
                choices=[
                    ("label", "Label"),
                    ("finding", "Finding"),
                    ("verdict", "Verdict"),
                    ("unsure", "Unsure"),
                    ("lost", "Lost"),
                    ("failed", "Failed"),
                ],
                max_length=10,
            ),
        ),
        migrations.RunPython(collect_statistics, migrations.RunPython.noop),
        migrations.RunPython(build_again, migrations.RunPython.noop),
    ]
