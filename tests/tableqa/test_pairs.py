"""Figures of pairs by the standard library alone are those of an evaluation."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.scoring.evaluation import JudgedInstance, Judgement, figures
from tableqa.scoring.matching import Instance
from tableqa.scoring.pairs import ABOVE, Pairs, figures_of

pairs_of_sources = st.dictionaries(
    st.sampled_from("abc"),
    st.dictionaries(
        st.sampled_from("pqrstuv"),
        st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=3),
        min_size=1,
    ),
    min_size=1,
)


def evaluated(
    pairs: Pairs, replicates: int
) -> dict[str, tuple[float | None, float | None, float | None, int]]:
    judged = [
        JudgedInstance(Instance(source, f"{id}{seed}", id, "transpose", seed, id, ()), *pair)
        for source, questions in pairs.items()
        for id, of_question in questions.items()
        for seed, pair in enumerate(of_question)
    ]
    row = figures(Judgement(tuple(judged)), replicates=replicates).rows[0]
    estimates = {name: getattr(row, name) for name in ABOVE}
    return {name: (one.value, one.low, one.high, one.n) for name, one in estimates.items()}


@given(pairs_of_sources)
def test_values_and_numbers_of_questions_are_those_of_an_evaluation(pairs: Pairs) -> None:
    computed = figures_of(pairs, replicates=10)
    for name, (value, _, _, n) in evaluated(pairs, 10).items():
        assert computed[name].value == (None if value is None else pytest.approx(value, abs=1e-9))
        assert computed[name].n == n


def test_intervals_are_close_to_those_of_an_evaluation() -> None:
    draw = Random(5)
    pairs = {
        source: {str(id): [(draw.random() < 0.7, draw.random() < 0.5) for _ in range(2)] for id in range(80)}
        for source in "ab"
    }
    computed = figures_of(pairs)
    for name, (_, low, high, _) in evaluated(pairs, 1_000).items():
        assert (computed[name].low, computed[name].high) == pytest.approx((low, high), abs=0.015)


def test_equal_questions_have_the_interval_of_an_evaluation() -> None:
    pairs = {
        "a": {str(id): [(True, True)] for id in range(5)},
        "b": {"x": [(True, True)], "y": [(True, True)]},
    }
    computed = figures_of(pairs)
    for name, (value, low, high, _) in evaluated(pairs, 1_000).items():
        assert (computed[name].value, computed[name].low, computed[name].high) == pytest.approx(
            (value, low, high), abs=0.05
        )
