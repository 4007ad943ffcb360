"""How far annotators agree beyond chance, with a bootstrap interval over units.

    agreement(frame, "fleiss_kappa", item="item", rater="who", label="label")  # a data frame, a row for each rating
    agreement(ratings, "fleiss_kappa")           # any of `measures.MEASURES` and `measures.SET_MEASURES`
    agreement(sets, "krippendorff_alpha_masi")   # several labels for a unit: frozensets
    from_patterns(patterns, counts, "fleiss_kappa", raters=3)  # grouped by a database
    influence(ratings, "fleiss_kappa")           # how much each pattern of a unit moves the value

`ratings` has a row for each unit (the thing that is rated) and a column for each rater; None and NaN are missing. Units are
collapsed to distinct patterns and their counts (`rating_patterns`), and drawing units with replacement is then exactly one
multinomial draw of those counts.

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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Unpack

from tableqa.agreement.estimators import allows_chance, estimator, rows_at_once
from tableqa.agreement.measures import (
    FEW_RARE,
    GENERALISED,
    NO_PAIR,
    ONE_CATEGORY,
    ONE_UNIT,
    SET_MEASURES,
    TOO_MANY_SETS,
    UNEQUAL,
    WITH_SINGLE,
    Agreement,
)
from tableqa.agreement.pseudo_units import is_smoothed, posterior_counts
from tableqa.agreement.rating_patterns import (
    patterns_of_counts,
    patterns_of_ratings,
    ratings_of_frame,
    with_pseudo_units,
)
from tableqa.core.translation import joined
from tableqa.statistics.bootstrap import Bootstrap, BootstrapOptions
from tableqa.statistics.proportions import exact_interval

if TYPE_CHECKING:
    import numpy as np

    from tableqa.agreement.rating_patterns import Array, Patterns, Ratings


def agreement(
    ratings: Ratings | Any,
    measure: str = "krippendorff_alpha_nominal",
    *,
    item: str | None = None,
    rater: str | None = None,
    label: str | None = None,
    order: Sequence[object] | None = None,
    **resampling: Unpack[BootstrapOptions],
) -> Agreement:
    """One measure of agreement of any number of raters, who need not be the same for each unit.

    ratings   units x raters, numbers or hashable labels, None or NaN where missing; or a data frame with a row per rating
    item, rater, label   the columns of the data frame
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
    that `order` lacks, an interval between things not numbers, and a distance between things not sets; and for a data frame
    whose columns are not named or that has two ratings of one item by one rater.
    """
    bootstrap = Bootstrap(**resampling)
    if (item, rater, label) != (None, None, None):
        ratings = ratings_of_frame(ratings, item, rater, label)
    patterns, raters = patterns_of_ratings(ratings, measure, order)
    return _measured(patterns, raters, measure, bootstrap)


def from_patterns(
    patterns: Sequence[Sequence[object]],
    counts: Sequence[int] | Array,
    measure: str,
    *,
    raters: int,
    order: Sequence[object] | None = None,
    **resampling: Unpack[BootstrapOptions],
) -> Agreement:
    """Agreement from distinct rating patterns and how many units show each: what a database can count by itself.

    patterns: for each pattern the ratings of one unit, in any order and of any length, None where missing; patterns that
    differ only in order, and repeated ones, are added up. counts: units with that pattern, whole numbers from 0. raters:
    people with at least one rating, which patterns cannot tell. The result equals that of the ratings written out, to the
    last digit of the interval.

    Raises ValueError where patterns, counts and raters do not fit together, and as `agreement` does.
    """
    bootstrap = Bootstrap(**resampling)
    distinct, widest = patterns_of_counts(patterns, counts, measure, order)
    if raters < widest:
        raise ValueError(f"raters is {raters}, but a pattern holds {widest} ratings.")
    return _measured(distinct, raters, measure, bootstrap)


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
    totals = Counter[Any]()
    for cluster, times in clusters.items():
        for pattern in cluster:
            totals[pattern] += times
    patterns, _ = patterns_of_counts(list(totals), list(totals.values()), measure, order)
    number_of = dict(zip(totals, map(int, patterns.which), strict=True))
    keyed = Counter[tuple[int, ...]]()
    for cluster, times in clusters.items():
        keyed[tuple(sorted(number_of[pattern] for pattern in cluster))] += times
    if keyed.total() == 1:
        return replace(coefficient, low=None, high=None, left_out=0)
    # In their own order, so that a seed draws the same whatever the order in which they came.
    ordered = sorted(keyed)
    counts = np.array([keyed[entry] for entry in ordered])
    owner = np.repeat(np.arange(len(ordered)), [len(entry) for entry in ordered])
    flat = np.concatenate([np.array(entry) for entry in ordered])
    size = np.ones(len(flat))
    bootstrap = Bootstrap(coefficient.replicates, coefficient.seed, coefficient.confidence)
    if is_smoothed():
        # A pseudo-unit is a cluster of as many like it as clusters have units.
        seen = len(patterns.counts)
        patterns = with_pseudo_units(patterns, measure, bootstrap.seed)
        pseudo = np.arange(len(patterns.counts) - seen)
        owner, flat = np.append(owner, len(counts) + pseudo), np.append(flat, seen + pseudo)
        size = np.append(size, np.full(len(pseudo), totals.total() / keyed.total()))
        counts = np.append(counts, patterns.counts[seen:])
    estimate = estimator(measure, patterns)
    at_once = rows_at_once(max(len(counts), len(patterns.category)))
    draw = posterior_counts if is_smoothed() else _multinomial_counts
    drawn = []
    for weights in draw(counts, keyed.total(), at_once, bootstrap):
        units = [np.bincount(flat, entry[owner] * size, minlength=len(patterns.counts)) for entry in weights]
        drawn.append(estimate(np.array(units)))
    including = coefficient.value if is_smoothed() else None
    low, high, left_out = bootstrap.ends(np.concatenate(drawn), including)
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
    return _influence(patterns_of_ratings(ratings, measure, order)[0], measure)


def influence_of_patterns(
    patterns: Sequence[Sequence[object]],
    counts: Sequence[int] | Array,
    measure: str,
    *,
    order: Sequence[object] | None = None,
) -> tuple[Array, Array]:
    """`influence` from patterns and counts as `from_patterns` takes them."""
    return _influence(patterns_of_counts(patterns, counts, measure, order)[0], measure)


def _measured(patterns: Patterns, raters: int, measure: str, bootstrap: Bootstrap) -> Agreement:
    import numpy as np

    paired = patterns.sizes > 1
    units = int(patterns.counts[paired].sum())
    ratings = int((patterns.counts * patterns.sizes)[paired].sum())
    facts: Any = {
        "units": units,
        "raters": raters,
        "ratings": ratings,
        "measure": measure,
        **asdict(bootstrap),
    }
    if units and _has_too_many_sets(patterns, measure):
        return Agreement(None, None, None, **facts, reason=TOO_MANY_SETS)
    if not units or not allows_chance(patterns, measure):
        return Agreement(None, None, None, **facts, reason=ONE_CATEGORY if units else NO_PAIR)
    estimate = estimator(measure, patterns)
    value = float(estimate(patterns.counts[None, :].astype(float))[0])
    low = high = None
    left_out, note = 0, ""
    if measure in WITH_SINGLE and len(np.unique(patterns.sizes)) > 1:
        note = GENERALISED if measure == "fleiss_kappa" else UNEQUAL
    if bootstrap.replicates and units == 1:
        note = joined([note, ONE_UNIT])
    elif bootstrap.replicates:
        if is_smoothed():
            note = joined([note, _too_few_rare(patterns, measure)])
            smoothed = with_pseudo_units(patterns, measure, bootstrap.seed)
            estimate = estimator(measure, smoothed)
            at_once = rows_at_once(len(smoothed.category))
            draws = posterior_counts(smoothed.counts, int(patterns.counts.sum()), at_once, bootstrap)
        else:
            draws = _resamples(patterns, bootstrap)
        drawn = np.concatenate(list(map(estimate, draws)))
        low, high, left_out = bootstrap.ends(drawn, value if is_smoothed() else None)
    return Agreement(value, low, high, **facts, note=note or None, left_out=left_out)


def _has_too_many_sets(patterns: Patterns, measure: str) -> bool:
    return measure in SET_MEASURES and patterns.apart is None


def _too_few_rare(patterns: Patterns, measure: str) -> str:
    """The note for kappa or alpha of labels that rest on few units with another label than the most frequent one."""
    import numpy as np

    if measure not in ("fleiss_kappa", "krippendorff_alpha_nominal"):
        return ""
    units = np.where(patterns.sizes > 1, patterns.counts, 0)
    totals = np.bincount(patterns.category, patterns.ratings * units[patterns.pattern])
    has_rare = np.zeros(len(units), bool)
    has_rare[patterns.pattern[patterns.category != totals.argmax()]] = True
    unit_count, rare = int(units.sum()), int(units[has_rare].sum())
    if unit_count < 10 or rare >= min(FEWEST_RARE, unit_count / 4):
        return ""
    is_unanimous = np.bincount(patterns.pattern, minlength=len(units)) == 1
    agreed = int(units[is_unanimous].sum())
    low, high = (round(100 * end) for end in exact_interval(agreed, unit_count))
    return FEW_RARE.format(rare=rare, units=unit_count, agreed=agreed, low=low, high=high)


FEWEST_RARE = 8
"""Units with one of the rarer labels, from which on a figure goes without the note."""


def _multinomial_counts(counts: Array, units: int, at_once: int, bootstrap: Bootstrap) -> Iterator[Array]:
    """Units drawn with replacement, by the rules before `pseudo_units`."""
    import numpy as np

    generator = np.random.default_rng(bootstrap.seed)
    for done in range(0, bootstrap.replicates, at_once):
        size = min(at_once, bootstrap.replicates - done)
        yield generator.multinomial(units, counts / units, size=size).astype(float)


_JACKKNIFED = 2000
"""Patterns whose influence is computed one by one; of more, this many units are drawn."""


def _influence(patterns: Patterns, measure: str) -> tuple[Array, Array]:
    import numpy as np

    nothing = np.zeros(0), np.zeros(0, np.int64)
    unit_count = int(patterns.counts.sum())
    if unit_count < 2 or not (patterns.sizes > 1).any() or not allows_chance(patterns, measure):
        return nothing
    if _has_too_many_sets(patterns, measure):
        return nothing
    counts = patterns.counts
    chosen = np.arange(len(counts))
    if len(chosen) > _JACKKNIFED:
        owner = np.repeat(chosen, counts)
        sampled = np.random.default_rng(0).choice(owner, _JACKKNIFED, replace=False)
        chosen, counts = np.unique(sampled, return_counts=True)
    estimate = estimator(measure, patterns)
    whole = patterns.counts.astype(float)
    value = estimate(whole[None, :])[0]
    step = rows_at_once(len(patterns.category))
    without = []
    for start in range(0, len(chosen), step):
        block = chosen[start : start + step]
        remaining = np.repeat(whole[None, :], len(block), axis=0)
        remaining[np.arange(len(block)), block] -= 1
        without.append(estimate(remaining))
    moved = (unit_count - 1) * (value - np.concatenate(without))
    return (moved, counts) if np.isfinite(moved).all() else nothing


def _resamples(patterns: Patterns, bootstrap: Bootstrap) -> Iterator[Array]:
    """Units drawn with replacement, as counts for each pattern: B x P arrays, B small where patterns are many."""
    import numpy as np

    generator = np.random.default_rng(bootstrap.seed)
    counts = patterns.counts
    count, units = len(counts), int(counts.sum())
    chunk = rows_at_once(len(patterns.category))
    # Two ways to draw the same multinomial: a binomial for each pattern, or a pattern for each unit. A binomial costs about
    # ten single draws, so where most units have their own pattern the second is quicker.
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
