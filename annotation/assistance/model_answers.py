"""Answers of a model to an example and to its change, from a predictor or a language model, or why there are none.

Nothing here is stored. The waiting time is short for a page (`ask`) and long for a job (`ask_patiently`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from django.conf import settings
from django.utils.translation import gettext, gettext_noop

from annotation.assistance import judgements, model_checks
from annotation.models import Batch
from annotation.queue import metered_models, metering
from annotation.queue.parallel_requests import Crew
from predictor.chat import ChatError, ChatModel, chat_model
from predictor.client import PATIENT, PredictionError, connect, questions_at_once
from predictor.listing import AnswerList, ask_for_list, breaker_of
from predictor.protocol import Options, Prediction, PredictRequest
from tableqa.core.translation import Message, message

State = Literal["answered", "waiting", "busy", "stale", "changed", "unavailable", "slow", "nothing", "none"]
OPTIONS = Options(topk=3)
"""A model's best answers that the details show, where it offers several."""
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
"""For a language model that replies and does not answer."""
NO_LIST = message("predicting.no_list", "The reply holds no list of answers.")
"""The same of one that was asked once, by its predictor."""
REJECTED = message("predicting.rejected", "The model's endpoint rejects the question: {error}")
LONGEST_ERROR = 400
NOT_UNTIL_CHANGED = ("budget", "parameters")
"""States of requests to a language model after which no request succeeds until a person changes a setting."""
TEXTS: Mapping[str, str] = {
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
CONTINUE = gettext_noop("You can continue and submit.")
Requests = tuple[PredictRequest, PredictRequest | None]
Outcomes = tuple[Prediction, Prediction | None] | PredictionError


@dataclass(frozen=True)
class Answer:
    """Raw answers on both examples, or the state and words to show instead; `error`: the model cannot read them.

    `reason` says why there is no answer, `is_final` that no request can succeed until a person changes a setting: a budget
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

    @property
    def unusable(self) -> str:
        """Why the reply of a language model is unusable; "" for a usable one, and for other models."""
        return self.reply_state and self.error

    def try_fields(self, *, revision: str, now: datetime) -> dict[str, Any]:
        """Fields of a `Try` with this answer. `revision` names a model that does not name itself."""
        return {
            "model": self.model or revision,
            "error": self.error,
            "answered_at": now,
            "original": self.original,
            "perturbed": self.perturbed,
        }


def ask_patiently(
    name: str, pair: judgements.ExamplePair, meter: metering.ProjectMeter, original: Answer | None = None
) -> Answer:
    """A model of either protocol, with all the time that a job gives it. `original`: what it has answered to the original
    before, which it is not asked about again then.
    """
    entry = settings.PREDICTORS[name]
    if entry["protocol"] == "chat":
        return _ask_chat(name, pair, replace(chat_model(settings.PREDICTORS, name), meter=meter), original)
    within = max(PATIENT, entry.get("deadline_ms", 0) / 1000)
    requests = build_requests(pair)
    if original is None or requests[1] is None:
        return ask(entry, requests, within=within, meter=meter)
    answer = ask(entry, (requests[1], None), within=within, meter=meter)
    return replace(answer, original=original.original, perturbed=answer.original)


def ask(
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
        return read_outcome(error)
    original, perturbed = requests
    try:
        if perturbed is None and is_fresh:
            return read_outcome((connect(entry).predict(original, within=within, bills=payment.bills), None))
        return read_outcome(connect(entry).predict_both(*requests, within=within, bills=payment.bills))
    except PredictionError as unanswered:
        return read_outcome(unanswered)
    finally:
        payment.settle()


def build_requests(pair: judgements.ExamplePair, *, slot: str = "", seq: int = 0) -> Requests:
    """The questions about the original and about what was made of it.

    The original is asked about beside each perturbed example: neither is to take the other's turn.
    """
    original, perturbed = (
        None
        if example is None
        else PredictRequest.about(
            example, options=OPTIONS, **({"slot": f"{slot}.{name}", "seq": seq} if slot else {})
        )
        for name, example in (("o", pair.original), ("p", pair.perturbed))
    )
    assert original is not None  # nosec
    return original, perturbed


def read_outcome(outcome: Outcomes | ChatError) -> Answer:
    """The result of a question, in the language of this thread. A ChatError is a budget without room for it."""
    if isinstance(outcome, ChatError):
        return without_answer("unavailable", str(outcome), is_final=True)
    if isinstance(outcome, PredictionError):
        if outcome.kind == "too_large":
            return Answer("answered", model="", error=str(outcome)[:LONGEST_ERROR], reply_state=outcome.state)
        if outcome.kind == "superseded":
            return Answer("stale", gettext(TEXTS["stale"]))
        state: State = "busy" if outcome.kind == "busy" else "unavailable"
        return without_answer(state, str(outcome), is_final=outcome.state in NOT_UNTIL_CHANGED)
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


def without_answer(state: State, reason: str, *, is_final: bool = False) -> Answer:
    """Why there is no answer, for the record and for the page."""
    return Answer(state, f"{reason} {gettext(CONTINUE)}", reason=reason, is_final=is_final)


def _ask_chat(
    name: str, pair: judgements.ExamplePair, model: ChatModel, original: Answer | None = None
) -> Answer:
    """The same of a language model, which has no weights to name: its name replaces them.

    An endpoint that gave no answer is left alone for a while. A reply without a list of answers is asked for again a few
    times (`predictor.listing`), then the model has failed on the example; so it has where the endpoint refuses it.
    """
    entry = settings.PREDICTORS[name]
    breaker, named = breaker_of(entry), f"{name}:{model.model}"
    if not breaker.lets_through():
        return without_answer("unavailable", gettext(TEXTS["left_alone"]))
    raw_answers: dict[str, dict[str, Any]] = {}
    if original is not None and original.original is not None:
        raw_answers["original"] = original.original
    unread = reply_state = ""
    try:
        for part, example in (("original", pair.original), ("perturbed", pair.perturbed)):
            if example is None or part in raw_answers:
                continue
            listed = ask_for_list(model, example)
            raw_answers[part] = listed.raw()
            if listed.answers is None:  # there will be no verdict: the other example would only cost
                unread, reply_state = _why_unread(listed, part), listed.state
                break
    except ChatError as error:
        is_final = error.kind in NOT_UNTIL_CHANGED
        if is_final:
            breaker.forget()  # the endpoint works: other projects may use it
        else:
            breaker.report(error.is_about_example)
        if not error.is_about_example:
            return without_answer("unavailable", str(error), is_final=is_final)
        return Answer("answered", model=named, error=str(error)[:LONGEST_ERROR], reply_state=error.kind)
    except BaseException:
        breaker.report(False)  # the one call that a pause lets through has ended, however it did
        raise
    breaker.report(True)
    return Answer(
        "answered",
        model=named,
        original=raw_answers.get("original"),
        perturbed=raw_answers.get("perturbed"),
        error=unread,
        reply_state=reply_state,
    )


def _why_unread(listed: AnswerList, part: str) -> str:
    if listed.state == "refused":
        return REJECTED.format(error=listed.reason[:LONGEST_ERROR])
    return listed.reason[:LONGEST_ERROR] or UNREAD[part].format(times=len(listed.unread))


def identify(name: str) -> str:
    """A configured model by name and hash of its weights, as its server says now; a language model by its name.

    Raises Unanswered.
    """
    entry = settings.PREDICTORS[name]
    if entry["protocol"] == "chat":
        return f"{name}:{entry['model']}"
    return connect(entry).identity(within=PATIENT)


def create_crew(predictor: str) -> Crew:
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


def create_meter(
    batch: Batch, predictor: str, purpose: str, crew: Crew | None = None
) -> metering.ProjectMeter:
    """The meter of a batch's requests to a predictor."""
    return metering.meter_of(predictor, project=batch.project_id, batch=batch.pk, purpose=purpose, crew=crew)
