"""WikiSQL (Zhong, Xiong and Socher, 2017): questions with a logical form, and their tables in a second file.

Beside dev.jsonl lies dev.tables.jsonl, one table a line, as the release packs them. The files hold no answers: an
answer is what the logical form gives on the table, and running it is not reading.
"""

from codecs import BOM_UTF8
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tableqa.examples import Example
from tableqa.readers.reader import ReaderError, at_most, cannot_open, only_file, read_lines
from tableqa.readers.records import (
    MAX_RECORD_BYTES,
    Fields,
    Place,
    example,
    fields_of,
    has_fields,
    read_records,
    table_of,
    text_of,
)
from tableqa.readers.table_files import CACHED_CELLS
from tableqa.tables import Table

AGGREGATIONS = ("", "MAX", "MIN", "COUNT", "SUM", "AVG")
"""What `agg` counts; "" is no aggregation."""
OPERATORS = ("=", ">", "<", "OP")
"""What the second number of a condition counts; the release never uses the last."""

_PLACES = ("*.jsonl", "*/*.jsonl")
_TABLES_META = ("types", "page_title", "section_title", "caption", "name", "page_id")


class WikiSql:
    """The reader "wikisql"; see `tableqa.readers.reader.Reader`.

    The id of an example is `table_id-n`, n counting the table's questions in the file from 1: the source has none.
    answers is empty. meta holds "sql" as {"sel", "agg", "conds": [[column, operator, value], ...]}, "phase",
    "table_id", and what the source says of the table, "types" among it. A cell that is a number stays as it is
    written.
    """

    name = "wikisql"
    title = "WikiSQL"
    licence = "BSD-3-Clause"
    citation = (
        "Victor Zhong, Caiming Xiong and Richard Socher. 2017. Seq2SQL: Generating Structured Queries from Natural "
        "Language using Reinforcement Learning. arXiv:1709.00103."
    )
    url = "https://github.com/salesforce/WikiSQL"
    beside = "the file of the tables, for example dev.tables.jsonl"

    def __call__(
        self, path: str | Path, tables: str | Path | None = None, limit: int | None = None
    ) -> Iterator[Example]:
        """The questions of the .jsonl at `path` in its order, with their tables; ReaderError at the first fault."""
        return at_most(self._examples(*_located(path, tables)), limit)

    def _examples(self, questions: Path, tables_file: Path) -> Iterator[Example]:
        tables = _Tables(tables_file)
        asked: dict[str, int] = {}
        for record in read_records(questions):
            fields = record.fields
            table_id = fields.name("table_id")
            asked[table_id] = asked.get(table_id, 0) + 1
            table, about = tables.table(table_id, fields.place)
            meta = {
                "sql": _sql(fields.nested("sql"), table),
                **fields.rest("phase"),
                "table_id": table_id,
                **about,
            }
            example_id = f"{table_id}-{asked[table_id]}"
            yield example(fields.place, example_id, fields.text("question"), table, [], meta)

    def files(self, path: str | Path, tables: str | Path | None = None) -> Iterator[Path]:
        """The file of the questions and the file of the tables; ReaderError as for reading."""
        yield from _located(path, tables)


def _located(path: str | Path, tables: str | Path | None) -> tuple[Path, Path]:
    path = Path(path)
    mend = "Name one file of questions, for example dev.jsonl"
    questions = (
        only_file(path, _PLACES, lambda file: has_fields(file, "table_id", "sql"), mend)
        if path.is_dir()
        else path
    )
    if tables is not None and Path(tables).is_file():
        return questions, Path(tables)
    folder = questions.absolute().parent if tables is None else Path(tables)
    name = f"{questions.stem}.tables.jsonl"
    within = [folder, *sorted(inner for inner in folder.glob("*") if inner.is_dir())]
    if named := [
        inner / name for inner in within[: 1 if tables is None else None] if (inner / name).is_file()
    ]:
        return questions, named[0]
    mend = f"Give the file of the tables, {name}: its folder (--tables DIR) or, on the page, a zip archive with it"
    if tables is None:
        raise ReaderError(questions, None, f"there is no {name} beside it", mend)
    # In an archive the one file of tables may have any name.
    return questions, only_file(folder, _PLACES, lambda file: has_fields(file, "id", "header", "rows"), mend)


