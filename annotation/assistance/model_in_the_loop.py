"""The model in the loop: what it answers while somebody works, and what is looked at again afterwards.

Nothing ever waits for it. A *preview* follows the keys and is not kept; a *try* is somebody's Enter or Check, kept and
counted; a submission calls no model (`model_checks.record_submission`). A model that needs longer than
a page waits, and whatever was open when something was submitted, is asked by a job, which also takes verdicts again when
a gold answer has changed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, gettext_noop

import tableqa
import tasks.contract
from annotation.access import audit_log
from annotation.assistance import judgements, model_checks, verdict_line
from annotation.background import jobs
from annotation.models import Assignment, Batch, Decision, Event, Item, Job, Outcome, Person, Project, Try
from annotation.platform.refusals import refuse
from annotation.queue import metered_models, metering
from annotation.queue.parallel_requests import Crew
from predictor.chat import ChatError, ChatModel, chat_model
from predictor.client import PATIENT, PredictionError, connect, questions_at_once
from predictor.configuration import STOP_AFTER, is_live, live_seconds
from predictor.listing import AnswerList, ask_for_list, breaker_of
from predictor.protocol import Options, Prediction, PredictRequest
from tableqa.core.foreign_values import unstorable
from tableqa.core.translation import Message, message, translate_stored
from tableqa.data.answers import alternatives_of, in_words
from tableqa.scoring import verdicts
from tasks.contract import Answering, ModelInTheLoop, TaskType

State = Literal["answered", "waiting", "busy", "stale", "changed", "unavailable", "slow", "nothing", "none"]

SHOWN = Options(topk=3)
"""A model's best answers that the details show, where it offers several."""
MOST_BYTES = 256 * 1024
"""Of a response that is looked at, as of a draft."""
AGAIN = timedelta(seconds=60)
"""Between two jobs that ask about the same batch."""
LONGEST_PAUSE = timedelta(minutes=15)
"""The same where a model keeps giving no answer."""
MOST_SILENT = 3
"""Questions that a model may leave without an answer before a job leaves the rest of them for later."""

WORDS: Mapping[str, str] = {
    "none": gettext_noop("This batch has no model in the loop."),
    "nothing": gettext_noop("There is no change to check yet."),
    "right_so_far": gettext_noop("The model answers the original correctly. Does it survive your change?"),
    "waiting": gettext_noop("Waiting for the model. You can continue; its answer will appear here."),
    "stale": gettext_noop("The result shown is from an earlier state."),
    "slow": gettext_noop("This model is slow. It only answers when you ask it."),
    "changed": gettext_noop(
        "The model has changed since this batch opened, so there is no verdict. You can continue and submit."
    ),
    "left_alone": gettext_noop("The model does not respond. It will be asked again later."),
    "no_answer_yet": gettext_noop("The model has not responded so far. It is asked again from time to time."),
    "gone": gettext_noop(
        "The model of this batch is not configured at the moment. You can continue and submit."
    ),
}
ON_YOU_GO = gettext_noop("You can continue and submit.")


@dataclass(frozen=True)
class ModelAnswerView:
    """What a model says of one example: answers, how sure it is, where it looked, how much of the table it saw.

    `expected` holds the gold answers, () where there are none; `confidence` is the score as a word.
    `next_best`: other answers with their scores, the likeliest first.
    """

    answers: tuple[str, ...]
    expected: tuple[str, ...]
    score: float | None
    cells: tuple[tuple[str, str], ...]
    rows_seen: int
    rows_total: int
    right: bool | None
    next_best: tuple[tuple[tuple[str, ...], float], ...] = ()

    @property
    def next_best_in_words(self) -> str:
        """The next best answers and how far the first is ahead, in the reader's language; "" for a model without."""
        return verdict_line.next_best(self.score, self.next_best)

    @property
    def confidence(self) -> str:
        """How sure the model is, as a word in the reader's language."""
        return verdict_line.confidence(self.score)

    def to_dict(self) -> dict[str, Any]:
        return {
            "answers": list(self.answers),
            "expected": list(self.expected),
            "score": self.score,
            "confidence": self.confidence,
            "cells": [list(cell) for cell in self.cells],
            "rows_seen": self.rows_seen,
            "rows_total": self.rows_total,
            "right": self.right,
            "next_best": self.next_best_in_words,
        }


