"""Number the releases of each project in the order in which they were finished; unfinished ones come last."""

from typing import Any

from django.db import migrations, models
from django.db.models import F, Q


def number_releases(apps: Any, editor: Any) -> None:
    releases = apps.get_model("annotation", "Release").objects.using(editor.connection.alias)
    numbers: dict[int, int] = {}
    order = ("project_id", F("ready_at").asc(nulls_last=True), "pk")
    for key, project in releases.order_by(*order).values_list("pk", "project_id"):
        numbers[project] = numbers.get(project, 0) + 1
        releases.filter(pk=key).update(number=numbers[project])


class Migration(migrations.Migration):
    dependencies = [("annotation", "0055_names_of_the_glossary")]

    operations = [
        migrations.AddField("release", "number", models.PositiveIntegerField(default=1)),
        migrations.RunPython(number_releases, migrations.RunPython.noop),
        migrations.AddConstraint(
            "release",
            models.UniqueConstraint(
                condition=Q(ready_at__isnull=False), fields=["project", "number"], name="one_release_per_number"
            ),
        ),
    ]
