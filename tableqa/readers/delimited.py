"""Text files whose fields are parted by a tab or comma and quoted as RFC 4180 says: a quote in a field is doubled."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from tableqa.core.translation import grouped, phrase, reason_of
from tableqa.data.tables import Table, TableError
from tableqa.readers.interface import (
    MAX_TABLE_BYTES,
    ReaderError,
    Rejection,
    check_cells,
    check_names,
    check_separator,
    check_size,
    note,
    numbered,
    read_lines,
    separator_hint,
)
from tableqa.readers.reading_options import offering, option, unescaped
from tableqa.readers.record_fields import Fields, Location
from tableqa.readers.records import ADDED
from tableqa.readers.report import stripped
from tableqa.readers.text_form import ROWS_COMPARED, fields_of_lines, separator_name, text_lines

QUOTES = "quotes"
"""Notes on rows that quotes would join (`collect_notes`)."""


def ragged_row(path: Path, line: int, cells: Sequence[str], names: Sequence[str]) -> Rejection:
    """A row with more or fewer cells than there are columns."""
    lengths = {"number": len(cells), "expected": len(names)}
    what = phrase("the row has {number} fields, the first line names {expected}", **lengths)
    mend = phrase("Check that the file is complete. A field with the separator or a line break needs quotes")
    all_names = [*names, *(f"column {at + 1}" for at in range(len(names), len(cells)))]
    error = with_quotes(ReaderError(path, line, what, mend), cells, len(names))
    return Rejection(error, dict(zip(all_names, cells, strict=False)))


def with_quotes(error: ReaderError, cells: Sequence[str], width: int) -> ReaderError:
    """The fault of a row of another length, with the option by which it has as many fields as the header.

    A backslash escapes its separators, or quotes are text that joined fields.
    """
    is_joined = any(len(cells) + sum(cell.count(sign) for cell in cells) == width for sign in "\t,;|")
    values = ["text"] * (is_joined and len(cells) < width)
    values = ["escapes"] if any(cell.endswith("\\") for cell in cells) else values
    return offering(error, "quotes", *values) if values else error


def read_delimited(
    path: Path, delimiter: str, encoding: str = "", blank: bool = False, comments: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file with the line where each starts; a quoted field may hold tabs, commas and line breaks.

    The first lines may be `comments`, which have no fields.

    Where quotes would join lines that are rows themselves, in a file that quotes nothing else, they are text (`QUOTES`).
    Without an encoding the file is UTF-8. Raises ReaderError for text after a closing quote, a quoted field that is never
    closed, an empty line unless they may be `blank`, and what `read_lines` refuses.
    """
    are_text: bool | None = None
    width = 0
    for start, lines, fields in _quoted_rows(path, delimiter, encoding, comments):
        if start <= comments:
            continue
        width = width or len(fields)
        if _are_rows(lines, width, delimiter):
            if are_text is None:
                rows = _quoted_rows(path, delimiter, encoding, comments)
                are_text = not any(_is_quoted(lines, fields, width, delimiter) for _, lines, fields in rows)
            if are_text:
                note(QUOTES, path.name, line=start)
                yield from enumerate((line.rstrip("\r\n").split(delimiter) for line in lines), start=start)
                continue
        if not fields and not blank:
            mend = phrase('Remove the line; a single empty field is written ""')
            raise ReaderError(path, start, phrase("the line is empty"), mend)
        yield start, fields


