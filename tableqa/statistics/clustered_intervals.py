"""Shares, medians and means of values that come in clusters, such as responses of a person, with intervals over clusters.

    proportion_over([(3, 4), (0, 4)])     # 3 of 4 and 0 of 4
    median_over([[12.0, 14.5], [40.0]])
    mean_over([(26.5, 2), (40.0, 1)])     # sums of two values and of one

Values of one cluster are not independent: an interval that takes them so is too narrow. Whole clusters are resampled, and
the interval reaches at least as far as that of independent values: a bootstrap of few clusters is too narrow, too.

  Efron, B. and Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapter 13.
  Cochran, W. G. (1977). Sampling Techniques, 3rd edition, section 6.4 (means).
  Field, C. A. and Welsh, A. H. (2007). Bootstrapping clustered data. JRSS B 69(3), 369-390.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from tableqa.statistics.bootstrap import Bootstrap
from tableqa.statistics.median_intervals import Median, median_interval
from tableqa.statistics.proportions import Proportion, proportion
from tableqa.statistics.zero_width_intervals import NARROWEST, honest_interval

if TYPE_CHECKING:
    import numpy as np

AT_ONCE = 1 << 21
"""Weights of values that are held at once."""


def proportion_over(clusters: Iterable[tuple[int, int]], bootstrap: Bootstrap | None = None) -> Proportion:
    """The share of all values that are hits. clusters: hits and values of each; those without a value do not count.

    Of clusters of one value each, the interval is Wilson's.
    """
    import numpy as np

    alike = Counter((hits, n) for hits, n in clusters if n)
    ordered = sorted(alike)
    whole = proportion(
        sum(hits * alike[hits, n] for hits, n in ordered), sum(n * alike[hits, n] for hits, n in ordered)
    )
    if whole.value is None or whole.low is None or whole.high is None or all(n == 1 for _, n in ordered):
        return whole
    bootstrap = bootstrap or Bootstrap()
    counts = np.array([alike[cluster] for cluster in ordered])
    total = int(counts.sum())
    rng = np.random.default_rng(bootstrap.seed)
    drawn = rng.multinomial(total, counts / total, size=bootstrap.replicates) @ np.array(ordered)
    low, high, _ = bootstrap.ends(drawn[:, 0] / drawn[:, 1])
    ends = honest_interval(whole.value, low, high, total, bounds=(0.0, 1.0))
    return Proportion(
        whole.hits,
        whole.n,
        whole.value,
        whole.low if ends.low is None else min(whole.low, max(0.0, ends.low)),
        whole.high if ends.high is None else max(whole.high, min(1.0, ends.high)),
    )


def median_over(clusters: Sequence[Sequence[float]], bootstrap: Bootstrap | None = None) -> Median:
    """The median of all values. There is no interval where `median_intervals` has none: of too few and of equal values."""
    import numpy as np

    clusters = [cluster for cluster in clusters if cluster]
    whole = median_interval([value for cluster in clusters for value in cluster])
    if whole.low is None or whole.high is None or len(clusters) < 2:
        return whole
    bootstrap = bootstrap or Bootstrap()
    values = np.concatenate([np.asarray(cluster, float) for cluster in clusters])
    owners = np.repeat(np.arange(len(clusters)), [len(cluster) for cluster in clusters])
    order = np.argsort(values, kind="stable")
    rng = np.random.default_rng(bootstrap.seed)
    shares = np.full(len(clusters), 1 / len(clusters))
    step = max(1, AT_ONCE // len(values))
    medians = [
        _medians(
            values[order],
            rng.multinomial(len(clusters), shares, size=min(step, bootstrap.replicates - done))[
                :, owners[order]
            ],
        )
        for done in range(0, bootstrap.replicates, step)
    ]
    low, high, _ = bootstrap.ends(np.concatenate(medians))
    if low is None or high is None:
        return whole
    return Median(whole.value, min(whole.low, low), max(whole.high, high))


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean, None of nothing, with the ends of its interval, None of one cluster and of clusters of equal means."""

    value: float | None
    low: float | None = None
    high: float | None = None


def mean_over(clusters: Iterable[tuple[float, int]]) -> Mean:
    """The mean of all values. clusters: sum (0 or more) and number of values of each; those without either do not count.

    A cluster with a sum and no values raises the mean: of time for each submission, say, where a person submitted nothing.

    The interval is that of a ratio of sums over clusters, by linearisation and with Student's t; `low` is never below 0. Of
    clusters of one value each it is the usual one of a mean.
    """
    clusters = [(total, n) for total, n in clusters if n or total]
    cluster_count, size = len(clusters), sum(n for _, n in clusters)
    if not size:
        return Mean(None)
    value = fsum(total for total, _ in clusters) / size
    if cluster_count < 2:
        return Mean(value)
    squares = fsum((total - value * n) ** 2 for total, n in clusters)
    half = _student(cluster_count - 1) * sqrt(squares * cluster_count / (cluster_count - 1)) / size
    if half <= NARROWEST:
        return Mean(value)
    return Mean(value, max(0.0, value - half), value + half)


def _student(degrees: int) -> float:
    """The 0.975 quantile of Student's t for 1 or more degrees of freedom; within 2e-8 of it.

    From 31 on by its expansion (Abramowitz and Stegun 1964, 26.7.5): scipy costs a web process 2 s and 83 MB.
    """
    if degrees <= len(_QUANTILES):
        return _QUANTILES[degrees - 1]
    x = NormalDist().inv_cdf(0.975)
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(term / degrees**power for power, term in enumerate(terms, 1))


_QUANTILES = (
    12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135,
    2.262157163, 2.228138852, 2.200985160, 2.178812830, 2.160368656, 2.144786688, 2.131449546, 2.119905299,
    2.109815578, 2.100922040, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.068657610, 2.063898562,
    2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642, 2.042272456,
)  # fmt: skip
"""Of 1, 2, ... degrees of freedom."""


def _medians(values: np.ndarray[Any, Any], weights: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The median of the sorted values in each row of weights: how often each value was drawn."""
    doubled = 2 * weights.cumsum(axis=1)
    total = doubled[:, -1:] // 2
    lower, upper = (doubled >= total).argmax(axis=1), (doubled > total).argmax(axis=1)
    middle: np.ndarray[Any, Any] = (values[lower] + values[upper]) / 2
    return middle
