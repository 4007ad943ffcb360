"""Tables of figures, and the five forms in which they go out: text, Markdown, LaTeX, HTML and CSV.

    sheet = Sheet("structure", "Structure", columns, rows, note="Shares times 100.")
    as_text(sheet), as_markdown(sheet), as_latex(sheet), as_html(sheet), as_csv(sheet)

Cells are text: every form escapes them whole. What a spreadsheet would take for a formula gets an
apostrophe in front (OWASP, CSV injection); numbers are written as numbers and stay as they are.

The forms for people write a figure as it is read. CSV is for programs: numbers in full, the ends of an interval and n in
columns of their own, and an empty cell where there is no number.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from tableqa.core.rounding import decimals
from tableqa.core.translation import gettext, gettext_noop, translate_stored
from tableqa.statistics.robustness import Estimate
from tableqa.writers.latex_characters import escape, unsupported
from tableqa.writers.latex_widths import Layout, Size, fitted

UNDEFINED = gettext_noop("undefined")
NOTHING = "–"
"""What is where there is nothing to say."""


@dataclass(frozen=True)
class Cell:
    """What is in one place: a text or a number.

    text     as it is read; shares are times 100, as the papers print them
    number   the number behind the text, None where there is none
    detail   what is read beside it in smaller type: an interval, a deviation
    reason   why the figure is undefined, or in which sources it is; "" where it is defined
    best     whether it is the best of its column, which is set in bold
    low, high, n, deviation   the numbers behind the detail: ends of the interval, units, standard deviation
    no_interval   why a defined figure has no interval; "" where it has one, or where none is meant
    address  where the text links to on a page; the other forms do not have it
    """

    text: str
    number: float | None = None
    detail: str = ""
    reason: str = ""
    best: bool = False
    low: float | None = None
    high: float | None = None
    n: int | None = None
    deviation: float | None = None
    no_interval: str = ""
    address: str = ""


Line = Sequence[Cell | str]
"""The cells of a row; a text means a cell that holds it."""


@dataclass(frozen=True)
class Column:
    """A column: its title, the group of columns that it is in, and whether it holds numbers.

    counted   the title of the column with n, for a column of estimates: the forms for people then write it as three
              columns (value, interval, n), and CSV as value, low, high and n
    unit      of the numbers, such as "%": a column of CSV, where the texts carry it themselves
    """

    title: str
    group: str = ""
    numeric: bool = True
    counted: str = ""
    unit: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table of figures.

    name     short, of letters, digits and hyphens: for files and anchors
    rows     as many cells as there are columns; the first is the row's name
    note     what has to be known to read it
    subject  what the table is about, such as a project and a batch, in all forms but HTML
    label    of LaTeX, unique within a paper; "" for the name
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    subject: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        for row_number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"{self.name}: row {row_number} has {len(row)} cells for {len(self.columns)} columns"
                )

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The groups of columns in their order, each with the number of its columns."""
        return [(name, len(list(of))) for name, of in groupby(self.columns, key=lambda column: column.group)]

    @property
    def grouped(self) -> bool:
        """Whether the columns are in groups at all."""
        return any(column.group for column in self.columns)

    @property
    def laid_out(self) -> Sheet:
        """The sheet as people read it: a column of estimates is three, with the value, its interval and n."""
        if not any(column.counted for column in self.columns):
            return self
        columns = tuple(part for column in self.columns for part in _columns_of(column))
        rows = tuple(
            tuple(
                part
                for cell, column in zip(row, self.columns, strict=True)
                for part in (_parts_of(cell) if column.counted else (cell,))
            )
            for row in self.rows
        )
        return replace(self, columns=columns, rows=rows)


def text(value: str) -> Cell:
    """A cell that holds a text."""
    return Cell(value)


def count(value: int) -> Cell:
    """A cell that holds a whole number."""
    return Cell(f"{value:,}", float(value))


