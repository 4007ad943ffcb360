"""How many more labelled items bring the interval of an agreement below a wanted width, from the items labelled so far.

    for_ratings(ratings, "fleiss_kappa", target=0.05).sentence
    for_patterns(patterns, counts, "krippendorff_alpha_ordinal", raters=5, target=0.05)
    units_needed(agreement, *influence, target=0.05)          # sets of cells, edits: agreement and influence from there

The half-width of an interval over units shrinks as one over the square root of their number, so n units with half-width h
need n (h / wanted)^2 in all. That assumes that further items are like these. Two numbers are given, because h is itself an
estimate:

    likely   as above: about as likely enough as not
    safe     with the spread of the units at the upper end of what the data allow (its 90 % bound, from units drawn with
             replacement) and 5 % on top for the wavering of an interval of 1,000 replicates: enough in nine of ten cases
             where units are many, somewhat less often where they are few

Where the data cannot carry such a statement, `reason` says why and both are None.

Source:
  Efron, B. and Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapters 6 and 11 (the spread of an estimate and
    its influence values).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, Unpack

from tableqa.agreement.coefficients import agreement, from_patterns, influence, influence_of_patterns
from tableqa.agreement.measures import Agreement
from tableqa.core.translation import joined, message, number
from tableqa.statistics.bootstrap import BootstrapOptions

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

FEWEST_UNITS = 20
"""Below this number of units a percentile interval is too narrow itself."""
FEWEST_TELLING = 8
"""Units that have to carry the spread: where two of a hundred disagree, the number in a thousand is unknown."""
NOT_YET = message("needed.not_yet", "Not enough data yet to estimate how many more items are needed.")
REACHED = message("needed.reached", "The confidence interval is already within ± {wanted}.")
NEARLY_REACHED = message(
    "needed.nearly_reached", "The confidence interval is just within ± {wanted} and may widen again."
)
ABOUT = {
    True: message(
        "needed.about.one",
        "About {likely} more labelled item would bring the confidence interval within ± {wanted}.",
    ),
    False: message(
        "needed.about.several",
        "About {likely} more labelled items would bring the confidence interval within ± {wanted}.",
    ),
}
"""By whether it is one."""
ABOUT_AND_SAFE = {
    True: message(
        "needed.about_and_safe.one",
        "About {likely} more labelled item would bring the confidence interval within ± {wanted}. "
        "Plan {safe} to be safe, assuming similar items.",
    ),
    False: message(
        "needed.about_and_safe.several",
        "About {likely} more labelled items would bring the confidence interval within ± {wanted}. "
        "Plan {safe} to be safe, assuming similar items.",
    ),
}
TOO_FEW = {
    True: message(
        "needed.too_few.one", "Only {units} item has two ratings so far. At least {fewest} are needed."
    ),
    False: message(
        "needed.too_few.several", "Only {units} items have two ratings so far. At least {fewest} are needed."
    ),
}
NO_INTERVAL = message("needed.no_interval", "The measure has no confidence interval yet.")
OFTEN_UNDEFINED = message(
    "needed.often_undefined",
    "Nearly all ratings are in one category: the measure depends on a single item.",
)
ALIKE = message("needed.alike", "All items have the same result, so their spread is unknown.")
FEW_PLACES = message(
    "needed.few_places", "Too few items vary: the confidence interval depends on {telling} of {units} items."
)
MARGIN = 1.05
"""On the half-width: an interval of 1,000 replicates wavers by some three per cent."""
BOUND = 0.9
DRAWS = 1000


@dataclass(frozen=True, slots=True)
class Basis:
    """What a statement about further units rests on, for any width: all that has to be kept of the units.

    units, half_width   as in RequiredUnits
    spread              by which factor the units' true spread may well exceed the one that was seen
    reason              why nothing can be said; None where something can
    """

    units: int
    half_width: float | None
    spread: float = 1.0
    reason: str | None = None

    def needed(self, target: float) -> "RequiredUnits":
        """For this half-width. Raises ValueError where it is not above 0."""
        if not target > 0:
            raise ValueError(f"The wanted half-width is {target}; it is a number above 0, as in 0.05.")
        if self.reason is not None or self.half_width is None:
            return RequiredUnits(target, self.units, self.half_width, reason=self.reason)
        likely = _further(self.units, self.half_width / target)
        safe = _further(self.units, self.half_width * self.spread * MARGIN / target)
        return RequiredUnits(target, self.units, self.half_width, likely, max(likely, safe))


@dataclass(frozen=True, slots=True)
class RequiredUnits:
    """What is still to be labelled so that `half_width` comes below `wanted`.

    units        units with at least two ratings so far
    half_width   of the interval now; None where there is none
    likely, safe further units, 0 where the wanted width is reached; both None where `reason` says why
    """

    wanted: float
    units: int
    half_width: float | None
    likely: int | None = None
    safe: int | None = None
    reason: str | None = None

    @property
    def sentence(self) -> str:
        """The finding in words, for a page."""
        if self.reason is not None or self.likely is None or self.safe is None:
            return joined([NOT_YET, self.reason or ""])
        if not self.safe:
            return REACHED.format(wanted=number(f"{self.wanted:g}"))
        if not self.likely:
            return NEARLY_REACHED.format(wanted=number(f"{self.wanted:g}"))
        messages = ABOUT if self.likely == self.safe else ABOUT_AND_SAFE
        return messages[self.likely == 1].format(
            likely=number(f"{self.likely:,}"),
            safe=number(f"{self.safe:,}"),
            wanted=number(f"{self.wanted:g}"),
        )


def for_ratings(
    ratings: Any,
    measure: str,
    target: float,
    *,
    order: Sequence[object] | None = None,
    **resampling: Unpack[BootstrapOptions],
) -> RequiredUnits:
    """From units x raters, as `tableqa.agreement.coefficients.agreement` takes them. Raises ValueError as it does."""
    coefficient = agreement(ratings, measure, order=order, **resampling)
    return units_needed(coefficient, *influence(ratings, measure, order=order), target=target)


def for_patterns(
    patterns: Sequence[Sequence[object]],
    counts: "Sequence[int] | Array",
    measure: str,
    *,
    raters: int,
    target: float,
    order: Sequence[object] | None = None,
    **resampling: Unpack[BootstrapOptions],
) -> RequiredUnits:
    """From counted patterns, as `tableqa.agreement.coefficients.from_patterns` takes them. Raises ValueError as it does."""
    coefficient = from_patterns(patterns, counts, measure, raters=raters, order=order, **resampling)
    return units_needed(
        coefficient, *influence_of_patterns(patterns, counts, measure, order=order), target=target
    )


def units_needed(coefficient: Agreement, moved: "Array", counts: "Array", *, target: float) -> RequiredUnits:
    """How many more units an agreement needs, from itself and the influence of its units.

    moved, counts: as `tableqa.agreement.coefficients.influence`, `tableqa.agreement.cell_sets.influence` or
    `tableqa.agreement.edits.influence` give them. target: half of the width that the interval shall have, above 0.
    Raises ValueError where it is not.
    """
    return basis(coefficient, moved, counts).needed(target)


def basis(coefficient: Agreement, moved: "Array", counts: "Array") -> Basis:
    """What statements about any wanted half-width rest on, from what `units_needed` takes."""
    low, high = coefficient.low, coefficient.high
    half = None if low is None or high is None else (high - low) / 2
    reason = _reason(coefficient, half, moved, counts)
    if reason is not None:
        return Basis(coefficient.units, half, reason=reason)
    return Basis(coefficient.units, half, _upper_spread(moved, counts))


def _further(units: int, ratio: float) -> int:
    return max(0, ceil(units * ratio * ratio) - units)


def _reason(coefficient: Agreement, half: float | None, moved: "Array", counts: "Array") -> str | None:
    if coefficient.reason is not None:
        return coefficient.reason
    if coefficient.units < FEWEST_UNITS:
        return TOO_FEW[coefficient.units == 1].format(units=coefficient.units, fewest=FEWEST_UNITS)
    if half is None:
        return NO_INTERVAL
    if coefficient.left_out > 0.05 * coefficient.replicates or not len(moved):
        return OFTEN_UNDEFINED
    if half == 0:
        return ALIKE
    centred = moved - (moved * counts).sum() / counts.sum()
    fourth = float((centred**4 * counts).sum())
    if not fourth:
        return ALIKE
    telling = float((centred**2 * counts).sum() ** 2 / fourth)
    if telling < FEWEST_TELLING:
        return FEW_PLACES.format(telling=max(1, round(telling)), units=coefficient.units)
    return None


def _upper_spread(moved: "Array", counts: "Array") -> float:
    """By which factor the units' true standard deviation may well exceed the one that was seen."""
    import numpy as np

    generator = np.random.default_rng(0)
    unit_count = int(counts.sum())
    mean = (moved * counts).sum() / unit_count
    seen = ((moved - mean) ** 2 * counts).sum() / unit_count
    share = counts / unit_count
    variances = []
    step = max(1, (1 << 21) // len(counts))
    for done in range(0, DRAWS, step):
        drawn = generator.multinomial(unit_count, share, min(step, DRAWS - done)) / unit_count
        variances.append(drawn @ (moved - mean) ** 2 - (drawn @ (moved - mean)) ** 2)
    low = float(np.quantile(np.concatenate(variances), 1 - BOUND))
    return float(np.sqrt(seen / low)) if low > 0 else 1.0
