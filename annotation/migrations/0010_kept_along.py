from django.db import migrations, models
from django.db.models import Count, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce


def keep_along(apps, schema_editor):
    """Time at work stood in the submission alone, decisions were counted anew each time, and waiting outlived them."""
    named = {
        name: apps.get_model("annotation", name) for name in ("Assignment", "Annotation", "Batch", "Decision")
    }
    seconds = named["Annotation"].objects.filter(pk=OuterRef("annotation_id")).values("active_seconds")
    named["Assignment"].objects.filter(state="submitted").update(active_seconds=Subquery(seconds))
    decided = named["Decision"].objects.order_by().filter(item__batch=OuterRef("pk"))
    for field, kind in (("accepted_count", "accepted"), ("excluded_count", "excluded")):
        counted = decided.filter(kind=kind).values("item__batch").annotate(n=Count("pk")).values("n")
        named["Batch"].objects.update(**{field: Coalesce(Subquery(counted), 0)})
    apps.get_model("annotation", "Adjudication").objects.filter(item__decision__isnull=False).delete()


class Migration(migrations.Migration):
    dependencies = [("annotation", "0009_running_a_study")]

    operations = [
        migrations.CreateModel(
            name="Attempts",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("free_at", models.DateTimeField(db_index=True)),
            ],
            options={"verbose_name_plural": "attempts"},
        ),
        migrations.AddField("batch", "accepted_count", models.PositiveIntegerField(default=0, db_default=0)),
        migrations.AddField("batch", "excluded_count", models.PositiveIntegerField(default=0, db_default=0)),
        migrations.AddField(
            "guidelines",
            "translations",
            models.JSONField(blank=True, db_default=Value({}, models.JSONField()), default=dict),
        ),
        migrations.AddField("reading", "language", models.CharField(blank=True, db_default="", max_length=8)),
        migrations.AddField("batch", "decide_at_close", models.BooleanField(default=False, db_default=False)),
        migrations.AddField("event", "detail", models.JSONField(null=True)),
        migrations.AddField("exclusion", "read_at", models.DateTimeField(null=True)),
        migrations.AddField("tally", "ended_at", models.DateTimeField(null=True)),
        migrations.RunPython(keep_along, migrations.RunPython.noop),
    ]
