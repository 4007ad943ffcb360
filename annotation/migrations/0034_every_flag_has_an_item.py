"""The item of each flag, from its assignment."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import OuterRef, Q, Subquery


def fill(apps, schema_editor):
    assignment = apps.get_model("annotation", "Assignment").objects.filter(pk=OuterRef("assignment"))
    flags = apps.get_model("annotation", "Flag").objects.filter(item__isnull=True)
    flags.update(item=Subquery(assignment.values("item")[:1]))


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL does not alter a table to which rows were written in the same transaction

    dependencies = [("annotation", "0033_flags_on_items")]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AlterField(
            "flag",
            "item",
            models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="flags", to="annotation.item"
            ),
        ),
        migrations.AddConstraint(
            "flag",
            models.CheckConstraint(
                condition=Q(assignment__isnull=True, made_by__isnull=False)
                | Q(assignment__isnull=False, made_by__isnull=True),
                name="flagged_by_one_person",
            ),
        ),
    ]
