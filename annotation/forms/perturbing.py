"""The form of automatic perturbations."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.models import Batch, Project, Source
from tableqa.perturbations import PERTURBATIONS, SEEDS
from tableqa.selection import KINDS


class PerturbForm(forms.Form):
    """Which automatic perturbations of which examples, with which seeds."""

    kinds = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one perturbation."},
    )
    seeds = forms.CharField(
        max_length=400,
        initial=", ".join(map(str, SEEDS)),
        help_text="Numbers with commas between them: each gives another draw of every kind that draws.",
    )
    sources = forms.ModelMultipleChoiceField(
        Source.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all of them.",
    )
    select = forms.ChoiceField(
        required=False,
        choices=[
            ("", "all questions"),
            *((kind, f"{kind} questions, by FREB-TQA's rules") for kind in KINDS),
        ],
        label="Questions",
    )
    rules = forms.ChoiceField(
        choices=[("released", "as in the released files"), ("paper", "as the paper's text has them")],
        label="FREB-TQA's rules",
        help_text="Counts only where the questions are chosen by them.",
    )
    decided = forms.CharField(
        required=False,
        max_length=200,
        label="Only examples decided so",
        help_text="Such as question_type.label=extraction: the kind, its field and the accepted value.",
    )
    feeds_from = forms.ModelChoiceField(
        Batch.objects.none(),
        required=False,
        label="As a batch decides them",
        empty_label="no batch",
        help_text="Originals are perturbed as this batch accepts them; finished once it is closed and decided.",
    )
    feeds_when = forms.CharField(
        required=False,
        max_length=200,
        label="Only these outcomes of the batch",
        help_text="Such as label=extraction: a field of its responses and the accepted value. More with commas.",
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
                raise forms.ValidationError("Write a field and a value, as label=extraction.")
            found.setdefault(name, []).append(value)
        return found

    def clean_seeds(self) -> list[int]:
        try:
            return [int(part) for part in self.cleaned_data["seeds"].replace(",", " ").split()]
        except ValueError:
            raise forms.ValidationError("Write numbers with commas between them, as 33, 16.") from None
