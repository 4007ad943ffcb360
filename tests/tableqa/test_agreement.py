"""Agreement against published values, against other people's code, and against what must always hold."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from decimal import Decimal
from functools import partial
from typing import Any, Literal

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from tableqa.agreement import rating_patterns
from tableqa.agreement.coefficients import agreement, from_patterns, influence, influence_of_patterns
from tableqa.agreement.measures import (
    GENERALISED,
    MEASURES,
    NO_PAIR,
    ONE_CATEGORY,
    ONE_UNIT,
    SET_MEASURES,
    TOO_MANY_SETS,
    UNEQUAL,
    WITH_SINGLE,
    Agreement,
)
from tableqa.agreement.reference_implementations import second_opinion
from tableqa.agreement.set_distances import distance_of_sizes
from tableqa.core.release_rules import under

percent_agreement = partial(agreement, measure="percent_agreement")
fleiss_kappa = partial(agreement, measure="fleiss_kappa")
gwet_ac1 = partial(agreement, measure="gwet_ac1")


def krippendorff_alpha(ratings: Any, level: str = "nominal", **options: Any) -> Agreement:
    return agreement(ratings, f"krippendorff_alpha_{level}", **options)


LEVELS = ("nominal", "ordinal", "interval")
CHANCE_CORRECTED = [measure for measure in MEASURES if measure != "percent_agreement"]
HAVE_A_SECOND_OPINION = [measure for measure in CHANCE_CORRECTED if measure != "gwet_ac1"]
RULES_OF_PERCENTILES = 11
"""The last rules of releases by which an interval is the percentile bootstrap over units."""
NAN = float("nan")
# A property is about values; how long one example takes depends on what else the machine does.
unhurried = settings(deadline=None)

# Fleiss (1971), table 1: 30 patients, 6 psychiatrists each, 5 diagnoses (1 depression, 2 personality disorder,
# 3 schizophrenia, 4 neurosis, 5 other); a row of digits is a patient.
FLEISS_1971 = [
    *("444444", "222555", "233335", "555555", "222444", "113333", "333355", "113334", "114444", "555555"),
    *("144444", "124444", "222333", "144444", "224445", "333335", "111455", "111112", "224444", "133555"),
    *("555555", "244444", "224555", "114444", "144445", "222224", "111155", "224444", "133333", "555555"),
]

# The worked example of the encyclopedias: 10 subjects, 14 raters, 5 categories, as counts for each category.
FOURTEEN_RATERS = [
    *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
    *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
]

# Krippendorff (2011), section C: 4 observers (rows), 12 units (columns).
KRIPPENDORFF_2011 = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


def units_from_counts(table: list[list[int]]) -> list[list[int]]:
    return [[category for category, times in enumerate(row) for _ in range(times)] for row in table]


def simulated(
    units: int, raters: int, categories: int, accuracy: float, missing: float, seed: int
) -> np.ndarray:
    """Units x raters: each has a true category, which a rater gives with that accuracy and else draws one at random."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, categories, (units, 1))
    guesses = generator.integers(0, categories, (units, raters))
    ratings = np.where(generator.random((units, raters)) < accuracy, truth, guesses).astype(float)
    ratings[generator.random((units, raters)) < missing] = np.nan
    return ratings


def point(measure: str, ratings: object) -> float | None:
    return agreement(ratings, measure, replicates=0).value


# ---- published values ------------------------------------------------------------------------------------------


def test_the_diagnoses_of_fleiss_1971_have_kappa_0_430() -> None:
    result = fleiss_kappa([list(patient) for patient in FLEISS_1971])

    assert round(result.value or 0, 3) == 0.430
    assert (result.units, result.raters, result.ratings, result.note) == (30, 6, 180, None)


def test_fourteen_raters_of_ten_subjects_have_kappa_0_210() -> None:
    result = fleiss_kappa(units_from_counts(FOURTEEN_RATERS))

    assert round(result.value or 0, 3) == 0.210
    assert (result.units, result.raters) == (10, 14)


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_krippendorffs_four_by_twelve_example(level: str, published: float) -> None:
    result = krippendorff_alpha(KRIPPENDORFF_2011, level)

    assert round(result.value or 0, 3) == published
    # The twelfth unit has a single rating and does not enter: 40 pairable values, as the paper counts them.
    assert (result.units, result.raters, result.ratings) == (11, 4, 40)
    assert result.measure == f"krippendorff_alpha_{level}"


def test_the_generalised_kappa_of_gwets_four_raters() -> None:
    # The same ratings in Gwet (2014) and his irrCAC (cac.raw4raters): Fleiss' kappa 0.76117, percent agreement 0.81818.
    kappa = fleiss_kappa(KRIPPENDORFF_2011)

    assert round(kappa.value or 0, 5) == 0.76117
    assert kappa.note == GENERALISED
    assert round(percent_agreement(KRIPPENDORFF_2011).value or 0, 5) == 0.81818


def test_gwets_ac1_of_his_four_raters() -> None:
    # Gwet (2014) and his irrCAC (cac.raw4raters): AC1 0.77544. The unit with one rating counts in the expected agreement.
    result = gwet_ac1(KRIPPENDORFF_2011)

    assert round(result.value or 0, 5) == 0.77544
    assert result.note == UNEQUAL
    assert (result.units, result.raters, result.ratings) == (11, 4, 40)


