"""Whether people have read the answers to their questions. Those that were given before this migration count as read."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models import F


def read_so_far(apps: Any, editor: Any) -> None:
    inquiry = apps.get_model("annotation", "Inquiry")
    inquiry.objects.filter(answered_at__isnull=False).update(read_at=F("answered_at"))


class Migration(migrations.Migration):
    dependencies = [("annotation", "0016_refuse_deletes")]

    operations = [
        migrations.AddField("inquiry", "read_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "person", "unread_answers", models.PositiveIntegerField(default=0, db_default=0, editable=False)
        ),
        migrations.RunPython(read_so_far, migrations.RunPython.noop),
    ]
