"""Revisions of a response: each submission adds one, and so does taking it back. Nothing is ever written over."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import Exists, F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from annotation import events
from annotation.compiled import Insert, number, text
from annotation.models import (
    Adjudication,
    Annotation,
    Assignment,
    Batch,
    Draft,
    Guidelines,
    Item,
    Person,
    Provenance,
)
from annotation.work import queue

State = Assignment.State

LONGEST_GAP = 60.0
"""Seconds between two signs of life that still count as work."""

_add = Insert(
    Annotation,
    returning=("revision",),
    revision=Coalesce(
        Subquery(
            Annotation.objects.filter(assignment_id=number("assignment"))
            .order_by("-revision")
            .values("revision")[:1]
        ),
        0,
    )
    + 1,
    guidelines_id=Subquery(
        Guidelines.objects.filter(project_id=number("project"), task_type=text("type"))
        .order_by("-number")
        .values("pk")[:1]
    ),
)


def append(
    assignment: Assignment,
    *,
    response: Mapping[str, Any] | None,
    before: str,
    after: str,
    now: datetime,
    by: Person | None = None,
) -> Annotation:
    """The next revision, under the newest guidelines, with the event that places it in the project's history."""
    batch = assignment.batch
    event = events.record(
        project_id=batch.project_id,
        actor=by or assignment.person,
        thing="assignment",
        thing_id=assignment.pk,
        before=before,
        after=after,
        now=now,
    )
    gap = (now - assignment.seen_at).total_seconds()
    return _add(
        assignment_id=assignment.pk,
        assignment=assignment.pk,
        project=batch.project_id,
        type=batch.task_type,
        response=response,
        active_seconds=round(assignment.active_seconds + (gap if 0 < gap <= LONGEST_GAP else 0.0), 1),
        made_at=now,
        event_id=event,
    )


def reinstate_all(batch: Batch, *, now: datetime) -> int:
    """Have the last submission of everybody who withdrew one and still holds the item count again. Returns how many.

    For a batch that closes: a revision with the same response, under the same guidelines, follows. In a transaction.
    """
    withdrawn = Annotation.objects.filter(assignment=OuterRef("pk"), response__isnull=True)
    held = Assignment.objects.filter(Exists(withdrawn), batch=batch, state=State.LEASED)
    number = 0
    for pk, item in held.order_by("item_id", "pk").values_list("pk", "item_id"):
        Item.objects.select_for_update(no_key=True).filter(pk=item).values_list("pk").first()
        assignment = held.select_related("batch", "person").filter(pk=pk).first()
        last = Annotation.objects.filter(assignment=pk, response__isnull=False).order_by("-revision").first()
        if assignment is None or last is None:
            continue
        event = events.record(
            project_id=batch.project_id,
            actor=None,
            thing="assignment",
            thing_id=pk,
            before=State.LEASED,
            after=State.SUBMITTED,
            now=now,
            detail={"reason": "batch closed"},
        )
        again = Annotation.objects.create(
            assignment=assignment,
            revision=Annotation.objects.filter(assignment=pk).count() + 1,
            response=last.response,
            guidelines_id=last.guidelines_id,
            active_seconds=last.active_seconds,
            made_at=now,
            event_id=event,
        )
        for origin in Provenance.objects.filter(annotation=last):
            origin.pk, origin.annotation = None, again
            origin.save(force_insert=True)
        queue.finish(assignment, annotation=again, now=now)
        Item.objects.filter(pk=item).update(submitted_count=F("submitted_count") + 1)
        number += 1
    return number


def withdraw(assignment: Assignment, annotation: Annotation, *, by: Person, now: datetime) -> None:
    """Take a submission back: a revision without a response follows it, and its person holds the item again, with what
    they had written as the draft. Nobody adjudicates meanwhile. The caller holds the item's lock, in a transaction.
    """
    append(assignment, response=None, before=State.SUBMITTED, after=State.LEASED, now=now, by=by)
    queue.reopen(assignment, now=now)
    Item.objects.filter(pk=assignment.item_id).update(submitted_count=F("submitted_count") - 1, due_at=None)
    Adjudication.objects.filter(item_id=assignment.item_id).delete()
    draft, _ = Draft.objects.get_or_create(assignment=assignment, defaults={"saved_at": now})
    Draft.objects.filter(pk=draft.pk).update(
        revision=F("revision") + 1, response=annotation.response, saved_at=now
    )
