"""What a model in the loop answers to examples as they are, before any person changes them, and how many it gets right.

Each answer is a `ModelAnswer`. A batch can serve only items that its model answers correctly (`loop_right_only`), and the
form of a new batch shows how many there are. Models are asked in jobs only.
"""

import statistics
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.db.models import Count, Max, Q
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from annotation.assistance import judgements, model_answers
from annotation.models import Example, ModelAnswer, Source
from annotation.platform.bulk_rows import among
from annotation.platform.display_text import grouped
from annotation.platform.refusals import refuse
from annotation.queue import metered_models, metering, reply_states
from annotation.queue.conversations import UnusableReplies
from annotation.queue.parallel_requests import Crew
from predictor import prompts
from predictor.chat import chat_model
from predictor.client import JOB_THREADS, PredictionError
from predictor.configuration import IN_FLIGHT, STOP_AFTER
from predictor.listing import STATES
from tasks.contract import TaskType, task_types

PURPOSE: Final = "correctness"
"""Under which `ModelAnswer` keeps these answers: {"answers", "right", "error", "milliseconds"}."""
MAX_FAILURES: Final = 3
"""Requests in a row that may stay without an answer before a job gives up."""
TRIES: Final = 5
"""How often a busy model is asked about one example."""
RECENT: Final = 100
"""Answers from which the time of the next ones is estimated."""


@dataclass(frozen=True)
class Accuracy:
    """How many of `total` examples a model answers correctly; `model` is its name with the hash of its weights.

    unjudged    the model cannot read the example, or the example has no gold answer
    unknown     the model has not been asked yet, or has not answered
    seconds     how long it takes to ask about the unknown ones; None where that cannot be estimated
    estimate    what it costs to ask about the unknown ones; None for a model that is no language model
    states      of the unjudged ones, how many replies of a language model ended in which state (`predictor.listing.STATES`)
    """

    model: str
    total: int
    right: int = 0
    wrong: int = 0
    unjudged: int = 0
    answered_at: datetime | None = None
    seconds: float | None = None
    estimate: metering.Estimate | None = None
    states: Mapping[str, int] = field(default_factory=dict)

    @property
    def unknown(self) -> int:
        return self.total - self.right - self.wrong - self.unjudged

    @property
    def answered(self) -> int:
        return self.total - self.unknown

    def to_dict(self) -> dict[str, Any]:
        """JSON, as a batch and the manifest of a release have it; `states` where replies were not readable."""
        counts: dict[str, Any] = {"model": self.model, "questions": self.total}
        counts |= {name: getattr(self, name) for name in ("right", "wrong", "unjudged", "unknown")}
        return {**counts, "states": dict(self.states)} if self.states else counts

    @property
    def in_words(self) -> str:
        """The counts as a sentence in the reader's language."""
        return ngettext(
            "{right} of {total} question is answered correctly by {model}.",
            "{right} of {total} questions are answered correctly by {model}.",
            self.total,
        ).format(right=grouped(self.right), total=grouped(self.total), model=shortened(self.model))

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
                ).format(number=grouped(self.unjudged))
            )
        if self.states:
            sentences.append(
                gettext("Replies that could not be read: {states}.").format(
                    states=reply_states.in_words(self.states)
                )
            )
        if self.unknown:
            sentences.append(
                ngettext("{number} has no answer yet.", "{number} have no answer yet.", self.unknown).format(
                    number=grouped(self.unknown)
                )
            )
        return " ".join(sentences)

    @property
    def time_in_words(self) -> str:
        """How long the open requests take, as a sentence."""
        return _time_in_words(self.seconds)


def shortened(model: str) -> str:
    """name@hash with the first eight characters of the hash."""
    name, at, sha = model.partition("@")
    return f"{name}{at}{sha[:8]}"


def time_left(predictor: str, requests: int) -> str:
    """How long this number of requests to a model takes, as a sentence in the reader's language."""
    each = _seconds_each(predictor)
    return _time_in_words(None if each is None else each * requests / _at_once(predictor))


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


def stored_accuracy(keys: Collection[int], *, task: TaskType, predictor: str) -> Accuracy:
    """The newest answers of a predictor to these examples (keys), without asking it."""
    rows = _answers(task, keys).filter(_of_predictor(predictor))
    newest = rows.order_by("-made_at", "-pk").values_list("model", flat=True).first()
    accuracy = Accuracy(predictor, len(keys)) if newest is None else count(keys, task=task, model=newest)
    each = _seconds_each(predictor)
    seconds = None if each is None else each * accuracy.unknown / _at_once(predictor)
    needed = estimate(keys, accuracy.unknown, task=task, predictor=predictor) if accuracy.unknown else None
    return Accuracy(**{**vars(accuracy), "seconds": seconds, "estimate": needed})


