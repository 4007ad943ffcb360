"""Intervals of units that are all alike: as wide as their number allows, or none with its reason; never of zero width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.statistics.proportions import proportion
from tableqa.statistics.zero_width_intervals import ALL_AGREE, ALL_ALIKE, Interval, honest_interval


@pytest.mark.parametrize("value", [0.0, 1.0])
@given(n=st.integers(1, 5000))
def test_a_share_of_all_or_nothing_gets_wilsons_interval(value: float, n: int) -> None:
    wilson = proportion(round(value * n), n)
    found = honest_interval(value, value, value, n, bounds=(0, 1))
    assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high))


@given(value=st.floats(-1, 1), n=st.integers(1, 5000))
def test_a_mean_of_bounded_values_stays_within_its_bounds_and_has_a_width(value: float, n: int) -> None:
    found = honest_interval(value, value, value, n, bounds=(-1, 1))
    assert found.low is not None
    assert found.high is not None
    assert -1 - 1e-9 <= found.low <= value <= found.high <= 1 + 1e-9
    assert found.high - found.low > 1e-4


def test_more_units_make_it_narrower() -> None:
    few, many = (honest_interval(1.0, 1.0, 1.0, n, bounds=(0, 1)).low for n in (3, 300))
    assert few == pytest.approx(0.438, abs=0.001)
    assert many == pytest.approx(0.987, abs=0.001)


def test_a_coefficient_corrected_for_chance_has_none_and_says_why() -> None:
    assert honest_interval(1.0, 1.0, 1.0, 50) == Interval(None, None, ALL_AGREE)
    assert honest_interval(-0.5, -0.5, -0.5, 50) == Interval(None, None, ALL_ALIKE)


@pytest.mark.parametrize(("low", "high"), [(0.2, 0.6), (None, None)])
def test_an_interval_with_a_width_and_none_at_all_stay_as_they_are(
    low: float | None, high: float | None
) -> None:
    assert honest_interval(0.4, low, high, 10, bounds=(0, 1)) == Interval(low, high)