def test_gwets_two_abstractors_of_a_hundred_pregnancies() -> None:
    # Gwet (2014), cont3x3abstractors. With two raters Fleiss' kappa is Scott's pi.
    patterns = [("ectopic", "ectopic"), ("AIU", "AIU"), ("AIU", "NIU"), ("NIU", "AIU"), ("NIU", "NIU")]
    published = {
        "fleiss_kappa": 0.7962397,
        "krippendorff_alpha_nominal": 0.7972585,
        "percent_agreement": 0.89,
        "gwet_ac1": 0.8493305,
    }

    for measure, value in published.items():
        result = from_patterns(patterns, [13, 20, 7, 4, 56], measure, raters=2)
        assert result.value == pytest.approx(value, abs=5e-8)
        assert result.units == 100


def test_krippendorffs_two_observers() -> None:
    # Krippendorff (2011), sections A (binary) and B (nominal).
    binary = list(zip("0100000010", "1110010000", strict=True))
    nominal = list(zip("aabbdcccedda", "babbbccceddd", strict=True))

    assert round(krippendorff_alpha(binary).value or 0, 3) == 0.095
    assert round(krippendorff_alpha(nominal).value or 0, 3) == 0.692


def test_three_observers_of_fifteen_units() -> None:
    # The example that the krippendorff package's own documentation computes.
    observers = ["*****34121133*3", "1*213343*******", "**21344*21133*4"]
    units = [[None if mark == "*" else int(mark) for mark in unit] for unit in zip(*observers, strict=True)]

    assert round(krippendorff_alpha(units, "nominal").value or 0, 3) == 0.691
    assert round(krippendorff_alpha(units, "interval").value or 0, 3) == 0.811


# ---- other people's code ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(8))
def test_alpha_equals_the_krippendorff_package(level: str, seed: int) -> None:
    ratings = simulated(200, 2 + seed % 4, 2 + seed, accuracy=0.1 * seed, missing=0.1 * (seed % 5), seed=seed)
    if seed % 2:
        ratings = ratings * 1.7 - 3  # no whole numbers

    ours = krippendorff_alpha(ratings, level, replicates=0).value

    assert ours == pytest.approx(krippendorff.alpha(ratings.T, level_of_measurement=level), abs=1e-12)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(8))
def test_kappa_equals_statsmodels_where_nothing_is_missing(seed: int) -> None:
    ratings = simulated(200, 2 + seed, 2 + seed % 4, accuracy=0.1 * seed, missing=0, seed=seed)

    theirs = inter_rater.fleiss_kappa(inter_rater.aggregate_raters(ratings)[0])

    assert fleiss_kappa(ratings, replicates=0).value == pytest.approx(theirs, abs=1e-12)


def test_kappa_is_that_of_1971_where_raters_differ_but_their_number_does_not() -> None:
    ratings = simulated(300, 3, 4, accuracy=0.6, missing=0, seed=5)
    spread = np.full((300, 7), np.nan)
    for unit, row in enumerate(ratings):
        spread[unit, np.random.default_rng(unit).permutation(7)[:3]] = row

    assert fleiss_kappa(spread).value == fleiss_kappa(ratings).value
    assert fleiss_kappa(spread).note is None
    assert (fleiss_kappa(spread).raters, fleiss_kappa(ratings).raters) == (7, 3)


@pytest.mark.parametrize("measure", HAVE_A_SECOND_OPINION)
def test_the_second_opinion_is_the_same(measure: str) -> None:
    ratings = simulated(60, 3, 4, accuracy=0.5, missing=0 if measure == "fleiss_kappa" else 0.3, seed=11)

    assert second_opinion(ratings, measure) == pytest.approx(point(measure, ratings), abs=1e-12)
    assert second_opinion(ratings.tolist(), measure) == second_opinion(ratings, measure)


def test_the_second_opinion_reads_words_and_their_order() -> None:
    words: list[list[str | None]] = [
        ["poor", "fair"],
        ["fair", "fair"],
        ["good", "good"],
        ["poor", None],
        ["good", "fair"],
    ]
    order = ["poor", "fair", "good"]

    ordinal = krippendorff_alpha(words, "ordinal", order=order).value

    assert second_opinion(words, "krippendorff_alpha_ordinal", order=order) == pytest.approx(
        ordinal, abs=1e-12
    )
    assert second_opinion(words, "krippendorff_alpha_nominal") == pytest.approx(
        krippendorff_alpha(words).value, abs=1e-12
    )


def test_there_is_no_second_opinion_where_no_package_has_the_measure_or_no_value_exists() -> None:
    assert second_opinion([[1, 2], [2, 2]], "percent_agreement") is None
    assert second_opinion([[1, 2], [2, 2]], "gwet_ac1") is None
    assert second_opinion([[1, 2, 2], [2, 2, None]], "fleiss_kappa") is None
    assert second_opinion([[1, 1], [1, 1]], "krippendorff_alpha_nominal") is None
    with pytest.raises(ValueError, match="measure is 'cohen'"):
        second_opinion([[1, 2]], "cohen")


def _ac1_by_hand(ratings: list[list[int | None]], categories: int) -> float | None:
    """Gwet (2008), formulas of the multiple-rater form, written out unit by unit."""
    units = [[value for value in row if value is not None] for row in ratings]
    rated = [unit for unit in units if unit]
    paired = [unit for unit in units if len(unit) > 1]
    if not paired or categories < 2:
        return None
    agreed = 0.0
    for unit in paired:
        pairs = [(a, b) for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j]
        agreed += sum(a == b for a, b in pairs) / len(pairs) / len(paired)
    shares = [sum(unit.count(k) / len(unit) for unit in rated) / len(rated) for k in range(4)]
    expected = sum(share * (1 - share) for share in shares) / (categories - 1)
    return (agreed - expected) / (1 - expected)


