"""The form of a study file: uploaded or pasted."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy

from annotation.studying.yaml_file import MOST_BYTES


class StudyForm(forms.Form):
    """A study file, in whichever way it comes; what is in it is checked by `annotation.studying`."""

    file = forms.FileField(
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
        sent = said.get("file")
        if sent is not None:
            if sent.size > MOST_BYTES:
                raise forms.ValidationError(
                    gettext("The file is larger than {value} MB. Split it.").format(value=MOST_BYTES // 2**20)
                )
            try:
                said["text"] = sent.read().decode("utf-8")
            except UnicodeDecodeError:
                raise forms.ValidationError(
                    gettext("The file is not UTF-8 text. Save it as UTF-8.")
                ) from None
        said["text"] = said.get("text", "").replace("\r\n", "\n")
        if not said["text"].strip():
            raise forms.ValidationError(gettext("Choose a study file, or paste its text."))
        return said
