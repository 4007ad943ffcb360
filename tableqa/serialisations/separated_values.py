"""Forms whose cells are parted by a sign, with an escape for the sign: CSV, Markdown, lines, one long line."""

import re
from collections.abc import Callable, Iterable, Sequence

from tableqa.data.tables import Table
from tableqa.serialisations.forms import Serialisation, SerialisationError, at_line, check_width, excerpt

# -- quoted: CSV (RFC 4180), and the same with blanks -----------------------------------------------------


def _quoted_writer(separator: str) -> Callable[[Table], str]:
    special = re.compile(rf'[{re.escape(separator)}"\r\n]')

    def field(cell: str, alone: bool) -> str:
        # An empty field that is alone in its line would be a line without fields.
        if special.search(cell) or (not cell and alone):
            return '"' + cell.replace('"', '""') + '"'
        return cell

    def write(table: Table) -> str:
        alone = len(table.header) == 1
        lines = (table.header, *table.rows)
        return "\n".join(separator.join(field(cell, alone) for cell in line) for line in lines)

    return write


def _quoted_reader(name: str, separator: str) -> Callable[[str], Table]:
    sign = re.escape(separator)
    field = re.compile(rf'"((?:[^"]|"")*)"|([^{sign}"\r\n]*)')
    line_end = re.compile(r"\r\n|\n|\r")

    def read(text: str) -> Table:
        lines: list[tuple[int, list[str]]] = []
        lineno, offset = 1, 0
        while True:
            start, cells, quoted = offset, list[str](), False
            while match := field.match(text, offset):  # which may be empty, so there is always one
                quoted = match[1] is not None
                cells.append(match[1].replace('""', '"') if quoted else match[2])
                offset = match.end()
                if not text.startswith(separator, offset):
                    break
                offset += len(separator)
            lines.append((lineno, [] if cells == [""] and not quoted else cells))
            end = line_end.match(text, offset)
            if end is None:
                break
            lineno += text.count("\n", start, end.end())
            offset = end.end()
        if offset < len(text):
            what = f"{excerpt(text[offset:])} follows a field in quotation marks"
            if text[offset] == '"' and not quoted:
                what = "a quotation mark is not closed, or is in a field without quotation marks"
            raise SerialisationError(name, at_line(text, offset), what)
        return _table_of(name, lines)

    return read


def _table_of(name: str, lines: Sequence[tuple[int, list[str]]]) -> Table:
    """The table of lines (number, cells), the header first."""
    (_, header), *rows = lines
    if header and rows and not rows[-1][1]:  # the line break after the last row
        rows.pop()
    for lineno, cells in rows:
        check_width(name, lineno, len(cells), len(header))
    return Table(header, [cells for _, cells in rows])


# -- escaped ----------------------------------------------------------------------------------------------

_BREAKS = {"\n": "\\n", "\r": "\\r"}
_ESCAPED = re.compile(r"\\(.?)", re.DOTALL)


def _escape(text: str, signs: str) -> str:
    """`text` with a backslash before backslashes and `signs`, and with line breaks as \\n and \\r."""
    text = text.replace("\\", "\\\\")
    for sign in signs:
        text = text.replace(sign, "\\" + sign)
    for character, escape in _BREAKS.items():
        text = text.replace(character, escape)
    return text


def _unescape(name: str, line: int, text: str, escapable: str) -> str:
    """What `_escape` made `text` of; SerialisationError for a backslash before anything but `escapable`, n, r and itself."""

    def plain(match: re.Match[str]) -> str:
        if match[1] in ("n", "r"):
            return "\n" if match[1] == "n" else "\r"
        if match[1] == "" or match[1] not in escapable + "\\":
            raise SerialisationError(name, line, f"{excerpt(match[0])} is no escape")
        return match[1]

    return _ESCAPED.sub(plain, text) if "\\" in text else text


# Markdown

_BREAK = re.compile(r"<br>|&#13;")


def _markdown_cell(cell: str) -> str:
    cell = cell.replace("\\", "\\\\").replace("|", "\\|")
    cell = _BREAK.sub(lambda match: "\\" + match[0], cell)
    return cell.replace("\n", "<br>").replace("\r", "&#13;")


def _write_markdown(table: Table) -> str:
    lines = (table.header, ["---"] * len(table.header), *table.rows)
    cells = [[_markdown_cell(cell) for cell in line] for line in lines]
    return "\n".join(f"|{'|'.join(line)}|" for line in cells)


_MARKDOWN = re.compile(r"\\(.?)|<br>|&#13;", re.DOTALL)
_PIPE = re.compile(r"((?:[^\\|]|\\.)*)\|", re.DOTALL)


def _read_markdown(text: str) -> Table:
    lines = list(enumerate(text.removesuffix("\n").split("\n"), 1))
    if len(lines) < 2:
        raise SerialisationError("markdown", None, "there is no second line |---|, which makes it a table")
    marks = _between_pipes(2, lines[1][1])
    if marks == [""]:
        marks = []
    if not all(re.fullmatch(r" *:?-+:? *", mark) for mark in marks):
        raise SerialisationError("markdown", 2, f"{excerpt(lines[1][1])} is not |---|, once for each column")
    rows = []
    for lineno, line in (lines[0], *lines[2:]):
        cells = _between_pipes(lineno, line)
        if not marks and cells == [""]:
            cells = []
        check_width("markdown", lineno, len(cells), len(marks))
        rows.append([_plain_markdown(lineno, cell) for cell in cells])
    return Table(rows[0], rows[1:])


