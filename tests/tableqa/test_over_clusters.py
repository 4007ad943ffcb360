"""Comparisons that share a response are no independent units: the interval draws whole items."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.quality import agreement_report as of_batches
from annotation.quality import rating_tallies
from annotation.quality.compared_responses import RatedResponse
from tableqa.agreement import cell_sets
from tableqa.agreement import edits as agreement_edits
from tableqa.agreement.coefficients import agreement, from_patterns, over_clusters
from tasks.contract import Measure, task_type

LABELS = ("a", "b", "c")


def items(number: int = 20, people: int = 6, seed: int = 3) -> list[list[str]]:
    """One person's label and those of the others; of each item the others are mostly of one mind."""
    generator = random.Random(seed)
    found = []
    for _ in range(number):
        usual = generator.choice(LABELS)
        others = [usual if generator.random() < 0.85 else generator.choice(LABELS) for _ in range(people - 1)]
        found.append([usual if generator.random() < 0.45 else generator.choice(LABELS), *others])
    return found


def pairs_of(item: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple((item[0], other) for other in item[1:])


def test_the_interval_is_that_of_items_drawn_with_replacement() -> None:
    found = items()
    pairs = [pair for item in found for pair in pairs_of(item)]
    counted = Counter(pairs)
    whole = from_patterns(list(counted), list(counted.values()), "krippendorff_alpha_nominal", raters=6)

    clustered = over_clusters(whole, Counter(map(pairs_of, found)), "krippendorff_alpha_nominal")

    generator = random.Random(1)
    drawn = [
        agreement(
            [pair for item in generator.choices(found, k=len(found)) for pair in pairs_of(item)],
            "krippendorff_alpha_nominal",
            replicates=0,
        ).value
        for _ in range(1_000)
    ]
    low, high = np.quantile([one for one in drawn if one is not None], [0.025, 0.975])
    assert (clustered.low, clustered.high) == pytest.approx((low, high), abs=0.05)
    assert clustered.value == whole.value
    assert None not in (clustered.low, clustered.high, whole.low, whole.high)
    assert clustered.high - clustered.low > 1.3 * (whole.high - whole.low)  # type: ignore[operator]


@given(
    st.lists(st.lists(st.sampled_from(LABELS), min_size=2, max_size=4), min_size=2, max_size=8), st.randoms()
)
def test_neither_the_order_of_items_nor_of_people_matters(
    found: list[list[str]], generator: random.Random
) -> None:
    def figure(of: list[list[str]]) -> tuple[float | None, float | None]:
        counted = Counter(pair for item in of for pair in pairs_of(item))
        whole = from_patterns(list(counted), list(counted.values()), "fleiss_kappa", raters=4)
        one = over_clusters(whole, Counter(map(pairs_of, of)), "fleiss_kappa")
        return one.low, one.high

    mixed = [
        [item[0], *generator.sample(item[1:], len(item) - 1)] for item in generator.sample(found, len(found))
    ]
    assert figure(found) == figure(mixed)


def test_of_one_item_there_is_no_interval() -> None:
    (item,) = items(1)
    counted = Counter(pairs_of([*item, "a", "b", "c"]))
    whole = from_patterns(list(counted), list(counted.values()), "percent_agreement", raters=9)

    one = over_clusters(whole, Counter([pairs_of([*item, "a", "b", "c"])]), "percent_agreement")

    assert whole.low is not None
    assert (one.value, one.low, one.high) == (whole.value, None, None)


def test_sets_of_cells_and_edits_are_drawn_by_item_too() -> None:
    generator = random.Random(5)
    cells = [(f"r{row}", f"c{column}") for row in range(4) for column in range(3)]
    patterns: Counter[tuple[cell_sets.Pattern, ...]] = Counter()
    together = []
    for number in range(15):
        usual = frozenset(generator.sample(cells, 3))
        own = usual if generator.random() < 0.5 else frozenset(generator.sample(cells, 3))
        patterns[(cell_sets.pattern_of((4, 3), [own, usual], number),) * 5] += 1
        edits = [frozenset((*cell, "x") for cell in one) for one in (own, usual)]
        together.append([(12, edits)] * 5)
    each = Counter(
        {pattern: times for cluster in patterns for pattern, times in ((cluster[0], patterns[cluster]),)}
    )
    once = cell_sets.from_patterns(each, raters=6)
    five = cell_sets.from_patterns(Counter({one: 5 * times for one, times in each.items()}), raters=6)

    clustered = cell_sets.over_clusters(five, patterns)

    assert clustered.value == pytest.approx(once.value)
    assert (clustered.low, clustered.high) == pytest.approx((once.low, once.high), abs=0.1)
    assert clustered.high - clustered.low > 1.5 * (five.high - five.low)  # type: ignore[operator]
    flat = [unit for cluster in together for unit in cluster]
    of_edits = agreement_edits.edit_agreement(flat)
    by_item = agreement_edits.over_clusters(of_edits, together)
    assert by_item.value == of_edits.value
    assert by_item.high - by_item.low > 1.5 * (of_edits.high - of_edits.low)  # type: ignore[operator]


def test_a_survey_gives_people_intervals_over_items_with_their_number() -> None:
    kind = task_type("question_type")
    (measure,) = [one for one in kind.measures if isinstance(one, Measure)][:1]
    names = {"a": "extraction", "b": "reasoning", "c": "neither"}
    rows = [
        RatedResponse(f"i{number:02}", f"p{who}", kind.restore({"label": names[label]}))
        for number, item in enumerate(items())
        for who, label in enumerate(item)
    ]
    (one,) = of_batches.survey_measures([measure], rows)
    tally = one.people["p0"]
    apart = rating_tallies.RatingTally(measure, tally.patterns, tally.raters)

    people = {person["person"]: person for person in of_batches._survey_data(one, one.whole)["people"]}

    assert people["p0"]["items"] == 20
    assert people["p0"]["units"] == 100 == len(list(combinations(range(2), 2))) * 100
    wide, narrow = (of.agreement(one.statistic) for of in (tally, apart))
    assert wide.value == narrow.value
    assert wide.high - wide.low > 1.3 * (narrow.high - narrow.low)  # type: ignore[operator]
    assert people["p0"]["low"] == pytest.approx(wide.low, abs=1e-6)
