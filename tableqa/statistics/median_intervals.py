"""The median with the interval that its order statistics give: exact for any distribution, of independent values.

Conover, W. J. (1999). Practical Nonparametric Statistics, 3rd edition, section 3.2. The number of values below the median
is binomial with probability one half, so two of the sorted values hold it with at least the wanted confidence. Of fewer
than six values no two do with 95 %. Where these two are equal, the interval reaches to the next pair that is not: its
confidence is higher. Of equal values there is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from statistics import NormalDist, median

FEWEST = 6
"""Values without which there is no interval of 95 %."""
EXACT = 500
"""Values up to which the binomial distribution is summed; beyond it is as good as normal.

Up to here the ranks are those of scipy's `binom.ppf`, whose import costs a web process 0.7 s and 90 MB. Beyond, exact ranks
are equal or one larger: the interval here is never the narrower one.
"""


@dataclass(frozen=True)
class Median:
    """The median, None of nothing, with the ends of its interval, None of too few or of equal values."""

    value: float | None
    low: float | None = None
    high: float | None = None


def median_interval(values: Sequence[float], confidence: float = 0.95) -> Median:
    """The median of these values with its interval."""
    if not values:
        return Median(None)
    ordered = sorted(values)
    rank = _rank(len(ordered), (1 - confidence) / 2)
    while rank >= 1 and ordered[rank - 1] == ordered[-rank]:
        rank -= 1
    if rank < 1:
        return Median(median(ordered))
    return Median(median(ordered), ordered[rank - 1], ordered[-rank])


def _rank(n: int, tail: float) -> int:
    """The largest r so that fewer than r of n values are below the median with a probability of at most `tail`."""
    if n > EXACT:
        return int(n / 2 + NormalDist().inv_cdf(tail) * n**0.5 / 2)
    below, rank = 0.0, 0
    while (below := below + comb(n, rank) / 2**n) <= tail:
        rank += 1
    return rank
