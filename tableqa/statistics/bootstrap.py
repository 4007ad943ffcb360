"""Percentile bootstrap intervals of figures over units. (Efron and Tibshirani 1993, chapter 13)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    import numpy as np


class BootstrapOptions(TypedDict, total=False):
    """The fields of `Bootstrap` as keyword arguments of the functions that compute a figure."""

    replicates: int
    seed: int
    confidence: float


@dataclass(frozen=True)
class Bootstrap:
    """How an interval is drawn: the number of replicates (0: no interval), the seed and the confidence.

    Raises ValueError for a negative number and for a confidence that is not between 0 and 1.
    """

    replicates: int = 1000
    seed: int = 0
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if self.replicates < 0:
            raise ValueError(f"replicates is {self.replicates}; it must be 0 (no interval) or more.")
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence is {self.confidence}; it must be between 0 and 1, as in 0.95.")

    def ends(
        self, values: np.ndarray[Any, Any], including: float | None = None
    ) -> tuple[float | None, float | None, int]:
        """Both ends of the interval of the replicates' values, and how many replicates are undefined (NaN or absent).

        including: a value that the interval reaches in any case, as that of a share of all or nothing does.
        """
        import numpy as np

        defined = values[~np.isnan(values)]
        left_out = self.replicates - len(defined)
        if not len(defined):
            return None, None, left_out
        tail = (1 - self.confidence) / 2
        low, high = map(float, np.quantile(defined, [tail, 1 - tail]))
        if including is not None:
            low, high = min(low, including), max(high, including)
        return low, high, left_out
