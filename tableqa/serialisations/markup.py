"""HTML and XML: the forms that have a place for titles, further header rows and merged cells.

In HTML a merged cell is written with rowspan and colspan, and the cells under it are not written. Where one of those
has a text, or the cell reaches from the header into the body, HTML has no way to say so: then every cell is written,
and the extent is in data-rowspan and data-colspan.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from typing import Any, NoReturn

# A document type is refused before anything is expanded, so the dangers of XML's entities do not arise.
from xml.parsers import expat  # nosec

from tableqa.data.tables import MAX_COLUMNS, MAX_ROWS, Span, Table, default_ids
from tableqa.serialisations.forms import EVERYTHING, Serialisation, SerialisationError, excerpt


@dataclass(frozen=True)
class _Grid:
    """Every line of a table, header rows first, and the merged cells by the place of their first cell."""

    lines: tuple[tuple[str, ...], ...]
    header_lines: int
    spans: dict[tuple[int, int], tuple[int, int]]

    @classmethod
    def of(cls, table: Table) -> "_Grid":
        rows = {id: i for i, id in enumerate(table.all_row_ids)}
        columns = {id: j for j, id in enumerate(table.column_ids)}
        spans = {(rows[s.row], columns[s.column]): (s.rows, s.columns) for s in table.spans}
        lines = (*table.header_rows, table.header, *table.rows)
        return cls(lines, len(table.header_rows) + 1, spans)

    def under(self, position: tuple[int, int]) -> Iterator[tuple[int, int]]:
        """The places that the merged cell at `position` covers, its own left out."""
        (i, j), (rows, columns) = position, self.spans[position]
        return ((a, b) for a in range(i, i + rows) for b in range(j, j + columns) if (a, b) != position)

    def is_plain(self, position: tuple[int, int]) -> bool:
        """Whether HTML can say this merged cell: nothing is written under it, and it stays in its part of the table."""
        i, rows = position[0], self.spans[position][0]
        within = i >= self.header_lines or i + rows <= self.header_lines
        return within and not any(self.lines[a][b] for a, b in self.under(position))


def table_of_lines(
    lines: list[list[str]],
    header_lines: int,
    spans: dict[tuple[int, int], tuple[int, int]],
    title: str,
    caption: str,
) -> Table:
    """The table of its lines, the header first; `spans` are the extents of merged cells by their first place."""
    above = header_lines - 1
    rows = (*default_ids("h", above), "h", *default_ids("r", len(lines) - header_lines))
    return Table(
        lines[above],
        lines[header_lines:],
        title=title,
        caption=caption,
        header_rows=lines[:above],
        spans=[Span(rows[i], f"c{j}", height, width) for (i, j), (height, width) in spans.items()],
    )


# -- HTML -------------------------------------------------------------------------------------------------


def _html_text(text: str) -> str:
    return escape(text).replace("\r", "&#13;")


def _write_html(table: Table) -> str:
    grid = _Grid.of(table)
    covered = {position for start in grid.spans if grid.is_plain(start) for position in grid.under(start)}

    def line(i: int, tag: str) -> str:
        cells = (
            f"<{tag}{_extent(grid, (i, j))}>{_html_text(text)}</{tag}>"
            for j, text in enumerate(grid.lines[i])
            if (i, j) not in covered
        )
        return f"    <tr>{''.join(cells)}</tr>"

    title = f' title="{_html_text(table.title)}"' if table.title else ""
    return "\n".join(
        (
            f"<table{title}>",
            *([f"  <caption>{_html_text(table.caption)}</caption>"] if table.caption else []),
            "  <thead>",
            *(line(i, "th") for i in range(grid.header_lines)),
            "  </thead>",
            "  <tbody>",
            *(line(i, "td") for i in range(grid.header_lines, len(grid.lines))),
            "  </tbody>",
            "</table>",
        )
    )


def _extent(grid: _Grid, position: tuple[int, int]) -> str:
    if position not in grid.spans:
        return ""
    prefix = "" if grid.is_plain(position) else "data-"
    extents = zip(("rowspan", "colspan"), grid.spans[position], strict=True)
    return "".join(f' {prefix}{what}="{size}"' for what, size in extents if size > 1)


@dataclass
class _Cell:
    line: int
    rows: int
    columns: int
    is_plain: bool
    text: str = ""


@dataclass
class _Row:
    line: int
    is_header: bool
    cells: list[_Cell] = field(default_factory=list)


_WITHIN = {
    "table": ("",),
    "caption": ("table",),
    "thead": ("table",),
    "tbody": ("table",),
    "tr": ("thead", "tbody", "table"),
    "th": ("tr",),
    "td": ("tr",),
}
"""The elements of a table, and what each may be in."""


class _HtmlReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.rows: list[_Row] = []
        self.title = self.caption = ""
        self.is_done = False

    def fail(self, what: str) -> NoReturn:
        raise SerialisationError("html", self.getpos()[0], what)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        outer = self.open[-1] if self.open else ""
        if self.is_done or outer not in _WITHIN.get(tag, ()):
            self.fail(f"<{tag}> has no place {f'in <{outer}>' if outer else 'here'}")
        self.open.append(tag)
        values = {name: value or "" for name, value in attrs}
        if tag == "table":
            self.title = values.get("title", "")
        elif tag == "tr":
            self.rows.append(_Row(self.getpos()[0], "thead" in self.open))
        elif tag in ("th", "td"):
            self.rows[-1].cells.append(self.cell(values))

    def cell(self, values: dict[str, str]) -> _Cell:
        prefix = "data-" if values.keys() & {"data-rowspan", "data-colspan"} else ""
        extent = []
        for name, most in (("rowspan", MAX_ROWS), ("colspan", MAX_COLUMNS)):
            text = values.get(prefix + name, "1")
            if not re.fullmatch("[0-9]{1,6}", text) or not 1 <= int(text) <= most:
                self.fail(f"{prefix}{name} is {excerpt(text)}: it is a number from 1 to {most}")
            extent.append(int(text))
        return _Cell(self.getpos()[0], extent[0], extent[1], not prefix)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fail(f"<{tag}/> has no place in a table: cells are text")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.fail(f"</{tag}> closes nothing that is open")
        self.open.pop()
        self.is_done = not self.open

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("th", "td"):
            self.rows[-1].cells[-1].text += data
        elif self.open and self.open[-1] == "caption":
            self.caption += data
        elif data.strip():
            self.fail(f"{excerpt(data.strip())} is outside the cells")

    def handle_comment(self, data: str) -> None:
        self.fail("a comment has no place in a table")

    def handle_decl(self, decl: str) -> None:
        self.fail("a declaration has no place in a table")

    def handle_pi(self, data: str) -> None:
        self.handle_decl(data)

    def unknown_decl(self, data: str) -> None:
        self.handle_decl(data)


def read_html(text: str) -> Table:
    """The table of an HTML text of one; SerialisationError with the line for anything else."""
    reader = _HtmlReader()
    try:
        reader.feed(text)
        reader.close()
    except AssertionError:  # what html.parser says of a declaration that it does not know
        reader.fail("a declaration has no place in a table")
    if not reader.is_done:
        reader.fail(f"<{reader.open[-1]}> is not closed" if reader.open else "there is no <table>")
    header_lines = sum(row.is_header for row in reader.rows)
    if not header_lines:
        raise SerialisationError("html", None, "there is no row in <thead>, so there is no header")
    if any(row.is_header for row in reader.rows[header_lines:]):
        raise SerialisationError("html", None, "a row of <thead> follows the body")
    cells, spans = _laid_out(reader.rows, header_lines)
    width = max((j + 1 for _, j in cells), default=0)
    for i, row in enumerate(reader.rows):
        if missing := [j for j in range(width) if (i, j) not in cells]:
            what = f"the row has no cell in column {missing[0] + 1} of {width}"
            raise SerialisationError("html", row.line, what)
    lines = [[cells[i, j] for j in range(width)] for i in range(len(reader.rows))]
    return table_of_lines(lines, header_lines, spans, reader.title, reader.caption)


def _laid_out(
    rows: list[_Row], header_lines: int
) -> tuple[dict[tuple[int, int], str], dict[tuple[int, int], tuple[int, int]]]:
    """The text at every place (row, column), and the merged cells."""
    cells: dict[tuple[int, int], str] = {}
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for i, row in enumerate(rows):
        end = header_lines if i < header_lines else len(rows)
        j = 0
        for cell in row.cells:
            while (i, j) in cells:
                j += 1
            if cell.is_plain and i + cell.rows > end:
                what = f"rowspan is {cell.rows}, but only {end - i} rows are left"
                raise SerialisationError("html", cell.line, what)
            extent = (cell.rows, cell.columns) if cell.is_plain else (1, 1)
            for position in ((a, b) for a in range(i, i + extent[0]) for b in range(j, j + extent[1])):
                if position in cells or position[1] >= MAX_COLUMNS:
                    raise SerialisationError(
                        "html", cell.line, "the cell overlaps another one, or is too wide"
                    )
                cells[position] = ""
            cells[i, j] = cell.text
            if cell.rows * cell.columns > 1:
                spans[i, j] = (cell.rows, cell.columns)
    return cells, spans


# -- XML --------------------------------------------------------------------------------------------------

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""What XML 1.0 cannot hold, not even as a reference; here it is <char code="..."/>."""


