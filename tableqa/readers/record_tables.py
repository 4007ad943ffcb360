"""What holds the table of a record, and the table in it: every form is recognised here.

The table is in its column or in two columns, the header and the rows (`with_joined_table`). Its column names a file or
sheet (`file_named`), or holds the table (`table_from`): {"header", "rows"} or {"columns", "data"}; a list of rows, the
header first; a list of objects with equal names; an object of columns; the objects of HiTab and ToTTo; or a text that holds
one of these as JSON, as HTML, or as csv.
"""

import csv
import io
import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import product
from typing import Any

from tableqa.core.translation import phrase, reason_of
from tableqa.data.tables import Table
from tableqa.readers.cell_tables import hitab_table, is_hitab, is_totto, totto_table
from tableqa.readers.column_names import USUAL
from tableqa.readers.example_parts import table_of
from tableqa.readers.html_tables import HtmlTableError, html_table
from tableqa.readers.interface import ReaderError, separator_hint
from tableqa.readers.json_values import kind, value_in
from tableqa.readers.reading_options import offering, option, unescaped
from tableqa.readers.record_fields import Fields, Location, decode_json
from tableqa.readers.report import note

TABLE_COLUMNS = frozenset(USUAL["table"])
_HEADERS = ("table_header", "table_headers", "header", "headers", "column_headers", "column_names", "columns")
_ROW_COLUMNS = ("table_data", "table_rows", "rows", "data", "cells")
_OF_OBJECTS = re.compile(r"\s*(?:\{|\[\s*\{)")
_PATH = re.compile(
    r"[^\n]*\.(?:csv|tsv|txt|jsonl?|html?|xlsx?|ods|parquet)|[^\s,;]*[/\\][^\s,;]*", re.IGNORECASE
)
_TABLE_BEGINS = re.compile(r"<table\b", re.IGNORECASE)
_MARKDOWN = re.compile(r"\s*\|[^\n]*\n\s*\|(?:\s*:?-+:?\s*\|)+\s*(?:\n|$)")
_INDEXED = re.compile(r"\s*col\s*:.*?\brow 1\s*:", re.DOTALL)
_RULE = re.compile(r"(?:[+:| ]|[-=](?![-=]))*[-=]{2}[-+=:| ]*")
_SPACES = re.compile(r"\S? {2,}\S")
_LATEX = "\\begin{tabular}"
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_BAR = re.compile(r"(?<!\\)\|")
_HEADER = ("header", "columns", "head")
_ROWS = ("rows", "data")
_OF_PANDAS = {"index", "index_names", "column_names"}


def with_joined_table(record: Fields, chosen: str) -> Fields:
    """The record with its header and rows as one table, where they are in separate columns."""
    value = record.value
    if chosen in value or not TABLE_COLUMNS.isdisjoint(value):
        return record
    header = next((name for name in _HEADERS if isinstance(value.get(name), list)), None)
    rows = next((name for name in _ROW_COLUMNS if isinstance(value.get(name), list)), None)
    if header is None or rows is None:
        return record
    others = {name: column for name, column in value.items() if name not in (header, rows)}
    return Fields(record.place, {**others, "table": {"header": value[header], "rows": value[rows]}})


