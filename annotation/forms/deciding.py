"""The forms of adjudication: a decision, sending back, the rule that decides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError


class DecisionForm(forms.Form):
    """Either one or more of the responses, or the exclusion of the item; a note, unless the reason says it all."""

    choose = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    exclude = forms.CharField(
        required=False,
        max_length=500,
        label="Because",
        help_text="An excluded item is left out of every release; the reason is published.",
    )
    note = forms.CharField(
        required=False,
        max_length=5_000,
        label="Why you decide so",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Published with the decision.",
    )

    def __init__(self, *args: Any, letters: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["choose"].choices = [(letter, letter) for letter in letters]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("choose") and given.get("exclude"):
            raise ValidationError(
                "You chose responses and gave a reason to exclude the item. Do one of the two."
            )
        if not given.get("choose") and not given.get("exclude"):
            raise ValidationError("Choose at least one response, or say why the item is excluded.")
        if not given.get("note") and not given.get("exclude"):
            self.add_error("note", "Say in a note why you decide so.")
        return given


class SendBackForm(forms.Form):
    """Which response goes back to its author, and what they are told."""

    use_required_attribute = False  # it shares its <form> with the decision, which needs none of it
    back = forms.ChoiceField(error_messages={"required": "Say which response goes back."})
    back_note = forms.CharField(
        max_length=2_000,
        label="What its author should look at",
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Write to its author what is wrong with the response."},
    )

    def __init__(self, *args: Any, letters: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["back"].choices = [(letter, letter) for letter in letters]  # type: ignore[attr-defined]


class RuleForm(forms.Form):
    """The rule that decides in a batch, and its options as JSON."""

    rule = forms.ChoiceField(required=False, label="Rule", widget=forms.RadioSelect)
    options = forms.CharField(
        required=False,
        max_length=2_000,
        label="Options",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text='As JSON, such as {"most": 5}. Empty: the usual ones.',
    )

    def __init__(self, *args: Any, rules: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["rule"].choices = [("", "The kind\u2019s own rule"), *rules]  # type: ignore[attr-defined]

    def clean_options(self) -> dict[str, Any]:
        text = self.cleaned_data["options"].strip()
        try:
            found = json.loads(text) if text else {}
        except ValueError as error:
            raise forms.ValidationError(f"This is no JSON: {error}.") from None
        if not isinstance(found, dict):
            raise forms.ValidationError('Write an object, such as {"most": 5}.')
        return found

    def clean(self) -> dict[str, Any]:
        """`checked` is the rule as it was written; whether it fits the kind is for `change_rule` to say."""
        given = super().clean() or {}
        options = given.get("options") or {}
        if options and not given.get("rule"):
            raise ValidationError(
                "The kind\u2019s own rule takes its options from the settings of the batch. Name a rule."
            )
        given["checked"] = {"rule": given["rule"], **options} if given.get("rule") else {}
        return given
