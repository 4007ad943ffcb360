"""The definition of one task type as YAML text: read with the lines of its faults, and written."""

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext

from annotation.study_file import yaml_file
from annotation.study_file.parser import parse
from annotation.study_file.yaml_file import Fault, ParsedYaml, StudyError, spell
from tasks.shared.type_definitions import NAME, SCHEMA, in_order, new_definition_faults

_HEAD = "study: 1\nproject: {slug: x, name: x}\n"
_SECTION = "task_types"
_PLACEHOLDER = "task_type"
_OF_A_FILE = ("study", "project")
"""Keys of a study file that a text may have beside its task type; they are ignored."""

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

    The lines above the definition may be part of the text: its name, `task_types`, and the start of a study file.
    stored: the definition that the project has under this name, which stays valid as it is.
    """
    name = name if re.fullmatch(NAME, name) else ""
    file, lines_above = _as_file(name or _PLACEHOLDER, text)
    key = ""
    try:
        content = yaml_file.read(file)
        key = _only_name(name, content)
        study = parse(content)
        data = study.task_types[key]
        if faults := [] if data == stored else new_definition_faults(data):
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
        raise StudyError(
            [
                Fault(
                    min(max(1, fault.line - lines_above), last),
                    fault.where.removeprefix(f"{_SECTION}.{key}").removeprefix("."),
                    fault.message,
                )
                for fault in error.faults
            ]
        ) from None


def _as_file(name: str, text: str) -> tuple[str, int]:
    """The study file that a text is part of, and the number of lines that the file has above the text."""
    lines = text.splitlines(keepends=True)
    start = next((index for index, line in enumerate(lines) if not _is_blank(line)), 0)
    if lines and lines[start].strip() == "---":
        lines[start] = "\n"
    lines = _aligned(lines)
    key, is_alone = _first_key(lines)
    are_others_indented = all(
        line.startswith(" ") for line in [line for line in lines if not _is_blank(line)][1:]
    )
    if key in _OF_A_FILE:
        above, margin = "", ""
    elif key == _SECTION:
        above, margin = _HEAD, ""
    elif is_alone and key not in SCHEMA["properties"] and are_others_indented:
        above, margin = f"{_HEAD}{_SECTION}:\n", "  "
    else:
        above, margin = f"{_HEAD}{_SECTION}:\n  {name}:\n", "    "
    within = "".join(f"{margin}{line}" if line.strip() else line for line in lines)
    return f"{above}{within}\n", above.count("\n")


def _aligned(lines: list[str]) -> list[str]:
    """The lines without the indentation that all have. The first may lack it if it was copied from its first letter on."""
    used = [index for index, line in enumerate(lines) if not _is_blank(line)]
    if len(used) < 2:
        return lines
    first, *others = (len(lines[index]) - len(lines[index].lstrip(" ")) for index in used)
    margin = min(others)
    key, is_alone = _first_key(lines)
    if first < margin and not (is_alone and key not in SCHEMA["properties"]):
        lines = list(lines)
        lines[used[0]] = " " * margin + lines[used[0]].lstrip(" ")
    else:
        margin = min(margin, first)
    return [line.removeprefix(" " * margin) for line in lines]


def _first_key(lines: Sequence[str]) -> tuple[str, bool]:
    """The key of the first line, "" if it has none, and whether nothing is behind it."""
    first = next((line for line in lines if not _is_blank(line)), "")
    match = re.match(r"\s*([^\s:#]+):(?=\s|$)\s*(.*)", first)
    return ("", False) if match is None else (match[1], match[2] == "" or match[2].startswith("#"))


def _is_blank(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _only_name(name: str, file: ParsedYaml) -> str:
    """The name of the only task type of a study file. Raises `StudyError` where there is more, or another name.

    name: as entered beside the text, "" where it is invalid.
    """
    for key in file.value:
        if key not in (*_OF_A_FILE, _SECTION):
            message = gettext(
                "Enter a task type only, and apply a whole study file on the page Study file of the project."
            )
            raise StudyError([file.fault((key,), message)])
    section = file.value.get(_SECTION)
    names = list(section) if isinstance(section, Mapping) else []
    if len(names) != 1:
        message = gettext("The text has {number} task types. Enter one: the lines from its `title` on.")
        path = (_SECTION, *names[1:2])
        raise StudyError([Fault(file.line(path), "", message.format(number=len(names)))])
    (key,) = names
    if name and key != name:
        message = gettext("The name here is {key!r}, the short name {name!r}. Use one name.")
        raise StudyError([Fault(file.line((_SECTION, key)), "", message.format(key=key, name=name))])
    return str(key)


def written(data: Mapping[str, Any]) -> str:
    """A definition as YAML, its keys in the order of the reference."""
    return yaml_file.write(in_order(data))
