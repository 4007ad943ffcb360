"""Value change: edits are on their own, the answer is judged by what it means, the release form is FREB-TQA's."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tasks.contract import (
    Acceptance,
    Context,
    InvalidResponse,
    Item,
    NeedsAdjudication,
    Surroundings,
    as_lines,
)
from tasks.value_change.task import Response, task

EXAMPLE = Example(
    id="nu-1",
    question="how many minutes is heat?",
    table=Table(header=["Film", "Minutes"], rows=[["Heat", "1,170"], ["Alien", "117"]]),
    answers=["1,170"],
    meta={"context": "csv/1-csv/1.csv"},
)


def item(variant: str = "answer_changes", **settings: Any) -> Item:
    return Item(EXAMPLE, variant, settings)


def cell(new: str, old: str = "1,170", row: str = "r0") -> dict[str, Any]:
    return {"op": "set_cell", "row": row, "column": "c1", "at": [int(row[1:]), 1], "old": old, "new": new}


def data(*operations: dict[str, Any], answers: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    return {
        "unanswerable": False,
        "operations": list(operations),
        "answers": list(answers),
        "reason": "",
        **more,
    }


def codes(raw: dict[str, Any], where: Item) -> list[str]:
    with pytest.raises(InvalidResponse) as invalid:
        task.parse(raw, where)
    return [problem.code for problem in invalid.value.problems]


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({}, "Change one or two values so that the answer changes"),
        ({"at_most": 1}, "Change one value so that the answer changes"),
        ({"at_most": 5}, "Change up to 5 values so that the answer changes"),
        ({"contract": {"at_most": None}}, "Change values so that the answer changes"),
        ({"contract": {"allowed": ["remove_row"]}}, "Remove one or two rows so that the answer changes"),
        (
            {"contract": {"allowed": ["insert_row"], "at_most": 1}},
            "Insert one row so that the answer changes",
        ),
        (
            {"contract": {"allowed": ["insert_row", "remove_row"], "at_most": 3}},
            "Insert or remove up to 3 rows so that the answer changes",
        ),
    ],
)
def test_the_instruction_names_what_the_contract_of_the_batch_allows(
    settings: dict[str, Any], line: str
) -> None:
    assert task.instruct(item(**settings)) == line
    stays = task.instruct(item("answer_stays", **settings))
    assert stays == line.replace("the answer changes", "the answer stays the same")


def test_another_spelling_of_the_answer_is_no_other_answer() -> None:
    assert "answer_unchanged" in codes(data(cell("1,171"), answers=("1170",)), item())


def test_an_edit_that_restores_the_old_value_is_no_edit() -> None:
    assert "table_unchanged" in codes(data(cell("5"), cell("1,170", old="5"), answers=("5",)), item())


def test_edits_of_one_cell_count_once() -> None:
    response = task.parse(data(cell("5"), cell("6", old="5"), cell("7", old="6"), answers=("7",)), item())
    assert [operation.to_dict()["new"] for operation in response.operations] == ["7"]


def test_a_batch_may_ask_that_the_form_of_a_column_is_kept() -> None:
    broken = data(cell("very long"), answers=("very long",))
    assert task.parse(broken, item()).answers == ("very long",), "a warning by default"
    assert "cell_format" in codes(broken, item(cell_format="require"))


def test_a_change_that_keeps_the_answer_has_no_new_answer() -> None:
    response = task.parse(data(cell("118", old="117", row="r1"), answers=("ignored",)), item("answer_stays"))
    assert response.answers == ()
    perturbed = task.perturb(item("answer_stays"), response)
    assert perturbed is not None
    assert perturbed.example.answers == EXAMPLE.answers


def test_whoever_says_unanswerable_says_nothing_else() -> None:
    response = task.parse(data(cell("5"), unanswerable=True), item())
    assert response == Response(unanswerable=True)
    assert list(task.warnings(response, item())) == []
    assert task.describe(response, item()) == ["Unanswerable."]


def test_every_valid_edit_stands_on_its_own() -> None:
    edits = [Response(False, (), ("1",)), Response(False, (), ("2",))]
    resolution = task.resolve(edits, item())
    assert isinstance(resolution, Acceptance)
    assert [outcome.by for outcome in resolution.outcomes] == [(0,), (1,)]
    assert task.resolve([Response(True)], item()) == Acceptance((), "unanswerable")
    assert isinstance(task.resolve([*edits, Response(True)], item()), NeedsAdjudication)


def test_the_original_and_the_changed_table_come_out_under_one_id() -> None:
    response = task.parse(data(cell("1,175"), answers=("1,175",)), item())
    records = list(task.export("freb_tqa", item(), response, task.perturb(item(), response)))
    assert [exported.part.rpartition("no_shuffle_")[2] for exported in records] == ["ori_table", "ans_change"]
    original, changed = (exported.record for exported in records)
    assert original["id"] == changed["id"] == "nu-1"
    assert changed["table"] == {
        "header": ["Film", "Minutes"],
        "rows": [["Heat", "1,175"], ["Alien", "117"]],
        "name": "csv/1-csv/1.csv",
    }
    assert original["table"]["rows"][0] == ["Heat", "1,170"]


# -- the executable answer --------------------------------------------------------------------------

LONGER = {
    "op": "subtract",
    "left": {"op": "cell", "row": "r0", "column": "c1"},
    "right": {"op": "cell", "row": "r1", "column": "c1"},
}
GAP = Example(
    id="nu-2", question="how much longer is Heat than Alien?", table=EXAMPLE.table, answers=["1053"]
)
MARKED = {
    "evidence": {"cells": [["r0", "c1"], ["r1", "c1"]], "from": "cells marked by people in this project"}
}


def gap(variant: str = "answer_changes", **settings: Any) -> Item:
    return Item(GAP, variant, settings, MARKED)


def test_the_program_is_run_on_the_draft_and_says_old_and_new() -> None:
    found = task.preview(data(cell("1,175"), program=LONGER), gap())
    assert (found["before"], found["computed"], found["after"]) == (["1053"], ["1058"], ["1058"])
    assert found["program"] == "Minutes in row 1 (Heat) minus Minutes in row 2 (Alien)"
    assert not found["differs"]
    typed = task.preview(data(cell("1,175"), answers=("1050",), program=LONGER), gap())
    assert (typed["after"], typed["differs"]) == (["1050"], True)
    assert task.preview(data(cell("1,175"), answers=("1,058",), program=LONGER), gap())["differs"] is False


def test_another_answer_than_the_computed_one_needs_a_reason_which_is_kept() -> None:
    other = data(cell("1,175"), answers=("1050",), program=LONGER)
    assert codes(other, gap()) == ["computed_answer_differs"]
    kept = task.parse({**other, "difference": "the film was cut"}, gap())
    assert kept.difference == "the film was cut"
    assert "the film was cut" in " ".join(task.describe(kept, gap()))


def test_a_reason_for_a_difference_that_is_none_is_not_kept() -> None:
    agreeing = data(cell("1,175"), answers=("1058",), program=LONGER, difference="who knows")
    assert task.parse(agreeing, gap()).difference == ""


def test_an_answer_that_should_stay_and_drifts_by_the_program_is_noticed() -> None:
    drifted = data(cell("1,171"), program=LONGER)
    assert codes(drifted, gap("answer_stays")) == ["computed_answer_differs"]
    both = data(cell("1,180"), cell("127", old="117", row="r1"), program=LONGER)
    assert task.parse(both, gap("answer_stays")).program == LONGER


def test_a_program_whose_cells_are_gone_stops_nobody() -> None:
    gone = {"op": "remove_row", "row": "r1", "at": 1, "old": ["Alien", "117"]}
    removed = data(gone, answers=("0",), program=LONGER)
    assert task.parse(removed, gap()).program == LONGER
    assert "removed" in task.preview(removed, gap())["problem"]


def test_the_program_goes_on_with_the_example_only_while_the_answer_follows_from_it() -> None:
    follows = task.perturb(gap(), task.parse(data(cell("1,175"), answers=("1058",), program=LONGER), gap()))
    assert follows is not None
    assert follows.example.program == LONGER
    other = data(cell("1,175"), answers=("1",), program=LONGER, difference="so")
    does_not = task.perturb(gap(), task.parse(other, gap()))
    assert does_not is not None
    assert does_not.example.program is None


def test_programs_are_offered_that_give_the_answer_and_read_the_marked_cells() -> None:
    offered = task.suggest(gap(), Context())
    assert offered is not None
    assert offered["programs"][0]["program"] == LONGER


FILMS = Table(["Film", "Year", "Minutes"], [["Heat", "1995", "170"], ["Alien", "1979", "117"]])
LONGEST = Example("nu-9", "which film is the longest?", FILMS, ["Heat"])
OVERTAKEN = {"op": "set_cell", "row": "r1", "column": "c2", "at": [1, 2], "old": "117", "new": "300"}


def by_column(column: str) -> dict[str, Any]:
    rows = {"op": "extreme", "which": "largest", "column": column, "rows": {"op": "all_rows"}}
    return {"op": "select", "column": "c0", "rows": rows}


@pytest.mark.parametrize("variant", ["answer_changes", "answer_stays"])
def test_where_programs_disagree_on_the_draft_their_answers_are_given_and_none_is_filled_in(
    variant: str,
) -> None:
    longest = Item(LONGEST, variant)
    draft = data(OVERTAKEN, program=by_column("c2"))
    offers = task.preview(draft, longest)["alternatives"]
    assert [offer["answers"] for offer in offers] == [["Alien"], ["Heat"]], "the chosen program first"
    assert task.fill_in(draft, longest)["answers"] == []
    tried = task.tried(draft, longest)
    assert tried is not None
    assert tried.answers == (() if variant == "answer_changes" else ("Heat",)), "no verdict names one of them"
    silent = task.preview(data(OVERTAKEN), longest)["alternatives"]
    assert {tuple(offer["answers"]) for offer in silent} == {("Alien",), ("Heat",)}
    agreed = data({**OVERTAKEN, "new": "130"}, program=by_column("c2"))
    assert task.preview(agreed, longest)["alternatives"] == []
    if variant == "answer_changes":
        assert task.fill_in(agreed, longest)["answers"] == ["Heat"]


def test_nobody_is_asked_who_turned_the_programs_down_or_changed_nothing() -> None:
    longest = Item(LONGEST, "answer_changes")
    for draft in (data(OVERTAKEN, program={"op": "none"}), data(), data(OVERTAKEN, unanswerable=True)):
        assert task.preview(draft, longest)["alternatives"] == []


def test_guesses_are_not_held_against_the_program_of_the_example() -> None:
    own = Item(dataclasses.replace(LONGEST, program=by_column("c2")), "answer_changes")
    assert task.preview(data(OVERTAKEN), own)["alternatives"] == []
    assert task.fill_in(data(OVERTAKEN), own)["answers"] == ["Alien"]
    other = data(OVERTAKEN, program=by_column("c1"))
    assert len(task.preview(other, own)["alternatives"]) == 2


def test_a_form_without_scripts_settles_the_answer_with_its_program() -> None:
    offer = task.preview(data(OVERTAKEN), Item(LONGEST, "answer_changes"))["alternatives"][1]
    posted = task.form_data({"settled": offer["value"]}, data(OVERTAKEN))
    assert (posted["answers"], posted["program"]) == (offer["answers"], offer["programs"][0]["program"])
    for broken in ("", "[1]", '{"answers": 1}', "{"):
        assert task.form_data({"settled": broken, "answers": "5"}, data(OVERTAKEN))["answers"] == ["5"]


@pytest.mark.parametrize(
    ("rule", "outcome"), [("warn", "kept"), ("ignore", "kept"), ("require", "outside_evidence")]
)
def test_a_change_outside_the_marked_cells_is_pointed_out_as_the_batch_asks(rule: str, outcome: str) -> None:
    elsewhere = {"op": "set_cell", "row": "r1", "column": "c0", "at": [1, 0], "old": "Alien", "new": "Ali"}
    edit = data(elsewhere, answers=("5",))
    if outcome == "kept":
        assert task.parse(edit, gap(outside=rule)).operations
    else:
        assert codes(edit, gap(outside=rule)) == [outcome]
    read_by_the_program = data(elsewhere, answers=("5",))
    nothing_known = Item(GAP, "answer_changes", {"outside": "require"})
    assert task.parse(read_by_the_program, nothing_known).operations


def test_a_transposition_is_refused_before_anything_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("normalise", "replay", "check"):
        monkeypatch.setattr(f"tasks.value_change.task.{name}", lambda *_: pytest.fail("it was replayed"))
    many = data(*[{"op": "transpose"}] * 12_400, answers=("x",))
    assert codes(many, gap()) == ["operation_not_allowed"]


def test_of_many_changes_outside_only_some_are_tried_against_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = Table(["a", "b", "c"], [[f"{i}", f"{i}", "x"] for i in range(1_000)])
    where = Item(Example("e", "how much more?", table, ["-1"]), "answer_stays", {"at_most": 1_000})
    edits = [{"op": "set_cell", "row": f"r{i}", "column": "c2", "old": "x", "new": "y"} for i in range(1_000)]
    tried: list[object] = []

    def tilts(operation: object, *_: object) -> bool:
        tried.append(operation)
        return False

    monkeypatch.setattr("tasks.value_change.task._changes_result", tilts)
    for most, tries in ((2_000_000, 666), (0, 20)):
        monkeypatch.setattr("tasks.value_change.task.MOST_CELLS_TRIED", most)
        tried.clear()
        response = task.parse(data(*edits, program=LONGER), where)
        assert len(tried) == tries
        assert len(task.warnings(response, where)) == 1_000


def test_what_the_program_reads_is_inside_too() -> None:
    nothing_marked = Item(GAP, "answer_changes", {"outside": "require"})
    inside = data(cell("1,175"), answers=("1058",), program=LONGER)
    assert task.parse(inside, nothing_marked).operations
    outside = data(
        {"op": "set_cell", "row": "r0", "column": "c0", "at": [0, 0], "old": "Heat", "new": "Hot"},
        answers=("7",),
        program=LONGER,
        difference="so",
    )
    assert codes(outside, nothing_marked) == ["outside_evidence"]


def test_a_response_of_version_1_is_read_as_it_was() -> None:
    stored = {
        "type": "value_change",
        "variant": "answer_changes",
        "version": 1,
        "base": EXAMPLE.table.digest(),
        "data": data(cell("1,175"), answers=("1,175",)),
    }
    response = task.read(stored, item())
    assert (response.answers, response.program, response.difference) == (("1,175",), None, "")
    assert task.envelope(response, item())["version"] == 2


def test_a_value_change_of_a_shortened_table_is_published_beside_it_under_the_originals_id() -> None:
    short = Item(
        Example(id="nu-1~short_table-1", question="q", table=EXAMPLE.table, answers=["1,170"]),
        "answer_changes",
        {},
        {"original": {"id": "nu-1", "perturbation": "short_table"}},
    )
    response = task.parse(data(cell("1,175"), answers=("1,175",)), short)
    records = list(task.export("freb_tqa", short, response, task.perturb(short, response)))
    assert [one.part.rpartition("no_shuffle_")[2] for one in records] == ["short_table", "ans_change"]
    assert {one.record["id"] for one in records} == {"nu-1"}
    (own,) = task.export("askew", short, response, task.perturb(short, response))
    assert own.part == "value_change_answer_changes"
    assert own.record["answers"] == ["1,175"]
    assert own.record["original_answers"] == ["1,170"]


def test_what_an_item_freezes_is_where_the_answer_comes_from_and_what_it_was_made_from() -> None:
    known = Example("nu-2~short_table-1", GAP.question, GAP.table, GAP.answers, program=LONGER)
    around = Surroundings(original=GAP, perturbation="short_table")
    inputs = task.prepare(known, around).inputs
    assert inputs["original"] == {"id": "nu-2", "perturbation": "short_table"}
    assert inputs["program"]["program"] == LONGER
    assert inputs["evidence"]["cells"] == [["r0", "c1"], ["r1", "c1"]]
    assert task.prepare(EXAMPLE, Surroundings()).inputs == {}


def test_practice_computes_the_right_answer_of_any_edit() -> None:
    expected = task.parse(data(cell("1,175"), answers=("1058",), program=LONGER), gap())
    wrong = task.parse(data(cell("1,180"), answers=("1000",)), gap())
    right, words = task.feedback(gap(), wrong, expected)
    assert not right
    assert "1063" in words[0]
    assert task.feedback(gap(), task.parse(data(cell("1,180"), answers=("1,063",)), gap()), expected) == (
        True,
        [],
    )


def test_practice_without_a_program_takes_the_expected_edit_alone() -> None:
    expected = task.parse(data(cell("5"), answers=("5",)), item())
    other = task.parse(data(cell("6"), answers=("6",)), item())
    nothing = task.parse(data(unanswerable=True), item())
    assert task.feedback(item(), expected, expected) == (True, [])
    assert task.feedback(item(), other, expected)[0] is None
    assert task.feedback(item(), nothing, nothing) == (True, [])
    right, words = task.feedback(item(), nothing, expected)
    assert (right, words[0]) == (False, "Expected:")


def test_more_changes_than_the_batch_allows_need_a_reason() -> None:
    settings: dict[str, Any] = {"at_most": 1}
    jsonschema.validate(settings, dict(task.settings_schema))
    two = data(cell("5"), cell("6", old="117", row="r1"), answers=("5",))
    assert codes(two, item(**settings)) == ["too_many_operations"]
    assert len(task.parse({**two, "reason": "Both count."}, item(**settings)).operations) == 2


def test_simulated_people_edit_a_marked_cell_and_take_what_is_computed() -> None:
    shown = Item(GAP, "answer_changes", {}, {**MARKED, "program": {"program": LONGER}})
    numbers = Example(
        "n", GAP.question, Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"]]), ["53"]
    )
    shown = Item(numbers, "answer_changes", {}, shown.inputs)
    for seed in range(20):
        raw = task.simulate(shown, random.Random(seed), 1.0, random.Random("truth"))
        response = task.parse(raw, Item(numbers, "answer_changes", {"outside": "require"}, MARKED))
        assert response.program == LONGER


def test_a_simulated_edit_depends_on_its_seed_alone() -> None:
    # A demo that is made again is the same demo: nothing more or less is drawn for an edit.
    table = Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"]])
    shown = Item(Example("n", GAP.question, table, ["53"]), "answer_stays", {}, MARKED)

    drawn = [
        task.simulate(shown, random.Random(seed), 1.0, random.Random("truth"))["operations"]
        for seed in range(4)
    ]

    assert [(edit["row"], edit["new"]) for (edit,) in drawn] == [
        ("r0", "176"),
        ("r0", "176"),
        ("r0", "178"),
        ("r0", "173"),
    ]


# -- a program that the example has already counts without a word ------------------------------------

KNOWN = Item(
    Example("nu-3", GAP.question, GAP.table, GAP.answers, program=LONGER),
    "answer_changes",
    {},
    {"program": {"program": LONGER}},
)


def test_the_examples_own_program_is_held_against_an_answer_although_nobody_sent_one() -> None:
    wrong = data(cell("1,175"), answers=("1050",))
    assert codes(wrong, KNOWN) == ["computed_answer_differs"]
    assert task.preview(wrong, KNOWN)["differs"] is True
    silent = task.preview(data(cell("1,175")), KNOWN)
    assert (silent["computed"], silent["after"]) == (["1058"], ["1058"])
    kept = task.parse({**wrong, "difference": "the film was cut"}, KNOWN)
    assert (kept.program, kept.difference) == (None, "the film was cut")
    stays = Item(KNOWN.example, "answer_stays", {}, KNOWN.inputs)
    assert codes(data(cell("1,171")), stays) == ["computed_answer_differs"]


def test_a_draft_that_is_no_response_has_no_computed_answer() -> None:
    assert task.preview({**data(cell("1,175")), "unanswerable": "perhaps"}, KNOWN)["computed"] is None


def test_it_goes_on_with_the_example_while_the_answer_follows() -> None:
    right = task.parse(data(cell("1,175"), answers=("1,058",)), KNOWN)
    made = task.perturb(KNOWN, right)
    assert made is not None
    assert made.example.program == LONGER
    (own,) = task.export("askew", KNOWN, right, made)
    assert own.record["program"] == LONGER
    assert any("Minutes in row 1" in line for line in task.describe(right, KNOWN))


def test_whoever_turns_it_down_is_not_held_against_it() -> None:
    turned_down = data(cell("1,175"), answers=("1050",), program={"op": "none"})
    response = task.parse(turned_down, KNOWN)
    assert (response.program, response.difference) == ({"op": "none"}, "")
    assert task.preview(turned_down, KNOWN)["computed"] is None
    made = task.perturb(KNOWN, response)
    assert made is not None
    assert made.example.program is None


DERIVED = Item(
    Example("nu-5", GAP.question, GAP.table, GAP.answers, meta={"derivation": "1,170-117"}), "answer_changes"
)
BY_FORM = Item(
    Example(
        "1-1-1",
        "how long is Heat?",
        GAP.table,
        ["1,170"],
        meta={"sql": {"sel": 1, "agg": 0, "conds": [[0, 0, "Heat"]]}},
    ),
    "answer_changes",
)


@pytest.mark.parametrize(("item", "right"), [(DERIVED, "1058"), (BY_FORM, "1,175")])
def test_what_the_source_says_of_how_the_answer_follows_counts_like_a_program(item: Item, right: str) -> None:
    wrong = data(cell("1,175"), answers=("42424242",))
    assert codes(wrong, item) == ["computed_answer_differs"]
    assert task.preview(wrong, item)["differs"] is True
    stays = Item(item.example, "answer_stays")
    assert codes(data(cell("1,175")), stays) == ["computed_answer_differs"]
    assert task.prepare(item.example, Surroundings()).inputs["program"]["words"]
    made = task.perturb(item, task.parse(data(cell("1,175"), answers=(right,)), item))
    assert made is not None
    assert made.example.program is not None
    turned_down = task.parse({**wrong, "program": {"op": "none"}}, item)
    assert turned_down.program == {"op": "none"}
    assert task.preview({**wrong, "program": {"op": "none"}}, item)["computed"] is None


def test_an_example_without_an_answer_can_be_edited_and_gets_one_where_it_must_change() -> None:
    open_question = Example("nu-6", "how long is Heat?", GAP.table, [])
    kept = task.parse(data(cell("1,175")), Item(open_question, "answer_stays"))
    made = task.perturb(Item(open_question, "answer_stays"), kept)
    assert made is not None
    assert made.example.answers == ()
    assert codes(data(cell("1,175")), Item(open_question, "answer_changes")) == ["no_answer"]
    changed = task.parse(data(cell("1,175"), answers=("1,175",)), Item(open_question, "answer_changes"))
    assert changed.answers == ("1,175",)


def test_a_program_that_does_not_give_the_answer_of_its_example_says_nothing_about_an_edit() -> None:
    odd = Item(Example("nu-4", GAP.question, GAP.table, ["12"], program=LONGER), "answer_changes")
    assert task.parse(data(cell("1,175"), answers=("1050",)), odd).difference == ""


def refusals(raw: dict[str, Any], where: Item) -> set[str]:
    """The codes for which a response is refused; none where it is accepted."""
    try:
        task.parse(raw, where)
    except InvalidResponse as invalid:
        return {problem.code for problem in invalid.problems if problem.level == "error"}
    return set()


@given(st.integers(1, 9_999), st.integers(1, 9_999))
def test_no_answer_slips_past_a_known_program(minutes: int, answer: int) -> None:
    """The program's answer is accepted; others need a comment."""
    sent = data(cell(f"{minutes:,}"), answers=(str(answer),))
    accepted = not refusals(sent, KNOWN)
    assert accepted == (minutes - 117 == answer and minutes != 1170)


