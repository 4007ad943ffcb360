"""Agreement of two people, and of every two people of a batch: what a heat map shows.

    cohen_kappa(ratings_of_one, ratings_of_other)       # Agreement, with an interval over units
    by_pair(rows, "cohen_kappa").between("P1", "P2")    # rows: (item, person, label)
    by_pair(rows, lambda both: edit_agreement([...]))   # any other measure of the items that two people share

A pair's figure rests on the items that both rated, and on nothing else; so pairs with few items in common have wide
intervals, and `units` says how many there are. A person who is low with all others differs from two people
who are low with each other: the first is one row of the matrix, the second one cell.

Source:
  Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20(1), 37-46.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, TypeAlias, Unpack

from tableqa.agreement.coefficients import from_patterns
from tableqa.agreement.measures import NO_PAIR, ONE_CATEGORY, ONE_UNIT, Agreement
from tableqa.agreement.pseudo_units import is_smoothed, posterior_counts, pseudo_units
from tableqa.agreement.rating_patterns import is_missing
from tableqa.statistics.bootstrap import Bootstrap, BootstrapOptions

COHEN = "cohen_kappa"

Both: TypeAlias = Sequence[tuple[Hashable, Any, Any]]
"""(item, rating of one, rating of the other) of every item that two people share."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two people, in the order of their names, and how far they agree on the items that both rated."""

    one: str
    other: str
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class PairMatrix:
    """Every two people of `people` (sorted) with at least one item in common."""

    people: tuple[str, ...]
    pairs: tuple[Pair, ...]

    def between(self, first: str, second: str) -> Agreement | None:
        """The figure of two people in either order; None where they share no item, and of any person with themselves."""
        key = (min(first, second), max(first, second))
        return next((pair.agreement for pair in self.pairs if (pair.one, pair.other) == key), None)

    def rows(self) -> list[list[Agreement | None]]:
        """The square for a heat map: a row and a column for each of `people`, the same above and below the diagonal."""
        index = {person: position for position, person in enumerate(self.people)}
        square: list[list[Agreement | None]] = [[None] * len(self.people) for _ in self.people]
        for pair in self.pairs:
            row, column = index[pair.one], index[pair.other]
            square[row][column] = square[column][row] = pair.agreement
        return square


def cohen_kappa(
    first: Sequence[Hashable | None],
    second: Sequence[Hashable | None],
    **resampling: Unpack[BootstrapOptions],
) -> Agreement:
    """Cohen's kappa of two raters' nominal labels, unit by unit; None and NaN are missing, and such units do not enter.

    Unlike Fleiss' kappa it gives each rater a share of each category: chance is what these two people with these habits
    would agree on. None with a reason where no unit has both ratings, or both gave one and the same label to all.
    The interval is that of the percentile bootstrap over units. Raises ValueError where the two differ in length, and for
    what cannot be a label.
    """
    if len(first) != len(second):
        raise ValueError(
            f"One rater has {len(first)} ratings and the other {len(second)}: one for each unit."
        )
    try:
        table = Counter(
            (a, b) for a, b in zip(first, second, strict=True) if not is_missing(a) and not is_missing(b)
        )
    except TypeError as error:
        raise ValueError(f"A rating cannot be a label: {error}.") from error
    raters = sum(any(not is_missing(label) for label in labels) for labels in (first, second))
    return cohen_of_counts(table, raters=raters, **resampling)


def cohen_of_counts(
    table: Mapping[tuple[Any, Any], int],
    *,
    raters: int = 2,
    **resampling: Unpack[BootstrapOptions],
) -> Agreement:
    """`cohen_kappa` from how many units have each (label of one, label of the other), none of them missing.

    raters: who of the two has any rating at all, where no unit has both.
    """
    bootstrap = Bootstrap(**resampling)
    unit_count = sum(table.values())
    facts: Any = {
        "units": unit_count,
        "raters": 2 if unit_count else raters,
        "ratings": 2 * unit_count,
        "measure": COHEN,
    }
    facts |= asdict(bootstrap)
    if len({label for pair in table for label in pair}) < 2:
        return Agreement(None, None, None, **facts, reason=ONE_CATEGORY if unit_count else NO_PAIR)
    value, low, high, left_out = _kappa(table, bootstrap)
    note = ONE_UNIT if bootstrap.replicates and unit_count == 1 else None
    return Agreement(value, low, high, **facts, note=note, left_out=left_out)


