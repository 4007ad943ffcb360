"""Shares of a batch: slots reserved for people, moved, opened to all; leases that a manager takes back.

A share is the slots reserved for a person (`Slot.reserved_for`) and what they have in progress. The queue gives a reserved
slot to no other person. What is finished is in no share any more and is never moved.

Slots are changed only while they are free, one statement for many, in the order of their keys: a person who takes one at
this moment keeps it. Leases end through `reservations.give_back`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils.translation import ngettext

from annotation.access.roles import Role
from annotation.models import Assignment, Batch, Exclusion, Membership, Person, Project, Slot
from annotation.platform.refusals import refuse
from annotation.queue import reservations, strategies
from annotation.queue.slots import key_chunks, reserve

State = Assignment.State


@dataclass(frozen=True)
class MoveResult:
    """The result of moving a share: slots that others have now, that are open to all, and leases that ended for it."""

    moved: int
    opened: int
    returned: int


def annotators(project: Project) -> list[Person]:
    """All who annotate in the project now, in the order of joining."""
    here = Membership.objects.filter(project=project, removed_at__isnull=True, person__is_active=True)
    return [
        membership.person
        for membership in here.select_related("person").order_by("pk")
        if Role.ANNOTATOR.value in membership.roles
    ]


def annotator_ids(project: int) -> set[int]:
    """All (by key) who annotate in the project (key) now."""
    members = Membership.objects.filter(project=project, removed_at__isnull=True, person__is_active=True)
    return {person for person, roles in members.values_list("person_id", "roles") if Role.ANNOTATOR in roles}


def hand_out(
    *,
    batch: Batch,
    by: Person | None,
    now: datetime,
    items: Iterable[int] | None = None,
    limited: bool = True,
) -> int:
    """Keep the free slots of a split batch (of `items`, by id, or of all) for its people. Returns how many are kept.

    Shares are as even as makers allow, what people have already counted in, and where it is `limited` never more than one
    person may do in the batch. A slot that no person may have within their limits stays open to others.
    """
    people = [person.pk for person in annotators(batch.project)]
    free: dict[int, list[int]] = {}
    free_slots = Slot.objects.filter(
        batch=batch, is_taken=False, reserved_for__isnull=True, item__is_gold=False
    )
    if items is not None:
        free_slots = free_slots.filter(item_id__in=list(items))
    for pk, item in free_slots.order_by("position", "number").values_list("pk", "item_id"):
        free.setdefault(item, []).append(pk)
    loads = _loads(batch)
    slots_by_person: dict[int, list[int]] = {}
    # Items with as many free slots as the overlap are nearly all of them; those with fewer are split beside them.
    for room in sorted({len(slot_ids) for slot_ids in free.values()}, reverse=True):
        alike = [item for item, slot_ids in free.items() if len(slot_ids) == room]
        split = strategies.split(
            alike,
            people,
            room,
            seed=batch.seed,
            barred=_excluded_by_item(alike),
            loads=loads,
            most=batch.caps.get("items") if limited else None,
        )
        for item, who in split.items():
            for pk, person in zip(free[item], who, strict=False):
                slots_by_person.setdefault(person, []).append(pk)
                loads[person] = loads.get(person, 0) + 1
    return sum(reserve(batch, slots, person, by=by, now=now) for person, slots in slots_by_person.items())


def split_all(*, batch: Batch, by: Person | None, now: datetime) -> int:
    """`hand_out` for a batch that opens. Raises ActionRefused where there are too few people, or a share is beyond their
    limit."""
    people = len(annotators(batch.project))
    if people < batch.overlap:
        refuse(
            "invalid_request",
            ngettext(
                "A fixed allocation with {overlap} person per item needs {overlap} annotator; the project has "
                "{people}. Invite more.",
                "A fixed allocation with {overlap} people per item needs {overlap} annotators; the project has "
                "{people}. Invite more, or lower the number of people per item.",
                batch.overlap,
            ).format(overlap=batch.overlap, people=people),
        )
    reserved_count = hand_out(batch=batch, by=by, now=now, limited=False)
    largest, most = max(_loads(batch).values(), default=0), batch.caps.get("items")
    if most is not None and largest > most:
        refuse(
            "invalid_request",
            "The largest share would be {largest} items, above the limit of {most} per person. "
            "Raise the limit, invite more people, or use fewer items.",
            largest=largest,
            most=most,
        )
    return reserved_count


def assign(*, batch: Batch, person: Person, most: int, by: Person, now: datetime) -> int:
    """Keep up to `most` free slots for a person, in the order of the batch. Returns how many there were for them.

    Never more than one person may do in the batch; what they have counts.
    """
    _require_annotator(batch, person)
    _require_unfinished(batch)
    if most < 1:
        refuse("invalid_request", "Enter a number of items, at least 1.")
    with transaction.atomic():
        most = min(most, _remaining_capacity(batch, person))
        free = Slot.objects.filter(
            batch=batch, is_taken=False, reserved_for__isnull=True, item__is_gold=False
        )
        rows = list(free.order_by("-position", "-number").values_list("item_id", "pk"))
        first = dict(rows)  # of the slots of an item the one with the lowest number
        slot_ids: list[int] = []
        for items in key_chunks(reversed(first)):
            barred = _excluded_by_item(items)
            slot_ids += [first[item] for item in items if person.pk not in barred.get(item, ())]
            if len(slot_ids) >= most:
                break
        return reserve(batch, slot_ids[:most], person.pk, by=by, now=now)


def move(
    *,
    batch: Batch,
    person: Person,
    to: Sequence[Person] = (),
    leases: bool = False,
    by: Person,
    now: datetime,
) -> MoveResult:
    """Give what a person has not finished to others, evenly; to the next person where `to` is empty.

    The share is what is reserved for them; with `leases` also what they have in progress, which is taken back
    first (drafts stay with them, and they do not get these items again). A slot that none of `to` may have, or has room
    for, is opened. In a qualification items in progress stay that person's: there people do every item.
    """
    _require_unfinished(batch)
    for recipient in to:
        _require_annotator(batch, recipient)
        if recipient.pk == person.pk:
            refuse(
                "invalid_request", "{name} already has this share. Choose another person.", name=person.name
            )
    with transaction.atomic():
        # Leases first: they lock counts per person, which come before slots.
        returned = 0
        slots = set()
        if leases:
            for assignment in leases_of(batch, [person]):
                if reservations.give_back(
                    assignment,
                    state=State.RETURNED,
                    reason=reservations.MOVED,
                    now=now,
                    actor=by,
                ):
                    returned += 1
                    if not _is_personal(assignment):
                        slots.add(assignment.slot_id)
        reserved_slots = Slot.objects.filter(
            batch=batch, is_taken=False, reserved_for=person, item__is_gold=False
        )
        if batch.purpose != Batch.Purpose.QUALIFICATION:
            slots |= set(reserved_slots.values_list("pk", flat=True))
        rows = dict(Slot.objects.filter(pk__in=slots, is_taken=False).values_list("item_id", "pk"))
        split = strategies.split(
            list(rows),
            [recipient.pk for recipient in to],
            1,
            seed=batch.seed,
            barred=_excluded_by_item(list(rows)),
            loads=_loads(batch),
            most=batch.caps.get("items"),
        )
        moved = opened = 0
        slots_by_person: dict[int | None, list[int]] = {}
        for item, who in split.items():
            slots_by_person.setdefault(who[0] if who else None, []).append(rows[item])
        for taker, slot_ids in slots_by_person.items():
            changed = reserve(batch, slot_ids, taker, by=by, now=now)
            moved += changed if taker is not None else 0
            opened += changed if taker is None else 0
    return MoveResult(moved, opened, returned)


def release(*, project: Project, person: Person, by: Person, now: datetime) -> int:
    """Slots reserved for a person who left the project are free for others.

    Returns how many slots these are. In the caller's transaction, after the person's leases ended.
    """
    slots_by_batch: dict[int, list[int]] = {}
    reserved = reserved_slots(project, person).order_by("batch_id", "pk")
    for batch, pk in reserved.values_list("batch_id", "pk"):
        slots_by_batch.setdefault(batch, []).append(pk)
    batches = Batch.objects.in_bulk(slots_by_batch)
    return sum(
        reserve(batches[batch], slots, None, by=by, now=now) for batch, slots in slots_by_batch.items()
    )


def reserved_slots(project: Project, person: Person) -> QuerySet[Slot]:
    """The free slots of the project's unfinished batches that are kept for the person."""
    return Slot.objects.filter(
        batch__project=project,
        batch__closed_at__isnull=True,
        item__is_gold=False,
        is_taken=False,
        reserved_for=person,
    )