def _sql(sql: Fields, table: Table) -> dict[str, Any]:
    """The logical form, its columns, aggregation and operators checked; ReaderError."""
    columns = table.shape[1]
    selected, aggregation = sql.integer("sel"), sql.integer("agg")
    if not 0 <= selected < columns:
        raise sql.error("sel", f"is {selected}", f"The table has {columns} columns, counted from 0")
    if not 0 <= aggregation < len(AGGREGATIONS):
        raise sql.error("agg", f"is {aggregation}", f"It is a number from 0 to {len(AGGREGATIONS) - 1}")
    conditions = sql.listed("conds")
    for i, condition in enumerate(conditions):
        if not _is_condition(condition, columns):
            mend = f"It is [column, operator, value]: a column of {columns}, an operator from 0 to 3, a text or number"
            raise sql.error(f"conds[{i}]", "is no condition on this table", mend)
    return {**sql.rest("conds"), "sel": selected, "agg": aggregation}


def _is_condition(condition: object, columns: int) -> bool:
    if not isinstance(condition, list) or len(condition) != 3:
        return False
    column, operator, value = condition
    return (
        type(column) is int
        and 0 <= column < columns
        and type(operator) is int
        and 0 <= operator < len(OPERATORS)
        and text_of(value) is not None
    )


class _Tables:
    """The tables of a file by their ids. Where each line starts is kept, and some tables; not the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = dict(_index(path))
        self._kept: OrderedDict[str, tuple[Table, dict[str, Any]]] = OrderedDict()
        self._cells = 0

    def table(self, table_id: str, place: Place) -> tuple[Table, dict[str, Any]]:
        """The table that the question at `place` names, and what its source says of it; ReaderError."""
        if table_id in self._kept:
            self._kept.move_to_end(table_id)
            return self._kept[table_id]
        if table_id not in self._lines:
            mend = "Give the file of tables that belongs to these questions"
            raise place.error(f"the table {table_id} is not in {self._path}", mend)
        found = self._kept[table_id] = self._read(*self._lines[table_id])
        self._cells += _size(found[0])
        while self._cells > CACHED_CELLS and len(self._kept) > 1:
            self._cells -= _size(self._kept.popitem(last=False)[1][0])
        return found

    def _read(self, line: int, offset: int) -> tuple[Table, dict[str, Any]]:
        with self._path.open("rb") as file:
            file.seek(offset)
            text = file.readline().decode("utf-8")
        fields = fields_of(Place(self._path, line), text)
        title = fields.text("page_title", default="")
        caption = fields.text("caption", default="") or fields.text("section_title", default="")
        header, rows = fields.required("header"), fields.required("rows")
        return table_of(fields.place, header, rows, title, caption), fields.rest(*_TABLES_META)


def _index(path: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """The id of each table with its line and where that starts in the file; ReaderError."""
    lines: dict[str, int] = {}
    offset = len(BOM_UTF8) if _starts_with_mark(path) else 0
    for line, text in read_lines(path, longest=MAX_RECORD_BYTES, keep_ends=True):
        if text.strip():
            fields = fields_of(Place(path, line), text)
            table_id = fields.name("id")
            if table_id in lines:
                mend = "Take one of the two tables out"
                raise fields.error("id", f"is {table_id}, as in line {lines[table_id]}", mend)
            lines[table_id] = line
            yield table_id, (line, offset)
        offset += len(text.encode())


def _starts_with_mark(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(BOM_UTF8)) == BOM_UTF8
    except OSError as error:
        raise cannot_open(path, error) from error


def _size(table: Table) -> int:
    return (table.shape[0] + 1) * table.shape[1]


READER = WikiSql()
