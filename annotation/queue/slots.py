"""The planned slots of items: new items with theirs, and another number when a batch opens or its overlap changes."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Count, Exists, F, Max, Model, OuterRef, Q, QuerySet

from annotation.models import Adjudication, Assignment, Batch, Decision, Event, Exclusion, Item, Person, Slot
from annotation.platform import bulk_rows
from annotation.platform.keyset import chunks
from tasks.contract import decision_rules

AT_ONCE = 500
"""Rows of one statement."""
ITEMS_AT_ONCE = 1_000
"""Items that are written together."""


def set_overlap(*, batch: Batch, overlap: int, now: datetime) -> None:
    """Another number of planned slots on every undecided item outside adjudication.

    More: complete items wait for more people again. Fewer: free slots go, taken ones stay; items that are complete
    then are due. In the caller's transaction.
    """
    before, batch.overlap = batch.overlap, overlap
    if overlap == before:
        return
    items = list(undecided(batch).order_by("pk").values_list("pk", flat=True))
    for some in key_chunks(items):
        if overlap > before:
            _widen(batch, some, overlap)
        else:
            _narrow(batch, some, overlap, now)
    Batch.objects.filter(pk=batch.pk).update(
        overlap=overlap, slots_count=Slot.objects.filter(batch=batch).count()
    )


def analyze_tables(*counted: type[Model]) -> None:
    """Tell PostgreSQL how many rows these have, items and slots by default: new ones are not counted yet.

    It does so by itself, a minute later. Until then it would take the next free slot for one of a handful and read
    all of them for it, once per item that a person asks for, on connections that keep their plans.
    """
    if connection.vendor == "postgresql":
        tables = ", ".join(
            connection.ops.quote_name(model._meta.db_table) for model in counted or (Item, Slot)
        )
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {tables}")  # names of our own tables


def key_chunks(keys: Iterable[int]) -> Iterator[list[int]]:
    """Many keys in lists that one statement can name."""
    return chunks(keys, AT_ONCE)


def undecided(batch: Batch) -> QuerySet[Item]:
    """The undecided items outside adjudication, without gold."""
    return Item.objects.filter(
        ~Exists(Decision.objects.filter(item_id=OuterRef("pk"))),
        ~Exists(Adjudication.objects.filter(item_id=OuterRef("pk"))),
        batch=batch,
        is_gold=False,
    )


def lock_items(batches: Iterable[int]) -> None:
    """Lock the undecided items of batches (keys), in the order of `annotation.queue.reservations`: before the batches
    themselves."""
    items = Item.objects.filter(batch__in=batches).exclude(resolution__in=Decision.Kind.values)
    list(items.select_for_update(no_key=True, of=("self",)).order_by("pk").values_list("pk", flat=True))


def lock_batches(batches: QuerySet[Batch]) -> list[int]:
    """Lock the batches, the newest first: after its items, and before the batch that feeds it. Returns their keys."""
    locked = batches.select_for_update(no_key=True, of=("self",)).order_by("-pk")
    return list(locked.values_list("pk", flat=True))


def waiting_below(batch: Batch, overlap: int) -> QuerySet[Item]:
    """The items that wait for an adjudicator and have fewer planned slots than `overlap`."""
    planned = Count("slots", filter=Q(slots__added=False))
    waiting = Item.objects.filter(
        batch=batch, is_gold=False, decision__isnull=True, adjudication__isnull=False
    )
    return waiting.annotate(planned=planned).filter(planned__lt=overlap)


def due_at(batch: Batch, at: datetime) -> datetime | None:
    """When a complete item of the batch is due that could be looked at at this time.

    Where the batch waits for its close to decide, that is never, unless one more person may have to be asked meanwhile.
    """
    waits = batch.decide_at_close and batch.closed_at is None
    return None if waits and not can_request_response(batch) else at


def can_request_response(batch: Batch) -> bool:
    """Whether the batch's rule may ask one more person. Where people get every item no person is left to ask."""
    return (
        batch.strategy != "everyone"
        and decision_rules.max_responses(batch.task(), batch.resolve, batch.settings) > batch.overlap
    )


@dataclass(frozen=True, slots=True)
class NewItem:
    """What an item is made of: its example (key), its place in the batch, the JSON that is frozen with it, and the people
    (keys) who never get it."""

    example: int
    position: int
    inputs: Mapping[str, Any] = field(default_factory=dict)
    excluded: Collection[int] = ()


def add_items(batch: Batch, items: Iterable[NewItem]) -> list[int]:
    """Write new items with their planned slots and exclusions, some at a time. Returns their keys."""
    added: list[int] = []
    for some in chunks(items, ITEMS_AT_ONCE):
        added += _add_some(batch, some)
    Batch.objects.filter(pk=batch.pk).update(
        items_count=F("items_count") + len(added), slots_count=F("slots_count") + len(added) * batch.overlap
    )
    return added


