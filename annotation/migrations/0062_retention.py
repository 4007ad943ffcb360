"""A project can have a retention period."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0061_notices")]

    operations = [
        migrations.AddField("project", "retention_days", models.PositiveIntegerField(null=True)),
    ]
