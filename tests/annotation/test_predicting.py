"""The model in the loop: what the page learns, what is kept, and that nothing ever waits for it."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from annotation.access.roles import Role
from annotation.assistance import (
    draft_checks,
    fooling_rates,
    impressions,
    model_answers,
    model_checks,
    prediction_jobs,
    verdict_rechecks,
    visible_verdicts,
)
from annotation.background import jobs
from annotation.management import doctor
from annotation.models import Assignment, Batch, Job, Membership, Person, Try, Verdict
from annotation.platform.refusals import ActionRefused
from annotation.quality import task_report
from annotation.queue import resolutions
from annotation.releases import creation, raw_records, record_checks, verification
from annotation.workflow import adjudication, assignments, automatic_decisions, batches, projects
from predictor import client, listing
from predictor.chat import ChatError, Completion
from predictor.protocol import Prediction, PredictRequest
from tableqa import Example, Table
from tableqa.releases import record_files
from tableqa.statistics.proportions import proportion
from tasks.contract import ModelInTheLoop
from tests.annotation.cast import FILMS, NOON, World, envelope, make_world
from tests.annotation.filling import fill
from tests.annotation.test_api import program, respond
from tests.predictor.scripted import SHA, ScriptedServer, answer, scripted

MODEL = f"small@{SHA}"


def knows_the_word_come(request: PredictRequest) -> Prediction:
    """Right as long as the question says when something came out; else it takes the first film's year."""
    known = next(
        (year for film, year, _ in FILMS if film in request.question and "come" in request.question), "1995"
    )
    row = next((place for place, cells in enumerate(request.table.rows) if known in cells), 0)
    return answer(known, cells=((row, 1),))(request)


@pytest.fixture
def server(settings: Any, patient: None) -> Iterator[ScriptedServer]:
    with scripted(knows_the_word_come) as script:
        settings.PREDICTORS = {"small": script.entry}
        yield script
        client.connect(script.entry).close()
        client._cached_model.cache_clear()


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def a_batch(world: World, kind: str = "question_paraphrase", **more: Any) -> Batch:
    if kind == "question_paraphrase":
        more.setdefault("variant", "word")
    return world.batch(kind, loop_model="small", **more)


def take(world: World, batch: Batch, who: str = "ada", film: str = "") -> Assignment:
    assignment = world.take(batch, who)
    while assignment is not None and film not in assignment.item.example.question:
        assignments.skip(assignment=assignment, reason="another film", now=NOON)
        assignment = world.take(batch, who)
    assert assignment is not None
    return assignment


def look(
    assignment: Assignment, data: dict[str, Any], kind: str = "try", seq: int = 1
) -> visible_verdicts.VisibleVerdict:
    response = envelope(assignment, data)
    return draft_checks.check_draft(assignment=assignment, response=response, kind=kind, seq=seq, now=NOON)


REWORDED = {"question": "in which year was Alien released?", "category": "reasoning_synonym"}
SAME_TO_IT = {"question": "when did Alien come to cinemas?", "category": "reasoning_synonym"}


