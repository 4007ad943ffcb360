"""Shares and Wilson's interval: against statsmodels, and what has to hold of any such interval."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from tableqa.statistics.proportions import Proportion, proportion, wilson

counts = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_the_interval_is_that_of_statsmodels(count: tuple[int, int], confidence: float) -> None:
    hits, n = count
    found = proportion(hits, n, confidence)
    low, high = proportion_confint(hits, n, alpha=1 - confidence, method="wilson")
    assert found.low == pytest.approx(low, abs=1e-14)
    assert found.high == pytest.approx(high, abs=1e-14)


def test_printed_intervals_are_those_of_statsmodels() -> None:
    for n in range(1, 61):
        for hits in range(n + 1):
            low, high = proportion_confint(hits, n, method="wilson")
            assert proportion(hits, n).interval == Proportion(hits, n, hits / n, low, high).interval


@given(counts)
def test_the_share_lies_in_its_interval_and_the_interval_between_nothing_and_all(
    count: tuple[int, int],
) -> None:
    found = proportion(*count)
    assert found.low is not None
    assert found.value is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


@given(counts)
def test_hits_and_misses_mirror_each_other(count: tuple[int, int]) -> None:
    hits, n = count
    found, missed = proportion(hits, n), proportion(n - hits, n)
    assert found.low is not None
    assert missed.high is not None
    assert found.low == pytest.approx(1 - missed.high)


def test_of_nothing_there_is_no_share() -> None:
    found = proportion(0, 0)
    assert (found.value, found.low, found.high) == (None, None, None)
    assert (found.percent, found.interval) == ("–", "–")


def test_figures_are_written_with_one_decimal() -> None:
    found = proportion(185, 200)
    assert found.percent == "92.5 %"
    assert found.interval == "88.0 to 95.4 %"


@pytest.mark.parametrize(("hits", "n", "confidence"), [(2, 1, 0.95), (-1, 3, 0.95), (1, 2, 0.0), (1, 2, 1.0)])
def test_what_is_no_share_is_refused(hits: int, n: int, confidence: float) -> None:
    with pytest.raises(ValueError, match=r"share|confidence"):
        proportion(hits, n, confidence)


@given(st.floats(0, 1), st.floats(0, 1e-3))
def test_an_expected_number_of_next_to_nothing_says_nothing(share: float, n: float) -> None:
    low, high = wilson(share, n)
    assert 0 <= low < 0.01
    assert 0.99 < high <= 1
