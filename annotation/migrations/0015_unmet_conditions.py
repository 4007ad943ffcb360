from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0014_label_imports_in_pages")]

    operations = [migrations.AddField("annotation", "unmet", models.JSONField(null=True))]
