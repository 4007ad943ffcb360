"""Question screening: only questions that a model always gets right, and a removed question goes no further."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tableqa import Context, Example, Table
from tasks.contract import Acceptance, Item, NeedsAdjudication, ReportedResponse, Surroundings
from tasks.question_screening.task import task
from tasks.shared.declared_types import Label as Response

TABLE = Table(["Film", "Minutes"], [["Heat", "1,170"], ["Alien", "117"]])
EXAMPLE = Example("nu-1", "how long is heat?", TABLE, ["1,170"])


def asked(*samples: list[str], model: str = "small", temperature: float = 0.7) -> Surroundings:
    row = {"model": model, "samples": list(samples), "temperature": temperature}
    return Surroundings(model_answers={"screening": (row,)})


def test_an_item_is_made_where_every_sample_is_right_however_it_is_written() -> None:
    prepared = task.prepare(EXAMPLE, asked(["1170"], ["1,170"], ["1170.0"]))
    assert prepared is not None
    assert prepared.inputs["samples"]["text"] == "3 of 3 samples right (small, at temperature 0.7)"


@pytest.mark.parametrize(
    "around",
    [
        Surroundings(),
        asked(["1170"], ["117"]),
        asked(["1170"]),
        asked(),
        asked(["1170"], []),
    ],
    ids=["not asked", "once wrong", "one sample", "none", "once no answer"],
)
def test_and_nowhere_else(around: Surroundings) -> None:
    assert task.prepare(EXAMPLE, around) is None


def test_a_sample_may_say_the_scale_of_the_answer() -> None:
    example = Example("nu-1", "how long?", TABLE, ["1,170"], context=Context(scale="thousand"))
    assert task.prepare(example, asked(["1,170 thousand"], ["1170000"])) is not None
    assert task.prepare(example, asked(["1,170 thousand"], ["1,170 million"])) is None


def test_the_model_that_was_asked_last_counts() -> None:
    older, newer = asked(["1170"], ["1170"]), asked(["1170"], ["5"], model="other")
    rows = (*older.model_answers["screening"], *newer.model_answers["screening"])
    assert task.prepare(EXAMPLE, Surroundings(model_answers={"screening": rows})) is None


def test_a_source_may_bring_its_own_samples() -> None:
    example = Example("nu-1", "how long?", TABLE, ["1,170"], meta={"samples": [["1170"], "1,170"]})
    prepared = task.prepare(example, Surroundings())
    assert prepared is not None
    assert prepared.inputs["samples"]["text"] == "2 of 2 samples right"


def test_a_person_reads_how_many_samples_not_what_they_say() -> None:
    prepared = task.prepare(EXAMPLE, asked(["1170 min"], ["1170"]))
    assert prepared is not None
    shown = task.payload(Item(EXAMPLE, inputs=prepared.inputs))
    assert "1170 min" not in json.dumps(shown)
    assert shown["samples"] == {"text": "2 of 2 samples right (small, at temperature 0.7)"}


def test_one_person_decides() -> None:
    assert task.default_overlap == 1
    kept = task.resolve([Response("keep")], Item(EXAMPLE))
    assert isinstance(kept, Acceptance)
    assert kept.outcomes[0].response == Response("keep")


def test_a_removed_question_is_excluded() -> None:
    assert task.resolve([Response("remove")], Item(EXAMPLE)) == Acceptance((), "removed")


def test_two_who_differ_are_for_an_adjudicator() -> None:
    assert isinstance(task.resolve([Response("keep"), Response("remove")], Item(EXAMPLE)), NeedsAdjudication)


def test_the_report_counts_what_was_kept_and_removed() -> None:
    def row(id: str, decided: Any) -> ReportedResponse:
        return ReportedResponse(Item(Example(id, "?", TABLE, ["1"])), "wtq", "p1", Response("keep"), decided)

    rows = [row("a", (Response("keep"),)), row("b", ()), row("c", None), row("d", (Response("keep"),))]
    assert task.report(rows)[0].rows == (("wtq", 3, 2, 1),)


def test_kept_questions_come_out_with_what_was_sampled() -> None:
    prepared = task.prepare(EXAMPLE, asked(["1170"], ["1170"]))
    assert prepared is not None
    (one,) = task.export("askew", Item(EXAMPLE, inputs=prepared.inputs), Response("keep"), None)
    assert one.record["id"] == "nu-1"
    assert (one.record["label"], one.record["samples"], one.record["model"]) == ("keep", 2, "small")