# ---- what always holds -----------------------------------------------------------------------------------------

few_ratings = st.integers(1, 5).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([None, 0, 1, 2, 3]), min_size=raters, max_size=raters),
        min_size=1,
        max_size=25,
    )
)


@unhurried
@given(ratings=few_ratings, data=st.data(), measure=st.sampled_from(MEASURES))
def test_the_order_of_raters_and_units_does_not_matter(
    ratings: list[list[int | None]], data: st.DataObject, measure: str
) -> None:
    columns = data.draw(st.permutations(range(len(ratings[0]))))
    moved = [[row[column] for column in columns] for row in data.draw(st.permutations(ratings))]
    each_unit_by_others = [data.draw(st.permutations(row)) for row in ratings]

    result = agreement(ratings, measure, replicates=40)

    assert agreement(moved, measure, replicates=40) == result
    scrambled = agreement(each_unit_by_others, measure, replicates=40)
    assert (scrambled.value, scrambled.low, scrambled.high) == (result.value, result.low, result.high)


@unhurried
@given(ratings=few_ratings, measure=st.sampled_from(MEASURES))
def test_a_value_or_a_reason_never_both(ratings: list[list[int | None]], measure: str) -> None:
    result = agreement(ratings, measure, replicates=20)

    assert (result.value is None) == (result.reason is not None)
    assert (result.low is None) == (result.high is None)
    if result.value is not None:
        assert result.value <= 1
    if result.low is not None and result.high is not None:
        assert result.low <= result.high <= 1 + 1e-12
    assert result.units == sum(len(row) - row.count(None) >= 2 for row in ratings)
    assert result.raters == sum(
        any(value is not None for value in column) for column in zip(*ratings, strict=True)
    )


@unhurried
@given(ratings=few_ratings, level=st.sampled_from(LEVELS))
def test_every_small_alpha_equals_the_krippendorff_package(
    ratings: list[list[int | None]], level: str
) -> None:
    measure = f"krippendorff_alpha_{level}"
    ours, theirs = point(measure, ratings), second_opinion(ratings, measure)

    assert (ours is None) == (theirs is None)
    assert ours is None or ours == pytest.approx(theirs, abs=1e-12)


@unhurried
@given(
    labels=st.lists(st.sampled_from(["extraction", "reasoning", "neither"]), min_size=1, max_size=30),
    raters=st.integers(2, 5),
    measure=st.sampled_from(["fleiss_kappa", "krippendorff_alpha_nominal", "percent_agreement"]),
)
def test_identical_labels_agree_perfectly_or_cannot_be_told_from_chance(
    labels: list[str], raters: int, measure: str
) -> None:
    result = agreement([[label] * raters for label in labels], measure)

    if measure != "percent_agreement" and len(set(labels)) == 1:
        assert (result.value, result.reason) == (None, ONE_CATEGORY)
    else:
        assert result.value == 1
        # Of one unit there is no interval; of more, one that ends at 1.
        assert result.high == (None if len(labels) == 1 else 1)
        assert result.low is None or result.low < 1


@pytest.mark.parametrize("measure", CHANCE_CORRECTED)
@pytest.mark.parametrize("missing", [0, 0.2])
def test_random_labels_give_about_zero(measure: str, missing: float) -> None:
    ratings = simulated(20_000, 3, 4, accuracy=0, missing=missing, seed=3)

    assert abs(point(measure, ratings) or 0) < 0.02


@unhurried
@given(ratings=few_ratings, factor=st.sampled_from([-3, 0.25, 1e200]), shift=st.integers(-100, 100))
def test_interval_alpha_has_no_unit_and_no_origin(
    ratings: list[list[int | None]], factor: float, shift: int
) -> None:
    moved = [[None if value is None else value * factor + shift * factor for value in row] for row in ratings]

    before, after = (krippendorff_alpha(each, "interval", replicates=0).value for each in (ratings, moved))

    assert (before is None) == (after is None)
    assert before is None or before == pytest.approx(after, abs=1e-9)


def test_interval_alpha_of_small_differences_between_large_numbers_is_that_of_the_differences() -> None:
    ratings = simulated(60, 3, 4, 0.3, 0, seed=1)

    near, far = (krippendorff_alpha(each, "interval", replicates=0) for each in (ratings, ratings + 2**50))

    assert near.value == pytest.approx(far.value, abs=1e-12)


@unhurried
@given(ratings=few_ratings)
def test_ordinal_alpha_sees_ranks_only(ratings: list[list[int | None]]) -> None:
    words = ["never", "seldom", "often", "always"]
    worded = [[None if value is None else words[value] for value in row] for row in ratings]
    squared = [[None if value is None else value**2 for value in row] for row in ratings]

    result = krippendorff_alpha(ratings, "ordinal", replicates=30)

    assert krippendorff_alpha(worded, "ordinal", order=words, replicates=30) == result
    assert krippendorff_alpha(squared, "ordinal", replicates=30) == result


@unhurried
@given(ratings=few_ratings, measure=st.sampled_from(["fleiss_kappa", "krippendorff_alpha_nominal"]))
def test_nominal_values_do_not_depend_on_names(ratings: list[list[int | None]], measure: str) -> None:
    names = {0: "z", 1: ("a", 1), 2: 7.5, 3: frozenset({"r1", "c2"}), None: None}
    ours, renamed = (
        point(measure, ratings),
        point(measure, [[names[value] for value in row] for row in ratings]),
    )

    assert (ours is None) == (renamed is None)
    assert ours is None or ours == pytest.approx(renamed, abs=1e-12)