class TestALook:
    def test_shows_both_answers_with_a_verdict(self, world: World, server: ScriptedServer) -> None:
        assignment = take(world, a_batch(world), film="Alien")
        seen = look(assignment, REWORDED, "preview")
        assert (seen.state, seen.verdict) == ("answered", "fooled")
        assert seen.original is not None
        assert seen.perturbed is not None
        assert (seen.original.answers, seen.original.right) == (("1979",), True)
        assert (seen.perturbed.answers, seen.perturbed.right) == (("1995",), False)
        assert seen.original.cells == (("r1", "c1"),)
        assert seen.perturbed.score == 0.75

    def test_of_the_original_alone_says_what_the_model_answers_to_it(
        self, world: World, server: ScriptedServer
    ) -> None:
        assignment = take(world, a_batch(world), film="Alien")
        seen = look(assignment, {"question": assignment.item.example.question}, "preview")
        assert seen.original is not None
        assert (seen.perturbed, seen.verdict) == (None, None)
        assert look(assignment, {}, "try").state == "nothing"

    def test_sends_what_the_kind_shows_and_nothing_else(self, world: World, server: ScriptedServer) -> None:
        assignment = take(world, a_batch(world), film="Alien")
        look(assignment, REWORDED, "preview", seq=7)
        for body in server.asked:
            assert set(body) == {
                "protocol",
                "model",
                "question",
                "table",
                "table_sha",
                "options",
                "deadline_ms",
                "slot",
                "seq",
            }
            assert set(body["table"]) == {"header", "rows"}
            assert body["seq"] == 7
            assert assignment.public_id not in json.dumps(body)
            assert assignment.item.example.external_id not in json.dumps(body)
        slots = {body["slot"] for body in server.asked}
        assert len(slots) == 2, "the original and the perturbed example do not supersede each other"
        look(assignment, SAME_TO_IT, "preview", seq=8)
        assert {body["slot"] for body in server.asked} == slots

    def test_asks_about_the_original_once_as_long_as_the_model_is_the_same(
        self, world: World, server: ScriptedServer
    ) -> None:
        assignment = take(world, a_batch(world), film="Alien")
        original = assignment.item.example.question

        def asked_about_the_original() -> int:
            return sum(body["question"] == original for body in server.asked)

        for number in range(3):
            seen = look(assignment, {**REWORDED, "question": f"wording {number}?"}, "preview", seq=number)
            assert seen.verdict == "fooled"
        assert asked_about_the_original() == 1
        server.sha = "f" * 16
        assert look(assignment, SAME_TO_IT, "preview", seq=9).state == "changed"
        assert asked_about_the_original() == 2, "an answer of other weights is not held against it"

    def test_of_an_edit_is_held_against_the_typed_answer(self, world: World, server: ScriptedServer) -> None:
        server.says = lambda request: answer(request.table.rows[1][1])(request)
        assignment = take(world, a_batch(world, "value_change", variant="answer_changes"), film="Alien")
        change = {"op": "set_cell", "row": "r1", "column": "c1", "at": [1, 1], "old": "1979", "new": "1980"}
        seen = look(assignment, {"operations": [change]}, "preview")
        assert (seen.verdict, seen.words) == (
            "pending",
            "Enter the correct answer after your change to check the model.",
        )
        assert (
            look(assignment, {"operations": [change], "answers": ["1980"]}, "preview").verdict == "not_fooled"
        )
        refused = look(assignment, {"operations": [change], "answers": ["1979"]}, "preview")
        assert (refused.verdict, refused.line[0]) == ("pending", ("verdict", "Does not count")), "as before"
        assert look(assignment, {"operations": "nonsense"}, "preview").perturbed is None

    def test_says_when_a_difference_is_one_of_form(self, world: World, server: ScriptedServer) -> None:
        server.says = lambda request: answer("1979" if "come" in request.question else "1979 years")(request)
        seen = look(take(world, a_batch(world), film="Alien"), REWORDED, "preview")
        assert seen.verdict == "unsure"
        assert seen.forms == ("1979 year", "1979")

    def test_of_a_table_that_no_model_reads_says_so(self, world: World, server: ScriptedServer) -> None:
        server.mood = "too_large"
        assignment = take(world, a_batch(world), film="Alien")
        seen = look(assignment, REWORDED)
        assert (seen.state, seen.verdict) == ("answered", "model_error")
        assert "5,000 rows" in seen.words

    def test_without_a_model_is_said(self, world: World, settings: Any) -> None:
        settings.PREDICTORS = {}
        plain = take(world, world.batch("question_paraphrase", variant="word"))
        assert look(plain, REWORDED).state == "none"
        settings.PREDICTORS = {
            "small": {"protocol": "predict", "url": "http://127.0.0.1:9", "model": "small"}
        }
        batch = a_batch(world)
        settings.PREDICTORS = {}
        assert look(take(world, batch, "bo"), REWORDED).state == "unavailable"

    @pytest.mark.parametrize(
        "mood",
        [
            *("killed", "hung", "slow", "dribbling", "huge", "not_json", "other_schema", "other_table"),
            *("failing", "busy"),
        ],
    )
    def test_that_fails_leaves_a_state_and_nothing_else(
        self, world: World, server: ScriptedServer, mood: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if mood == "killed":
            server.kill()
        server.mood = mood
        if mood in ("hung", "slow", "dribbling"):
            monkeypatch.setattr(draft_checks, "live_seconds", lambda entry: 0.4)
        assignment = take(world, a_batch(world), film="Alien")
        began = time.monotonic()
        seen = look(assignment, REWORDED)
        assert time.monotonic() - began < 15, "nobody waits for the 20 seconds that it hangs"
        assert seen.state == ("busy" if mood == "busy" else "unavailable")
        assert "You can continue and submit." in seen.words
        assert "<" not in seen.words
        assert not Try.objects.exists()


class TestATry:
    def test_is_kept_with_everything_that_a_verdict_needs(self, world: World, server: ScriptedServer) -> None:
        assignment = take(world, a_batch(world), film="Alien")
        assert look(assignment, REWORDED, "preview").tries == 0
        assert look(assignment, REWORDED).tries == 1
        row = Try.objects.get()
        assert (row.kind, row.model, row.predictor) == ("person", MODEL, "small")
        assert row.original is not None
        assert row.perturbed is not None
        assert row.original["answers"] == ["1979"]
        assert row.perturbed["text"] == "1995"
        assert "cached" not in row.perturbed
        assert "ms" not in row.perturbed
        verdict = row.verdicts.get()
        assert verdict.verdict == "fooled"
        assert verdict.gold == {"original": ["1979"], "perturbed": ["1979"]}
        assert verdict.judgements["perturbed"]["wtq_official"] is False
        assert verdict.judgements["original"]["tapex"] is True

    def test_of_the_same_is_the_same_try_and_asks_nobody(self, world: World, server: ScriptedServer) -> None:
        assignment = take(world, a_batch(world), film="Alien")
        first = look(assignment, REWORDED)
        asked = len(server.asked)
        assert look(assignment, {**REWORDED, "category": "header_synonym"}) == first
        assert len(server.asked) == asked
        assert Try.objects.count() == 1
        assert look(assignment, SAME_TO_IT).tries == 2

    def test_is_refused_once_the_item_is_submitted(self, world: World, server: ScriptedServer) -> None:
        assignment = take(world, a_batch(world), film="Alien")
        world.answer(assignment, REWORDED)
        with pytest.raises(ActionRefused, match="is submitted"):
            look(world.reload(assignment), SAME_TO_IT)

    def test_as_a_preview_that_comes_after_the_submission_is_stale(
        self, world: World, server: ScriptedServer
    ) -> None:
        assignment = take(world, a_batch(world), film="Alien")
        world.answer(assignment, REWORDED)
        assert look(world.reload(assignment), SAME_TO_IT, "preview").state == "stale"

    def test_freezes_the_model_of_its_batch(self, world: World, server: ScriptedServer) -> None:
        batch = a_batch(world)
        assignment = take(world, batch, film="Alien")
        look(assignment, REWORDED)
        batch.refresh_from_db()
        assert batch.loop_revision == MODEL
        server.sha = "f" * 16
        seen = look(world.reload(assignment), SAME_TO_IT)
        assert (seen.state, seen.verdict, seen.original) == ("changed", None, None)
        assert Try.objects.count() == 1
        world.answer(world.reload(assignment), SAME_TO_IT)

    def test_verdicts_are_never_changed(self, world: World, server: ScriptedServer) -> None:
        look(take(world, a_batch(world), film="Alien"), REWORDED)
        with pytest.raises(TypeError, match="a verdict stays"):
            Verdict.objects.update(verdict="not_fooled")
        verdict = Verdict.objects.get()
        verdict.verdict = "not_fooled"
        with pytest.raises(IntegrityError), transaction.atomic():
            verdict.save()


class TestASubmission:
    def test_takes_the_last_try_of_the_same(self, world: World, server: ScriptedServer) -> None:
        assignment = take(world, a_batch(world), film="Alien")
        look(assignment, REWORDED)
        server.kill()
        world.answer(world.reload(assignment), REWORDED)
        row = Try.objects.get(kind="submission")
        assert row.verdicts.get().verdict == "fooled"
        assert row.annotation is not None
        assert (row.annotation.response or {})["data"] == REWORDED

    def test_of_something_else_waits_for_a_job_and_calls_no_model(
        self, world: World, server: ScriptedServer
    ) -> None:
        batch = a_batch(world)
        assignment = take(world, batch, film="Alien")
        look(assignment, SAME_TO_IT)
        asked = len(server.asked)
        world.answer(world.reload(assignment), REWORDED)
        assert len(server.asked) == asked
        row = Try.objects.get(kind="submission")
        assert row.answered_at is None
        assert not row.verdicts.exists()
        server.mood = "failing"
        assert fill(batch=batch, now=NOON) == (0, 1)
        server.mood = "well"
        client.connect(server.entry).breaker = client.Breaker()
        assert fill(batch=batch, now=NOON) == (1, 0)
        row.refresh_from_db()
        assert row.verdicts.get().verdict == "fooled"
        assert fill(batch=batch, now=NOON) == (0, 0)

    def test_without_a_model_keeps_nothing(self, world: World) -> None:
        batch = world.batch("question_paraphrase", variant="word")
        world.answer(take(world, batch), REWORDED)
        assert not Try.objects.exists()

    def test_that_changes_nothing_is_looked_at_by_nobody(self, world: World, server: ScriptedServer) -> None:
        assignment = take(world, a_batch(world, "value_change", variant="answer_stays"))
        world.answer(assignment, {"unanswerable": True})
        assert not Try.objects.exists()

    def test_is_as_fast_with_a_dead_model(self, world: World, server: ScriptedServer) -> None:
        batch = a_batch(world)
        server.mood = "hung"
        assignment = take(world, batch, film="Alien")
        began = time.monotonic()
        world.answer(assignment, REWORDED)
        assert time.monotonic() - began < 15, "nobody waits for the 20 seconds that it hangs"
        assert server.asked == []
        assert list(doctor.findings()) == []

    def test_is_judged_again_by_the_answer_that_others_give_blind(
        self, world: World, server: ScriptedServer
    ) -> None:
        batch = a_batch(world, overlap=1)
        check = world.batch("answer_check", of="perturbed", feeds_from=batch, sources=[], overlap=1)
        assignment = take(world, batch, film="Alien")
        look(assignment, REWORDED)
        world.answer(world.reload(assignment), REWORDED)
        automatic_decisions.resolve_batch(batch=batch, now=NOON)
        assert verdict_rechecks.recheck(batch=batch, now=NOON) == 0, "nobody has looked yet"
        checked = world.take(check, "bo")
        assert checked is not None
        world.answer(checked, {"answers": ["1995"], "unanswerable": False})
        assert automatic_decisions.resolve_batch(batch=check, now=NOON) == 1
        item = resolutions.waiting(check).get()
        adjudication.decide(
            item=item, by=world.ivo, note="the paraphrase asks another thing", choose=["A"], now=NOON
        )
        assert verdict_rechecks.recheck(batch=batch, now=NOON + timedelta(days=1)) == 1
        row = Try.objects.get(kind="submission")
        assert [one.verdict for one in row.verdicts.order_by("pk")] == ["fooled", "not_fooled"]
        assert verdict_rechecks.recheck(batch=batch, now=NOON) == 0, (
            "the same gold answer makes no further verdict"
        )

    def test_is_looked_at_again_by_the_job_after_its_check_and_by_no_later_one(
        self, world: World, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        batch = a_batch(world, overlap=1)
        check = world.batch("answer_check", of="perturbed", feeds_from=batch, sources=[], overlap=1)
        assignment = take(world, batch, film="Alien")
        look(assignment, REWORDED)
        world.answer(world.reload(assignment), REWORDED)
        automatic_decisions.resolve_batch(batch=batch, now=NOON)
        looked_at: list[int] = []
        loaded = model_checks.load_try

        def record(key: int) -> Any:
            looked_at.append(key)
            return loaded(key)

        monkeypatch.setattr(model_checks, "load_try", record)

        def run() -> int:
            values = {"project": world.project, "kind": "predictions", "made_at": NOON, "heartbeat": NOON}
            job = Job.objects.create(ids={"batch": batch.pk}, **values)
            looked_at.clear()
            assert jobs.run(job.pk) == "done"
            return len(looked_at)

        assert run() == 0
        checked = world.take(check, "bo")
        assert checked is not None
        world.answer(checked, {"answers": ["1995"], "unanswerable": False})
        assert automatic_decisions.resolve_batch(batch=check, now=NOON) == 1
        item = resolutions.waiting(check).get()
        decision = adjudication.decide(item=item, by=world.ivo, note="It differs", choose=["A"], now=NOON)
        assert [run(), run()] == [1, 0]
        adjudication.undo(item=decision.item, by=world.ivo, now=NOON)
        assert [run(), run()] == [1, 0]
        row = Try.objects.get(kind="submission")
        verdicts = [verdict.verdict for verdict in row.verdicts.order_by("pk")]
        assert verdicts == ["fooled", "not_fooled", "fooled"]


class TestInTheBackground:
    @pytest.fixture
    def slow(self, server: ScriptedServer, settings: Any) -> ScriptedServer:
        settings.PREDICTORS = {"small": {**server.entry, "deadline_ms": 5_000}}
        return server

    def test_a_model_that_needs_longer_is_asked_by_a_job(self, world: World, slow: ScriptedServer) -> None:
        batch = a_batch(world)
        assignment = take(world, batch, film="Alien")
        assert look(assignment, REWORDED, "preview").state == "slow"
        assert look(assignment, REWORDED).state == "waiting"
        assert look(assignment, REWORDED).tries == 1
        assert slow.asked == []
        fill(batch=batch, now=NOON)
        assert look(assignment, REWORDED).verdict == "fooled"

    def test_house_keeping_starts_one_job_for_a_batch_that_has_something_open(
        self, world: World, server: ScriptedServer
    ) -> None:
        batch = a_batch(world)
        assert prediction_jobs.retry_unanswered(now=NOON) == 1, "the model is to be frozen"
        job = Job.objects.get(kind="predictions")
        result = prediction_jobs._run(job, jobs.Progress(job.pk))
        assert (result["asked"], result["left"], result["verdicts"]) == (0, 0, 0)
        batch.refresh_from_db()
        assert batch.loop_revision == MODEL
        Job.objects.update(state="done")
        later = NOON + timedelta(minutes=2)
        assert prediction_jobs.retry_unanswered(now=later) == 0
        world.answer(take(world, batch, film="Alien"), REWORDED)
        assert prediction_jobs.retry_unanswered(now=NOON) == 0, "not twice in a minute"
        assert prediction_jobs.retry_unanswered(now=later) == 1
        assert prediction_jobs.retry_unanswered(now=later) == 0

    def test_a_language_model_is_asked_with_the_papers_prompt(
        self, world: World, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.PREDICTORS = {"llm": {"protocol": "chat", "url": "http://127.0.0.1:9", "model": "qwen"}}
        said = iter(['{"answers": ["1979"]}', '{"answers": ["1995"]}'])
        monkeypatch.setattr("predictor.chat.ChatModel.complete", lambda *a, **k: [Completion(next(said))])
        batch = world.batch("question_paraphrase", variant="word", loop_model="llm")
        assignment = take(world, batch, film="Alien")
        assert look(assignment, REWORDED).state == "waiting"
        assert fill(batch=batch, now=NOON) == (1, 0)
        row = Try.objects.get()
        assert (row.model, row.verdicts.get().verdict) == ("llm:qwen", "fooled")
        assert (row.perturbed or {})["text"] == '{"answers": ["1995"]}'


def test_a_model_that_never_answers_is_asked_more_and_more_rarely(
    world: World, server: ScriptedServer
) -> None:
    """Also one that was exchanged: each question costs, and each job is a row."""
    server.mood = "failing"
    batch = a_batch(world, overlap=1)
    world.answer(take(world, batch, film="Alien"), REWORDED)
    began: list[timedelta] = []
    for second in range(0, 3 * 3_600, 30):
        at = NOON + timedelta(seconds=second)
        if prediction_jobs.retry_unanswered(now=at):
            began.append(at - NOON)
            Job.objects.filter(kind="predictions", made_at=at).update(
                state="done", result={"asked": 0, "left": 1, "verdicts": 0}
            )
    pauses = [later - earlier for earlier, later in pairwise(began)]
    assert pauses[0] == timedelta(minutes=1)
    assert pauses == sorted(pauses)
    assert pauses[-1] == prediction_jobs.LONGEST_PAUSE
    assert len(began) < 20
    latest = NOON + timedelta(hours=3)
    made = latest + timedelta(seconds=1)
    Try.objects.update(made_at=made)
    last = Job.objects.filter(kind="predictions").latest("pk").made_at
    assert prediction_jobs.retry_unanswered(now=max(made, last + prediction_jobs.AGAIN)) == 1, (
        "something new is asked about soon"
    )


class TestALanguageModel:
    """As the model in the loop: asked in the background, at a cost, and not always to be read."""

    LIST, TALK = '{"answers": ["1979"]}', "It came out in <b>1979</b>."

    @pytest.fixture
    def asked(
        self, world: World, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[tuple[Assignment, list[str | Exception], list[Any]]]:
        """An assignment with one open try, the replies that the model will give, and the conversations it was sent."""
        settings.PREDICTORS = {"llm": {"protocol": "chat", "url": "http://127.0.0.1:9", "model": "qwen"}}
        replies: list[str | Exception] = []
        sent: list[Any] = []

        def complete(self: Any, messages: Any, **more: Any) -> list[Completion]:
            sent.append(messages)
            reply = replies.pop(0)
            if isinstance(reply, Exception):
                raise reply
            return [Completion(reply)]

        monkeypatch.setattr("predictor.chat.ChatModel.complete", complete)
        listing._resting.clear()
        batch = world.batch("question_paraphrase", variant="word", loop_model="llm", overlap=1)
        assignment = take(world, batch, film="Alien")
        assert look(assignment, REWORDED).state == "waiting"
        yield assignment, replies, sent
        listing._resting.clear()

    def test_that_is_to_reason_and_does_not_is_named_with_how_often(
        self, asked: Any, settings: Any, client: Client, world: World
    ) -> None:
        assignment, replies, _ = asked
        settings.PREDICTORS["llm"] |= {"reasoning": True, "max_tokens": 32_768}
        replies[:] = [self.LIST, self.LIST]
        assert fill(batch=assignment.batch, now=NOON) == (1, 0)
        client.force_login(world.mara)
        page = client.get(f"/batches/{assignment.batch.public_id}/").content.decode()
        assert "llm: no reasoning seen in 1 of 1 answers" in page

    def test_that_talks_is_shown_its_reply_and_asked_again(self, asked: Any) -> None:
        assignment, replies, sent = asked
        replies[:] = [self.LIST, self.TALK, self.LIST]
        assert fill(batch=assignment.batch, now=NOON) == (1, 0)
        row = Try.objects.get()
        assert (row.error, row.verdicts.get().verdict) == ("", "not_fooled")
        assert row.perturbed is not None
        assert row.perturbed["unread"] == [self.TALK]
        assert "unread" not in (row.original or {})
        assert [one["content"] for one in sent[2][-2:]] == [self.TALK, listing.AGAIN]

    def test_that_never_gives_a_list_is_told_in_the_reader_s_language_and_stored_in_none(
        self, asked: Any, world: World, tmp_path: Path
    ) -> None:
        assignment, replies, _ = asked
        replies[:] = [self.LIST, *[self.TALK] * 20]
        english = model_answers.UNREAD["perturbed"].format(times=3)
        with translation.override("de"):
            assert fill(batch=assignment.batch, now=NOON) == (1, 0)
            assert look(assignment, REWORDED).words == english.shown() != str(english)
        assert Try.objects.get().error == english
        assert look(assignment, REWORDED).words == english

    def test_that_never_gives_a_list_is_asked_three_times_and_never_more(
        self, asked: Any, world: World, tmp_path: Path
    ) -> None:
        assignment, replies, sent = asked
        replies[:] = [self.LIST, *[self.TALK] * 20]
        assert fill(batch=assignment.batch, now=NOON) == (1, 0)
        assert len(sent) == 1 + listing.MOST_ASKS
        assert fill(batch=assignment.batch, now=NOON) == (0, 0)
        assert len(sent) == 1 + listing.MOST_ASKS, "no job asks it again"
        seen = look(assignment, REWORDED)
        assert (seen.state, seen.verdict) == ("answered", "model_error")
        assert seen.words == model_answers.UNREAD["perturbed"].format(times=3)
        assert seen.original is not None
        assert seen.perturbed is not None
        assert (seen.original.right, seen.perturbed.right) == (None, None)
        row = Try.objects.get()
        assert row.error == seen.words
        assert row.perturbed is not None
        assert row.perturbed["unread"] == [self.TALK] * 3, "what it said is kept as it came"
        world.answer(world.reload(assignment), REWORDED)
        automatic_decisions.resolve_batch(batch=assignment.batch, now=NOON)
        out = tmp_path / "out"
        creation.make_release(
            project=world.project, name="v1", format="askew", by=world.rea, now=NOON, out=out
        )
        verification.verify(out)
        lines = [json.loads(line) for line in (out / "tries.jsonl").read_text().splitlines()]
        assert {line["verdicts"][-1]["verdict"] for line in lines} == {"model_error"}
        assert lines[0]["error"] == seen.words

    def test_whose_endpoint_is_away_is_left_alone_for_a_while(self, asked: Any) -> None:
        assignment, replies, sent = asked
        replies[:] = [ChatError("it gave no answer"), self.LIST, self.LIST]
        assert fill(batch=assignment.batch, now=NOON) == (0, 1)
        assert fill(batch=assignment.batch, now=NOON) == (0, 1)
        assert len(sent) == 1, "nobody has asked it again yet"
        (breaker,) = listing._resting.values()
        breaker._open_until = 0.0
        assert fill(batch=assignment.batch, now=NOON) == (1, 0)

    def test_that_says_no_to_the_question_is_not_asked_it_for_ever(self, asked: Any) -> None:
        assignment, replies, _ = asked
        replies[:] = [ChatError("it answered 400: too many tokens", "refused")]
        assert fill(batch=assignment.batch, now=NOON) == (1, 0)
        seen = look(assignment, REWORDED)
        assert seen.verdict == "model_error"
        assert "too many tokens" in seen.words

    def test_whose_reply_is_cut_off_is_unread_for_that_reason(self, asked: Any) -> None:
        assignment, replies, sent = asked
        reason = "The reply was cut off after 512 tokens (finish_reason=length)."
        replies[:] = [self.LIST, ChatError(reason, "cut_off", '<think>{"answers": ["1995"]}')]
        assert fill(batch=assignment.batch, now=NOON) == (1, 0)
        seen = look(assignment, REWORDED)
        assert (seen.verdict, seen.words) == ("model_error", reason)
        perturbed = Try.objects.get().perturbed or {}
        assert (perturbed["answers"], perturbed["reason"]) == ([], reason)
        assert len(sent) == 2, "it would be cut off again"

    def test_the_page_says_so_when_a_job_has_asked_in_vain(self, asked: Any) -> None:
        assignment, replies, _ = asked
        assert look(assignment, REWORDED).state == "waiting"
        replies[:] = [ChatError("it gave no answer")]
        Job.objects.filter(kind="predictions").update(state="done", made_at=NOON)
        seen = look(assignment, REWORDED)
        assert (seen.state, seen.tries) == ("unavailable", 1)
        assert seen.words.startswith("The model has not responded so far.")


def test_examples_on_which_a_model_fails_hold_up_no_others(world: World, server: ScriptedServer) -> None:
    """What is asked about is drawn anew by each job: what always fails is sometimes behind the rest."""
    batch = a_batch(world, overlap=1)
    for number in range(4):
        assignment = take(world, batch)
        world.answer(assignment, {**REWORDED, "question": f"{'poison' if number < 3 else 'well'} {number}?"})

    def lies(request: PredictRequest) -> Prediction:
        said = answer("1995")(request)
        return said if "poison" not in request.question else dataclasses.replace(said, rows_total=99)

    server.says = lies
    client.connect(server.entry).breaker = client.Breaker(least=100)
    for _ in range(20):
        if fill(batch=batch, now=NOON)[0]:
            break
    assert Try.objects.filter(answered_at__isnull=False).count() == 1


class TestTheInterface:
    def test_answers_with_a_state_and_counts_tries(self, world: World, server: ScriptedServer) -> None:
        batch = a_batch(world)
        ada = program(world, "ada")
        got = ada("POST", f"batches/{batch.public_id}/next/", {"holding": []}).body
        assert got["loop"] == {
            "model": "small",
            "licence": "MIT",
            "when": "live",
            "gateway": "",
            "panel": [],
        }
        response = respond(got, {"question": "in which year was it?"})
        here = f"assignments/{got['id']}/predictions/"
        said = ada("POST", here, {"response": response, "kind": "try", "seq": 4})
        assert said.status_code == 200
        assert (said.body["seq"], said.body["state"], said.body["tries"]) == (4, "answered", 1)
        assert set(said.body["perturbed"]) == {
            "answers",
            "expected",
            "score",
            "confidence",
            "cells",
            "next_best",
            "rows_seen",
            "rows_total",
            "right",
        }

    def test_is_not_there_for_kinds_that_know_no_model_nor_for_others(
        self, world: World, server: ScriptedServer
    ) -> None:
        body = {"response": {}, "kind": "preview", "seq": 1}
        labelled = world.take(world.batch("question_type"), "ada")
        mine = take(world, a_batch(world))
        assert labelled is not None
        ada, bo = program(world, "ada"), program(world, "bo")
        assert ada("POST", f"assignments/{labelled.public_id}/predictions/", body).status_code == 404
        assert bo("POST", f"assignments/{mine.public_id}/predictions/", body).status_code == 404
        assert ada("POST", f"assignments/{mine.public_id}/predictions/", body).status_code == 200

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"response": [], "kind": "try", "seq": 1},
            {"response": {}, "kind": "guess", "seq": 1},
            {"response": {}, "kind": "try", "seq": -1},
            {"response": {"base": "other"}, "kind": "try", "seq": 1},
            {"response": {"data": {"question": "\ud800"}}, "kind": "try", "seq": 1},
            {"response": {}, "kind": "try", "seq": 1, "verdict": "fooled"},
        ],
    )
    def test_refuses_what_makes_no_sense(
        self, world: World, server: ScriptedServer, body: dict[str, Any]
    ) -> None:
        mine = take(world, a_batch(world))
        assert (
            program(world, "ada")("POST", f"assignments/{mine.public_id}/predictions/", body).status_code
            == 422
        )

    def test_in_practice_keeps_and_counts_nothing(self, world: World, server: ScriptedServer) -> None:
        from annotation.queue import practice
        from tasks.contract import task_type

        task = task_type("question_paraphrase")
        exercise = practice.exercises(task, "word")[0]
        response = {
            "type": task.key,
            "variant": "word",
            "version": task.version,
            "base": exercise.item.base,
            "data": {"question": "something else?"},
        }
        body = {"response": response, "kind": "try", "seq": 1, "variant": "word", "number": 1}
        said = program(world, "ada")("POST", "projects/films/practice/question_paraphrase/predictions/", body)
        assert (said.status_code, said.body["state"], said.body["tries"]) == (200, "answered", None)
        assert not Try.objects.exists()
        other = program(world, "ada")("POST", "projects/films/practice/question_type/predictions/", body)
        assert other.status_code == 404
        assert program(world, "zoe").client is not None


def test_the_cells_in_question_are_taken_out_on_request(world: World, server: ScriptedServer) -> None:
    table = Table(["Film", "Year"], [["Alien", "1979"], ["Heat", "1995"]])
    marked = Example(
        "m-1", "when did Alien come out?", table, ["1979"], meta={"highlighted_cells": [["r0", "c1"]]}
    )
    server.says = lambda request: answer(request.table.rows[0][1] or "1995")(request)
    batch = a_batch(world, "cell_relevance", sources=[world.import_written(marked)])
    assignment = take(world, batch)
    seen = look(assignment, {}, "try")
    assert seen.original is not None
    assert seen.perturbed is not None
    assert (seen.original.answers, seen.perturbed.answers) == (("1979",), ("1995",))
    assert seen.verdict == "fooled"
    task = batch.task()
    assert isinstance(task, ModelInTheLoop)
    assert seen.words == task.verdict_words["fooled"] == "Wrong without the cells"
    assert look(assignment, {}, "try", seq=2).words == seen.words, "asked again, from what was kept"
    world.answer(world.reload(assignment), {"label": "yes"})
    assert not Try.objects.filter(kind="submission").exists(), "a judgement makes no example"


def test_history_titles_and_context_reach_the_model(world: World, server: ScriptedServer) -> None:
    from tableqa.data.examples import Context, Turn

    told = Example(
        "t-1",
        "and Alien?",
        Table(["Film", "Year"], [["Alien", "1979"]], title="Films"),
        ["1979"],
        history=[Turn("when did Heat come out?", ["1995"])],
        context=Context(text="Years of release."),
    )
    batch = a_batch(world, sources=[world.import_written(told)])
    look(take(world, batch), {"question": "and what of Alien?"}, "preview")
    for body in server.asked:
        assert body["table"]["title"] == "Films"
        assert body["history"][0]["question"] == "when did Heat come out?"
        assert body["context"]["text"] == "Years of release."


def test_a_batch_names_a_model_of_the_settings_or_none(world: World, server: ScriptedServer) -> None:
    with pytest.raises(ActionRefused, match="no model 'other'"):
        world.batch("question_paraphrase", variant="word", loop_model="other")
    with pytest.raises(ActionRefused, match="does not support this option: Model in the loop"):
        world.batch("question_type", loop_model="small")
    assert world.batch("question_paraphrase", variant="word").loop_model == ""


def test_tries_are_released_under_pseudonyms_and_their_verdicts_follow_again(
    world: World, server: ScriptedServer, tmp_path: Path
) -> None:
    batch = a_batch(world, overlap=1)
    assignment = take(world, batch, film="Alien")
    look(assignment, SAME_TO_IT)
    look(assignment, REWORDED)
    world.answer(world.reload(assignment), REWORDED)
    open_item = world.take(batch, "bo")
    assert open_item is not None
    look(open_item, {"question": "something that is never submitted?"})
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    out = tmp_path / "out"
    creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=NOON, out=out)
    lines = [json.loads(line) for line in (out / "tries.jsonl").read_text().splitlines()]
    assert [(line["kind"], line["verdicts"][-1]["verdict"]) for line in lines] == [
        ("person", "not_fooled"),
        ("person", "fooled"),
        ("submission", "fooled"),
    ]
    assert all(line["annotator"].startswith("p-") and line["model"] == MODEL for line in lines)
    assert "milliseconds" not in lines[0]
    verification.verify(out)
    described = json.loads((out / "manifest.json").read_text())["batches"][0]
    assert described["loop_revision"] == MODEL
    lines[1]["verdicts"][0]["verdict"] = "not_fooled"
    text = "".join(json.dumps(line, sort_keys=True, separators=(",", ":")) + "\n" for line in lines)
    (out / "tries.jsonl").write_text(text)
    raw = raw_records.load(out)
    with pytest.raises(record_files.Difference, match="is fooled by its answers"):
        record_checks.check_tries(raw)


