"""Who gets which item next. The only writer of slots and leases.

A slot carries at most one live assignment (a partial unique index says so, in any case),
an item goes to a person at most once, and leases run on the database's clock.

Rows are locked in one order everywhere, so that no requests wait for each other in a circle: the item
(several: by key), the counts per person (several: by person), then the assignment and its slot, the batch last (several: the
newest first, so those that a batch feeds before it). Code that changes a whole batch locks its items first, too
(`slots.lock_items`). The holder of that lock is alone with the person's leases. Locks leave the key alone (`no_key`), so
that a row may be pointed at meanwhile.

Most slots are there when a batch opens. Some are made when a person comes for them: those of gold items, whose turn
is drawn for each person (`draws.GoldTurns`), and those of later people in a batch that all annotate. They
are planned slots, and reserved for that person.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, cast

from django.db import transaction
from django.db.models import DateTimeField, Exists, ExpressionWrapper, F, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext, gettext_noop

from annotation.access import audit_log
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Item,
    LedgerEntry,
    Person,
    PersonBatchCounts,
    Slot,
)
from annotation.models.sources import EXAMPLES_SELDOM
from annotation.platform.prepared_statements import Insert, Select, Update, param_int, param_text, pipeline
from annotation.platform.public_ids import new_public_id
from annotation.platform.refusals import ActionRefused, refuse
from annotation.queue import draws
from annotation.queue.availability import (
    expired_leases,
    is_for_everybody,
    is_open_to,
    items_left,
    never_assigned,
    open_to,
    returned_by,
)
from annotation.queue.entry_requirements import first_unmet
from annotation.queue.person_counts import add_to_person_counts, lock_person_counts, turn_count
from annotation.queue.slots import reserve

LEASE = timedelta(minutes=20)
WINDOW = 40
"""How many free slots ahead an order of one's own is drawn from."""
MOST_HELD = 2
"""Per person and batch: the item on screen and the prefetched one."""

State = Assignment.State

NOT_OPEN = {"planned": "batch_not_open", "paused": "batch_paused", "closed": "batch_closed"}
"""Codes of why a batch gives no items, by its state."""
EXPIRED, GIVEN_BACK = gettext_noop("expired"), "given back"
MOVED, TAKEN_BACK = gettext_noop("given to another annotator"), gettext_noop("taken back")
EXCLUDED = gettext_noop("item excluded")
"""Codes of why an assignment was returned (`Assignment.reason`); `annotation.platform.display_text.CODES` has their
words."""
BY_A_MANAGER = (MOVED, TAKEN_BACK)
"""Reasons by which a person does not get an item again."""


def _lease_end() -> ExpressionWrapper:
    return ExpressionWrapper(Now() + Value(LEASE), output_field=DateTimeField())


class ClaimedSlot(NamedTuple):
    """A slot that was free a moment ago."""

    pk: int
    item_id: int
    position: int
    is_created: bool = False
    """Whether this request created it."""


TAKEN = ("pk", "item_id", "position")

# -- statements that run for every item ---------------------------------------------------------------

_leased_assignments = Select(
    lambda: Assignment.objects.filter(
        person_id=param_int("person"), batch_id=param_int("batch"), state=State.LEASED
    ).order_by("pk")
)
_took = Update(
    lambda: PersonBatchCounts.objects.filter(pk=param_int("counts")),
    leased=F("leased") + 1,
    cursor=param_int("position"),
)
_add = Insert(Assignment, leased_until=_lease_end())
_leased = Select(
    lambda: (
        Assignment.objects.with_guidelines()
        .select_related("item__example")
        .defer(*("item__example__" + name for name in EXAMPLES_SELDOM))
        .filter(public_id=param_text("assignment"))
    )
)
_one_more_slot = Update(
    lambda: Item.objects.filter(
        pk=Subquery(
            Item.objects.select_for_update(skip_locked=True, of=("self",), no_key=True)
            .filter(pk=param_int("item"), batch__closed_at__isnull=True)
            .values("pk")[:1]
        )
    ),
    returning=("position",),
    slots_count=F("slots_count") + 1,
    due_at=None,
)
_add_slot = Insert(
    Slot,
    number=Coalesce(
        Subquery(Slot.objects.filter(item_id=param_int("item")).order_by("-number").values("number")[:1]),
        0,
    )
    + 1,
)
_count_slot = Update(lambda: Batch.objects.filter(pk=param_int("batch")), slots_count=F("slots_count") + 1)
_golds = Select(
    lambda: (
        never_assigned(Item.objects.filter(batch_id=param_int("batch"), is_gold=True), param_int("person"))
        .order_by("position")
        .values_list("pk")
    )
)
_renew = Update(
    lambda: Assignment.objects.filter(pk=param_int("assignment"), state=State.LEASED),
    leased_until=_lease_end(),
)