def estimate(
    keys: Collection[int], requests: int, *, task: TaskType, predictor: str
) -> metering.Estimate | None:
    """The estimated use of requests about examples like these (keys); None for a model that is no language model."""
    if not metered_models.is_language_model(predictor):
        return None
    examples = Example.objects.select_related("stored_table", "source")
    rows = list(examples.filter(pk__in=metering.sample(list(keys))))
    form = settings.PREDICTORS[predictor].get("serialisation", "")
    samples = [
        prompts.asking_for_answers(judgements.unchanged_pair(task, row.example()).original, form)[0]
        for row in rows
    ]
    project = rows[0].source.project_id if rows else None
    return metering.estimate(predictor, samples, requests, project=project, purpose="accuracy")


def count(keys: Collection[int], *, task: TaskType, model: str) -> Accuracy:
    """How many of these examples (keys) this very model answers correctly."""
    rows = _answers(task, keys).filter(model=model)

    def number(condition: Q) -> Count:
        return Count("example", filter=condition, distinct=True)

    counts = rows.aggregate(
        right=number(Q(data__right=True)),
        wrong=number(Q(data__right=False)),
        answered=Count("example", distinct=True),
        answered_at=Max("made_at"),
    )
    unjudged = counts.pop("answered") - counts["right"] - counts["wrong"]
    by_state = rows.filter(data__state__in=STATES).order_by("data__state").values_list("data__state")
    states = dict(by_state.annotate(n=Count("example", distinct=True)))
    return Accuracy(model, len(keys), unjudged=unjudged, states=states, **counts)


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
        answered_count = Count("example", distinct=True)
        for name, purpose, *totals in grouped.annotate(correct=correct, asked=answered_count):
            counts[name, predictor, purpose] = (totals[0], totals[1])
    return counts


def needed_by_source(
    sources: Collection[Source], counts: Mapping[tuple[str, str, str], tuple[int, int]]
) -> dict[tuple[str, str, str], metering.Estimate]:
    """By the keys of `by_source`, which gave `counts`: what a language model would use to answer the other originals."""
    models = metered_models.language_models()
    tasks = {purpose_of(task): task for task in task_types().values() if task.predicts}
    needed: dict[tuple[str, str, str], metering.Estimate] = {}
    for source in sources if models else ():
        originals = Example.objects.originals().usable().filter(source=source).order_by("position", "pk")
        keys = list(originals.values_list("pk", flat=True))
        for purpose, task in tasks.items():
            for name in models:
                _, answered_count = counts.get((source.name, name, purpose), (0, 0))
                needed_here = estimate(keys, len(keys) - answered_count, task=task, predictor=name)
                if needed_here is not None and len(keys) > answered_count:
                    needed[source.name, name, purpose] = needed_here
    return needed


def correct_examples(keys: Sequence[int], *, task: TaskType, model: str) -> frozenset[int]:
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
    wait: Callable[[float], None] = time.sleep,
) -> Accuracy:
    """Ask a model about those of the examples (keys) whose answer by its present weights is unknown.

    Answers are stored one by one, so that asking again continues. Single requests may stay without an answer; those
    examples are `unknown`. Raises ActionRefused: invalid_request, predictor_failed.
    """
    if predictor not in settings.PREDICTORS:
        refuse(
            "invalid_request",
            "There is no model {loop_model!r}. Available: {known}.",
            loop_model=predictor,
            known=", ".join(sorted(settings.PREDICTORS)) or gettext("none"),
        )
    try:
        model = model_answers.identify(predictor)
    except PredictionError as unanswered:
        refuse(
            "predictor_failed",
            "{model} does not respond: {reason} Its earlier answers are kept. Start it, then ask again.",
            model=predictor,
            reason=str(unanswered),
        )
    answered = set(_answers(task, keys).filter(model=model).values_list("example_id", flat=True))
    missing = [key for key in keys if key not in answered]
    done = len(keys) - len(missing)
    survey = _Survey(task, predictor, model, clock, wait)
    for done, _ in enumerate(survey.answers(missing), start=done + 1):  # noqa: B020
        progress(done, len(keys))
    survey.require_no_stop(total=len(keys), before=len(answered))
    return count(keys, task=task, model=model)


@dataclass(frozen=True)
class _Question:
    """One example, ready to be asked about by a thread, with the meter of its project."""

    row: Example
    pair: judgements.ExamplePair
    meter: metering.ProjectMeter


