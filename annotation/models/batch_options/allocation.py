"""Terms that say who gets which items, and how many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.db import models
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from annotation.models.batch_options import work_limits
from annotation.models.batch_options.term import NEVER, UNTIL_CLOSED, Context, Inputs, Term
from annotation.platform.refusals import refuse

if TYPE_CHECKING:
    from tasks.contract import TaskType

MOST_OVERLAP: Final = 50
STRATEGIES: Final[dict[str, str]] = {
    "open": gettext_noop("first come, first served: each person gets the next free item"),
    "split": gettext_noop("fixed share per person, drawn when the batch opens"),
    "everyone": gettext_noop("every person gets every item"),
}


def _check_overlap(value: Any, context: Context) -> int:
    batch = context.batch
    if batch is not None and batch.strategy == "everyone" and value != batch.overlap:
        refuse(
            "invalid_request",
            "Everyone gets every item of this batch, so the number of people per item is fixed.",
        )
    return int(value)


def _check_strategy(value: Any, context: Context) -> str:
    """A batch that decides nothing gives every item to everyone."""
    if context.purpose != "work" and value != "everyone":
        refuse(
            "invalid_request",
            "In a {purpose} batch everyone gets every item. Leave the strategy out.",
            purpose=context.purpose,
        )
    return str(value)


def _cap_fields(task: TaskType) -> dict[str, forms.Field]:
    return {
        "items": forms.IntegerField(
            required=False,
            min_value=1,
            max_value=int(work_limits.MOST["items"]),
            label=gettext_lazy("Items per person"),
        ),
        "items_per_day": forms.IntegerField(
            required=False,
            min_value=1,
            max_value=int(work_limits.MOST["items_per_day"]),
            label=gettext_lazy("Items per person per day"),
        ),
        "hours_per_day": forms.FloatField(
            required=False,
            min_value=0.1,
            max_value=work_limits.MOST["hours_per_day"],
            label=gettext_lazy("Hours per person per day"),
            help_text=gettext_lazy("Project limits also apply."),
        ),
    }


def _caps_in_words(caps: Mapping[str, Any]) -> str:
    return ", ".join(f"{value} {gettext(work_limits.WORDS[name])}" for name, value in caps.items()) or "–"


class PeopleTerms(models.Model):
    """Who gets which items."""

    overlap = Term(
        label=gettext_noop("People per item"),
        help=gettext_noop("Number of people who respond to each item."),
        section="people",
        changeable=UNTIL_CLOSED,
        effect=gettext_noop("Undecided items get more slots, or lose free ones. Responses are kept."),
        usual=lambda context: context.task.default_overlap,
        usual_in_words="of the task type",
        check=_check_overlap,
        minimum=1,
        maximum=MOST_OVERLAP,
        per_task_type=True,
        is_always_written=True,
        is_always_shown=True,
    ).of(models.PositiveSmallIntegerField())
    strategy = Term(
        label=gettext_noop("Allocation"),
        help=gettext_noop("People never check their own work."),
        section="sampling",
        changeable=NEVER,
        usual=lambda context: "open" if context.purpose == "work" else "everyone",
        usual_in_words="`open`; `everyone` unless the purpose is work",
        check=_check_strategy,
        choices=STRATEGIES,
    ).of(models.CharField(max_length=15, default="open"))
    caps = Term(
        label=gettext_noop("Limits per person"),
        help=gettext_noop("Limits per person in this batch. Project limits also apply."),
        section="limits",
        changeable=UNTIL_CLOSED,
        effect=gettext_noop("Limits apply from now on and include the work of today."),
        check=lambda value, context: work_limits.caps(value),
        inputs=Inputs(
            build=_cap_fields,
            join=lambda values: {
                name: values[name] for name in work_limits.OF_A_BATCH if values.get(name) is not None
            },
            split=dict,
        ),
        shape=work_limits.shape_of_caps(work_limits.OF_A_BATCH),
        reads=_caps_in_words,
    ).of(models.JSONField(default=dict))

    class Meta:
        abstract = True
