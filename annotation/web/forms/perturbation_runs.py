"""The form of automatic perturbations."""

from typing import Any

from django import forms
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from annotation.models import Batch, Project, Source
from annotation.models.batch_options.named_values import FilterField
from annotation.workflow import perturbation_runs
from tableqa.perturbations import PERTURBATIONS, SEEDS
from tableqa.perturbations.question_selection import KINDS


class PerturbForm(forms.Form):
    """Which automatic perturbations of which examples, with which seeds."""

    kinds = forms.MultipleChoiceField(
        label=gettext_lazy("Perturbations"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one perturbation.")},
    )
    seeds = forms.CharField(
        max_length=400,
        initial=", ".join(map(str, SEEDS)),
        help_text=gettext_lazy(
            "Numbers separated by commas. Each seed gives another result of every random perturbation."
        ),
    )
    sources = forms.ModelMultipleChoiceField(
        Source.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("None selected: all."),
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
            ("paper", gettext_lazy("as in the text of the paper")),
        ],
        label=gettext_lazy("FREB-TQA's rules"),
        help_text=gettext_lazy("Used only if questions are selected by these rules."),
    )
    decided = forms.CharField(
        required=False,
        max_length=200,
        label=gettext_lazy("Filter by decision"),
        help_text=format_lazy(
            gettext_lazy("For example {example}: task type, field and accepted value."),
            example=lazy(perturbation_runs.filter_example, str)(),
        ),
    )
    feeds_from = forms.ModelChoiceField(
        Batch.objects.none(),
        required=False,
        label=gettext_lazy("Decisions of a batch"),
        empty_label=gettext_lazy("no batch"),
        help_text=gettext_lazy(
            "Each original is perturbed once this batch accepts it. The run ends when the batch is "
            "closed and decided."
        ),
    )
    feeds_when = FilterField(required=False, label=gettext_lazy("Filter by outcome of the batch"))

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["kinds"].choices = [  # type: ignore[attr-defined]
            (
                paper,
                [
                    (kind.name, format_html("{} <code>{}</code>", kind.title.shown(), kind.name))
                    for kind in PERTURBATIONS.values()
                    if kind.paper == paper
                ],
            )
            for paper in dict.fromkeys(kind.paper for kind in PERTURBATIONS.values())
        ]
        self.fields["sources"].queryset = Source.objects.current().filter(project=project).order_by("name")  # type: ignore[attr-defined]
        self.fields["feeds_from"].queryset = Batch.objects.filter(project=project).order_by("name")  # type: ignore[attr-defined]

    def clean_seeds(self) -> list[int]:
        try:
            return [int(part) for part in self.cleaned_data["seeds"].replace(",", " ").split()]
        except ValueError:
            raise forms.ValidationError(
                gettext("Separate numbers with commas, for example 33, 16.")
            ) from None
