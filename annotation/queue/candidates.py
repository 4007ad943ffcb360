"""Responses to an item under letters: the comparison is anonymous."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count, islice, product
from string import ascii_uppercase
from typing import Any, TypeVar

from annotation.models import Annotation, Assignment, Exclusion, Item, Person, RevisionRequest
from annotation.platform.refusals import refuse
from annotation.queue import draws
from tasks.contract import Item as PlainItem
from tasks.contract import TaskType

T = TypeVar("T")


@dataclass(frozen=True)
class Candidate:
    """One response as an adjudicator sees it: under a letter (after Z, two), without a name.

    added      asked for in addition, because the others did not agree
    sent_back  what adjudicators wrote when they gave an earlier one of the same person back, oldest first
    unsure     whether its author was not sure of it
    unmet      the conditions that its author was asked about and submitted unmet, in words
    """

    letter: str
    annotation: Annotation
    response: Any
    words: list[str]
    added: bool
    sent_back: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    unsure: bool = False


def of_item(item: Item) -> list[Candidate]:
    """The responses under letters, in an order drawn for the item: authors stay unknown."""
    return of_items([item])[0]


def of_items(items: Sequence[Item]) -> list[list[Candidate]]:
    """The same of several items, in their order, by two statements."""
    notes: dict[int, list[str]] = {}
    sent_back = RevisionRequest.objects.filter(assignment__item__in=items).order_by("pk")
    for assignment_id, note in sent_back.values_list("assignment_id", "note"):
        notes.setdefault(assignment_id, []).append(note)
    by_item = annotations_of(items)
    return [_with_letters(item, by_letter(item, by_item[item.pk]), notes) for item in items]


def _with_letters(
    item: Item, annotations: Sequence[Annotation], notes: Mapping[int, Sequence[str]]
) -> list[Candidate]:
    task, plain = item.batch.task(), item.plain()
    responses = [task.read(annotation.response or {}, plain) for annotation in annotations]
    return [
        Candidate(
            letter=letter,
            annotation=annotation,
            response=response,
            words=task.describe(response, plain),
            added=annotation.assignment.slot.added,
            sent_back=tuple(notes.get(annotation.assignment_id, ())),
            unmet=unmet_in_words(annotation, response, task, plain),
            unsure=bool(annotation.unsure),
        )
        for letter, annotation, response in zip(
            letters(len(annotations)), annotations, responses, strict=True
        )
    ]


def choose_candidates(item: Item, choose: Sequence[str]) -> list[Candidate]:
    """The candidates with these letters or annotation ids. Raises ActionRefused (invalid_request) if one is missing."""
    available = of_item(item)
    chosen = [c for c in available if c.letter in choose or c.annotation.public_id in choose]
    if len(chosen) != len(set(choose)):
        refuse("invalid_request", "Choose one of {value}.", value=", ".join(c.letter for c in available))
    return chosen


def in_one_text(annotations: Iterable[Annotation]) -> str:
    """The ids of responses in the order of their letters: a page sends back what it has shown."""
    return ",".join(annotation.public_id for annotation in annotations)


def unmet_in_words(
    annotation: Annotation, response: Any, task: TaskType, plain: PlainItem
) -> tuple[str, ...]:
    """What a response was submitted without, in the reader's language; the code where the task type judges otherwise now."""
    codes: Sequence[str] = annotation.unmet or ()
    messages = {problem.code: problem.message for problem in task.unmet(response, plain)} if codes else {}
    return tuple(messages.get(code, code) for code in codes)


def record_reading(items: Sequence[Item], *, by: Person, now: datetime) -> None:
    """Record that a person has read the responses of others to these items: as an annotator they never get them."""
    Exclusion.objects.bulk_create(
        [Exclusion(item=item, person=by, read_at=now) for item in items], ignore_conflicts=True
    )


def by_letter(item: Item, responses: Iterable[T]) -> list[T]:
    """The responses to an item, which are in the order of their slots, in that of their letters."""
    ordered = list(responses)
    draws.letters(item).shuffle(ordered)
    return ordered


def letters(number: int) -> list[str]:
    """The names of this number of responses: A to Z, then AA, AB and so on, as a spreadsheet names its columns."""
    names = (name for length in count(1) for name in product(ascii_uppercase, repeat=length))
    return ["".join(name) for name in islice(names, number)]


def annotations(item: Item) -> list[Annotation]:
    """The newest revisions of the submitted assignments, in the order of their slots."""
    return annotations_of([item])[item.pk]


def annotations_of(items: Sequence[Item]) -> dict[int, list[Annotation]]:
    """The newest revisions by item (key), by one statement."""
    submitted = Assignment.objects.filter(item__in=items).submitted()
    annotations_by_item: dict[int, list[Annotation]] = {item.pk: [] for item in items}
    related = submitted.select_related("annotation", "slot", "person", "batch")
    for assignment in related.order_by("slot__number", "pk"):
        if (annotation := assignment.annotation) is not None:
            annotation.assignment = assignment
            annotations_by_item[assignment.item_id].append(annotation)
    return annotations_by_item
