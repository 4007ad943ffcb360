"""The exact sign test, and Holm's correction."""

import pytest
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from tableqa.statistics.paired_tests import holm, sign_test


@pytest.mark.parametrize(
    ("better", "worse"), [(1, 0), (5, 0), (9, 2), (2, 9), (7, 7), (120, 80), (3000, 2900)]
)
def test_the_sign_test_is_the_binomial_test_of_one_half(better: int, worse: int):
    assert sign_test(better, worse) == pytest.approx(binomtest(better, better + worse).pvalue)


def test_without_a_question_that_differs_nothing_is_told_apart():
    assert sign_test(0, 0) == 1.0


@pytest.mark.parametrize("p_values", [[0.01, 0.04, 0.03, 0.005], [0.5], [], [0.02, 0.02, 0.9, 1.0, 0.001]])
def test_corrected_p_values_are_those_of_statsmodels(p_values: list[float]):
    expected = multipletests(p_values, method="holm")[1] if p_values else []
    assert holm(p_values) == pytest.approx(list(expected))
