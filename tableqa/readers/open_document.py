"""OpenDocument spreadsheets (.ods) as sheets of texts: numbers as the cells show them, dates as ISO 8601 writes them."""

import datetime
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tableqa.core.translation import phrase
from tableqa.readers.html_tables import superscript
from tableqa.readers.interface import ReaderError
from tableqa.readers.reading_options import offering, option
from tableqa.readers.workbook import (
    ERROR,
    MAX_SHEET_CELLS,
    Sheet,
    Workbook,
    date_text,
    is_open_document,
    trim_rows,
)

_DATE_PARTS = {
    "year": "yyyy",
    "month": "mm",
    "day": "dd",
    "day-of-week": "ddd",
    "hours": "hh",
    "minutes": "mm",
    "seconds": "ss",
}
_LINES_THROUGH = "text-line-through-style", "text-line-through-type"
_RAISED = "super", *"123456789"  # how the position of a superscript begins: super 58%, or 33% 58%
_SIGNS = {"s": " ", "tab": "\t", "line-break": "\n"}
_MOST_STYLES = 1_000
"""Columns whose styles are read."""


@dataclass
class _Styles:
    """What is read of styles: formats of dates, names of formats, hidden sheets, and findings of texts, by names."""

    dates: dict[str, str] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    kinds: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, element: Any) -> None:
        attributes = _attributes(element)
        name = attributes.get("name", "")
        if kind in ("date-style", "time-style", "text-style"):
            parts = [(_local(part), _attributes(part)) for part in element]
            self.dates[name] = "".join(
                self.dates.get(of_part.get("apply-style-name", ""), "")  # of a format with several sections
                or ("mmm" if "textual" in of_part else _DATE_PARTS.get(part, ""))
                + ("." + "0" * min(int(of_part["decimal-places"]), 6) if "decimal-places" in of_part else "")
                for part, of_part in parts
            )
        elif kind == "style":
            parent = self.formats.get(attributes.get("parent-style-name", ""), "")
            self.formats[name] = attributes.get("data-style-name", parent)
            for of_part in map(_attributes, element):
                if of_part.get("display") == "false":
                    self.hidden.add(name)
                lines = {of_part[line] for line in _LINES_THROUGH if line in of_part}
                if lines and "none" not in lines:
                    self.kinds[name] = "struck"
                elif of_part.get("text-position", "").startswith(_RAISED):
                    self.kinds[name] = "superscripts"


