"""Split a compound column into several."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from tableqa import Table
from tableqa.core.translation import gettext, gettext_noop, ngettext
from tableqa.data.tables import MAX_ROWS
from tableqa.operations import Operation, OperationError, Part, SplitColumn, replay
from tableqa.perturbations.headers import HeaderNames
from tableqa.perturbations.splitting import (
    ColumnSplit,
    Delimiter,
    SplitError,
    Way,
    header_stem,
    lost_words,
    part_names,
    proposals,
    split,
    untraceable_words,
    way_from_dict,
)
from tasks.contract import (
    LINE_END,
    Context,
    FormEdit,
    GenerationRequest,
    InvalidResponse,
    Item,
    Problem,
    ProposedResponse,
    as_lines,
)
from tasks.shared.column_edits import ColumnRemovalTask, RemovalResponse, answer_cells, plain, rows_in_words
from tasks.shared.column_prompts import (
    column_of,
    column_reference,
    invalid_reply,
    read_text,
    require_fields,
    table_text,
)

MOST_WAYS = 2
"""Ways to split one column that become proposals."""
MOST_ROWS = 40
"""Rows of a table that a language model is asked to split; it has to write every cell."""
MOST_TEXT = 2_000_000
"""Characters of the cells that are split at once."""


class ColumnExtension(ColumnRemovalTask):
    """A column whose cells hold several things is split; the server proposes ways and cuts, a person decides."""

    key = "column_extension"
    version = 2
    title = gettext_noop("Column extension")
    step = "edit"
    paper = "RobuT (ACL 2023) § 3.1"
    instruction = gettext_noop("Split one column into two or more")
    perturbation = "extend"
    nothing = gettext_noop("no column of this table contains several values per cell.")
    needs = ("header_names",)
    settings = {
        "foreign_parts": {
            "enum": ["require", "warn", "ignore"],
            "default": "require",
            "title": gettext_noop("Parts not in the old cell"),
            "description": gettext_noop(
                "What happens if a new cell contains words or numbers from elsewhere and no reason is given."
            ),
        },
        **ColumnRemovalTask.settings,
    }
    allowed = ("split_column",)
    doubts_to_confirm = ("part_foreign", "answer_gone")

    def suggest(self, item: Item, context: Context) -> dict[str, Any]:
        """{"columns": {column id: [proposal with "example_of"]}, "missing": [], "preparing": bool}."""
        table = item.example.table
        names = context.header_names if isinstance(context.header_names, HeaderNames) else None
        columns = {
            column: [
                _proposal_data(proposal.to_dict(), table.column(column))
                for proposal in proposals(table.column(column), header, names)
            ]
            for column, header in zip(table.column_ids, table.header, strict=True)
        }
        return {"columns": columns, "missing": [], "preparing": bool(context.preparing)}

    def propose(self, item: Item, context: Context) -> Iterator[ProposedResponse]:
        """Each column that splits, by the best ways to split it; what does not split stands whole in the first part."""
        table = item.example.table
        names = context.header_names if isinstance(context.header_names, HeaderNames) else None
        for column, header in zip(table.column_ids, table.header, strict=True):
            cells = table.column(column)
            for index, proposal in enumerate(proposals(cells, header, names)[:MOST_WAYS]):
                operation = _split_operation(
                    table, column, proposal.names, _columns(split(cells, proposal.way), cells)
                )
                data = self.response_data([operation])
                why = f"{proposal.words}: {proposal.splits} of {proposal.of} cells split"
                score = proposal.splits / max(1, proposal.of) / (index + 1)
                yield ProposedResponse(data, self.perturbation, "splitting", why, score)

    def generation_requests(self, item: Item) -> Sequence[GenerationRequest]:
        if len(item.example.table.rows) > MOST_ROWS:
            return []
        what = (
            "Split one column of this table whose cells hold several things into several columns. Use only what stands "
            "in the cells, give every new column a telling name, and write one list of cells for every row, in order."
        )
        form = (
            '{"column": {"number": 1, "name": "its name"}, "names": ["first part", "second part"], '
            '"cells": [["first part of row 1", "second part of row 1"]]}'
        )
        return [GenerationRequest(self.perturbation, what, form)]

    def render(self, item: Item) -> str:
        return table_text(item.example.table, MOST_ROWS)

    def as_demonstration(
        self, response: RemovalResponse, request: GenerationRequest, item: Item
    ) -> Mapping[str, Any] | None:
        splits = [operation for operation in response.operations if isinstance(operation, SplitColumn)]
        if len(splits) != 1 or len(item.example.table.rows) > MOST_ROWS or response.reason:
            return None
        (operation,) = splits
        return {
            "column": column_reference(item.example.table, operation.column),
            "names": [part.header for part in operation.into],
            "cells": [list(cells) for cells in zip(*(part.cells for part in operation.into), strict=True)],
        }

    def parse_reply(
        self, reply: Mapping[str, Any], request: GenerationRequest, item: Item
    ) -> Mapping[str, Any]:
        require_fields(reply, {"column", "names", "cells"})
        table = item.example.table
        column = column_of(reply["column"], table, "column")
        if not isinstance(reply["names"], list) or len(reply["names"]) < 2:
            raise invalid_reply("names", "A column is split into two or more.")
        names = [read_text(name, f"names.{index}") for index, name in enumerate(reply["names"])]
        rows = reply["cells"]
        if not isinstance(rows, list) or len(rows) != len(table.rows):
            raise invalid_reply(
                "cells", f"There is one list of cells for each of the {len(table.rows)} rows."
            )
        for index, row in enumerate(rows):
            if (
                not isinstance(row, list)
                or len(row) != len(names)
                or not all(isinstance(cell, str) for cell in row)
            ):
                raise invalid_reply(f"cells.{index}", f"A row has {len(names)} texts.")
        columns = [[row[index] for row in rows] for index in range(len(names))]
        operation = _split_operation(table, column, names, columns)
        return self.response_data([operation])

    def compute(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Cut {"cells": [text], "way": how, "number": of parts or null}: `ColumnSplit` as JSON, with names for the parts.

        A way that cannot be used, as half a pattern while a person types it, is answered with its `problem`.
        """
        cells, part_count = question.get("cells"), question.get("number")
        if (
            not isinstance(cells, list)
            or len(cells) > MAX_ROWS
            or not all(isinstance(cell, str) for cell in cells)
            or sum(map(len, cells)) > MOST_TEXT
        ):
            message = gettext(
                "Cells must be a list of at most {max_rows} texts, {most_text} characters in total."
            ).format(max_rows=MAX_ROWS, most_text=MOST_TEXT)
            raise InvalidResponse.of("cells", "wrong_type", message)
        if part_count is not None and type(part_count) is not int:
            message = gettext("The number of parts must be a number or null.")
            raise InvalidResponse.of("number", "wrong_type", message)
        try:
            splitting = split(cells, way_from_dict(question.get("way")), part_count)
        except SplitError as error:
            return {"problem": str(error)}
        header = question.get("header")
        return {
            **splitting.to_dict(),
            "names": _part_names(splitting, header if isinstance(header, str) else ""),
        }

    def form_edits(self) -> Mapping[str, FormEdit]:
        return {"split": _split_by_form, "parts": _parts_by_form}

    def judge(self, item: Item, operations: Sequence[Operation]) -> Iterable[Problem]:
        table = item.example.table
        for operation in operations:
            if not isinstance(operation, SplitColumn):
                continue
            if len(operation.into) < 2:
                message = gettext("The column has only one part. Split it into two or more.")
                yield Problem("operations", "one_part", message)
        for column, parts in _parts_by_column(table, operations).items():
            empty = [
                row_number
                for row_number, (cell, *cells) in enumerate(_rows(table, column, parts), start=1)
                if cell.strip() and not any(text.strip() for text in cells)
            ]
            if empty:
                message = gettext("The content of {rows_named} is in none of the new columns. Fill it in.")
                yield Problem("operations", "row_lost", message.format(rows_named=rows_in_words(empty)))

    def feedback(
        self, item: Item, response: RemovalResponse, expected: RemovalResponse
    ) -> tuple[bool | None, list[str]]:
        """The columns to split have to be the expected ones; how they are cut and called nobody can tell here."""
        right, lines = super().feedback(item, response, expected)
        if right and response.operations != expected.operations:
            return None, [gettext("One way to do it:"), *self.describe(expected, item)]
        return right, lines

    def upgrade(self, data: Mapping[str, Any], from_version: int) -> Mapping[str, Any]:
        """Version 1 knew no reasons."""
        return {**data, "reason": ""}

    def doubts(self, response: RemovalResponse, item: Item) -> Iterator[Problem]:
        """What a split adds or leaves out; and new columns that are called by the old name and a number."""
        table = item.example.table
        splits = _parts_by_column(table, response.operations)
        if not response.reason:
            for column, parts in splits.items():
                yield from self._foreign_parts(item, _rows(table, column, parts))
                yield from self._lost_text(item, column, _rows(table, column, parts))
        empty = [
            f"“{part.header}”"
            for column, parts in splits.items()
            for part_number, part in enumerate(parts, start=1)
            if part.header == f"{header_stem(table.header[table.column_index(column)])} {part_number}"
        ]
        if empty:
            message = gettext("{empty}: give the column a meaningful name, not a number.").format(
                empty=", ".join(empty)
            )
            yield Problem("operations", "name_says_nothing", message, "warning")

    def _foreign_parts(self, item: Item, rows: Iterable[tuple[str, ...]]) -> Iterator[Problem]:
        rule = item.settings.get("foreign_parts", "require")
        if rule == "ignore":
            return
        foreign_parts = [
            (row_number, part, cell)
            for row_number, (cell, *parts) in enumerate(rows, start=1)
            for part in parts
            if untraceable_words(part, cell)
        ]
        if foreign_parts:
            row_number, part, cell = foreign_parts[0]
            more = len({at for at, *_ in foreign_parts}) - 1
            also = (
                ngettext(" The same in {more} more row.", " The same in {more} more rows.", more).format(
                    more=more
                )
                if more
                else ""
            )
            message = gettext(
                "Row {place}: “{short}” is not in “{short_2}”.{also} Use text of the old cell, or "
                "give a reason."
            ).format(place=row_number, short=_short(part), short_2=_short(cell), also=also)
            yield Problem("operations", "part_foreign", message, "error" if rule == "require" else "warning")

    def _lost_text(self, item: Item, column: str, rows: Iterable[tuple[str, ...]]) -> Iterator[Problem]:
        table, rule = item.example.table, self.answer_rule(item)
        read = self.read_by_program(item)
        answers = [plain(answer) for answer in item.example.answers if plain(answer)]
        source_cells = set().union(*answer_cells(table, tuple(item.example.answers)).values(), read)
        gone: list[tuple[int, str]] = []
        others: list[int] = []
        for row_number, (row, (cell, *parts)) in enumerate(zip(table.row_ids, rows, strict=True), start=1):
            missing = lost_words(cell, parts)
            if not missing:
                continue
            within = any(
                answer in plain(cell) and not lost_words(answer, (cell,)) and lost_words(answer, parts)
                for answer in answers
            )
            if (row, column) in source_cells or within:
                gone.append((row_number, ", ".join(missing)))
            else:
                others.append(row_number)
        if gone and rule != "ignore":
            row_number, text = gone[0]
            message = gettext(
                "The answer comes from row {place}, but “{short}” is in none of the new columns. Add "
                "it, or explain how to find the answer."
            ).format(place=row_number, short=_short(text))
            yield Problem("operations", "answer_gone", message, "error" if rule == "require" else "warning")
        if others:
            message = gettext(
                "Part of {rows_named} is in none of the new columns. Check that it is not needed."
            ).format(rows_named=rows_in_words(others))
            yield Problem("operations", "words_lost", message, "warning")

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> dict[str, Any]:
        """Takes the first proposal there is and leaves what does not split whole; a careless person finds none."""
        table = item.example.table
        for column, header in zip(table.column_ids, table.header, strict=True):
            candidates = proposals(table.column(column), header) if rng.random() <= accuracy else []
            if candidates:
                splitting = split(table.column(column), candidates[0].way)
                try:
                    operation = _split_operation(
                        table, column, candidates[0].names, _columns(splitting, table.column(column))
                    )
                    response = self.response_data([operation])
                    self.parse(response, item)
                except InvalidResponse:
                    continue
                return response
        return self.response_data([])


