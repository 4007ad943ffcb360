"""The form of a study file: uploaded or pasted."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from annotation.forms.uploads import TextFileField
from annotation.studying.yaml_file import MOST_BYTES


class StudyForm(forms.Form):
    """A study file, in whichever way it comes; what is in it is checked by `annotation.studying`."""

    file = TextFileField(
        most=MOST_BYTES,
        required=False,
        label=gettext_lazy("Study file"),
        help_text=gettext_lazy("YAML, for example study.yaml. It replaces the text below."),
    )
    text = forms.CharField(
        required=False,
        label=gettext_lazy("Text"),
        widget=forms.Textarea(attrs={"rows": 20, "spellcheck": "false"}),
        strip=False,
    )

    def clean(self) -> dict[str, Any]:
        """The text of the file; what is pasted counts only where no file is sent."""
        said = super().clean() or {}
        if said.get("file"):
            _, said["text"] = said["file"]
        said["text"] = said.get("text", "").replace("\r\n", "\n")
        if not self.errors and not said["text"].strip():
            raise forms.ValidationError(gettext("Choose a study file, or paste its text."))
        return said