def file_named(value: object) -> str | None:
    """The name of a file, where the table of a record is one: a number, or a text of one line that holds no table itself."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or _is_table_text(value) or _has_escapes(value):
        return None
    if not {"\n", "\r"}.isdisjoint(value.strip()):
        return None
    return value.strip().replace("\\", "/").removeprefix("./")


def _is_table_text(line: str) -> bool:
    """Whether a text of one line holds a table itself, and is not the name of a file."""
    return line.lstrip()[:1] in ("{", "[", "<") or _INDEXED.match(line) is not None


def _has_escapes(line: str) -> bool:
    """Whether a text of one line holds a table whose line breaks are written \\n, and is no path such as tables\\nr1.csv."""
    return "\\n" in line and _parted(unescaped(line)) is not None


def names_header(value: object) -> bool:
    """Whether the table of a record says itself what its header is: an object of it, or a list of objects."""
    if isinstance(value, str):
        return bool(_OF_OBJECTS.match(value))
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def beside_the_cells(value: object) -> dict[str, Any]:
    """What an object of header and rows says besides: in WikiTableQuestions the name of its file."""
    if not isinstance(value, dict) or not any(name in value for name in _HEADER):
        return {}
    return {
        name: field_value
        for name, field_value in value.items()
        if name not in (*_HEADER, *_ROWS, "title", "caption")
    }


def is_list_of_objects(value: object) -> bool:
    """Whether a value is a list of objects and not empty."""
    return isinstance(value, list) and bool(value) and all(isinstance(inner, dict) for inner in value)


def table_from(
    location: Location, value: object, title: str = "", caption: str = "", counts_rest: bool = False
) -> Table:
    """The table of a record in any of the forms; ReaderError. counts_rest: note its other members, which are left out."""
    if isinstance(value, str):
        value = _from_text(location, value)
    if isinstance(value, Table):
        return with_titles(value, title, caption)
    if is_totto(value):
        return totto_table(location, value, title, caption)
    if is_hitab(value):
        return hitab_table(location, value, title, caption)
    if isinstance(value, list):
        return _from_list(location, value, title, caption)
    if isinstance(value, dict):
        fields = Fields(location, value)
        header = next((name for name in _HEADER if name in value), None)
        rows = next((name for name in _ROWS if name in value), None)
        if header and rows:
            titles = (
                _title(fields.text(name, default=""), of_record)
                for name, of_record in (("title", title), ("caption", caption))
            )
            if counts_rest and (others := beside_the_cells(value).keys() - _OF_PANDAS):
                note("members", ", ".join(sorted(others)))
            cells = value[rows]
            if isinstance(cells, list):
                cells = [_without_links(row) for row in cells]
            labels = value.get("index") if (header, rows) == ("columns", "data") else None
            return table_of(
                location, *_with_row_labels(_without_links(value[header]), cells, labels), *titles
            )
        if value.keys() == {"schema", "data"} and is_list_of_objects(value["data"]):
            return _from_list(location, _without_index(value["data"]), title, caption)
        if (columns := _columns(value)) is not None:
            names, labels, cells = columns
            if len(set(map(len, cells))) > 1:
                mend = phrase("Give every column the same number of cells")
                raise location.error(phrase("the columns are not of one length"), mend)
            rows_of = list(map(list, zip(*cells, strict=True)))
            return table_of(location, *_with_row_labels(names, rows_of, labels), title, caption)
    mend = phrase('Write {"header", "rows"}, a list of rows, a list of objects, an object of columns, or csv')
    error = location.error(phrase("there is {kind} that is not a table", kind=kind(value)), mend)
    if isinstance(value, dict) and (names := [name for name in value if isinstance(value[name], list)]):
        error.ways = {"table": names}
    raise error


def _without_index(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of pandas' layout `table` without their numbers from 0."""
    if not is_numbered(row.get("index") for row in rows):
        return rows
    return [{name: cell for name, cell in row.items() if name != "index"} for row in rows]


def is_numbered(labels: Iterable[object]) -> bool:
    """Whether labels are the numbers from 0, as pandas gives rows without labels."""
    return all(str(label) == str(index) for index, label in enumerate(labels))


def _columns(value: dict[str, Any]) -> tuple[list[str], list[str], list[list[Any]]] | None:
    """The names, labels of rows and cells of columns: lists, or objects as pandas writes them; None for others."""
    names, members = list(value), list(value.values())
    if members and all(isinstance(member, list) for member in members):
        return names, [], members
    if (
        not all(isinstance(member, dict) and list(member) == list(members[0]) for member in members)
        or not names
    ):
        return None
    labels, cells = list(members[0]), [list(member.values()) for member in members]
    of_names, of_labels = (2 * is_numbered(keys) or all(map(str.isdecimal, keys)) for keys in (names, labels))
    if of_labels < of_names:
        return labels, names, list(map(list, zip(*cells, strict=True)))
    # Else it is unknown which are names.
    return (names, labels, cells) if of_labels == 2 or of_labels > of_names else None


