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
        "header_rows": [list(row) for row in edited.header_rows],
        "columns": [
            {"id": id, "name": name, "number": number}
            for number, (id, name) in enumerate(zip(edited.column_ids, edited.header, strict=True), start=1)
        ],
        "rows": _rows(base, edited),
    }


def in_words(base: Table, operations: Sequence[Operation]) -> list[str]:
    """Each operation as a sentence, about the table as it was before all of them."""
    return [describe(operation, base) for operation in operations]


def _rows(base: Table, edited: Table) -> list[dict[str, Any]]:
    numbers = {id: number for number, id in enumerate(base.row_ids, start=1)}
    kept = set(edited.row_ids)
    old = dict(zip(base.row_ids, base.rows, strict=True))
    same_columns = edited.column_ids == base.column_ids
    drawn_rows = [
        _row(
            id,
            cells,
            edited,
            numbers.get(id),
            old.get(id) if same_columns else None,
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
            row = _row(id, old[id], edited, numbers[id], None, inserted=False)
            drawn_rows.insert(at, {**row, "removed": True})
    return drawn_rows


def _row(
    id: str,
    cells: Sequence[str],
    table: Table,
    number: int | None,
    old: Sequence[str] | None,
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
            {"column": column, "text": text, "old": was, "changed": text != was}
            for column, text, was in zip(table.column_ids, cells, before, strict=True)
        ],
    }
