"""Definitions of task types as data: their shape, and everything that is wrong with one.

A definition is a mapping as a study file has it below `task_types`. `SCHEMA` is its shape (JSON Schema);
`definition_faults` finds what a schema cannot say, each with the path of the part: an unknown field in a condition, a rule
that does not fit, a practice item whose expected response would be refused. `tasks.shared.defined_types` makes the task
type.
"""

import keyword
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tableqa.core.translation import gettext
from tableqa.data.own_columns import PREFIX
from tasks.contract import decision_rules
from tasks.contract.resolutions import Nature
from tasks.contract.scores import number_of
from tasks.shared.conditions import OPERATORS, Condition, condition
from tasks.shared.definition_faults import DefinitionFault, Path
from tasks.shared.limit_faults import limit_faults, source_faults
from tasks.shared.typed_fields import day_of

NAME: Final = "^[a-z][a-z0-9_]{0,39}$"
SHOWABLE: Final = ("question", "table", "titles", "answers", "context", "history")
MOST_COLUMNS: Final = 10
"""Own columns that one task type shows."""
OPTIONED: Final = ("choice", "multi_choice", "rank", "shares", "spans")
TYPES: Final = (*OPTIONED, "scale", "number", "date", "cells", "text")
MOST_FIELDS: Final = 20
MOST_STEPS: Final = 21
"""Steps of a scale, which are in one row."""
FARTHEST_STEP: Final = 100
STATISTICS: Final[Mapping[str, Mapping[str, str]]] = {
    "choice": {
        "percent": "percent_agreement",
        "fleiss": "fleiss_kappa",
        "alpha_nominal": "krippendorff_alpha_nominal",
        "ac1": "gwet_ac1",
    },
    "multi_choice": {
        "percent": "percent_agreement",
        "alpha_masi": "krippendorff_alpha_masi",
        "alpha_jaccard": "krippendorff_alpha_jaccard",
    },
    "spans": {
        "percent": "percent_agreement",
        "alpha_masi": "krippendorff_alpha_masi",
        "alpha_jaccard": "krippendorff_alpha_jaccard",
    },
    "cells": {"alpha_masi": "cell_sets_masi", "alpha_jaccard": "cell_sets_jaccard"},
    "scale": {
        "percent": "percent_agreement",
        "alpha_ordinal": "krippendorff_alpha_ordinal",
        "alpha_interval": "krippendorff_alpha_interval",
    },
    "number": {
        "alpha_interval": "krippendorff_alpha_interval",
        "alpha_ordinal": "krippendorff_alpha_ordinal",
        "percent": "percent_agreement",
    },
    "date": {
        "percent": "percent_agreement",
        "fleiss": "fleiss_kappa",
        "alpha_nominal": "krippendorff_alpha_nominal",
    },
    "shares": {"alpha_interval": "krippendorff_alpha_interval", "percent": "percent_agreement"},
    "rank": {
        "spearman": "mean_spearman",
        "kendall_w": "kendall_w",
        "percent": "percent_agreement",
        "fleiss": "fleiss_kappa",
        "alpha_nominal": "krippendorff_alpha_nominal",
    },
    "text": {},
}
"""By type of field: the names of agreement statistics in a definition, with those of `tableqa`."""
OF_ANSWERS_NOT: Final = ("ac1",)
"""Statistics that need to know how many options there are, which differs from item to item."""
NATURES: Final[Mapping[str, Nature]] = {
    "choice": "labels",
    "rank": "labels",
    "scale": "scales",
    "number": "scales",
    "shares": "scales",
    "date": "labels",
    "multi_choice": "sets",
    "cells": "sets",
    "spans": "sets",
    "text": "texts",
}
"""By type of the decided field: what the decision rules compare."""
RULES: Final[Mapping[str, tuple[str, ...]]] = {
    field_type: tuple(rule.name for rule in decision_rules.RULES.values() if nature in rule.fits)
    for field_type, nature in NATURES.items()
}
"""By type of the decided field: the decision rules that fit, the usual one first."""
FOR_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "options": OPTIONED,
    "of": ("choice", "multi_choice", "rank"),
    "different_from": ("choice", "multi_choice", "scale"),
    "min": ("scale", "number", "date", "multi_choice"),
    "max": ("scale", "number", "date", "multi_choice"),
    "step": ("number",),
    "slider": ("number",),
    "anchors": ("scale", "number"),
    "total": ("shares",),
    "prefill": ("text",),
    "in": ("spans",),
    "max_length": ("text",),
}
"""Keys of a field that only some types have."""
COMPARABLE: Final[Mapping[str, tuple[str, ...]]] = {
    "choice": ("==", "!="),
    "multi_choice": ("contains",),
    **dict.fromkeys(("scale", "number", "date"), ("==", "!=", "<", "<=", ">", ">=")),
}
"""By type of a field that a condition can compare: the operators that fit."""
PAGE_KEYS: Final = frozenset("acdefghilnpqstuxz?/[] ")
"""Keys of the annotation page and its table, which no option can have."""
_TAKEN: Final = (
    "id question answers table context history assignment base revision action check confirmed "
    "csrfmiddlewaretoken flag_note ask_text skip_reason skip_other unsure program proposals batch "
    "source example annotator type variant version"
)
TAKEN: Final = frozenset(_TAKEN.split())
"""Names that the form of the annotation page or a record of a release has already."""


