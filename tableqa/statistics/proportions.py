"""A share that was counted, with the interval that a count of this size allows."""

from dataclasses import dataclass
from math import exp, fsum, lgamma, log, log1p, sqrt
from statistics import NormalDist

from ..core.rounding import decimals


@dataclass(frozen=True, slots=True)
class Proportion:
    """`hits` of `n`: the share (None of nothing) and the ends of its interval, from 0 to 1."""

    hits: int
    n: int
    value: float | None
    low: float | None
    high: float | None

    @property
    def percent(self) -> str:
        """In words for a table of figures: "92.5 %", or a dash where nothing was counted."""
        if self.value is None:
            return "–"
        return f"{100 * self.value:.{self._decimals[0]}f} %"

    @property
    def interval(self) -> str:
        """The interval in words: "88.0 to 95.4 %", or a dash where nothing was counted."""
        if self.low is None or self.high is None:
            return "–"
        digits = self._decimals[1]
        return f"{100 * self.low:.{digits}f} to {100 * self.high:.{digits}f} %"

    @property
    def _decimals(self) -> tuple[int, int]:
        if self.value is None or self.low is None or self.high is None:
            return 1, 1
        return decimals(100 * self.value, 100 * self.low, 100 * self.high, 1)


def proportion(hits: int, n: int, confidence: float = 0.95) -> Proportion:
    """The share of `hits` among `n` with Wilson's score interval, which stays within 0 and 1 and is not empty at the ends.

    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22(158),
    209-212. Raises ValueError where `hits` is not between 0 and `n`, or `confidence` not between 0 and 1.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no share")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence}")
    if n == 0:
        return Proportion(0, 0, None, None, None)
    low, high = wilson(hits / n, n, confidence)
    return Proportion(hits, n, hits / n, 0.0 if hits == 0 else low, 1.0 if hits == n else high)


def wilson(share: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Both ends of Wilson's score interval of a share of n, which may be an expected number; 0 to 1 of nothing.

    The function of statsmodels gives the same ends to 5e-16. It is not used here, because pages show these intervals and its
    import costs a web process 1.0 s and 150 MB. The last bits differ, and releases contain them.
    """
    if n < 1e-9:  # next to nothing says nothing, and its square may be 0
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def exact_interval(hits: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Both ends of the exact interval of `hits` of `n`, n from 1; standard library only, for the base of the library.

    Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of the
    binomial. Biometrika 26(4), 404-413.
    """
    tail = (1 - confidence) / 2
    low = 1 - _highest_share(n - hits, n, tail) if hits else 0.0
    return low, _highest_share(hits, n, tail) if hits < n else 1.0


def _highest_share(hits: int, n: int, tail: float) -> float:
    """The share of which at most `hits` of `n` are drawn with the probability `tail`; hits below n."""

    def at_most(share: float) -> float:
        logs = (
            lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(share) + (n - k) * log1p(-share)
            for k in range(hits + 1)
        )
        return fsum(map(exp, logs))

    low, high = hits / n, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if at_most(middle) > tail else (low, middle)
    return low