def take_back(
    *, batch: Batch, leases: Sequence[Assignment], to: Person | None = None, by: Person, now: datetime
) -> MoveResult:
    """End these leases of the batch; their slots are reserved for `to`, or free for others. Drafts stay.

    People do not get an item again from the queue, but in a qualification, where people do every item. An item
    that `to` may not have, or has no room for, is free for others.
    """
    _require_unfinished(batch)
    if to is not None:
        _require_annotator(batch, to)
    moved = 0
    with transaction.atomic():
        # By person, as counts per person are locked everywhere; slots after them.
        ended = [
            assignment
            for assignment in sorted(leases, key=lambda lease: (lease.person_id, lease.pk))
            if reservations.give_back(
                assignment, state=State.RETURNED, reason=reservations.TAKEN_BACK, now=now, actor=by
            )
        ]
        barred = _excluded_by_item([assignment.item_id for assignment in ended])
        room = 0 if to is None else _remaining_capacity(batch, to)
        theirs: list[int] = []
        others: list[int] = []
        for assignment in ended:
            if _is_personal(assignment):
                continue
            may = to is not None and len(theirs) < room and to.pk not in barred.get(assignment.item_id, ())
            (theirs if may else others).append(assignment.slot_id)
        reserve(batch, others, None, by=by, now=now)
        if to is not None:
            moved = reserve(batch, theirs, to.pk, by=by, now=now)
    return MoveResult(moved, len(ended) - moved, len(ended))