def _kappa(
    table: Mapping[tuple[Any, Any], int], bootstrap: Bootstrap
) -> tuple[float, float | None, float | None, int]:
    """The value, the ends of its interval, and in how many draws it was undefined."""
    import numpy as np

    labels = sorted(
        {label for pair in table for label in pair}, key=lambda label: (str(type(label)), repr(label))
    )
    index = {label: position for position, label in enumerate(labels)}
    # Of the table and its mirror image, which have the same kappa, always the same one is drawn from: the order of units
    # and of raters then plays no part.
    as_it_is = sorted((index[a], index[b], count) for (a, b), count in table.items())
    cells = min(as_it_is, sorted((b, a, count) for a, b, count in as_it_is))
    rows, columns, counts = (np.array(part) for part in zip(*cells, strict=True))

    def kappa(drawn: Any) -> Any:
        """B x P counts of units for each cell of the table -> B values, NaN where undefined."""
        units = drawn.sum(axis=1)
        agreed = drawn[:, rows == columns].sum(axis=1)
        of_one = np.zeros((len(drawn), len(labels)), drawn.dtype)
        of_other = np.zeros_like(of_one)
        for cell, (row, column) in enumerate(zip(rows, columns, strict=True)):
            of_one[:, row] += drawn[:, cell]
            of_other[:, column] += drawn[:, cell]
        # Whole numbers: one category gives units squared exactly.
        by_chance = (of_one * of_other).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = by_chance / units**2
            return np.where(by_chance == units**2, np.nan, (agreed / units - share) / (1 - share))

    value = float(kappa(counts[None, :])[0])
    units = counts.sum()
    if not bootstrap.replicates or units == 1:
        return value, None, None, 0
    if is_smoothed():
        pseudo, weights = pseudo_units(len(labels), [2], bootstrap.seed)
        rows, columns = np.concatenate([rows, pseudo[:, 0]]), np.concatenate([columns, pseudo[:, 1]])
        counts = np.concatenate([counts, weights])
        (draws,) = posterior_counts(counts, int(units), bootstrap.replicates, bootstrap)
        return value, *bootstrap.ends(kappa(draws), value)
    generator = np.random.default_rng(bootstrap.seed)
    return value, *bootstrap.ends(kappa(generator.multinomial(units, counts / units, bootstrap.replicates)))


def by_pair(
    rows: Iterable[tuple[Hashable, str, Any]],
    measure: str | Callable[[Both], Agreement] = COHEN,
    *,
    order: Sequence[object] | None = None,
    **resampling: Unpack[BootstrapOptions],
) -> PairMatrix:
    """How far every two people agree, over the items that both rated.

    rows: (item, person, rating) in any order, at most one for an item and person; None and NaN are missing. measure:
    `cohen_kappa`, any name of `tableqa.agreement.measures`, or a function from the shared items to an Agreement
    (sets of cells, edits: what needs the item's table). `order` goes to the measures that have a use for it.

    Raises ValueError for a second rating of one item by one person, and as the measure does.
    """
    ratings: dict[str, dict[Hashable, Any]] = {}
    for item, person, rating in rows:
        of_person = ratings.setdefault(person, {})
        if item in of_person:
            raise ValueError(f"{person} rated item {item!r} twice.")
        if not is_missing(rating):
            of_person[item] = rating
    people = tuple(sorted(ratings))
    pairs = []
    for first, second in combinations(people, 2):
        shared = sorted(
            ratings[first].keys() & ratings[second].keys(), key=lambda item: (str(type(item)), repr(item))
        )
        if not shared:
            continue
        both = [(item, ratings[first][item], ratings[second][item]) for item in shared]
        if callable(measure):
            figure = measure(both)
        elif measure == COHEN:
            figure = cohen_kappa([row[1] for row in both], [row[2] for row in both], **resampling)
        else:
            counted = Counter((a, b) for _, a, b in both)
            figure = from_patterns(
                list(counted), list(counted.values()), measure, raters=2, order=order, **resampling
            )
        pairs.append(Pair(first, second, figure))
    return PairMatrix(people, tuple(pairs))
