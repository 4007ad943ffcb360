"""Evaluation: pairs by id, baselines of the papers, means over seeds and sources, nothing silently missing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tableqa.data.answers import Answers
from tableqa.scoring.evaluation import (
    MACRO,
    MICRO,
    JudgedInstance,
    Judgement,
    Row,
    compare,
    evaluate,
    figures,
    judge,
    question_scores,
)
from tableqa.scoring.matching import MATCHES, ORIGINAL, GeneratedText, Instance, Match, is_right, scaled
from tableqa.scoring.predictions import EvaluationError, read_predictions
from tableqa.statistics.robustness import difference, gap, ratio


def questions(source: str, n: int, kind: str, seeds: Sequence[int]) -> list[Instance]:
    """n questions, each original and perturbed with every seed; the answer is always 1."""
    originals = [Instance(source, f"q{i}", f"q{i}", ORIGINAL, 0, f"q{i}", ("1",)) for i in range(n)]
    made = [
        Instance(source, f"q{i}~{seed}", f"q{i}", kind, seed, f"q{i}", ("1",))
        for i in range(n)
        for seed in seeds
    ]
    return originals + made


def said(instances: Sequence[Instance], right: set[str]) -> dict[tuple[str, str], list[str]]:
    return {(one.source, one.id): ["1" if one.id in right else "2"] for one in instances}


def row(rows: Sequence[Row], kind: str, source: str = MACRO) -> Row:
    return next(one for one in rows if (one.kind, one.source) == (kind, source))


def of_sources(**answers: list[tuple[bool, bool]]) -> Judgement:
    """For each source, whether its questions are right on the original and under one perturbation."""
    judged = []
    for source, pairs in answers.items():
        for number, (before, after) in enumerate(pairs):
            id = f"{source}-{number}"
            judged.append(JudgedInstance(Instance(source, id, id, ORIGINAL, 0, id, ("x",)), before, before))
            judged.append(
                JudgedInstance(Instance(source, f"{id}~t", id, "transpose", 0, id, ("x",)), before, after)
            )
    return Judgement(tuple(judged))


def test_the_average_over_questions_stands_beside_that_over_sources() -> None:
    judged = of_sources(large=[(True, True)] * 9 + [(False, False)], small=[(False, False)] * 2)
    found = figures(judged, replicates=20)
    rows = {row.source: (row.after.value, row.questions) for row in found.rows if row.kind == ORIGINAL}
    assert rows == {MACRO: (0.45, 12), MICRO: (0.75, 12), "large": (0.9, 10), "small": (0.0, 2)}
    alone = figures(of_sources(large=[(True, True)]), replicates=20)
    assert [row.source for row in alone.rows] == [MACRO, MACRO], "of one source both are the same"


def test_originals_compared_with_themselves_have_figures_without_an_interval() -> None:
    judged = of_sources(large=[(True, True)] * 9 + [(False, False)], small=[(True, False)] * 2)
    found = figures(judged, replicates=10)
    for original in (row for row in found.rows if row.kind == ORIGINAL):
        figures_by_value = {0.0: (original.emd, original.vp), 1.0: (original.r_acc,)}
        for value, estimates in figures_by_value.items():
            for estimate in estimates:
                assert (estimate.value, estimate.low, estimate.high) == (value, None, None)
        assert original.after.low is not None
    assert row(found.rows, "transpose").emd.low is not None


def test_the_n_of_r_acc_counts_the_questions_that_were_correct_before() -> None:
    judged = of_sources(a=[(True, True)] * 2 + [(False, False)] * 3 + [(False, True)])

    row = figures(judged, replicates=20).row("transpose")

    assert row is not None
    assert (row.r_acc.value, row.r_acc.n) == (1.0, 2)
    assert (row.emd.n, row.questions) == (6, 6)


def test_r_acc_leaves_out_the_sources_in_which_it_is_undefined_and_names_them() -> None:
    judged = of_sources(a=[(True, True), (True, False)], b=[(False, False)] * 3, c=[(True, True)])
    row = figures(judged, replicates=20).row("transpose")
    assert row is not None
    assert row.r_acc.value == 0.75
    assert (row.r_acc.n, row.r_acc.undefined) == (3, 3)
    assert row.r_acc.reason == "No original was answered correctly in b."
    (difference,) = [
        one
        for one in compare(judged, judged, replicates=20)
        if (one.kind, one.source) == ("transpose", MACRO)
    ]
    assert difference.figures["r_acc"].value == 0.0
    assert difference.figures["r_acc"].reason == row.r_acc.reason
    nothing = figures(of_sources(b=[(False, False)], c=[(False, True)]), replicates=20).row("transpose")
    assert nothing is not None
    assert nothing.r_acc.value is None
    assert "in b, c" in (nothing.r_acc.reason or "")


def test_sources_with_long_answers_stay_out_of_exact_match() -> None:
    sentence = "For his performance in Groundhog Day, Andy Karl received the Olivier Award."
    instances = [
        *(Instance("fetaqa", f"f{n}", f"f{n}", ORIGINAL, 0, f"f{n}", (sentence,)) for n in range(3)),
        Instance("fetaqa", "f0~t", "f0", "transpose", 0, "f0", (sentence,)),
        Instance("wtq", "w", "w", ORIGINAL, 0, "w", ("1995",)),
        Instance("wtq", "v", "v", ORIGINAL, 0, "v", ("a title that is by chance nine whole words long",)),
    ]
    judged = judge(instances, {("wtq", "w"): ["1995"], ("wtq", "v"): ["no"]})
    assert judged.long_form == ("fetaqa",)
    assert {one.instance.source for one in judged.judged} == {"wtq"}
    with pytest.raises(EvaluationError, match=r"The answers of fetaqa are sentences.*metrics"):
        judge(instances[:4], {})


@given(
    before=st.lists(st.booleans(), min_size=1, max_size=12),
    after=st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_one_source_and_one_seed_give_the_figures_of_the_metrics(
    before: list[bool], after: list[bool]
) -> None:
    instances = questions("wtq", len(before), "row_shuffle", [33])
    right = {f"q{i}" for i, is_so in enumerate(before) if is_so}
    right |= {f"q{i}~33" for i, is_so in enumerate(after[: len(before)]) if is_so}
    found = row(evaluate(instances, said(instances, right), replicates=20).rows, "row_shuffle")
    pairs = list(zip(before, after, strict=False))
    assert found.before.value == pytest.approx(mean(one for one, _ in pairs))
    assert found.after.value == pytest.approx(mean(other for _, other in pairs))
    assert found.emd.value == pytest.approx(mean(other - one for one, other in pairs))
    assert found.vp.value == pytest.approx(mean(one != other for one, other in pairs))
    if any(before):
        assert found.r_acc.value == pytest.approx(mean(other for one, other in pairs if one))
    else:
        assert found.r_acc.value is None
        assert found.r_acc.reason == "No original was answered correctly in wtq."


def test_a_source_counts_once_however_many_questions_it_has() -> None:
    large, small = questions("large", 90, "transpose", [0]), questions("small", 10, "transpose", [0])
    instances = large + small
    right = {("large", one.id) for one in large}  # everything in the large source, nothing in the small one
    answers = {(one.source, one.id): ["1" if (one.source, one.id) in right else "2"] for one in instances}
    rows = evaluate(instances, answers, replicates=20).rows
    assert row(rows, ORIGINAL).after.value == pytest.approx(0.5)
    assert row(rows, "transpose", "large").after.value == 1
    assert row(rows, "transpose", "small").after.value == 0


def test_seeds_are_told_apart_and_averaged_question_by_question() -> None:
    instances = questions("wtq", 4, "row_shuffle", [33, 16])
    right = {"q0", "q1", "q0~33", "q1~33", "q0~16"}
    found = row(evaluate(instances, said(instances, right), replicates=20).rows, "row_shuffle")
    assert found.seeds == {16: 0.25, 33: 0.5}
    assert found.deviation == pytest.approx(0.1767767)
    assert found.after.value == pytest.approx(0.375)
    assert found.questions == 4


def test_a_value_change_is_compared_with_the_short_table_and_judged_by_its_new_answer() -> None:
    instances = [
        Instance("tat", "q", "q", ORIGINAL, 0, "q", ("10",)),
        Instance("tat", "q~short", "q", "short_table", 0, "q", ("10",)),
        Instance("tat", "q~change", "q", "answer_changes", 0, "q~short", ("12",)),
    ]
    answers = {("tat", "q"): ["9"], ("tat", "q~short"): ["10"], ("tat", "q~change"): ["12"]}
    found = row(evaluate(instances, answers, replicates=20).rows, "answer_changes")
    assert (found.before.value, found.after.value) == (1, 1)


def test_an_instance_without_a_prediction_is_an_error_that_names_it_unless_it_is_to_be_left_out() -> None:
    instances = questions("wtq", 3, "transpose", [0])
    answers = said(instances, {"q0"})
    del answers["wtq", "q1~0"]
    with pytest.raises(EvaluationError, match=r"1 of 6 instances have no prediction: q1~0 \(wtq\)"):
        evaluate(instances, answers)
    found = evaluate(instances, answers, leave_out_missing=True, replicates=20)
    assert found.missing == 1
    assert row(found.rows, "transpose").questions == 2
    with pytest.raises(EvaluationError, match="no instances to evaluate"):
        evaluate([], {})


def test_a_text_that_a_model_wrote_may_be_one_answer_or_several(tmp_path: Path) -> None:
    lines = [
        {"id": "a", "prediction": "Salt Lake City, Utah"},
        {"id": "b", "pred": "Heat, Alien"},
        {"id": "c", "answers": ["Heat", "Alien"]},
        {"id": "c", "answers": ["Alien"]},
    ]
    path = tmp_path / "said.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    found = read_predictions(path, ["wtq"])
    assert is_right(found["wtq", "a"], ["Salt Lake City, Utah"])
    assert is_right(found["wtq", "b"], ["Alien", "Heat"])
    assert not is_right(["Heat, Alien"], ["Alien", "Heat"]), "a list of answers means what it says"
    assert found["wtq", "c"] == ("Alien",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: not JSON"),
        ('{"answers": []}', "line 2: an object with an id"),
        ('{"id": "a"}', 'line 2: "answers" is a list of texts'),
        ('{"id": "a", "answers": [1]}', 'line 2: "answers" is a list of texts'),
        ('{"id": "a", "answers": []}', 'line 2: name the "source", one of sqa, wtq'),
        (
            '{"id": "a", "answers": [], "source": "tat"}',
            "line 2: there is no source 'tat'; there are: sqa, wtq",
        ),
        ('{"id": "a", "pred_answer": "1", "dataset": "wtq", "perturb": 1}', 'line 2: "perturb" is the name'),
        (
            '{"id": "a", "pred_answer": "1", "dataset": "wtq", "perturb": "row_shuffle", "seed": "x"}',
            'line 2: "seed" is a whole number',
        ),
        ("[" * 100_000, "line 2: not JSON"),
        ('{"id": "a", "answers": ["' + "1" * 1_000_001 + '"], "source": "wtq"}', "line 2: longer than"),
    ],
)
def test_a_line_that_is_no_prediction_is_named(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "said.jsonl"
    path.write_text('{"id": "x", "answers": ["1"], "source": "wtq"}\n' + line, encoding="utf-8")
    with pytest.raises(EvaluationError, match=said):
        read_predictions(path, ["sqa", "wtq"])


@given(
    answers=st.lists(st.sampled_from(["1", "2"]), min_size=18, max_size=18),
)
def test_what_always_holds_of_the_figures_holds(answers: list[str]) -> None:
    instances = questions("a", 3, "row_shuffle", [33, 16]) + questions("b", 3, "row_shuffle", [33, 16])
    predictions = {(one.source, one.id): [answer] for one, answer in zip(instances, answers, strict=True)}
    for one in evaluate(instances, predictions, replicates=20).rows:
        assert one.emd.value is not None
        assert one.vp.value is not None
        assert abs(one.emd.value) <= one.vp.value + 1e-9
        for estimate in (one.before, one.after, one.vp, one.r_acc):
            if estimate.value is not None and estimate.low is not None and estimate.high is not None:
                assert 0 <= estimate.low <= estimate.high <= 1
                assert 0 <= estimate.value <= 1


# -- the papers' own figures ------------------------------------------------------------------------


def shares(**sources: float) -> dict[str, dict[str, tuple[float, float]]]:
    """Sources in which 10,000 questions give this share, in percent."""
    return {
        name: {str(i): (float(i < round(100 * percent)), 1.0) for i in range(10_000)}
        for name, percent in sources.items()
    }


def test_em_over_sources_is_the_mean_that_freb_tqa_prints() -> None:
    """Zhou et al. (2024), section 5: TAPEX on extraction questions of four sources, 79.83 on the original tables."""
    found = ratio(shares(wtq=84.0, wikisql=89.27, sqa=67.39, tat=78.65), replicates=50)
    assert found.value is not None
    assert round(100 * found.value, 2) == pytest.approx(79.83)
    assert found.n == 40_000


def test_the_gap_between_comparing_and_other_questions_is_the_one_of_table_6() -> None:
    """Zhou et al. (2024), Table 6: TAPEX, VP of moved relevant rows 10.24 and 9.70."""
    found = gap(shares(wtq=10.24), shares(wtq=9.70), replicates=200)
    assert found.value is not None
    assert round(100 * found.value, 2) == pytest.approx(0.54)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high


def test_emd_and_vp_are_counted_as_section_5_of_freb_tqa_defines_them() -> None:
    """VP = (C2W + W2C) / N and Emd = after - before: of 100 questions 80 right before, 60 turn wrong, 5 turn right."""
    instances = questions("wtq", 100, "transpose", [0])
    right = {f"q{i}" for i in range(80)} | {f"q{i}~0" for i in (*range(60, 80), *range(80, 85))}
    found = row(evaluate(instances, said(instances, right), replicates=20).rows, "transpose")
    assert found.before.value == pytest.approx(0.8)
    assert found.after.value == pytest.approx(0.25)
    assert found.emd.value == pytest.approx(-0.55)
    assert found.vp.value == pytest.approx((60 + 5) / 100)
    assert found.r_acc.value == pytest.approx(20 / 80), "RobuT 4.1: right on both, of those right before"


def test_questions_that_compare_stand_beside_the_others() -> None:
    instances = questions("wtq", 4, "relevant_row_shuffle", [33])
    instances = [
        Instance(**{**vars(one), "group": "comparison" if one.question in ("q0", "q1") else ""})
        for one in instances
    ]
    right = {"q0", "q1", "q2", "q3", "q1~33", "q2~33", "q3~33"}
    (found,) = evaluate(instances, said(instances, right), replicates=50).gaps
    assert (found.comparison.value, found.other.value, found.gap.value) == (0.5, 0, 0.5)
    none = evaluate([one for one in instances if not one.group], said(instances, right), replicates=20)
    assert none.gaps[0].gap.value is None
    assert none.gaps[0].gap.reason == "There are no examples."


def test_the_gap_over_sources_leaves_out_those_that_have_one_group_only() -> None:
    kind = "relevant_row_shuffle"
    tat = [
        Instance(**{**vars(one), "group": "comparison" if one.question == "q0" else ""})
        for one in questions("tat", 2, kind, [33])
    ]
    instances = [*tat, *questions("wtq", 2, kind, [33])]
    right = {one.id for one in instances if one.kind == ORIGINAL}
    answers = {
        (one.source, one.id): ["1" if one.id in right or one.source == "wtq" else "2"] for one in instances
    }
    gaps = {one.source: one for one in evaluate(instances, answers, replicates=20).gaps}
    assert gaps[MACRO].comparison.value == gaps[MACRO].other.value == 1, "no question of wtq compares"
    assert gaps["wtq"].gap.value is None
    assert gaps["wtq"].other.value == 0


def test_what_is_right_without_its_evidence_is_listed_with_its_answers() -> None:
    """Zhou et al. (2024), section 5: every answer of TAT that survives is one year."""
    instances = questions("tat", 5, "mask_cell", [0])
    right = {f"q{i}" for i in range(5)} | {"q1~0", "q3~0"}
    answers = {(one.source, one.id): ["1" if one.id in right else "2"] for one in instances}
    (found,) = evaluate(instances, answers, replicates=20).unsupported
    assert (found.kind, found.source, found.questions) == ("mask_cell", "tat", 5)
    assert (found.right, found.shares, found.number) == (("q1", "q3"), (1, 1), 2)
    assert found.answers == (("1", 2),)


seeds_right = st.lists(
    st.tuples(st.lists(st.booleans(), min_size=1, max_size=5), st.sampled_from("12")), min_size=1
)


@given(seeds_right)
@example([([seed == number % 5 for seed in range(5)], "1") for number in range(10)])
def test_the_count_without_evidence_the_answers_and_the_share_say_the_same(
    of_questions: list[tuple[list[bool], str]],
) -> None:
    instances, answers = [], {}
    for number, (right, gold) in enumerate(of_questions):
        id = f"q{number}"
        instances.append(Instance("tat", id, id, ORIGINAL, 0, id, (gold,)))
        for seed, survives in enumerate(right):
            instances.append(Instance("tat", f"{id}~{seed}", id, "mask_cell", seed, id, (gold,)))
            answers["tat", f"{id}~{seed}"] = [gold if survives else "3"]
        answers["tat", id] = [gold]

    evaluation = evaluate(instances, answers, replicates=1)

    (found,), row = evaluation.unsupported, evaluation.row("mask_cell")
    assert row is not None
    assert found.number / found.questions == pytest.approx(row.after.value)
    assert sum(number for _, number in found.answers) == pytest.approx(found.number)
    assert set(found.right) == {f"q{n}" for n, (right, _) in enumerate(of_questions) if any(right)}
    for gold, per_seed in found.answers:
        shares = [sum(right) / len(right) for right, answer in of_questions if answer == gold]
        assert per_seed == pytest.approx(sum(shares))


def test_the_deviation_over_seeds_is_that_of_emd_and_vp_as_well() -> None:
    instances = questions("wtq", 4, "row_shuffle", [33, 16])
    right = {"q0", "q1", "q0~33", "q1~33", "q2~16", "q3~16"}
    found = row(evaluate(instances, said(instances, right), replicates=20).rows, "row_shuffle")
    assert found.deviation == found.emd_deviation == 0
    assert found.vp_deviation == pytest.approx(0.7071068), (
        "no question changes with one seed, all with the other"
    )


# -- dialogues --------------------------------------------------------------------------------------


def dialogues(rights: dict[str, list[bool]], kind: str = "row", seed: int = 33) -> list[JudgedInstance]:
    """Turns of dialogues before and after: right before always, after as given."""
    found = []
    for name, turns in rights.items():
        for turn, after in enumerate(turns):
            id = f"{name}-{turn}"
            original = Instance("sqa", id, id, ORIGINAL, 0, id, (), sequence=name, turn=turn)
            made = Instance("sqa", f"{id}~{kind}-{seed}", id, kind, seed, id, (), sequence=name, turn=turn)
            found += [JudgedInstance(original, True, True), JudgedInstance(made, True, after)]
    return found


def test_a_dialogue_is_right_if_every_turn_is() -> None:
    """Zhao et al. (2023), section 4.1: accuracy of sequences beside that of questions."""
    judged = dialogues({"a": [True, True, True], "b": [True, False], "c": [True, True]})
    alone = Instance("wtq", "q~row-33", "q", "row", 33, "q", ())
    found = figures(Judgement((*judged, JudgedInstance(alone, True, False))), replicates=20)
    whole, single = row(found.sequences, "row"), row(found.turns, "row")
    assert row(found.rows, "row").questions == 8, "the question of another source is no turn"
    assert (whole.questions, single.questions) == (3, 7)
    assert whole.after.value == pytest.approx(2 / 3)
    assert single.after.value == pytest.approx(6 / 7)
    assert row(found.sequences, ORIGINAL).after.value == 1


def test_a_dialogue_that_lacks_a_turn_is_counted_and_left_out() -> None:
    judged = dialogues({"a": [True, True], "b": [True, False, True], "alone": [True]})
    without = [one for one in judged if one.instance.id != "b-1~row-33"]
    found = figures(Judgement(tuple(without)), replicates=20)
    assert row(found.sequences, "row").questions == 1
    assert found.incomplete == 3, "b under the perturbation, and the two of the dialogue that is one question"


@given(st.lists(st.lists(st.booleans(), min_size=2, max_size=4), min_size=1, max_size=6))
def test_dialogues_are_never_right_more_often_than_their_worst_turns_allow(rights: list[list[bool]]) -> None:
    named = {str(number): turns for number, turns in enumerate(rights)}
    found = figures(Judgement(tuple(dialogues(named))), replicates=10)
    whole = row(found.sequences, "row").after.value
    assert whole == pytest.approx(sum(map(all, rights)) / len(rights))
    for turn in range(2):
        assert whole is not None
        assert whole <= sum(turns[turn] for turns in rights) / len(rights) + 1e-9


# -- two models -------------------------------------------------------------------------------------


def test_models_with_the_same_answers_do_not_differ_and_the_interval_has_a_width() -> None:
    instances = questions("wtq", 30, "row_shuffle", [33, 16])
    judged = judge(instances, said(instances, {"q1", "q2~33", "q1~16", "q5"}))
    for found in compare(judged, judged, replicates=100):
        for name, estimate in found.figures.items():
            if estimate.value is None or (found.kind == ORIGINAL and name in ("emd", "vp", "r_acc")):
                assert (estimate.low, estimate.high) == (None, None)
            else:
                assert estimate.value == 0
                assert estimate.low is not None
                assert estimate.high is not None
                assert estimate.low < 0 < estimate.high, "as many questions allow, not none"


def test_two_models_are_compared_on_the_questions_that_both_answered() -> None:
    instances = questions("wtq", 40, "transpose", [0])
    some = {f"q{i}" for i in range(40)} | {f"q{i}~0" for i in range(10)}
    more = {f"q{i}" for i in range(40)} | {f"q{i}~0" for i in range(30)}
    answers = said(instances, more)
    del answers["wtq", "q39~0"]
    one, other = judge(instances, said(instances, some)), judge(instances, answers, leave_out_missing=True)
    found = {difference.kind: difference for difference in compare(one, other, replicates=500)}["transpose"]
    assert found.questions == 39
    after = found.figures["after"]
    assert after.value == pytest.approx(20 / 39)
    assert after.low is not None
    assert after.low > 0, "twenty of thirty-nine is no accident"
    turned = {difference.kind: difference for difference in compare(other, one, replicates=500)}["transpose"]
    assert turned.figures["after"].value == pytest.approx(-20 / 39)


def test_a_paired_difference_is_narrower_than_two_drawn_apart() -> None:
    one = {"wtq": {str(i): (float(i % 2), 1.0) for i in range(100)}}
    other = {"wtq": {str(i): (float(i % 2 or i % 10 == 0), 1.0) for i in range(100)}}
    paired, apart = difference(one, other, replicates=500), gap(other, one, replicates=500)
    assert paired.value == apart.value == pytest.approx(0.1)
    assert paired.low is not None
    assert paired.high is not None
    assert apart.low is not None
    assert apart.high is not None
    assert paired.high - paired.low < apart.high - apart.low


def test_a_question_scores_the_share_of_its_seeds() -> None:
    instances = questions("wtq", 2, "row_shuffle", [33, 16])
    judged = judge(instances, said(instances, {"q0~33", "q1~33", "q1~16"}))
    assert question_scores(judged, "row_shuffle") == {("wtq", "q0"): 0.5, ("wtq", "q1"): 1}


# -- the form of FREB-TQA's program -----------------------------------------------------------------


def test_predictions_as_freb_tqa_writes_them_find_their_instances(tmp_path: Path) -> None:
    instances = [
        *questions("wtq-dev", 1, "row_shuffle", [33, 16]),
        Instance("wtq-dev", "q0~transpose-0", "q0", "transpose", 0, "q0", ("1",)),
        Instance("wtq-dev", "q0~mask_cell-0", "q0", "mask_cell", 0, "q0", ("1",)),
        Instance("wtq-dev", "q0~short_table-1", "q0", "short_table", 0, "q0", ("1",)),
        Instance("wtq-dev", "q0~answer_changes-1", "q0", "answer_changes", 0, "q0~short_table-1", ("3",)),
    ]
    lines = [
        {"perturb": "no_shuffle", "seed": 33, "pred_answer": ["1"]},
        {"perturb": "row_shuffle", "seed": 33, "pred_answer": ["1"]},
        {"perturb": "row_shuffle", "seed": 16, "pred_answer": ["2"]},
        {"perturb": "transpose", "seed": 33, "pred_answer": "2"},
        {"perturb": "mask_cell_all_wtq", "seed": 33, "pred_answer": "none"},
        {"perturb": "no_shuffle_short_table", "seed": 33, "pred_answer": "1"},
        {"perturb": "no_shuffle_ans_change", "seed": 33, "pred_answer": "3"},
    ]
    path = tmp_path / "tapex.json"
    path.write_text(
        "".join(json.dumps({"id": "q0", "dataset": "wtq", "truncate": False, **one}) + "\n" for one in lines)
    )
    judged = judge(instances, read_predictions(path, {"wtq-dev": "wtq", "sqa": "sqa"}))
    right = {(one.instance.kind, one.instance.seed) for one in judged.judged if one.after}
    expected = {(ORIGINAL, 0), ("row_shuffle", 33), ("short_table", 0), ("answer_changes", 0)}
    assert {pair for pair in right if pair[0] != "q0~33"} == expected


def test_two_lines_that_say_different_things_of_one_published_id_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    line = '{"id": "q", "perturb": "no_shuffle", "seed": 33, "pred_answer": "%s"}\n'
    path.write_text(line % "1" + line % "1")
    assert read_predictions(path, ["sqa"]) == {("sqa", "q"): ("1",)}
    path.write_text(line % "1" + line % "2")
    with pytest.raises(
        EvaluationError, match="line 2: another line gives a different prediction for no_shuffle of q in sqa"
    ):
        read_predictions(path, ["sqa"])


def test_a_prediction_that_could_be_for_two_instances_is_refused(tmp_path: Path) -> None:
    instances = [
        Instance("wtq", f"q~answer_stays-{n}", "q", "answer_stays", 0, f"q~answer_stays-{n}", ("1",))
        for n in (1, 2)
    ]
    path = tmp_path / "said.jsonl"
    path.write_text('{"id": "q", "perturb": "no_shuffle_ans_no_change", "pred_answer": "1"}\n')
    with pytest.raises(EvaluationError, match="could be for either"):
        judge(instances, read_predictions(path, ["wtq"]))


def test_a_file_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    path.write_bytes(b'{"id": "a", "answers": ["1"]}\n{"id": "b", "answers": ["caf\xe9"]}\n')
    with pytest.raises(EvaluationError, match=r"said.jsonl, line 2: not UTF-8"):
        read_predictions(path, ["wtq"])
    with pytest.raises(EvaluationError, match="cannot be read"):
        read_predictions(tmp_path / "missing.jsonl", ["wtq"])
    with pytest.raises(EvaluationError, match="has no samples"):
        read_predictions(tmp_path, ["wtq"])


@pytest.mark.parametrize("match", MATCHES)
def test_equal_texts_are_judged_once_and_whatever_a_rule_looks_at_tells_them_apart(
    match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule, judged = MATCHES[match], list[str]()
    golds: list[tuple[str, ...]] = [
        *(("5/12/2019",), Answers(["5/12/2019"], (), True), Answers(["5/12/2019"], [["May"]])),
        ("May", "June"),
    ]
    texts: list[tuple[str, ...]] = [("12 May 2019",), ("May", "June"), ("May, June",)]
    texts += [GeneratedText(["May, June"]), scaled(["May", "June"], "thousand")]
    instances = [
        Instance("wtq", f"q{number}", f"q{number}", ORIGINAL, 0, f"q{number}", gold, scale=scale)
        for number, (gold, scale, _, _) in enumerate(product(golds, ("", "thousand"), texts, range(2)))
    ]
    predictions = {
        (instance.source, instance.id): text
        for instance, (_, _, text, _) in zip(
            instances, product(golds, ("", "thousand"), texts, range(2)), strict=True
        )
    }

    def counted(predicted: Sequence[str], instance: Instance) -> Any:
        judged.append(instance.id)
        return rule(predicted, instance)

    monkeypatch.setitem(MATCHES, match, counted)
    results = judge(instances, predictions, match=match).judged

    assert len(judged) == len(instances) / 2
    for result in results:
        score = rule(predictions["wtq", result.instance.id], result.instance)
        assert result.after == (score if isinstance(score, bool) else score.em)
