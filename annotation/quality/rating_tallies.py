"""Agreement figures from counted ratings: by which measures, and in which statistics. No database.

The same function (`RatingTally.figure`) serves the pages, the command, the release and `verify_release`, so that they
cannot differ: which responses are together on how many items in, figures out. The arithmetic is
`tableqa.agreement.coefficients`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

from tableqa.agreement.coefficients import from_patterns, influence_of_patterns, over_clusters
from tableqa.agreement.measures import Agreement
from tableqa.agreement.sample_size import Basis, basis
from tasks.contract import Measure, TaskType

REPLICATES = 1_000
SEED = 0
NO_SHAPES: Mapping[str, tuple[int, int]] = {}
DIGITS = 6
"""Decimals of every stored figure (docs/decisions/0001): more would differ between machines."""
BESIDE: Mapping[str, tuple[str, ...]] = {
    "nominal": ("percent_agreement", "fleiss_kappa", "krippendorff_alpha_nominal"),
    "ordinal": ("percent_agreement", "krippendorff_alpha_ordinal"),
    "interval": ("percent_agreement", "krippendorff_alpha_interval"),
    "sets": ("percent_agreement", "krippendorff_alpha_masi", "krippendorff_alpha_jaccard"),
    "ranks": (
        "kendall_w",
        "mean_spearman",
        "percent_agreement",
        "fleiss_kappa",
        "krippendorff_alpha_nominal",
    ),
    "cells": ("cell_sets_jaccard", "cell_sets_masi"),
    "edits": ("edits_masi", "edits_jaccard"),
}
"""What every measure of a level is given in, beside the statistics that its kind names."""


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
        return {**asdict(self), "confidence": 0.95, "replicates": REPLICATES, "seed": SEED}


def figures_of(measure_tallies: Iterable[RatingTally]) -> list[Figure]:
    """All statistics of each of the tallies."""
    return [
        tally.figure(statistic) for tally in measure_tallies for statistic in statistics_of(tally.measure)
    ]


@dataclass
class RatingTally:
    """The ratings of a measure as its statistics need them: how many items show which pattern, and who rated.

    There are few patterns, however many items: the memory does not grow with their number.
    """

    measure: Measure
    patterns: Counter[Any] = field(default_factory=Counter)
    raters: set[str] = field(default_factory=set)
    clusters: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    """Where units belong together, the patterns of each item's units, and how many items are like it (`add_pairs`)."""

    def add_pairs(
        self, pairs: Iterable[Mapping[str, Any]], item: str, shapes: Mapping[str, tuple[int, int]]
    ) -> None:
        """Comparisons of one item as a cluster: the interval is then over items."""
        pair_patterns = []
        for ratings in pairs:
            self.raters.update(ratings)
            pair_patterns.append(_pattern(self.measure, tuple(ratings.values()), item, shapes))
        self.patterns.update(pair_patterns)
        self.clusters[tuple(sorted(pair_patterns, key=repr))] += 1

    def add(
        self, ratings: Mapping[str, Any], item: str, shapes: Mapping[str, tuple[int, int]], items: int = 1
    ) -> None:
        """The ratings of one item by annotator, those that say nothing left out; `items` are like it."""
        self.raters.update(ratings)
        self.patterns[_pattern(self.measure, tuple(ratings.values()), item, shapes)] += items

    def figure(self, statistic: str) -> Figure:
        """One statistic, rounded as it is stored."""
        return rounded_figure(self.measure, statistic, self.agreement(statistic))

    def agreement(self, statistic: str) -> Agreement:
        """One statistic as `tableqa` gives it; where units belong together, with its interval over items."""
        result = self._unit_agreement(statistic)
        if not self.clusters or statistic == "cohen_kappa":
            return result
        if self.measure.level == "cells":
            from tableqa.agreement import cell_sets

            return cell_sets.over_clusters(result, self.clusters, _distance(statistic))
        if self.measure.level == "edits":
            from tableqa.agreement import edits

            used = self._used_operations()
            together = [
                [_edits_of(pattern, used) for pattern in cluster] for cluster in self.clusters.elements()
            ]
            return edits.over_clusters(result, together, _distance(statistic))
        if (rank := _RANK_MEASURES.get(statistic)) is not None:
            from tableqa.agreement import rankings

            ranked = Counter[Any]()
            for cluster, count in self.clusters.items():
                ranked[tuple(map(rankings.pattern_of, cluster))] += count
            return rankings.over_clusters(result, ranked, rank)
        return over_clusters(result, self.clusters, statistic, order=self.order(statistic))

    def _unit_agreement(self, statistic: str) -> Agreement:
        raters = len(self.raters)
        if self.measure.level == "cells":
            from tableqa.agreement.cell_sets import from_patterns as of_cells

            distance = _distance(statistic)
            return of_cells(self.patterns, distance, raters=raters, replicates=REPLICATES, seed=SEED)
        if self.measure.level == "edits":
            from tableqa.agreement.edits import edit_agreement

            result = edit_agreement(self._edits(), _distance(statistic), replicates=REPLICATES, seed=SEED)
            return replace(result, raters=raters)
        if (rank := _RANK_MEASURES.get(statistic)) is not None:
            from tableqa.agreement.rankings import from_patterns as of_ranks

            return of_ranks(self._rankings(), rank, raters=raters, replicates=REPLICATES, seed=SEED)
        if statistic == "cohen_kappa":
            from tableqa.agreement.pairs import cohen_of_counts

            both = {pattern: count for pattern, count in self.patterns.items() if len(pattern) == 2}
            return cohen_of_counts(both, raters=raters, replicates=REPLICATES, seed=SEED)
        return from_patterns(
            list(self.patterns),
            list(self.patterns.values()),
            statistic,
            raters=raters,
            order=self.order(statistic),
            replicates=REPLICATES,
            seed=SEED,
        )

    def basis(self, statistic: str) -> Basis:
        """What is to be known for saying how many more items an interval needs."""
        if self.measure.level == "cells":
            from tableqa.agreement.cell_sets import influence as of_cells

            moved = of_cells(self.patterns, _distance(statistic))
        elif self.measure.level == "edits":
            from tableqa.agreement.edits import influence as of_edits

            moved = of_edits(self._edits(), _distance(statistic))
        elif (rank := _RANK_MEASURES.get(statistic)) is not None:
            from tableqa.agreement.rankings import influence as of_ranks

            moved = of_ranks(self._rankings(), rank)
        else:
            moved = influence_of_patterns(
                list(self.patterns), list(self.patterns.values()), statistic, order=self.order(statistic)
            )
        return basis(self.agreement(statistic), *moved)

    def order(self, statistic: str) -> tuple[Hashable, ...] | None:
        """All categories there are, where the statistic has a use for them."""
        uses_order = statistic in ("krippendorff_alpha_ordinal", "gwet_ac1")
        return self.measure.order if self.measure.order and uses_order else None

    def ratings(self) -> list[Sequence[object]]:
        """The ratings of each item, in no order; of cells there are none."""
        return list(self.patterns.elements())

    def _edits(self) -> list[tuple[int, Sequence[Any]]]:
        """The units of `edit_agreement`: chance is taken among the places of the operations that any person here used."""
        used = self._used_operations()
        return [_edits_of(pattern, used) for pattern in self.patterns.elements()]

    def _rankings(self) -> Counter[Any]:
        from tableqa.agreement.rankings import pattern_of

        rankings = Counter[Any]()
        for pattern, count in self.patterns.items():
            rankings[pattern_of(pattern)] += count
        return rankings

    def _used_operations(self) -> list[str]:
        return sorted({name for _, _, names in self.patterns for name in names})


