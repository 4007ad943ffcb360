"""How far batches are: their slots, and their items by state."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum

from annotation.models import Adjudication, Batch, Flag, Item, PersonBatchCounts


def slot_counts(batches: Sequence[Batch]) -> dict[int, dict[str, int]]:
    """Slots and items by batch (key), in two queries.

    `places` = `submitted` + `leased` + `free`. The `gold` mixed in is not among the `items`. `skipped` and `returned`
    count endings that freed their slot again.
    """
    ids = [batch.pk for batch in batches]
    columns = ("submitted", "leased", "skipped", "returned")
    sums_by_batch = (
        PersonBatchCounts.objects.filter(batch_id__in=ids)
        .values_list("batch_id")
        .annotate(*map(Sum, columns))
    )
    endings = {batch_id: dict(zip(columns, sums, strict=True)) for batch_id, *sums in sums_by_batch}
    golds = _count(Item.objects.filter(batch_id__in=ids, is_gold=True), "batch_id")
    slots = {}
    for batch in batches:
        ended = endings.get(batch.pk, dict.fromkeys(columns, 0))
        gold = golds.get(batch.pk, 0)
        slots[batch.pk] = {
            **ended,
            "places": batch.slots_count,
            "free": batch.slots_count - ended["submitted"] - ended["leased"],
            "gold": gold,
            "items": batch.items_count - gold,
        }
    return slots


def counts(batches: Sequence[Batch]) -> dict[int, dict[str, int]]:
    """`slot_counts` with the items by state, in six queries whatever the number of batches or items.

    `items` = `open` + `complete` + `adjudication` + `decided` + `excluded`.
    """
    counts_by_batch = slot_counts(batches)
    ids = list(counts_by_batch)
    work = deciding_batches(batches)
    complete = Item.objects.filter(
        Q(batch_id__in=work, due_at__isnull=False)
        | Q(batch_id__in=set(ids) - set(work), submitted_count__gte=F("slots_count")),
        is_gold=False,
    )
    stored = Batch.objects.filter(pk__in=ids).values_list("pk", "accepted_count", "excluded_count")
    decided = {
        batch_id: {"decided": accepted, "excluded": excluded} for batch_id, accepted, excluded in stored
    }
    counts_by_name = {
        "adjudication": _count(Adjudication.objects.filter(item__batch_id__in=ids), "item__batch_id"),
        "complete": _count(complete, "batch_id"),
        "flags": _count(Flag.objects.filter(item__batch_id__in=ids), "item__batch_id"),
    }
    for batch_id, batch_counts in counts_by_batch.items():
        batch_counts |= decided.get(batch_id, {"decided": 0, "excluded": 0})
        batch_counts |= {name: by_batch.get(batch_id, 0) for name, by_batch in counts_by_name.items()}
        settled = sum(batch_counts[name] for name in ("complete", "adjudication", "decided", "excluded"))
        batch_counts["open"] = batch_counts["items"] - settled
    return counts_by_batch


def deciding_batches(batches: Iterable[Batch]) -> list[int]:
    """The batches (keys) whose complete items are due until they are decided: those of work, some only once closed."""
    return [
        batch.pk
        for batch in batches
        if batch.decides and (batch.closed_at is not None or not batch.decide_at_close)
    ]


def _count(rows: QuerySet[Any], batch: str) -> dict[int, int]:
    """How many rows there are of each batch; `batch` is the path from a row to its batch."""
    return dict(rows.order_by().values_list(batch).annotate(n=Count("pk")))