# -- what is inside ----------------------------------------------------------------------------------

FILMS = Table(
    ["Film", "Year", "Minutes"], [["Heat", "1995", "170"], ["Alien", "1979", "117"], ["Ran", "1985", "162"]]
)
LONG = {"op": "where", "column": "c2", "relation": "greater", "value": "120", "rows": {"op": "all_rows"}}
HOW_MANY = Item(
    Example("c-1", "how many are longer than 120?", FILMS, ["2"], program={"op": "count", "of": LONG}),
    "answer_changes",
    {"outside": "require"},
)


def change(new: str, row: int, column: int) -> dict[str, Any]:
    old = FILMS.rows[row][column]
    ids = {"row": f"r{row}", "column": f"c{column}", "at": [row, column]}
    return {"op": "set_cell", **ids, "old": old, "new": new}


def outside(item: Item, *operations: dict[str, Any], **more: Any) -> list[str]:
    return sorted(refusals(data(*operations, **more), item) & {"outside_evidence"})


def test_a_cell_that_a_condition_looks_through_is_inside_whether_or_not_its_row_met_it() -> None:
    assert outside(HOW_MANY, change("137", 1, 2), answers=("3",)) == []
    assert outside(HOW_MANY, change("119", 1, 2), answers=("3",), difference="x") == [], "it still tempts"
    assert outside(HOW_MANY, change("1996", 0, 1), answers=("3",), difference="x") == ["outside_evidence"]


