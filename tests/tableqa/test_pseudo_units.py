"""Intervals of agreement hold as often as they say, also where few units have the rarer labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks import coverage
from tableqa.agreement.cell_sets import DistanceSums
from tableqa.agreement.coefficients import agreement, from_patterns, over_clusters
from tableqa.agreement.pairs import cohen_of_counts
from tableqa.agreement.pseudo_units import AGREEING, BY_CHANCE, pseudo_units
from tableqa.core.release_rules import under
from tableqa.statistics.bootstrap import Bootstrap

PERCENTILES = 11
"""Rules of releases whose intervals are percentiles of a bootstrap."""


def test_pseudo_units_weigh_one_unit_half_of_them_agreeing() -> None:
    rows, weights = pseudo_units(3, [2, 3], seed=0)

    assert weights.sum() == pytest.approx(1)
    agreeing = weights == weights[0]
    assert weights[agreeing].sum() == pytest.approx(AGREEING) == BY_CHANCE
    for row in rows[agreeing]:
        assert len(set(row[row >= 0])) == 1
    assert set(rows[agreeing][:, 0]) == {0, 1, 2}
    assert set((rows >= 0).sum(axis=1)) == {2, 3}


@pytest.mark.parametrize(
    "measure", ["percent_agreement", "fleiss_kappa", "krippendorff_alpha_ordinal", "gwet_ac1"]
)
def test_units_that_all_agree_have_an_interval_that_narrows_with_their_number(measure: str) -> None:
    few, many = (agreement([[1, 1], [2, 2]] * n, measure) for n in (3, 300))

    assert few.low is not None
    assert many.low is not None
    assert few.low < many.low < 1
    assert few.high == 1


@pytest.mark.parametrize("measure", ["fleiss_kappa", "krippendorff_alpha_nominal", "gwet_ac1"])
def test_of_many_units_the_interval_is_that_of_the_bootstrap(measure: str) -> None:
    ratings = coverage.labels(np.random.default_rng(5), 4000, 3, coverage.SHARES["50/30/15/5"], missing=0.1)
    now = agreement(ratings, measure)
    with under(PERCENTILES):
        before = agreement(ratings, measure)

    assert now.value == before.value
    width = before.high - before.low  # type: ignore[operator]
    assert now.low == pytest.approx(before.low, abs=width / 10)
    assert now.high == pytest.approx(before.high, abs=width / 10)


def test_the_interval_is_the_same_whatever_the_order_of_units_and_raters() -> None:
    ratings = coverage.labels(np.random.default_rng(1), 30, 3, coverage.SHARES["90/7/3"], missing=0.2)

    assert agreement(ratings, "fleiss_kappa") == agreement(ratings[::-1, ::-1], "fleiss_kappa")


def test_clusters_of_one_unit_have_nearly_the_interval_of_units() -> None:
    patterns = {("a", "a"): 40, ("b", "b"): 8, ("a", "b"): 6}
    coefficient = from_patterns(list(patterns), list(patterns.values()), "fleiss_kappa", raters=2)
    clusters = {(pattern,): count for pattern, count in patterns.items()}

    clustered = over_clusters(coefficient, clusters, "fleiss_kappa")

    assert clustered.low == pytest.approx(coefficient.low, abs=0.05)
    assert clustered.high == pytest.approx(coefficient.high, abs=0.05)


@pytest.mark.parametrize(
    "figure",
    [
        lambda: cohen_of_counts({("a", "a"): 3, ("b", "b"): 2}),
        lambda: DistanceSums([0.0], [0.5], [5]).agreement(
            measure="cell_sets_masi", note="", no_choice="", ratings=10, raters=2, bootstrap=Bootstrap()
        ),
    ],
)
def test_kappa_of_two_and_sets_of_cells_have_an_interval_where_all_agree(figure: Callable[[], Any]) -> None:
    result = figure()

    assert result.value == 1
    assert 0 < result.low < result.high <= 1


@pytest.mark.parametrize("cell", coverage.SMALL, ids=str)
def test_an_interval_holds_the_value_of_the_population_in_92_of_100_studies(cell: coverage.Cell) -> None:
    result = coverage.measure(cell, studies=120)

    assert result.holds, result
