"""Agreement of rankings: published values, an independent package, and what the figure must not depend on."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.agreement.rankings import (
    RANK_MEASURES,
    Ranking,
    from_patterns,
    influence,
    over_clusters,
    pattern_of,
    rank_agreement,
    second_opinion,
)


def ranking(ranks: str) -> list[int]:
    """The options 0, 1, … in the order of their ranks, as tables print them: "2 1 3" is [1, 0, 2]."""
    places = [int(rank) for rank in ranks.split()]
    return sorted(range(len(places)), key=lambda option: places[option])


EXECUTIVES = [ranking("1 6 3 2 5 4"), ranking("1 5 6 4 2 3"), ranking("6 3 2 5 4 1")]
"""Three executives rank six applicants (Siegel 1956, table 9.3)."""


def test_the_published_concordance_of_three_executives() -> None:
    found = rank_agreement([EXECUTIVES], "kendall_w")

    assert found.value == pytest.approx(0.16, abs=0.005), "Siegel 1956, page 232"
    assert found.value == pytest.approx(12 * 25.5 / (9 * (216 - 6))), "s = 25.5"


def test_the_published_mean_correlation_of_three_executives() -> None:
    found = rank_agreement([EXECUTIVES], "mean_spearman")

    assert found.value == pytest.approx((0.314 - 0.543 - 0.543) / 3, abs=0.001), "Siegel 1956, page 229"


def test_equal_rankings_agree_and_opposite_ones_do_not() -> None:
    assert rank_agreement([["abc", "abc", "abc"]], "kendall_w").value == 1
    assert rank_agreement([["abc", "abc"]], "mean_spearman").value == 1
    assert rank_agreement([["abc", "cba"]], "mean_spearman").value == -1
    assert rank_agreement([["abc", "cba"]], "kendall_w").value == 0


def test_items_may_have_different_options_and_numbers_of_rankings() -> None:
    units: list[list[Ranking | None]] = [["ab", "ab", "ba"], [["x", "y", "z"], ["x", "z", "y"], None]]

    found = rank_agreement(units, "mean_spearman", replicates=200)

    assert (found.units, found.raters, found.ratings) == (2, 3, 5)
    assert found.value == pytest.approx((3 * (-1 / 3) + 2 * 0.5) / 5)
    assert found.low is not None


def test_items_with_one_ranking_or_one_option_do_not_enter() -> None:
    found = rank_agreement([["ab", None], ["a", "a"]], "kendall_w")

    assert (found.value, found.units) == (None, 0)
    assert found.reason


def test_rankings_of_different_options_are_refused() -> None:
    with pytest.raises(ValueError, match="same options"):
        rank_agreement([["ab", "ac"]], "kendall_w")
    with pytest.raises(ValueError, match="kendall_w, mean_spearman"):
        rank_agreement([["ab", "ab"]], "kendall")  # type: ignore[arg-type]


UNITS = st.lists(
    st.integers(2, 5).flatmap(
        lambda options: st.lists(
            st.none() | st.permutations(list(range(options))).map(tuple), min_size=3, max_size=3
        )
    ),
    min_size=1,
    max_size=8,
)


@given(units=UNITS, measure=st.sampled_from(RANK_MEASURES))
def test_another_package_gives_the_same_value(
    units: list[list[tuple[int, ...] | None]], measure: str
) -> None:
    found = rank_agreement(units, measure)  # type: ignore[arg-type]
    other = second_opinion(units, measure)

    assert (found.value is None) == (other is None)
    if found.value is not None and other is not None:
        assert found.value == pytest.approx(other, abs=1e-9)


@given(units=UNITS, measure=st.sampled_from(RANK_MEASURES))
def test_neither_order_of_items_nor_of_raters_changes_a_figure(
    units: list[list[tuple[int, ...] | None]], measure: str
) -> None:
    turned = [unit[::-1] for unit in reversed(units)]

    assert rank_agreement(units, measure, replicates=50) == rank_agreement(turned, measure, replicates=50)  # type: ignore[arg-type]


def test_clusters_and_influence_rest_on_the_same_items() -> None:
    patterns = Counter(pattern_of(unit) for unit in [["ab", "ab"], ["ab", "ba"], ["ba", "ba"]])
    found = from_patterns(patterns, "mean_spearman", raters=2, replicates=100)

    clustered = over_clusters(
        found,
        {(pattern_of(["ab", "ab"]), pattern_of(["ab", "ba"])): 1, (pattern_of(["ba", "ba"]),): 1},
        "mean_spearman",
    )
    moved, counts = influence(patterns, "mean_spearman")

    assert clustered.value == found.value == pytest.approx(1 / 3)
    assert counts.sum() == 3
    assert (moved * counts).sum() == pytest.approx(0)
