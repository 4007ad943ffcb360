"""Metrics: hand-computed figures, the papers' own examples, and what must hold whatever the data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from tableqa.statistics.robustness import (
    NO_EXAMPLE,
    NOTHING_RIGHT,
    DifferentExamples,
    Parts,
    difference,
    instance_correlation,
    performance,
    ratio,
    robustness,
    win_rates,
)

BEFORE = {"a": True, "b": True, "c": False, "d": False, "e": True}
AFTER = {"a": True, "b": False, "c": True, "d": False, "e": False}

rights = st.dictionaries(st.text(min_size=1, max_size=3), st.tuples(st.booleans(), st.booleans()), min_size=1)


def right(answers: dict[str, bool]) -> Parts:
    return {"wtq": {id: (is_right, 1) for id, is_right in answers.items()}}


def turned(before: dict[str, bool], after: dict[str, bool]) -> Parts:
    return right({id: before[id] != after[id] for id in before})


def still_right(before: dict[str, bool], after: dict[str, bool]) -> Parts:
    return {"wtq": {id: (before[id] and after[id], before[id]) for id in before}}


def test_figures_that_can_be_counted_on_one_hand() -> None:
    assert ratio(right(BEFORE)).value == pytest.approx(0.6)
    assert difference(right(BEFORE), right(AFTER)).value == pytest.approx(-0.2)
    assert ratio(turned(BEFORE, AFTER)).value == pytest.approx(0.6)
    assert ratio(still_right(BEFORE, AFTER)).value == pytest.approx(1 / 3)


def test_pairs_are_made_by_id_and_not_by_position() -> None:
    other_order = right(dict(reversed(AFTER.items())))
    assert difference(right(BEFORE), other_order) == difference(right(BEFORE), right(AFTER))


def test_other_examples_are_an_error_that_names_them() -> None:
    with pytest.raises(DifferentExamples, match=r"2 examples.*e, f"):
        difference(right(BEFORE), right({**{id: AFTER[id] for id in "abcd"}, "f": True}))


@given(rights)
def test_a_difference_is_never_larger_than_the_variation(pairs: dict[str, tuple[bool, bool]]) -> None:
    before = {id: one for id, (one, _) in pairs.items()}
    after = {id: other for id, (_, other) in pairs.items()}
    change, variation = difference(right(before), right(after)), ratio(turned(before, after))
    assert change.value is not None
    assert variation.value is not None
    assert abs(change.value) <= variation.value + 1e-12
    for figure in (change, variation, ratio(right(before))):
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low <= figure.high
    assert difference(right(before), right(before)).value == 0


def test_without_a_right_answer_before_there_is_no_robustness() -> None:
    estimate = ratio(still_right({"a": False}, {"a": True}), nothing=NOTHING_RIGHT)
    assert estimate.value is None
    assert estimate.reason == "No original was answered correctly in wtq."
    assert ratio({}).reason == NO_EXAMPLE


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
    pair = right(BEFORE), right(AFTER)
    assert difference(*pair, seed=3) == difference(*pair, seed=3)
    one, other = difference(*pair, seed=3), difference(*pair, seed=4)
    assert one.value == other.value


def jeffreys(hits: int, n: int) -> float:
    """The low end of the interval of a share by the prior of Jeffreys."""
    return float(beta.ppf(0.025, hits + 0.5, n - hits + 0.5))


def test_questions_that_are_all_alike_get_the_interval_that_their_number_allows() -> None:
    few = {"one": {str(number): (1.0, 1.0) for number in range(3)}}
    found = ratio(few)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(jeffreys(3, 3), abs=0.03)
    unchanged = ratio({"one": {str(number): (0.0, 1.0) for number in range(3)}}, bounds=(-1.0, 1.0))
    assert unchanged.low == pytest.approx(-(unchanged.high or 0), abs=0.05)
    assert unchanged.high == pytest.approx(0.43, abs=0.05)


def test_only_questions_with_something_below_the_line_count_for_that_interval() -> None:
    parts = {"one": {"a": (1.0, 1.0), "b": (1.0, 1.0), "c": (0.0, 0.0), "d": (0.0, 0.0)}}
    assert ratio(parts).low == pytest.approx(jeffreys(2, 2), abs=0.03)


def test_two_models_with_the_same_answers_do_not_differ_for_certain() -> None:
    parts = {"one": {str(number): (1.0, 1.0) for number in range(3)}}
    found = difference(parts, parts)
    assert found.value == 0.0
    assert found.low is not None
    assert found.high is not None
    assert found.low < -0.3 < 0.3 < found.high


def test_scores_that_are_all_alike_have_an_interval_of_their_number() -> None:
    best = {"films": {f"{number}": [1.0, 1.0] for number in range(5)}}

    for found in (performance(best), robustness(best)):
        assert (found.value, found.high, found.n) == (1, 1, 5)
        assert found.low == pytest.approx(jeffreys(5, 5), abs=0.05)
    of_two = performance({"films": {"1": [-1.0], "2": [-1.0]}}, bounds=(-1.0, 1.0))
    assert of_two.high == pytest.approx(-1 + 2 * (1 - jeffreys(2, 2)), abs=0.1)
