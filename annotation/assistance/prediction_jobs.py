"""Jobs that ask the models of a batch for all open answers: tries, submissions, and checks by models of the panel.

A job also takes verdicts again after a gold answer has changed (`verdict_rechecks`).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext

from annotation.access import audit_log
from annotation.assistance import judgements, model_answers, model_checks, verdict_rechecks
from annotation.background import jobs
from annotation.models import Assignment, Batch, Decision, Job, Person, Try
from annotation.platform.refusals import refuse
from annotation.queue import metering
from annotation.queue.conversations import UnusableReplies
from annotation.queue.parallel_requests import Crew
from predictor.client import PredictionError
from predictor.configuration import STOP_AFTER

AGAIN = timedelta(seconds=60)
"""Between two jobs that ask about the same batch."""
LONGEST_PAUSE = timedelta(minutes=15)
"""The same where a model keeps giving no answer."""
MAX_SILENT = 3
"""Questions that a model may leave without an answer before a job leaves the rest of them for later."""


def enqueue(*, batch: Batch, now: datetime, by: Person | None = None) -> Job | None:
    """Have what is open in a batch asked in the background; None where a job is on it already."""
    return jobs.enqueue_once(batch=batch, kind="predictions", by=by, now=now)


def enqueue_panel(*, batch: Batch, predictor: str, by: Person | None, now: datetime) -> Job | None:
    """Have another model check everything that was submitted, which shows what fools only the model in the loop.

    Its earlier answers stay. Raises ActionRefused(invalid_request).
    """
    task = batch.task()
    if task.predicts != "live":
        refuse(
            "invalid_request",
            "{title} creates no questions that a model could answer.",
            title=task.title.lower(),
        )
    others = sorted(settings.PREDICTORS.keys() - {batch.loop_model})
    if predictor not in others:
        refuse("invalid_request", "Available models: {value}.", value=", ".join(others) or gettext("none"))
    submitted = Assignment.objects.filter(batch=batch).submitted()
    submitted = submitted.exclude(
        Exists(Try.objects.filter(annotation=OuterRef("annotation"), predictor=predictor))
    ).select_related("batch", "item__example__stored_table", "annotation")
    for key in list(submitted.order_by("pk").values_list("pk", flat=True)):
        assignment = submitted.get(pk=key)
        annotation = assignment.annotation
        if annotation is None or annotation.response is None:
            continue
        pair = judgements.example_pair(task, assignment.plain_item, annotation.response.get("data"))
        if pair.perturbed is not None:
            Try.objects.get_or_create(
                annotation=annotation,
                predictor=predictor,
                defaults={
                    "assignment": assignment,
                    "kind": Try.Kind.PANEL,
                    "digest": pair.digest,
                    "asked": pair.keys,
                    "response": annotation.response,
                    "made_at": now,
                },
            )
    return enqueue(batch=batch, now=now, by=by)


def retry_unanswered(*, now: datetime) -> int:
    """Start a job for each batch with something to do that had none in the last minute. Returns how many; cheap.

    Where a model gives no answer, or was exchanged, the pause doubles until there is something new to ask.
    """
    started = 0
    for batch in Batch.objects.filter(opened_at__isnull=False).filter(
        ~Q(loop_model="")
        | Exists(Try.objects.filter(assignment__batch=OuterRef("pk"), answered_at__isnull=True))
    ):
        mine = Job.objects.filter(kind="predictions", ids={"batch": batch.pk}).order_by("-pk")
        before = list(mine[:2])
        last = before[0].made_at if before else None
        open_rows = Try.objects.filter(assignment__batch=batch, answered_at__isnull=True)
        open_rows = open_rows.exclude(
            predictor__in=list(before[0].result.get("stopped", {})) if before else []
        )
        # A job of the future is from before the clock was set back: it does not wait for that time.
        if last is not None and timedelta() <= now - last < _pause(
            before, new=open_rows.filter(made_at__gt=last).exists()
        ):
            continue
        waits = open_rows.exists()
        to_freeze = (
            bool(batch.loop_model) and not batch.loop_revision and batch.closed_at is None and last is None
        )
        checked = Decision.objects.filter(item__batch__feeds_from=batch)
        if last is not None:
            checked = checked.filter(event__at__gte=last)
        if waits or to_freeze or checked.exists():
            started += enqueue(batch=batch, now=now) is not None
    return started


def find_stop_reasons(batch: Batch, *, before: Job | None = None) -> dict[str, str]:
    """The predictors that the batch's last finished job (or the one before `before`) stopped asking, and why.

    A manager starts them again, with their own job.
    """
    earlier = Job.objects.filter(kind="predictions", ids={"batch": batch.pk}).order_by("-pk")
    earlier = earlier.filter(Q(state=Job.State.DONE) | Q(made_by__isnull=False))
    last = (earlier if before is None else earlier.filter(pk__lt=before.pk)).first()
    return {} if last is None else dict(last.result.get("stopped", {}))


def _pause(before: Sequence[Job], *, new: bool) -> timedelta:
    """How long after a batch's newest job there may be another. `before`: its newest job and the one before that."""
    if new or len(before) < 2 or before[0].result.get("asked", 1) or not before[0].result.get("left"):
        return AGAIN
    return min(max(AGAIN, 2 * (before[0].made_at - before[1].made_at)), LONGEST_PAUSE)