@dataclass
class _Survey:
    """The questions of one job, as many at a time as the model's entry allows.

    It stops after `MAX_FAILURES` requests in a row without an answer, or `stop_after` unusable replies in a row. It
    stops at once where no request can succeed (no budget, rejected parameters).
    """

    task: TaskType
    predictor: str
    model: str
    clock: Callable[[], datetime]
    wait: Callable[[float], None]
    stored: int = 0
    failures: int = 0
    reason: str = ""
    replaced_by: str = ""
    stop: str = ""
    """Why it asks no more: "setting", "replaced", "failures" or "unusable"; answers that arrive later do not change it."""

    def __post_init__(self) -> None:
        entry = settings.PREDICTORS[self.predictor]
        self.unusable = UnusableReplies(self.predictor, entry.get("stop_after", STOP_AFTER))

    def answers(self, keys: Sequence[int]) -> Iterator[bool]:
        """Whether each question was answered; the answers are stored."""
        crew = Crew(_at_once(self.predictor))
        for question, answer, seconds in crew.map(self._ask, self._questions(keys, crew)):
            is_stored = self._store(question, answer, seconds)
            self.stored += is_stored
            yield is_stored

    def _questions(self, keys: Sequence[int], crew: Crew) -> Iterator[_Question]:
        for key in keys:
            if self.stop:
                return
            row = Example.objects.select_related("stored_table", "source").get(pk=key)
            project = row.source.project_id
            meter = metering.meter_of(
                self.predictor, project=project, batch=None, purpose="accuracy", crew=crew
            )
            yield _Question(row, judgements.unchanged_pair(self.task, row.example()), meter)

    def _ask(self, question: _Question) -> tuple[_Question, model_answers.Answer, float]:
        """Runs in a thread, without the database. A model that is busy is asked again."""
        for attempt in range(TRIES):
            began = time.monotonic()
            answer = model_answers.ask_patiently(self.predictor, question.pair, question.meter)
            if answer.state != "busy":
                break
            self.wait(0.2 * 2**attempt)
        return question, answer, time.monotonic() - began

    def _store(self, question: _Question, answer: model_answers.Answer, seconds: float) -> bool:
        """Store an answer. Returns whether there is one."""
        if answer.state != "answered":
            self.failures += 1
            self.reason = answer.reason
            if answer.is_final or self.failures >= MAX_FAILURES:
                self.stop = self.stop or ("setting" if answer.is_final else "failures")
            return False
        if answer.model and answer.model != self.model:
            self.replaced_by, self.stop = answer.model, self.stop or "replaced"
            return False
        self.failures = 0
        self.unusable.count(answer.unusable)
        if self.unusable.is_stopped:
            self.stop = self.stop or "unusable"
        judgement = judgements.judge_pair(question.pair, answer.original, None).judgements["original"]
        is_right = None if judgement is None or answer.error else judgement.right
        data = {
            "answers": list(answer.original["answers"]) if answer.original else [],
            "right": is_right,
            "error": answer.error[:400],
            "milliseconds": int(seconds * 1000),
        }
        if answer.error:
            data["state"] = answer.reply_state or "unread"
        ModelAnswer.objects.create(
            example=question.row,
            purpose=purpose_of(self.task),
            model=self.model,
            data=data,
            made_at=self.clock(),
        )
        return True

    def require_no_stop(self, *, total: int, before: int) -> None:
        """Raise ActionRefused(predictor_failed) with the reason where the job stopped before the end."""
        progress: dict[str, Any] = {"done": before + self.stored, "total": total}
        if self.stop == "replaced":
            refuse(
                "predictor_failed",
                "The model was replaced while it was asked: {before} before, {now} now. Ask again.",
                before=shortened(self.model),
                now=shortened(self.replaced_by),
            )
        if self.stop == "setting":
            refuse(
                "predictor_failed",
                "{reason} {done} of {total} questions are answered and saved. Ask again to continue.",
                reason=self.reason,
                **progress,
            )
        if self.stop == "failures":
            refuse(
                "predictor_failed",
                "{model} left {failures} requests in a row without an answer. "
                "{done} of {total} questions are answered and saved. Ask again to continue.",
                model=self.predictor,
                failures=MAX_FAILURES,
                **progress,
            )
        if self.stop == "unusable":
            refuse(
                "predictor_failed",
                "{model} gave {number} unusable replies in a row, so the job stopped. The last one: {reason} "
                "{done} of {total} questions are answered and saved. Ask again to continue.",
                model=self.predictor,
                number=self.unusable.stop_after,
                reason=self.unusable.reason,
                **progress,
            )


def _at_once(predictor: str) -> int:
    """Requests that a job may have under way at a model: `parallel` of a chat model, else `in_flight` of its entry."""
    entry = settings.PREDICTORS[predictor]
    if entry["protocol"] == "chat":
        return chat_model(settings.PREDICTORS, predictor).at_once
    return min(int(entry.get("in_flight", IN_FLIGHT)), JOB_THREADS)
