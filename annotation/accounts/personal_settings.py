"""How pages look and act for one person: theme, text size, density, layout of the annotation page, submission by click.

Stored on the person as {option: value}, without defaults. Pages get them as data attributes of <html>, rendered by the
server: nothing flashes, and pages without scripts have them too.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from annotation.models import Person

OPTIONS: Final[Mapping[str, tuple[Promise, Mapping[str, Promise]]]] = {
    "theme": (
        gettext_lazy("Theme"),
        {"system": gettext_lazy("System"), "light": gettext_lazy("Light"), "dark": gettext_lazy("Dark")},
    ),
    "text_size": (
        gettext_lazy("Text size"),
        {"normal": gettext_lazy("Normal"), "large": gettext_lazy("Large"), "larger": gettext_lazy("Larger")},
    ),
    "density": (
        gettext_lazy("Rows of tables"),
        {"normal": gettext_lazy("Normal"), "compact": gettext_lazy("Compact")},
    ),
    "layout": (
        gettext_lazy("Panel of the annotation page"),
        {"right": gettext_lazy("Right"), "left": gettext_lazy("Left"), "below": gettext_lazy("Below")},
    ),
    "click_submits": (
        gettext_lazy("A click on a choice submits"),
        {"on": gettext_lazy("On"), "off": gettext_lazy("Off")},
    ),
}
"""Option -> (label, {value: label}); the first value is the default."""


def settings_of(person: Any) -> dict[str, str]:
    """Every option with the person's value. Anonymous people and values that no longer exist have the default."""
    stored = getattr(person, "personal_settings", None) or {}
    return {
        name: stored[name] if stored.get(name) in values else next(iter(values))
        for name, (_, values) in OPTIONS.items()
    }


def change(person: Person, values: Mapping[str, str]) -> None:
    """Store those of the values that are options; others are left out."""
    chosen = settings_of(person) | {
        name: value for name, value in values.items() if name in OPTIONS and value in OPTIONS[name][1]
    }
    person.personal_settings = {
        name: value for name, value in chosen.items() if value != next(iter(OPTIONS[name][1]))
    }
    person.save(update_fields=["personal_settings"])


def attributes(person: Any) -> SafeString:
    """Data attributes for <html>, of the options that differ from the default."""
    differing = [
        (name, value) for name, value in settings_of(person).items() if value != next(iter(OPTIONS[name][1]))
    ]
    return format_html_join(
        "", ' data-{}="{}"', ((name.replace("_", "-"), value) for name, value in differing)
    )