def _with_row_labels(header: Any, rows: Any, labels: Any) -> tuple[Any, Any]:
    """Header and rows with the labels of the rows as their first column, unless these are numbers from 0."""
    are_lists = all(
        isinstance(part, list) for part in (header, labels, rows, *(rows if isinstance(rows, list) else ()))
    )
    if not are_lists or len(labels) != len(rows) or is_numbered(labels):
        return header, rows
    return ["", *header], [[label, *row] for label, row in zip(labels, rows, strict=True)]


def _without_links(row: object) -> object:
    """A row of HybridQA, in which a cell is a text and a list of links, as its texts; any other as it is."""
    if not isinstance(row, list) or not all(
        isinstance(cell, list) and len(cell) == 2 and isinstance(cell[0], str) and isinstance(cell[1], list)
        for cell in row
    ):
        return row
    if number := sum(bool(links) for _, links in row):
        note("links", row[0][0], number)
    return [cell[0] for cell in row]


def with_titles(table: Table, title: str, caption: str) -> Table:
    """The same table with the title and caption of its record, where that has any."""
    return table.titled(_title(title, table.title), _title(caption, table.caption))


def _title(first: str, second: str) -> str:
    """The first of two titles that is one; another second one is counted."""
    if first and second and first != second:
        note("members", second)
    return first or second


def _from_list(location: Location, value: list[Any], title: str, caption: str) -> Table:
    """A list of rows, the header first, or of objects with the same names in any order."""
    if is_list_of_objects(value):
        header = list(dict.fromkeys(name for row in value for name in row))
        for i, row in enumerate(value):
            if len(row) < len(header) and not option("missing"):
                name = next(name for name in header if name not in row)
                what = phrase("object {i} has no {name!r}", i=i + 1, name=name)
                error = location.error(what, phrase("Give every object the same names"))
                raise offering(error, "missing", "empty")
        return table_of(
            location, header, [[row.get(name) for name in header] for row in value], title, caption
        )
    if not value:
        raise location.error(
            phrase("the table has no header"), phrase("The first row of a table is its header")
        )
    return table_of(location, value[0], value[1:], title, caption)


def _from_text(location: Location, text: str) -> object:
    """What a text holds: JSON, HTML, or csv as RFC 4180 has it."""
    text = text.removeprefix("\ufeff").strip("\r\n")
    start = text.lstrip()[:1]
    if start in ("{", "["):
        return _literal(location, text)
    if _INDEXED.match(text):
        return _indexed_table(location, text)
    if start == "<" and _TABLE_BEGINS.search(text):
        try:
            return html_table(text)
        except HtmlTableError as error:
            what = phrase("the text is not an HTML table: {error}", error=error.what)
            raise location.error(what, error.mend) from error
    if (rows := markdown_rows(text)) is not None:
        return rows
    if "\n" not in text and _has_escapes(text):
        if option("quotes") != "escapes":
            what = phrase("the table has \\n in place of line breaks")
            mend = phrase("Write the table as JSON, HTML or csv")
            raise offering(location.error(what, mend), "quotes", "escapes")
        text = unescaped(text)
    if (rows := _parted(text)) is not None:
        return rows
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        if len(lines) == 1 and _PATH.fullmatch(text.strip()):
            what = phrase(
                "the text {text!r} looks like the path of a file, and gives a table without rows",
                text=text.strip()[:80],
            )
            mend = phrase("Put the table itself there. The reader csv reads tables in separate files")
            raise location.error(what, mend)
        hint = separator_hint(lines[0]) if lines else ""
        is_aligned = _LATEX in text or all(map(_SPACES.search, text.splitlines()))
        if not hint and len(lines) > 1 and len(lines[0]) == 1 and is_aligned:
            hint = phrase("Write the table as JSON, HTML or csv")
        if hint:
            raise location.error(
                phrase("the table has one column: {header!r}", header=lines[0][0][:80]), hint
            )
        return lines
    except csv.Error as error:
        mend = phrase("Put fields with a comma, a quote or a line break in quotes")
        raise location.error(phrase("the text is not CSV: {error}", error=reason_of(error)), mend) from error


