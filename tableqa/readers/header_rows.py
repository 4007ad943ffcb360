"""Which row of a table is its header, where a person says that it is not the first one."""

import re

from tableqa.core.translation import gettext_noop, phrase
from tableqa.data.tables import HEADER, Span, Table

NONE, FULL = "none", "full"
HEADER_ROWS = {
    "1": gettext_noop("The first row"),
    "2": gettext_noop("The second row"),
    "3": gettext_noop("The third row"),
    FULL: gettext_noop("The first row without an empty cell"),
    NONE: gettext_noop("None: columns get numbers as names"),
}
"""The rows that a page offers; any number can be said."""
_KNOWN = re.compile(rf"[1-9][0-9]?|{NONE}|{FULL}")


def check_header_row(choice: str) -> None:
    """ValueError where a choice is none of `with_header`."""
    if choice and _KNOWN.fullmatch(choice) is None:
        raise ValueError(
            phrase(
                "the header row {choice!r} is unknown; it is a number, {full} (no cell is empty) or {none}",
                choice=choice,
                full=FULL,
                none=NONE,
            )
        )


def with_header(table: Table, choice: str) -> Table:
    """The table with another row as its header; the texts of the rows above become its caption where it has none.

    choice: the number of the row, 1 being the header as it is; "full" for the first row without an empty cell; "none" for
    columns that are called "column 1" and so on; "" for the header as it is. A table without such a row keeps its header.
    """
    rows, own = [*table.header_rows, table.header, *table.rows], len(table.header_rows)
    full = next((at for at in range(own, len(rows)) if all(map(str.strip, rows[at]))), own)
    at = {"": own, NONE: -1, FULL: full}.get(choice, own - 1 + int(choice) if choice.isdigit() else own)
    if at == own or at >= len(rows):
        return table
    header = rows[at] if at >= 0 else [f"column {column + 1}" for column in range(len(table.header))]
    above = " ".join(cell.strip() for row in rows[: max(at, 0)] for cell in row if cell.strip())
    places = {row: index - at for index, row in enumerate(table.all_row_ids)}
    spans = [
        Span(f"r{places[span.row] - 1}" if places[span.row] else HEADER, span.column, span.rows, span.columns)
        for span in table.spans
        if places[span.row] >= 0
    ]
    return Table(header, rows[at + 1 :], table.title, table.caption or above, spans=spans)
