"""Header synonyms: names stay apart, and what became of every suggestion is known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.perturbations.headers import HeaderNames, Unavailable, thesaurus
from tasks.contract import Acceptance, Context, InvalidResponse, Item, NeedsAdjudication, ReportedResponse
from tasks.header_synonym.task import task
from tasks.shared.header_renaming import Response

TABLE = Table(
    ["Rank", "Nation", "Gold", ""], [["1", "Cuba", "4", "x"], ["2", "Peru", "2", "y"]], title="Medals"
)
EXAMPLE = Example(
    id="nu-1", question="who won?", table=TABLE, answers=["Cuba"], meta={"context": "csv/1.csv"}
)
ITEM = Item(EXAMPLE)


def rename(column: str, new: str) -> dict[str, Any]:
    place = TABLE.column_index(column)
    return {"op": "rename_header", "column": column, "at": place, "old": TABLE.header[place], "new": new}


def data(*operations: dict[str, Any], taken: Any = (), rejected: Any = ()) -> dict[str, Any]:
    return {
        "does_not_apply": False,
        "operations": list(operations),
        "taken": [list(one) for one in taken],
        "rejected": [list(one) for one in rejected],
    }


def codes(raw: dict[str, Any]) -> list[str]:
    with pytest.raises(InvalidResponse) as invalid:
        task.parse(raw, ITEM)
    return [problem.code for problem in invalid.value.problems]


@pytest.mark.parametrize("name", ["Rank", "rank", " RANK ", "Ránk"])
def test_no_new_name_is_that_of_another_column(name: str) -> None:
    assert codes(data(rename("c1", name))) == ["header_repeats"]


def test_two_columns_may_change_their_names_at_once() -> None:
    response = task.parse(data(rename("c0", "Nation"), rename("c1", "Rank")), ITEM)
    assert len(response.operations) == 2


def test_names_that_the_source_gave_twice_are_nobodys_fault() -> None:
    twice = Item(
        Example(id="x", question="?", table=Table(["A", "A", "B"], [["1", "2", "3"]]), answers=["1"])
    )
    change = {"op": "rename_header", "column": "c2", "at": 2, "old": "B", "new": "C"}
    assert task.parse(data(change), twice).operations


def test_a_name_that_was_given_and_taken_back_is_no_change() -> None:
    back = {"op": "rename_header", "column": "c1", "at": 1, "old": "Country", "new": "Nation"}
    assert codes(data(rename("c1", "Country"), back)) == ["table_unchanged"]


def test_what_was_taken_counts_only_where_the_column_has_a_new_name() -> None:
    taken = [("c1", "Country", "thesaurus"), ("c0", "Place", "project")]
    response = task.parse(data(rename("c1", "Country"), taken=taken), ITEM)
    assert response.taken == (("c1", "Country", "thesaurus"),)


def test_what_was_turned_down_is_kept_without_any_new_name() -> None:
    raw = {**data(rejected=[("c1", "State", "thesaurus")]), "does_not_apply": True}
    assert task.parse(raw, ITEM) == Response(True, (), (), (("c1", "State", "thesaurus"),))


def test_suggestions_come_from_wordnet_and_from_the_projects_own_columns() -> None:
    others = [Table(["Country", "Gold", "Capital"], [["Cuba", "4", "Havana"], ["Peru", "2", "Lima"]])] * 3
    context = Context(thesaurus=thesaurus(), header_names=HeaderNames.build([TABLE, *others]))
    suggested = task.suggest(ITEM, context)
    assert set(suggested["columns"]) == {"c0", "c1", "c2"}, "a column without a name gets no other one"
    names = {one["text"]: one for one in suggested["columns"]["c1"]}
    assert names["Country"]["by"] == "usual names"
    assert "of this project have this name" in names["Country"]["why"]
    assert all(one["by"] for found in suggested["columns"].values() for one in found)
    assert all(found[0]["why"] for found in suggested["columns"].values() if found)
    assert not {"Rank", "Gold"} & set(names), "no suggestion is a name that the table has"


def test_a_sense_that_several_names_share_is_said_once() -> None:
    table = Table(["Bicycle"], [["BMX"], ["Tandem"]])
    item = Item(Example(id="x", question="?", table=table, answers=["BMX"]))
    found = task.suggest(item, Context(thesaurus=thesaurus()))["columns"]["c0"]
    said = [part for one in found for part in one["why"].split("; ") if len(part) > 30]
    assert said, "WordNet says what it means"
    assert len(set(said)) == len(said)
    assert all(len(one["why"]) <= 120 for one in found)


def test_what_is_not_there_is_said_and_asked_for_again() -> None:
    soon = Unavailable("The column names of this project are still loading.")
    suggested = task.suggest(
        ITEM, Context(thesaurus=thesaurus(), header_names=soon, preparing=("header_names",))
    )
    assert suggested["missing"] == ["The column names of this project are still loading."]
    assert suggested["preparing"] is True
    assert suggested["columns"]["c1"]


def test_the_report_tells_for_each_suggester_what_became_of_its_names() -> None:
    said = [
        data(
            rename("c1", "Country"),
            taken=[("c1", "Country", "thesaurus")],
            rejected=[("c2", "Amber", "thesaurus")],
        ),
        data(rename("c1", "Country"), taken=[("c1", "Land", "thesaurus")]),
        data(rename("c1", "State"), rename("c0", "Place"), taken=[("c1", "State", "project")]),
        {**data(rejected=[("c2", "Au", "thesaurus")]), "does_not_apply": True},
    ]
    rows = [
        ReportedResponse(ITEM, "films", f"a{n}", task.parse(raw, ITEM), None) for n, raw in enumerate(said)
    ]
    [report] = task.report(rows)
    assert report.rows == (
        ("usual names", 0, 0, 0, None),
        ("WordNet", 1, 1, 2, 0.25),
        ("this project's columns", 1, 0, 0, 1.0),
        ("the usual short forms", 0, 0, 0, None),
        ("Own names", 1, None, None, None),
    )


def test_it_is_told_whose_name_a_column_got() -> None:
    taken = [("c1", "Country", "thesaurus"), ("c0", "Place", "project")]
    response = task.parse(data(rename("c1", "Country"), rename("c0", "Place won"), taken=taken), ITEM)
    assert task.describe(response, ITEM) == [
        "Header of column 1: Rank becomes Place won (edited from “Place”, suggested: this project's columns)",
        "Header of column 2: Nation becomes Country (as suggested: WordNet)",
    ]


def test_the_answer_and_the_cells_stay_and_the_record_is_that_of_robut() -> None:
    response = task.parse(data(rename("c1", "Country")), ITEM)
    original, exported = task.export("robut", ITEM, response, task.perturb(ITEM, response))
    assert original.part == "{reader}_{split}_original"
    assert exported.part == "{reader}_{split}_synonym"
    assert exported.record == {
        "id": "nu-1-synonym",
        "original_id": "nu-1",
        "question": "who won?",
        "original_question": "who won?",
        "answers": ["Cuba"],
        "table": {
            "header": ["Rank", "Country", "Gold", ""],
            "rows": [["1", "Cuba", "4", "x"], ["2", "Peru", "2", "y"]],
            "name": "csv/1.csv",
        },
        "perturbation_type": "synonym",
    }
    [own] = task.export("askew", ITEM, response, task.perturb(ITEM, response))
    assert own.part == "header_synonym"
    assert own.record["operations"] == [rename("c1", "Country")]
    assert not list(task.export("freb_tqa", ITEM, response, task.perturb(ITEM, response)))


def test_every_edit_stands_on_its_own_and_a_doubt_is_for_an_adjudicator() -> None:
    one, two = (task.parse(data(rename("c1", name)), ITEM) for name in ("Country", "State"))
    resolution = task.resolve([one, two], ITEM)
    assert isinstance(resolution, Acceptance)
    assert [outcome.response for outcome in resolution.outcomes] == [one, two]
    assert task.resolve([Response(True)], ITEM) == Acceptance((), "does not apply")
    assert isinstance(task.resolve([one, Response(True)], ITEM), NeedsAdjudication)


@given(st.dictionaries(st.sampled_from(TABLE.column_ids), st.text(max_size=12), max_size=4))
def test_whatever_is_written_columns_are_named_and_stay_apart_or_it_is_refused(names: dict[str, str]) -> None:
    try:
        response = task.parse(data(*(rename(column, name) for column, name in names.items())), ITEM)
    except InvalidResponse:
        return
    perturbed = task.perturb(ITEM, response)
    assert perturbed is not None
    header = perturbed.example.table.header
    assert perturbed.example.table.rows == TABLE.rows
    assert all(
        name.strip()
        for column, name in zip(TABLE.column_ids, header, strict=True)
        if column in names and name
    )
    assert len({name.strip().casefold() for name in header}) == len(header)


def test_practice_calls_right_what_is_ours_wrong_what_we_turn_down_and_judges_no_other_name() -> None:
    expected = task.parse(data(rename("c1", "Country"), rejected=[("c0", "Army", "thesaurus")]), ITEM)

    def told(raw: dict[str, Any]) -> tuple[bool | None, list[str]]:
        return task.feedback(ITEM, task.parse(raw, ITEM), expected)

    assert told(data(rename("c1", "country"))) == (True, [])
    assert told(data(rename("c0", "Army")))[0] is False
    assert told({**data(), "does_not_apply": True})[0] is False
    right, words = told(data(rename("c0", "RankBanana")))
    assert right is None
    assert any("Country" in line for line in words)