@unhurried
@given(ratings=few_ratings)
def test_ac1_is_what_its_formula_says_unit_by_unit(ratings: list[list[int | None]]) -> None:
    used = {value for row in ratings for value in row if value is not None}

    found = gwet_ac1(ratings, replicates=0).value
    on_four = gwet_ac1(ratings, order=[0, 1, 2, 3], replicates=0).value

    expected = _ac1_by_hand(ratings, len(used))
    assert (found is None) == (expected is None)
    assert found is None or found == pytest.approx(expected, abs=1e-12)
    assert on_four is None or on_four == pytest.approx(_ac1_by_hand(ratings, 4), abs=1e-12)


def test_ac1_stays_where_kappa_falls_because_nearly_all_is_of_one_category() -> None:
    patterns = [("yes", "yes"), ("yes", "no"), ("no", "no")]

    kappa = from_patterns(patterns, [118, 7, 0], "fleiss_kappa", raters=2).value or 0
    ac1 = from_patterns(patterns, [118, 7, 0], "gwet_ac1", raters=2).value or 0

    assert kappa < 0
    assert ac1 > 0.93


def test_ac1_of_one_category_is_perfect_where_the_scale_has_others() -> None:
    assert gwet_ac1([["yes", "yes"], ["yes", "yes"]]).reason == ONE_CATEGORY
    assert gwet_ac1([["yes", "yes"], ["yes", "yes"]], order=["yes", "no"]).value == 1
    with pytest.raises(ValueError, match="order lacks the category 'maybe'"):
        gwet_ac1([["yes", "maybe"]], order=["yes", "no"])


# ---- ratings that are sets -------------------------------------------------------------------------------------

FAULTS = [
    frozenset(),
    *map(frozenset, ({"scope"}, {"form"}, {"scope", "form"}, {"scope", "form", "unit"}, {"unit"})),
]
set_ratings = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([None, *FAULTS]), min_size=raters, max_size=raters), min_size=1, max_size=15
    )
)


@unhurried
@given(ratings=set_ratings, measure=st.sampled_from(SET_MEASURES))
def test_a_set_valued_alpha_equals_the_packages_with_nltks_distances(
    ratings: list[list[frozenset[str] | None]], measure: str
) -> None:
    ours, theirs = point(measure, ratings), second_opinion(ratings, measure)

    assert (ours is None) == (theirs is None)
    assert ours is None or ours == pytest.approx(theirs, abs=1e-12)


@unhurried
@given(ratings=set_ratings, data=st.data(), measure=st.sampled_from(SET_MEASURES))
def test_the_order_of_raters_and_units_of_sets_does_not_matter(
    ratings: list[list[frozenset[str] | None]], data: st.DataObject, measure: str
) -> None:
    columns = data.draw(st.permutations(range(len(ratings[0]))))
    moved = [[row[column] for column in columns] for row in data.draw(st.permutations(ratings))]

    assert agreement(moved, measure, replicates=30) == agreement(ratings, measure, replicates=30)


@pytest.mark.parametrize("measure", SET_MEASURES)
def test_sets_agree_by_chance_about_zero_and_identical_ones_perfectly(measure: str) -> None:
    generator = np.random.default_rng(2)
    random_ones = [[FAULTS[k] for k in generator.integers(0, 6, 3)] for _ in range(5000)]
    same = [[FAULTS[k]] * 3 for k in generator.integers(0, 6, 40)]

    assert abs(point(measure, random_ones) or 0) < 0.02
    assert point(measure, same) == 1


def test_sets_of_one_label_are_labels() -> None:
    ratings = simulated(80, 3, 4, 0.6, 0.1, seed=21)
    sets = [[None if value != value else frozenset({value}) for value in row] for row in ratings.tolist()]

    for level in ("jaccard", "masi"):
        assert krippendorff_alpha(sets, level).value == pytest.approx(krippendorff_alpha(ratings).value)


def test_masi_forgives_a_set_within_a_set_more_than_an_overlap() -> None:
    one, other, third = frozenset("a"), frozenset("ab"), frozenset("bc")
    within = [[one, other], [third, third], [one, one]]
    overlapping = [[third, other], [one, one], [third, third]]

    assert (krippendorff_alpha(within, "masi").value or 0) > (
        krippendorff_alpha(overlapping, "masi").value or 0
    )


def test_what_is_no_set_is_refused_and_too_many_sets_have_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="needs frozensets of labels; 1 is none"):
        krippendorff_alpha([[1, frozenset()]], "masi")
    sets = [[frozenset("a"), frozenset("b")], [frozenset("a"), frozenset("a")]]
    assert krippendorff_alpha(sets, "jaccard").value is not None
    monkeypatch.setattr("tableqa.agreement.rating_patterns.MOST_SETS", 1)
    result = krippendorff_alpha(sets, "jaccard")
    assert (result.value, result.reason) == (None, TOO_MANY_SETS)
    assert [len(part) for part in influence(sets, "krippendorff_alpha_jaccard")] == [0, 0]


@pytest.mark.parametrize("distance", ["jaccard", "masi"])
@unhurried
@given(sets=st.lists(st.frozensets(st.sampled_from("abcdef")), min_size=2, max_size=12, unique=True))
def test_distances_of_sets_are_those_of_their_sizes(
    distance: Literal["jaccard", "masi"], sets: list[frozenset[str]]
) -> None:
    apart = rating_patterns._apart(list(sets), f"krippendorff_alpha_{distance}")

    assert apart is not None
    for row, row_set in enumerate(sets):
        for column, other in enumerate(sets):
            common = len(row_set & other)
            assert apart[row, column] == distance_of_sizes(common, len(row_set), len(other), distance)


