"""Which items and slots a person may have, and how many are left for them.

The predicates are those of the queue, and of `annotation.queue.explanations`, which says why an item is not served.
`item` is the path from the rows of a query to the item.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now

from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Decision,
    Exclusion,
    Item,
    Person,
    PersonBatchCounts,
    Qualification,
    Slot,
)
from annotation.queue import draws
from annotation.queue.entry_requirements import first_unmet, qualifications_ahead

State = Assignment.State


def was_assigned(person: int, item: str = "pk") -> Exists:
    """Whether the item was assigned to the person (by id), whatever the outcome."""
    return Exists(Assignment.objects.filter(item_id=OuterRef(item), person_id=person))


def is_excluded(person: int, item: str = "pk") -> Exists:
    """Whether the person (by id) helped to make the item or has read responses to it."""
    return Exists(Exclusion.objects.filter(item_id=OuterRef(item), person_id=person))


def is_decided(item: str = "pk") -> Exists:
    """Whether the item has a decision."""
    return Exists(Decision.objects.filter(item_id=OuterRef(item)))


def is_open_to(person: int) -> Q:
    """The slots that are not reserved for others than the person (by id)."""
    return Q(reserved_for__isnull=True) | Q(reserved_for_id=person)


def open_to(person: int, slots: QuerySet[Slot]) -> QuerySet[Slot]:
    """Those of the slots that the person (by id) may have, of items that they neither had nor helped to make."""
    return slots.filter(is_open_to(person), ~was_assigned(person, "item_id"), ~is_excluded(person, "item_id"))


def never_assigned(items: QuerySet[Item], person: int) -> QuerySet[Item]:
    """Those of the items that the person (by id) neither had nor helped to make."""
    return items.filter(~was_assigned(person), ~is_excluded(person))


def items_left(batch: Batch, person: Person) -> QuerySet[Item]:
    """The undecided items of a batch for all that the person never had."""
    undecided = Item.objects.filter(~is_decided(), batch=batch, is_gold=False)
    return never_assigned(undecided, person.pk)


def returned_by(person: Person) -> QuerySet[Assignment]:
    """What the person gave back, of undecided items, and whose slot is still theirs alone; in a
    qualification all returned items.
    """
    return Assignment.objects.filter(
        ~is_decided("item_id"),
        Q(slot__is_taken=False, slot__reserved_for=person)
        | Q(batch__purpose=Batch.Purpose.QUALIFICATION, item__is_gold=False),
        person=person,
        state=State.RETURNED,
    )


def expired_leases(batches: Collection[int]) -> QuerySet[Assignment]:
    """The leases of these batches (ids) that ran out and whose slots others may have.

    A person who withdrew a submission to change it keeps the slot, without a limit (docs/decisions/0001); so does
    a person with a reserved slot. The slots of gold are reserved for a person, too; where others get what ordinary items
    leave, they run out like these.
    """
    was_submitted = Annotation.objects.filter(assignment_id=OuterRef("pk"))
    runs_out = Q(batch__strategy="open", item__is_gold=True) & ~Q(batch__purpose=Batch.Purpose.QUALIFICATION)
    theirs_alone = Q(slot__reserved_for=F("person")) & ~runs_out
    return Assignment.objects.filter(
        ~Exists(was_submitted),
        ~theirs_alone,
        batch_id__in=batches,
        state=State.LEASED,
        leased_until__lt=Now(),
    )


def is_for_everybody(batch: Batch) -> bool:
    """Whether each person gets each item of the batch, also people who come when its slots are taken."""
    return batch.strategy == "everyone" or batch.purpose == Batch.Purpose.QUALIFICATION


def left_for(person: Person, batches: Sequence[int]) -> dict[int, int]:
    """Items that each batch (by id) still has for the person, those in progress included; in eight queries.

    Items behind leases of others that ran out are among them: `take_next` takes these back. So are the gold items that
    the person's turns will bring until then: the number falls by one with each item, whatever it is.
    At most as many are left as one person may do. Where a required qualification is
    failed, or closed without a result, none are left.
    """
    counts = dict.fromkeys(batches, 0)
    ahead = dict.fromkeys(batches, 0)
    leases = Assignment.objects.filter(person=person, batch_id__in=batches, state=State.LEASED)
    everybodys = Q(batch__strategy="everyone") | Q(batch__purpose=Batch.Purpose.QUALIFICATION)
    free = open_to(person.pk, Slot.objects.filter(~everybodys, batch_id__in=batches, is_taken=False))
    without_free = ~Exists(free.filter(item_id=OuterRef("item_id")))
    expired = open_to(person.pk, Slot.objects.filter(~everybodys, assignments__in=expired_leases(batches)))
    undecided = Item.objects.filter(~is_decided(), everybodys)
    still = never_assigned(undecided.filter(batch_id__in=batches, is_gold=False), person.pk)
    again = returned_by(person).filter(everybodys, batch_id__in=batches)
    desk = leases.values("batch_id").annotate(n=Count("pk"))
    for rows in (
        desk,
        free.values("batch_id").annotate(n=Count("item_id", distinct=True)),
        expired.filter(without_free).values("batch_id").annotate(n=Count("item_id", distinct=True)),
        still.values("batch_id").annotate(n=Count("pk")),
        again.values("batch_id").annotate(n=Count("pk")),
    ):
        for row in rows:
            counts[row["batch_id"]] += row["n"]
            if rows is not desk:
                ahead[row["batch_id"]] += row["n"]
    for batch in _mixed(person, batches):
        turns = draws.GoldTurns(batch, person.pk)
        counts[batch.pk] += turns.ahead(batch.had or 0, ordinary=ahead[batch.pk], golds=batch.golds or 0)
    mine = PersonBatchCounts.objects.filter(batch=OuterRef("pk"), person=person)
    results = Qualification.objects.filter(batch=OuterRef("requires"), person=person)
    out = Exists(results.filter(passed=False)) | (Q(requires__closed_at__isnull=False) & ~Exists(results))
    asking = Batch.objects.filter(pk__in=batches).filter(Q(requires__isnull=False) | ~Q(caps={}))
    limits = asking.annotate(out=out).values_list(
        "pk", "caps", "out", Subquery(mine.values("submitted")), Subquery(mine.values("leased"))
    )
    for pk, caps, is_out, submitted, leased in limits:
        if (limit := caps.get("items")) is not None:
            counts[pk] = min(counts[pk], max(limit - (submitted or 0), leased or 0))
        if is_out:
            counts[pk] = 0
    return counts


def first_with_items(person: Person, batches: Sequence[Batch], *, now: datetime) -> tuple[Batch | None, int]:
    """The first of these batches that gives the person an item now, or says how to get one, with the number of its items."""
    item_counts = left_for(person, [batch.pk for batch in batches])
    locked = qualifications_ahead(person, batches)
    for batch in batches:
        if not item_counts[batch.pk] or batch.pk in locked:
            continue
        requirement = first_unmet(batch=batch, person=person, now=now, holding=None)
        if requirement is None or requirement.address:
            return batch, item_counts[batch.pk]
    return None, 0


def _mixed(person: Person, batches: Sequence[int]) -> QuerySet[Any]:
    """The batches with gold, each with the person's turns so far (`had`) and the number of `golds` that they
    never had."""
    mine = PersonBatchCounts.objects.filter(batch=OuterRef("pk"), person=person)
    turns = mine.values_list(F("leased") + F("submitted") + F("skipped") + F("returned"))
    golds = never_assigned(Item.objects.filter(batch=OuterRef("pk"), is_gold=True), person.pk)
    counted = golds.order_by().values("batch").annotate(n=Count("pk")).values("n")
    return (
        Batch.objects.filter(pk__in=batches, gold_percent__gt=0)
        .annotate(had=Subquery(turns), golds=Subquery(counted))
        .only("public_id", "draw_key", "gold_percent", "gold_feedback")
    )
