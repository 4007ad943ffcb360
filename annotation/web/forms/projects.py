"""The forms of a project: its name, its guidelines, what is read into it."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.text import slugify
from django.utils.translation import gettext, gettext_lazy

from annotation.models import Guidelines, Project
from annotation.web.forms.accounts import TimeZoneField
from annotation.web.forms.example_import import validate_upload
from annotation.workflow import projects


class ProjectForm(forms.Form):
    """A project's name, its address, and where its days begin."""

    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autofocus": True}))
    slug = forms.RegexField(
        r"\A[a-z0-9][a-z0-9-]*\Z",
        required=False,
        max_length=60,
        label=gettext_lazy("Short name (in the URL)"),
        help_text=gettext_lazy("Small letters, digits and hyphens. Leave empty to derive it from the name."),
        error_messages={
            "invalid": gettext_lazy(
                "Use small letters, digits and hyphens only. Begin with a letter or digit."
            )
        },
        empty_value="",
    )

    def __init__(self, *args: Any, time_zone: str, copyable: QuerySet[Project], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["time_zone"] = TimeZoneField(
            stored=time_zone,
            help_text=gettext_lazy("Days and weeks of the project begin in this time zone."),
        )
        if not self.is_bound:
            # static/askew/time-zone.js selects the zone of the browser; without scripts it is that of the account.
            self.fields["time_zone"].widget.attrs["data-of-browser"] = ""
        self.fields["original"] = forms.ModelChoiceField(
            copyable,
            to_field_name="slug",
            required=False,
            label=gettext_lazy("Copy the set-up of"),
            empty_label=gettext_lazy("no other project"),
            help_text=gettext_lazy("Limits, pay, consent, data statement, own task types and guidelines."),
            widget=forms.Select if copyable.exists() else forms.HiddenInput,
        )
        self.fields["release"] = forms.FileField(
            required=False,
            label=gettext_lazy("Release to restore"),
            help_text=gettext_lazy(
                "The zip archive of a release of Askew. The project gets its batches, responses and "
                "decisions."
            ),
        )

    def clean_release(self) -> Any:
        release = self.cleaned_data["release"]
        return release and validate_upload(release)

    def clean(self) -> dict[str, Any]:
        cleaned_data = super().clean() or {}
        if "slug" in cleaned_data and "name" in cleaned_data:
            cleaned_data["slug"] = cleaned_data["slug"] or slugify(cleaned_data["name"]).replace(
                "_", "-"
            ).strip("-")[:60].strip("-")
            if not cleaned_data["slug"]:
                self.add_error(
                    "slug",
                    gettext(
                        "No short name can be derived from this name. Write one in small letters and digits."
                    ),
                )
            elif cleaned_data.get("original") and cleaned_data.get("release"):
                self.add_error(
                    "original", gettext("A restored project has its own set-up. Choose one of both.")
                )
            elif cleaned_data["slug"] in projects.RESERVED_SLUGS:
                self.add_error(
                    "slug",
                    gettext("The short name {given!r} is reserved. Choose another one.").format(
                        given=cleaned_data["slug"]
                    ),
                )
        return cleaned_data


class RenameForm(forms.Form):
    """A project's name and time zone."""

    name = forms.CharField(
        max_length=120,
        help_text=gettext_lazy("The short name in the URL stays, so that links and tokens stay valid."),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].initial = project.name
        self.fields["time_zone"] = TimeZoneField(
            stored=project.time_zone,
            help_text=gettext_lazy("Days and weeks of this project are counted in this time zone."),
        )


class RetentionForm(forms.Form):
    """How long a project keeps what is archived."""

    days = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=36_500,
        label=gettext_lazy("Delete archived batches and sources after (days)"),
        help_text=gettext_lazy("Leave empty to delete nothing. A batch that another one uses waits for it."),
    )


_OTHER_LANGUAGES = [(code, name) for code, name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


class GuidelinesForm(forms.Form):
    """A new version of the text that annotators read."""

    text = forms.CharField(
        label=gettext_lazy("Guidelines"),
        strip=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "true"}),
        help_text=gettext_lazy(
            "Markdown; HTML is shown as text. Saving creates a new version; existing annotations keep theirs."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for code, name in _OTHER_LANGUAGES:
            self.fields[f"in_{code}"] = forms.CharField(
                label=name,
                required=False,
                strip=False,
                max_length=100_000,
                widget=forms.Textarea(attrs={"rows": 12, "spellcheck": "true", "lang": code}),
                help_text=gettext_lazy("Translation for people who use this language."),
            )

    @staticmethod
    def of(version: Guidelines | None, usual: str) -> dict[str, str]:
        """What the form shows of a version; of the task type's own text where there is none."""
        translations = version.translations if version else {}
        return {
            "text": version.text if version else usual,
            **{f"in_{code}": translations.get(code, "") for code, _ in _OTHER_LANGUAGES},
        }

    def clean(self) -> dict[str, Any]:
        cleaned_data = super().clean() or {}
        texts = {code: str(cleaned_data.pop(f"in_{code}", "")) for code, _ in _OTHER_LANGUAGES}
        cleaned_data["translations"] = {code: _lines(text) for code, text in texts.items() if text.strip()}
        return cleaned_data

    def clean_text(self) -> str:
        text = str(self.cleaned_data["text"]).replace("\r\n", "\n").strip("\n")
        if not text.strip():
            raise ValidationError(gettext("Guidelines cannot be empty."))
        return text + "\n"


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").strip("\n") + "\n"
