"""When somebody of a crowd came back by a manager's link: their responses are marked from then on.

People who came back before this migration are taken from the log. What they submitted before it stays without a mark.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations, models


def from_the_log(apps: Any, editor: Any) -> None:
    event, entry = apps.get_model("annotation", "Event"), apps.get_model("annotation", "CrowdEntry")
    came_back = event.objects.filter(thing="crowdentry", before="let back in", after="entered")
    for pk, at in came_back.order_by("pk").values_list("thing_id", "at"):
        for found in entry.objects.filter(pk=pk).select_related("person"):
            found.person.let_back_in_at = at
            found.person.save(update_fields=["let_back_in_at"])


class Migration(migrations.Migration):
    dependencies = [("annotation", "0012_what_was_said")]

    operations = [
        migrations.AddField("person", "let_back_in_at", models.DateTimeField(blank=True, null=True)),
        migrations.RunPython(from_the_log, migrations.RunPython.noop),
    ]