# ---- influence -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", MEASURES)
def test_the_influence_of_units_gives_the_spread_that_the_bootstrap_gives(measure: str) -> None:
    ratings = simulated(400, 3, 3, 0.7, 0.1, seed=31)

    moved, counts = influence(ratings, measure)
    result = agreement(ratings, measure, replicates=4000)

    number = counts.sum()
    deviation = float(np.sqrt((moved**2 * counts).sum() / number / number))
    assert ((result.high or 0) - (result.low or 0)) / 2 == pytest.approx(1.96 * deviation, rel=0.06)
    assert abs((moved * counts).sum() / number) < 0.02


def test_the_influence_is_what_leaving_a_unit_out_does() -> None:
    ratings = simulated(40, 3, 3, 0.6, 0, seed=32)
    value = point("fleiss_kappa", ratings) or 0

    moved, counts = influence(ratings, "fleiss_kappa")

    by_hand = sorted(
        39 * (value - (point("fleiss_kappa", np.delete(ratings, unit, axis=0)) or 0)) for unit in range(40)
    )
    assert sorted(np.repeat(moved, counts)) == pytest.approx(by_hand, abs=1e-9)


def test_counted_patterns_have_the_influence_of_the_ratings() -> None:
    ratings = simulated(60, 3, 3, 0.6, 0.1, seed=33)
    counted = Counter(tuple(row) for row in ratings.tolist())

    moved, counts = influence(ratings, "krippendorff_alpha_ordinal")
    again = influence_of_patterns(list(counted), list(counted.values()), "krippendorff_alpha_ordinal")

    assert again[0] == pytest.approx(moved)
    assert list(again[1]) == list(counts)


def test_of_very_many_patterns_a_sample_has_its_influence_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = np.random.default_rng(1).normal(0, 1, (300, 3))
    everything, _ = influence(ratings, "krippendorff_alpha_interval")

    monkeypatch.setattr("tableqa.agreement.coefficients._JACKKNIFED", 100)
    moved, counts = influence(ratings, "krippendorff_alpha_interval")

    assert counts.sum() == 100
    assert set(moved) <= set(everything)


@pytest.mark.parametrize("ratings", [[], [[1, 2]], [[1, 1], [1, 1]], [[1, 1], [1, 2]]])
def test_where_a_unit_decides_whether_there_is_a_value_there_is_no_influence(ratings: list) -> None:
    assert len(influence(ratings, "krippendorff_alpha_nominal")[0]) == 0


# ---- the interval ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(5))
def test_the_interval_holds_the_value_and_narrows_with_more_units(measure: str, seed: int) -> None:
    small, large = (agreement(simulated(units, 3, 3, 0.7, 0.1, seed), measure) for units in (100, 1600))

    for result in (small, large):
        assert (result.low or 0) < (result.value or 0) < (result.high or 0)
    ratio = ((small.high or 0) - (small.low or 0)) / ((large.high or 0) - (large.low or 0))
    assert 3 < ratio < 5.5  # four times, but for chance


@pytest.mark.parametrize("measure", MEASURES)
def test_a_seed_fixes_the_interval(measure: str) -> None:
    ratings = simulated(80, 3, 3, 0.6, 0.1, seed=2)

    assert agreement(ratings, measure, seed=7) == agreement(ratings, measure, seed=7)
    assert agreement(ratings, measure, seed=7).low != agreement(ratings, measure, seed=8).low


def test_a_wider_confidence_gives_a_wider_interval() -> None:
    ratings = simulated(80, 3, 3, 0.6, 0.1, seed=2)

    narrow, wide = (fleiss_kappa(ratings, confidence=confidence) for confidence in (0.8, 0.99))

    assert (wide.low or 0) < (narrow.low or 0) < (narrow.high or 0) < (wide.high or 0)


@under(RULES_OF_PERCENTILES)
@pytest.mark.parametrize("measure", CHANCE_CORRECTED)
@pytest.mark.parametrize("continuous", [False, True])
def test_drawing_patterns_is_drawing_units(measure: str, continuous: bool) -> None:
    # Few patterns are drawn by a multinomial over them, many (continuous ratings) as single units: both have to have
    # the quantiles of a plain bootstrap that picks rows with replacement and computes the measure anew.
    ratings = simulated(60, 3, 3, 0.6, 0.15, seed=4)
    if continuous:
        if measure in ("fleiss_kappa", "krippendorff_alpha_nominal", "gwet_ac1"):
            ratings = np.where(np.arange(60)[:, None] < 55, ratings + 10 * np.arange(60)[:, None], ratings)
        else:
            ratings = ratings + np.random.default_rng(1).normal(0, 0.05, ratings.shape)
    rated = ratings[(~np.isnan(ratings)).sum(axis=1) >= (1 if measure in WITH_SINGLE else 2)]
    # The scale stays that of all units, whatever a draw leaves out.
    scale = np.unique(rated[~np.isnan(rated)]).tolist() if measure == "gwet_ac1" else None
    generator = np.random.default_rng(99)

    resamples = (rated[generator.integers(0, len(rated), len(rated))] for _ in range(1500))
    values = (agreement(resample, measure, order=scale, replicates=0).value for resample in resamples)
    plain = [value for value in values if value is not None]

    spread = float(np.std(plain))
    for confidence in (0.5, 0.8, 0.95):
        ours = agreement(ratings, measure, replicates=4000, confidence=confidence)
        low, high = np.quantile(plain, [(1 - confidence) / 2, (1 + confidence) / 2])
        assert ours.low == pytest.approx(low, abs=0.2 * spread)
        assert ours.high == pytest.approx(high, abs=0.2 * spread)


