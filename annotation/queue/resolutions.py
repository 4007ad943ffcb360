"""How items are resolved, stored with them: lists filter by it without a look at decisions and adjudications."""

from collections.abc import Iterable, Sequence

from annotation.models import Adjudication, AdjudicationRequest, Item


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
