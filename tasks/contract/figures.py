"""What agreement, reports and releases take from a task type."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tableqa.core.translation import gettext
from tableqa.statistics.medians import Estimate as Median
from tableqa.statistics.proportions import Proportion
from tasks.contract.items import Item


@dataclass(frozen=True)
class Measure:
    """What people are asked to agree on: a value per response, on a level of measurement.

    `value` maps a response to a category or number, or to None where the response says nothing
    about it; on the level `cells` to a frozenset of (row id, column id), compared within each table;
    on the level `sets` to a frozenset of labels from one stock; on the level `edits` to a sequence of
    operations on the item's table; on the level `ranks` to a sequence of options, the best first, compared within each
    item. `order` lists all categories there are, those of an ordinal measure
    from low to high; a nominal one without it leaves them open and has no AC1. `krippendorff_alpha` is
    taken on the measure's level; a statistic may also name its level (`krippendorff_alpha_interval`).
    The first statistic is the one that slices, pairs and forecasts are given in.
    """

    name: str
    level: Literal["nominal", "ordinal", "interval", "cells", "sets", "edits", "ranks"]
    value: Callable[[Any], Hashable | None]
    order: tuple[Hashable, ...] = ()
    statistics: tuple[str, ...] = ("fleiss_kappa", "krippendorff_alpha")


@dataclass(frozen=True)
class ReportedResponse:
    """One person's response as a report sees it, with what was decided of its item (None: nothing yet)."""

    item: Item
    source: str
    annotator: str
    response: Any
    decided: tuple[Any, ...] | None


def split_by_decision(rows: Sequence[ReportedResponse]) -> tuple[list[ReportedResponse], str]:
    """The last row of each item that is decided, and a sentence on how many are not: people may differ on these most."""
    items = {(row.source, row.item.example.id): row for row in rows}
    decided = [row for row in items.values() if row.decided is not None]
    return decided, undecided_note(len(items) - len(decided))


def undecided_note(items: int) -> str:
    """How many items with responses a figure on decided items leaves out, as a sentence for its note."""
    return gettext("Items with responses that are undecided and left out: {number}.").format(number=items)


@dataclass(frozen=True)
class Report:
    """A table of figures about a batch beyond agreement: a title, column names, rows, a note.

    A share or a median is one value of a row, with its interval and n: the page and the files write these themselves.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | Proportion | Median | None, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class ReleaseRecord:
    """One record of a release: the part of the benchmark it belongs to, its record, and the order within."""

    part: str
    record: dict[str, Any]
    is_of_shown: bool = False
    """Whether the record is of the example that the item shows, beside what was made of it."""
