"""Practice: items with a known answer that come with a kind. Nothing is stored; whoever practises is told at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tableqa import Example
from tasks.contract import Invalid, Item, Problem, TaskType

FILE = "practice.json"


@dataclass(frozen=True)
class Exercise:
    """One item of a practice set, with what is expected and why."""

    item: Item
    expected: Any
    why: str


@dataclass(frozen=True)
class Feedback:
    """What somebody who practises is told: as good as expected, or not (None: not judged), and what there is to say."""

    right: bool | None
    words: tuple[str, ...]
    why: str
    problems: tuple[Problem, ...] = ()


def exercises(task: TaskType, variant: str = "") -> list[Exercise]:
    """The practice set of a kind and variant, in its order; empty where the kind brings none.

    Raises ValueError where an expected response does not hold: a practice set may not teach what is refused.
    """
    path = task.folder() / FILE
    if not path.is_file():
        return []
    properties: Mapping[str, Any] = task.settings_schema.get("properties", {})
    defaults = {name: spec["default"] for name, spec in properties.items() if "default" in spec}
    found = []
    for entry in json.loads(path.read_text(encoding="utf-8")):
        if entry.get("variant", "") != variant:
            continue
        item = Item(
            Example.from_dict(entry["example"]),
            variant,
            {**defaults, **entry.get("settings", {})},
            entry.get("inputs", {}),
        )
        found.append(Exercise(item, task.parse(entry["expected"], item), entry["why"]))
    return found


def judge(task: TaskType, exercise: Exercise, envelope: object) -> Feedback:
    """Look at a response as a submission would, and compare it with the expected one."""
    try:
        response = task.receive(envelope if isinstance(envelope, Mapping) else {}, exercise.item)
    except Invalid as invalid:
        return Feedback(False, (), "", tuple(invalid.problems))
    right, words = task.feedback(exercise.item, response, exercise.expected)
    return Feedback(right, tuple(words), exercise.why)
