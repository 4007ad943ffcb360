"""Column adding: every new column says where it comes from, and stands where it was drawn."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tableqa import Example, Table
from tableqa.corpus import Index
from tableqa.headers import Unavailable
from tasks.column_adding.task import drawn_place, task
from tasks.contract import Context, Invalid, Item

MEDALS = Table(["Nation", "Gold"], [["Cuba", "4"], ["Peru", "2"], ["Chile", "1"], ["Mexico", "1"]])
STATES = Table(
    ["Country", "Capital", "Seats"],
    [["Chile", "Santiago", "155"], ["Cuba", "Havana", "474"], ["Peru (PER)", "Lima", "130"]],
    title="Countries of America",
)
FILMS = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"]])
ITEM = Item(Example(id="nu-1", question="who won?", table=MEDALS, answers=["Cuba"]))


def lent(*tables: Table) -> Context:
    by_digest = {table.digest(): table for table in tables}
    return Context(corpus=Index.build(tables), table=by_digest.get)


def candidates(context: Context) -> list[dict[str, Any]]:
    suggested = task.suggest(ITEM, context)
    return [json.loads(column["sent"]) for table in suggested["tables"] for column in table["columns"]]


def data(candidate: dict[str, Any], origin: list[str] | None = None) -> dict[str, Any]:
    operation = {
        "op": "insert_column",
        "column": "n1",
        **{key: candidate[key] for key in ("after", "header", "cells")},
    }
    origin = origin or ["n1", candidate["digest"], candidate["column"], candidate["title"]]
    return {"does_not_apply": False, "operations": [operation], "provenance": [origin]}


def test_columns_of_related_tables_are_offered_row_by_row() -> None:
    suggested = task.suggest(ITEM, lent(MEDALS, STATES, FILMS))
    [related] = suggested["tables"]
    assert related["title"] == "Countries of America"
    assert (related["rows"], related["of"]) == (3, 4)
    assert related["by"] == ["Nation", "Country"]
    assert ["Peru", "Peru (PER)"] in related["aligned"]
    assert related["score"] > 0
    assert "values of the key columns in common" in related["why"]
    capital = next(one for one in candidates(lent(MEDALS, STATES)) if one["header"] == "Capital")
    assert capital["cells"] == ["Havana", "Lima", "Santiago", ""]


def test_the_place_is_drawn_and_always_the_same() -> None:
    drawn = {drawn_place(ITEM, STATES.digest(), f"c{number}") for number in range(30)}
    assert drawn == {None, "c0", "c1"}, "every place is possible"
    assert drawn_place(ITEM, STATES.digest(), "c1") == drawn_place(ITEM, STATES.digest(), "c1")


def test_what_is_offered_can_be_submitted_and_says_where_it_comes_from() -> None:
    candidate = candidates(lent(MEDALS, STATES))[0]
    response = task.parse(data(candidate), ITEM)
    assert response.provenance == (("n1", STATES.digest(), candidate["column"], "Countries of America"),)
    [own] = task.export("askew", ITEM, response, task.perturb(ITEM, response))
    assert own.record["provenance"] == [
        {
            "column": "n1",
            "table": STATES.digest(),
            "source_column": candidate["column"],
            "title": "Countries of America",
        }
    ]
    assert own.record["perturbation_type"] == "add"
    assert "From the table Countries of America" in task.describe(response, ITEM)[0]


def test_a_column_from_nowhere_is_refused() -> None:
    candidate = candidates(lent(MEDALS, STATES))[0]
    with pytest.raises(Invalid) as invalid:
        task.parse({**data(candidate), "provenance": []}, ITEM)
    assert [problem.code for problem in invalid.value.problems] == ["no_provenance"]
    with pytest.raises(Invalid):
        task.parse(data(candidate, ["n1", "not a digest", "c1", ""]), ITEM)


def test_where_a_column_that_went_again_came_from_is_not_kept() -> None:
    candidate = candidates(lent(MEDALS, STATES))[0]
    raw = data(candidate)
    raw["provenance"].append(["n2", STATES.digest(), "c2", "Countries of America"])
    assert len(task.parse(raw, ITEM).provenance) == 1


def test_nothing_is_offered_without_an_index_and_it_is_said_why() -> None:
    soon = Context(
        corpus=Unavailable("The tables are being read."), table=lambda sha: None, preparing=("corpus",)
    )
    assert task.suggest(ITEM, soon) == {
        "tables": [],
        "missing": ["The tables are being read."],
        "preparing": True,
    }
    assert task.suggest(ITEM, lent(MEDALS, FILMS))["tables"] == []


def test_a_form_without_scripts_adds_what_was_chosen() -> None:
    candidate = candidates(lent(MEDALS, STATES))[0]
    post = {"action": "add", "candidate": json.dumps(candidate)}
    draft = task.form_data(post, {})
    operations = task.form_edits()["add"](post, ITEM, [])
    raw = {**draft, "operations": [operation.to_dict() for operation in operations]}
    assert task.parse(raw, ITEM).provenance[0][:2] == ("n1", STATES.digest())
    again = task.form_data(post, raw)
    assert [origin[0] for origin in again["provenance"]] == ["n1", "n2"]


@pytest.mark.parametrize("sent", ["", "{", "[]", '{"digest": 1}', "null"])
def test_rubbish_in_a_form_adds_nothing(sent: str) -> None:
    assert task.form_data({"action": "add", "candidate": sent}, {})["provenance"] is None


def test_a_second_answer_is_pointed_out() -> None:
    capital = next(one for one in candidates(lent(MEDALS, STATES)) if one["header"] == "Capital")
    assert task.warnings(task.parse(data(capital), ITEM), ITEM) == ()
    again = {**capital, "header": "Winner", "cells": ["Cuba", "", "", ""]}
    [problem] = task.warnings(task.parse(data(again), ITEM), ITEM)
    assert (problem.code, problem.level) == ("answer_again", "warning")
