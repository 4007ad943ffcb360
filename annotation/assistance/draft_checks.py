"""Checks of a draft by the model in the loop, while a person works.

A *preview* follows the keys and is not stored. A *try* follows Enter or Check; it is stored and counted. A submission calls
no model (`model_checks.record_submission`). A model that is slower than a page answers in a job (`prediction_jobs`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext

import tasks.contract
from annotation.assistance import (
    judgements,
    model_answers,
    model_checks,
    prediction_jobs,
    verdict_line,
    visible_verdicts,
)
from annotation.models import Assignment, Job, Project, Try
from annotation.platform.refusals import refuse
from annotation.queue import metered_models, metering
from predictor.chat import ChatError
from predictor.client import PredictionError, connect
from predictor.configuration import is_live, live_seconds
from tableqa.core.foreign_values import unstorable
from tasks.contract import TaskType

MOST_BYTES = 256 * 1024
"""Of a response that is looked at, as of a draft."""


@dataclass(frozen=True)
class Query:
    """A question to the model of a batch, ready to be asked by a thread (`check_draft`) or by a coroutine (the gateway)."""

    assignment: Assignment
    asked: judgements.ExamplePair
    response: Mapping[str, Any]
    is_try: bool
    entry: Mapping[str, Any]
    requests: model_answers.Requests
    counted: int | None
    """The checks of the person on this item, None where nobody has counted them."""
    is_panel: bool
    """Whether it is for another model than the one in the loop: no revision is frozen, and nothing is kept."""
    began: float
    payment: metered_models.Payment

    @property
    def within(self) -> float:
        """Seconds that the page waits for the answer."""
        return live_seconds(self.entry)


def check_draft(
    *,
    assignment: Assignment,
    response: Mapping[str, Any],
    kind: str,
    seq: int,
    now: datetime,
    model: str = "",
) -> visible_verdicts.VisibleVerdict:
    """What the batch's model says of a response as it is now: a "preview", or a "try", which is kept and counted.

    A try of what was tried before is the same try. A preview that arrives after its submission is stale. Raises Refused:
    already_submitted, invalid_request, draft_too_large.
    """
    counted = model_checks.count_of_person(assignment)
    query = prepare(
        assignment=assignment,
        response=response,
        kind=kind,
        seq=seq,
        counted=counted,
        now=now,
        model=model,
    )
    if isinstance(query, visible_verdicts.VisibleVerdict):
        return query
    try:
        outcome: model_answers.Outcomes = connect(query.entry).predict_both(
            *query.requests, within=query.within, bills=query.payment.bills
        )
    except PredictionError as unanswered:
        outcome = unanswered
    return record_answer(query, outcome, now=now)


def prepare(
    *,
    assignment: Assignment,
    response: Mapping[str, Any],
    kind: str,
    seq: int,
    counted: int | None,
    now: datetime,
    model: str = "",
) -> Query | visible_verdicts.VisibleVerdict:
    """What has to be asked for a look, or what is seen without asking. Raises Refused as `check_draft` does.

    `model` names a model of the panel, which is previewed only; "" is the model in the loop.
    """
    if assignment.state == Assignment.State.SUBMITTED:
        if kind == "preview":
            return visible_verdicts.VisibleVerdict(
                "stale", gettext(model_answers.TEXTS["stale"]), tries=counted
            )
        refuse("already_submitted", "This item is submitted. Undo the submission to check another change.")
    batch, item = assignment.batch, assignment.plain_item
    pair = _read_pair(batch.task(), item, response)
    if not batch.loop_model:
        return visible_verdicts.VisibleVerdict("none", gettext(model_answers.TEXTS["none"]), tries=counted)
    if model and (kind == "try" or model not in model_checks.panel(batch)):
        refuse("invalid_request", "{model} is no model of the panel of this batch.", model=model)
    entry = settings.PREDICTORS.get(model or batch.loop_model)
    if entry is None:
        return visible_verdicts.VisibleVerdict(
            "unavailable", gettext(model_answers.TEXTS["gone"]), tries=counted
        )
    if kind == "try" and pair.perturbed is None:
        return visible_verdicts.VisibleVerdict(
            "nothing", gettext(model_answers.TEXTS["nothing"]), tries=counted
        )
    if kind == "try":
        earlier_try = Try.objects.filter(
            assignment=assignment, kind=Try.Kind.PERSON, predictor=batch.loop_model, digest=pair.digest
        ).first()
        if earlier_try is not None:
            judged = judgements.judge_pair(
                pair, earlier_try.original, earlier_try.perturbed, failed=bool(earlier_try.error)
            )
            model_checks.keep_verdict(earlier_try, judged, now=now)  # the answer may be another one by now
            return _with_daily_count(
                _describe_try(earlier_try, pair, counted, batch.task()), pair, assignment, now
            )
    if not is_live(entry):
        if kind == "preview":
            return visible_verdicts.VisibleVerdict(
                "slow", gettext(model_answers.TEXTS["slow"]), tries=counted
            )
        _store_try(assignment, pair, response, now=now)
        if batch.loop_model not in prediction_jobs.find_stop_reasons(batch):
            prediction_jobs.enqueue(batch=batch, now=now)
        return visible_verdicts.VisibleVerdict(
            "waiting", gettext(model_answers.TEXTS["waiting"]), tries=(counted or 0) + 1
        )
    requests = model_answers.build_requests(pair, slot=derive_slot(assignment), seq=seq)
    name, purpose = (model, "panel") if model else (batch.loop_model, "loop")
    meter = metering.meter_of(name, project=batch.project_id, batch=batch.pk, purpose=purpose)
    has_budget = bool(batch.model_budget or batch.project.model_budget)
    try:
        payment = metered_models.begin(
            meter, entry, requests, within=live_seconds(entry), has_budget=has_budget
        )
    except (ChatError, PredictionError) as error:
        answer = model_answers._budget_answer(error)
        return visible_verdicts.VisibleVerdict(answer.state, answer.words, tries=counted)
    return Query(
        assignment=assignment,
        asked=pair,
        response=response,
        is_try=kind == "try",
        entry=entry,
        requests=requests,
        counted=counted,
        is_panel=bool(model),
        began=time.monotonic(),
        payment=payment,
    )


def record_answer(
    query: Query, outcome: model_answers.Outcomes, *, now: datetime
) -> visible_verdicts.VisibleVerdict:
    """What came of a question. A try is kept; the model of a batch that has none yet is frozen."""
    query.payment.settle()
    assignment, pair, counted = query.assignment, query.asked, query.counted
    batch, answer = assignment.batch, model_answers.read_outcome(outcome)
    if answer.state != "answered":
        return visible_verdicts.VisibleVerdict(answer.state, answer.words, tries=counted)
    if answer.model and not query.is_panel and not model_checks.freeze_model(batch, answer.model):
        return visible_verdicts.VisibleVerdict(
            "changed", gettext(model_answers.TEXTS["changed"]), tries=counted
        )
    if query.is_try:
        took = int((time.monotonic() - query.began) * 1000)
        row = _store_try(assignment, pair, query.response, answer=answer, milliseconds=took, now=now)
        return _with_daily_count(
            _describe_try(row, pair, model_checks.count_of_person(assignment), batch.task()),
            pair,
            assignment,
            now,
        )
    judged_pair = judgements.judge_pair(pair, answer.original, answer.perturbed, failed=bool(answer.error))
    return visible_verdicts.describe_verdict(
        pair, answer.original, answer.perturbed, judged_pair, answer.error, counted, batch.task()
    )


def check_in_practice(
    *,
    project: Project,
    task: TaskType,
    item: tasks.contract.Item,
    response: Mapping[str, Any],
    slot: str,
    seq: int,
) -> visible_verdicts.VisibleVerdict:
    """The same in practice, by the first model that answers at once. Nothing is kept or frozen, and no check counted."""
    pair = _read_pair(task, item, response)
    name = choose_practice_model()
    if name is None:
        return visible_verdicts.VisibleVerdict("none", gettext("There is no model in the loop here."))
    slot = salted_hmac("annotation.practice", slot, algorithm="sha256").hexdigest()[:16]
    entry = settings.PREDICTORS[name]
    meter = metering.meter_of(name, project=project.pk, batch=None, purpose="practice")
    requests = model_answers.build_requests(pair, slot=slot, seq=seq)
    answer = model_answers.ask(entry, requests, within=live_seconds(entry), meter=meter, is_fresh=False)
    if answer.state != "answered":
        return visible_verdicts.VisibleVerdict(answer.state, answer.words)
    judged_pair = judgements.judge_pair(pair, answer.original, answer.perturbed, failed=bool(answer.error))
    return visible_verdicts.describe_verdict(
        pair, answer.original, answer.perturbed, judged_pair, answer.error, None, task
    )


def describe_practice_loop(task: TaskType) -> dict[str, Any] | None:
    """`model_checks.loop` for practice: a model looks along while somebody works there, too."""
    if not task.predicts:
        return None
    name = choose_practice_model() or ""
    return {
        "model": name,
        "licence": settings.PREDICTORS.get(name, {}).get("licence", ""),
        "when": task.predicts,
        "gateway": "",
        "panel": [],
    }


def choose_practice_model() -> str | None:
    """The model that people practise with: the bundled one where there is one."""
    live = [name for name, entry in settings.PREDICTORS.items() if is_live(entry)]
    return "bundled" if "bundled" in live else next(iter(live), None)


def _with_daily_count(
    seen: visible_verdicts.VisibleVerdict, pair: judgements.ExamplePair, assignment: Assignment, now: datetime
) -> visible_verdicts.VisibleVerdict:
    """A check that verifiably fools the model, with the person's count of the day.

    Without a program that gives the new answer nobody knows yet whether the change keeps its meaning: nonsense would count.
    """
    answers = pair.perturbed.answers if pair.perturbed is not None else ()
    meaning = verdict_line.meaning(answers=answers, computed=pair.computed)
    if seen.verdict != "fooled" or meaning != "program" or assignment.batch.task().predicts != "live":
        return seen
    return replace(seen, fooled_today=model_checks.fooled_today(assignment, now=now))


def _read_pair(
    task: TaskType, item: tasks.contract.Item, response: Mapping[str, Any]
) -> judgements.ExamplePair:
    if len(str(response)) > MOST_BYTES:
        refuse(
            "draft_too_large", "The response is larger than {value} kB. Shorten it.", value=MOST_BYTES // 1024
        )
    if response.get("base", item.base) != item.base:
        refuse("invalid_request", "The response belongs to another table. Reload the item.")
    if reason := unstorable(response):
        refuse(
            "invalid_request",
            "The response contains {reason}, which cannot be saved. Remove it.",
            reason=reason,
        )
    return judgements.example_pair(task, item, response.get("data"))


def derive_slot(assignment: Assignment) -> str:
    """A random-looking name per lease: who reads a model server's log learns neither person nor item from it."""
    value = f"{assignment.pk}:{assignment.leased_at.isoformat()}"
    return salted_hmac("annotation.slot", value, algorithm="sha256").hexdigest()[:16]


