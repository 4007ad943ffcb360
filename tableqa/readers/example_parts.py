"""The parts of an example made of the fields of a record: table, marked cells, turns and context, each checked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any

from tableqa.core.foreign_values import NUMBER, unstorable_part
from tableqa.core.translation import joined, phrase, reason_of
from tableqa.data.examples import Context, Example, ExampleError, Turn
from tableqa.data.tables import HEADER, MAX_TEXT, Table, TableError
from tableqa.readers.interface import ReaderError, check_cells, check_size
from tableqa.readers.json_values import cell_text, kind
from tableqa.readers.reading_options import offering
from tableqa.readers.record_fields import Fields, Location, with_reading_option
from tableqa.readers.report import in_record


def table_of(
    location: Location, header: object, rows: object, title: str = "", caption: str = "", **more: Any
) -> Table:
    """The table of a record: lists of texts, in which numbers are taken as they are written; ReaderError."""
    names = _cells(location, header, 0)
    if not isinstance(rows, list):
        mend = phrase("Give a list of rows")
        raise location.error(phrase("the rows are {kind}, not a list", kind=kind(rows)), mend)
    try:
        check_size(location.file, location.line, len(rows), len(names))
    except ReaderError as error:
        raise location.error(error.what, error.mend, error.command) from None
    if set(map(type, rows)) <= {list} and _are_short_texts(chain.from_iterable(rows)):
        body: list[list[str]] = rows  # as nearly every table
    else:
        body = [_cells(location, row, i + 1) for i, row in enumerate(rows)]
    try:
        return Table(names, body, title=title, caption=caption, **more)
    except TableError as error:
        mend = phrase("Correct the table or remove the record")
        raise _as_storable(location.error(reason_of(error), mend), [names, *body]) from error


def named_table(location: Location, fields: Fields) -> tuple[Table, dict[str, Any], dict[str, Any]]:
    """The table of an object with "header" and "rows", its name as `context` of meta, and its other fields; ReaderError."""
    context = {"context": fields.text("name")} if "name" in fields.value else {}
    others = fields.rest(*(name for name in fields.value if name not in ("header", "rows", "name")))
    return table_of(location, fields.required("header"), fields.required("rows")), context, others


def _are_short_texts(cells: Iterable[Any]) -> bool:
    """Whether all cells together are texts of no more characters than one of them may have."""
    with suppress(TypeError):
        return len("".join(cells)) <= MAX_TEXT
    return False


def _row_name(row_number: int) -> str:
    return phrase("row {number}", number=row_number) if row_number else phrase("the header")


def _cells(location: Location, row: object, row_number: int) -> list[str]:
    """The cells of a row of this number; 0 is the header."""
    if not isinstance(row, list):
        what = phrase("{where} is {kind}, not a list", where=_row_name(row_number), kind=kind(row))
        raise location.error(what, phrase("Give a list of texts"))
    # Nearly all rows hold texts alone.
    cells: list[str] = row if set(map(type, row)) <= {str} else _as_texts(location, row, row_number)
    try:
        check_cells(location.file, location.line, cells)
    except ReaderError as error:
        raise location.error(joined([_row_name(row_number), error.what], by=", "), error.mend) from None
    return cells


def _as_texts(location: Location, row: list[Any], row_number: int) -> list[str]:
    cells = []
    for j, cell in enumerate(row):
        text = cell_text(cell)
        if text is None:
            values = {"where": _row_name(row_number), "column": j + 1, "kind": kind(cell)}
            what = phrase("{where}, column {column} is {kind}, not a text", **values)
            error = location.error(what, phrase('Write every cell as a text; an empty one is ""'))
            raise with_reading_option(error, cell)
        cells.append(text)
    return cells


def cell_at(location: Location, table: Table, row: int, column: int) -> list[str]:
    """[row id, column id] of a cell by its places, counted from 0; row -1 is the header. ReaderError if there is none."""
    rows, columns = table.shape
    if not (-1 <= row < rows and 0 <= column < columns):
        what = phrase(
            "a marked cell lies outside the table: row {row} below the header, column {column}",
            row=row,
            column=column,
        )
        mend = phrase(
            "Correct it: there are {rows} rows below the header and {columns} columns, counted from 0",
            rows=rows,
            columns=columns,
        )
        raise location.error(what, mend)
    return [table.header_id if row == -1 else table.row_ids[row], table.column_ids[column]]


def marked_cells(location: Location, table: Table, name: str, value: object) -> list[list[str]]:
    """Marked cells that are given by their ids, [[row id, column id], ...], each checked; ReaderError."""
    mend = phrase(
        'Mark cells by their ids: ["r0", "c0"] is the first one below the header, "{header}" the header row',
        header=HEADER,
    )
    if not isinstance(value, list):
        raise location.error(phrase("{name} is {kind}, not a list", name=name, kind=kind(value)), mend)
    for i, cell in enumerate(value):
        if not isinstance(cell, list) or len(cell) != 2 or not all(isinstance(part, str) for part in cell):
            what = phrase("{name}[{i}] is not a pair of a row id and a column id", name=name, i=i)
            raise location.error(what, mend)
        if cell[0] not in table.all_row_ids or cell[1] not in table.column_ids:
            values = {"name": name, "i": i, "row": cell[0], "column": cell[1]}
            what = phrase("{name}[{i}] is {row}/{column}, which the table does not have", **values)
            raise location.error(what, mend)
    return value


def example(
    location: Location,
    id: str,
    question: str,
    table: Table,
    answers: Sequence[str],
    meta: Mapping[str, Any] | None = None,
    program: Mapping[str, Any] | None = None,
    context: Context | None = None,
    history: list[Turn] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Example:
    """An Example, or the ReaderError that names the place of what cannot be one. columns: of its parts, for a report."""
    with _errors_located(location, [id, question, answers, meta]):
        new_example = Example(id, question, table, answers, meta, program, context, history or [])
    in_record(location.line, id, columns)
    return new_example


def turn_of(location: Location, question: str, answers: list[str]) -> Turn:
    """A Turn, or the ReaderError that names the place of what cannot be one."""
    with _errors_located(location):
        return Turn(question, answers)


def passage_of(value: object) -> str | None:
    """The text of a field of a passage: a text, or a list of texts as its paragraphs; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(text, str) for text in value):
        return "\n\n".join(value)
    return None


def context_of(location: Location, text: str = "", unit: str = "", scale: str = "") -> Context | None:
    """A Context, or None where there is nothing in it; ReaderError."""
    if not (text or unit or scale):
        return None
    with _errors_located(location):
        return Context(text, unit, scale)


@contextmanager
def _errors_located(location: Location, parts: object = None) -> Iterator[None]:
    """What cannot be a part of an example, as the ReaderError that names its place."""
    try:
        yield
    except ExampleError as error:
        raise _as_storable(
            location.error(reason_of(error), phrase("Correct the field or remove the record")), parts
        ) from error


def _as_storable(error: ReaderError, value: object) -> ReaderError:
    reason = unstorable_part(value)
    way = ("numbers", "stored") if reason is NUMBER else ("characters", "replaced")
    return offering(error, *way) if reason else error
