from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0021_personal_settings")]

    operations = [
        migrations.AddField(
            "batch", "loop_right_only", models.BooleanField(db_default=False, default=False)
        ),
        migrations.AddField(
            "batch",
            "model_accuracy",
            models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.AddField(
            "batch", "opens_when_drawn", models.BooleanField(db_default=False, default=False)
        ),
    ]
