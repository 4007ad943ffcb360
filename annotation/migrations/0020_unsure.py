from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0019_messages")]

    operations = [migrations.AddField("annotation", "unsure", models.BooleanField(null=True))]
