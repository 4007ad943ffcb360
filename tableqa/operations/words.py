"""Operations in words, for people: the list of changes beside a table, the log, an audit."""

import unicodedata
from collections.abc import Sequence

from tableqa.cells import visible
from tableqa.operations.kinds import (
    InsertColumn,
    InsertRow,
    MaskCells,
    MoveColumn,
    MoveRow,
    Operation,
    RemoveColumn,
    RemoveRow,
    RenameHeader,
    SetCell,
    SplitColumn,
    Transpose,
)
from tableqa.tables import Table

_LONGEST = 60
"""Characters of a text that are shown."""

_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
"""Around text that is written from right to left, so that it does not turn the sentence round (Unicode UAX 9)."""


def describe(operation: Operation, table: Table) -> str:
    """The operation in words, e.g. "Row 3, Votes: 4 becomes 361"; `table` is one that has the rows it speaks of.

    Rows are counted from 1 as on the page; a column is called by its header, or by its number where the header is empty
    or stands over several columns; what the table does not have is called by its id. Long texts are shortened, and a
    change that the eye cannot see is said to be one.
    """
    match operation:
        case SetCell():
            place = f"{_row(table, operation.row)}, {column_name(table, operation.column)}"
            return f"{place}: {_change(operation.old, operation.new)}"
        case RenameHeader():
            return f"Header of {_place(table, operation.column)}: {_change(operation.old, operation.new)}"
        case RemoveRow():
            return f"{_row(table, operation.row)} removed: {_list(operation.old)}"
        case InsertRow():
            return f"New row {_below(table, operation.after)}: {_list(operation.cells)}"
        case MoveRow():
            return f"{_row(table, operation.row)} moved {_below(table, operation.after)}"
        case RemoveColumn():
            return f"{_capital(_numbered(table, operation.column))} removed: {_list(operation.old[1:])}"
        case InsertColumn():
            texts = [operation.header, *operation.cells]
            return f"New column {_beside(table, operation.after)}: {_list(texts)}"
        case MoveColumn():
            return f"{_capital(_numbered(table, operation.column))} moved {_beside(table, operation.after)}"
        case SplitColumn():
            parts = _list([part.header for part in operation.into])
            return f"{_capital(_numbered(table, operation.column))} split into {parts}"
        case MaskCells():
            number = f"{len(operation.cells)} {'cell' if len(operation.cells) == 1 else 'cells'}"
            return f"{number} replaced by {_shown(operation.replacement)}"
        case Transpose():
            return "Rows and columns exchanged"
    raise TypeError(f"{type(operation).__name__} has no description")


def _row(table: Table, row: str) -> str:
    return f"Row {table.row_index(row) + 1}" if row in table.row_ids else f"Row {row}"


def column_name(table: Table, column: str) -> str:
    """What a column is called in a sentence about one of its cells: by its header, if that is the only one."""
    if column not in table.column_ids:
        return f"column {column}"
    name = table.header[table.column_index(column)]
    return _shown(name) if name.strip() and table.header.count(name) == 1 else _place(table, column)


def _numbered(table: Table, column: str) -> str:
    """What a column is called in a sentence about itself: by its number, and its header if it has one."""
    if column not in table.column_ids or not table.cell(table.header_id, column).strip():
        return _place(table, column)
    return f"{_place(table, column)} ({_shown(table.cell(table.header_id, column))})"


def _place(table: Table, column: str) -> str:
    return f"column {table.column_index(column) + 1 if column in table.column_ids else column}"


def _below(table: Table, after: str | None) -> str:
    return "on top" if after is None else f"below {_row(table, after).lower()}"


def _beside(table: Table, after: str | None) -> str:
    return "in front" if after is None else f"after {_numbered(table, after)}"


def _change(old: str, new: str) -> str:
    note = " (they differ only in blanks or invisible characters)" if visible(old) == visible(new) else ""
    return f"{_shown(old)} becomes {_shown(new)}{note}"


def _list(texts: Sequence[str]) -> str:
    if not texts:
        return "(empty)"
    shown = " | ".join(_shown(text) for text in texts[:6])
    return f"{shown} | …" if len(texts) > 6 else shown


def _shown(text: str) -> str:
    if not text:
        return "(empty)"
    if not text.strip():
        return "(blank)"
    line = " ".join(text.split())
    if len(line) > _LONGEST:
        line = line[: _LONGEST - 1] + "…"
    if any(unicodedata.bidirectional(c) in ("R", "AL") for c in line):
        return f"{_ISOLATE}{line}{_END_ISOLATE}"
    return line


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
