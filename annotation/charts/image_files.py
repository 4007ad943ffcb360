"""Charts as files that are alone: SVG, PDF and PNG for a paper, drawn by matplotlib from what `series` describes.

The same figure gives the same bytes: no date, no program version, a fixed salt of the ids. Fonts are embedded (outlines
in SVG, TrueType in PDF, as conferences ask for; for letters that DejaVu Sans lacks see `_with_fallback`). Text is never
read as a formula, and each file has title, subject, axis, n and the meaning of its intervals. Colours are those of the
pages in light mode; series differ in mark and dash or hatch, too.
"""

from __future__ import annotations

import io
import re
import textwrap
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.utils.html import escape
from django.utils.translation import gettext, gettext_noop

from annotation.charts import fallback_fonts
from annotation.charts.figure import TEXTS, Figure
from annotation.charts.series import (
    Axis,
    Bars,
    Columns,
    Distribution,
    Heat,
    Lines,
    Point,
    Series,
    Strip,
    missing_text,
    n_equals,
    shorten,
)
from tableqa.writers.report_tables import NOTHING, remarks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

COLOURS = ("#1c5d99", "#b4500a", "#1a6b45", "#7a3c9a", "#a52a20", "#0f6f75", "#8a6100", "#55606c")
"""The light colours of static/askew/charts.css."""
INK = "#20252b"
MARKERS = ("o", "s", "^", "D", "P", "v")
DASHES: tuple[Any, ...] = ("-", (0, (6, 3)), (0, (2, 3)), (0, (8, 3, 2, 3)), (0, (1, 2)), (0, (10, 4)))
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "---")
WIDTH = 6.3
"""Inches: the width of the text of a page of A4 with usual margins."""
CHARACTERS = 84
"""Characters of a line of the title or of a note at this width."""
LINE = 0.14
"""Inches: the height of a line of the subject or of a note."""
MOST_WRITTEN = 12
"""Columns of a heat map up to which the values are in the squares."""
INCOMPLETE = gettext_noop("Some characters are missing: no installed font has them.")
STYLE: Any = {
    "font.family": fallback_fonts.FIRST,  # comes with matplotlib, so that every machine draws the same
    "font.size": 8.0,
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#d8d8d8",
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "path",
    "svg.hashsalt": "askew",
    "pdf.fonttype": 42,
    "figure.facecolor": "white",
    "savefig.dpi": 200,
}
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "Askew"},
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": "Askew", "Producer": None},
    "png": {"Software": "Askew"},
}
_ONE_AT_A_TIME = threading.Lock()
"""The style of matplotlib is that of the whole process."""


def content(figure: Figure, format: str) -> bytes:
    """The table (tex, md, csv) or the chart (svg, pdf, png) as the content of a file. Raises KeyError for another."""
    if format in TEXTS:
        return TEXTS[format][1](figure.sheet_of_file).encode()
    if format not in figure.formats:
        raise KeyError(format)
    return image(figure, format)


def image(figure: Figure, format: str) -> bytes:
    """The chart of a figure as a file: svg, pdf or png. Raises ValueError for a figure without a chart."""
    if figure.chart is None:
        raise ValueError(f"{figure.name} is a table, without a chart")
    import matplotlib
    from matplotlib.text import Text

    out = io.BytesIO()
    with _ONE_AT_A_TIME, matplotlib.rc_context(STYLE):
        canvas = _render(figure)
        texts: list[Any] = canvas.findobj(Text)
        chosen = fallback_fonts.fallback({character for text in texts for character in text.get_text()})
        if chosen.families or chosen.missing:
            matplotlib.rcParams.update(_with_fallback(chosen.families))
            is_incomplete = bool(chosen.missing) and format != "svg"
            canvas = _render(figure, gettext(INCOMPLETE) if is_incomplete else "")
        metadata = {**_METADATA[format], "Title": ". ".join(filter(None, (figure.title, _subject(figure))))}
        canvas.savefig(out, format=format, bbox_inches="tight", pad_inches=0.06, metadata=metadata)
    content = out.getvalue()
    return _with_description(content, figure) if format == "svg" else content