def _edits_of(pattern: Any, used: Sequence[str]) -> tuple[int, Sequence[Any]]:
    from tableqa.agreement.edits import places_of

    shape, sets, _ = pattern
    return max(places_of(shape, used), *map(len, sets), 0), sets


def tallies(
    task: TaskType,
    rows: Iterable[tuple[str, str, Any]],
    shapes: Mapping[str, tuple[int, int]] = NO_SHAPES,
    overlap: int = 1,
) -> list[RatingTally]:
    """The ratings of every measure of a kind, from rows of (item, annotator, response), item by item.

    `shapes` gives rows and columns of each item's table where the kind compares cells or edits (`wants_shapes`),
    `overlap` is that of the batch: what people make is compared where several are asked for it.
    """
    measure_tallies = [RatingTally(measure) for measure in measures_of(task, overlap)]
    for item, of_item in itertools.groupby(rows, key=lambda row: row[0]):
        responses = {annotator: response for _, annotator, response in of_item}
        for tally in measure_tallies:
            tally.add(values_by_annotator(tally.measure, responses), item, shapes)
    return measure_tallies


def measures_of(task: TaskType, overlap: int) -> tuple[Measure, ...]:
    """What people are compared in: the task type's own measures, else edits where several people edit the same table."""
    operations = task.operations_field
    if task.measures or operations is None or overlap < 2:
        return task.measures
    return (Measure("edits", "edits", lambda response: getattr(response, operations), statistics=()),)