def _add_some(batch: Batch, items: Sequence[NewItem]) -> list[int]:
    keys = bulk_rows.keys(Item, len(items))
    bulk_rows.insert(
        Item,
        ["id", "batch_id", "example_id", "position", "inputs", "slots_count"],
        (
            (key, batch.pk, item.example, item.position, item.inputs, batch.overlap)
            for key, item in zip(keys, items, strict=True)
        ),
    )
    bulk_rows.insert(
        Slot,
        ["batch_id", "item_id", "number", "position"],
        (
            (batch.pk, key, slot_number, item.position)
            for key, item in zip(keys, items, strict=True)
            for slot_number in range(1, batch.overlap + 1)
        ),
    )
    bulk_rows.insert(
        Exclusion,
        ["item_id", "person_id"],
        ((key, person) for key, item in zip(keys, items, strict=True) for person in sorted(item.excluded)),
    )
    return keys


def add_slot(item: Item) -> Slot:
    """A slot for one more person, marked as added. The caller holds the item's lock."""
    # Behind the highest number there is: slots that were taken away leave gaps.
    last = Slot.objects.filter(item=item).aggregate(last=Max("number"))["last"] or 0
    slot = Slot.objects.create(
        batch_id=item.batch_id, item=item, number=last + 1, added=True, position=item.position
    )
    Item.objects.filter(pk=item.pk).update(slots_count=F("slots_count") + 1, due_at=None)
    Batch.objects.filter(pk=item.batch_id).update(slots_count=F("slots_count") + 1)
    return slot


# -- underneath -------------------------------------------------------------------------------------


def _widen(batch: Batch, items: Sequence[int], overlap: int) -> None:
    """Bring the planned slots of the items up to `overlap`."""
    planned = Count("slots", filter=Q(slots__added=False))
    rows = Item.objects.filter(pk__in=items).annotate(planned=planned, last=Max("slots__number"))
    new: list[Slot] = []
    wider: dict[int, list[int]] = {}
    for pk, position, last, planned_count in rows.values_list("pk", "position", "last", "planned"):
        more = max(0, overlap - planned_count)
        new += [
            Slot(batch=batch, item_id=pk, number=(last or 0) + offset, position=position)
            for offset in range(1, more + 1)
        ]
        if more:
            wider.setdefault(more, []).append(pk)
    Slot.objects.bulk_create(new)
    for more, found_items in wider.items():
        Item.objects.filter(pk__in=found_items).update(slots_count=F("slots_count") + more, due_at=None)


def _narrow(batch: Batch, items: Sequence[int], overlap: int, now: datetime) -> None:
    """Bring the planned slots of the items down to `overlap`, as far as they are free. What is left keeps its number."""
    slots_by_item: dict[int, list[Slot]] = {}
    # Locked, so that no person takes one that goes. A transaction that is taking one ends first.
    locked = Slot.objects.select_for_update().filter(item__in=items)
    for slot in locked.order_by("pk"):
        slots_by_item.setdefault(slot.item_id, []).append(slot)
    used = set(Assignment.objects.filter(item__in=items).values_list("slot_id", flat=True))
    gone: list[int] = []
    narrower: dict[int, list[int]] = {}
    for item, item_slots in slots_by_item.items():
        planned = [slot for slot in item_slots if not slot.added]
        free = [slot for slot in planned if not slot.is_taken]
        # Last those that are reserved for a person.
        free.sort(key=lambda slot: (slot.reserved_for_id is not None, -slot.number))
        going = {slot.pk for slot in free[: max(0, len(planned) - overlap)]}
        if not going:
            continue
        if going & used:
            # Skips and returns point at the slot they gave back: any other slot of the item does as well.
            remaining_slot = next(slot for slot in item_slots if slot.pk not in going)
            Assignment.objects.filter(slot__in=going).update(slot=remaining_slot)
        gone += going
        narrower.setdefault(len(going), []).append(item)
    for some in key_chunks(gone):
        Slot.objects.filter(pk__in=some).delete()
    for less, found_items in narrower.items():
        Item.objects.filter(pk__in=found_items).update(slots_count=F("slots_count") - less)
    complete = Item.objects.filter(pk__in=items, due_at__isnull=True, submitted_count__gte=F("slots_count"))
    complete.filter(slots_count__gt=0).update(due_at=due_at(batch, now))


def reserve(
    batch: Batch, slots: Sequence[int], person: int | None, *, by: Person | None, now: datetime
) -> int:
    """Reserve free slots for a person (None: release them), with an event each. Returns how many changed."""
    changed = 0
    for some in key_chunks(sorted(slots)):
        free = Slot.objects.select_for_update(no_key=True).filter(pk__in=some, is_taken=False)
        rows = [(pk, before) for pk, before in free.order_by("pk").values_list("pk", "reserved_for_id")]
        Slot.objects.filter(pk__in=[pk for pk, _ in rows]).update(reserved_for_id=person)
        Event.objects.bulk_create(
            Event(
                project_id=batch.project_id,
                actor=by,
                thing="place",
                thing_id=pk,
                before=_reservation_words(before),
                after=_reservation_words(person),
                at=now,
            )
            for pk, before in rows
            if before != person
        )
        changed += len(rows)
    return changed


def _reservation_words(person: int | None) -> str:
    return "open" if person is None else f"person {person}"
