"""Form fields for values with names: a line for each, "name = value"."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from tableqa.core.json_text import read_json


class NamedTextsField(forms.CharField):
    """Texts by name as {name: text}, written one a line. Subclasses read and write other values."""

    widget = forms.Textarea(attrs={"rows": 2, "spellcheck": "false"})
    unreadable: ClassVar[str] = gettext_noop(
        "Cannot read {line!r}. Write a field, = and its name in the file."
    )

    def read(self, text: str) -> Any:
        """The value of one line; None for a text that is none."""
        return text or None

    def write(self, value: Any) -> str:
        """A value as `read` takes it."""
        return str(value)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return "\n".join(f"{name} = {self.write(each)}" for name, each in value.items())
        return value

    def clean(self, value: Any) -> Any:
        values: dict[str, Any] = {}
        for line in filter(None, map(str.strip, str(super().clean(value) or "").splitlines())):
            name, sign, text = (part.strip() for part in line.partition("="))
            values[name] = self.read(text)
            if not name or not sign or values[name] is None:
                raise ValidationError(gettext(self.unreadable).format(line=line))
        return values


class OptionsField(NamedTextsField):
    """Options as {name: value}, written one a line; numbers and yes or no have the type they look like."""

    unreadable = gettext_noop("Cannot read {line!r}. Write a name, = and a value on each line.")

    def __init__(self, **kwargs: Any) -> None:
        help_text = gettext_lazy("One per line, for example: most = 5")
        super().__init__(max_length=2_000, help_text=help_text, **kwargs)

    def read(self, text: str) -> Any:
        try:
            value = read_json(text)
        except ValueError:
            return text
        return text if value is None else value

    def write(self, value: Any) -> str:
        return json.dumps(value)


class FilterField(NamedTextsField):
    """A filter of outcomes as {field: [values]}, written one field a line, its values separated by commas."""

    unreadable = gettext_noop("Cannot read {line!r}. Write a field, = and its values.")

    def __init__(self, **kwargs: Any) -> None:
        help_text = gettext_lazy(
            "One field and its values per line, for example: label = extraction, reasoning"
        )
        super().__init__(help_text=help_text, **kwargs)

    def read(self, text: str) -> list[str] | None:
        return [part.strip() for part in text.split(",") if part.strip()] or None

    def write(self, value: Any) -> str:
        return ", ".join(map(str, value))