def _proposal_data(proposal: dict[str, Any], cells: Sequence[str]) -> dict[str, Any]:
    """A proposal with the cell that its example is of."""
    way = way_from_dict(proposal["by"])
    whole = next((cell for cell in cells if way.parts(cell) == tuple(proposal["example"])), "")
    return {**proposal, "example_of": whole}


def _part_names(splitting: ColumnSplit, header: str) -> list[str]:
    """What the parts are called to begin with: by a template or pattern with names, else by header and contents."""
    template_names = () if isinstance(splitting.way, Delimiter) else splitting.way.names
    return list(part_names(splitting, header, template_names))


def _parts_by_column(table: Table, operations: Iterable[Operation]) -> dict[str, list[Part]]:
    """For each column that is split the new ones that are in its place, of a part that is split again its parts."""
    parts_by_column: dict[str, list[Part]] = {}
    for operation in operations:
        if not isinstance(operation, SplitColumn):
            continue
        if operation.column in table.column_ids:
            parts_by_column[operation.column] = list(operation.into)
        for column, parts in parts_by_column.items():
            parts_by_column[column] = [
                new
                for part in parts
                for new in (operation.into if part.column == operation.column else (part,))
            ]
    return parts_by_column


def _rows(table: Table, column: str, parts: Sequence[Part]) -> Iterator[tuple[str, ...]]:
    """The old cell of every row with the new ones."""
    return zip(table.column(column), *(part.cells for part in parts), strict=True)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:59] + "…"


