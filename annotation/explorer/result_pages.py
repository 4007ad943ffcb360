"""The items of a selection in order, page by page."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext

from annotation.access.visibility import Fact
from annotation.explorer.item_access import Reader, readable
from annotation.explorer.own_columns import by_column
from annotation.explorer.querysets import matching
from annotation.explorer.selection import SORTS, BadSelection, Selection
from annotation.models import Item

NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


def ordered(who: Reader, items: QuerySet[Item], sort: str) -> QuerySet[Item]:
    """The items in the order of the selection: by `KEYS` of the order."""
    sign = "-" if sort.startswith("-") else ""
    if sort and sort not in SORTS:
        items = by_column(who, items, sort)
    elif sort:
        field, empty = ("indexed__answered_at", NEVER) if "answered" in sort else ("indexed__seconds", 0.0)
        items = items.annotate(place=Coalesce(field, Value(empty)))
    return items.order_by(*(f"{sign}{name}" for name in _keys(sort)))


def _keys(sort: str) -> tuple[str, ...]:
    """The columns that an order is by."""
    if not sort:
        return "batch_id", "position"
    return ("place", "pk") if sort in SORTS else ("place", "text", "example_id", "pk")


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
    items = ordered(who, matching(who, chosen), chosen.sort)
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
    if chosen.sort_column:
        candidates = candidates.filter(who.sight.condition(Fact.ANSWERS))
    elif chosen.sort:
        candidates = candidates.filter(readable(who))
    item = ordered(who, candidates, chosen.sort).first()
    if item is None:
        raise BadSelection([gettext("The item {item} is not in this list.").format(item=public_id)])
    return item


def _past_cursor(sort: str, cursor: Any, *, back: bool) -> Q:
    """What is behind the cursor in the order, or before it."""
    way = "lt" if back is not sort.startswith("-") else "gt"
    names = [(name, getattr(cursor, name)) for name in _keys(sort)]
    condition = Q(pk__in=())
    for name, at in reversed(names):
        condition = Q(**{f"{name}__{way}": at}) | Q(condition, **{name: at})
    first, begin = names[0]
    return condition & Q(**{f"{first}__{way}e": begin})  # by it, an index begins
