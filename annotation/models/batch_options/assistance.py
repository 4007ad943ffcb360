"""Terms of help from machines: the model in the loop, and proposals of responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.conf import settings
from django.db import models
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from annotation.models.batch_options.term import Context, Inputs, Term
from annotation.platform.refusals import refuse

if TYPE_CHECKING:
    from tasks.contract import TaskType

MOST_UNHELPED: Final = 90
REPETITIONS: Final = 3
"""Requests for each category; RobuT asks as often."""
MOST_REPETITIONS: Final = 10


def _proposes(task: TaskType) -> bool:
    from tasks.contract import ProposingTask  # imported on use: the models import this module

    return isinstance(task, ProposingTask)


def _models_in_words() -> dict[str, str]:
    """The models of the settings, with their licences and whether they answer while a person types."""
    from predictor.configuration import is_live

    choices = {"": gettext("none")}
    for name, entry in sorted(settings.PREDICTORS.items()):
        facts = [entry.get("licence", ""), "" if is_live(entry) else gettext("answers in the background")]
        details = ", ".join(filter(None, facts))
        choices[name] = f"{name} ({details})" if details else name
    return choices if len(choices) > 1 else {}


def _check_loop_model(value: Any, context: Context) -> str:
    if value and context.predictors is not None and value not in context.predictors:
        refuse(
            "invalid_request",
            "There is no model {loop_model!r}. Available: {known}.",
            loop_model=value,
            known=", ".join(sorted(context.predictors)) or gettext("none"),
        )
    return str(value)


def _check_right_only(value: Any, context: Context) -> bool:
    if value and not context.values["loop_model"]:
        refuse(
            "invalid_request",
            "Only a batch with a model in the loop can select items by its answers. Choose a model.",
        )
    if value and context.feeds_from is not None:
        refuse(
            "invalid_request",
            "Items from another batch arrive while people work, and no page waits for a model. "
            "Leave loop_right_only out, or use examples of a source.",
        )
    return bool(value)


def _require_help(value: Any, context: Context) -> None:
    if value and not context.values["help"]:
        refuse("invalid_request", "Choose how proposals are shown, or leave their settings empty.")


def _check_unhelped(value: Any, context: Context) -> int:
    _require_help(value, context)
    return int(value)


def _check_help_from(value: Any, context: Context) -> dict[str, Any]:
    """What makes the proposals, filled up with the defaults: {"rules", "models", "search", "repetitions"}."""
    _require_help(value, context)
    if not context.values["help"]:
        return {}
    if unknown := sorted(value.keys() - {"rules", "models", "repetitions", "search"}):
        refuse("invalid_request", "Proposals have no setting {unknown}.", unknown=", ".join(unknown))
    names, repetitions = list(value.get("models", ())), value.get("repetitions", REPETITIONS)
    for name in names if context.predictors is not None else ():
        if (context.predictors or {}).get(name, {}).get("protocol") != "chat":
            refuse("invalid_request", "There is no language model {name!r}.", name=name)
    if type(repetitions) is not int or not 1 <= repetitions <= MOST_REPETITIONS:
        refuse(
            "invalid_request",
            "Repetitions must be between 1 and {most_repetitions}.",
            most_repetitions=MOST_REPETITIONS,
        )
    rules = bool(value.get("rules", not names))
    if not rules and not names:
        refuse("invalid_request", "Choose rules, a language model, or both as the origin of proposals.")
    search = bool(value.get("search", False))
    if search and not context.values["loop_model"]:
        refuse(
            "invalid_request",
            "To rank proposals by whether they fool a model, choose a model in the loop.",
        )
    origin: dict[str, Any] = {"rules": rules, "models": names, "search": search}
    return {**origin, "repetitions": repetitions} if names else origin


def _origin_fields(task: TaskType) -> dict[str, forms.Field]:
    chats = [name for name, entry in sorted(settings.PREDICTORS.items()) if entry["protocol"] == "chat"]
    fields: dict[str, forms.Field] = {
        "help_rules": forms.BooleanField(
            required=False,
            initial=True,
            label=gettext_lazy("Proposals from rules"),
            help_text=gettext_lazy("Rules need no model."),
        )
    }
    if chats:
        fields["help_models"] = forms.MultipleChoiceField(
            required=False,
            label=gettext_lazy("Proposals from language models"),
            widget=forms.CheckboxSelectMultiple,
            choices=[(name, name) for name in chats],
            help_text=gettext_lazy(
                "Requested in the background when the batch opens. Accepted responses serve as demonstrations."
            ),
        )
        fields["repetitions"] = forms.IntegerField(
            required=False,
            min_value=1,
            max_value=MOST_REPETITIONS,
            initial=REPETITIONS,
            label=gettext_lazy("Requests per category"),
        )
    if task.predicts and settings.PREDICTORS:
        fields["search"] = forms.BooleanField(
            required=False,
            label=gettext_lazy("Rank proposals that fool the model in the loop first"),
            help_text=gettext_lazy("Each proposal is tested on the model in the background."),
        )
    return fields


def _join_origin(cleaned: Mapping[str, Any]) -> dict[str, Any]:
    if not cleaned.get("help"):
        return {}
    return {
        "rules": bool(cleaned.get("help_rules")),
        "models": cleaned.get("help_models") or [],
        "search": bool(cleaned.get("search")),
        "repetitions": cleaned.get("repetitions") or REPETITIONS,
    }


def _origin_in_words(origin: Mapping[str, Any]) -> str:
    parts = [gettext("rules")] if origin.get("rules") else []
    return ", ".join([*parts, *origin.get("models", ())]) or "–"


class AssistanceTerms(models.Model):
    """Help from machines."""

    loop_model = Term(
        label=gettext_noop("Model in the loop"),
        help=gettext_noop(
            "Annotators see its answer to their work. The model version is frozen when the batch opens."
        ),
        section="loop",
        check=_check_loop_model,
        fits=lambda task: bool(task.predicts),
        choices=_models_in_words,
        per_task_type=True,
        is_always_shown=True,
    ).of(models.CharField(max_length=64, blank=True))
    loop_right_only = Term(
        label=gettext_noop("Serve only items that the model answers correctly"),
        help=gettext_noop(
            "The model answers all questions in the background. The sample is drawn afterwards, from "
            "its correct answers."
        ),
        section="loop",
        check=_check_right_only,
        fits=lambda task: bool(task.predicts),
        needs_model=True,
    ).of(models.BooleanField(default=False, db_default=False))
    help = Term(
        label=gettext_noop("Show proposals"),
        help=gettext_noop(
            "A rule or a model proposes complete responses. Annotators accept, edit or reject "
            "them. The origin of each response is recorded."
        ),
        section="help",
        fits=_proposes,
        choices={
            "": gettext_noop("no proposals"),
            "offered": gettext_noop("next to an empty form"),
            "filled": gettext_noop("filled in, for annotators to verify"),
        },
        key="help.shown",
    ).of(models.CharField(max_length=10, blank=True))
    help_from = Term(
        label=gettext_noop("Origin of proposals"),
        help=gettext_noop("Rules of the task type, language models, or both."),
        section="help",
        check=_check_help_from,
        fits=_proposes,
        depends_on=("help", "loop_model"),
        inputs=Inputs(build=_origin_fields, join=_join_origin, split=lambda value: {}),
        key="help.from",
        shape={
            "type": "object",
            "description": "Origin of proposals: {rules: true, models: […]}.",
            "properties": {
                "rules": {"type": "boolean", "description": "rules of the task type"},
                "models": {
                    "type": "array",
                    "items": {"type": "string", "minLength": 1, "maxLength": 120},
                    "uniqueItems": True,
                    "description": "language models of PREDICTORS",
                },
                "repetitions": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MOST_REPETITIONS,
                    "description": "model requests per category",
                },
                "search": {
                    "type": "boolean",
                    "description": "ranks proposals that fool the model in the loop first",
                },
            },
            "additionalProperties": False,
        },
        reads=_origin_in_words,
    ).of(models.JSONField(default=dict))
    unhelped = Term(
        label=gettext_noop("Control share (no proposals), in percent"),
        help=gettext_noop(
            "This share of assignments shows no proposals (control group). The batch report "
            "compares time, quality and variety."
        ),
        section="help",
        check=_check_unhelped,
        fits=_proposes,
        maximum=MOST_UNHELPED,
        key="help.unhelped",
    ).of(models.PositiveSmallIntegerField(default=0))

    class Meta:
        abstract = True
