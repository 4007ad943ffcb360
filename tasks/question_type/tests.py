"""Question type: majorities decide, ties are for an adjudicator, FREB-TQA's codes come out."""

from __future__ import annotations

import pytest

from tableqa import Example, Table
from tasks.contract import Accepted, Adjudicate, Item
from tasks.question_type.task import Response, task

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
    assert isinstance(resolution, Accepted)
    assert [(outcome.response.label, outcome.by) for outcome in resolution.outcomes] == [
        ("reasoning", (0, 2))
    ]


@pytest.mark.parametrize("labels", [("extraction", "reasoning"), ("extraction", "reasoning", "neither")])
def test_without_a_majority_an_adjudicator_looks(labels: tuple[str, ...]) -> None:
    resolution = task.resolve(said(*labels), Item(EXAMPLE))
    assert isinstance(resolution, Adjudicate)
    assert "extraction 1" in resolution.reason


def test_an_unanswerable_question_is_decided_and_excluded() -> None:
    assert task.resolve(said("unanswerable", "unanswerable", "reasoning"), Item(EXAMPLE)) == Accepted(
        (), "unanswerable"
    )


@pytest.mark.parametrize(("label", "code"), [("extraction", 1), ("reasoning", 0), ("neither", -1)])
def test_labels_come_out_under_the_codes_of_the_paper(label: str, code: int) -> None:
    parts = {e.part: e.record for e in task.export("freb_tqa", Item(EXAMPLE), Response(label), None)}
    assert parts["question_type"] == {"id": "nu-1", "question": "when?", "label": code}
    assert ("01_str/{reader}_factoid_{split}" in parts) == (label == "extraction")
