"""Replace a compound column by several. (RobuT 3.1, column extension)"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tableqa import Table
from tableqa.headers import HeaderNames
from tableqa.operations import Operation, OperationError, Part, SplitColumn, replay
from tableqa.splitting import Delimiter, SplitError, Splitting, Way, proposals, split, way_from_dict
from tableqa.tables import MAX_ROWS
from tasks.columns import ColumnKind
from tasks.contract import Context, FormEdit, Invalid, Item, Problem

MOST_TEXT = 2_000_000
"""Characters of the cells that are split at once."""

MOST_ROWS_NAMED = 5


@dataclass(frozen=True)
class Response:
    """Columns that were replaced by several, a cell of every row in each."""

    does_not_apply: bool
    operations: tuple[Operation, ...] = ()


class ColumnExtension(ColumnKind):
    """A column whose cells hold several things is split; the server proposes ways and cuts, a person decides."""

    key = "column_extension"
    title = "Column extension"
    response_type = Response
    perturbation = "extend"
    nothing = "no column of this table holds several things at once."
    shows = ("question", "table", "titles", "answers", "context", "history", "suggestions")
    needs = ("header_names",)
    allowed = ("split_column",)

    def suggest(self, item: Item, context: Context) -> dict[str, Any]:
        """{"columns": {column id: [proposal with "example_of"]}, "missing": [], "preparing": bool}."""
        table = item.example.table
        names = context.header_names if isinstance(context.header_names, HeaderNames) else None
        columns = {
            column: [
                _shown(one.to_dict(), table.column(column))
                for one in proposals(table.column(column), header, names)
            ]
            for column, header in zip(table.column_ids, table.header, strict=True)
        }
        return {"columns": columns, "missing": [], "preparing": bool(context.preparing)}

    def work_out(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Cut {"cells": [text], "way": how, "number": of parts or null}: `Splitting` as JSON, with names for the parts.

        A way that cannot be used, as half a pattern while somebody types it, is answered with its `problem`.
        """
        cells, number = question.get("cells"), question.get("number")
        if (
            not isinstance(cells, list)
            or len(cells) > MAX_ROWS
            or not all(isinstance(cell, str) for cell in cells)
            or sum(map(len, cells)) > MOST_TEXT
        ):
            message = f"Cells are a list of at most {MAX_ROWS} texts of {MOST_TEXT} characters together."
            raise Invalid([Problem("cells", "wrong_type", message)])
        if number is not None and type(number) is not int:
            raise Invalid([Problem("number", "wrong_type", "The number of parts is a number or null.")])
        try:
            splitting = split(cells, way_from_dict(question.get("way")), number)
        except SplitError as error:
            return {"problem": str(error)}
        header = question.get("header")
        return {**splitting.to_dict(), "names": _names(splitting, header if isinstance(header, str) else "")}

    def form_edits(self) -> Mapping[str, FormEdit]:
        return {"split": _split_by_form, "parts": _parts_by_form}

    def judge(self, item: Item, operations: Sequence[Operation]) -> Iterable[Problem]:
        table = item.example.table
        for operation in operations:
            if not isinstance(operation, SplitColumn):
                continue
            if len(operation.into) < 2:
                message = "A column is split into one column. Split it into two or more."
                yield Problem("operations", "one_part", message)
            old = table.column(operation.column) if operation.column in table.column_ids else ()
            lost = [
                str(number)
                for number, (cell, *parts) in enumerate(
                    zip(old, *(part.cells for part in operation.into), strict=False), start=1
                )
                if cell.strip() and not any(part.strip() for part in parts)
            ]
            if lost:
                rows = ", ".join(lost[:MOST_ROWS_NAMED]) + (", …" if len(lost) > MOST_ROWS_NAMED else "")
                message = f"What stood in row {rows} is in none of the new columns. Fill them in."
                yield Problem("operations", "row_lost", message)

    def warnings(self, response: Response, item: Item) -> Sequence[Problem]:
        """New columns that are called by the old name and a number."""
        table = item.example.table
        splits = [operation for operation in response.operations if isinstance(operation, SplitColumn)]
        empty = [
            f"“{part.header}”"
            for operation in splits
            for place, part in enumerate(operation.into, start=1)
            if part.header == f"{_stem(table.header[table.column_index(operation.column)])} {place}"
        ]
        if not empty:
            return ()
        message = f"{', '.join(empty)}: a number does not say what is in a column."
        return (Problem("operations", "name_says_nothing", message, "warning"),)

    def simulate(
        self, item: Item, rng: random.Random, accuracy: float, truth: random.Random
    ) -> dict[str, Any]:
        """Takes the first proposal there is and leaves what does not split whole; a careless person finds none."""
        table = item.example.table
        for column, header in zip(table.column_ids, table.header, strict=True):
            found = proposals(table.column(column), header) if rng.random() <= accuracy else []
            if found:
                splitting = split(table.column(column), found[0].way)
                try:
                    operation = _operation(
                        table, column, found[0].names, _columns(splitting, table.column(column))
                    )
                    response = {"does_not_apply": False, "operations": [operation.to_dict()]}
                    self.parse(response, item)
                except Invalid:
                    continue
                return response
        return {"does_not_apply": True, "operations": []}


