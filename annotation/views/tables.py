"""A table as templates draw it: with the changes of a response marked, whatever the operations were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tableqa import Table
from tableqa.operations import Operation, describe, replay


def drawn(base: Table, operations: Sequence[Operation] = ()) -> dict[str, Any]:
    """Columns and rows with ids and marks: old text beside new, removed rows in their place, inserted ones marked.

    Operations that do not replay raise OperationError.
    """
    edited = replay(base, operations) if operations else base
    return {
        "title": edited.title,
        "caption": edited.caption,
        "header_rows": [_above(edited, number) for number in range(len(edited.header_rows))],
        "columns": [
            {"id": id, "name": name, "number": number}
            for number, (id, name) in enumerate(zip(edited.column_ids, edited.header, strict=True), start=1)
        ],
        "rows": _rows(base, edited),
    }


def _above(table: Table, number: int) -> list[dict[str, Any]]:
    """A further header row, its merged cells as one: [{text, columns}]."""
    spans = {span.column: span.columns for span in table.spans if span.row == f"h{number}"}
    cells, index = [], 0
    while index < len(table.header):
        columns = spans.get(table.column_ids[index], 1)
        cells.append({"text": table.header_rows[number][index], "columns": columns})
        index += columns
    return cells


def in_words(base: Table, operations: Sequence[Operation]) -> list[str]:
    """Each operation as a sentence, about the table as it was before all of them."""
    return [describe(operation, base) for operation in operations]


def _rows(base: Table, edited: Table) -> list[dict[str, Any]]:
    numbers = {id: number for number, id in enumerate(base.row_ids, start=1)}
    kept = set(edited.row_ids)
    old = dict(zip(base.row_ids, base.rows, strict=True))
    same_columns = edited.column_ids == base.column_ids
    merged = _merged(edited)
    drawn_rows = [
        _row(
            id,
            cells,
            edited,
            numbers.get(id),
            old.get(id) if same_columns else None,
            merged,
            inserted=id not in numbers,
        )
        for id, cells in zip(edited.row_ids, edited.rows, strict=True)
    ]
    if not same_columns:
        return drawn_rows
    # A removed row stands where it stood: behind the row that was above it, if that one is still there.
    for place, id in enumerate(base.row_ids):
        if id not in kept:
            above = base.row_ids[place - 1] if place else None
            at = next((i + 1 for i, row in enumerate(drawn_rows) if row["id"] == above), 0)
            row = _row(id, old[id], edited, numbers[id], None, merged, inserted=False)
            drawn_rows.insert(at, {**row, "removed": True})
    return drawn_rows


def _row(
    id: str,
    cells: Sequence[str],
    table: Table,
    number: int | None,
    old: Sequence[str] | None,
    merged: set[tuple[str, str]],
    *,
    inserted: bool,
) -> dict[str, Any]:
    before = cells if old is None else old
    return {
        "id": id,
        "number": number,
        "removed": False,
        "inserted": inserted,
        "cells": [
            {
                "column": column,
                "text": text,
                "old": was,
                "changed": text != was,
                "merged": (id, column) in merged,
            }
            for column, text, was in zip(table.column_ids, cells, before, strict=True)
        ],
    }


def _merged(table: Table) -> set[tuple[str, str]]:
    """The cells of the body that were one cell with another in the source."""
    found: set[tuple[str, str]] = set()
    for span in table.spans:
        if span.row in table.row_ids:
            top, left = table.row_index(span.row), table.column_index(span.column)
            rows, columns = table.row_ids[top : top + span.rows], table.column_ids[left : left + span.columns]
            found.update((row, column) for row in rows for column in columns)
    return found
