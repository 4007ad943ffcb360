"""A table as templates draw it: with the changes of a response and marked cells, after any operations."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tableqa import Table
from tableqa.cells.columns import holds_numbers
from tableqa.operations import MoveColumn, MoveRow, Operation, SplitColumn, describe, replay
from tableqa.operations.merged_tables import woven
from tasks.contract import Item, TaskType


def sheet(
    task: TaskType, item: Item, data: Mapping[str, Any], operations: Sequence[Operation] = ()
) -> dict[str, Any]:
    """The table of an item on the page where a response to it is made: what it points at, what is chosen so far.

    Raises OperationError as `drawn` does.
    """
    return drawn(
        item.example.table,
        operations,
        marked=pointed_at(task, item),
        choosing=_cells_field(task),
        chosen=chosen_cells(task, data),
    )


def chosen_cells(task: TaskType, data: Mapping[str, Any]) -> list[Sequence[str]]:
    """The cells that a draft or response has marked; a draft may hold anything, and what is no cell is left out."""
    cells = data.get(_cells_field(task), [])
    return [
        cell
        for cell in (cells if isinstance(cells, list) else [])
        if isinstance(cell, list) and len(cell) == 2 and all(isinstance(id, str) for id in cell)
    ]


def _cells_field(task: TaskType) -> str:
    return next((spec.name for spec in task.fields if spec.kind == "cells"), "")


def pointed_at(task: TaskType, item: Item) -> Sequence[Sequence[str]]:
    """The cells that an item points at, as far as it shows them."""
    evidence = item.inputs.get("evidence") if "evidence" in task.shown_names(item) else None
    return evidence.get("cells", ()) if isinstance(evidence, Mapping) else ()


def drawn(
    base: Table,
    operations: Sequence[Operation] = (),
    *,
    marked: Iterable[Sequence[str]] = (),
    choosing: str = "",
    chosen: Iterable[Sequence[str]] = (),
) -> dict[str, Any]:
    """Columns and rows with ids and marks, for annotating/_table.html.

    Old text is beside new; removed rows and columns are in their old positions; inserted, moved, renamed and
    split ones are noted, and columns of numbers are named as such. `marked` are cells that a person points at,
    [row id, column id]. `choosing` names the field in which a person without scripts ticks cells, of which
    `chosen` are ticked; "" where no cells are chosen. After rows and columns were exchanged only the edited table
    is drawn: there is no place for what was.
    Operations that do not replay raise OperationError.
    """
    edited = replay(base, operations) if operations else base
    if edited.header_id != base.header_id:
        base, operations = edited, ()
    columns = _columns(base, edited, operations)
    pointed = {(cell[0], cell[1]) for cell in marked}
    ticked = {(cell[0], cell[1]) for cell in chosen}
    return {
        "title": edited.title,
        "caption": edited.caption,
        "header_rows": [_above(base, edited, index, columns) for index in range(len(edited.header_rows))],
        "columns": [{**column, "marked": (base.header_id, column["id"]) in pointed} for column in columns],
        "rows": _rows(base, edited, operations, columns, pointed, ticked),
        "choosing": choosing,
    }


def in_words(base: Table, operations: Sequence[Operation]) -> list[str]:
    """Each operation as a sentence, about the table as it was before all of them."""
    return [describe(operation, base) for operation in operations]


def _columns(base: Table, edited: Table, operations: Sequence[Operation]) -> list[dict[str, Any]]:
    split = {operation.column for operation in operations if isinstance(operation, SplitColumn)}
    moved = {operation.column for operation in operations if isinstance(operation, MoveColumn)}
    old = dict(zip(base.column_ids, base.header, strict=True))
    new = dict(zip(edited.column_ids, edited.header, strict=True))
    columns = []
    for position, id in enumerate(woven(base.column_ids, edited.column_ids), start=1):
        removed, inserted = id not in new, id not in old
        changed = not removed and not inserted and old[id] != new[id]
        note = "split" if removed and id in split else "removed" if removed else "new" if inserted else ""
        columns.append(
            {
                "id": id,
                "number": position,
                "name": old[id] if removed else new[id],
                "old": old[id] if changed else None,
                "removed": removed,
                "inserted": inserted,
                "changed": changed,
                "note": note or ("moved" if id in moved else ""),
                "numbers": holds_numbers((base if removed else edited).column(id)),
            }
        )
    return columns


def _above(
    base: Table, edited: Table, index: int, columns: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """A further header row, its merged cells as one: [{text, columns}]."""
    texts = dict(zip(base.column_ids, base.header_rows[index], strict=True))
    texts |= dict(zip(edited.column_ids, edited.header_rows[index], strict=True))
    spans = {span.column: span.columns for span in edited.spans if span.row == f"h{index}"}
    cells: list[dict[str, Any]] = []
    span_left = 0  # columns that the merged cell in hand still reaches over; it ends at another column
    for column in columns:
        if span_left and not column["removed"] and not column["inserted"]:
            cells[-1]["columns"] += 1
            span_left -= 1
        else:
            cells.append({"text": texts[column["id"]], "columns": 1})
            span_left = spans.get(column["id"], 1) - 1
    return cells


def _rows(
    base: Table,
    edited: Table,
    operations: Sequence[Operation],
    columns: Sequence[Mapping[str, Any]],
    pointed: Collection[tuple[str, str]],
    ticked: Collection[tuple[str, str]],
) -> list[dict[str, Any]]:
    moved = {operation.row for operation in operations if isinstance(operation, MoveRow)}
    row_numbers = {id: position for position, id in enumerate(base.row_ids, start=1)}
    was = {row: dict(zip(base.column_ids, cells, strict=True)) for row, cells in _by_row(base)}
    now = {row: dict(zip(edited.column_ids, cells, strict=True)) for row, cells in _by_row(edited)}
    merged = _merged(edited)
    rows = []
    for id in woven(base.row_ids, edited.row_ids):
        before, after = was.get(id, {}), now.get(id, {})
        cells = []
        for column in columns:
            name = column["id"]
            text, old = after.get(name, before.get(name, "")), before.get(name)
            changed = name in after and old is not None and old != text
            cells.append(
                {
                    "column": name,
                    "numbers": column["numbers"],
                    "text": text,
                    "old": old if changed else text,
                    "changed": changed,
                    "merged": (id, name) in merged,
                    "removed": column["removed"],
                    "inserted": column["inserted"],
                    "marked": (id, name) in pointed,
                    "chosen": (id, name) in ticked,
                }
            )
        removed, inserted = id not in now, id not in was
        note = "removed" if removed else "moved" if id in moved else ""
        rows.append(
            {
                "id": id,
                "number": row_numbers.get(id),
                "removed": removed,
                "inserted": inserted,
                "note": note,
                "cells": cells,
                "plain": not any(map(_is_special, cells)),
            }
        )
    return rows


_LONG = 220
"""Characters up to which a text is drawn as it is; a longer one is clipped until a person looks at it."""


def _is_special(cell: Mapping[str, Any]) -> bool:
    """Whether there is more to draw than the text; of a table with 40,000 cells nearly none has."""
    return (
        cell["changed"]
        or cell["merged"]
        or cell["removed"]
        or cell["inserted"]
        or cell["marked"]
        or len(cell["text"]) > _LONG
    )


def _by_row(table: Table) -> Iterable[tuple[str, Sequence[str]]]:
    return zip(table.row_ids, table.rows, strict=True)


def _merged(table: Table) -> set[tuple[str, str]]:
    """The cells of the body that were one cell with another in the source."""
    merged_cells: set[tuple[str, str]] = set()
    for span in table.spans:
        if span.row in table.row_ids:
            top, first_column = table.row_index(span.row), table.column_index(span.column)
            rows, columns = (
                table.row_ids[top : top + span.rows],
                table.column_ids[first_column : first_column + span.columns],
            )
            merged_cells.update((row, column) for row in rows for column in columns)
    return merged_cells
