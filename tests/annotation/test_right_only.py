"""A batch that serves only items that its model answers correctly: asked in a job, drawn from the correct answers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils.dateparse import parse_datetime

from annotation.assistance import model_accuracy, model_answers
from annotation.background import jobs
from annotation.models import Batch, Job, ModelAnswer
from annotation.platform.refusals import ActionRefused
from annotation.queue import sampling
from annotation.releases import creation, verification
from annotation.study_file import current_state, plan, project_export
from annotation.study_file.parser import parse
from annotation.study_file.yaml_file import StudyError
from annotation.workflow import automatic_decisions, batches
from predictor import client
from predictor.protocol import Prediction, PredictRequest
from tableqa.releases import release_records
from tasks.contract import task_type
from tests.annotation.applied_studies import apply_with_files
from tests.annotation.cast import FILMS, NOON, World, make_world
from tests.predictor.scripted import SHA, ScriptedServer, answer, scripted

MODEL = f"small@{SHA}"
STUDY = """\
study: 1
project: {slug: small, name: Small}
sources:
  - {name: films, reader: wtq, path: films-dev.tsv}
batches:
  - name: Reworded
    type: question_paraphrase
    variant: word
    sample: {size: 5}
    loop_model: small
    loop_right_only: true
    open: true
"""
TYPES = """\
  - name: Types
    type: question_type
    sample: {size: 3}
