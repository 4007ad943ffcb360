"""The forms of adjudication: a decision, sending back, the rule that decides."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_lazy

from annotation.models import Batch
from annotation.models.batch_options.named_values import OptionsField


class DecisionForm(forms.Form):
    """Either one or more of the responses, or the exclusion of the item; a listed reason; a note where the batch asks.

    excludes: the button for exclusion was pressed. Only the reason counts then, for any choice.
    """

    choose = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    exclude = forms.CharField(
        required=False,
        max_length=500,
        label=gettext_lazy("Reason for exclusion"),
        help_text=gettext_lazy("An excluded item is in no release. The reason is published."),
    )
    listed_reason = forms.CharField(required=False, max_length=120)
    note = forms.CharField(
        required=False,
        max_length=5_000,
        label=gettext_lazy("Note on the decision"),
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("Published with the decision."),
    )

    def __init__(
        self, *args: Any, letters: Sequence[str], batch: Batch, excludes: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.batch, self.excludes = batch, excludes
        self.fields["choose"].choices = [(letter, letter) for letter in letters]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned_data = super().clean() or {}
        if self.excludes:
            cleaned_data["choose"] = []
            if not cleaned_data.get("exclude") and not self.has_error("exclude"):
                self.add_error("exclude", gettext("Write why you exclude the item."))
            return cleaned_data
        if cleaned_data.get("choose") and cleaned_data.get("exclude"):
            raise ValidationError(gettext("Choose responses or exclude the item, not both."))
        if not cleaned_data.get("choose") and not cleaned_data.get("exclude"):
            raise ValidationError(
                gettext("Choose at least one response, or give a reason to exclude the item.")
            )
        if self.batch.note_required and not cleaned_data.get("note") and not cleaned_data.get("exclude"):
            self.add_error("note", gettext("This batch requires a note. Write why you decide this way."))
        return cleaned_data


class SendBackForm(forms.Form):
    """Which response goes back to its author, and with which note."""

    use_required_attribute = False  # it shares its <form> with the decision, which needs none of it
    back = forms.ChoiceField(error_messages={"required": gettext_lazy("Choose the response to send back.")})
    back_note = forms.CharField(
        max_length=2_000,
        label=gettext_lazy("Note to the author"),
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={
            "required": gettext_lazy("Write what is wrong with the response. The author sees this note.")
        },
    )

    def __init__(self, *args: Any, letters: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["back"].choices = [(letter, letter) for letter in letters]  # type: ignore[attr-defined]


class RuleForm(forms.Form):
    """The rule that decides in a batch, and its options."""

    rule = forms.ChoiceField(required=False, label=gettext_lazy("Decision rule"), widget=forms.RadioSelect)
    options = OptionsField(required=False, label=gettext_lazy("Options"))

    def __init__(self, *args: Any, rules: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["rule"].choices = [("", gettext("The default rule of the task type")), *rules]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """`checked` is the rule as it was written; whether it fits the kind is for `change_rule` to say."""
        cleaned_data = super().clean() or {}
        options = cleaned_data.get("options") or {}
        if options and not cleaned_data.get("rule"):
            raise ValidationError(
                gettext("The default rule takes its options from the batch settings. Choose a rule by name.")
            )
        cleaned_data["checked"] = (
            {"rule": cleaned_data["rule"], **options} if cleaned_data.get("rule") else {}
        )
        return cleaned_data
