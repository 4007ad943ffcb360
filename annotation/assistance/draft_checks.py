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
from annotation.assistance import judgements, model_answers, model_checks, prediction_jobs
from annotation.assistance.model_answers import State
from annotation.assistance.visible_verdicts import VisibleVerdict, describe_verdict
from annotation.models import Assignment, Job, Project, Try
from annotation.platform.refusals import refuse
from annotation.queue import metered_models, metering
from predictor.chat import ChatError
from predictor.client import PredictionError, connect
from predictor.configuration import is_live, live_seconds
from tableqa.core.foreign_values import unstorable
from tasks.contract import TaskType

MOST_BYTES = 256 * 1024
"""Of a response that is checked, as of a draft."""


@dataclass(frozen=True)
class Query:
    """A question to the model of a batch, ready to be asked by a thread (`check_draft`) or by a coroutine (the gateway)."""

    assignment: Assignment
    pair: judgements.ExamplePair
    response: Mapping[str, Any]
    is_try: bool
    entry: Mapping[str, Any]
    requests: model_answers.Requests
    tries: int | None
    """The tries of the person on this item, None if not counted."""
    is_panel: bool
    """Whether it is for another model than the one in the loop: no revision is frozen, and nothing is stored."""
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
) -> VisibleVerdict:
    """What the batch's model says of a response as it is now: a "preview", or a "try", which is stored and counted.

    A try of what was tried before is the same try. A preview that arrives after its submission is stale. Raises
    ActionRefused: already_submitted, invalid_request, draft_too_large.
    """
    query = prepare(
        assignment=assignment,
        response=response,
        kind=kind,
        seq=seq,
        tries=model_checks.count_of_person(assignment),
        now=now,
        model=model,
    )
    if isinstance(query, VisibleVerdict):
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
    tries: int | None,
    now: datetime,
    model: str = "",
) -> Query | VisibleVerdict:
    """What has to be asked for a check, or its result where nothing has to be asked. Raises ActionRefused as `check_draft`
    does.

    `model` names a model of the panel, which is previewed only; "" is the model in the loop.
    """
    if assignment.state == Assignment.State.SUBMITTED:
        if kind == "preview":
            return _without_answer("stale", tries)
        refuse("already_submitted", "This item is submitted. Undo the submission to check another change.")
    batch = assignment.batch
    pair = _read_pair(batch.task(), assignment.plain_item, response)
    if not batch.loop_model:
        return _without_answer("none", tries)
    if model and (kind == "try" or model not in model_checks.panel(batch)):
        refuse("invalid_request", "{model} is no model of the panel of this batch.", model=model)
    entry = settings.PREDICTORS.get(model or batch.loop_model)
    if entry is None:
        return _without_answer("unavailable", tries, "gone")
    if kind == "try":
        if pair.perturbed is None:
            return _without_answer("nothing", tries)
        earlier_try = Try.objects.filter(**_try_key(assignment, pair)).first()
        if earlier_try is not None:
            judged_pair = judgements.judge_answers(pair, earlier_try)
            model_checks.keep_verdict(
                earlier_try, judged_pair, now=now
            )  # the answer may be another one by now
            return _describe_try(earlier_try, pair, assignment, tries, now)
    if not is_live(entry):
        if kind == "preview":
            return _without_answer("slow", tries)
        _store_try(assignment, pair, response, now=now)
        if batch.loop_model not in prediction_jobs.find_stop_reasons(batch):
            prediction_jobs.enqueue(batch=batch, now=now)
        return _without_answer("waiting", (tries or 0) + 1)
    requests = model_answers.build_requests(pair, slot=derive_slot(assignment), seq=seq)
    name, purpose = (model, "panel") if model else (batch.loop_model, "loop")
    has_budget = bool(batch.model_budget or batch.project.model_budget)
    try:
        payment = metered_models.begin(
            model_answers.create_meter(batch, name, purpose),
            entry,
            requests,
            within=live_seconds(entry),
            has_budget=has_budget,
        )
    except (ChatError, PredictionError) as error:
        answer = model_answers.read_outcome(error)
        return VisibleVerdict(answer.state, answer.words, tries=tries)
    return Query(
        assignment=assignment,
        pair=pair,
        response=response,
        is_try=kind == "try",
        entry=entry,
        requests=requests,
        tries=tries,
        is_panel=bool(model),
        began=time.monotonic(),
        payment=payment,
    )


