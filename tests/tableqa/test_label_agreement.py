"""Shares of labels and agreement on each: by the definition, and with intervals that have a width."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.agreement.label_figures import of_patterns, pair_shares

UNITS = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(tuple), min_size=1, max_size=30)


def test_positive_and_negative_agreement_of_two_raters() -> None:
    # Cicchetti and Feinstein 1990: 2a / (2a + b + c) and 2d / (2d + b + c), with a = 40, d = 4, b + c = 6.
    yes, no = of_patterns({("yes", "yes"): 40, ("yes", "no"): 6, ("no", "no"): 4}, order=("yes", "no"))
    assert yes.specific.value == pytest.approx(80 / 86)
    assert no.specific.value == pytest.approx(8 / 14)
    assert (yes.specific.units, no.specific.units) == (46, 10)
    assert (yes.ratings, yes.share.value) == (86, 0.86)


@given(UNITS)
def test_specific_agreement_is_the_share_of_pairs(units: list[tuple[str, ...]]) -> None:
    pairs = [pair for unit in units for pair in permutations(unit, 2)]
    for one in of_patterns(Counter(units)):
        others = [other for first, other in pairs if first == one.label]
        expected = others.count(str(one.label)) / len(others) if others else None
        assert one.specific.value == pytest.approx(expected)


@given(UNITS)
def test_shares_add_up_and_every_interval_holds_its_value_and_has_a_width(
    units: list[tuple[str, ...]],
) -> None:
    found = of_patterns(Counter(units))
    assert sum(one.share.value or 0 for one in found) == pytest.approx(1)
    for one in found:
        for share in (one.share, one.specific):
            if share.value is not None and share.low is not None and share.high is not None:
                assert share.low < share.high


def test_the_order_of_units_does_not_matter() -> None:
    patterns = {("a", "b"): 3, ("b", "b"): 4, ("a", "a"): 5}
    assert of_patterns(patterns) == of_patterns(dict(reversed(patterns.items())))


def test_without_ratings_there_is_nothing() -> None:
    assert of_patterns({}) == []


@given(UNITS)
def test_shares_of_pairs_are_those_of_all_pairs_with_intervals_over_units(
    units: list[tuple[str, ...]],
) -> None:
    pairs: Counter[tuple[Hashable, ...]] = Counter(
        tuple(sorted(pair)) for unit in units for pair in combinations(unit, 2)
    )
    paired = sum(len(unit) > 1 for unit in units)

    found = pair_shares(Counter(units), "abc")

    assert list(found) == [("a", "a"), ("a", "b"), ("a", "c"), ("b", "b"), ("b", "c"), ("c", "c")]
    for pair, share in found.items():
        assert share.value == (pytest.approx(pairs[pair] / pairs.total()) if paired else None)
        assert share.units == paired
        if share.value is not None and share.low is not None and share.high is not None:
            assert share.low < share.high


@given(UNITS)
def test_intervals_are_the_same_whatever_the_order_of_raters(units: list[tuple[str, ...]]) -> None:
    patterns, turned = Counter(units), Counter(unit[::-1] for unit in units)

    assert of_patterns(patterns) == of_patterns(turned)
    assert pair_shares(patterns, "abc") == pair_shares(turned, "abc")


def test_pairs_of_one_unit_are_not_independent() -> None:
    few, many = (pair_shares({("a",) * n: 5, ("b",) * n: 5}, "ab")["a", "a"] for n in (2, 8))

    assert (few.value, few.low, few.high) == pytest.approx((many.value, many.low, many.high), abs=0.03)
