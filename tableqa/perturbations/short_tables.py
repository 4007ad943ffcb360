"""Shortening a table to what a question works on: a first cut from its evidence, which a person then corrects.

FREB-TQA (section 3.5, step 1) lets people shorten a table to the rows and columns that the aggregation or comparison
works on. Given the cells that the answer rests on, most of that follows: their rows and columns stay, with what names
them.
"""

import re
from collections.abc import Iterable, Sequence

from tableqa.data.tables import Table
from tableqa.operations import Operation, RemoveColumn, RemoveRow, normalise
from tableqa.programs.evidence import CellRef

_YEAR = re.compile(r"(?:19|20)\d\d")
_AMOUNT = re.compile(r"\d")


def first_cut(table: Table, cells: Iterable[CellRef]) -> list[Operation]:
    """Operations that leave the rows and columns of `cells`, and what names them; [] where nothing would be left out.

    What names them: the first column; rows at the top that hold names and no amounts, as where a header has several
    rows; and above a kept row the nearest line that is a heading (text in its first cell only).
    """
    needed_cells = list(cells)
    if not needed_cells or not table.header:
        return []
    rows = _with_headings(table, {row for row, _ in needed_cells if row in table.row_ids})
    columns = {table.column_ids[0], *(column for _, column in needed_cells)}
    if not rows:
        return []
    operations: list[Operation] = [
        RemoveRow(row=id, at=index, old=table.rows[index])
        for index, id in enumerate(table.row_ids)
        if id not in rows
    ]
    remaining_lines = [line for id, line in zip(table.row_ids, table.rows, strict=True) if id in rows]
    operations += [
        RemoveColumn(
            column=id, at=index, old=(table.header[index], *(line[index] for line in remaining_lines))
        )
        for index, id in enumerate(table.column_ids)
        if id not in columns
    ]
    return normalise(operations, table)


def _with_headings(table: Table, needed_ids: set[str]) -> set[str]:
    if not needed_ids:
        return set()
    lines = list(zip(table.row_ids, table.rows, strict=True))
    remaining_ids = set(needed_ids)
    for id, line in lines:
        if id in needed_ids or not _names(line):
            break
        remaining_ids.add(id)
    heading = None
    for id, line in lines:
        if line[0].strip() and not any(cell.strip() for cell in line[1:]):
            heading = id
        elif id in needed_ids and heading is not None:
            remaining_ids.add(heading)
    return remaining_ids


def _names(line: Sequence[str]) -> bool:
    """Whether a line at the top names columns: years and words, but no amounts."""
    return not any(_AMOUNT.search(_YEAR.sub("", cell)) and len(cell) < 20 for cell in line[1:])
