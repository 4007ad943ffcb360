"""Metrics against people: within an example and never pooled, as LFTQA-Eval's own program computes it."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path

import pytest

from tableqa import Example, Table
from tableqa.scoring.answer_ratings import (
    METHODS,
    RatedAnswer,
    ScoreColumn,
    ScoresError,
    columns_of,
    correlations,
    rated_answer,
    read_column,
    scores_alone,
)


def drawn(examples: int = 12, systems: int = 6) -> tuple[list[RatedAnswer], ScoreColumn]:
    """Ratings as people give them, with many ties, and a metric that follows them from afar."""
    rng = random.Random(5)
    answers, scores = [], {}
    for example in range(examples):
        for system in range(systems):
            rating = {"faithfulness": rng.choice([1, 4.5, 5, 5]), "comprehensiveness": rng.choice([3, 5])}
            if example == 0:
                rating = {"faithfulness": 5, "comprehensiveness": 5}  # nobody can be told apart here
            one = RatedAnswer("fetaqa", f"fetaqa_{example}", f"system-{system}", human=rating)
            answers.append(one)
            scores[one.key] = round(rating["faithfulness"] / 5 + rng.random(), 3)
    return answers, ScoreColumn("bleu", "drawn", scores)


@pytest.mark.parametrize("method", METHODS)
def test_a_correlation_is_the_mean_over_examples_of_scipys_without_the_undefined_ones(method: str) -> None:
    """LFTQA-Eval's released program, in other words: join by example and system, correlate, drop nan, take the mean."""
    import numpy as np
    from scipy import stats

    answers, column = drawn()
    of = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[method]
    for row in correlations(answers, [column]).rows:
        expected = []
        for example in dict.fromkeys(one.example for one in answers):
            here = [one for one in answers if one.example == example]
            human = [one.human[row.dimension] for one in here]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a constant has no correlation
                expected.append(of([column.scores[one.key] for one in here], human).statistic)
        found = row.by_method[method]
        assert found.value == pytest.approx(np.nanmean(expected))
        assert found.undefined == np.isnan(expected).sum() >= 1
        assert found.n + found.undefined == 12
        assert None not in (found.low, found.value, found.high)
        assert sorted([found.low, found.value, found.high]) == [found.low, found.value, found.high]  # type: ignore[type-var]


def test_answers_without_a_score_and_scores_without_an_answer_are_left_out_and_counted() -> None:
    answers, column = drawn(4, 3)
    scores = dict(column.scores)
    del scores[answers[4].key]
    scores["fetaqa", "fetaqa_99", "system-0"] = 1.0
    (row, _) = correlations(answers, [ScoreColumn("bleu", "drawn", scores)]).rows
    assert (row.answers, row.unscored) == (11, 1)


def test_a_metric_of_one_dataset_says_nothing_of_another() -> None:
    answers, column = drawn(3, 3)
    other = [RatedAnswer("qtsumm", "q", f"s{n}", human={"faithfulness": n + 1}) for n in range(3)]
    found = correlations([*answers, *other], [column, ScoreColumn("m", "x", {one.key: 0.5 for one in other})])
    assert {(row.dataset, row.metric) for row in found.rows} == {("fetaqa", "bleu"), ("qtsumm", "m")}
    (undefined, _) = [row for row in found.rows if row.metric == "m"]
    assert undefined.by_method["pearson"].value is None
    assert undefined.by_method["pearson"].undefined == 1
    assert found.sizes == {"fetaqa": (9, 3, 3), "qtsumm": (3, 1, 3)}


def test_without_a_rating_there_is_nothing_to_compare_with() -> None:
    with pytest.raises(ScoresError, match="No answer has a rating"):
        correlations([RatedAnswer("d", "1", "a")], [])


def test_the_tables_name_what_computed_each_score() -> None:
    answers, column = drawn(4, 3)
    sheets = list(correlations(answers, [column]).sheets())
    assert sheets[0].title == "fetaqa: 12 rated answers of 3 systems to 4 questions"
    assert [[cell.text for cell in row] for row in sheets[-1].rows] == [["bleu", "drawn"]]
    assert len({sheet.name for sheet in sheets}) == len(sheets)
    (pearson,) = {row[2] for row in sheets[0].rows if row[1].text == "faithfulness"}
    assert pearson.number is not None
    assert " to " in pearson.detail
    json.dumps(correlations(answers, [column]).to_dict())


