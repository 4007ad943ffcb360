"""Models asked in the background: samples for screening, a suggested question type. People decide on them.

Safe to run again: an example that has this model's answer for the purpose is not asked twice.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

import tableqa
from annotation import jobs
from annotation.models import Example, Job, ModelAnswer, Person, Project, Source
from annotation.refusals import Refused
from predictor import prompts
from predictor.chat import ChatError, ChatModel
from predictor.configuration import chat_model

MOST_SAMPLES = 50
SEED = 0

Asked = Callable[[ChatModel, tableqa.Example, int, float], dict[str, Any]]


def _samples(model: ChatModel, example: tableqa.Example, samples: int, temperature: float) -> dict[str, Any]:
    """Several answers at a temperature above 0: whether a model always answers rightly. (SUC's human step)"""
    messages, seen = prompts.asking_for_answers(example)
    replies = model.ask(
        messages, samples=samples, temperature=temperature, seed=SEED, schema=prompts.ANSWER_SCHEMA
    )
    return {
        "samples": [prompts.read_answers(reply) for reply in replies],
        "replies": replies,
        "temperature": temperature,
        "rows_seen": seen,
        "rows_total": len(example.table.rows),
    }


def _question_type(
    model: ChatModel, example: tableqa.Example, samples: int, temperature: float
) -> dict[str, Any]:
    """Whether cells are retrieved or an operation is needed, in the model's view. (FREB-TQA A.4)"""
    from tableqa import question_types

    text = question_types.request(example.question, example.table)
    reply = model.ask([{"role": "user", "content": text}], temperature=temperature, seed=SEED)[0]
    suggestion = question_types.by_model(question_types.read_reply(reply))
    rows = len(example.table.rows)
    return {
        **suggestion.to_dict(),
        "reply": reply,
        "rows_seen": min(rows, question_types.MOST_ROWS_SHOWN),
        "rows_total": rows,
    }


PURPOSES: dict[str, Asked] = {"screening": _samples, "question_type": _question_type}


def check(*, predictor: str, purpose: str, samples: int, temperature: float) -> ChatModel:
    """The model to ask. Raises Refused(invalid_request) where the request makes no sense."""
    if purpose not in PURPOSES:
        raise Refused("invalid_request", f"A purpose is one of {', '.join(PURPOSES)}.")
    if not 1 <= samples <= MOST_SAMPLES:
        raise Refused("invalid_request", f"Samples are a number from 1 to {MOST_SAMPLES}.")
    if purpose == "screening" and (samples < 2 or temperature <= 0):
        raise Refused("invalid_request", "Screening takes at least two samples at a temperature above 0.")
    try:
        return chat_model(settings.PREDICTORS, predictor)
    except LookupError as error:
        raise Refused("invalid_request", str(error)) from None


def unasked(sources: list[Source], *, purpose: str, model: str) -> QuerySet[Example]:
    """Original examples without this model's answer for the purpose, in the order of their sources."""
    asked = ModelAnswer.objects.filter(example=OuterRef("pk"), purpose=purpose, model=model)
    found = Example.objects.originals().usable().filter(~Exists(asked), source__in=sources)
    return found.select_related("stored_table").order_by("source_id", "position", "pk")


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

    Every answer is written as it comes. Raises Refused(predictor_failed) where the endpoint gives none.
    """
    model = check(predictor=predictor, purpose=purpose, samples=samples, temperature=temperature)
    name = f"{predictor}:{model.model}"
    keys = list(unasked(sources, purpose=purpose, model=name).values_list("pk", flat=True)[:limit])
    for done, key in enumerate(keys, start=1):
        row = Example.objects.select_related("stored_table").get(pk=key)
        try:
            data = PURPOSES[purpose](model, row.example(), samples, temperature)
        except ChatError as error:
            raise Refused(
                "predictor_failed", f"{error} {done - 1} of {len(keys)} examples are done and kept."
            ) from None
        ModelAnswer.objects.create(example=row, purpose=purpose, model=name, data=data, made_at=now())
        progress(done, len(keys))
    return len(keys)


def start(*, project: Project, by: Person | None, now: datetime, **asked: Any) -> Job:
    """`ask_model` in the background. Raises Refused(invalid_request) at once where it could not run."""
    sources = list(asked.pop("sources"))
    limit = asked.pop("limit", None)
    check(**asked)
    ids = {"sources": [source.pk for source in sources], "limit": limit, **asked}
    return jobs.enqueue(project=project, kind="ask_model", ids=ids, by=by, now=now)


@jobs.kind("ask_model")
def _run(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    ids = dict(job.ids)
    sources = list(Source.objects.filter(project=job.project, pk__in=ids.pop("sources")))
    return {"asked": ask_model(sources=sources, progress=progress, **ids)}