def _quoted_rows(
    path: Path, delimiter: str, encoding: str, comments: int
) -> Iterator[tuple[int, list[str], list[str]]]:
    """The rows as RFC 4180 has them: the number of the first line, the lines, and the fields."""
    mend = phrase(
        "Separate fields with a {name}. Put a field that contains a {name}, a quote or a line break in quotes. "
        "Double the quotes in it",
        name=separator_name(delimiter),
    )
    if encoding:
        texts = text_lines(path, encoding, comments)
    else:
        texts = (text for _, text in read_lines(path, longest=MAX_TABLE_BYTES, keep_ends=True))
    lines: list[str] = []

    def remembered(text: str) -> str:
        lines.append(text)
        return text

    rows = fields_of_lines(map(remembered, texts), delimiter)
    while True:
        start = rows.line_num + 1
        lines.clear()
        try:
            fields = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            values = ["backslash", "text"] if '\\"' in "".join(lines) else ["text"]
            raise offering(_field_fault(path, start, error, mend), "quotes", *values) from error
        if option("quotes") == "escapes":
            fields = list(map(unescaped, fields))
        yield start, lines, fields


def _is_quoted(lines: list[str], fields: list[str], width: int, delimiter: str) -> bool:
    """Whether a row shows that quotes of its file enclose fields: all of them, or one that needs it."""
    text = "".join(lines)
    if len(fields) == width and all(f'"{field}"' in text for field in fields):
        return True
    is_doubled = any('"' in field and field not in text for field in fields)
    return is_doubled or (text.count(delimiter) >= len(fields) > 0 and not _are_rows(lines, width, delimiter))


def _are_rows(lines: list[str], width: int, delimiter: str) -> bool:
    """Whether each line of a row of several lines has as many fields as the first row, were quotes text."""
    return width > 1 < len(lines) and all(line.count(delimiter) + 1 == width for line in lines)


def _field_fault(path: Path, line: int, error: csv.Error, mend: str) -> ReaderError:
    if "field larger than" in str(error):
        most = grouped(csv.field_size_limit())
        what = phrase("a field is longer than {most} characters, or its quotes are never closed", most=most)
        return ReaderError(path, line, what, phrase("Close the quotes, or save the table as a separate file"))
    if "unexpected end of data" in str(error):
        what = phrase("the file ends within a quoted field")
        mend = phrase("Close the quote that this line opens, or double it where it is part of a text")
        return ReaderError(path, line, what, mend)
    return ReaderError(path, line, phrase("a field cannot be read: {error}", error=reason_of(error)), mend)


def read_questions(
    path: Path, delimiter: str, columns: tuple[str, ...]
) -> Iterator[tuple[int, dict[str, str] | Rejection]]:
    """The rows of a file whose first row names its columns, as {column: field}, with the line where each starts.

    Columns beyond those that must be there are given, too, but for the reasons in a file of rejected rows. A row with more
    or fewer fields than columns is rejected. ReaderError where a column is missing or named twice.
    """
    rows = read_delimited(path, delimiter)
    line, header = next(rows, (1, []))
    missing = [name for name in columns if name not in header]
    if missing or len(set(header)) < len(header):
        header_text = ", ".join(header)
        line_start = header_text if len(header_text) <= 80 else header_text[:79] + "…"
        what = (
            phrase("the first line lacks {names}: {line}", names=", ".join(missing), line=line_start)
            if missing
            else phrase("the first line names a column twice: {line}", line=line_start)
        )
        hint = separator_hint(header) if delimiter == "," else ""
        mend = hint or phrase("It names the columns: {names}", names=", ".join(columns))
        raise ReaderError(path, line, what, mend)
    with_reasons = all(name in header for name in ADDED)
    for line, fields in rows:
        if len(fields) != len(header):
            yield line, ragged_row(path, line, fields, header)
            continue
        row = dict(zip(header, fields, strict=True))
        yield line, {name: text for name, text in row.items() if not with_reasons or name not in ADDED}