def _free_from() -> QuerySet[Slot]:
    # People who waited for the batch to close get nothing of it.
    is_open = Exists(Batch.objects.filter(pk=param_int("batch"), closed_at__isnull=True))
    free = Slot.objects.filter(
        is_open, batch_id=param_int("batch"), is_taken=False, position__gte=param_int("position")
    )
    return open_to(param_int("person"), free).order_by("position", "number")


def _claimable(free: QuerySet[Slot]) -> QuerySet[Slot]:
    """The first of the slots that no other person is taking this moment."""
    return Slot.objects.filter(
        pk=Subquery(free.select_for_update(skip_locked=True, of=("self",)).values("pk")[:1])
    )


_ahead = Select(lambda: _free_from().values_list("pk")[:WINDOW])
_take_first = Update(lambda: _claimable(_free_from()), returning=TAKEN, is_taken=True)
_take_this = Update(
    lambda: _claimable(Slot.objects.filter(pk=param_int("slot"), is_taken=False)),
    returning=TAKEN,
    is_taken=True,
)

_DRAFT: Any = Assignment._meta.get_field("draft")

# -- journeys ---------------------------------------------------------------------------------------


def next_assignment(
    *, batch: Batch, person: Person, holding: Sequence[str] = (), now: datetime
) -> Assignment | None:
    """The next item for this person: one already held and not listed in `holding`, else a new lease.

    None when nothing is left for this person now (or they hold `MOST_HELD` already). Slots whose
    lease ran out are taken back only when no free slot is left, in a transaction of their own.
    A paused batch serves what the person has in progress, and nothing else.
    Raises ActionRefused: batch_closed, batch_not_open, batch_paused, and the code of an entry requirement that is not met
    (`annotation.queue.entry_requirements`).
    """
    if batch.state == "paused" and (again := _held_assignment(batch, person, holding, now)) is not None:
        return again
    require_open(batch)
    if requirement := first_unmet(batch=batch, person=person, now=now, holding=len(holding)):
        if requirement.code == "cap_reached":
            _release_reservations(batch, person, now)
        refuse(requirement.code, requirement.message, more={"page": requirement.address})
    with transaction.atomic():
        assignment = take_next(batch=batch, person=person, holding=holding, now=now)
    if assignment is None and take_back_expired(batch=batch, now=now):
        with transaction.atomic():
            assignment = take_next(batch=batch, person=person, holding=holding, now=now)
    return assignment


def take_next(
    *,
    batch: Batch,
    person: Person,
    holding: Sequence[str],
    now: datetime,
    counts: PersonBatchCounts | None = None,
) -> Assignment | None:
    """`next_assignment` within the caller's transaction, for an open batch and a person who meets its entry requirements.

    Leases are not taken back from others. `counts` is the person's row where the caller has changed, and thereby locked, it.
    """
    counts = counts or lock_person_counts(batch.pk, person.pk)
    held_assignments = _leased_assignments(batch=batch.pk, person=person.pk) if counts.leased else []
    if (again := _first_unlisted(held_assignments, holding)) is not None:
        return again
    if len(held_assignments) >= MOST_HELD:
        return None
    slot, everybodys = _claim_in_turn(batch, person, counts), is_for_everybody(batch)
    if slot is not None and everybodys and not slot.is_created:
        # Theirs alone from now on, as a slot that is made for a person is: no other person can do the item in their place.
        Slot.objects.filter(pk=slot.pk).update(reserved_for=person)
    if slot is None and everybodys:
        slot = _claim_new(batch, person)
        if slot is None:
            return _lease_returned_item(batch, person, now)
    return None if slot is None else _lease(slot, person=person, batch=batch, counts=counts, now=now)


