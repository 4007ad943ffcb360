"""Background work: one Job row each, run by `manage.py worker`, safe to run twice.

The queue carries ids only. A worker that dies leaves a heartbeat behind that stops; `reap` queues its job again, and
compare-and-set makes sure that one reaper wins. A job that met a database which did not answer is queued again, too.
Heartbeats run on the database's clock (`clock`), as leases do: workers on several machines, and one whose clock is set,
agree on what is late.
"""

from __future__ import annotations

import errno
import logging
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Max, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone, translation

from annotation.background.erased_names import Names
from annotation.models import Batch, Job, Person, Project
from annotation.platform.database import failures, limits
from annotation.platform.refusals import ActionRefused, refuse
from annotation.platform.task_queue import task
from tableqa.core.translation import message

log = logging.getLogger(__name__)

MOST_ATTEMPTS = 3
LOST_AFTER = timedelta(seconds=90)
FORGOTTEN_AFTER = timedelta(minutes=15)
"""A job still queued after this long may have lost its place in the queue; being queued twice does no harm."""
BEAT = 0.3
"""Seconds between two writes of progress."""
ALIVE = timedelta(seconds=30)
"""After which the heartbeat of a job that waits for something is renewed by its worker (`keep_alive`)."""

INTERNAL = message(
    "jobs.internal", "Internal error ({name}). Details are in the server log. Ask the site administrator."
)
DISK_FULL = message(
    "jobs.disk_full", "The disk of the data folder is full. Free some space, then start this job again."
)
NO_DATABASE = message(
    "jobs.no_database",
    "The database did not respond in {attempts} attempts. Start this job again once it does.",
)
LOST = message("jobs.lost", "The worker of this job was lost {attempts} times.")
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

CANCELLED = message("jobs.cancelled", "This job was cancelled.")

SILENT = timedelta(seconds=7)
"""After which jobs that people wait for are taken to have no worker, where none of them has moved."""

LOOP, MODELS, IMPORTS, PREVIEWS = "loop", "models", "imports", "previews"
OF_MODELS: Final = ("proposals", "ask_originals", "draw_items", "evaluate")
OF_GOLD: Final = ("import_gold", "preview_gold")
OF_IMPORTS: Final = ("import", "restore", "import_responses", "import_labels", "import_gold")
OF_PREVIEWS: Final = ("preview", "preview_labels", "preview_responses", "preview_gold")
OF_FILES: Final = OF_IMPORTS + OF_PREVIEWS
"""Kinds that read files of people. They can be cancelled, and the projects take turns in each queue."""
QUEUE_OF = {
    "predictions": LOOP,
    **dict.fromkeys(OF_MODELS, MODELS),
    **dict.fromkeys(OF_IMPORTS, IMPORTS),
    **dict.fromkeys(OF_PREVIEWS, PREVIEWS),
}
"""Kinds of jobs that wait for models, or for files. They have separate queues and worker threads: a model that hangs, or a
file that takes an hour, delays no decision, no release and no answer on a page."""
THREADS = {LOOP: 2, MODELS: 1, IMPORTS: 1, PREVIEWS: 1}
"""Queue -> how many of its jobs one worker runs at a time, beside one of all other kinds."""

KINDS: dict[str, Callable[[Job, Progress], dict[str, Any]]] = {}
AFTERWARDS: dict[str, Callable[[Job], None]] = {}
"""What is tidied up once it is written that a job is done or refused: a worker killed before leaves all to the next one."""


def clock() -> datetime:
    """What time it is for heartbeats: what the database says."""
    if connection.vendor != "postgresql":
        return timezone.now()  # the database is a file, and its clock is this machine's
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now


class JobCancelled(Exception):
    """A person cancelled the job, or its worker was taken for lost: what it does is not wanted any more."""


class Progress:
    """Told how far a job is; writes it, with the heartbeat, a few times a second at most. Raises JobCancelled.

    Told of the end in the transaction that makes what the job did visible, it keeps others from cancelling it afterwards.
    """

    def __init__(self, job_id: int) -> None:
        self.job_id = job_id
        self.written = 0.0

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self.written < BEAT and done < total:
            return
        self.written = time.monotonic()
        running = Job.objects.filter(pk=self.job_id, state=Job.State.RUNNING)
        if not running.update(done=done, total=total, heartbeat=Now()):
            raise JobCancelled


def _registering(functions: dict[str, Any]) -> Callable[[str], Callable[[Any], Any]]:
    return lambda name: lambda function: functions.setdefault(name, function)


kind = _registering(KINDS)
"""Register the function that does this kind of job. It returns the job's result (JSON)."""
afterwards = _registering(AFTERWARDS)
"""Register the function that tidies up after this kind of job."""


def store_result(job: Job, result: Mapping[str, Any]) -> None:
    """Store what a job did, in the transaction that did it: if its worker is lost afterwards, it is not done twice.

    Raises JobCancelled.
    """
    running = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING)
    if not running.update(result=result, ids={**job.ids, IS_DONE: True}):
        raise JobCancelled
    _remove_erased_names(job)


