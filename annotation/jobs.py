"""Background work: one Job row each, run by `manage.py worker`, safe to run twice.

The queue carries ids only. A worker that dies leaves a heartbeat behind that stops; `reap` queues
its job again, and compare-and-set makes sure that one reaper wins.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.models import Job, Person, Project
from annotation.refusals import Refused
from annotation.tasks_api import task

log = logging.getLogger(__name__)

MOST_ATTEMPTS = 3
LOST_AFTER = timedelta(seconds=90)
FORGOTTEN_AFTER = timedelta(minutes=15)
"""A job still queued after this long may have lost its place in the queue; being queued twice does no harm."""
BEAT = 0.3
"""Seconds between two writes of progress."""

KINDS: dict[str, Callable[[Job, Progress], dict[str, Any]]] = {}


class Progress:
    """Told how far a job is; writes it, with the heartbeat, a few times a second at most."""

    def __init__(self, job_id: int) -> None:
        self.job_id = job_id
        self.written = 0.0

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self.written < BEAT and done < total:
            return
        self.written = time.monotonic()
        Job.objects.filter(pk=self.job_id).update(done=done, total=total, heartbeat=timezone.now())


def kind(name: str) -> Callable[[Callable[[Job, Progress], dict[str, Any]]], Any]:
    """Register the function that does this kind of job. It returns the job's result (JSON)."""

    def register(function: Callable[[Job, Progress], dict[str, Any]]) -> Any:
        KINDS[name] = function
        return function

    return register


def enqueue(*, project: Project, kind: str, ids: dict[str, Any], by: Person | None, now: datetime) -> Job:
    """Write the job and hand it to the queue once the transaction is through."""
    job = Job.objects.create(project=project, kind=kind, ids=ids, made_by=by, made_at=now, heartbeat=now)
    transaction.on_commit(lambda: run_job.enqueue(job.pk))
    return job


@task()
def run_job(job_id: int) -> str:
    """Run one job; what the queue calls."""
    return run(job_id)


def run(job_id: int) -> str:
    """Run a job that is queued; one that another worker took, or that is finished, is left alone."""
    won = Job.objects.filter(pk=job_id, state=Job.State.QUEUED).update(
        state=Job.State.RUNNING, heartbeat=timezone.now(), error=""
    )
    if not won:
        return "not queued"
    job = Job.objects.select_related("project", "made_by").get(pk=job_id)
    Job.objects.filter(pk=job_id).update(attempts=job.attempts + 1)
    try:
        result = KINDS[job.kind](job, Progress(job_id))
    except Refused as refused:
        return _fail(job_id, refused.detail)
    except Exception as error:
        log.exception("job %s (%s) failed", job.public_id, job.kind)
        return _fail(
            job_id, f"Something went wrong inside ({type(error).__name__}). The log has the details."
        )
    Job.objects.filter(pk=job_id).update(state=Job.State.DONE, result=result, heartbeat=timezone.now())
    return "done"


def reap(*, now: datetime) -> int:
    """Queue jobs again whose worker is gone; after the last attempt they fail visibly. Returns how many."""
    stale = Job.objects.filter(
        Q(state=Job.State.RUNNING, heartbeat__lt=now - LOST_AFTER)
        | Q(state=Job.State.QUEUED, heartbeat__lt=now - FORGOTTEN_AFTER)
    )
    reaped = 0
    for job in list(stale[:50]):
        again = job.attempts < MOST_ATTEMPTS
        won = Job.objects.filter(pk=job.pk, state=job.state, heartbeat=job.heartbeat).update(
            state=Job.State.QUEUED if again else Job.State.FAILED,
            error="" if again else f"The worker was lost {job.attempts} times.",
            heartbeat=now,
        )
        if won and again:
            run_job.enqueue(job.pk)
        reaped += won
    return reaped


def _fail(job_id: int, error: str) -> str:
    Job.objects.filter(pk=job_id).update(state=Job.State.FAILED, error=error, heartbeat=timezone.now())
    return "failed"