def test_a_verdict_that_is_newer_than_the_answers_of_a_release_is_left_out(
    world: World, server: ScriptedServer, tmp_path: Path
) -> None:
    batch = a_batch(world, overlap=1)
    assignment = take(world, batch, film="Alien")
    look(assignment, REWORDED)
    world.answer(world.reload(assignment), REWORDED)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    # As the row was read before its answers came, and the verdicts after.
    Try.objects.filter(kind="submission").update(answered_at=None, original=None, perturbed=None)
    out = tmp_path / "out"
    creation.make_release(project=world.project, name="v1", format="askew", by=world.rea, now=NOON, out=out)
    lines = [json.loads(line) for line in (out / "tries.jsonl").read_text().splitlines()]
    assert [(line["kind"], len(line["verdicts"])) for line in lines] == [("person", 1), ("submission", 0)]
    verification.verify(out)


def test_how_often_people_fool_models_is_reported_by_person_model_and_week(
    world: World, server: ScriptedServer, settings: Any
) -> None:
    batch = a_batch(world, overlap=1)
    check = world.batch("answer_check", of="perturbed", feeds_from=batch, sources=[], overlap=1)
    for film, words in (
        ("Alien", REWORDED),
        ("Playtime", {**SAME_TO_IT, "question": "Playtime did come when?"}),
    ):
        assignment = take(world, batch, "ada" if film == "Alien" else "bo", film)
        look(assignment, words)
        world.answer(world.reload(assignment), words)
    with scripted(answer("1979")) as other:
        settings.PREDICTORS = {**settings.PREDICTORS, "other": {**other.entry, "licence": ""}}
        with pytest.raises(ActionRefused, match="Available models: other"):
            prediction_jobs.enqueue_panel(batch=batch, predictor="small", by=world.mara, now=NOON)
        prediction_jobs.enqueue_panel(batch=batch, predictor="other", by=world.mara, now=NOON)
        assert fill(batch=batch, now=NOON) == (2, 0)
    (report,) = task_report.fooling_reports(batch)
    everybody = [row for row in report.rows if row[0] == "all annotators"]
    assert [row[4:8] for row in everybody] == [(2, 2, 1, proportion(1, 2)), (2, 2, 0, proportion(0, 1))], (
        "the model in the loop, and the one that was asked afterwards"
    )
    assert [row[8:10] for row in everybody] == [(0, proportion(0, 2)), (1, proportion(1, 2))], (
        "the other one says 1979 of every film, and cannot be fooled about the original that it gets wrong"
    )
    assert everybody[0][10:12] == (0, proportion(0, 2)), "nobody has checked yet"
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    checked = world.take(check, "cy")
    assert checked is not None
    right = ["1979"] if "released" in checked.item.example.question else ["1967"]
    world.answer(checked, {"answers": right, "unanswerable": False})
    second = world.take(check, "cy")
    assert second is not None
    right = ["1979"] if "released" in second.item.example.question else ["1967"]
    world.answer(second, {"answers": right, "unanswerable": False})
    automatic_decisions.resolve_batch(batch=check, now=NOON)
    (report,) = task_report.fooling_reports(batch)
    everybody = [row for row in report.rows if row[0] == "all annotators"]
    assert everybody[0][10:12] == (1, proportion(1, 2))
    weeks = [row[2] for row in report.rows if row[0] != "all annotators"]
    assert set(weeks) == {"2026-W10"}
    assert len(weeks) == 4, "two people, two models"
    page = Client()
    page.force_login(world.mara)
    assert b"Fooling the model" in page.get(f"/batches/{batch.public_id}/report/").content
    assert b"Run another model on the submissions" in page.get(f"/batches/{batch.public_id}/").content
    planned = page.get("/projects/films/batches/new/?kind=question_paraphrase:word").content
    assert b"small (MIT)" in planned


