"""Question type: majorities decide, ties are for an adjudicator, FREB-TQA's codes come out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tableqa import Example, Table
from tableqa.statistics.proportions import proportion
from tableqa.writers.freb_tqa import freb_example
from tasks.contract import Acceptance, Context, Item, NeedsAdjudication, ReportedResponse, Surroundings
from tasks.question_type.task import task
from tasks.shared.declared_types import Label as Response

EXAMPLE = Example(
    id="nu-1",
    question="when?",
    table=Table(header=["Film", "Year"], rows=[["Heat", "1995"]]),
    answers=["1995"],
    meta={"context": "csv/1-csv/1.csv"},
)


def said(*labels: str) -> list[Response]:
    return [Response(label) for label in labels]


def test_two_of_three_decide() -> None:
    resolution = task.resolve(said("reasoning", "extraction", "reasoning"), Item(EXAMPLE))
    assert isinstance(resolution, Acceptance)
    assert [(outcome.response.label, outcome.by) for outcome in resolution.outcomes] == [
        ("reasoning", (0, 2))
    ]


@pytest.mark.parametrize("labels", [("extraction", "reasoning"), ("extraction", "reasoning", "neither")])
def test_without_a_majority_an_adjudicator_looks(labels: tuple[str, ...]) -> None:
    resolution = task.resolve(said(*labels), Item(EXAMPLE))
    assert isinstance(resolution, NeedsAdjudication)
    assert "extraction 1" in resolution.reason


def test_an_unanswerable_question_is_decided_and_excluded() -> None:
    assert task.resolve(said("unanswerable", "unanswerable", "reasoning"), Item(EXAMPLE)) == Acceptance(
        (), "unanswerable"
    )


@pytest.mark.parametrize(("label", "code"), [("extraction", 1), ("reasoning", 0), ("neither", -1)])
def test_labels_come_out_under_the_codes_of_the_paper(label: str, code: int) -> None:
    parts = {e.part: e.record for e in task.export("freb_tqa", Item(EXAMPLE), Response(label), None)}
    assert parts["question_type"] == {**freb_example(EXAMPLE), "label": code}
    assert ("01_str/{reader}_factoid_{split}" in parts) == (label == "extraction")


# -- suggestions ------------------------------------------------------------------------------------

RETRIEVED = {"model": "endpoint:small", "label": None, "reply": "Cells: 1995\nOperation: retrieved"}
COUNTED = {"model": "endpoint:small", "label": None, "reply": "Operation: count"}


def frozen(*replies: dict[str, Any], example: Example = EXAMPLE, **settings: Any) -> Item:
    around = Surroundings(model_answers={"question_type": replies} if replies else {})
    return Item(example, settings=settings, inputs=task.prepare(example, around).inputs)


def labels(item: Item) -> dict[str, Any]:
    return {name: one["label"] for name, one in item.inputs["suggestions"].items()}


def test_the_rule_always_says_something_and_a_model_where_one_was_asked() -> None:
    assert labels(frozen()) == {"rule": "extraction"}
    assert labels(frozen(RETRIEVED)) == {
        "rule": "extraction",
        "model": "extraction",
        "combined": "extraction",
    }
    assert labels(frozen(COUNTED)) == {"rule": "extraction", "model": "reasoning", "combined": None}
    assert labels(frozen(RETRIEVED, COUNTED))["model"] == "reasoning", "the model that was asked last"
    assert labels(frozen({"label": "reasoning"}))["model"] == "reasoning", "where only the label was kept"


@pytest.mark.parametrize(("setting", "when"), [("after", ""), ("before", "before"), ("never", "")])
def test_a_batch_says_when_suggestions_are_shown(setting: str, when: str) -> None:
    assert task.suggests(frozen(suggestions=setting)) == when


def test_without_a_word_from_the_batch_they_never_come() -> None:
    assert task.settings_schema["properties"]["suggestions"]["default"] == "never"
    assert task.suggests(frozen()) == ""


def test_in_practice_the_rule_may_follow_the_answer() -> None:
    response = task.parse({"label": "reasoning"}, frozen())
    without, after = (
        task.feedback(item, response, response)[1] for item in (frozen(), frozen(suggestions="after"))
    )
    words = [without, after]
    assert words == [[], ["Suggested by the lexical rule: extraction"]]


def test_they_are_never_part_of_what_an_item_shows() -> None:
    for setting in ("after", "before", "never"):
        assert "suggest" not in json.dumps(task.payload(frozen(RETRIEVED, suggestions=setting)))


def test_each_suggester_is_named_with_what_it_says_and_why() -> None:
    suggested = task.suggest(frozen(COUNTED), Context())
    assert suggested is not None
    assert [(one["by"], one["label"]) for one in suggested["said"]] == [
        ("the lexical rule", "extraction"),
        ("a language model", "reasoning"),
        ("both combined", None),
    ]
    assert all(one["why"] for one in suggested["said"])
    assert "endpoint" not in json.dumps(suggested)


def answered(id: str, decided: str | None, *replies: dict[str, Any]) -> ReportedResponse:
    example = Example(id, EXAMPLE.question, EXAMPLE.table, EXAMPLE.answers)
    outcome = None if decided is None else () if decided == "unanswerable" else (Response(decided),)
    return ReportedResponse(frozen(*replies, example=example), "wtq", "p1", Response("neither"), outcome)


def test_the_precision_of_each_suggester_is_counted_against_what_was_decided() -> None:
    rows = [
        answered("a", "extraction", RETRIEVED),
        answered("a", "extraction", RETRIEVED),  # another person's response to the same item
        answered("b", "reasoning", COUNTED),
        answered("c", "unanswerable", RETRIEVED),
        answered("d", None, RETRIEVED),
        answered("e", "extraction"),
    ]
    (report,) = task.report(rows)
    found = {(row[0], row[1]): row[2:5] for row in report.rows}
    assert found == {
        ("the lexical rule", "extraction"): (4, 4, 2),
        ("the lexical rule", "reasoning"): (4, 0, 0),
        ("a language model", "extraction"): (3, 2, 1),
        ("a language model", "reasoning"): (3, 1, 1),
        ("both combined", "extraction"): (3, 2, 1),
        ("both combined", "reasoning"): (3, 0, 0),
    }
    assert report.rows[0][5:] == (proportion(2, 4),)


def test_a_decided_label_comes_out_beside_what_was_suggested() -> None:
    (one,) = task.export("askew", frozen(COUNTED), Response("reasoning"), None)
    assert (one.part, one.record["label"]) == ("question_type", "reasoning")
    assert one.record["suggested"] == {"rule": "extraction", "model": "reasoning", "combined": None}