def test_removing_a_row_that_a_condition_looks_at_is_inside() -> None:
    gone = {"op": "remove_row", "row": "r1", "at": 1, "old": ["Alien", "1979", "117"]}
    assert outside(HOW_MANY, gone, answers=("1",), difference="x") == []
    by_cells = Item(
        Example("c-2", "how much longer is Heat than Ran?", FILMS, ["8"], program=MINUS),
        "answer_changes",
        {"outside": "require"},
    )
    assert outside(by_cells, gone, answers=("1",), difference="x") == ["outside_evidence"]


MINUS = {
    "op": "subtract",
    "left": {"op": "cell", "row": "r0", "column": "c2"},
    "right": {"op": "cell", "row": "r2", "column": "c2"},
}


def test_the_column_of_an_extreme_or_an_aggregate_is_inside() -> None:
    longest = {
        "op": "select",
        "column": "c0",
        "rows": {"op": "extreme", "which": "largest", "column": "c2", "rows": LONG_AFTER_1980},
    }
    asked = Example("c-3", "which film after 1980 is the longest?", FILMS, ["Heat"], program=longest)
    item = Item(asked, "answer_changes", {"outside": "require"})
    assert outside(item, change("171", 1, 2), answers=("Ran",), difference="x") == []
    assert outside(item, change("1981", 1, 1), answers=("Ran",), difference="x") == []
    assert outside(item, change("Alien 2", 1, 0), answers=("Ran",), difference="x") == ["outside_evidence"]


