"""Revisions of a response: each submission adds one, and so does taking it back. Nothing is ever written over."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.db.models import Exists, F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from annotation.access import audit_log
from annotation.models import (
    Adjudication,
    Annotation,
    Assignment,
    Batch,
    Draft,
    Event,
    Guidelines,
    Item,
    Person,
    Provenance,
)
from annotation.platform.prepared_statements import (
    Insert,
    LastKey,
    Step,
    param_int,
    param_text,
    param_time,
    pipeline,
)
from annotation.platform.public_ids import new_public_id
from annotation.queue import orphaned_slots, reservations, resolutions, submissions

State = Assignment.State

LONGEST_GAP = 60.0
"""Seconds between two signs of life that still count as work."""

LONGEST_WITHOUT_SCRIPTS = 300.0
"""Seconds that count at most from one post of the plain form to the next: between them such a page can give no sign."""

WAY_BACK: Final = {"way_back": True}
"""What the event of a revision has that was written in a session opened by a manager's link (`Person.let_back_in_at`)."""

_add = Insert(
    Annotation,
    returning=("revision",),
    event_id=LastKey(Event),
    revision=Coalesce(
        Subquery(
            Annotation.objects.filter(assignment_id=param_int("assignment"))
            .order_by("-revision")
            .values("revision")[:1]
        ),
        0,
    )
    + 1,
    guidelines_id=Subquery(
        Guidelines.objects.filter(project_id=param_int("project"), task_type=param_text("type"))
        .shown(param_time("handed"), param_int("person"))
        .values("pk")[:1]
    ),
)


def since_last_sign(assignment: Assignment, now: datetime, *, scripts: bool) -> float:
    """Seconds at work on the item since the last sign of life, 0.0 where it is too long ago.

    A page with scripts gives a sign every 30 seconds of work, so a longer silence is none. A page without `scripts` is
    silent until its form is sent: then the time since is work, up to `LONGEST_WITHOUT_SCRIPTS`.

    An item that was reserved ahead waits while its person is at another one: work on it begins when they were last done
    with an item of the batch (`PersonBatchCounts.ended_at`, which `authorization.assignment` loads with it).
    """
    since = max(filter(None, (assignment.seen_at, getattr(assignment, "ended_before", None))))
    gap = (now - since).total_seconds()
    if not scripts:
        return min(max(gap, 0.0), LONGEST_WITHOUT_SCRIPTS)
    return gap if 0 < gap <= LONGEST_GAP else 0.0


def _rounded(seconds: float) -> float:
    """To a tenth of a second; what is shorter than that is kept, for 0.0 is unknown."""
    return round(seconds, 1) or round(seconds, 6)


def append_steps(
    assignment: Assignment,
    *,
    response: Mapping[str, Any] | None,
    before: str,
    after: str,
    now: datetime,
    by: Person | None = None,
    scripts: bool = True,
    unmet: Sequence[str] = (),
    unsure: bool = False,
) -> tuple[dict[str, Any], list[Step]]:
    """The next revision, under the guidelines that its person was shown (`AssignmentQuerySet.with_guidelines`), with the
    event that places it in the project's history.

    Gives what the revision holds, and the steps that write it. `scripts`: see `since_last_sign`; `unmet`: codes of the
    conditions that the response leaves unmet; `unsure`: its author is not sure.
    """
    batch, actor = assignment.batch, by or assignment.person
    values = {
        "public_id": new_public_id(),
        "assignment_id": assignment.pk,
        "response": response,
        "unmet": list(unmet) or None,
        "unsure": unsure or None,
        # Who takes a submission back was not at work on it since.
        "active_seconds": _rounded(
            assignment.active_seconds
            + (since_last_sign(assignment, now, scripts=scripts) if response is not None else 0.0)
        ),
        "made_at": now,
    }
    event = audit_log.recording(
        project_id=batch.project_id,
        actor=actor,
        thing="assignment",
        thing_id=assignment.pk,
        before=before,
        after=after,
        detail=WAY_BACK if actor.let_back_in_at is not None else None,
        now=now,
    )
    keys = {"assignment": assignment.pk, "project": batch.project_id, "type": batch.task_type}
    keys |= {"handed": assignment.leased_at, "person": assignment.person_id}
    return values, [event, _add.step(**values, **keys)]