def _render(figure: Figure, note: str = "") -> Canvas:
    """The figure as matplotlib draws it in the style at hand, with a further sentence below it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    subject = _lines(_subject(figure), 100)
    further = len(subject.splitlines()) + len(_remarks(figure).splitlines())
    canvas = Canvas(figsize=(WIDTH, _height(figure.chart) + LINE * further), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.add_subplot()
    _DRAWN[type(figure.chart)](axes, figure.chart)
    _head(canvas, axes, _lines(figure.title), subject)
    if below := "\n".join(filter(None, (_footnote(figure), note))):
        canvas.supxlabel(below, fontsize=7.5, color="#444444", x=0.01, ha="left")
    return canvas


def _head(canvas: Canvas, axes: Axes, title: str, subject: str) -> None:
    """The title and, in lines that it leaves free at its end, the subject in smaller letters."""
    free = "\n " * len(subject.splitlines())
    drawn = canvas.suptitle(title + free, fontsize=9.5, fontweight="bold", x=0.01, ha="left")
    if subject:
        options: Any = {"xycoords": drawn, "va": "bottom", "ha": "left", "annotation_clip": False}
        axes.annotate(subject, (0, 0), fontsize=8, color="#444444", **options).set_in_layout(False)


def _with_fallback(families: Sequence[str]) -> Any:
    """The style of a figure with letters that DejaVu Sans does not have.

    PDF has outlines as Type 3: readers do not draw what matplotlib embeds of CFF fonts, such as Noto Sans CJK, as Type 42.
    SVG has texts, so that its reader finds what is missing here.
    """
    return {
        "font.family": [fallback_fonts.FIRST, *families, "sans-serif"],
        "pdf.fonttype": 3,
        "svg.fonttype": "none",
    }


def _with_description(svg: bytes, figure: Figure) -> bytes:
    """The file as an image with a description beside its title, for screen readers."""
    subject = f"{_subject(figure)}." if figure.subject else ""
    about = figure.sheet.note or figure.basis or ("" if subject else figure.title)
    sentences = " ".join(filter(None, (subject, about, *remarks(figure.sheet))))
    title_end = f"</title>\n <desc>{_xml(sentences)}</desc>".encode()
    svg = svg.replace(b"<svg ", b'<svg role="img" ', 1)
    return svg.replace(b"</title>", title_end, 1)


def _xml(text: str) -> str:
    return escape(_one_line(text))


def _one_line(text: str) -> str:
    """Without characters that no file of ours may hold or that end a line."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]+", " ", text).strip()


def _lines(text: str, wide: int = CHARACTERS) -> str:
    return "\n".join(textwrap.wrap(_one_line(text), wide))


def _short(text: str, most: int = 40) -> str:
    return shorten(_one_line(text), most)


def _subject(figure: Figure) -> str:
    return _one_line(figure.subject.text) if figure.subject else ""


def _remarks(figure: Figure) -> str:
    """Why values of the figure are undefined or without an interval."""
    return "\n".join(_lines(sentence, 100) for sentence in remarks(figure.sheet))


def _footnote(figure: Figure) -> str:
    """What a reader has to know: what the whiskers are, of how many units, the note of the table, what is missing."""
    is_listed = isinstance(figure.chart, Lines) and figure.chart.has_n_of_each
    order = gettext("Below each label: n of each series, in the order of the legend.") if is_listed else ""
    lines = [_lines(sentence, 100) for sentence in (*figure.caption, order, figure.sheet.note) if sentence]
    return "\n".join(filter(None, (*lines, _remarks(figure))))


def _height(chart: Any) -> float:
    match chart:
        case Lines():
            return 3.2 + (0.14 * len(chart.series) if chart.has_n_of_each else 0)
        case Bars():
            groups = len(chart.labels) * (0.14 + 0.17 * max(1, len(chart.series)))
            return 1.1 + groups + (0.17 * len(chart.series) if len(chart.series) > 1 else 0)
        case Distribution():
            return 1.0 + 0.42 * len(chart.strips)
        case _:
            return 1.2 + 0.3 * len(chart.rows)