LONG_AFTER_1980 = {**LONG, "column": "c1", "value": "1980"}


def test_a_cell_that_changes_what_the_program_gives_is_inside() -> None:
    """No condition looks at the first row, and yet the answer changes without it."""
    first = {
        "op": "select",
        "column": "c0",
        "rows": {"op": "place", "which": "first", "rows": {"op": "all_rows"}},
    }
    asked = Example("c-4", "which film is listed first?", FILMS, ["Heat"], program=first)
    item = Item(asked, "answer_changes", {"outside": "require"})
    gone = {"op": "remove_row", "row": "r0", "at": 0, "old": ["Heat", "1995", "170"]}
    assert outside(item, gone, answers=("Alien",)) == []
    assert outside(item, change("Hot", 0, 0), answers=("Hot",)) == []
    assert outside(item, change("171", 0, 2), answers=("Hot",), difference="x") == ["outside_evidence"]


@pytest.mark.parametrize(
    "sign", ["\n", "\r\n", "\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"]
)
def test_an_answer_in_the_form_without_scripts_is_one_whatever_parts_its_lines(sign: str) -> None:
    answers = [f"New{sign}York", "Lima"]
    shown = as_lines(answers).replace("\n", "\r\n")  # as a browser sends it
    assert shown.count("\r\n") == 2
    read = task.form_data({"answers": shown, "action": "submit"}, {"answers": answers})["answers"]
    assert read == answers
    typed = task.form_data({"answers": f"Lima\r\nnew{sign}", "action": "submit"}, {"answers": None})[
        "answers"
    ]
    assert typed == ["Lima", "new"]


def test_an_answer_that_was_filled_in_is_nobodys_although_it_has_a_line_break() -> None:
    shown = as_lines(["New\nYork"])
    assert task.form_data({"answers": shown, "filled": shown, "action": "save"}, {})["answers"] == []
    assert task.form_data({"answers": shown, "filled": shown, "action": "submit"}, {})["answers"] == [
        "New York"
    ]
