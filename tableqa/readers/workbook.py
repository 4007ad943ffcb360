"""Excel workbooks (.xlsx) as sheets of texts: numbers as the workbook shows them, dates as ISO 8601 writes them.

python-calamine reads values, merged cells and the visibility of sheets. What it leaves out is read from the sheet's XML, in
one pass that keeps no tree: the number formats, errors such as #N/A, formulas that were never calculated, which it gives as
empty cells, and hidden rows and columns.
"""

import datetime
import io
import math
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any
from xml.parsers import expat

from tableqa.core.foreign_values import NUMBER
from tableqa.core.translation import grouped, phrase, reason_of
from tableqa.data.tables import MAX_COLUMNS, Span, Table, TableError
from tableqa.readers.delimited import table_of_rows
from tableqa.readers.html_tables import superscript
from tableqa.readers.interface import MAX_TABLE_BYTES, START, ReaderError, cannot_open
from tableqa.readers.number_formats import GENERAL, formatted_text, number_text
from tableqa.readers.reading_options import offering, option
from tableqa.readers.report import note

MAX_PARTS = 10_000
"""Files in the archive that a workbook is."""
MAX_SHEET_CELLS = 20_000_000
"""Cells of a sheet up to its last row and column, empty ones too: all of them are laid out in memory."""

