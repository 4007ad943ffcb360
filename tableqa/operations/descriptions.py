"""Operations in words, for people: the list of changes beside a table, the log, an audit."""

import unicodedata
from collections.abc import Sequence

from tableqa.cells import visible
from tableqa.core.translation import gettext, ngettext
from tableqa.data.tables import Table
from tableqa.operations.edit_types import (
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

_LONGEST = 60
"""Characters of a text that are shown."""

_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
"""Around text that is written from right to left, so that it does not turn the sentence round (Unicode UAX 9)."""


def describe(operation: Operation, table: Table) -> str:
    """The operation in words, e.g. "Row 3, Votes: 4 becomes 361"; `table` is one with its rows.

    Rows are counted from 1 as on the page; a column is called by its header, or by its number where the header is empty
    or is over several columns; what the table does not have is called by its id. Long texts are shortened, and a
    change that the eye cannot see is said to be one.
    """
    match operation:
        case SetCell():
            location = f"{_row(table, operation.row)}, {column_name(table, operation.column)}"
            return f"{location}: {_change(operation.old, operation.new)}"
        case RenameHeader():
            return gettext("Header of {column}: {change}").format(
                column=_column_label(table, operation.column), change=_change(operation.old, operation.new)
            )
        case RemoveRow():
            return _removal_text(_row(table, operation.row), operation.old)
        case InsertRow():
            return gettext("New row {place}: {texts}").format(
                place=_below(table, operation.after), texts=_list(operation.cells)
            )
        case MoveRow():
            return _move_text(_row(table, operation.row), _below(table, operation.after))
        case RemoveColumn():
            return _removal_text(_capital(_numbered(table, operation.column)), operation.old[1:])
        case InsertColumn():
            texts = [operation.header, *operation.cells]
            return gettext("New column {place}: {texts}").format(
                place=_beside(table, operation.after), texts=_list(texts)
            )
        case MoveColumn():
            return _move_text(_capital(_numbered(table, operation.column)), _beside(table, operation.after))
        case SplitColumn():
            return gettext("{column} split into {parts}").format(
                column=_capital(_numbered(table, operation.column)),
                parts=_list([part.header for part in operation.into]),
            )
        case MaskCells():
            count = len(operation.cells)
            return ngettext(
                "{number} cell replaced by {text}", "{number} cells replaced by {text}", count
            ).format(number=count, text=_shorten(operation.replacement))
        case Transpose():
            return gettext("Rows and columns exchanged")
    raise TypeError(f"{type(operation).__name__} has no description")


def _row(table: Table, row: str) -> str:
    return gettext("Row {row}").format(row=_number_of(table, row))


def _number_of(table: Table, row: str) -> int | str:
    return table.row_index(row) + 1 if table.has_row(row) else row


def _removal_text(what: str, texts: Sequence[str]) -> str:
    return gettext("{what} removed: {texts}").format(what=what, texts=_list(texts))


def _move_text(what: str, destination: str) -> str:
    return gettext("{what} moved {place}").format(what=what, place=destination)


def column_name(table: Table, column: str) -> str:
    """What a column is called in a sentence about one of its cells: by its header, if that is the only one."""
    if column not in table.column_ids:
        return _column_label(table, column)
    name = table.header[table.column_index(column)]
    return _shorten(name) if name.strip() and table.header.count(name) == 1 else _column_label(table, column)


def _numbered(table: Table, column: str) -> str:
    """What a column is called in a sentence about itself: by its number, and its header if it has one."""
    if column not in table.column_ids or not table.cell(table.header_id, column).strip():
        return _column_label(table, column)
    return f"{_column_label(table, column)} ({_shorten(table.cell(table.header_id, column))})"


def _column_label(table: Table, column: str) -> str:
    position = table.column_index(column) + 1 if column in table.column_ids else column
    return gettext("column {column}").format(column=position)


def _below(table: Table, after: str | None) -> str:
    if after is None:
        return gettext("on top")
    return gettext("below row {row}").format(row=_number_of(table, after))


def _beside(table: Table, after: str | None) -> str:
    if after is None:
        return gettext("in front")
    return gettext("after {column}").format(column=_numbered(table, after))


def _change(old: str, new: str) -> str:
    note = ""
    if visible(old) == visible(new):
        note = gettext(" (only whitespace or invisible characters differ)")
    return gettext("{old} becomes {new}{note}").format(old=_shorten(old), new=_shorten(new), note=note)


def _list(texts: Sequence[str]) -> str:
    if not texts:
        return gettext("(empty)")
    joined_texts = " | ".join(_shorten(text) for text in texts[:6])
    return f"{joined_texts} | …" if len(texts) > 6 else joined_texts


def _shorten(text: str) -> str:
    if not text:
        return gettext("(empty)")
    if not text.strip():
        return gettext("(whitespace)")
    line = " ".join(text.split())
    if len(line) > _LONGEST:
        line = line[: _LONGEST - 1] + "…"
    if any(unicodedata.bidirectional(c) in ("R", "AL") for c in line):
        return f"{_ISOLATE}{line}{_END_ISOLATE}"
    return line


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
