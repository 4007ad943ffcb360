"""How well a model does, and how much of that survives when the table is tilted.

    performance(scores), robustness(scores)  over configurations, macro over datasets (ToRR)
    ratio(parts)                             the same over seeds and sources      (FREB-TQA 5, macro)
    difference(one, other)                   of two such figures, about the same questions
    gap(one, other)                          of two such figures, about different questions (FREB-TQA, Table 6)
    win_rates(scores)                        who beats how many on one example   (ToRR)
    instance_correlation(human, metric)      across systems within one example   (LFTQA-Eval 2.5)

Every figure is an `Estimate` with a percentile bootstrap interval over examples.
Shares are from 0 to 1; papers print them times 100.

Sources:
  Zhou et al. (2024), FREB-TQA, section 5. Zhao et al. (2023), RobuT, section 4.1. Ashury-Tahan et al. (2025), ToRR.
  Wang et al. (2024), LFTQA-Eval, section 2.5. Efron and Tibshirani (1993), chapter 13.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from tableqa.core.translation import Message, message
from tableqa.statistics.zero_width_intervals import NARROWEST, honest_interval

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

Scores = Mapping[str, Mapping[str, Sequence[float]]]
"""{dataset: {example: [the score in each configuration]}}"""
Parts = Mapping[str, Mapping[str, tuple[float, float]]]
"""{source: {question: (what it adds above the line, what it adds below)}}"""
Method = Literal["pearson", "spearman", "kendall"]

REPLICATES = 1_000
CONFIDENCE = 0.95
NO_EXAMPLE = message("metrics.no_example", "There are no examples.")
message("metrics.nothing_before", "No original was answered correctly.")  # in stored reports only
message("metrics.division", "Division by zero.")  # in stored reports only
DIVIDES_BY_NOTHING = message("metrics.division_in", "Division by zero in {sources}.")
NOTHING_RIGHT = message("metrics.nothing_right_in", "No original was answered correctly in {sources}.")
"""Why a figure is undefined, with the names of sources."""


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval, or the reason why there is none.

    value      the figure; None with a `reason` where it is undefined
    low, high  ends of the percentile bootstrap interval over examples; None where there is no value, or where it follows
               from the definition, as that of originals compared with themselves
    n          examples that entered
    reason     beside a value: in which sources the figure is undefined, which are left out of it
    undefined  examples that could not enter: a correlation without spread, a source that divides by nothing
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None = None
    undefined: int = 0


class DifferentExamples(ValueError):
    """Before and after are not about the same examples; the message names some that are on one side only."""


def performance(
    scores: Scores,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """P: the mean score over examples and configurations within each dataset, then the mean over datasets.

    bounds: the least and most that a score can be, for examples that are all alike
    (`tableqa.statistics.zero_width_intervals`).
    """
    return _macro(scores, lambda line: math.fsum(line) / len(line), replicates, seed, bounds)


def robustness(scores: Scores, *, replicates: int = REPLICATES, seed: int = 0) -> Estimate:
    """R: one minus the mean spread, best minus worst configuration of an example, macro over datasets."""
    return _macro(scores, lambda line: 1.0 - (max(line) - min(line)), replicates, seed, (0.0, 1.0))


def win_rates(scores: Sequence[float]) -> list[float] | None:
    """For each system on one example: how many others it beats, as a share of all wins. None where all are equal."""
    wins = [sum(score > other for other in scores) for score in scores]
    whole = sum(wins)
    return [win_count / whole for win_count in wins] if whole else None


def ratio(
    parts: Parts,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    nothing: Message = DIVIDES_BY_NOTHING,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """A ratio of sums over the questions of each source, then the mean over sources (macro; FREB-TQA 5).

    `parts` holds what a question adds above and below the line; where it was asked with several seeds, means over them.
    The interval draws questions with replacement within their source. Where these are all alike it is the one that their
    number allows (`tableqa.statistics.zero_width_intervals`), with `bounds`, the least and most that the ratio can be of
    one question. Undefined where a source divides by nothing; the reason is `nothing` and the names of these sources.
    `n` counts the questions that add something below the line.
    """
    named = _filled(parts)
    n = sum(below > 0 for of in named.values() for _, below in of.values())
    value, reason = _ratio(named, nothing)
    if value is None:
        return Estimate(None, None, None, n, reason)
    low, high = _interval(_drawn([list(of.values()) for of in named.values()], replicates, seed)[0])
    if _is_narrow(low, high):
        low, high = _bounded({name: list(of.values()) for name, of in named.items()}, bounds)
    return Estimate(value, low, high, n)


def _is_narrow(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and high - low <= NARROWEST


def _bounded(
    named: Mapping[str, Sequence[tuple[float, float]]], bounds: tuple[float, float]
) -> tuple[float | None, float | None]:
    """The mean over sources of the intervals of questions that are all alike; a question with nothing below is none.

    None where a source has no interval.
    """
    lows, highs = [], []
    for pairs in named.values():
        above, below = (math.fsum(parts) for parts in zip(*pairs, strict=True))
        value, n = above / below, sum(part > 0 for _, part in pairs)
        interval = honest_interval(value, value, value, n, bounds=bounds)
        if interval.low is None or interval.high is None:
            return None, None
        lows.append(interval.low)
        highs.append(interval.high)
    return math.fsum(lows) / len(lows), math.fsum(highs) / len(highs)


def ratio_where_defined(
    parts: Parts,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    nothing: Message = DIVIDES_BY_NOTHING,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """`ratio` over the sources that do not divide by nothing; the reason names the others. Undefined where all do."""
    defined, left_out = defined_parts(parts)
    estimate = ratio(defined or parts, replicates=replicates, seed=seed, nothing=nothing, bounds=bounds)
    if not defined or not left_out:
        return estimate
    return replace(
        estimate, reason=_in_sources(nothing, left_out), undefined=sum(len(parts[name]) for name in left_out)
    )


def defined_parts(parts: Parts) -> tuple[Parts, list[str]]:
    """The sources that have something below the line, and the names of those that have questions and nothing there."""
    named = _filled(parts)
    empty = _empty(named)
    return {name: of for name, of in named.items() if name not in empty}, empty


def difference(
    first_parts: Parts,
    second_parts: Parts,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    nothing: Message = DIVIDES_BY_NOTHING,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Estimate:
    """How much larger the `ratio` of the second is than that of the first, both about the same questions.

    The bootstrap is paired: a question that is drawn is drawn for both. DifferentExamples where the questions differ.
    bounds: the least and most that the difference can be of one question, for questions that are all alike.
    """
    for name in first_parts.keys() | second_parts.keys():
        _same(first_parts.get(name, {}), second_parts.get(name, {}))
    first, second = _filled(first_parts), _filled(second_parts)
    n = sum(
        pair[1] > 0 or second[name][question][1] > 0
        for name, of in first.items()
        for question, pair in of.items()
    )
    (before, reason), (after, reason_after) = _ratio(first, nothing), _ratio(second, nothing)
    if before is None or after is None:
        return Estimate(None, None, None, n, reason or reason_after)
    lines = [
        [(*pair, *second[name][question]) for question, pair in of.items()] for name, of in first.items()
    ]
    below, above = _drawn(lines, replicates, seed)
    low, high = _interval(above - below)
    if _is_narrow(low, high):
        alike = {name: [(after - before, 1.0)] * len(of) for name, of in first.items()}
        low, high = _bounded(alike, bounds)
    return Estimate(after - before, low, high, n)


def gap(
    first_parts: Parts,
    second_parts: Parts,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    nothing: Message = DIVIDES_BY_NOTHING,
) -> Estimate:
    """How much larger the `ratio` of the first is than that of the second, which are about different questions.

    So FREB-TQA (Table 6) holds questions that compare against others. Both are drawn on their own.
    """
    first, second = _filled(first_parts), _filled(second_parts)
    n = sum(map(len, first.values())) + sum(map(len, second.values()))
    (value, reason), (against, reason_against) = _ratio(first, nothing), _ratio(second, nothing)
    if value is None or against is None:
        return Estimate(None, None, None, n, reason or reason_against)
    drawn = _drawn([list(of.values()) for of in first.values()], replicates, seed)[0]
    drawn_against = _drawn([list(of.values()) for of in second.values()], replicates, seed + 1)[0]
    common_length = min(len(drawn), len(drawn_against))
    low, high = _interval(drawn[:common_length] - drawn_against[:common_length])
    if _is_narrow(low, high):
        (low, high), (low_against, high_against) = (
            _bounded({name: list(of.values()) for name, of in side.items()}, (0.0, 1.0))
            for side in (first, second)
        )
        if low is not None and high is not None and low_against is not None and high_against is not None:
            low, high = low - high_against, high - low_against
    return Estimate(value - against, low, high, n)


def instance_correlation(
    human: Mapping[str, Mapping[str, float]],
    metric: Mapping[str, Mapping[str, float]],
    method: Method = "pearson",
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Estimate:
    """How far a metric ranks the systems as people do: a correlation across systems within one example, then the mean.

    Only systems that both scored enter. An example without spread on either side, or with fewer than two systems, has
    no correlation: it is left out and counted in `undefined`. Never pooled over examples.
    Raises ValueError for an unknown method, DifferentExamples where the examples differ.
    """
    if method not in get_args(Method):
        raise ValueError(f"method is {method!r}; it must be one of {', '.join(get_args(Method))}.")
    _same(human, metric)
    coefficients: list[float] = []
    undefined = 0
    for example in sorted(human):
        systems = sorted(human[example].keys() & metric[example].keys())
        coefficient = _correlation(
            [human[example][system] for system in systems],
            [metric[example][system] for system in systems],
            method,
        )
        if coefficient is None:
            undefined += 1
        else:
            coefficients.append(coefficient)
    if not coefficients:
        reason = "No example has two systems that both people and metric tell apart."
        return Estimate(None, None, None, 0, reason, undefined)
    low, high = _interval(_means([coefficients], replicates, seed))
    value = math.fsum(coefficients) / len(coefficients)
    ends = honest_interval(value, low, high, len(coefficients), bounds=(-1.0, 1.0))
    return Estimate(value, ends.low, ends.high, len(coefficients), undefined=undefined)


# -- underneath -------------------------------------------------------------------------------------


def _same(first: Mapping[str, object], second: Mapping[str, object]) -> None:
    if first.keys() != second.keys():
        only = sorted(first.keys() ^ second.keys())
        named = ", ".join(only[:5]) + (", ..." if len(only) > 5 else "")
        raise DifferentExamples(
            f"{len(only)} examples are on one side only: {named}. Compare the same examples."
        )


def _macro(
    scores: Scores, of_example: Any, replicates: int, seed: int, bounds: tuple[float, float]
) -> Estimate:
    datasets = [
        [of_example([float(entry) for entry in scores[name][example]]) for example in sorted(scores[name])]
        for name in sorted(scores)
        if scores[name]
    ]
    n = sum(map(len, datasets))
    if not n:
        return Estimate(None, None, None, 0, NO_EXAMPLE)
    value = math.fsum(math.fsum(entry) / len(entry) for entry in datasets) / len(datasets)
    low, high = _interval(_means(datasets, replicates, seed))
    if _is_narrow(low, high):
        pairs = {str(index): [(entry, 1.0) for entry in of] for index, of in enumerate(datasets)}
        low, high = _bounded(pairs, bounds)
    return Estimate(value, low, high, n)


def _means(datasets: Sequence[Sequence[float]], replicates: int, seed: int) -> Array:
    """The macro mean in each replicate: examples drawn with replacement within their dataset."""
    import numpy as np

    rng = np.random.default_rng(seed)
    total = np.zeros(replicates)
    for values in datasets:
        values_here = np.array(values)
        for start in range(0, replicates, 100):  # a hundred replicates at a time keep the draws small
            size = min(100, replicates - start)
            drawn = rng.integers(0, len(values), size=(size, len(values)))
            total[start : start + size] += values_here[drawn].mean(axis=1)
    return total / len(datasets)


def _filled(parts: Parts) -> dict[str, Mapping[str, tuple[float, float]]]:
    """The sources that have questions, in the order of their names."""
    return {name: parts[name] for name in sorted(parts) if parts[name]}


def _ratio(
    named: Mapping[str, Mapping[str, tuple[float, float]]], nothing: Message
) -> tuple[float | None, str]:
    """The macro ratio, or the reason why there is none."""
    if not named:
        return None, NO_EXAMPLE
    if empty := _empty(named):
        return None, _in_sources(nothing, empty)
    sums = [[math.fsum(parts) for parts in zip(*of.values(), strict=True)] for of in named.values()]
    return math.fsum(above / below for above, below in sums) / len(sums), ""


def _empty(named: Parts) -> list[str]:
    return [name for name, of in named.items() if not math.fsum(below for _, below in of.values())]


def _in_sources(nothing: Message, names: Sequence[str]) -> str:
    return nothing.format(sources=", ".join(names))


def _drawn(sources: Sequence[Sequence[tuple[float, ...]]], replicates: int, seed: int) -> list[Array]:
    """The macro ratios in each replicate, without the replicates in which a source divides by nothing.

    A question adds (above, below), or two such pairs, one after the other, for two figures of the same draw. There are few
    different lines, and drawing questions with replacement is drawing how often each of them comes: one multinomial.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    figures = len(sources[0][0]) // 2
    total = np.zeros((figures, replicates))
    for lines in sources:
        patterns, counts = np.unique(np.array(lines, dtype=float), axis=0, return_counts=True)
        drawn = rng.multinomial(len(lines), counts / len(lines), size=replicates) @ patterns
        with np.errstate(divide="ignore", invalid="ignore"):
            total += (drawn[:, 0::2] / drawn[:, 1::2]).T
    total /= len(sources)
    finite = total[:, np.isfinite(total).all(axis=0)]
    return list(finite)


def _interval(values: Array) -> tuple[float | None, float | None]:
    import numpy as np

    if not len(values):
        return None, None
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def _correlation(human: Sequence[float], metric: Sequence[float], method: Method) -> float | None:
    if len(human) < 2 or len(set(human)) < 2 or len(set(metric)) < 2:
        return None
    from scipy import stats

    compute = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[method]
    value = float(compute(human, metric).statistic)
    return None if math.isnan(value) else value
