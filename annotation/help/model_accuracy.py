"""What a model in the loop answers to examples as they are, before anybody changes them, and how many it gets right.

Each answer is a `ModelAnswer`. A batch can serve only items that its model answers correctly (`loop_right_only`), and the
form of a new batch shows how many there are. Models are asked in jobs only.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.db.models import Count, Max, Q
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from annotation.bulk import among
from annotation.help import judging, predicting
from annotation.models import Example, ModelAnswer, Source
from annotation.refusals import refuse
from annotation.work import metering
from predictor.client import Unanswered
from tasks.contract import TaskType

PURPOSE: Final = "correctness"
"""Under which `ModelAnswer` keeps these answers: {"answers", "right", "error", "milliseconds"}."""
MAX_FAILURES: Final = 3
"""Requests in a row that may stay without an answer before a job gives up."""
RECENT: Final = 100
"""Answers from which the time of the next ones is estimated."""


@dataclass(frozen=True)
class Accuracy:
    """How many of `total` examples a model answers correctly; `model` is its name with the hash of its weights.

    unjudged    the model cannot read the example, or the example has no gold answer
    unknown     the model has not been asked yet, or has not answered
    seconds     how long it takes to ask about the unknown ones; None where that cannot be estimated
    """

    model: str
    total: int
    right: int = 0
    wrong: int = 0
    unjudged: int = 0
    answered_at: datetime | None = None
    seconds: float | None = None

    @property
    def unknown(self) -> int:
        return self.total - self.right - self.wrong - self.unjudged

    @property
    def answered(self) -> int:
        return self.total - self.unknown

    def to_dict(self) -> dict[str, Any]:
        """JSON, as a batch and the manifest of a release have it."""
        return {
            "model": self.model,
            "questions": self.total,
            "right": self.right,
            "wrong": self.wrong,
            "unjudged": self.unjudged,
            "unknown": self.unknown,
        }

    @property
    def in_words(self) -> str:
        """The counts as a sentence in the reader's language."""
        return ngettext(
            "{right} of {total} question is answered correctly by {model}.",
            "{right} of {total} questions are answered correctly by {model}.",
            self.total,
        ).format(right=_grouped(self.right), total=_grouped(self.total), model=shortened(self.model))

    @property
    def rest_in_words(self) -> str:
        """What is known of the others, in sentences; "" where there are none."""
        sentences = []
        if self.unjudged:
            sentences.append(
                ngettext(
                    "{number} cannot be judged: the model cannot read it, or its answer is not known.",
                    "{number} cannot be judged: the model cannot read them, or their answers are not known.",
                    self.unjudged,
                ).format(number=_grouped(self.unjudged))
            )
        if self.unknown:
            sentences.append(
                ngettext("{number} has no answer yet.", "{number} have no answer yet.", self.unknown).format(
                    number=_grouped(self.unknown)
                )
            )
        return " ".join(sentences)

    @property
    def time_in_words(self) -> str:
        """How long the open requests take, as a sentence."""
        return _time_in_words(self.seconds)


def _grouped(number: int) -> str:
    return str(number_format(number, force_grouping=True))


def shortened(model: str) -> str:
    """name@hash with the first eight characters of the hash."""
    name, at, sha = model.partition("@")
    return f"{name}{at}{sha[:8]}"


def time_left(predictor: str, requests: int) -> str:
    """How long this number of requests to a model takes, as a sentence in the reader's language."""
    each = _seconds_each(predictor)
    return _time_in_words(None if each is None else each * requests)


def _time_in_words(seconds: float | None) -> str:
    if seconds is None:
        return gettext("The time is estimated after the first answers.")
    return gettext("Time needed: {duration}.").format(duration=duration_in_words(seconds))


def duration_in_words(seconds: float) -> str:
    """A duration as an estimate in the reader's language: whole minutes, or hours from two hours on."""
    if seconds < 60:
        return gettext("less than a minute")
    minutes = round(seconds / 60)
    if minutes < 120:
        return ngettext("about {minutes} minute", "about {minutes} minutes", minutes).format(minutes=minutes)
    hours = round(seconds / 3600)
    return ngettext("about {hours} hour", "about {hours} hours", hours).format(hours=hours)


def purpose_of(task: TaskType) -> str:
    """The purpose under which answers for a task type are kept: a model sees the context if annotators see it."""
    return PURPOSE if "context" in task.shows else f"{PURPOSE} without context"


# -- what is known ----------------------------------------------------------------------------------


def known(keys: Collection[int], *, task: TaskType, predictor: str) -> Accuracy:
    """The newest answers of a predictor to these examples (keys), without asking it."""
    rows = _answers(task, keys).filter(_of_predictor(predictor))
    newest = rows.order_by("-made_at", "-pk").values_list("model", flat=True).first()
    found = Accuracy(predictor, len(keys)) if newest is None else count(keys, task=task, model=newest)
    each = _seconds_each(predictor)
    seconds = None if each is None else each * found.unknown
    return Accuracy(**{**vars(found), "seconds": seconds})


def count(keys: Collection[int], *, task: TaskType, model: str) -> Accuracy:
    """How many of these examples (keys) this very model answers correctly."""
    rows = _answers(task, keys).filter(model=model)

    def number(wanted: Q) -> Count:
        return Count("example", filter=wanted, distinct=True)

    counts = rows.aggregate(
        right=number(Q(data__right=True)),
        wrong=number(Q(data__right=False)),
        answered=Count("example", distinct=True),
        answered_at=Max("made_at"),
    )
    unjudged = counts.pop("answered") - counts["right"] - counts["wrong"]
    return Accuracy(model, len(keys), unjudged=unjudged, **counts)


