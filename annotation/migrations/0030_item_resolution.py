from django.db import migrations, models


def fill(apps, schema_editor):
    """Store the resolution of every item; have the search index made anew, for `is_first`."""
    item, database = apps.get_model("annotation", "Item"), schema_editor.connection.alias
    items = item.objects.using(database)
    items.filter(adjudication__isnull=False).update(resolution="adjudication")
    for kind in ("accepted", "excluded"):
        items.filter(decision__kind=kind).update(resolution=kind)
    for name in ("ResponseFact", "IndexedItem", "SearchIndex"):
        apps.get_model("annotation", name).objects.using(database).all().delete()


class Migration(migrations.Migration):
    dependencies = [("annotation", "0029_release_options")]

    operations = [
        migrations.AddField(
            "item",
            "resolution",
            models.CharField(
                blank=True,
                choices=[
                    ("", "None"),
                    ("adjudication", "Adjudication"),
                    ("accepted", "Accepted"),
                    ("excluded", "Excluded"),
                ],
                db_default="",
                default="",
                max_length=12,
            ),
        ),
        migrations.AddField("responsefact", "is_first", models.BooleanField(default=True)),
        migrations.AddIndex(
            "item", models.Index(fields=["batch", "resolution", "position"], name="item_resolution")
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
