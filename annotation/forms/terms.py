"""The forms of assigning beyond planning a batch: what an open batch may change, people's shares, many batches at once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from annotation.journeys import assigning
from annotation.models import Batch, Person, Project
from annotation.terms import limits
from annotation.terms.gold import MOST_GOLD
from annotation.terms.people import MOST_OVERLAP
from tableqa.json_text import read_json
from tasks import resolving
from tasks.contract import TaskType

OWN = gettext_noop("default rule of the task type")
PAY = ("currency", "per_hour", "per_item")


class OptionsField(forms.CharField):
    """Options as {name: value}, written one a line; numbers and yes or no are what they look like."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 2, "spellcheck": "false"})
        super().__init__(
            max_length=2_000,
            widget=widget,
            help_text=gettext_lazy("One per line, for example: most = 5"),
            **kwargs,
        )

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return "\n".join(f"{name} = {json.dumps(one)}" for name, one in value.items())
        return value

    def clean(self, value: Any) -> Any:
        found: dict[str, Any] = {}
        for line in str(super().clean(value) or "").splitlines():
            name, sign, said = (part.strip() for part in line.partition("="))
            if not line.strip():
                continue
            if not sign or not name:
                raise ValidationError(
                    gettext("Cannot read {line!r}. Write a name, = and a value on each line.").format(
                        line=line.strip()
                    )
                )
            try:
                found[name] = read_json(said)
            except ValueError:
                found[name] = said
        return found


