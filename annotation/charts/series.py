"""What a chart shows: points, axes, labels, n and every text, described once. Pure.

    chart = Bars(["row_shuffle"], [Series("TAPEX", [Point(61.2, 58.0, 64.1)])], axis_over([64.1], unit="%"))
    chart.description                    # "TAPEX: highest 61.20 (row_shuffle), lowest 61.20 (row_shuffle)"

`svg` draws a chart on a page and `image_files` in a file: they choose positions, colours and sizes, and nothing else.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import ClassVar, TypeAlias

from django.utils.translation import gettext

from annotation.platform import display_text

FEW = 12
"""The most values of a distribution that are drawn as dots, not columns."""


@dataclass(frozen=True)
class Point:
    """A figure with the ends of its interval, in the unit of the axis, and how many units it is of. None where it is
    undefined or unknown."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends, where there are both."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def n_text(self) -> str:
        """How many units it is of, "1,204"; "" if unknown."""
        return "" if self.n is None else display_text.number(f"{self.n:,}")

    @property
    def text(self) -> str:
        """The figure with its interval and n."""
        if self.value is None:
            return gettext("undefined")
        written = value_text(self.value)
        if self.interval:
            value, low, high = display_text.estimate(self.value, *self.interval, 2)
            written = gettext("{said} ({number} to {number_2})").format(said=value, number=low, number_2=high)
        return f"{written}, {n_equals(self.n_text)}" if self.n_text else written


@dataclass(frozen=True)
class Series:
    """What is drawn in one colour: a point for each label, None where there is none."""

    name: str
    points: Sequence[Point | None]

    @property
    def values(self) -> list[float | None]:
        """The value at each label, None where it is missing or undefined."""
        return [None if point is None else point.value for point in self.points]


@dataclass(frozen=True)
class Distributions:
    """The values of one series: one distribution for each label, empty where there is none."""

    name: str
    values: Sequence[Sequence[float]]


