"""The monitors of a benchmark: on made-up extremes, by enumeration, and on WikiTableQuestions."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tableqa.quality_control.annotation_artifacts import (
    FIRST,
    LAST,
    concentration,
    edit_sizes,
    openings,
    places,
    question_template,
    templates,
)
from tableqa.readers import READERS
from tableqa.statistics.proportions import proportion

unhurried = settings(deadline=None)


def test_answers_that_are_all_different_or_all_one_are_the_two_ends() -> None:
    different, one = concentration(range(64)), concentration(["0"] * 64)

    assert (different.normalised, different.high) == (1, 1)
    assert different.top_share.hits == 3
    assert (one.normalised, one.low, one.high, one.entropy) == (0, 0, 0, 0)
    assert [(value, share.hits) for value, share in one.top] == [("0", 64)]
    assert one.top_share.percent == "100.0 %"


def test_nothing_and_one_value_have_no_concentration() -> None:
    assert concentration([]).normalised is None
    assert concentration([]).top_share.value is None
    assert concentration(["x"]).normalised is None


def test_intervals_of_values_that_come_in_groups_are_over_the_groups() -> None:
    values, groups = ["a", "a", "b", "b", "c", "c"] * 5, [number // 2 for number in range(30)]

    together, apart = concentration(values, groups=groups), concentration(values)

    assert (together.n, together.groups, apart.groups) == (30, 15, 30)
    assert [(value, share.hits) for value, share in together.top] == [("a", 10), ("b", 10), ("c", 10)]
    for (_, wide), (_, narrow) in zip(together.top, apart.top, strict=True):
        bounds = [wide.low, narrow.low, narrow.value, narrow.high, wide.high]
        ends = [bound for bound in bounds if bound is not None]
        assert ends == sorted(set(ends))
        assert len(ends) == len(bounds)
    assert together.low is not None
    assert apart.low is not None
    assert together.low < apart.low < (together.normalised or 0) < (together.high or 0)


def test_equal_values_of_few_groups_have_the_interval_of_as_many_values() -> None:
    found = openings(["How many?"] * 6, groups=[1, 1, 2, 2, 3, 3])

    ((_, share),) = found.top
    assert (share.hits, share.n) == (6, 6)
    assert share.low == found.top_share.low == pytest.approx(proportion(3, 3).low)
    assert concentration(["a", "b"], groups=[1, 1]).low is None, "one group"


def test_entropy_is_that_of_the_shares() -> None:
    found = concentration(["a"] * 4 + ["b"] * 2 + ["c"] * 2)

    assert found.normalised == pytest.approx(1.5 / 3)
    assert found.entropy == pytest.approx(1.5 + 2 / (16 * math.log(2)))
    assert [value for value, _ in found.top] == ["a", "b", "c"]


@unhurried
@given(values=st.lists(st.integers(0, 8), min_size=2, max_size=60), data=st.data())
def test_the_order_of_values_does_not_matter_and_the_interval_holds_the_value(values, data) -> None:
    found = concentration(values, replicates=100)

    assert concentration(data.draw(st.permutations(values)), replicates=100) == found
    assert found.low is not None
    assert found.normalised is not None
    assert found.high is not None
    assert 0 <= found.low <= found.normalised + 1e-9
    assert found.normalised <= found.high + 1e-9 <= 1 + 1e-9


def test_places_are_counted_by_item_beside_what_chance_gives() -> None:
    items = [({0}, 10), ({0, 2}, 10), ({8, 9}, 10), ({1, 9}, 10), ({5}, 10), (set(), 10), ({0, 4}, 5)]

    found = places(items)

    assert (found.n, found.short, found.without) == (5, 1, 1)
    assert (found.first.hits, found.last.hits, found.ends.hits) == (2, 1, 4)
    one, two = 3 / 10, 3 / 45
    assert found.first_by_chance == pytest.approx((2 * one + 3 * two) / 5)


@pytest.mark.parametrize(("rows", "height"), [(1, 6), (2, 7), (4, 6)])
def test_chance_is_the_share_of_all_sets_of_rows(rows: int, height: int) -> None:
    every = [*combinations(range(height), rows)]
    ends = {*range(FIRST), *range(height - LAST, height)}

    found = places([(set(every[0]), height)])

    assert found.ends_by_chance == pytest.approx(sum(set(each) <= ends for each in every) / len(every))
    assert found.last_by_chance == pytest.approx(
        sum(min(each) >= height - LAST for each in every) / len(every)
    )


def test_rows_drawn_at_random_are_at_the_ends_as_often_as_chance_says() -> None:
    generator = np.random.default_rng(6)
    heights = generator.integers(6, 30, 4000).tolist()
    items = [(set(generator.choice(height, 2, replace=False).tolist()), height) for height in heights]

    found = places(items)

    for share, by_chance in ((found.first, found.first_by_chance), (found.ends, found.ends_by_chance)):
        assert share.low <= by_chance <= share.high  # type: ignore[operator]


def test_a_row_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="Row 7 is not in a table of 7 rows"):
        places([({7}, 7)])


def test_openings_are_the_first_words_in_lower_case() -> None:
    found = openings(["How many teams?", "how  many, then?", "“What” is it?", "", "Who's there"], top=2)

    assert [(value, share.hits) for value, share in found.top] == [("how many", 2), ("", 1)]
    assert {value for value, _ in openings(["Who's there"], length=1).top} == {"who's"}


def test_edit_sizes_are_a_histogram_with_a_mean() -> None:
    found = edit_sizes([1, 1, 1, 2, 5])

    assert [(size, share.hits) for size, share in found.counts] == [(1, 3), (2, 1), (5, 1)]
    assert (found.n, found.median, found.mean) == (5, 1, 2)
    assert (found.low or 0) < 2 < (found.high or 0)
    assert edit_sizes([]).mean is None
    assert edit_sizes([3]).low is None


def test_responses_to_one_item_widen_the_intervals_of_places_and_sizes() -> None:
    rows = [({0}, 10)] * 8 + [({8}, 10)] * 8
    items = [0] * 8 + [1] * 8
    sizes = [1] * 8 + [5] * 8

    independent, grouped = places(rows), places(rows, items)
    assert (independent.groups, grouped.groups, grouped.n) == (16, 2, 16)
    assert grouped.first.hits == independent.first.hits == 8
    assert (independent.first.low, independent.first.high) == pytest.approx((0.28, 0.72), abs=0.01)
    assert (grouped.first.low, grouped.first.high) == (0, 1)

    alone, together = edit_sizes(sizes), edit_sizes(sizes, items)
    assert (alone.groups, together.groups, together.n, together.mean) == (16, 2, 16, 3)
    assert (together.low, together.high) == (1, 5)
    assert (alone.low or 0) > 1
    assert together.counts[0][1].low == 0
    assert edit_sizes([1, 2], [0, 0]).low is None


def test_a_mould_is_what_stays_when_the_particulars_go() -> None:
    assert (
        question_template("How many points did Brazil score in 1,998?") == "how many points did _ score in #"
    )
    assert (
        question_template("how many points did New Zealand score in 2010")
        == "how many points did _ score in #"
    )
    assert question_template('What does "total of all" mean?') == "what does _ mean"
    assert question_template("") == ""


def test_one_persons_mould_stands_out_and_a_common_one_does_not() -> None:
    cities = [
        "Paris",
        "Rome",
        "Oslo",
        "Bern",
        "Lima",
        "Kyiv",
        "Riga",
        "Baku",
        "Doha",
        "Cairo",
        "Quito",
        "Dakar",
    ]
    own = [f"How large is {city} in {1990 + n}?" for n, city in enumerate(cities)]
    varied = [f"{word} question of another kind" for word in "abcdefghijklmnopqrst"]

    found = templates({"P1": own, "P2": varied, "P3": varied, "few": own[:3]})
    shared = templates({"P1": own, "P2": own, "P3": own})

    assert [(one.person, one.stands_out) for one in found] == [("P1", True), ("P2", False), ("P3", False)]
    assert found[0].mould == "how large is _ in #"
    assert (found[0].share.hits, found[0].of_others.hits) == (12, 3)
    assert not any(one.stands_out for one in shared)


def test_somebody_alone_stands_out_from_nobody() -> None:
    assert [one.stands_out for one in templates({"P1": ["the same question"] * 20})] == [False]


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: concentration([1], top=0), "top is 0"),
        (lambda: openings(["x"], length=0), "length is 0"),
        (lambda: edit_sizes([-1]), "a size below 0"),
    ],
)
def test_a_senseless_request_is_refused(call, complaint) -> None:
    with pytest.raises(ValueError, match=complaint):
        call()


def test_wikitablequestions_ask_how_many_more_than_anything_else(test_data: Path) -> None:
    examples = READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv", limit=600)

    found = openings(example.question for example in examples)

    assert found.n == 600
    assert found.top[0][0] == "how many"
    assert 0.1 < (found.top[0][1].low or 0) < (found.top[0][1].high or 0) < 0.35
