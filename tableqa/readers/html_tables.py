"""HTML tables as a browser shows them, in any charset; superscripts are written as ² or ^, struck-out text is left out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, chain, product, takewhile
from typing import NoReturn

from tableqa.core.translation import grouped, phrase, reason_of
from tableqa.data.tables import MAX_CELLS, MAX_COLUMNS, MAX_ROWS, MAX_TEXT, Table, TableError, default_ids
from tableqa.readers.report import note
from tableqa.serialisations import SERIALISATIONS
from tableqa.serialisations.markup import table_of_lines

MAX_HTML = 16 * 1024 * 1024
"""Characters of a page that are parsed."""

_SECTIONS = ("thead", "tbody", "tfoot")
_BLOCKS = frozenset(
    ("address", "blockquote", "center", "dd", "div", "dl", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p",
     "pre", "ul")
)  # fmt: skip
_UNSEEN = frozenset(("head", "script", "style", "template", "title"))
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_STRUCK = frozenset(("s", "strike", "del"))
_RAISED = str.maketrans("0123456789+-\u2212=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
_SPACE = re.compile("[ \t\n\r\f]+")
_NUMBER = re.compile(r"\s*\+?([0-9]{1,6})")
_WHOLE_TAGS = re.compile("(?:[^<>]++|</?[a-z][^<>]*+>)*+")
"""A text in which each tag ends, as all do in what Askew writes: other texts take the exact reader quadratic time."""
_END, _ROW_END = "askew-end", "<askew-row-end></askew-row-end>"
"""Elements behind a page and before each </tr>: libxml2 ends a table with the page, and drops a </tr> without its <tr>."""
_ROW_ENDS = re.compile("(?=</tr[ \\t\\n/>])", re.IGNORECASE)


class HtmlTableError(ValueError):
    """A text that is not one HTML table: the line of the fault, None where it is in no line, and what to do about it."""

    def __init__(self, line: int | None, what: str, mend: str = "") -> None:
        self.line = line
        self.what = what
        self.mend = mend or phrase("Correct it, or save the table as .csv")
        super().__init__(what)


@dataclass
class _Text:
    """The lines of a cell as they are shown: runs of spaces are one space."""

    lines: list[list[str]] = field(default_factory=lambda: [[]])

    def end_line(self, is_block: bool) -> None:
        if not is_block or "".join(self.lines[-1]).strip():
            self.lines.append([])

    def shown(self) -> str:
        return "\n".join(_SPACE.sub(" ", "".join(parts)).strip() for parts in self.lines).strip()


class _Verbatim(_Text):
    """A text that is shown with all its spaces."""

    def shown(self) -> str:
        return "".join(self.lines[0])


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as a program describes it; it covers `rows` x `columns` cells."""

    text: str
    is_header: bool = False
    rows: int = 1
    columns: int = 1


@dataclass
class _Cell:
    line: int
    is_header: bool
    rows: int
    columns: int
    text: _Text = field(default_factory=_Text)


@dataclass
class _Section:
    """Rows that a merged cell does not leave: those of a <thead>, <tbody> or <tfoot>."""

    kind: str
    rows: list[list[_Cell]] = field(default_factory=list)


@dataclass
class _Element:
    """A table of a page."""

    line: int
    title: str
    caption: _Text = field(default_factory=_Text)
    sections: list[_Section] = field(default_factory=list)