def written_revision(values: Mapping[str, Any], key: int, revision: int) -> Annotation:
    """The revision that was written, with what the database gave it."""
    return _add.model_of(values, key, revision)


def append(
    assignment: Assignment,
    *,
    response: Mapping[str, Any] | None,
    before: str,
    after: str,
    now: datetime,
    by: Person | None = None,
) -> Annotation:
    """`append_steps`, done."""
    values, steps = append_steps(assignment, response=response, before=before, after=after, now=now, by=by)
    return written_revision(values, *pipeline(*steps))


def is_way_back(event: Event) -> bool:
    """Whether the revision of this event was written in a session that a manager's link had opened."""
    return bool((event.detail or {}).get("way_back"))


def reinstate_all(batch: Batch, *, now: datetime) -> int:
    """Have the last submission of all who withdrew one and still have the item count again. Returns how many.

    For a batch that closes: a revision with the same response, under the same guidelines, follows. In a transaction.
    """
    withdrawn = Annotation.objects.filter(assignment=OuterRef("pk"), response__isnull=True)
    leases = Assignment.objects.filter(Exists(withdrawn), batch=batch, state=State.LEASED)
    count = 0
    for pk, item in leases.order_by("item_id", "pk").values_list("pk", "item_id"):
        reservations.lock_item(item)
        assignment = leases.select_related("batch", "person").filter(pk=pk).first()
        responses = Annotation.objects.filter(assignment=pk, response__isnull=False).select_related("event")
        last = responses.order_by("-revision").first()
        if assignment is None or last is None:
            continue
        reinstate(assignment, last, reason="batch closed", by=None, now=now)
        count += 1
    return count


def reinstate(
    assignment: Assignment, last: Annotation, *, reason: str, by: Person | None, now: datetime
) -> None:
    """Have a submission that was withdrawn count again: a revision with the same response, under the same guidelines.

    `last` is the submission, with its event. The caller holds the item's lock, in a transaction.
    """
    detail = {"reason": reason, **(WAY_BACK if is_way_back(last.event) else {})}
    event = audit_log.log(assignment, State.LEASED, State.SUBMITTED, by=by, now=now, detail=detail)
    again = Annotation.objects.create(
        assignment=assignment,
        revision=latest(assignment).revision + 1,
        **{name: getattr(last, name) for name in ("response", "unmet", "unsure", "guidelines_id")},
        # With the time since it was withdrawn, which nothing else would count.
        active_seconds=_rounded(max(last.active_seconds, assignment.active_seconds)),
        made_at=now,
        event_id=event,
    )
    for origin in Provenance.objects.filter(annotation=last):
        origin.pk, origin.annotation = None, again
        origin.save(force_insert=True)
    submissions.finish(assignment, annotation=again, now=now)
    Item.objects.filter(pk=assignment.item_id).update(submitted_count=F("submitted_count") + 1)


def latest(assignment: Assignment) -> Annotation:
    """The newest revision of a response. Raises Annotation.DoesNotExist where nothing was submitted."""
    return Annotation.objects.filter(assignment=assignment).latest("revision")


def withdraw(assignment: Assignment, annotation: Annotation, *, by: Person, now: datetime) -> None:
    """Take a submission back: a revision without a response follows it, and its person holds the item again, with what
    they had written as the draft. The item is not adjudicated meanwhile, and no other person is asked in addition: whether
    that is needed shows once the item is complete again. The caller holds the item's lock, in a transaction.
    """
    append(assignment, response=None, before=State.SUBMITTED, after=State.LEASED, now=now, by=by)
    reservations.reopen(assignment, now=now)
    Item.objects.filter(pk=assignment.item_id).update(submitted_count=F("submitted_count") - 1, due_at=None)
    if by.pk != assignment.person_id:
        Adjudication.objects.filter(
            item_id=assignment.item_id
        ).delete()  # who sends it back has looked at the item
    resolutions.reopen([assignment.item_id])
    orphaned_slots.drop_added(assignment.item_id)
    draft, _ = Draft.objects.get_or_create(assignment=assignment, defaults={"saved_at": now})
    response = {**(annotation.response or {}), **({"unsure": True} if annotation.unsure else {})}
    Draft.objects.filter(pk=draft.pk).update(revision=F("revision") + 1, response=response, saved_at=now)