@dataclass(frozen=True)
class VisibleVerdict:
    """What the page learns of a look: a state with a sentence, both answers and a verdict where there are any.

    `forms`: for `unsure`, the form of the model's answer and of the given one that were compared. `tries` counts
    what the person has tried on this item, None where nothing is counted. `line` is the verdict in one line
    (`verdict_line.parts`), `meaning` whether anybody has confirmed the answer to the changed example, in words.
    `fooled_today`: for a check that fools the model with an answer that the program confirms, how many items of the task
    type the person has fooled it on today.
    """

    state: State
    words: str
    original: ModelAnswerView | None = None
    perturbed: ModelAnswerView | None = None
    verdict: str | None = None
    forms: tuple[str, str] | None = None
    tries: int | None = None
    line: tuple[verdict_line.Part, ...] = ()
    meaning: str = ""
    fooled_today: int | None = None

    @property
    def is_verified(self) -> bool:
        """Whether the program confirms the answer to the changed example."""
        return any(kind == "verified" for kind, _ in self.line)

    @property
    def expected(self) -> tuple[str, ...]:
        """The gold answers to the example that the model has answered last."""
        newest = self.perturbed or self.original
        return newest.expected if newest is not None else ()

    def to_dict(self, seq: int) -> dict[str, Any]:
        return {
            "seq": seq,
            "state": self.state,
            "words": self.words,
            "original": self.original.to_dict() if self.original else None,
            "perturbed": self.perturbed.to_dict() if self.perturbed else None,
            "verdict": self.verdict,
            "forms": list(self.forms) if self.forms else None,
            "tries": self.tries,
            "line": [list(part) for part in self.line],
            "meaning": self.meaning,
            "fooled_today": self.fooled_today,
        }


# -- while somebody works ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Query:
    """A question to the model of a batch, ready to be asked by a thread (`check_draft`) or by a coroutine (the gateway)."""

    assignment: Assignment
    asked: judgements.ExamplePair
    response: Mapping[str, Any]
    is_try: bool
    entry: Mapping[str, Any]
    requests: Requests
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
) -> VisibleVerdict:
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
    if isinstance(query, VisibleVerdict):
        return query
    try:
        outcome: Outcomes = connect(query.entry).predict_both(
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
) -> Query | VisibleVerdict:
    """What has to be asked for a look, or what is seen without asking. Raises Refused as `check_draft` does.

    `model` names a model of the panel, which is previewed only; "" is the model in the loop.
    """
    if assignment.state == Assignment.State.SUBMITTED:
        if kind == "preview":
            return VisibleVerdict("stale", gettext(WORDS["stale"]), tries=counted)
        refuse("already_submitted", "This item is submitted. Undo the submission to check another change.")
    batch, item = assignment.batch, assignment.plain_item
    pair = _example_pair(batch.task(), item, response)
    if not batch.loop_model:
        return VisibleVerdict("none", gettext(WORDS["none"]), tries=counted)
    if model and (kind == "try" or model not in model_checks.panel(batch)):
        refuse("invalid_request", "{model} is no model of the panel of this batch.", model=model)
    entry = settings.PREDICTORS.get(model or batch.loop_model)
    if entry is None:
        return VisibleVerdict("unavailable", gettext(WORDS["gone"]), tries=counted)
    if kind == "try" and pair.perturbed is None:
        return VisibleVerdict("nothing", gettext(WORDS["nothing"]), tries=counted)
    if kind == "try":
        earlier_try = Try.objects.filter(
            assignment=assignment, kind=Try.Kind.PERSON, predictor=batch.loop_model, digest=pair.digest
        ).first()
        if earlier_try is not None:
            judged = judgements.judge_pair(
                pair, earlier_try.original, earlier_try.perturbed, failed=bool(earlier_try.error)
            )
            model_checks.keep_verdict(earlier_try, judged, now=now)  # the answer may be another one by now
            return _with_daily_count(_of_row(earlier_try, pair, counted, batch.task()), pair, assignment, now)
    if not is_live(entry):
        if kind == "preview":
            return VisibleVerdict("slow", gettext(WORDS["slow"]), tries=counted)
        _store_try(assignment, pair, response, now=now)
        if batch.loop_model not in stopped(batch):
            start(batch=batch, now=now)
        return VisibleVerdict("waiting", gettext(WORDS["waiting"]), tries=(counted or 0) + 1)
    requests = _requests(pair, slot=slot_of(assignment), seq=seq)
    name, purpose = (model, "panel") if model else (batch.loop_model, "loop")
    meter = metering.meter_of(name, project=batch.project_id, batch=batch.pk, purpose=purpose)
    has_budget = bool(batch.model_budget or batch.project.model_budget)
    try:
        payment = metered_models.begin(
            meter, entry, requests, within=live_seconds(entry), has_budget=has_budget
        )
    except (ChatError, PredictionError) as error:
        answer = _budget_answer(error)
        return VisibleVerdict(answer.state, answer.words, tries=counted)
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


