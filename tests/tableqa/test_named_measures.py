"""The measures of the field by their names, against published figures."""

from __future__ import annotations

import pytest

from tableqa import (
    emd,
    exact_match,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
    robustness_accuracy,
    variation_percentage,
)
from tests.tableqa.test_agreement import FLEISS_1971, KRIPPENDORFF_2011

TAPEX = {"wtq": 84.0, "wikisql": 89.27, "sqa": 67.39, "tat": 78.65}
"""Zhou et al. (2024), section 5: accuracy of TAPEX on extraction questions, original tables; the mean is 79.83."""


def scores(percent: float) -> list[bool]:
    """Ten thousand questions of which this share is answered correctly, the first ones."""
    return [index < round(100 * percent) for index in range(10_000)]


def test_coefficients_have_the_published_values() -> None:
    assert round(fleiss_kappa([list(patient) for patient in FLEISS_1971]).value or 0, 3) == 0.430
    published = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}
    for level, value in published.items():
        assert round(krippendorff_alpha(KRIPPENDORFF_2011, level).value or 0, 3) == value  # type: ignore[arg-type]
    assert round(gwet_ac1(KRIPPENDORFF_2011).value or 0, 5) == 0.77544
    assert round(percent_agreement(KRIPPENDORFF_2011).value or 0, 5) == 0.81818


def test_the_accuracy_of_tapex_is_the_mean_over_four_sources() -> None:
    predicted = ["x" if right else "y" for percent in TAPEX.values() for right in scores(percent)]
    sources = [name for name in TAPEX for _ in range(10_000)]

    figure = exact_match(predicted, ["x"] * len(predicted), match="tapex", sources=sources)

    assert round(100 * (figure.value or 0), 2) == 79.83
    assert figure.n == 40_000
    assert figure.low is not None
    assert figure.low < 0.7983 < (figure.high or 0)


def test_the_drop_of_tapex_on_transposed_tables() -> None:
    """The same table: -55.36 on transposed tables, so 24.47 after."""
    before = [right for percent in TAPEX.values() for right in scores(percent)]
    after = [right for percent in TAPEX.values() for right in scores(percent - 55.36)]
    sources = [name for name in TAPEX for _ in range(10_000)]

    assert round(100 * (emd(before, after, sources=sources).value or 0), 2) == -55.36


def test_changes_in_both_directions_vary_more_than_the_accuracy_moves() -> None:
    before, after = [1, 1, 1, 0], [1, 0, 0, 1]

    assert emd(before, after).value == -0.25
    assert variation_percentage(before, after).value == 0.75
    figure = robustness_accuracy(before, after)
    assert figure.value == pytest.approx(1 / 3)
    assert figure.n == 3
    assert robustness_accuracy([0, 0], [1, 0]).value is None


def test_answers_are_compared_by_the_rule_that_is_named() -> None:
    predicted, gold = ["1,170", ["Rome", "Paris"], "5"], [["1170"], ["Paris", "Rome"], "500"]

    assert exact_match(predicted, gold).value == pytest.approx(2 / 3)
    assert exact_match(["2"], ["2.0"], match="tat").value in (0.0, 1.0)


def test_one_text_may_stand_for_several_answers_and_a_list_of_one_may_not() -> None:
    """As in the predictions of an evaluation (docs/reference/evaluation.md, matching rule askew)."""
    assert exact_match(["Rome, Paris"], [["Paris", "Rome"]]).value == 1.0
    assert exact_match([["Rome, Paris"]], [["Paris", "Rome"]]).value == 0.0
    assert exact_match(["a, b"], ["a, b"]).value == 1.0


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ([True], [True, False], "before has 1, after has 2, sources has 1"),
        ([0.5], [True], "0.5 is neither true nor false"),
    ],
)
def test_what_cannot_be_paired_is_refused(before: list, after: list, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        emd(before, after)
