"""Models asked in the background what kinds of annotation want to know (`TaskType.asks`). People decide on it.

Safe to run again: an example that has this model's answer for the purpose is not asked twice.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext

import tableqa
from annotation.models import Example, ModelAnswer, Source
from annotation.platform.refusals import refuse
from annotation.queue import metered_models, metering
from annotation.queue.conversations import UnusableReplies
from annotation.queue.parallel_requests import Crew
from predictor import prompts
from predictor.chat import ChatError, ChatModel, chat_model
from predictor.client import PATIENT, PredictionError, connect
from predictor.configuration import STOP_AFTER
from predictor.protocol import PredictRequest
from tableqa.scoring.replies import read_answers
from tasks.contract import ModelQuery, PreparingTask, task_types

MOST_SAMPLES = 50
SEED = 0


def purposes() -> dict[str, ModelQuery]:
    """Everything that some kind has models asked, by name."""
    return {
        ask.purpose: ask
        for task in task_types().values()
        if isinstance(task, PreparingTask)
        for ask in task.asks
    }


@dataclass(frozen=True)
class QueriedModel:
    """A model to ask: its answers are stored under `name`."""

    ask: ModelQuery
    entry: Mapping[str, Any]
    name: str
    chat: ChatModel | None
    meter: metering.ProjectMeter | None = None


def check(*, predictor: str, purpose: str, samples: int, temperature: float) -> QueriedModel:
    """The model to ask, and what. Raises ActionRefused(invalid_request) where the request makes no sense."""
    ask = purposes().get(purpose)
    if ask is None:
        refuse("invalid_request", "The purpose must be one of {value}.", value=", ".join(purposes()))
    if not 1 <= samples <= MOST_SAMPLES:
        refuse("invalid_request", "Samples must be between 1 and {most_samples}.", most_samples=MOST_SAMPLES)
    if ask.several and (samples < 2 or temperature <= 0):
        refuse(
            "invalid_request",
            "{capitalize} needs at least two samples at a temperature above 0.",
            capitalize=purpose.capitalize(),
        )
    entry = settings.PREDICTORS.get(predictor)
    if entry is not None and entry["protocol"] == "predict":
        if not ask.points:
            refuse(
                "invalid_request",
                "{predictor} only answers questions; {purpose} needs a language model.",
                predictor=predictor,
                purpose=purpose,
            )
        try:
            return QueriedModel(ask, entry, connect(entry).identity(within=PATIENT), None)
        except PredictionError as unanswered:
            refuse("predictor_failed", str(unanswered))
    try:
        chat = chat_model(settings.PREDICTORS, predictor)
    except LookupError as error:
        refuse("invalid_request", str(error))
    return QueriedModel(ask, entry or {}, f"{predictor}:{chat.model}", chat)


def find_unanswered(
    sources: list[Source], *, purpose: str, model: str, limit: int | None = None
) -> list[int]:
    """Original examples (keys) without this model's answer for the purpose, in the order of their sources."""
    answered = ModelAnswer.objects.filter(example=OuterRef("pk"), purpose=purpose, model=model)
    examples = Example.objects.originals().usable().filter(~Exists(answered), source__in=sources)
    return list(examples.order_by("source_id", "position", "pk").values_list("pk", flat=True)[:limit])