"""


def knows_all_but_playtime(request: PredictRequest) -> Prediction:
    year = next(year for film, year, _ in FILMS if film in request.question)
    return answer("1900" if "Playtime" in request.question else year)(request)


@pytest.fixture
def server(settings: Any) -> Iterator[ScriptedServer]:
    with scripted(knows_all_but_playtime) as script:
        settings.PREDICTORS = {"small": script.entry}
        yield script
        client.connect(script.entry).close()
        client._cached_model.cache_clear()


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    """Twelve questions, three for each of four films; the model is wrong about Playtime."""
    return make_world(tmp_path, questions=12)


def planned(world: World, **more: Any) -> Batch:
    terms = {"variant": "word", "loop_model": "small", "loop_right_only": True}
    return world.batch("question_paraphrase", open=False, **(terms | more))


def drawn(batch: Batch) -> Batch:
    batches.draw(batch=batch, by=None, clock=lambda: NOON)
    batch.refresh_from_db()
    return batch


def questions(batch: Batch) -> list[str]:
    return list(batch.items.order_by("position").values_list("example__question", flat=True))


def test_a_batch_has_no_items_until_the_model_has_answered(world: World, server: ScriptedServer) -> None:
    batch = planned(world)
    assert (batch.items_count, batch.state, batch.waits_for_model) == (0, "planned", True)
    assert not server.asked, "planning asks no model"
    job = Job.objects.get(kind="draw_items")
    assert job.ids == {"batch": batch.pk}
    with pytest.raises(ActionRefused) as refused:
        batches.open_batch(batch=batch, by=world.mara, now=NOON)
    assert refused.value.code == "batch_not_open"


def test_only_items_that_the_model_answers_correctly_are_drawn(world: World, server: ScriptedServer) -> None:
    batch = drawn(planned(world))
    assert len(questions(batch)) == 9
    assert not any("Playtime" in question for question in questions(batch))
    assert batch.model_accuracy == {
        "model": MODEL,
        "questions": 12,
        "right": 9,
        "wrong": 3,
        "unjudged": 0,
        "unknown": 0,
        "drawn_at": NOON.isoformat(),
    }
    assert batch.loop_revision == MODEL, "the model whose answers were used is the one in the loop"


def test_the_sample_is_the_seeded_sample_of_the_correct_answers(world: World, server: ScriptedServer) -> None:
    first = drawn(planned(world, size=4, seed=7))
    again = drawn(planned(world, size=4, seed=7))
    other = drawn(planned(world, size=4, seed=8))
    assert questions(first) == questions(again) != questions(other)
    assert len(questions(first)) == 4
    everything = questions(drawn(planned(world, seed=7)))
    assert sorted(everything) == sorted(
        question for question in questions(world.batch("question_type")) if "Playtime" not in question
    )


def test_strata_keep_their_shares_among_the_correct_answers(world: World, server: ScriptedServer) -> None:
    batch = drawn(planned(world, size=3, strata="difficulty"))
    assert len(questions(batch)) == 3


def test_of_a_list_of_examples_the_correct_ones_keep_their_order(
    world: World, server: ScriptedServer
) -> None:
    batch = drawn(planned(world, only=["nu-3", "nu-2", "nu-0"]))
    assert [question.split()[2] for question in questions(batch)] == ["Stalker", "Heat"]
    assert batch.model_accuracy["questions"] == 3


def test_answers_are_stored_and_asked_for_once(world: World, server: ScriptedServer) -> None:
    drawn(planned(world))
    assert len(server.asked) == ModelAnswer.objects.count() == 12
    drawn(planned(world))
    assert len(server.asked) == 12
    assert all(set(body) >= {"question", "table"} and "slot" not in body for body in server.asked)


def test_a_model_that_cannot_be_reached_leaves_nothing_half_done(
    world: World, server: ScriptedServer
) -> None:
    batch = planned(world)
    server.mood = "failing"
    with pytest.raises(ActionRefused) as refused:
        drawn(batch)
    assert refused.value.code == "predictor_failed"
    batch.refresh_from_db()
    assert (batch.items_count, batch.model_accuracy, batch.loop_revision) == (0, {}, "")
    server.mood = "well"
    client._cached_model.cache_clear()
    assert drawn(batch).items_count == 9


def test_a_server_that_is_gone_is_named(world: World, settings: Any) -> None:
    settings.PREDICTORS = {"small": {"protocol": "predict", "url": "http://127.0.0.1:9", "model": "small"}}
    with pytest.raises(ActionRefused, match="small does not respond"):
        drawn(planned(world))


def test_a_model_that_stops_answering_keeps_what_it_has_answered(
    world: World, server: ScriptedServer
) -> None:
    def stops(request: PredictRequest) -> Prediction:
        if len(server.asked) > 5:
            server.mood = "failing"
        return knows_all_but_playtime(request)

    server.says = stops
    batch = planned(world)
    with pytest.raises(ActionRefused, match="answered and saved"):
        drawn(batch)
    stored = ModelAnswer.objects.count()
    assert 0 < stored < 12
    server.says, server.mood = knows_all_but_playtime, "well"
    client._cached_model.cache_clear()
    assert drawn(batch).items_count == 9
    assert ModelAnswer.objects.count() == 12


def test_an_item_without_an_answer_is_counted_as_unknown_and_not_served(
    world: World, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    patiently = model_answers.ask_patiently

    def late_for_heat(name: str, asked: Any, chat: Any) -> Any:
        if "Heat" in asked.original.question:
            return model_answers.Answer("unavailable", "Too late.")
        return patiently(name, asked, chat)

    monkeypatch.setattr(model_answers, "ask_patiently", late_for_heat)
    batch = drawn(planned(world))
    assert (batch.model_accuracy["right"], batch.model_accuracy["unknown"]) == (6, 3)
    assert not any("Heat" in question for question in questions(batch))


def test_a_model_that_is_replaced_in_between_is_not_mixed(world: World, server: ScriptedServer) -> None:
    def replaced(request: PredictRequest) -> Prediction:
        server.sha = "fedcba9876543210"
        return knows_all_but_playtime(request)

    server.says = replaced
    batch = planned(world)
    with pytest.raises(ActionRefused, match="replaced"):
        drawn(batch)
    assert Batch.objects.get(pk=batch.pk).items_count == 0


def test_where_no_answer_is_correct_the_job_says_so(world: World, server: ScriptedServer) -> None:
    server.says = answer("1900")
    with pytest.raises(ActionRefused, match="none of the 12 questions"):
        drawn(planned(world))


def test_it_opens_by_itself_if_that_was_asked_for(world: World, server: ScriptedServer) -> None:
    batch = planned(world)
    batches.open_when_drawn(batch=batch)
    drawn(batch)
    assert batch.state == "open"
    assert world.take(batch, "ada") is not None


def test_a_batch_is_drawn_once(world: World, server: ScriptedServer) -> None:
    batch = drawn(planned(world))
    drawn(batch)
    assert batch.items_count == 9
    assert batches.order_drawing(batch=batch, by=None, now=NOON) is None


@pytest.mark.django_db(transaction=True)  # the queue of the tests runs a job as soon as it is committed
def test_the_job_draws_and_can_be_run_again(tmp_path: Path, server: ScriptedServer) -> None:
    world = make_world(tmp_path, questions=12)
    server.mood = "failing"
    batch = planned(world)
    job = Job.objects.get(kind="draw_items")
    assert job.state == Job.State.FAILED
    assert "3 requests in a row" in job.error
    server.mood = "well"
    client._cached_model.cache_clear()
    again = batches.order_drawing(batch=batch, by=world.mara, now=NOON)
    assert again is not None
    again.refresh_from_db()
    assert again.state == Job.State.DONE
    assert (again.result["items"], again.total) == (9, 12)
    assert jobs.QUEUE_OF["draw_items"] == jobs.MODELS


@pytest.mark.parametrize(
    ("terms", "reason"),
    [({"loop_model": ""}, "model in the loop"), ({"loop_model": "gone"}, "There is no model")],
)
def test_the_option_needs_a_model(
    world: World, server: ScriptedServer, terms: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ActionRefused, match=reason):
        planned(world, **terms)


def test_a_batch_that_takes_items_from_another_one_refuses_the_option(
    world: World, server: ScriptedServer
) -> None:
    before = world.batch("question_type")
    with pytest.raises(ActionRefused, match="arrive while people work"):
        planned(world, feeds_from=before, sources=[])


def test_what_is_known_is_counted_without_asking(world: World, server: ScriptedServer) -> None:
    task = task_type("question_paraphrase")
    keys = list(sampling.drawable_examples(world.project, task, sampling.Sample([world.source])))
    unknown = model_accuracy.stored_accuracy(keys, task=task, predictor="small")
    assert (unknown.total, unknown.unknown, unknown.seconds) == (12, 12, None)
    assert not server.asked
    model_accuracy.ask(keys[:8], task=task, predictor="small")
    partly = model_accuracy.stored_accuracy(keys, task=task, predictor="small")
    assert (partly.model, partly.right + partly.wrong, partly.unknown) == (MODEL, 8, 4)
    assert partly.seconds is not None
    assert isinstance(partly.answered_at, datetime)


def test_items_of_other_weights_are_unknown(world: World, server: ScriptedServer) -> None:
    drawn(planned(world))
    server.sha = "fedcba9876543210"
    batch = drawn(planned(world))
    assert batch.model_accuracy["model"] == "small@fedcba9876543210"
    assert len(server.asked) == 24
    assert parse_datetime(batch.model_accuracy["drawn_at"]) == NOON


def test_the_command_asks_and_counts(world: World, server: ScriptedServer) -> None:
    out = StringIO()
    call_command(
        "ask_model", project="films", predictor="small", purpose="correctness", stdout=out, stderr=StringIO()
    )
    assert out.getvalue() == "9 of 12 questions are answered correctly by small@01234567.\n"
    assert drawn(planned(world)).items_count == 9
    assert len(server.asked) == 12


def test_a_release_says_what_the_model_has_selected(
    world: World, server: ScriptedServer, tmp_path: Path
) -> None:
    batch = planned(world, size=1)
    batches.open_when_drawn(batch=batch)
    drawn(batch)
    assignment = world.take(batch, "ada")
    assert assignment is not None
    reworded = assignment.item.example.question.replace("come out", "appear")
    world.answer(assignment, {"question": reworded, "category": "reasoning_synonym"})
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    out = tmp_path / "out"
    creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=NOON, out=out)
    [stored] = release_records.read_manifest(out)["batches"]
    assert stored["model_accuracy"] == batch.model_accuracy
    statement = (out / "DATA_STATEMENT.md").read_text()
    assert f"the 9 of 12 questions that `{MODEL}` answered correctly" in statement
    assert "100 % by construction" in statement
    verification.verify(out)


# -- pages ------------------------------------------------------------------------------------------

ADDRESS = "/projects/films/batches/new/"


@pytest.fixture
def mara(world: World) -> Client:
    client = Client()
    client.force_login(world.mara)
    return client


def fields(world: World, **more: Any) -> dict[str, Any]:
    sent: dict[str, Any] = {
        "kind": "question_paraphrase:word",
        "name": "right",
        "sources": world.source.public_id,
    }
    sent |= {"seed": 0, "overlap": 1, "strategy": "open", "purpose": "work", "of": "originals"}
    return {**sent, "loop_model": "small", **more}


def answers_part(client: Client, world: World, **more: Any) -> str:
    page = client.get(f"{ADDRESS}answers/", fields(world, **more), headers={"hx-request": "true"})
    return page.content.decode()


class TestThePage:
    def test_says_how_many_are_answered_correctly(
        self, world: World, server: ScriptedServer, mara: Client
    ) -> None:
        before = answers_part(mara, world)
        assert "small has not been asked about these 12 questions yet." in before
        assert "Ask the model now" in before
        drawn(planned(world))
        after = answers_part(mara, world)
        assert "9 of 12 questions are answered correctly by small@01234567." in after
        assert "Ask the model" not in after
        assert "answered correctly" not in answers_part(mara, world, loop_model="")

    def test_asks_the_model_in_a_job_and_keeps_the_form(
        self, world: World, server: ScriptedServer, mara: Client
    ) -> None:
        page = mara.post(ADDRESS, fields(world, name="typed before", ask="1", size=5)).content.decode()
        job = Job.objects.get(kind="ask_originals")
        assert job.ids["sources"] == [world.source.pk]
        assert not server.asked
        assert not Batch.objects.exists()
        assert 'value="typed before"' in page
        assert 'name="size" value="5"' in page
        assert "Asking the model." in page
        assert "This field is required" not in page
        mara.post(f"{ADDRESS}answers/", fields(world), headers={"hx-request": "true"})
        assert Job.objects.count() == 1, "one job at a time asks about the same examples"

    def test_without_a_source_says_what_is_missing(
        self, world: World, server: ScriptedServer, mara: Client
    ) -> None:
        sent = fields(world, sources=[])
        page = mara.post(f"{ADDRESS}answers/", sent, headers={"hx-request": "true"}).content.decode()
        assert "Choose a source with examples first." in page

    def test_of_a_new_batch_waits_and_opens_by_itself(
        self, world: World, server: ScriptedServer, mara: Client
    ) -> None:
        sent = fields(world, loop_right_only="on", open_at_once="on")
        page = mara.post(ADDRESS, sent, follow=True).content.decode()
        batch = Batch.objects.get()
        assert (batch.items_count, batch.opens_when_drawn) == (0, True)
        assert "Waiting for the model" in page
        assert "Then it opens." in page
        drawn(batch)
        page = mara.get(f"/batches/{batch.public_id}/").content.decode()
        assert "9 of 12 questions are answered correctly by small@01234567." in page
        assert "Waiting for the model" not in page

    def test_of_a_running_job_says_how_far_it_is(
        self, world: World, server: ScriptedServer, mara: Client
    ) -> None:
        drawn(planned(world))
        ModelAnswer.objects.update(data={"right": True, "milliseconds": 16 * 60_000})
        batch = planned(world)
        Job.objects.filter(ids={"batch": batch.pk}).update(state=Job.State.RUNNING, done=7, total=12)
        page = mara.get(f"/batches/{batch.public_id}/drawing/", headers={"hx-request": "true"})
        assert "7 of 12" in page.content.decode()
        assert "Time needed: about 5 minutes." in page.content.decode()
        drawn(batch)
        page = mara.get(f"/batches/{batch.public_id}/drawing/", headers={"hx-request": "true"})
        assert page["HX-Refresh"] == "true"

    def test_of_a_failed_job_says_why_and_asks_again(
        self, world: World, server: ScriptedServer, mara: Client
    ) -> None:
        batch = planned(world)
        Job.objects.filter(kind="draw_items").update(state=Job.State.FAILED, error="The model is away.")
        page = mara.get(f"/batches/{batch.public_id}/").content.decode()
        assert "The model is away." in page
        assert "Open batch" not in page
        mara.post(f"/batches/{batch.public_id}/drawing/")
        assert Job.objects.filter(kind="draw_items").count() == 2


def test_the_api_counts_and_asks(world: World, server: ScriptedServer, mara: Client) -> None:
    def count(**more: Any) -> Any:
        sent = {"type": "question_paraphrase", "predictor": "small", "sources": [world.source.public_id]}
        address = "/api/projects/films/model-answers/"
        return mara.post(address, {**sent, **more}, content_type="application/json")

    assert count().json()["unknown"] == 12
    asked = count(ask=True)
    assert (asked.status_code, asked.json()["job"]) == (202, Job.objects.get().public_id)
    drawn(planned(world))
    counts = count().json()
    assert (counts["model"], counts["questions"], counts["right"], counts["unknown"]) == (MODEL, 12, 9, 0)
    assert count(ask=True, predictor="gone").status_code == 422


def test_the_plan_of_a_study_counts_the_correct_answers(
    world: World, server: ScriptedServer, tmp_path: Path
) -> None:
    study = parse(STUDY.replace("name: films,", f"name: {world.source.name},"), folder=tmp_path)

    def batch_in_words() -> str:
        changes = plan.plan(study, current_state.of_project(world.project, now=NOON)).changes
        return next(change.words for change in changes if change.section == "batch")

    assert "only questions that small answers correctly; it will be asked;" in batch_in_words()
    drawn(planned(world))
    assert "only questions that small answers correctly (9 of 12 so far);" in batch_in_words()


def test_a_study_file_names_the_option_and_waits(
    world: World, server: ScriptedServer, tmp_path: Path
) -> None:
    applied = apply_with_files(
        parse(STUDY, folder=tmp_path), project=None, by=world.mara, now=NOON, folder=tmp_path
    )
    batch = Batch.objects.select_related("project").get(name="Reworded")
    assert (batch.loop_right_only, batch.opens_when_drawn, batch.items_count) == (True, True, 0)
    text = project_export.export_study(current_state.of_project(applied.project, now=NOON))
    assert "loop_right_only: true" in text
    again = apply_with_files(
        parse(STUDY, folder=tmp_path), project=applied.project, by=world.mara, now=NOON, folder=tmp_path
    )
    assert not again.done
    drawn(batch)
    assert (batch.state, batch.items_count) == ("open", 5)


def test_a_study_file_refuses_the_option_where_items_come_from_another_batch(tmp_path: Path) -> None:
    text = STUDY.replace("sample: {size: 5}", "feeds_from: Types") + TYPES
    with pytest.raises(StudyError, match="arrive while people work"):
        parse(text, folder=tmp_path)
