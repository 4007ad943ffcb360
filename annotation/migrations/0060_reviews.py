"""Reviews of random samples of accepted items."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

import annotation.platform.public_ids


class Migration(migrations.Migration):
    dependencies = [("annotation", "0059_archived_and_deleted")]

    operations = [
        migrations.CreateModel(
            name="ReviewSample",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                (
                    "public_id",
                    models.CharField(
                        default=annotation.platform.public_ids.new_public_id, max_length=12, unique=True
                    ),
                ),
                ("seed", models.BigIntegerField()),
                ("of", models.PositiveIntegerField()),
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
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="review_samples",
                        to="annotation.project",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ReviewEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("position", models.PositiveIntegerField()),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[("confirmed", "confirmed"), ("sent_back", "sent back")],
                        max_length=10,
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=500)),
                ("reviewed_at", models.DateTimeField(null=True)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.item"
                    ),
                ),
                (
                    "reviewed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="entries",
                        to="annotation.reviewsample",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "review entries",
                "constraints": [
                    models.UniqueConstraint(fields=("sample", "item"), name="one_review_per_item"),
                    models.CheckConstraint(
                        condition=Q(outcome="", reviewed_at__isnull=True)
                        | Q(outcome="confirmed", reviewed_at__isnull=False)
                        | Q(outcome="sent_back", reviewed_at__isnull=False) & ~Q(note=""),
                        name="known_review_outcome",
                    ),
                ],
            },
        ),
    ]
