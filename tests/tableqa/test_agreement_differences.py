"""Differences of agreements, intervals over raters, and the note on few units with rarer labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from tableqa.agreement.coefficients import agreement
from tableqa.agreement.differences import AgreementDifference, WithInterval, difference, over_raters
from tableqa.core.release_rules import under
from tableqa.statistics.proportions import exact_interval


def rated(
    seed: int, units: int, noise: list[float], shares: tuple[float, ...] = (0.5, 0.3, 0.2)
) -> list[list[int]]:
    """Units x raters of labels; a rater of some noise gives that share of labels at random."""
    generator = np.random.default_rng(seed)
    truth = generator.choice(len(shares), units, p=shares)
    columns = [
        np.where(generator.random(units) < share, generator.choice(len(shares), units, p=shares), truth)
        for share in noise
    ]
    return np.array(columns).T.tolist()


def ends(result: WithInterval | None) -> tuple[float, float]:
    """Both ends of an interval that has to be there."""
    assert result is not None
    assert result.low is not None
    assert result.high is not None
    return result.low, result.high


def test_the_interval_of_a_difference_has_the_variances_of_both():
    first, second = AgreementDifference(0.8, 0.7, 0.86), AgreementDifference(0.5, 0.38, 0.58)
    result = difference(first, second)
    # Zou and Donner 2008: L = d - sqrt((0.8 - 0.7)^2 + (0.58 - 0.5)^2), U = d + sqrt((0.86 - 0.8)^2 + (0.5 - 0.38)^2)
    assert result == pytest.approx((0.3, 0.3 - 0.01640**0.5, 0.3 + 0.01800**0.5))


def test_a_difference_from_an_undefined_agreement_is_undefined():
    undefined, without = agreement([["a", "a"]], "fleiss_kappa"), AgreementDifference(0.5, None, None)
    assert difference(undefined, without) is None
    assert difference(without, without) == (0.0, None, None)


def test_equal_rounds_differ_in_few_studies():
    told_apart = 0
    for seed in range(100):
        rounds = [
            agreement(rated(2 * seed + at, 60, [0.3] * 3), "fleiss_kappa", replicates=300) for at in (0, 1)
        ]
        low, high = ends(difference(*rounds))
        told_apart += low > 0 or high < 0
    assert told_apart <= 10


def test_other_raters_widen_the_interval_where_raters_differ():
    alike, unlike = rated(1, 200, [0.3] * 5), rated(1, 200, [0.1, 0.1, 0.1, 0.1, 0.9])
    widths = []
    for ratings in (alike, unlike):
        over_units = agreement(ratings, "krippendorff_alpha_nominal", replicates=500)
        over_both = over_raters(over_units, ratings, "krippendorff_alpha_nominal")
        assert over_both.value == over_units.value
        (low, high), (least, most) = ends(over_units), ends(over_both)
        assert least <= low < high <= most
        widths.append((most - least) / (high - low))
    assert widths[0] < 2 < 5 < widths[1]


def test_two_raters_give_no_interval_for_other_raters():
    ratings = rated(1, 40, [0.3, 0.3])
    result = over_raters(agreement(ratings, "fleiss_kappa"), ratings, "fleiss_kappa")
    assert (result.low, result.high) == (None, None)
    assert (
        result.note
        == "There are too few raters for an interval that holds for other raters, too: three are needed."
    )


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (1, 1), (3, 20), (17, 20), (499, 500), (100_000, 100_003)])
def test_exact_intervals_are_those_of_the_beta_distribution(hits: int, n: int):
    low = beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0
    assert exact_interval(hits, n) == pytest.approx((low, high), abs=1e-9)


SKEWED = [["yes"] * 3] * 17 + [["yes", "yes", "no"]] * 2 + [["no", "no", "yes"]]


def test_a_figure_with_few_units_of_rarer_labels_says_so():
    note = (
        "Too few of the rarer labels: 3 of 20 units have one. All raters agree on 17 of 20 units (62 to 97 %, exact "
        "interval). The lower end of the figure's interval holds alone, if the next unit could show full agreement or "
        "chance alike."
    )
    for measure in ("fleiss_kappa", "krippendorff_alpha_nominal"):
        assert agreement(SKEWED, measure).note == note
    assert agreement(SKEWED, "gwet_ac1").note is None
    assert agreement(SKEWED * 3, "fleiss_kappa").note is None
    with under(11):
        assert agreement(SKEWED, "fleiss_kappa").note is None
