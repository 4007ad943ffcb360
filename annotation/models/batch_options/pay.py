"""The term of pay: what counts in a batch instead of the rate of the project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django import forms
from django.db import models
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from annotation.models.batch_options import work_limits
from annotation.models.batch_options.term import UNTIL_CLOSED, Inputs, Term

if TYPE_CHECKING:
    from tasks.contract import TaskType

PARTS = ("currency", "per_hour", "per_item")


def _fields(task: TaskType) -> dict[str, forms.Field]:
    return {
        "pay_currency": forms.CharField(
            required=False,
            max_length=3,
            label=gettext_lazy("Currency"),
            help_text=gettext_lazy("Three capitals, for example EUR. Leave pay empty to use the project's."),
        ),
        "pay_per_hour": forms.FloatField(
            required=False, min_value=0, max_value=work_limits.MOST_PAY, label=gettext_lazy("Pay per hour")
        ),
        "pay_per_item": forms.FloatField(
            required=False, min_value=0, max_value=work_limits.MOST_PAY, label=gettext_lazy("or per item")
        ),
    }


def _join(cleaned: Mapping[str, Any]) -> dict[str, Any]:
    return {name: cleaned[f"pay_{name}"] for name in PARTS if cleaned.get(f"pay_{name}") not in (None, "")}


def _pay_in_words(pay: Mapping[str, Any]) -> str:
    if "per_hour" in pay:
        return gettext("{rate} {currency} per hour").format(rate=pay["per_hour"], currency=pay["currency"])
    return gettext("{rate} {currency} per item").format(rate=pay["per_item"], currency=pay["currency"])


class PayTerms(models.Model):
    """Pay in a batch."""

    pay = Term(
        label=gettext_noop("Pay in this batch"),
        help=gettext_noop("Pay of annotators in this batch, instead of the project's, per hour or per item."),
        section="pay",
        usual_in_words="of the project",
        changeable=UNTIL_CLOSED,
        effect=gettext_noop(
            "The new rate applies from now on. If there was no rate before, it applies to all responses."
        ),
        check=lambda value, context: work_limits.pay(value),
        inputs=Inputs(
            build=_fields,
            join=_join,
            split=lambda value: {f"pay_{name}": part for name, part in value.items()},
        ),
        shape=work_limits.SHAPE_OF_PAY,
        reads=lambda value: _pay_in_words(value) if value else "–",
    ).of(models.JSONField(default=dict))

    class Meta:
        abstract = True
