"""The menu beside a figure: its table to copy, its files to download."""

from typing import Any

from django import template
from django.template import Context
from django.template.defaultfilters import floatformat

from annotation.charts.figure import Figure
from tableqa.writers.report_tables import NOTHING

register = template.Library()


@register.inclusion_tag("site/_figure_menu.html", takes_context=True)
def figure_menu(context: Context, figure: Figure) -> dict[str, Any]:
    """The files of a figure of the page's `figure_gallery`; nothing where the page has none or the figure is not in it."""
    gallery = context.get("figure_gallery")
    if gallery is None or figure.name not in gallery.by_name:
        return {"figure": figure, "links": ()}
    return {"figure": figure, "links": gallery.links(figure)}


@register.filter
def hours(value: float | None) -> str:
    """Hours of active time with two decimals; a dash where nothing was timed."""
    return str(floatformat(value, 2)) if value else NOTHING
