"""Column extension: nothing of any row is lost, and the server cuts what a person asks it to cut."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.operations import from_dict
from tasks.column_extension.task import task
from tasks.contract import Context, InvalidResponse, Item, Surroundings

TABLE = Table(
    ["Venue", "Year"], [["Oslo, Norway", "1999"], ["Rome, Italy", "2001"], ["unknown", "2002"], ["", "2003"]]
)
ITEM = Item(Example(id="nu-1", question="where?", table=TABLE, answers=["Oslo, Norway"]))
COMMA = {"by": "delimiter", "text": ", ", "at": "every"}


def split(*columns: list[str], names: tuple[str, ...] = ("City", "Country")) -> dict[str, Any]:
    parts = [
        {"column": f"n{n}", "header": name, "cells": cells}
        for n, (name, cells) in enumerate(zip(names, columns, strict=True), start=1)
    ]
    return {"does_not_apply": False, "operations": [{"op": "split_column", "column": "c0", "into": parts}]}


CITIES, COUNTRIES = ["Oslo", "Rome", "unknown", ""], ["Norway", "Italy", "", ""]


def codes(raw: dict[str, Any], item: Item = ITEM) -> list[str]:
    with pytest.raises(InvalidResponse) as invalid:
        task.parse(raw, item)
    return [problem.code for problem in invalid.value.problems]


def test_a_split_stands_where_the_column_stood() -> None:
    perturbed = task.perturb(ITEM, task.parse(split(CITIES, COUNTRIES), ITEM))
    assert perturbed is not None
    assert perturbed.example.table.header == ("City", "Country", "Year")
    assert perturbed.example.table.rows[0] == ("Oslo", "Norway", "1999")
    assert perturbed.example.answers == ("Oslo, Norway",)


def test_what_stood_in_a_row_is_somewhere_afterwards() -> None:
    assert codes(split(["Oslo", "Rome", "", ""], COUNTRIES)) == ["row_lost"]
    assert task.parse(split(CITIES, COUNTRIES), ITEM), "an empty cell may stay empty"


def test_every_row_has_a_cell_in_every_new_column() -> None:
    assert codes(split(CITIES[:2], COUNTRIES[:2])) == ["bad_operation"]


def test_new_columns_have_names_of_their_own() -> None:
    assert codes(split(CITIES, COUNTRIES, names=("City", "city"))) == ["header_repeats", "header_repeats"]
    assert codes(split(CITIES, COUNTRIES, names=("City", "Year"))) == ["header_repeats"]
    assert task.parse(split(CITIES, COUNTRIES, names=("Venue", "Country")), ITEM), "the old name is free"


def test_a_number_is_no_name_and_is_pointed_out() -> None:
    [problem] = task.warnings(task.parse(split(CITIES, COUNTRIES, names=("Venue 1", "Country")), ITEM), ITEM)
    assert (problem.code, problem.level) == ("name_says_nothing", "warning")
    assert "“Venue 1”" in problem.message
    assert task.warnings(task.parse(split(CITIES, COUNTRIES), ITEM), ITEM) == ()


def test_the_server_cuts_and_names_what_did_not_split() -> None:
    answer = task.compute(
        {"cells": list(TABLE.column("c0")), "way": COMMA, "number": None, "header": "Venue"}
    )
    assert answer["number"] == 2
    assert answer["cuts"][0] == {"parts": ["Oslo", "Norway"]}
    assert answer["unsplit"] == [2]
    assert answer["names"] == ["City", "Country"]
    named = task.compute({"cells": ["Oslo, Norway"], "way": {"by": "template", "text": "{City}, {Country}"}})
    assert named["names"] == ["City", "Country"]


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"cells": "Oslo", "way": COMMA},
        {"cells": [1], "way": COMMA},
        {"cells": ["x"] * 20_001, "way": COMMA},
        {"cells": ["x" * 2_000_001], "way": COMMA},
        {"cells": ["x"], "way": COMMA, "number": "two"},
        {"cells": ["x"], "way": COMMA, "number": True},
    ],
)
def test_a_question_of_another_form_is_refused(question: dict[str, Any]) -> None:
    with pytest.raises(InvalidResponse):
        task.compute(question)


@pytest.mark.parametrize(
    "way", [None, {}, {"by": "magic"}, {"by": "pattern", "text": "(a"}, {"by": "delimiter", "text": ""}]
)
def test_a_way_that_cannot_be_used_is_answered_with_what_is_wrong(way: Any) -> None:
    assert set(task.compute({"cells": ["x"], "way": way})) == {"problem"}


def test_no_pattern_keeps_the_server_busy() -> None:
    began = time.process_time()
    evil = {"by": "pattern", "text": "((a+)+)+(b)"}
    task.compute({"cells": ["a" * 2_000] * 200, "way": evil})
    assert time.process_time() - began < 2, "a backtracking engine would not end before the sun does"


def test_proposals_come_with_a_cell_and_what_it_becomes() -> None:
    table = Table(["Venue", "Year"], [*TABLE.rows[:2], ("Lima, Peru", "2002"), ("Cairo, Egypt", "2003")])
    suggested = task.suggest(Item(Example(id="x", question="?", table=table, answers=["x"])), Context())
    [proposal] = suggested["columns"]["c0"]
    assert proposal["by"] == COMMA
    assert (proposal["example_of"], proposal["example"]) == ("Oslo, Norway", ["Oslo", "Norway"])
    assert suggested["columns"]["c1"] == []


texts = st.text(st.sampled_from("ab, -"), max_size=8)


@given(st.lists(texts, min_size=1, max_size=6), st.sampled_from([", ", "-", " "]))
def test_what_the_server_cuts_can_be_submitted(cells: list[str], text: str) -> None:
    item = Item(Example(id="x", question="?", table=Table(["A"], [[cell] for cell in cells]), answers=["x"]))
    answer = task.compute({"cells": cells, "way": {"by": "delimiter", "text": text}, "header": "A"})
    if answer["number"] < 2:
        return
    columns = [
        [cut["parts"][part] if "parts" in cut else "" for cut in answer["cuts"]]
        for part in range(answer["number"])
    ]
    for row in answer["unsplit"]:
        columns[0][row] = cells[row]
    into = [
        {"column": f"n{n}", "header": name, "cells": column}
        for n, (name, column) in enumerate(zip(answer["names"], columns, strict=True), start=1)
    ]
    raw = {"does_not_apply": False, "operations": [{"op": "split_column", "column": "c0", "into": into}]}
    if any(cell.strip() and not any(column[row] for column in columns) for row, cell in enumerate(cells)):
        assert codes(raw, item) == ["row_lost"], "a cell that is nothing but delimiters has no part"
    else:
        assert task.parse(raw, item).operations


# -- the answer stays, and nothing new is told -------------------------------------------------------

OTHER = Item(Example(id="nu-2", question="when was it in rome?", table=TABLE, answers=["2001"]))


def because(raw: dict[str, Any], reason: str = "It is in the source.") -> dict[str, Any]:
    return {**raw, "reason": reason}


def test_a_part_that_the_old_cell_does_not_hold_needs_a_reason() -> None:
    raw = split(["Bergen", "Rome", "unknown", ""], COUNTRIES)
    assert codes(raw, OTHER) == ["part_foreign"]
    assert codes(split(CITIES, ["Norway", "Italy", "", "Peru"]), OTHER) == ["part_foreign"]
    response = task.parse(because(raw), OTHER)
    assert response.reason == "It is in the source."
    assert "Reason: It is in the source." in task.describe(response, OTHER)
    [own] = task.export("askew", OTHER, response, task.perturb(OTHER, response))
    assert own.record["reason"] == "It is in the source."


def test_the_message_names_the_first_row_and_how_many_more() -> None:
    with pytest.raises(InvalidResponse) as invalid:
        task.parse(split(["Bergen", "Milan", "unknown", ""], COUNTRIES), OTHER)
    [problem] = invalid.value.problems
    assert problem.message == (
        "Row 1: “Bergen” is not in “Oslo, Norway”. The same in 1 more row. "
        "Use text of the old cell, or give a reason."
    )


def test_an_answer_that_was_a_whole_cell_can_still_be_put_together() -> None:
    assert task.parse(split(CITIES, COUNTRIES), ITEM), "Oslo and Norway are both there"
    short = split(CITIES, ["", "Italy", "", ""])
    assert codes(short) == ["answer_gone"]
    assert task.parse(because(short, "Everybody knows where Oslo is."), ITEM)
    assert [one.code for one in task.warnings(task.parse(short, OTHER), OTHER)] == ["words_lost"]


def test_a_cell_that_the_program_of_the_answer_reads_keeps_its_words() -> None:
    program = {"op": "cell", "row": "r0", "column": "c0"}
    known = Example(id="x", question="where?", table=TABLE, answers=["Oslo, Norway"], program=program)
    assert codes(split(CITIES, ["", "Italy", "", ""]), Item(known)) == ["answer_gone"]


def test_a_batch_may_ask_for_less() -> None:
    item = Item(ITEM.example, settings={"foreign_parts": "warn", "answer_cells": "warn"})
    raw = split(["Bergen", "Rome", "unknown", ""], COUNTRIES)
    found = [(one.code, one.level) for one in task.warnings(task.parse(raw, item), item)]
    assert found == [("part_foreign", "warning"), ("answer_gone", "warning")]
    freely = Item(ITEM.example, settings={"foreign_parts": "ignore", "answer_cells": "ignore"})
    assert task.warnings(task.parse(raw, freely), freely) == ()


def test_a_part_that_is_split_again_is_held_against_the_cell_of_the_source() -> None:
    first = split(CITIES, COUNTRIES)["operations"][0]
    again = {
        "op": "split_column",
        "column": "n2",
        "into": [
            {"column": "n3", "header": "Land", "cells": COUNTRIES},
            {"column": "n4", "header": "Continent", "cells": ["Europe", "", "", ""]},
        ],
    }
    assert codes({"does_not_apply": False, "operations": [first, again]}) == ["part_foreign"]


def test_what_an_older_version_stored_is_read() -> None:
    stored = {"does_not_apply": True, "operations": []}
    envelope = {"type": "column_extension", "variant": "", "version": 1, "base": ITEM.base, "data": stored}
    assert task.read(envelope, ITEM).reason == ""


def test_practice_looks_at_the_column_and_judges_no_name() -> None:
    expected = task.parse(split(CITIES, COUNTRIES), ITEM)
    assert task.feedback(ITEM, expected, expected)[0]
    right, words = task.feedback(
        ITEM, task.parse(split(CITIES, COUNTRIES, names=("Zq", "Banana")), ITEM), expected
    )
    assert right is None
    assert "City" in words[-1]
    nothing = task.parse({"does_not_apply": True, "operations": []}, ITEM)
    assert task.feedback(ITEM, nothing, expected)[0] is False


def test_a_cell_of_the_answer_is_not_taken_to_pieces() -> None:
    table = Table(["Name", "Year"], [["Ann", "1999"], ["Bob", "2001"], ["Cy", "2002"]])
    item = Item(Example(id="nu-2", question="who?", table=table, answers=["Bob"]))
    raw = split(["A", "B", "C"], ["nn", "ob", "y"], names=("First", "Rest"))
    assert codes(raw, item) == ["answer_gone"]
    said = task.parse({**raw, "reason": "The letters of the name side by side."}, item)
    assert said.reason


def test_a_number_of_another_cell_is_not_taken_for_the_answer() -> None:
    table = Table(["Match", "Won"], [["Oslo 12 (late)", "0"], ["Rome 7", "1"]])
    item = Item(Example(id="nu-3", question="how many?", table=table, answers=["1"]))
    raw = split(["Oslo", "Rome"], ["12", "7"], names=("Town", "Day"))
    found = [(one.code, one.level) for one in task.warnings(task.parse(raw, item), item)]
    assert found == [("words_lost", "warning")]


def test_a_cell_that_the_source_names_is_not_taken_to_pieces() -> None:
    """FeTaQA's highlights, where no program says how the answer follows."""
    table = Table(["Name", "Seat"], [["Ann", "12 (left)"], ["Bob", "7 (right)"]])
    example = Example("nu-4", "?", table, ["She sat there."], meta={"highlighted_cells": [["r0", "c1"]]})
    item = Item(example, inputs=task.prepare(example, Surroundings()).inputs)
    raw = split(["12", "7"], ["", ""], names=("Number", "Side"))
    raw["operations"][0]["column"] = "c1"
    assert codes(raw, item) == ["answer_gone"]
    whole = split(["12", "7"], ["left", "right"], names=("Number", "Side"))
    whole["operations"][0]["column"] = "c1"
    assert task.parse(whole, item).operations


def test_without_scripts_a_cell_with_a_line_break_stays_one_cell() -> None:
    data = split(["New\nYork", "Rome", "unknown", ""], ["US", "Italy", "", ""])
    operations = [from_dict(each) for each in data["operations"]]
    assignment = {**task.page_data(ITEM), "loop": None}
    context = {"task": task, "data": data, "item": ITEM, "assignment": assignment, "changes": []}
    context |= dict.fromkeys(("batch", "found", "seen", "suggested", "table"))
    page = render_to_string("column_extension/form.html", context)
    fields = dict(re.findall(r'<textarea name="(cells-n.)".*?>\n(.*?)</textarea>', page, re.DOTALL))
    post = {name: text.replace("\n", "\r\n") for name, text in fields.items()}
    assert task.form_edits()["parts"](post, ITEM, operations) == operations
    post["cells-n1"] = post["cells-n1"].replace("Rome", "Roma")
    [edited] = task.form_edits()["parts"](post, ITEM, operations)
    assert edited.to_dict()["into"][0]["cells"] == ["New\nYork", "Roma", "unknown", ""]
