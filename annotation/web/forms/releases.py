"""The forms of a release and of evaluating predictions on it."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy, ngettext

from annotation.releases.benchmark_files import FORMATS
from annotation.releases.format_descriptions import DESCRIPTIONS, LOSSES
from tableqa.serialisations import SERIALISATIONS

PROMPTS = ("design", "serialisation", "demonstrations")
"""Fields of `ReleaseForm` that say how prompts of the format hf are written."""
MORE = ("mix", "purpose", *PROMPTS, "waivers")
"""Fields of `ReleaseForm` that few releases need."""


class ReleaseOptionsForm(forms.Form):
    """Formats and what is in their files. `defaults` are those of the project (`Project.release`)."""

    format = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple(attrs={"class": "ticks"}),
        label=gettext_lazy("Formats"),
        help_text=gettext_lazy(
            "Every release contains the raw records, decisions and agreement. Each format adds its own files."
        ),
        error_messages={"required": gettext_lazy("Select at least one format.")},
    )
    mix = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31,
        label=gettext_lazy("Mix seed"),
        help_text=gettext_lazy(
            "Combines two or three accepted perturbations of one question at different levels "
            "(headers, contents, question). Leave empty for no mixes."
        ),
    )
    purpose = forms.ChoiceField(
        required=False,
        choices=[
            ("", gettext_lazy("all decided items")),
            ("evaluation", gettext_lazy("evaluation: without unverified machine proposals")),
            (
                "training",
                gettext_lazy("training: with unverified proposals, marked, in separate files"),
            ),
        ],
        help_text=gettext_lazy("Matters only if batches showed proposals."),
    )
    design = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Prompt design"),
        choices=[
            ("", gettext_lazy("default: JSON with a list of answers")),
            ("plain", gettext_lazy("plain text with | between answers")),
        ],
        help_text=gettext_lazy("With the format hf: what the prompts of its benchmark ask for."),
    )
    serialisation = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Tables in prompts"),
        choices=[("", gettext_lazy("default: markdown")), *((name, name) for name in sorted(SERIALISATIONS))],
        help_text=gettext_lazy("With the format hf: the serialisation of tables."),
    )
    demonstrations = forms.CharField(
        required=False,
        max_length=80,
        label=gettext_lazy("Split for demonstrations"),
        help_text=gettext_lazy(
            "With the format hf: sources of this split give solved examples and no test items."
        ),
    )

    def __init__(self, *args: Any, defaults: Mapping[str, Any], **kwargs: Any) -> None:
        chosen = {"format" if name == "formats" else name: value for name, value in defaults.items()}
        chosen |= chosen.pop("prompts", {})
        super().__init__(*args, **{"initial": chosen, **kwargs})
        self.fields["format"].choices = [  # type: ignore[attr-defined]
            (
                name,
                format_html(
                    "<strong>{}</strong> <span>{}</span>",
                    name,
                    " ".join(gettext(text) for text in (DESCRIPTIONS[name], LOSSES[name]) if text),
                ),
            )
            for name in FORMATS
        ]

    def clean(self) -> dict[str, Any]:
        cleaned_data = super().clean() or {}
        prompts = {name: value for name in PROMPTS if (value := cleaned_data.pop(name, ""))}
        return {**cleaned_data, "prompts": prompts if "hf" in cleaned_data.get("format", ()) else {}}


class ReleaseForm(ReleaseOptionsForm):
    """The release's name, its formats and its options."""

    name = forms.CharField(
        max_length=80,
        help_text=gettext_lazy("For example 1.0 or pilot-2026-07. Other data needs another name."),
    )
    waivers = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy(
            "Needed only if a release is refused because accepted outcomes break their contract. "
            "One per line: the id, a space and the reason. Reasons are published."
        ),
    )
    allow_simulated = forms.BooleanField(
        required=False,
        label=gettext_lazy("Include simulated people"),
        help_text=gettext_lazy(
            "Simulated people annotated in this project. The files mark them. Do not publish such "
            "a release as data."
        ),
    )
    include_unchecked = forms.BooleanField()
    field_order = ("name",)

    def __init__(self, *args: Any, simulated: bool, unchecked: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if unchecked:
            field = self.fields["include_unchecked"]
            field.label = ngettext(
                "I know that {number} edit is released without a blind answer",
                "I know that {number} edits are released without a blind answer",
                unchecked,
            ).format(number=number_format(unchecked, force_grouping=True))
            field.help_text = gettext(
                "Required. A blind answer checks that the edited table gives the answer its author wrote down. To "
                "release without these edits, exclude their items in the explorer first."
            )
            field.error_messages["required"] = ngettext(
                "Select this to release the edit unchecked, or create a batch of answer checks first.",
                "Select this to release the edits unchecked, or create a batch of answer checks first.",
                unchecked,
            )
        else:
            del self.fields["include_unchecked"]
        if not simulated:
            del self.fields["allow_simulated"]

    @property
    def first(self) -> list[forms.BoundField]:
        """The fields that every release needs."""
        return [field for field in self if field.name not in MORE]

    @property
    def more(self) -> list[forms.BoundField]:
        """The fields that few releases need, which the page folds."""
        return [field for field in self if field.name in MORE]

    @property
    def has_more(self) -> bool:
        """Whether one of the folded fields was filled in, or has an error."""
        return any(field.errors or field.value() not in ("", None) for field in self.more)

    def clean_waivers(self) -> dict[str, str]:
        waivers = {}
        for line in self.cleaned_data["waivers"].splitlines():
            outcome, _, reason = line.strip().partition(" ")
            if outcome and not reason.strip():
                raise forms.ValidationError(
                    gettext("{outcome}: add a reason after the id.").format(outcome=outcome)
                )
            if outcome:
                waivers[outcome] = reason.strip()
        return waivers


class EvaluateForm(forms.Form):
    """A model's name, and where its answers come from: a file, or a model of the settings."""

    name = forms.CharField(
        max_length=60, label=gettext_lazy("Model"), help_text=gettext_lazy("The name shown in result tables.")
    )
    file = forms.FileField(
        required=False,
        label=gettext_lazy("Predictions file"),
        help_text=gettext_lazy(
            'JSON Lines, as {"source": "wtq-dev", "id": "nt-652~row_shuffle-33", "answers": ["1995"]}, or as '
            "FREB-TQA's program writes them."
        ),
    )
    predictor = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Or ask a model"),
        help_text=gettext_lazy("It answers every instance of the release in the background."),
    )
    leave_out_missing = forms.BooleanField(
        required=False,
        label=gettext_lazy("Skip instances without a prediction"),
        help_text=gettext_lazy("Otherwise a missing prediction is an error."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [(name, name) for name in sorted(settings.PREDICTORS)]
        self.fields["predictor"].choices = [("", gettext("none")), *names]  # type: ignore[attr-defined]
        if not settings.PREDICTORS:
            del self.fields["predictor"]

    def clean(self) -> dict[str, Any]:
        cleaned_data = super().clean() or {}
        if not self.errors and bool(cleaned_data.get("file")) == bool(cleaned_data.get("predictor")):
            raise ValidationError(gettext("Upload a file of predictions or choose a model, not both."))
        return cleaned_data
