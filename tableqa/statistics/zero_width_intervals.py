"""Intervals where a bootstrap has none: of units that are all alike every resample gives the same value.

    honest_interval(1.0, 1.0, 1.0, 3, bounds=(0, 1))   # 3 of 3: 0.438 to 1
    honest_interval(1.0, 1.0, 1.0, 3)                  # no interval, and the reason

A percentile interval of zero width says that the value is known exactly, from three units as from three thousand. Two cases:

  a mean of a bounded value of each unit (a share, percent agreement, a change in accuracy): at most a share u of all units
  differs from what every unit here showed, where u is the upper end of Wilson's interval of 0 of n. Those could be at
  either bound, so the mean is between (1 - u) value + u least and (1 - u) value + u most. Of a share of all or of
  nothing this is Wilson's interval itself.
  a coefficient corrected for chance (kappa, alpha, AC1): chance is estimated from the same units, and no interval for
  this case is established for any number of raters. There is none, and the result says why.

Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22(158), 209-212.
Hanley, J. A. and Lippman-Hand, A. (1983). If nothing goes wrong, is everything all right? JAMA 249(13), 1743-1745 (a bound
  of what was never seen, from n).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.translation import message
from .proportions import proportion

ALL_AGREE = message("zero_width.all_agree", "All ratings agree.")
ALL_ALIKE = message("zero_width.all_alike", "All units are alike, so resampling them shows no variation.")
NARROWEST = 1e-9
"""Two ends closer than this are one: what is left of rounding."""


@dataclass(frozen=True)
class Interval:
    """The ends of an interval, or the reason why there is none; neither where none was computed at all."""

    low: float | None
    high: float | None
    reason: str = ""


def honest_interval(
    value: float | None,
    low: float | None,
    high: float | None,
    n: int,
    *,
    bounds: tuple[float, float] | None = None,
) -> Interval:
    """The interval of a figure over n units, where a bootstrap gave `low` and `high`, without one of zero width.

    bounds: least and most that a unit can contribute, where the value is a mean over units; None for a coefficient
    corrected for chance. An interval that has a width stays as it is.
    """
    if value is None or low is None or high is None or high - low > NARROWEST:
        return Interval(low, high)
    if bounds is None or not n:
        return Interval(None, None, ALL_AGREE if abs(value - 1) < NARROWEST else ALL_ALIKE)
    least, most = bounds
    share = proportion(0, n).high or 0.0
    return Interval(value - share * (value - least), value + share * (most - value))


def interval_of(figure: Mapping[str, Any], statistic: str) -> Interval:
    """The interval of a figure of agreement that is stored as JSON: value, low, high, units."""
    bounds = (0.0, 1.0) if statistic == "percent_agreement" else None
    n = figure.get("items", figure["units"])
    return honest_interval(figure["value"], figure["low"], figure["high"], n, bounds=bounds)
