"""Figures of several trained models: intervals, paired differences, and the common subset for R-ACC."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.training.augment import markdown
from predictor.training.comparison import Arm, Estimate, Observation, compare_arms, ratio
from tableqa.statistics.proportions import proportion


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


def test_a_difference_is_paired_so_equal_answers_have_a_narrow_one() -> None:
    rng = random.Random(1)
    right = [[rng.random() < 0.5 for _ in range(200)]]
    observations = [Observation("word", number) for number in range(200)]
    arms = {"before": Arm(right, [False] * 200), "+X": Arm(right, [False] * 200)}
    row = compare_arms(observations, arms, "before", ["before", "+X"], {"word": range(200)})["+X"]["word"]
    limit = pytest.approx(proportion(0, 200).high, abs=1e-4)
    assert (row["difference"], -row["difference_low"], row["difference_high"]) == (0.0, limit, limit)
    assert row["accuracy_high"] - row["accuracy_low"] > 0.1


def test_no_discordant_pair_among_twenty_has_newcombes_interval() -> None:
    """Method 10 of Newcombe (1998) for two shares of 0: the root of the squared Wilson limits, 0 and 0.161."""
    found = ratio(range(20), [0.0] * 20, [1.0] * 20, share=False)
    assert found.value == 0.0
    assert found.low == pytest.approx(-0.1611, abs=1e-4)
    assert found.high == pytest.approx(0.1611, abs=1e-4)


@given(st.integers(1, 40), st.integers(-3, 3))
def test_equal_differences_have_a_width_and_stay_between_minus_1_and_1(count: int, thirds: int) -> None:
    found = ratio(range(count), [thirds / 3] * count, [1.0] * count, share=False)
    assert found.low is not None
    assert found.high is not None
    assert -1 - 1e-9 <= found.low <= thirds / 3 + 1e-9
    assert thirds / 3 - 1e-9 <= found.high <= 1 + 1e-9
    assert width(found) > 0


def test_tables_have_no_negative_zero() -> None:
    assert str(Estimate(-0.00001, -0.1, 0.1).to_dict("difference")["difference"]) == "0.0"


def test_the_table_of_several_seeds_says_what_it_counts_and_has_no_negative_zero() -> None:
    observations, arms = by_hand()
    rows = {"original": [0, 2, 4], "word": [1, 3, 5]}
    figures = compare_arms(observations, arms, "before", ["before", "+RTA"], rows)
    figures["+RTA"]["word"] |= {"difference": -0.0003, "difference_low": -0.1, "difference_high": 0.1}
    columns = {name: {"kinds": kinds} for name, kinds in figures.items()}
    table = markdown({"columns": columns, "releases": {}, "start": "weights", "seeds": [0, 1]})
    assert "| perturbation | right before, sum of 2 seeds | start | before | +RTA |" in table
    assert "| word | 3 | 0.0 [-10.0, 10.0] |" in table
    assert "-0.0" not in table
