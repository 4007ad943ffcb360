"""Orphaned slots: all possible annotators skipped the item, left, or helped to make it.

    trim(batch, now=now)           # a batch for all: as many slots as there are people who may have the item
    orphaned_items(batch)        # other batches: items that lack answers and have no possible annotator

Both are looked at beside the work and not in the loop from item to item.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation.models import Assignment, Batch, Event, Exclusion, Item, Membership, Slot
from annotation.queue import reservations
from annotation.queue.allocation import annotators
from annotation.queue.slots import due_at, key_chunks, undecided

State = Assignment.State
GONE = Q(state=State.SKIPPED) | Q(state=State.RETURNED, reason__in=reservations.BY_A_MANAGER)
"""Who had an item, has not answered, and does not get it again."""


def trim(batch: Batch, *, now: datetime, items: Iterable[int] | None = None) -> int:
    """Remove orphaned free slots of a batch that all annotate; an item that is complete then
    is due. Returns how many slots went.

    One slot stays on every item, for its history; it is reserved for a person who had the item, so that it is never served.
    `items` (ids) are looked at, else those that a person skipped or had to give up, and all once a person has left.
    """
    people = {person.pk for person in annotators(batch.project)}
    incomplete_items = undecided(batch).filter(slots_count__gt=F("submitted_count"))
    pks = sorted(items) if items is not None else _items_to_trim(batch, incomplete_items)
    gone = 0
    for some in key_chunks(pks):
        with transaction.atomic():
            locked = incomplete_items.select_for_update(no_key=True).filter(pk__in=some).order_by("pk")
            gone += _trim(batch, list(locked.values_list("pk", flat=True)), people, now)
    return gone


def orphaned_items(batch: Batch) -> list[int]:
    """Items (ids) of an open batch that lack answers and have no possible annotator.

    Only where a person skipped the item, had to give it up or left, or one more was asked for: that a batch has too few
    people yet is no reason to go on without them. A person who gave the item back may take it up again.
    """
    people = {person.pk for person in annotators(batch.project)}
    if not people:
        return []
    has_departures = _has_departures(batch)
    lacking = undecided(batch).filter(slots_count__gt=F("submitted_count"), due_at__isnull=True)
    gone = Assignment.objects.filter(GONE, batch=batch).values("item")
    added = Slot.objects.filter(batch=batch, added=True, is_taken=False).values("item")
    where = Q(pk__in=gone) | Q(pk__in=added)
    lacking = lacking.filter(where | Q(submitted_count__gt=0)) if has_departures else lacking.filter(where)
    leases = Assignment.objects.filter(item_id=OuterRef("pk"), state=State.LEASED)
    # The slot is orphaned only where this person cannot take it, either: of all people's items theirs are the fewest.
    busiest_person = _person_with_fewest_items(batch, people)
    theirs = Q(pk__in=_final_assignments(batch).filter(person=busiest_person).values("item")) | Q(
        pk__in=Exclusion.objects.filter(item__batch=batch, person=busiest_person).values("item")
    )
    candidate_ids = list(lacking.filter(theirs, ~Exists(leases)).order_by("pk").values_list("pk", flat=True))
    open_ends = []
    for some in key_chunks(candidate_ids):
        barred = _unavailable_people(some)
        open_ends += [pk for pk in some if not people - barred.get(pk, set())]
    return open_ends


def drop_free(item: Item) -> int:
    """Take the free slots of an item away, as far as its history can do without. The caller holds its lock."""
    free = list(Slot.objects.select_for_update().filter(item=item, is_taken=False).order_by("-number"))
    return _drop(item.batch_id, {item.pk: free})


def close_item(item: Item) -> list[dict[str, Any]]:
    """Take every free slot of an item away, so that it is not served. Returns what `open_item` needs to give them back.

    The slot of an item's history stays, reserved for the person who had it. The caller holds its lock.
    """
    free = list(Slot.objects.select_for_update().filter(item=item, is_taken=False).order_by("-number"))
    closed = [
        {"number": slot.number, "added": slot.added, "reserved_for": slot.reserved_for_id} for slot in free
    ]
    _drop(item.batch_id, {item.pk: free})
    if free and not Assignment.objects.filter(item=item).exists():
        gone, _ = Slot.objects.filter(item=item, is_taken=False).delete()
        _add_to_slots_count(item, -gone)
    return closed


def open_item(item: Item, closed: Sequence[Mapping[str, Any]]) -> None:
    """Give the slots back that `close_item` took away. The caller holds the item's lock."""
    existing_slots = dict(Slot.objects.filter(item=item).values_list("number", "pk"))
    new = []
    for slot in closed:
        if slot["number"] in existing_slots:
            kept_for = slot["reserved_for"]
            Slot.objects.filter(pk=existing_slots[slot["number"]], is_taken=False).update(
                reserved_for=kept_for
            )
            continue
        new.append(
            Slot(
                batch_id=item.batch_id,
                item=item,
                number=slot["number"],
                added=slot["added"],
                position=item.position,
                reserved_for_id=slot["reserved_for"],
            )
        )
    Slot.objects.bulk_create(new)
    _add_to_slots_count(item, len(new))


def drop_added(item_id: int) -> None:
    """Take the slots away that were added to an item and that are not taken: their reason is open again.

    The caller holds the item's lock.
    """
    free = Slot.objects.select_for_update().filter(item=item_id, added=True, is_taken=False).order_by("pk")
    if added_slots := list(free):
        _drop(added_slots[0].batch_id, {item_id: added_slots})


