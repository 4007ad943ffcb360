from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0023_language_model_costs")]

    operations = [
        migrations.AddField("batch", "adjudication_reasons", models.JSONField(db_default=[], default=list)),
        migrations.AddField("batch", "note_required", models.BooleanField(db_default=False, default=False)),
        # Nullable: SQLite adds such a column in place, so the table keeps its triggers.
        migrations.AddField("decision", "listed_reason", models.CharField(max_length=120, null=True)),
    ]
