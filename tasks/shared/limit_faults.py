"""What is wrong with the limits of a field in a definition: of numbers, dates, numbers of options and points."""

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from tableqa.core.translation import gettext
from tableqa.data.own_columns import PREFIX
from tasks.shared.definition_faults import DefinitionFault, Path
from tasks.shared.typed_fields import day_of

MOST_SHARES: Final = 10
"""Options among which points are divided."""
SOURCES: Final = {"prefill": ("question", "answers"), "in": ("question", "context")}
"""By key of a field: the parts of an example that have its text."""


def limit_faults(field: Mapping[str, Any], path: Path) -> Iterator[DefinitionFault]:
    """The faults of `min`, `max`, `step`, `slider` and the number of options, by the type of the field."""
    type = field["type"]
    if type == "date":
        yield from _date_faults(field, path)
        return
    for key in ("min", "max"):
        if type in ("number", "multi_choice") and isinstance(field.get(key), str):
            yield DefinitionFault((*path, key), gettext("Write a number without quotes."))
            return
    if type == "number":
        yield from _number_faults(field, path)
    if type == "multi_choice":
        yield from _choice_faults(field, path)
    if type == "shares" and len(field.get("options", ())) > MOST_SHARES:
        message = gettext("Points can be divided among at most {number} options. Remove some.")
        yield DefinitionFault((*path, "options"), message.format(number=MOST_SHARES))


def source_faults(data: Mapping[str, Any]) -> Iterator[DefinitionFault]:
    """What a text begins with, and where passages are marked, is shown to people anyway."""
    for index, field in enumerate(data["fields"]):
        key = {"text": "prefill", "spans": "in"}.get(field["type"], "")
        source = field.get(key, "question" if key == "in" else None)
        if source is None:
            continue
        path: Path = ("fields", index, key)
        parts = SOURCES[key]
        if source not in parts and not (source.startswith(PREFIX) and source != PREFIX):
            message = gettext("Write {parts}, or meta. with the name of a column.")
            yield DefinitionFault(path, message.format(parts=", ".join(parts)))
        elif source not in data.get("shows", ("question",)):
            message = gettext("Annotators work on this text, so add `{source}` to `shows`.")
            yield DefinitionFault(path, message.format(source=source))


def _number_faults(field: Mapping[str, Any], path: Path) -> Iterator[DefinitionFault]:
    low, high = field.get("min", -math.inf), field.get("max", math.inf)
    if low >= high:
        yield DefinitionFault((*path, "max"), gettext("`max` must be above `min`. Change one of them."))
        return
    has_ends = math.isfinite(low) and math.isfinite(high)
    if "anchors" in field and not field.get("slider"):
        message = gettext("A number without a slider has no `anchors`. Add slider: true, or remove them.")
        yield DefinitionFault((*path, "anchors"), message)
        return
    if not has_ends and field.get("slider"):
        yield DefinitionFault((*path, "slider"), gettext("A slider needs `min` and `max`. Add them."))
        return
    step = field.get("step")
    if has_ends and step and (Decimal(str(high)) - Decimal(str(low))) % Decimal(str(step)):
        message = gettext("From {low} in steps of {step}, {high} is not reached. Change one of them.")
        yield DefinitionFault((*path, "step"), message.format(low=low, step=step, high=high))
    for key in field.get("anchors", {}):
        if str(key) not in (str(low), str(high)):
            message = gettext("A slider has texts at its ends only: {low} and {high}.")
            yield DefinitionFault((*path, "anchors", key), message.format(low=low, high=high))


def _date_faults(field: Mapping[str, Any], path: Path) -> Iterator[DefinitionFault]:
    days = {key: day_of(field[key]) for key in ("min", "max") if key in field}
    for key, day in days.items():
        if day is None:
            yield DefinitionFault((*path, key), gettext('Write a date in quotes, for example "2024-05-01".'))
            return
    if len(days) == 2 and str(days["min"]) > str(days["max"]):
        yield DefinitionFault((*path, "max"), gettext("`max` must be above `min`. Change one of them."))


def _choice_faults(field: Mapping[str, Any], path: Path) -> Iterator[DefinitionFault]:
    options = len(field.get("options", ())) if "of" not in field else math.inf
    low, high = field.get("min", 1), field.get("max", options)
    is_whole = all(isinstance(field.get(key, 1), int) for key in ("min", "max"))
    if not is_whole or not 1 <= low <= high <= options:
        message = gettext("Choose from 1 to {options} options: `min` and `max` are such whole numbers.")
        text = message.format(options=options if math.isfinite(options) else gettext("all"))
        yield DefinitionFault((*path, "max" if "max" in field else "min"), text)
