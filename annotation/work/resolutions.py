"""How items are resolved, stored with them: lists filter by it without a look at decisions and adjudications."""

from __future__ import annotations

from collections.abc import Iterable

from annotation.models import Item


def mark(items: Iterable[int], resolution: str) -> None:
    """Store the resolution of items (keys), in the transaction that changes it. The caller holds their locks."""
    Item.objects.filter(pk__in=list(items)).update(resolution=resolution)
