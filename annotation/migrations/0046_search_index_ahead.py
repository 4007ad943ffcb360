"""What the search index has read beyond what can no longer change."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0045_adjudication_requests")]

    operations = [
        migrations.AddField(model_name="searchindex", name="ahead", field=models.JSONField(default=dict)),
    ]
