"""Tables of figures, and the five forms in which they go out: text, Markdown, LaTeX, HTML and CSV.

    sheet = Sheet("structure", "Structure", columns, rows, note="Shares times 100.")
    as_text(sheet), as_markdown(sheet), as_latex(sheet), as_html(sheet), as_csv(sheet)

Whatever stands in a cell is text: every form escapes it whole. What a spreadsheet would take for a formula gets an
apostrophe in front (OWASP, CSV injection); numbers are written as numbers and stay as they are.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from tableqa.language import gettext, gettext_noop, shown
from tableqa.metrics import Estimate

UNDEFINED = gettext_noop("undefined")
NOTHING = "–"
"""What stands where there is nothing to say."""


@dataclass(frozen=True)
class Cell:
    """What stands in one place: a text or a number.

    text     as it is read; shares are times 100, as the papers print them
    number   the number behind the text, None where there is none
    detail   what is read beside it in smaller type: an interval, a deviation
    reason   why the figure is undefined, or in which sources it is; "" where it is defined
    best     whether it is the best of its column, which is set in bold
    """

    text: str
    number: float | None = None
    detail: str = ""
    reason: str = ""
    best: bool = False


Line = Sequence[Cell | str]
"""The cells of a row; a text stands for a cell that holds it."""


@dataclass(frozen=True)
class Column:
    """A column: its title, the group of columns that it stands in, and whether it holds numbers."""

    title: str
    group: str = ""
    numeric: bool = True


@dataclass(frozen=True)
class Sheet:
    """A table of figures.

    name     short, of letters, digits and hyphens: for files and anchors
    rows     as many cells as there are columns; the first is the row's name
    note     what has to be known to read it
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"{self.name}: row {number} has {len(row)} cells for {len(self.columns)} columns"
                )

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The groups of columns in their order, each with the number of its columns."""
        return [(name, len(list(of))) for name, of in groupby(self.columns, key=lambda column: column.group)]

    @property
    def grouped(self) -> bool:
        """Whether the columns stand in groups at all."""
        return any(column.group for column in self.columns)

    def to_dict(self) -> dict[str, Any]:
        """JSON: titles, and cells with their numbers."""
        return {
            "name": self.name,
            "title": self.title,
            "note": self.note,
            "columns": [{"title": one.title, "group": one.group} for one in self.columns],
            "rows": [
                [
                    {"text": cell.text, "number": cell.number, "detail": cell.detail, "reason": cell.reason}
                    for cell in row
                ]
                for row in self.rows
            ],
        }


def text(value: str) -> Cell:
    """A cell that holds a text."""
    return Cell(value)


def count(value: int) -> Cell:
    """A cell that holds a whole number."""
    return Cell(f"{value:,}", float(value))


def share(estimate: Estimate, *, deviation: float | None = None, interval: bool = True) -> Cell:
    """A figure times 100 with two decimals, as the papers print it; beside it its interval, or its deviation over seeds."""
    found = figure(estimate, factor=100, places=2)
    if estimate.value is None:
        return found
    detail = "" if deviation is None else f"± {100 * deviation:.2f}"
    if interval and found.detail:
        detail = f"{detail}, {found.detail}" if detail else found.detail
    return replace(found, detail=detail)


def figure(estimate: Estimate, *, factor: float = 1.0, places: int = 3) -> Cell:
    """A figure with its interval beside it, times `factor`, or the reason why it is undefined."""
    if estimate.value is None:
        return Cell(gettext(UNDEFINED), reason=shown(estimate.reason or gettext_noop("No data yet.")))
    low, high, detail = estimate.low, estimate.high, ""
    if low is not None and high is not None:
        detail = gettext("{low} to {high}").format(
            low=_rounded(factor * low, places), high=_rounded(factor * high, places)
        )
    reason = shown(estimate.reason) if estimate.reason else ""
    return Cell(_rounded(factor * estimate.value, places), round(factor * estimate.value, 6), detail, reason)


def _rounded(value: float, places: int) -> str:
    written = f"{value:.{places}f}"
    return written.removeprefix("-") if not float(written) else written


def listed(name: str, title: str, header: Sequence[str], rows: Iterable[Line], texts: int = 1) -> Sheet:
    """A sheet of columns without groups, of which the first `texts` hold texts and the others figures."""
    columns = tuple(Column(title, numeric=place >= texts) for place, title in enumerate(header))
    lines = (tuple(text(cell) if isinstance(cell, str) else cell for cell in row) for row in rows)
    return Sheet(name, title, columns, tuple(lines))


# -- the forms --------------------------------------------------------------------------------------


def as_text(sheet: Sheet, *, details: bool = False) -> str:
    """Columns of equal width, for a terminal. Intervals are left to the other forms, unless asked for."""
    lines = [[_full_title(column) for column in sheet.columns]]
    lines += [
        [_plain(f"{cell.text} ({cell.detail})" if details and cell.detail else cell.text) for cell in row]
        for row in sheet.rows
    ]
    widths = [max(len(line[place]) for line in lines) for place in range(len(sheet.columns))]
    made = [
        "  ".join(
            cell.rjust(width) if column.numeric and place else cell.ljust(width)
            for place, (cell, width, column) in enumerate(zip(line, widths, sheet.columns, strict=True))
        ).rstrip()
        for line in lines
    ]
    reasons = [f"{UNDEFINED}: {reason}" for reason in _reasons(sheet)]
    return "\n".join([sheet.title, "", *made, *(["", sheet.note] if sheet.note else []), *reasons]) + "\n"


def as_markdown(sheet: Sheet) -> str:
    """A pipe table as GitHub reads it, with everything escaped that Markdown or HTML would read."""
    titles = [_markdown(_full_title(column)) for column in sheet.columns]
    marks = ["---:" if column.numeric else "---" for column in sheet.columns]
    lines = [_piped(titles), _piped(marks)]
    lines += [_piped([_markdown_cell(cell) for cell in row]) for row in sheet.rows]
    note = [f"\n{_markdown(sheet.note)}"] if sheet.note else []
    reasons = [f"\n*{UNDEFINED}*: {_markdown(reason)}" for reason in _reasons(sheet)]
    return "\n".join([f"### {_markdown(sheet.title)}\n", *lines, *note, *reasons]) + "\n"


def _markdown_cell(cell: Cell) -> str:
    said = _markdown(cell.text)
    said = f"**{said}**" if cell.best else said
    return f"{said} ({_markdown(cell.detail)})" if cell.detail else said


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#!|~<>&$])")


def _markdown(value: str) -> str:
    """Text for a cell or a line below, of which nothing is read as a mark."""
    said = _plain(value)
    return _MARKDOWN.sub(lambda found: f"&#{ord(found[0])};" if found[0] in "<>&|" else f"\\{found[0]}", said)


def as_latex(sheet: Sheet) -> str:
    """A table environment that needs no package. Everything is escaped; write it with an engine that reads UTF-8."""
    kinds = "".join("r" if column.numeric else "l" for column in sheet.columns)
    head = []
    if sheet.grouped:
        spans = [rf"\multicolumn{{{n}}}{{c}}{{{_latex(name)}}}" for name, n in sheet.groups]
        head.append(" & ".join(spans) + r" \\")
    head.append(" & ".join(_latex(column.title) for column in sheet.columns) + r" \\")
    lines = [" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in sheet.rows]
    notes = " ".join(filter(None, [sheet.note, *(f"{UNDEFINED}: {one}" for one in _reasons(sheet))]))
    caption = _latex(". ".join(filter(None, [sheet.title, notes])))
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\label{{tab:{re.sub('[^a-z0-9-]', '-', sheet.name)}}}",
            rf"\begin{{tabular}}{{{kinds}}}",
            r"\hline",
            *head,
            r"\hline",
            *lines,
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _latex_cell(cell: Cell) -> str:
    if _NUMBER.fullmatch(cell.text):  # set as mathematics, so that a minus is one
        said = rf"$\mathbf{{{cell.text}}}$" if cell.best else f"${cell.text}$"
    else:
        said = rf"\textbf{{{_latex(cell.text)}}}" if cell.best else _latex(cell.text)
    return rf"{said} {{\scriptsize {_latex(cell.detail)}}}" if cell.detail else said


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "±": r"\(\pm\)",
    "–": "--",
    "[": "{[}",  # behind a \\ it would be an option
    "]": "{]}",
    "-": "{-}",  # two would be a dash
}


def _latex(value: str) -> str:
    said = _plain(value)
    if _NUMBER.fullmatch(said):
        return said
    return "".join(_LATEX.get(character, character) for character in said)


def as_html(sheet: Sheet) -> str:
    """A table with its caption, heads with their scopes, classes `data` and `n` as the style sheet has them."""
    head = []
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
            _html_cell(cell, column, first=place == 0)
            for place, (cell, column) in enumerate(zip(row, sheet.columns, strict=True))
        )
        + "</tr>"
        for row in sheet.rows
    )
    notes = [f"<p>{_html(said)}</p>" for said in filter(None, [sheet.note])]
    notes += [f"<p>{_html(gettext(UNDEFINED))}: {_html(reason)}</p>" for reason in _reasons(sheet)]
    named = gettext("{title}, table").format(title=sheet.title)
    below = f'\n<div class="soft small">{"".join(notes)}</div>' if notes else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{_html(named)}">'
        f'<table class="data"><caption>{_html(sheet.title)}</caption>\n'
        f"<thead>{''.join(head)}</thead>\n<tbody>\n{body}\n</tbody></table></div>{below}\n"
    )


def _html_cell(cell: Cell, column: Column, *, first: bool) -> str:
    said = _html(cell.text)
    said = f"<strong>{said}</strong>" if cell.best else said
    detail = f' <small class="soft">{_html(cell.detail)}</small>' if cell.detail else ""
    reason = f' title="{_html(cell.reason)}"' if cell.reason else ""
    if first:
        return f'<th scope="row" dir="auto">{said}{detail}</th>'
    return f"<td{_class('n' if column.numeric else '')}{reason}>{said}{detail}</td>"


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _html(value: str) -> str:
    return html.escape(_plain(value))


def as_csv(sheet: Sheet) -> str:
    """Comma-separated, one line of heads; beside each column with intervals or deviations a second one that holds them."""
    beside = [any(row[place].detail for row in sheet.rows) for place in range(len(sheet.columns))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    heads: list[str] = []
    for column, has_detail in zip(sheet.columns, beside, strict=True):
        title = _full_title(column)
        heads += [guarded(title), guarded(f"{title}, interval")] if has_detail else [guarded(title)]
    writer.writerow(heads)
    for row in sheet.rows:
        line: list[str] = []
        for cell, has_detail in zip(row, beside, strict=True):
            said = f"{cell.number:g}" if cell.number is not None and cell.number.is_integer() else cell.text
            line += (
                [guarded(_plain(said)), guarded(_plain(cell.detail))]
                if has_detail
                else [guarded(_plain(said))]
            )
        writer.writerow(line)
    return out.getvalue()


_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?", re.ASCII)
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
# Where commas are decimal points, spreadsheets part a line at each semicolon, and at line ends, inside of our quotes, too.
_FORMULA_INSIDE = re.compile(r"([;\t\r\n][ \"]*)(?=[=+\-@＝＋－＠])")


def guarded(value: str) -> str:
    """A text that no spreadsheet takes for a formula, whatever it parts lines at: an apostrophe in front where it would.
    Numbers stay as they are."""
    said = _FORMULA_INSIDE.sub(r"\1'", value)
    return f"'{said}" if said.startswith(_FORMULA) and not _NUMBER.fullmatch(said) else said


# -- what they share --------------------------------------------------------------------------------

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def _plain(value: str) -> str:
    """One line: what ends a line, and what cannot be seen, is a blank."""
    return _UNSEEN.sub(" ", value).strip()


def _full_title(column: Column) -> str:
    return f"{column.group}: {column.title}" if column.group else column.title


def _reasons(sheet: Sheet) -> Sequence[str]:
    """Why figures are undefined, each reason once."""
    return list(dict.fromkeys(cell.reason for row in sheet.rows for cell in row if cell.reason))