def record_answer(query: Query, outcome: model_answers.Outcomes, *, now: datetime) -> VisibleVerdict:
    """The result of a question. A try is stored; the model of a batch that has none yet is frozen."""
    query.payment.settle()
    assignment, pair = query.assignment, query.pair
    batch, answer = assignment.batch, model_answers.read_outcome(outcome)
    if answer.state != "answered":
        return VisibleVerdict(answer.state, answer.words, tries=query.tries)
    if answer.model and not query.is_panel and not model_checks.freeze_model(batch, answer.model):
        return _without_answer("changed", query.tries)
    if not query.is_try:
        return describe_verdict(pair, answer, batch.task(), query.tries)
    milliseconds = int((time.monotonic() - query.began) * 1000)
    row = _store_try(assignment, pair, query.response, answer=answer, milliseconds=milliseconds, now=now)
    return _describe_try(row, pair, assignment, model_checks.count_of_person(assignment), now)


def check_in_practice(
    *,
    project: Project,
    task: TaskType,
    item: tasks.contract.Item,
    response: Mapping[str, Any],
    slot: str,
    seq: int,
) -> VisibleVerdict:
    """The same in practice, by the first model that answers at once. Nothing is stored, frozen or counted."""
    pair = _read_pair(task, item, response)
    name = choose_practice_model()
    if name is None:
        return VisibleVerdict("none", gettext("There is no model in the loop here."))
    slot = salted_hmac("annotation.practice", slot, algorithm="sha256").hexdigest()[:16]
    entry = settings.PREDICTORS[name]
    answer = model_answers.ask(
        entry,
        model_answers.build_requests(pair, slot=slot, seq=seq),
        within=live_seconds(entry),
        meter=metering.meter_of(name, project=project.pk, batch=None, purpose="practice"),
        is_fresh=False,
    )
    if answer.state != "answered":
        return VisibleVerdict(answer.state, answer.words)
    return describe_verdict(pair, answer, task, None)


def describe_practice_loop(task: TaskType) -> dict[str, Any] | None:
    """`model_checks.loop_description` for practice, where a model answers, too."""
    return model_checks.describe_loop(task, choose_practice_model() or "")


def choose_practice_model() -> str | None:
    """The model that people practise with: the bundled one where there is one."""
    live = [name for name, entry in settings.PREDICTORS.items() if is_live(entry)]
    return "bundled" if "bundled" in live else next(iter(live), None)


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


def _without_answer(state: State, tries: int | None, text: str = "") -> VisibleVerdict:
    """A state without an answer, with its text."""
    return VisibleVerdict(state, gettext(model_answers.TEXTS[text or state]), tries=tries)


def _try_key(assignment: Assignment, pair: judgements.ExamplePair) -> dict[str, Any]:
    """What no two tries share: two requests that try the same are one try."""
    return {
        "assignment": assignment,
        "kind": Try.Kind.PERSON,
        "predictor": assignment.batch.loop_model,
        "digest": pair.digest,
    }


def _store_try(
    assignment: Assignment,
    pair: judgements.ExamplePair,
    response: Mapping[str, Any],
    *,
    answer: model_answers.Answer | None = None,
    milliseconds: int | None = None,
    now: datetime,
) -> Try:
    """Store a try. Returns the earlier one where another request has stored it meanwhile."""
    key = _try_key(assignment, pair)
    answered = answer.try_fields(revision=assignment.batch.loop_revision, now=now) if answer else {}
    row = Try(
        **key, **answered, asked=pair.keys, response=dict(response), milliseconds=milliseconds, made_at=now
    )
    try:
        with transaction.atomic():
            row.save(force_insert=True)
            model_checks.keep_verdict(row, judgements.judge_answers(pair, row), now=now)
    except IntegrityError:
        row = Try.objects.get(**key)
    return row


def _describe_try(
    row: Try, pair: judgements.ExamplePair, assignment: Assignment, tries: int | None, now: datetime
) -> VisibleVerdict:
    """The result of a try; where it verifiably fools the model, with the person's count of the day.

    Without a program that gives the new answer is not known yet whether the change keeps its meaning: nonsense would count.
    """
    if row.answered_at is None:
        if _was_asked_in_vain(row):
            answer = model_answers.without_answer(
                "unavailable", gettext(model_answers.TEXTS["no_answer_yet"])
            )
            return VisibleVerdict(answer.state, answer.words, tries=tries)
        return _without_answer("waiting", tries)
    visible_verdict = describe_verdict(pair, row, assignment.batch.task(), tries)
    if visible_verdict.verdict != "fooled" or not visible_verdict.is_verified:
        return visible_verdict
    return replace(visible_verdict, fooled_today=model_checks.fooled_today(assignment, now=now))


def _was_asked_in_vain(row: Try) -> bool:
    """Whether a job for its batch has begun since this was tried, is over, and has left it open."""
    return Job.objects.filter(
        kind="predictions",
        ids={"batch": row.assignment.batch_id},
        state__in=[Job.State.DONE, Job.State.FAILED],
        made_at__gte=row.made_at,
    ).exists()
