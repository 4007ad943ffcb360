"""Variants of one table in a single one: each is read back, and what they share stands there once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Table
from tableqa.operations import (
    InsertColumn,
    InsertRow,
    MoveRow,
    RemoveColumn,
    RemoveRow,
    RenameHeader,
    SetCell,
    Transpose,
    from_list,
    replay,
)
from tableqa.operations.merged_tables import Cells, Line, MergedTable, merge
from tests.tableqa.strategies import edits, tables

KINDS = (
    *(
        "set_cell",
        "rename_header",
        "mask_cells",
        "remove_row",
        "remove_column",
        "insert_row",
        "insert_column",
    ),
    *("move_row", "move_column", "split_column"),
)
VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "merged.json").read_text("utf-8"))["cases"]
FILMS = Table(["Film", "Year"], [["Heat", "1995"], ["Alien", "1979"], ["Ran", "1985"]])


def merged(*variants: list[Any], base: Table = FILMS) -> MergedTable:
    result = merge(base, [replay(base, operations) for operations in variants])
    assert result is not None
    return result


def read_back(merged: MergedTable, number: int) -> Table:
    """The header, further header rows and rows of a variant, as the merged table shows them."""
    columns = _order_in(merged.columns, number)

    def texts(cells: Cells) -> list[str]:
        return [_text(cells, column, number) for column in columns]

    return Table(
        header=texts(merged.header),
        rows=[texts(merged.cells[row]) for row in _order_in(merged.rows, number)],
        header_rows=[texts(line) for line in merged.above],
    )


def _text(cells: Cells, column: int, number: int) -> str:
    changed = cells.changes.get(column)
    text = cells.texts[column] if changed is None else changed[number]
    return cells.texts[column] if text is None else text


def _order_in(lines: Sequence[Line], number: int) -> list[int]:
    places = [(place, at) for at, line in enumerate(lines) if (place := line.places[number]) is not None]
    return [at for _, at in sorted(places)]


@st.composite
def variants_of(draw: st.DrawFn) -> tuple[Table, list[Table]]:
    """A table and up to three edits of it that exchange no rows and columns. Ids of new lines repeat between them."""
    base = draw(tables)
    edited = edits(st.just(base), KINDS)
    return base, [replay(base, draw(edited)[1]) for _ in range(draw(st.integers(1, 3)))]


@given(variants_of())
def test_every_variant_and_the_base_are_read_back_from_the_merged_table(
    drawn: tuple[Table, list[Table]],
) -> None:
    base, variants = drawn
    result = merge(base, variants)
    assert result is not None
    for number, variant in enumerate(variants):
        back = read_back(result, number)
        assert (back.header, back.rows, back.header_rows) == (
            variant.header,
            variant.rows,
            variant.header_rows,
        )
    rows = sorted((row.base, at) for at, row in enumerate(result.rows) if row.base is not None)
    columns = sorted((column.base, at) for at, column in enumerate(result.columns) if column.base is not None)
    assert tuple(result.header.texts[at] for _, at in columns) == base.header
    assert tuple(tuple(result.cells[row].texts[at] for _, at in columns) for _, row in rows) == base.rows


@given(variants_of())
def test_unchanged_variants_leave_nothing_marked_and_ids_are_unique(
    drawn: tuple[Table, list[Table]],
) -> None:
    base, variants = drawn
    same = merge(base, [base for _ in variants])
    assert same is not None
    assert all(line.stays for line in (*same.rows, *same.columns))
    assert not any(cells.changes for cells in (*same.above, same.header, *same.cells))
    result = merge(base, variants)
    assert result is not None
    for lines in (result.rows, result.columns):
        assert len({line.id for line in lines}) == len(lines)


def test_a_cell_holds_the_text_of_each_variant() -> None:
    result = merged(
        [SetCell(row="r0", column="c1", old="1995", new="1996")],
        [SetCell(row="r0", column="c1", old="1995", new="2006")],
    )
    assert result.cells[0].texts == ("Heat", "1995")
    assert result.cells[0].changes == {1: ("1996", "2006")}
    assert [result.has_changes(row) for row in range(3)] == [True, False, False]


def test_a_header_is_renamed_and_no_row_is_changed_by_that() -> None:
    result = merged([RenameHeader(column="c0", old="Film", new="Movie")], [])
    assert result.header.changes == {0: ("Movie", "Film")}
    assert not any(result.has_changes(row) for row in range(3))


def test_removed_lines_keep_their_place_and_say_who_removed_them() -> None:
    result = merged(
        [RemoveRow(row="r1", old=("Alien", "1979"))],
        [RemoveColumn(column="c0", old=("Film", "Heat", "Alien", "Ran"))],
    )
    assert [(row.id, row.removed) for row in result.rows] == [("r0", ()), ("r1", (0,)), ("r2", ())]
    assert [(column.id, column.removed) for column in result.columns] == [("c0", (1,)), ("c1", ())]


def test_equal_new_rows_are_one_and_different_ones_with_the_same_id_are_two() -> None:
    jaws = InsertRow(row="n1", after="r0", cells=("Jaws", "1975"))
    kes = InsertRow(row="n1", after="r0", cells=("Kes", "1969"))
    both = merged([jaws], [jaws])
    assert [(row.id, row.inserted) for row in both.rows][1] == ("0:n1", (0, 1))
    assert both.cells[1].texts == ("Jaws", "1975")
    apart = merged([jaws], [kes])
    assert [(row.id, row.inserted) for row in apart.rows if row.base is None] == [
        ("1:n1", (1,)),
        ("0:n1", (0,)),
    ]


def test_a_new_column_stands_behind_the_one_it_follows_in_its_variant() -> None:
    result = merged(
        [], [InsertColumn(column="n2", after="c0", header="Minutes", cells=("170", "117", "162"))]
    )
    assert [column.id for column in result.columns] == ["c0", "1:n2", "c1"]
    assert result.header.texts == ("Film", "Minutes", "Year")
    assert [cells.texts[1] for cells in result.cells] == ["170", "117", "162"]
    assert not any(result.has_changes(row) for row in range(3))


def test_the_order_is_that_of_the_variants_where_they_agree() -> None:
    up = MoveRow(row="r2", after=None)
    assert [row.id for row in merged([up]).rows] == ["r2", "r0", "r1"]
    assert [row.id for row in merged([up], [up]).rows] == ["r2", "r0", "r1"]
    apart = merged([up], [])
    assert [row.id for row in apart.rows] == ["r0", "r1", "r2"]
    assert [row.moved for row in apart.rows] == [(), (), (0,)]


def test_exchanged_rows_and_columns_cannot_be_merged() -> None:
    assert merge(FILMS, [replay(FILMS, [Transpose()]), FILMS]) is None


def as_data(result: MergedTable | None) -> dict[str, Any] | None:
    """A merged table as JSON, as the vectors hold it; `changes` as [place, texts] pairs."""

    def line(each: Line) -> dict[str, Any]:
        return {
            "id": each.id,
            "base": each.base,
            "places": list(each.places),
            "moved": list(each.moved),
            "removed": list(each.removed),
            "inserted": list(each.inserted),
        }

    def cells(each: Cells) -> dict[str, Any]:
        return {
            "texts": list(each.texts),
            "changes": [[at, list(texts)] for at, texts in sorted(each.changes.items())],
        }

    if result is None:
        return None
    return {
        "columns": list(map(line, result.columns)),
        "rows": list(map(line, result.rows)),
        "above": list(map(cells, result.above)),
        "header": cells(result.header),
        "cells": list(map(cells, result.cells)),
        "changed": [result.has_changes(row) for row in range(len(result.rows))],
    }


@pytest.mark.parametrize("case", VECTORS, ids=[case["name"] for case in VECTORS])
def test_merged_tables_are_those_of_the_vectors(case: dict[str, Any]) -> None:
    base = Table.from_dict(case["table"])
    variants = [replay(base, from_list(operations)) for operations in case["variants"]]
    assert as_data(merge(base, variants)) == case["merged"]