DAMAGED = (
    zipfile.BadZipFile, zlib.error, KeyError, ValueError, OverflowError, NotImplementedError, expat.ExpatError,
    SyntaxError,  # of XML
)  # fmt: skip
"""What a damaged workbook raises."""
_OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"
_CELL_NAME = re.compile("([A-Z]{1,3})([0-9]{1,7})")
_BUILT_IN = {
    0: "", 49: "@", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 12: "# ?/?", 13: "# ??/??",
    5: "[$$]#,##0;([$$]#,##0)", 6: "[$$]#,##0;([$$]#,##0)", 7: "[$$]#,##0.00;([$$]#,##0.00)",
    8: "[$$]#,##0.00;([$$]#,##0.00)", 42: "[$$]#,##0;[$$](#,##0);[$$]-", 44: "[$$]#,##0.00;[$$](#,##0.00);[$$]-",
    11: "0.00E+00", 37: "#,##0 ;(#,##0)", 38: "#,##0 ;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)",
    14: "m/d/yy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss",
    22: "m/d/yy h:mm", 41: "#,##0;(#,##0);-", 43: "#,##0.00;(#,##0.00);-", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
}  # fmt: skip
"""Formats by their numbers. [$$] is the currency of the computer on which a person looks at the file."""
_QUOTED = re.compile(r'"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\[\]]*\]|AM/PM')
_DATE_SIGN = re.compile(r"[ymdhs]|e(?![+-]0)", re.IGNORECASE)  # e is a year
_DAYS = re.compile("d+", re.IGNORECASE)
_DATE_PARTS = {"y": "%Y", "my": "%Y-%m", "dm": "%m-%d", "m": "%B"}
_TIME_PARTS = {"h": "%H", "hm": "%H:%M", "hms": "%H:%M:%S", "ms": "%M:%S", "s": "%S"}
"""How a date is written of which a format without a time shows only these parts, and a time."""
_FRACTION = re.compile(r"s\.(0{1,6})", re.IGNORECASE)
_BUILT_IN_OTHER = re.compile(r"number \d+ of Excel")
ERROR = "\0error"
"""The text of a cell that shows an error or has lost its result, until its sheet is trimmed."""
_Marked = tuple[str, list[str]]
"""A text with superscripts or without struck-out parts, and the kinds of findings that it has."""
_DATES = datetime.date, datetime.time, datetime.timedelta
_START_1904 = datetime.datetime(1904, 1, 1)  # noqa: DTZ001 - Excel has no zones
_EARLY = re.compile(r"[-+]?nan|-[0-9.Ee+-]{1,20}|60(?:\.[0-9]{0,20})?|0[.0-9E+-]{0,24}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet: its rows as texts of one length. The text of a merged cell is in its first one alone."""

    path: Path
    name: str
    rows: list[list[str]]
    merged: list[tuple[tuple[int, int], tuple[int, int]]] = field(default_factory=list)
    """Corners of the merged ranges, as (row, column) from 0."""
    hidden_rows: list[int] = field(default_factory=list)
    """Numbers of the rows from 1 that a filter or a person hid and that have cells. They are read like others."""
    hidden_columns: list[int] = field(default_factory=list)
    """The same of columns."""
    dates: list[int] = field(default_factory=list)
    """The number of the row of each date."""
    marked: list[tuple[str, str, int]] = field(default_factory=list)
    """Findings of cells, such as superscripts and struck-out parts: kind, text and number of the row."""

    def note_doubts(self) -> None:
        """Note hidden rows and columns and dates of a sheet that is read."""
        location = f"{self.path.name}, {self.name}"
        for (kind, text, row), count in Counter(self.marked).items():
            note(kind, text, count, line=row)
        for kind, rows in (("hidden_rows", self.hidden_rows), ("dates", self.dates)):
            if rows:
                note(kind, location, len(rows), line=rows[0])
        if self.hidden_columns:
            first = cell_name(0, self.hidden_columns[0] - 1)
            note("hidden_columns", f"{location}, {first}", len(self.hidden_columns), line=1)

    def unmerge(self, first: int) -> None:
        """Fill the merged cells from a row on, if the option `merged` says so; ReaderError for one if it does not."""
        for (top, left_column), (bottom, right_column) in (
            corners for corners in self.merged if corners[0][0] >= first
        ):
            if not option("merged"):
                params = {"name": self.name, "cell": cell_name(top, left_column)}
                what = phrase("sheet {name!r}, cell {cell}: the cell is merged", **params)
                mend = phrase("Unmerge the cells of the sheet of questions")
                raise offering(ReaderError(self.path, top + 1, what, mend), "merged", "filled")
            for row in self.rows[top : bottom + 1]:
                row[left_column : right_column + 1] = self.rows[top][left_column : left_column + 1] * len(
                    row[left_column : right_column + 1]
                )


def table_of_sheet(sheet: Sheet) -> Table:
    """The table of a sheet whose first row is the header; merged cells are its spans. ReaderError."""
    sheet.note_doubts()
    table = table_of_rows(sheet.path, enumerate(sheet.rows, start=1))
    lines = (table.header_id, *table.row_ids)
    spans = [
        Span(lines[top], table.column_ids[left_column], bottom - top + 1, right_column - left_column + 1)
        for (top, left_column), (bottom, right_column) in sheet.merged
        if bottom < len(lines) and right_column < len(table.column_ids)
    ]
    try:
        return Table(table.header, table.rows, spans=spans)
    except TableError as error:  # no program of sheets merges cells twice, or from the last to the first
        what = phrase("the sheet {name!r} cannot be read: {error}", name=sheet.name, error=reason_of(error))
        mend = phrase("Open it in Excel and save it again as .xlsx")
        raise ReaderError(sheet.path, None, what, mend) from error


class Workbook:
    """The sheets of an .xlsx file, each read when it is asked for. ReaderError where it is damaged, locked or too large."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._readable(lambda reason: phrase("the Excel file cannot be read: {error}", error=reason)):
            self._archive = zipfile.ZipFile(path)
            self._check_sizes()
            if damaged := self._archive.testzip():
                raise zipfile.BadZipFile(phrase("{part} is damaged", part=damaged))
            self._open()

    def _open(self) -> None:
        from python_calamine import CalamineWorkbook

        self._book = CalamineWorkbook.from_path(str(self.path))
        self._parts = self._sheet_parts()
        self._formats = self._number_formats()

    @contextmanager
    def _readable(self, what: Callable[[str], str]) -> Iterator[None]:
        """What libraries say of a file that they cannot read, as a ReaderError; `what` is given their reason."""
        from python_calamine import CalamineError

        try:
            yield
        except ReaderError:
            raise
        except OSError as error:
            raise cannot_open(self.path, error) from error
        except BaseException as error:
            is_panic = type(error).__name__ == "PanicException"  # of Rust, where its library has a fault
            if not is_panic and not isinstance(error, (CalamineError, *DAMAGED)):
                raise
            mend = phrase("Open it in Excel and save it again as .xlsx")
            raise ReaderError(self.path, None, what(reason_of(error)), mend) from error

    @property
    def sheet_names(self) -> list[str]:
        """Names of the sheets in their order, hidden ones too."""
        return list(self._book.sheet_names)

    @property
    def visible_names(self) -> list[str]:
        """Names of the sheets that Excel shows, in their order."""
        from python_calamine import SheetVisibleEnum

        return [
            sheet.name for sheet in self._book.sheets_metadata if sheet.visible == SheetVisibleEnum.Visible
        ]

    def sheet(self, name: str) -> Sheet:
        """A sheet by its name; ReaderError for cells whose text is not known."""
        with self._readable(
            lambda reason: phrase("the sheet {name!r} cannot be read: {error}", name=name, error=reason)
        ):
            cells = self._cells(name)
            read = self._book.get_sheet_by_name(name)
            values = read.to_python(skip_empty_area=False)
            merged = list(read.merged_cell_ranges or [])
        rows = [
            [self._text(name, i, j, value, cells) for j, value in enumerate(row)]
            for i, row in enumerate(values)
        ]
        for (i, j), (text, _) in cells.texts.items():
            if text == ERROR:  # of a formula, it may lie behind all values
                rows += [[] for _ in range(i + 1 - len(rows))]
                rows[i] += [""] * (j + 1 - len(rows[i]))
                rows[i][j] = ERROR
        for (top, left_column), (bottom, right_column) in merged:
            for at, row in enumerate(rows[top : bottom + 1]):
                covered = slice(left_column + (not at), right_column + 1)
                row[covered] = [""] * len(row[covered])
        rows = trim_rows(rows)
        hidden = [row + 1 for row in cells.hidden_rows if row < len(rows) and any(rows[row])]
        columns = [at + 1 for at in cells.hidden_columns if any(row[at] for row in rows if at < len(row))]
        dates = [i for i, row in enumerate(values, start=1) for value in row if isinstance(value, _DATES)]
        cells.marked += [
            (kind, text.replace(ERROR, ""), at[0] + 1)
            for at, (text, kinds) in cells.texts.items()
            for kind in kinds
        ]
        return Sheet(self.path, name, rows, merged, hidden, columns, dates, cells.marked)

    def _check_sizes(self) -> None:
        parts = self._archive.infolist()
        unpacked = sum(part.file_size for part in parts)
        if len(parts) > MAX_PARTS or unpacked > 4 * MAX_TABLE_BYTES:
            what = phrase(
                "the Excel file unpacks to {unpacked} bytes; {most} are read",
                unpacked=grouped(unpacked),
                most=grouped(4 * MAX_TABLE_BYTES),
            )
            raise ReaderError(self.path, None, what, phrase("Save the sheets as CSV files"))

    def _sheet_parts(self) -> dict[str, str]:
        """For the name of each sheet its part of the archive."""
        targets: dict[str, str] = {}
        self._is_1904 = False
        parts: dict[str, str] = {}

        def relation(name: str, attributes: dict[str, str]) -> None:
            if _local(name) == "Relationship":
                targets[attributes["Id"]] = attributes["Target"]

        def sheet(name: str, attributes: dict[str, str]) -> None:
            if _local(name) == "workbookPr":
                self._is_1904 = attributes.get("date1904") in ("1", "true")
            elif _local(name) == "sheet":
                target = targets[
                    next((value for key, value in attributes.items() if key.endswith(":id")), "")
                ]
                parts[attributes["name"]] = target[1:] if target.startswith("/") else f"xl/{target}"

        _parse(self._archive.read("xl/_rels/workbook.xml.rels"), relation)
        _parse(self._archive.read("xl/workbook.xml"), sheet)
        return parts

    def _number_formats(self) -> list[str]:
        """The number format of each style of cells, by its number."""
        if "xl/styles.xml" not in self._archive.namelist():
            return []
        own: dict[int, str] = {}
        ids: list[int] = []
        section = ""

        def style(name: str, attributes: dict[str, str]) -> None:
            nonlocal section
            name = _local(name)
            if name == "numFmt" and attributes.keys() >= {"numFmtId", "formatCode"}:
                own[int(attributes["numFmtId"])] = attributes["formatCode"]
            elif name == "xf" and section == "cellXfs":
                ids.append(int(attributes.get("numFmtId", "0")))
            elif name.endswith("s"):  # a list, such as cellStyleXfs
                section = name

        _parse(self._archive.read("xl/styles.xml"), style)
        return [own.get(id, _BUILT_IN.get(id, f"number {id} of Excel")) for id in ids]

    @cached_property
    def _marked_texts(self) -> dict[str, _Marked]:
        """The shared texts with superscripts or struck-out parts, by their numbers."""
        part = "xl/sharedStrings.xml"
        data = self._archive.read(part) if part in self._archive.namelist() else b""
        return {str(index): marked for index, _, marked in _marked(data, "si")}

    def _cells(self, name: str) -> "_Cells":
        """The number formats of the cells of a sheet and its hidden rows; ReaderError for errors and lost results."""
        cells = _Cells(partial(self._fault, name), self._formats, self._marked_texts, self._is_1904)
        part = self._parts.get(name, "")
        if part in self._archive.namelist():
            data = self._archive.read(part)
            _parse(data, cells.begin, cells.text)
            cells.check_formula()
            cells.texts |= {_position(cell): marked for _, cell, marked in _marked(data, "is") if cell}
        return cells

    def _text(self, sheet: str, row: int, column: int, value: Any, cells: "_Cells") -> str:
        value, code = cells.corrected(row, column, value), cells.formats.get((row, column), "")
        if value in ("", ERROR):
            return str(value)
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, _DATES):
            return date_text(value, code)
        if isinstance(value, float) and not math.isfinite(value):  # no program of sheets stores one
            what = phrase("the cell contains {reason}", reason=NUMBER)
            raise self._fault(sheet, row, column, what, phrase("Correct the number, or write it as text"))
        if is_text := isinstance(value, str):
            stored = value.replace("\r\n", "\n")
            display_text = formatted_text(stored, code) if code else stored
        else:
            display_text = number_text(value, code)
            stored = display_text or number_text(value, "") or ""
        if display_text is None and option("numbers"):
            display_text = stored
        if display_text is None:
            what = phrase(
                "the number format {code!r} is not known, so the text of the cell is not either",
                code=code[:60],
            )
            mend = phrase(
                "Give the cell the format General, Number or Percent, or Text with the value as text"
            )
            if _signs(code):
                what = phrase("the number {number} is no date of Excel", number=stored)
                mend = phrase("Correct the date, or write it as text")
            raise offering(self._fault(sheet, row, column, what, mend), "numbers", "stored")
        if stored and not display_text:
            cells.marked.append(("not_shown", f"{stored} ({code})", row + 1))
        if "[$$]" in code and not is_text:
            cells.marked.append(("currency", display_text, row + 1))
        return display_text

    def _fault(self, sheet: str, row: int, column: int, what: str, mend: str) -> ReaderError:
        return ReaderError(
            self.path,
            row + 1,
            phrase(
                "sheet {sheet!r}, cell {cell}: {what}", sheet=sheet, cell=cell_name(row, column), what=what
            ),
            mend,
        )


class _Cells:
    """Receives the elements of a sheet, and keeps formats and hidden rows, from 0; ReaderError for a bad cell."""

    def __init__(
        self,
        fault: Callable[[int, int, str, str], ReaderError],
        formats: list[str],
        marked: dict[str, _Marked],
        is_1904: bool,
    ) -> None:
        self.formats: dict[tuple[int, int], str] = {}
        self.texts: dict[tuple[int, int], _Marked] = {}
        self.marked: list[tuple[str, str, int]] = []
        self._marked, self._is_1904 = marked, is_1904
        self._early: dict[tuple[int, int], float] = {}  # numbers of formats for which Excel may have no date
        self.hidden_rows: list[int] = []
        self.hidden_columns: list[int] = []
        self._fault = fault
        self._codes = {str(index): code for index, code in enumerate(formats) if code not in GENERAL}
        self._row = self._column = -1
        self._rows = self._columns = 0
        self._type = ""
        self._awaits_value = self._is_value = False

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        name = _local(name)
        if name == "c":
            self._cell(attributes)
        elif name == "row":
            self.check_formula()
            self._row = int(attributes["r"][:8]) - 1 if "r" in attributes else self._row + 1
            self._column = -1
            if attributes.get("hidden") in ("1", "true"):
                self.hidden_rows.append(self._row)
        elif name == "col" and attributes.get("hidden") in ("1", "true"):
            last = min(int(attributes["max"]), MAX_COLUMNS)
            self.hidden_columns += range(int(attributes["min"]) - 1, last)
        elif name == "f":
            self._awaits_value, self._is_value = True, False
        elif name in ("v", "is"):
            self._is_value = True

    def text(self, text: str) -> None:
        if self._is_value and not text.isspace():
            self._awaits_value = False
            if self._type == "s" and text in self._marked:
                self.texts[self._row, self._column] = self._marked[text]
            elif (self._row, self._column) in self.formats and _EARLY.fullmatch(text):
                self._early[self._row, self._column] = float(text)

    def corrected(self, row: int, column: int, value: Any) -> Any:
        """The value of a cell without struck-out parts, or its number where that is no date of Excel.

        Such numbers are negative, of day 0 (the first one where days count from 1904), of 29 February 1900, and NaN.
        """
        if (row, column) in self.texts:
            return self.texts[row, column][0]
        serial = self._early.get((row, column), 1)
        if not isinstance(value, _DATES) or 1 <= serial < 60 or serial >= 61:
            return value
        signs = _signs(self.formats[row, column])
        shows_day = not signs.isdisjoint("yd") or signs == {"m"}
        if self._is_1904 and serial >= 0:
            return _START_1904 + datetime.timedelta(serial) if shows_day and serial < 1 else value
        return serial if not serial >= 0 or shows_day else value

    def check_formula(self) -> None:
        # A formula whose result is an empty text has the type "str".
        if self._awaits_value and self._type != "str":
            mend = phrase("Open the file in Excel or LibreOffice and save it: then it holds the results")
            self._read_as_empty(phrase("the result of the formula is not in the file"), mend)
        self._awaits_value = False

    def _read_as_empty(self, what: str, mend: str) -> None:
        if not option("missing"):
            raise offering(self._fault(self._row, self._column, what, mend), "missing", "empty")
        self.texts[self._row, self._column] = ERROR, ["missing"]

    def _cell(self, attributes: dict[str, str]) -> None:
        self.check_formula()
        if "r" in attributes:
            self._row, self._column = _position(attributes["r"])
        else:
            self._column += 1
        self._rows, self._columns = max(self._rows, self._row + 1), max(self._columns, self._column + 1)
        if self._rows * self._columns > MAX_SHEET_CELLS:
            mend = phrase(
                "Remove cells far below or beside the others; {most} cells are read",
                most=grouped(MAX_SHEET_CELLS),
            )
            raise self._fault(self._row, self._column, phrase("the sheet is too large"), mend)
        self._type = attributes.get("t", "")
        if self._type == "e":
            mend = phrase("Correct the formula, or replace it by its value")
            self._read_as_empty(phrase("the cell shows an error"), mend)
        if code := self._codes.get(attributes.get("s", "0")):
            self.formats[self._row, self._column] = code


def _marked(data: bytes, tag: str) -> Iterator[tuple[int, str, _Marked]]:
    """The texts of a part with superscripts or struck-out parts: number, name of the cell around it, and text."""
    from lxml import etree

    if b"vertAlign" in data or b"strike" in data:
        texts = etree.iterparse(io.BytesIO(data), tag=f"{{*}}{tag}", resolve_entities=False, no_network=True)
        for index, (_, element) in enumerate(texts):
            runs = list(map(_text_of_run, element.iterchildren("{*}r")))
            if kinds := [kind for _, kind in runs if kind]:
                yield index, element.getparent().get("r", ""), ("".join(text for text, _ in runs), kinds)
            element.clear()


def _text_of_run(run: Any) -> tuple[str, str]:
    """The text of a run, as a superscript or empty where it is struck out, and the kind of finding that it is then."""
    text = "".join(part.text or "" for part in run.iterchildren("{*}t"))
    marks = {part.tag.rpartition("}")[2]: part.get("val", "1") for part in run.iterfind("{*}rPr/*")}
    if marks.get("strike", "0") not in ("0", "false"):
        return "", "struck"
    is_raised = marks.get("vertAlign") == "superscript" and text.strip()
    return (superscript(text), "superscripts") if is_raised else (text, "")


def _parse(
    data: bytes, begin: Callable[[str, dict[str, str]], None], text: Callable[[str], None] | None = None
) -> None:
    """Read a part of a workbook once, from its first to its last byte; ExpatError, and ValueError for a DOCTYPE."""

    def refuse(*declared: object) -> None:
        raise ValueError("a workbook has no DOCTYPE")

    parser = expat.ParserCreate()
    parser.StartElementHandler = begin
    parser.StartDoctypeDeclHandler = refuse  # no entity is declared without
    if text is not None:
        parser.CharacterDataHandler = text
    parser.Parse(data, True)


def is_workbook(path: Path) -> bool:
    """Whether a file is an .xlsx or .ods, by what it holds."""
    try:
        if not starts_as_zip(path):
            return False
        return is_open_document(path) or "xl/workbook.xml" in names_in_archive(path)
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


def is_open_document(path: Path) -> bool:
    """Whether the first bytes of a file are those of an .ods; OSError."""
    with path.open("rb") as file:
        return file.read(START).startswith(
            _OPEN_DOCUMENT, 30
        )  # the name of the first file, as an archive may hold an .ods


def starts_as_zip(path: Path) -> bool:
    """Whether the first bytes of a file are those of an archive; OSError."""
    with path.open("rb") as file:
        return file.read(START).startswith(b"PK")


def names_in_archive(path: Path) -> frozenset[str]:
    """The names of all members of a zip archive; OSError, and what Python's zipfile raises."""
    state = path.stat()
    return _names_in_archive(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=16)
def _names_in_archive(path: Path, size: int, changed: int) -> frozenset[str]:
    with zipfile.ZipFile(path) as archive:  # an archive of many tables takes 0.1 s
        return frozenset(archive.namelist())


def cell_name(row: int, column: int) -> str:
    """The name of a cell by its row and column, from 0: B3."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{row + 1}"


def _position(name: str) -> tuple[int, int]:
    matched = _CELL_NAME.fullmatch(name)
    if matched is None:
        raise ValueError(f"no cell is named {name[:20]!r}")
    column = 0
    for letter in matched[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(matched[2]) - 1, column - 1


def _local(name: str) -> str:
    """The name of an element without its prefix."""
    return name.rpartition(":")[2] if ":" in name else name


def _signs(code: str) -> set[str]:
    """The signs of years, months or minutes, days, hours and seconds in the format of a date."""
    is_other = _BUILT_IN_OTHER.fullmatch(code)
    signs = () if is_other else _DATE_SIGN.findall(_QUOTED.sub("", code).lower())
    return {sign.replace("e", "y") for sign in signs}


def date_text(value: object, code: str) -> str:
    """A date as ISO 8601 has it, without a time of midnight and what its format does not show; a duration in its units."""
    signs = _signs(code)
    if isinstance(value, datetime.timedelta):
        rest, parts = round(value.total_seconds()), list[str]()
        for unit, seconds in (("h", 3600), ("m", 60), ("s", 1)):
            if unit in signs or not signs:
                count, rest = divmod(rest, seconds)
                parts.append(f"{count:02}" if parts else str(count))
        return ":".join(parts)
    if type(value) is datetime.date:
        value = datetime.datetime.combine(value, datetime.time())
    if isinstance(value, datetime.datetime) and signs:
        if signs.isdisjoint("hs"):
            value = value.date()
        elif signs.isdisjoint("yd"):
            value = value.time()  # m is minutes
    if isinstance(value, datetime.datetime):
        time = f" {_time_text(value.time(), signs, code)}" if value.time() != datetime.time() else ""
        return value.date().isoformat() + time
    if isinstance(value, datetime.date):
        form = _DATE_PARTS.get("".join(sorted(signs)))
        if signs == {"d"}:
            runs = _DAYS.findall(_QUOTED.sub("", code))
            form = " ".join("%A" if len(run) > 2 else "%d" for run in runs)
        return value.strftime(form) if form else value.isoformat()
    return _time_text(value, signs, code) if isinstance(value, datetime.time) else str(value)


def _time_text(value: datetime.time, signs: set[str], code: str) -> str:
    """The parts of a time that its format shows; all of them where that is not known."""
    form = _TIME_PARTS.get("".join(sorted(signs & {"h", "m", "s"})))
    fraction = _FRACTION.search(code)
    decimals = f".{value.microsecond:06}"[: len(fraction[1]) + 1] if fraction else ""
    return value.strftime(form) + decimals if form else value.isoformat()


def trim_rows(rows: list[list[str]]) -> list[list[str]]:
    """The rows, all of one length, without empty ones and empty columns at the end: cells that only have a format.

    Cells with an ERROR are not empty, and become so.
    """
    while rows and not any(rows[-1]):
        rows.pop()
    width = max((j + 1 for row in rows for j, text in enumerate(row) if text), default=0)
    return [
        ["" if text == ERROR else text for text in (*row[:width], *[""] * (width - len(row)))] for row in rows
    ]
