"""The worker goes on where its database was away, and where a model hangs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.utils import timezone

from annotation.assistance import prediction_jobs
from annotation.background import jobs
from annotation.management.commands import worker
from annotation.models import Job, Try
from annotation.workflow import automatic_decisions
from predictor import client, listing
from tests.annotation.cast import NOON, make_world
from tests.annotation.filling import fill
from tests.annotation.test_predicting import REWORDED, knows_the_word_come, take
from tests.predictor.scripted import hung_socket, scripted
from tests.waiting import wait_until

pytestmark = pytest.mark.both


def test_a_database_that_is_locked_for_long_does_not_end_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []

    def db_worker(name: str, **options: Any) -> None:
        found.append(name)
        if len(found) < 3:
            raise OperationalError("database is locked")

    monkeypatch.setattr(worker, "call_command", db_worker)
    monkeypatch.setattr(worker, "EVERY", 0.0)
    monkeypatch.setattr("annotation.management.commands.worker.connection.close", lambda: None)
    worker._take_jobs(0.1)
    assert found == ["db_worker"] * 3


def test_a_scheduled_task_that_fails_keeps_no_other_from_running(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, ran = threading.Event(), []

    def fails(now: Any) -> int:
        raise ValueError

    def last(now: Any) -> int:
        stop.set()
        ran.append("retry_unanswered")
        return 0

    monkeypatch.setattr(worker, "EVERY", 0.001)
    monkeypatch.setattr(jobs, "clock", lambda: NOON)
    for name in ("keep_alive", "reap"):
        monkeypatch.setattr(jobs, name, lambda *, now, name=name: ran.append(name))
    monkeypatch.setattr(automatic_decisions, "resolve_due", fails)
    monkeypatch.setattr(automatic_decisions, "resolve_orphaned", fails)
    monkeypatch.setattr(prediction_jobs, "retry_unanswered", last)
    monkeypatch.setattr(worker, "close_old_connections", lambda: None)
    monkeypatch.setattr(worker, "connection", Mock())

    worker._run_housekeeping(stop)

    assert ran == ["keep_alive", "reap", "retry_unanswered"]


@pytest.fixture
def queued(settings: Any) -> None:
    """Jobs wait in the database for a worker, as they do outside of tests."""
    settings.TASKS = {**settings.TASKS}
    settings.TASKS["default"] = {
        **settings.TASKS["default"],
        "BACKEND": "django_tasks_db.DatabaseBackend",
    }


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[worker.WorkerThread]]:
    """Those of one worker, of which none is started."""
    monkeypatch.setattr(worker, "SLOWER", 0.05)
    found = [worker.WorkerThread(queue, 0.05) for queue, many in jobs.THREADS.items() for _ in range(many)]
    yield found
    for thread in found:
        thread.stop()
    for thread in found:
        if thread.is_alive():
            thread.join(10)


@pytest.mark.django_db(transaction=True)
def test_a_hung_language_model_holds_up_neither_decisions_nor_other_models(
    tmp_path: Path, settings: Any, queued: None, threads: list[worker.WorkerThread]
) -> None:
    listing._resting.clear()
    with hung_socket() as (url, connected), scripted(knows_the_word_come) as server:
        settings.PREDICTORS = {
            "llm": {"protocol": "chat", "url": f"{url}/v1", "model": "qwen", "timeout": 6},
            "small": server.entry,
        }
        world = make_world(tmp_path)
        batches = {
            name: world.batch("question_paraphrase", variant="word", loop_model=name, overlap=1)
            for name in ("llm", "small")
        }
        for batch in batches.values():
            world.answer(take(world, batch, film="Alien"), REWORDED)
        now = timezone.now()
        began = time.monotonic()
        prediction_jobs.enqueue(batch=batches["llm"], now=now)
        prediction_jobs.enqueue(batch=batches["small"], now=now)
        labels = world.batch("question_type")
        resolving = automatic_decisions.start_resolving(batch=labels, by=None, now=now)
        for thread in threads:
            thread.start()
        main = worker.WorkerThread("default", 0.05)
        threads.append(main)
        main.start()
        wait_until(lambda: bool(connected), seconds=5)
        wait_until(lambda: Job.objects.get(pk=resolving.pk).state == "done", seconds=3)
        wait_until(
            lambda: Try.objects.filter(predictor="small", answered_at__isnull=False).exists(), seconds=3
        )
        others = time.monotonic() - began
        hung = Job.objects.get(kind="predictions", ids={"batch": batches["llm"].pk})
        assert hung.state == "running", "the hung model is still being asked while the others are done"
        assert others < 5
        wait_until(lambda: Job.objects.get(pk=hung.pk).state == "done", seconds=12)
        assert Job.objects.get(pk=hung.pk).result["left"] == 1
        assert time.monotonic() - began < 10, "its time passes once"
        assert len(connected) == 1
        wait_until(lambda: all(job.state == "done" for job in Job.objects.all()), "all jobs are done", 5)
        fill(batch=batches["llm"], now=now)
        assert len(connected) == 1, "and then it is left alone for a while"
    listing._resting.clear()
    client.connect(server.entry).close()
    client._cached_model.cache_clear()


@pytest.mark.django_db
def test_a_job_that_waits_for_a_model_is_not_taken_for_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, late = make_world(tmp_path), NOON + timedelta(minutes=5)
    job = Job.objects.create(
        project=world.project,
        kind="predictions",
        ids={},
        state="running",
        attempts=1,
        heartbeat=NOON,
        made_at=NOON,
    )
    monkeypatch.setattr(jobs, "_under_way", {job.pk})
    jobs.keep_alive(now=late)
    assert jobs.reap(now=late) == 0
    monkeypatch.setattr(jobs, "_under_way", set())
    jobs.keep_alive(now=late + timedelta(minutes=5))
    monkeypatch.setattr(jobs, "_queue", lambda job: None)
    assert jobs.reap(now=late + timedelta(minutes=5)) == 1, "one that nobody is at"


@pytest.mark.django_db
def test_what_a_worker_is_at_when_it_stops_is_queued_again_and_has_lost_no_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, queued_again = make_world(tmp_path), list[int]()
    job = Job.objects.create(
        project=world.project,
        kind="predictions",
        ids={},
        state="running",
        attempts=2,
        heartbeat=NOON,
        made_at=NOON,
    )
    monkeypatch.setattr(jobs, "_under_way", {job.pk})
    monkeypatch.setattr(jobs, "_queue", lambda job: queued_again.append(job.pk))
    worker._stop_threads([])
    job.refresh_from_db()
    assert (job.state, job.attempts, queued_again) == ("queued", 1, [job.pk])
