"""The form of a task type that a project defines."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from annotation.study_file import type_definitions
from annotation.study_file.yaml_file import StudyError
from tasks.shared.type_definitions import NAME

MAX_LENGTH = 400_000


class DefinitionForm(forms.Form):
    """A name and a definition as YAML; `data["definition"]` is the definition."""

    name = forms.RegexField(
        NAME,
        label=gettext_lazy("Short name"),
        help_text=gettext_lazy(
            "Small letters, digits and underscores. It is the type in releases and study files."
        ),
        max_length=40,
        error_messages={
            "invalid": gettext_lazy("Use small letters, digits and underscores, and begin with a letter.")
        },
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    text = forms.CharField(
        label=gettext_lazy("Definition (YAML)"),
        max_length=MAX_LENGTH,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 26, "spellcheck": "false", "class": "code"}),
    )

    def __init__(self, *args: Any, stored: Mapping[str, Mapping[str, Any]], **kwargs: Any) -> None:
        """stored: the definitions of the project by name, which stay valid as they are."""
        super().__init__(*args, **kwargs)
        self.stored = stored

    def clean(self) -> dict[str, Any]:
        """The definition as `definition`; every fault with its line."""
        cleaned_data = super().clean() or {}
        if "text" in cleaned_data:
            try:
                name, text = cleaned_data.get("name", ""), cleaned_data["text"].replace("\r\n", "\n")
                cleaned_data["definition"] = type_definitions.read(name, text, self.stored.get(name))
            except StudyError as error:
                for fault in error.faults:
                    self.add_error(None, str(fault))
            except RecursionError:
                self.add_error(None, gettext("The file is nested too deeply."))
        return cleaned_data