def record_answer(query: Query, outcome: Outcomes, *, now: datetime) -> VisibleVerdict:
    """What came of a question. A try is kept; the model of a batch that has none yet is frozen."""
    query.payment.settle()
    assignment, pair, counted = query.assignment, query.asked, query.counted
    batch, answer = assignment.batch, _answer_of(outcome)
    if answer.state != "answered":
        return VisibleVerdict(answer.state, answer.words, tries=counted)
    if answer.model and not query.is_panel and not freeze(batch, answer.model):
        return VisibleVerdict("changed", gettext(WORDS["changed"]), tries=counted)
    if query.is_try:
        took = int((time.monotonic() - query.began) * 1000)
        row = _store_try(assignment, pair, query.response, answer=answer, milliseconds=took, now=now)
        return _with_daily_count(
            _of_row(row, pair, model_checks.count_of_person(assignment), batch.task()), pair, assignment, now
        )
    judged_pair = judgements.judge_pair(pair, answer.original, answer.perturbed, failed=bool(answer.error))
    return _visible_verdict(
        pair, answer.original, answer.perturbed, judged_pair, answer.error, counted, batch.task()
    )


def _with_daily_count(
    seen: VisibleVerdict, pair: judgements.ExamplePair, assignment: Assignment, now: datetime
) -> VisibleVerdict:
    """A check that verifiably fools the model, with the person's count of the day.

    Without a program that gives the new answer nobody knows yet whether the change keeps its meaning: nonsense would count.
    """
    answers = pair.perturbed.answers if pair.perturbed is not None else ()
    meaning = verdict_line.meaning(answers=answers, computed=pair.computed)
    if seen.verdict != "fooled" or meaning != "program" or assignment.batch.task().predicts != "live":
        return seen
    return replace(seen, fooled_today=model_checks.fooled_today(assignment, now=now))


def check_in_practice(
    *,
    project: Project,
    task: TaskType,
    item: tasks.contract.Item,
    response: Mapping[str, Any],
    slot: str,
    seq: int,
) -> VisibleVerdict:
    """The same in practice, by the first model that answers at once. Nothing is kept or frozen, and no check counted."""
    pair = _example_pair(task, item, response)
    name = practice_model()
    if name is None:
        return VisibleVerdict("none", gettext("There is no model in the loop here."))
    slot = salted_hmac("annotation.practice", slot, algorithm="sha256").hexdigest()[:16]
    entry = settings.PREDICTORS[name]
    meter = metering.meter_of(name, project=project.pk, batch=None, purpose="practice")
    requests = _requests(pair, slot=slot, seq=seq)
    answer = _ask(entry, requests, within=live_seconds(entry), meter=meter, is_fresh=False)
    if answer.state != "answered":
        return VisibleVerdict(answer.state, answer.words)
    judged_pair = judgements.judge_pair(pair, answer.original, answer.perturbed, failed=bool(answer.error))
    return _visible_verdict(pair, answer.original, answer.perturbed, judged_pair, answer.error, None, task)


def practice_loop(task: TaskType) -> dict[str, Any] | None:
    """`model_checks.loop_description` for practice: a model looks along while somebody works there, too."""
    if not task.predicts:
        return None
    name = practice_model() or ""
    return {
        "model": name,
        "licence": settings.PREDICTORS.get(name, {}).get("licence", ""),
        "when": task.predicts,
        "gateway": "",
        "panel": [],
    }


def practice_model() -> str | None:
    """The model that people practise with: the bundled one where there is one."""
    live = [name for name, entry in settings.PREDICTORS.items() if is_live(entry)]
    return "bundled" if "bundled" in live else next(iter(live), None)


def freeze(batch: Batch, model: str) -> bool:
    """Whether this is the model, weights and all, that the batch has frozen. The first one that is seen is frozen."""
    if not batch.loop_revision:
        Batch.objects.filter(pk=batch.pk, loop_revision="").update(loop_revision=model)
        batch.refresh_from_db(fields=["loop_revision"])
    return batch.loop_revision == model


