"""Charts as SVG: bars and lines with intervals, distributions, standing columns, squares. Drawn without a script.

    bars("robustness", "Em of each perturbation", ["row_shuffle"], [Series("TAPEX", [Point(61.2, 58.0, 64.1)])])

Everything returned is safe HTML: a legend, where there are several series, and one `<svg>`. Places across are percentages
of the width and places down are pixels, so that a chart is as wide as its place while its letters keep their size. Colours
are custom properties of static/askew/charts.css, light and dark; series are told apart by a letter, too, and lines by
their marks and dashes. A chart says in its title and description what it shows; its numbers belong in a table beside it.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_uppercase
from typing import Final

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from annotation.platform import display_text

COLOURS = 8
"""Colours in the style sheet; from the ninth series on they come again, with another letter."""
_SQUARE = '<svg width="14" height="14" aria-hidden="true"><rect width="14" height="14"/></svg>'
_LINE = (
    '<svg width="30" height="14" aria-hidden="true"><line class="line" x1="0" x2="30" y1="7" y2="7" '
    'stroke-dasharray="{dash}"/><svg class="mark" x="15" y="7" width="1" height="1" overflow="visible">'
    '<path d="{mark}"/></svg></svg>'
)
"""Samples of a series in the legend: of bars and columns, and of lines."""
FEW = 12
"""So many values of a distribution are drawn as dots, more as columns."""


@dataclass(frozen=True)
class Point:
    """A figure with the ends of its interval, in the unit of the axis, and how many units it is of. None where it is
    undefined or unknown."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class Series:
    """What is drawn in one colour: a point for each label, None where there is none."""

    name: str
    points: Sequence[Point | None]


@dataclass(frozen=True)
class Spread:
    """The values of one series: one distribution for each label, empty where there is none."""

    name: str
    values: Sequence[Sequence[float]]