class _Page:
    """The tables of a page, from its elements and texts in their order."""

    def __init__(self) -> None:
        self.tables: list[_Element] = []
        self.line = 1
        self._table: _Element | None = None
        self._section: _Section | None = None
        self._row: list[_Cell] | None = None
        self._text: _Text | None = None
        self._hidden = 0
        self._rows = 0
        self._raised: list[tuple[list[str], int]] = []

    def fail(self, what: str) -> NoReturn:
        raise HtmlTableError(self.line, what)

    def read(self, text: str) -> list[_Element]:
        from lxml import etree

        try:
            source = f"{_ROW_ENDS.sub(_ROW_END, text)}<{_END}>".encode()
        except UnicodeEncodeError as error:
            raise HtmlTableError(None, str(error)) from error
        # lxml stops at elements that are nested too deeply: the end is then missing, too.
        root = etree.fromstring(source, etree.HTMLParser(encoding="utf-8"))
        roots = [] if root is None else [root, *root.itersiblings("*")]  # what follows </html>
        events = ("start", "end", "comment", "pi")
        for event, element in chain.from_iterable(etree.iterwalk(tree, events=events) for tree in roots):
            if event == "start":
                self.line = element.sourceline or self.line
                if element.tag == _END and self._table is None:
                    return self.tables
                self.begin(element.tag, dict(element.attrib))
                self.data(element.text)
            else:
                if event == "end":
                    self.end(element.tag)
                self.data(element.tail)
        if self._table is None and not self.tables:
            return []
        raise HtmlTableError((self._table or self.tables[-1]).line, phrase("the table is not closed"))

    def begin(self, tag: str, values: dict[str, str]) -> None:
        if tag == _END and self._table is not None:
            raise HtmlTableError(self._table.line, phrase("the table is not closed"))
        if self._hidden or tag in _UNSEEN:
            self._hidden += 1
        elif tag == "table":
            if self._table is not None:
                self.fail(phrase("there is a table inside a table"))
            self._table = _Element(self.line, values.get("title", "").replace(_ROW_END, ""))
            self._rows = 0
        elif self._table is None:
            return
        elif tag == "askew-row-end":
            self._row = self._text = None
        elif tag in (*_SECTIONS, "caption", "tr", "th", "td"):
            self._begin(self._table, tag, values)
            self._leave_out_struck(tag, values)
        elif tag == "br" or tag in _BLOCKS:
            self._end_line(tag)
        elif "hidden" in values or _HIDDEN.search(values.get("style", "")):
            self._hidden += 1
            note("hidden_texts")
        elif tag == "sup":
            line = self._text.lines[-1] if self._text else []
            self._raised.append((line, len(line)))
        else:
            self._leave_out_struck(tag, values)

    def _leave_out_struck(self, tag: str, values: dict[str, str]) -> None:
        if tag in _STRUCK or "line-through" in values.get("style", "").lower():
            self._hidden += 1
            note("struck")

    def _begin(self, table: _Element, tag: str, values: dict[str, str]) -> None:
        self._text = None
        if tag in _SECTIONS:
            self._row = None
            self._section = _Section(tag)
            table.sections.append(self._section)
        elif tag == "caption":
            self._row = None
            self._text = table.caption
        elif tag == "tr" or self._row is None:
            if self._section is None:
                self._section = _Section("tbody")
                table.sections.append(self._section)
            self._row = []
            self._section.rows.append(self._row)
            self._rows += 1
            if self._rows > MAX_ROWS:
                self.fail(phrase("the table has more than {most} rows", most=grouped(MAX_ROWS)))
        if tag in ("th", "td") and self._row is not None:
            rows = _extent(values.get("rowspan", ""), 0, MAX_ROWS)
            columns = max(1, _extent(values.get("colspan", ""), 1, MAX_COLUMNS))
            cell = _Cell(self.line, tag == "th", rows, columns)
            self._row.append(cell)
            self._text = cell.text

    def _end_line(self, tag: str) -> None:
        if self._text is not None:
            self._text.end_line(is_block=tag != "br")

    def end(self, tag: str) -> None:
        if self._hidden:
            self._hidden -= 1
        elif self._table is None:
            return
        elif tag == "table":
            self.tables.append(self._table)
            self._table = self._section = self._row = self._text = None
        elif tag in ("th", "td", "caption"):
            self._text = None
        elif tag == "tr":
            self._row = self._text = None
        elif tag in _SECTIONS:
            self._section = self._row = self._text = None
        elif tag == "sup":
            self._raise(*self._raised.pop())
        elif tag in _BLOCKS:
            self._end_line(tag)

    def _raise(self, line: list[str], start: int) -> None:
        """Write the end of a line as a superscript."""
        if text := "".join(line[start:]).strip():
            line[start:] = [superscript(text)]
            note("superscripts")

    def data(self, data: str | None) -> None:
        if data is None:
            return
        if self._text is not None and not self._hidden:
            self._text.lines[-1].append(data)
        elif self._table is not None and not self._hidden and (text := data.lstrip()):
            self.line += data.count("\n", 0, len(data) - len(text))
            self.fail(phrase("the text {text!r} is outside of the cells", text=text.strip()[:40]))
        self.line += data.count("\n")


def superscript(text: str) -> str:
    """A text as a superscript: ², or ^a where a character has no such sign."""
    signs = text.translate(_RAISED)
    return signs if set(signs).isdisjoint(text) else f"^{text}"


def _extent(text: str, whole: int, most: int) -> int:
    """A number of rows or columns as browsers read it; `whole` for 0, and 1 for what is no number."""
    match = _NUMBER.match(text)
    return min(int(match[1]) or whole, most) if match else 1


def html_table(text: str) -> Table:
    """The only table of a page; HtmlTableError. A text as Askew writes it is read exactly, with all its spaces."""
    if len(text) > MAX_HTML:
        raise HtmlTableError(None, phrase("it has more than {most} characters", most=grouped(MAX_HTML)))
    own = SERIALISATIONS["html"]
    try:
        table = own.loads(text) if _WHOLE_TAGS.fullmatch(text) else None
        if table is not None and own.dumps(table) == text.strip():
            return table
    except ValueError:
        pass  # another program wrote it
    elements = _Page().read(text)
    if len(elements) != 1:
        raise HtmlTableError(None, phrase("the file contains {number} tables, not one", number=len(elements)))
    try:
        return _table(elements[0])
    except TableError as error:
        raise HtmlTableError(None, reason_of(error)) from error