def _release_reservations(batch: Batch, person: Person, now: datetime) -> None:
    """Once a person submitted all that one person may do in a batch, what is still reserved for them is free for others."""
    limit = batch.caps.get("items")
    if limit is None or is_for_everybody(batch):
        return
    with transaction.atomic():
        if lock_person_counts(batch.pk, person.pk).submitted < limit:
            return
        reserved_slots = Slot.objects.filter(
            batch=batch, is_taken=False, reserved_for=person, item__is_gold=False
        )
        # Locked at once: a manager may be giving them to another person.
        locked = reserved_slots.select_for_update(no_key=True, of=("self",)).order_by("pk")
        reserve(batch, list(locked.values_list("pk", flat=True)), None, by=person, now=now)


def _held_assignment(
    batch: Batch, person: Person, holding: Sequence[str], now: datetime
) -> Assignment | None:
    """What a person has been given and not finished, where nothing is before what was begun."""
    again = _first_unlisted(_leased_assignments(batch=batch.pk, person=person.pk), holding)
    if again is not None:
        require_entry(batch, person, now=now, begun=True)
    return again


def _first_unlisted(held_assignments: Sequence[Assignment], holding: Sequence[str]) -> Assignment | None:
    """The first of them that the page does not have yet; its lease starts again."""
    for assignment in held_assignments:
        if assignment.public_id not in holding:
            renew(assignment)
            return assignment
    return None


def next_or_none(*, batch: Batch, person: Person, holding: Sequence[str], now: datetime) -> Assignment | None:
    """`next_assignment` for a person whose submission is kept in any case: None where it would be refused."""
    try:
        return next_assignment(batch=batch, person=person, holding=holding, now=now)
    except ActionRefused:
        return None


def require_open(batch: Batch) -> None:
    """Raises ActionRefused: batch_closed, batch_paused, batch_not_open."""
    if batch.state != "open":
        states = {"closed": gettext("is closed"), "paused": gettext("is paused")}
        refuse(
            NOT_OPEN[batch.state],
            "The batch {name} {words}.",
            name=batch.name,
            words=states.get(batch.state, gettext("is not open yet")),
        )


def require_entry(batch: Batch, person: Person, *, now: datetime, begun: bool = False) -> None:
    """Raises ActionRefused with the first entry requirement that the person does not meet, and its page."""
    if requirement := first_unmet(batch=batch, person=person, now=now, holding=None, begun=begun):
        refuse(requirement.code, requirement.message, more={"page": requirement.address})


def renew(assignment: Assignment) -> None:
    """The person is at work: the lease starts again."""
    _renew(assignment=assignment.pk)


def take_again(assignment: Assignment, *, now: datetime) -> None:
    """Give a returned assignment a free slot of its item back, to a person who meets the entry requirements.

    Raises ActionRefused: batch_closed, batch_paused, place_taken with the reason, and the code of a requirement that is not
    met.
    """
    require_open(assignment.batch)
    require_entry(assignment.batch, assignment.person, now=now)
    with transaction.atomic():
        lock_item(assignment.item_id)
        lock_person_counts(assignment.batch_id, assignment.person_id)
        slot = (
            Slot.objects.select_for_update(of=("self",), no_key=True)
            .filter(is_open_to(assignment.person_id), item_id=assignment.item_id, is_taken=False)
            .order_by(F("reserved_for").asc(nulls_last=True), "number")
            .first()
        )
        gone = assignment.item.is_gold and used_up([assignment])
        moved = assignment.reason in BY_A_MANAGER and assignment.batch.purpose != Batch.Purpose.QUALIFICATION
        if slot is None or moved or gone:
            refuse("place_taken", why_gone(assignment.reason))
        _take_back_up(assignment, slot.pk, now)


def used_up(golds: Sequence[Assignment]) -> set[int]:
    """Of the batches of these returned gold items those (ids) in which no ordinary slot is free any more.

    A gold item's slot is one person's alone. If it could be opened again for ever, that would reveal it: an ordinary item
    would be with another person by then. Where people get every item, ordinary slots are a person's alone, too.
    """
    batches = {assignment.batch_id for assignment in golds if not is_for_everybody(assignment.batch)}
    if not batches:
        return set()
    free = Slot.objects.filter(batch__in=batches, is_taken=False, item__is_gold=False)
    return batches - set(free.order_by().values_list("batch_id", flat=True).distinct())