def share(estimate: Estimate, *, deviation: float | None = None) -> Cell:
    """A figure times 100 with two decimals, as the papers print it; beside it its deviation over seeds and its interval."""
    cell = figure(estimate, factor=100, places=2)
    if estimate.value is None:
        return cell
    detail = "" if deviation is None else f"± {100 * deviation:.2f}"
    if cell.detail:
        detail = f"{detail}, {cell.detail}" if detail else cell.detail
    spread = None if deviation is None else round(100 * deviation, 6)
    return replace(cell, detail=detail, deviation=spread)


def figure(estimate: Estimate, *, factor: float = 1.0, places: int = 3) -> Cell:
    """A figure with its interval beside it, times `factor`, or the reason why it is undefined."""
    if estimate.value is None:
        reason = translate_stored(estimate.reason or gettext_noop("No data yet."))
        return Cell(gettext(UNDEFINED), reason=reason, n=estimate.n)
    low, high, detail = estimate.low, estimate.high, ""
    value = factor * estimate.value
    if low is not None and high is not None:
        low, high = round(factor * low, 6), round(factor * high, 6)
        places, of_ends = decimals(value, low, high, places)
        detail = gettext("{low} to {high}").format(low=_rounded(low, of_ends), high=_rounded(high, of_ends))
    reason = translate_stored(estimate.reason) if estimate.reason else ""
    return Cell(_rounded(value, places), round(value, 6), detail, reason, low=low, high=high, n=estimate.n)


def _rounded(value: float, places: int) -> str:
    written = f"{value:.{places}f}"
    return written.removeprefix("-") if not float(written) else written


def _columns_of(column: Column) -> tuple[Column, ...]:
    if not column.counted:
        return (column,)
    return (
        replace(column, counted=""),
        Column(gettext("95 % CI"), column.group),
        Column(column.counted, column.group),
    )


def _parts_of(cell: Cell) -> tuple[Cell, Cell, Cell]:
    interval = Cell(cell.detail or (gettext("none") if cell.no_interval else NOTHING))
    n = Cell(NOTHING) if cell.n is None else Cell(f"{cell.n:,}", float(cell.n))
    return replace(cell, detail="", low=None, high=None, n=None), interval, n


def listed(name: str, title: str, header: Sequence[str], rows: Iterable[Line], texts: int = 1) -> Sheet:
    """A sheet of columns without groups, of which the first `texts` hold texts and the others figures."""
    columns = tuple(Column(title, numeric=index >= texts) for index, title in enumerate(header))
    lines = (tuple(text(cell) if isinstance(cell, str) else cell for cell in row) for row in rows)
    return Sheet(name, title, columns, tuple(lines))


# -- the forms --------------------------------------------------------------------------------------


def as_text(sheet: Sheet) -> str:
    """Columns of equal width, for a terminal."""
    sheet = sheet.laid_out
    lines = [[_full_title(column) for column in sheet.columns]]
    lines += [
        [_plain(f"{cell.text} ({cell.detail})" if cell.detail else cell.text) for cell in row]
        for row in sheet.rows
    ]
    widths = [max(len(line[index]) for line in lines) for index in range(len(sheet.columns))]
    printed_lines = [
        "  ".join(
            cell.rjust(width) if column.numeric and index else cell.ljust(width)
            for index, (cell, width, column) in enumerate(zip(line, widths, sheet.columns, strict=True))
        ).rstrip()
        for line in lines
    ]
    below = remarks(sheet)
    head = filter(None, (sheet.title, _plain(sheet.subject)))
    return "\n".join([*head, "", *printed_lines, *(["", sheet.note] if sheet.note else []), *below]) + "\n"