def named_rows(
    path: Path,
    rows: Iterable[tuple[int, list[str]]],
    check: Callable[[int, Sequence[str]], None] = lambda line, names: None,
    has_row_names: bool = False,
) -> Iterator[Fields | Rejection]:
    """The rows of a sheet, by the names in its first one; rows without any text are passed over.

    check: receives the names and their line. A row with more or fewer fields than names is rejected.
    has_row_names: all rows may begin with their number, for which R writes no name. All may end with a separator.
    """
    rows = iter(rows)
    line, header = next(((line, cells) for line, cells in rows if any(cells)), (1, []))
    names = [stripped(name, line) for name in header]
    if not header:
        raise ReaderError(path, 1, phrase("the file is empty"), phrase("Its first line names the columns"))
    names = numbered(names) if option("names") else names
    try:
        check_names(path, line, names)
    except ReaderError as error:
        raise offering(error, "names", "numbered") from None
    check(line, names)
    first_rows = list(islice(rows, 1))
    if first_rows and len(first_rows[0][1]) == len(names) + 1:
        first_rows += islice(rows, ROWS_COMPARED)
    names = widened_header(names, [cells for _, cells in first_rows], has_row_names)
    if unnamed := len(names) - len(list(filter(str.strip, header))):
        note("unnamed", path.name, unnamed, line)
    for line, cells in chain(first_rows, rows):
        if not any(cells):
            continue
        if cells == header:
            mend = phrase("Remove the line, or import the files one by one")
            yield Rejection(ReaderError(path, line, phrase("the line repeats the first one"), mend), {})
            continue
        if len(cells) != len(names):
            yield ragged_row(path, line, cells, names)
            continue
        yield Fields(Location(path, line), dict(zip(names, cells, strict=True)))


def widened_header(
    names: list[str], rows: Iterable[Sequence[str]], has_row_names: bool, of_texts: bool = False
) -> list[str]:
    """The names of columns with "" for the row names of R, or for what follows the separator that ends each row.

    Row names are increasing numbers, or different texts where they may be `of_texts`.
    """
    full = [row for row in rows if any(row)]
    if not full or "" in names or any(len(row) != len(names) + 1 for row in full):
        return names
    if not any(row[-1] for row in full):
        return [*names, ""]
    firsts = [row[0] for row in full]
    indexes = [int(text) for text in firsts if text.isdecimal() and len(text) < 10]
    are_different = of_texts and not indexes and len(set(firsts)) == len(full)
    is_numbered = len(indexes) == len(full) and indexes == sorted(set(indexes))
    if not has_row_names or not (is_numbered or are_different):
        return names
    if are_different:
        note("row_names", ", ".join(firsts[:3]))
    return ["", *names]


def read_table(path: Path) -> Table:
    """The table of a .csv file (RFC 4180), whose first row is the header; ReaderError with the line of the fault."""
    return table_of_rows(path, read_delimited(path, ","))


def table_of_rows(path: Path, lines: Iterable[tuple[int, list[str]]]) -> Table:
    """The table of (line number, cells), the first being the header; ReaderError with the line of the fault."""
    header: list[str] | None = None
    rows: list[list[str]] = []
    for line, cells in lines:
        check_cells(path, line, cells)
        if header is None:
            check_separator(path, line, cells)
            header = cells
        elif len(cells) != len(header):
            lengths = {"number": len(cells), "expected": len(header)}
            what = phrase("the row has {number} cells, the header has {expected}", **lengths)
            mend = phrase("Give every row as many fields as the first, and put titles above an empty line")
            raise with_quotes(ReaderError(path, line, what, mend), cells, len(header))
        else:
            rows.append(cells)
        check_size(path, line, len(rows), len(header))
    if header is None:
        mend = phrase("The first line of a table holds its column names")
        raise ReaderError(path, 1, phrase("there is no header line"), mend)
    try:
        return Table(header, rows)
    except TableError as error:
        raise ReaderError(path, None, reason_of(error), phrase("Correct or remove the table")) from error


def names_columns(path: Path, delimiter: str, columns: tuple[str, ...]) -> bool:
    """Whether the first row of a file names these columns: by that a file of questions is known in a folder."""
    try:
        _, header = next(read_delimited(path, delimiter), (1, []))
    except ReaderError:
        return False
    return set(columns) <= set(header)