def leases_of(batch: Batch, people: Sequence[Person] | None = None) -> list[Assignment]:
    """The items in progress of these people (None: all), person by person."""
    leases = Assignment.objects.filter(batch=batch, state=State.LEASED)
    if people is not None:
        leases = leases.filter(person__in=list(people))
    return list(leases.select_related("batch", "slot", "person", "item__example").order_by("person_id", "pk"))


def reserved_counts(batches: Sequence[Batch]) -> dict[tuple[int, int], int]:
    """Free slots that are reserved for a person, by (batch, person) in ids: what they have not begun."""
    rows = Slot.objects.filter(
        batch__in=batches, is_taken=False, reserved_for__isnull=False, item__is_gold=False
    )
    counted = rows.order_by().values_list("batch_id", "reserved_for_id").annotate(n=Count("pk"))
    return {(batch, person): n for batch, person, n in counted}


# -- underneath -------------------------------------------------------------------------------------


def _is_personal(assignment: Assignment) -> bool:
    """Whether no other person does an item for a person: its slot was made for their turn, or it is of a qualification."""
    return assignment.item.is_gold or assignment.batch.purpose == Batch.Purpose.QUALIFICATION


def _remaining_capacity(batch: Batch, person: Person) -> int:
    """How many more items may be reserved for the person, by what one person may do in the batch."""
    limit = batch.caps.get("items")
    return batch.slots_count if limit is None else max(limit - _loads(batch)[person.pk], 0)


def _loads(batch: Batch) -> Counter[int]:
    """How many items each person has in the batch: reserved, in progress, or submitted."""
    loads: Counter[int] = Counter()
    for (_, person), count in reserved_counts([batch]).items():
        loads[person] += count
    live = Assignment.objects.filter(batch=batch, state__in=[State.LEASED, State.SUBMITTED])
    for person, count in live.order_by().values_list("person_id").annotate(n=Count("pk")):
        loads[person] += count
    return loads


def _excluded_by_item(items: Sequence[int]) -> Mapping[int, set[int]]:
    """Who may not have which of the items: makers, people who had it already, or have another slot reserved."""
    people_by_item: dict[int, set[int]] = {}
    for some in key_chunks(items):
        rows = (
            Exclusion.objects.filter(item__in=some).values_list("item_id", "person_id"),
            Assignment.objects.filter(item__in=some).values_list("item_id", "person_id"),
            Slot.objects.filter(item__in=some, reserved_for__isnull=False).values_list(
                "item_id", "reserved_for_id"
            ),
        )
        for queried in rows:
            for item, person in queried:
                people_by_item.setdefault(item, set()).add(person)
    return people_by_item


def _require_annotator(batch: Batch, person: Person) -> None:
    here = Membership.objects.filter(project=batch.project, person=person, removed_at__isnull=True).first()
    if here is None or Role.ANNOTATOR.value not in here.roles:
        refuse("invalid_request", "{name} is not an annotator in this project.", name=person.name)


def _require_unfinished(batch: Batch) -> None:
    if batch.closed_at is not None:
        refuse(
            "batch_closed",
            "The batch {name} is closed. Its items can no longer be assigned.",
            name=batch.name,
        )
    if batch.opened_at is None:
        refuse(
            "batch_not_open",
            "Open {name} first. Its items can only be assigned once it is open.",
            name=batch.name,
        )
