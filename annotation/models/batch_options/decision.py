"""Terms that say how items are decided, and which decisions make items here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.db import models
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from annotation.models.batch_options.named_values import FilterField, OptionsField
from annotation.models.batch_options.term import UNTIL_CLOSED, UNTIL_DECIDED, WORK, Context, Inputs, Term
from annotation.platform.refusals import refuse

if TYPE_CHECKING:
    from tasks.contract import TaskType

DECIDE: Final = {True: "at_close", False: "when_complete"}
"""When a batch decides its items, in a study file."""


def _usual_decide_at_close(context: Context) -> bool:
    """People who come later to a batch for everyone are to find all items undecided."""
    return context.purpose == "work" and context.values.get("strategy") == "everyone"


# Decision rules are imported where they are used: the tables of the database need no task type.


def _check_resolve(value: Any, context: Context) -> dict[str, Any]:
    from tasks.contract import rule_checks

    try:
        return rule_checks.check_rule(context.task, value, overlap=context.values["overlap"])
    except rule_checks.BadRule as error:
        refuse("invalid_request", str(error))


def _has_rules(task: TaskType) -> bool:
    from tasks.contract import decision_rules

    return bool(decision_rules.fitting_rules(task))


def _rule_in_words(value: Mapping[str, Any]) -> str:
    from tasks.contract import decision_rules

    return decision_rules.in_words(value) if value else gettext("default of the task type")


def _rule_fields(task: TaskType) -> dict[str, forms.Field]:
    from tasks.contract import decision_rules

    rules = [
        (rule.name, f"{gettext(rule.title)}: {gettext(rule.says)}")
        for rule in decision_rules.fitting_rules(task)
    ]
    return {
        "rule": forms.ChoiceField(
            required=False,
            label=gettext_lazy("Decision rule"),
            help_text=gettext_lazy("Turns the responses to an item into one outcome."),
            choices=[("", gettext("default rule of the task type")), *rules],
        ),
        "rule_options": OptionsField(required=False, label=gettext_lazy("Options of the rule")),
    }


def _join_rule(cleaned: Mapping[str, Any]) -> dict[str, Any]:
    rule, options = cleaned.get("rule"), cleaned.get("rule_options") or {}
    if options and not rule:
        raise forms.ValidationError(
            {"rule_options": gettext("Choose the rule that these options belong to.")}
        )
    return {"rule": rule, **options} if rule else {}


def _check_feeds_when(value: Any, context: Context) -> dict[str, list[Any]]:
    """{"label": ["extraction"]}: the fields of an outcome with the values that make items here."""
    feeding = context.feeds_from
    if feeding is not None and feeding.purpose != "work":
        refuse(
            "invalid_request",
            "{name} is a {purpose} batch and decides no items, so it cannot pass any on.",
            name=feeding.name,
            purpose=feeding.purpose,
        )
    if value and feeding is None:
        refuse(
            "invalid_request",
            "feeds_when filters the outcomes of another batch. Name that batch in feeds_from.",
        )
    accepted = {}
    for name, values in value.items():
        plain = isinstance(values, list | tuple) and all(isinstance(each, str | int) for each in values)
        if not plain or not values:
            refuse(
                "invalid_request",
                'feeds_when.{name} must be a list of values, for example ["extraction"].',
                name=name,
            )
        accepted[str(name)] = list(values)
    return accepted


def _filter_in_words(accepted: Mapping[str, Any]) -> str:
    return "; ".join(f"{name} = {', '.join(map(str, values))}" for name, values in accepted.items()) or "–"


class DecisionTerms(models.Model):
    """How items are decided."""

    decide_at_close = Term(
        label=gettext_noop("Decide when the batch closes"),
        help=gettext_noop(
            "Until then people can change their responses. Otherwise an item is decided one minute "
            "after its last response. This is the default if everyone gets every item."
        ),
        section="decision",
        purposes=WORK,
        changeable=UNTIL_DECIDED,
        effect=gettext_noop("Items are decided when the batch closes, or once they are complete."),
        usual=_usual_decide_at_close,
        usual_in_words="`when_complete`; `at_close` if everyone gets every item",
        key="decide",
        written=DECIDE,
        reads={
            True: gettext_noop("yes, and annotators can change their submissions until then"),
            False: gettext_noop("no, one minute after the last response to an item"),
        },
        is_always_shown=True,
    ).of(models.BooleanField(default=False, db_default=False))
    resolve = Term(
        label=gettext_noop("Decision rule"),
        help=gettext_noop("Decision rule, instead of the default of the task type."),
        section="rule",
        changeable=UNTIL_CLOSED,
        usual_in_words="of the task type",
        effect=gettext_noop("The new decision rule applies from now on. Decided items stay decided."),
        check=_check_resolve,
        fits=_has_rules,
        depends_on=("overlap",),
        inputs=Inputs(
            build=_rule_fields,
            join=_join_rule,
            split=lambda value: {
                "rule": value.get("rule", ""),
                "rule_options": {name: option for name, option in value.items() if name != "rule"},
            },
        ),
        shape={
            "type": "object",
            "description": "Decision rule, instead of the default of the task type. Example: {rule: majority}.",
            "required": ["rule"],
            "properties": {"rule": {"type": "string"}},
        },
        per_task_type=True,
        reads=_rule_in_words,
        is_always_shown=True,
    ).of(models.JSONField(default=dict))
    feeds_when = Term(
        label=gettext_noop("Filter by outcome"),
        help=gettext_noop(
            "Response fields and the values to accept. Without a filter all outcomes are accepted."
        ),
        section="fed",
        check=_check_feeds_when,
        inputs=Inputs(
            build=lambda task: {
                "feeds_when": FilterField(
                    required=False,
                    label=gettext_lazy("Filter by outcome"),
                )
            },
            join=lambda values: values.get("feeds_when") or {},
            split=lambda value: {"feeds_when": value},
        ),
        shape={
            "type": "object",
            "description": (
                "Filter: response fields and the values to accept. Without it all outcomes are accepted. "
                "Example: {label: [extraction]}."
            ),
            "additionalProperties": {
                "type": "array",
                "minItems": 1,
                "items": {"type": ["string", "integer", "boolean"]},
            },
        },
        reads=_filter_in_words,
    ).of(models.JSONField(default=dict))

    class Meta:
        abstract = True