# -- the kinds of charts ----------------------------------------------------------------------------


def _bars(axes: Axes, chart: Bars) -> None:
    thick = 0.8 / max(1, len(chart.series))
    handles: dict[int, Any] = {}
    for ordinal, data_series in enumerate(chart.series):
        colour, hatch = COLOURS[ordinal % len(COLOURS)], HATCHES[ordinal % len(HATCHES)]
        style: Any = {"color": colour, "alpha": 0.85, "edgecolor": "white"}
        for index, point in enumerate(data_series.points):
            at = index - 0.4 + thick * (ordinal + 0.5)
            if point is None or point.value is None:
                _write(axes, max(0.0, chart.axis.low), at, f" {missing_text(point)}", 7)
                continue
            shape = axes.barh(
                at, point.value, thick * 0.86, hatch=hatch if len(chart.series) > 1 else "", **style
            )
            handles.setdefault(ordinal, shape)
            if point.interval:
                whiskers: Any = {"color": INK, "linewidth": 1.0, "marker": "|", "markersize": 4}
                axes.plot(point.interval, [at, at], **whiskers)
            if chart.has_different_n(index) and point.n_text:
                end = max(0.0, point.value, point.high if point.high is not None else point.value)
                _write(axes, end, at, f"  {n_equals(point.n_text)}", 6)
    axes.set_yticks(range(len(chart.labels)), [_with_n(chart, index) for index in range(len(chart.labels))])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    _value_axis(axes, chart.axis, is_across=True)
    _legend(axes, chart.series, handles)


def _write(axes: Axes, across: float, at: float, text: str, size: float) -> None:
    axes.text(across, at, text, va="center", fontsize=size, color="#5b626c")


def _lines_chart(axes: Axes, chart: Lines) -> None:
    apart = 0.5 / max(1, len(chart.series))
    handles: dict[int, Any] = {}
    for ordinal, data_series in enumerate(chart.series):
        shift = (ordinal - (len(chart.series) - 1) / 2) * min(apart, 0.08)
        across = [index + shift for index in range(len(data_series.points))]
        # A missing value breaks the line.
        values = [float("nan") if value is None else value for value in data_series.values]
        colour, dash = COLOURS[ordinal % len(COLOURS)], DASHES[ordinal % len(DASHES)]
        style: Any = {
            "marker": MARKERS[ordinal % len(MARKERS)],
            "markersize": 4.5,
            "clip_on": False,
            "zorder": 3,
        }
        [handles[ordinal]] = axes.plot(across, values, color=colour, linestyle=dash, linewidth=1.4, **style)
        for at, point in zip(across, data_series.points, strict=True):
            if point is not None and point.interval:
                axes.plot([at, at], point.interval, color=colour, linewidth=0.9)
    axes.set_xticks(chart.written, [_with_each_n(chart, index) for index in chart.written])
    axes.set_xlim(-0.5, len(chart.labels) - 0.5)
    _value_axis(axes, chart.axis, is_across=False)
    _legend(axes, chart.series, handles)


def _columns(axes: Axes, chart: Columns) -> None:
    values = [value or 0.0 for value in chart.series[0].values]
    axes.bar(range(len(values)), values, 0.8, color=COLOURS[0], alpha=0.85)
    axes.set_xticks(chart.written, [_short(chart.labels[index], 18) for index in chart.written])
    axes.set_xlim(-0.6, max(len(values) - 0.4, 4.6))  # one day is no wall
    _value_axis(axes, chart.axis, is_across=False)


