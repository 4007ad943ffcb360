"""Links to selections of the explorer."""

from __future__ import annotations

from django import template
from django.utils.formats import localize
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.explorer.links import explorer_url as address_of
from annotation.explorer.selection import MOST_VALUES
from annotation.models import Batch, Project

register = template.Library()


@register.simple_tag
def items_link(
    number: int, project: Project, batch: Batch | None = None, **filters: str | list[str]
) -> SafeString | str:
    """The number as a link to the items that it counts; without a link where there are none, or nobody to filter by.

    A number of more ids than a selection takes (`MOST_VALUES`) is no link either: its address would be too long.
    """
    if not number or filters.get("person") == "" or len(filters.get("item", "")) > MOST_VALUES:
        return localize(number)
    return format_html('<a href="{}">{}</a>', address_of(project, batch=batch, **filters), localize(number))


@register.simple_tag
def explorer_url(project: Project, batch: Batch | None = None, **filters: str | list[str]) -> str:
    """`annotation.explorer.links.explorer_url`, for templates."""
    return address_of(project, batch=batch, **filters)
