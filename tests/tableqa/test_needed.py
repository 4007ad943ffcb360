"""How many more items: the promise is kept in simulated continuations, and nothing is promised from too little."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tableqa.agreement import cell_sets
from tableqa.agreement.coefficients import agreement
from tableqa.agreement.measures import NO_PAIR, ONE_CATEGORY, Agreement
from tableqa.agreement.sample_size import FEWEST_UNITS, RequiredUnits, for_patterns, for_ratings, units_needed

SHARES = (0.6, 0.3, 0.1)


def _rated(units: int, generator: np.random.Generator, accuracy: float = 0.8) -> np.ndarray:
    truth = generator.choice(3, (units, 1), p=SHARES)
    guesses = generator.choice(3, (units, 3), p=SHARES)
    return np.where(generator.random((units, 3)) < accuracy, truth, guesses)


@pytest.mark.parametrize("measure", ["fleiss_kappa", "krippendorff_alpha_ordinal", "gwet_ac1"])
def test_the_promised_number_reaches_the_wanted_width_in_most_continuations(measure: str) -> None:
    reached = {"likely": 0, "safe": 0}
    for seed in range(40):
        generator = np.random.default_rng(seed)
        first = _rated(100, generator)
        promise = for_ratings(first, measure, 0.05)
        assert promise.reason is None
        for name, more in (("likely", promise.likely or 0), ("safe", promise.safe or 0)):
            continued = np.vstack([first, _rated(more, generator)])
            result = agreement(continued, measure)
            reached[name] += (result.high or 0) - (result.low or 0) <= 2 * 0.05

    assert reached["safe"] >= 36
    assert 10 <= reached["likely"] <= 34  # about as likely as not


def test_the_promise_for_cell_sets_is_kept_too() -> None:
    reached = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)

        def units(number: int, generator: np.random.Generator = generator) -> list[cell_sets.Unit]:
            found: list[cell_sets.Unit] = []
            for _ in range(number):
                base = {("r0", f"c{k}") for k in generator.choice(6, 2, replace=False)}
                other = {("r1", f"c{k}") for k in generator.choice(6, 2, replace=False)}
                found.append(
                    ((5, 6), [frozenset(base), frozenset(base if generator.random() < 0.7 else other)])
                )
            return found

        first = units(80)
        counted = Counter(cell_sets.pattern_of(shape, sets, 0) for shape, sets in first)
        promise = units_needed(
            cell_sets.cell_set_agreement(first), *cell_sets.influence(counted), target=0.06
        )
        result = cell_sets.cell_set_agreement(first + units(promise.safe or 0))
        reached += (result.high or 0) - (result.low or 0) <= 2 * 0.06

    assert reached >= 18


def test_counted_patterns_promise_what_the_ratings_promise() -> None:
    ratings = _rated(80, np.random.default_rng(1)).tolist()
    counted = Counter(tuple(row) for row in ratings)

    from_counts = for_patterns(list(counted), list(counted.values()), "fleiss_kappa", raters=3, target=0.05)

    assert from_counts == for_ratings(ratings, "fleiss_kappa", 0.05)
    assert from_counts.units == 80


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 1000), units=st.integers(40, 200), wanted=st.sampled_from([0.02, 0.05, 0.1, 0.5]))
def test_a_narrower_interval_never_needs_fewer_items(seed: int, units: int, wanted: float) -> None:
    ratings = _rated(units, np.random.default_rng(seed))

    wide, narrow = (
        for_ratings(ratings, "fleiss_kappa", each, replicates=200) for each in (wanted, wanted / 2)
    )

    assert wide.reason == narrow.reason
    if wide.likely is not None and wide.safe is not None:
        assert 0 <= wide.likely <= wide.safe
        assert wide.likely <= (narrow.likely or 0)
        assert wide.safe <= (narrow.safe or 0)
        assert (wide.likely == 0) == ((wide.half_width or 0) <= wanted)


def test_what_is_reached_already_needs_nothing() -> None:
    found = for_ratings(_rated(400, np.random.default_rng(2)), "fleiss_kappa", 0.5)

    assert (found.likely, found.safe) == (0, 0)
    assert found.sentence == "The confidence interval is already within ± 0.5."


@pytest.mark.parametrize(
    ("ratings", "said"),
    [
        ([[1, None]] * 50, NO_PAIR),
        ([[1, 1]] * 50, ONE_CATEGORY),
        ([[1, 1], [2, 1]] * 9, f"Only 18 items have two ratings so far. At least {FEWEST_UNITS} are"),
        ([[1, 2]], "Only 1 item has two ratings so far"),
        ([[1, 1], [2, 2]] * 50, "All items have the same result"),
        (
            [[1, 1], [2, 2]] * 50 + [[1, 2]] * 2,
            "Too few items vary: the confidence interval depends on 2 of 102 items.",
        ),
        ([[1, 1]] * 60 + [[1, 2]], "Nearly all ratings are in one category"),
    ],
)
def test_where_too_little_is_known_nothing_is_promised(ratings: list, said: str) -> None:
    found = for_ratings(ratings, "fleiss_kappa", 0.05)

    assert said in (found.reason or "")
    assert (found.likely, found.safe) == (None, None)
    assert found.sentence == f"Not enough data yet to estimate how many more items are needed. {found.reason}"


def test_an_agreement_without_an_interval_is_nothing_to_start_from() -> None:
    without = Agreement(0.5, None, None, 100, 3, 300, "fleiss_kappa")

    assert units_needed(without, np.ones(2), np.ones(2, int), target=0.1).reason == (
        "The measure has no confidence interval yet."
    )
    with pytest.raises(ValueError, match="The wanted half-width is 0"):
        for_ratings([[1, 2]], "fleiss_kappa", 0)


@pytest.mark.parametrize(
    ("likely", "safe", "sentence"),
    [
        (0, 9, "The confidence interval is just within ± 0.05 and may widen again."),
        (1, 1, "About 1 more labelled item would bring the confidence interval within ± 0.05."),
        (
            1200,
            1500,
            (
                "About 1,200 more labelled items would bring the confidence interval within ± 0.05. "
                "Plan 1,500 to be safe, assuming similar items."
            ),
        ),
    ],
)
def test_the_sentence_says_both_numbers(likely: int, safe: int, sentence: str) -> None:
    assert RequiredUnits(0.05, 100, 0.1, likely, safe).sentence == sentence