@dataclass(frozen=True)
class Axis:
    """From where to where, with the places that are marked."""

    low: float
    high: float
    ticks: tuple[float, ...]
    unit: str = ""

    def part(self, value: float) -> float:
        """Where a value lies, from 0 to 1; what lies outside is drawn at the end."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def axis_over(values: Iterable[float], *, least: float = 0.0, most: float = 0.0, unit: str = "") -> Axis:
    """An axis over these values, `least` and `most`, with four to eight marks at round numbers."""
    finite_values = [value for value in values if math.isfinite(value)]
    low, high = min([least, *finite_values]), max([most, *finite_values])
    if high - low < 1e-6:
        high = low + 1
    rough = (high - low) / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(multiple * step, 10) for multiple in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks, unit)


# -- bars -------------------------------------------------------------------------------------------

LABEL, BAR, GAP, FOOT = 22, 18, 10, 24
"""Pixels: the line of a label, a bar with its distance to the next, the distance of groups, the marks of the axis."""
FROM, TO = 6.0, 87.0
"""Percent of the width between which bars are drawn; left of them stand letters, right of them numbers."""


def bars(name: str, title: str, labels: Sequence[str], series: Sequence[Series], axis: Axis) -> SafeString:
    """Lying bars in groups, one group for each label and one bar for each series, with intervals and numbers.

    `name` is unique on its page. A group has its label above it, so that long names fit a narrow screen.
    """
    height, drawn = 0, []
    for index, label in enumerate(labels):
        drawn.append(_label(label, height, n_of(series, index)))
        height += LABEL
        for number, data_series in enumerate(series):
            drawn.append(
                _bar(data_series, number, data_series.points[index], height, axis, lettered=len(series) > 1)
            )
            height += BAR
        height += GAP
    grid = [_vertical_grid_line(axis, tick, height) for tick in axis.ticks]
    return _chart(name, title, _text_alternative(labels, series), series, height + FOOT, [*grid, *drawn])


def _bar(
    data_series: Series, number: int, point: Point | None, top: int, axis: Axis, *, lettered: bool
) -> SafeString:
    middle = top + BAR // 2
    letter = _key(number, middle + 4) if lettered else ""
    if point is None or point.value is None:
        reason = gettext("undefined") if point is not None else gettext("not asked")
        return format_html(
            '<g class="{}">{}<text class="small" x="{}%" y="{}">{}</text></g>',
            _colour(number),
            letter,
            _x_percent(axis, max(0.0, axis.low)),
            middle + 4,
            reason,
        )
    start, end = sorted((_bar_percent(axis, max(axis.low, 0.0)), _bar_percent(axis, point.value)))
    return format_html(
        '<g class="{}">{}<rect x="{}%" y="{}" width="{}%" height="{}"><title>{}</title></rect>{}'
        '<text class="number" x="100%" y="{}">{}</text></g>',
        _colour(number),
        letter,
        _percent(start),
        top + 2,
        _percent(max(end - start, 0.2)),
        BAR - 4,
        f"{data_series.name}: {_point_text(point)}",
        _horizontal_interval(point, middle, axis),
        middle + 4,
        _number(point.value),
    )


def _label(label: str, top: int, n: str = "") -> SafeString:
    beside = format_html('<tspan class="small" dx="6">{}</tspan>', n) if n else ""
    return format_html('<text class="label" x="0" y="{}">{}{}</text>', top + LABEL - 7, _short(label), beside)


def n_of(series: Sequence[Series], index: int) -> str:
    """How many units the points at one label are of, "n = 12", or "n = 3 (A), 12 (B)" by the letters of the series.

    "" where nobody knows.
    """
    numbers = numbers_of(series, index)
    distinct = {number for number in numbers if number}
    if len(distinct) < 2:
        return gettext("n = {n}").format(n=next(iter(distinct))) if distinct else ""
    lettered = (f"{number} ({_letter(at)})" for at, number in enumerate(numbers) if number)
    return gettext("n = {n}").format(n=", ".join(lettered))


def numbers_of(series: Sequence[Series], index: int) -> list[str]:
    """How many units the point of each series at one label is of; "" where there is no point, or nobody knows."""
    points = (data_series.points[index] for data_series in series)
    return [
        "" if point is None or point.n is None else display_text.number(f"{point.n:,}") for point in points
    ]


def _key(number: int, down: int) -> SafeString:
    return format_html('<text class="key" x="0" y="{}">{}</text>', down, _letter(number))


def _horizontal_interval(point: Point, middle: int, axis: Axis) -> SafeString:
    if point.low is None or point.high is None:
        return SafeString("")
    low, high = _x_percent(axis, point.low), _x_percent(axis, point.high)
    ends = (
        (low, high, middle, middle),
        (low, low, middle - 4, middle + 4),
        (high, high, middle - 4, middle + 4),
    )
    return format_html_join("", '<line class="interval" x1="{}%" x2="{}%" y1="{}" y2="{}"/>', ends)


def _vertical_grid_line(axis: Axis, tick: float, height: int) -> SafeString:
    return format_html(
        '<line class="{}" x1="{}%" x2="{}%" y1="0" y2="{}"/><text class="tick middle" x="{}%" y="{}">{}</text>',
        "zero" if tick == 0 else "grid",
        _x_percent(axis, tick),
        _x_percent(axis, tick),
        height,
        _x_percent(axis, tick),
        height + 16,
        _mark(tick, axis.unit),
    )


# -- lines ------------------------------------------------------------------------------------------

PLOT = 220
"""Pixels: the height of the place in which lines are drawn."""
COUNT = 15
"""Pixels: a line of n below the labels."""
LEFT, RIGHT = 12.0, 97.0
"""Percent of the width between which lines are drawn; left of them stand the marks of the axis."""
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


def lines(
    name: str, title: str, labels: Sequence[str], series: Sequence[Series], axis: Axis, *, most: int = 0
) -> SafeString:
    """A line for each series through its points, one at each label, with standing intervals, and n below the labels.

    Where a point is missing or undefined the line is broken. most: of more labels than these only some are written,
    at equal distances; 0: all are.
    """
    apart = -(-len(labels) // most) if most else 1
    top = 10
    counts, below = _sample_sizes_below(series, range(0, len(labels), apart), top + PLOT + 18)
    grid = [_horizontal_grid_line(axis, tick, top) for tick in axis.ticks]
    grid += [
        format_html(
            '<text class="tick middle" x="{}%" y="{}">{}</text>',
            _percent(_column(index, len(labels))),
            top + PLOT + 18,
            _short(label, 18),
        )
        for index, label in enumerate(labels)
        if index % apart == 0
    ]
    drawn = [_line(data_series, number, len(series), axis, top) for number, data_series in enumerate(series)]
    height = top + PLOT + FOOT + below
    return _chart(
        name, title, _text_alternative(labels, series), series, height, [*grid, *counts, *drawn], sample=_LINE
    )


def _sample_sizes_below(
    series: Sequence[Series], places: Sequence[int], top: int
) -> tuple[list[SafeString], int]:
    """n below the label at each of these places, and the pixels that it takes.

    One line where all series have the same n at each place, else one for each series. A line begins with what it is.
    """
    numbers = {index: numbers_of(series, index) for index in places}
    if not any(map(any, numbers.values())):
        return [], 0
    is_same = all(len(set(filter(None, ns))) < 2 for ns in numbers.values())
    if is_same:
        rows = [("n", {index: next(filter(None, ns), "") for index, ns in numbers.items()})]
    else:
        rows = [
            (f"n ({_letter(at)})", {index: ns[at] for index, ns in numbers.items()})
            for at in range(len(series))
        ]
    texts = []
    for line, (head, row) in enumerate(rows, start=1):
        down, of = top + line * COUNT, len(series[0].points)
        texts.append(("small end", _percent(LEFT), down, -6, head))
        texts += [("small middle", _percent(_column(index, of)), down, 0, n) for index, n in row.items() if n]
    drawn = [
        format_html('<text class="{}" x="{}%" y="{}" dx="{}">{}</text>', *text_args) for text_args in texts
    ]
    return drawn, len(rows) * COUNT


def _horizontal_grid_line(axis: Axis, tick: float, top: int) -> SafeString:
    return _horizontal_grid_line_at(axis, tick, top, PLOT)


def _horizontal_grid_line_at(axis: Axis, tick: float, top: int, tall: int) -> SafeString:
    down = round(top + tall * (1 - axis.part(tick)), 2)
    return format_html(
        '<line class="{}" x1="{}%" x2="{}%" y1="{}" y2="{}"/>'
        '<text class="tick end" x="{}%" y="{}" dx="-6">{}</text>',
        "zero" if tick == 0 else "grid",
        LEFT,
        RIGHT,
        down,
        down,
        LEFT,
        down + 4,
        _mark(tick, axis.unit),
    )


def _line(data_series: Series, number: int, of: int, axis: Axis, top: int) -> SafeString:
    positions = [
        (_percent(_column(index, len(data_series.points))), _y_of(axis, point.value, top), point)
        if point is not None and point.value is not None
        else None
        for index, point in enumerate(data_series.points)
    ]
    between = [
        (first[0], second[0], first[1], second[1], DASHES[number % len(DASHES)])
        for first, second in pairwise(positions)
        if first is not None and second is not None
    ]
    drawn_points = [point for point in positions if point is not None]
    return format_html(
        '<g class="{}" transform="translate({} 0)">{}{}{}</g>',
        _colour(number),
        round((number - (of - 1) / 2) * min(APART, ABREAST / of), 2),
        format_html_join(
            "",
            '<line class="line" x1="{}%" x2="{}%" y1="{}" y2="{}" stroke-dasharray="{}"/>',
            between,
        ),
        format_html_join(
            "", "{}", ((_vertical_interval(across, point, axis, top),) for across, _, point in drawn_points)
        ),
        format_html_join(
            "",
            '<svg class="mark" x="{}%" y="{}" width="1" height="1" overflow="visible"><path d="{}"/><title>{}</title></svg>',
            (
                (across, down, MARKS[number % len(MARKS)], f"{data_series.name}: {_point_text(point)}")
                for across, down, point in drawn_points
            ),
        ),
    )


def _vertical_interval(across: str, point: Point, axis: Axis, top: int) -> SafeString:
    if point.low is None or point.high is None:
        return SafeString("")
    return format_html(
        '<line class="interval standing" x1="{}%" x2="{}%" y1="{}" y2="{}"/>',
        across,
        across,
        _y_of(axis, point.low, top),
        _y_of(axis, point.high, top),
    )


def _column(index: int, of: int) -> float:
    return LEFT + (RIGHT - LEFT) * (index + 0.5) / of


def _y_of(axis: Axis, value: float, top: int) -> float:
    return round(top + PLOT * (1 - axis.part(value)), 2)


# -- distributions ----------------------------------------------------------------------------------

STRIP, DOT = 38, 9
"""Pixels: the height of a strip of columns; a dot with its distance to the one above."""


@dataclass(frozen=True)
class Bin:
    """A column of a distribution: from where to where, and how many values are in it."""

    low: float
    high: float
    count: int


def bins(values: Sequence[float], axis: Axis, number: int = 20) -> list[Bin]:
    """Values counted: each different value for itself where there are few different ones, else in equal steps."""
    counts = Counter(round(value, 9) for value in values)
    step = (axis.high - axis.low) / number
    if len(counts) <= FEW:
        return [Bin(value, value, counts[value]) for value in sorted(counts)]
    bin_counts = Counter(min(int(axis.part(value) * number), number - 1) for value in values)
    return [
        Bin(axis.low + index * step, axis.low + (index + 1) * step, bin_counts[index])
        for index in range(number)
    ]


def distribution(
    name: str, title: str, labels: Sequence[str], spreads: Sequence[Spread], axis: Axis
) -> SafeString:
    """Strips in groups, one group for each label and one strip for each series that has values there.

    Few values are dots, many are columns; a line stands at their mean, and the number at the right is the mean.
    """
    height, drawn = 0, []
    for index, label in enumerate(labels):
        filled_spreads = [(number, spread) for number, spread in enumerate(spreads) if spread.values[index]]
        if not filled_spreads:
            continue
        drawn.append(_label(label, height))
        height += LABEL
        for number, spread in filled_spreads:
            tall = _strip_height(spread.values[index])
            drawn.append(_strip(spread.values[index], number, height, tall, axis, lettered=len(spreads) > 1))
            height += tall + 4
        height += GAP
    grid = [_vertical_grid_line(axis, tick, height) for tick in axis.ticks]
    means = [
        Series(spread.name, [Point(_mean(values)) if values else None for values in spread.values])
        for spread in spreads
    ]
    return _chart(name, title, _text_alternative(labels, means), means, height + FOOT, [*grid, *drawn])


def _strip_height(values: Sequence[float]) -> int:
    if len(values) > FEW:
        return STRIP
    return 2 * DOT + DOT * (max(Counter(round(value, 4) for value in values).values()) - 1)


def _strip(
    values: Sequence[float], number: int, top: int, tall: int, axis: Axis, *, lettered: bool
) -> SafeString:
    if len(values) <= FEW:
        seen: Counter[float] = Counter()
        dots = []
        for value in sorted(values):
            seen[round(value, 4)] += 1
            dots.append((_x_percent(axis, value), top + tall - DOT * seen[round(value, 4)]))
        shapes = format_html_join("", '<circle cx="{}%" cy="{}" r="4"/>', dots)
    else:
        shapes = _columns(bins(values, axis), top, axis)
    mean = _mean(values)
    return format_html(
        '<g class="{}">{}{}<line class="mean" x1="{}%" x2="{}%" y1="{}" y2="{}"/>'
        '<text class="number" x="100%" y="{}">{}</text></g>',
        _colour(number),
        _key(number, top + tall - 5) if lettered else "",
        shapes,
        _x_percent(axis, mean),
        _x_percent(axis, mean),
        top,
        top + tall,
        top + tall - 5,
        _number(mean),
    )


def _columns(value_bins: Sequence[Bin], top: int, axis: Axis) -> SafeString:
    most = max((value_bin.count for value_bin in value_bins), default=0) or 1
    rows = []
    for value_bin in value_bins:
        tall = round((STRIP - 4) * value_bin.count / most, 2)
        start, end = _bar_percent(axis, value_bin.low), _bar_percent(axis, value_bin.high)
        wide = (
            max(end - start - 0.3, 0.0) or 2.2
        )  # a value on its own is as wide as a column can be among eleven
        start = start - wide / 2 if value_bin.low == value_bin.high else start
        where = (
            _mark(value_bin.low, "")
            if value_bin.low == value_bin.high
            else gettext("{mark} to {mark_2}").format(
                mark=_mark(value_bin.low, ""), mark_2=_mark(value_bin.high, "")
            )
        )
        rows.append(
            (_percent(start), top + STRIP - tall, _percent(wide), tall, f"{where}: {value_bin.count:,}")
        )
    return format_html_join("", '<rect x="{}%" y="{}" width="{}%" height="{}"><title>{}</title></rect>', rows)


# -- standing columns -------------------------------------------------------------------------------

HIGH = 150
"""Pixels: the height of the place in which columns stand."""
MARKED = 6
"""So many of the labels below the columns are written, evenly chosen, where there are more."""


def columns(name: str, title: str, labels: Sequence[str], values: Sequence[float], axis: Axis) -> SafeString:
    """A column for each label, such as a day, standing side by side; of many labels only some are written."""
    top, wide = 10, (RIGHT - LEFT) / max(1, len(labels))
    grid = [_horizontal_grid_line_at(axis, tick, top, HIGH) for tick in axis.ticks]
    drawn = format_html_join(
        "",
        '<rect x="{}%" y="{}" width="{}%" height="{}"><title>{}</title></rect>',
        (
            (
                _percent(LEFT + wide * (index + 0.1)),
                round(top + HIGH * (1 - axis.part(value)), 2),
                _percent(wide * 0.8),
                round(HIGH * (axis.part(value) - axis.part(0.0)), 2),
                f"{label}: {value:g}",
            )
            for index, (label, value) in enumerate(zip(labels, values, strict=True))
        ),
    )
    step = max(1, -(-len(labels) // MARKED))
    grid += [
        format_html(
            '<text class="tick middle" x="{}%" y="{}">{}</text>',
            _percent(LEFT + wide * (index + 0.5)),
            top + HIGH + 18,
            _short(labels[index], 18),
        )
        for index in range(0, len(labels), step)
    ]
    series = [Series(title, [Point(value) for value in values])]
    body = format_html('<g class="{}">{}</g>', _colour(0), drawn)
    return _chart(name, title, _text_alternative(labels, series), series, top + HIGH + FOOT, [*grid, body])


# -- squares ----------------------------------------------------------------------------------------

SQUARE = 22
"""Pixels: the height of a line of a heat map."""
NO_ADDRESSES: Final[Mapping[tuple[int, int], str]] = {}
NAMES = 26.0
"""Percent of the width that the names of the lines take."""
WRITTEN = 10
"""Up to so many columns the numbers stand in the squares."""


def heat(
    name: str,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    low: float = 0.0,
    high: float = 1.0,
    *,
    whole: bool = False,
    addresses: Mapping[tuple[int, int], str] = NO_ADDRESSES,
) -> SafeString:
    """A heat map: a line for each row, a square for each column, the darker the higher between `low` and `high`.

    `whole`: the values are counts. `addresses`: squares (row, column) that are links, for the mouse: the table below has
    the same links for keys and screen readers. Rows are named at the left with their number, columns by numbers at the
    top; a square without a value is an outline.
    """
    written: Callable[[float], str] = "{:,.0f}".format if whole else _number
    span, wide = max(high - low, 1e-9), (100.0 - NAMES) / max(1, len(columns))
    drawn = [
        format_html(
            '<text class="tick middle" x="{}%" y="12">{}</text>',
            _percent(NAMES + wide * (column_index + 0.5)),
            column_index + 1,
        )
        for column_index in range(len(columns))
    ]
    # A square for every pair of forty people is drawn: texts are escaped once a line, numbers need no escaping.
    across = [_percent(NAMES + wide * (column_index + 0.03)) for column_index in range(len(columns))]
    middle = [_percent(NAMES + wide * (column_index + 0.5)) for column_index in range(len(columns))]
    named, width = [escape(column) for column in columns], _percent(wide * 0.94)
    for line, (label, of_row) in enumerate(zip(rows, values, strict=True)):
        top, own = 18 + line * SQUARE, escape(label)
        # A picture of its own cuts off what would run into the squares.
        called = escape(_short(f"{line + 1} {label}", 20))
        place_of_name = f'y="{top}" width="{NAMES - 1}%" height="{SQUARE}"'
        parts = [f'<svg {place_of_name}><text class="tick" y="{SQUARE - 7}">{called}</text></svg>']
        for column_index, value in enumerate(of_row):
            at = f'x="{across[column_index]}%" y="{top + 1}" width="{width}%" height="{SQUARE - 2}"'
            if value is None:
                why = (
                    gettext("the same person")
                    if label == columns[column_index]
                    else gettext("{own} and {named}: nothing in common").format(
                        own=own, named=named[column_index]
                    )
                )
                parts.append(f'<rect class="hollow" {at}><title>{why}</title></rect>')
                continue
            shade = 0.06 + 0.84 * min(1.0, max(0.0, (value - low) / span))
            description = gettext("{own} and {named}: {written}").format(
                own=own, named=named[column_index], written=written(value)
            )
            filled = f'class="filled" {at} fill-opacity="{shade:.2f}"'
            square = f"<rect {filled}><title>{description}</title></rect>"
            if len(columns) <= WRITTEN:
                where = f'x="{middle[column_index]}%" y="{top + SQUARE - 7}"'
                square += f'<text class="in middle" {where}>{written(value)}</text>'
            address = escape(addresses.get((line, column_index), "")) if value else ""
            parts.append(f'<a tabindex="-1" href="{address}">{square}</a>' if address else square)
        drawn.append(mark_safe("".join(parts)))  # nosec B308 B703: every text in it is escaped above
    valued_squares = [
        (value, gettext("{rows} and {columns}").format(rows=rows[line], columns=columns[column_index]))
        for line, of_row in enumerate(values)
        for column_index, value in enumerate(of_row)
        if value is not None
    ]
    description = gettext("No data to show.")
    if valued_squares:
        (least, where), (most, highest_square) = min(valued_squares), max(valued_squares)
        description = gettext("Highest {written} ({there}), lowest {written_2} ({where})").format(
            written=written(most), there=highest_square, written_2=written(least), where=where
        )
    hidden = mark_safe(' aria-hidden="true"') if addresses else ""  # nosec B308 B703: a fixed text
    squares = format_html_join("", "{}", ((x,) for x in drawn))
    body = format_html('<g class="{}"{}>{}</g>', _colour(0), hidden, squares)
    role = "group" if addresses else "img"  # an image contains no links
    height = 18 + len(rows) * SQUARE + 4
    return _chart(name, title, description, [Series(title, [])], height, [body], role=role)


# -- what they share --------------------------------------------------------------------------------


def _chart(
    name: str,
    title: str,
    description: str,
    series: Sequence[Series],
    height: int,
    parts: Sequence[SafeString],
    *,
    role: str = "img",
    sample: str = _SQUARE,
) -> SafeString:
    return format_html(
        '<div class="chart">{}<svg width="100%" height="{}" role="{}" aria-labelledby="{}-title {}-desc">'
        '<title id="{}-title">{}</title><desc id="{}-desc">{}</desc>{}</svg></div>',
        _legend(series, sample) if len(series) > 1 else "",
        height,
        role,
        name,
        name,
        name,
        title,
        name,
        description,
        format_html_join("", "{}", ((part,) for part in parts)),
    )


def _legend(series: Sequence[Series], sample: str) -> SafeString:
    """The name of each series with its letter and a sample: as its bars are, or as its line and its mark."""
    return format_html(
        '<ul class="legend">{}</ul>',
        format_html_join(
            "",
            '<li class="{}">{}<b>{}</b> <span>{}</span></li>',
            (
                (_colour(number), _sample(sample, number), _letter(number), data_series.name)
                for number, data_series in enumerate(series)
            ),
        ),
    )


def _sample(sample: str, number: int) -> SafeString:
    return format_html(sample, dash=DASHES[number % len(DASHES)], mark=MARKS[number % len(MARKS)])


def _text_alternative(labels: Sequence[str], series: Sequence[Series]) -> str:
    """The chart in words, for those who do not see it: where each series is highest and lowest."""
    sentences = []
    for data_series in series:
        labelled_values = [
            (point.value, label)
            for label, point in zip(labels, data_series.points, strict=True)
            if point is not None and point.value is not None
        ]
        if labelled_values:
            (low, least), (high, most) = min(labelled_values), max(labelled_values)
            sentences.append(
                gettext("{name}: highest {number} ({most}), lowest {number_2} ({least})").format(
                    name=data_series.name, number=_number(high), most=most, number_2=_number(low), least=least
                )
            )
    return ". ".join(sentences) or gettext("No data to show.")


def _point_text(point: Point) -> str:
    if point.value is None:
        return gettext("undefined")
    written = _number(point.value)
    if point.low is not None and point.high is not None:
        value, low, high = display_text.estimate(point.value, point.low, point.high, 2)
        written = gettext("{said} ({number} to {number_2})").format(said=value, number=low, number_2=high)
    return written if point.n is None else f"{written}, {n_of([Series('', [point])], 0)}"


def _number(value: float) -> str:
    """Two decimals, as the papers print shares times 100."""
    return display_text.decimal(value, 2)


def _mark(value: float, unit: str) -> str:
    """A mark of an axis: without zeros that say nothing."""
    mark_text = display_text.number(f"{value:g}".replace("-", "\N{MINUS SIGN}"))
    return f"{mark_text} {unit}" if unit else mark_text


def _short(label: str, most: int = 60) -> str:
    return label if len(label) <= most else f"{label[: most - 1]}…"


def _letter(number: int) -> str:
    return ascii_uppercase[number % 26] + (str(number // 26 + 1) if number >= 26 else "")


def _colour(number: int) -> str:
    return f"s{number % COLOURS + 1}"


def _bar_percent(axis: Axis, value: float) -> float:
    return FROM + (TO - FROM) * axis.part(value)


def _x_percent(axis: Axis, value: float) -> str:
    return _percent(_bar_percent(axis, value))


def _percent(part: float) -> str:
    return f"{part:.3f}".rstrip("0").rstrip(".")


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
