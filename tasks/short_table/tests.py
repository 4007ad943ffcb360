"""Short tables: what is needed stays, an untouched table needs a word, FREB-TQA's files come out."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.operations import RemoveColumn, RemoveRow, normalise
from tableqa.programs.executable_answers import NONE
from tasks.contract import Acceptance, Context, InvalidResponse, Item, NeedsAdjudication, Surroundings
from tasks.short_table.task import Response, task

TABLE = Table(
    ["Film", "Year", "Minutes"], [["Heat", "1995", "170"], ["Alien", "1979", "117"], ["Ran", "1985", "162"]]
)
LONGER = {
    "op": "subtract",
    "left": {"op": "cell", "row": "r0", "column": "c2"},
    "right": {"op": "cell", "row": "r1", "column": "c2"},
}


def example(program: dict[str, Any] | None = None) -> Example:
    question = "how much longer is Heat than Alien?"
    return Example("nu-1", question, TABLE, ["53"], meta={"context": "csv/1-csv/1.csv"}, program=program)


def item(program: dict[str, Any] | None = None, around: Surroundings | None = None, **settings: Any) -> Item:
    made = example(program)
    return Item(made, settings=settings, inputs=task.prepare(made, around or Surroundings()).inputs)


MARKED = Surroundings(decided={"relevant_cells": ({"cells": [["r0", "c2"], ["r1", "c2"]]},)})
GUESSED = Surroundings(model_answers={"cells": ({"model": "m", "cells": [["r2", "c1"]]},)})


def without(rows: str = "", columns: str = "") -> list[dict[str, Any]]:
    """Operations that leave out these rows and columns, by their numbers."""
    gone = [RemoveRow(row=f"r{n}", old=TABLE.rows[int(n)]) for n in rows]
    kept = [line for n, line in enumerate(TABLE.rows) if str(n) not in rows]
    out = [
        RemoveColumn(column=f"c{n}", old=(TABLE.header[int(n)], *(line[int(n)] for line in kept)))
        for n in columns
    ]
    return [operation.to_dict() for operation in normalise([*gone, *out], TABLE)]


def data(operations: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"unanswerable": False, "whole": False, "operations": operations, "program": None, **more}


BOTH = ["protected_cell", "computed_answer_differs"]
"""What the program reads is gone, and with it the answer."""


def codes(raw: dict[str, Any], where: Item) -> list[str]:
    with pytest.raises(InvalidResponse) as invalid:
        task.parse(raw, where)
    return [problem.code for problem in invalid.value.problems]


def test_the_instruction_names_what_the_contract_of_the_batch_allows() -> None:
    assert task.instruct(item()) == "Remove rows and columns the question does not need"
    assert (
        task.instruct(item(contract={"allowed": ["remove_row"]})) == "Remove rows the question does not need"
    )
    columns = task.instruct(item(contract={"allowed": ["remove_column"]}))
    assert columns == "Remove columns the question does not need"


def test_what_people_marked_cannot_be_left_out() -> None:
    marked = item(around=MARKED)
    assert codes(data(without(rows="1")), marked) == ["protected_cell"]
    assert codes(data(without(columns="2")), marked) == ["protected_cell"] * 2
    assert task.parse(data(without(rows="2", columns="1")), marked).operations
    assert task.parse(data(without(rows="1")), item(around=MARKED, protect_evidence=False)).operations


def test_what_only_a_model_pointed_at_is_shown_and_protects_nothing() -> None:
    guessed = item(around=GUESSED)
    assert task.payload(guessed)["evidence"]["cells"] == [["r2", "c1"]]
    assert task.parse(data(without(rows="2")), guessed).operations


def test_what_the_examples_program_reads_cannot_be_left_out() -> None:
    assert task.contract(item(LONGER)).protected == (("r0", "c2"), ("r1", "c2"))
    assert codes(data(without(rows="0")), item(LONGER, protect_evidence=False)) == BOTH


def test_what_a_program_reads_that_was_just_confirmed_cannot_be_left_out_either() -> None:
    assert codes(data(without(rows="1"), program=LONGER), item()) == BOTH
    assert task.parse(data(without(rows="2"), program=LONGER), item()).program == LONGER


def test_a_table_that_no_longer_gives_the_answer_is_refused() -> None:
    """The program reads one cell only, but which one depends on how many rows there are."""
    before_last = {
        "op": "select",
        "column": "c0",
        "rows": {
            "op": "beside",
            "which": "before",
            "rows": {"op": "place", "which": "last", "rows": {"op": "all_rows"}},
        },
    }
    asked = Item(Example("nu-2", "which film stands before the last?", TABLE, ["Alien"]))
    assert codes(data(without(rows="1"), program=before_last), asked) == BOTH
    with pytest.raises(InvalidResponse, match="now gives Heat"):
        task.parse(data(without(rows="2"), program=before_last), asked)
    assert task.parse(data(without(rows="0"), program=before_last), asked).operations


def test_an_untouched_table_needs_the_word_that_all_of_it_is_needed() -> None:
    assert codes(data([]), item()) == ["table_unchanged"]
    whole = task.parse(data([], whole=True), item())
    assert whole == Response(False, whole=True)
    assert task.perturb(item(), whole) is None
    assert codes(data(without(rows="2"), whole=True), item()) == ["whole_but_shortened"]


def test_only_rows_and_columns_may_go() -> None:
    edit = {"op": "set_cell", "row": "r0", "column": "c2", "at": [0, 2], "old": "170", "new": "1"}
    assert "operation_not_allowed" in codes(data([edit]), item())


def test_the_confirmed_program_goes_on_with_the_shortened_table() -> None:
    response = task.parse(data(without(rows="2"), program=LONGER), item())
    made = task.perturb(item(), response)
    assert made is not None
    assert made.example.program == LONGER
    kept = task.perturb(item(LONGER), task.parse(data(without(rows="2")), item(LONGER)))
    assert kept is not None
    assert kept.example.program == LONGER, "the example's own program, of which nobody said anything"
    turned_down = task.perturb(
        item(LONGER), task.parse(data(without(rows="2"), program=dict(NONE)), item(LONGER))
    )
    assert turned_down is not None
    assert turned_down.example.program is None


def test_a_first_cut_and_programs_are_suggested() -> None:
    suggested = task.suggest(item(around=MARKED), Context())
    assert suggested is not None
    assert suggested["cut"] == without(rows="2", columns="1")
    assert suggested["programs"][0]["program"] == LONGER
    assert task.suggest(item(), Context())["cut"] == []  # type: ignore[index]


def test_each_shortened_table_stands_on_its_own_and_different_words_do_not_mix() -> None:
    short = [
        Response(False, operations=()),
        Response(False, operations=(RemoveRow(row="r2", old=TABLE.rows[2]),)),
    ]
    resolution = task.resolve(short, item())
    assert isinstance(resolution, Acceptance)
    assert [outcome.by for outcome in resolution.outcomes] == [(0,), (1,)]
    assert isinstance(task.resolve([short[1], Response(False, whole=True)], item()), NeedsAdjudication)
    assert task.resolve([Response(True)], item()) == Acceptance((), "unanswerable")
    whole = task.resolve([Response(False, whole=True)] * 2, item())
    assert isinstance(whole, Acceptance)
    assert [outcome.by for outcome in whole.outcomes] == [(0, 1)]


def test_the_original_and_the_shortened_table_come_out_under_one_id() -> None:
    response = task.parse(data(without(rows="2", columns="1")), item())
    records = list(task.export("freb_tqa", item(), response, task.perturb(item(), response)))
    assert [one.part.rpartition("no_shuffle_")[2] for one in records] == ["ori_table", "short_table"]
    assert {one.record["id"] for one in records} == {"nu-1"}
    assert records[1].record["table"]["header"] == ["Film", "Minutes"]
    assert records[1].record["table"]["rows"] == [["Heat", "170"], ["Alien", "117"]]
    whole = task.parse(data([], whole=True), item())
    records = list(task.export("freb_tqa", item(), whole, None))
    assert records[0].record == records[1].record


def test_practice_says_what_was_needed_and_what_could_go() -> None:
    expected = task.parse(data(without(rows="2", columns="1")), item())
    right, words = task.feedback(item(), task.parse(data(without(rows="1")), item()), expected)
    assert not right
    assert words == ["Still needed: row 2.", "Could also be removed: row 3, column 2."]
    right, words = task.feedback(item(), task.parse(data(without(rows="2")), item()), expected)
    assert right
    assert words == ["Could also be removed: column 2."]


def test_a_form_without_scripts_posts_the_program_as_text() -> None:
    draft = {"operations": without(rows="2"), "program": None}
    post = {"program": '{"op":"none"}', "whole": "", "unanswerable": ""}
    assert task.form_data(post, draft)["program"] == {"op": "none"}
    assert task.form_data({}, {**draft, "program": LONGER})["program"] == LONGER
    nonsense = task.form_data({"program": "{"}, draft)
    assert "bad_program" in codes(nonsense, item())


def test_simulated_people_keep_what_is_marked() -> None:
    marked = item(around=MARKED)
    shown = Item(Example("x", example().question, TABLE, ["53"]), inputs=marked.inputs)
    for seed in range(20):
        raw = task.simulate(shown, random.Random(seed), 0.5, random.Random("truth"))
        assert task.parse(raw, marked).operations


# -- unprotected parts ----------------------------------------------------------------------------

LONGEST = Example("nu-5", "which film is the longest?", TABLE, ["Heat"])
HOW_MANY = Example("nu-6", "how many films are there?", TABLE, ["3"])


def test_a_table_of_nothing_is_refused() -> None:
    for nothing in (without(rows="012"), without(columns="012")):
        assert "table_empty" in codes(data(nothing, worked_out=True), Item(LONGEST))


def test_the_cell_of_the_answer_may_not_vanish_without_a_word() -> None:
    without_heat = data(without(rows="0"))
    with pytest.raises(InvalidResponse) as invalid:
        task.parse(without_heat, Item(LONGEST))
    (problem,) = invalid.value.problems
    assert (problem.path, problem.code, problem.level) == ("worked_out", "answer_gone", "error")
    assert problem.message.startswith("The answer “Heat” was in row 1, Film and is in no remaining cell.")
    assert codes(data(without(columns="0")), Item(LONGEST)) == ["answer_gone"]
    said = task.parse({**without_heat, "worked_out": True}, Item(LONGEST))
    assert said.worked_out
    assert any("worked out" in line for line in task.describe(said, Item(LONGEST)))


def test_the_word_is_not_kept_where_it_was_not_needed() -> None:
    assert task.parse(data(without(rows="1"), worked_out=True), Item(LONGEST)).worked_out is False
    assert task.parse(data(without(rows="1")), Item(HOW_MANY)).worked_out is False, "the answer is no cell"


def test_a_number_that_may_be_a_count_is_pointed_out_and_needs_no_word() -> None:
    ranked = Table(["Rank", "Film"], [["1", "Heat"], ["2", "Ran"], ["3", "Alien"]])
    gone = data([RemoveColumn(column="c0", old=("Rank", "1", "2", "3")).to_dict()])
    counted = Item(Example("nu-9", "how many films are there?", ranked, ["3"]))
    assert [p.level for p in task.warnings(task.parse(gone, counted), counted)] == ["warning"]


def test_an_answer_that_stands_in_another_cell_too_has_not_vanished() -> None:
    twice = Table(["Film", "Also"], [["Heat", "x"], ["Ran", "heat"]])
    gone = [RemoveRow(row="r0", old=twice.rows[0]).to_dict()]
    assert task.parse(data(gone), Item(Example("nu-7", "which?", twice, ["Heat"]))).operations


def test_the_name_of_a_column_may_be_the_answer() -> None:
    years = Table(["", "2019", "2018"], [["Cost", "5", "4"], ["Sales", "6", "7"]])
    asked = Item(Example("nu-8", "in which year was the cost higher?", years, ["2019"]))
    gone = [RemoveColumn(column="c1", old=("2019", "5", "6")).to_dict()]
    assert codes(data(gone), asked) == ["answer_gone"]


@pytest.mark.parametrize(("rule", "found"), [("warn", "warning"), ("require", "error"), ("ignore", "")])
def test_a_batch_says_whether_it_is_pointed_out_or_needs_the_word(rule: str, found: str) -> None:
    asked, without_heat = Item(LONGEST, settings={"answer_gone": rule}), data(without(rows="0"))
    if found == "error":
        assert codes(without_heat, asked) == ["answer_gone"]
    else:
        warned = task.warnings(task.parse(without_heat, asked), asked)
        assert [problem.level for problem in warned] == ([found] if found else [])


def test_marked_cells_and_a_confirmed_program_are_held_against_instead() -> None:
    inputs = {"evidence": {"cells": [["r1", "c2"]], "from": "people"}, "protects": True}
    marked = Item(LONGEST, inputs=inputs)
    response = task.parse(data(without(rows="0")), marked)
    assert [(p.code, p.level) for p in task.warnings(response, marked)] == [("answer_gone", "warning")]
    assert task.parse(data(without(rows="2"), program=LONGER), item()).operations
    turned_down = data(without(rows="0"), program=dict(NONE))
    assert codes(turned_down, Item(LONGEST)) == ["answer_gone"]


@given(st.sets(st.integers(0, 2)), st.sets(st.integers(0, 2)))
def test_what_is_accepted_without_a_word_still_holds_every_answer_that_was_a_cell(
    rows: set[int], columns: set[int]
) -> None:
    operations = without("".join(map(str, sorted(rows))), "".join(map(str, sorted(columns))))
    try:
        response = task.parse(data(operations), Item(LONGEST))
    except InvalidResponse:
        assert 0 in rows or 0 in columns or not (rows | columns)
        return
    made = task.perturb(Item(LONGEST), response)
    assert made is not None
    assert any("Heat" in row for row in made.example.table.rows)


def test_a_response_of_version_1_is_read_as_it_was() -> None:
    stored = {
        "type": "short_table",
        "variant": "",
        "version": 1,
        "base": TABLE.digest(),
        "data": data(without(rows="1")),
    }
    assert task.read(stored, Item(LONGEST)).worked_out is False


def test_the_page_says_where_the_program_reads_a_cell_by_the_name_of_its_column() -> None:
    with pytest.raises(InvalidResponse, match="needs row 2, Minutes, which is removed"):
        task.parse(data(without(rows="1"), program=LONGER), item())


# -- whose program protects --------------------------------------------------------------------------


def test_a_program_protects_only_while_it_is_the_one_that_counts() -> None:
    """Turned down, or giving another answer, it neither protects cells nor is evidence."""
    known = item(LONGER)
    assert known.inputs["protects"] is False, "the program protects, and not its cells as evidence"
    assert codes(data(without(rows="1")), known)[0] == "protected_cell"
    turned_down = task.parse(data(without(rows="1"), program={"op": "none"}), known)
    assert turned_down.operations
    other = Example("nu-7", "how many films?", TABLE, ["3"], program=LONGER)
    wrong = Item(other, inputs=task.prepare(other, Surroundings()).inputs)
    assert wrong.inputs == {}
    assert task.contract(wrong).protected == ()
    assert task.parse(data(without(columns="2"), worked_out=True), wrong).operations


def test_what_the_derivation_of_the_source_reads_is_protected_until_it_is_turned_down() -> None:
    derived = Example("nu-8", example().question, TABLE, ["53"], meta={"derivation": "170-117"})
    shown = Item(derived, inputs=task.prepare(derived, Surroundings()).inputs)
    assert task.contract(shown).protected == (("r0", "c2"), ("r1", "c2"))
    assert codes(data(without(rows="1")), shown) == BOTH
    assert task.parse(data(without(rows="1"), program={"op": "none"}), shown).operations
    made = task.perturb(shown, task.parse(data(without(rows="2")), shown))
    assert made is not None
    assert made.example.program == LONGER
