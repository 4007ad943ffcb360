"""Accuracy, Emd, VP and R-ACC of pairs: a reply to an instance beside the reply to what it is compared with.

    parts_of(pairs, "emd")   what each question adds, for `tableqa.statistics.robustness`
    figures_of(pairs)        the figures with intervals, of the standard library alone

Shares are from 0 to 1. Figures are means over sources (FREB-TQA 5); R-ACC over the sources that have a right answer before.
Intervals are those of the Bayesian bootstrap over the questions of each source and one pseudo-question, half of it at
either bound of the figure (Rubin 1981; of a share this is the interval by the prior of Jeffreys 1946).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean, quantiles

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
            question: (fmean([above(*pair) for pair in seeds]), fmean([below(*pair) for pair in seeds]))
            for question, seeds in questions.items()
        }
        for source, questions in pairs.items()
    }


def figures_of(pairs: Pairs, *, replicates: int = 1_000, seed: int = 0) -> dict[str, PairedFigure]:
    """Every figure of `ABOVE`, with its interval."""
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
    value = fmean([_ratio(counts) for counts in lines])
    random = Random(seed)
    weights = [_with_pseudo_question(counts, -1.0 if figure == "emd" else 0.0) for counts in lines]
    values = sorted(
        fmean(
            [_ratio({line: random.gammavariate(weight, 1) for line, weight in of.items()}) for of in weights]
        )
        for _ in range(replicates)
    )
    low, *_, high = quantiles(values, n=40, method="inclusive")
    return PairedFigure(value, min(low, value), max(high, value), n)


def _ratio(counts: Mapping[tuple[float, float], float]) -> float:
    above, below = (math.fsum(line[side] * count for line, count in counts.items()) for side in (0, 1))
    return above / below


def _with_pseudo_question(
    counts: Mapping[tuple[float, float], int], least: float
) -> dict[tuple[float, float], float]:
    """The counts and one question more, half of it at the least and half at the most that a question can add."""
    weights: dict[tuple[float, float], float] = dict(counts)
    for bound in (least, 1.0):
        weights[bound, 1.0] = weights.get((bound, 1.0), 0) + 0.5
    return weights
