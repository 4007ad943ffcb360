"""Links between the pages of a list."""

from typing import Any

from django import template
from django.http import QueryDict
from django.template import Context

register = template.Library()


@register.simple_tag(takes_context=True)
def page_url(context: Context, name: str, page: int, at: str = "") -> str:
    """The address of a page of a list, with all other query parameters, and the heading to scroll to."""
    request: Any = context.get("request")
    query = request.GET.copy() if request is not None else QueryDict(mutable=True)
    query[name or "page"] = str(page)
    return f"?{query.urlencode()}{'#' if at else ''}{at}"
