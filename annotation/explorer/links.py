"""Links to a selection: the one way in which numbers of other pages lead to what they count."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlencode

from django.urls import reverse

from annotation.explorer.selection import parse, query
from annotation.models import Batch, Project


def explorer_url(project: Project, *, batch: Batch | None = None, **filters: str | list[str]) -> str:
    """The address of these items. `filters` are query parameters (`selection.PARAMETERS`), checked.

    With a batch, the address of the items of that batch. Raises BadSelection for what is no filter.

        explorer_url(project, batch=batch, state="adjudication")
    """
    params = {name: [value] if isinstance(value, str) else list(value) for name, value in filters.items()}
    chosen = query(parse(params))
    address = (
        reverse("explorer", args=[project.slug])
        if batch is None
        else reverse("batch_items", args=[batch.public_id])
    )
    return f"{address}?{chosen}" if chosen else address


def url_of_batches(project: Project, batches: Iterable[Batch], **filters: str | list[str]) -> str:
    """The address of these items in all of these batches. Raises BadSelection for what is no filter."""
    params = {name: [value] if isinstance(value, str) else list(value) for name, value in filters.items()}
    chosen = parse({**params, "batch": [batch.public_id for batch in batches]})
    return with_query(reverse("explorer", args=[project.slug]), query(chosen))


def with_query(address: str, chosen: str, **more: str) -> str:
    """An address with a query string and further parameters."""
    whole = "&".join(
        filter(None, [chosen, urlencode({name: value for name, value in more.items() if value})])
    )
    return f"{address}?{whole}" if whole else address
