"""The table of one file, in the form that its suffix names: separated text, Excel, JSON, JSON Lines, HTML or Markdown."""

import re
from itertools import chain, islice
from pathlib import Path

from tableqa.core.translation import grouped, phrase
from tableqa.data.tables import Table
from tableqa.readers.arrow import COLUMNAR, records_of
from tableqa.readers.delimited import read_delimited, table_of_rows, widened_header
from tableqa.readers.header_rows import with_header
from tableqa.readers.html_tables import HtmlTableError, html_table
from tableqa.readers.interface import MAX_TABLE_BYTES, ReaderError
from tableqa.readers.open_document import open_workbook
from tableqa.readers.reading_options import offering, option
from tableqa.readers.record_fields import Location, decode_json
from tableqa.readers.record_tables import markdown_rows, table_from, with_titles
from tableqa.readers.report import note
from tableqa.readers.table_encodings import PAGES, TableEncoding, is_page
from tableqa.readers.text_form import ROWS_COMPARED, has_columns, may_have_row_names, text_form, text_lines
from tableqa.readers.workbook import is_workbook, table_of_sheet

SEPARATED = (".csv", ".tsv", ".tab")
_PERHAPS_SEPARATED = (".txt", "")
MARKDOWN = (".md", ".markdown")
_JSON_LINES = (".jsonl", ".ndjson")
_NAMED = (*MARKDOWN, *_JSON_LINES, *COLUMNAR, ".json")
"""Suffixes of files whose tables name their header."""
SUFFIXES = (*SEPARATED, *_PERHAPS_SEPARATED, *PAGES, *_NAMED, ".xlsx", ".ods")
"""Suffixes of files that hold one table each; "" is a name without a suffix."""

_SUFFIX = re.compile(r"\.[a-z][a-z0-9]*")
_BLOCK = re.compile(r"(?:^[ \t]*\|[^\n]*(?:\n|\Z))+", re.MULTILINE)


def suffix_of(name: str) -> str:
    """The suffix of a name in small letters; "" where what follows the last dot is no suffix, as in v1.5."""
    suffix = Path(name).suffix.lower()
    return suffix if _SUFFIX.fullmatch(suffix) else ""


def check_kind(location: Location, name: str, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """ReaderError where a question names a table file whose suffix is none of `suffixes`."""
    suffix = suffix_of(name)
    if suffix not in suffixes:
        what = phrase("tables are not read from {suffix} files: {name!r}", suffix=suffix, name=name[:80])
        mend = phrase("Save the table as one of {suffixes}", suffixes=", ".join(filter(None, suffixes)))
        raise location.error(what, mend)


def table_in(path: Path, encoding: TableEncoding, header_row: str = "") -> Table:
    """The table of a file; its separator is detected. header_row: of files that do not name it. ReaderError."""
    table = _table_in(path, encoding)
    return table if suffix_of(path.name) in _NAMED else with_header(table, header_row)


def _table_in(path: Path, encoding: TableEncoding) -> Table:
    if is_workbook(path):
        workbook = open_workbook(path)
        names = workbook.visible_names
        if len(names) != 1 and not (names and option("sheets")):
            what = phrase("the Excel file of a table has {number} sheets", number=len(names))
            error = ReaderError(path, None, what, phrase("Save each table as a file with one sheet"))
            raise offering(error, "sheets", "largest") if names else error
        return table_of_sheet(max(map(workbook.sheet, names), key=lambda sheet: sum(map(len, sheet.rows))))
    suffix = suffix_of(path.name)
    if is_page(path):
        _check_size(path)
        return in_html(path, "".join(text_lines(path, encoding.of(path))))
    if suffix in _NAMED:
        _check_size(path)
        if suffix in COLUMNAR:
            return table_from(Location(path, 1), list(records_of(path, {})))
        lines = list(text_lines(path, encoding.of(path)))
        if suffix in _JSON_LINES:
            filled = [(at, line) for at, line in enumerate(lines, start=1) if line.strip()]
            return table_from(
                Location(path, 1), [decode_json(Location(path, at), line) for at, line in filled]
            )
        text = "".join(lines)
        return table_from(Location(path, 1), text) if suffix == ".json" else in_markdown(path, text)
    form = text_form(path, encoding.of(path))
    if suffix in _PERHAPS_SEPARATED and not has_columns(path, form):
        what = phrase("this text has no separator that gives every row the same number of fields")
        raise ReaderError(path, 1, what, phrase("Save the table as .csv"))
    rows = read_delimited(path, form.separator, form.encoding, comments=form.comments)
    first_rows = list(islice(rows, ROWS_COMPARED))
    if first_rows:
        (line, header), below = first_rows[0], [cells for _, cells in first_rows[1:]]
        first_rows[0] = line, widened_header(header, below, may_have_row_names(path, form), of_texts=True)
    above = [
        text for line in islice(text_lines(path, form.encoding), form.comments) if (text := line.strip())
    ]
    if above:
        note("titles", " ".join(above), len(above))
    titles = " ".join(text for text in above if not text.startswith("#"))
    return with_titles(table_of_rows(path, chain(first_rows, rows)), "", titles)


def _check_size(path: Path) -> None:
    if path.stat().st_size > MAX_TABLE_BYTES:
        what = phrase("it has more than {most} bytes", most=grouped(MAX_TABLE_BYTES))
        raise ReaderError(path, None, what, phrase("Split the table"))


def in_html(path: Path, text: str) -> Table:
    """The one table of a web page; what surrounds it is not read."""
    try:
        return html_table(text)
    except HtmlTableError as error:
        what = phrase("the text is not an HTML table: {error}", error=error.what)
        raise ReaderError(path, error.line, what, error.mend) from error


def in_markdown(path: Path, text: str) -> Table:
    """The one table of a Markdown file; what surrounds it is not read."""
    blocks = [block for block in _BLOCK.finditer(text) if markdown_rows(block[0]) is not None]
    if len(blocks) != 1:
        what = phrase("the file contains {number} tables, not one", number=len(blocks))
        mend = phrase("Write one table: rows start and end with |, and a row of --- follows the header")
        raise ReaderError(path, None, what, mend)
    line = text.count("\n", 0, blocks[0].start()) + 1
    return table_from(Location(path, line), markdown_rows(blocks[0][0]))
