"""Cohen's kappa against published values and scikit-like oracles; the matrix of every two people."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from tableqa.agreement.cell_sets import cell_set_agreement
from tableqa.agreement.coefficients import agreement
from tableqa.agreement.measures import NO_PAIR, ONE_CATEGORY, ONE_UNIT
from tableqa.agreement.pairs import by_pair, cohen_kappa

unhurried = settings(deadline=None)
labels = st.sampled_from([None, "extraction", "reasoning", "neither"])
two_raters = st.lists(st.tuples(labels, labels), max_size=30)


def _from_table(table: list[list[int]]) -> tuple[list[int], list[int]]:
    one, other = [], []
    for row, counts in enumerate(table):
        for column, count in enumerate(counts):
            one += [row] * count
            other += [column] * count
    return one, other


def test_cohens_two_judges_of_two_hundred_patients_have_kappa_0_492() -> None:
    # Cohen (1968), table 1, which repeats the example of 1960: unweighted kappa .492.
    result = cohen_kappa(*_from_table([[88, 14, 18], [10, 40, 10], [2, 6, 12]]))

    assert round(result.value or 0, 3) == 0.492
    assert (result.units, result.raters, result.ratings, result.measure) == (200, 2, 400, "cohen_kappa")


def test_gwets_two_abstractors_have_kappa_0_796() -> None:
    # Gwet (2014), cont3x3abstractors; with its published standard error 0.0589 as a check of the interval.
    result = cohen_kappa(*_from_table([[13, 0, 0], [0, 20, 7], [0, 4, 56]]), replicates=4000)

    assert result.value == pytest.approx(0.7964094, abs=5e-8)
    assert ((result.high or 0) - (result.low or 0)) / 2 == pytest.approx(1.96 * 0.05891, rel=0.08)


@unhurried
@given(
    pairs=two_raters.filter(lambda pairs: len({a for pair in pairs if None not in pair for a in pair}) > 1)
)
def test_kappa_is_that_of_statsmodels(pairs) -> None:
    both = [pair for pair in pairs if None not in pair]
    used = sorted({label for pair in both for label in pair})
    table = np.zeros((len(used), len(used)))
    for one, other in both:
        table[used.index(one), used.index(other)] += 1

    ours = cohen_kappa([a for a, _ in pairs], [b for _, b in pairs], replicates=0).value

    assert ours == pytest.approx(inter_rater.cohens_kappa(table, return_results=False), abs=1e-12)


@unhurried
@given(pairs=two_raters, data=st.data())
def test_neither_the_order_of_items_nor_that_of_the_two_plays_a_part(pairs, data) -> None:
    moved = data.draw(st.permutations(pairs))

    result = cohen_kappa([a for a, _ in pairs], [b for _, b in pairs], replicates=40)

    assert cohen_kappa([a for a, _ in moved], [b for _, b in moved], replicates=40) == result
    swapped = cohen_kappa([b for _, b in pairs], [a for a, _ in pairs], replicates=40)
    assert (swapped.value, swapped.low, swapped.high) == (result.value, result.low, result.high)
    assert (result.value is None) == (result.reason is not None)


def test_identical_labels_are_one_and_random_ones_about_zero() -> None:
    generator = np.random.default_rng(1)
    one, other = generator.integers(0, 3, (2, 20_000)).tolist()

    assert cohen_kappa(one, one).value == 1
    assert abs(cohen_kappa(one, other).value or 0) < 0.02


def test_without_a_value_there_is_a_reason() -> None:
    assert cohen_kappa([], []).reason == NO_PAIR
    assert cohen_kappa(["a", None], [None, "a"]).reason == NO_PAIR
    assert cohen_kappa(["a", "a"], ["a", "a"]).reason == ONE_CATEGORY
    assert cohen_kappa(["a", None], ["b", float("nan")]).note == ONE_UNIT
    assert cohen_kappa([1, 2, 2], [1, 2, 1], replicates=0).low is None


def test_what_is_no_pair_of_ratings_is_refused() -> None:
    with pytest.raises(ValueError, match="One rater has 1 ratings and the other 2"):
        cohen_kappa([1], [1, 2])
    with pytest.raises(ValueError, match="cannot be a label"):
        cohen_kappa([[1]], [[2]])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="replicates is -1"):
        cohen_kappa([1], [1], replicates=-1)
    with pytest.raises(ValueError, match="confidence is 2"):
        cohen_kappa([1], [1], confidence=2)


def _batch() -> list[tuple[int, str, str]]:
    """Four people on overlapping items; P4 guesses."""
    generator = np.random.default_rng(4)
    rows = []
    for item in range(300):
        truth = generator.choice(["a", "b", "c"])
        for person in generator.choice(["P1", "P2", "P3", "P4"], 3, replace=False):
            right = person != "P4" and generator.random() < 0.9
            rows.append((item, str(person), str(truth if right else generator.choice(["a", "b", "c"]))))
    return rows


def test_a_matrix_shows_who_differs_from_everybody() -> None:
    matrix = by_pair(_batch())

    assert matrix.people == ("P1", "P2", "P3", "P4")
    assert len(matrix.pairs) == 6
    for one, other in (("P1", "P2"), ("P1", "P3"), ("P2", "P3")):
        assert (matrix.between(one, other).low or 0) > 0.6  # type: ignore[union-attr]
        assert (matrix.between("P4", one).high or 0) < 0.35  # type: ignore[union-attr]


def test_the_square_is_symmetric_and_empty_on_the_diagonal() -> None:
    matrix = by_pair(_batch())
    square = matrix.rows()

    for row in range(4):
        assert square[row][row] is None
        for column in range(4):
            assert square[row][column] is square[column][row]
    assert square[0][1] is matrix.between("P2", "P1")


@pytest.mark.parametrize(
    "measure", ["percent_agreement", "fleiss_kappa", "gwet_ac1", "krippendorff_alpha_nominal"]
)
def test_a_pair_has_the_figure_of_its_two_columns(measure: str) -> None:
    rows = [row for row in _batch() if row[1] in ("P1", "P2")]
    said: dict[int, dict[str, str]] = {}
    for item, person, label in rows:
        said.setdefault(item, {})[person] = label
    shared = [[both["P1"], both["P2"]] for both in said.values() if len(both) == 2]

    found = by_pair(rows, measure).between("P1", "P2")

    assert found == agreement(shared, measure)


def test_a_pair_may_be_compared_by_any_function_of_what_it_shares() -> None:
    rows = [
        ("q1", "P1", frozenset({("r0", "c0")})),
        ("q1", "P2", frozenset({("r0", "c0")})),
        ("q2", "P2", frozenset({("r1", "c0")})),
        ("q2", "P1", frozenset({("r0", "c1")})),
        ("q3", "P3", frozenset()),
    ]

    matrix = by_pair(
        rows, lambda both: cell_set_agreement([((3, 3), [one, other]) for _, one, other in both])
    )

    assert [(pair.one, pair.other, pair.agreement.units) for pair in matrix.pairs] == [("P1", "P2", 2)]
    assert matrix.between("P1", "P3") is None
    assert matrix.people == ("P1", "P2", "P3")


def test_people_without_a_common_item_have_no_cell_and_missing_labels_are_none() -> None:
    matrix = by_pair([(1, "A", "x"), (1, "B", None), (2, "B", "y"), (2, "C", "y")])

    assert [(pair.one, pair.other) for pair in matrix.pairs] == [("B", "C")]
    assert by_pair([]).rows() == []


def test_a_second_rating_of_one_item_is_refused() -> None:
    with pytest.raises(ValueError, match="P1 rated item 7 twice"):
        by_pair([(7, "P1", "a"), (7, "P1", "b")])