def why_gone(reason: str) -> str:
    """Why a person cannot have an item again, by the reason for which it was returned."""
    if reason in BY_A_MANAGER:
        return gettext("A manager gave this item to another annotator. Your draft is under My work.")
    if reason == EXCLUDED:
        return gettext("This item was excluded. Your draft is under My work.")
    if reason == EXPIRED:
        return gettext(
            "Your reservation expired, and another annotator took the slot. Your draft is under My work."
        )
    if reason == GIVEN_BACK:
        return gettext("You returned this item, and another annotator took it. Your draft is under My work.")
    return gettext(
        "A manager took back this item, and another annotator has it. Your draft is under My work."
    )


def _take_back_up(assignment: Assignment, slot_id: int, now: datetime) -> None:
    """A returned assignment on a free slot. The caller holds the lock of the counts. Raises ActionRefused(place_taken)."""
    Slot.objects.filter(pk=slot_id).update(is_taken=True)
    changed = Assignment.objects.filter(pk=assignment.pk, state=State.RETURNED).update(
        state=State.LEASED, reason="", slot_id=slot_id, leased_until=_lease_end(), ended_at=None
    )
    if not changed:
        refuse("place_taken", "This assignment is no longer open.")
    add_to_person_counts(assignment, returned=-1, leased=1)
    audit_log.log(assignment, State.RETURNED, State.LEASED, by=assignment.person, now=now)
    assignment.slot_id, assignment.state = slot_id, State.LEASED


def reset_start(assignment: Assignment, *, now: datetime) -> None:
    """The person sees the item again from now on, and with it the guidelines as they are now."""
    Assignment.objects.filter(pk=assignment.pk).update(leased_at=now)
    assignment.leased_at = now


def give_back(
    assignment: Assignment, *, state: State, reason: str, now: datetime, actor: Person | None
) -> bool:
    """End a lease without a submission and free its slot. False when it had already ended."""
    with transaction.atomic():
        lock_person_counts(assignment.batch_id, assignment.person_id)
        changed = Assignment.objects.filter(pk=assignment.pk, state=State.LEASED).update(
            state=state, reason=reason, ended_at=now
        )
        if not changed:
            return False
        slot = Slot.objects.filter(pk=assignment.slot_id)
        skipped = state == State.SKIPPED and is_for_everybody(assignment.batch)
        if (skipped or assignment.batch.strategy == "split") and not assignment.item.is_gold:
            slot.update(is_taken=False, reserved_for=None)  # another person may do it now
        else:
            slot.update(is_taken=False)
        # The time of the next item starts now, unless another person ended this one.
        add_to_person_counts(
            assignment,
            leased=-1,
            ended=now if actor is not None and actor.pk == assignment.person_id else None,
            **{state.value: 1},
        )
        # Why a person skips is their own word, and is with the assignment alone; why a lease ended is kept.
        detail = {"reason": reason} if state == State.RETURNED and reason else None
        audit_log.log(assignment, State.LEASED, state, by=actor, now=now, detail=detail)
        _enter_in_ledger(assignment, state, now)
    assignment.state = state
    return True


def skip_returned(assignment: Assignment, *, reason: str, now: datetime) -> None:
    """A skip after the lease was taken back: the slot is free already, the person's reason is kept."""
    with transaction.atomic():
        lock_person_counts(assignment.batch_id, assignment.person_id)
        changed = Assignment.objects.filter(pk=assignment.pk, state=State.RETURNED).update(
            state=State.SKIPPED, reason=reason, ended_at=now
        )
        if changed:
            add_to_person_counts(assignment, returned=-1, skipped=1)
            audit_log.log(assignment, State.RETURNED, State.SKIPPED, by=assignment.person, now=now)
            _enter_in_ledger(assignment, State.SKIPPED, now)
    assignment.state = State.SKIPPED