def as_markdown(sheet: Sheet) -> str:
    """A pipe table as GitHub reads it, with everything escaped that Markdown or HTML would read."""
    sheet = sheet.laid_out
    titles = [_markdown(_full_title(column)) for column in sheet.columns]
    marks = ["---:" if column.numeric else "---" for column in sheet.columns]
    lines = [_piped(titles), _piped(marks)]
    lines += [_piped([_markdown_cell(cell) for cell in row]) for row in sheet.rows]
    note = [f"\n{_markdown(sheet.note)}"] if sheet.note else []
    below = [f"\n{_markdown(sentence)}" for sentence in remarks(sheet)]
    subject = [f"{_markdown(sheet.subject)}\n"] if sheet.subject else []
    return "\n".join([f"### {_markdown(sheet.title)}\n", *subject, *lines, *note, *below]) + "\n"


def _markdown_cell(cell: Cell) -> str:
    content = _markdown(cell.text)
    content = f"**{content}**" if cell.best else content
    return f"{content} ({_markdown(cell.detail)})" if cell.detail else content


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#!|~<>&$])")


def _markdown(value: str) -> str:
    """Text for a cell or a line below, of which nothing is read as a mark."""
    plain = _plain(value)
    return _MARKDOWN.sub(
        lambda match: f"&#{ord(match[0])};" if match[0] in "<>&|" else f"\\{match[0]}", plain
    )


def as_latex(sheet: Sheet) -> str:
    r"""Table environments with the rules of booktabs (`\usepackage{booktabs}`), in a size that fits into a page
    (`tableqa.writers.latex_widths`; wrapped columns need array, a table set sideways rotating). A table that is
    longer than a page
    has parts. Everything is escaped; write it with an engine that reads UTF-8."""
    sheet = sheet.laid_out
    layout = fitted(
        [column.title for column in sheet.columns],
        [
            [f"{row[at].text} {row[at].detail}".strip() for row in sheet.rows]
            for at in range(len(sheet.columns))
        ],
        [column.numeric for column in sheet.columns],
    )
    head = []
    if sheet.grouped:
        spans = [rf"\multicolumn{{{n}}}{{c}}{{{_latex(name)}}}" for name, n in sheet.groups]
        head.append(" & ".join(spans) + r" \\")
    head += [" & ".join(map(_latex, titles)) + r" \\" for titles in layout.heads]
    lines = [" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in sheet.rows]
    notes = " ".join(filter(None, [sheet.note, *remarks(sheet)]))
    caption = ". ".join(filter(None, [sheet.title, sheet.subject, notes]))
    parts = layout.parts(caption)
    packages = ["booktabs", *["array"] * layout.wraps, *["rotating"] * layout.is_sideways]
    anchor, tables = re.sub("[^A-Za-z0-9-]", "-", sheet.label or sheet.name), []
    for position, part in enumerate(parts, start=1):
        counted = gettext("{title}, part {number} of {total}").format(
            title=sheet.title, number=position, total=len(parts)
        )
        tables += _latex_table(
            layout,
            head,
            lines[part],
            caption=_latex(caption if position == 1 else counted),
            label=rf"\label{{tab:{anchor}}}" if position == 1 else "",
        )
    needs = rf"\usepackage{{{','.join(packages)}}}"
    if any(map(unsupported, tables)):
        needs = f"{needs} and {ENGINE}"
    return "\n".join([f"% needs {needs}", *tables, ""])


ENGINE = "an engine such as XeLaTeX or LuaLaTeX, with a font for all characters"
"""What LaTeX needs to set the characters that `latex_characters.unsupported` finds."""


def _latex_table(
    layout: Layout, head: Sequence[str], lines: Sequence[str], *, caption: str, label: str
) -> list[str]:
    environment = "sidewaystable" if layout.is_sideways else "table"
    return [
        rf"\begin{{{environment}}}",
        r"\centering",
        *_size(layout.size),
        rf"\caption{{{caption}}}",
        *([label] if label else []),
        rf"\begin{{tabular}}{{{layout.kinds}}}",
        r"\toprule",
        *head,
        r"\midrule",
        *lines,
        r"\bottomrule",
        r"\end{tabular}",
        rf"\end{{{environment}}}",
    ]


def _size(size: Size) -> list[str]:
    if not size.command:
        return []
    return [rf"\{size.command}", rf"\setlength{{\tabcolsep}}{{{size.beside}pt}}"]


def _latex_cell(cell: Cell) -> str:
    written = cell.text.replace("\N{MINUS SIGN}", "-")
    # Set as mathematics, so that a minus is one; a comma would be followed by a space.
    if _NUMBER.fullmatch(written):
        written = written.replace(",", "{,}").replace("%", r"\%")
        content = rf"$\mathbf{{{written}}}$" if cell.best else f"${written}$"
    else:
        content = rf"\textbf{{{_latex(cell.text)}}}" if cell.best else _latex(cell.text)
    return rf"{content} {{\scriptsize {_latex(cell.detail)}}}" if cell.detail else content


def _latex(value: str) -> str:
    return escape(_plain(value))


def as_html(sheet: Sheet) -> str:
    """A table with its caption, heads with their scopes, classes `data` and `n` as the style sheet has them."""
    named = gettext("{title}, table").format(title=sheet.title)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{_html(named)}">'
        f'<table class="data"><caption>{_html(sheet.title)}</caption>\n'
        f"{html_rows(sheet)}</table></div>{html_notes(sheet)}\n"
    )


