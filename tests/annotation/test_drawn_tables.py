"""A table as a page without scripts draws it: every change is seen and heard, and nothing is lost of what was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.template.loader import render_to_string
from hypothesis import given

from annotation.web.views.tables import drawn, sheet
from tableqa import Example, Table
from tableqa.data.tables import Span
from tableqa.operations import (
    InsertColumn,
    InsertRow,
    MoveRow,
    Operation,
    RemoveColumn,
    RemoveRow,
    RenameHeader,
    SetCell,
    SplitColumn,
    Transpose,
    from_dict,
    normalise,
    replay,
)
from tasks.contract import Field, Item, TaskType
from tests.tableqa.strategies import edits

FILMS = Table(
    header=["Film", "Year", "Minutes"],
    rows=[["Heat", "1995", "170"], ["Alien", "1979", "117"], ["Stalker", "1979", "162"]],
)


def rendered(table: Table, *operations: Operation, **more: Any) -> str:
    return render_to_string("annotating/_table.html", {"table": drawn(table, operations, **more)})


def column(table: Table, id: str) -> tuple[str, ...]:
    return (table.cell("h", id), *table.column(id))


@given(edits())
def test_what_is_drawn_without_what_was_removed_is_the_edited_table(
    given: tuple[Table, Sequence[Operation]],
) -> None:
    table, operations = given
    edited = replay(table, operations)
    picture = drawn(table, operations)
    columns = [column for column in picture["columns"] if not column["removed"]]
    assert [column["name"] for column in columns] == list(edited.header)
    assert [
        [cell["text"] for cell in row["cells"] if not cell["removed"]]
        for row in picture["rows"]
        if not row["removed"]
    ] == [list(row) for row in edited.rows]
    assert all(len(row["cells"]) == len(picture["columns"]) for row in picture["rows"])
    for line in picture["header_rows"]:
        assert sum(cell["columns"] for cell in line) == len(picture["columns"])


def test_a_removed_column_stands_where_it_stood_and_is_said_to_be_removed() -> None:
    page = rendered(FILMS, RemoveColumn(column="c1", old=column(FILMS, "c1")))
    head = page[page.index("<thead>") : page.index("</thead>")]
    assert head.index("Film") < head.index("Year") < head.index("Minutes")
    assert "<span>Year</span><small>removed</small>" in head
    assert page.count('class="n removed"') == page.count('data-column="c1"') == 4


def test_a_renamed_column_shows_and_says_the_old_name() -> None:
    page = rendered(FILMS, RenameHeader(column="c2", old="Minutes", new="Length"))
    assert '<del><span class="sr">was </span>Minutes</del><ins>Length</ins>' in page


def test_an_inserted_column_is_said_to_be_new() -> None:
    new = InsertColumn(column="n1", after="c0", header="Country", cells=("US", "US", "USSR"))
    assert "<span>Country</span><small>new</small>" in rendered(FILMS, new)


def test_a_split_column_stays_beside_its_parts() -> None:
    dates = Table(["When", "Who"], [["May 1995", "Heat"]])
    part = (
        {"column": "n1", "header": "Month", "cells": ["May"]},
        {"column": "n2", "header": "Year", "cells": ["1995"]},
    )
    split = from_dict({"op": "split_column", "column": "c0", "into": list(part)})
    assert isinstance(split, SplitColumn)
    names = [(one["name"], one["note"]) for one in drawn(dates, [split])["columns"]]
    assert names == [("When", "split"), ("Month", "new"), ("Year", "new"), ("Who", "")]


def test_a_removed_row_and_a_removed_column_are_both_drawn() -> None:
    operations = normalise(
        [RemoveRow(row="r1", old=FILMS.rows[1]), RemoveColumn(column="c2", old=("Minutes", "170", "162"))],
        FILMS,
    )
    rows = drawn(FILMS, operations)["rows"]
    assert [row["removed"] for row in rows] == [False, True, False]
    assert [cell["text"] for cell in rows[1]["cells"]] == ["Alien", "1979", "117"]
    assert [cell["removed"] for cell in rows[0]["cells"]] == [False, False, True]


def test_a_row_that_was_moved_says_so() -> None:
    rows = drawn(FILMS, [MoveRow(row="r2", after=None)])["rows"]
    assert [(row["number"], row["note"]) for row in rows] == [(3, "moved"), (1, ""), (2, "")]


def test_after_an_exchange_of_rows_and_columns_the_new_table_stands_alone() -> None:
    picture = drawn(FILMS, [Transpose()])
    assert [one["name"] for one in picture["columns"]] == ["Film", "Heat", "Alien", "Stalker"]
    assert not any(row["removed"] for row in picture["rows"])


def test_marked_cells_are_marked_for_the_eye_and_for_the_ear() -> None:
    page = rendered(FILMS, marked=[["r0", "c2"], ["h", "c2"]])
    assert (
        '<td data-column="c2" dir="auto" class="n evidence"><span class="sr">marked: </span>170</td>' in page
    )
    assert '<span class="sr">marked: </span><span>Minutes</span>' in page


def test_columns_of_numbers_are_named_so_that_they_can_be_set_flush_right() -> None:
    table = Table(
        ["Film", "Gross", "Note"], [["Heat", "$1,234.5", "12"], ["Alien", "(9.9)", "x"], ["8", "", "-"]]
    )
    assert [column["numbers"] for column in drawn(table)["columns"]] == [False, True, False]
    page = rendered(table)
    assert page.count('data-column="c1" dir="auto" class="n"') == 4
    assert page.count('class="n"') == 4


def test_a_merged_header_cell_ends_where_a_column_is_put_between() -> None:
    table = Table(
        ["a", "b", "c"],
        [["1", "2", "3"]],
        header_rows=[["over both", "", "alone"]],
        spans=[Span("h0", "c0", 1, 2)],
    )
    assert drawn(table)["header_rows"] == [
        [{"text": "over both", "columns": 2}, {"text": "alone", "columns": 1}]
    ]
    new = InsertColumn(column="n1", after="c0", header="x", cells=("9",))
    assert [cell["columns"] for cell in drawn(table, [new])["header_rows"][0]] == [1, 1, 1, 1]


def test_an_emptied_cell_is_not_just_nothing() -> None:
    page = rendered(FILMS, SetCell(row="r0", column="c2", old="170", new=""))
    assert '<ins class="emptied">empty</ins>' in page


def test_a_new_row_is_called_new() -> None:
    page = rendered(FILMS, InsertRow(row="n1", after="r0", cells=("Ran", "1985", "162")))
    assert '<tr data-row="n1" class="inserted"><th class="number" scope="row">new</th>' in page


class MarkingTask(TaskType):
    """As much of a kind as `sheet` looks at."""

    key, title, making = "marking", "MarkingTask", False
    fields = (Field("spots", "cells"),)
    shows = ("table", "evidence")

    def parse(self, data: object, item: Item) -> Any:
        raise NotImplementedError

    resolve = describe = simulate = parse  # type: ignore[assignment]


def test_cells_are_ticked_under_the_name_of_their_field() -> None:
    item = Item(Example("a", "q", FILMS, ["1"]), inputs={"evidence": {"cells": [["r0", "c0"]]}})
    picture = sheet(MarkingTask(), item, {"spots": [["r1", "c1"], "x", ["r2"], [1, 2]]})
    page = render_to_string("annotating/_table.html", {"table": picture})
    assert page.count('type="checkbox" name="spots"') == 9
    assert page.count(" checked") == 1
    assert 'value="r1/c1" checked' in page
    assert page.count("marked: ") == 1


@pytest.mark.parametrize("cells", [None, 7, "r1/c1", {"r1": 1}, [[["r1"], "c1"]]])
def test_a_draft_that_holds_anything_ticks_nothing(cells: Any) -> None:
    picture = sheet(MarkingTask(), Item(Example("a", "q", FILMS, ["1"])), {"spots": cells})
    assert not any(cell["chosen"] for row in picture["rows"] for cell in row["cells"])
