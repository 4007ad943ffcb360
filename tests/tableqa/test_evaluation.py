"""Evaluation: pairs by id, baselines of the papers, means over seeds and sources, nothing silently missing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.evaluation import (
    MACRO,
    ORIGINAL,
    EvaluationError,
    Instance,
    Row,
    evaluate,
    is_right,
    read_predictions,
)
from tableqa.metrics import emd, exact_match, robustness_accuracy, variation_percentage


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
    one = {str(i): is_so for i, is_so in enumerate(before)}
    other = {str(i): after[i] for i in range(len(before))}
    assert found.before.value == pytest.approx(exact_match(one).value)
    assert found.after.value == pytest.approx(exact_match(other).value)
    assert found.emd.value == pytest.approx(emd(one, other).value)
    assert found.vp.value == pytest.approx(variation_percentage(one, other).value)
    if any(before):
        assert found.r_acc.value == pytest.approx(robustness_accuracy(one, other).value)
    else:
        assert found.r_acc.value is None
        assert found.r_acc.reason == "The figure divides by nothing in wtq."


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
    with pytest.raises(EvaluationError, match="nothing to evaluate"):
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
