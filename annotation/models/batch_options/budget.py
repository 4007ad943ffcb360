"""What language models may cost: budgets of batches and projects.

    {"usd": 20, "tokens": 5000000}

What is not named is not limited. `annotation.queue.metering` checks before each request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.conf import settings
from django.db import models
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from annotation.models.batch_options.term import UNTIL_CLOSED, Inputs, Term
from annotation.models.batch_options.work_limits import is_number
from annotation.platform.refusals import refuse

if TYPE_CHECKING:
    from tasks.contract import TaskType

MAXIMUM: Final[dict[str, float]] = {"usd": 1_000_000, "tokens": 10**12}
SHAPE: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "usd": {"type": "number", "exclusiveMinimum": 0, "maximum": MAXIMUM["usd"]},
        "tokens": {"type": "integer", "exclusiveMinimum": 0, "maximum": int(MAXIMUM["tokens"])},
    },
    "additionalProperties": False,
}


def budget(values: Mapping[str, Any]) -> dict[str, Any]:
    """A budget as it is stored; None is no limit. Raises ActionRefused(invalid_request)."""
    if not isinstance(values, Mapping) or (values.keys() - MAXIMUM.keys()):
        refuse(
            "invalid_request",
            "A budget must be an object of usd and tokens, for example {example}.",
            example='{"usd": 20}',
        )
    checked: dict[str, Any] = {}
    for name, maximum in MAXIMUM.items():
        value = values.get(name)
        if value is None:
            continue
        if not is_number(value, whole=name == "tokens") or not 0 < value <= maximum:
            refuse(
                "invalid_request",
                "model_budget.{name} must be a number above 0, at most {maximum}.",
                name=name,
                maximum=number_format(int(maximum), force_grouping=True),
            )
        checked[name] = value
    return checked


def has_language_models() -> bool:
    """Whether the settings contain a language model; one behind a predictor shows itself by its price."""
    return any(entry["protocol"] == "chat" or "price" in entry for entry in settings.PREDICTORS.values())


def fields(task: TaskType | None = None) -> dict[str, forms.Field]:
    """Form fields of a budget, none on a site without language models."""
    if not has_language_models():
        return {}
    return {
        "budget_usd": forms.FloatField(
            required=False,
            min_value=0.01,
            max_value=MAXIMUM["usd"],
            label=gettext_lazy("Budget for language models (USD)"),
            help_text=gettext_lazy("Requests that could exceed it are not sent."),
        ),
        "budget_tokens": forms.IntegerField(
            required=False,
            min_value=1,
            max_value=int(MAXIMUM["tokens"]),
            label=gettext_lazy("Budget for language models (tokens)"),
        ),
    }


def join(values: Mapping[str, Any]) -> dict[str, Any]:
    """A budget from form fields."""
    named = {name: values.get(f"budget_{name}") for name in MAXIMUM}
    return {name: value for name, value in named.items() if value is not None}


def split(value: Mapping[str, Any]) -> dict[str, Any]:
    """Form fields from a budget."""
    return {f"budget_{name}": limit for name, limit in value.items()}


def in_words(value: Mapping[str, Any]) -> str:
    """A budget in the reader's language."""
    parts = [f"{number_format(value['usd'], 2, force_grouping=True)} USD"] if "usd" in value else []
    if "tokens" in value:
        parts.append(
            gettext("{number} tokens").format(number=number_format(value["tokens"], force_grouping=True))
        )
    return ", ".join(parts) or "–"


def _asks_models(task: TaskType) -> bool:
    from tasks.contract import ProposingTask  # imported on use: the models import this module

    return bool(task.predicts) or isinstance(task, ProposingTask)


class BudgetTerms(models.Model):
    """What language models may cost."""

    model_budget = Term(
        label=gettext_noop("Budget for language models"),
        help=gettext_noop(
            "Requests that could exceed it are not sent. The budget of the project also applies."
        ),
        section="budget",
        fits=_asks_models,
        choices=lambda: {"": ""} if has_language_models() else {},
        changeable=UNTIL_CLOSED,
        effect=gettext_noop("The budget applies from the next request and includes earlier ones."),
        check=lambda value, context: budget(value),
        inputs=Inputs(build=fields, join=join, split=split),
        shape=SHAPE,
        reads=in_words,
    ).of(models.JSONField(default=dict, db_default={}))

    class Meta:
        abstract = True