# -- underneath -------------------------------------------------------------------------------------


def _trim(batch: Batch, items: Sequence[int], people: Collection[int], now: datetime) -> int:
    had = _unavailable_people(items)
    for item, person in Assignment.objects.filter(item__in=items, state=State.LEASED).values_list(
        "item_id", "person_id"
    ):
        had.setdefault(item, set()).add(person)
    free: dict[int, list[Slot]] = {}
    locked = Slot.objects.select_for_update().filter(item__in=items, is_taken=False)
    for slot in locked.order_by("pk"):
        free.setdefault(slot.item_id, []).append(slot)
    going = {}
    for item, slots in free.items():
        expected = set(people) - had.get(item, set())
        reserved_people = {slot.reserved_for_id for slot in slots if slot.reserved_for_id in expected}
        room = len(expected) - len(reserved_people)
        # What is reserved for a person who does not come goes first, then the last ones.
        order = sorted(
            (slot for slot in slots if slot.reserved_for_id not in reserved_people),
            key=lambda slot: (slot.reserved_for_id is not None, -slot.number),
        )
        open_ones = [slot for slot in reversed(order) if slot.reserved_for_id is None]
        stay = {slot.pk for slot in open_ones[:room]}
        if less := [slot for slot in order if slot.pk not in stay]:
            going[item] = less
    gone = _drop(batch.pk, going)
    complete = Item.objects.filter(pk__in=items, due_at__isnull=True, submitted_count__gte=F("slots_count"))
    complete.filter(submitted_count__gt=0).update(due_at=due_at(batch, now))
    return gone


def _items_to_trim(batch: Batch, incomplete_items: QuerySet[Item]) -> list[int]:
    if not _has_departures(batch):
        incomplete_items = incomplete_items.filter(
            pk__in=Assignment.objects.filter(GONE, batch=batch).values("item")
        )
    return list(incomplete_items.order_by("pk").values_list("pk", flat=True))


def _drop(batch: int, going: Mapping[int, Sequence[Slot]]) -> int:
    """Delete these free slots, by item; of an item that would have none left the first stays, kept for who had it."""
    keys = [slot.pk for slots in going.values() for slot in slots]
    rest: dict[int, int] = {}
    remaining = Slot.objects.filter(item__in=going).exclude(pk__in=keys).order_by("-number")
    rest.update(remaining.values_list("item_id", "pk"))
    gone = 0
    for item, slots in going.items():
        last = list(slots)
        if item not in rest:
            first = min(last, key=lambda slot: slot.number)
            last.remove(first)
            rest[item] = first.pk
            had = (
                Assignment.objects.filter(item=item).order_by("-pk").values_list("person", flat=True).first()
            )
            if had is not None:
                Slot.objects.filter(pk=first.pk).update(reserved_for=had)
        if last:
            # Skips and returns point at the slot they gave back: any other slot of the item does as well.
            Assignment.objects.filter(slot__in=last).update(slot=rest[item])
            Slot.objects.filter(pk__in=[slot.pk for slot in last]).delete()
            Item.objects.filter(pk=item).update(slots_count=F("slots_count") - len(last))
            gone += len(last)
    Batch.objects.filter(pk=batch).update(slots_count=F("slots_count") - gone)
    return gone


def _add_to_slots_count(item: Item, number: int) -> None:
    Item.objects.filter(pk=item.pk).update(slots_count=F("slots_count") + number)
    Batch.objects.filter(pk=item.batch_id).update(slots_count=F("slots_count") + number)


def _final_assignments(batch: Batch) -> QuerySet[Assignment]:
    """What was worked on for good: who gave an item back may have it again."""
    return Assignment.objects.filter(Q(state=State.SUBMITTED) | GONE, batch=batch)


def _unavailable_people(items: Sequence[int]) -> dict[int, set[int]]:
    """Who answered, skipped or had to give up which of the items, or may not have it."""
    people_by_item: dict[int, set[int]] = {}
    for rows in (
        Assignment.objects.filter(Q(state=State.SUBMITTED) | GONE, item__in=items),
        Exclusion.objects.filter(item__in=items),
    ):
        for item, person in rows.values_list("item_id", "person_id"):
            people_by_item.setdefault(item, set()).add(person)
    return people_by_item


def _person_with_fewest_items(batch: Batch, people: Collection[int]) -> int:
    """Of these people the one who has had, or may not have, the fewest items of the batch."""
    counts = dict.fromkeys(people, 0)
    for rows in (_final_assignments(batch), Exclusion.objects.filter(item__batch=batch)):
        counted = (
            rows.filter(person__in=list(people)).order_by().values_list("person_id").annotate(n=Count("pk"))
        )
        for person, count in counted:
            counts[person] += count
    return min(sorted(counts), key=lambda person: counts[person])


def _has_departures(batch: Batch) -> bool:
    """Whether a person who could have annotated has left, or is no annotator any more, since the batch was opened."""
    gone = Membership.objects.filter(project=batch.project_id, removed_at__gte=batch.opened_at)
    other = Event.objects.filter(
        project=batch.project_id, thing="membership", after="no annotator", at__gte=batch.opened_at
    )
    return gone.exists() or other.exists()
