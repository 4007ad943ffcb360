"""Header abbreviations: a short form is shorter, and every suggestion names its rule."""

from __future__ import annotations

from typing import Any

import pytest

from tableqa import Example, Table
from tasks.contract import Context, InvalidResponse, Item
from tasks.header_abbreviation.task import task

TABLE = Table(["Position", "Date of birth", "No."], [["1", "1970", "7"]])
ITEM = Item(Example(id="nu-1", question="who?", table=TABLE, answers=["1"]))


def data(column: str, new: str) -> dict[str, Any]:
    place = TABLE.column_index(column)
    operation = {"op": "rename_header", "column": column, "at": place, "old": TABLE.header[place], "new": new}
    return {"does_not_apply": False, "operations": [operation], "taken": [], "rejected": []}


@pytest.mark.parametrize("name", ["Placement", "Location", "Position."])
def test_what_is_not_shorter_is_no_abbreviation(name: str) -> None:
    with pytest.raises(InvalidResponse) as invalid:
        task.parse(data("c0", name), ITEM)
    assert [problem.code for problem in invalid.value.problems] == ["not_shorter"]


def test_every_suggestion_names_the_rule_that_made_it() -> None:
    suggested = task.suggest(ITEM, Context())
    birth = {one["text"]: one for one in suggested["columns"]["c1"]}
    assert birth["DOB"]["source"] in ("dictionary", "initials")
    assert {one["by"] for found in suggested["columns"].values() for one in found} <= set(
        task.suggesters.values()
    )
    assert suggested["preparing"] is False


def test_every_suggestion_is_one_that_may_be_taken() -> None:
    for column, found in task.suggest(ITEM, Context())["columns"].items():
        for one in found:
            raw = data(column, one["text"])
            raw["taken"] = [[column, one["text"], one["source"]]]
            assert task.parse(raw, ITEM).taken


def test_the_record_is_called_an_abbreviation() -> None:
    response = task.parse(data("c0", "Pos."), ITEM)
    original, exported = task.export("robut", ITEM, response, task.perturb(ITEM, response))
    assert original.record["perturbation_type"] == "original"
    assert exported.record["perturbation_type"] == "abbreviation"
    assert exported.record["table"]["header"] == ["Pos.", "Date of birth", "No."]
