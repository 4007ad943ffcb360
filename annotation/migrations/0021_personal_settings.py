from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0020_unsure")]

    operations = [
        migrations.AddField(
            "person",
            "personal_settings",
            models.JSONField(db_default={}, default=dict, editable=False),
        )
    ]
