"""Agreement by label: how far people agree on each, how often it was chosen, and which they confuse."""

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

from annotation.quality.rating_tallies import REPLICATES, SEED, RatingTally, rounded
from tableqa.agreement.label_figures import LabelFigures, Share
from tableqa.statistics.bootstrap import Bootstrap

FEW_LABELS = 12
"""A table of labels has at most this many."""


def labels(tally: RatingTally) -> list[dict[str, Any]] | None:
    """How far people agree on each label; None as for `confusion`."""
    return _of_labels(tally, lambda figure: {"specific": _interval_data(figure.specific)})


def distribution(tally: RatingTally) -> list[dict[str, Any]] | None:
    """How often each label was chosen; None as for `confusion`."""
    return _of_labels(
        tally, lambda figure: {"ratings": figure.ratings, "share": _interval_data(figure.share)}
    )


def _of_labels(
    tally: RatingTally, data: Callable[[LabelFigures], dict[str, Any]]
) -> list[dict[str, Any]] | None:
    if tally.measure.level not in ("nominal", "ordinal"):
        return None
    from tableqa.agreement.label_figures import of_patterns

    figures = of_patterns(tally.patterns, order=tally.measure.order, bootstrap=Bootstrap(REPLICATES, SEED))
    if not 1 < len(figures) <= FEW_LABELS:
        return None
    return [{"label": in_words(figure.label), **data(figure)} for figure in figures]


def _interval_data(share: Share) -> dict[str, Any]:
    """A share as JSON: value, low, high, n."""
    values = {"value": share.value, "low": share.low, "high": share.high}
    return {**{name: rounded(value) for name, value in values.items()}, "n": share.units}


def confusion(tally: RatingTally) -> dict[str, Any] | None:
    """How often two people gave an item these two labels: counts of pairs, the same above and below the diagonal.

    `shares` of all pairs, of each label with itself and with each later one, have intervals over items. None where the
    values are no labels, or more than can be read in a table.
    """
    if tally.measure.level not in ("nominal", "ordinal"):
        return None
    met: Counter[tuple[Any, Any]] = Counter()
    for pattern, count in tally.patterns.items():
        for first, other in itertools.permutations(pattern, 2):
            met[first, other] += count
    labels = in_order({label for pair in met for label in pair}, tally.measure.order)
    if not 1 < len(labels) <= FEW_LABELS:
        return None
    from tableqa.agreement.label_figures import pair_shares

    shares = pair_shares(tally.patterns, labels, Bootstrap(REPLICATES, SEED))
    return {
        "labels": [in_words(label) for label in labels],
        "counts": [[met[first, other] for other in labels] for first in labels],
        "shares": list(map(_interval_data, shares.values())),
    }


def in_order(labels: Collection[Any], order: Sequence[Any]) -> list[Any]:
    """Labels in the order of their measure, those that it does not name behind the others."""
    named = [label for label in order if label in labels]
    return named + sorted(set(labels) - set(named), key=lambda label: (str(type(label)), str(label)))


def in_words(label: Any) -> str:
    """A label for a table."""
    return {True: "yes", False: "no"}[label] if isinstance(label, bool) else str(label)