def enqueue(*, project: Project, kind: str, ids: dict[str, Any], by: Person | None, now: datetime) -> Job:
    """Write the job and hand it to the queue once the transaction is through."""
    job = Job.objects.create(project=project, kind=kind, ids=ids, made_by=by, made_at=now, heartbeat=now)
    transaction.on_commit(lambda: _queue(job))
    return job


def under_way(**of: Any) -> QuerySet[Job]:
    """The jobs that wait or run, of a kind, project or batch."""
    return Job.objects.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING], **of)


def enqueue_once(*, batch: Batch, kind: str, by: Person | None, now: datetime) -> Job | None:
    """Queue a job on a batch; None where one of this kind is on it already."""
    ids = {"batch": batch.pk}
    if under_way(project_id=batch.project_id, kind=kind, ids=ids).exists():
        return None
    project = Project.objects.get(pk=batch.project_id)
    return enqueue(project=project, kind=kind, ids=ids, by=by, now=now)


def cancel(job: Job) -> None:
    """Cancel a job that reads files: it ends within two seconds, and nothing of it stays. Raises ActionRefused."""
    is_ending = Q(ids__has_key=IS_DONE) | Q(done=F("total"), total__gt=0)
    ends_later = Job.objects.filter(~is_ending, pk=job.pk, kind__in=OF_FILES)
    failed = {"state": Job.State.FAILED, "error": CANCELLED, "heartbeat": Now()}
    waiting = ends_later.filter(state=Job.State.QUEUED).update(**failed)
    if not waiting and not ends_later.filter(state=Job.State.RUNNING).update(**failed):
        refuse("invalid_request", "This job cannot be cancelled any more.")
    if waiting and job.kind in AFTERWARDS:
        AFTERWARDS[job.kind](job)


def _queue(job: Job) -> None:
    run_job.using(queue_name=QUEUE_OF.get(job.kind, "default")).enqueue(job.pk)


@task()
def run_job(job_id: int) -> str:
    """Run one job; what the queue calls. Of jobs that read files, the one whose project has waited longest."""
    job = Job.objects.filter(pk=job_id).first()
    if job is None or job.kind not in OF_FILES:
        return run(job_id)
    tried: set[int] = set()
    # Another worker may take the same job at the same moment: then the next one has its turn, or it would never run.
    while (turn := _next_in_turn(job)) not in tried:
        tried.add(turn)
        if (ended := run(turn)) != NOT_QUEUED:
            return ended
    return NOT_QUEUED


def _of_queue(job: Job) -> QuerySet[Job]:
    """The jobs of files in the queue of one of them."""
    return Job.objects.filter(kind__in=OF_PREVIEWS if job.kind in OF_PREVIEWS else OF_IMPORTS)


def is_without_worker(job: Job) -> bool:
    """Whether neither a job of files nor another one of its queue has moved for some seconds."""
    since = clock() - SILENT
    moved = _of_queue(job).exclude(state=Job.State.QUEUED).filter(heartbeat__gt=since)
    return not job.finished and job.heartbeat < since and not moved.exists()


def _next_in_turn(job: Job) -> int:
    """The oldest job of the project whose last job ended first: each is in the queue once, so all have their turn."""
    of_files = _of_queue(job)
    waiting = of_files.filter(state=Job.State.QUEUED).order_by("project", "pk").values_list("project", "pk")
    first = dict(reversed(list(waiting)))
    begun = of_files.filter(project__in=first, attempts__gt=0).exclude(pk__in=first.values())
    last = dict(begun.values_list("project").annotate(last=Max("heartbeat")))
    never = datetime.min.replace(tzinfo=UTC)
    return min(first.items(), key=lambda entry: (last.get(entry[0], never), entry[1]), default=(0, job.pk))[1]


def run(job_id: int) -> str:
    """Run a job that is queued; one that another worker took, or that is finished, is left alone."""
    won = Job.objects.filter(pk=job_id, state=Job.State.QUEUED).update(
        state=Job.State.RUNNING, heartbeat=Now(), error="", attempts=F("attempts") + 1
    )
    if not won:
        return NOT_QUEUED
    job = Job.objects.select_related("project", "made_by").get(pk=job_id)
    _under_way.add(job_id)
    try:
        # What a job writes is in no reader's language, and a job may ask for what takes long.
        with translation.override(settings.LANGUAGE_CODE), limits.at_most(0):
            result = job.result if job.ids.get(IS_DONE) else KINDS[job.kind](job, Progress(job_id))
    except ActionRefused as refused:
        problems = {"result": refused.more} if "problems" in refused.more else {}
        return _end_and_tidy(job, Job.State.FAILED, error=refused.stored, **problems)
    except JobCancelled:
        job.refresh_from_db()
        if job.error == CANCELLED and job.kind in AFTERWARDS:  # not where another worker has it
            AFTERWARDS[job.kind](job)
        return "cancelled"
    except Exception as error:
        if failures.is_unavailable(error):
            return _retry(job)
        log.exception("job %s (%s) failed", job.public_id, job.kind)
        text = INTERNAL.format(name=type(error).__name__)
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            text = DISK_FULL
        return _finish(job, Job.State.FAILED, error=text)
    finally:
        _under_way.discard(job_id)
    return _end_and_tidy(job, Job.State.DONE, result=result)