def _columns(splitting: ColumnSplit, cells: Sequence[str]) -> list[list[str]]:
    """The new columns; a cell that did not split stands whole in the first."""
    columns = [list(column) for column in splitting.columns()]
    for index in splitting.unsplit:
        columns[0][index] = cells[index]
    return columns


def _split_operation(
    table: Table,
    column: str,
    names: Sequence[str],
    columns: Sequence[Sequence[str]],
    reserved_ids: Iterable[str] = (),
) -> SplitColumn:
    used = {*table.column_ids, *table.row_ids, *reserved_ids}
    free = (name for name in (f"n{suffix}" for suffix in range(1, 100_000)) if name not in used)
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
        raise OperationError("unknown_column", gettext("Choose a column of the table."))
    text = post.get("text", "")
    try:
        way: Way = way_from_dict({"by": post.get("by", "delimiter"), "text": text})
        splitting = split(table.column(column), way)
    except SplitError as error:
        raise OperationError("bad_operation", str(error)) from None
    if splitting.number < 2:
        raise OperationError("bad_operation", gettext("No cell can be split this way."))
    entered_names = [line.strip() for line in post.get("names", "").splitlines() if line.strip()]
    names = _part_names(splitting, table.header[table.column_index(column)])
    names = [*entered_names[: len(names)], *names[len(entered_names) :]]
    part_ids = {
        part.column
        for operation in operations
        if isinstance(operation, SplitColumn)
        for part in operation.into
    }
    return [
        *operations,
        _split_operation(table, column, names, _columns(splitting, table.column(column)), part_ids),
    ]


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
                *lines, last = map(str.strip, LINE_END.split(written))
                lines += [last] if last else []
                if len(lines) != len(cells):
                    message = ngettext(
                        "“{header}” has {number} line for {number_2} rows. Write one cell per line.",
                        "“{header}” has {number} lines for {number_2} rows. Write one cell per line.",
                        len(lines),
                    ).format(header=part.header, number=len(lines), number_2=len(cells))
                    raise OperationError("bad_operation", message)
                pairs = zip(cells, lines, strict=True)
                cells = tuple(cell if line == as_lines([cell]).strip() else line for cell, line in pairs)
            parts.append(
                Part(column=part.column, header=post.get(f"name-{part.column}", part.header), cells=cells)
            )
        edited.append(SplitColumn(column=operation.column, into=tuple(parts)))
    return edited


task = ColumnExtension()
