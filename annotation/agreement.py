"""Agreement of a batch: which responses enter, by which measures. The arithmetic is `tableqa.agreement`.

The same function serves the batch page, the release and `verify_release`, so that the three cannot
differ: raw responses in, figures out. Decisions never enter, added places never enter.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from annotation.models import Assignment, Batch
from tableqa.agreement import Agreement, agreement
from tasks.contract import Measure, TaskType

REPLICATES = 1_000
SEED = 0
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


def figures(task: TaskType, rows: Iterable[tuple[str, str, Any]]) -> list[Figure]:
    """The kind's statistics over rows of (item, annotator, response), in any order."""
    ratings = list(rows)
    return [
        figure(measure, statistic, table(measure, ratings))
        for measure in task.measures
        for statistic in named(measure)
    ]


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
    return figures(task, said)


def stored(task: TaskType, envelope: dict[str, Any]) -> Any:
    """A response as it was stored, without judging it again: measures need its fields only."""
    data = envelope["data"]
    if envelope["version"] != task.version:
        data = task.upgrade(data, envelope["version"])
    return task.restore(data)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
