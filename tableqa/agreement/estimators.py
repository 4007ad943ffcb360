"""The value of each measure for weighted patterns of ratings: one function of a matrix, so that resamples are quick."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from tableqa.agreement.rating_patterns import Array, Patterns

# Takes B x P counts of units for each pattern, gives the B values, NaN where undefined.
Estimator = Callable[["Array"], "Array"]

# Numbers in the largest intermediate array: 16 MB of doubles at a time, however many patterns there are.
_DENSE = 1 << 21


def rows_at_once(width: int) -> int:
    """How many rows of this width fit into the largest intermediate array."""
    return max(1, _DENSE // width)


def estimator(measure: str, patterns: Patterns) -> Estimator:
    """The function that gives the values of a measure for counts of units."""
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


def allows_chance(patterns: Patterns, measure: str) -> bool:
    """Whether there is more than one category, so that chance means anything; percent agreement does not ask."""
    import numpy as np

    if measure == "percent_agreement":
        return True
    if measure == "gwet_ac1":
        return patterns.scale > 1
    return len(np.unique(patterns.category)) > 1


def _percent(patterns: Patterns) -> Estimator:
    agreeing = _agreeing_pairs(patterns) / _pairs(patterns)

    def estimate(units: Array) -> Array:
        return cast("Array", units @ agreeing / units.sum(axis=1))

    return estimate


def _fleiss(patterns: Patterns) -> Estimator:
    import numpy as np

    corrected = _chance_corrected(patterns, lambda shares: (shares**2).sum(axis=1))
    varied = _varied(patterns)
    return lambda units: np.where(varied(units), corrected(units), np.nan)


def _ac1(patterns: Patterns) -> Estimator:
    # Expected agreement is at most a half, so that one category drawn is no special case.
    return _chance_corrected(
        patterns, lambda shares: (shares * (1 - shares)).sum(axis=1) / (patterns.scale - 1)
    )


def _chance_corrected(patterns: Patterns, expected: Callable[[Array], Array]) -> Estimator:
    """Percent agreement corrected for chance, which `expected` computes from the shares of the categories (B x K)."""
    import numpy as np

    paired = (patterns.sizes > 1).astype(float)
    agreeing = _agreeing_pairs(patterns) / np.maximum(_pairs(patterns), 1)
    totals = _category_totals(patterns, 1 / patterns.sizes)

    def estimate(units: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            # A resample without a pair has 0/0 observed agreement, which stays NaN.
            observed = units @ agreeing / (units @ paired)
            chance = expected(totals(units) / units.sum(axis=1, keepdims=True))
            return cast("Array", (observed - chance) / (1 - chance))

    return estimate


def _alpha_nominal(patterns: Patterns) -> Estimator:
    import numpy as np

    within = (_pairs(patterns) - _agreeing_pairs(patterns)) / (patterns.sizes - 1)
    totals = _category_totals(patterns, np.ones(len(patterns.sizes)))
    varied = _varied(patterns)

    def estimate(units: Array) -> Array:
        count = units @ patterns.sizes
        between = (count**2 - (totals(units) ** 2).sum(axis=1)) / (count - 1)
        return _one_minus(units @ within, between, varied(units))

    return estimate


def _alpha_ordinal(patterns: Patterns) -> Estimator:
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


def _alpha_interval(patterns: Patterns) -> Estimator:
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


def _alpha_sets(patterns: Patterns) -> Estimator:
    """Alpha with any distance between categories; `within` is that of ordered pairs, as at the other levels."""
    import numpy as np

    apart = cast("Array", patterns.apart)
    within = np.zeros(len(patterns.sizes))
    step = rows_at_once(len(apart))
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


def _pairs(patterns: Patterns) -> Array:
    """Ordered pairs of ratings in each pattern."""
    return cast("Array", patterns.sizes * (patterns.sizes - 1))


def _agreeing_pairs(patterns: Patterns) -> Array:
    """Ordered pairs of equal ratings in each pattern."""
    import numpy as np

    return cast("Array", np.add.reduceat(patterns.ratings * (patterns.ratings - 1), patterns.starts))


def _varied(patterns: Patterns) -> Callable[[Array], Array]:
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


def _category_totals(patterns: Patterns, weight: Array) -> Callable[[Array], Array]:
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