@dataclass(frozen=True)
class Axis:
    """From where to where, with the values that are marked."""

    low: float
    high: float
    ticks: tuple[float, ...]
    unit: str = ""

    def part(self, value: float) -> float:
        """Where a value lies, from 0 to 1; what is outside is drawn at the end."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    @property
    def marks(self) -> list[tuple[float, str]]:
        """The marked values with their texts."""
        return [(tick, _mark(tick, self.unit)) for tick in self.ticks]


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


def ends(series: Iterable[Series]) -> list[float]:
    """The values of all points and the ends of their intervals, for an axis over them."""
    points = [point for data_series in series for point in data_series.points if point is not None]
    return [end for point in points for end in (point.value, point.low, point.high) if end is not None]


# -- kinds of charts --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bars:
    """Lying bars with intervals: a group for each label, a bar for each series."""

    labels: Sequence[str]
    series: Sequence[Series]
    axis: Axis

    @property
    def description(self) -> str:
        """The chart in words, for screen readers."""
        return _highest_and_lowest(self.labels, self.series)

    @property
    def notes(self) -> list[str]:
        """What has to be known to read the marks."""
        points = (point for data_series in self.series for point in data_series.points)
        has_whiskers = any(point is not None and point.low is not None for point in points)
        return [gettext("Whiskers: 95 % confidence intervals.")] if has_whiskers else []

    def n_at(self, index: int) -> list[str]:
        """How many units the point of each series at one label is of; "" without a point, or if unknown."""
        points = (data_series.points[index] for data_series in self.series)
        return [point.n_text if point is not None else "" for point in points]

    def has_different_n(self, index: int) -> bool:
        """Whether the points at one label differ in n."""
        return len(set(filter(None, self.n_at(index)))) > 1

    def common_n(self, index: int) -> str:
        """The n that holds for all points at one label, "n = 12"; "" if they differ or are unknown."""
        sizes = set(filter(None, self.n_at(index)))
        return n_equals(*sizes) if len(sizes) == 1 else ""


@dataclass(frozen=True)
class Lines(Bars):
    """A line for each series through its points, one at each label, broken where a point is missing or undefined.

    most    of more labels than these only some are written, at equal distances; 0: all are
    """

    most: int = 0

    @property
    def written(self) -> range:
        """The labels that are written, by index."""
        return range(0, len(self.labels), max(1, -(-len(self.labels) // self.most)) if self.most else 1)

    @property
    def has_n_of_each(self) -> bool:
        """Whether one n does not hold for all points at each label."""
        return any(map(self.has_different_n, range(len(self.labels))))


@dataclass(frozen=True)
class Columns(Lines):
    """Standing columns of a single series, one for each label, such as a day."""

    most: int = 6


@dataclass(frozen=True)
class Bin:
    """A column of a distribution: from where to where, and how many values are in it."""

    low: float
    high: float
    count: int

    @property
    def text(self) -> str:
        """The range with its count."""
        low, high = _mark(self.low), _mark(self.high)
        between = (
            low if self.low == self.high else gettext("{mark} to {mark_2}").format(mark=low, mark_2=high)
        )
        return f"{between}: {display_text.number(f'{self.count:,}')}"


def bins(values: Sequence[float], axis: Axis, count: int = 20) -> list[Bin]:
    """Values counted: each different value for itself where there are few different ones, else in equal steps."""
    counts = Counter(round(value, 9) for value in values)
    step = (axis.high - axis.low) / count
    if len(counts) <= FEW:
        return [Bin(value, value, counts[value]) for value in sorted(counts)]
    bin_counts = Counter(min(int(axis.part(value) * count), count - 1) for value in values)
    return [
        Bin(axis.low + index * step, axis.low + (index + 1) * step, bin_counts[index])
        for index in range(count)
    ]


@dataclass(frozen=True)
class Strip:
    """The values of one series at one label, both by index."""

    label: int
    series: int
    values: Sequence[float]
    bins: Sequence[Bin]

    @property
    def is_dots(self) -> bool:
        """Whether each value is a dot; else bins are columns."""
        return len(self.values) <= FEW

    @property
    def highest(self) -> int:
        """The number of values in the fullest bin."""
        return max(value_bin.count for value_bin in self.bins)

    @property
    def mean(self) -> float:
        """Where the line of the mean is."""
        return fmean(self.values)


@dataclass(frozen=True)
class Distribution:
    """Strips of values: a group for each label, a strip for each series that has values there."""

    labels: Sequence[str]
    spreads: Sequence[Distributions]
    axis: Axis
    notes: ClassVar[Sequence[str]] = ()

    @property
    def series(self) -> list[Series]:
        """The means."""
        return [
            Series(spread.name, [Point(fmean(values)) if values else None for values in spread.values])
            for spread in self.spreads
        ]

    @property
    def strips(self) -> list[Strip]:
        """By label, then by series; without empty ones."""
        return [
            Strip(label, ordinal, values, bins(values, self.axis))
            for label in range(len(self.labels))
            for ordinal, spread in enumerate(self.spreads)
            if (values := spread.values[label])
        ]

    @property
    def description(self) -> str:
        """The chart in words, for screen readers: the highest and the lowest mean."""
        return _highest_and_lowest(self.labels, self.series)


@dataclass(frozen=True)
class Square:
    """A square of a heat map: where it is, and how dark from 0 to 1; without a value it is an outline."""

    row: int
    column: int
    value: float | None
    part: float
    text: str
    description: str
    address: str


@dataclass(frozen=True)
class Heat:
    """Squares, the darker the higher between `low` and `high`; `whole`: the values are counts.

    addresses   where a square leads to on a page, by (row, column)
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float | None]]
    low: float = 0.0
    high: float = 1.0
    whole: bool = False
    addresses: Mapping[tuple[int, int], str] = field(default_factory=dict)

    series: ClassVar[Sequence[Series]] = ()
    """None: a heat map has no legend."""
    notes: ClassVar[Sequence[str]] = ()

    @property
    def squares(self) -> list[list[Square]]:
        """The squares of each row."""
        return [
            [self._square(row, column, value) for column, value in enumerate(of_row)]
            for row, of_row in enumerate(self.values)
        ]

    def _square(self, row: int, column: int, value: float | None) -> Square:
        own, named = self.rows[row], self.columns[column]
        if value is None:
            why = (
                gettext("the same person")
                if own == named
                else gettext("{own} and {named}: nothing in common")
            )
            return Square(row, column, None, 0.0, "", why.format(own=own, named=named), "")
        part = min(1.0, max(0.0, (value - self.low) / max(self.high - self.low, 1e-9)))
        written = self._written(value)
        description = gettext("{own} and {named}: {written}").format(own=own, named=named, written=written)
        address = self.addresses.get((row, column), "") if value else ""
        return Square(row, column, value, part, written, description, address)

    def _written(self, value: float) -> str:
        return display_text.number(f"{value:,.0f}") if self.whole else value_text(value)

    @property
    def description(self) -> str:
        """The chart in words, for screen readers: the highest and the lowest square."""
        named_values = [
            (value, gettext("{rows} and {columns}").format(rows=row, columns=column))
            for row, of_row in zip(self.rows, self.values, strict=True)
            for column, value in zip(self.columns, of_row, strict=True)
            if value is not None
        ]
        if not named_values:
            return gettext("No data to show.")
        (least, where), (most, highest_square) = min(named_values), max(named_values)
        return gettext("Highest {written} ({there}), lowest {written_2} ({where})").format(
            written=self._written(most), there=highest_square, written_2=self._written(least), where=where
        )


Chart: TypeAlias = Bars | Lines | Columns | Heat | Distribution


# -- values and texts -------------------------------------------------------------------------------


def _highest_and_lowest(labels: Sequence[str], series: Sequence[Series]) -> str:
    """Where each series is highest and lowest."""
    sentences = []
    for data_series in series:
        labelled_values = [
            (value, label)
            for label, value in zip(labels, data_series.values, strict=True)
            if value is not None
        ]
        if labelled_values:
            (low, least), (high, most) = min(labelled_values), max(labelled_values)
            sentences.append(
                gettext("{name}: highest {number} ({most}), lowest {number_2} ({least})").format(
                    name=data_series.name,
                    number=value_text(high),
                    most=most,
                    number_2=value_text(low),
                    least=least,
                )
            )
    return ". ".join(sentences) or gettext("No data to show.")


def missing_text(point: Point | None) -> str:
    """Why there is no bar: the figure is undefined, or there is none."""
    return gettext("undefined") if point is not None else gettext("not asked")


def n_equals(n: str) -> str:
    """A number of units, "n = 12"."""
    return gettext("n = {n}").format(n=n)


def value_text(value: float) -> str:
    """Two decimals, as the papers print shares times 100."""
    return display_text.decimal(value, 2)


def _mark(value: float, unit: str = "") -> str:
    """A mark of an axis: without zeros that say nothing."""
    mark_text = display_text.number(f"{value:g}".replace("-", "\N{MINUS SIGN}"))
    return f"{mark_text} {unit}" if unit else mark_text


def shorten(label: str, most: int) -> str:
    """The most characters of a label."""
    return label if len(label) <= most else f"{label[: most - 1]}…"
