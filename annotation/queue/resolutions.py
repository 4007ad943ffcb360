"""How items are resolved, stored with them: lists filter by it without a look at decisions and adjudications."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import Case, F, Q, QuerySet, When

from annotation.access import audit_log
from annotation.models import Adjudication, AdjudicationRequest, Batch, Item, Person, Project
from annotation.queue import slots


def mark(items: Iterable[int], resolution: str) -> None:
    """Store the resolution of items (keys), in the transaction that changes it. The caller holds their locks."""
    Item.objects.filter(pk__in=list(items)).update(resolution=resolution)


def reopen(items: Sequence[int]) -> None:
    """Take items (keys) back from the adjudicators, because they need responses first. The caller holds their locks.

    What a person asked is asked again once they are complete.
    """
    waiting = Adjudication.objects.filter(item__in=items)
    fields = ("item_id", "reason", "asked_by_id", "asked_at")
    requests = waiting.filter(asked_by__isnull=False).values(*fields)
    AdjudicationRequest.objects.bulk_create(
        [AdjudicationRequest(**request) for request in requests], ignore_conflicts=True
    )
    waiting.delete()
    mark(items, Item.Resolution.NONE)


def return_to_annotators(waiting: QuerySet[Item], *, by: Person | None, now: datetime) -> int:
    """`reopen` with an event for each item. Returns how many."""
    items = list(waiting.select_related("batch").order_by("pk"))
    for some in slots.key_chunks(item.pk for item in items):
        reopen(some)
    for item in items:
        audit_log.log(item, "adjudication", "open", by=by, now=now)
    return len(items)


def request_adjudication(
    item: Item, reason: str, *, weight: float, asked_at: datetime, asked_by: int | None = None
) -> Adjudication:
    """Have an item wait for an adjudicator. The caller holds its lock.

    asked_by  the person (key) who asked; None where the decision rule did
    """
    mark([item.pk], Item.Resolution.ADJUDICATION)
    return Adjudication.objects.create(
        item=item, reason=reason, weight=weight, asked_by_id=asked_by, asked_at=asked_at
    )


def waiting(batch: Batch) -> QuerySet[Item]:
    """Items of a batch that wait for an adjudicator: those that matter most first, and of equal ones the oldest."""
    return _waiting(Q(batch=batch))


def waiting_in(project: Project) -> QuerySet[Item]:
    """The same of all batches of a project."""
    return _waiting(Q(batch__project=project))


def waiting_from(batch: Batch) -> QuerySet[Item]:
    """The same of all batches of a project, for a person who adjudicates in this one: its items come first."""
    items = waiting_in(batch.project)
    here = Case(When(batch=batch, then=0), default=1)
    return items.order_by(here, *items.query.order_by)


def _waiting(where: Q) -> QuerySet[Item]:
    items = Item.objects.filter(where, adjudication__isnull=False, batch__set_aside_at__isnull=True)
    return items.select_related("adjudication", "batch__project", "example__source").order_by(
        F("adjudication__weight").desc(), "adjudication__asked_at", "pk"
    )