def _xml_text(text: str) -> str:
    text = escape(text, quote=False).replace("\r", "&#13;")
    return _NOT_XML.sub(lambda match: f'<char code="{ord(match[0])}"/>', text)


def _write_xml(table: Table) -> str:
    grid = _Grid.of(table)
    texts = (("title", table.title), ("caption", table.caption))
    lines = []
    for i, cells in enumerate(grid.lines):
        tag = "header" if i < grid.header_lines else "row"
        written = (
            f"<cell{_xml_extent(grid.spans.get((i, j)))}>{_xml_text(text)}</cell>"
            for j, text in enumerate(cells)
        )
        lines.append(f"  <{tag}>{''.join(written)}</{tag}>")
    heads = [f"  <{tag}>{_xml_text(text)}</{tag}>" for tag, text in texts if text]
    return "\n".join(("<table>", *heads, *lines, "</table>"))


def _xml_extent(extent: tuple[int, int] | None) -> str:
    return f' rows="{extent[0]}" columns="{extent[1]}"' if extent else ""


_XML_WITHIN = {
    "table": ("",),
    "title": ("table",),
    "caption": ("table",),
    "header": ("table",),
    "row": ("table",),
    "cell": ("header", "row"),
    "char": ("cell", "title", "caption"),
}


class _XmlReader:
    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.open: list[str] = []
        self.texts = {"title": "", "caption": ""}
        self.lines: list[list[str]] = []
        self.places: list[int] = []
        self.header_lines = 0
        self.spans: dict[tuple[int, int], tuple[int, int]] = {}

    def fail(self, what: str) -> NoReturn:
        raise SerialisationError("xml", self.parser.CurrentLineNumber, what)

    def doctype(self, *arguments: Any) -> None:
        self.fail("a document type has no place in a table")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        outer = self.open[-1] if self.open else ""
        if outer not in _XML_WITHIN.get(tag, ()):
            self.fail(f"<{tag}> has no place {f'in <{outer}>' if outer else 'here'}")
        self.open.append(tag)
        if tag in ("header", "row"):
            if tag == "header" and len(self.lines) > self.header_lines:
                self.fail("a <header> follows a <row>")
            self.header_lines += tag == "header"
            self.lines.append([])
            self.places.append(self.parser.CurrentLineNumber)
        elif tag == "cell":
            self.lines[-1].append("")
            if attributes:
                position = len(self.lines) - 1, len(self.lines[-1]) - 1
                self.spans[position] = (self.number(attributes, "rows"), self.number(attributes, "columns"))
        elif tag == "char":
            self.add(chr(self.number(attributes, "code", least=1, most=0xFFFF)))

    def number(self, attributes: dict[str, str], name: str, least: int = 1, most: int = MAX_ROWS) -> int:
        text = attributes.get(name, "")
        if not re.fullmatch("[0-9]{1,6}", text) or not least <= int(text) <= most:
            self.fail(f"{name} is {excerpt(text)}: it is a number from {least} to {most}")
        return int(text)

    def end(self, tag: str) -> None:
        self.open.pop()

    def text(self, data: str) -> None:
        if self.open[-1] in ("cell", "title", "caption"):
            self.add(data)
        elif data.strip():
            self.fail(f"{excerpt(data.strip())} is outside the cells")

    def add(self, data: str) -> None:
        inner = next(tag for tag in reversed(self.open) if tag != "char")
        if inner == "cell":
            self.lines[-1][-1] += data
        else:
            self.texts[inner] += data


def _read_xml(text: str) -> Table:
    reader = _XmlReader()
    try:
        reader.parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        raise SerialisationError("xml", error.lineno, expat.ErrorString(error.code) or "no XML") from error
    if not reader.header_lines:
        raise SerialisationError("xml", None, "there is no <header>")
    width = len(reader.lines[reader.header_lines - 1])
    for line, cells in zip(reader.places, reader.lines, strict=True):
        if len(cells) != width:
            raise SerialisationError("xml", line, f"the row has {len(cells)} cells, the header has {width}")
    return table_of_lines(reader.lines, reader.header_lines, reader.spans, **reader.texts)


MARKUP = (
    Serialisation("html", "HTML, with escapes", "after ToRR", _write_html, read_html, EVERYTHING),
    Serialisation("xml", "XML", "after SUC", _write_xml, _read_xml, EVERYTHING),
)
