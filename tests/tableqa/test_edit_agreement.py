"""Agreement over edits: what is expected by chance, enumerated; what must always hold; operations as edits."""

from __future__ import annotations

import random
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tableqa.agreement.cell_sets import cell_set_agreement
from tableqa.agreement.edits import (
    NO_CHOICE,
    Edit,
    edit_agreement,
    edits_of,
    equal_by_chance,
    influence,
    places_of,
)
from tableqa.agreement.measures import NO_PAIR
from tableqa.agreement.sample_size import units_needed
from tableqa.agreement.set_distances import distance_of_sizes
from tableqa.operations import OPERATIONS, from_list

unhurried = settings(deadline=None)

edit_sets = st.dictionaries(
    st.tuples(st.sampled_from(["r0", "r1", "r2"]), st.sampled_from(["c0", "c1"])),
    st.sampled_from(["0", "1", "x"]),
    max_size=4,
).map(lambda chosen: frozenset((row, column, value) for (row, column), value in chosen.items()))
some_units = st.integers(1, 4).flatmap(
    lambda raters: st.lists(
        st.tuples(st.just(6), st.lists(st.none() | edit_sets, min_size=raters, max_size=raters)), max_size=10
    )
)


def _random_edits(generator: random.Random, rows: int, columns: int, number: int) -> frozenset[Edit]:
    places = generator.sample([*product(range(rows), range(columns))], number)
    return frozenset((f"r{row}", f"c{column}", generator.choice("0123")) for row, column in places)


@pytest.mark.parametrize("distance", ["jaccard", "masi"])
def test_what_is_expected_is_the_mean_over_every_pair_of_sets_of_these_sizes(distance) -> None:
    # One unit of 4 places with 1 and 2 edits, and another whose values fix how often values are equal: a third.
    units = [
        (4, [frozenset({("r0", "c0", "a")}), frozenset({("r0", "c1", "a"), ("r1", "c1", "b")})]),
        (4, [frozenset({("r0", "c0", "a")}), frozenset({("r0", "c0", "z"), ("r1", "c0", "y")})]),
    ]
    same = equal_by_chance(units)
    mean = sum(
        (same if one in others else 0.0) * distance_of_sizes(1, 1, 2, distance)
        + (1 - (same if one in others else 0.0)) * distance_of_sizes(0, 1, 2, distance)
        for one in range(4)
        for others in combinations(range(4), 2)
    ) / (4 * 6)

    result = edit_agreement(units, distance)

    assert same == 2 / 9  # of nine pairs of values across the two units, a-a twice
    assert result.value == pytest.approx(1 - 1 / mean)
    assert result.measure == f"edits_{distance}"


def test_the_share_of_equal_values_leaves_out_pairs_of_one_item() -> None:
    alike = [(9, [frozenset({("r0", "c0", str(n))})] * 3) for n in range(5)]

    assert equal_by_chance(alike) == 0
    assert equal_by_chance([]) == 0
    assert equal_by_chance([(9, [frozenset({("r0", "c0", "0")})] * 2)] * 4) == 1


@pytest.mark.parametrize("distance", ["jaccard", "masi"])
def test_random_edits_give_about_zero_and_identical_ones_one(distance) -> None:
    generator = random.Random(3)
    units = [
        (12, [_random_edits(generator, 4, 3, generator.randint(1, 5)) for _ in range(3)]) for _ in range(3000)
    ]

    result = edit_agreement(units, distance)

    assert abs(result.value or 0) < 0.02
    assert (result.low or 0) < 0 < (result.high or 0)
    assert edit_agreement([(12, [sets[0]] * 3) for _, sets in units[:50]], distance).value == 1


@unhurried
@given(units=some_units, data=st.data(), distance=st.sampled_from(["jaccard", "masi"]))
def test_the_order_of_raters_and_items_does_not_matter(units, data, distance) -> None:
    moved = [(places, data.draw(st.permutations(sets))) for places, sets in data.draw(st.permutations(units))]

    result, again = (edit_agreement(each, distance, replicates=30) for each in (units, moved))

    assert (again.value, again.low, again.high) == (result.value, result.low, result.high)
    assert (result.value is None) == (result.reason is not None)
    assert result.units == sum(sum(edits is not None for edits in sets) > 1 for _, sets in units)


@unhurried
@given(units=some_units)
def test_the_same_cells_with_other_values_agree_less_than_the_cells_alone(units) -> None:
    cells = [
        ((3, 2), [None if edits is None else frozenset(edit[:2] for edit in edits) for edits in sets])
        for _, sets in units
    ]

    on_edits, on_cells = (
        edit_agreement(units, replicates=0).value,
        cell_set_agreement(cells, replicates=0).value,
    )

    if on_cells == 1 and on_edits is not None:
        same = all(len({edits for edits in sets if edits is not None}) < 2 for _, sets in units)
        assert (on_edits == 1) == same