def _heat(axes: Axes, chart: Heat) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("askew", ["#f1f5f9", COLOURS[0]])
    for square in (square for squares in chart.squares for square in squares if square.value is not None):
        axes.add_patch(_square(square.column, square.row, shades(square.part)))
        if len(chart.columns) <= MOST_WRITTEN:
            colour = "white" if square.part > 0.55 else INK
            axes.text(square.column, square.row, square.text, ha="center", va="center", color=colour)
    axes.set_xlim(-0.5, len(chart.columns) - 0.5)
    axes.set_ylim(len(chart.rows) - 0.5, -0.5)
    names = [_short(name, 24) for name in chart.columns]
    tilted: dict[str, Any] = {"rotation": 35, "ha": "left"} if len(names) > 4 else {}
    axes.set_xticks(range(len(names)), names, **tilted)
    axes.set_yticks(range(len(chart.rows)), [_short(name, 30) for name in chart.rows])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _square(column_index: int, line: int, colour: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column_index - 0.48, line - 0.48), 0.96, 0.96, facecolor=colour, edgecolor="none")


def _distribution(axes: Axes, chart: Distribution) -> None:
    labels: list[str] = []
    for base, strip in enumerate(chart.strips):
        _strip(axes, strip, base, chart.axis)
        name = chart.labels[strip.label]
        name = f"{name}, {chart.spreads[strip.series].name}" if len(chart.spreads) > 1 else name
        labels.append(f"{_short(name, 48)} ({n_equals(Point(None, n=len(strip.values)).n_text)})")
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    _value_axis(axes, chart.axis, is_across=True)


def _strip(axes: Axes, strip: Strip, base: int, axis: Axis) -> None:
    colour = COLOURS[strip.series % len(COLOURS)]
    for value_bin in strip.bins:
        middle, tall = (value_bin.low + value_bin.high) / 2, 0.8 * value_bin.count / strip.highest
        if strip.is_dots:
            stacked = [base + 0.3 - 0.16 * up for up in range(value_bin.count)]
            axes.plot([middle] * value_bin.count, stacked, "o", color=colour, markersize=4, alpha=0.8)
        elif value_bin.count:
            wide = (value_bin.high - value_bin.low) or (axis.high - axis.low) / 45
            axes.bar(middle, -tall, wide * 0.94, bottom=base + 0.4, color=colour, alpha=0.85)
    mean: Any = {"color": INK, "linestyle": (0, (4, 2)), "linewidth": 1}
    axes.plot([strip.mean, strip.mean], [base - 0.42, base + 0.42], **mean)


_DRAWN: dict[type, Callable[[Any, Any], None]]
_DRAWN = {Bars: _bars, Lines: _lines_chart, Columns: _columns, Heat: _heat, Distribution: _distribution}


def _with_n(chart: Bars, index: int, between: str = " ") -> str:
    """The label with its n, where one number holds for all its bars; else each bar has its own."""
    label, n = _short(chart.labels[index]), chart.common_n(index)
    return f"{label}{between}({n})" if n else label


def _with_each_n(chart: Lines, index: int) -> str:
    """The label, and below it n: once where it is the same for all series, else for each in its own line."""
    if not chart.has_different_n(index):
        return _with_n(chart, index, "\n")
    first, *others = (n or NOTHING for n in chart.n_at(index))
    return "\n".join([_short(chart.labels[index]), n_equals(first), *others])


def _legend(axes: Axes, series: Sequence[Series], handles: Mapping[int, Any]) -> None:
    if len(series) > 1 and handles:
        names = [_short(series[index].name, 70) for index in handles]
        columns = 2 if len(names) > 2 and max(map(len, names)) < 36 else 1
        options: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "borderaxespad": 0.4}
        axes.legend(list(handles.values()), names, frameon=False, ncols=columns, **options)


def _value_axis(axes: Axes, axis: Axis, *, is_across: bool) -> None:
    """The axis of values with the marks of the page, a grid and the line of zero."""
    marks = [mark for _, mark in axis.marks]
    (axes.set_xticks if is_across else axes.set_yticks)(axis.ticks, marks)
    (axes.set_xlim if is_across else axes.set_ylim)(axis.low, axis.high)
    axes.grid(axis="x" if is_across else "y")
    if axis.low <= 0 <= axis.high:
        (axes.axvline if is_across else axes.axhline)(0, color="#85898f", linewidth=0.8)
