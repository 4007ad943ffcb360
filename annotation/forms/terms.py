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
from annotation.work import limits, terms
from tableqa.json_text import read_json
from tasks import resolving
from tasks.contract import TaskType

OWN = gettext_noop("the kind's own rule")
PAY = ("currency", "per_hour", "per_item")


class OptionsField(forms.CharField):
    """Options as {name: value}, written one a line; numbers and yes or no are what they look like."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 2, "spellcheck": "false"})
        super().__init__(
            max_length=2_000, widget=widget, help_text=gettext_lazy("One a line, such as: most = 5"), **kwargs
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
                    gettext("Write a name, = and a value on each line; {line!r} is not that.").format(
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
        label=gettext_lazy("Rule that decides"),
        help_text=gettext_lazy("What the responses of an item come to."),
    )
    rule_options = OptionsField(required=False, label=gettext_lazy("Options of the rule"))
    items = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=int(limits.MOST["items"]),
        label=gettext_lazy("Items a person in all"),
    )
    items_per_day = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=int(limits.MOST["items_per_day"]),
        label=gettext_lazy("Items a person and day"),
    )
    hours_per_day = forms.FloatField(
        required=False,
        min_value=0.1,
        max_value=limits.MOST["hours_per_day"],
        label=gettext_lazy("Hours a person and day"),
        help_text=gettext_lazy("The limits of the project hold besides."),
    )
    pay_currency = forms.CharField(
        required=False,
        max_length=3,
        label=gettext_lazy("Currency"),
        help_text=gettext_lazy("Three capitals: EUR. Leave the pay out, and the project's holds here, too."),
    )
    pay_per_hour = forms.FloatField(
        required=False, min_value=0, max_value=limits.MOST_PAY, label=gettext_lazy("Pay an hour")
    )
    pay_per_item = forms.FloatField(
        required=False, min_value=0, max_value=limits.MOST_PAY, label=gettext_lazy("or an item")
    )
    requires = forms.ModelChoiceField(
        queryset=Batch.objects.none(),
        to_field_name="public_id",
        required=False,
        label=gettext_lazy("Qualification that people must have passed"),
        empty_label=gettext_lazy("none"),
        help_text=gettext_lazy("Items of the qualification are left out of this batch."),
    )
    must_practise = forms.BooleanField(
        required=False,
        label=gettext_lazy("Practice comes first"),
        help_text=gettext_lazy("People go through the practice set of the kind before their first item."),
    )
    decide_at_close = forms.BooleanField(
        required=False,
        label=gettext_lazy("Decide when the batch closes"),
        help_text=gettext_lazy(
            "Until then people may change what they submitted. Otherwise an item is decided a minute after its last "
            "response. Where everyone gets every item, the batch is planned so."
        ),
    )
    gold_percent = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=terms.MOST_GOLD,
        initial=0,
        label=gettext_lazy("Gold among a person's items, in percent"),
        help_text=gettext_lazy(
            "Items whose answer is known, chosen on the batch's own page. Nobody can tell which they are, and none "
            "is released."
        ),
    )
    gold_feedback = forms.BooleanField(
        required=False, label=gettext_lazy("Tell people afterwards how they did on gold items")
    )

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
            self.add_error("rule_options", gettext("Choose the rule whose options these are."))
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
        max_value=terms.MOST_OVERLAP,
        label=gettext_lazy("People per item"),
        help_text=gettext_lazy("Of the items that nobody has decided yet."),
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
        ("assign", gettext_noop("Keep so many more items for each of them")),
        ("move", gettext_noop("Move what is kept for them, and not begun, to others")),
        ("move_all", gettext_noop("Move that, and what is on their desks")),
        ("take_back", gettext_noop("Take back what is on their desks")),
    )

    action = forms.ChoiceField(
        label=gettext_lazy("What to do"),
        choices=[(name, gettext_lazy(words)) for name, words in ACTIONS],
        widget=forms.RadioSelect,
        initial="assign",
    )
    most = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1_000_000,
        label=gettext_lazy("How many items"),
        initial=20,
        help_text=gettext_lazy("Where items are kept for them."),
    )
    to = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Who gets them"),
        help_text=gettext_lazy("Where items are moved or taken back."),
    )
    people = forms.MultipleChoiceField(
        widget=forms.MultipleHiddenInput, error_messages={"required": gettext_lazy("Tick the people first.")}
    )

    def __init__(
        self, *args: Any, people: Sequence[Person], annotators: Sequence[Person], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.known = {str(person.pk): person for person in (*people, *annotators)}
        self.annotators = list(annotators)
        self.fields["people"].choices = [(key, person.name) for key, person in self.known.items()]  # type: ignore[attr-defined]
        self.fields["to"].choices = [  # type: ignore[attr-defined]
            ("others", gettext("the others, evenly")),
            ("anybody", gettext("whoever comes next")),
            *((str(person.pk), person.name) for person in annotators),
        ]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("action") == "assign" and not given.get("most") and "most" not in self.errors:
            self.add_error("most", gettext("Say how many items."))
        if given.get("action") in ("move", "move_all", "take_back") and given.get("to") in given.get(
            "people", []
        ):
            taker = self.known[given["to"]].name
            said = gettext(
                "{taker} is among those whose items go: choose somebody else, or do not tick them."
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

    held = forms.MultipleChoiceField(error_messages={"required": gettext_lazy("Tick the items first.")})
    to = forms.ChoiceField(required=False, label=gettext_lazy("Who gets them"))

    def __init__(self, *args: Any, held: Sequence[str], annotators: Sequence[Person], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["held"].choices = [(one, one) for one in held]  # type: ignore[attr-defined]
        self.fields["to"].choices = [  # type: ignore[attr-defined]
            ("anybody", gettext("whoever comes next")),
            *((str(person.pk), person.name) for person in annotators),
        ]
        self.annotators = {str(person.pk): person for person in annotators}

    def taker(self) -> Person | None:
        """Who gets them; None for whoever comes next."""
        return self.annotators.get(self.cleaned_data.get("to") or "")


class BatchesForm(forms.Form):
    """One thing to do with several batches of a project."""

    action = forms.ChoiceField(
        label=gettext_lazy("What to do"),
        choices=[(name, gettext_lazy(one.verb)) for name, one in assigning.ACTIONS.items()],
    )
    batches = forms.ModelMultipleChoiceField(
        queryset=Batch.objects.none(),
        to_field_name="public_id",
        error_messages={"required": gettext_lazy("Tick the batches first.")},
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        of_project = Batch.objects.filter(project=project).select_related("project").order_by("pk")
        self.fields["batches"].queryset = of_project  # type: ignore[attr-defined]
