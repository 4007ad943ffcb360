"""How often each label was chosen, and how far people agree on it, with intervals over units.

    of_patterns({("yes", "yes"): 40, ("yes", "no"): 6}, order=("yes", "no"))

Specific agreement on a label: of the pairs of one rating with this label and another rating of the same unit, the share
in which the other has the label, too. With n_ik ratings of unit i with label k, and n_i in all, it is the sum of
n_ik (n_ik - 1) over the sum of n_ik (n_i - 1). It shows a label that people disagree on behind a good mean.

  Cicchetti, D. V. and Feinstein, A. R. (1990). High agreement but low kappa: II. Resolving the paradoxes. Journal of
    Clinical Epidemiology 43(6), 551-558 (positive and negative agreement of two raters).
  Fleiss, J. L., Levin, B. and Paik, M. C. (2003). Statistical Methods for Rates and Proportions, 3rd edition, chapter 18.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tableqa.agreement.pseudo_units import posterior_counts, pseudo_units
from tableqa.statistics.bootstrap import Bootstrap

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Share:
    """A share with the ends of its interval, and the units it is of; None where it is undefined."""

    value: float | None
    low: float | None
    high: float | None
    units: int


@dataclass(frozen=True)
class LabelFigures:
    """The results for one label.

    ratings   how often it was chosen
    share     of all ratings
    specific  agreement on it, over units with two ratings of which one has it
    """

    label: Hashable
    ratings: int
    share: Share
    specific: Share


def of_patterns(
    patterns: Mapping[Any, int],
    *,
    order: Sequence[Hashable] = (),
    bootstrap: Bootstrap | None = None,
) -> list[LabelFigures]:
    """Both figures of each label that was used, those of `order` first. patterns: the ratings of a unit, a tuple, and how
    many units have them. Units are resampled; where they are all alike the interval is that of `zero_width_intervals`."""
    import numpy as np

    bootstrap = bootstrap or Bootstrap()
    patterns = _without_order(patterns)
    used = {label for pattern in patterns for label in pattern}
    labels = [label for label in order if label in used]
    labels += sorted(used - set(labels), key=_rank)
    ordered = sorted(patterns, key=repr)  # its own order, so that a seed draws the same
    counts = np.array([patterns[key] for key in ordered], dtype=np.int64)
    if not labels or not counts.sum():
        return []
    smoothed, drawn = _posterior(ordered, counts, labels, bootstrap)
    chosen = np.array([[pattern.count(label) for label in labels] for pattern in smoothed], dtype=float)
    rated = np.array([[len(pattern)] for pattern in smoothed], dtype=float)
    agreeing, possible = chosen * (chosen - 1), chosen * (rated - 1)
    shares = _ratios(drawn @ chosen, drawn @ np.broadcast_to(rated, chosen.shape))
    specifics = _ratios(drawn @ agreeing, drawn @ possible)
    chosen, rated, agreeing, possible = (part[: len(counts)] for part in (chosen, rated, agreeing, possible))
    label_figures = []
    for index, label in enumerate(labels):
        ratings = int(counts @ chosen[:, index])
        paired = int(counts @ (possible[:, index] > 0))
        share = _share(ratings, float(counts @ rated[:, 0]), shares[:, index], int(counts.sum()), bootstrap)
        both = float(counts @ agreeing[:, index]), float(counts @ possible[:, index])
        label_figures.append(
            LabelFigures(label, ratings, share, _share(*both, specifics[:, index], paired, bootstrap))
        )
    return label_figures


def pair_shares(
    patterns: Mapping[Any, int], labels: Sequence[Hashable], bootstrap: Bootstrap | None = None
) -> dict[tuple[Hashable, Hashable], Share]:
    """How often two ratings of a unit have these two labels, of all pairs of ratings of a unit; by (label, same or later).

    patterns: as for `of_patterns`. Units are resampled, because pairs of one unit are not independent. `units` of a share
    are those with two ratings.
    """
    import numpy as np

    bootstrap = bootstrap or Bootstrap()
    both = [
        (labels[first], labels[second])
        for first in range(len(labels))
        for second in range(first, len(labels))
    ]
    patterns = _without_order(patterns)
    ordered = sorted((pattern for pattern in patterns if len(pattern) > 1), key=repr)
    counts = np.array([patterns[pattern] for pattern in ordered], dtype=np.int64)
    units = int(counts.sum())
    if not units:
        return {pair: Share(None, None, None, 0) for pair in both}
    smoothed, drawn = _posterior(ordered, counts, labels, bootstrap)
    met = np.array([[_pairs(pattern, *pair) for pair in both] for pattern in smoothed], dtype=float)
    every = np.array([[len(pattern) * (len(pattern) - 1) / 2] for pattern in smoothed])
    ratios = _ratios(drawn @ met, drawn @ np.broadcast_to(every, met.shape))
    total = float(counts @ every[: len(counts), 0])
    return {
        pair: _share(float(counts @ met[: len(counts), index]), total, ratios[:, index], units, bootstrap)
        for index, pair in enumerate(both)
    }


def _rank(label: Hashable) -> tuple[str, str]:
    return str(type(label)), str(label)


def _without_order(patterns: Mapping[Any, int]) -> Counter[tuple[Hashable, ...]]:
    """The patterns with their ratings sorted: an interval must not tell who gave which rating."""
    counts = Counter[tuple[Hashable, ...]]()
    for pattern, count in patterns.items():
        counts[tuple(sorted(pattern, key=_rank))] += count
    return counts


def _posterior(
    ordered: Sequence[Any], counts: np.ndarray[Any, Any], labels: Sequence[Hashable], bootstrap: Bootstrap
) -> tuple[list[Any], np.ndarray[Any, Any]]:
    """The patterns and those of `pseudo_units`, and the replicates of how many units have each."""
    import numpy as np

    # Where all chose one label, others could have been chosen.
    categories = [*labels, None] if len(labels) == 1 else labels
    rows, weights = pseudo_units(len(categories), sorted({*map(len, ordered)} - {0}), bootstrap.seed)
    smoothed = [*ordered, *(tuple(categories[index] for index in row if index >= 0) for row in rows)]
    weights = np.append(counts, weights)
    draws = posterior_counts(weights, int(counts.sum()), bootstrap.replicates, bootstrap)
    return smoothed, np.concatenate(list(draws))


def _pairs(pattern: Sequence[Hashable], first: Hashable, second: Hashable) -> float:
    """The pairs of ratings in a pattern with these two labels."""
    times = pattern.count(first)
    return times * (times - 1) / 2 if first == second else times * pattern.count(second)


def _ratios(above: np.ndarray[Any, Any], below: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)


def _share(
    above: float, below: float, drawn: np.ndarray[Any, Any], units: int, bootstrap: Bootstrap
) -> Share:
    if not below:
        return Share(None, None, None, units)
    low, high, _ = bootstrap.ends(drawn, above / below)
    return Share(above / below, low, high, units)