@under(RULES_OF_PERCENTILES)
def test_replicates_without_a_value_are_left_out_and_counted() -> None:
    # Of two units one is drawn twice in half the resamples; only (1, 1) drawn twice leaves a single category.
    result = krippendorff_alpha([[1, 1], [1, 2]], replicates=2000)

    assert result.left_out == pytest.approx(500, abs=80)
    assert (result.low, result.high) == (-0.5, 0)
    assert percent_agreement([[1, 1], [1, 2]], replicates=2000).left_out == 0


@under(RULES_OF_PERCENTILES)
def test_a_draw_of_one_category_is_left_out_whatever_its_rounded_distances_are() -> None:
    # The mean of several 0.1 is not quite 0.1, so that the distances in such a draw are not quite zero.
    ratings = [[0.1, 0.1, 0.1], [0.3, 0.3, 0.3], [0.1, 0.3, 0.3]]

    left_out = [krippendorff_alpha(ratings, level).left_out for level in LEVELS]

    assert left_out[0] > 0
    assert left_out == [left_out[0]] * 3


@under(RULES_OF_PERCENTILES)
@pytest.mark.parametrize(("copies", "singly"), [(9, True), (10, False)])
def test_units_are_drawn_singly_where_fewer_than_ten_have_the_same_ratings(
    copies: int, singly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A seed gives other draws in the other way, so which way it is belongs to the result.
    drawn = []

    def ones(generator: np.random.Generator, owner: np.ndarray, rows: int, count: int) -> np.ndarray:
        drawn.append(rows)
        return np.ones((rows, count))

    monkeypatch.setattr("tableqa.agreement.coefficients._singly", ones)

    krippendorff_alpha([[1, 1], [1, 2]] * copies)

    assert bool(drawn) is singly


def test_one_unit_has_a_value_but_no_interval() -> None:
    result = krippendorff_alpha([[1, 2], [3, None]])

    assert (result.value, result.low, result.high, result.note) == (0, None, None, ONE_UNIT)


def test_no_replicates_no_interval() -> None:
    result = fleiss_kappa(KRIPPENDORFF_2011, replicates=0)

    assert (result.low, result.high, result.replicates) == (None, None, 0)


def test_units_without_ratings_change_nothing() -> None:
    ratings = simulated(50, 3, 3, 0.6, 0.1, seed=6)
    padded = np.vstack([np.full((20, 3), np.nan), ratings])

    for measure in MEASURES:
        assert agreement(padded, measure) == agreement(ratings, measure)


def test_alpha_takes_nothing_from_a_unit_with_one_rating() -> None:
    ratings = [[1, 2], [2, 2], [1, 1], [2, 1]]

    for level in LEVELS:
        with_single = krippendorff_alpha([*ratings, [3, None]], level)
        assert with_single == krippendorff_alpha(ratings, level)


# ---- ratings in every form -------------------------------------------------------------------------------------

FORMS: dict[str, Callable[[np.ndarray], object]] = {
    "floats with NaN": lambda ratings: ratings,
    "narrow floats": lambda ratings: ratings.astype(np.float16),
    "lists with None": lambda ratings: [
        [None if v != v else int(v) for v in row] for row in ratings.tolist()
    ],
    "objects": lambda ratings: np.array(
        [[None if v != v else v for v in row] for row in ratings.tolist()], object
    ),
    "a masked array": lambda ratings: np.ma.masked_invalid(ratings),
    "masked whole numbers": lambda ratings: np.ma.masked_equal(
        np.nan_to_num(ratings, nan=9).astype(np.uint8), 9
    ),
    "a data frame": lambda ratings: pd.DataFrame(ratings).to_numpy(),
    "pandas' whole numbers": lambda ratings: pd.DataFrame(ratings).astype("Int64").to_numpy(),
    "columns first in memory": lambda ratings: np.asfortranarray(ratings),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("measure", MEASURES)
def test_the_form_of_the_ratings_does_not_matter(measure: str, form: str) -> None:
    ratings = simulated(120, 3, 4, 0.6, 0.2, seed=8)

    assert agreement(FORMS[form](ratings), measure) == agreement(ratings, measure)


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, np.float32, np.float64]
)
def test_every_type_of_number_is_read(dtype: type) -> None:
    ratings = simulated(90, 3, 2, 0.6, 0, seed=9)

    assert krippendorff_alpha(ratings.astype(dtype), "interval") == krippendorff_alpha(ratings, "interval")


@pytest.mark.parametrize(
    "ends", [(-128, 127), (-(2**63), 2**63 - 1), (0, 2**14 - 2), (0.5, 0.75), (-1e300, 1e300)]
)
def test_far_and_near_numbers_are_told_apart(ends: tuple[float, float]) -> None:
    dtype = np.int8 if ends == (-128, 127) else None
    ratings = np.array([[ends[0], ends[1]], [ends[1], ends[1]], [ends[0], ends[0]]], dtype=dtype)
    expected = krippendorff_alpha([[0, 1], [1, 1], [0, 0]], "interval")

    assert krippendorff_alpha(ratings, "interval").value == pytest.approx(expected.value)
    assert krippendorff_alpha(ratings, "nominal").value == pytest.approx(expected.value)


def test_minus_one_is_a_category() -> None:
    # FREB-TQA codes "neither" as -1: it is a label like any other, not a missing one.
    assert fleiss_kappa(np.array([[-1, 0], [-1, -1], [0, 0]])).units == 3


