"""Earlier work for a person at an item to look at: two accepted responses and one that was sent back, with its reason.
Accepted ones that managers chose come first, at most five.

Whose responses may be shown is decided by `visibility.shown_as_examples`. They carry no name. A person's own responses that
were sent back are shown in any state of their batch, for the note was written to them. Where fewer than two accepted
ones may be shown, exercises of the practice set take their place.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q

from annotation.access import visibility
from annotation.models import Annotation, Batch, Outcome, Person, PinnedExample, RevisionRequest
from annotation.queue import practice
from tasks.contract import InvalidResponse, TaskType
from tasks.contract import Item as PlainItem

ACCEPTED: Final = 2
MOST_PINNED: Final = 5
"""Accepted ones that are shown where managers chose them."""
LOOKED_THROUGH: Final = 10
"""Outcomes that are looked through for readable ones."""


@dataclass(frozen=True)
class WorkedExample:
    """A response to a question, as an example.

    kind       "accepted", "sent_back", or "practice": the expected response of an exercise
    words      the response, a sentence each
    reason     why it was sent back; why the response is expected; else ""
    is_own     whether the person gave it
    """

    kind: str
    question: str
    words: tuple[str, ...]
    reason: str = ""
    is_own: bool = False


def worked_examples(batch: Batch, person: Person) -> list[WorkedExample]:
    """Accepted responses, at most two unless managers chose more, and one that was sent back, for the task type and variant
    of the batch.
    """
    task = batch.task()
    accepted = list(_accepted(batch, person, task))
    accepted += _from_practice(batch, task)[: max(ACCEPTED - len(accepted), 0)]
    return [*accepted, *_sent_back(batch, person, task)]


def _accepted(batch: Batch, person: Person, task: TaskType) -> Iterator[WorkedExample]:
    pinned = PinnedExample.objects.filter(item=OuterRef("decision__item"))
    own = Annotation.objects.filter(outcomes=OuterRef("pk"), assignment__person=person)
    outcomes = (
        Outcome.objects.filter(decision__item__in=visibility.shown_as_examples(batch))
        .annotate(is_own=Exists(own), is_pinned=Exists(pinned))
        .select_related("decision__item__batch", "decision__item__example__stored_table")
        .order_by("-is_pinned", "-is_own", "pk")
    )
    shown_count = 0
    for outcome in outcomes[:LOOKED_THROUGH]:
        item = outcome.decision.item.plain()
        lines = _in_words(task, outcome.response, item)
        if lines and shown_count < (MOST_PINNED if outcome.is_pinned else ACCEPTED):
            shown_count += 1
            yield WorkedExample("accepted", item.example.question, lines, is_own=outcome.is_own)


def _sent_back(batch: Batch, person: Person, task: TaskType) -> Iterator[WorkedExample]:
    of_kind = Q(
        assignment__batch__project=batch.project_id,
        assignment__batch__task_type=batch.task_type,
        assignment__batch__variant=batch.variant,
    )
    notes = (
        RevisionRequest.objects.filter(of_kind)
        .filter(Q(assignment__person=person) | Q(assignment__item__in=visibility.shown_as_examples(batch)))
        .annotate(
            is_own=Exists(Annotation.objects.filter(pk=OuterRef("annotation"), assignment__person=person))
        )
        .select_related("annotation", "assignment__batch", "assignment__item__example__stored_table")
        .order_by("-is_own", "-pk")
    )
    for note in notes[:1]:
        item = note.assignment.item
        item.batch = note.assignment.batch
        plain = item.plain()
        lines = _in_words(task, note.annotation.response or {}, plain)
        yield WorkedExample("sent_back", plain.example.question, lines, note.note, note.is_own)


def _from_practice(batch: Batch, task: TaskType) -> list[WorkedExample]:
    return [
        WorkedExample(
            "practice",
            exercise.item.example.question,
            tuple(task.for_author(exercise.expected, exercise.item)),
            exercise.why,
        )
        for exercise in practice.exercises(task, batch.variant)
    ]


def _in_words(task: TaskType, response: Any, item: PlainItem) -> tuple[str, ...]:
    """The response in the words for its author: they name no hidden answer. Empty where it cannot be read any more."""
    try:
        return tuple(task.for_author(task.read(response, item), item))
    except InvalidResponse:
        return ()
