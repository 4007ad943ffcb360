"""Requests to language models with their tokens and prices, and what they may cost in batches and projects."""

from __future__ import annotations

from django.db import migrations, models
from django.db.models import Q
from django.db.models.deletion import PROTECT
from django.db.models.functions import Now

OF_A_BATCH = ["loop", "panel", "search", "proposals"]
OF_A_PROJECT = ["questions", "accuracy", "evaluation"]
PURPOSES = [*OF_A_BATCH, *OF_A_PROJECT]
STATES = ["open", "answered", "cut_off", "filtered", "declined", "unreadable", "refused", "away"]


def _choices(names: list[str]) -> list[tuple[str, str]]:
    return [(name, name.replace("_", " ").title()) for name in names]


class Migration(migrations.Migration):
    dependencies = [("annotation", "0022_right_only")]

    operations = [
        migrations.AddField("batch", "model_budget", models.JSONField(db_default={}, default=dict)),
        migrations.AddField("project", "model_budget", models.JSONField(db_default={}, default=dict)),
        migrations.CreateModel(
            "ModelRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("purpose", models.CharField(max_length=12, choices=_choices(PURPOSES))),
                ("predictor", models.CharField(max_length=64)),
                ("model", models.CharField(max_length=200)),
                ("state", models.CharField(max_length=12, choices=_choices(STATES), default="open")),
                ("prompt_tokens", models.PositiveIntegerField()),
                ("completion_tokens", models.PositiveIntegerField()),
                ("is_counted", models.BooleanField(default=False)),
                ("prompt_price", models.DecimalField(max_digits=14, decimal_places=6, default=0)),
                ("completion_price", models.DecimalField(max_digits=14, decimal_places=6, default=0)),
                ("made_at", models.DateTimeField(db_default=Now())),
                (
                    "batch",
                    models.ForeignKey("annotation.batch", PROTECT, null=True, related_name="model_requests"),
                ),
                ("project", models.ForeignKey("annotation.project", PROTECT, related_name="model_requests")),
            ],
            options={
                "indexes": [models.Index(fields=["project", "batch"], name="model_requests_of")],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(purpose__in=PURPOSES), name="known_purpose_of_model_request"
                    ),
                    models.CheckConstraint(condition=Q(state__in=STATES), name="known_state_of_model_request"),
                    models.CheckConstraint(
                        condition=~Q(state="open") | Q(is_counted=False),
                        name="open_model_request_is_not_counted",
                    ),
                    models.CheckConstraint(
                        condition=Q(prompt_price__gte=0, completion_price__gte=0),
                        name="model_price_is_not_negative",
                    ),
                    models.CheckConstraint(
                        condition=Q(purpose__in=OF_A_BATCH, batch__isnull=False)
                        | Q(purpose__in=OF_A_PROJECT, batch__isnull=True),
                        name="model_request_of_a_batch_names_it",
                    ),
                ],
            },
        ),
        migrations.AddField(
            "reply",
            "request",
            models.ForeignKey("annotation.modelrequest", PROTECT, null=True, related_name="+"),
        ),
    ]
