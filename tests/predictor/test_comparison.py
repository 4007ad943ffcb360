"""Figures of several trained models: intervals, paired differences, and the common subset for R-ACC."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.training.comparison import Arm, Estimate, Observation, compare_arms, ratio
from tableqa.proportions import proportion


def width(estimate: Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.high - estimate.low


def test_the_interval_of_a_share_is_near_the_normal_one() -> None:
    rng = random.Random(3)
    hits = [float(rng.random() < 0.4) for _ in range(600)]
    found = ratio(range(600), hits, [1.0] * 600)
    wilson = proportion(int(sum(hits)), 600)
    assert found.value == pytest.approx(wilson.value)
    assert found.low == pytest.approx(wilson.low, abs=0.01)
    assert found.high == pytest.approx(wilson.high, abs=0.01)


def test_observations_of_one_original_are_drawn_together() -> None:
    hits = [float(number % 2) for number in range(60) for _ in range(10)]
    alone = ratio(range(600), hits, [1.0] * 600)
    together = ratio([number for number in range(60) for _ in range(10)], hits, [1.0] * 600)
    assert width(together) > 2.5 * width(alone)


@given(st.integers(1, 30), st.booleans())
def test_a_share_of_all_or_nothing_has_a_width_and_nothing_has_no_share(count: int, right: bool) -> None:
    found = ratio(range(count), [float(right)] * count, [1.0] * count)
    assert width(found) > 0
    assert ratio(range(count), [0.0] * count, [0.0] * count).value is None


def by_hand() -> tuple[list[Observation], dict[str, Arm]]:
    """Three originals and a paraphrase of each; two seeds. The first arm was never trained."""
    observations = [Observation(kind, original) for original in "abc" for kind in ("", "word")]
    arms = {
        "start": Arm([[False] * 6], [False] * 6),
        "before": Arm(
            [[True, False, True, True, False, True], [True, True, True, False, False, False]], [False] * 6
        ),
        "+RTA": Arm(
            [[True, True, False, True, True, True], [True, True, True, True, True, False]], [False] * 6
        ),
    }
    return observations, arms


def test_the_common_subset_has_the_originals_that_every_trained_arm_had_right() -> None:
    observations, arms = by_hand()
    rows = {"original": [0, 2, 4], "word": [1, 3, 5]}
    figures = compare_arms(observations, arms, "before", ["before", "+RTA"], rows)
    before, augmented = figures["before"]["word"], figures["+RTA"]["word"]
    # seed 0: a; seed 1: a and b
    assert before["common"] == augmented["common"] == figures["start"]["word"]["common"] == 3
    assert before["common_r_acc"] == pytest.approx(1 / 3, abs=1e-4)
    assert augmented["common_r_acc"] == 1.0
    assert before["right_before"] == 4
    assert before["r_acc"] == 0.5
    assert augmented["right"] == [3, 2]
    assert augmented["accuracy"] == pytest.approx(5 / 6, abs=1e-4)
    assert augmented["difference"] == pytest.approx(5 / 6 - 3 / 6, abs=1e-4)
    assert before["difference"] is None
    assert figures["start"]["original"]["common_r_acc"] is None


def test_a_difference_is_paired_so_equal_answers_have_none() -> None:
    rng = random.Random(1)
    right = [[rng.random() < 0.5 for _ in range(200)]]
    observations = [Observation("word", number) for number in range(200)]
    arms = {"before": Arm(right, [False] * 200), "+X": Arm(right, [False] * 200)}
    row = compare_arms(observations, arms, "before", ["before", "+X"], {"word": range(200)})["+X"]["word"]
    assert (row["difference"], row["difference_low"], row["difference_high"]) == (0.0, 0.0, 0.0)
    assert row["accuracy_high"] - row["accuracy_low"] > 0.1
