"""Who gets which items, and which examples a sample draws: the same from the same seed, even, and nobody twice."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.queue import strategies

pytestmark = pytest.mark.both

Study = tuple[list[int], list[str], int, dict[int, set[str]], int]
PEOPLE = st.integers(1, 12).map(lambda n: [f"P{k}" for k in range(n)])


@st.composite
def studies(draw: st.DrawFn) -> Study:
    """Items, people, overlap, who made what, and a seed."""
    people = draw(PEOPLE)
    items = list(range(draw(st.integers(0, 40))))
    makers = (
        st.dictionaries(st.sampled_from(items), st.sets(st.sampled_from(people))) if items else st.just({})
    )
    return items, people, draw(st.integers(1, len(people))), draw(makers), draw(st.integers(0, 99))


@given(studies())
def test_a_split_without_makers_fills_every_place_and_is_even_within_one(study: Study) -> None:
    items, people, overlap, _, seed = study
    found = strategies.split(items, people, overlap, seed=seed)
    assert list(found) == items
    assert all(len(who) == len(set(who)) == overlap for who in found.values())
    loads = Counter(person for who in found.values() for person in who)
    counts = [loads[person] for person in people]
    assert max(counts) - min(counts) <= 1


@given(studies())
def test_a_split_leaves_makers_out_and_misses_no_place_that_somebody_may_have(study: Study) -> None:
    items, people, overlap, barred, seed = study
    found = strategies.split(items, people, overlap, seed=seed, barred=barred)
    for item, who in found.items():
        may = set(people) - barred.get(item, set())
        assert len(set(who)) == len(who) == min(overlap, len(may))
        assert set(who) <= may


@given(studies())
def test_no_exchange_of_items_makes_a_split_more_even(study: Study) -> None:
    """Whoever can be reached from somebody by passing items on has at most one item fewer."""
    items, people, overlap, barred, seed = study
    found = strategies.split(items, people, overlap, seed=seed, barred=barred)
    loads = Counter(person for who in found.values() for person in who)
    passes = {
        (giver, taker)
        for item, who in found.items()
        for giver in who
        for taker in people
        if taker not in who and taker not in barred.get(item, set())
    }
    for start in people:
        reached, waiting = {start}, [start]
        while waiting:
            giver = waiting.pop()
            new = {taker for one, taker in passes if one == giver} - reached
            reached |= new
            waiting += new
        assert all(loads[start] - loads[person] <= 1 for person in reached)


@given(studies())
def test_the_same_seed_splits_alike_and_what_people_have_counts(study: Study) -> None:
    items, people, overlap, barred, seed = study
    once = strategies.split(items, people, overlap, seed=seed, barred=barred)
    assert once == strategies.split(items, people, overlap, seed=seed, barred=barred)
    behind = people[0]
    loads = {person: 0 if person == behind else 1000 for person in people}
    for item, who in strategies.split(items, people, overlap, seed=seed, barred=barred, loads=loads).items():
        assert behind in who or behind in barred.get(item, set())


def test_another_seed_splits_differently() -> None:
    items, people = list(range(40)), ["A", "B", "C", "D"]
    assert strategies.split(items, people, 2, seed=1) != strategies.split(items, people, 2, seed=2)


STRATA = st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.integers(0, 60), min_size=1)


@given(STRATA, st.integers(0, 200))
def test_shares_add_up_and_miss_the_exact_share_by_less_than_one(counts: dict[str, int], size: int) -> None:
    found = strategies.shares(counts, size)
    total = sum(counts.values())
    assert sum(found.values()) == min(size, total)
    for key, number in found.items():
        assert 0 <= number <= counts[key]
        if size < total:
            assert abs(number * total - counts[key] * size) < total


@given(STRATA, st.integers(1, 200), st.integers(0, 20))
def test_a_stratified_sample_keeps_the_shares_from_its_beginning_on(
    counts: dict[str, int], size: int, seed: int
) -> None:
    strata = {key: [(key, number) for number in range(count)] for key, count in counts.items()}
    drawn = strategies.stratified(strata, size, seed)
    assert drawn == strategies.stratified(strata, size, seed)
    assert len(drawn) == len(set(drawn)) == min(size, sum(counts.values()))
    wanted = strategies.shares(counts, size)
    assert Counter(key for key, _ in drawn) == Counter({key: n for key, n in wanted.items() if n})
    for length in range(len(drawn)):
        part = Counter(key for key, _ in drawn[:length])
        filled = [(part[key], number) for key, number in wanted.items() if number]
        # One and the same share of the way is, give or take one item, how far every stratum has come.
        assert max((done - 1) / of for done, of in filled) <= min((done + 1) / of for done, of in filled)


def test_difficulty_names_the_table_and_where_the_answer_is() -> None:
    assert strategies.difficulty(50, True) == "small table, answers are cells"
    assert strategies.difficulty(51, False) == "medium table, answers are worked out"
    assert strategies.difficulty(201, True) == "large table, answers are cells"
