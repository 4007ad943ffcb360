"""Ways of working: what stands out is found, honest work is left alone, and too little says nothing."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from tableqa.quality_control.careless_responding import (
    Habit,
    _run_chance,
    _tail,
    always_the_same,
    copy_paste,
    sped_up,
    too_fast,
)


def _times(number: int, middle: float, seed: int) -> list[float]:
    generator = random.Random(seed)
    return [middle * generator.lognormvariate(0, 0.5) for _ in range(number)]


def test_somebody_who_clicks_through_is_found_with_the_items() -> None:
    own = [*_times(30, 20, 1), 1.5, 1.2, 2.0, 1.1, 1.4, 1.0, 1.3, 1.2]

    habit = too_fast(own, _times(400, 20, 2))

    assert habit.raised
    assert set(range(30, 38)) <= set(habit.items)
    assert habit.figures["fast"] == len(habit.items)
    assert habit.sentence.startswith(f"{len(habit.items)} of 38 items took less than ")


def test_a_quick_expert_is_not_too_fast() -> None:
    assert not too_fast(_times(60, 12, 3), _times(400, 20, 2)).raised


def test_honest_people_are_hardly_ever_flagged() -> None:
    batch = _times(600, 20, 9)

    flagged = [too_fast(_times(60, 20, seed), batch).raised for seed in range(300)]

    assert sum(flagged) <= 3


def test_a_run_far_below_the_persons_own_median_is_a_change_of_pace() -> None:
    steady = [20.0] * 20

    assert not sped_up(steady).raised
    assert not sped_up([*steady, 3, 3, 3, 3, *steady]).raised
    habit = sped_up([*steady, 3, 3, 3, 3, 3, *steady])
    assert habit.raised
    assert habit.items == (20, 21, 22, 23, 24)
    assert (
        habit.sentence
        == "At most 5 items in a row took less than a third of the annotator's median of 20.0 s."
    )


def test_the_same_label_all_the_time_stands_out_unless_it_is_what_others_give() -> None:
    labels = ["extraction"] * 28 + ["reasoning"] * 2

    balanced = always_the_same(labels, Counter(extraction=150, reasoning=150))
    lopsided = always_the_same(labels, Counter(extraction=280, reasoning=20))

    assert balanced.raised
    assert balanced.items == tuple(range(28))
    assert balanced.figures["longest_run"] == 28
    assert "extraction was chosen for 28 of 30 items (93.3 %, 95 % CI 78.7 to 98.2 %)." in balanced.sentence
    assert (balanced.label, balanced.times) == ("extraction", 28)
    assert not lopsided.raised


def test_a_run_of_one_item_is_not_mentioned() -> None:
    varied, runs = ["a", "b"] * 6, ["a"] * 4 + ["b"] * 8

    assert "run" not in always_the_same(varied, Counter(a=100, b=100)).sentence
    assert always_the_same(varied, Counter(a=100, b=100)).sentence.endswith("chose it for 50.0 % of theirs.")
    assert (
        "The least likely run is b, 8 times in a row."
        in always_the_same(runs, Counter(a=100, b=100)).sentence
    )


def test_a_long_run_stands_out_although_the_shares_are_as_usual() -> None:
    labels = ["a"] * 20 + ["b"] * 20

    habit = always_the_same(labels, Counter(a=200, b=200))

    assert habit.raised
    assert habit.figures["longest_run"] == 20
    assert habit.figures["chance_of_the_share"] > 0.5


def test_people_who_label_as_the_others_do_are_hardly_ever_flagged() -> None:
    generator = random.Random(4)

    flagged = [
        always_the_same(generator.choices("abc", [6, 3, 1], k=50), Counter(a=600, b=300, c=100)).raised
        for _ in range(1000)
    ]

    assert sum(flagged) <= 4


def test_a_label_that_nobody_else_gave_counts_as_given_once() -> None:
    assert always_the_same(["odd"] * 10, Counter(a=100)).raised
    assert not always_the_same(["odd"] + ["a"] * 9, Counter(a=100)).raised


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("length", [1, 2, 4])
def test_the_chance_of_a_run_is_a_bound_on_the_true_one(share: float, length: int) -> None:
    number = 8
    true = sum(
        share ** sum(marks) * (1 - share) ** (number - sum(marks))
        for marks in product([0, 1], repeat=number)
        if "1" * length in "".join(map(str, marks))
    )

    assert true <= _run_chance(number, length, share) + 1e-12


def test_the_tail_is_exact() -> None:
    assert _tail(3, 2, 0.5) == pytest.approx(0.5)
    assert _tail(3, 0, 0.5) == 1
    assert _tail(30, 29, 1.0) == 1


@given(st.integers(1, 3_000), st.floats(0, 1), st.floats(1e-4, 1))
def test_the_tail_is_that_of_scipy(n: int, part: float, share: float) -> None:
    at_least = round(part * n)

    assert _tail(n, at_least, share) == pytest.approx(
        float(binom.sf(at_least - 1, n, share)), rel=1e-8, abs=1e-300
    )


def test_a_text_on_many_items_is_found_whatever_its_case_and_blanks() -> None:
    texts = {f"q{n}": f"The row of {n} holds the answer to it" for n in range(7)}
    texts |= {
        "x": "Because the table says so.",
        "y": "because  the table says so. ",
        "z": "BECAUSE the table says so.",
    }

    habit = copy_paste(texts)

    assert habit.raised
    assert habit.items == ("x", "y", "z")
    assert habit.sentence == "The same text is in 3 of 10 items: “because the table says so.”"


def test_a_phrase_that_everybody_uses_and_short_texts_are_no_copies() -> None:
    texts = dict.fromkeys(range(10), "The table does not say.")

    assert copy_paste(texts).raised
    assert not copy_paste(texts, [["The table does not say."] * 5 + ["Row 3 has it."] * 45] * 2).raised
    assert not copy_paste(dict.fromkeys(range(10), "row 3")).raised
    assert not copy_paste(dict.fromkeys(range(10), "  ")).raised


def test_different_texts_and_a_pair_are_left_alone() -> None:
    texts = {number: f"An explanation of item {number}" for number in range(20)}

    assert copy_paste(texts).items == ()
    habit = copy_paste({**texts, 20: "An explanation of item 1"})
    assert not habit.raised
    assert habit.figures["repeated"] == 2


def test_two_who_paste_the_same_text_do_not_excuse_each_other() -> None:
    own = [[f"what others write, each in their own words {number}" for number in range(100)]] * 3
    pasted = "The answer stands in the first row of the table."
    assert copy_paste(dict.fromkeys(range(20), pasted), [[pasted] * 20, *own]).raised


@pytest.mark.parametrize(
    "habit",
    [
        too_fast([1.0] * 9, [20.0] * 100),
        too_fast([1.0] * 50, [20.0] * 9),
        sped_up([1.0] * 9),
        always_the_same(["a"] * 9, {"a": 1, "b": 99}),
        always_the_same(["a"] * 50, {}),
    ],
)
def test_too_little_says_nothing(habit: Habit) -> None:
    assert not habit.raised
    assert habit.sentence.startswith("Not enough data yet: ")


@pytest.mark.parametrize("others", [[0.1] * 40, []])
def test_everybody_too_fast_or_one_person_alone_is_told_by_the_floor(others: list[float]) -> None:
    assert not too_fast([0.1] * 12, others).raised

    habit = too_fast([0.1] * 12, others, floor=2.5)

    assert habit.raised
    assert habit.sentence.startswith("12 of 12 items took less than 2.5 s (100.0 %")
    assert "0.0 s" not in habit.sentence
    assert not too_fast([0.1] * 2 + [20.0] * 10, others, floor=2.5).raised, "two slips are no habit"
    assert not too_fast([3.0] * 12, others, floor=2.5).raised


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="below 0 or no number"):
        too_fast([float("nan")], [1.0])
    with pytest.raises(ValueError, match="below 0 or no number"):
        sped_up([-1.0])
    with pytest.raises(ValueError, match="count below 0"):
        always_the_same(["a"], {"a": -1})


@given(
    own=st.lists(st.floats(0, 1e4), max_size=40),
    others=st.lists(st.floats(0, 1e4), max_size=40),
    labels=st.lists(st.sampled_from("abc"), max_size=40),
    texts=st.lists(st.text(max_size=20), max_size=20),
)
def test_any_data_give_a_sentence_and_never_an_error(
    own: list[float], others: list[float], labels: list[str], texts: list[str]
) -> None:
    habits = [
        too_fast(own, others),
        too_fast(own, others, floor=2.5),
        sped_up(own),
        always_the_same(labels, Counter(labels)),
        copy_paste(dict(enumerate(texts)), [texts]),
    ]

    for habit in habits:
        assert habit.sentence
        assert not habit.raised or habit.items
