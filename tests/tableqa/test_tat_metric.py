"""TAT-QA's answers with their scale: the official measure, and our own comparison."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tableqa import Context, Example, Table
from tableqa.data.answer_scales import compare_scaled, scale_of
from tableqa.readers import READERS
from tableqa.scoring.evaluation import evaluate, judge
from tableqa.scoring.matching import ORIGINAL, Instance, ScaledAnswers
from tableqa.scoring.predictions import read_predictions
from tableqa.scoring.tat_metric import Score, score
from tableqa.scoring.verdicts import judge as judge_one


@pytest.fixture(scope="module")
def dev(test_data: Path) -> list[Example]:
    return list(READERS["tat_qa"](test_data / "tatqa" / "tatqa_dataset_dev.json"))


def asked(examples: list[Example]) -> list[Instance]:
    return [
        Instance(
            *("tat", one.id, one.id, ORIGINAL, 0, one.id, one.answers),
            scale=scale_of(one),
            answer_type=str(one.meta["answer_type"]),
        )
        for one in examples
    ]


def test_the_sample_predictions_have_the_figures_of_the_official_evaluator(
    dev: list[Example], test_data: Path
) -> None:
    predictions = read_predictions(test_data / "tatqa" / "sample_prediction.json", {"tat": "tat_qa"})
    row = evaluate(asked(dev), predictions, replicates=10, match="tat").row(ORIGINAL)
    assert row is not None
    assert row.f1 is not None
    assert (round(100 * (row.after.value or 0), 2), round(100 * (row.f1.value or 0), 2)) == (45.92, 58.88)
    assert row.questions == 1_668


def test_no_question_punishes_a_model_that_says_the_scale(dev: list[Example]) -> None:
    scaled = [one for one in dev if scale_of(one)]
    assert len(scaled) == 874
    instances = asked(scaled)
    said = {("tat", one.id): [f"{answer} {one.scale}" for answer in one.answers] for one in instances}
    assert all(one.after for one in judge(instances, said).judged)
    plain = {("tat", one.id): list(one.answers) for one in instances}
    assert all(one.after for one in judge(instances, plain).judged)


@pytest.mark.parametrize(
    ("said", "gold", "scale", "right"),
    [
        ("1,305", "1,305", "thousand", True),
        ("1,305 thousand", "1,305", "thousand", True),
        ("1305000", "1,305", "thousand", True),
        ("$1,305,000", "1,305", "thousand", True),
        ("1,305 million", "1,305", "thousand", False),
        ("1.305", "1,305", "thousand", False),
        ("1,306 thousand", "1,305", "thousand", False),
        ("12 %", "12", "percent", True),
        ("12 percent", "12", "percent", True),
        ("0.12", "12", "percent", True),
        ("1200", "12", "percent", False),
        ("1,305 thousand", "1,305", "", False),
        ("thousand", "", "thousand", False),
    ],
)
def test_an_answer_may_say_the_scale_or_be_multiplied_out(
    said: str, gold: str, scale: str, right: bool
) -> None:
    assert compare_scaled([said], [gold], scale).equal is right
    verdict = judge_one([said], [gold], said, scale)
    assert verdict.right is right
    assert not (right and scale and verdict.difference == "form" and verdict.near)


def test_a_scale_comes_from_the_context_or_from_the_meta() -> None:
    example = Example(
        id="1",
        question="how much?",
        table=Table(["a"], [["1"]]),
        answers=["1"],
        context=Context(scale="million"),
    )
    assert scale_of(example) == "million"
    assert scale_of(replace(example, context=None, meta={"scale": "thousand"})) == "thousand"
    assert scale_of(replace(example, context=Context(text="Beside it."))) == ""


@pytest.mark.parametrize(
    ("said", "said_scale", "gold", "scale", "kind", "expected"),
    [
        (["1,496.5"], "million", ["$1,496.5"], "million", "span", Score(True, 1.0)),
        (["1,496.5"], "", ["$1,496.5"], "million", "span", Score(False, 0.0)),
        (["1496500000"], "", ["1,496.5"], "million", "arithmetic", Score(True, 1.0)),
        (["0.2342"], "", ["23.42"], "percent", "arithmetic", Score(True, 1.0)),
        (["23.42%"], "", ["23.42"], "percent", "arithmetic", Score(True, 1.0)),
        (["(12)"], "", ["-12"], "", "arithmetic", Score(True, 1.0)),
        (["the cost of sales"], "", ["Cost of sales"], "", "span", Score(True, 1.0)),
        (["cost of sales"], "", ["cost"], "", "span", Score(False, 0.5)),
        (["5"], "", ["4"], "", "count", Score(False, 0.0)),
        (["b", "a"], "", ["a", "b"], "", "multi-span", Score(True, 1.0)),
        ([], "", ["a"], "", "span", Score(False, 0.0)),
    ],
)
def test_the_official_rule_reads_numbers_with_their_scale(
    said: list[str], said_scale: str, gold: list[str], scale: str, kind: str, expected: Score
) -> None:
    assert score(said, gold, scale=scale, predicted_scale=said_scale, answer_type=kind) == expected


def test_predictions_name_their_scale_in_either_form(tmp_path: Path) -> None:
    whole, lines = tmp_path / "whole.json", tmp_path / "lines.jsonl"
    whole.write_text(json.dumps({"q1": [["1,305"], "thousand"], "q2": [-12.5, "percent"], "q3": [[], ""]}))
    lines.write_text(json.dumps({"id": "q1", "answers": ["1,305"], "scale": "thousand"}))
    found = read_predictions(whole, {"tat": "tat_qa", "wtq": "wtq"})
    assert found == {("tat", "q1"): ("1,305",), ("tat", "q2"): ("-12.5",), ("tat", "q3"): ()}
    first, other = found["tat", "q1"], read_predictions(lines, ["tat"])["tat", "q1"]
    assert isinstance(first, ScaledAnswers)
    assert isinstance(other, ScaledAnswers)
    assert first.scale == other.scale == "thousand"
    instance = Instance("tat", "q1", "q1", ORIGINAL, 0, "q1", ("1,305",), scale="million")
    assert not judge([instance], found).judged[0].after, "a wrong scale is a wrong answer"


def test_no_answer_takes_long_to_score() -> None:
    for piece in ("1", "(", "(1 ", "1.", ".", "% ", "$", "a", " "):
        text = (piece * 20_000)[:20_000]
        began = time.process_time()
        score([text], ["1"], scale="thousand")
        assert time.process_time() - began < 5, piece
