"""Columns of a table with the cells that they take from a record, described together. Pure.

fields = (*texts(name=gettext("Link")), *integers(entered=gettext("Joined")), *times(created=gettext("Created (UTC)")))
table("crowd-links", gettext("Crowd links"), fields, [{"name": "A", "entered": 3, "created": now}])

A record is a mapping or an object; as in queries, `batch__name` is the name of its batch.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext

from annotation.charts.figure import Figure
from annotation.charts.series import Chart, Point, n_equals
from annotation.platform import display_text
from tableqa.writers.report_tables import NOTHING, Cell, Column, Sheet, text


@dataclass(frozen=True)
class Field:
    """A column, and the cell that it takes from a record."""

    column: Column
    cell: Callable[[Any], Cell]


def table(
    name: str,
    title: str,
    fields: Sequence[Field],
    records: Iterable[Any],
    note: str = "",
    *,
    chart: Chart | None = None,
    basis: str = "",
) -> Figure | None:
    """A figure with a row of its table for each record; None where there are none."""
    rows = tuple(tuple(field.cell(record) for field in fields) for record in records)
    columns = tuple(field.column for field in fields)
    return Figure(name, title, Sheet(name, title, columns, rows, note), chart, basis) if rows else None


def text_field(title: str, value: Callable[[Any], str]) -> Field:
    """A column of texts."""
    return Field(Column(title, numeric=False), lambda record: text(value(record)))


def number_field(title: str, cell: Callable[[Any], Cell], *, counted: str = "", unit: str = "") -> Field:
    """A column of numbers, or with `counted` of estimates."""
    return Field(Column(title, counted=counted, unit=unit), cell)


def percent_field(title: str, point: Callable[[Any], Point | None], *, counted: str = "") -> Field:
    """A column of estimates in percent."""
    return number_field(
        title, lambda record: estimate_cell(point(record), 1, unit="%"), counted=counted, unit="%"
    )


def _fields(titles: dict[str, str], cell: Callable[[Any], Cell], *, numeric: bool) -> tuple[Field, ...]:
    """A column for each path of a record, with its title."""

    def of(path: str) -> Callable[[Any], Cell]:
        return lambda record: cell(value_at(record, path))

    return tuple(Field(Column(title, numeric=numeric), of(key)) for key, title in titles.items())


def value_at(record: Any, path: str) -> Any:
    """What a record has at a path such as `batch__name`, of keys or attributes; None where a part of it is None."""
    value = record
    for name in path.split("__"):
        if value is not None:
            value = value[name] if isinstance(value, Mapping) else getattr(value, name)
    return value


def texts(**titles: str) -> tuple[Field, ...]:
    """Columns of texts, by the paths of a record."""
    return _fields(titles, text, numeric=False)


def optional_texts(**titles: str) -> tuple[Field, ...]:
    """Columns of texts, with a dash where there is none."""
    return _fields(titles, lambda value: text(value or NOTHING), numeric=False)


def translated(**titles: str) -> tuple[Field, ...]:
    """Columns of stored messages, in the language of the reader."""
    return _fields(titles, lambda value: text(display_text.show(value)), numeric=False)


def integers(**titles: str) -> tuple[Field, ...]:
    """Columns of whole numbers."""
    return _fields(titles, integer, numeric=True)


def times(**titles: str) -> tuple[Field, ...]:
    """Columns of times of UTC to the minute."""
    return _fields(titles, time_utc, numeric=False)


def texts_of(key: str, titles: Sequence[str]) -> tuple[Field, ...]:
    """Columns of texts, of which a record has a list."""
    return tuple(text_field(title, _nth(key, at)) for at, title in enumerate(titles))


def integers_of(key: str, titles: Sequence[str]) -> tuple[Field, ...]:
    """Columns of whole numbers, of which a record has a list."""
    return tuple(number_field(title, _nth(key, at, integer)) for at, title in enumerate(titles))


def _nth(key: str, at: int, cell: Callable[[Any], Any] = str) -> Callable[[Any], Any]:
    return lambda record: cell(record[key][at])


# -- cells ------------------------------------------------------------------------------------------


def integer(value: int | None, address: str = "") -> Cell:
    """A whole number that links to what it counts, or that there is none."""
    if value is None:
        return text(NOTHING)
    return Cell(display_text.number(f"{value:,}"), float(value), address=address if value else "")


def decimal(value: float | Decimal | None, digits: int = 2) -> Cell:
    """A number with this number of decimals, or a dash for none."""
    if value is None:
        return text(NOTHING)
    return Cell(display_text.decimal(float(value), digits), round(float(value), 6))


def estimate_cell(point: Point | None, digits: int, *, unit: str = "", no_interval: str = "") -> Cell:
    """A point of a chart as a cell of a column of estimates: the value, its interval or the reason why it has none, and n.

    The ends get as many decimals as they need to differ.
    """
    if point is None or point.value is None:
        return Cell(NOTHING, n=point.n if point is not None else None)
    after = f" {unit}" if unit else ""
    value, written = round(point.value, 6), display_text.decimal(point.value, digits)
    if point.interval is None:
        return Cell(f"{written}{after}", value, n=point.n, no_interval=no_interval)
    written, *ends = display_text.estimate(point.value, *point.interval, digits)
    between = gettext("{low} to {high}").format(low=ends[0], high=ends[1])
    low, high = (round(end, 6) for end in point.interval)
    return Cell(f"{written}{after}", value, f"{between}{after}", low=low, high=high, n=point.n)


def with_n(cell: Cell) -> Cell:
    """The cell with its interval and n beside the value, for a table without room for columns of their own."""
    if cell.n is None:
        return cell
    n = n_equals(display_text.number(f"{cell.n:,}"))
    return replace(cell, detail=f"{cell.detail}; {n}" if cell.detail else n)


def time_utc(value: datetime | None, *, seconds: bool = False) -> Cell:
    """A time of UTC to the minute or second, or that there is none."""
    if value is None:
        return text(NOTHING)
    return text(f"{value:%Y-%m-%d %H:%M:%S}" if seconds else f"{value:%Y-%m-%d %H:%M}")
