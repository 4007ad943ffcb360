"""How far annotators agree beyond chance, with a bootstrap interval over units.

    agreement(ratings, "fleiss_kappa")           # any of MEASURES and SET_MEASURES
    agreement(sets, "krippendorff_alpha_masi")   # several labels for a unit: frozensets
    from_patterns(patterns, counts, "fleiss_kappa", raters=3)  # grouped by a database
    second_opinion(ratings, "fleiss_kappa")      # the same number from other people's code
    influence(ratings, "fleiss_kappa")           # how much each pattern of a unit moves the value

`ratings` has a row for each unit (the thing that is rated) and a column for each rater; None and NaN are missing. Every
measure here depends on a unit only through how many raters chose which category, and there are few such patterns: ten for
three raters and three categories, be it a thousand units or a million. So units are first collapsed to distinct patterns
and their counts, and drawing units with replacement is then exactly one multinomial draw of those counts.

Sources:
  Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychological Bulletin 76(5), 378-382.
  Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high agreement. British
    Journal of Mathematical and Statistical Psychology 61(1), 29-48 (AC1).
  Gwet, K. L. (2014). Handbook of Inter-Rater Reliability, 4th edition, chapter 2 (missing ratings).
  Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of Pennsylvania.
  Krippendorff, K. (2018). Content Analysis, 4th edition, chapter 12.
  Passonneau, R. (2006). Measuring agreement on set-valued items (MASI) for semantic and pragmatic annotation. LREC.
  Efron, B. and Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapters 11 (jackknife) and 13 (percentile
    intervals).
"""

# numpy costs a tenth of a second to import, and most commands that import `tableqa` never compute an agreement. It is
# therefore imported inside the functions, like scipy and krippendorff; after the first call that is a dictionary look-up.
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, cast, get_args

from tableqa.agreement.set_distances import Distance, distance_of_sizes
from tableqa.core.translation import joined, message
from tableqa.statistics.bootstrap import Bootstrap, Resampling

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
    Ratings: TypeAlias = Sequence[Sequence[object]] | Array

Measure = Literal[
    "percent_agreement",
    "fleiss_kappa",
    "krippendorff_alpha_nominal",
    "krippendorff_alpha_ordinal",
    "krippendorff_alpha_interval",
    "gwet_ac1",
]
SetMeasure = Literal["krippendorff_alpha_jaccard", "krippendorff_alpha_masi"]
MEASURES: tuple[str, ...] = get_args(Measure)
SET_MEASURES: tuple[str, ...] = get_args(SetMeasure)
"""Of ratings that are sets of labels from one stock for all units. Cells of tables are compared by `agreement.cell_sets`."""
WITH_SINGLE = ("fleiss_kappa", "gwet_ac1")
"""Measures that take something from a unit with a single rating: how often each category is chosen."""
WITH_ORDER = ("krippendorff_alpha_ordinal", "gwet_ac1")
"""Measures that have a use for the list of all categories."""

NO_PAIR = message("agreement.no_pair", "No unit has two ratings, so there is nothing to compare.")
ONE_CATEGORY = message(
    "agreement.one_category", "Only one category was used, so agreement cannot be distinguished from chance."
)
ONE_UNIT = message("agreement.one_unit", "There is only one unit, so there is no confidence interval.")
GENERALISED = message(
    "agreement.generalised",
    "Units have unequal numbers of ratings, so this is the generalised Fleiss' kappa (Gwet 2014). Units with a single "
    "rating count in the expected agreement only.",
)
UNEQUAL = message(
    "agreement.unequal",
    "Units have unequal numbers of ratings. Units with a single rating count in the expected agreement only (Gwet 2014).",
)


@dataclass(frozen=True)
class Agreement:
    """One measure of agreement over a set of ratings, or the reason why it has none.

    value     the coefficient (1 = perfect, 0 = as by chance; percent_agreement: a share from 0 to 1); None when undefined
    low, high ends of the percentile bootstrap interval over units; None when undefined, not asked for, or of one unit
    units     units that entered: those with at least two ratings
    raters    raters with at least one rating
    ratings   ratings in the units that entered
    measure   one of MEASURES or SET_MEASURES (or of another module, which says so)
    reason    why `value` is None, a sentence; else None
    note      what a reader of the figure has to know, a sentence; else None
    confidence, replicates, seed   of the interval, as asked for
    left_out  replicates in which the measure is undefined (one category drawn, no pair drawn): not part of the interval
    """

    value: float | None
    low: float | None
    high: float | None
    units: int
    raters: int
    ratings: int
    measure: str
    reason: str | None = None
    note: str | None = None
    confidence: float = 0.95
    replicates: int = 0
    left_out: int = 0
    seed: int = 0