def test_the_words_nan_and_none_are_labels() -> None:
    result = fleiss_kappa([["nan", "None"], ["nan", "nan"], ["", "None"], ["x", NAN]])

    assert (result.units, result.ratings) == (3, 6)


def test_the_canonical_order_does_not_depend_on_who_hashes() -> None:
    program = (
        "from tableqa.agreement.coefficients import agreement\n"
        "cells = [frozenset({'r1', 'c2'}), frozenset({'r2', 'c2', 'r9'}), frozenset({'a', 'b'})]\n"
        "print(agreement([[cells[i % 3], cells[(i * i) % 3]] for i in range(40)], 'krippendorff_alpha_nominal'))"
    )

    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(printed) == 1


def test_words_come_before_other_labels_and_those_in_the_order_of_their_types() -> None:
    ordered = ["word", frozenset({"a", "b"}), (1, 2)]
    numbers = simulated(20, 2, 3, 0.2, 0, seed=2).astype(int).tolist()

    mixed = fleiss_kappa([[ordered[number] for number in row] for row in numbers])

    assert mixed == fleiss_kappa(numbers)  # the same draws, and so the same interval


def test_numpy_waits_until_it_is_needed() -> None:
    program = "import sys, tableqa.agreement.coefficients; print('numpy' in sys.modules)"

    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert shown.strip() == "False"


# ---- counted patterns ------------------------------------------------------------------------------------------


@unhurried
@given(ratings=few_ratings, measure=st.sampled_from(MEASURES))
def test_counted_patterns_give_what_the_ratings_give(ratings: list[list[int | None]], measure: str) -> None:
    written_out = agreement(ratings, measure, replicates=40)
    counted = Counter(tuple(row) for row in ratings)
    sorted_and_bare = Counter(tuple(sorted(v for v in row if v is not None)) for row in ratings)

    for patterns in (counted, sorted_and_bare):
        result = from_patterns(
            list(patterns), list(patterns.values()), measure, raters=written_out.raters, replicates=40
        )
        assert result == written_out


def test_patterns_that_are_equal_are_added_up_and_those_that_never_occur_left_out() -> None:
    apart = from_patterns(
        [("a", "b"), ("b", "a"), ("a", "a"), ("z", "z")], [2, 3, 4, 0], "fleiss_kappa", raters=2
    )

    assert apart == from_patterns([("a", "b"), ("a", "a")], [5, 4], "fleiss_kappa", raters=2)


def test_a_million_units_in_three_patterns() -> None:
    result = from_patterns(
        [(1, 1, 1), (1, 1, 2), (2, 2, 2)], [500_000, 200_000, 300_000], "krippendorff_alpha_ordinal", raters=9
    )

    assert (result.units, result.raters, result.ratings) == (1_000_000, 9, 3_000_000)
    assert (result.high or 0) - (result.low or 0) < 0.01