def html_rows(sheet: Sheet) -> str:
    """Head and body of the table, for a page that writes the caption itself."""
    sheet, head = sheet.laid_out, []
    if sheet.grouped:
        spans = "".join(
            f'<th scope="colgroup" colspan="{n}" class="g">{_html(name)}</th>'
            if name
            else f'<td colspan="{n}"></td>'
            for name, n in sheet.groups
        )
        head.append(f"<tr>{spans}</tr>")
    titles = "".join(
        f'<th scope="col"{_class("n" if column.numeric else "")}>{_html(column.title)}</th>'
        for column in sheet.columns
    )
    head.append(f"<tr>{titles}</tr>")
    body = "\n".join(
        "<tr>"
        + "".join(
            _html_cell(cell, column, first=index == 0)
            for index, (cell, column) in enumerate(zip(row, sheet.columns, strict=True))
        )
        + "</tr>"
        for row in sheet.rows
    )
    return f"<thead>{''.join(head)}</thead>\n<tbody>\n{body}\n</tbody>"


def html_notes(sheet: Sheet) -> str:
    """What has to be known to read the table, to be below it; "" where there is nothing."""
    notes = [f"<p>{_html(note)}</p>" for note in [sheet.note, *remarks(sheet)] if note]
    return f'\n<div class="soft small">{"".join(notes)}</div>' if notes else ""


def _html_cell(cell: Cell, column: Column, *, first: bool) -> str:
    content = _html(cell.text)
    content = f'<a href="{_html(cell.address)}">{content}</a>' if cell.address else content
    content = f"<strong>{content}</strong>" if cell.best else content
    detail = f' <small class="soft">{_html(cell.detail)}</small>' if cell.detail else ""
    reason = f' title="{_html(cell.reason)}"' if cell.reason else ""
    if first:
        return f'<th scope="row" dir="auto">{content}{detail}</th>'
    return f"<td{_class('n' if column.numeric else '')}{reason}>{content}{detail}</td>"


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _html(value: str) -> str:
    return html.escape(_plain(value))


def as_csv(sheet: Sheet) -> str:
    """Comma-separated, one line of heads, numbers in full, empty where there is none.

    A column of estimates is followed by columns with the ends of the interval, n and the deviation, as far as it has
    them. Where it is the only one that is declared so (`Column.counted`), they are called value, low, high and n. The last
    column is the subject of the table, if it has one, so that the rows of several files can be read together.
    """
    single = sum(bool(column.counted) for column in sheet.columns) == 1
    columns = [
        _csv_columns(column, [row[index] for row in sheet.rows], short=single and bool(column.counted))
        for index, column in enumerate(sheet.columns)
    ]
    if sheet.subject:
        columns.append([("Subject", [guarded(_plain(sheet.subject)) for _ in sheet.rows])])
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([guarded(head) for parts in columns for head, _ in parts])
    for line in range(len(sheet.rows)):
        writer.writerow([cells[line] for parts in columns for _, cells in parts])
    return out.getvalue()