def agreement(
    ratings: Ratings,
    measure: str,
    *,
    order: Sequence[object] | None = None,
    **resampling: Unpack[Resampling],
) -> Agreement:
    """One measure of agreement of any number of raters, who need not be the same for each unit.

    ratings   units x raters, numbers or hashable labels, None or NaN where missing
    measure   a name:
      percent_agreement       the share of agreeing pairs of raters, averaged over units with two or more ratings
      fleiss_kappa            observed: percent agreement; expected: the squared shares of the categories (Fleiss 1971).
                              With unequal numbers of ratings its generalised form (Gwet 2014, chapter 2); `note` says so
      krippendorff_alpha_...  one minus observed over expected disagreement. nominal: equal or not; ordinal: by the
                              ratings in between (numbers by size, else by `order`); interval: the squared difference
                              (Krippendorff 2011, 2018); jaccard, masi: distance of frozensets (Passonneau 2006)
      gwet_ac1                expected: the mean of p (1 - p) over the categories, times their number over one less. Stays
                              near percent agreement where nearly everything is of one category (Gwet 2008)
    order     all categories, for ordinal alpha from low to high; AC1 depends on their number, so list unused ones, too

    Raises ValueError for an unknown measure, ratings that are not two-dimensional or hold what cannot be a label, a category
    that `order` lacks, an interval between things not numbers, and a distance between things not sets.
    """
    _check_request(measure, order)
    bootstrap = Bootstrap(**resampling)
    codes, categories = _coded(ratings)
    rows, counts = _collapsed(codes, len(categories))
    raters = int((rows > 0).any(axis=0).sum())
    return _measured(rows, counts, categories, raters, measure, order, bootstrap)


def from_patterns(
    patterns: Sequence[Sequence[object]],
    counts: Sequence[int] | Array,
    measure: str,
    *,
    raters: int,
    order: Sequence[object] | None = None,
    **resampling: Unpack[Resampling],
) -> Agreement:
    """Agreement from distinct rating patterns and how many units show each: what a database can count by itself.

    patterns: for each pattern the ratings of one unit, in any order and of any length, None where missing; patterns that
    differ only in order, and repeated ones, are added up. counts: units with that pattern, whole numbers from 0. raters:
    people with at least one rating, which patterns cannot tell. The result equals that of the ratings written out, to the
    last digit of the interval.

    Raises ValueError where patterns, counts and raters do not fit together, and as `agreement` does.
    """
    _check_request(measure, order)
    bootstrap = Bootstrap(**resampling)
    rows, weights, categories = _from_patterns(patterns, counts)
    widest = int((rows > 0).sum(axis=1).max(initial=0))
    if raters < widest:
        raise ValueError(f"raters is {raters}, but a pattern holds {widest} ratings.")
    return _measured(rows, weights, categories, raters, measure, order, bootstrap)


