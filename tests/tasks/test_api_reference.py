"""The reference of the API says of every kind what its data holds; no two places stay equal by themselves."""

from __future__ import annotations

import json
import re

import pytest

from tasks.contract import TaskType, task_types
from tests.plugin import ROOT

KINDS = list(task_types().values())
PAGE = ROOT / "docs" / "reference" / "api.md"


def row(task: TaskType) -> str:
    """What the page's table of `data` says of a kind."""
    for line in PAGE.read_text("utf-8").splitlines():
        kinds, _, data = line.removeprefix("| ").partition(" | ")
        if f"`{task.key}`" in kinds.split(", ") and data.startswith("`{"):
            return data
    raise AssertionError(f"{PAGE.name} has no row for {task.key}")


@pytest.mark.parametrize("task", KINDS, ids=[task.key for task in KINDS])
def test_the_reference_names_the_fields_and_choices_of_a_kind(task: TaskType) -> None:
    said = row(task)
    assert re.findall(r'"(\w+)": ', said.split("`")[1]) == [field.name for field in task.fields]
    for field in task.fields:
        for choice in (str(value) for value, _ in field.choices if not str(value).isdigit()):
            assert f'"{choice}"' in said or f"`{choice}`" in said, (field.name, choice)


@pytest.mark.parametrize("task", KINDS, ids=[task.key for task in KINDS])
def test_what_a_sample_sends_is_what_the_reference_names(task: TaskType) -> None:
    names = set(re.findall(r'"(\w+)": ', row(task).split("`")[1]))
    sample = json.loads((task.folder() / "sample.json").read_text("utf-8"))
    for good in sample["good"]:
        assert good["data"].keys() <= names