def _example_pair(
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


def slot_of(assignment: Assignment) -> str:
    """A random-looking name per lease: who reads a model server's log learns neither person nor item from it."""
    value = f"{assignment.pk}:{assignment.leased_at.isoformat()}"
    return salted_hmac("annotation.slot", value, algorithm="sha256").hexdigest()[:16]


# -- asking -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """Raw answers on both examples, or the state and words to show instead; `error`: the model cannot read them.

    `reason` says why there is no answer, `is_final` that no request can succeed until somebody changes a setting: a budget
    is used up, or the endpoint rejects parameters. `reply_state`: why the reply of a language model is unusable
    (`queue.reply_states`); "" where it is usable, and for other models.
    """

    state: State
    words: str = ""
    model: str = ""
    original: dict[str, Any] | None = None
    perturbed: dict[str, Any] | None = None
    error: str = ""
    reason: str = ""
    is_final: bool = False
    reply_state: str = ""


UNREAD: Mapping[str, Message] = {
    "original": message(
        "predicting.unread_original",
        "The model did not return a list of answers for the original after {times} requests.",
    ),
    "perturbed": message(
        "predicting.unread_perturbed",
        "The model did not return a list of answers for the changed example after {times} requests.",
    ),
}
"""What is said of a language model that talks and does not answer."""
NO_LIST = message("predicting.no_list", "The reply holds no list of answers.")
"""The same of one that was asked once, by its predictor."""
REJECTED = message("predicting.rejected", "The model's endpoint rejects the question: {error}")
LONGEST_ERROR = 400
NOT_UNTIL_CHANGED = ("budget", "parameters")
"""States of requests to a language model after which no request succeeds until somebody changes a setting."""

STATE_OF: Mapping[str, State] = {
    "busy": "busy",
    "late": "unavailable",
    "gone": "unavailable",
    "wrong": "unavailable",
    "superseded": "stale",
    "replaced": "unavailable",
}

Requests = tuple[PredictRequest, PredictRequest | None]
Outcomes = tuple[Prediction, Prediction | None] | PredictionError


def _requests(pair: judgements.ExamplePair, *, slot: str = "", seq: int = 0) -> Requests:
    """The questions about the original and about what was made of it.

    The original is asked about beside each perturbed example: neither is to take the other's turn.
    """
    original, perturbed = (
        None
        if example is None
        else PredictRequest.about(
            example, options=SHOWN, **({"slot": f"{slot}.{name}", "seq": seq} if slot else {})
        )
        for name, example in (("o", pair.original), ("p", pair.perturbed))
    )
    assert original is not None  # nosec
    return original, perturbed


def _answer_of(outcome: Outcomes) -> Answer:
    """What came of a question, in the language of this thread."""
    if isinstance(outcome, PredictionError):
        if outcome.kind == "too_large":
            return Answer("answered", model="", error=str(outcome)[:LONGEST_ERROR], reply_state=outcome.state)
        if outcome.kind == "superseded":
            return Answer("stale", gettext(WORDS["stale"]))
        words = f"{outcome} {gettext(ON_YOU_GO)}"
        is_final = outcome.state in NOT_UNTIL_CHANGED
        return Answer(STATE_OF[outcome.kind], words, reason=str(outcome), is_final=is_final)
    original, perturbed = outcome
    reply_state = original.state or (perturbed.state if perturbed is not None else "")
    return Answer(
        "answered",
        model=original.model,
        original=model_checks.stored_prediction(original),
        perturbed=model_checks.stored_prediction(perturbed) if perturbed is not None else None,
        error=NO_LIST if reply_state else "",
        reply_state=reply_state,
    )


def _ask(
    entry: Mapping[str, Any],
    requests: Requests,
    *,
    within: float,
    meter: metering.ProjectMeter,
    is_fresh: bool = True,
) -> Answer:
    """Ask a model about both examples, in `within` seconds; where it is to be fresh, of the original alone not from what
    the client remembers, which may be of earlier weights.
    """
    try:
        payment = metered_models.begin(meter, entry, requests, within=within)
    except (ChatError, PredictionError) as error:
        return _budget_answer(error)
    original, perturbed = requests
    try:
        if perturbed is None and is_fresh:
            return _answer_of((connect(entry).predict(original, within=within, bills=payment.bills), None))
        return _answer_of(connect(entry).predict_both(*requests, within=within, bills=payment.bills))
    except PredictionError as unanswered:
        return _answer_of(unanswered)
    finally:
        payment.settle()


def _budget_answer(error: ChatError | PredictionError) -> Answer:
    """What is said where a budget has no room for a question, or nobody could find out what it may use."""
    if isinstance(error, PredictionError):
        return _answer_of(error)
    return Answer("unavailable", f"{error} {gettext(ON_YOU_GO)}", reason=str(error), is_final=True)


def _ask_chat(name: str, pair: judgements.ExamplePair, model: ChatModel) -> Answer:
    """The same of a language model, which has no weights to name: its name stands for them.

    An endpoint that gave no answer is left alone for a while. A reply without a list of answers is asked for again a few
    times (`predictor.listing`), then the model has failed on the example; so it has where the endpoint refuses it.
    """
    entry = settings.PREDICTORS[name]
    breaker, named = breaker_of(entry), f"{name}:{model.model}"
    if not breaker.lets_through():
        rests = gettext(WORDS["left_alone"])
        return Answer("unavailable", f"{rests} {gettext(ON_YOU_GO)}", reason=rests)
    raw_answers: dict[str, dict[str, Any]] = {}
    error_said = reply_state = ""
    try:
        for part, example in (("original", pair.original), ("perturbed", pair.perturbed)):
            if example is None:
                continue
            listed = ask_for_list(model, example)
            raw_answers[part] = listed.raw()
            if listed.answers is None:  # there will be no verdict: the other example would only cost
                error_said, reply_state = _why_unread(listed, part), listed.state
                break
    except ChatError as error:
        is_final = error.kind in NOT_UNTIL_CHANGED
        if is_final:
            breaker.forget()  # nothing is wrong with the endpoint: other projects may ask it
        else:
            breaker.report(error.is_about_example)
        if not error.is_about_example:
            words = f"{error} {gettext(ON_YOU_GO)}"
            return Answer("unavailable", words, reason=str(error), is_final=is_final)
        return Answer("answered", model=named, error=str(error)[:LONGEST_ERROR], reply_state=error.kind)
    except BaseException:
        breaker.report(False)  # the one call that a pause lets through has ended, however it did
        raise
    breaker.report(True)
    return Answer(
        "answered",
        "",
        named,
        raw_answers.get("original"),
        raw_answers.get("perturbed"),
        error=error_said,
        reply_state=reply_state,
    )


def _why_unread(listed: AnswerList, part: str) -> str:
    if listed.state == "refused":
        return REJECTED.format(error=listed.reason[:LONGEST_ERROR])
    return listed.reason[:LONGEST_ERROR] or UNREAD[part].format(times=len(listed.unread))


def answer_patiently(name: str, pair: judgements.ExamplePair, meter: metering.ProjectMeter) -> Answer:
    """A model of either protocol, with all the time that a job gives it."""
    entry = settings.PREDICTORS[name]
    if entry["protocol"] == "chat":
        return _ask_chat(name, pair, replace(chat_model(settings.PREDICTORS, name), meter=meter))
    within = max(PATIENT, entry.get("deadline_ms", 0) / 1000)
    return _ask(entry, _requests(pair), within=within, meter=meter)


# -- keeping ----------------------------------------------------------------------------------------


def _store_try(
    assignment: Assignment,
    pair: judgements.ExamplePair,
    response: Mapping[str, Any],
    *,
    answer: Answer | None = None,
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
        _set_answer(row, answer, batch.loop_revision, now)
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


def _set_answer(row: Try, answer: Answer, revision: str, now: datetime) -> None:
    row.model, row.error, row.answered_at = answer.model or revision, answer.error, now
    row.original, row.perturbed = answer.original, answer.perturbed


def _of_row(row: Try, pair: judgements.ExamplePair, counted: int | None, task: TaskType) -> VisibleVerdict:
    if row.answered_at is None and _was_asked_in_vain(row):
        return VisibleVerdict(
            "unavailable", f"{gettext(WORDS['no_answer_yet'])} {gettext(ON_YOU_GO)}", tries=counted
        )
    if row.answered_at is None:
        return VisibleVerdict("waiting", gettext(WORDS["waiting"]), tries=counted)
    judged_pair = judgements.judge_pair(pair, row.original, row.perturbed, failed=bool(row.error))
    return _visible_verdict(pair, row.original, row.perturbed, judged_pair, row.error, counted, task)


def _was_asked_in_vain(row: Try) -> bool:
    """Whether a job for its batch has begun since this was tried, is over, and has left it open."""
    return Job.objects.filter(
        kind="predictions",
        ids={"batch": row.assignment.batch_id},
        state__in=[Job.State.DONE, Job.State.FAILED],
        made_at__gte=row.made_at,
    ).exists()


def _visible_verdict(
    pair: judgements.ExamplePair,
    original: Mapping[str, Any] | None,
    perturbed: Mapping[str, Any] | None,
    judged_pair: judgements.JudgedPair,
    error: str,
    counted: int | None,
    task: TaskType,
) -> VisibleVerdict:
    judged = judged_pair.judgements["perturbed"]
    nothing_yet = pair.perturbed is None and not error
    newest = perturbed or original
    of_meaning = ""
    if task.predicts == "live":
        of_meaning = verdict_line.meaning(
            answers=verdicts.gold_of(judged_pair.gold, "perturbed"), computed=pair.computed
        )
    line = verdict_line.parts(
        judged_pair,
        original=original["answers"] if original else (),
        perturbed=perturbed["answers"] if perturbed else None,
        score=newest["score"] if newest else None,
        of_meaning=of_meaning,
        own=_own_words(task),
    )
    return VisibleVerdict(
        state="answered",
        words=translate_stored(error)
        or (
            _verdict_on_original(judged_pair)
            if nothing_yet
            else gettext(_own_words(task).get(judged_pair.verdict, judged_pair.words))
        ),
        # A model that cannot read the example, or be read, has said nothing that is right or wrong.
        original=_answer_view(
            original, pair.original, None if error else judged_pair.judgements["original"], judged_pair.gold
        ),
        perturbed=_answer_view(
            perturbed, pair.perturbed, None if error else judged, judged_pair.gold, "perturbed"
        ),
        verdict=None if nothing_yet else judged_pair.verdict,
        forms=judged.forms if judged is not None and judged_pair.verdict == "unsure" else None,
        tries=counted,
        line=tuple(line),
        meaning=gettext(verdict_line.MEANING[of_meaning]) if of_meaning and perturbed else "",
    )


def _own_words(task: TaskType) -> Mapping[str, str]:
    return task.verdict_words if isinstance(task, ModelInTheLoop) else {}


def _verdict_on_original(judged_pair: judgements.JudgedPair) -> str:
    """What is said of the original alone, before anything is tried."""
    judgement = judged_pair.judgements["original"]
    if judgement is None:
        return "" if judged_pair.gold["original"] else judged_pair.words
    return gettext(WORDS["right_so_far"]) if judgement.right else gettext(verdicts.WORDS["wrong_on_original"])


def _answer_view(
    raw_answer: Mapping[str, Any] | None,
    example: tableqa.Example | None,
    judged: verdicts.Judgement | None,
    gold: Mapping[str, Any],
    name: str = "original",
) -> ModelAnswerView | None:
    if raw_answer is None or example is None:
        return None
    expected = verdicts.gold_of(gold, name)
    rows, columns = example.table.row_ids, example.table.column_ids
    return ModelAnswerView(
        answers=tuple(raw_answer["answers"]),
        expected=(in_words(expected),) if alternatives_of(expected) else expected,
        score=raw_answer["score"],
        cells=tuple((rows[row], columns[column]) for row, column in raw_answer["cells"]),
        rows_seen=raw_answer["rows_seen"],
        rows_total=raw_answer["rows_total"],
        right=judged.right if judged is not None else None,
        next_best=tuple(
            (tuple(candidate["answers"]), candidate["score"]) for candidate in raw_answer.get("topk", ())
        ),
    )


# -- afterwards -------------------------------------------------------------------------------------


def start(*, batch: Batch, now: datetime, by: Person | None = None) -> Job | None:
    """Have what is open in a batch asked in the background; None where a job is on it already."""
    return jobs.enqueue_once(batch=batch, kind="predictions", by=by, now=now)


def start_panel(*, batch: Batch, predictor: str, by: Person | None, now: datetime) -> Job | None:
    """Have another model look at everything that was submitted, so that one sees what fools only the model in the loop.

    Rows that it has looked at already stay. Raises Refused(invalid_request).
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
    return start(batch=batch, now=now, by=by)


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
        # A job of a time to come is of before the clock was set back: nobody waits until it is that late again.
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
            started += start(batch=batch, now=now) is not None
    return started


def stopped(batch: Batch, *, before: Job | None = None) -> dict[str, str]:
    """The predictors that the batch's last finished job (or the one before `before`) stopped asking, and why.

    A manager starts them again, with a job of their own.
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
    _freeze_now(batch)
    left_alone = {} if job.made_by_id else stopped(batch, before=job)
    filled = fill_all(batch=batch, now=timezone.now(), progress=progress, but=left_alone)
    result: dict[str, Any] = {"asked": filled.asked, "left": filled.left}
    earlier = Job.objects.filter(kind="predictions", ids=job.ids, state=Job.State.DONE, pk__lt=job.pk)
    before = earlier.order_by("-pk").values_list("result__log", flat=True).first()
    result["log"] = audit_log.settled(batch.project_id, before)
    after = before["through"] if before else 0
    result["verdicts"] = recheck(batch=batch, now=timezone.now(), after=after)
    reasons = {"stopped": left_alone | dict(filled.stopped), "refused": dict(filled.refused)}
    return result | {name: value for name, value in reasons.items() if value}


def _freeze_now(batch: Batch) -> None:
    entry = settings.PREDICTORS.get(batch.loop_model)
    if batch.loop_revision or entry is None:
        return
    try:
        freeze(batch, identity(batch.loop_model))
    except PredictionError:
        return  # the first answer freezes it


def identity(name: str) -> str:
    """A configured model by name and hash of its weights, as its server says now; a language model by its name.

    Raises PredictionError.
    """
    entry = settings.PREDICTORS[name]
    if entry["protocol"] == "chat":
        return f"{name}:{entry['model']}"
    return connect(entry).identity(within=PATIENT)


def fill_all(
    *,
    batch: Batch,
    now: datetime,
    progress: Callable[[int, int], None] = lambda done, total: None,
    but: Collection[str] = (),
) -> AnswerCounts:
    """Ask the models for the answers that are still open. Those in `but` are not asked.

    A model that does not answer, or that was exchanged since, leaves its rows open. What somebody waits for comes first;
    among equals the order is drawn each time, so that a few examples on which a model fails hold up no others for ever.
    """
    rows = Try.objects.filter(assignment__batch=batch, answered_at__isnull=True)
    waiting = list(rows.order_by("pk").values_list("pk", "kind", "predictor"))
    random.shuffle(waiting)
    waiting.sort(key=lambda row: row[1] != Try.Kind.PERSON)
    by_predictor: dict[str, list[int]] = {}
    for key, _, predictor in waiting:
        by_predictor.setdefault(predictor, []).append(key)
    filling, completed_count = AnswerRun(batch, now), 0
    for predictor, keys in by_predictor.items():
        if predictor in but:
            continue
        for _ in filling.answers(predictor, keys):
            completed_count += 1
            progress(completed_count, len(waiting))
    return AnswerCounts(filling.done, len(waiting) - filling.done, filling.stopped, filling.refused)


@dataclass(frozen=True)
class AnswerCounts:
    """How many questions were answered, how many are left, and why a predictor was not asked any more.

    stopped    after too many unusable replies in a row: not asked again until a manager wants it
    refused    no request can succeed until somebody changes a setting: a budget, a parameter
    """

    asked: int
    left: int
    stopped: Mapping[str, str]
    refused: Mapping[str, str]


@dataclass
class AnswerRun:
    """The questions of one job, predictor by predictor; those to a chat model in parallel (`parallel` of its entry).

    A predictor is left alone after `MOST_SILENT` questions without an answer, after `stop_after` unusable replies in a
    row (`stopped`), and after an answer that says that no other can succeed (`refused`).
    """

    batch: Batch
    now: datetime
    done: int = 0
    stopped: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    silent: int = 0
    unusable: int = 0
    reason: str = ""

    def answers(self, predictor: str, keys: Sequence[int]) -> Iterator[bool]:
        """Whether each question was answered."""
        entry = settings.PREDICTORS.get(predictor)
        if entry is None:
            yield from (False for _ in keys)
            return
        crew = crew_of(predictor)
        self.silent, self.unusable, self.reason = 0, 0, ""
        begun = 0
        for row, pair, answer, seconds in crew.map(
            lambda question: self._ask(*question), self._questions(predictor, keys, crew)
        ):
            begun += 1
            is_stored = answer is None or self._keep(row, pair, answer, seconds)
            self.done += is_stored
            self.silent += not is_stored
            if answer is not None and answer.is_final:
                self.refused[predictor] = answer.reason
            if answer is not None and is_stored:
                self.unusable = self.unusable + 1 if answer.reply_state else 0
                self.reason = answer.error or self.reason
            if self.unusable >= entry.get("stop_after", STOP_AFTER):
                self.stopped[predictor] = self.reason
            yield is_stored
        yield from (False for _ in range(len(keys) - begun))

    def _questions(
        self, predictor: str, keys: Sequence[int], crew: Crew
    ) -> Iterator[tuple[Try, judgements.ExamplePair, metering.ProjectMeter]]:
        for key in keys:
            if self.silent >= MOST_SILENT or predictor in self.stopped or predictor in self.refused:
                return
            row = _loaded(key)
            pair = judgements.example_pair(
                self.batch.task(), row.assignment.plain_item, row.response.get("data")
            )
            purpose = "panel" if row.kind == Try.Kind.PANEL else "loop"
            yield row, pair, _meter(self.batch, predictor, purpose, crew)

    def _ask(
        self, row: Try, pair: judgements.ExamplePair, meter: metering.ProjectMeter
    ) -> tuple[Try, judgements.ExamplePair, Answer | None, float]:
        """The answer, None where somebody else has it meanwhile. Runs in a thread, without the database."""
        if row.answered_at is not None:
            return row, pair, None, 0.0
        began = time.monotonic()
        return row, pair, answer_patiently(row.predictor, pair, meter), time.monotonic() - began

    def _keep(self, row: Try, pair: judgements.ExamplePair, answer: Answer, seconds: float) -> bool:
        if answer.state != "answered":
            return False
        batch, now = self.batch, self.now
        in_loop = row.predictor == batch.loop_model and row.kind != Try.Kind.PANEL
        if in_loop and answer.model and not freeze(batch, answer.model):
            return False
        _set_answer(row, answer, batch.loop_revision if in_loop else row.predictor, now)
        row.milliseconds = int(seconds * 1000)
        with transaction.atomic():
            won = Try.objects.filter(pk=row.pk, answered_at__isnull=True).update(
                model=row.model,
                error=row.error,
                answered_at=row.answered_at,
                original=row.original,
                perturbed=row.perturbed,
                milliseconds=row.milliseconds,
            )
            if won:
                model_checks.keep_verdict(row, _judge_row(row, pair), now=now)
        return True


def _meter(batch: Batch, predictor: str, purpose: str, crew: Crew | None = None) -> metering.ProjectMeter:
    return metering.meter_of(predictor, project=batch.project_id, batch=batch.pk, purpose=purpose, crew=crew)


def crew_of(predictor: str) -> Crew:
    """As many requests at a time as the entry of a language model says, or its predictor; one to any other model."""
    entry = settings.PREDICTORS.get(predictor)
    if entry is None:
        return Crew()
    if entry["protocol"] == "chat":
        return Crew(chat_model(settings.PREDICTORS, predictor).at_once)
    try:
        return Crew(questions_at_once(connect(entry), within=PATIENT))
    except PredictionError:
        return Crew()


def answer_to(batch: Batch, pair: judgements.ExamplePair, crew: Crew) -> Answer:
    """What the batch's model answers when it has all the time it needs, for whoever looks without a person (a search).

    May run in a thread of the crew.
    """
    if batch.loop_model not in settings.PREDICTORS:
        return Answer("unavailable", "")
    return answer_patiently(batch.loop_model, pair, _meter(batch, batch.loop_model, "search", crew))


def is_from(batch: Batch, answer: Answer) -> bool:
    """Whether it is an answer, and of the model that the batch has frozen; the first answer freezes it."""
    return answer.state == "answered" and (not answer.model or freeze(batch, answer.model))


def answer_about_original(batch: Batch, pair: judgements.ExamplePair, crew: Crew) -> Answer | None:
    """What the batch's model answers to an example before any change; None where it gives no answer."""
    if batch.loop_model not in settings.PREDICTORS:
        return None
    answer = answer_to(batch, replace(pair, perturbed=None), crew)
    return answer if is_from(batch, answer) else None


def recheck(*, batch: Batch, now: datetime, after: int = 0) -> int:
    """Take the verdicts of what was submitted again by the gold answers of now. Returns how many are new.

    after: the event (key) up to which it was done before.
    """
    rows = Try.objects.filter(
        assignment__batch=batch, annotation__isnull=False, answered_at__isnull=False
    ).filter(Exists(_checked_since(after).filter(pk=OuterRef("annotation"))))
    new = 0
    for key in list(rows.order_by("pk").values_list("pk", flat=True)):
        row = _loaded(key)
        before = row.verdicts.count()
        pair = judgements.example_pair(batch.task(), row.assignment.plain_item, row.response.get("data"))
        model_checks.keep_verdict(row, _judge_row(row, pair), now=now)
        new += row.verdicts.count() - before
    return new


def _checked_since(after: int) -> Any:
    """Annotations whose example somebody has looked at since, in an item of its own that is decided; or undecided again,
    of those whose state changed after an event.
    """
    from annotation.models import Annotation

    items = Item.objects.filter(decision__kind=Decision.Kind.ACCEPTED)
    if after:
        changes = Event.objects.filter(thing="item", thing_id=OuterRef("pk"), pk__gt=after)
        items = Item.objects.filter(Exists(changes))
    return Annotation.objects.filter(outcomes__example__items__in=items)


def _judge_row(row: Try, pair: judgements.ExamplePair) -> judgements.JudgedPair:
    gold = later_gold_answer(row)
    return judgements.judge_pair(pair, row.original, row.perturbed, gold=gold, failed=bool(row.error))


def later_gold_answer(row: Try) -> list[str] | None:
    """The answer to what was submitted that others have given since, blind to the first one; None where nobody has."""
    if row.annotation_id is None:
        return None
    return later_gold_answers([row.annotation_id]).get(row.annotation_id)


def later_gold_answers(annotations: Sequence[int]) -> dict[int, list[str]]:
    """For annotations (ids): what an accepted outcome on the example they made says is its right answer, the newest."""
    answers_by_annotation: dict[int, list[str]] = {}
    outcomes = Outcome.objects.filter(decision__item__example__outcome__annotations__in=list(annotations))
    outcomes = outcomes.select_related("decision__item__batch", "decision__item__example__stored_table")
    for outcome in outcomes.order_by("pk").distinct():
        item = outcome.decision.item
        task = item.batch.task()
        plain = item.plain()
        if not isinstance(task, Answering):
            continue
        gold = task.gold(task.restore(outcome.response["data"]), plain)
        if gold is None:
            continue
        source_outcome = item.example.outcome
        for key in source_outcome.annotations.filter(pk__in=list(annotations)).values_list("pk", flat=True):
            answers_by_annotation[key] = list(gold)
    return answers_by_annotation


def _loaded(key: int) -> Try:
    return Try.objects.select_related(
        "assignment__batch__project", "assignment__item__example__stored_table", "annotation"
    ).get(pk=key)