def _between_pipes(lineno: int, line: str) -> list[str]:
    if not line.startswith("|"):
        raise SerialisationError("markdown", lineno, f"{excerpt(line)} does not begin with a pipe")
    cells, offset = [], 1
    while offset < len(line):
        match = _PIPE.match(line, offset)
        if match is None:
            raise SerialisationError("markdown", lineno, f"no pipe follows {excerpt(line[offset:])}")
        cells.append(match[1])
        offset = match.end()
    if not cells:
        raise SerialisationError("markdown", lineno, "there is one pipe only: a row has one at its end, too")
    return cells


def _plain_markdown(lineno: int, cell: str) -> str:
    def plain(match: re.Match[str]) -> str:
        if match[0] == "<br>":
            return "\n"
        if match[0] == "&#13;":
            return "\r"
        if match[1] not in ("\\", "|", "<", "&"):
            raise SerialisationError("markdown", lineno, f"{excerpt(match[0])} is no escape")
        return match[1]

    return _MARKDOWN.sub(plain, cell)


# Lines

_NOTHING = "\\."
"""An empty cell that is alone in its line: the line of a table without columns is empty."""


def _write_lines(separator: str) -> Callable[[Table], str]:
    def write(table: Table) -> str:
        lines = (table.header, *table.rows)
        return "\n".join(
            _NOTHING if line == ("",) else separator.join(_escape(cell, "|") for cell in line)
            for line in lines
        )

    return write


def _read_lines(name: str, separator: str) -> Callable[[str], Table]:
    # A pipe of a cell has a backslash before it; where the separator has a blank there, a text search is enough.
    cuts = re.compile(r"((?:[^\\|]|\\.)*)(\||$)", re.DOTALL)

    def cells_of(lineno: int, line: str) -> list[str]:
        if not line:
            return []
        if line == _NOTHING:
            return [""]
        if separator == "|":
            parts, offset = [], 0
            while True:
                match = cuts.match(line, offset)
                if match is None:
                    raise SerialisationError(name, lineno, "a backslash is at the end of the line")
                parts.append(match[1])
                offset = match.end()
                if not match[2]:
                    break
        else:
            parts = line.split(separator)
        return [_cell(name, lineno, part) for part in parts]

    def read(text: str) -> Table:
        lines = enumerate(text.split("\n"), 1)
        return _table_of(name, [(lineno, cells_of(lineno, line)) for lineno, line in lines])

    return read


def _cell(name: str, lineno: int, text: str) -> str:
    if re.search(r"(?<!\\)(?:\\\\)*\|", text):
        raise SerialisationError(name, lineno, f"a pipe within {excerpt(text)} has no backslash before it")
    return _unescape(name, lineno, text, "|")


# One long line

_MARK = re.compile(r"(row \d+ ):")
_MARK_ESCAPED = re.compile(r"(row \d+ )\\:")


def _write_indexed(table: Table) -> str:
    # A table without columns has no colons, so that it differs from one whose only cells are empty.
    def line(label: str, cells: Iterable[str]) -> str:
        written = [_MARK.sub(r"\1\\:", _escape(cell, "|")) for cell in cells]
        return f"{label} : {' | '.join(written)}" if written else label

    rows = (line(f"row {row_number}", row) for row_number, row in enumerate(table.rows, 1))
    return " ".join((line("col", table.header), *rows))


def _read_indexed(text: str) -> Table:
    name = "indexed_row_major"
    if "\n" in text:
        raise SerialisationError(name, at_line(text, text.index("\n") + 1), "the form is one line")
    if not text.startswith("col : "):
        match = re.fullmatch(r"col((?: row \d+)*)", text)
        count = match[1].count("row") if match else 0
        if text != " ".join(("col", *(f"row {index}" for index in range(1, count + 1)))):
            raise SerialisationError(name, 1, f"{excerpt(text)} does not begin with “col : ”")
        return Table([], [[]] * count)
    lines, offset = list[str](), len("col : ")
    while (end := text.find(mark := f" row {len(lines) + 1} : ", offset)) >= 0:
        lines.append(text[offset:end])
        offset = end + len(mark)
    lines.append(text[offset:])
    rows = list[list[str]]()
    for index, line in enumerate(lines):
        if stray := _MARK.search(line):
            raise SerialisationError(name, 1, f"“{stray[0]}” stands where row {index + 1} or a cell was due")
        cells = [_cell(name, 1, _MARK_ESCAPED.sub(r"\1:", part)) for part in line.split(" | ")]
        if rows and len(cells) != len(rows[0]):
            what = f"row {index} has {len(cells)} cells, the header has {len(rows[0])}"
            raise SerialisationError(name, 1, what)
        rows.append(cells)
    return Table(rows[0], rows[1:])


SEPARATED: Sequence[Serialisation] = (
    Serialisation("csv", "CSV", "RFC 4180; ToRR's CSV", _quoted_writer(","), _quoted_reader("csv", ",")),
    Serialisation(
        "concatenation",
        "Cells joined by spaces, quoted where needed, one row per line",
        "after ToRR",
        _quoted_writer(" "),
        _quoted_reader("concatenation", " "),
    ),
    Serialisation(
        "markdown", "Markdown, with escapes", "GitHub's Markdown; after ToRR", _write_markdown, _read_markdown
    ),
    Serialisation(
        "nl_sep",
        "Cells separated by |, one row per line",
        "after SUC",
        _write_lines("|"),
        _read_lines("nl_sep", "|"),
    ),
    Serialisation(
        "pipe_lines",
        "Cells separated by a space, | and a space, one row per line",
        "after FREB-TQA's prompts",
        _write_lines(" | "),
        _read_lines("pipe_lines", " | "),
    ),
    Serialisation(
        "indexed_row_major",
        "One line, each row with its number",
        "after ToRR and TAPEX",
        _write_indexed,
        _read_indexed,
    ),
)
