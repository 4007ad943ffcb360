"""From responses to decisions: by the kind's own `resolve` where people agree, by a person where they do not."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from string import ascii_uppercase
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation import events, jobs, lineage, queue
from annotation.models import (
    Adjudication,
    Annotation,
    Assignment,
    Batch,
    Decision,
    Item,
    Job,
    Outcome,
    Person,
)
from annotation.refusals import Refused, require_storable
from tasks.contract import Accepted, Adjudicate, OneMore, Resolution
from tasks.contract import Outcome as Resolved

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Candidate:
    """One response as an adjudicator sees it: under a letter (after Z, two), without a name."""

    letter: str
    annotation: Annotation
    response: Any
    words: list[str]
    added: bool


def resolve_due(*, now: datetime, limit: int = 200) -> int:
    """Resolve complete items whose time for undo has passed. Returns how many; safe to run anywhere, any time."""
    due = Item.objects.filter(due_at__lte=now).order_by("due_at").values_list("pk", flat=True)
    resolved = 0
    for pk in list(due[:limit]):
        try:
            resolved += resolve_item(item_id=pk, now=now)
        except Exception:
            # One item that cannot be resolved must not keep the others waiting; it stays due and is named in the log.
            log.exception("item %s cannot be resolved", pk)
    return resolved


def resolve_batch(
    *, batch: Batch, now: datetime, progress: Callable[[int, int], None] = lambda done, total: None
) -> int:
    """Resolve what is complete in one batch, without waiting for the time for undo."""
    due = list(
        Item.objects.filter(batch=batch, due_at__isnull=False)
        .order_by("position")
        .values_list("pk", flat=True)
    )
    resolved = 0
    for done, pk in enumerate(due, start=1):
        resolved += resolve_item(item_id=pk, now=now)
        progress(done, len(due))
    return resolved


def start_resolving(*, batch: Batch, by: Person | None, now: datetime) -> Job:
    """`resolve_batch` in the background: a closed batch may have thousands of complete items."""
    return jobs.enqueue(project=batch.project, kind="resolve", ids={"batch": batch.pk}, by=by, now=now)


@jobs.kind("resolve")
def _run_resolving(job: Job, progress: jobs.Progress) -> dict[str, Any]:
    batch = Batch.objects.select_related("project").get(pk=job.ids["batch"])
    resolved = resolve_batch(batch=batch, now=timezone.now(), progress=progress)
    return {"batch": batch.public_id, "resolved": resolved}


def resolve_item(*, item_id: int, now: datetime) -> bool:
    """Ask the kind to decide a complete item. False where somebody else did, or it is no longer complete."""
    with transaction.atomic():
        item = _locked(item_id)
        complete = item.submitted_count >= item.places_count and item.due_at is not None
        if not complete or Decision.objects.filter(item=item).exists():
            return False
        Item.objects.filter(pk=item.pk).update(due_at=None)
        annotations = _annotations(item)
        task, plain = item.batch.task(), item.plain()
        responses = [task.read(annotation.response or {}, plain) for annotation in annotations]
        resolution = task.resolve(responses, plain)
        closed = item.batch.closed_at is not None
        if isinstance(resolution, Adjudicate) or (isinstance(resolution, OneMore) and closed):
            # One more person cannot answer in a closed batch: what is open there is for an adjudicator.
            _ask(item, resolution.reason, now)
        elif isinstance(resolution, OneMore):
            queue.add_place(item)
            _record(item, "complete", "one more", None, now)
        else:
            _write(item, resolution, annotations, by=None, note="", now=now)
    return True


def waiting(batch: Batch) -> QuerySet[Item]:
    """Items that wait for an adjudicator, oldest first."""
    items = Item.objects.filter(batch=batch, adjudication__isnull=False, decision__isnull=True)
    return items.select_related("adjudication", "batch__project", "example__source").order_by(
        "adjudication__asked_at", "pk"
    )


def candidates(item: Item) -> list[Candidate]:
    """The responses under letters, in an order drawn for the item: nobody can tell who is who."""
    task, plain = item.batch.task(), item.plain()
    annotations = _annotations(item)
    random.Random(f"adjudication:{item.public_id}").shuffle(annotations)
    found = []
    for letter, annotation in zip(letters(len(annotations)), annotations, strict=True):
        response = task.read(annotation.response or {}, plain)
        words = task.describe(response, plain)
        found.append(Candidate(letter, annotation, response, words, annotation.assignment.place.added))
    return found


def letters(number: int) -> list[str]:
    """The names of so many responses: A to Z, then AA, AB and so on, as a spreadsheet names its columns."""
    found = []
    for place in range(number):
        name = ""
        while place >= 0:
            place, letter = divmod(place, len(ascii_uppercase))
            name, place = ascii_uppercase[letter] + name, place - 1
        found.append(name)
    return found


def decide(
    *,
    item: Item,
    by: Person,
    note: str,
    now: datetime,
    choose: Sequence[str] = (),
    response: Mapping[str, Any] | None = None,
    exclude: str = "",
) -> Decision:
    """An adjudicator's word: `choose` responses (letters or annotation ids), write one's own, or `exclude`.

    A note is asked for. Raises Refused: decided, invalid_request; `tasks.contract.Invalid` for a
    response that does not hold.
    """
    require_storable(note, exclude)
    if [bool(choose), response is not None, bool(exclude.strip())].count(True) != 1:
        raise Refused(
            "invalid_request", "Choose responses, write one, or exclude the item: exactly one of the three."
        )
    if not note.strip():
        raise Refused("invalid_request", "Say in a note why you decide so.")
    with transaction.atomic():
        item = _locked(item.pk)
        if Decision.objects.filter(item=item).exists():
            raise Refused("decided", "This item has been decided.")
        if not Adjudication.objects.filter(item=item).exists():
            raise Refused("invalid_request", "This item does not wait for an adjudicator.")
        task, plain = item.batch.task(), item.plain()
        annotations: list[Annotation] = []
        resolution: Resolution
        if exclude.strip():
            resolution = Accepted((), exclude.strip())
        elif response is not None:
            resolution = task.uphold([task.receive(response, plain)], plain)
        else:
            chosen = _chosen(item, choose)
            annotations = [candidate.annotation for candidate in chosen]
            outcomes = tuple(Resolved(c.response, (index,)) for index, c in enumerate(chosen))
            resolution = _merged(task.uphold([c.response for c in chosen], plain), outcomes)
        if not isinstance(resolution, Accepted):
            raise Refused("invalid_request", f"These responses cannot stand together: {resolution.reason}")
        return _write(item, resolution, annotations, by=by, note=note.strip(), now=now)


# -- underneath -------------------------------------------------------------------------------------


def _locked(item_id: int) -> Item:
    Item.objects.select_for_update(no_key=True).filter(pk=item_id).values_list("pk").first()
    return Item.objects.select_related("batch__project", "example__stored_table", "example__source").get(
        pk=item_id
    )


def _annotations(item: Item) -> list[Annotation]:
    """The newest revisions of the submitted assignments, in the order of their places."""
    submitted = Assignment.objects.filter(item=item).submitted().select_related("annotation", "place")
    found = []
    for assignment in submitted.order_by("place__number"):
        annotation = assignment.annotation
        if annotation is not None:
            annotation.assignment = assignment
            found.append(annotation)
    return found


def _chosen(item: Item, choose: Sequence[str]) -> list[Candidate]:
    known = candidates(item)
    chosen = [c for c in known if c.letter in choose or c.annotation.public_id in choose]
    if len(chosen) != len(set(choose)):
        raise Refused("invalid_request", f"Choose among {', '.join(c.letter for c in known)}.")
    return chosen


def _merged(resolution: Any, outcomes: tuple[Resolved, ...]) -> Any:
    """What the kind accepts of the chosen responses: equal labels are one outcome, edits stand beside each other."""
    if isinstance(resolution, Accepted) and resolution.outcomes and len(resolution.outcomes) == len(outcomes):
        return Accepted(outcomes, resolution.reason)
    return resolution


def _write(
    item: Item,
    resolution: Accepted,
    annotations: Sequence[Annotation],
    *,
    by: Person | None,
    note: str,
    now: datetime,
) -> Decision:
    """The decision with its outcomes, the examples they make, and the items they feed."""
    kind = Decision.Kind.ACCEPTED if resolution.outcomes else Decision.Kind.EXCLUDED
    event = _record(item, "complete" if by is None else "adjudication", kind.value, by, now)
    decision = Decision.objects.create(
        item=item, kind=kind, reason=resolution.reason, note=note, made_by=by, made_at=now, event_id=event
    )
    task, plain = item.batch.task(), item.plain()
    for number, resolved in enumerate(resolution.outcomes, start=1):
        outcome = Outcome(decision=decision, number=number, response=task.envelope(resolved.response, plain))
        perturbed = task.perturb(plain, resolved.response)
        if perturbed is not None:
            outcome.example = lineage.make_example(item=item, perturbed=perturbed)
        outcome.save(force_insert=True)
        if annotations:
            outcome.annotations.set([annotations[index] for index in resolved.by])
    if kind == Decision.Kind.ACCEPTED:
        lineage.follow_up(decision)
    return decision


def _ask(item: Item, reason: str, now: datetime) -> None:
    Adjudication.objects.update_or_create(item=item, defaults={"reason": reason, "asked_at": now})
    _record(item, "complete", "adjudication", None, now)


def _record(item: Item, before: str, after: str, by: Person | None, now: datetime) -> Any:
    return events.record(
        project_id=item.batch.project_id,
        actor=by,
        thing="item",
        thing_id=item.pk,
        before=before,
        after=after,
        now=now,
    )
