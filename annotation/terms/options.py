"""Form fields for values with names: a line for each, "name = value"."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_lazy

from tableqa.json_text import read_json


def _lines(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Each line that is not empty, with its name, its sign and the rest."""
    for line in filter(None, map(str.strip, text.splitlines())):
        name, sign, rest = (part.strip() for part in line.partition("="))
        yield line, name, sign, rest


class OptionsField(forms.CharField):
    """Options as {name: value}, written one a line; numbers and yes or no are what they look like."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            max_length=2_000,
            widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
            help_text=gettext_lazy("One per line, for example: most = 5"),
            **kwargs,
        )

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return "\n".join(f"{name} = {json.dumps(option)}" for name, option in value.items())
        return value

    def clean(self, value: Any) -> Any:
        options: dict[str, Any] = {}
        for line, name, sign, text in _lines(str(super().clean(value) or "")):
            if not sign or not name:
                raise ValidationError(
                    gettext("Cannot read {line!r}. Write a name, = and a value on each line.").format(
                        line=line
                    )
                )
            try:
                options[name] = read_json(text)
            except ValueError:
                options[name] = text
        return options


class FilterField(forms.CharField):
    """A filter of outcomes as {field: [values]}, written one field a line, its values separated by commas."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 2, "spellcheck": "false"})
        super().__init__(widget=widget, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return "\n".join(f"{name} = {', '.join(map(str, values))}" for name, values in value.items())
        return value

    def clean(self, value: Any) -> Any:
        accepted: dict[str, list[str]] = {}
        for line, name, sign, text in _lines(str(super().clean(value) or "")):
            values = [part.strip() for part in text.split(",") if part.strip()]
            if not (name and sign and values):
                raise ValidationError(
                    gettext("Cannot read {line!r}. Write a field, = and its values.").format(line=line)
                )
            accepted[name] = values
        return accepted
