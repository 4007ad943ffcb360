"""The personal settings on a page: attributes of <html>, and the choices of the menu."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

from annotation.accounts import personal_settings

register = template.Library()


def _person(context: dict[str, Any]) -> Any:
    return getattr(context.get("request"), "user", None)


@register.simple_tag(takes_context=True)
def display_attributes(context: dict[str, Any]) -> SafeString:
    """` data-theme="dark" ...` for the person who is signed in."""
    return personal_settings.attributes(_person(context))


@register.simple_tag(takes_context=True)
def display_options(context: dict[str, Any]) -> list[dict[str, Any]]:
    """The options in order: {"name", "label", "choices": [(value, label, whether it is chosen)]}."""
    chosen = personal_settings.settings_of(_person(context))
    return [
        {
            "name": name,
            "label": label,
            "choices": [(value, text, value == chosen[name]) for value, text in values.items()],
        }
        for name, (label, values) in personal_settings.OPTIONS.items()
    ]
