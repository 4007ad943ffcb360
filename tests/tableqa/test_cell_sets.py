"""Agreement over sets of cells: against nltk, enumeration and simulation, and what has to hold of any such figure."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nltk.metrics.distance import jaccard_distance, masi_distance
from scipy.stats import hypergeom

from tableqa.agreement.cell_sets import (
    NO_CHOICE,
    WITHIN_TABLES,
    Cell,
    CellSet,
    Unit,
    cell_set_agreement,
    pattern_of,
)
from tableqa.agreement.measures import NO_PAIR, ONE_UNIT
from tableqa.agreement.set_distances import Distance, distance_of_sizes
from tableqa.core.release_rules import under

DISTANCES: tuple[Distance, ...] = ("jaccard", "masi")
ORACLES = {"jaccard": jaccard_distance, "masi": masi_distance}
distances = st.sampled_from(DISTANCES)


def second_opinion(units: Sequence[Unit], distance: Distance = "masi") -> float | None:
    """The value alone, from nltk's distances and scipy's hypergeometric distribution.

    It shares with `cell_set_agreement` what a unit weighs, and none of the arithmetic. None where the value is undefined.
    """
    measure = ORACLES[distance]

    def apart(one: CellSet, other: CellSet) -> float:
        return float(measure(set(one), set(other))) if one or other else 0.0

    observed = expected = 0.0
    for (rows, columns), sets in units:
        given = [cells for cells in sets if cells is not None]
        pairs = [*combinations(given, 2)]
        for one, other in pairs:
            weight = len(given) / len(pairs)
            observed += weight * apart(one, other)
            for common in range(min(len(one), len(other)) + 1):
                likely = float(hypergeom.pmf(common, rows * columns, len(one), len(other)))
                left, right = range(len(one)), range(len(one) - common, len(one) - common + len(other))
                as_cells = [frozenset(("r0", f"c{place}") for place in places) for places in (left, right)]
                expected += weight * likely * apart(*as_cells) if likely else 0.0
    return 1 - observed / expected if expected else None


def cells_of(rows: int, columns: int) -> list[Cell]:
    return [(f"r{i}", f"c{j}") for i, j in product(range(rows), range(columns))]


@st.composite
def unit_lists(draw: st.DrawFn, raters: int = 3) -> list[Unit]:
    units: list[Unit] = []
    for _ in range(draw(st.integers(1, 5))):
        shape = draw(st.tuples(st.integers(1, 5), st.integers(1, 4)))
        sets = st.none() | st.frozensets(st.sampled_from(cells_of(*shape)))
        units.append((shape, draw(st.lists(sets, min_size=raters, max_size=raters))))
    return units


def at_random(units: int, accuracy: float, seed: int, raters: int = 3) -> list[Unit]:
    """Each table has a true set, which a rater marks with that accuracy; else one of a random size is drawn at random."""
    draw = random.Random(seed)
    made: list[Unit] = []
    for _ in range(units):
        shape = (draw.randint(3, 30), draw.randint(2, 8))
        cells = cells_of(*shape)
        truth = frozenset(draw.sample(cells, draw.randint(1, 6)))
        guesses = [frozenset(draw.sample(cells, draw.randint(1, 6))) for _ in range(raters)]
        made.append((shape, [truth if draw.random() < accuracy else guess for guess in guesses]))
    return made


# The distances --------------------------------------------------------------------------------------------------------


def cell_set_distance(some: frozenset[Cell], others: frozenset[Cell], distance: Distance) -> float:
    return distance_of_sizes(len(some & others), len(some), len(others), distance)


small_sets = st.frozensets(st.sampled_from(cells_of(3, 3)))


@given(small_sets, small_sets, distances)
def test_a_distance_is_that_of_nltk(
    some: frozenset[Cell], others: frozenset[Cell], distance: Distance
) -> None:
    assume(some or others)  # nltk divides by zero there
    assert cell_set_distance(some, others, distance) == pytest.approx(ORACLES[distance](some, others))


@pytest.mark.parametrize("distance", DISTANCES)
def test_two_empty_sets_are_equal(distance: Distance) -> None:
    assert cell_set_distance(frozenset(), frozenset(), distance) == 0


def test_marking_too_much_is_a_lesser_disagreement_than_marking_something_else() -> None:
    one, two, three = cells_of(1, 3)
    marked = frozenset({one, two})
    assert cell_set_distance(marked, frozenset({one, two, three}), "masi") == pytest.approx(1 - 2 / 3 * 2 / 3)
    assert cell_set_distance(marked, frozenset({two, three}), "masi") == pytest.approx(1 - 1 / 3 * 1 / 3)
    assert cell_set_distance(marked, frozenset({three}), "masi") == 1


def test_an_unknown_distance_is_refused() -> None:
    with pytest.raises(ValueError, match="'dice'; it must be one of jaccard, masi"):
        cell_set_agreement([], "dice")  # type: ignore[arg-type]


# The figure -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize(("some", "others"), [(1, 1), (1, 3), (2, 3), (4, 5), (0, 2), (6, 6), (5, 6)])
def test_what_is_expected_is_the_mean_over_every_pair_of_sets_of_these_sizes(
    some: int, others: int, distance: Distance
) -> None:
    """A table of six cells has few enough sets for all of them to be written down."""
    cells = cells_of(2, 3)
    one, other = frozenset(cells[:some]), frozenset(cells[len(cells) - others :])
    all_pairs = [
        cell_set_distance(frozenset(left), frozenset(right), distance)
        for left in combinations(cells, some)
        for right in combinations(cells, others)
    ]
    expected = sum(map(Fraction, all_pairs)) / len(all_pairs)
    found = cell_set_agreement([((2, 3), [one, other])], distance)
    if not expected:
        assert (found.value, found.reason) == (None, NO_CHOICE)
        return
    observed = cell_set_distance(one, other, distance)
    assert found.value == pytest.approx(1 - observed / float(expected), abs=1e-12)


def test_a_unit_by_hand() -> None:
    """Two raters mark one cell each of a table of four, and differ: chance is 3/4, so the figure is 1 - 1 / (3/4)."""
    a, b = frozenset({("r0", "c0")}), frozenset({("r1", "c1")})
    assert cell_set_agreement([((2, 2), [a, b])], "jaccard").value == pytest.approx(-1 / 3)
    assert cell_set_agreement([((2, 2), [a, b]), ((2, 2), [a, a])], "jaccard").value == pytest.approx(1 / 3)
    assert cell_set_agreement([((2, 2), [a, a])], "jaccard").value == 1


def test_units_weigh_as_their_number_of_ratings() -> None:
    a, b = frozenset({("r0", "c0")}), frozenset({("r1", "c1")})
    three: list[Unit] = [((2, 2), [a, a, b]), ((2, 2), [a, b, None])]
    # Distances 2/3 (of three pairs) and 1, weights 3 and 2, expected 3/4 both.
    assert cell_set_agreement(three, "jaccard").value == pytest.approx(1 - (3 * 2 / 3 + 2 * 1) / (5 * 3 / 4))


@given(unit_lists(), distances)
def test_other_peoples_code_gives_the_same_value(units: list[Unit], distance: Distance) -> None:
    found, other = cell_set_agreement(units, distance, replicates=0).value, second_opinion(units, distance)
    assert other == (None if found is None else pytest.approx(found, abs=1e-9))


@given(unit_lists(), distances)
def test_identical_sets_give_one(units: list[Unit], distance: Distance) -> None:
    same = [(shape, [sets[0]] * 3) for shape, sets in units]
    found = cell_set_agreement(same, distance, replicates=20)
    assert found.value == 1 or found.reason in (NO_PAIR, NO_CHOICE)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_sets_give_about_zero(distance: Distance, seed: int) -> None:
    found = cell_set_agreement(at_random(800, 0.0, seed), distance)
    assert found.value is not None
    assert found.low is not None
    assert abs(found.value) < 0.006
    assert found.value - found.low < 0.01


@pytest.mark.parametrize("distance", DISTANCES)
def test_more_accurate_raters_agree_more(distance: Distance) -> None:
    values = [
        cell_set_agreement(at_random(400, accuracy, 5), distance).value or 0 for accuracy in (0.2, 0.5, 0.8)
    ]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(0.8**2, abs=0.05)  # two of the raters both know the true set


@given(unit_lists(), distances, st.randoms(use_true_random=False))
def test_the_order_of_raters_and_of_units_does_not_matter(
    units: list[Unit], distance: Distance, draw: random.Random
) -> None:
    found = cell_set_agreement(units, distance, replicates=50)
    places = draw.sample(range(3), 3)
    other = [(shape, [sets[place] for place in places]) for shape, sets in units]
    draw.shuffle(other)
    assert cell_set_agreement(other, distance, replicates=50) == found


@given(unit_lists(), distances, st.integers(1, 40))
def test_adding_rows_to_the_tables_raises_the_figure(
    units: list[Unit], distance: Distance, more: int
) -> None:
    """The same marks are harder to hit by chance in a larger table."""
    before = cell_set_agreement(units, distance, replicates=0).value
    assume(before is not None and before < 1)
    larger = [((rows + more, columns), sets) for (rows, columns), sets in units]
    after = cell_set_agreement(larger, distance, replicates=0).value
    assert before is not None
    assert after is not None
    assert after >= before - 1e-12
    chosen = [len(cells) for _, sets in units for cells in sets if cells is not None]
    if all(chosen):  # an empty set differs from any other in a table of any size
        assert after > before


@given(unit_lists(), distances)
def test_what_ids_are_called_does_not_matter(units: list[Unit], distance: Distance) -> None:
    found = cell_set_agreement(units, distance, replicates=20)
    renamed = [
        (shape, [cells and frozenset((f"n{row}", f"x{column}") for row, column in cells) for cells in sets])
        for shape, sets in units
    ]
    assert cell_set_agreement(renamed, distance, replicates=20) == found


@given(unit_lists(), distances)
def test_items_with_one_rating_play_no_part(units: list[Unit], distance: Distance) -> None:
    alone: Unit = ((2, 2), [frozenset({("r0", "c0")}), None, None])
    found = cell_set_agreement(units, distance, replicates=20)
    with_it = cell_set_agreement([*units, alone], distance, replicates=20)
    assert (with_it.value, with_it.low, with_it.units, with_it.ratings) == (
        found.value,
        found.low,
        found.units,
        found.ratings,
    )


def test_huge_tables_and_sets_are_no_trouble() -> None:
    cells = cells_of(5000, 8)
    found = cell_set_agreement(
        [((5000, 8), [frozenset(cells[:20_000]), frozenset(cells[10_000:30_000])])], "jaccard", replicates=0
    )
    # Half of all cells each: chance has half of a set in common, and so have they.
    assert found.value == pytest.approx(0, abs=1e-3)


# What is told with the figure -----------------------------------------------------------------------------------------


def test_the_result_says_how_chance_was_taken_and_how_much_entered() -> None:
    one = frozenset({("r0", "c0")})
    found = cell_set_agreement(
        [((3, 2), [one, None, one]), ((3, 2), [one, one, None]), ((3, 2), [one, None, None])]
    )
    assert (found.measure, found.note) == ("cell_sets_masi", WITHIN_TABLES)
    assert (found.units, found.raters, found.ratings) == (2, 3, 4)


@pytest.mark.parametrize(
    ("units", "reason"),
    [
        ([], NO_PAIR),
        ([((2, 2), [frozenset({("r0", "c0")}), None])], NO_PAIR),
        ([((2, 2), [frozenset(), frozenset()])], NO_CHOICE),
        ([((1, 1), [frozenset({("r0", "c0")}), frozenset({("r0", "c0")})])], NO_CHOICE),
        ([((0, 3), [frozenset(), frozenset()])], NO_CHOICE),
    ],
)
def test_without_anything_to_tell_from_chance_there_is_a_reason_and_no_value(
    units: list[Unit], reason: str
) -> None:
    found = cell_set_agreement(units)
    assert (found.value, found.low, found.high, found.reason) == (None, None, None, reason)


def test_one_unit_has_no_interval() -> None:
    found = cell_set_agreement([((2, 2), [frozenset({("r0", "c0")}), frozenset({("r1", "c0")})])])
    assert (found.low, found.high) == (None, None)
    assert ONE_UNIT in (found.note or "")


@pytest.mark.parametrize("distance", DISTANCES)
def test_the_interval_is_one_of_about_95_percent(distance: Distance) -> None:
    """Of many samples of one world, about 95 % have an interval that holds the value of the world."""
    world = cell_set_agreement(at_random(5000, 0.6, 99), distance, replicates=0).value
    assert world is not None
    hits = 0
    for seed in range(60):
        found = cell_set_agreement(at_random(80, 0.6, seed), distance, replicates=200)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= world <= found.high
    assert 50 <= hits <= 60


@pytest.mark.parametrize(
    ("distance", "figure"),
    [("jaccard", (0.471579, 0.427345, 0.514108)), ("masi", (0.470692, 0.426956, 0.512902))],
)
def test_a_seed_gives_these_digits_on_every_machine(
    distance: Distance, figure: tuple[float, float, float]
) -> None:
    with under(11):
        found = cell_set_agreement(at_random(300, 0.7, 11), distance, seed=4)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert tuple(round(number, 6) for number in (found.value, found.low, found.high)) == figure


@pytest.mark.parametrize(
    ("units", "options", "message"),
    [
        ([((1, 1), [frozenset(cells_of(1, 2)), None])], {}, "a set of 2 cells; its table of 1 x 1 has 1"),
        ([((1, 1), [None]), ((1, 1), [None, None])], {}, "Unit 0 has 1 ratings and another one has 2"),
        ([((1, 1), ["r0", None])], {}, "'r0', which is not a set of cells"),
        ([((-1, 1), [None, None])], {}, "-1 rows"),
        ([], {"replicates": -1}, "replicates is -1"),
        ([], {"confidence": 1}, "confidence is 1"),
    ],
)
def test_what_makes_no_sense_is_refused(units: list[Unit], options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cell_set_agreement(units, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("block", [1, 1 << 17])
@under(11)  # the last rules of releases with intervals of units drawn with replacement
def test_the_interval_is_that_of_units_drawn_one_by_one(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Stored intervals stand in releases: the same seed has to go on drawing the same units, however it is done.
    generator = random.Random(12)
    units = [
        (
            (4, 3),
            [frozenset({(f"r{generator.randrange(4)}", f"c{generator.randrange(3)}")}) for _ in range(3)],
        )
        for _ in range(50)
    ]
    patterns = sorted(pattern_of(shape, sets, 0) for shape, sets in units)
    observed, expected = (
        np.array([3 * getattr(pattern, side)("masi") for pattern in patterns])
        for side in ("observed", "expected")
    )
    chosen = np.random.default_rng(7).integers(0, 50, (400, 50))
    values = 1 - observed[chosen].sum(axis=1) / expected[chosen].sum(axis=1)

    monkeypatch.setattr("tableqa.agreement.cell_sets._BLOCK", block)
    result = cell_set_agreement(units, replicates=400, seed=7)

    assert [result.low, result.high] == pytest.approx(list(np.quantile(values, [0.025, 0.975])), abs=1e-12)
