"""Metrics: hand-computed figures, the papers' own examples, and what must hold whatever the data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.metrics import (
    DifferentExamples,
    emd,
    exact_match,
    instance_correlation,
    performance,
    robustness,
    robustness_accuracy,
    variation_percentage,
    win_rates,
)

BEFORE = {"a": True, "b": True, "c": False, "d": False, "e": True}
AFTER = {"a": True, "b": False, "c": True, "d": False, "e": False}

rights = st.dictionaries(st.text(min_size=1, max_size=3), st.tuples(st.booleans(), st.booleans()), min_size=1)


def test_figures_that_can_be_counted_on_one_hand() -> None:
    assert exact_match(BEFORE).value == pytest.approx(0.6)
    assert emd(BEFORE, AFTER).value == pytest.approx(-0.2)
    assert variation_percentage(BEFORE, AFTER).value == pytest.approx(0.6)
    assert robustness_accuracy(BEFORE, AFTER).value == pytest.approx(1 / 3)


def test_pairs_are_made_by_id_and_not_by_position() -> None:
    turned = dict(reversed(AFTER.items()))
    assert emd(BEFORE, turned) == emd(BEFORE, AFTER)
    assert variation_percentage(BEFORE, turned) == variation_percentage(BEFORE, AFTER)


def test_other_examples_are_an_error_that_names_them() -> None:
    with pytest.raises(DifferentExamples, match=r"2 examples.*e, f"):
        emd(BEFORE, {**{id: AFTER[id] for id in "abcd"}, "f": True})


@given(rights)
def test_a_difference_is_never_larger_than_the_variation(pairs: dict[str, tuple[bool, bool]]) -> None:
    before = {id: one for id, (one, _) in pairs.items()}
    after = {id: other for id, (_, other) in pairs.items()}
    difference, variation = emd(before, after), variation_percentage(before, after)
    assert difference.value is not None
    assert variation.value is not None
    assert abs(difference.value) <= variation.value + 1e-12
    for figure in (difference, variation, exact_match(before)):
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low <= figure.high
    assert emd(before, before).value == 0


def test_without_a_right_answer_before_there_is_no_robustness() -> None:
    found = robustness_accuracy({"a": False}, {"a": True})
    assert found.value is None
    assert found.reason is not None
    assert "No original" in found.reason
    assert exact_match({}).reason == "There are no examples."


def test_performance_and_robustness_are_macro_means() -> None:
    scores = {"wtq": {"1": [1.0, 0.0], "2": [1.0, 1.0]}, "tat": {"3": [0.5, 0.5]}}
    assert performance(scores).value == pytest.approx((0.75 + 0.5) / 2)
    assert robustness(scores).value == pytest.approx((0.5 + 1.0) / 2)


def test_win_rates_as_the_paper_counts_them() -> None:
    assert win_rates([1, 1, 1, 0, 0, 0, 0]) == pytest.approx([1 / 3] * 3 + [0] * 4)
    assert win_rates([3, 2, 1]) == pytest.approx([2 / 3, 1 / 3, 0])
    assert win_rates([1, 1]) is None


def test_correlation_is_taken_within_an_example_and_never_pooled() -> None:
    human: dict[str, dict[str, float]] = {
        "1": {"x": 1, "y": 2, "z": 3},
        "2": {"x": 5, "y": 4, "z": 3},
        "3": {"x": 2, "y": 2, "z": 2},
    }
    metric: dict[str, dict[str, float]] = {
        "1": {"x": 0.1, "y": 0.2, "z": 0.3},
        "2": {"x": 0.9, "y": 0.8, "z": 0.1},
        "3": {"x": 1, "y": 2, "z": 3},
    }
    found = instance_correlation(human, metric, method="kendall")
    assert found.value == pytest.approx(1.0)
    assert (found.n, found.undefined) == (2, 1)
    nothing = instance_correlation({"3": human["3"]}, {"3": metric["3"]})
    assert nothing.value is None
    assert nothing.undefined == 1
    with pytest.raises(ValueError, match="method"):
        instance_correlation(human, metric, method="euclid")  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_interval() -> None:
    assert emd(BEFORE, AFTER, seed=3) == emd(BEFORE, AFTER, seed=3)
    one, other = emd(BEFORE, AFTER, seed=3), emd(BEFORE, AFTER, seed=4)
    assert one.value == other.value