def _end_and_tidy(job: Job, state: Job.State, **more: Any) -> str:
    ended = _finish(job, state, **more)
    if ended == state and job.kind in AFTERWARDS:
        AFTERWARDS[job.kind](job)
    return ended


def _retry(job: Job) -> str:
    """Queue a job again that met a database which did not answer; after the last attempt it fails visibly.

    Where the database is still away this raises, and the job is queued again by `reap`.
    """
    log.warning("job %s (%s) met a database that did not answer", job.public_id, job.kind, exc_info=True)
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()
    again = job.attempts < MOST_ATTEMPTS
    text = NO_DATABASE.format(attempts=job.attempts)
    state = _finish(job, Job.State.QUEUED if again else Job.State.FAILED, error="" if again else text)
    if state == Job.State.QUEUED:
        _queue(job)
    return state


def _finish(job: Job, state: Job.State, **more: Any) -> str:
    """Write how it ended, unless it was taken for lost meanwhile: then its new worker writes that."""
    mine = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, attempts=job.attempts)
    with transaction.atomic():
        ended = mine.update(state=state, heartbeat=Now(), **more)
        _remove_erased_names(job)
    if not ended:
        log.warning("job %s (%s) ended after it was marked as lost", job.public_id, job.kind)
        return "lost"
    return str(state.value)


def _remove_erased_names(job: Job) -> None:
    """Replace the names of people who were erased while the job ran, in all it wrote: it had read them before."""
    stored = Job.objects.filter(pk=job.pk).values_list("erased", flat=True).first()
    job.erased = [*(job.erased or ()), *(stored or ())]  # once a result is stored, the job still returns it
    if job.erased:
        Names(*job.erased).take_out_of([job.project_id])
        has_written = Q(state__in=Job.FINISHED) | Q(ids__has_key=IS_DONE)
        Job.objects.filter(has_written, pk=job.pk).update(erased=None)


NOT_QUEUED: Final = "not queued"
"""What running a job says that another worker has taken."""
IS_DONE: Final = "is_done"
"""Among the ids of a job whose result was stored with its work."""
_under_way: set[int] = set()
"""The jobs that this process is at."""


def keep_alive(*, now: datetime) -> None:
    """Say that jobs of this process are being worked at, also where nothing moves: a model may think for minutes."""
    waiting = Job.objects.filter(
        Q(heartbeat__lt=now - ALIVE) | Q(heartbeat__gt=now + ALIVE),
        pk__in=set(_under_way),
        state=Job.State.RUNNING,
    )
    if _under_way and waiting.exists():
        waiting.update(heartbeat=now)


def requeue_running(*, now: datetime) -> int:
    """Queue again what this process is still at: it is about to stop. Such a job has lost no attempt. Returns how many."""
    handed = 0
    for job in Job.objects.filter(pk__in=set(_under_way), state=Job.State.RUNNING):
        won = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, attempts=job.attempts).update(
            state=Job.State.QUEUED, attempts=max(job.attempts - 1, 0), heartbeat=now
        )
        if won:
            _queue(job)
            handed += 1
    return handed


def reap(*, now: datetime) -> int:
    """Queue jobs again whose worker is gone; after the last attempt they fail visibly. Returns how many.

    A heartbeat of the future is ignored: it was written before the clock was set back. `now` is what `clock` says.
    """
    is_stale = Q(state=Job.State.RUNNING) & ~Q(heartbeat__range=(now - LOST_AFTER, now + LOST_AFTER)) | Q(
        state=Job.State.QUEUED
    ) & ~Q(heartbeat__range=(now - FORGOTTEN_AFTER, now + FORGOTTEN_AFTER))
    reaped = 0
    for job in list(Job.objects.filter(is_stale)[:50]):
        again = job.attempts < MOST_ATTEMPTS
        # The winner renews the heartbeat. It is not compared itself: SQLite keeps milliseconds of its own clock, as text.
        won = Job.objects.filter(is_stale, pk=job.pk, state=job.state, attempts=job.attempts).update(
            state=Job.State.QUEUED if again else Job.State.FAILED,
            error="" if again else LOST.format(attempts=job.attempts),
            heartbeat=now,
        )
        if won and again:
            _queue(job)
        reaped += won
    ended = Job.objects.filter(state__in=Job.FINISHED, erased__isnull=False, heartbeat__lt=now - LOST_AFTER)
    for job in ended[:50]:  # cancelled, or its worker was killed
        with transaction.atomic():
            _remove_erased_names(job)
    return reaped
