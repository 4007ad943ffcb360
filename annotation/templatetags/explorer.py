"""Links to selections of the explorer."""

from __future__ import annotations

from django import template

from annotation.explorer.links import explorer_url as address_of
from annotation.models import Batch, Project

register = template.Library()


@register.simple_tag
def explorer_url(project: Project, batch: Batch | None = None, **filters: str) -> str:
    """`annotation.explorer.links.explorer_url`, for templates."""
    return address_of(project, batch=batch, **filters)
