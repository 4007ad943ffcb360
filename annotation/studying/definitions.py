"""The definition of one task type as YAML text: read with the lines of its faults, and written."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.studying import yaml_file
from annotation.studying.study import parse
from annotation.studying.yaml_file import Fault, StudyError, spell
from tasks.common.definitions import NAME, in_order, new_faults

_ABOVE = "study: 1\nproject: {slug: x, name: x}\ntask_types:\n"
_LINES_ABOVE = _ABOVE.count("\n") + 1
_PLACEHOLDER = "task_type"

EXAMPLE = """\
title: {en: Table complexity, de: Komplexität der Tabelle}
instruction:
  en: How hard is this table to read?
  de: Wie schwer ist diese Tabelle zu lesen?
shows: [question, table, answers]
fields:
  - name: level
    type: choice
    label: {en: Level, de: Stufe}
    options:
      - value: easy
        title: {en: Easy, de: Leicht}
        help: {en: You see the answer at once., de: Sie sehen die Antwort sofort.}
      - value: hard
        title: {en: Hard, de: Schwer}
        help: {en: You have to search or calculate., de: Sie müssen suchen oder rechnen.}
  - name: reasons
    type: multi_choice
    label: {en: Reasons, de: Gründe}
    options:
      - {value: long, title: {en: Long, de: Lang}}
      - {value: wide, title: {en: Wide, de: Breit}}
    when: level == hard
  - name: quality
    type: scale
    label: {en: Quality, de: Qualität}
    min: 1
    max: 5
    anchors: {1: {en: poor, de: schlecht}, 5: {en: excellent, de: ausgezeichnet}}
  - {name: comment, type: text, label: {en: Comment, de: Kommentar}, optional: true}
decide: {field: level, rule: majority}
agreement: {level: [fleiss, alpha_nominal], quality: [alpha_ordinal]}
guidelines: |
  Look at the table first, then at the question.
"""


TEMPLATES = Path(settings.BASE_DIR) / "fixtures" / "task_types"


@functools.cache
def shipped() -> Mapping[str, Mapping[str, Any]]:
    """The definitions that come with Askew, by name: common forms to start from."""
    studies = [parse(path.read_text(encoding="utf-8")) for path in sorted(TEMPLATES.glob("*.yaml"))]
    return {name: data for study in studies for name, data in study.task_types.items()}


def read(name: str, text: str, stored: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """The definition that a text holds. Raises `StudyError` with the lines of the text.

    stored: the definition that the project has under this name, which stays valid as it is.
    """
    key = name if re.fullmatch(NAME, name) else _PLACEHOLDER
    within = "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True))
    try:
        study = parse(f"{_ABOVE}  {key}:\n{within}\n")
        data = study.task_types[key]
        if faults := [] if data == stored else new_faults(data):
            paths = [("task_types", key, *fault.path) for fault in faults]
            raise StudyError(
                [
                    Fault(study.line(*path), spell(path), fault.message)
                    for path, fault in zip(paths, faults, strict=True)
                ]
            )
        return data
    except StudyError as error:
        last = max(1, len(text.splitlines()))
        raise StudyError([_moved(fault, f"task_types.{key}", last) for fault in error.faults]) from None


def written(data: Mapping[str, Any]) -> str:
    """A definition as YAML, its keys in the order of the reference."""
    return yaml_file.write(in_order(data))


def _moved(fault: Fault, prefix: str, last: int) -> Fault:
    line = min(max(1, fault.line - _LINES_ABOVE), last)
    return Fault(line, fault.where.removeprefix(prefix).removeprefix("."), fault.message)
