from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0040_confirmed_verdicts")]

    operations = [
        migrations.AddField(
            model_name="stagedlabel", name="active_seconds", field=models.FloatField(default=0)
        ),
    ]