def _shown(proposal: dict[str, Any], cells: Sequence[str]) -> dict[str, Any]:
    """A proposal with the cell that its example is of."""
    way = way_from_dict(proposal["by"])
    whole = next((cell for cell in cells if way.parts(cell) == tuple(proposal["example"])), "")
    return {**proposal, "example_of": whole}


def _names(splitting: Splitting, header: str) -> list[str]:
    """What the parts are called to begin with: by the way they were cut, else by the header and a number."""
    given: Sequence[str] = () if isinstance(splitting.way, Delimiter) else splitting.way.names
    stem = _stem(header)
    return [
        given[place] if place < len(given) and given[place] else f"{stem} {place + 1}"
        for place in range(splitting.number)
    ]


def _stem(header: str) -> str:
    return header.strip() or "Part"


def _columns(splitting: Splitting, cells: Sequence[str]) -> list[list[str]]:
    """The new columns; a cell that did not split stands whole in the first."""
    columns = [list(column) for column in splitting.columns()]
    for place in splitting.unsplit:
        columns[0][place] = cells[place]
    return columns


def _operation(
    table: Table,
    column: str,
    names: Sequence[str],
    columns: Sequence[Sequence[str]],
    taken: Iterable[str] = (),
) -> SplitColumn:
    used = {*table.column_ids, *table.row_ids, *taken}
    free = (name for name in (f"n{number}" for number in range(1, 100_000)) if name not in used)
    parts = [
        Part(column=next(free), header=name, cells=tuple(cells))
        for name, cells in zip(names, columns, strict=True)
    ]
    return SplitColumn(column=column, into=tuple(parts))


# -- the form without scripts -----------------------------------------------------------------------


def _split_by_form(post: Mapping[str, str], item: Item, operations: list[Operation]) -> list[Operation]:
    """Split the chosen column; the new columns can then be edited as texts, a cell a line."""
    table = replay(item.example.table, operations)
    column = post.get("column", "")
    if column not in table.column_ids:
        raise OperationError("unknown_column", "Choose a column of the table.")
    text = post.get("text", "")
    try:
        way: Way = way_from_dict({"by": post.get("by", "delimiter"), "text": text})
        splitting = split(table.column(column), way)
    except SplitError as error:
        raise OperationError("bad_operation", str(error)) from None
    if splitting.number < 2:
        raise OperationError("bad_operation", "No cell splits in this way.")
    wanted = [line.strip() for line in post.get("names", "").splitlines() if line.strip()]
    names = _names(splitting, table.header[table.column_index(column)])
    names = [*wanted[: len(names)], *names[len(wanted) :]]
    made = {part.column for one in operations if isinstance(one, SplitColumn) for part in one.into}
    return [*operations, _operation(table, column, names, _columns(splitting, table.column(column)), made)]


def _parts_by_form(post: Mapping[str, str], item: Item, operations: list[Operation]) -> list[Operation]:
    """Names and cells of new columns as they were written: `name-ID`, and `cells-ID` with one cell a line."""
    edited: list[Operation] = []
    for operation in operations:
        if not isinstance(operation, SplitColumn):
            edited.append(operation)
            continue
        parts = []
        for part in operation.into:
            cells = part.cells
            if (written := post.get(f"cells-{part.column}")) is not None:
                lines = written.replace("\r\n", "\n").split("\n")
                if len(lines) != len(cells):
                    message = f"“{part.header}” has {len(lines)} lines for {len(cells)} rows. Write one cell a line."
                    raise OperationError("bad_operation", message)
                cells = tuple(line.strip() for line in lines)
            parts.append(
                Part(column=part.column, header=post.get(f"name-{part.column}", part.header), cells=cells)
            )
        edited.append(SplitColumn(column=operation.column, into=tuple(parts)))
    return edited


task = ColumnExtension()
