"""The forms of assigning beyond planning a batch: what an open batch may change, people's shares, many batches at once."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.conf import settings
from django.db import models
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from annotation.models import Batch, Person, Project
from annotation.models.batch_options import ANY_TIME, SECTIONS, UNTIL_DECIDED, Term, changeable, in_section
from annotation.models.batch_options.named_values import OptionsField
from annotation.workflow import batches as workflow_batches
from tasks.contract import TaskType

FLAT: Final = frozenset({"people", "decision", "loop"})
"""Sections of forms that are shown without a heading: each has one or two fields."""


def field_of(term: Term, project: Project | None = None) -> forms.Field:
    """The form field of a term: by the column, with label, help, default and limits of the term."""
    common: dict[str, Any] = {
        "required": False,
        "label": gettext_lazy(term.label),
        "help_text": gettext_lazy(term.help) if term.help else "",
    }
    if isinstance(term.column, models.BooleanField):
        return forms.BooleanField(initial=term.default, **common)
    if isinstance(term.column, models.IntegerField):
        limits = {"min_value": term.minimum, "max_value": term.maximum, "initial": term.default or None}
        return forms.IntegerField(**{**common, "required": term.minimum > 0, **limits})
    if term.column.is_relation:
        batches = Batch.objects.filter(project=project, **term.among).order_by("name")
        return forms.ModelChoiceField(
            batches, to_field_name="public_id", empty_label=gettext_lazy("none"), **common
        )
    if term.choices is not None:
        choices = term.choices if isinstance(term.choices, Mapping) else term.choices()
        field = forms.ChoiceField(
            choices=[(name, gettext_lazy(text)) for name, text in choices.items()],
            initial=term.default,
            **common,
        )
        field.needed = "" not in choices  # type: ignore[attr-defined]
        return field
    if isinstance(term.column, models.JSONField):
        return OptionsField(required=False, label=common["label"])
    return forms.CharField(max_length=term.column.max_length, **common)


@dataclass(frozen=True)
class Section:
    """A part of a form: its name, its title, its fields; `is_open`: it is folded and shown open."""

    name: str
    title: str
    fields: list[forms.BoundField]
    is_open: bool

    @property
    def is_flat(self) -> bool:
        return self.name in FLAT


class TermsForm(forms.Form):
    """Terms of a batch, in sections. Fields are named after the terms, or as `Term.inputs` names them.

    values: the terms as they are; without them the fields have their defaults.
    """

    extra_fields: Mapping[str, Sequence[str]] = {}
    """Fields of the class by the section that they belong to."""

    def __init__(
        self,
        *args: Any,
        terms: Iterable[Term],
        task: TaskType,
        project: Project,
        values: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.task = task
        self.terms: dict[str, Term] = {}
        self.parts: dict[str, list[str]] = {}
        for term in terms:
            if not term.is_in_form or not term.fits(task):
                continue
            if (term.needs_model and not settings.PREDICTORS) or (
                callable(term.choices) and not term.choices()
            ):
                continue
            fields = {term.name: field_of(term, project)} if term.inputs is None else term.inputs.build(task)
            self.terms[term.name], self.parts[term.name] = term, list(fields)
            self.fields.update(fields)
            if values is not None:
                value = values[term.name]
                self.initial.update({term.name: value} if term.inputs is None else term.inputs.split(value))

    def values(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        """The terms by name, from what the form has cleaned; None where a field was left empty."""
        values: dict[str, Any] = {}
        for name, term in self.terms.items():
            try:
                values[name] = cleaned.get(name) if term.inputs is None else term.inputs.join(cleaned)
            except forms.ValidationError as error:
                self.add_error(None, error)
        return values

    def names_in(self, section: str) -> list[str]:
        """The names of the fields of a section."""
        of_terms = (name for term in in_section(section) for name in self.parts.get(term.name, ()))
        return [name for name in (*self.extra_fields.get(section, ()), *of_terms) if name in self.fields]

    def sections(self) -> Iterator[Section]:
        """The sections that have fields, in order."""
        for name, title in SECTIONS.items():
            if names := self.names_in(name):
                yield Section(name, gettext(title), [self[each] for each in names], self.is_open(name))

    def is_open(self, section: str) -> bool:
        """Whether a folded section is shown open."""
        return False


class ChangeForm(TermsForm):
    """Changing a batch that people work on: the terms of some sections that may change now.

    `wanted` is what `annotation.workflow.batch_settings` takes.
    """

    def __init__(
        self, *args: Any, batch: Batch, sections: Collection[str], counted: bool = True, **kwargs: Any
    ) -> None:
        # A field that goes with the first decision would tell of it.
        decides = bool(not counted or batch.accepted_count or batch.excluded_count)
        editable_terms = [
            term
            for term in changeable().values()
            if term.section in sections
            and batch.purpose in term.purposes
            and term.name != "resolve"  # its own page changes the rule
            and not (term.name == "overlap" and batch.strategy == "everyone")
            and not (term.changeable == UNTIL_DECIDED and decides)
            and (batch.closed_at is None or term.changeable == ANY_TIME)
        ]
        values = {term.name: getattr(batch, term.name) for term in editable_terms}
        super().__init__(
            *args, terms=editable_terms, task=batch.task(), project=batch.project, values=values, **kwargs
        )

    def clean(self) -> dict[str, Any]:
        return {"wanted": self.values(super().clean() or {})}


class NamedChangeForm(ChangeForm):
    """The same with the name of the batch."""

    name = forms.CharField(
        max_length=workflow_batches.LONGEST_NAME,
        help_text=gettext_lazy("Study files find the batch by this name."),
    )

    def __init__(self, *args: Any, batch: Batch, **kwargs: Any) -> None:
        super().__init__(*args, batch=batch, **kwargs)
        self.initial["name"] = batch.name

    def clean(self) -> dict[str, Any]:
        return {"name": self.cleaned_data.get("name", ""), **super().clean()}


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
        cleaned_data = super().clean() or {}
        if (
            cleaned_data.get("action") == "assign"
            and not cleaned_data.get("most")
            and "most" not in self.errors
        ):
            self.add_error("most", gettext("Enter the number of items."))
        if cleaned_data.get("action") in ("move", "move_all", "take_back") and cleaned_data.get(
            "to"
        ) in cleaned_data.get("people", []):
            taker = self.known[cleaned_data["to"]].name
            message = gettext(
                "{taker} is one of the people whose items move. Choose another recipient, or clear "
                "this person's selection."
            )
            self.add_error("to", message.format(taker=taker))
        return cleaned_data

    def chosen(self) -> list[Person]:
        """The people who are ticked."""
        return [self.known[key] for key in self.cleaned_data["people"]]

    def takers(self) -> list[Person]:
        """Who gets what they give: all, one person, or all who are not ticked."""
        to, ticked = self.cleaned_data.get("to") or "others", set(self.cleaned_data["people"])
        if to == "anybody":
            return []
        if to == "others":
            return [person for person in self.annotators if str(person.pk) not in ticked]
        return [self.known[to]]


class LeasesForm(forms.Form):
    """Items in progress that a manager takes back."""

    held = forms.MultipleChoiceField(error_messages={"required": gettext_lazy("Select items first.")})
    to = forms.ChoiceField(required=False, label=gettext_lazy("Recipient"))

    def __init__(
        self, *args: Any, leased_ids: Sequence[str], annotators: Sequence[Person], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.fields["held"].choices = [(public_id, public_id) for public_id in leased_ids]  # type: ignore[attr-defined]
        self.fields["to"].choices = [  # type: ignore[attr-defined]
            ("anybody", gettext("the pool")),
            *((str(person.pk), person.name) for person in annotators),
        ]
        self.annotators = {str(person.pk): person for person in annotators}

    def taker(self) -> Person | None:
        """Who gets them; None for the next person."""
        return self.annotators.get(self.cleaned_data.get("to") or "")


class BatchesForm(forms.Form):
    """One thing to do with several batches of a project."""

    action = forms.ChoiceField(
        label=gettext_lazy("Action"),
        choices=[(name, gettext_lazy(action.verb)) for name, action in workflow_batches.ACTIONS.items()],
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