@jobs.kind("predictions")
def _run(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    """Freeze the model of a batch that has none yet, ask what is open, and take verdicts again. Safe to run twice."""
    batch = Batch.objects.select_related("project").get(pk=job.ids["batch"])
    if not batch.loop_revision and batch.loop_model in settings.PREDICTORS:
        with suppress(PredictionError):  # the first answer freezes it
            model_checks.freeze_model(batch, model_answers.identify(batch.loop_model))
    left_alone = {} if job.made_by_id else find_stop_reasons(batch, before=job)
    filled = fill_all(batch=batch, now=timezone.now(), progress=progress, but=left_alone)
    result: dict[str, Any] = {"asked": filled.asked, "left": filled.left}
    earlier = Job.objects.filter(kind="predictions", ids=job.ids, state=Job.State.DONE, pk__lt=job.pk)
    before = earlier.order_by("-pk").values_list("result__log", flat=True).first()
    result["log"] = audit_log.settled(batch.project_id, before)
    after = before["through"] if before else 0
    result["verdicts"] = verdict_rechecks.recheck(batch=batch, now=timezone.now(), after=after)
    reasons = {"stopped": left_alone | filled.stopped, "refused": filled.refused}
    return result | {name: value for name, value in reasons.items() if value}


def fill_all(
    *,
    batch: Batch,
    now: datetime,
    progress: Callable[[int, int], None] = lambda done, total: None,
    but: Collection[str] = (),
) -> AnswerRun:
    """Ask the models for the answers that are still open. Those in `but` are not asked.

    A model that does not answer, or that was exchanged since, leaves its rows open. What a person waits for comes first;
    among equals the order is drawn each time, so that a few examples on which a model fails hold up no others for ever.
    """
    rows = Try.objects.filter(assignment__batch=batch, answered_at__isnull=True)
    waiting = list(rows.order_by("pk").values_list("pk", "kind", "predictor"))
    random.shuffle(waiting)
    waiting.sort(key=lambda row: row[1] != Try.Kind.PERSON)
    by_predictor: dict[str, list[int]] = {}
    for key, _, predictor in waiting:
        by_predictor.setdefault(predictor, []).append(key)
    run, completed_count = AnswerRun(batch, now, left=len(waiting)), 0
    for predictor, keys in by_predictor.items():
        if predictor in but:
            continue
        for _ in run.answers(predictor, keys):
            completed_count += 1
            progress(completed_count, len(waiting))
    return run


@dataclass
class AnswerRun:
    """The questions of one job, predictor by predictor; those to a chat model in parallel (`parallel` of its entry).

    A predictor is left alone after `MAX_SILENT` questions without an answer; after `stop_after` unusable replies in a row,
    until a manager wants it again (`stopped`); and after an answer that says that no request can succeed until a setting
    changes (`refused`: a budget, a parameter). Both give the reason.
    """

    batch: Batch
    now: datetime
    left: int
    """Questions without an answer so far."""
    asked: int = 0
    """Questions that were answered."""
    stopped: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    silent: int = 0

    def answers(self, predictor: str, keys: Sequence[int]) -> Iterator[bool]:
        """Whether each question was answered."""
        entry = settings.PREDICTORS.get(predictor)
        if entry is None:
            yield from (False for _ in keys)
            return
        crew = model_answers.create_crew(predictor)
        unusable = UnusableReplies(predictor, entry.get("stop_after", STOP_AFTER))
        self.silent = begun = 0
        for row, pair, answer, seconds in crew.map(
            lambda question: self._ask(*question), self._questions(predictor, keys, crew)
        ):
            begun += 1
            is_stored = answer is None or self._store(row, pair, answer, seconds)
            self.asked += is_stored
            self.left -= is_stored
            self.silent += not is_stored
            if answer is not None and answer.is_final:
                self.refused[predictor] = answer.reason
            if answer is not None and is_stored:
                unusable.count(answer.unusable)
            if unusable.is_stopped:
                self.stopped[predictor] = unusable.reason
            yield is_stored
        yield from (False for _ in range(len(keys) - begun))

    def _questions(
        self, predictor: str, keys: Sequence[int], crew: Crew
    ) -> Iterator[tuple[Try, judgements.ExamplePair, metering.ProjectMeter]]:
        for key in keys:
            if self.silent >= MAX_SILENT or predictor in self.stopped or predictor in self.refused:
                return
            row, pair = model_checks.load_try(key)
            purpose = "panel" if row.kind == Try.Kind.PANEL else "loop"
            yield row, pair, model_answers.create_meter(self.batch, predictor, purpose, crew)

    def _ask(
        self, row: Try, pair: judgements.ExamplePair, meter: metering.ProjectMeter
    ) -> tuple[Try, judgements.ExamplePair, model_answers.Answer | None, float]:
        """The answer, None where another person has it meanwhile. Runs in a thread, without the database."""
        if row.answered_at is not None:
            return row, pair, None, 0.0
        began = time.monotonic()
        return row, pair, model_answers.ask_patiently(row.predictor, pair, meter), time.monotonic() - began

    def _store(
        self, row: Try, pair: judgements.ExamplePair, answer: model_answers.Answer, seconds: float
    ) -> bool:
        if answer.state != "answered":
            return False
        batch, now = self.batch, self.now
        in_loop = row.predictor == batch.loop_model and row.kind != Try.Kind.PANEL
        if in_loop and answer.model and not model_checks.freeze_model(batch, answer.model):
            return False
        fields = answer.try_fields(revision=batch.loop_revision if in_loop else row.predictor, now=now)
        fields["milliseconds"] = int(seconds * 1000)
        with transaction.atomic():
            if Try.objects.filter(pk=row.pk, answered_at__isnull=True).update(**fields):
                for name, value in fields.items():
                    setattr(row, name, value)
                model_checks.keep_verdict(row, verdict_rechecks.judge_try(row, pair), now=now)
        return True
