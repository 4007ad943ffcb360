"""The same coefficients from the packages `krippendorff`, `statsmodels` and `nltk`, for checking a release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from tableqa.agreement.measures import SET_MEASURES
from tableqa.agreement.rating_patterns import as_rows, check_request, in_rank_order, is_missing, sort_key

if TYPE_CHECKING:
    from tableqa.agreement.rating_patterns import Array, Ratings


def second_opinion(ratings: Ratings, measure: str, *, order: Sequence[object] | None = None) -> float | None:
    """The value alone, computed by the packages `krippendorff` and `statsmodels`, for checking a release.

    It shares with `agreement` what counts as missing and how categories are ordered, and none of the arithmetic. None
    where the value is undefined, or where no package has the measure (percent agreement; AC1; Fleiss' kappa of unequal
    numbers of ratings). Slow, and large in memory, beside `agreement`. Raises ValueError as `agreement` does, and
    ModuleNotFoundError for alpha without `krippendorff`.
    """
    import math

    check_request(measure, order)
    units = [[value for value in row if not is_missing(value)] for row in as_rows(ratings)]
    pairable = [unit for unit in units if len(unit) > 1]
    labels = sorted({value for unit in pairable for value in unit}, key=sort_key)
    ranked, values = in_rank_order(labels, measure, order)
    if len(labels) < 2 or measure in ("percent_agreement", "gwet_ac1"):
        return None
    position = {labels[index]: rank for rank, index in enumerate(ranked)}
    if measure == "fleiss_kappa":
        from statsmodels.stats import inter_rater

        if len({len(unit) for unit in units if unit}) > 1:
            return None
        chosen, _ = inter_rater.aggregate_raters([[position[value] for value in unit] for unit in pairable])
        return float(inter_rater.fleiss_kappa(chosen, method="fleiss"))
    import krippendorff  # optional, because of its licence (GPL-3.0-or-later)

    table = [[0] * len(labels) for _ in pairable]
    for row, unit in zip(table, pairable, strict=True):
        for value in unit:
            row[position[value]] += 1
    level: Any = measure.removeprefix("krippendorff_alpha_")
    alpha = krippendorff.alpha(
        value_counts=table,
        value_domain=list(range(len(labels))) if values is None else values,
        level_of_measurement=_nltk_distance(labels, level) if measure in SET_MEASURES else level,
    )
    return float(alpha) if math.isfinite(alpha) else None


def _nltk_distance(labels: list[object], distance: str) -> Callable[..., Array]:
    """nltk's distance of sets as the krippendorff package takes one: between arrays of positions of labels."""
    import numpy as np
    from nltk.metrics.distance import jaccard_distance, masi_distance

    between = {"jaccard": jaccard_distance, "masi": masi_distance}[distance]

    def apart(first: int, second: int) -> float:
        some, others = cast("frozenset[object]", labels[first]), cast("frozenset[object]", labels[second])
        return float(between(set(some), set(others))) if some or others else 0.0

    def metric(v1: Array, v2: Array, *_: object, i1: Array, i2: Array, **__: object) -> Array:
        return cast("Array", np.vectorize(apart, otypes=[float])(i1, i2))

    return metric
