from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0028_search_index")]

    operations = [
        migrations.AddField("project", "release", models.JSONField(db_default={}, default=dict)),
    ]
