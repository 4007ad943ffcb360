"""How far annotators agree on sets of cells, beyond what marking cells at random would give; with a bootstrap interval.

    cell_set_agreement(units, distance="masi")       # units: ((rows, columns), [set of (row id, column id), or None])

The coefficient has the form of Krippendorff's alpha, one minus observed over expected disagreement, and differs in
what it expects. Alpha pools the labels of all units; but cell r3/c2 of one table and r3/c2 of another are not one
label. So chance is taken within each table: what two sets of the same sizes, drawn at random among the cells of that
table, would differ by. That mean is computed exactly: how many cells two such sets have in common follows the
hypergeometric distribution, and both distances depend on that number alone. Nothing is simulated.

Two things follow. How many cells a person marks is taken as given, so agreeing on the size alone earns nothing. And the
same two answers weigh more in a large table than in a small one, where they are easier to hit by chance.

Sources:
  Jaccard, P. (1912). The distribution of the flora in the alpine zone. New Phytologist 11(2), 37-50.
  Passonneau, R. (2006). Measuring agreement on set-valued items (MASI) for semantic and pragmatic annotation. LREC.
  Krippendorff, K. (2018). Content Analysis, 4th edition, chapter 12 (the form of alpha, and its weights of units).
  Efron, B. and Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapter 13 (percentile intervals).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Unpack

from tableqa.agreement.measures import NO_PAIR, ONE_UNIT, Agreement
from tableqa.agreement.pseudo_units import AGREEING, BY_CHANCE, is_smoothed, posterior_counts
from tableqa.agreement.set_distances import Distance, check_distance, distance_of_sizes
from tableqa.core.translation import joined, message
from tableqa.statistics.bootstrap import Bootstrap, BootstrapOptions

if TYPE_CHECKING:
    import numpy as np

P = TypeVar("P")
Cell: TypeAlias = tuple[str, str]
"""(row id, column id)."""
CellSet: TypeAlias = Set[Cell]
Unit: TypeAlias = tuple[tuple[int, int], Sequence[CellSet | None]]
"""((number of rows, number of columns) of the item's table, one set of cells for each rater, None where missing)."""

WITHIN_TABLES = message(
    "cell_sets.within_tables",
    "Chance agreement is computed per table, from random sets of cells of the observed sizes.",
)
NO_CHOICE = message(
    "cell_sets.no_choice", "Disagreement was impossible: all sets are empty or cover the whole table."
)


def cell_set_agreement(
    units: Sequence[Unit],
    distance: Distance = "masi",
    **resampling: Unpack[BootstrapOptions],
) -> Agreement:
    """One minus the observed over the expected distance between raters' sets of cells, chance taken within each table.

    units: for each item the (rows, columns) of its own table and one set of (row id, column id) for each rater, None
    where missing. A unit's disagreement is the mean over its pairs of raters; units weigh as their number of ratings,
    as in Krippendorff's alpha; units with fewer than two ratings do not enter. 1 is perfect, 0 as by chance; the value
    has no lower bound. The order of units and raters does not matter. Only the bootstrap over units is random; its seed
    gives the same interval everywhere.

    `value` is None with a reason where nothing was rated twice, or all sets are empty or whole tables. Raises ValueError
    for an unknown distance, a set that is none, and more cells than the table has.
    """
    check_distance(distance)
    raters = max((len(sets) for _, sets in units), default=0)
    for index, (_, sets) in enumerate(units):
        if len(sets) != raters:
            raise ValueError(
                f"Unit {index} has {len(sets)} ratings and another one has {raters}: one for each rater, "
                "None where missing."
            )
    used = {rater for _, sets in units for rater in range(len(sets)) if sets[rater] is not None}
    patterns = Counter(pattern_of(shape, sets, index) for index, (shape, sets) in enumerate(units))
    return from_patterns(patterns, distance, raters=len(used), **resampling)


def from_patterns(
    patterns: Mapping["Pattern", int],
    distance: Distance = "masi",
    *,
    raters: int,
    **resampling: Unpack[BootstrapOptions],
) -> Agreement:
    """The same figure from distinct patterns of units (`pattern_of`) and how many units show each.

    raters: people with at least one set, which patterns cannot tell. The result equals that of the sets written out, to the
    last digit of the interval. Raises ValueError as `cell_set_agreement` does.
    """
    return _sums_of_units(patterns, distance).agreement(
        measure=f"cell_sets_{distance}",
        note=WITHIN_TABLES,
        no_choice=NO_CHOICE,
        ratings=sum(pattern.ratings * count for pattern, count in patterns.items() if pattern.pairs),
        raters=raters,
        bootstrap=Bootstrap(**resampling),
    )


def over_clusters(
    coefficient: Agreement,
    clusters: Mapping[tuple["Pattern", ...], int],
    distance: Distance = "masi",
) -> Agreement:
    """The same figure with the interval of a bootstrap over clusters of units, as `coefficients.over_clusters`."""
    return _sums(clusters, distance).with_interval(coefficient)


def influence(
    patterns: Mapping["Pattern", int], distance: Distance = "masi"
) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    """How much one unit of each pattern moves the value, and how many units have the pattern, as `coefficients.influence`.

    Of a ratio of two sums it is known without leaving units out: what a unit's own disagreement exceeds the one that the
    value would lead to expect, over the mean expected one. Empty where the value is undefined.
    """
    return _sums_of_units(patterns, distance).influence()


def _sums_of_units(patterns: Mapping["Pattern", int], distance: Distance) -> "DistanceSums":
    check_distance(distance)
    return _sums({(pattern,): count for pattern, count in patterns.items() if pattern.pairs}, distance)


def _sums(clusters: Mapping[tuple["Pattern", ...], int], distance: Distance) -> "DistanceSums":
    return DistanceSums.of(
        clusters,
        observed=lambda unit: unit.ratings * unit.observed(distance),
        expected=lambda unit: unit.ratings * unit.expected(distance),
    )


# ---- one unit ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, order=True)
class Pattern:
    """All that a unit's part in the figure depends on, in whole numbers: no rounding can change the order.

    cells   cells of the table
    ratings sets that were given
    pairs   (cells of the smaller set, of the larger, in common) of each pair of raters, sorted
    """

    cells: int
    ratings: int
    pairs: tuple[tuple[int, int, int], ...]

    @classmethod
    def of_sets(cls, cells: int, sets: Sequence[Set[Any]]) -> "Pattern":
        """The pattern of sets of cells, or of edits at as many places."""
        pairs = sorted(
            (min(len(first), len(second)), max(len(first), len(second)), len(first & second))
            for first, second in combinations(sets, 2)
        )
        return cls(cells, len(sets), tuple(pairs))

    def observed(self, distance: Distance) -> float:
        return sum(
            distance_of_sizes(common, small, large, distance) for small, large, common in self.pairs
        ) / len(self.pairs)

    def expected(self, distance: Distance) -> float:
        return sum(
            _expected_distance(small, large, self.cells, distance) for small, large, _ in self.pairs
        ) / len(self.pairs)


def pattern_of(shape: tuple[int, int], sets: Sequence[CellSet | None], name: object) -> Pattern:
    """The pattern of a unit; its name is for the ValueError of what is not a set of cells of a table of this shape."""
    rows, columns = shape
    if rows < 0 or columns < 0:
        raise ValueError(f"Unit {name} has a table of {rows} rows and {columns} columns.")
    rated_sets = [cells for cells in sets if cells is not None]
    for cells in rated_sets:
        if not isinstance(cells, Set):
            raise ValueError(f"Unit {name} holds {cells!r}, which is not a set of cells.")
        if len(cells) > rows * columns:
            raise ValueError(
                f"Unit {name} holds a set of {len(cells)} cells; its table of {rows} x {columns} has {rows * columns}."
            )
    return Pattern.of_sets(rows * columns, rated_sets)


# ---- two sets ------------------------------------------------------------------------------------------------


_NEGLIGIBLE = 1e-20
"""Of the likeliest number of common cells; what is less likely than that cannot be seen in 16 digits."""


def common_by_chance(small: int, large: int, cells: int) -> Iterator[tuple[int, float]]:
    """How many cells two sets of these sizes have in common, each drawn at random among `cells`: (number, weight).

    The number is hypergeometric. Its weights are relative to that of the likeliest, which comes first, and are built
    outwards from it by their ratio, with the four operations only, so that every machine gets the same numbers and large
    tables do not overflow.
    """
    least, most = max(0, small + large - cells), small
    likeliest = min(max((small + 1) * (large + 1) // (cells + 2), least), most)

    def ratio(k: int) -> float:
        """The weight of k + 1 over that of k."""
        return (small - k) * (large - k) / ((k + 1) * (cells - small - large + k + 1))

    yield likeliest, 1.0
    weight, k = 1.0, likeliest
    while k < most and weight > _NEGLIGIBLE:
        weight *= ratio(k)
        k += 1
        yield k, weight
    weight, k = 1.0, likeliest
    while k > least and weight > _NEGLIGIBLE:
        k -= 1
        weight /= ratio(k)
        yield k, weight


@lru_cache(maxsize=65_536)
def _expected_distance(small: int, large: int, cells: int, distance: Distance) -> float:
    """The mean distance of two sets of these sizes, each drawn at random among `cells` cells."""
    total = mean = 0.0
    for common, weight in common_by_chance(small, large, cells):
        total += weight
        mean += weight * distance_of_sizes(common, small, large, distance)
    return mean / total


# ---- sums of distances -----------------------------------------------------------------------------------------------


_BLOCK = 1 << 17
"""Draws held at a time by the bootstrap: few enough that they stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class DistanceSums:
    """Sums of observed and of expected distances, weighted already: an entry for each unit or cluster of units.

    counts  how many units or clusters are like the entry; the order of the entries fixes what a seed draws
    """

    observed: Sequence[float]
    expected: Sequence[float]
    counts: Sequence[int]

    @classmethod
    def of(
        cls,
        clusters: Mapping[tuple[P, ...], int],
        observed: Callable[[P], float],
        expected: Callable[[P], float],
    ) -> "DistanceSums":
        """The sums over the patterns of each cluster."""
        ordered = sorted(clusters)
        return cls(
            [sum(map(observed, cluster)) for cluster in ordered],
            [sum(map(expected, cluster)) for cluster in ordered],
            [clusters[cluster] for cluster in ordered],
        )

    def agreement(
        self, *, measure: str, note: str, no_choice: str, ratings: int, raters: int, bootstrap: Bootstrap
    ) -> Agreement:
        """One minus the ratio of the sums over units, with its interval; `no_choice` says that nothing is expected."""
        units = sum(self.counts)
        facts: Any = {
            "units": units,
            "raters": raters,
            "ratings": ratings,
            "measure": measure,
            **asdict(bootstrap),
        }
        if not any(self.expected):
            return Agreement(None, None, None, **facts, reason=no_choice if units else NO_PAIR, note=note)
        value = 1 - self._total(self.observed) / self._total(self.expected)
        if bootstrap.replicates and units == 1:
            note = joined([note, ONE_UNIT])
        coefficient = Agreement(value, None, None, **facts, note=note)
        return self.with_interval(coefficient)

    def with_interval(self, coefficient: Agreement) -> Agreement:
        """The same figure with the interval over the clusters of these sums; of one cluster there is none."""
        if coefficient.value is None or not coefficient.replicates:
            return coefficient
        if sum(self.counts) == 1:
            return replace(coefficient, low=None, high=None, left_out=0)
        bootstrap = Bootstrap(coefficient.replicates, coefficient.seed, coefficient.confidence)
        low, high, left_out = self._interval(bootstrap, coefficient.value)
        return replace(coefficient, low=low, high=high, left_out=left_out)

    def influence(self) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
        """The influence of units on one minus the ratio of the sums, and their counts; empty where nothing is expected."""
        import numpy as np

        if not any(self.expected):
            return np.zeros(0), np.zeros(0, np.int64)
        observed, expected, counts = map(np.array, (self.observed, self.expected, self.counts))
        ratio = (observed @ counts) / (expected @ counts)
        return (ratio * expected - observed) / ((expected @ counts) / counts.sum()), counts

    def _total(self, values: Sequence[float]) -> float:
        return sum(value * count for value, count in zip(values, self.counts, strict=True))

    def _interval(self, bootstrap: Bootstrap, value: float) -> tuple[float | None, float | None, int]:
        """Ends of the percentile interval over entries drawn with replacement, and how many draws left it undefined."""
        import numpy as np

        if is_smoothed():
            return bootstrap.ends(self._posterior_values(bootstrap), value)
        generator = np.random.default_rng(bootstrap.seed)
        # Both numbers of a unit side by side, so that each draw looks up one place in memory.
        pairs = np.repeat(np.array(self.observed) + 1j * np.array(self.expected), self.counts)
        pair_count = len(pairs)
        sums = np.zeros(bootstrap.replicates, complex)
        step = max(1, _BLOCK // pair_count)
        narrow = np.int32 if pair_count < 2**31 else np.int64  # the same draws, and half the memory
        for done in range(0, bootstrap.replicates, step):
            size = min(step, bootstrap.replicates - done)
            chosen = generator.integers(0, pair_count, (size, pair_count), dtype=narrow)
            sums[done : done + size] = pairs[chosen].sum(axis=1)
        drawn = sums[sums.imag > 0]
        return bootstrap.ends(1 - drawn.real / drawn.imag)

    def _posterior_values(self, bootstrap: Bootstrap) -> "np.ndarray[Any, Any]":
        """The value of each replicate with `pseudo_units`: of the mean expected distance, with none observed or as much."""
        import numpy as np

        mean = self._total(self.expected) / sum(self.counts)
        observed, expected = np.array([*self.observed, 0, mean]), np.array([*self.expected, mean, mean])
        weights = np.array([*self.counts, AGREEING, BY_CHANCE])
        draws = posterior_counts(weights, sum(self.counts), max(1, _BLOCK // len(weights)), bootstrap)
        return np.concatenate([1 - (drawn @ observed) / (drawn @ expected) for drawn in draws])
