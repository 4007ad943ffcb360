"""Links to a selection: the one way in which numbers of other pages lead to what they count."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from annotation.explorer.item_access import Reader
from annotation.explorer.querysets import lists_all
from annotation.explorer.selection import MOST_VALUES, YEARS, Selection, parse, query
from annotation.models import Batch, Project


def explorer_url(project: Project, *, batch: Batch | None = None, **filters: str | list[str]) -> str:
    """The address of these items. `filters` are query parameters (`selection.PARAMETERS`), checked.

    With a batch, the address of the items of that batch. Raises BadSelection for what is no filter.

        explorer_url(project, batch=batch, state="adjudication")
    """
    chosen = query(_selection(filters))
    address = (
        reverse("explorer", args=[project.slug])
        if batch is None
        else reverse("batch_items", args=[batch.public_id])
    )
    return f"{address}?{chosen}" if chosen else address


def complete_url(who: Reader, *, batch: Batch | None = None, **filters: str | list[str]) -> str:
    """`explorer_url` for a reader; "" where some of the items are kept from them, so that fewer would be listed."""
    chosen = _selection(filters)
    if batch is not None:
        chosen = chosen.of_batch(batch.public_id)
    return explorer_url(who.project, batch=batch, **filters) if lists_all(who, chosen) else ""


def complete_url_of_batches(who: Reader, batches: Collection[Batch], **filters: str | list[str]) -> str:
    """`url_of_batches` for a reader; "" where fewer items would be listed, and for more batches than a selection takes."""
    if not batches or len(batches) > MOST_VALUES:
        return ""
    chosen = _selection({**filters, "batch": [batch.public_id for batch in batches]})
    return url_of_batches(who.project, batches, **filters) if lists_all(who, chosen) else ""


def url_of_batches(project: Project, batches: Iterable[Batch], **filters: str | list[str]) -> str:
    """The address of these items in all of these batches. Raises BadSelection for what is no filter."""
    chosen = _selection({**filters, "batch": [batch.public_id for batch in batches]})
    return with_query(reverse("explorer", args=[project.slug]), query(chosen))


def submitted_between(begin: datetime | None, end: datetime | None) -> dict[str, str]:
    """The filters of what was submitted or skipped from one moment until before another; None is open on that side.

    A period that reaches beyond the `YEARS` of a selection is open there.
    """
    return {
        "submitted_from": begin.isoformat() if begin and begin.year >= YEARS[0] else "",
        "submitted_before": end.isoformat() if end and end.year <= YEARS[-1] else "",
    }


def _selection(filters: Mapping[str, str | list[str]]) -> Selection:
    return parse({name: [value] if isinstance(value, str) else value for name, value in filters.items()})


def list_url(address: str, chosen: Selection, *, after: str = "", before: str = "", **more: str) -> str:
    """The address of the page of a list behind an item (public id), or before it."""
    return with_query(address, query(replace(chosen, after=after, before=before)), **more)


def with_query(address: str, chosen: str, **more: str) -> str:
    """An address with a query string and further parameters."""
    whole = "&".join(
        filter(None, [chosen, urlencode({name: value for name, value in more.items() if value})])
    )
    return f"{address}?{whole}" if whole else address
