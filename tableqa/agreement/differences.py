"""The difference of two agreements, and an interval of one that holds for other raters, too.

    difference(of_round_2, of_round_1)              # value, low, high
    over_raters(agreement(ratings, m), ratings, m)  # units and raters vary

Sources:
  Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a general approach.
  Statistics in Medicine 27, 1693-1702 (variances recovered from the ends of both intervals, MOVER).
  Gwet, K. L. (2008). Variance estimation of nominal-scale inter-rater reliability with random selection of raters.
  Psychometrika 73, 407-430 (jackknife over raters, added to the variance over units).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tableqa.agreement.coefficients import agreement
from tableqa.agreement.measures import FEW_RATERS, Agreement
from tableqa.core.translation import joined

if TYPE_CHECKING:
    from tableqa.agreement.rating_patterns import Ratings


class WithInterval(Protocol):
    """A value with the ends of its interval; None where there is none."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


class AgreementDifference(NamedTuple):
    """The first value less the second, with the ends of its interval; None where one of the two has none."""

    value: float
    low: float | None
    high: float | None


def difference(first: WithInterval, second: WithInterval) -> AgreementDifference | None:
    """The first agreement less the second, of other units each, such as two rounds, groups or languages.

    The interval has the confidence of both intervals. Of the same units it is too wide. None if a value is undefined.
    """
    if first.value is None or second.value is None:
        return None
    value = first.value - second.value
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return AgreementDifference(value, None, None)
    below = math.hypot(first.value - first.low, second.high - second.value)
    above = math.hypot(first.high - first.value, second.value - second.low)
    return AgreementDifference(value, value - below, value + above)


def over_raters(
    coefficient: Agreement,
    ratings: Ratings,
    measure: str,
    *,
    order: Sequence[object] | None = None,
) -> Agreement:
    """The same figure with an interval for other units and other raters of the same kind.

    coefficient: of `agreement` with an interval. ratings: units x raters, as a list of lists. Raters are left out one by one
    (jackknife), and their variance is added to that of the units. Of fewer than three raters there is no interval, and none
    where the measure is undefined without one of them. Raises ValueError as `agreement` does.
    """
    if coefficient.value is None or coefficient.low is None or coefficient.high is None:
        return coefficient
    rater_count = max(map(len, ratings))
    without = [
        agreement(
            [[rating for at, rating in enumerate(unit) if at != rater] for unit in ratings],
            measure,
            order=order,
            replicates=0,
        ).value
        for rater in range(rater_count)
    ]
    values = [value for value in without if value is not None]
    if rater_count < 3 or len(values) < rater_count:
        return replace(coefficient, low=None, high=None, note=joined([coefficient.note or "", FEW_RATERS]))
    mean = fmean(values)
    variance = (rater_count - 1) / rater_count * math.fsum((value - mean) ** 2 for value in values)
    spread = NormalDist().inv_cdf((1 + coefficient.confidence) / 2) * math.sqrt(variance)
    least = 0.0 if measure == "percent_agreement" else -1.0
    return replace(
        coefficient,
        low=max(least, coefficient.value - math.hypot(coefficient.value - coefficient.low, spread)),
        high=min(1.0, coefficient.value + math.hypot(coefficient.high - coefficient.value, spread)),
    )