def over_clusters(
    coefficient: Agreement,
    clusters: Mapping[tuple[Any, ...], int],
    measure: str,
    *,
    order: Sequence[object] | None = None,
) -> Agreement:
    """The same figure with the interval that holds where units belong together: a bootstrap that draws whole clusters.

    coefficient: of all units, with `from_patterns`. clusters: for each distinct cluster the patterns of its units, each of
    at least two ratings, and how many clusters are like it. One person's response beside each of several others' to one
    item are such a cluster: they share an item and a response, and as many independent units as there are comparisons
    there are not (Field and Welsh, Journal of the Royal Statistical Society B 69, 2007). Of one cluster there is no
    interval. Raises ValueError as `from_patterns` does.
    """
    import numpy as np

    if coefficient.value is None or not coefficient.replicates:
        return coefficient
    distinct = {
        pattern: index for index, pattern in enumerate({entry: None for each in clusters for entry in each})
    }
    totals = Counter[int]()
    for cluster, times in clusters.items():
        for pattern in cluster:
            totals[distinct[pattern]] += times
    patterns = _canonical(
        *_from_patterns(list(distinct), [totals[index] for index in range(len(distinct))]), measure, order
    )
    which = cast("Array", patterns.which)
    keyed = Counter[tuple[int, ...]]()
    for cluster, times in clusters.items():
        keyed[tuple(sorted(int(which[distinct[pattern]]) for pattern in cluster))] += times
    if keyed.total() == 1:
        return replace(coefficient, low=None, high=None, left_out=0)
    estimate = _estimator(measure, patterns)
    # In an order of their own, so that a seed draws the same whatever the order in which they came.
    ordered = sorted(keyed)
    counts = np.array([keyed[entry] for entry in ordered])
    owner = np.repeat(np.arange(len(ordered)), [len(entry) for entry in ordered])
    flat = np.concatenate([np.array(entry) for entry in ordered])
    generator = np.random.default_rng(coefficient.seed)
    chunk = max(1, _DENSE // max(len(ordered), len(patterns.category)))
    drawn = []
    for done in range(0, coefficient.replicates, chunk):
        size = min(chunk, coefficient.replicates - done)
        weights = generator.multinomial(counts.sum(), counts / counts.sum(), size=size).astype(float)
        drawn.append(
            estimate(
                np.array(
                    [np.bincount(flat, entry[owner], minlength=len(patterns.counts)) for entry in weights]
                )
            )
        )
    bootstrap = Bootstrap(coefficient.replicates, coefficient.seed, coefficient.confidence)
    low, high, left_out = bootstrap.ends(np.concatenate(drawn))
    return replace(coefficient, low=low, high=high, left_out=left_out)


def influence(
    ratings: Ratings, measure: str, *, order: Sequence[object] | None = None
) -> tuple[Array, Array]:
    """How much one unit of each distinct pattern moves the value, and how many units have the pattern.

    The first array holds (n - 1) times the value with all n units less the value without one unit of the pattern (the
    jackknife's estimate of the influence function; Efron and Tibshirani 1993, chapter 11). The variance of the value is
    about the weighted mean of the squares over n. Of more than `_JACKKNIFED` patterns a sample of the units is taken, the
    same each time; the counts are then those of the sample. Empty where the value is undefined, or where it is without
    some unit. Raises ValueError as `agreement` does.
    """
    _check_request(measure, order)
    codes, categories = _coded(ratings)
    rows, counts = _collapsed(codes, len(categories))
    return _influence(_canonical(rows, counts, categories, measure, order), measure)


def influence_of_patterns(
    patterns: Sequence[Sequence[object]],
    counts: Sequence[int] | Array,
    measure: str,
    *,
    order: Sequence[object] | None = None,
) -> tuple[Array, Array]:
    """`influence` from patterns and counts as `from_patterns` takes them."""
    _check_request(measure, order)
    rows, weights, categories = _from_patterns(patterns, counts)
    return _influence(_canonical(rows, weights, categories, measure, order), measure)


def _from_patterns(
    patterns: Sequence[Sequence[object]], counts: Sequence[int] | Array
) -> tuple[Array, Array, list[object]]:
    import numpy as np

    weights = np.asarray(counts)
    if weights.shape != (len(patterns),) or (weights.size and weights.dtype.kind not in "iu"):
        raise ValueError(f"counts has to hold one whole number for each of the {len(patterns)} patterns.")
    if weights.size and weights.min() < 0:
        raise ValueError("counts holds a negative number; a pattern occurs zero times or more.")
    listed = _listed(patterns)
    width = max(map(len, listed), default=0)
    padded = [[*pattern, *[None] * (width - len(pattern))] for pattern in listed]
    codes, categories = _coded_objects(padded)
    nonzero = weights > 0
    return codes[nonzero], weights[nonzero].astype(np.int64), categories


def second_opinion(ratings: Ratings, measure: str, *, order: Sequence[object] | None = None) -> float | None:
    """The value alone, computed by the packages `krippendorff` and `statsmodels`, for checking a release.

    It shares with `agreement` what counts as missing and how categories are ordered, and none of the arithmetic. None
    where the value is undefined, or where no package has the measure (percent agreement; AC1; Fleiss' kappa of unequal
    numbers of ratings). Slow, and large in memory, beside `agreement`. Raises ValueError as `agreement` does, and
    ModuleNotFoundError for alpha without `krippendorff`.
    """
    import math

    _check_request(measure, order)
    units = [[value for value in row if not is_missing(value)] for row in _listed(ratings)]
    pairable = [unit for unit in units if len(unit) > 1]
    labels = sorted({value for unit in pairable for value in unit}, key=_sort_key)
    ranked, numbers = _ranked(labels, measure, order)
    if len(labels) < 2 or measure in ("percent_agreement", "gwet_ac1"):
        return None
    position = {labels[index]: rank for rank, index in enumerate(ranked)}
    if measure == "fleiss_kappa":
        from statsmodels.stats import inter_rater

        if len({len(unit) for unit in units if unit}) > 1:
            return None
        chosen, _ = inter_rater.aggregate_raters([[position[value] for value in unit] for unit in pairable])
        return float(inter_rater.fleiss_kappa(chosen, method="fleiss"))
    import krippendorff  # optional, because of its licence (GPL-3.0-or-later)

    table = [[0] * len(labels) for _ in pairable]
    for row, unit in zip(table, pairable, strict=True):
        for value in unit:
            row[position[value]] += 1
    level: Any = measure.removeprefix("krippendorff_alpha_")
    alpha = krippendorff.alpha(
        value_counts=table,
        value_domain=list(range(len(labels))) if numbers is None else numbers,
        level_of_measurement=_nltk_distance(labels, level) if measure in SET_MEASURES else level,
    )
    return float(alpha) if math.isfinite(alpha) else None


def _nltk_distance(labels: list[object], distance: str) -> Callable[..., Array]:
    """nltk's distance of sets as the krippendorff package takes one: between arrays of positions of labels."""
    import numpy as np
    from nltk.metrics.distance import jaccard_distance, masi_distance

    between = {"jaccard": jaccard_distance, "masi": masi_distance}[distance]

    def apart(first: int, second: int) -> float:
        some, others = cast("frozenset[object]", labels[first]), cast("frozenset[object]", labels[second])
        return float(between(set(some), set(others))) if some or others else 0.0

    def metric(v1: Array, v2: Array, *_: object, i1: Array, i2: Array, **__: object) -> Array:
        return cast("Array", np.vectorize(apart, otypes=[float])(i1, i2))

    return metric


def _check_request(measure: str, order: Sequence[object] | None) -> None:
    if measure not in (*MEASURES, *SET_MEASURES):
        raise ValueError(
            f"measure is {measure!r}; it must be one of {', '.join((*MEASURES, *SET_MEASURES))}."
        )
    if order is not None and measure not in WITH_ORDER:
        raise ValueError(f"order is for the ordinal level only (and AC1); {measure} has no use for it.")


# ---- from ratings to patterns --------------------------------------------------------------------------------

# Beyond these many possible rows of codes a table of all of them would cost more than sorting those that occur.
_TABLE = 1 << 20


def _coded(ratings: Ratings) -> tuple[Array, list[object]]:
    """Ratings as small whole numbers, 0 where missing and else 1 + the position in the list of categories returned."""
    import numpy as np

    if hasattr(ratings, "__array__"):
        array = ratings if isinstance(ratings, np.ma.MaskedArray) else np.asarray(ratings)
    else:
        # A list of rows becomes an array only if it is all numbers: numpy would turn ["a", nan] into the word "nan".
        rows = _listed(ratings)
        try:
            array = np.asarray(rows)
        except (ValueError, OverflowError):
            return _coded_objects(rows)
        if array.dtype.kind not in "biuf" or array.ndim != 2:
            return _coded_objects(rows)
        # numpy makes floats of whole numbers beside None or above 2**63: of large ones several would be one.
        if array.dtype.kind == "f" and (np.abs(array) >= 2.0**53).any():
            return _coded_objects(rows)
    if array.ndim != 2:
        raise ValueError(f"ratings has {array.ndim} dimension(s); it has two, units x raters.")
    if array.size == 0:
        return np.zeros(array.shape, np.int8), []
    if array.dtype.kind in "biuf" and (coded := _coded_numbers(array)):
        return coded
    if array.dtype.kind not in "biufUS":
        return _coded_objects(_listed(array))
    values = np.ma.getdata(array)
    present, inverse = np.unique(values, return_inverse=True)
    codes = (inverse.reshape(values.shape) + 1).astype(np.int32)
    if array.dtype.kind == "f":
        codes[np.isnan(values)] = 0
        present = present[~np.isnan(present)]
    codes[np.ma.getmaskarray(array)] = 0
    return codes, present.tolist()


def _listed(ratings: Ratings) -> list[Sequence[object]]:
    """Ratings as rows of Python objects; what a mask hides is None."""
    import numpy as np

    if hasattr(ratings, "__array__"):
        array = ratings if isinstance(ratings, np.ma.MaskedArray) else np.asarray(ratings)
        return cast("list[Sequence[object]]", array.tolist())
    rows = list(ratings)
    for row in rows:
        if isinstance(row, (str, bytes)) or not hasattr(row, "__len__") or not hasattr(row, "__iter__"):
            raise ValueError(f"A unit is {row!r}; it has to be a row with one rating for each rater.")
    return rows


def _coded_numbers(array: Array) -> tuple[Array, list[object]] | None:
    """The quick way for whole numbers within a narrow range, however they are stored; None where it does not apply."""
    import numpy as np

    values = np.ma.getdata(array)
    real = values.dtype.kind == "f"
    ends = (np.fmin, np.fmax) if real else (np.minimum, np.maximum)
    low, high = (end.reduce(values, axis=None).item() for end in ends)
    # Beyond 2**52 neighbouring floats are not a half apart, so that neither test nor shift would be exact.
    if not -(2.0**52) < low <= high < 2.0**52 or low != np.floor(low) or high - low >= 1 << 14:
        return None
    lowest, span = int(low), int(high) - int(low) + 1
    small = np.int8 if span < 127 else np.int16
    codes = np.empty(values.shape, small)
    # In blocks that stay in the processor's cache: the passes below then cost little more than one.
    step = max(1, (1 << 16) // values.shape[1])
    for start in range(0, len(values), step):
        block = values[start : start + step]
        if real:
            shifted = np.nan_to_num(np.subtract(block, lowest - 1, dtype=np.float64), copy=False, nan=0.0)
            whole = shifted.astype(small)
            if not (whole == shifted).all():
                return None
            codes[start : start + step] = whole
        else:
            codes[start : start + step] = block.astype(np.int64) - (lowest - 1)
    if isinstance(array, np.ma.MaskedArray):
        codes[np.ma.getmaskarray(array)] = 0
    number = float if real else int
    return codes, [number(lowest + step) for step in range(span)]


def _coded_objects(rows: Sequence[Sequence[object]]) -> tuple[Array, list[object]]:
    """Codes of arbitrary labels, told apart as a dictionary does, in the order of `_sort_key`."""
    import numpy as np

    width = len(rows[0]) if rows else 0
    seen: dict[object, int] = {None: 0}
    codes = np.zeros((len(rows), width), np.int32)
    for number, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(
                f"Unit {number} has {len(row)} columns and unit 0 has {width}: one column for each rater."
            )
        try:
            codes[number] = [seen[value] if value in seen else _new_code(seen, value) for value in row]
        except TypeError as error:
            raise ValueError(f"Unit {number} holds a rating that cannot be a label: {error}.") from error
    labels = list(seen)[1:]
    ranked = sorted(range(len(labels)), key=lambda index: _sort_key(labels[index]))
    recoded = np.zeros(len(labels) + 1, np.int32)
    recoded[[index + 1 for index in ranked]] = np.arange(1, len(labels) + 1)
    return recoded[codes], [labels[index] for index in ranked]


def _new_code(seen: dict[object, int], value: object) -> int:
    if is_missing(value):
        return 0
    return seen.setdefault(value, len(seen))


def is_missing(value: object) -> bool:
    """None, NaN, NaT and pandas' NA, which refuses to be compared."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True


def _sort_key(value: object) -> tuple[int, Any, str]:
    """An order of categories that no run, platform or order of the ratings can change (a set's `repr` does change)."""
    if isinstance(value, Real):
        return (0, value, "")
    if isinstance(value, str):
        return (1, str(value), "")
    if isinstance(value, frozenset):
        return (2, type(value).__name__, repr(sorted(map(repr, value))))
    return (2, type(value).__name__, repr(value))


def _collapsed(codes: Array, categories: int) -> tuple[Array, Array]:
    """Distinct rows of codes and their counts where a table of all possible rows is small; else the rows as they are."""
    import numpy as np

    base, width = categories + 1, codes.shape[1]
    if width == 0 or base**width > _TABLE:
        return codes, np.ones(len(codes), np.int64)
    key = codes[:, 0].astype(np.int32)
    for column in range(1, width):
        key *= base
        key += codes[:, column]
    table = np.bincount(key)
    keys = np.flatnonzero(table)
    return keys[:, None] // base ** np.arange(width)[::-1] % base, table[keys]


@dataclass(frozen=True)
class _Patterns:
    """Distinct patterns in a canonical order, as cells (pattern, category, ratings) of a sparse matrix.

    The order depends on the multiset of patterns only: the seeded draws, and with them the interval, are therefore the
    same whatever the order of units and raters, and whether ratings or counted patterns were handed in.
    """

    counts: Array  # (P,) units with the pattern
    sizes: Array  # (P,) ratings in the pattern
    starts: Array  # (P,) first cell of the pattern
    pattern: Array  # (C,) the pattern of a cell
    category: Array  # (C,) its category, from 0 in rank order
    ratings: Array  # (C,) how many raters chose it
    values: Array | None  # (K,) the numbers behind the categories, at the interval level
    apart: Array | None = None  # (K, K) how far two categories are apart, where they are sets
    scale: int = 0  # categories that there could have been, for AC1
    which: Array | None = None  # of each row that entered, its pattern


def _canonical(
    rows: Array, counts: Array, categories: list[object], measure: str, order: Sequence[object] | None
) -> _Patterns:
    import numpy as np

    # Alpha and percent agreement take nothing from a unit with a single rating; Fleiss' and Gwet's expected agreement does.
    least = 1 if measure in WITH_SINGLE else 2
    entering = (rows > 0).sum(axis=1) >= least
    rows, counts = rows[entering], counts[entering]
    used = np.flatnonzero(np.bincount(rows.ravel(), minlength=len(categories) + 1)[1:])
    labels = [categories[index] for index in used]
    ranked, values = _ranked(labels, measure, order)
    recoded = np.zeros(len(categories) + 1, np.int64)
    recoded[used[ranked] + 1] = np.arange(1, len(labels) + 1)
    rows = np.sort(recoded[rows], axis=1)
    # Missing ratings sort first and fill the leading columns; what stays is as wide as the most ratings of a unit.
    rows = rows[:, (rows > 0).any(axis=0)]
    base = len(labels) + 1
    _, first, which = np.unique(_row_keys(rows, base), return_index=True, return_inverse=True)
    rows, counts = rows[first], np.bincount(which, weights=counts, minlength=len(first)).astype(np.int64)

    keys, ratings = np.unique((np.arange(len(rows))[:, None] * base + rows)[rows > 0], return_counts=True)
    pattern = keys // base
    return _Patterns(
        counts=counts,
        sizes=(rows > 0).sum(axis=1),
        starts=np.searchsorted(pattern, np.arange(len(rows))),
        pattern=pattern,
        category=keys % base - 1,
        ratings=ratings,
        values=values,
        apart=_apart(labels, measure) if measure in SET_MEASURES else None,
        scale=max(len(order or ()), len(labels)),
        which=which,
    )


MOST_SETS = 4096
"""Distinct sets that a set-valued alpha compares with one another: 128 MB of distances."""


def _apart(labels: list[object], measure: str) -> Array:
    """The distances between all sets that were chosen."""
    import numpy as np

    if odd := [label for label in labels if not isinstance(label, frozenset)]:
        raise ValueError(f"A set-valued alpha needs frozensets of labels; {odd[0]!r} is none.")
    if len(labels) > MOST_SETS:
        raise ValueError(
            f"{len(labels)} different sets were chosen, and a set-valued alpha compares at most {MOST_SETS}. Sets of cells "
            "are compared within each table (tableqa.agreement.cell_sets)."
        )
    distance = cast("Distance", measure.removeprefix("krippendorff_alpha_"))
    sets = cast("list[frozenset[object]]", labels)
    distances = np.zeros((len(sets), len(sets)))
    for row, row_set in enumerate(sets):
        for column in range(row):
            column_set = sets[column]
            distances[row, column] = distance_of_sizes(
                len(row_set & column_set), len(row_set), len(column_set), distance
            )
    return distances + distances.T


def _ranked(
    labels: list[object], measure: str, order: Sequence[object] | None
) -> tuple[list[int], Array | None]:
    """The positions of the labels from low to high, and the numbers they stand for at the interval level."""
    import math

    import numpy as np

    as_they_are = list(range(len(labels)))
    if measure == "krippendorff_alpha_interval":
        if odd := [label for label in labels if not isinstance(label, Real) or not math.isfinite(label)]:
            raise ValueError(f"The interval level needs finite numbers; {odd[0]!r} is none.")
        # Distances count alone: large whole numbers become floats as what they are above the lowest.
        whole = [label for label in labels if isinstance(label, int)]
        is_large = len(whole) == len(labels) and any(abs(label) >= 2**53 for label in whole)
        lowest = min(whole) if is_large else 0
        return as_they_are, np.array([float(cast("int", label) - lowest) for label in labels])
    if measure in WITH_ORDER:
        if order is not None:
            rank = {category: index for index, category in enumerate(order)}
            if len(rank) != len(order):
                raise ValueError("order names a category twice.")
            if odd := [label for label in labels if label not in rank]:
                raise ValueError(f"order lacks the category {odd[0]!r}.")
            return sorted(as_they_are, key=lambda index: rank[labels[index]]), None
        odd = [label for label in labels if not isinstance(label, Real)]
        if odd and measure != "gwet_ac1":
            raise ValueError(
                f"{odd[0]!r} is no number: the ordinal level needs order=, the categories from low to high."
            )
    return as_they_are, None


def _row_keys(rows: Array, base: int) -> Array:
    """One whole number for each row, equal for equal rows and ordered as the rows are."""
    import numpy as np

    key = np.zeros(len(rows), np.int64)
    top = 1  # every key is below it
    for column in range(rows.shape[1]):
        if top * base >= 1 << 62:
            present, key = np.unique(key, return_inverse=True)
            top = len(present)
        key = key * base + rows[:, column]
        top *= base
    return key


# ---- from patterns to a figure -------------------------------------------------------------------------------

# Takes B x P counts of units for each pattern, gives the B values, NaN where undefined.
_Estimator = Callable[["Array"], "Array"]


def _measured(
    rows: Array,
    counts: Array,
    categories: list[object],
    raters: int,
    measure: str,
    order: Sequence[object] | None,
    bootstrap: Bootstrap,
) -> Agreement:
    import numpy as np

    patterns = _canonical(rows, counts, categories, measure, order)
    paired = patterns.sizes > 1
    units = int(patterns.counts[paired].sum())
    many = _tells_from_chance(patterns, measure)
    value = low = high = reason = None
    note: str | None = None
    left_out = 0
    if not units:
        reason = NO_PAIR
    elif not many:
        reason = ONE_CATEGORY
    else:
        estimate = _estimator(measure, patterns)
        value = float(estimate(patterns.counts[None, :].astype(float))[0])
        if measure in WITH_SINGLE and len(np.unique(patterns.sizes)) > 1:
            note = GENERALISED if measure == "fleiss_kappa" else UNEQUAL
        if bootstrap.replicates and units == 1:
            note = joined([note or "", ONE_UNIT])
        elif bootstrap.replicates:
            drawn = np.concatenate([estimate(draws) for draws in _resamples(patterns, bootstrap)])
            low, high, left_out = bootstrap.ends(drawn)
    return Agreement(
        value=value,
        low=low,
        high=high,
        units=units,
        raters=raters,
        ratings=int((patterns.counts * patterns.sizes)[paired].sum()),
        measure=measure,
        reason=reason,
        note=note,
        left_out=left_out,
        **asdict(bootstrap),
    )


def _estimator(measure: str, patterns: _Patterns) -> _Estimator:
    return {
        "percent_agreement": _percent,
        "fleiss_kappa": _fleiss,
        "krippendorff_alpha_nominal": _alpha_nominal,
        "krippendorff_alpha_ordinal": _alpha_ordinal,
        "krippendorff_alpha_interval": _alpha_interval,
        "krippendorff_alpha_jaccard": _alpha_sets,
        "krippendorff_alpha_masi": _alpha_sets,
        "gwet_ac1": _ac1,
    }[measure](patterns)


def _tells_from_chance(patterns: _Patterns, measure: str) -> bool:
    """Whether there is more than one category, so that chance means anything; percent agreement does not ask."""
    import numpy as np

    if measure == "percent_agreement":
        return True
    if measure == "gwet_ac1":
        return patterns.scale > 1
    return len(np.unique(patterns.category)) > 1


_JACKKNIFED = 2000
"""Patterns whose influence is computed one by one; of more, this many units are drawn."""


def _influence(patterns: _Patterns, measure: str) -> tuple[Array, Array]:
    import numpy as np

    nothing = np.zeros(0), np.zeros(0, np.int64)
    number = int(patterns.counts.sum())
    if number < 2 or not (patterns.sizes > 1).any() or not _tells_from_chance(patterns, measure):
        return nothing
    counts = patterns.counts
    chosen = np.arange(len(counts))
    if len(chosen) > _JACKKNIFED:
        owner = np.repeat(chosen, counts)
        sampled = np.random.default_rng(0).choice(owner, _JACKKNIFED, replace=False)
        chosen, counts = np.unique(sampled, return_counts=True)
    estimate = _estimator(measure, patterns)
    whole = patterns.counts.astype(float)
    value = estimate(whole[None, :])[0]
    step = max(1, _DENSE // len(patterns.category))
    without = []
    for start in range(0, len(chosen), step):
        block = chosen[start : start + step]
        remaining = np.repeat(whole[None, :], len(block), axis=0)
        remaining[np.arange(len(block)), block] -= 1
        without.append(estimate(remaining))
    moved = (number - 1) * (value - np.concatenate(without))
    return (moved, counts) if np.isfinite(moved).all() else nothing


def _percent(patterns: _Patterns) -> _Estimator:
    agreeing = _agreeing_pairs(patterns) / _pairs(patterns)

    def estimate(units: Array) -> Array:
        return cast("Array", units @ agreeing / units.sum(axis=1))

    return estimate


def _fleiss(patterns: _Patterns) -> _Estimator:
    import numpy as np

    paired = (patterns.sizes > 1).astype(float)
    agreeing = _agreeing_pairs(patterns) / np.maximum(_pairs(patterns), 1)
    totals = _category_totals(patterns, 1 / patterns.sizes)
    varied = _varied(patterns)

    def estimate(units: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            observed = units @ agreeing / (units @ paired)
            expected = ((totals(units) / units.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
            # A resample without a pair has 0/0 observed agreement, which stays NaN.
            return np.where(varied(units), (observed - expected) / (1 - expected), np.nan)

    return estimate


def _ac1(patterns: _Patterns) -> _Estimator:
    import numpy as np

    paired = (patterns.sizes > 1).astype(float)
    agreeing = _agreeing_pairs(patterns) / np.maximum(_pairs(patterns), 1)
    totals = _category_totals(patterns, 1 / patterns.sizes)

    def estimate(units: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            observed = units @ agreeing / (units @ paired)
            share = totals(units) / units.sum(axis=1, keepdims=True)
            expected = (share * (1 - share)).sum(axis=1) / (patterns.scale - 1)
            # A resample without a pair has 0/0 observed agreement, which stays NaN; expected agreement is at most a half.
            return cast("Array", (observed - expected) / (1 - expected))

    return estimate


def _alpha_nominal(patterns: _Patterns) -> _Estimator:
    import numpy as np

    within = (_pairs(patterns) - _agreeing_pairs(patterns)) / (patterns.sizes - 1)
    totals = _category_totals(patterns, np.ones(len(patterns.sizes)))
    varied = _varied(patterns)

    def estimate(units: Array) -> Array:
        count = units @ patterns.sizes
        between = (count**2 - (totals(units) ** 2).sum(axis=1)) / (count - 1)
        return _one_minus(units @ within, between, varied(units))

    return estimate


def _alpha_ordinal(patterns: _Patterns) -> _Estimator:
    """Krippendorff (2011), section D, ordinal metric: it depends on the margins, so on each resample.

    The sum of all ratings from category c to k, less half of both ends, is the distance between their mid-ranks; from the
    mean mid-rank those are `cumulative - own/2 - all/2`.
    """
    import numpy as np

    totals = _category_totals(patterns, np.ones(len(patterns.sizes)))
    varied = _varied(patterns)

    def estimate(units: Array) -> Array:
        count = units @ patterns.sizes
        total = totals(units)
        rank = np.cumsum(total, axis=1) - total / 2 - count[:, None] / 2
        between = 2 * count * (total * rank**2).sum(axis=1) / (count - 1)
        ranks = rank[:, patterns.category]
        sums = np.add.reduceat(ranks * patterns.ratings, patterns.starts, axis=1)
        squares = np.add.reduceat(ranks**2 * patterns.ratings, patterns.starts, axis=1)
        within = 2 * (patterns.sizes * squares - sums**2) / (patterns.sizes - 1)
        return _one_minus((units * within).sum(axis=1), between, varied(units))

    return estimate


def _alpha_interval(patterns: _Patterns) -> _Estimator:
    import numpy as np

    # Alpha does not change with origin and unit of the numbers; centred and scaled ones neither cancel nor overflow.
    values = cast("Array", patterns.values)
    values = values / 2 - (values.max() / 4 + values.min() / 4)
    values = (values / np.abs(values).max())[patterns.category]
    mean = np.add.reduceat(values * patterns.ratings, patterns.starts) / patterns.sizes
    spread = np.add.reduceat((values - mean[patterns.pattern]) ** 2 * patterns.ratings, patterns.starts)
    within = 2 * patterns.sizes * spread / (patterns.sizes - 1)
    varied = _varied(patterns)

    def estimate(units: Array) -> Array:
        count = units @ patterns.sizes
        centre = units @ (patterns.sizes * mean) / count
        apart = (units * patterns.sizes * (mean - centre[:, None]) ** 2).sum(axis=1)
        between = 2 * count * (units @ spread + apart) / (count - 1)
        return _one_minus(units @ within, between, varied(units))

    return estimate


def _alpha_sets(patterns: _Patterns) -> _Estimator:
    """Alpha with any distance between categories; `within` is that of ordered pairs, as at the other levels."""
    import numpy as np

    apart = cast("Array", patterns.apart)
    within = np.zeros(len(patterns.sizes))
    step = max(1, _DENSE // len(apart))
    for start in range(0, len(within), step):
        block = slice(*np.searchsorted(patterns.pattern, [start, start + step]))
        chosen = np.zeros((min(step, len(within) - start), len(apart)))
        chosen[patterns.pattern[block] - start, patterns.category[block]] = patterns.ratings[block]
        within[start : start + step] = ((chosen @ apart) * chosen).sum(axis=1)
    within /= patterns.sizes - 1
    totals = _category_totals(patterns, np.ones(len(patterns.sizes)))
    varied = _varied(patterns)

    def estimate(units: Array) -> Array:
        count = units @ patterns.sizes
        total = totals(units)
        between = ((total @ apart) * total).sum(axis=1) / (count - 1)
        return _one_minus(units @ within, between, varied(units))

    return estimate


def _one_minus(observed: Array, expected: Array, defined: Array) -> Array:
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, 1 - observed / expected, np.nan)


def _pairs(patterns: _Patterns) -> Array:
    """Ordered pairs of ratings in each pattern."""
    return cast("Array", patterns.sizes * (patterns.sizes - 1))


def _agreeing_pairs(patterns: _Patterns) -> Array:
    """Ordered pairs of equal ratings in each pattern."""
    import numpy as np

    return cast("Array", np.add.reduceat(patterns.ratings * (patterns.ratings - 1), patterns.starts))


def _varied(patterns: _Patterns) -> Callable[[Array], Array]:
    """Whether a resample (B x P) holds more than one category: decided on whole numbers, never by a rounded zero."""
    import numpy as np

    lowest = patterns.category[patterns.starts]
    highest = np.maximum.reduceat(patterns.category, patterns.starts)
    top = int(highest.max())

    def varied(units: Array) -> Array:
        drawn = units > 0
        return cast(
            "Array", np.where(drawn, lowest, top).min(axis=1) < np.where(drawn, highest, 0).max(axis=1)
        )

    return varied


def _category_totals(patterns: _Patterns, weight: Array) -> Callable[[Array], Array]:
    """B x P counts of units -> B x K sums of ratings by category, each rating weighted by its pattern's weight."""
    import numpy as np

    count, categories = len(patterns.sizes), int(patterns.category.max()) + 1
    weighted = patterns.ratings * weight[patterns.pattern]
    if count * categories <= _DENSE:
        dense = np.zeros((count, categories))
        dense[patterns.pattern, patterns.category] = weighted
        return lambda units: units @ dense

    def totals(units: Array) -> Array:
        return np.stack(
            [
                np.bincount(patterns.category, row[patterns.pattern] * weighted, minlength=categories)
                for row in units
            ]
        )

    return totals


# Numbers in the largest intermediate array: 16 MB of doubles at a time, however many patterns there are.
_DENSE = 1 << 21


def _resamples(patterns: _Patterns, bootstrap: Bootstrap) -> Iterator[Array]:
    """Units drawn with replacement, as counts for each pattern: B x P arrays, B small where patterns are many."""
    import numpy as np

    generator = np.random.default_rng(bootstrap.seed)
    counts = patterns.counts
    count, units = len(counts), int(counts.sum())
    chunk = max(1, _DENSE // len(patterns.category))
    # Two ways to draw the same multinomial: a binomial for each pattern, or a pattern for each unit. A binomial costs about
    # ten single draws, so where most units have a pattern of their own the second is quicker.
    singly = count * 10 > units
    owner = np.repeat(np.arange(count), counts) if singly else None
    group = max(1, _DRAWN // units)
    for done in range(0, bootstrap.replicates, chunk):
        size = min(chunk, bootstrap.replicates - done)
        if owner is None:
            yield generator.multinomial(units, counts / units, size=size).astype(float)
        else:
            yield np.concatenate(
                [_singly(generator, owner, min(group, size - row), count) for row in range(0, size, group)]
            )


# Units drawn one by one at a time: few enough that they stay in the processor's cache.
_DRAWN = 1 << 17


def _singly(generator: np.random.Generator, owner: Array, rows: int, count: int) -> Array:
    """Rows of as many units as there are, drawn one by one, as counts for each pattern."""
    import numpy as np

    units = len(owner)
    narrow = np.int32 if units < 2**31 else np.int64  # the same draws, and half the memory
    drawn = owner[generator.integers(0, units, (rows, units), dtype=narrow)]
    drawn += np.arange(0, rows * count, count)[:, None]
    return np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count).astype(float)