def table_of_cells(
    rows: list[list[Cell]], title: str = "", caption: str = ""
) -> tuple[Table, list[list[tuple[str, str]]]]:
    """The table of rows of cells, laid out as those of HTML, and the ids (row, column) of each cell's first place.

    HtmlTableError.
    """
    parsed = [
        [
            _Cell(at, cell.is_header, cell.rows, min(cell.columns, MAX_COLUMNS), _Verbatim([[cell.text]]))
            for cell in row
        ]
        for at, row in enumerate(rows)
    ]
    element = _Element(0, title, _Verbatim([[caption]]), [_Section("tbody", parsed)])
    try:
        table = _table(element)
    except TableError as error:
        raise HtmlTableError(None, reason_of(error)) from error
    begun, covered = _laid_out(parsed, [len(parsed)] * len(parsed))
    line_of = {row: line for line, row in enumerate(sorted({row for row, _ in covered}))}
    above = len(table.header_rows)
    names = (*default_ids("h", above), "h", *default_ids("r", len(table.rows)))
    ids: list[list[tuple[str, str]]] = [[] for _ in rows]
    for row, column in begun:
        ids[row].append((names[line_of[row]], f"c{column}"))
    return table, ids


def _table(element: _Element) -> Table:
    """The table of its cells. Header rows are those of <thead>, else the first ones of <th> alone, else the first row."""
    sections = sorted(element.sections, key=lambda section: _SECTIONS.index(section.kind))
    rows = [row for section in sections for row in section.rows]
    ends = [end for section, end in zip(sections, _ends(sections), strict=True) for _ in section.rows]
    cells, covered = _laid_out(rows, ends)
    if not cells:
        raise HtmlTableError(element.line, phrase("the table has no cells"))
    width = 1 + max(column for _, column in cells)
    filled = sorted({row for row, _ in covered})
    _check_cells(element.line, len(filled) * width)
    line_of = {row: line for line, row in enumerate(filled)}
    lines = [[""] * width for _ in filled]
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for (row, column), cell in cells.items():
        lines[line_of[row]][column] = _checked_text(cell)
        extent = (covered[row, column][0], min(covered[row, column][1], width - column))
        if extent != (1, 1):
            spans[line_of[row], column] = extent
    in_head = sum(len(section.rows) for section in sections if section.kind == "thead")
    header_lines = sum(row < in_head for row in filled) or _leading_headers([rows[row] for row in filled])
    return table_of_lines(lines, header_lines, spans, element.title, element.caption.shown())


def _check_cells(line: int, count: int) -> None:
    if count > MAX_CELLS:
        raise HtmlTableError(line, phrase("the table has more than {most} cells", most=grouped(MAX_CELLS)))


def _checked_text(cell: _Cell) -> str:
    text = cell.text.shown()
    if len(text) > MAX_TEXT:
        raise HtmlTableError(
            cell.line, phrase("a cell has more than {most} characters", most=grouped(MAX_TEXT))
        )
    return text


def _ends(sections: list[_Section]) -> Iterator[int]:
    """The number of the row behind each section."""
    return accumulate(len(section.rows) for section in sections)


def _leading_headers(rows: list[list[_Cell]]) -> int:
    count = sum(1 for _ in takewhile(lambda row: row and all(cell.is_header for cell in row), rows))
    return count if 0 < count < len(rows) else 1


def _laid_out(
    rows: list[list[_Cell]], ends: list[int]
) -> tuple[dict[tuple[int, int], _Cell], dict[tuple[int, int], tuple[int, int]]]:
    """The cell that begins at each place (row, column), and for every place that a cell covers the extent of that.

    `ends` has for each row the number of the row behind its section.
    """
    cells: dict[tuple[int, int], _Cell] = {}
    covered: dict[tuple[int, int], tuple[int, int]] = {}
    for i, row in enumerate(rows):
        j = 0
        for cell in row:
            while (i, j) in covered:
                j += 1
            height = min(cell.rows or ends[i], ends[i] - i)
            if j >= MAX_COLUMNS:
                what = phrase("the table has more than {most} columns", most=grouped(MAX_COLUMNS))
                raise HtmlTableError(cell.line, what)
            _check_cells(cell.line, len(covered) + height * cell.columns)
            cells[i, j] = cell
            for position in product(range(i, i + height), range(j, j + cell.columns)):
                if position in covered:
                    raise HtmlTableError(cell.line, phrase("a merged cell overlaps another one"))
                covered[position] = (height, cell.columns)
    return cells, covered
