"""Medians with the intervals that so few values allow, by a seeded bootstrap."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

DRAWS = 1_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value (None of nothing) with the ends of its interval; those are None of fewer than two values."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> str:
        """In words for a table of figures: "12.0 to 30.5", or a dash."""
        return "–" if self.low is None or self.high is None else f"{self.low:.1f} to {self.high:.1f}"


def of(values: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The median with its percentile bootstrap interval. (Efron and Tibshirani 1993, chapter 13)"""
    if not values:
        return Estimate(None)
    if len(values) == 1:
        return Estimate(values[0])
    rng = random.Random("median")
    return _with_ends(
        median(values), [median(rng.choices(values, k=len(values))) for _ in range(DRAWS)], confidence
    )


def difference(one: Sequence[float], other: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The median of `one` minus that of `other`, both drawn anew each time."""
    if not one or not other:
        return Estimate(None)
    value = median(one) - median(other)
    if min(len(one), len(other)) < 2:
        return Estimate(value)
    rng = random.Random("difference")
    drawn = [
        median(rng.choices(one, k=len(one))) - median(rng.choices(other, k=len(other))) for _ in range(DRAWS)
    ]
    return _with_ends(value, drawn, confidence)


def _with_ends(value: float, drawn: list[float], confidence: float) -> Estimate:
    drawn.sort()
    outside = (1 - confidence) / 2
    low, high = drawn[int(outside * DRAWS)], drawn[min(DRAWS - 1, int((1 - outside) * DRAWS))]
    return Estimate(value, low, high)
