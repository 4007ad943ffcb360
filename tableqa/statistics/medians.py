"""Medians with the intervals that so few values allow, by a seeded bootstrap."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from tableqa.statistics.zero_width_intervals import honest_interval

DRAWS = 1_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value (None of nothing) over n values, with the ends of its interval.

    Without an interval of fewer than two values, and of values that are all alike:
    `tableqa.statistics.zero_width_intervals`.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0


def estimate_median(values: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The median with its percentile bootstrap interval. (Efron and Tibshirani 1993, chapter 13)"""
    if not values:
        return Estimate(None)
    if len(values) == 1:
        return Estimate(values[0], n=1)
    rng = random.Random("median")
    drawn = [median(rng.choices(values, k=len(values))) for _ in range(DRAWS)]
    return _with_ends(median(values), drawn, confidence, len(values))


def difference(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The median of `first` minus that of `second`, both drawn again each time."""
    if not first or not second:
        return Estimate(None)
    value, n = median(first) - median(second), len(first) + len(second)
    if min(len(first), len(second)) < 2:
        return Estimate(value, n=n)
    rng = random.Random("difference")
    drawn = [
        median(rng.choices(first, k=len(first))) - median(rng.choices(second, k=len(second)))
        for _ in range(DRAWS)
    ]
    return _with_ends(value, drawn, confidence, n)


def _with_ends(value: float, drawn: list[float], confidence: float, n: int) -> Estimate:
    drawn.sort()
    outside = (1 - confidence) / 2
    low, high = drawn[int(outside * DRAWS)], drawn[min(DRAWS - 1, int((1 - outside) * DRAWS))]
    ends = honest_interval(value, low, high, n)
    return Estimate(value, ends.low, ends.high, n)
