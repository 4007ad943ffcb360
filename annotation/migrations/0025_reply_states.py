"""States of requests and replies that were one: parameters, replies that were cut off, declined, filtered or invalid."""

from __future__ import annotations

from django.db import migrations, models
from django.db.models import Q

STATES = [
    *("open", "answered", "cut_off", "filtered", "declined", "unreadable", "refused", "parameters", "away"),
]
UNUSABLE = ["cut_off", "declined", "filtered", "unreadable", "refused", "invalid"]
OUTCOMES = ["proposed", "again", "does_not_apply", *UNUSABLE]


def _choices(names: list[str]) -> list[tuple[str, str]]:
    return [(name, name.replace("_", " ").title()) for name in names]


class Migration(migrations.Migration):
    dependencies = [("annotation", "0024_adjudication_lane")]

    operations = [
        migrations.AlterField(
            "modelrequest", "state", models.CharField(max_length=12, choices=_choices(STATES), default="open")
        ),
        migrations.RemoveConstraint("modelrequest", "known_state_of_model_request"),
        migrations.AddConstraint(
            "modelrequest",
            models.CheckConstraint(condition=Q(state__in=STATES), name="known_state_of_model_request"),
        ),
        migrations.AlterField("reply", "outcome", models.CharField(max_length=20, choices=_choices(OUTCOMES))),
        migrations.RemoveConstraint("reply", "a_reply_makes_a_proposal_or_none"),
        migrations.AddConstraint(
            "reply",
            models.CheckConstraint(
                condition=Q(outcome__in=["proposed", "again"], proposal__isnull=False)
                | Q(outcome__in=["does_not_apply", *UNUSABLE], proposal__isnull=True),
                name="a_reply_makes_a_proposal_or_none",
            ),
        ),
    ]