class OpenDocument(Workbook):
    """The sheets of an .ods file. ReaderError where it is damaged or too large."""

    def _open(self) -> None:
        from lxml import etree

        self._styles = _Styles()
        self._sheets: list[tuple[Sheet, bool]] = []
        self._columns: list[str] = []
        self._width = self._empty_rows = 0
        for part in sorted({"styles.xml", "content.xml"} & set(self._archive.namelist()), reverse=True):
            with self._archive.open(part) as file:
                events = etree.iterparse(file, ("start", "end"), resolve_entities=False, no_network=True)
                for event, element in events:
                    self._read(event, _local(element), element)

    @property
    def sheet_names(self) -> list[str]:
        """Names of the sheets in their order, hidden ones too."""
        return [sheet.name for sheet, _ in self._sheets]

    @property
    def visible_names(self) -> list[str]:
        """Names of the sheets that are shown, in their order."""
        return [sheet.name for sheet, is_visible in self._sheets if is_visible]

    def sheet(self, name: str) -> Sheet:
        """A sheet by its name; ReaderError for a cell that shows an error."""
        sheet = next(sheet for sheet, _ in self._sheets if sheet.name == name)
        marked = list(sheet.marked)
        for i, row in enumerate(sheet.rows):
            for j, text in enumerate(row):
                if text == ERROR and not option("missing"):
                    mend = phrase("Correct the formula, or replace it by its value")
                    error = self._fault(name, i, j, phrase("the cell shows an error"), mend)
                    raise offering(error, "missing", "empty")
                if text == ERROR:
                    marked.append(("missing", "", i + 1))
        rows = trim_rows(list(sheet.rows))
        hidden = [line for line in sheet.hidden_rows if line <= len(rows) and any(rows[line - 1])]
        columns = [at for at in sheet.hidden_columns if any(row[at - 1] for row in rows if at <= len(row))]
        return Sheet(self.path, name, rows, sheet.merged, hidden, columns, sheet.dates, marked)

    def _read(self, event: str, kind: str, element: Any) -> None:
        if event == "start":
            if kind == "table":
                attributes = _attributes(element)
                is_visible = attributes.get("style-name", "") not in self._styles.hidden
                self._sheets.append((Sheet(self.path, attributes.get("name", ""), []), is_visible))
                self._columns, self._width, self._empty_rows = [], 0, 0
        elif kind == "table-column" and self._sheets:
            attributes, first = _attributes(element), len(self._columns) + 1
            self._columns += [attributes.get("default-cell-style-name", "")] * min(
                _repeats(attributes, "columns"), _MOST_STYLES
            )
            if attributes.get("visibility", "visible") != "visible":
                self._sheets[-1][0].hidden_columns.extend(range(first, len(self._columns) + 1))
        elif kind == "table-row" and self._sheets:
            self._add_row(self._sheets[-1][0], element)
            element.clear()
        else:
            self._styles.add(kind, element)

    def _add_row(self, sheet: Sheet, element: Any) -> None:
        attributes, row, empty = _attributes(element), list[str](), 0
        top = len(sheet.rows) + self._empty_rows
        for cell in element:
            if (kind := _local(cell)) not in ("table-cell", "covered-table-cell"):
                continue
            of_cell, start_column = _attributes(cell), len(row) + empty
            display_text, kinds = _text_and_findings(cell, self._styles.kinds)
            text = (
                "" if kind.startswith("covered") else self._text_of_cell(of_cell, start_column, display_text)
            )
            sheet.marked.extend((kind, text, top + 1) for kind in kinds)
            spans = int(of_cell.get("number-rows-spanned", 1)), int(of_cell.get("number-columns-spanned", 1))
            if spans != (1, 1):
                sheet.merged.append(((top, start_column), (top + spans[0] - 1, start_column + spans[1] - 1)))
            if of_cell.get("value-type") == "date":
                sheet.dates.append(top + 1)
            repeats = _repeats(of_cell, "columns")
            if not text:
                empty += repeats
                continue
            self._check_size(start_column + repeats, top + 1)
            row += [""] * empty + [text] * repeats
            empty = 0
        repeats = _repeats(attributes, "rows")
        if not row:
            self._empty_rows += repeats
            return
        self._check_size(len(row), top + repeats)
        if attributes.get("visibility", "visible") != "visible":
            sheet.hidden_rows.extend(range(top + 1, top + repeats + 1))
        sheet.rows.extend(list(row) for row in [list[str]()] * self._empty_rows + [row] * repeats)
        self._empty_rows = 0

    def _check_size(self, width: int, rows: int) -> None:
        self._width = max(self._width, width)
        if self._width * rows > MAX_SHEET_CELLS:
            what = phrase("the sheet is too large")
            raise ReaderError(self.path, None, what, phrase("Save the sheets as CSV files"))

    def _text_of_cell(self, attributes: dict[str, str], column: int, display_text: str) -> str:
        """A date as ISO 8601 has it, a number that is not rounded with a point, else what is shown."""
        kind = attributes.get("value-type", "")
        default = self._columns[column] if column < len(self._columns) else ""
        with suppress(ValueError):
            if kind == "date":
                code = self._styles.dates.get(
                    self._styles.formats.get(attributes.get("style-name", default), ""), ""
                )
                return date_text(datetime.datetime.fromisoformat(attributes["date-value"]), code)
            if kind == "float" and float(display_text.replace(",", ".")) == float(attributes["value"]):
                return display_text.replace(",", ".")  # 1,5 in German is 1.5; 1,200 is not 1.2
        return ERROR if kind == "error" else display_text


def open_workbook(path: Path) -> Workbook:
    """The workbook that a file is. ReaderError where it is damaged, locked or too large."""
    return OpenDocument(path) if is_open_document(path) else Workbook(path)


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _attributes(element: Any) -> dict[str, str]:
    return {name.rpartition("}")[2]: value for name, value in element.attrib.items()}


def _repeats(attributes: dict[str, str], of: str) -> int:
    return int(attributes.get(f"number-{of}-repeated", 1))


def _text_and_findings(cell: Any, of_styles: Mapping[str, str]) -> tuple[str, list[str]]:
    """The paragraphs of a cell as lines, and the findings of its texts; its comment is none of them."""
    kinds: list[str] = []
    return "\n".join("".join(_texts(part, of_styles, kinds)) for part in cell if _local(part) == "p"), kinds


def _texts(element: Any, of_styles: Mapping[str, str], kinds: list[str]) -> list[str]:
    texts = [element.text or ""]
    for part in element:
        sign, kind = _SIGNS.get(_local(part)), of_styles.get(_attributes(part).get("style-name", ""))
        inner = [sign * int(_attributes(part).get("c", 1))] if sign else _texts(part, of_styles, kinds)
        is_whole_text = len(element) == 1 and not element.text and not part.tail
        if kind and _local(part) == "span" and "".join(inner).strip() and not is_whole_text:
            kinds.append(kind)
            inner = [superscript("".join(inner))] if kind == "superscripts" else []
        texts += [*inner, part.tail or ""]
    return texts
