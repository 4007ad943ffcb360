import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0038_upload_size")]

    operations = [
        migrations.AddField(
            model_name="stagedlabel",
            name="made_at",
            field=models.DateTimeField(default=django.utils.timezone.now),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="stagedlabel", name="origin", field=models.JSONField(null=True)
        ),
    ]
