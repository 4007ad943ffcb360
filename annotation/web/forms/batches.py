"""The form that plans a batch, and the settings of its kind as fields."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.forms.utils import ErrorDict
from django.http import QueryDict
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext

from annotation.models import Batch, Project, Source
from annotation.models.batch_options import TERMS
from annotation.platform import display_text
from annotation.queue import sampling, strategies
from annotation.web.forms.batch_settings import TermsForm
from tableqa.data.own_columns import PREFIX
from tasks.contract import TaskType

OF = {
    "originals": gettext_noop("originals, as imported from the source"),
    "perturbed": gettext_noop("examples perturbed by people"),
    "automatic": gettext_noop("examples perturbed by a program"),
}


class LinesField(forms.CharField):
    """Texts, one a line."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def clean(self, value: Any) -> Any:
        return [line for line in map(str.strip, str(super().clean(value) or "").splitlines()) if line]


class JSONValueField(forms.JSONField):
    """A JSON value in a small box, which is empty where there is none."""

    widget = forms.Textarea(attrs={"rows": 2, "spellcheck": "false"})

    def __init__(self, *args: Any, examples: Sequence[Any] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if examples:
            self.widget.attrs["placeholder"] = json.dumps(examples[0], ensure_ascii=False)

    def prepare_value(self, value: Any) -> Any:
        return "" if value is None else super().prepare_value(value)


class BatchForm(TermsForm):
    """Everything of a batch but its kind, which is chosen first, and the settings of the kind (`SettingsForm`)."""

    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autofocus": True}))
    sources = forms.ModelMultipleChoiceField(
        queryset=Source.objects.none(),
        to_field_name="public_id",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Choose at least one, unless the items come from another batch."),
    )
    of = forms.ChoiceField(required=False, label=gettext_lazy("Examples"))
    size = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10_000_000,
        label=gettext_lazy("Sample size"),
        help_text=gettext_lazy("Leave empty to use all examples."),
    )
    strata = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Sampling method"),
        choices=[(name, gettext_lazy(title)) for name, title in strategies.STRATA.items()],
        help_text=format_lazy(
            gettext_lazy("A small table has at most {small} cells, a medium one {medium}."),
            small=strategies.SMALL,
            medium=strategies.MEDIUM,
        ),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**63 - 1,
        initial=0,
        help_text=gettext_lazy("The same seed gives the same sample in the same order."),
    )
    only = LinesField(
        required=False,
        label=gettext_lazy("Only these examples"),
        help_text=gettext_lazy("Ids of examples in the source, one per line, in the order of annotation."),
    )
    feeds_from = forms.ModelChoiceField(
        queryset=Batch.objects.none(),
        to_field_name="public_id",
        required=False,
        label=gettext_lazy("Takes accepted items from"),
        empty_label=gettext_lazy("no other batch"),
        help_text=gettext_lazy(
            "Accepted outcomes of that batch become items here. Their authors do not get them."
        ),
    )
    also_sources = forms.BooleanField(
        required=False,
        label=gettext_lazy("Also use examples of the selected sources"),
        help_text=gettext_lazy("Otherwise all items come from that batch."),
    )
    open_at_once = forms.BooleanField(
        required=False,
        initial=True,
        label=gettext_lazy("Open now"),
        help_text=gettext_lazy("Annotators get items as soon as the batch is open."),
    )

    extra_fields: Mapping[str, Sequence[str]] = {
        "sampling": ("strata", "seed", "only"),
        "fed": ("feeds_from", "also_sources"),
    }

    def __init__(
        self,
        *args: Any,
        task: TaskType,
        project: Project,
        copied: Batch | None = None,
        initial: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        values = {name: getattr(copied, name) for name in TERMS} if copied else None
        initial = {**(_sample_fields(copied) if copied else {}), **(initial or {})}
        super().__init__(
            *args, terms=TERMS.values(), task=task, project=project, values=values, initial=initial, **kwargs
        )
        self.project, self.copied = project, copied
        sources = Source.objects.current().filter(project=project).order_by("name", "pk")
        self.fields["sources"].queryset = sources  # type: ignore[attr-defined]
        self.fields["sources"].label_from_instance = source_in_words  # type: ignore[attr-defined]
        if len(only := list(sources[:2])) == 1:
            self.fields["sources"].initial = only
        self.fields["feeds_from"].queryset = Batch.objects.filter(project=project).order_by("-pk")  # type: ignore[attr-defined]
        self.fields["of"].choices = [(name, gettext(OF[name])) for name in sampling.example_kinds(task)]  # type: ignore[attr-defined]
        if len(sampling.example_kinds(task)) == 1:
            self.fields["of"].widget = forms.HiddenInput()
        self.fields["of"].initial = task.of[0]
        self.fields["strata"].choices += [  # type: ignore[attr-defined]
            (name, gettext("by {column}, in proportion").format(column=name.removeprefix(PREFIX)))
            for name in sampling.own_columns(project)
        ]
        self.fields["strata"].needed = True  # type: ignore[attr-defined]
        self.fields["overlap"].initial = task.default_overlap
        why = (
            gettext("their responses are compared")
            if not task.making
            else gettext("each person creates a separate response")
        )
        self.fields["overlap"].help_text = gettext("Number of people per item: {why}.").format(why=why)

    def clean(self) -> dict[str, Any]:
        """`name`, `sample` and `terms` as `batches.plan_batch` takes them, and `open_at_once`."""
        cleaned_data = super().clean() or {}
        values = self.values(cleaned_data)
        self._refuse_other_purposes(values)
        if values.get("purpose") not in ("", "work", None):
            values["strategy"] = ""  # everyone gets every item, regardless of the form
        values["decide_at_close"] = values["decide_at_close"] or None  # not ticked: the default
        if cleaned_data.get("feeds_from") and not cleaned_data.get("also_sources"):
            cleaned_data["sources"] = []
        drawn = {
            each.name: cleaned_data[each.name]
            for each in fields(sampling.Sample)
            if each.name in cleaned_data
        }
        return {
            "name": cleaned_data.get("name"),
            "sample": sampling.Sample(**drawn),
            "terms": values,
            "open_at_once": cleaned_data.get("open_at_once") and values.get("purpose") != "qualification",
        }

    def sample_of(self, data: QueryDict) -> sampling.Sample | None:
        """The examples that the fields name so far, regardless of the others; None where they name none."""
        is_sent = "sources" in data or "seed" in data
        ids = data.getlist("sources") if is_sent else self.fields["sources"].initial or []
        try:
            sources = self.fields["sources"].clean(ids)
            only = self.fields["only"].clean(data.get("only", ""))
        except ValidationError:
            return None
        if data.get("feeds_from") or not sources:
            return None
        of = data.get("of", "")
        allowed = sampling.example_kinds(self.task)
        return sampling.Sample(sources=list(sources), of=of if of in allowed else "", only=only or None)

    def leave_unchecked(self) -> None:
        """Show what was sent without errors: the form was sent for another reason than to plan the batch."""
        self._errors = ErrorDict()

    def _refuse_other_purposes(self, values: Mapping[str, Any]) -> None:
        """Say beside a field that it does not belong to the chosen purpose: a browser keeps what was filled in before."""
        for name, term in self.terms.items():
            if term.is_set(values.get(name)) and (values.get("purpose") or "work") not in term.purposes:
                purposes = gettext(" or ").join(gettext(each) for each in sorted(term.purposes))
                self.add_error(
                    self.parts[name][0],
                    gettext(
                        "Only for {purposes} batches. Clear this field, or choose another purpose."
                    ).format(purposes=purposes),
                )

    def is_open(self, section: str) -> bool:
        """The sections that begin filled in; of a failed form, those that were open, filled in or contain an error."""
        if not self.is_bound:
            return self.copied is not None or (bool(self.initial.get("only")) and section == "sampling")
        opened = self.data.getlist("open") if isinstance(self.data, QueryDict) else []
        return section in opened or not {*self.changed_data, *self.errors}.isdisjoint(self.names_in(section))

    def clean_only(self) -> list[str] | None:
        """The ids; None where none are named."""
        ids: list[str] = self.cleaned_data["only"]
        if ids and self.cleaned_data.get("size"):
            raise ValidationError(
                gettext("The list sets the number of examples. Leave the sample size empty.")
            )
        return ids or None


def _sample_fields(batch: Batch) -> dict[str, Any]:
    """The fields of the form that say what a batch was drawn from."""
    sample = sampling.Sample.of_batch(batch)
    drawn = {each.name: getattr(sample, each.name) for each in fields(sample)}
    return {
        **drawn,
        "feeds_from": batch.feeds_from,
        "also_sources": bool(batch.feeds_from_id and sample.sources),
    }


def source_in_words(source: Source) -> str:
    """A source as people choose it: its name and how many examples it has."""
    return ngettext(
        "{name}: {examples_count} example", "{name}: {examples_count} examples", source.examples_count
    ).format(name=source.name, examples_count=source.examples_count)


class SettingsForm(forms.Form):
    """The settings of a kind of annotation, rendered from its JSON Schema alone.

    Fields that are left empty are left out, so that the schema's defaults apply.
    """

    def __init__(self, *args: Any, schema: Mapping[str, Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.specs: Mapping[str, Any] = schema.get("properties", {})
        required = set(schema.get("required", ()))
        for name, spec in self.specs.items():
            self.fields[name] = _field(name, spec, required=name in required and "default" not in spec)

    def leave_unchecked(self) -> None:
        """Show what was sent without errors."""
        self._errors = ErrorDict()

    def settings(self) -> dict[str, Any]:
        """What was set, by name, for the domain to fill up and to validate."""
        named_values = ((name, self.cleaned_data[name]) for name in self.specs)
        return {name: value for name, value in named_values if value not in (None, "", [])}


VALUES: Final[Mapping[str, str]] = {
    "require": gettext_noop("refuse the response"),
    "warn": gettext_noop("show a warning"),
    "ignore": gettext_noop("allow it silently"),
    "before": gettext_noop("before the annotator chooses"),
    "after": gettext_noop("in practice only, after the annotator chose"),
    "never": gettext_noop("never"),
    "mean": gettext_noop("mean of all three scores"),
    "replace": gettext_noop("mean without the most distant score"),
}
"""Values of settings of task types, as forms and pages show them."""


def settings_in_words(task: TaskType, settings: Mapping[str, Any]) -> list[dict[str, str]]:
    """The settings of a batch by the titles of its task type, each {"label", "value"} in the reader's language."""
    specs = task.settings_schema.get("properties", {})
    return [
        {"label": _title(name, specs.get(name, {})), "value": _value_in_words(value)}
        for name, value in settings.items()
    ]


def _title(name: str, spec: Mapping[str, Any]) -> str:
    return gettext(spec["title"]) if spec.get("title") else name.replace("_", " ").capitalize()


def _value_in_words(value: Any) -> str:
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, str) and value in VALUES:
        return gettext(VALUES[value])
    if value in (None, "", [], {}):
        return "–"
    if isinstance(value, float):
        return display_text.number(str(value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


def _field(name: str, spec: Mapping[str, Any], *, required: bool) -> forms.Field:
    common: dict[str, Any] = {
        "label": _title(name, spec),
        "help_text": spec.get("description", ""),
        "initial": spec.get("default"),
        "required": required,
    }
    if "enum" in spec:
        empty = [] if required or "default" in spec else [("", gettext("not set"))]
        return forms.TypedChoiceField(
            choices=[*empty, *((str(value), _value_in_words(value)) for value in spec["enum"])],
            coerce={str(value): value for value in spec["enum"]}.get,
            empty_value=None,
            **common,
        )
    if spec.get("type") == "boolean":
        return forms.BooleanField(**{**common, "required": False})
    if spec.get("type") in ("integer", "number"):
        field_class = forms.IntegerField if spec["type"] == "integer" else forms.FloatField
        return field_class(min_value=spec.get("minimum"), max_value=spec.get("maximum"), **common)
    if spec.get("type") == "string":
        return forms.CharField(
            max_length=spec.get("maxLength", 2_000),
            min_length=spec.get("minLength"),
            empty_value="",
            **common,
        )
    if spec.get("type") == "array" and spec.get("items", {}).get("type") == "string":
        return LinesField(**common)
    return JSONValueField(examples=spec.get("examples", ()), **common)
