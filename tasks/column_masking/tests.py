"""Column masking: what goes must follow from the rest, and the table says how far it does."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tableqa import Example, Table
from tasks.column_masking.task import derivable, task
from tasks.contract import Context, InvalidResponse, Item, Surroundings
from tasks.shared.column_edits import RemovalResponse

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
    with pytest.raises(InvalidResponse) as invalid:
        task.parse(gone(*TABLE.column_ids), ITEM)
    assert [problem.code for problem in invalid.value.problems] == ["table_empty"]


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
    both = {**gone("c1", "c3"), "reason": "The total is in the paper."}
    assert not task.feedback(ITEM, task.parse(both, ITEM), expected)[0]
    assert not task.feedback(ITEM, RemovalResponse(True), expected)[0]


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
    assert codes(gone("c1", "c2")) == ["not_derivable"]
    assert codes({**gone("c4"), "reason": "everybody knows it"}) == []


# -- the answer stays -------------------------------------------------------------------------------

CELL = {"op": "cell", "row": "r3", "column": "c4"}
CHAD = Example(id="nu-2", question="where is chad?", table=TABLE, answers=["Africa"])


def refused(raw: dict[str, Any], item: Item) -> list[str]:
    with pytest.raises(InvalidResponse) as invalid:
        task.parse(raw, item)
    return [problem.code for problem in invalid.value.problems]


def test_the_only_column_of_the_answer_stays_unless_it_follows_or_somebody_says_how() -> None:
    assert refused(gone("c4"), Item(CHAD)) == ["answer_gone"]
    assert task.parse(gone("c3"), ITEM), "7 stands nowhere else, and is 4 + 3"
    assert refused(gone("c1", "c3"), ITEM) == ["answer_gone"], "it follows no longer"
    reasoned = task.parse({**gone("c4"), "reason": "Everybody knows where Chad is."}, Item(CHAD))
    assert reasoned.reason
    assert task.warnings(reasoned, Item(CHAD)) == ()


def test_an_answer_that_stands_in_another_column_as_well_does_not_hold_its_column() -> None:
    twice = Table(["Nation", "Winner"], [["Cuba", "Cuba"], ["Peru", "Cuba"]])
    item = Item(Example(id="x", question="who won?", table=twice, answers=["Cuba"]))
    column = {"op": "remove_column", "column": "c1", "at": 1, "old": ["Winner", "Cuba", "Cuba"]}
    raw = {"does_not_apply": False, "operations": [column], "reason": ""}
    assert task.parse(raw, item).operations


def test_what_the_program_of_the_answer_reads_stays() -> None:
    count = {
        "op": "count",
        "of": {
            "op": "where",
            "rows": {"op": "all_rows"},
            "column": "c4",
            "relation": "equals",
            "value": "America",
        },
    }
    plainly = Example(id="nu-3", question="how many are of America?", table=TABLE, answers=["2"])
    assert task.parse(gone("c4"), Item(plainly)), "nothing is known of how the answer follows"
    for known in (
        Item(Example(**{**vars_of(plainly), "program": count})),
        Item(plainly, inputs=task.prepare(plainly, decided(count)).inputs),
    ):
        assert refused(gone("c4"), known) == ["answer_gone"]
        assert task.suggest(known, Context())["columns"]["c4"]["read"] is True
        assert task.parse({**gone("c4"), "reason": "Nations have continents."}, known)


def vars_of(example: Example) -> dict[str, Any]:
    names = ("id", "question", "table", "answers")
    return {name: getattr(example, name) for name in names}


def decided(program: Any) -> Surroundings:
    return Surroundings(decided={"value_change": ({"operations": [], "program": program},)})


def test_a_program_that_was_turned_down_or_gives_another_answer_protects_nothing() -> None:
    for program in (None, {"op": "none"}, {"op": "cell", "row": "r0", "column": "c0"}, {"op": "magic"}, 7):
        assert task.prepare(CHAD, decided(program)).inputs == {}
    assert task.prepare(CHAD, decided(CELL)).inputs["program"]["program"] == CELL


@pytest.mark.parametrize(
    ("rule", "codes"), [("warn", ["answer_gone", "not_derivable"]), ("ignore", ["not_derivable"])]
)
def test_a_batch_may_ask_for_less(rule: str, codes: list[str]) -> None:
    item = Item(CHAD, settings={"answer_cells": rule})
    response = task.parse(gone("c4"), item)
    assert [problem.code for problem in task.warnings(response, item)] == codes
    assert {problem.level for problem in task.warnings(response, item)} == {"warning"}


def test_a_batch_may_protect_cells_whatever_the_reason() -> None:
    item = Item(ITEM.example, settings={"contract": {"protected": [["r0", "c4"]]}})
    assert refused({**gone("c4"), "reason": "Everybody knows."}, item) == ["protected_cell"]


SUM = Example("nu-4", "how many medals have Cuba and Peru?", TABLE, ["11"], meta={"derivation": "7+4"})
MARKED_IN_SOURCE = {"highlighted_cells": [["r3", "c0"], ["r3", "c4"]]}
TOLD = Example("nu-5", "tell of Chad", TABLE, ["Chad lies elsewhere."], meta=MARKED_IN_SOURCE)


def frozen(example: Example, around: Surroundings | None = None) -> Item:
    return Item(example, inputs=task.prepare(example, around or Surroundings()).inputs)


def test_what_the_derivation_of_the_source_reads_stays() -> None:
    known = frozen(SUM)
    assert refused(gone("c1", "c3"), known) == ["answer_gone"]
    assert refused(gone("c1", "c3"), Item(SUM)) == ["answer_gone"], "also where nothing was frozen"
    assert task.parse(gone("c3"), known).operations, "it is gold and silver"
    turned_down = frozen(SUM, decided({"op": "none"}))
    assert task.parse(gone("c1", "c3"), turned_down).operations


@pytest.mark.parametrize("name", ["relevant_cells", "highlighted_cells", "answer_cells"])
def test_the_evidence_of_the_source_stays_where_no_program_is_known(name: str) -> None:
    cells = Example("nu-6", "?", TABLE, TOLD.answers, meta={name: MARKED_IN_SOURCE["highlighted_cells"]})
    assert refused(gone("c4"), frozen(cells)) == ["answer_gone"]
    assert task.suggest(frozen(cells), Context())["columns"]["c4"]["read"] is True
    assert task.parse({**gone("c4"), "reason": "Everybody knows where Chad is."}, frozen(cells)).reason
    assert task.parse(gone("c3"), frozen(cells)).operations


def test_what_people_marked_stays_and_what_a_model_pointed_at_does_not() -> None:
    plainly = Example("nu-7", "?", TABLE, TOLD.answers)
    people = Surroundings(decided={"relevant_cells": ({"cells": [["r0", "c4"]]},)})
    assert refused(gone("c4"), frozen(plainly, people)) == ["answer_gone"]
    model = Surroundings(model_answers={"cells": ({"model": "m", "cells": [["r0", "c4"]]},)})
    assert task.parse(gone("c4"), frozen(plainly, model)).operations


# -- in the rows that matter ---------------------------------------------------------------------------


def asked_of(
    header: list[str], rows: list[list[str]], answer: str, place: int, **more: Any
) -> tuple[Item, dict[str, Any]]:
    """An item with this table and answer, and a response that removes the column at this place."""
    table = Table(header, rows)
    item = Item(Example("q", "?", table, [answer], **more))
    operation = {
        "op": "remove_column",
        "column": f"c{place}",
        "at": place,
        "old": [header[place], *table.column(f"c{place}")],
    }
    return item, {"does_not_apply": False, "operations": [operation], "reason": ""}


def years(*numbers: int) -> tuple[Item, dict[str, Any]]:
    teams = [[f"Team {'ABCDEF'[place]}", "Kildare", str(number)] for place, number in enumerate(numbers)]
    return asked_of(["Team", "County", "Year"], teams, str(numbers[-1]), 2)


@pytest.mark.parametrize(
    "numbers",
    [
        (2011, 2010, 2009, 2008, 2007, 2006),
        (2004, 2008, 2012, 2016),
        (0, 1, 2, 3, 4),
        (2, 3, 4, 5, 6),
        (5, 4, 3, 2, 1),
    ],
)
def test_a_constant_step_from_row_to_row_does_not_tell_where_it_began(numbers: tuple[int, ...]) -> None:
    item, raw = years(*numbers)
    assert refused(raw, item) == ["answer_gone"]
    assert derivable(item.example.table, frozenset({"c2"})) == frozenset()
    [evidence] = task.suggest(item, Context())["columns"]["c2"]["evidence"]
    assert (evidence["holds"], evidence["tells"]) == (True, False)
    assert f"from row to row, in all {len(numbers)} rows." in evidence["words"]
    assert task.parse({**raw, "reason": "The heading says which years these are."}, item).reason
    assert [proposed.data for proposed in task.propose(item, Context())] == []
    assert task.simulate(item, random.Random(1), 1.0, random.Random(2))["does_not_apply"]
    elsewhere = Item(Example("q", "?", item.example.table, ["Team C"]))
    response = task.parse(raw, elsewhere)
    assert [problem.code for problem in task.warnings(response, elsewhere)] == ["not_derivable"]


def test_numbers_that_count_the_rows_follow_from_their_order() -> None:
    item, raw = years(1, 2, 3, 4)
    assert task.parse(raw, item).operations
    [evidence] = task.suggest(item, Context())["columns"]["c2"]["evidence"]
    assert evidence["tells"] is True
    assert (
        evidence["words"]
        == "Year counts the rows: 1 in the first, 2 in the second, and so on, in all 4 rows."
    )
    assert [proposed.data for proposed in task.propose(item, Context())] == [raw]


WON = ["Nation", "W", "L", "P"]
WINS = [["A", "3", "1", "4"], ["B", "2", "2", "4"], ["C", "5", "1", "6"], ["D", "1", "0", "1"]]
RANKS = [["1", "A", "9"], ["2", "B", "7"], ["3", "C", "7"], ["4", "D", "5"], ["5", "E", "3"]]
SHARED = [
    ["1", "A", "9"],
    ["2", "B", "7"],
    ["2", "C", "7"],
    ["4", "D", "5"],
    ["5", "E", "3"],
    ["6", "F", "2"],
]


@pytest.mark.parametrize(
    ("rows", "answer", "place"),
    [
        ([*WINS, ["E", "?", "2", "9"]], "9", 3),
        ([*WINS, ["E", "—", "3", "11"]], "11", 3),
        ([*WINS, ["E", "7", "", "11"]], "11", 3),
        ([*WINS, ["E", "", "", "DNF"]], "DNF", 3),
    ],
)
def test_a_row_that_could_not_be_tested_does_not_give_its_answer(
    rows: list[list[str]], answer: str, place: int
) -> None:
    item, raw = asked_of(WON, rows, answer, place)
    with pytest.raises(InvalidResponse) as invalid:
        task.parse(raw, item)
    [problem] = invalid.value.problems
    assert problem.code == "answer_gone"
    assert problem.message == (
        f"Without “P” the answer cannot be found: “{answer}” is in no other column, and the rest does not give "
        "it in row 5. Restore it, or explain how to work it out."
    )
    assert task.parse({**raw, "reason": "The paper tells it."}, item).reason
    assert raw not in [proposed.data for proposed in task.propose(item, Context())]
    [evidence] = [one for one in task.suggest(item, Context())["columns"]["c3"]["evidence"] if one["tells"]]
    assert evidence["words"] == "P = W + L, in all 4 rows that can be tested."
    assert evidence["short"] is True
    other = Item(Example("q", "?", item.example.table, ["6"]))
    assert task.parse(raw, other).operations, "its row was tested"
    assert task.warnings(task.parse(raw, other), other) == ()


def test_what_a_program_reads_in_a_row_that_could_not_be_tested_stays() -> None:
    rows = [*WINS, ["E", "?", "2", "9"]]
    for row, codes in (("r0", []), ("r4", ["answer_gone"])):
        program = {"op": "cell", "row": row, "column": "c3"}
        answer = {"r0": "4", "r4": "9"}[row]
        item, raw = asked_of(WON, rows, answer, 3, program=program)
        assert (refused(raw, item) if codes else []) == codes
        if not codes:
            assert task.parse(raw, item).operations


def test_a_row_without_anything_to_work_out_holds_no_column() -> None:
    total = {"op": "sum", "of": {"op": "column", "rows": {"op": "all_rows"}, "column": "c3"}}
    item, raw = asked_of(WON, [*WINS, ["E", "", "", ""]], "15", 3, program=total)
    assert task.parse(raw, item).operations


def test_ties_in_any_order_do_not_tell_which_is_which() -> None:
    header = ["Rank", "Nation", "Medals"]
    for program in (None, {"op": "cell", "row": "r2", "column": "c0"}):
        item, raw = asked_of(header, RANKS, "3", 0, program=program)
        if program is None:
            item = Item(Example("q", "?", Table(header, [*RANKS[:4], ["5", "E", "4"]]), ["3"]))
            raw["operations"][0]["old"] = ["Rank", *item.example.table.column("c0")]
        assert refused(raw, item) == ["answer_gone"]
    evidence = task.suggest(item, Context())["columns"]["c0"]["evidence"][-1]
    words = "Rank = the rank of Medals (largest first), in all 5 rows. Ties are undecided in rows 2, 3."
    assert evidence["words"] == words
    shared, raw = asked_of(header, SHARED, "4", 0)
    assert task.parse(raw, shared).operations, "who is tied shares the better rank"
    tied, raw = asked_of(header, SHARED, "2", 0, program={"op": "cell", "row": "r2", "column": "c0"})
    assert task.parse(raw, tied).operations


def test_a_marked_header_is_no_row_that_would_have_to_be_worked_out() -> None:
    rows = [*WINS, ["E", "?", "2", "9"]]
    for cells, ids in (([["r0", "c3"], ["h", "c3"]], []), ([["r4", "c3"], ["h", "c3"]], ["answer_gone"])):
        item, raw = asked_of(WON, rows, "A", 3)
        item = frozen(Example("q", "?", item.example.table, ["A"], meta={"highlighted_cells": cells}))
        assert sorted(item.inputs["evidence"]["cells"]) == sorted(cells)
        if ids:
            assert refused(raw, item) == ids
        else:
            assert task.parse(raw, item).operations
    nation = Example("q", "?", item.example.table, ["7"], meta={"highlighted_cells": [["h", "c0"]]})
    _, raw = asked_of(WON, rows, "7", 0)
    assert refused(raw, frozen(nation)) == ["answer_gone"], "nothing tells the names"


def test_practice_does_not_take_a_column_that_leaves_the_row_of_the_answer_open() -> None:
    rows = [*WINS, ["E", "?", "2", "9"]]
    item, raw = asked_of(WON, rows, "9", 3)
    response = task.parse({**raw, "reason": "It is known."}, item)
    assert task.feedback(item, response, RemovalResponse(False, ()))[0] is False
    plain = Item(Example("q", "?", item.example.table, ["6"]))
    assert task.feedback(plain, task.parse(raw, plain), RemovalResponse(False, ()))[0] is True


def test_a_language_model_is_shown_the_rows_that_the_question_is_about() -> None:
    long = Table(TABLE.header, [*TABLE.rows[1:] * 10, TABLE.rows[0]])
    text = task.render(Item(Example(id="x", question="how many medals has cuba?", table=long, answers=["7"])))
    assert "Cuba | 4 | 3 | 7 | America" in text.splitlines()
    assert text.count("Peru | 2 | 2 | 4 | America") == 10, "as many rows as fit"
