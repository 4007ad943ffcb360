"""Executable answers: which programs are offered, what may be confirmed, and what it gives on an edited table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.data.answers import compare
from tableqa.operations import RemoveRow, SetCell, replay
from tableqa.programs import ProgramError, find_programs
from tableqa.programs.executable_answers import (
    NONE,
    alternatives,
    answer_groups,
    cells_read,
    computed,
    confirmed_program,
    in_words,
    offered_programs,
    read_posted_program,
)
from tableqa.readers import READERS

TABLE = Table(["Year", "Sales"], [["2018", "40"], ["2019", "50"]])
RISE = {
    "op": "subtract",
    "left": {"op": "cell", "row": "r1", "column": "c1"},
    "right": {"op": "cell", "row": "r0", "column": "c1"},
}
EXAMPLE = Example("e", "by how much did sales rise from 2018 to 2019?", TABLE, ["10"])


def test_the_programs_that_give_the_answer_are_offered_in_words() -> None:
    programs = offered_programs(EXAMPLE)["programs"]
    assert programs[0]["words"].startswith("Sales in row 2 (2019) minus Sales in row 1 (2018)")
    assert len({one["words"] for one in programs}) == len(programs)
    for one in programs:
        assert confirmed_program(one["program"], EXAMPLE) == one["program"]


def test_the_examples_own_program_is_offered_first_and_once() -> None:
    own = Example("e", EXAMPLE.question, TABLE, ["10"], program=RISE)
    programs = offered_programs(own)["programs"]
    assert (programs[0]["source"], programs[0]["program"]) == ("known", RISE)
    assert [one["words"] for one in programs].count(programs[0]["words"]) == 1


def test_an_offer_names_the_cells_that_it_reads() -> None:
    assert offered_programs(EXAMPLE)["programs"][0]["cells"] == [["r0", "c1"], ["r1", "c1"]]


def test_programs_with_the_same_cells_and_results_are_offered_once_and_others_stay() -> None:
    table = Table(["Film", "Year", "Minutes"], [["Heat", "1995", "170"], ["Alien", "1979", "117"]])
    example = Example("h", "which film is the longest?", table, ["Heat"])
    programs = offered_programs(example)["programs"]
    swapped = replay(table, [SetCell(row="r0", column="c2", old="170", new="90")])
    effects = [(str(one["cells"]), computed(one["program"], swapped)) for one in programs]
    assert len(set(effects)) == len(effects)
    assert {"Year", "Minutes"} == {one["words"].split()[-1] for one in programs if "largest" in one["words"]}


def test_a_value_is_not_the_condition_under_which_it_is_asked_for() -> None:
    table = Table(["Name", "c41", "c42"], [["R4", "1", "4"], ["R5", "2", "75"], ["R6", "3", "8"]])
    programs = offered_programs(Example("v", "what is the value of c42 for R5?", table, ["75"]))["programs"]
    assert programs[0]["words"] == "c42 where Name is R5"


def test_a_program_that_gives_another_answer_cannot_be_confirmed() -> None:
    with pytest.raises(ProgramError) as error:
        confirmed_program({**RISE, "left": RISE["right"], "right": RISE["left"]}, EXAMPLE)
    assert error.value.code == "other_answer"
    assert "-10" in error.value.message


@pytest.mark.parametrize(
    "value", [1, "x", [], {}, {"op": "nothing"}, {"op": "none", "x": 1}, {"op": "cell", "row": 1}]
)
def test_what_is_no_program_cannot_be_confirmed(value: Any) -> None:
    with pytest.raises(ProgramError):
        confirmed_program(value, EXAMPLE)


@pytest.mark.parametrize("text", ["no JSON", "NaN", "[" * 101 + "]" * 101])
def test_what_a_form_posts_is_handed_on_as_text_unless_it_is_json_of_a_hundred_levels(text: str) -> None:
    assert read_posted_program(text, None) == text
    assert read_posted_program('{"op": "all_rows"}', None) == {"op": "all_rows"}


def test_saying_nothing_and_saying_none_are_two_things() -> None:
    assert confirmed_program(None, EXAMPLE) is None
    assert confirmed_program({"op": "none"}, EXAMPLE) == NONE
    assert (in_words(None, TABLE), cells_read(None, TABLE), cells_read(NONE, TABLE)) == ("", (), ())
    assert in_words(NONE, TABLE)


def test_a_program_gives_the_new_answer_of_an_edited_table() -> None:
    edited = replay(TABLE, [SetCell(row="r1", column="c1", old="50", new="1,050")])
    assert computed(RISE, edited) == ("1010",)
    assert cells_read(RISE, edited) == (("r0", "c1"), ("r1", "c1"))


def test_a_program_whose_cells_are_gone_says_so() -> None:
    edited = replay(TABLE, [RemoveRow(row="r0", old=TABLE.rows[0])])
    found = computed(RISE, edited)
    assert isinstance(found, ProgramError)
    assert "removed" in found.message
    assert cells_read(RISE, edited) == ()


def test_every_program_offered_for_real_questions_gives_their_answer(test_data: Path) -> None:
    examples = list(READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv", limit=60))
    number = 0
    for example in examples:
        for one in offered_programs(example)["programs"]:
            found = computed(one["program"], example.table)
            assert not isinstance(found, ProgramError)
            assert compare(found, example.answers).equal
            number += 1
    assert number > 60


# -- programs that disagree on an edited table -------------------------------------------------------

FILMS = Table(["Film", "Year", "Minutes"], [["Heat", "1995", "170"], ["Alien", "1979", "117"]])
LONGEST = Example("l", "which film is the longest?", FILMS, ["Heat"])
RESULTS = st.lists(st.none() | st.lists(st.sampled_from(["1", "1.0", "2", "Heat", "heat", ""]), max_size=2))


@given(RESULTS)
def test_results_are_grouped_by_the_answer_that_they_are(results: list[list[str] | None]) -> None:
    groups = answer_groups(results)
    assert [number is None for number in groups] == [result is None for result in results]
    first: dict[int, list[str]] = {}
    for number, result in zip(groups, results, strict=True):
        if number is not None:
            assert result is not None
            first.setdefault(number, result)
            assert compare(result, first[number]).equal
    assert list(first) == list(range(len(first))), "numbered by first appearance"
    answers = list(first.values())
    assert not any(compare(one, other).equal for at, one in enumerate(answers) for other in answers[:at])


@given(st.integers(0, 400), st.sampled_from(["c1", "c2"]), st.sampled_from(["r0", "r1"]))
def test_alternatives_are_the_different_answers_of_the_programs_that_run(
    new: int, column: str, row: str
) -> None:
    old = FILMS.cell(row, column)
    edited = replay(FILMS, [SetCell(row=row, column=column, old=old, new=str(new))])
    programs = list(find_programs(LONGEST))[:5]
    results = [computed(program.to_dict(), edited) for program in programs]
    answers = {result for result in results if isinstance(result, tuple)}
    offers = alternatives(programs, FILMS, edited)
    if len(answers) < 2:
        assert offers == []
    else:
        assert {tuple(offer["answers"]) for offer in offers} == answers
        for offer in offers:
            assert offer["programs"]
            for agreeing in offer["programs"]:
                assert computed(agreeing["program"], edited) == tuple(offer["answers"])


def test_programs_that_do_not_run_on_the_edited_table_are_no_alternatives() -> None:
    programs = list(find_programs(LONGEST))[:5]
    gone = replay(FILMS, [SetCell(row="r1", column="c2", old="117", new="300")])
    assert [offer["answers"] for offer in alternatives(programs, FILMS, gone)] == [["Alien"], ["Heat"]]
    without = Table(["Film"], [["Heat"]], row_ids=["r0"], column_ids=["c0"])
    assert alternatives(programs, FILMS, without) == []
