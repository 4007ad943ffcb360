"""Accuracy, Emd, VP and R-ACC of pairs: a reply to an instance beside the reply to what it is compared with.

    parts_of(pairs, "emd")   what each question adds, for `tableqa.statistics.robustness`
    figures_of(pairs)        the figures with intervals, of the standard library alone

Shares are from 0 to 1. Figures are means over sources (FREB-TQA 5); R-ACC over the sources that have a right answer before.
The bootstrap draws questions with replacement within their source (Efron and Tibshirani 1993, chapter 13).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import quantiles

from ..statistics.zero_width_intervals import NARROWEST, honest_interval

Pair = tuple[bool, bool]
"""Right before, right after."""
Pairs = Mapping[str, Mapping[str, Sequence[Pair]]]
"""{source: {question: [a pair for each seed]}}"""

ABOVE: Mapping[str, Callable[[bool, bool], float]] = {
    "before": lambda before, after: before,
    "after": lambda before, after: after,
    "emd": lambda before, after: after - before,
    "vp": lambda before, after: before != after,
    "r_acc": lambda before, after: before and after,
}
"""What a pair adds above the line; below it is 1, and for R-ACC whether it was right before."""


@dataclass(frozen=True)
class PairedFigure:
    """A figure with the ends of its 95 % interval over `n` questions; None where it is undefined."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def parts_of(pairs: Pairs, figure: str) -> dict[str, dict[str, tuple[float, float]]]:
    """What each question adds above and below the line, as means over its seeds."""
    above = ABOVE[figure]
    below = ABOVE["before"] if figure == "r_acc" else lambda before, after: 1
    return {
        source: {
            question: (_mean([above(*pair) for pair in seeds]), _mean([below(*pair) for pair in seeds]))
            for question, seeds in questions.items()
        }
        for source, questions in pairs.items()
    }


def figures_of(pairs: Pairs, *, replicates: int = 1_000, seed: int = 0) -> dict[str, PairedFigure]:
    """Every figure of `ABOVE`, with a percentile bootstrap interval."""
    return {
        figure: _figure(list(parts_of(pairs, figure).values()), figure, replicates, seed) for figure in ABOVE
    }


def _figure(
    sources: Sequence[Mapping[str, tuple[float, float]]], figure: str, replicates: int, seed: int
) -> PairedFigure:
    lines = [Counter(questions.values()) for questions in sources]
    lines = [counts for counts in lines if any(below for _, below in counts)]
    n = sum(count for counts in lines for (_, below), count in counts.items() if below)
    if not lines:
        return PairedFigure(None, None, None, 0)
    value = _mean([_ratio(counts) for counts in lines])
    random = Random(seed)
    resampled = ([_resample(random, counts) for counts in lines] for _ in range(replicates))
    values = sorted(
        _mean([_ratio(counts) for counts in draw])
        for draw in resampled
        if all(any(below for _, below in counts) for counts in draw)
    )
    low, *_, high = quantiles(values, n=40, method="inclusive") if len(values) > 1 else values * 2
    if high - low <= NARROWEST:
        low, high = _bounds_of_equal_questions(lines, (-1.0 if figure == "emd" else 0.0, 1.0))
    return PairedFigure(value, low, high, n)


def _ratio(counts: Mapping[tuple[float, float], int]) -> float:
    above, below = (math.fsum(line[side] * count for line, count in counts.items()) for side in (0, 1))
    return above / below


def _resample(random: Random, counts: Counter[tuple[float, float]]) -> Counter[tuple[float, float]]:
    """As many questions drawn with replacement: a multinomial draw, by one binomial for each different line."""
    remaining = total = counts.total()
    drawn: Counter[tuple[float, float]] = Counter()
    for line, count in counts.items():
        times = _binomial(random, remaining, count / total)
        if times:
            drawn[line] = times
        remaining, total = remaining - times, total - count
    return drawn


def _binomial(random: Random, n: int, share: float) -> int:
    """A binomial draw by order statistics, in log n steps (Devroye 1986, Non-Uniform Random Variate Generation, X.4.3)."""
    successes = 0
    while n and share > 0:
        if share >= 1:
            return successes + n
        middle = 1 + n // 2
        median = random.betavariate(middle, n + 1 - middle)
        if median <= share:
            successes, n, share = successes + middle, n - middle, (share - median) / (1 - median)
        else:
            n, share = middle - 1, share / median
    return successes


def _bounds_of_equal_questions(
    lines: Sequence[Mapping[tuple[float, float], int]], bounds: tuple[float, float]
) -> tuple[float, float]:
    """The mean over sources of the intervals of questions that are all alike."""
    ends = []
    for counts in lines:
        value, n = _ratio(counts), sum(count for (_, below), count in counts.items() if below)
        interval = honest_interval(value, value, value, n, bounds=bounds)
        ends.append((interval.low or 0.0, interval.high or 0.0))
    return _mean([low for low, _ in ends]), _mean([high for _, high in ends])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
