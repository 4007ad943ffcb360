"""Charts of a page as SVG, drawn without a script from what `series` describes.

    draw("robustness", "Em of each perturbation", Bars(["row_shuffle"], [Series("TAPEX", [Point(61.2)])], axis))

Everything returned is safe HTML: a legend, where there are several series, and one `<svg>`. Positions across are percentages
of the width and those down are pixels, so that a chart fills its column while its letters keep their size. Colours
are custom properties of static/askew/charts.css, light and dark; series are marked by a letter, too, and lines by
their marks and dashes. A chart says in its title and description what it shows; its numbers belong in a table beside it.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, pairwise
from string import ascii_uppercase
from typing import Any, TypeAlias

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from annotation.charts.series import (
    Axis,
    Bars,
    Bin,
    Chart,
    Columns,
    Distribution,
    Heat,
    Lines,
    Point,
    Series,
    Square,
    Strip,
    missing_text,
    n_equals,
    shorten,
    value_text,
)

COLOURS = 8
"""Colours in the style sheet; from the ninth series on they come again, with another letter."""
_SQUARE = '<svg width="14" height="14" aria-hidden="true"><rect width="14" height="14"/></svg>'
_LINE = (
    '<svg width="30" height="14" aria-hidden="true"><line class="line" x1="0" x2="30" y1="7" y2="7" '
    'stroke-dasharray="{dash}"/><svg class="mark" x="15" y="7" width="1" height="1" overflow="visible">'
    '<path d="{mark}"/></svg></svg>'
)
"""Samples of a series in the legend: of bars and columns, and of lines."""
_RECT = '<rect x="{}%" y="{}" width="{}%" height="{}"><title>{}</title></rect>'
Drawing: TypeAlias = tuple[int, list[SafeString]]
"""The height in pixels, and the parts in the order in which they are drawn."""


def draw(name: str, title: str, chart: Chart) -> SafeString:
    """The chart with its legend. `name` is unique on its page."""
    height, parts = _DRAWN[type(chart)](chart)
    is_linked = isinstance(chart, Heat) and bool(chart.addresses)
    role = "group" if is_linked else "img"  # an image contains no links
    sample = _LINE if isinstance(chart, Lines) else _SQUARE
    legend = _legend(chart.series, sample) if len(chart.series) > 1 else ""
    markup = (
        '<div class="chart">{}<svg width="100%" height="{}" role="{}" aria-labelledby="{name}-title {name}-desc">'
        '<title id="{name}-title">{}</title><desc id="{name}-desc">{}</desc>{}</svg></div>'
    )
    return format_html(markup, legend, height, role, title, chart.description, joined(parts), name=name)


def _legend(series: Sequence[Series], sample: str) -> SafeString:
    """The name of each series with its letter and a sample: as its bars are, or as its line and its mark."""
    entries = []
    for index, data_series in enumerate(series):
        drawn = format_html(sample, dash=DASHES[index % len(DASHES)], mark=MARKS[index % len(MARKS)])
        entries.append((_colour(index), drawn, _letter(index), data_series.name))
    entry = '<li class="{}">{}<b>{}</b> <span>{}</span></li>'
    return format_html('<ul class="legend">{}</ul>', format_html_join("", entry, entries))


# -- bars -------------------------------------------------------------------------------------------

LABEL, BAR, GAP, FOOT = 22, 18, 10, 24
"""Pixels: the line of a label, a bar with its distance to the next, the distance of groups, the marks of the axis."""
FROM, TO = 6.0, 87.0
"""Percent of the width between which bars are drawn; left of them are letters, right of them numbers."""


def _bars(chart: Bars) -> Drawing:
    """A group has its label above it, so that long names fit a narrow screen."""
    height, drawn = 0, []
    for index, label in enumerate(chart.labels):
        drawn.append(_label(label, height, _n_of_group(chart, index)))
        height += LABEL
        for ordinal, data_series in enumerate(chart.series):
            letter = _key(ordinal, height + BAR // 2 + 4) if len(chart.series) > 1 else SafeString()
            head = _colour(ordinal), letter
            drawn.append(_bar(data_series, data_series.points[index], height, chart.axis, head))
            height += BAR
        height += GAP
    return height + FOOT, [*_vertical_grid(chart.axis, height), *drawn]


def _bar(
    data_series: Series, point: Point | None, top: int, axis: Axis, head: tuple[str, SafeString]
) -> SafeString:
    """A bar with its interval and number, or why there is none; `head`: colour and letter."""
    down = top + BAR // 2 + 4
    if point is None or point.value is None:
        markup = '<g class="{}">{}<text class="small" x="{}%" y="{}">{}</text></g>'
        return format_html(markup, *head, _x_percent(axis, max(0.0, axis.low)), down, missing_text(point))
    start, end = sorted((_bar_percent(axis, max(axis.low, 0.0)), _bar_percent(axis, point.value)))
    title = f"{data_series.name}: {point.text}"
    rect = (_percent(start), top + 2, _percent(max(end - start, 0.2)), BAR - 4, title)
    markup = f'<g class="{{}}">{{}}{_RECT}{{}}<text class="number" x="100%" y="{{}}">{{}}</text></g>'
    interval = _horizontal_interval(point, top + BAR // 2, axis)
    return format_html(markup, *head, *rect, interval, down, value_text(point.value))


def _label(label: str, top: int, n: str = "") -> SafeString:
    beside = format_html('<tspan class="small" dx="6">{}</tspan>', n) if n else ""
    markup = '<text class="label" x="0" y="{}">{}{}</text>'
    return format_html(markup, top + LABEL - 7, shorten(label, 60), beside)


def _n_of_group(chart: Bars, index: int) -> str:
    """How many units the bars at one label are of, "n = 12", or "n = 3 (A), 12 (B)" by the letters of the series."""
    if not chart.has_different_n(index):
        return chart.common_n(index)
    sizes = chart.n_at(index)
    return n_equals(", ".join(f"{n} ({_letter(at)})" for at, n in enumerate(sizes) if n))


def _key(index: int, down: int) -> SafeString:
    return format_html('<text class="key" x="0" y="{}">{}</text>', down, _letter(index))


def _horizontal_interval(point: Point, middle: int, axis: Axis) -> SafeString:
    if not point.interval:
        return SafeString()
    low, high = (_x_percent(axis, end) for end in point.interval)
    whiskers = ((x, x, middle - 4, middle + 4) for x in (low, high))
    ends = ((low, high, middle, middle), *whiskers)
    return format_html_join("", '<line class="interval" x1="{}%" x2="{}%" y1="{}" y2="{}"/>', ends)


def _vertical_grid(axis: Axis, height: int) -> list[SafeString]:
    markup = '<line class="{}" x1="{x}%" x2="{x}%" y1="0" y2="{}"/><text class="tick middle" x="{x}%" y="{}">{}</text>'
    return [
        format_html(markup, _grid(tick), height, height + 16, mark, x=_x_percent(axis, tick))
        for tick, mark in axis.marks
    ]


def _grid(tick: float) -> str:
    return "zero" if tick == 0 else "grid"


# -- lines and vertical columns ---------------------------------------------------------------------

PLOT, HIGH, TOP = 220, 150, 10
"""Pixels: the heights of the areas of lines and of vertical columns, and what is free above them."""
COUNT = 15
"""Pixels: a line of n below the labels."""
LEFT, RIGHT = 12.0, 97.0
"""Percent of the width between which lines are drawn; left of them are the marks of the axis."""
MARKS = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
    "M-4 -4h8v8h-8z",
    "M0 -5.5l5 9.5h-10z",
    "M0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z",
    "M-5 -1.5h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z",
    "M0 5.5l5 -9.5h-10z",
)
DASHES = ("none", "6 3", "2 3", "8 3 2 3", "1 2", "10 4")
APART, ABREAST = 11, 56
"""Pixels between the marks of two series at the same label, and at most for the marks of all."""


def _lines(chart: Lines) -> Drawing:
    """Lines with vertical intervals, and n below the labels."""
    below, counts = _sample_sizes_below(chart, TOP + PLOT + 18)
    drawn = [_line(chart, index) for index in range(len(chart.series))]
    return TOP + PLOT + FOOT + below, [*_horizontal_grid(chart, PLOT), *counts, *drawn]


def _columns(chart: Columns) -> Drawing:
    wide = (RIGHT - LEFT) / max(1, len(chart.labels))
    rows = [
        (
            _percent(LEFT + wide * (index + 0.1)),
            _y_of(chart.axis, value, HIGH),
            _percent(wide * 0.8),
            round(HIGH * (chart.axis.part(value) - chart.axis.part(0.0)), 2),
            f"{chart.labels[index]}: {value:g}",
        )
        for index, value in enumerate(chart.series[0].values)
        if value is not None
    ]
    body = format_html('<g class="{}">{}</g>', _colour(0), format_html_join("", _RECT, rows))
    return TOP + HIGH + FOOT, [*_horizontal_grid(chart, HIGH), body]


def _horizontal_grid(chart: Lines, tall: int) -> list[SafeString]:
    """The marks of the axis with their lines, and the labels that are written."""
    grid = []
    markup = (
        '<line class="{}" x1="{left}%" x2="{}%" y1="{down}" y2="{down}"/>'
        '<text class="tick end" x="{left}%" y="{}" dx="-6">{}</text>'
    )
    for tick, mark in chart.axis.marks:
        down = _y_of(chart.axis, tick, tall)
        grid.append(format_html(markup, _grid(tick), RIGHT, down + 4, mark, left=LEFT, down=down))
    text = '<text class="tick middle" x="{}%" y="{}">{}</text>'
    for at in chart.written:
        label = shorten(chart.labels[at], 18)
        grid.append(format_html(text, _column_percent(chart, at), TOP + tall + 18, label))
    return grid


def _sample_sizes_below(chart: Lines, top: int) -> Drawing:
    """n below each written label, and the pixels that it takes.

    One line where all series have the same n at each label, else one for each series. A line begins with what it is.
    """
    sizes = {index: chart.n_at(index) for index in chart.written}
    if not any(map(any, sizes.values())):
        return 0, []
    heads = {"n": {index: next(filter(None, ns), "") for index, ns in sizes.items()}}
    if any(map(chart.has_different_n, chart.written)):
        of_each = enumerate(zip(*sizes.values(), strict=True))
        heads = {f"n ({_letter(at)})": dict(zip(sizes, ns, strict=True)) for at, ns in of_each}
    texts: list[tuple[str, str, int, int, str]] = []
    for line, (head, row) in enumerate(heads.items(), start=1):
        down = top + line * COUNT
        texts.append(("small end", _percent(LEFT), down, -6, head))
        texts += [("small middle", _column_percent(chart, at), down, 0, n) for at, n in row.items() if n]
    drawn = '<text class="{}" x="{}%" y="{}" dx="{}">{}</text>'
    return len(heads) * COUNT, [format_html(drawn, *text) for text in texts]


def _line(chart: Lines, ordinal: int) -> SafeString:
    data_series, of = chart.series[ordinal], len(chart.series)
    points = [
        (_column_percent(chart, index), _y_of(chart.axis, point.value, PLOT), point)
        if point is not None and point.value is not None
        else None
        for index, point in enumerate(data_series.points)
    ]
    between = [
        (first[0], second[0], first[1], second[1], DASHES[ordinal % len(DASHES)])
        for first, second in pairwise(points)
        if first is not None and second is not None
    ]
    drawn_points = [point for point in points if point is not None]
    intervals = [
        (across, across, *(_y_of(chart.axis, end, PLOT) for end in point.interval))
        for across, _, point in drawn_points
        if point.interval
    ]
    marks = [
        (across, down, MARKS[ordinal % len(MARKS)], f"{data_series.name}: {point.text}")
        for across, down, point in drawn_points
    ]
    line = '<line class="line" x1="{}%" x2="{}%" y1="{}" y2="{}" stroke-dasharray="{}"/>'
    interval = '<line class="interval standing" x1="{}%" x2="{}%" y1="{}" y2="{}"/>'
    mark = '<svg class="mark" x="{}%" y="{}" width="1" height="1" overflow="visible"><path d="{}"/><title>{}</title></svg>'
    shift = round((ordinal - (of - 1) / 2) * min(APART, ABREAST / of), 2)
    rows: list[tuple[str, Sequence[Any]]] = [(line, between), (interval, intervals), (mark, marks)]
    parts = joined(format_html_join("", markup, of_markup) for markup, of_markup in rows)
    return format_html('<g class="{}" transform="translate({} 0)">{}</g>', _colour(ordinal), shift, parts)


def _column_percent(chart: Lines, index: int) -> str:
    return _percent(LEFT + (RIGHT - LEFT) * (index + 0.5) / len(chart.labels))


def _y_of(axis: Axis, value: float, tall: int) -> float:
    return round(TOP + tall * (1 - axis.part(value)), 2)


# -- distributions ----------------------------------------------------------------------------------

STRIP, DOT = 38, 9
"""Pixels: the height of a strip of columns; a dot with its distance to the one above."""


def _distribution(chart: Distribution) -> Drawing:
    """A line marks the mean of a strip, and the number at the right is the mean."""
    height, drawn = 0, []
    for label, strips in groupby(chart.strips, key=lambda strip: strip.label):
        drawn.append(_label(chart.labels[label], height))
        height += LABEL
        for strip in strips:
            tall = 2 * DOT + DOT * (strip.highest - 1) if strip.is_dots else STRIP
            drawn.append(_strip(strip, height, tall, chart.axis, lettered=len(chart.spreads) > 1))
            height += tall + 4
        height += GAP
    return height + FOOT, [*_vertical_grid(chart.axis, height), *drawn]


def _strip(strip: Strip, top: int, tall: int, axis: Axis, *, lettered: bool) -> SafeString:
    if strip.is_dots:
        dots = [
            (_x_percent(axis, value_bin.low), top + tall - DOT * (up + 1))
            for value_bin in strip.bins
            for up in range(value_bin.count)
        ]
        shapes = format_html_join("", '<circle cx="{}%" cy="{}" r="4"/>', dots)
    else:
        columns = [_bin(value_bin, strip.highest, top, axis) for value_bin in strip.bins]
        shapes = format_html_join("", _RECT, columns)
    key, colour = _key(strip.series, top + tall - 5) if lettered else "", _colour(strip.series)
    bounds, mean = (top, top + tall, top + tall - 5), _x_percent(axis, strip.mean)
    markup = (
        '<g class="{}">{}{}<line class="mean" x1="{mean}%" x2="{mean}%" y1="{}" y2="{}"/>'
        '<text class="number" x="100%" y="{}">{}</text></g>'
    )
    return format_html(markup, colour, key, shapes, *bounds, value_text(strip.mean), mean=mean)


def _bin(value_bin: Bin, highest: int, top: int, axis: Axis) -> tuple[Any, ...]:
    tall = round((STRIP - 4) * value_bin.count / highest, 2)
    start, end = _bar_percent(axis, value_bin.low), _bar_percent(axis, value_bin.high)
    wide = max(end - start - 0.3, 0.0) or 2.2  # a value on its own is as wide as a column can be among eleven
    start = start - wide / 2 if value_bin.low == value_bin.high else start
    return _percent(start), top + STRIP - tall, _percent(wide), tall, value_bin.text


# -- squares ----------------------------------------------------------------------------------------

SQUARE = 22
"""Pixels: the height of a line of a heat map."""
NAMES = 26.0
"""Percent of the width that the names of the lines take."""
WRITTEN = 10
"""The most columns with numbers written in the squares."""


def _heat(chart: Heat) -> Drawing:
    """Rows are named at the left with their number, columns by numbers at the top.

    Links are for the mouse: the table below has the same links for keys and screen readers.
    """
    wide = (100.0 - NAMES) / max(1, len(chart.columns))
    middle = [_percent(NAMES + wide * (column + 0.5)) for column in range(len(chart.columns))]
    head = '<text class="tick middle" x="{}%" y="12">{}</text>'
    drawn = [format_html(head, across, column + 1) for column, across in enumerate(middle)]
    for line, (label, squares) in enumerate(zip(chart.rows, chart.squares, strict=True)):
        top = 18 + line * SQUARE
        # A picture of its own cuts off what would run into the squares.
        called = escape(shorten(f"{line + 1} {label}", 20))
        bounds = f'y="{top}" width="{NAMES - 1}%" height="{SQUARE}"'
        parts = [f'<svg {bounds}><text class="tick" y="{SQUARE - 7}">{called}</text></svg>']
        parts += [_square(square, top, wide, middle) for square in squares]
        drawn.append(mark_safe("".join(parts)))  # nosec B308 B703: `_square` escapes every text
    hidden = mark_safe(' aria-hidden="true"') if chart.addresses else ""  # nosec B308 B703: a fixed text
    body = format_html('<g class="{}"{}>{}</g>', _colour(0), hidden, joined(drawn))
    return 18 + len(chart.rows) * SQUARE + 4, [body]


def _square(square: Square, top: int, wide: float, middle: Sequence[str]) -> str:
    """A square is drawn for every pair of forty people: texts are escaped, numbers need no escaping."""
    across, width = _percent(NAMES + wide * (square.column + 0.03)), _percent(wide * 0.94)
    at = f'x="{across}%" y="{top + 1}" width="{width}%" height="{SQUARE - 2}"'
    title = f"<title>{escape(square.description)}</title>"
    if square.value is None:
        return f'<rect class="hollow" {at}>{title}</rect>'
    drawn = f'<rect class="filled" {at} fill-opacity="{0.06 + 0.84 * square.part:.2f}">{title}</rect>'
    if len(middle) <= WRITTEN:
        where = f'x="{middle[square.column]}%" y="{top + SQUARE - 7}"'
        drawn += f'<text class="in middle" {where}>{square.text}</text>'
    return f'<a tabindex="-1" href="{escape(square.address)}">{drawn}</a>' if square.address else drawn


# -- what they share --------------------------------------------------------------------------------

_DRAWN: dict[type, Callable[[Any], Drawing]]
_DRAWN = {Bars: _bars, Lines: _lines, Columns: _columns, Heat: _heat, Distribution: _distribution}


def joined(parts: Iterable[SafeString]) -> SafeString:
    """Parts of a page as one."""
    return format_html_join("", "{}", ((part,) for part in parts))


def _letter(index: int) -> str:
    return ascii_uppercase[index % 26] + (str(index // 26 + 1) if index >= 26 else "")


def _colour(index: int) -> str:
    return f"s{index % COLOURS + 1}"


def _bar_percent(axis: Axis, value: float) -> float:
    return FROM + (TO - FROM) * axis.part(value)


def _x_percent(axis: Axis, value: float) -> str:
    return _percent(_bar_percent(axis, value))


def _percent(part: float) -> str:
    return f"{part:.3f}".rstrip("0").rstrip(".")
