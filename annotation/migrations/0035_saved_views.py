import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import annotation.public_ids


class Migration(migrations.Migration):
    dependencies = [("annotation", "0034_every_flag_has_an_item")]

    operations = [
        migrations.CreateModel(
            name="SavedView",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "public_id",
                    models.CharField(
                        default=annotation.public_ids.new_public_id, max_length=12, unique=True
                    ),
                ),
                ("name", models.CharField(max_length=60)),
                ("query", models.TextField()),
                ("is_shared", models.BooleanField(default=False)),
                ("made_at", models.DateTimeField()),
                (
                    "made_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_shared", False)),
                        fields=("project", "made_by", "name"),
                        name="one_own_view_per_name",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("is_shared", True)),
                        fields=("project", "name"),
                        name="one_shared_view_per_name",
                    ),
                ]
            },
        )
    ]
