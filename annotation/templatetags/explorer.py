"""Links to selections of the explorer."""

from django import template
from django.http import HttpRequest
from django.utils.formats import localize
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.access.authorization import actor
from annotation.explorer.item_access import Reader, reader
from annotation.explorer.links import complete_url
from annotation.explorer.selection import MOST_VALUES
from annotation.models import Batch, Project

register = template.Library()


def items_link(
    count: int, who: Reader, batch: Batch | None = None, **filters: str | list[str]
) -> SafeString | str:
    """The number as a link to the items that it counts; without a link where there are none, or no person to filter by.

    Nor are a number of more ids than a selection takes (`MOST_VALUES`), and one of items that are kept from the reader, so
    that fewer would be listed.
    """
    if not count or filters.get("person") == "" or len(filters.get("item", "")) > MOST_VALUES:
        return localize(count)
    return linked(count, complete_url(who, batch=batch, **filters))


def linked(count: int, address: str) -> SafeString | str:
    """The number as a link to this address; without a link where it is 0, or there is none."""
    return (
        format_html('<a href="{}">{}</a>', address, localize(count)) if count and address else localize(count)
    )


@register.simple_tag(takes_context=True, name="items_link")
def _items_link(
    context: template.Context,
    count: int,
    project: Project,
    batch: Batch | None = None,
    **filters: str | list[str],
) -> SafeString | str:
    """`items_link` for the reader of the page."""
    if not count:
        return localize(count)
    return items_link(count, reader_of(context["request"], project), batch, **filters)


def reader_of(request: HttpRequest, project: Project) -> Reader:
    """What the reader of a page may see of the project, looked up once for the whole page."""
    readers: dict[int, Reader] = request.__dict__.setdefault("explorer_readers", {})
    if project.pk not in readers:
        readers[project.pk] = reader(actor(request), project)
    return readers[project.pk]
