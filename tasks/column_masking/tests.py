"""Column masking: what goes must follow from what is left, and the table says how far it does."""

from __future__ import annotations

from typing import Any

import pytest

from tableqa import Example, Table
from tasks.column_masking.task import Response, derivable, task
from tasks.contract import Context, Invalid, Item

TABLE = Table(
    ["Nation", "Gold", "Silver", "Total", "Continent"],
    [
        ["Cuba", "4", "3", "7", "America"],
        ["Peru", "2", "2", "4", "America"],
        ["Iran", "1", "5", "6", "Asia"],
        ["Chad", "0", "1", "1", "Africa"],
        ["Oman", "1", "8", "9", "Asia"],
    ],
)
ITEM = Item(Example(id="nu-1", question="how many medals has cuba?", table=TABLE, answers=["7"]))


def gone(*columns: str) -> dict[str, Any]:
    operations = []
    for column in columns:
        place = TABLE.column_index(column)
        old = [TABLE.header[place], *TABLE.column(column)]
        operations.append({"op": "remove_column", "column": column, "at": place, "old": old})
    return {"does_not_apply": False, "operations": operations, "reason": ""}


def test_the_evidence_says_in_how_many_rows_it_holds_and_where_not() -> None:
    odd = Table(TABLE.header, [*TABLE.rows[:4], ["Oman", "1", "8", "10", "Asia"]])
    told = task.suggest(Item(Example(id="x", question="?", table=odd, answers=["10"])), Context())["columns"][
        "c3"
    ]
    [evidence] = [one for one in told["evidence"] if one["words"].startswith("Total = Gold + Silver")]
    assert evidence["words"] == "Total = Gold + Silver, in 4 of 5 rows. Row 5: 1 + 8 is not 10."
    assert evidence["holds"] is False
    assert evidence["sources"] == ["c1", "c2"]
    assert told["answer"] is True, "the column holds the answer"


def test_of_a_total_and_its_parts_any_one_can_go_and_not_two() -> None:
    told = task.suggest(ITEM, Context())["columns"]
    assert [one["sources"] for one in told["c1"]["evidence"] if one["tells"]] == [["c3", "c2"]]
    assert derivable(TABLE, frozenset({"c1"})) == {"c1"}
    assert derivable(TABLE, frozenset({"c3"})) == {"c3"}
    assert derivable(TABLE, frozenset({"c1", "c3"})) == frozenset()


def test_a_dependency_is_evidence_and_tells_nothing() -> None:
    pairs = Table(["Division", "League"], [["1", "A"], ["1", "A"], ["2", "B"], ["2", "B"]])
    told = task.suggest(Item(Example(id="x", question="?", table=pairs, answers=["A"])), Context())["columns"]
    assert any(one["words"].startswith("Division determines League") for one in told["c1"]["evidence"])
    assert not any(one["tells"] for one in told["c1"]["evidence"])
    assert derivable(pairs, frozenset({"c1"})) == frozenset()


def test_at_least_one_column_is_left() -> None:
    with pytest.raises(Invalid) as invalid:
        task.parse(gone(*TABLE.column_ids), ITEM)
    assert [problem.code for problem in invalid.value.problems] == ["no_column_left"]


def test_the_answer_stays_and_the_program_goes_with_its_column() -> None:
    example = Example(
        id="nu-1",
        question="?",
        table=TABLE,
        answers=["7"],
        program={"op": "cell", "row": "r0", "column": "c3"},
    )
    perturbed = task.perturb(Item(example), task.parse(gone("c3"), Item(example)))
    assert perturbed is not None
    assert perturbed.example.answers == ("7",)
    assert perturbed.example.table.header == ("Nation", "Gold", "Silver", "Continent")
    assert perturbed.example.program is None


def test_practice_takes_another_column_that_follows_as_well() -> None:
    expected = task.parse(gone("c3"), ITEM)
    assert task.feedback(ITEM, task.parse(gone("c1"), ITEM), expected)[0], "Gold = Total - Silver"
    assert not task.feedback(ITEM, task.parse(gone("c0"), ITEM), expected)[0]
    assert not task.feedback(ITEM, task.parse(gone("c1", "c3"), ITEM), expected)[0]
    assert not task.feedback(ITEM, Response(True), expected)[0]


def test_a_reason_is_kept_and_exported() -> None:
    response = task.parse({**gone("c4"), "reason": " everybody knows it "}, ITEM)
    assert response.reason == "everybody knows it"
    [own] = task.export("askew", ITEM, response, task.perturb(ITEM, response))
    assert own.record["reason"] == "everybody knows it"
    assert own.record["perturbation_type"] == "masked"


def test_what_nothing_shows_to_follow_is_pointed_out_until_somebody_says_how() -> None:
    def codes(raw: dict[str, Any]) -> list[str]:
        return [problem.code for problem in task.warnings(task.parse(raw, ITEM), ITEM)]

    assert codes(gone("c3")) == []
    assert codes(gone("c4")) == ["not_derivable"]
    assert codes(gone("c1", "c3")) == ["not_derivable"]
    assert codes({**gone("c4"), "reason": "everybody knows it"}) == []
