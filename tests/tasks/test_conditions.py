"""Conditions of fields and different values: the cases that the page runs as well, and what decisions make of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tableqa import Example, Table
from tableqa.core.release_rules import under
from tasks.contract import Acceptance, InvalidResponse, Item, NeedsAdjudication, response_data
from tasks.contract.decision_rules import resolve
from tasks.shared.conditions import condition
from tasks.shared.defined_types import DefinedTask, task_of

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "conditions.json").read_text("utf-8"))
ITEM = Item(Example("e-1", "who won more?", Table(["Nation"], [["India"]]), ["India"]))
SCORE = {"name": "s", "type": "scale"}
CAUSES = {"name": "why", "type": "multi_choice", "options": ["a", "b"], "when": "s <= 3"}
SECOND = {"name": "s2", "type": "scale", "different_from": "s"}


def made(*fields: dict[str, Any]) -> DefinedTask:
    return task_of("vector", {"title": "T", "instruction": "Look", "fields": list(fields)})


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_the_page_gets_the_condition_that_was_written(case: dict[str, Any]) -> None:
    options = {field["name"]: field.get("options", []) for field in case["fields"]}
    for field in case["fields"]:
        if "when" in field and (tree := case.get("trees", {}).get(field["name"])):
            when = condition(field["when"], options)
            assert when is not None
            assert json.loads(when.on_page) == tree
            assert condition(str(when), options) == when, "what people read means the same"


@pytest.mark.parametrize(
    "text",
    ["", "a", "a ==", "a == x and", "and a == x", "(a == x", "a == x)", "not", "(" * 40],
)
def test_what_is_no_condition(text: str) -> None:
    assert condition(text, {"a": ["x", "y"]}) is None


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_what_is_asked_and_what_is_missing(case: dict[str, Any]) -> None:
    task = made(*case["fields"])
    if case["missing"]:
        with pytest.raises(InvalidResponse) as invalid:
            task.parse(case["values"], ITEM)
        assert [problem.path for problem in invalid.value.problems] == case["missing"]
        return
    response = task.parse(case["values"], ITEM)
    for field in task.fields:
        value = case["values"][field.name] if field.name in case["asked"] else ""
        value = field.empty if value == "" else value
        assert getattr(response, field.name) == (tuple(value) if isinstance(value, list) else value)


def test_before_rules_8_a_field_that_was_not_asked_counted_as_empty() -> None:
    (case,) = (one for one in VECTORS["cases"] if one["name"] == "optional c under b != p, b is hidden")
    task = made(*case["fields"])
    assert task.parse(case["values"], ITEM).c == ""
    with under(7):
        assert task.parse(case["values"], ITEM).c == "m"


def test_a_decision_has_no_value_of_a_field_that_is_not_asked_beside_it() -> None:
    task = made(SCORE, CAUSES)
    low, high = {"s": 3, "why": ["a"]}, {"s": 5}
    said = [task.parse(data, ITEM) for data in (low, low, high)]

    decided = resolve(task, {}, said, ITEM)

    assert isinstance(decided, Acceptance)
    assert response_data(decided.outcomes[0].response) == {"s": 3.666667, "why": []}
    with under(7):
        decided = resolve(task, {}, said, ITEM)
    assert isinstance(decided, Acceptance)
    assert response_data(decided.outcomes[0].response) == {"s": 3.666667, "why": ["a"]}


def test_means_that_must_differ_and_do_not_go_to_adjudication() -> None:
    task = made(SCORE, SECOND)
    said = [task.parse({"s": one, "s2": other}, ITEM) for one, other in ((3, 4), (4, 3))]

    decided = resolve(task, {}, said, ITEM)

    assert decided == NeedsAdjudication("“S2” must differ from “S”, but the decided values are the same.")
    with under(7):
        assert isinstance(resolve(task, {}, said, ITEM), Acceptance)
    assert isinstance(task.resolve_adjudicated(said[:1], ITEM), Acceptance)
