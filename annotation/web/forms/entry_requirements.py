"""The forms of what comes before and beside the items: consent, gold, qualification, questions, calibration."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import Batch
from annotation.quality import annotator_questions, consent, gold
from annotation.quality.calibration import LONGEST_REASON
from annotation.web.forms.example_import import validate_upload


class ConsentForm(forms.Form):
    """A new version of the text that people agree to."""

    text = forms.CharField(
        label=gettext_lazy("Consent text"),
        strip=False,
        max_length=consent.LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 18, "spellcheck": "true"}),
        help_text=gettext_lazy(
            "Markdown; HTML is shown as text. Cover who runs the study, what is stored and "
            "published, how people are paid, and how they can stop."
        ),
    )


class GoldFileForm(forms.Form):
    """Right responses from a file."""

    file = forms.FileField(
        validators=[validate_upload],
        help_text=gettext_lazy(
            'JSONL: one object with "example", "response" and "why" per line. Or CSV with these columns; '
            "response is JSON, or each response field is a separate column."
        ),
    )


class GoldFromForm(forms.Form):
    """Right responses from what another batch decided."""

    other = forms.ModelChoiceField(Batch.objects.none(), label=gettext_lazy("Batch"), empty_label=None)
    size = forms.IntegerField(label=gettext_lazy("Items"), min_value=1, max_value=gold.MOST_ROWS, initial=20)
    seed = forms.IntegerField(
        min_value=0, max_value=2**31, initial=0, help_text=gettext_lazy("Determines which items are drawn.")
    )

    def __init__(self, *args: Any, batch: Batch, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        batches = Batch.objects.filter(
            project_id=batch.project_id,
            task_type=batch.task_type,
            variant=batch.variant,
            purpose=Batch.Purpose.WORK,
            opened_at__isnull=False,
        ).exclude(pk=batch.pk)
        self.fields["other"].queryset = batches.order_by("-pk")  # type: ignore[attr-defined]


class WhyForm(forms.Form):
    """Why a response is right."""

    why = forms.CharField(
        label=gettext_lazy("Reason"),
        required=False,
        max_length=gold.LONGEST_WHY,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("For people who get feedback."),
    )
    response = forms.CharField(required=False, widget=forms.HiddenInput(attrs={"data-response": ""}))


class AskForm(forms.Form):
    """A question to the manager."""

    text = forms.CharField(
        label=gettext_lazy("Your question"),
        max_length=annotator_questions.LONGEST,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy(
            "Everyone in the project can read the question once it is answered. Only managers see your name."
        ),
    )


class AnswerForm(forms.Form):
    """An answer for all."""

    answer = forms.CharField(max_length=annotator_questions.LONGEST, widget=forms.Textarea(attrs={"rows": 3}))


class SetAsideForm(forms.Form):
    """Why a batch is set aside."""

    because = forms.CharField(
        label=gettext_lazy("Reason"), max_length=LONGEST_REASON, widget=forms.Textarea(attrs={"rows": 2})
    )