def known_as(person: Person) -> str:
    return Membership.objects.get(person=person).pseudonym


class TestTheReportOfAProject:
    @pytest.fixture
    def fooled(self, world: World, server: ScriptedServer) -> Batch:
        """A batch in which Ada has fooled the model once, Bo has not, and Cy has answered what Ada made."""
        batch = a_batch(world, overlap=1)
        check = world.batch("answer_check", of="perturbed", feeds_from=batch, sources=[], overlap=1)
        said = (("ada", "Alien", REWORDED), ("bo", "Heat", {**SAME_TO_IT, "question": "Heat did come when?"}))
        for who, film, words in said:
            assignment = take(world, batch, who, film)
            look(assignment, words)
            world.answer(world.reload(assignment), words)
        automatic_decisions.resolve_batch(batch=batch, now=NOON)
        while (checked := world.take(check, "cy")) is not None:
            alien = "Alien" in checked.item.example.question
            world.answer(checked, {"answers": ["1979" if alien else "1995"], "unanswerable": False})
        automatic_decisions.resolve_batch(batch=check, now=NOON)
        return batch

    @staticmethod
    def client_of(person: Any) -> Client:
        client = Client()
        client.force_login(person)
        return client

    def opened(self, person: Any, query: str = "") -> Any:
        return self.client_of(person).get(f"/projects/films/fooling/{query}")

    def test_has_both_rates_with_intervals_per_model_kind_person_and_week(
        self, world: World, fooled: Batch
    ) -> None:
        looked, left_out = fooling_rates.of_project(world.project, world.rea)
        assert left_out == []
        (all_of_it,) = fooling_rates.lines(looked, ["model"])
        assert (all_of_it.submitted, all_of_it.judged) == (2, 2)
        assert (all_of_it.fooled.hits, all_of_it.checked, all_of_it.verified.hits) == (1, 1, 1)
        assert all_of_it.fooled == proportion(1, 2)
        people = {line.names[0]: line.fooled.hits for line in fooling_rates.lines(looked, ["annotator"])}
        assert people == {known_as(world.ada): 1, known_as(world.bo): 0}
        assert [line.names for line in fooling_rates.lines(looked, ["kind", "week"])] == [
            ("Question paraphrase, word", "2026-W10")
        ]
        page = self.opened(world.rea).content.decode()
        for words in (
            "Per model",
            "Per task type",
            "Per person",
            "Per week",
            "50.0 %",
            proportion(1, 2).interval,
        ):
            assert words in page.replace("\u00a0", " ")
        assert page.count('role="img"') == 4, "a chart per model, task type, person and week"
        assert "Ada" not in page
        assert (
            b"/projects/films/fooling/"
            in self.client_of(world.mara).get("/projects/films/agreement/").content
        )

    def test_counts_only_tries_on_originals_that_the_model_gets_right(
        self, world: World, fooled: Batch, server: ScriptedServer
    ) -> None:
        """Of the third, the model says something wrong before anybody has changed it."""
        assignment = take(world, fooled, "cy", "Stalker")
        server.says = answer("1666")
        look(assignment, REWORDED)
        world.answer(world.reload(assignment), REWORDED)
        looked, _ = fooling_rates.of_project(world.project, world.rea)
        (line,) = fooling_rates.lines(looked, ["model"])
        assert (line.submitted, line.judged) == (3, 3)
        assert line.fooled == proportion(1, 2)
        assert line.verified == proportion(1, 2)
        assert line.wrong_before == proportion(1, 3)
        page = self.opened(world.rea).content.decode().replace("\u00a0", " ")
        assert "Wrong on the original" in page
        assert "33.3 %" in page
        rows = list(csv.DictReader(io.StringIO(self.opened(world.rea, "?as=csv").content.decode())))
        (of_cy,) = [row for row in rows if row["annotator"] == known_as(world.cy)]
        assert (of_cy["fooled"], of_cy["fooling_rate"], of_cy["wrong_before_rate"]) == ("0", "", "1.0")

    def test_says_the_same_as_csv(self, world: World, fooled: Batch) -> None:
        answer = self.opened(world.mara, "?as=csv")
        assert answer["Content-Type"].startswith("text/csv")
        rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
        (of_ada,) = [row for row in rows if row["annotator"] == known_as(world.ada)]
        assert (of_ada["model"], of_ada["panel"], of_ada["week"]) == (MODEL, "0", "2026-W10")
        assert (of_ada["judged"], of_ada["fooled"], of_ada["verified"]) == ("1", "1", "1")
        assert float(of_ada["fooling_low"]) == pytest.approx(proportion(1, 1).low, abs=1e-6)
        assert sum(int(row["submitted"]) for row in rows) == 2

    def test_says_whose_words_have_fooled_the_model(self, world: World, server: ScriptedServer) -> None:
        server.says = lambda request: answer("1979" if "come" in request.question else "1995")(request)
        batch = a_batch(world, variant="sentence", help="offered", help_from={"rules": True}, overlap=1)
        theirs, own = take(world, batch, "ada", "Alien"), take(world, batch, "bo", "Stalker")
        told = impressions.show_proposals(assignment=theirs, now=NOON)[0]
        world.answer(theirs, told["data"])
        world.answer(own, {"question": "in which year was it released?", "category": "general"})
        fill(batch=batch, now=NOON)
        rows = list(csv.DictReader(io.StringIO(self.opened(world.rea, "?as=csv").content.decode())))
        assert {(row["annotator"], row["origin"], row["fooled"]) for row in rows} == {
            (known_as(world.ada), "machine", "0" if "come" in told["data"]["question"] else "1"),
            (known_as(world.bo), "human", "1"),
        }
        page = self.opened(world.rea).content.decode()
        assert "machine proposal, unedited" in page
        assert "written by a person" in page
        (report,) = task_report.fooling_reports(batch)
        assert {row[3] for row in report.rows} == {"all", "machine proposal, unedited", "written by a person"}

    def test_gives_a_spreadsheet_no_formula(self, world: World, fooled: Batch) -> None:
        Try.objects.update(model="=HYPERLINK(1)")
        rows = list(csv.reader(io.StringIO(self.opened(world.rea, "?as=csv").content.decode())))
        assert {row[2] for row in rows[1:]} == {"'=HYPERLINK(1)"}

    def test_is_not_for_annotators_and_adjudicators(self, world: World, fooled: Batch) -> None:
        assert self.opened(world.ada).status_code == 404
        assert self.opened(world.ivo).status_code == 404

    def test_leaves_out_an_open_batch_in_which_the_reader_annotates(
        self, world: World, fooled: Batch
    ) -> None:
        projects.add_member(
            project=world.project, person=world.mara, roles=[Role.ANNOTATOR], by=world.mara, now=NOON
        )
        page = self.opened(world.mara).content.decode()
        assert fooled.name in page
        assert "Per person" not in page
        batches.close_batch(batch=fooled, by=world.rea, now=NOON)
        assert "Per person" in self.opened(world.mara).content.decode()
        assert "Per person" in self.opened(world.rea).content.decode()

    def test_says_so_where_no_model_has_looked(self, world: World) -> None:
        assert b"No batch has a model in the loop yet." in self.opened(world.rea).content
        assert self.opened(world.rea, "?as=csv").content.decode().count("\n") == 1

    def test_costs_the_same_for_many_submissions(self, world: World, server: ScriptedServer) -> None:
        def cost() -> int:
            with CaptureQueriesContext(connection) as queries:
                assert self.opened(world.rea).status_code == 200
            return len(queries)

        batch = a_batch(world, overlap=3)
        for count, who in enumerate(("ada", "bo", "cy")):
            while (assignment := world.take(batch, who)) is not None:
                look(assignment, {**REWORDED, "question": assignment.item.example.question + " Say it."})
                world.answer(
                    world.reload(assignment),
                    {**REWORDED, "question": assignment.item.example.question + " Say it."},
                )
            if not count:
                few = cost()
        assert cost() == few
