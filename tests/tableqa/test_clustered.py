"""Intervals of shares and medians whose values come in clusters: wider than of as many independent values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import sem, t

from tableqa.statistics.clustered_intervals import Mean, _student, mean_over, median_over, proportion_over
from tableqa.statistics.median_intervals import median_interval
from tableqa.statistics.proportions import proportion

CLUSTERS = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=20
)


@given(CLUSTERS)
def test_a_share_of_clusters_is_that_of_all_values_with_no_narrower_an_interval(
    clusters: list[tuple[int, int]],
) -> None:
    whole = proportion(sum(hits for hits, _ in clusters), sum(n for _, n in clusters))

    found = proportion_over(clusters)

    assert (found.hits, found.n, found.value) == (whole.hits, whole.n, whole.value)
    for end in (found.low, found.high, whole.low, whole.high):
        assert end is not None
        assert 0 <= end <= 1
    assert (found.low or 0) <= (whole.low or 0) < (whole.high or 1) <= (found.high or 1)


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_of_clusters_of_one_value_the_interval_is_wilsons(hits: list[bool]) -> None:
    assert proportion_over([(int(hit), 1) for hit in hits]) == proportion(sum(hits), len(hits))


def test_clusters_that_agree_with_themselves_count_once() -> None:
    few = proportion_over([(20, 20), (0, 20), (20, 20), (0, 20)])
    single = proportion_over([(40, 40)])

    assert few.low == pytest.approx(0.0)
    assert few.high == pytest.approx(1.0)
    assert single.low == pytest.approx(proportion(1, 1).low)
    assert single.high == 1.0


def test_of_nothing_there_is_no_share() -> None:
    assert proportion_over([]) == proportion(0, 0)
    assert median_over([]).value is None


def test_a_median_over_clusters_reaches_as_far_as_the_clusters_differ() -> None:
    slow, quick = (
        [float(40 + number % 3) for number in range(30)],
        [float(9 + number % 3) for number in range(30)],
    )

    found, independent = median_over([slow, quick]), median_interval(slow + quick)

    assert found.value == independent.value
    assert (found.low, found.high) == (10.0, 41.0)


@given(st.lists(st.lists(st.floats(1, 100), min_size=1, max_size=8), min_size=1, max_size=8))
def test_a_median_over_clusters_has_no_narrower_an_interval(clusters: list[list[float]]) -> None:
    independent = median_interval([value for cluster in clusters for value in cluster])

    found = median_over(clusters)

    assert found.value == independent.value
    if independent.low is None or independent.high is None:
        assert (found.low, found.high) == (None, None)
    else:
        assert found.low is not None
        assert found.high is not None
        assert found.low <= independent.low < independent.high <= found.high


def test_of_clusters_of_one_value_the_interval_is_that_of_a_mean() -> None:
    values = [10.0, 12.0, 17.0, 9.0]

    found = mean_over((value, 1) for value in values)

    low, high = t.interval(0.95, 3, loc=12.0, scale=sem(values))
    assert (found.value, found.low, found.high) == pytest.approx((12.0, low, high))


def test_the_ends_are_students_with_any_degrees_of_freedom() -> None:
    for degrees in (*range(1, 200), 1_000, 50_000):
        assert _student(degrees) == pytest.approx(t.ppf(0.975, degrees), rel=2e-8), degrees


def test_a_mean_over_few_clusters_that_differ_has_a_wide_interval() -> None:
    found, independent = mean_over([(20.0, 10), (40.0, 10)]), mean_over([(2.0, 1), (4.0, 1)] * 10)

    assert found.value == independent.value == 3.0
    assert found.low == 0.0
    assert (independent.low or 0) > 2
    assert (found.high or 0) > 9 > (independent.high or 9)


def test_a_mean_of_one_cluster_or_of_equal_values_has_no_interval() -> None:
    assert mean_over([]) == mean_over([(0.0, 0)]) == Mean(None)
    assert mean_over([(30.0, 10), (0.0, 0)]) == Mean(3.0)
    assert mean_over([(30.0, 10), (6.0, 2)]) == Mean(3.0)
