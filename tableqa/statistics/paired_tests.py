"""An exact test of two models on the same questions, and the correction for several such tests."""

from collections.abc import Sequence
from math import comb


def sign_test(better: int, worse: int) -> float:
    """The two-sided probability of a split at least as uneven, if both are as likely; 1 of nothing.

    Of questions that one model answers and the other does not, this is McNemar's test in its exact form.
    McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
    Psychometrika 12(2), 153-157.
    """
    n = better + worse
    return min(1.0, 2 * sum(comb(n, k) for k in range(min(better, worse) + 1)) / 2**n)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values corrected for their number, in the same order.

    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6(2), 65-70.
    """
    corrected, highest = [0.0] * len(p_values), 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        corrected[at] = highest
    return corrected
