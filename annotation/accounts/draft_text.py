"""What a draft says that cannot be opened any more, in words: no field is there as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.utils.translation import gettext, gettext_noop, ngettext

from tableqa import Table
from tableqa.operations import OperationError, describe, from_list
from tableqa.programs import ProgramError
from tableqa.programs.executable_answers import in_words as program_in_words
from tasks.contract import Field, Item, TaskType

NAMES: Final[Mapping[str, str]] = {
    "answers": gettext_noop("Answer"),
    "category": gettext_noop("Category"),
    "difference": gettext_noop("Why the answer is different"),
    "does_not_apply": gettext_noop("Does not apply"),
    "label": gettext_noop("Label"),
    "own": gettext_noop("Cells filled in"),
    "program": gettext_noop("How the answer is worked out"),
    "provenance": gettext_noop("Source of new columns"),
    "question": gettext_noop("Question"),
    "reason": gettext_noop("Reason"),
    "rejected": gettext_noop("Rejected suggestions"),
    "taken": gettext_noop("Accepted suggestions"),
    "unanswerable": gettext_noop("Unanswerable"),
    "whole": gettext_noop("The whole table is needed"),
    "worked_out": gettext_noop("The answer is worked out"),
}
"""Fields of the task types here; others are called by their own name."""


def draft_in_words(task: TaskType, data: Mapping[str, Any], item: Item) -> list[str]:
    """A sentence or two for each field of a draft in which something was entered; a draft may hold anything."""
    sentences: list[str] = []
    for spec in task.fields:
        value = data.get(spec.name)
        if value in (None, "", False, [], {}):
            continue
        if spec.kind == "operations":
            sentences += _operations(value, item.example.table)
        elif spec.kind == "cells":
            sentences += _cells(value)
        else:
            name = gettext(NAMES.get(spec.name) or spec.name.replace("_", " ").capitalize())
            text = _text(spec, value, item.example.table)
            if text:
                sentences.append(gettext("{name}: {value}").format(name=name, value=text))
            elif spec.kind == "flag":
                sentences.append(f"{name}.")
    return sentences


def _operations(value: Any, table: Table) -> list[str]:
    try:
        return [describe(operation, table) for operation in from_list(value)]
    except OperationError:
        return []


def _cells(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    count = len(value)
    return [ngettext("{number} cell marked", "{number} cells marked", count).format(number=count)]


def _text(spec: Field, value: Any, table: Table) -> str:
    """A value in words; "" for a flag that is set, and for what no page enters."""
    if spec.kind == "flag":
        return ""
    if spec.kind in ("choice", "choices"):
        titles = _titles(spec)
        return ", ".join(gettext(titles[key]) if titles.get(key) else key for key in _texts(value))
    if spec.kind != "json":
        return " | ".join(_texts(value))
    if isinstance(value, Mapping):
        return _program(value, table)
    count = len(value) if isinstance(value, Sequence) and not isinstance(value, str) else 1
    return ngettext("{number} entry", "{number} entries", count).format(number=count)


def _titles(spec: Field) -> dict[str, str]:
    """The titles of the options by their value: of a declared question (`tasks.shared.form_fields`), else of the choices."""
    options = getattr(spec, "options", ())
    return {option.value: option.title or option.value for option in options} or dict(spec.choices)


def _texts(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else [value]
    return [str(part) for part in parts if isinstance(part, str | int | float)]


def _program(value: Mapping[str, Any], table: Table) -> str:
    try:
        return program_in_words(value, table)
    except (ProgramError, KeyError, TypeError, ValueError):
        return gettext("a program that does not fit this table")
