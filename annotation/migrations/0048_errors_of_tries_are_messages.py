"""Errors of tries are stored as messages: in no reader's language."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0047_model_totals")]

    operations = [
        migrations.AlterField(model_name="try", name="error", field=models.TextField(blank=True)),
    ]