def _enter_in_ledger(assignment: Assignment, kind: State, now: datetime) -> None:
    """The time since the row before, of a skip or return, for pay (`annotation.payments.ledger`). In a transaction."""
    revisions = Annotation.objects.filter(assignment=assignment.pk).order_by("-revision")
    submitted = revisions.filter(response__isnull=False)
    since = LedgerEntry.objects.filter(
        assignment=assignment.pk, revision__gte=_first(submitted, "revision", 0)
    ).order_by()
    seconds = since.values("assignment").annotate(sum=Sum("seconds"))
    LedgerEntry.objects.create(
        assignment=assignment,
        batch_id=assignment.batch_id,
        person_id=assignment.person_id,
        kind=kind.value,
        revision=_first(revisions, "revision", 0),
        seconds=_first(Assignment.objects.filter(pk=assignment.pk), "active_seconds", 0.0)
        - _first(submitted, "active_seconds", 0.0)
        - _first(seconds, "sum", 0.0),
        at=now,
    )


def _first(rows: QuerySet[Any, Any], field: str, default: float) -> Coalesce:
    return Coalesce(Subquery(rows.values(field)[:1]), default)


def reopen(assignment: Assignment, *, now: datetime) -> None:
    """Undo of a submission: the person holds the slot again. The caller holds the item's lock."""
    add_to_person_counts(assignment, submitted=-1, leased=1)
    Assignment.objects.filter(pk=assignment.pk, state=State.SUBMITTED).update(
        state=State.LEASED,
        annotation=None,
        response_fingerprint=None,
        ended_at=None,
        leased_at=now,
        leased_until=_lease_end(),
        seen_at=now,
    )


def take_back_expired(*, batch: Batch, now: datetime, limit: int = 50) -> int:
    """End leases that ran out (`availability.expired_leases`), oldest first, so that others can have their slots.

    A request of this moment keeps its assignment. Returns how many.
    """
    leases = expired_leases([batch.pk])
    with transaction.atomic():
        people = (
            PersonBatchCounts.objects.select_for_update(skip_locked=True, no_key=True)
            .filter(batch=batch, person__in=leases.values("person"))
            .order_by("person_id")
            .values_list("person_id", flat=True)
        )
        theirs = (
            leases.select_for_update(skip_locked=True, of=("self",), no_key=True)
            .filter(person__in=list(people))
            .select_related("batch")
            .order_by("leased_until", "pk")[:limit]
        )
        results = [
            give_back(assignment, state=State.RETURNED, reason=EXPIRED, now=now, actor=None)
            for assignment in list(theirs)
        ]
    return sum(results)


def take_back_all(*, batch: Batch, reason: str, now: datetime, actor: Person | None) -> int:
    """End every lease of the batch; drafts stay with their people. Returns how many."""
    leases = (
        Assignment.objects.filter(batch=batch, state=State.LEASED)
        .select_related("batch")
        .order_by("person_id")
    )
    return sum(
        give_back(assignment, state=State.RETURNED, reason=reason, now=now, actor=actor)
        for assignment in list(leases)
    )


# -- underneath -------------------------------------------------------------------------------------


def _lease(
    slot: ClaimedSlot, *, person: Person, batch: Batch, counts: PersonBatchCounts, now: datetime
) -> Assignment:
    """The slot is the person's. The assignment comes with all that `assignments.payload` shows of it (`is_complete`)."""
    public_id = new_public_id()
    (assignment,) = pipeline(
        _add.step(
            public_id=public_id,
            batch_id=batch.pk,
            item_id=slot.item_id,
            slot_id=slot.pk,
            person_id=person.pk,
            leased_at=now,
            seen_at=now,
        ),
        _took.step(counts=counts.pk, position=counts.cursor if slot.is_created else slot.position),
        audit_log.recording(
            project_id=batch.project_id,
            actor=person,
            thing="assignment",
            thing_id=None,
            after=State.LEASED,
            now=now,
        ),
        _leased.step(assignment=public_id),
    )
    assignment.batch, assignment.person = batch, person
    assignment.submitted_before = counts.submitted
    _DRAFT.set_cached_value(assignment, None)  # no draft can exist yet
    return cast("Assignment", assignment)


def is_complete(assignment: Assignment) -> bool:
    """Whether the assignment came with all that is shown of it: from `take_next` as a new one, or from `access`."""
    return hasattr(assignment, "submitted_before")


def _claim(batch: Batch, person: Person, counts: PersonBatchCounts) -> ClaimedSlot | None:
    """A free slot in the order of the batch: behind what the person had, else one that was given back."""
    slot = _claim_free(batch, person, counts.cursor)
    return _claim_free(batch, person, 0) if slot is None and counts.cursor else slot


