"""Agreement of a batch: which responses enter, by which measures. The arithmetic is `tableqa.agreement`.

The same function serves the batch page, the release and `verify_release`, so that the three cannot
differ: raw responses in, figures out. Decisions never enter, added places never enter.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from annotation.models import Assignment, Batch, Item
from tableqa.agreement import Agreement, agreement
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
    """The kind's statistics over rows of (item, annotator, response), in any order.

    `shapes` gives rows and columns of each item's table where the kind compares cells (`wants_shapes`).
    """
    ratings = list(rows)
    return [
        of_cells(measure, statistic, ratings, shapes)
        if measure.level == "cells"
        else figure(measure, statistic, table(measure, ratings))
        for measure in task.measures
        for statistic in named(measure)
    ]


def wants_shapes(task: TaskType) -> bool:
    """Whether the kind's agreement is taken over cells, and so needs the shapes of the tables."""
    return any(measure.level == "cells" for measure in task.measures)


def of_cells(
    measure: Measure,
    statistic: str,
    rows: Iterable[tuple[str, str, Any]],
    shapes: Mapping[str, tuple[int, int]],
) -> Figure:
    """Agreement over sets of cells, each compared within its own table."""
    from tableqa.cell_sets import cell_set_agreement

    ratings = list(rows)
    items = sorted({item for item, _, _ in ratings})
    lines = cast("list[list[frozenset[tuple[str, str]] | None]]", table(measure, ratings))
    units = [(shapes[item], line) for item, line in zip(items, lines, strict=True)]
    distance: Literal["jaccard", "masi"] = "masi" if statistic == "cell_sets_masi" else "jaccard"
    found = cell_set_agreement(units, distance=distance, replicates=REPLICATES, seed=SEED)
    return _figure(measure, statistic, found)


def table(measure: Measure, rows: Iterable[tuple[str, str, Any]]) -> list[list[Hashable | None]]:
    """Units x raters: one row an item, one column an annotator, None where there is no rating.

    Rows and columns are sorted by name: the bootstrap depends on no order of arrival.
    """
    cells: dict[str, dict[str, Hashable | None]] = {}
    raters: set[str] = set()
    for item, annotator, response in rows:
        cells.setdefault(item, {})[annotator] = measure.value(response)
        raters.add(annotator)
    columns = sorted(raters)
    return [[cells[item].get(rater) for rater in columns] for item in sorted(cells)]


def named(measure: Measure) -> list[str]:
    """The statistics of a measure under the names of `tableqa.agreement`."""
    return [
        f"{name}_{measure.level}" if name == "krippendorff_alpha" else name for name in measure.statistics
    ]


def figure(measure: Measure, statistic: str, ratings: list[list[Hashable | None]]) -> Figure:
    """One statistic of a measure over units x raters, rounded as it is stored."""
    found: Agreement = agreement(
        ratings,
        statistic,
        order=measure.order if measure.order and statistic == "krippendorff_alpha_ordinal" else None,
        replicates=REPLICATES,
        seed=SEED,
    )
    return _figure(measure, statistic, found)


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
    said = ((item, str(person), stored(task, response or {})) for item, person, response in rows)
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


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