def _csv_columns(column: Column, cells: Sequence[Cell], *, short: bool) -> list[tuple[str, list[str]]]:
    """The columns of CSV that one column becomes, each a head and its cells."""
    title = _full_title(column)
    head = "value" if short else title
    csv_columns = [(head, [_csv_value(cell, column) for cell in cells])]
    further: tuple[tuple[str, list[float | None]], ...] = (
        ("low", [cell.low for cell in cells]),
        ("high", [cell.high for cell in cells]),
        ("n", [cell.n for cell in cells]),
        ("sd", [cell.deviation for cell in cells]),
    )
    for name, values in further:
        is_required = column.counted and name != "sd"
        if is_required or any(value is not None for value in values):
            csv_columns.append(
                (name if short else f"{title}, {name}", [_csv_number(value) for value in values])
            )
    numbered = any(cell.number is not None for cell in cells)
    if any(cell.detail for cell in cells) and not column.counted and len(csv_columns) == 1:
        csv_columns.append((f"{title}, detail", [guarded(_plain(cell.detail)) for cell in cells]))
    if column.unit and numbered:
        csv_columns.append(("unit" if short else f"{title}, unit", [column.unit for _ in cells]))
    return csv_columns


def _csv_value(cell: Cell, column: Column) -> str:
    if cell.number is not None:
        return _csv_number(cell.number)
    absent = cell.text in (NOTHING, UNDEFINED, gettext(UNDEFINED)) or column.counted
    return "" if absent and column.numeric else guarded(_plain(cell.text))


def _csv_number(value: float | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if float(value).is_integer() else str(round(value, 6))


_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?(?: ?%)?", re.ASCII)
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
# Where commas are decimal points, spreadsheets part a line at each semicolon, and at line ends, inside of our quotes, too.
_FORMULA_INSIDE = re.compile(r"([;\t\r\n][ \"]*)(?=[=+\-@＝＋－＠])")


def guarded(value: str) -> str:
    """A text that no spreadsheet takes for a formula, whatever it parts lines at: an apostrophe in front where it would.
    Numbers and percentages stay as they are."""
    escaped = _FORMULA_INSIDE.sub(r"\1'", value)
    return f"'{escaped}" if escaped.startswith(_FORMULA) and not _NUMBER.fullmatch(escaped) else escaped


# -- what they share --------------------------------------------------------------------------------

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def _plain(value: str) -> str:
    """One line: what ends a line, and what cannot be seen, is a blank."""
    return _UNSEEN.sub(" ", value).strip()


def _full_title(column: Column) -> str:
    return f"{column.group}: {column.title}" if column.group else column.title


def remarks(sheet: Sheet) -> Sequence[str]:
    """Why figures are undefined or without an interval, each sentence once."""
    cells = [cell for row in sheet.rows for cell in row]
    undefined = [f"{gettext(UNDEFINED)}: {cell.reason}" for cell in cells if cell.reason]
    without = [
        gettext("No interval: {reason}").format(reason=cell.no_interval) for cell in cells if cell.no_interval
    ]
    return list(dict.fromkeys([*undefined, *without]))


# -- texts outside of tables ------------------------------------------------------------------------


def escape_markdown(value: str) -> str:
    """Text for a line of Markdown, of which nothing is read as a mark."""
    return _markdown(value)


def escape_latex(value: str, *, strip: bool = True) -> str:
    """Text for LaTeX, of which nothing is read as a command. Without `strip`, blanks at its ends stay."""
    cleaned = _UNSEEN.sub(" ", value)
    return _latex(cleaned) if strip else escape(cleaned)
