"""The form of a study file: uploaded or pasted."""

from pathlib import Path
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext, gettext_lazy

from annotation.models import Source
from annotation.study_file import study_templates
from annotation.web.forms.batches import source_in_words
from tableqa.core.guarded_yaml import MAX_BYTES
from tableqa.readers.interface import START, ReaderError, check_is_text


class StudyForm(forms.Form):
    """A study file, in whichever way it comes; what is in it is checked by `annotation.study_file`."""

    file = forms.FileField(
        required=False,
        label=gettext_lazy("Choose a file"),
        help_text=gettext_lazy("YAML, for example study.yaml. It replaces the text below."),
    )
    text = forms.CharField(
        required=False,
        label=gettext_lazy("or edit the text"),
        widget=forms.Textarea(attrs={"rows": 20, "spellcheck": "false", "class": "code"}),
        strip=False,
    )

    def clean_file(self) -> str:
        """The text of the file, in UTF-8 and of at most `MAX_BYTES`; "" without one."""
        if not (file := self.cleaned_data["file"]):
            return ""
        if file.size > MAX_BYTES:
            message = gettext("{name} is larger than {value} MB. Split it.")
            raise ValidationError(message.format(name=file.name, value=MAX_BYTES // 2**20))
        content: bytes = file.read()
        try:
            check_is_text(Path(file.name), content[:START])
            return content.decode("utf-8-sig")
        except ReaderError as error:
            raise ValidationError(str(error)) from None
        except UnicodeDecodeError:
            message = gettext("{name} is not UTF-8 text. Save it as UTF-8.")
            raise ValidationError(message.format(name=file.name)) from None

    def clean(self) -> dict[str, Any]:
        """The text of the file; what is pasted counts only where no file is sent."""
        cleaned_data = super().clean() or {}
        if cleaned_data.get("file"):
            cleaned_data["text"] = cleaned_data["file"]
        cleaned_data["text"] = cleaned_data.get("text", "").replace("\r\n", "\n")
        if not self.errors and not cleaned_data["text"].strip():
            raise ValidationError(gettext("Choose a study file, or paste its text."))
        return cleaned_data


class TemplateForm(forms.Form):
    """A template, and the source of the project that it is used with."""

    template = forms.ChoiceField(
        error_messages={"invalid_choice": gettext_lazy("There is no such template. Choose one below.")}
    )
    source = forms.ModelChoiceField(
        queryset=Source.objects.none(),
        to_field_name="public_id",
        label=gettext_lazy("Source"),
        empty_label=gettext_lazy("choose a source"),
        error_messages={
            "required": gettext_lazy("Choose a source for the template."),
            "invalid_choice": gettext_lazy("This project has no such source. Choose another one."),
        },
    )

    def __init__(self, *args: Any, sources: QuerySet[Source], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(key, template.title) for key, template in study_templates.load_templates().items()]
        self.fields["template"].choices = choices  # type: ignore[attr-defined]
        self.fields["source"].queryset = sources  # type: ignore[attr-defined]
        self.fields["source"].label_from_instance = source_in_words  # type: ignore[attr-defined]
