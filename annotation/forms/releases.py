"""The forms of a release and of evaluating predictions on it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy, ngettext

from annotation.releases.release_files import FORMATS


class ReleaseForm(forms.Form):
    """The release's name and format."""

    name = forms.CharField(
        max_length=80, help_text=gettext_lazy("Such as 1.0 or pilot-2026-07. Other data needs another name.")
    )
    format = forms.ChoiceField(
        choices=[(name, name) for name in FORMATS],
        help_text=gettext_lazy(
            "Every format carries the raw records, the decisions and the agreement; the others add their own files."
        ),
    )
    mix = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31,
        label=gettext_lazy("Seed of a mix"),
        help_text=gettext_lazy(
            "With a seed, accepted perturbations of one question that touch different levels (headers, contents, "
            "question) are composed, two or three at a time. Leave it empty for none."
        ),
    )
    purpose = forms.ChoiceField(
        required=False,
        choices=[
            ("", gettext_lazy("as it is decided")),
            ("evaluation", gettext_lazy("evaluation: without what a machine proposed and nobody verified")),
            (
                "training",
                gettext_lazy("training: with proposals that nobody looked at, marked, in files of their own"),
            ),
        ],
        help_text=gettext_lazy("Counts where batches had help in crafting."),
    )
    waivers = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy(
            "Only where a release is refused because accepted outcomes break their contract: a line for each, its "
            "id, a blank and the reason. Reasons are published."
        ),
    )
    allow_simulated = forms.BooleanField(
        required=False,
        label=gettext_lazy("Include simulated people"),
        help_text=gettext_lazy(
            "Simulated people annotated here. They are marked in the files; do not publish them as data."
        ),
    )

    include_unchecked = forms.BooleanField()

    def __init__(self, *args: Any, simulated: bool, unchecked: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if unchecked:
            field = self.fields["include_unchecked"]
            field.label = ngettext(
                "Include {number} edit that nobody has answered blind",
                "Include {number} edits that nobody has answered blind",
                unchecked,
            ).format(number=number_format(unchecked, force_grouping=True))
            field.help_text = gettext(
                "A blind answer checks that the edited table gives the answer that its author wrote down."
            )
            field.error_messages["required"] = ngettext(
                "Tick this to release the edit unchecked, or plan a batch of answer checks first.",
                "Tick this to release the edits unchecked, or plan a batch of answer checks first.",
                unchecked,
            )
        else:
            del self.fields["include_unchecked"]
        if not simulated:
            del self.fields["allow_simulated"]

    def clean_waivers(self) -> dict[str, str]:
        found = {}
        for line in self.cleaned_data["waivers"].splitlines():
            outcome, _, reason = line.strip().partition(" ")
            if outcome and not reason.strip():
                raise forms.ValidationError(
                    gettext("{outcome}: give a reason behind the id.").format(outcome=outcome)
                )
            if outcome:
                found[outcome] = reason.strip()
        return found


class EvaluateForm(forms.Form):
    """A model's name, and where its answers come from: a file, or a predictor of the settings."""

    name = forms.CharField(
        max_length=60, label=gettext_lazy("Model"), help_text=gettext_lazy("As the tables shall call it.")
    )
    file = forms.FileField(
        required=False,
        label=gettext_lazy("File of predictions"),
        help_text=gettext_lazy(
            'JSON Lines, as {"source": "wtq-dev", "id": "nt-652~row_shuffle-33", "answers": ["1995"]}, or as '
            "FREB-TQA's program writes them."
        ),
    )
    predictor = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Or ask a predictor"),
        help_text=gettext_lazy("It is asked about every instance of the release, in the background."),
    )
    leave_out_missing = forms.BooleanField(
        required=False,
        label=gettext_lazy("Do without instances that the file has no prediction for"),
        help_text=gettext_lazy("Otherwise one of them is an error."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [(name, name) for name in sorted(settings.PREDICTORS)]
        self.fields["predictor"].choices = [("", gettext("none")), *names]  # type: ignore[attr-defined]
        if not settings.PREDICTORS:
            del self.fields["predictor"]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if not self.errors and bool(given.get("file")) == bool(given.get("predictor")):
            raise ValidationError(
                gettext("Send a file of predictions, or choose a predictor: one of the two.")
            )
        return given
