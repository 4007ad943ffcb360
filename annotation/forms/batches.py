"""The form that plans a batch, and the settings of its kind as fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext

from annotation.forms.terms import TERMS, TermsForm
from annotation.journeys import assigning
from annotation.models import Batch, Project, Source
from annotation.terms.assistance import MOST_REPETITIONS, MOST_UNHELPED, REPETITIONS
from annotation.terms.people import MOST_OVERLAP, STRATEGIES
from annotation.work import strategies
from predictor.configuration import is_live
from tasks.contract import Proposing, TaskType

OF = {
    "originals": gettext_noop("originals, as imported from the source"),
    "perturbed": gettext_noop("examples perturbed by people"),
    "automatic": gettext_noop("examples perturbed by a program"),
}


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
        choices=[(name, gettext_lazy(words)) for name, words in strategies.STRATA.items()],
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
    only = forms.CharField(
        required=False,
        label=gettext_lazy("Only these examples"),
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=gettext_lazy("Ids of examples in the source, one per line, in the order of annotation."),
    )
    overlap = forms.IntegerField(
        min_value=1,
        max_value=MOST_OVERLAP,
        label=gettext_lazy("People per item"),
    )
    purpose = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Purpose"),
        initial="work",
        choices=[
            ("work", gettext_lazy("work: its decisions become the benchmark")),
            (
                "calibration",
                gettext_lazy("calibration: everyone annotates the same items and compares responses"),
            ),
            ("qualification", gettext_lazy("qualification: people who pass may work in other batches")),
        ],
    )
    pass_percent = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=100,
        label=gettext_lazy("Pass mark: correct items, in percent"),
    )
    strategy = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Allocation"),
        initial="open",
        choices=[(name, gettext_lazy(words)) for name, words in STRATEGIES.items()],
        help_text=gettext_lazy("People never check their own work."),
    )
    feeds_when = forms.CharField(
        required=False,
        label=gettext_lazy("Filter by outcome"),
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text=gettext_lazy(
            "One field and its values per line, for example: label = extraction, reasoning"
        ),
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
    loop_model = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Model in the loop"),
        help_text=gettext_lazy(
            "Annotators see its answer to their work. The model version is frozen when the batch opens."
        ),
    )
    help = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Show proposals"),
        choices=[
            ("", gettext_lazy("no proposals")),
            ("offered", gettext_lazy("next to an empty form")),
            ("filled", gettext_lazy("filled in, for annotators to verify")),
        ],
        help_text=gettext_lazy(
            "A rule or a model proposes complete responses. Annotators accept, edit or reject "
            "them. The origin of each response is recorded."
        ),
    )
    help_rules = forms.BooleanField(
        required=False,
        initial=True,
        label=gettext_lazy("Proposals from rules"),
        help_text=gettext_lazy("Rules need no model."),
    )
    help_models = forms.MultipleChoiceField(
        required=False,
        label=gettext_lazy("Proposals from language models"),
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy(
            "Requested in the background when the batch opens. Accepted responses serve as demonstrations."
        ),
    )
    repetitions = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_REPETITIONS,
        initial=REPETITIONS,
        label=gettext_lazy("Requests per category"),
    )
    search = forms.BooleanField(
        required=False,
        label=gettext_lazy("Rank proposals that fool the model in the loop first"),
        help_text=gettext_lazy("Each proposal is tested on the model in the background."),
    )
    unhelped = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_UNHELPED,
        initial=0,
        label=gettext_lazy("Control share (no proposals), in percent"),
        help_text=gettext_lazy(
            "This share of assignments shows no proposals (control group). The batch report "
            "compares time, quality and variety."
        ),
    )
    open_at_once = forms.BooleanField(
        required=False,
        initial=True,
        label=gettext_lazy("Open now"),
        help_text=gettext_lazy(
            "Annotators get items as soon as the batch is open. A qualification needs its gold answers first."
        ),
    )

    def __init__(self, *args: Any, task: TaskType, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, task=task, project=project, **kwargs)
        sources = Source.objects.ready().filter(project=project).order_by("name", "pk")
        self.fields["sources"].queryset = sources  # type: ignore[attr-defined]
        self.fields["sources"].label_from_instance = _source_in_words  # type: ignore[attr-defined]
        if len(only := list(sources[:2])) == 1:
            self.fields["sources"].initial = only
        self.fields["feeds_from"].queryset = Batch.objects.filter(project=project).order_by("-pk")  # type: ignore[attr-defined]
        self.fields["of"].choices = [(name, gettext(OF[name])) for name in assigning.about(task)]  # type: ignore[attr-defined]
        if len(assigning.about(task)) == 1:
            self.fields["of"].widget = forms.HiddenInput()
        self.fields["of"].initial = task.of[0]
        self.fields["loop_model"].choices = _models()  # type: ignore[attr-defined]
        if not task.predicts or not settings.PREDICTORS:
            del self.fields["loop_model"]
        chats = [name for name, entry in sorted(settings.PREDICTORS.items()) if entry["protocol"] == "chat"]
        self.fields["help_models"].choices = [(name, name) for name in chats]  # type: ignore[attr-defined]
        without = () if isinstance(task, Proposing) else HELP
        for name in (*without, *(("help_models", "repetitions") if not chats else ())):
            self.fields.pop(name, None)
        if "loop_model" not in self.fields:
            self.fields.pop("search", None)
        self.fields["overlap"].initial = task.default_overlap
        why = (
            gettext("their responses are compared")
            if not task.making
            else gettext("each person creates a separate response")
        )
        self.fields["overlap"].help_text = gettext("Number of people per item: {why}.").format(why=why)

    def clean(self) -> dict[str, Any]:
        """Everything under the names, and in the shapes, in which `assigning.plan_batch` takes it."""
        given = super().clean() or {}
        found = self.terms_given(given)
        for name in TERMS:
            given.pop(name, None)
        given |= found
        if given.get("purpose") not in ("", "work", None):
            given["strategy"] = ""  # everyone gets every item, whatever stands beside it
        given["purpose"] = given.get("purpose") or "work"
        if given["purpose"] == "qualification":
            given["open_at_once"] = False
        if given.get("feeds_from") and not given.pop("also_sources", False):
            given["sources"] = []
        given.pop("also_sources", None)
        # Left empty it follows from who gets which items.
        work = given["purpose"] == "work"
        given["decide_at_close"] = given["decide_at_close"] or None if work else None
        given["pass_percent"] = (given.get("pass_percent") or 0) if given["purpose"] == "qualification" else 0
        said = {name: given.pop(name, None) for name in HELP}
        given["help"] = said["help"] or ""
        given["unhelped"] = (said["unhelped"] or 0) if given["help"] else 0
        given["help_from"] = {}
        if given["help"]:
            given["help_from"] = {
                "rules": bool(said["help_rules"]),
                "models": said["help_models"] or [],
                "search": bool(said["search"]),
                "repetitions": said["repetitions"] or REPETITIONS,
            }
        return given

    def open_folds(self) -> frozenset[str]:
        """The names of `FOLDS` to show open: of a failed form, those that were open, were filled in or hold an error."""
        if not self.is_bound:
            return frozenset()
        changed = {*self.changed_data, *self.errors}
        opened = self.data.getlist("open") if isinstance(self.data, QueryDict) else []
        return frozenset(
            name for name, fields in FOLDS.items() if name in opened or not changed.isdisjoint(fields)
        )

    def clean_only(self) -> list[str] | None:
        """The ids; None where none are named."""
        lines = (line.strip() for line in str(self.cleaned_data.get("only") or "").splitlines())
        found = [line for line in lines if line]
        if found and self.cleaned_data.get("size"):
            raise ValidationError(
                gettext("The list sets the number of examples. Leave the sample size empty.")
            )
        return found or None

    def clean_feeds_when(self) -> dict[str, list[str]]:
        """The lines as {"label": ["extraction"]}."""
        found: dict[str, list[str]] = {}
        for line in str(self.cleaned_data.get("feeds_when") or "").splitlines():
            name, sign, values = (part.strip() for part in line.partition("="))
            said = [value.strip() for value in values.split(",") if value.strip()]
            if line.strip() and not (name and sign and said):
                raise ValidationError(
                    gettext("Cannot read {line!r}. Write a field, = and its values.").format(
                        line=line.strip()
                    )
                )
            if said:
                found[name] = said
        return found


FOLDS = {
    "draw": ("strategy", "strata", "seed", "only"),
    "fed": ("feeds_from", "feeds_when", "also_sources"),
    "rule": ("rule", "rule_options"),
    "limits": ("items", "items_per_day", "hours_per_day"),
    "pay": ("pay_currency", "pay_per_hour", "pay_per_item"),
    "quality": ("purpose", "pass_percent", "requires", "must_practise", "gold_percent", "gold_feedback"),
    "help": ("help", "help_rules", "help_models", "repetitions", "search", "unhelped"),
}
"""The folded parts of the form, each with its fields. The page says which are open in the parameter `open`."""
HELP = FOLDS["help"]


def _models() -> list[tuple[str, str]]:
    """The models of the settings, with their licences and whether they answer while somebody types."""
    choices = [("", "none")]
    for name, entry in sorted(settings.PREDICTORS.items()):
        facts = [entry.get("licence", ""), "" if is_live(entry) else gettext("answers in the background")]
        words = ", ".join(filter(None, facts))
        choices.append((name, f"{name} ({words})" if words else name))
    return choices


def _source_in_words(source: Source) -> str:
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

    def settings(self) -> dict[str, Any]:
        """What was set, by name, for the domain to fill up and to validate."""
        given = ((name, self.cleaned_data[name]) for name in self.specs)
        return {name: value for name, value in given if value not in (None, "", [])}


def _field(name: str, spec: Mapping[str, Any], *, required: bool) -> forms.Field:
    common: dict[str, Any] = {
        "label": spec.get("title") or name.replace("_", " ").capitalize(),
        "help_text": spec.get("description", ""),
        "initial": spec.get("default"),
        "required": required,
    }
    if "enum" in spec:
        empty = [] if required or "default" in spec else [("", gettext("not set"))]
        return forms.TypedChoiceField(
            choices=[*empty, *((str(value), str(value)) for value in spec["enum"])],
            coerce={str(value): value for value in spec["enum"]}.get,
            empty_value=None,
            **common,
        )
    if spec.get("type") == "boolean":
        return forms.BooleanField(**{**common, "required": False})
    if spec.get("type") in ("integer", "number"):
        number = forms.IntegerField if spec["type"] == "integer" else forms.FloatField
        return number(min_value=spec.get("minimum"), max_value=spec.get("maximum"), **common)
    if spec.get("type") == "string":
        return forms.CharField(
            max_length=spec.get("maxLength", 2_000),
            min_length=spec.get("minLength"),
            empty_value="",
            **common,
        )
    if spec.get("type") == "array" and spec.get("items", {}).get("type") == "string":
        return LinesField(**common)
    return forms.JSONField(**common)


class LinesField(forms.CharField):
    """Texts, one a line."""

    widget = forms.Textarea(attrs={"rows": 3})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        lines = (line.strip() for line in (super().to_python(value) or "").splitlines())
        return [line for line in lines if line]
