"""What limits a person's work, and what it is paid with: the shapes that batches and projects keep, checked once.

caps of a batch    {"items": 200, "items_per_day": 60, "hours_per_day": 3}    of one person in the batch
caps of a project  {"items_per_day": 120, "hours_per_day": 4}                 of one person in all of its batches
pay                {"currency": "EUR", "per_hour": 14.5}, or "per_item" in place of "per_hour"

What is not named is not limited. `annotation.queue.entry_requirements` asks before a person gets an item.
"""

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop

from annotation.platform.refusals import refuse

MOST: Final[dict[str, float]] = {"items": 10_000_000, "items_per_day": 100_000, "hours_per_day": 24}
"""The limits there are, each with the most that it can be; hours may have a fraction."""
OF_A_BATCH: Final = ("items", "items_per_day", "hours_per_day")
OF_A_PROJECT: Final = ("items_per_day", "hours_per_day")
WORDS: Final[dict[str, str]] = {
    "items": gettext_noop("items per person"),
    "items_per_day": gettext_noop("items per person per day"),
    "hours_per_day": gettext_noop("hours per person per day"),
}
MOST_PAY: Final = 1_000_000
SHAPE_OF_PAY: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "currency": {
            "type": "string",
            "pattern": "^[A-Z]{3}$",
            "description": gettext_noop("a code of three capitals, for example EUR"),
        },
        "per_hour": {"type": "number", "minimum": 0, "maximum": MOST_PAY},
        "per_item": {"type": "number", "minimum": 0, "maximum": MOST_PAY},
    },
    "required": ["currency"],
    "additionalProperties": False,
}


def shape_of_caps(names: tuple[str, ...]) -> dict[str, Any]:
    """The JSON Schema of an object of these limits."""
    properties = {
        name: {
            "type": "number" if name == "hours_per_day" else "integer",
            "exclusiveMinimum": 0,
            "maximum": MOST[name],
            "description": WORDS[name],
        }
        for name in names
    }
    return {"type": "object", "properties": properties, "additionalProperties": False}


def caps(values: Mapping[str, Any], names: tuple[str, ...] = OF_A_BATCH) -> dict[str, Any]:
    """The limits as they are kept, in one order; a limit that is None is none. Raises ActionRefused(invalid_request)."""
    if not isinstance(values, Mapping):
        refuse(
            "invalid_request",
            "Limits must be an object, for example {example}.",
            example='{"items_per_day": 60}',
        )
    if unknown := sorted(set(values) - set(names)):
        refuse(
            "invalid_request",
            "There is no limit {unknown!r}. Available: {known}.",
            unknown=unknown[0],
            known=", ".join(names),
        )
    limits: dict[str, Any] = {}
    for name in names:
        value = values.get(name)
        if value is None:
            continue
        whole = name != "hours_per_day"
        if not is_number(value, whole=whole) or not 0 < value <= MOST[name]:
            kind = gettext("a whole number") if whole else gettext("a number")
            refuse(
                "invalid_request",
                "caps.{name} must be {number} above 0, at most {most:,.0f}.",
                name=name,
                number=kind,
                most=MOST[name],
            )
        limits[name] = value
    return limits


def pay(values: Mapping[str, Any]) -> dict[str, Any]:
    """The rate as it is kept, {} where nothing is paid here. Raises ActionRefused(invalid_request)."""
    if not isinstance(values, Mapping):
        refuse(
            "invalid_request",
            "Pay must be an object, for example {example}.",
            example='{"currency": "EUR", "per_hour": 14.5}',
        )
    non_empty = {name: value for name, value in values.items() if value not in (None, "")}
    if not non_empty:
        return {}
    if unknown := sorted(set(non_empty) - {"currency", "per_hour", "per_item"}):
        refuse(
            "invalid_request",
            "pay has no key {unknown!r}. Use currency and per_hour or per_item.",
            unknown=unknown[0],
        )
    if not re.fullmatch("[A-Z]{3}", str(non_empty.get("currency", ""))):
        refuse("invalid_request", "pay.currency must be a code of three capitals, for example EUR.")
    rates = [name for name in ("per_hour", "per_item") if name in non_empty]
    if len(rates) != 1:
        refuse("invalid_request", "Pay is per hour or per item. Use only one of per_hour and per_item.")
    rate = non_empty[rates[0]]
    if not is_number(rate) or not 0 <= rate <= MOST_PAY:
        refuse(
            "invalid_request",
            "pay.{rates} must be a number from 0 to {most_pay}.",
            rates=rates[0],
            most_pay=number_format(MOST_PAY, force_grouping=True),
        )
    return {"currency": non_empty["currency"], rates[0]: rate}


def is_number(value: object, *, whole: bool = False) -> bool:
    """Whether a value is a finite number, with `whole` an integer; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return False
    return math.isfinite(value)