class TermsForm(forms.Form):
    """What a batch asks of people, and how it decides: the fields that may also change while it is open.

    Fields stand under the names of `Batch`; `terms_given` is what the domain takes.
    """

    rule = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Decision rule"),
        help_text=gettext_lazy("Turns the responses to an item into one outcome."),
    )
    rule_options = OptionsField(required=False, label=gettext_lazy("Options of the rule"))
    items = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=int(limits.MOST["items"]),
        label=gettext_lazy("Items per person"),
    )
    items_per_day = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=int(limits.MOST["items_per_day"]),
        label=gettext_lazy("Items per person per day"),
    )
    hours_per_day = forms.FloatField(
        required=False,
        min_value=0.1,
        max_value=limits.MOST["hours_per_day"],
        label=gettext_lazy("Hours per person per day"),
        help_text=gettext_lazy("Project limits also apply."),
    )
    pay_currency = forms.CharField(
        required=False,
        max_length=3,
        label=gettext_lazy("Currency"),
        help_text=gettext_lazy("Three capitals, for example EUR. Leave pay empty to use the project's."),
    )
    pay_per_hour = forms.FloatField(
        required=False, min_value=0, max_value=limits.MOST_PAY, label=gettext_lazy("Pay per hour")
    )
    pay_per_item = forms.FloatField(
        required=False, min_value=0, max_value=limits.MOST_PAY, label=gettext_lazy("or per item")
    )
    requires = forms.ModelChoiceField(
        queryset=Batch.objects.none(),
        to_field_name="public_id",
        required=False,
        label=gettext_lazy("Required qualification"),
        empty_label=gettext_lazy("none"),
        help_text=gettext_lazy("Items of the qualification are left out of this batch."),
    )
    must_practise = forms.BooleanField(
        required=False,
        label=gettext_lazy("Practice first"),
        help_text=gettext_lazy("People complete the practice set before their first item."),
    )
    decide_at_close = forms.BooleanField(
        required=False,
        label=gettext_lazy("Decide when the batch closes"),
        help_text=gettext_lazy(
            "Until then people can change their responses. Otherwise an item is decided one minute "
            "after its last response. This is the default if everyone gets every item."
        ),
    )
    gold_percent = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_GOLD,
        initial=0,
        label=gettext_lazy("Gold items per person, in percent"),
        help_text=gettext_lazy(
            "Items with a known answer, chosen on the Gold answers page of the batch. Annotators "
            "cannot recognise them, and they are not released."
        ),
    )
    gold_feedback = forms.BooleanField(required=False, label=gettext_lazy("Give feedback on gold items"))

    def __init__(self, *args: Any, task: TaskType, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.task = task
        rules = resolving.fitting(task)
        self.fields["rule"].choices = [  # type: ignore[attr-defined]
            ("", gettext(OWN)),
            *((one.name, f"{one.name}: {gettext(one.says)}") for one in rules),
        ]
        if not rules:
            del self.fields["rule"], self.fields["rule_options"]
        qualifications = Batch.objects.filter(project=project, purpose=Batch.Purpose.QUALIFICATION)
        self.fields["requires"].queryset = qualifications.order_by("name")  # type: ignore[attr-defined]

    def terms_given(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The terms by the names of `Batch`, from what the form has cleaned."""
        rule, options = given.get("rule"), given.get("rule_options") or {}
        if options and not rule:
            self.add_error("rule_options", gettext("Choose the rule that these options belong to."))
        return {
            "resolve": {"rule": rule, **options} if rule else {},
            "caps": {name: given.get(name) for name in limits.OF_A_BATCH if given.get(name) is not None},
            "pay": {name: given[f"pay_{name}"] for name in PAY if given.get(f"pay_{name}") not in (None, "")},
            "requires": given.get("requires"),
            "must_practise": bool(given.get("must_practise")),
            "decide_at_close": bool(given.get("decide_at_close")),
            "gold_percent": given.get("gold_percent") or 0,
            "gold_feedback": bool(given.get("gold_feedback")),
        }


TERMS = (
    "rule",
    "rule_options",
    *limits.OF_A_BATCH,
    *(f"pay_{name}" for name in PAY),
    "requires",
    "must_practise",
    "decide_at_close",
    "gold_percent",
    "gold_feedback",
)
"""The fields of `TermsForm`."""


class ChangeForm(TermsForm):
    """Changing a batch that people work on. `wanted` is what `annotation.journeys.changing` takes."""

    overlap = forms.IntegerField(
        min_value=1,
        max_value=MOST_OVERLAP,
        label=gettext_lazy("People per item"),
        help_text=gettext_lazy("Applies to undecided items."),
    )

    def __init__(self, *args: Any, batch: Batch, **kwargs: Any) -> None:
        initial = {
            "overlap": batch.overlap,
            "requires": batch.requires,
            "must_practise": batch.must_practise,
            "decide_at_close": batch.decide_at_close,
            "gold_percent": batch.gold_percent,
            "gold_feedback": batch.gold_feedback,
            **batch.caps,
            **{f"pay_{name}": value for name, value in batch.pay.items()},
        }
        super().__init__(*args, task=batch.task(), project=batch.project, initial=initial, **kwargs)
        self.order_fields(["overlap"])
        for name in ("rule", "rule_options"):
            self.fields.pop(name, None)  # a page of its own changes the rule
        if batch.strategy == "everyone":
            del self.fields["overlap"]
        if batch.purpose != Batch.Purpose.WORK:
            del self.fields["gold_percent"], self.fields["gold_feedback"], self.fields["decide_at_close"]
        elif batch.accepted_count or batch.excluded_count:
            del self.fields["decide_at_close"]  # it has begun to decide
        if batch.purpose == Batch.Purpose.QUALIFICATION:
            del self.fields["requires"]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        wanted = self.terms_given(given)
        del wanted["resolve"]
        for name in ("requires", "decide_at_close", "gold_percent", "gold_feedback"):
            if name not in self.fields:
                del wanted[name]
        if "overlap" in given:
            wanted["overlap"] = given["overlap"]
        return {"wanted": wanted}


class SharesForm(forms.Form):
    """What to do with the shares of the people who are ticked, and who gets them."""

    ACTIONS = (
        ("assign", gettext_noop("Reserve more items for each person")),
        ("move", gettext_noop("Move reserved items to others")),
        ("move_all", gettext_noop("Move reserved items and items in progress to others")),
        ("take_back", gettext_noop("Take back items in progress")),
    )

    action = forms.ChoiceField(
        label=gettext_lazy("Action"),
        choices=[(name, gettext_lazy(words)) for name, words in ACTIONS],
        widget=forms.RadioSelect,
        initial="assign",
    )
    most = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1_000_000,
        label=gettext_lazy("Number of items"),
        initial=20,
        help_text=gettext_lazy("For reserving items."),
    )
    to = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Recipient"),
        help_text=gettext_lazy("For moving or taking back items."),
    )
    people = forms.MultipleChoiceField(
        widget=forms.MultipleHiddenInput, error_messages={"required": gettext_lazy("Select people first.")}
    )

    def __init__(
        self, *args: Any, people: Sequence[Person], annotators: Sequence[Person], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.known = {str(person.pk): person for person in (*people, *annotators)}
        self.annotators = list(annotators)
        self.fields["people"].choices = [(key, person.name) for key, person in self.known.items()]  # type: ignore[attr-defined]
        self.fields["to"].choices = [  # type: ignore[attr-defined]
            ("others", gettext("the other annotators, evenly")),
            ("anybody", gettext("the pool")),
            *((str(person.pk), person.name) for person in annotators),
        ]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("action") == "assign" and not given.get("most") and "most" not in self.errors:
            self.add_error("most", gettext("Enter the number of items."))
        if given.get("action") in ("move", "move_all", "take_back") and given.get("to") in given.get(
            "people", []
        ):
            taker = self.known[given["to"]].name
            said = gettext(
                "{taker} is one of the people whose items move. Choose another recipient, or clear "
                "this person's selection."
            )
            self.add_error("to", said.format(taker=taker))
        return given

    def chosen(self) -> list[Person]:
        """The people who are ticked."""
        return [self.known[key] for key in self.cleaned_data["people"]]

    def takers(self) -> list[Person]:
        """Who gets what they give: nobody in particular, one person, or everybody who is not ticked."""
        to, ticked = self.cleaned_data.get("to") or "others", set(self.cleaned_data["people"])
        if to == "anybody":
            return []
        if to == "others":
            return [person for person in self.annotators if str(person.pk) not in ticked]
        return [self.known[to]]


class LeasesForm(forms.Form):
    """Items on people's desks that a manager takes back."""

    held = forms.MultipleChoiceField(error_messages={"required": gettext_lazy("Select items first.")})
    to = forms.ChoiceField(required=False, label=gettext_lazy("Recipient"))

    def __init__(self, *args: Any, held: Sequence[str], annotators: Sequence[Person], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["held"].choices = [(one, one) for one in held]  # type: ignore[attr-defined]
        self.fields["to"].choices = [  # type: ignore[attr-defined]
            ("anybody", gettext("the pool")),
            *((str(person.pk), person.name) for person in annotators),
        ]
        self.annotators = {str(person.pk): person for person in annotators}

    def taker(self) -> Person | None:
        """Who gets them; None for whoever comes next."""
        return self.annotators.get(self.cleaned_data.get("to") or "")


class BatchesForm(forms.Form):
    """One thing to do with several batches of a project."""

    action = forms.ChoiceField(
        label=gettext_lazy("Action"),
        choices=[(name, gettext_lazy(one.verb)) for name, one in assigning.ACTIONS.items()],
    )
    batches = forms.ModelMultipleChoiceField(
        queryset=Batch.objects.none(),
        to_field_name="public_id",
        error_messages={"required": gettext_lazy("Select batches first.")},
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        of_project = Batch.objects.filter(project=project).select_related("project").order_by("pk")
        self.fields["batches"].queryset = of_project  # type: ignore[attr-defined]
