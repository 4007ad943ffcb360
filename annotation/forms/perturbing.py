"""The form of automatic perturbations."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from annotation.models import Batch, Project, Source
from tableqa.perturbations import PERTURBATIONS, SEEDS
from tableqa.selection import KINDS


class PerturbForm(forms.Form):
    """Which automatic perturbations of which examples, with which seeds."""

    kinds = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one perturbation.")},
    )
    seeds = forms.CharField(
        max_length=400,
        initial=", ".join(map(str, SEEDS)),
        help_text=gettext_lazy(
            "Numbers with commas between them: each gives another draw of every kind that draws."
        ),
    )
    sources = forms.ModelMultipleChoiceField(
        Source.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None chosen: all of them."),
    )
    select = forms.ChoiceField(
        required=False,
        choices=[
            ("", gettext_lazy("all questions")),
            *(
                (kind, format_lazy(gettext_lazy("{kind} questions, by FREB-TQA's rules"), kind=kind))
                for kind in KINDS
            ),
        ],
        label=gettext_lazy("Questions"),
    )
    rules = forms.ChoiceField(
        choices=[
            ("released", gettext_lazy("as in the released files")),
            ("paper", gettext_lazy("as the paper's text has them")),
        ],
        label=gettext_lazy("FREB-TQA's rules"),
        help_text=gettext_lazy("Counts only where the questions are chosen by them."),
    )
    decided = forms.CharField(
        required=False,
        max_length=200,
        label=gettext_lazy("Only examples decided so"),
        help_text=gettext_lazy(
            "Such as question_type.label=extraction: the kind, its field and the accepted value."
        ),
    )
    feeds_from = forms.ModelChoiceField(
        Batch.objects.none(),
        required=False,
        label=gettext_lazy("As a batch decides them"),
        empty_label=gettext_lazy("no batch"),
        help_text=gettext_lazy(
            "Originals are perturbed as this batch accepts them; finished once it is closed and decided."
        ),
    )
    feeds_when = forms.CharField(
        required=False,
        max_length=200,
        label=gettext_lazy("Only these outcomes of the batch"),
        help_text=gettext_lazy(
            "Such as label=extraction: a field of its responses and the accepted value. More with commas."
        ),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["kinds"].choices = [  # type: ignore[attr-defined]
            (paper, [(kind.name, kind.name) for kind in PERTURBATIONS.values() if kind.paper == paper])
            for paper in dict.fromkeys(kind.paper for kind in PERTURBATIONS.values())
        ]
        self.fields["sources"].queryset = Source.objects.ready().filter(project=project).order_by("name")  # type: ignore[attr-defined]
        self.fields["feeds_from"].queryset = Batch.objects.filter(project=project).order_by("name")  # type: ignore[attr-defined]

    def clean_feeds_when(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for part in filter(None, (one.strip() for one in self.cleaned_data["feeds_when"].split(","))):
            name, said, value = (one.strip() for one in part.partition("="))
            if not (name and said and value):
                raise forms.ValidationError(gettext("Write a field and a value, as label=extraction."))
            found.setdefault(name, []).append(value)
        return found

    def clean_seeds(self) -> list[int]:
        try:
            return [int(part) for part in self.cleaned_data["seeds"].replace(",", " ").split()]
        except ValueError:
            raise forms.ValidationError(
                gettext("Write numbers with commas between them, as 33, 16.")
            ) from None
