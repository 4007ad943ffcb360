"""How well a model does, and how much of that survives when the table is tilted.

    performance(scores), robustness(scores)  over configurations, macro over datasets (ToRR)
    ratio(parts)                             the same over seeds and sources      (FREB-TQA 5, macro)
    difference(one, other)                   of two such figures, about the same questions
    gap(one, other)                          of two such figures, about different questions (FREB-TQA, Table 6)
    win_rates(scores)                        who beats how many on one example   (ToRR)
    instance_correlation(human, metric)      across systems within one example   (LFTQA-Eval 2.5)

Every figure is an `Estimate` with an interval over examples: that of the Bayesian bootstrap with one example more, half
of it at either bound of the figure.
Shares are from 0 to 1; papers print them times 100.

Sources:
  Zhou et al. (2024), FREB-TQA, section 5. Zhao et al. (2023), RobuT, section 4.1. Ashury-Tahan et al. (2025), ToRR.
  Wang et al. (2024), LFTQA-Eval, section 2.5. Efron and Tibshirani (1993), chapter 13. Rubin, D. B. (1981). The Bayesian
  bootstrap. Annals of Statistics 9(1), 130-134.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from tableqa.core.translation import Message, message
from tableqa.statistics.bootstrap import Bootstrap

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

Scores = Mapping[str, Mapping[str, Sequence[float]]]
"""{dataset: {example: [the score in each configuration]}}"""
Parts = Mapping[str, Mapping[str, tuple[float, float]]]
"""{source: {question: (what it adds above the line, what it adds below)}}"""
Method = Literal["pearson", "spearman", "kendall"]

REPLICATES = 1_000
AT_ONCE = 1 << 21
"""Weights that are drawn at once: 16 MB."""
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
    low, high  ends of the interval over examples; None where there is no value, or where it follows
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

    bounds: the least and most that a score can be.
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
    The interval is over the questions of each source. bounds: the least and most that the ratio can be of one question, for
    the pseudo-question: of a share the interval is by the prior of Jeffreys (1946). Undefined where a source divides by
    nothing; the reason is `nothing` and the names of these sources.
    `n` counts the questions that add something below the line.
    """
    named = _filled(parts)
    n = sum(below > 0 for of in named.values() for _, below in of.values())
    value, reason = _ratio(named, nothing)
    if value is None:
        return Estimate(None, None, None, n, reason)
    lines = [list(of.values()) for of in named.values()]
    low, high = _interval(_drawn(lines, _at(bounds), replicates, seed)[0], value)
    return Estimate(value, low, high, n)


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
    bounds: the least and most that the difference can be of one question.
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
    pseudo = [(max(0.0, -bound), 1.0, max(0.0, bound), 1.0) for bound in bounds]
    below, above = _drawn(lines, pseudo, replicates, seed)
    low, high = _interval(above - below, after - before)
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
    drawn, drawn_against = (
        _drawn([list(of.values()) for of in side.values()], _at((0.0, 1.0)), replicates, side_seed)[0]
        for side, side_seed in ((first, seed), (second, seed + 1))
    )
    low, high = _interval(drawn - drawn_against, value - against)
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
    value = math.fsum(coefficients) / len(coefficients)
    low, high = _interval(_drawn(_as_lines([coefficients]), _at((-1.0, 1.0)), replicates, seed)[0], value)
    return Estimate(value, low, high, len(coefficients), undefined=undefined)


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
    low, high = _interval(_drawn(_as_lines(datasets), _at(bounds), replicates, seed)[0], value)
    return Estimate(value, low, high, n)


def _as_lines(datasets: Sequence[Sequence[float]]) -> list[list[tuple[float, ...]]]:
    """Means as ratios: each example adds 1 below the line."""
    return [[(entry, 1.0) for entry in of] for of in datasets]


def _at(bounds: tuple[float, float]) -> list[tuple[float, ...]]:
    """The lines of a pseudo-question at both bounds of a figure."""
    return [(bound, 1.0) for bound in bounds]


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


def _drawn(
    sources: Sequence[Sequence[tuple[float, ...]]],
    pseudo: Sequence[tuple[float, ...]],
    replicates: int,
    seed: int,
) -> list[Array]:
    """The macro ratios in each replicate of the Bayesian bootstrap over the questions of each source and a pseudo-question.

    A question adds (above, below), or two such pairs, one after the other, for two figures of the same draw. There are few
    different lines; each is drawn with the weight of its questions. pseudo: the lines of the one question that is added.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    total = np.zeros((len(pseudo[0]) // 2, replicates))
    for lines in sources:
        patterns, counts = np.unique(np.array(lines, dtype=float), axis=0, return_counts=True)
        weights = np.append(counts, np.full(len(pseudo), 1 / len(pseudo)))
        patterns = np.append(patterns, pseudo, axis=0)
        at_once = max(1, AT_ONCE // len(weights))
        for start in range(0, replicates, at_once):
            stop = min(start + at_once, replicates)
            drawn = rng.standard_gamma(weights, (stop - start, len(weights))) @ patterns
            total[:, start:stop] += (drawn[:, 0::2] / drawn[:, 1::2]).T
    return list(total / len(sources))


def _interval(values: Array, value: float) -> tuple[float | None, float | None]:
    """The ends of the interval of a figure with this value."""
    return Bootstrap(len(values)).ends(values, value)[:2]


def _correlation(human: Sequence[float], metric: Sequence[float], method: Method) -> float | None:
    if len(human) < 2 or len(set(human)) < 2 or len(set(metric)) < 2:
        return None
    from scipy import stats

    compute = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[method]
    value = float(compute(human, metric).statistic)
    return None if math.isnan(value) else value