def ask_model(
    *,
    sources: list[Source],
    predictor: str,
    purpose: str,
    now: Callable[[], datetime] = timezone.now,
    samples: int = 8,
    temperature: float = 0.7,
    limit: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Ask the model about every example it was not asked about. Returns how many were asked.

    Every answer is written as it comes. Raises ActionRefused(predictor_failed) where the endpoint gives none.
    """
    queried_model = check(predictor=predictor, purpose=purpose, samples=samples, temperature=temperature)
    keys = find_unanswered(sources, purpose=purpose, model=queried_model.name, limit=limit)
    crew, done = Crew(queried_model.chat.at_once if queried_model.chat else 1), 0
    problem: Exception | None = None
    unusable = UnusableReplies(queried_model.name, queried_model.entry.get("stop_after", STOP_AFTER))

    def questions() -> Iterator[tuple[Example, tableqa.Example, QueriedModel]]:
        for key in keys:
            if unusable.is_stopped:
                return
            row = Example.objects.select_related("stored_table", "source").get(pk=key)
            yield row, row.example(), _with_meter(queried_model, predictor, row, crew)

    def answer(question: tuple[Example, tableqa.Example, QueriedModel]) -> tuple[Example, dict[str, Any]]:
        row, example, metered = question
        return row, _answer(metered, example, samples, temperature)

    try:
        for row, data in crew.map(answer, questions()):
            ModelAnswer.objects.create(
                example=row, purpose=purpose, model=queried_model.name, data=data, made_at=now()
            )
            done += 1
            unusable.count("unusable" if _is_unusable(queried_model, data) else "")
            progress(done, len(keys))
    except (ChatError, PredictionError) as error:
        problem = error
    if unusable.is_stopped and problem is None:
        problem = ChatError(
            gettext("{model} gave {number} unusable replies in a row.").format(
                model=unusable.model, number=unusable.stop_after
            )
        )
    if problem is not None:
        refuse(
            "predictor_failed",
            "{error} {value} of {number} examples are done and saved.",
            error=problem,
            value=done,
            number=len(keys),
        )
    return len(keys)


def _with_meter(queried_model: QueriedModel, predictor: str, row: Example, crew: Crew) -> QueriedModel:
    """The same model with the meter of the example's project."""
    meter = metering.meter_of(
        predictor, project=row.source.project_id, batch=None, purpose="questions", crew=crew
    )
    return replace(
        queried_model, chat=queried_model.chat and replace(queried_model.chat, meter=meter), meter=meter
    )


def estimate(
    *,
    sources: list[Source],
    predictor: str,
    purpose: str,
    samples: int = 8,
    temperature: float = 0.7,
    limit: int | None = None,
) -> metering.Estimate | None:
    """What `ask_model` would use; None for a model that is no language model. Raises ActionRefused(invalid_request)."""
    queried_model = check(predictor=predictor, purpose=purpose, samples=samples, temperature=temperature)
    if not metered_models.is_language_model(predictor):
        return None
    keys = find_unanswered(sources, purpose=purpose, model=queried_model.name, limit=limit)
    rows = Example.objects.select_related("stored_table", "source").filter(pk__in=metering.sample(keys))
    conversations = [_conversation(queried_model, row.example())[0] for row in rows]
    project = sources[0].project_id if sources else None
    replies = samples if queried_model.ask.several else 1
    return metering.estimate(
        predictor, conversations, len(keys), project=project, purpose="questions", replies=replies
    )


# -- one example ------------------------------------------------------------------------------------


def _answer(
    queried_model: QueriedModel, example: tableqa.Example, samples: int, temperature: float
) -> dict[str, Any]:
    """What is kept of one example. Raises ChatError, PredictionError."""
    total = len(example.table.rows)
    if queried_model.chat is None:
        return _point_at_cells(queried_model, example)
    messages, seen = _conversation(queried_model, example)
    if queried_model.ask.several:
        completions = queried_model.chat.complete(
            messages, samples=samples, temperature=temperature, seed=SEED, schema=prompts.ANSWER_SCHEMA
        )
        return {
            "samples": [read_answers(completion.text) for completion in completions],
            "replies": [completion.text for completion in completions],
            **_unread([completion.unread for completion in completions]),
            "temperature": temperature,
            "rows_seen": seen,
            "rows_total": total,
        }
    reply, unread = "", None
    try:
        (reply,) = queried_model.chat.ask(messages, temperature=temperature, seed=SEED)
    except ChatError as error:
        if not error.is_about_example:
            raise
        unread = error
    read = queried_model.ask.read
    parsed = dict(read(reply, example)) if read else {"answers": read_answers(reply), "reply": reply}
    return {**parsed, **_unread([unread]), "rows_seen": seen, "rows_total": total}


def _is_unusable(queried_model: QueriedModel, data: Mapping[str, Any]) -> bool:
    """Whether a language model's replies to one example hold nothing of what was asked for."""
    if queried_model.chat is None:
        return any(data.get("states", ()))
    values = data[queried_model.ask.holds]
    return all(sample is None for sample in values) if queried_model.ask.several else not values


def _conversation(queried_model: QueriedModel, example: tableqa.Example) -> tuple[list[dict[str, str]], int]:
    """What a language model is sent about one example, and how many rows of its table are in it."""
    if queried_model.chat is None or queried_model.ask.several or queried_model.ask.request is None:
        return prompts.asking_for_answers(
            example, queried_model.chat.serialisation if queried_model.chat else ""
        )
    text, seen = queried_model.ask.request(example)
    return [{"role": "user", "content": text}], seen


def _unread(errors: Sequence[ChatError | None]) -> dict[str, list[str]]:
    """Why replies have no final part, with their states, one entry for each of them; nothing where all have one."""
    reasons = [str(error or "") for error in errors]
    if not any(reasons):
        return {}
    return {"unread": reasons, "states": [error.kind if error else "" for error in errors]}


def _point_at_cells(queried_model: QueriedModel, example: tableqa.Example) -> dict[str, Any]:
    """The cells that a model pointed at when it answered the question; none where it cannot read the table."""
    request = PredictRequest.about(example)
    payment = metered_models.begin(queried_model.meter, queried_model.entry, [request], within=PATIENT)
    try:
        prediction = connect(queried_model.entry).predict(request, within=PATIENT, bills=payment.bills)
    except PredictionError as unanswered:
        if unanswered.kind != "too_large":
            raise
        states = {"states": [unanswered.state]} if unanswered.state else {}
        return {"cells": [], "answers": [], "error": str(unanswered), **states}
    finally:
        payment.settle()
    rows, columns = example.table.row_ids, example.table.column_ids
    return {
        "cells": [[rows[row], columns[column]] for row, column in prediction.cells],
        "answers": list(prediction.answers),
        "rows_seen": prediction.rows_seen,
        "rows_total": prediction.rows_total,
        **({"states": [prediction.state]} if prediction.state else {}),
    }
