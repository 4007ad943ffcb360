"""What language models would use, before anything is asked: evaluations, questions before annotation, drawn items."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from annotation.assistance import model_accuracy, model_queries
from annotation.models import Job, ModelRequest, Project, Release
from annotation.queue import sampling
from annotation.releases import creation
from annotation.releases.model_evaluation import queries, runs
from annotation.study_file import current_state, plan
from annotation.study_file.parser import parse
from annotation.workflow import perturbation_runs
from tableqa.scoring.predictions import read_predictions
from tasks.contract import task_type
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_right_only import ADDRESS, fields
from tests.predictor.endpoints import Endpoint, endpoint


@pytest.fixture
def llm(settings: Any) -> Iterator[Endpoint]:
    with endpoint(Endpoint("vllm")) as server:
        settings.PREDICTORS = {
            "llm": server.entry(price=[10, 20], parallel=2),
            "plain": {"protocol": "predict", "url": "http://127.0.0.1:1", "model": "plain"},
        }
        yield server


@pytest.fixture
def world(db: None, tmp_path: Path, settings: Any) -> World:
    settings.MEDIA_ROOT = tmp_path / "media"
    return make_world(tmp_path, questions=12)


@pytest.fixture
def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def released(world: World) -> Release:
    run = perturbation_runs.plan_run(
        project=world.project, kinds=["row_shuffle", "transpose"], seeds=[33], now=NOON
    )
    perturbation_runs.perform(run)
    return creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=NOON)


# -- evaluations ------------------------------------------------------------------------------------


def test_instances_are_counted_without_making_them_again(world: World, tmp_path: Path) -> None:
    raw = queries.load(creation.folder(released(world)))
    every = [one for one, _ in queries.instances(raw)]
    assert queries.count_pending(raw, {}) == len(every) == 36
    assert queries.count_pending(raw, {(every[0].source, every[0].id): ("1995",)}) == 35
    assert queries.count_pending(raw, {}, keep=lambda example: example.id == every[0].id) == 1 + 2
    assert queries.count_pending(raw, {}, chosen=["elsewhere"]) == 0


@pytest.mark.django_db(transaction=True)
def test_an_evaluation_shows_its_estimate_and_starts_once_it_is_confirmed(
    tmp_path: Path, settings: Any, llm: Endpoint
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    world = make_world(tmp_path, questions=12)
    release = released(world)
    Project.objects.filter(pk=world.project.pk).update(model_budget={"usd": 5})
    rea = Client()
    rea.force_login(world.rea)
    address = reverse("evaluations", args=[release.public_id])
    sent = {"name": "Small", "predictor": "llm"}
    page = rea.post(address, sent).content.decode()
    assert "about 36 requests" in page
    assert "5.00 USD" in page
    assert (llm.requests, Job.objects.filter(kind="evaluate").count()) == ([], 0)
    assert rea.post(address, {**sent, "confirmed": "1"}).status_code == 302
    job = Job.objects.get(kind="evaluate")
    assert (job.state, len(llm.requests)) == ("done", 36)
    assert ModelRequest.objects.filter(purpose="evaluation").count() == 36
    again = runs.estimate(release=release, name="Small", predictor="llm")
    assert again is not None
    assert again.requests == 0, "what is answered is not asked again"
    assert runs.estimate(release=release, name="Small", predictor="plain") is None


@pytest.mark.django_db(transaction=True)
def test_an_evaluation_stops_at_the_budget_and_continues_where_it_stopped(
    tmp_path: Path, settings: Any, llm: Endpoint
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    world = make_world(tmp_path, questions=12)
    release = released(world)
    Project.objects.filter(pk=world.project.pk).update(model_budget={"tokens": 3_000})
    start: dict[str, Any] = {
        "release": release,
        "name": "Small",
        "predictor": "llm",
        "by": world.rea,
        "now": NOON,
    }
    runs.start(**start)
    job = Job.objects.get(kind="evaluate")
    assert job.state == "failed"
    assert "budget of the project" in job.error
    asked = len(llm.requests)
    assert 0 < asked < 36
    Project.objects.filter(pk=world.project.pk).update(model_budget={})
    runs.start(**start)
    assert len(llm.requests) == 36


def test_the_command_estimates_and_keeps_to_its_budget(world: World, llm: Endpoint, tmp_path: Path) -> None:
    folder, out = creation.folder(released(world)), tmp_path / "llm.jsonl"
    err = StringIO()
    command = ["evaluate", str(folder), "--predictor", "llm", "--predictions", f"llm={out}"]
    call_command(*command, "--estimate", stdout=StringIO(), stderr=err)
    assert "llm: about 36 requests" in err.getvalue()
    assert "USD" in err.getvalue()
    assert llm.requests == []
    with pytest.raises(CommandError, match="budget of 2,000 tokens"):
        call_command(*command, "--budget-tokens", "2000", stdout=StringIO(), stderr=StringIO())
    asked = len(llm.requests)
    assert 0 < asked < 36
    assert len(read_predictions(out, queries.load(folder).raw.datasets)) == asked
    err = StringIO()
    call_command(*command, "--budget-usd", "5", stdout=StringIO(), stderr=err)
    assert len(llm.requests) == 36
    assert f"about {36 - asked} requests" in err.getvalue()


# -- questions before annotation --------------------------------------------------------------------


def test_questions_are_estimated_before_they_are_asked(world: World, llm: Endpoint) -> None:
    params: dict[str, Any] = {"predictor": "llm", "purpose": "screening", "samples": 4, "limit": 5}
    estimate = model_queries.estimate(sources=[world.source], **params)
    assert estimate is not None
    assert (estimate.requests, estimate.completion_tokens) == (5, 5 * 4 * 100)
    assert estimate.usd is not None
    err = StringIO()
    call_command("ask_model", "--estimate", project="films", stdout=StringIO(), stderr=err, **params)
    assert "Estimate: about 5 requests" in err.getvalue()
    assert llm.requests == []
    call_command("ask_model", project="films", stdout=StringIO(), stderr=err, **params)
    assert len(llm.requests) == 5


def test_an_endpoint_without_several_samples_is_estimated_with_a_request_for_each(
    world: World, llm: Endpoint, settings: Any
) -> None:
    settings.PREDICTORS = {"llm": llm.entry(extra={"n": None})}
    params: dict[str, Any] = {"predictor": "llm", "purpose": "screening", "samples": 4, "limit": 5}
    estimate = model_queries.estimate(sources=[world.source], **params)
    assert estimate is not None
    assert (estimate.requests, estimate.completion_tokens) == (20, 20 * 100)
    call_command("ask_model", project="films", stdout=StringIO(), stderr=StringIO(), **params)
    assert len(llm.requests) == 20


# -- drawn items ------------------------------------------------------------------------------------


def test_a_page_and_the_api_estimate_the_questions_of_a_draw(
    world: World, llm: Endpoint, mara: Client
) -> None:
    sent = {"type": "question_paraphrase", "predictor": "llm", "sources": [world.source.public_id]}
    address = "/api/projects/films/model-answers/"
    reply = mara.post(address, sent, content_type="application/json").json()
    assert reply["estimate"]["requests"] == 12
    assert reply["estimate"]["prompt_tokens"] > 12 * 100
    assert reply["estimate"]["usd"] > 0
    query = fields(world, loop_model="llm")
    page = mara.get(f"{ADDRESS}answers/", query, headers={"hx-request": "true"}).content.decode()
    assert "Estimate: about 12 requests" in page
    keys = list(
        sampling.drawable_examples(
            world.project, task_type("question_paraphrase"), sampling.Sample([world.source])
        )
    )
    model_accuracy.ask(keys, task=task_type("question_paraphrase"), predictor="llm")
    reply = mara.post(address, sent, content_type="application/json").json()
    assert (reply["unknown"], reply["estimate"]) == (0, None)


def test_the_plan_of_a_study_estimates_the_questions_of_a_draw(
    world: World, llm: Endpoint, tmp_path: Path
) -> None:
    text = f"""\