def test_values_that_never_meet_are_cells_whose_values_are_their_own() -> None:
    # Where no value occurs in two items, two random edits are never the same: expected is the full distance.
    units = [(6, [frozenset({("r0", "c0", f"{n}a")}), frozenset({("r0", "c0", f"{n}b")})]) for n in range(10)]

    assert edit_agreement(units).value == 0


def test_an_edit_set_may_be_missing_or_empty() -> None:
    nothing: frozenset[Edit] = frozenset()

    assert edit_agreement([(6, [nothing, None])]).reason == NO_PAIR
    assert edit_agreement([(6, [nothing, nothing])]).reason == NO_CHOICE
    result = edit_agreement([(6, [nothing, frozenset({("r0", "c0", "1")}), None])] * 2)
    assert (result.value, result.raters, result.ratings) == (0, 2, 4)


def test_more_items_can_be_asked_for() -> None:
    generator = random.Random(5)
    units = []
    for _ in range(120):
        base = _random_edits(generator, 5, 4, 2)
        units.append(
            (20, [base if generator.random() < 0.8 else _random_edits(generator, 5, 4, 2) for _ in range(3)])
        )

    found = units_needed(edit_agreement(units), *influence(units), target=0.02)

    assert found.reason is None
    assert 0 < (found.likely or 0) <= (found.safe or 0)


@pytest.mark.parametrize(
    ("units", "complaint"),
    [
        ([(6, [[("r0", "c0", "1")]])], "which is not a set of edits"),
        ([(6, [{("r0", "c0", "1"), ("r0", "c0", "2")}])], "two edits of one rater at one place"),
        ([(1, [{("r0", "c0", "1"), ("r0", "c1", "2")}])], "2 edits; its table has 1 places"),
    ],
)
def test_what_is_no_set_of_edits_is_refused(units, complaint) -> None:
    with pytest.raises(ValueError, match=complaint):
        edit_agreement(units)


def test_a_senseless_request_is_refused() -> None:
    with pytest.raises(ValueError, match="distance is 'dice'"):
        edit_agreement([], "dice")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="replicates is -1"):
        edit_agreement([], replicates=-1)
    with pytest.raises(ValueError, match="confidence is 95"):
        edit_agreement([], confidence=95)


def test_operations_become_edits_with_a_place_and_a_value() -> None:
    operations = from_list(
        [
            {"op": "set_cell", "row": "r3", "column": "c2", "at": [3, 2], "old": "4", "new": "361"},
            {"op": "rename_header", "column": "c1", "at": 1, "old": "Pos.", "new": "Rank"},
            {"op": "remove_row", "row": "r5", "at": 5, "old": ["a", "b", "c"]},
            {"op": "move_row", "row": "r1", "after": None},
            {"op": "insert_row", "row": "n1", "after": "r2", "at": 3, "cells": ["x", "y", "z"]},
            {"op": "insert_row", "row": "n2", "after": "r2", "at": 3, "cells": ["x", "y", "z"]},
            {"op": "mask_cells", "cells": [["r0", "c0"], ["r0", "c1"]], "with": "?"},
        ]
    )

    assert edits_of(operations) == {
        ("r3", "c2", "361"),
        ("h", "c1", "Rank"),
        ("r5", "*", "removed"),
        ("r1", "*", "after None"),
        ("after r2", "*", '["x", "y", "z"]'),
        ("after r2", "* #2", '["x", "y", "z"]'),
        ("r0", "c0", "?"),
        ("r0", "c1", "?"),
    }


def test_the_same_edit_of_two_people_is_one_whatever_the_old_text_and_the_place_say() -> None:
    one, other = (
        edits_of(
            from_list([{"op": "set_cell", "row": "r3", "column": "c2", "at": at, "old": old, "new": "361"}])
        )
        for at, old in (([3, 2], "4"), ([2, 2], "5"))
    )

    assert one == other


def test_places_count_what_an_operation_could_have_been_at() -> None:
    assert places_of((4, 3), ["set_cell"]) == places_of((4, 3), ["set_cell", "mask_cells"]) == 12
    assert places_of((4, 3), ["set_cell", "rename_header", "remove_row", "insert_row"]) == 12 + 3 + 4 + 5
    assert places_of((4, 3), OPERATIONS) == 12 + 3 + 4 + 5 + 3 + 4 + 1
    with pytest.raises(ValueError, match="'set' is no operation"):
        places_of((4, 3), ["set"])


def test_the_interval_holds_the_value() -> None:
    generator = random.Random(8)
    units = [(20, [_random_edits(generator, 2, 2, 2) for _ in range(3)]) for _ in range(200)]

    result = edit_agreement(units)

    assert (result.low or 0) < (result.value or 0) < (result.high or 0)
