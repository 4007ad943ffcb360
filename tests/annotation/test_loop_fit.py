"""A model that answers with values is refused where the answers are sentences: by the form, a study file, and the job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.assistance import accuracy_jobs, loop_fit
from annotation.models import Batch, Job
from annotation.platform.refusals import ActionRefused
from annotation.queue import sampling
from annotation.study_file import apply
from annotation.study_file.parser import parse
from tableqa import Example, Table
from tableqa.data.answers import are_sentences
from tasks.contract import task_type
from tests.annotation.cast import NOON, World

SENTENCE = "Heat, which runs for 170 minutes, came out in 1995."
VALUES = {"protocol": "predict", "url": "http://127.0.0.1:9", "model": "small"}
WRITES = {"protocol": "chat", "url": "http://127.0.0.1:9/v1", "model": "large"}
REASON = "are sentences. This model answers with values"


@pytest.fixture(autouse=True)
def models(settings: Any) -> None:
    settings.PREDICTORS = {"small": VALUES, "large": WRITES}


def told_in_sentences(world: World) -> Any:
    table = Table(["Film", "Year"], [["Heat", "1995"]])
    examples = [
        Example(id=f"s-{number}", question=f"when ({number})?", table=table, answers=[SENTENCE])
        for number in range(3)
    ]
    return world.import_written(*examples, name="sentences")


@pytest.mark.parametrize(
    ("entry", "sources", "is_refused"),
    [
        (VALUES, ["fetaqa"], True),
        (VALUES, [], False),
        (WRITES, ["fetaqa"], False),
        (None, ["fetaqa"], False),
    ],
)
def test_the_decision_needs_the_protocol_and_the_sources(
    entry: dict[str, str] | None, sources: list[str], is_refused: bool
) -> None:
    assert bool(loop_fit.obstacle(entry, sources)) == is_refused


def test_most_answers_have_to_be_one_long_text() -> None:
    assert are_sentences([[SENTENCE], [SENTENCE], ["1995"]])
    assert not are_sentences([[SENTENCE], ["1995"]])
    assert not are_sentences([[SENTENCE, SENTENCE]])
    assert not are_sentences([])


def test_a_batch_refuses_a_model_that_answers_with_values(world: World) -> None:
    source = told_in_sentences(world)
    with pytest.raises(ActionRefused, match=REASON):
        world.batch("question_paraphrase", variant="word", sources=[source], loop_model="small")
    assert world.batch("question_paraphrase", variant="word", sources=[source], loop_model="large")
    assert world.batch("question_paraphrase", variant="word", loop_model="small")


def test_a_batch_that_takes_its_items_from_there_refuses_it_too(world: World) -> None:
    first = world.batch("question_type", sources=[told_in_sentences(world)])
    with pytest.raises(ActionRefused, match=REASON):
        world.batch("question_paraphrase", variant="word", sources=[], feeds_from=first, loop_model="small")


def test_the_model_is_not_asked_either(world: World) -> None:
    with pytest.raises(ActionRefused, match=REASON):
        accuracy_jobs.start_asking(
            project=world.project,
            task=task_type("question_paraphrase"),
            sample=sampling.Sample([told_in_sentences(world)]),
            predictor="small",
            by=world.mara,
            now=NOON,
        )
    assert not Job.objects.exists()


def test_the_form_says_why(world: World) -> None:
    client = Client()
    client.force_login(world.mara)
    fields = {"kind": "question_paraphrase:word", "name": "long", "seed": 0, "overlap": 1, "of": "originals"}
    fields |= {"sources": told_in_sentences(world).public_id, "loop_model": "small", "purpose": "work"}
    page = client.post("/projects/films/batches/new/", {**fields, "strategy": "open"}).content.decode()
    assert REASON in page
    assert 'value="long"' in page
    assert not Batch.objects.exists()


def test_the_form_says_why_as_soon_as_model_and_source_are_chosen(world: World) -> None:
    client = Client()
    client.force_login(world.mara)
    fields: dict[str, Any] = {"kind": "question_paraphrase:word", "seed": 0, "of": "originals"}
    fields |= {"loop_model": "small", "sources": told_in_sentences(world).public_id}
    part = client.get(reverse("model_answers", args=["films"]), fields).content.decode()
    assert REASON in part
    assert 'name="ask"' not in part, "it would be refused"
    fitting = client.get(reverse("model_answers", args=["films"]), {**fields, "loop_model": "large"})
    assert REASON not in fitting.content.decode()


@pytest.mark.parametrize("model", ["small", "large"])
def test_a_study_file_is_refused_before_anything_is_imported(
    world: World, tmp_path: Path, model: str
) -> None:
    lines = [
        {"id": f"s-{number}", "question": "when?", "answers": [SENTENCE], "table": TABLE}
        for number in range(3)
    ]
    (tmp_path / "long.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    study = parse(STUDY.replace("MODEL", model), folder=tmp_path)
    looked = apply.probe_sources(study, folder=tmp_path)
    plan = apply.plan_for_project(study, None, now=NOON, probes=looked)
    refused = [str(change) for change in plan.cannot]
    assert any(REASON in words for words in refused) == (model == "small"), refused


TABLE = {"header": ["Film", "Year"], "rows": [["Heat", "1995"]]}
STUDY = """\
study: 1
project: {slug: small, name: Small}
sources:
  - {name: long, reader: jsonl, path: long.jsonl}
batches:
  - {name: Types, type: question_type, sample: {sources: [long]}}
  - {name: Reworded, type: question_paraphrase, variant: word, feeds_from: Types, loop_model: MODEL}
"""
