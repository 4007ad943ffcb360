"""The items of a selection in order, page by page."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext

from annotation.explorer.item_access import Reader, readable
from annotation.explorer.querysets import matching
from annotation.explorer.selection import BadSelection, Selection
from annotation.models import Item

NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


def ordered(items: QuerySet[Item], sort: str) -> QuerySet[Item]:
    """The items in the order of the selection: by batch and position, or by `place`, then by key."""
    if not sort:
        return items.order_by("batch_id", "position")
    field, empty = ("indexed__answered_at", NEVER) if "answered" in sort else ("indexed__seconds", 0.0)
    sign = "-" if sort.startswith("-") else ""
    return items.annotate(place=Coalesce(field, Value(empty))).order_by(f"{sign}place", f"{sign}pk")


@dataclass(frozen=True)
class Page:
    """Keys of the items of one page, and whether there are others before and behind."""

    keys: list[int]
    has_previous: bool
    has_next: bool


def page(who: Reader, chosen: Selection, size: int) -> Page:
    """The page of the selection that begins behind `after`, ends before `before`, or is the first.

    It begins at an item and not at a number: every page costs the same, and what is added meanwhile shifts nothing.
    """
    items = ordered(matching(who, chosen), chosen.sort)
    if (cursor := _cursor(who, chosen)) is not None:
        items = items.filter(_past_cursor(chosen.sort, cursor, back=bool(chosen.before)))
    if chosen.before:
        items = items.reverse()
    keys = list(items.values_list("pk", flat=True)[: size + 1])
    has_more, keys = len(keys) > size, keys[:size]
    return Page(keys[::-1], has_more, True) if chosen.before else Page(keys, cursor is not None, has_more)


def _cursor(who: Reader, chosen: Selection) -> Item | None:
    public_id = chosen.after or chosen.before
    if not public_id:
        return None
    candidates = Item.objects.filter(batch__in=who.listed, public_id=public_id)
    if chosen.sort:
        candidates = candidates.filter(readable(who))
    item = ordered(candidates, chosen.sort).first()
    if item is None:
        raise BadSelection([gettext("The item {item} is not in this list.").format(item=public_id)])
    return item


def _past_cursor(sort: str, cursor: Any, *, back: bool) -> Q:
    """What is behind the cursor in the order, or before it."""
    way = "lt" if back is not sort.startswith("-") else "gt"
    first, second = ("place", "pk") if sort else ("batch_id", "position")
    at = getattr(cursor, first), getattr(cursor, second)
    return Q(**{f"{first}__{way}": at[0]}) | Q(**{first: at[0], f"{second}__{way}": at[1]})
