from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0039_times_of_imported_labels")]

    operations = [
        migrations.AddField(
            model_name="verdict", name="is_confirmed", field=models.BooleanField(null=True)
        )
    ]