def _store_try(
    assignment: Assignment,
    pair: judgements.ExamplePair,
    response: Mapping[str, Any],
    *,
    answer: model_answers.Answer | None = None,
    milliseconds: int | None = None,
    now: datetime,
) -> Try:
    """The row of a try, made or found: two requests that try the same are one try."""
    batch = assignment.batch
    row = Try(
        assignment=assignment,
        kind=Try.Kind.PERSON,
        predictor=batch.loop_model,
        digest=pair.digest,
        asked=pair.keys,
        response=dict(response),
        milliseconds=milliseconds,
        made_at=now,
    )
    if answer is not None:
        answer.write_to(row, revision=batch.loop_revision, now=now)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            model_checks.keep_verdict(
                row, judgements.judge_pair(pair, row.original, row.perturbed, failed=bool(row.error)), now=now
            )
    except IntegrityError:
        row = Try.objects.get(
            assignment=assignment, kind=Try.Kind.PERSON, predictor=batch.loop_model, digest=pair.digest
        )
    return row


def _describe_try(
    row: Try, pair: judgements.ExamplePair, counted: int | None, task: TaskType
) -> visible_verdicts.VisibleVerdict:
    if row.answered_at is None and _was_asked_in_vain(row):
        return visible_verdicts.VisibleVerdict(
            "unavailable",
            f"{gettext(model_answers.TEXTS['no_answer_yet'])} {gettext(model_answers.CONTINUE)}",
            tries=counted,
        )
    if row.answered_at is None:
        return visible_verdicts.VisibleVerdict(
            "waiting", gettext(model_answers.TEXTS["waiting"]), tries=counted
        )
    judged_pair = judgements.judge_pair(pair, row.original, row.perturbed, failed=bool(row.error))
    return visible_verdicts.describe_verdict(
        pair, row.original, row.perturbed, judged_pair, row.error, counted, task
    )


def _was_asked_in_vain(row: Try) -> bool:
    """Whether a job for its batch has begun since this was tried, is over, and has left it open."""
    return Job.objects.filter(
        kind="predictions",
        ids={"batch": row.assignment.batch_id},
        state__in=[Job.State.DONE, Job.State.FAILED],
        made_at__gte=row.made_at,
    ).exists()
