"""ToRR's figures on worked examples, and what must hold whatever the scores are."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.scoring.torr_scores import (
    ModelScores,
    TorrError,
    concordance,
    dataset_tau,
    distribution,
    exact,
    f1_strings,
    impact,
    kendall_w,
    mean_change,
    rank_curve,
    same_text,
    separability,
    torr_report,
    win_rate,
)
from tableqa.statistics.robustness import Estimate, performance, robustness
from tableqa.statistics.zero_width_intervals import ALL_AGREE


def seven(*scores: float) -> dict[str, float]:
    return {f"form-{number}/none": score for number, score in enumerate(scores)}


def test_the_papers_own_example_of_a_win_rate() -> None:
    found = win_rate({"wtq": {"1": seven(1, 1, 1, 0, 0, 0, 0)}})
    assert [one.value for one in found.values()] == pytest.approx([1 / 3] * 3 + [0] * 4)


def test_an_example_on_which_all_do_equally_well_has_no_win_to_share() -> None:
    found = win_rate({"wtq": {"1": seven(1, 0), "2": seven(1, 1)}})
    assert found["form-0"].value == 1
    assert found["form-0"].undefined == 1
    nothing = win_rate({"wtq": {"2": seven(1, 1)}})["form-0"]
    assert nothing.value is None
    assert nothing.undefined == 1


def test_serialisations_are_compared_under_the_same_perturbation() -> None:
    line = {"a/none": 1.0, "b/none": 0.0, "a/t": 0.0, "b/t": 1.0}
    assert [one.value for one in win_rate({"d": {"1": line}}).values()] == [0.5, 0.5]


LINE = {"a/none": 1.0, "a/t": 0.0, "a/e": 1.0, "b/none": 0.0, "b/t": 1.0, "b/e": 0.0}


def test_the_impact_of_a_perturbation_counts_both_directions() -> None:
    scores = {"d": {"1": LINE}}
    assert {name: one.value for name, one in impact(scores, {}).items()} == {"t": 1.0, "e": 0.0}
    assert {name: one.value for name, one in mean_change(scores, {}).items()} == {"t": 0.0, "e": 0.0}


def test_a_perturbation_that_did_nothing_is_not_counted() -> None:
    noops = {"d": {"1": frozenset({"a/t", "a/e", "b/e"})}}
    found = impact({"d": {"1": LINE}}, noops)
    assert found["t"].value == 1.0
    assert found["e"].value is None
    assert found["e"].undefined == 1


def test_the_rank_curve_falls_from_the_best_to_the_worst() -> None:
    scores = {"one": {"1": seven(0, 1, 0.5), "2": seven(1, 1, 0)}, "other": {"3": seven(0, 0, 0)}}
    assert rank_curve(scores) == pytest.approx([0.5, 0.375, 0])


def test_separable_are_models_whose_intervals_do_not_touch() -> None:
    def at(low: float, high: float) -> Estimate:
        return Estimate((low + high) / 2, low, high, 9)

    assert separability({"a": at(0.1, 0.2), "b": at(0.2, 0.3), "c": at(0.5, 0.6)}) == (2, 3)
    assert separability({"a": at(0.1, 0.2)}) == (0, 0)


def test_kendalls_w_of_three_judges_two_of_whom_agree() -> None:
    # Sums of ranks 5, 6, 7; S = 2; W = 12 * 2 / (9 * 24)
    assert kendall_w([[1, 2, 3], [1, 2, 3], [3, 2, 1]]) == pytest.approx(1 / 9)
    assert kendall_w([[1, 2, 3]] * 4) == pytest.approx(1)
    assert kendall_w([[1, 1], [1, 1]]) is None
    assert kendall_w([[1, 2]]) is None


def test_kendalls_w_with_ties_gives_the_figure_that_is_worked_out_by_hand() -> None:
    # Ranks 1, 2.5, 2.5 and 1, 2, 3: sums 2, 4.5, 5.5; S = 6.5; ties 6; W = 12 * 6.5 / (4 * 24 - 2 * 6)
    assert kendall_w([[1, 2, 2], [1, 2, 3]]) == pytest.approx(78 / 84)


@given(st.lists(st.permutations(range(5)), min_size=2, max_size=6))
def test_w_is_the_mean_of_spearmans_correlations_on_another_scale(rankings: list[list[int]]) -> None:
    from itertools import combinations

    from scipy.stats import spearmanr

    pairs = [spearmanr(one, other).statistic for one, other in combinations(rankings, 2)]
    mean, judges = sum(pairs) / len(pairs), len(rankings)
    assert kendall_w(rankings) == pytest.approx((mean * (judges - 1) + 1) / judges)


def models() -> dict[str, ModelScores]:
    """Three models, the first always right, the last never; the middle one depends on the configuration."""
    names = [f"{form}/{step}" for form in ("a", "b") for step in ("none", "t")]

    def scored(of: dict[str, float]) -> ModelScores:
        return {"x": {str(n): dict(of) for n in range(6)}, "y": {f"y{n}": dict(of) for n in range(4)}}

    return {
        "good": scored(dict.fromkeys(names, 1.0)),
        "fair": scored({name: float(name.endswith("none")) for name in names}),
        "bad": scored(dict.fromkeys(names, 0.0)),
    }


def test_more_configurations_make_the_ranking_of_the_models_surer() -> None:
    found = concordance(models(), "configurations", [1, 2, 4, 99])
    assert list(found) == [1, 2, 4]
    values = [one.value for one in found.values()]
    assert None not in values
    assert values == sorted(values)  # type: ignore[type-var]
    assert found[4].value == 1
    assert all(one.value == 1 for one in concordance(models(), "examples", [1, 4]).values())
    with pytest.raises(ValueError, match="configurations or examples"):
        concordance(models(), "models", [1])


def test_two_datasets_that_rank_the_models_alike_have_a_tau_of_one() -> None:
    given = models()
    (found,) = dataset_tau(given).values()
    assert (found.value, found.low, found.high, found.n) == (1, None, None, 3)
    assert found.reason == ALL_AGREE
    turned = {
        name: {"x": scores["x"], "y": other["y"]}
        for (name, scores), other in zip(given.items(), reversed(list(given.values())), strict=True)
    }
    assert dataset_tau(turned)["x", "y"].value == -1
    alike = dataset_tau(dict.fromkeys(("one", "two"), given["good"]))["x", "y"]
    assert alike.value is None
    assert alike.reason is not None


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 2), min_size=2, max_size=6))
def test_tau_is_scipys_whatever_is_tied(pairs: list[tuple[float, float]]) -> None:
    from scipy.stats import kendalltau

    scores = {
        f"m{n}": {"x": {"1": {"a": one}}, "y": {"1": {"a": other}}} for n, (one, other) in enumerate(pairs)
    }
    found = dataset_tau(scores, replicates=10)["x", "y"].value
    one, other = zip(*pairs, strict=True)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(kendalltau(one, other).statistic)


def test_the_report_has_every_figure_and_every_table() -> None:
    report = torr_report(models(), replicates=100)
    good, fair, bad = report.models
    assert [one.p.value for one in (good, fair, bad)] == [1, 0.5, 0]
    assert [one.r.value for one in (good, fair, bad)] == [1, 0, 1]
    assert fair.impacts["t"].value == 1
    assert fair.changes["t"].value == -1
    assert report.separable == (3, 3)
    assert report.difficulty == [0, 0, 0, 0, 0, 10, 0, 0, 0, 0]
    assert good.distribution == [0] * 9 + [10]
    titles = [sheet.title for sheet in report.sheets()]
    assert titles[0] == "Performance and robustness over 4 configurations (6 of x, 4 of y)"
    assert len(titles) == 11
    assert len({sheet.name for sheet in report.sheets()}) == len(titles)
    json.dumps(report.to_dict())


def test_one_model_on_one_dataset_has_its_figures_and_no_comparison() -> None:
    report = torr_report({"good": {"x": models()["good"]["x"]}}, replicates=100)
    assert report.taus == {}
    assert report.w == {}
    assert report.separable == (0, 0)
    assert list(report.sheets())


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({}, "There is no score"),
        (
            {"m": {"x": {"1": {"a/none": 1.0}, "2": {"b/none": 1.0}}}},
            "2 of x has other configurations: a/none, b/none",
        ),
        (
            {"m": {"x": {"1": {"a": 1.0}}}, "n": {"y": {"1": {"a": 1.0}}}},
            "n and m have scores on different datasets",
        ),
        (
            {"m": {"x": {"1": {"a": 1.0}}}, "n": {"x": {"2": {"a": 1.0}}}},
            "x: 2 examples are scored for one of m and n",
        ),
    ],
)
def test_scores_that_cannot_be_compared_are_refused_with_the_reason(
    scores: dict[str, ModelScores], said: str
) -> None:
    with pytest.raises(TorrError, match=said):
        torr_report(scores)


shares = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@given(st.lists(st.lists(shares, min_size=4, max_size=4), min_size=1, max_size=6))
def test_the_ends_of_the_rank_curve_are_apart_by_what_robustness_lacks(lines: list[list[float]]) -> None:
    scores = {"d": {str(n): seven(*line) for n, line in enumerate(lines)}}
    rows = {"d": {str(n): line for n, line in enumerate(lines)}}
    curve = rank_curve(scores)
    r, p = robustness(rows, replicates=10).value, performance(rows, replicates=10).value
    assert r == pytest.approx(1 - (curve[0] - curve[-1]))
    assert p == pytest.approx(sum(curve) / len(curve))
    assert curve == sorted(curve, reverse=True)
    assert sum(distribution([sum(line) / 4 for line in lines])) == len(lines)


# -- how an answer is scored ------------------------------------------------------------------------


def test_an_answer_is_exact_as_one_text_and_as_several_with_commas() -> None:
    assert exact("1,234", ["1234"]) == 1
    assert exact("Ann, Bob", ["Bob", "Ann"]) == 1
    assert exact("Ann", ["Bob", "Ann"]) == 0
    assert exact("", ["Ann"]) == 0


def test_f1_counts_words_as_often_as_they_stand() -> None:
    assert f1_strings("the red car", ["red car"]) == pytest.approx(2 * 2 / 5)
    assert f1_strings("red red", ["red"]) == pytest.approx(2 * 1 / 3)
    assert f1_strings("Bob ann", ["Ann", "Bob"]) == 1
    assert f1_strings("", ["Ann"]) == 0


def test_a_class_is_compared_as_a_text() -> None:
    assert same_text(" Refutes.", ["refutes"]) == 1
    assert same_text("supports", ["refutes"]) == 0


def test_a_score_beyond_one_is_no_score() -> None:
    with pytest.raises(ValueError, match="no score"):
        distribution([1.5])