@pytest.mark.parametrize(
    ("patterns", "counts", "raters", "complaint"),
    [
        ([("a", "b")], [1, 2], 2, "one whole number for each of the 1 patterns"),
        ([("a", "b")], [1.5], 2, "one whole number"),
        ([("a", "b")], [-1], 2, "negative"),
        ([("a", "b", "a")], [1], 2, "raters is 2, but a pattern holds 3 ratings"),
        (["ab"], [1], 2, "A unit is 'ab'"),
    ],
)
def test_patterns_and_counts_have_to_fit(patterns: list, counts: list, raters: int, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        from_patterns(patterns, counts, "fleiss_kappa", raters=raters)


def test_no_patterns_are_no_units() -> None:
    assert from_patterns([], [], "fleiss_kappa", raters=0).reason == NO_PAIR


# ---- many patterns ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", HAVE_A_SECOND_OPINION)
def test_many_raters_and_many_categories_equal_the_packages(measure: str) -> None:
    # More possible patterns than 64-bit keys: 31 columns, 60 categories.
    generator = np.random.default_rng(12)
    ratings = np.where(generator.random((150, 31)) < 0.5, np.nan, generator.integers(0, 60, (150, 31)))
    if measure == "fleiss_kappa":
        ratings = generator.integers(0, 60, (150, 31)).astype(float)

    result = agreement(ratings, measure, replicates=50)

    assert result.value == pytest.approx(second_opinion(ratings, measure), abs=1e-12)
    assert (result.low or 0) < (result.high or 0)


@pytest.mark.parametrize("measure", CHANCE_CORRECTED)
def test_drawing_in_chunks_changes_nothing(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = simulated(400, 4, 6, 0.5, 0.1, seed=13)
    at_once = agreement(ratings, measure, replicates=60)

    monkeypatch.setattr("tableqa.agreement.estimators._DENSE", 700)
    in_chunks = agreement(ratings, measure, replicates=60)

    assert in_chunks.value == pytest.approx(at_once.value, abs=1e-12)
    assert in_chunks.low == pytest.approx(at_once.low, abs=1e-12)
    assert in_chunks.high == pytest.approx(at_once.high, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_table_of_rows_and_sorted_rows_count_the_same(
    measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratings = simulated(300, 4, 4, 0.5, 0.2, seed=14)
    by_table = agreement(ratings, measure, replicates=60)

    monkeypatch.setattr("tableqa.agreement.rating_patterns._TABLE", 1)

    assert agreement(ratings, measure, replicates=60) == by_table


# ---- undefined, and refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "ratings",
    [[], [[]], [[1]], [[1, None], [None, 2]], np.zeros((0, 3)), np.zeros((3, 0)), np.full((4, 2), np.nan)],
)
def test_without_two_ratings_of_a_unit_there_is_nothing_to_compare(measure: str, ratings: object) -> None:
    result = agreement(ratings, measure)

    assert (result.value, result.low, result.high, result.reason) == (None, None, None, NO_PAIR)
    assert (result.units, result.ratings) == (0, 0)


@pytest.mark.parametrize("measure", CHANCE_CORRECTED)
def test_one_category_cannot_be_told_from_chance(measure: str) -> None:
    result = agreement([[3, 3, 3], [3, None, 3]], measure)

    assert (result.value, result.reason, result.units, result.raters) == (None, ONE_CATEGORY, 2, 3)
    assert percent_agreement([[3, 3], [3, 3]]).value == 1


def test_words_have_an_order_only_if_it_is_given() -> None:
    words = [["low", "high"], ["low", "low"], ["mid", "low"]]

    with pytest.raises(ValueError, match="needs order="):
        krippendorff_alpha(words, "ordinal")
    with pytest.raises(ValueError, match="order lacks the category 'mid'"):
        krippendorff_alpha(words, "ordinal", order=["low", "high"])
    with pytest.raises(ValueError, match="names a category twice"):
        krippendorff_alpha(words, "ordinal", order=["low", "mid", "high", "low"])
    with pytest.raises(ValueError, match="order is for the ordinal level only"):
        krippendorff_alpha(words, "nominal", order=["low", "mid", "high"])
    used = krippendorff_alpha(words, "ordinal", order=["low", "mid", "high"])
    spare = krippendorff_alpha(words, "ordinal", order=["lowest", "low", "lower mid", "mid", "high"])
    assert used == spare


@pytest.mark.parametrize("odd", ["7", float("inf"), Decimal("1.5")])
def test_an_interval_needs_finite_numbers(odd: object) -> None:
    with pytest.raises(ValueError, match="finite numbers"):
        krippendorff_alpha([[1, odd], [2, 2]], "interval")


@pytest.mark.parametrize(
    ("ratings", "complaint"),
    [
        (np.zeros(3), r"has 1 dimension\(s\)"),
        (np.zeros((2, 2, 2)), r"has 3 dimension\(s\)"),
        ([1, 2, 3], "A unit is 1"),
        (["ab", "cd"], "A unit is 'ab'"),
        ([[1, 2], [1, 2, 3]], "Unit 1 has 3 columns and unit 0 has 2"),
        ([[1, [2]], [1, 1]], "Unit 0 holds a rating that cannot be a label"),
    ],
)
def test_what_is_no_units_by_raters_is_refused(ratings: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        fleiss_kappa(ratings)


@pytest.mark.parametrize(
    ("request_", "complaint"),
    [
        ({"replicates": -1}, "replicates is -1"),
        ({"confidence": 1}, "confidence is 1"),
        ({"confidence": 95}, "confidence is 95"),
    ],
)
def test_a_senseless_request_is_refused(request_: dict[str, int], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        fleiss_kappa([[1, 2]], **request_)  # type: ignore[arg-type]


def test_an_unknown_measure_or_level_is_refused() -> None:
    with pytest.raises(
        ValueError, match="measure is 'kappa'; it must be one of percent_agreement, fleiss_kappa"
    ):
        agreement([[1, 2]], "kappa")
    with pytest.raises(ValueError, match="measure is 'krippendorff_alpha_ratio'"):
        krippendorff_alpha([[1, 2]], "ratio")


def test_a_result_cannot_be_changed() -> None:
    result = fleiss_kappa([[1, 2], [1, 1]])

    assert isinstance(result, Agreement)
    with pytest.raises(FrozenInstanceError):
        result.value = 1.0  # type: ignore[misc]


@unhurried
@given(
    units=st.integers(2, 200),
    raters=st.integers(2, 6),
    categories=st.integers(2, 8),
    seed=st.integers(0, 10_000),
)
def test_kappa_and_alpha_meet_as_units_grow(units: int, raters: int, categories: int, seed: int) -> None:
    # With complete ratings alpha = 1 - (1 - kappa)(n - 1)/n for n ratings in all (Krippendorff 2018, chapter 12).
    ratings = simulated(units, raters, categories, 0.5, 0, seed)
    kappa, alpha = point("fleiss_kappa", ratings), point("krippendorff_alpha_nominal", ratings)

    if kappa is None or alpha is None:
        assert kappa is alpha
    else:
        n = units * raters
        assert alpha == pytest.approx(1 - (1 - kappa) * (n - 1) / n, abs=1e-12)


@pytest.mark.parametrize("shift", [2**53, 2**63, -(2**63) - 1, 2**70])
def test_large_whole_numbers_stay_apart(shift: int) -> None:
    one, other, small = shift, shift + 1, 1
    rows = [[one, other], [one, one], [small, small]]
    nominal = agreement(rows, "krippendorff_alpha_nominal").value
    assert nominal == pytest.approx(1 - (1 / 3) / (22 / 30))
    assert agreement([*rows, [None, one]], "krippendorff_alpha_nominal").value == nominal
    near: list[list[float]] = [[shift, shift + 1], [shift, shift], [shift + 2, shift + 2]]
    plain = [[0, 1], [0, 0], [2, 2]]
    for measure in ("krippendorff_alpha_interval", "krippendorff_alpha_ordinal", "percent_agreement"):
        assert agreement(near, measure).value == pytest.approx(agreement(plain, measure).value)
    if float(shift) == shift:  # as decimals of some tools are written: 9007199254740992.0
        near[0][0] = float(shift)
        mixed = agreement(near, "krippendorff_alpha_interval").value
        assert mixed == pytest.approx(agreement(plain, "krippendorff_alpha_interval").value)