def by_source(sources: Collection[Source]) -> dict[tuple[str, str, str], tuple[int, int]]:
    """By source name, predictor and purpose: originals answered correctly, and originals asked, by its newest weights."""
    counts: dict[tuple[str, str, str], tuple[int, int]] = {}
    for predictor in settings.PREDICTORS:
        rows = ModelAnswer.objects.filter(
            _of_predictor(predictor),
            purpose__startswith=PURPOSE,
            example__in=Example.objects.originals().filter(source__in=sources),
        )
        newest = rows.order_by("-made_at", "-pk").values_list("model", flat=True).first()
        if newest is None:
            continue
        grouped = rows.filter(model=newest).order_by().values_list("example__source__name", "purpose")
        correct = Count("example", filter=Q(data__right=True), distinct=True)
        asked = Count("example", distinct=True)
        for name, purpose, *numbers in grouped.annotate(correct=correct, asked=asked):
            counts[name, predictor, purpose] = (numbers[0], numbers[1])
    return counts


def right(keys: Sequence[int], *, task: TaskType, model: str) -> frozenset[int]:
    """Those of the examples (keys) that this very model answers correctly."""
    rows = _answers(task, keys).filter(model=model, data__right=True)
    return frozenset(rows.values_list("example_id", flat=True))


def _answers(task: TaskType, keys: Collection[int]) -> Any:
    return ModelAnswer.objects.filter(among("example", keys), purpose=purpose_of(task))


def _of_predictor(predictor: str) -> Q:
    entry: Mapping[str, Any] = settings.PREDICTORS.get(predictor, {})
    if entry.get("protocol") == "chat":
        return Q(model=f"{predictor}:{entry['model']}")
    return Q(model__startswith=f"{entry.get('model', predictor)}@")


def _seconds_each(predictor: str) -> float | None:
    """The median time of the newest answers of a predictor, in seconds; None before the first one."""
    rows = ModelAnswer.objects.filter(_of_predictor(predictor), purpose__startswith=PURPOSE)
    times = rows.order_by("-pk").values_list("data__milliseconds", flat=True)[:RECENT]
    return statistics.median(times) / 1000 if times else None


# -- asking -----------------------------------------------------------------------------------------


def ask(
    keys: Sequence[int],
    *,
    task: TaskType,
    predictor: str,
    progress: Callable[[int, int], None] = lambda done, total: None,
    clock: Callable[[], datetime] = timezone.now,
) -> Accuracy:
    """Ask a model about those of the examples (keys) whose answer by its present weights is unknown.

    Answers are stored one by one, so that asking again continues. Single requests may stay without an answer; those
    examples are `unknown`. Raises Refused: invalid_request, predictor_failed.
    """
    if predictor not in settings.PREDICTORS:
        refuse(
            "invalid_request",
            "There is no model {loop_model!r}. Available: {known}.",
            loop_model=predictor,
            known=", ".join(sorted(settings.PREDICTORS)) or gettext("none"),
        )
    try:
        model = predicting.identity(predictor)
    except Unanswered as unanswered:
        refuse(
            "predictor_failed",
            "{model} does not respond: {reason} Its earlier answers are kept. Start it, then ask again.",
            model=predictor,
            reason=str(unanswered),
        )
    answered = set(_answers(task, keys).filter(model=model).values_list("example_id", flat=True))
    missing = [key for key in keys if key not in answered]
    failures = 0
    for done, key in enumerate(missing, start=len(keys) - len(missing) + 1):
        failures = 0 if _ask_about(key, task, predictor, model, clock) else failures + 1
        if failures == MAX_FAILURES:
            refuse(
                "predictor_failed",
                "{model} left {failures} requests in a row without an answer. "
                "{done} of {total} questions are answered and saved. Ask again to continue.",
                model=predictor,
                failures=failures,
                done=done - failures,
                total=len(keys),
            )
        progress(done, len(keys))
    return count(keys, task=task, model=model)


def _ask_about(key: int, task: TaskType, predictor: str, model: str, clock: Callable[[], datetime]) -> bool:
    """Store the answer to one example. Returns whether there was one."""
    row = Example.objects.select_related("stored_table", "source").get(pk=key)
    asked = judging.asked_as_it_is(task, row.example())
    began = time.monotonic()
    if settings.PREDICTORS[predictor]["protocol"] == "chat":
        project = row.source.project_id
        chat = metering.metered(predictor, project=project, batch=None, purpose="accuracy")
        answer = predicting.answer_patiently(predictor, asked, chat)
    else:
        answer = predicting.answer_patiently(predictor, asked)
    if answer.state != "answered":
        return False
    if answer.model and answer.model != model:
        refuse(
            "predictor_failed",
            "The model was replaced while it was asked: {before} before, {now} now. Ask again.",
            before=shortened(model),
            now=shortened(answer.model),
        )
    judgement = judging.hold(asked, answer.original, None).judgements["original"]
    is_right = None if judgement is None or answer.error else judgement.right
    ModelAnswer.objects.create(
        example=row,
        purpose=purpose_of(task),
        model=model,
        data={
            "answers": list(answer.original["answers"]) if answer.original else [],
            "right": is_right,
            "error": answer.error[:400],
            "milliseconds": int((time.monotonic() - began) * 1000),
        },
        made_at=clock(),
    )
    return True