def test_an_answer_belongs_to_its_question_whatever_the_file_calls_it() -> None:
    table = Table(["Film"], [["Heat"]])
    meta = {"rated_answer": {"text": "Heat.", "system": "s-1"}, "human": {"faithfulness": 5}}
    ours = rated_answer("demo", Example("7~s-1", "which?", table, ["Heat"], meta=meta))
    assert ours is not None
    assert (ours.example, ours.system, ours.reference, ours.human) == (
        "7",
        "s-1",
        "Heat",
        {"faithfulness": 5},
    )
    named = rated_answer("demo", Example("x", "?", table, [], meta={**meta, "example_id": "fetaqa_0"}), {})
    assert named is not None
    assert (named.example, named.human) == ("fetaqa_0", {})
    assert rated_answer("demo", Example("x", "?", table, [])) is None


# -- files of scores --------------------------------------------------------------------------------


ANSWERS = [
    RatedAnswer("fetaqa", "fetaqa_0", "A, B", human={"faithfulness": 1}),
    RatedAnswer("fetaqa", "fetaqa_1", "C"),
]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tapas.csv", 'id,system,score\nfetaqa_0,"A, B",0.25\nnobody,C,1\n'),
        ("tapas.json", '[{"example_id": "fetaqa_0", "model": "A, B", "score": 0.25}]'),
        (
            "tapas.jsonl",
            '{"example_id": "fetaqa_0", "model": "A, B", "score": 0.25, "dataset": "fetaqa"}\n\n',
        ),
    ],
)
def test_scores_of_other_programs_come_from_csv_and_json(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    column = read_column("TAPAS-Acc", path, ANSWERS)
    assert column.scores == {("fetaqa", "fetaqa_0", "A, B"): 0.25}
    assert column.implementation.startswith(f"imported from {name} (sha256 ")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"example_id": "fetaqa_0", "model": "A, B", "score": "high"}', "line 1: the score is 'high'"),
        ('{"example_id": "fetaqa_0", "model": "A, B", "score": NaN}', "not a finite number"),
        ('{"example_id": "fetaqa_0", "score": 1}', "line 1: there is no example_id|there is no model"),
        ('{"example_id": "fetaqa_0", "model": "C", "score": 1}', "no score of a rated answer"),
        ('{"example_id": "fetaqa_0",\n', "line 1: not JSON"),
        ("[1]", "record 1: an object"),
        (2 * '{"example_id": "fetaqa_0", "model": "A, B", "score": 1}\n', "line 2: .* has a score already"),
    ],
)
def test_a_file_of_scores_that_does_not_fit_is_refused_with_its_line(
    tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ScoresError, match=said):
        read_column("m", path, ANSWERS)


def test_the_folders_of_scores_of_lftqa_eval_are_read_where_nobody_has_the_answers(tmp_path: Path) -> None:
    def write(name: str, *scores: float) -> None:
        path = tmp_path / "scores" / "fetaqa" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        records = [{"example_id": "fetaqa_0", "model": f"m{n}", "score": one} for n, one in enumerate(scores)]
        path.write_text(json.dumps(records, indent=4), encoding="utf-8")

    write("human_scores/human_faithfulness_scores.json", 1, 4.5, 5)
    write("human_scores/human_comprehensiveness_scores.json", 2, 2, 2)
    write("metric_scores/rouge.json", 0.1, 0.2, 0.9)
    answers = scores_alone(tmp_path / "scores" / "fetaqa", "fetaqa")
    assert answers[1].human == {"faithfulness": 4.5, "comprehensiveness": 2}
    found = correlations(answers, columns_of(answers, "came with the data"))
    assert [(row.metric, row.dimension, row.by_method["kendall"].value) for row in found.rows] == [
        ("rouge", "faithfulness", 1.0),
        ("rouge", "comprehensiveness", None),
    ]
    assert scores_alone(tmp_path, "fetaqa") == []
