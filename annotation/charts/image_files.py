"""Charts as files that stand alone: SVG, PDF and PNG for a paper, drawn by matplotlib from the series of the page.

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
from annotation.charts.figure import TEXTS, Bars, Columns, Distribution, Figure, Heat, Lines
from annotation.charts.svg import FEW, Axis, Point, Series, bins, numbers_of
from annotation.platform import display_text
from tableqa.typesetting.report_tables import NOTHING, remarks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

COLOURS = ("#1c5d99", "#b4500a", "#1a6b45", "#7a3c9a", "#a52a20", "#0f6f75", "#8a6100", "#55606c")
"""The light colours of static/askew/charts.css."""
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
"""Columns of a heat map up to which the values stand in the squares."""
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
    """The file as an image with a description beside its title, for those who do not see it."""
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
    plain = _one_line(text)
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def _subject(figure: Figure) -> str:
    return _one_line(figure.subject.text) if figure.subject else ""


def _remarks(figure: Figure) -> str:
    """Why values of the figure are undefined or without an interval."""
    return "\n".join(_lines(sentence, 100) for sentence in remarks(figure.sheet))


def _footnote(figure: Figure) -> str:
    """What a reader has to know: what the whiskers are, of how many units, the note of the table, what is missing."""
    series = getattr(figure.chart, "series", ())
    whiskers = any(
        point is not None and point.low is not None for data_series in series for point in data_series.points
    )
    sentences = [
        figure.basis,
        gettext("Whiskers: 95 % confidence intervals.") if whiskers else "",
        gettext("Below each label: n of each series, in the order of the legend.")
        if isinstance(figure.chart, Lines) and _has_n_of_each(figure.chart)
        else "",
        figure.sheet.note,
    ]
    lines = [_lines(sentence, 100) for sentence in sentences if sentence]
    return "\n".join(filter(None, (*lines, _remarks(figure))))


def _has_n_of_each(chart: Lines) -> bool:
    return any(len(_different_numbers(chart.series, index)) > 1 for index in range(len(chart.labels)))


def _height(chart: Any) -> float:
    match chart:
        case Bars():
            several = len(chart.series) > 1
            groups = len(chart.labels) * (0.14 + 0.17 * max(1, len(chart.series)))
            return 1.1 + groups + (0.17 * len(chart.series) if several else 0)
        case Distribution():
            return 1.0 + 0.42 * sum(bool(values) for spread in chart.spreads for values in spread.values)
        case Heat():
            return 1.2 + 0.3 * len(chart.rows)
        case Lines() if _has_n_of_each(chart):
            return 3.2 + 0.14 * len(chart.series)
        case _:
            return 3.2


# -- the kinds of charts ----------------------------------------------------------------------------


def _bars(axes: Axes, chart: Bars) -> None:
    thick = 0.8 / max(1, len(chart.series))
    handles: dict[int, Any] = {}
    for number, data_series in enumerate(chart.series):
        for index, point in enumerate(data_series.points):
            at = index - 0.4 + thick * (number + 0.5)
            if point is None or point.value is None:
                reason = gettext("undefined") if point is not None else gettext("not asked")
                axes.text(
                    max(0.0, chart.axis.low), at, f" {reason}", va="center", fontsize=7, color="#5b626c"
                )
                continue
            drawn = axes.barh(
                at,
                point.value,
                thick * 0.86,
                color=COLOURS[number % len(COLOURS)],
                alpha=0.85,
                edgecolor="white",
                hatch=HATCHES[number % len(HATCHES)] if len(chart.series) > 1 else "",
            )
            handles.setdefault(number, drawn)
            if point.low is not None and point.high is not None:
                axes.plot(
                    [point.low, point.high],
                    [at, at],
                    color="#20252b",
                    linewidth=1.0,
                    marker="|",
                    markersize=4,
                )
            if len(_different_numbers(chart.series, index)) > 1:
                _write_n(axes, point, at)
    labels = [_with_n(label, chart.series, index) for index, label in enumerate(chart.labels)]
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    _value_axis(axes, chart.axis, "x")
    _legend(axes, chart.series, handles)


def _lines_chart(axes: Axes, chart: Lines) -> None:
    apart = 0.5 / max(1, len(chart.series))
    handles: dict[int, Any] = {}
    for number, data_series in enumerate(chart.series):
        shift = (number - (len(chart.series) - 1) / 2) * min(apart, 0.08)
        colour = COLOURS[number % len(COLOURS)]
        across = [index + shift for index in range(len(data_series.points))]
        # A missing value breaks the line.
        values = [
            float("nan") if point is None or point.value is None else point.value
            for point in data_series.points
        ]
        [handles[number]] = axes.plot(
            across,
            values,
            color=colour,
            linestyle=DASHES[number % len(DASHES)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=4.5,
            linewidth=1.4,
            clip_on=False,
            zorder=3,
        )
        for at, point in zip(across, data_series.points, strict=True):
            if point is not None and point.low is not None and point.high is not None:
                axes.plot([at, at], [point.low, point.high], color=colour, linewidth=0.9)
    step = -(-len(chart.labels) // chart.most) if chart.most else 1
    places = list(range(0, len(chart.labels), max(1, step)))
    labels = [_with_each_n(chart.labels[index], chart.series, index) for index in places]
    axes.set_xticks(places, labels)
    axes.set_xlim(-0.5, len(chart.labels) - 0.5)
    _value_axis(axes, chart.axis, "y")
    _legend(axes, chart.series, handles)


def _columns(axes: Axes, chart: Columns) -> None:
    axes.bar(range(len(chart.values)), list(chart.values), 0.8, color=COLOURS[0], alpha=0.85)
    step = max(1, -(-len(chart.labels) // 8))
    places = list(range(0, len(chart.labels), step))
    axes.set_xticks(places, [_short(chart.labels[index], 18) for index in places])
    axes.set_xlim(-0.6, max(len(chart.values) - 0.4, 4.6))  # one day is no wall
    _value_axis(axes, chart.axis, "y")


def _heat(axes: Axes, chart: Heat) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("askew", ["#f1f5f9", COLOURS[0]])
    span = max(chart.high - chart.low, 1e-9)
    for line, of_row in enumerate(chart.values):
        for column_index, value in enumerate(of_row):
            if value is None:
                continue
            part = min(1.0, max(0.0, (value - chart.low) / span))
            axes.add_patch(_square(column_index, line, shades(part)))
            if len(chart.columns) <= MOST_WRITTEN:
                value_text = (
                    display_text.number(f"{value:,.0f}") if chart.whole else display_text.decimal(value, 2)
                )
                axes.text(
                    column_index,
                    line,
                    value_text,
                    ha="center",
                    va="center",
                    color="white" if part > 0.55 else "#20252b",
                )
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
    for index, label in enumerate(chart.labels):
        for number, spread in enumerate(chart.spreads):
            values = spread.values[index]
            if not values:
                continue
            base, colour = len(labels), COLOURS[number % len(COLOURS)]
            columns = bins(values, chart.axis)
            most = max(column.count for column in columns)
            for column in columns:
                middle, tall = (column.low + column.high) / 2, 0.8 * column.count / most
                if len(values) <= FEW:
                    stacked = [base + 0.3 - 0.16 * up for up in range(column.count)]
                    axes.plot([middle] * column.count, stacked, "o", color=colour, markersize=4, alpha=0.8)
                elif column.count:
                    wide = (column.high - column.low) or (chart.axis.high - chart.axis.low) / 45
                    axes.bar(middle, -tall, wide * 0.94, bottom=base + 0.4, color=colour, alpha=0.85)
            mean = sum(values) / len(values)
            axes.plot(
                [mean, mean], [base - 0.42, base + 0.42], color="#20252b", linestyle=(0, (4, 2)), linewidth=1
            )
            name = f"{label}, {spread.name}" if len(chart.spreads) > 1 else label
            sample_size = gettext("n = {n}").format(n=display_text.number(f"{len(values):,}"))
            labels.append(f"{_short(name, 48)} ({sample_size})")
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    _value_axis(axes, chart.axis, "x")


_DRAWN: dict[type, Callable[[Any, Any], None]] = {
    Bars: _bars,
    Lines: _lines_chart,
    Columns: _columns,
    Heat: _heat,
    Distribution: _distribution,
}


def _different_numbers(series: Sequence[Series], index: int) -> set[str]:
    """The different n of the points at one label."""
    return {number for number in numbers_of(series, index) if number}


def _with_n(label: str, series: Sequence[Series], index: int, between: str = " ") -> str:
    """The label with its n, where one number holds for all its bars; else each bar has its own."""
    numbers = _different_numbers(series, index)
    n = gettext("n = {n}").format(n=numbers.pop()) if len(numbers) == 1 else ""
    return f"{_short(label)}{between}({n})" if n else _short(label)


def _with_each_n(label: str, series: Sequence[Series], index: int) -> str:
    """The label, and below it n: once where it is the same for all series, else for each in a line of its own."""
    if len(_different_numbers(series, index)) < 2:
        return _with_n(label, series, index, "\n")
    numbers = [number or NOTHING for number in numbers_of(series, index)]
    return "\n".join([_short(label), gettext("n = {n}").format(n=numbers[0]), *numbers[1:]])


def _write_n(axes: Axes, point: Point, at: float) -> None:
    """The n of a bar at its end, where the bars of its label differ in n."""
    if point.n is None or point.value is None:
        return
    n = gettext("n = {n}").format(n=display_text.number(f"{point.n:,}"))
    end = max(0.0, point.value, point.high if point.high is not None else point.value)
    axes.text(end, at, f"  {n}", va="center", fontsize=6, color="#5b626c")


def _legend(axes: Axes, series: Sequence[Series], handles: Mapping[int, Any]) -> None:
    if len(series) > 1 and handles:
        names = [_short(series[number].name, 70) for number in handles]
        columns = 2 if len(names) > 2 and max(map(len, names)) < 36 else 1
        options: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "borderaxespad": 0.4}
        axes.legend(list(handles.values()), names, frameon=False, ncols=columns, **options)


def _value_axis(axes: Axes, axis: Axis, which: str) -> None:
    """The axis of values with the marks of the page, a grid and the line of zero."""
    ticks = [display_text.number(f"{tick:g}".replace("-", "\N{MINUS SIGN}")) for tick in axis.ticks]
    marks = [f"{tick} {axis.unit}" if axis.unit else tick for tick in ticks]
    if which == "x":
        axes.set_xticks(axis.ticks, marks)
        axes.set_xlim(axis.low, axis.high)
        axes.grid(axis="x")
        axes.axvline(0, color="#85898f", linewidth=0.8) if axis.low <= 0 <= axis.high else None
    else:
        axes.set_yticks(axis.ticks, marks)
        axes.set_ylim(axis.low, axis.high)
        axes.grid(axis="y")
        axes.axhline(0, color="#85898f", linewidth=0.8) if axis.low <= 0 <= axis.high else None
