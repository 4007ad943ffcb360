"""Metric failure: the answers on which ranks differ most come first, and causes are what more than half name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tasks.contract import Acceptance, Item, NeedsAdjudication, PreparedInputs, ReportedResponse, Surroundings
from tasks.metric_failure.task import CAUSES, Response, _ranks, metric_title, rank_in_words, task

TABLE = Table(["Film", "Minutes"], [["Heat", "170"]])


def example(id: str = "x", metrics: Any = None, human: Any = None, **meta: Any) -> Example:
    more = {"rated_answer": {"text": "Heat.", "system": "system-a"}, "reference": "It is Heat.", **meta}
    if metrics is not None:
        more["metrics"] = metrics
    if human is not None:
        more["human"] = human
    return Example(id, "which film?", TABLE, ["It is Heat."], meta=more)


def together(*rated: tuple[dict[str, float], float], metric: str = "") -> list[PreparedInputs | None]:
    prepared = []
    for number, (metrics, human) in enumerate(rated):
        scores = {"faithfulness": human, "comprehensiveness": human}
        one = task.prepare(example(f"x{number}", metrics, scores), Surroundings())
        assert one is not None
        prepared.append(one)
    return list(task.together(prepared, {"metric": metric}))


def gaps(found: list[PreparedInputs | None]) -> list[float]:
    return [one.inputs["metric"]["gap"] for one in found if one is not None]


def test_ranks_are_compared_not_scores() -> None:
    found = together(({"bleu": 0.10}, 1), ({"bleu": 0.11}, 2), ({"bleu": 0.12}, 5))
    assert gaps(found) == [0, 0, 0]


def test_the_answer_that_metric_and_people_rank_most_differently_is_wanted_most() -> None:
    found = together(({"bleu": 0.9}, 1), ({"bleu": 0.5}, 2), ({"bleu": 0.4}, 3), ({"bleu": 0.3}, 4))
    assert gaps(found) == [1.0, 0.333333, -0.333333, -1.0]
    assert [one.priority for one in found if one] == [1.0, 0.333333, 0.333333, 1.0]


def test_of_several_metrics_the_one_that_differs_most_is_shown() -> None:
    found = together(({"good": 1, "bad": 3}, 1), ({"good": 2, "bad": 2}, 2), ({"good": 3, "bad": 1}, 3))
    first = found[0]
    assert first is not None
    assert first.inputs["metric"]["name"] == "bad"
    assert first.inputs["metric"]["text"] == "bad gives it 3: all 2 others score lower."
    assert first.inputs["people"]["text"] == (
        "People give it 1 for faithfulness and 1 for comprehensiveness out of 5: no other answer scores lower."
    )


def test_a_batch_may_be_about_one_metric() -> None:
    found = together(({"good": 1, "bad": 3}, 1), ({"good": 2}, 2), metric="bad")
    assert found[0] is not None
    assert found[0].inputs["metric"]["name"] == "bad"
    assert found[1] is None


def test_a_metric_of_one_dimension_is_held_against_that_dimension() -> None:
    name = "geval_faithfulness"
    prepared = [
        task.prepare(example("a", {name: 5.0}, {"faithfulness": 5, "comprehensiveness": 1}), Surroundings()),
        task.prepare(example("b", {name: 1.0}, {"faithfulness": 1, "comprehensiveness": 5}), Surroundings()),
    ]
    found = list(task.together([one for one in prepared if one], {}))
    assert gaps(found) == [0, 0]


def test_people_who_rated_here_count_before_the_scores_of_the_source() -> None:
    around = Surroundings(decided={"answer_rating": ({"faithfulness": 1, "comprehensiveness": 2.5},)})
    prepared = task.prepare(example(metrics={"bleu": 1}, human={"faithfulness": 5}), around)
    assert prepared is not None
    assert prepared.inputs["scores"]["people"] == {"faithfulness": 1, "comprehensiveness": 2.5}


@pytest.mark.parametrize(
    "lacking",
    [
        example(metrics={"bleu": 1}),
        example(human={"faithfulness": 5}),
        example(metrics={}, human={"faithfulness": 5}),
        example(metrics={"bleu": "high"}, human={"faithfulness": 5}),
        example(metrics={"bleu": 1}, human={"fluency": 5}),
        example(metrics={"bleu": 1}, human={"faithfulness": 5}, rated_answer={"text": "", "system": "a"}),
    ],
)
def test_without_both_scores_there_is_no_item(lacking: Example) -> None:
    assert task.prepare(lacking, Surroundings()) is None


def test_neither_system_nor_the_other_scores_leave_the_server() -> None:
    first = together(({"shown": 3, "hidden_metric": 1}, 1), ({"shown": 1, "hidden_metric": 2}, 2))[0]
    assert first is not None
    shown = json.dumps(task.payload(Item(example(), inputs=first.inputs)))
    assert "shown gives it 3: the other answer scores lower." in shown
    assert "hidden_metric" not in shown
    assert "system-a" not in shown


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("token_f1", "Token F1"),
        ("rouge", "ROUGE"),
        ("rougeL", "ROUGE-L"),
        ("rouge_l", "ROUGE-L"),
        ("bertscore", "BERTScore"),
        ("geval_gpt4_faithfulness", "G-Eval gpt4, faithfulness"),
        ("geval_faithfulness", "G-Eval, faithfulness"),
        ("our_own_score", "our own score"),
        ("faithfulness", "faithfulness"),
    ],
)
def test_metrics_are_called_as_those_who_made_them_spell_them(name: str, words: str) -> None:
    assert metric_title(name) == words


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([3], "no other answer was scored"),
        ([3, 1], "the other answer scores lower"),
        ([3, 3], "the other answer scores the same"),
        ([3, 4], "the other answer scores no lower"),
        ([3, 1, 2], "all 2 others score lower"),
        ([3, 4, 5], "no other answer scores lower"),
        ([3, *([1] * 9), 4, 5], "9 of the 11 others score lower"),
        ([3, 1, 3, 4], "1.5 of the 3 others score lower (ties count half)"),
    ],
)
def test_how_an_answer_stands_among_the_others_is_said_in_numbers_of_answers(
    scores: list[float], words: str
) -> None:
    rank = round(_ranks(dict(enumerate(map(float, scores))))[0], 6)
    assert rank_in_words(rank, len(scores)) == words


@given(st.lists(st.floats(0, 5), min_size=2, max_size=30))
def test_a_rank_is_the_share_of_the_others_below(scores: list[float]) -> None:
    found = _ranks(dict(enumerate(scores)))
    assert sum(found.values()) / len(found) == pytest.approx(0.5, abs=1e-5)
    for one, score in enumerate(scores):
        below = sum(other < score for other in scores)
        equal = sum(other == score for other in scores) - 1
        assert found[one] == pytest.approx((below + equal / 2) / (len(scores) - 1), abs=1e-5)


def test_a_single_answer_stands_in_the_middle() -> None:
    assert _ranks({0: 3.0}) == {0: 0.5}


def test_the_causes_that_more_than_half_name_are_decided() -> None:
    said = [
        Response(("answer_length", "question_open")),
        Response(("answer_length",), "short"),
        Response(("question_open",)),
    ]
    resolution = task.resolve(said, Item(example()))
    assert isinstance(resolution, Acceptance)
    assert resolution.outcomes[0].response == Response(("question_open", "answer_length"), "short")


def test_where_nobody_agrees_an_adjudicator_looks() -> None:
    said = [Response(("answer_length",)), Response(("question_open",)), Response(("other",), "a slip")]
    resolution = task.resolve(said, Item(example()))
    assert isinstance(resolution, NeedsAdjudication)
    assert "Answer: length (1)" in resolution.reason


def test_the_report_counts_causes_by_metric_and_direction() -> None:
    def row(id: str, gap: float, *causes: str) -> ReportedResponse:
        item = Item(example(id), inputs={"metric": {"name": "bleu", "gap": gap}})
        return ReportedResponse(item, "lftqa", "p1", Response(causes), (Response(causes),))

    rows = [
        row("a", 0.5, "answer_length"),
        row("a", 0.5, "answer_length"),
        row("b", -0.4, "other", "answer_length"),
    ]
    (report,) = task.report(rows)
    where = CAUSES.values.index("answer_length") + 3
    assert [(line[0], line[1], line[2], line[where]) for line in report.rows] == [
        ("bleu", "lower", 1, 1),
        ("bleu", "higher", 1, 1),
    ]


@pytest.mark.parametrize(
    ("rank", "among", "place", "share"),
    [(1, 3, "rank 1 of 3", 100), (0.75, 3, "rank 1.5 of 3", 75), (0, 2, "rank 2 of 2", 0)],
)
def test_the_chart_shows_the_ranks_of_metric_and_people(
    rank: float, among: int, place: str, share: int
) -> None:
    inputs = {
        "metric": {"text": "m", "name": "rouge", "rank": rank, "among": among, "gap": 0.5},
        "people": {"text": "p", "rank": 0.5},
    }
    shown = task.payload(Item(example(), inputs=inputs))
    assert shown["metric"]["rank"] == {"name": "ROUGE", "place": place, "share": share}
    assert shown["people"]["rank"]["name"] == "People"


def test_an_item_without_ranks_has_no_chart() -> None:
    inputs = {"metric": {"text": "m", "name": "rouge"}, "people": {"text": "p"}}
    assert task.payload(Item(example(), inputs=inputs))["metric"]["rank"] is None
