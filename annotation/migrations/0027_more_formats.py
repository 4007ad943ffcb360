from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0026_reply_triggers")]

    operations = [
        migrations.AddField("release", "more_formats", models.JSONField(db_default=[], default=list)),
    ]
