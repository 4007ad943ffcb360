"""How far annotators agree on edits of a table: which cells they changed and what they wrote, beyond chance.

    edit_agreement(units, distance="masi")          # units: (places, [set of (row, column, new value), or None])
    edits_of(operations)                            # the set of a response's net operations
    places_of((rows, columns), ["set_cell"])        # how many places an edit could have been at

An edit is a place and what was put there. Two edits are the same where both are; so a person who changes the same cell to
another value disagrees on what, though not on where. `tableqa.agreement.cell_sets` on the cells alone says how much of
that is where.

Chance has two parts. Places are taken within each table, as for sets of cells (r3/c2 of two tables are not one
label): sets of the observed sizes, drawn at random among its places. Where two such sets meet, they hold the same value
as often as two edits of different units do, over all units: rarely where people write what they like, often where all
writes 0. Both parts are computed, nothing is simulated. That share of equal values is held as it was observed while units
are drawn for the interval.

Sources: those of `tableqa.agreement.cell_sets`; the pooled share of equal values is the expected agreement of
Krippendorff's alpha (2018, chapter 12), over pairs from different units.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from tableqa.agreement.cell_sets import DistanceSums, Pattern, common_by_chance
from tableqa.agreement.measures import Agreement
from tableqa.agreement.set_distances import Distance, check_distance, distance_of_sizes
from tableqa.core.translation import message
from tableqa.operations import Operation
from tableqa.statistics.bootstrap import Bootstrap, BootstrapOptions

if TYPE_CHECKING:
    import numpy as np

Edit: TypeAlias = tuple[str, str, str]
"""(row, column, new value); "*" means all of a row's columns or of a column's rows, "h" for the header."""
EditSet: TypeAlias = Set[Edit]
Unit: TypeAlias = tuple[int, Sequence[EditSet | None]]
"""(places of the table, one set of edits for each rater, None where missing)."""

WITHIN_TABLES = message(
    "edit_agreement.within_tables",
    "Chance agreement is computed per table: edits at random positions, values equal as often as across items.",
)
NO_CHOICE = message(
    "edit_agreement.no_choice",
    "Disagreement was impossible: there were no edits, or only one edit was possible.",
)


def edit_agreement(
    units: Sequence[Unit],
    distance: Distance = "masi",
    **resampling: Unpack[BootstrapOptions],
) -> Agreement:
    """One minus the observed over the expected distance between raters' sets of edits.

    units: for each item the number of places of its table (`places_of`) and a set of (row, column, new value) for each
    rater, None where missing; an empty set is a person who changed nothing. Units weigh as their number of ratings, and
    those with fewer than two do not enter. 1 is perfect, 0 as by chance; no lower bound.

    `value` is None with a reason where nothing was rated twice or no two raters could have differed. Raises ValueError for
    an unknown distance, two edits of one rater at one place, and more edits than there are places.
    """
    check_distance(distance)
    bootstrap = Bootstrap(**resampling)
    used = {rater for _, sets in units for rater in range(len(sets)) if sets[rater] is not None}
    counts = _counts_of_units(units)
    return _sums(counts, units, distance).agreement(
        measure=f"edits_{distance}",
        note=WITHIN_TABLES,
        no_choice=NO_CHOICE,
        ratings=sum(pattern.ratings * count for (pattern,), count in counts.items()),
        raters=len(used),
        bootstrap=bootstrap,
    )


def over_clusters(
    coefficient: Agreement, clusters: Sequence[Sequence[Unit]], distance: Distance = "masi"
) -> Agreement:
    """The same figure with the interval of a bootstrap over clusters of units, as `coefficients.over_clusters`."""
    units = [unit for cluster in clusters for unit in cluster]
    return _sums(_counts_of_clusters(clusters), units, distance).with_interval(coefficient)


def influence(
    units: Sequence[Unit], distance: Distance = "masi"
) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    """How much one unit of each pattern moves the value, and how many units have it, as `coefficients.influence`."""
    check_distance(distance)
    return _sums(_counts_of_units(units), units, distance).influence()


def equal_by_chance(units: Sequence[Unit]) -> float:
    """How often two edits hold the same value, of all pairs of edits from different units; 0 where there is no such pair."""
    values: Counter[str] = Counter()
    within_same = within_all = 0
    for _, sets in units:
        own = Counter(edit[2] for edits in sets if edits is not None for edit in edits)
        values += own
        within_same += sum(count * count for count in own.values())
        within_all += sum(own.values()) ** 2
    pairs = sum(values.values()) ** 2 - within_all
    return (sum(count * count for count in values.values()) - within_same) / pairs if pairs else 0.0


def edits_of(operations: Iterable[Operation]) -> frozenset[Edit]:
    """Net operations as a set of edits. Two rows put in at one place are distinguished by the order of the operations."""
    values: dict[tuple[str, str], str] = {}
    for operation in operations:
        for row, column, value in _edits(operation.to_dict()):
            again = 1
            key = (row, column)
            while key in values:
                again += 1
                key = (row, f"{column} #{again}")
            values[key] = value
    return frozenset((row, column, value) for (row, column), value in values.items())


def _edits(data: dict[str, Any]) -> list[Edit]:
    kind = data["op"]
    after = f"after {data.get('after')}"
    match kind:
        case "set_cell":
            return [(data["row"], data["column"], data["new"])]
        case "mask_cells":
            return [(row, column, data["with"]) for row, column in data["cells"]]
        case "rename_header":
            return [("h", data["column"], data["new"])]
        case "insert_row":
            return [(after, "*", json.dumps(data["cells"], ensure_ascii=False))]
        case "insert_column":
            return [("*", after, json.dumps([data["header"], data["cells"]], ensure_ascii=False))]
        case "split_column":
            return [("*", data["column"], json.dumps(data["into"], ensure_ascii=False))]
        case "remove_row" | "move_row":
            return [(data["row"], "*", "removed" if kind == "remove_row" else after)]
        case "remove_column" | "move_column":
            return [("*", data["column"], "removed" if kind == "remove_column" else after)]
        case "transpose":
            return [("*", "*", "transposed")]
    raise ValueError(f"{kind!r} is no operation that has a place in a table.")


def places_of(shape: tuple[int, int], operations: Iterable[str]) -> int:
    """How many places of a table of (rows, columns) the named operations can be at; several at one place count once.

    Raises ValueError for the name of no operation.
    """
    rows, columns = shape
    families = {
        "set_cell": ("cells", rows * columns),
        "mask_cells": ("cells", rows * columns),
        "rename_header": ("header", columns),
        "remove_row": ("rows", rows),
        "move_row": ("rows", rows),
        "insert_row": ("between rows", rows + 1),
        "remove_column": ("columns", columns),
        "move_column": ("columns", columns),
        "split_column": ("columns", columns),
        "insert_column": ("between columns", columns + 1),
        "transpose": ("whole", 1),
    }
    counts = {}
    for name in operations:
        if name not in families:
            raise ValueError(f"{name!r} is no operation; there are {', '.join(families)}.")
        family, count = families[name]
        counts[family] = count
    return sum(counts.values())


def _counts_of_units(units: Sequence[Unit]) -> Counter[tuple[Pattern, ...]]:
    """How many units with two or more ratings have the same pattern, each its own cluster."""
    patterns = (_pattern(places, sets, index) for index, (places, sets) in enumerate(units))
    return Counter((pattern,) for pattern in patterns if pattern.pairs)


def _counts_of_clusters(clusters: Iterable[Sequence[Unit]]) -> Counter[tuple[Pattern, ...]]:
    """How many clusters have the same patterns of units with two or more ratings, also none."""
    counts: Counter[tuple[Pattern, ...]] = Counter()
    for cluster in clusters:
        patterns = (_pattern(places, sets, index) for index, (places, sets) in enumerate(cluster))
        counts[tuple(sorted(pattern for pattern in patterns if pattern.pairs))] += 1
    return counts


def _sums(
    clusters: Mapping[tuple[Pattern, ...], int], units: Sequence[Unit], distance: Distance
) -> DistanceSums:
    """The distances of clusters; `units` say how often values are equal by chance."""
    same = equal_by_chance(units)
    return DistanceSums.of(
        clusters,
        observed=lambda unit: unit.ratings * unit.observed(distance),
        expected=lambda unit: _by_chance(unit, same, distance),
    )


def _by_chance(pattern: Pattern, same: float, distance: Distance) -> float:
    """The expected distance within a unit, weighted by its ratings."""
    pairs = (_expected(small, large, pattern.cells, same, distance) for small, large, _ in pattern.pairs)
    return pattern.ratings * sum(pairs) / len(pattern.pairs)


def _pattern(places: int, sets: Sequence[EditSet | None], index: int) -> Pattern:
    rated_sets = [edits for edits in sets if edits is not None]
    for edits in rated_sets:
        if not isinstance(edits, Set):
            raise ValueError(f"Unit {index} holds {edits!r}, which is not a set of edits.")
        if len({(row, column) for row, column, _ in edits}) < len(edits):
            raise ValueError(f"Unit {index} holds two edits of one rater at one place.")
        if len(edits) > places:
            raise ValueError(
                f"Unit {index} holds a set of {len(edits)} edits; its table has {places} places for them."
            )
    return Pattern.of_sets(places, rated_sets)


@lru_cache(maxsize=65_536)
def _expected(small: int, large: int, places: int, same: float, distance: Distance) -> float:
    """The mean distance of two sets of edits at random places, whose values are equal with probability `same`."""
    total = mean = 0.0
    for met, weight in common_by_chance(small, large, places):
        total += weight
        mean += weight * sum(
            share * distance_of_sizes(common, small, large, distance)
            for common, share in enumerate(_binomial(met, same))
        )
    return mean / total


def _binomial(n: int, share: float) -> list[float]:
    """How likely 0, 1, ..., `n` of the units are, each with this probability."""
    likely = [1.0]
    for _ in range(n):
        likely = [
            (likely[k] * (1 - share) if k < len(likely) else 0.0) + (likely[k - 1] * share if k else 0.0)
            for k in range(len(likely) + 1)
        ]
    return likely