study: 1
project: {{slug: films, name: Films}}
sources:
  - {{name: {world.source.name}, reader: wtq, path: films-dev.tsv}}
batches:
  - name: Reworded
    type: question_paraphrase
    variant: word
    sample: {{size: 5}}
    loop_model: llm
    loop_right_only: true
"""
    study = parse(text, folder=tmp_path)
    changes = plan.plan(study, current_state.of_project(world.project, now=NOON)).changes
    words = next(change.words for change in changes if change.section == "batch")
    assert "it will be asked (about 12 requests" in words


# -- states of replies in evaluations ---------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_an_evaluation_counts_each_state_of_a_reply(tmp_path: Path, settings: Any, llm: Endpoint) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.PREDICTORS = {"llm": llm.entry(parallel=1)}
    world = make_world(tmp_path, questions=12)
    release = released(world)
    moods = ["cut_off", "declines", "filtered", "silent", "filtered_prompt", "well", "well"]

    def reply(body: dict[str, Any]) -> str:
        return "No idea." if len(llm.requests) == 7 else '{"answers": ["1995"]}'

    answer = llm._answer
    llm.reply = reply
    llm._answer = lambda body, mood: answer(  # type: ignore[method-assign]
        body, moods[len(llm.requests) - 1] if len(llm.requests) <= len(moods) else "well"
    )
    runs.start(release=release, name="Small", predictor="llm", by=world.rea, now=NOON)
    job = Job.objects.get(kind="evaluate")
    assert job.state == "done", job.error
    assert job.result["states"] == {
        "cut_off": 1,
        "declined": 1,
        "filtered": 2,
        "unreadable": 1,
        "no_list": 1,
    }
    assert len(llm.requests) == 36
    rea = Client()
    rea.force_login(world.rea)
    page = rea.get(reverse("evaluations", args=[release.public_id])).content.decode()
    assert (
        "1 cut off, 1 declined by the model, 2 filtered, 1 without text, 1 without a list of answers" in page
    )
    out = tmp_path / "llm.jsonl"
    text = StringIO()
    llm.requests.clear()
    command = [
        "evaluate",
        str(creation.folder(release)),
        "--predictor",
        "llm",
        "--predictions",
        f"llm={out}",
    ]
    call_command(*command, stdout=text, stderr=StringIO())
    assert "llm: replies without an answer count as wrong: 1 cut off" in text.getvalue()