def _claim_in_turn(batch: Batch, person: Person, counts: PersonBatchCounts) -> ClaimedSlot | None:
    """A slot as it comes; in a batch with gold, one on a gold item where the turn is a gold one."""
    take = _claim_drawn if batch.task().order == "shuffled" else _claim
    if not batch.gold_percent:
        return take(batch, person, counts)
    had, turns = turn_count(counts), draws.GoldTurns(batch, person.pk)
    golds = _golds(batch=batch.pk, person=person.pk)
    # Where turns are independent, gold that came after the last ordinary item would be known as gold.
    if had in turns and (not turns.are_independent or _has_ordinary(batch, person)):
        for (item,) in draws.order_of_gold(batch, person.pk, had, golds):
            if slot := _create_slot(item, batch, person):
                return slot
    return take(batch, person, counts)


def _has_ordinary(batch: Batch, person: Person) -> bool:
    """Whether an item that is no gold waits for the person."""
    if is_for_everybody(batch):
        return items_left(batch, person).exists()
    return bool(_ahead(batch=batch.pk, person=person.pk, position=0))


def _lease_returned_item(batch: Batch, person: Person, now: datetime) -> Assignment | None:
    """An item that the person gave back once, and that others cannot do in their place; in a qualification, which people
    do whole, also one that a manager took back.
    """
    returned = returned_by(person).filter(batch=batch)
    for assignment in returned.select_related("batch", "person").order_by("ended_at", "pk")[:1]:
        slot_id = assignment.slot_id
        if batch.purpose == Batch.Purpose.QUALIFICATION:
            free = Slot.objects.filter(is_open_to(person.pk), item=assignment.item_id, is_taken=False)
            theirs = free.select_for_update(skip_locked=True, of=("self",), no_key=True).order_by(
                F("reserved_for").asc(nulls_last=True), "number"
            )
            free_slot = theirs.first() or _create_slot(assignment.item_id, batch, person)
            if free_slot is None:
                return None
            slot_id = free_slot.pk
            Slot.objects.filter(pk=slot_id).update(reserved_for=person)
        _take_back_up(assignment, slot_id, now)
        reset_start(assignment, now=now)
        return assignment
    return None


def _claim_new(batch: Batch, person: Person) -> ClaimedSlot | None:
    """A new slot on the next undecided item that the person never had and that has no free slot."""
    item_ids = items_left(batch, person).order_by("position").values_list("pk", flat=True)[:WINDOW]
    return next((slot for pk in list(item_ids) if (slot := _create_slot(pk, batch, person))), None)


def _create_slot(item: int, batch: Batch, person: Person) -> ClaimedSlot | None:
    """A planned slot for this person alone; None where another request is changing the item.

    The item comes after the counts here, out of order, so it waits for no lock.
    """
    for (position,) in _one_more_slot(item=item):
        slot_id = _add_slot.only(
            item=item,
            item_id=item,
            batch_id=batch.pk,
            position=position,
            is_taken=True,
            reserved_for_id=person.pk,
        )
        _count_slot(batch=batch.pk)
        return ClaimedSlot(slot_id, item, position, is_created=True)
    return None


def _claim_free(batch: Batch, person: Person, position: int) -> ClaimedSlot | None:
    """The first free slot from this position on."""
    return next(
        (ClaimedSlot(*row) for row in _take_first(batch=batch.pk, person=person.pk, position=position)), None
    )


def _claim_drawn(batch: Batch, person: Person, counts: PersonBatchCounts) -> ClaimedSlot | None:
    """A free slot in an order of the person's own: from a point drawn for them on, one of the next `WINDOW`.

    The order follows from the batch's key, the person and what they had so far; two requests of one person take
    turns on the lock of their counts, so each draws again.
    """
    window = partial(_ahead, batch=batch.pk, person=person.pk)
    for (key,) in draws.order_of_slots(batch, person.pk, turn_count(counts), window):
        for row in _take_this(slot=key):
            return ClaimedSlot(*row)
    return None


def lock_item(item_id: int) -> None:
    """Deciding or changing the item waits until the transaction ends."""
    Item.objects.select_for_update(no_key=True).filter(pk=item_id).values_list("pk").first()