def _literal(location: Location, text: str) -> object:
    """What a text holds as JSON, or as Python and NumPy print lists and objects."""
    with suppress(ValueError):
        return value_in(text)
    try:
        return decode_json(location, text, phrase("Write the table as JSON, HTML or csv"))
    except ReaderError as error:
        with suppress(ValueError):
            value_in(unescaped(text))
            raise offering(error, "quotes", "escapes") from None
        raise


def _indexed_table(location: Location, text: str) -> Table:
    """The table of a text such as TAPEX reads: "col : a | b row 1 : 1 | 2"."""
    from tableqa.serialisations import SERIALISATIONS

    try:
        return SERIALISATIONS["indexed_row_major"].loads(text.strip("\n"))
    except ValueError as error:
        what = phrase("the text is not a table of “col :” and “row 1 :”: {error}", error=reason_of(error))
        raise location.error(what, phrase("Write the table as JSON, HTML or csv")) from error


def _parted(text: str) -> list[list[str]] | None:
    """The rows of a text that a tab, comma, semicolon, bar or number sign parts evenly, in this order; None for others."""
    even: dict[str, list[list[str]]] = {}
    for sign, skips in product("\t,;|", (False, True)):
        with suppress(csv.Error):
            lines = io.StringIO(text, newline="")
            read = csv.reader(lines, delimiter=sign, strict=True, skipinitialspace=skips)
            rows = list(filter(None, read)) if sign in text and sign not in even else []
            if len(rows) > 1 and len(rows[0]) > 1 and len(set(map(len, rows))) == 1:
                even[sign] = rows
    if len(even) > 1:
        note("parted", text.partition("\n")[0])
    bars = even.pop("|", [])
    if even:
        return next(iter(even.values()))
    return [[cell.strip() for cell in row] for row in bars] if '"' in text and bars else _split_rows(text)


def _split_rows(text: str) -> list[list[str]] | None:
    """The rows of a text whose lines bars or number signs part into equally many fields; None where they do not."""
    lines = [line for line in text.splitlines() if line.strip()]
    of_bars = [line for line in lines if not _RULE.fullmatch(line.strip())]
    is_framed = all(line.lstrip().startswith("|") for line in of_bars)
    bars = [
        _markdown_cells(line) if is_framed else [cell.strip() for cell in _BAR.split(line)]
        for line in of_bars
    ]
    signs = [line.split("#") for line in lines]
    forms = [
        rows for rows in (bars, signs) if len(rows) > 1 and len(rows[0]) > 1 and len(set(map(len, rows))) == 1
    ]
    return forms[0] if len(forms) == 1 else None


def markdown_rows(text: str) -> list[list[str]] | None:
    """The rows of a Markdown table, the header first; None where the text does not start with one."""
    if not _MARKDOWN.match(text):
        return None
    return [_markdown_cells(line) for at, line in enumerate(text.strip().splitlines()) if at != 1]


def _markdown_cells(line: str) -> list[str]:
    """The cells of a line between vertical bars; a bar in a cell is written \\|."""
    inner = line.strip().removeprefix("|")
    cells = _BAR.split(inner.removesuffix("|") if not inner.endswith("\\|") else inner)
    return [_LINE_BREAK.sub("\n", cell.strip().replace("\\|", "|")) for cell in cells]
