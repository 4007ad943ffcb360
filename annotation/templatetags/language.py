"""Words that come from data of ours (titles of kinds, names of states), in the reader's language."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from annotation.platform import display_text
from annotation.platform.script_catalogue import digest
from tableqa.core.command_line import manage
from tableqa.statistics.proportions import Proportion

register = template.Library()


@register.filter
def translated(value: Any) -> str:
    """The words in the reader's language; such that the catalogue does not have stay as they are."""
    return display_text.show(value)


@register.filter
def in_words(value: Any) -> Any:
    """A value of a report: words in the reader's language, a number as it is."""
    return display_text.show(value) if isinstance(value, str) else value


@register.filter
def percent(share: Proportion) -> str:
    """A share such as "92.5 %" in the form of the reader's language."""
    return display_text.percent(share)


@register.filter
def interval(share: Proportion) -> str:
    """The interval of a share in the form of the reader's language."""
    return display_text.interval(share)


@register.filter
def breakable(address: str) -> SafeString:
    """An e-mail address that breaks after its "@" and before a dot of its host, where a line ends there."""
    name, at, host = address.partition("@")
    first, *parts = host.split(".")
    rest = format_html_join("", "<wbr>.{}", ((part,) for part in parts))
    return format_html("{}{}<wbr>{}{}", name, at, first, rest)


@register.filter
def each_translated(values: Iterable[Any]) -> list[str]:
    """Several such words, as `roles|each_translated|join:", "`."""
    return [translated(value) for value in values]


@register.simple_tag
def words_of_scripts() -> str:
    """The script with the catalogue of the page's language; none for the language that everything is written in."""
    here = get_language() or settings.LANGUAGE_CODE
    if here == settings.LANGUAGE_CODE:
        return SafeString()
    address = f"{reverse('words', args=[here])}?v={digest(here)}"
    return format_html('<script src="{}" defer></script>', address)


register.simple_tag(manage)
