"""The forms of a project: its name, its guidelines, what is read into it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify
from django.utils.translation import gettext, gettext_lazy

from annotation.forms.people import TimeZoneField
from annotation.journeys import importing, setting_up
from annotation.models import Project
from tableqa.readers import READERS


class ProjectForm(forms.Form):
    """A project's name, its address, and where its days begin."""

    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autofocus": True}))
    slug = forms.RegexField(
        r"\A[a-z0-9][a-z0-9-]*\Z",
        required=False,
        max_length=60,
        label=gettext_lazy("Address"),
        help_text=gettext_lazy(
            "Small letters, digits and hyphens. Leave it empty to have it made from the name."
        ),
        error_messages={
            "invalid": gettext_lazy(
                "Use small letters, digits and hyphens only, and begin with a letter or digit."
            )
        },
        empty_value="",
    )
    time_zone = TimeZoneField(help_text=gettext_lazy("Where the project's days and weeks begin."))

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if "slug" in given and "name" in given:
            given["slug"] = given["slug"] or slugify(given["name"]).replace("_", "-").strip("-")[:60].strip(
                "-"
            )
            if not given["slug"]:
                self.add_error(
                    "slug", gettext("This name makes no address. Write one, in small letters and digits.")
                )
            elif given["slug"] in setting_up.RESERVED_SLUGS:
                self.add_error(
                    "slug",
                    gettext("The address {given!r} is taken by a page. Choose another one.").format(
                        given=given["slug"]
                    ),
                )
        return given


class RenameForm(forms.Form):
    """A project's name and time zone."""

    name = forms.CharField(
        max_length=120,
        help_text=gettext_lazy("The address stays as it is, so that no link and no token breaks."),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].initial = project.name
        self.fields["time_zone"] = TimeZoneField(
            stored=project.time_zone,
            help_text=gettext_lazy("Days and weeks of this project are counted as clocks there do."),
        )


class GuidelinesForm(forms.Form):
    """A new version of the text that annotators read."""

    text = forms.CharField(
        label=gettext_lazy("Guidelines"),
        strip=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "true"}),
        help_text=gettext_lazy(
            "Markdown; HTML is shown as text. Saving makes a new version, and annotations made before keep theirs."
        ),
    )

    def clean_text(self) -> str:
        text = str(self.cleaned_data["text"]).replace("\r\n", "\n").strip("\n")
        if not text.strip():
            raise ValidationError(gettext("Guidelines cannot be empty."))
        return text + "\n"


class ImportForm(forms.Form):
    """A published format, the file of its questions, and its tables where they lie in files of their own."""

    reader = forms.ChoiceField(label=gettext_lazy("Format"))
    questions = forms.FileField(label=gettext_lazy("File of questions"))
    tables = forms.FileField(
        required=False,
        label=gettext_lazy("Tables and other files"),
        help_text=gettext_lazy(
            "A zip archive, where the format has more than one file (see below). Folders inside are fine."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(name, reader.title) for name, reader in sorted(READERS.items())]
        self.fields["reader"].choices = choices  # type: ignore[attr-defined]

    def clean_questions(self) -> Any:
        return _upload(self.cleaned_data["questions"])

    def clean_tables(self) -> Any:
        file = self.cleaned_data["tables"]
        return _upload(file) if file else None


def _upload(file: Any) -> Any:
    """The source is named after the file, so its name must be short enough to be one."""
    if file.size > importing.MOST_UPLOAD:
        raise ValidationError(
            gettext("{name} is larger than {value} MB. Import it from the command line.").format(
                name=file.name, value=importing.MOST_UPLOAD // 2**20
            )
        )
    if len(file.name) > 100:
        raise ValidationError(
            gettext("The name of this file is longer than 100 characters. Give it a shorter one.")
        )
    return file