def _text(longest: int, description: str) -> dict[str, Any]:
    text_schema = {"type": "string", "minLength": 1, "maxLength": longest}
    return {
        "description": f"{description}, or {{en: …, de: …}}",
        "type": ["string", "object"],
        "minLength": 1,
        "maxLength": longest,
        "properties": {"en": text_schema, "de": text_schema},
        "required": ["en"],
        "additionalProperties": False,
    }


def _option_shapes() -> dict[str, Any]:
    """The options of the rules, each with its types: `check_rule` knows their limits. Rules can share a name."""
    types: dict[str, set[str]] = {}
    for name in {rule for rules in RULES.values() for rule in rules}:
        for option, shape in decision_rules.RULES[name].options.items():
            types.setdefault(option, set()).add(shape.get("type", "string"))
    return {
        option: {"type": sorted(names) if len(names) > 1 else min(names)}
        for option, names in sorted(types.items())
    }


_OPTION: Final[dict[str, Any]] = {
    "type": ["string", "integer", "object"],
    "minLength": 1,
    "maxLength": 80,
    "description": "A value, or a mapping.",
    "properties": {
        "value": {
            "type": ["string", "integer"],
            "minLength": 1,
            "maxLength": 80,
            "description": "stored value",
        },
        "title": _text(120, "text on the page; default: the value"),
        "help": _text(500, "one sentence below the option"),
        "key": {"type": ["string", "integer"], "description": "shortcut, one character; default: its number"},
    },
    "required": ["value"],
    "additionalProperties": False,
}
_FIELD: Final[dict[str, Any]] = {
    "type": "object",
    "description": "An input of the form.",
    "properties": {
        "name": {"type": "string", "pattern": NAME, "description": "small letters, digits and underscores"},
        "type": {"enum": list(TYPES)},
        "label": _text(80, "name of the field, as a noun; default: from the name"),
        "question": _text(300, "question above the input; default: the label"),
        "help": _text(500, "a sentence below the question"),
        "options": {"type": "array", "items": _OPTION, "minItems": 1, "maxItems": 40},
        "of": {"enum": ["answers"], "description": "the options are the answers of the example"},
        "min": {
            "type": ["number", "string"],
            "description": "lowest step of a scale (1), number or date, or fewest options",
        },
        "max": {
            "type": ["number", "string"],
            "description": "highest step of a scale (5), number or date, or most options",
        },
        "step": {"type": "number", "exclusiveMinimum": 0, "description": "distance of numbers; default: any"},
        "slider": {"type": "boolean", "description": "a slider beside the number, which needs min and max"},
        "total": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000,
            "description": "points to divide among the options; default 100",
        },
        "in": {
            "type": "string",
            "maxLength": 120,
            "description": "the text of passages: question (default), context or meta.NAME",
        },
        "prefill": {
            "type": "string",
            "maxLength": 120,
            "description": "what a text begins with: question, answers or meta.NAME",
        },
        "anchors": {
            "type": "object",
            "description": "texts for steps of the scale, or for the ends of a slider",
            "maxProperties": MOST_STEPS,
            "additionalProperties": _text(60, "text of the step"),
        },
        "max_length": {"type": "integer", "minimum": 1, "maximum": 10_000, "description": "default 2000"},
        "optional": {"type": "boolean", "description": "the field can stay empty"},
        "when": {"type": "string", "maxLength": 200, "description": "condition, for example: level == hard"},
        "different_from": {
            "type": "string",
            "description": "name of a field above, which must have another value",
        },
    },
    "required": ["name", "type"],
    "additionalProperties": False,
}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "description": "A task type of this project.",
    "properties": {
        "title": _text(80, "name of the task type"),
        "instruction": _text(200, "one imperative line above the question"),
        "shows": {
            "type": "array",
            "items": {"type": "string", "maxLength": 120},
            "uniqueItems": True,
            "minItems": 1,
            "maxItems": len(SHOWABLE) + MOST_COLUMNS,
            "description": "parts of the example, and own columns as meta.NAME; default: question, table, titles",
        },
        "fields": {"type": "array", "items": _FIELD, "minItems": 1, "maxItems": MOST_FIELDS},
        "overlap": {
            "type": "integer",
            "minimum": 1,
            "maximum": 50,
            "description": "people per item; default 3",
        },
        "decide": {
            "type": "object",
            "description": "decided field and decision rule with its options; default: the first required field",
            "properties": {
                "field": {"type": "string"},
                "rule": {"enum": sorted({rule for rules in RULES.values() for rule in rules})},
                **_option_shapes(),
            },
            "required": ["field"],
            "additionalProperties": False,
        },
        "agreement": {
            "type": "object",
            "description": "per field: agreement statistics; default: the usual ones of each field",
            "maxProperties": MOST_FIELDS,
            "additionalProperties": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 1,
                "maxItems": 10,
            },
        },
        "guidelines": _text(200_000, "guidelines (Markdown)"),
        "practice": {
            "type": "array",
            "maxItems": 50,
            "description": "examples with the expected response",
            "items": {
                "type": "object",
                "properties": {
                    "example": {
                        "type": "object",
                        "description": "id, question, table and answers",
                        "properties": {key: {} for key in ("id", "question", "table", "answers")},
                    },
                    "expected": {
                        "type": "object",
                        "description": "values of the fields",
                        "maxProperties": MOST_FIELDS,
                    },
                    "why": {"type": "string", "maxLength": 2_000, "description": "shown as feedback"},
                },
                "required": ["example", "expected", "why"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["title", "instruction", "fields"],
    "additionalProperties": False,
}


def in_order(value: Any, schema: Mapping[str, Any] = SCHEMA) -> Any:
    """A definition, or a part of one, with its keys in the order of `SCHEMA`. Databases keep JSON in orders of their own."""
    if isinstance(value, Mapping):
        parts = schema.get("properties", {})
        keys = [*(key for key in parts if key in value), *(key for key in value if key not in parts)]
        return {key: in_order(value[key], parts.get(key, {})) for key in keys}
    return [in_order(entry, schema.get("items", {})) for entry in value] if isinstance(value, list) else value


def definition_faults(
    name: str, data: Mapping[str, Any], *, installed: Sequence[str] = ()
) -> list[DefinitionFault]:
    """Everything that is wrong with a definition that fits `SCHEMA`, the practice items aside.

    installed: keys of task types that no definition can take.
    """
    problems = list(name_faults(name, installed))
    seen: dict[str, Mapping[str, Any]] = {}
    for index, field in enumerate(data["fields"]):
        problems += _check_field(field, ("fields", index), seen)
        seen.setdefault(field["name"], field)
    problems += _check_option_keys(data["fields"])
    problems += _check_answer_fields(data)
    problems += _check_shown(data)
    problems += source_faults(data)
    problems += _check_cells_visible(data)
    problems += _check_decide(data, seen)
    problems += _check_agreement(data.get("agreement", {}), seen)
    return problems


def new_definition_faults(data: Mapping[str, Any]) -> list[DefinitionFault]:
    """What a new definition that has no other faults cannot have, although stored ones keep working with it."""
    marked = [index for index, field in enumerate(data["fields"]) if field["type"] == "cells"]
    message = gettext(
        "The table has one selection, and {name!r} uses it. Remove this field, or make a second task type."
    )
    return [
        DefinitionFault(("fields", index, "type"), message.format(name=data["fields"][marked[0]]["name"]))
        for index in marked[1:]
    ]


def decision_of(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The decided field and its rule: as the definition says, else the first required field that has options or steps."""
    fields = {field["name"]: field for field in data["fields"]}
    decision = data.get("decide", {})
    always = [field for field in data["fields"] if not field.get("optional") and "when" not in field]
    usual = next((field for field in always if field["type"] != "text"), always[0] if always else None)
    name = decision.get("field") or (usual["name"] if usual else "")
    rule = decision.get("rule") or (RULES[fields[name]["type"]][0] if name in fields else "")
    return {**decision, "field": name, "rule": rule}


def options_of(fields: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """By field: the values of its options."""
    return {name: list(map(value_of, field.get("options", ()))) for name, field in fields.items()}


def value_of(option: Any) -> str:
    """The stored value of an option, which may be written without a mapping."""
    return str(option["value"]) if isinstance(option, Mapping) else str(option)


def key_of(option: Any, position: int, *, of_answers: bool) -> str:
    """The shortcut of the option with this number, from 1. Beside the answers of an example, which have theirs, it is 0."""
    own = option.get("key") if isinstance(option, Mapping) else None
    usual = 0 if of_answers else position
    return str(usual if own is None else own).lower()


def statistics_of(field: Mapping[str, Any]) -> Mapping[str, str]:
    """The statistics that fit a field, as `STATISTICS` has them."""
    statistic_names = STATISTICS[field["type"]]
    return {
        name: full
        for name, full in statistic_names.items()
        if "of" not in field or name not in OF_ANSWERS_NOT
    }


def steps_of(field: Mapping[str, Any]) -> range:
    """The steps of a scale."""
    return range(field.get("min", 1), field.get("max", 5) + 1)


# -- checks -----------------------------------------------------------------------------------------


def name_faults(name: str, installed: Sequence[str]) -> Iterator[DefinitionFault]:
    """What is wrong with the name of a task type."""
    if not re.fullmatch(NAME, name):
        message = gettext("{name!r} is no name of a task type. Use small letters, digits and underscores.")
        yield DefinitionFault((), message.format(name=name))
    elif name in installed:
        message = gettext("Askew has a task type {name!r} already. Choose another name.")
        yield DefinitionFault((), message.format(name=name))


def _check_field(
    field: Mapping[str, Any], path: Path, seen: Mapping[str, Mapping[str, Any]]
) -> Iterator[DefinitionFault]:
    name, type = field["name"], field["type"]
    if name in seen:
        message = gettext("There is a field {name!r} above. Choose another name.")
        yield DefinitionFault((*path, "name"), message.format(name=name))
    if name in TAKEN or keyword.iskeyword(name):
        message = gettext("The name {name!r} is reserved. Choose another name.")
        yield DefinitionFault((*path, "name"), message.format(name=name))
    for key, types in FOR_TYPES.items():
        if key in field and type not in types:
            message = gettext("A field of type {type} has no `{key}`. Remove it, or use the type {types}.")
            text = message.format(type=type, key=key, types=gettext(" or ").join(types))
            yield DefinitionFault((*path, key), text)
    if type in OPTIONED:
        yield from _check_options(field, path)
    if type == "scale":
        yield from _check_scale(field, path)
    else:
        yield from limit_faults(field, path)
    if "when" in field:
        yield from _check_condition(field["when"], (*path, "when"), seen)
    if "different_from" in field and type in FOR_TYPES["different_from"]:
        yield from _check_different_from(field, (*path, "different_from"), seen)


def _check_different_from(
    field: Mapping[str, Any], path: Path, seen: Mapping[str, Mapping[str, Any]]
) -> Iterator[DefinitionFault]:
    other = field["different_from"]
    alike = [name for name, earlier_field in seen.items() if earlier_field["type"] == field["type"]]
    if other not in alike:
        message = gettext("No field above is called {name!r} and has the type {type}. Those fields: {names}.")
        names = ", ".join(alike) or gettext("none")
        yield DefinitionFault(path, message.format(name=other, type=field["type"], names=names))


def _check_answer_fields(data: Mapping[str, Any]) -> Iterator[DefinitionFault]:
    """To choose among the answers, or rank them, people must see them. A rank has no other options."""
    for index, field in enumerate(data["fields"]):
        if field["type"] not in OPTIONED or "of" not in field:
            continue
        if field["type"] == "rank" and "options" in field:
            message = gettext("`of` takes the place of `options`. Remove one of them.")
            yield DefinitionFault(("fields", index, "options"), message)
        if "answers" not in data.get("shows", ()):
            message = gettext("Annotators compare the answers, so add `answers` to `shows`.")
            yield DefinitionFault(("fields", index, "of"), message)
        for option_index, option in enumerate(field.get("options", ())):
            if value_of(option).isdecimal():
                message = gettext("Numbers stand for the answers. Give the option {value!r} another value.")
                path: Path = ("fields", index, "options", option_index)
                yield DefinitionFault(path, message.format(value=value_of(option)))


def _check_shown(data: Mapping[str, Any]) -> Iterator[DefinitionFault]:
    """What annotators see is a part of an example, or an own column."""
    for index, name in enumerate(data.get("shows", ())):
        if name not in SHOWABLE and not (name.startswith(PREFIX) and name != PREFIX):
            message = gettext(
                "{name} is no part of an example. Use {parts}, or meta. with the name of a column."
            )
            yield DefinitionFault(("shows", index), message.format(name=name, parts=", ".join(SHOWABLE)))


def _check_cells_visible(data: Mapping[str, Any]) -> Iterator[DefinitionFault]:
    """To mark cells, people must see the table."""
    for index, field in enumerate(data["fields"]):
        if field["type"] == "cells" and "table" not in data.get("shows", ("table",)):
            message = gettext("Annotators mark cells in the table, so add `table` to `shows`.")
            yield DefinitionFault(("fields", index, "type"), message)


def _check_options(field: Mapping[str, Any], path: Path) -> Iterator[DefinitionFault]:
    options = field.get("options", [] if "of" in field else None)
    if options is None:
        message = gettext("A field of type {type} needs `options`, for example: options: [yes, no].")
        yield DefinitionFault(path, message.format(type=field["type"]))
        return
    if len(options) == 1 and "of" not in field and field["type"] != "spans":
        message = gettext("One option is no choice. Add another one.")
        yield DefinitionFault((*path, "options"), message)
    values = Counter(map(value_of, options))
    for index, option in enumerate(options):
        value = value_of(option)
        if values[value] > 1 and value in map(value_of, options[:index]):
            message = gettext("The option {value!r} appears twice. Remove one.")
            yield DefinitionFault((*path, "options", index), message.format(value=value))
        if value != value.strip():
            message = gettext("The option {value!r} begins or ends with a space. Remove it.")
            yield DefinitionFault((*path, "options", index), message.format(value=value))
        if isinstance(option, Mapping) and "key" in option:
            key = str(option["key"]).lower()
            if len(key) != 1 or key in PAGE_KEYS:
                message = gettext("The key {key!r} cannot be used. Use a digit, or one of: {free}.")
                free = " ".join(letter for letter in "bjkmorvwy" if letter not in PAGE_KEYS)
                yield DefinitionFault((*path, "options", index, "key"), message.format(key=key, free=free))


def _check_option_keys(fields: Sequence[Mapping[str, Any]]) -> Iterator[DefinitionFault]:
    """Two options of one field with one key. Options of different fields may share one: the open question takes it."""
    for index, field in enumerate(fields):
        if field["type"] == "rank":
            continue
        of_answers = "of" in field
        answer = gettext("an answer")
        first: dict[str, str] = {str(position): answer for position in range(1, 10) if of_answers}
        for position, option in enumerate(field.get("options", ()), start=1):
            key = key_of(option, position, of_answers=of_answers)
            if key in first:
                message = gettext(
                    "The options {one!r} and {other!r} have the same key {key!r}. Set another `key`."
                )
                text = message.format(one=first[key], other=value_of(option), key=key)
                yield DefinitionFault(("fields", index, "options", position - 1), text)
            first.setdefault(key, value_of(option))


def _check_scale(field: Mapping[str, Any], path: Path) -> Iterator[DefinitionFault]:
    for key in ("min", "max"):
        if not isinstance(field.get(key, 1), int) or abs(field.get(key, 1)) > FARTHEST_STEP:
            message = gettext(
                "The ends of a scale are whole numbers from {low} to {high}. For others, use the type number."
            )
            text = message.format(low=-FARTHEST_STEP, high=FARTHEST_STEP)
            yield DefinitionFault((*path, key), text)
            return
    steps = steps_of(field)
    if not 2 <= len(steps) <= MOST_STEPS:
        message = gettext(
            "A scale has 2 to {most} steps; from {low} to {high} there are {number}. Change min or max."
        )
        text = message.format(most=MOST_STEPS, low=steps.start, high=steps.stop - 1, number=len(steps))
        yield DefinitionFault((*path, "max" if "max" in field else "min"), text)
    for key in field.get("anchors", {}):
        if str(key) not in map(str, steps):
            message = gettext("The scale has no step {key}. Its steps: {low} to {high}.")
            text = message.format(key=key, low=steps.start, high=steps.stop - 1)
            yield DefinitionFault((*path, "anchors", key), text)


def _check_condition(
    text: str, path: Path, seen: Mapping[str, Mapping[str, Any]]
) -> Iterator[DefinitionFault]:
    when = condition(text, options_of(seen))
    if when is None:
        message = gettext(
            "This is no condition. Write a field, one of {operators}, and a value: level == hard. "
            "Join several with and, or, not and brackets."
        )
        yield DefinitionFault(path, message.format(operators=", ".join(OPERATORS)))
        return
    for part in when.leaves():
        yield from _check_comparison(part, path, seen)


def _check_comparison(
    when: Condition, path: Path, seen: Mapping[str, Mapping[str, Any]]
) -> Iterator[DefinitionFault]:
    if when.field not in seen:
        message = gettext("No field above is called {name!r}. Fields above: {names}.")
        names = ", ".join(seen) or gettext("none")
        yield DefinitionFault(path, message.format(name=when.field, names=names))
        return
    field = seen[when.field]
    name, type, value = when.field, field["type"], str(when.value)
    operators = COMPARABLE.get(type)
    if operators is None:
        message = gettext("A condition can compare {types}; {name!r} is of type {type}.")
        text = message.format(name=name, type=type, types=", ".join(COMPARABLE))
        yield DefinitionFault(path, text)
    elif when.operator.replace("lacks", "contains") not in operators:
        message = gettext("With {name!r}, which is of type {type}, use {wanted}.")
        text = message.format(name=name, type=type, wanted=gettext(" or ").join(operators))
        yield DefinitionFault(path, text)
    elif type == "number" and number_of(value) is None:
        yield DefinitionFault(path, gettext("Enter a number, for example {number}.").format(number=1.5))
    elif type == "date" and day_of(value) is None:
        yield DefinitionFault(path, gettext("Enter a date, for example 2024-05-01."))
    elif type not in ("number", "date"):
        values = [str(step) for step in steps_of(field)] if type == "scale" else None
        values = values or [value_of(option) for option in field.get("options", ())]
        is_answer = "of" in field and re.fullmatch("[1-9][0-9]*", value) is not None
        if value not in values and not is_answer:
            message = gettext("{name!r} has no value {value!r}. Available: {values}.")
            text = message.format(name=name, value=value, values=", ".join(values))
            yield DefinitionFault(path, text)


def _check_decide(
    data: Mapping[str, Any], fields: Mapping[str, Mapping[str, Any]]
) -> Iterator[DefinitionFault]:
    path: Path = ("decide",)
    decision = decision_of(data)
    name = decision["field"]
    if not name:
        message = gettext("Every field is optional or has a condition. Make one field required.")
        yield DefinitionFault(("fields",), message)
        return
    if name not in fields:
        message = gettext("There is no field {name!r}. Fields: {names}.")
        text = message.format(name=name, names=", ".join(fields))
        yield DefinitionFault((*path, "field"), text)
        return
    field = fields[name]
    if field.get("optional") or "when" in field:
        message = gettext(
            "{name!r} can stay empty, so it cannot decide an item. Choose a required field without `when`."
        )
        yield DefinitionFault((*path, "field"), message.format(name=name))
    if decision["rule"] not in RULES[field["type"]]:
        message = gettext("The rule {rule} does not fit a field of type {type}. These fit: {rules}.")
        text = message.format(
            rule=decision["rule"], type=field["type"], rules=", ".join(RULES[field["type"]])
        )
        yield DefinitionFault((*path, "rule"), text)


def _check_agreement(
    agreement: Mapping[str, Sequence[str]], fields: Mapping[str, Mapping[str, Any]]
) -> Iterator[DefinitionFault]:
    for name, statistics in agreement.items():
        if name not in fields:
            message = gettext("There is no field {name!r}. Fields: {names}.")
            text = message.format(name=name, names=", ".join(fields))
            yield DefinitionFault(("agreement", name), text)
            continue
        type = fields[name]["type"]
        statistic_names = statistics_of(fields[name])
        if not statistic_names:
            message = gettext("No agreement is computed for a field of type {type}. Remove it.")
            yield DefinitionFault(("agreement", name), message.format(type=type))
            continue
        for index, statistic in enumerate(statistics):
            if statistic not in statistic_names:
                message = gettext("{statistic!r} does not fit a field of type {type}. These fit: {known}.")
                text = message.format(statistic=statistic, type=type, known=", ".join(statistic_names))
                yield DefinitionFault(("agreement", name, index), text)
