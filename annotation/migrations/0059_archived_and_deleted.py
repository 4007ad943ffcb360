"""Archived projects, batches and sources; the record of a batch that was deleted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0058_correction")]

    operations = [
        *(
            migrations.AddField(model, "archived_at", models.DateTimeField(editable=False, null=True))
            for model in ("project", "batch", "source")
        ),
        *(
            migrations.AddField(model, "deleted_at", models.DateTimeField(editable=False, null=True))
            for model in ("project", "batch")
        ),
        migrations.AddField("batch", "deletion", models.JSONField(db_default={}, default=dict, editable=False)),
    ]
