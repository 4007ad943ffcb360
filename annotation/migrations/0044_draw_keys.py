"""A secret key for the draws of each batch. Those that are there keep none, and draw as they did (`annotation.queue.draws`)."""

from __future__ import annotations

from django.db import migrations, models

import annotation.platform.public_ids


class Migration(migrations.Migration):
    dependencies = [("annotation", "0043_initial")]

    operations = [
        migrations.AddField(
            model_name="batch",
            name="draw_key",
            field=models.CharField(
                db_default="", default=annotation.platform.public_ids.new_draw_key, editable=False, max_length=32
            ),
        ),
    ]
