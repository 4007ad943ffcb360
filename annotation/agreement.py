"""Agreement of a batch: which responses enter, by which measures. The arithmetic is `tableqa.agreement`.

The same function serves the batch page, the release and `verify_release`, so that the three cannot
differ: raw responses in, figures out. Decisions never enter, added places never enter.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from annotation.models import Assignment, Batch, Item
from tableqa.agreement import Agreement, from_patterns
from tasks.contract import Measure, TaskType

REPLICATES = 1_000
SEED = 0
NO_SHAPES: Mapping[str, tuple[int, int]] = {}
DIGITS = 6
"""Decimals of every stored figure (docs/decisions/0001): more would differ between machines."""


@dataclass(frozen=True)
class Figure:
    """One statistic of one measure of a batch, with its interval; `value` None has a `reason`."""

    measure: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None
    units: int
    raters: int
    ratings: int
    reason: str = ""
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "statistic": self.statistic,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "units": self.units,
            "raters": self.raters,
            "ratings": self.ratings,
            "reason": self.reason,
            "note": self.note,
            "confidence": 0.95,
            "replicates": REPLICATES,
            "seed": SEED,
        }


def figures(
    task: TaskType, rows: Iterable[tuple[str, str, Any]], shapes: Mapping[str, tuple[int, int]] = NO_SHAPES
) -> list[Figure]:
    """The kind's statistics over rows of (item, annotator, response), item by item.

    `shapes` gives rows and columns of each item's table where the kind compares cells (`wants_shapes`).
    """
    return [one.figure(statistic) for one in tallies(task, rows, shapes) for statistic in named(one.measure)]


@dataclass
class Tally:
    """The ratings of a measure as its statistics need them: how many items show which pattern, and who rated.

    There are few patterns, however many items: the memory does not grow with their number.
    """

    measure: Measure
    patterns: Counter[Any] = field(default_factory=Counter)
    raters: set[str] = field(default_factory=set)

    def figure(self, statistic: str) -> Figure:
        """One statistic, rounded as it is stored."""
        if self.measure.level == "cells":
            from tableqa.cell_sets import from_patterns as of_cells

            distance: Literal["jaccard", "masi"] = "masi" if statistic == "cell_sets_masi" else "jaccard"
            found = of_cells(
                self.patterns, distance, raters=len(self.raters), replicates=REPLICATES, seed=SEED
            )
        else:
            found = from_patterns(
                list(self.patterns),
                list(self.patterns.values()),
                statistic,
                raters=len(self.raters),
                order=self.order(statistic),
                replicates=REPLICATES,
                seed=SEED,
            )
        return _figure(self.measure, statistic, found)

    def order(self, statistic: str) -> tuple[str, ...] | None:
        """The order of the categories, where the statistic uses one."""
        return (
            self.measure.order if self.measure.order and statistic == "krippendorff_alpha_ordinal" else None
        )

    def ratings(self) -> list[Sequence[object]]:
        """The ratings of each item, in no order; of cells there are none."""
        return list(self.patterns.elements())


def tallies(
    task: TaskType, rows: Iterable[tuple[str, str, Any]], shapes: Mapping[str, tuple[int, int]] = NO_SHAPES
) -> list[Tally]:
    """The ratings of every measure of a kind, from rows as `figures` takes them."""
    from tableqa.cell_sets import pattern_of

    found = [Tally(measure) for measure in task.measures]
    for item, of_item in itertools.groupby(rows, key=lambda row: row[0]):
        said = {annotator: response for _, annotator, response in of_item}
        for one in found:
            values = {who: one.measure.value(response) for who, response in said.items()}
            given = {who: value for who, value in values.items() if value is not None}
            one.raters |= given.keys()
            pattern: Any = tuple(given.values())
            if one.measure.level == "cells":
                pattern = pattern_of(shapes[item], pattern, item)
            one.patterns[pattern] += 1
    return found


def wants_shapes(task: TaskType) -> bool:
    """Whether the kind's agreement is taken over cells, and so needs the shapes of the tables."""
    return any(measure.level == "cells" for measure in task.measures)


def named(measure: Measure) -> list[str]:
    """The statistics of a measure under the names of `tableqa.agreement`."""
    return [
        f"{name}_{measure.level}" if name == "krippendorff_alpha" else name for name in measure.statistics
    ]


def _figure(measure: Measure, statistic: str, found: Agreement) -> Figure:
    return Figure(
        measure=measure.name,
        statistic=statistic,
        value=_rounded(found.value),
        low=_rounded(found.low),
        high=_rounded(found.high),
        units=found.units,
        raters=found.raters,
        ratings=found.ratings,
        reason=found.reason or "",
        note=found.note or "",
    )


def of_batch(batch: Batch) -> list[Figure]:
    """The figures of a batch as it stands: newest submitted responses on planned places."""
    task = batch.task()
    if not task.measures:
        return []
    submitted = Assignment.objects.filter(batch=batch, place__added=False).submitted()
    rows = submitted.values_list("item__public_id", "person_id", "annotation__response")
    said = (
        (item, str(person), stored(task, response or {}))
        for item, person, response in sorted(rows, key=_first)
    )
    shapes = _shapes(batch) if wants_shapes(task) else {}
    return figures(task, said, shapes)


def _shapes(batch: Batch) -> dict[str, tuple[int, int]]:
    items = Item.objects.filter(batch=batch, submitted_count__gt=0).select_related("example__stored_table")
    return {item.public_id: item.example.table().shape for item in items}


def stored(task: TaskType, envelope: dict[str, Any]) -> Any:
    """A response as it was stored, without judging it again: measures need its fields only."""
    data = envelope["data"]
    if envelope["version"] != task.version:
        data = task.upgrade(data, envelope["version"])
    return task.restore(data)


def _first(row: Sequence[Any]) -> Any:
    return row[0]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