def wants_shapes(task: TaskType, overlap: int = 1) -> bool:
    """Whether the kind's agreement is taken over cells or edits, and so needs the shapes of the tables."""
    return any(measure.level in ("cells", "edits") for measure in measures_of(task, overlap))


def statistics_of(measure: Measure) -> list[str]:
    """The statistics of a measure under the names of `agreement.coefficients`: the task type's own, then those of its level.

    AC1 depends on how many categories there could be: it is given where the measure names them.
    """
    own = [f"{name}_{measure.level}" if name == "krippendorff_alpha" else name for name in measure.statistics]
    beside = [*BESIDE[measure.level], *(["gwet_ac1"] if measure.level == "nominal" and measure.order else [])]
    return list(dict.fromkeys([*own, *beside]))


def _pattern(
    measure: Measure, values: tuple[Any, ...], item: str, shapes: Mapping[str, tuple[int, int]]
) -> Any:
    if measure.level == "cells":
        from tableqa.agreement.cell_sets import pattern_of

        return pattern_of(shapes[item], values, item)
    if measure.level == "edits":
        from tableqa.agreement.edits import edits_of

        names = frozenset(operation.to_dict()["op"] for operations in values for operation in operations)
        return shapes[item], tuple(map(edits_of, values)), names
    return values


def values_by_annotator(measure: Measure, responses: Mapping[str, Any]) -> dict[str, Any]:
    """What responses say on a measure, by annotator, without those that say nothing."""
    values = {who: measure.value(response) for who, response in responses.items()}
    return {who: value for who, value in values.items() if value is not None}


_RANK_MEASURES: Final[Mapping[str, Literal["kendall_w", "mean_spearman"]]] = {
    "kendall_w": "kendall_w",
    "mean_spearman": "mean_spearman",
}
"""Statistics of `tableqa.agreement.rankings`."""


def _distance(statistic: str) -> Literal["jaccard", "masi"]:
    return "masi" if statistic.endswith("_masi") else "jaccard"


def rounded_figure(measure: Measure, statistic: str, result: Agreement) -> Figure:
    """A statistic as it is stored, to `DIGITS` decimals."""
    return Figure(
        measure=measure.name,
        statistic=statistic,
        value=rounded(result.value),
        low=rounded(result.low),
        high=rounded(result.high),
        units=result.units,
        raters=result.raters,
        ratings=result.ratings,
        reason=result.reason or "",
        note=result.note or "",
    )


def rounded(value: float | None) -> float | None:
    """A value as it is stored."""
    return None if value is None else round(value, DIGITS)
