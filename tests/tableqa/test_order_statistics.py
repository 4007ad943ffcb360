"""The interval of a median: the tabulated ranks, and none of too few values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from tableqa.statistics.median_intervals import EXACT, FEWEST, Median, median_interval


@pytest.mark.parametrize(
    ("n", "low", "high"), [(6, 1, 6), (10, 2, 9), (20, 6, 15), (30, 10, 21), (100, 40, 61)]
)
def test_the_ranks_are_those_of_the_sign_test(n: int, low: int, high: int) -> None:
    found = median_interval([float(value) for value in range(n, 0, -1)])
    assert (found.low, found.high) == (low, high)


@given(st.integers(FEWEST, EXACT), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_the_ranks_are_those_of_scipy(n: int, confidence: float) -> None:
    rank = int(binom.ppf((1 - confidence) / 2, n, 0.5))
    found = median_interval([float(value) for value in range(1, n + 1)], confidence)
    assert (found.low, found.high) == ((rank, n + 1 - rank) if rank else (None, None))


def test_of_fewer_than_six_values_there_is_no_interval() -> None:
    assert median_interval([3.0, 1.0, 2.0]) == Median(2.0)
    assert median_interval([]) == Median(None)


def test_an_interval_of_equal_values_in_the_middle_reaches_to_the_next_other_value() -> None:
    assert median_interval([12.0] * 9 + [13.0]) == Median(12.0, 12.0, 13.0)
    assert median_interval([11.0] + [12.0] * 20 + [13.0]) == Median(12.0, 11.0, 13.0)


@pytest.mark.parametrize("n", [6, 20, 600])
def test_of_equal_values_there_is_no_interval(n: int) -> None:
    assert median_interval([12.0] * n) == Median(12.0)


@pytest.mark.parametrize("n", [501, 1_000, 4_321, 100_000])
def test_beyond_the_exact_sum_an_interval_is_at_most_a_rank_wider_than_by_scipy(n: int) -> None:
    found = median_interval([float(value) for value in range(1, n + 1)])
    assert found.low is not None
    assert int(binom.ppf(0.025, n, 0.5)) - found.low in (0, 1)


def test_beyond_the_exact_sum_the_ranks_go_on_as_before() -> None:
    exact, normal = (median_interval([float(value) for value in range(n)]) for n in (500, 501))
    assert exact.low is not None
    assert normal.low is not None
    assert abs(exact.low - normal.low) <= 1
