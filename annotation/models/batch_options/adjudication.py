"""Terms of adjudication: the reasons that a key gives, and whether each decision needs a note."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.db import models
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from annotation.models.batch_options.term import ANY_TIME, WORK, Context, Inputs, Term
from annotation.platform.refusals import refuse, require_storable

if TYPE_CHECKING:
    from tasks.contract import TaskType

MAX_REASONS: Final = 9
"""One for each digit key."""
MAX_REASON_LENGTH: Final = 120
STANDARD_REASONS: Final = (
    gettext_noop("Only this response is correct"),
    gettext_noop("Closest to the guidelines"),
    gettext_noop("Clearest of several correct responses"),
    gettext_noop("Question or table is ambiguous"),
)
"""The reasons of a batch that lists none; stored and published in English."""


def listed_reasons(values: Any) -> list[str]:
    """The reasons that the keys 1 to 9 give in a batch whose term has these values."""
    return list(values or STANDARD_REASONS)


def _check_reasons(values: Any, context: Context) -> list[str]:
    """The reasons as a batch stores them, without empty lines. Raises ActionRefused(invalid_request)."""
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        refuse(
            "invalid_request",
            "adjudication_reasons must be a list of texts, for example {example}.",
            example='["Closest to the guidelines"]',
        )
    reasons = list(dict.fromkeys(filter(None, (" ".join(value.split()) for value in values))))
    if len(reasons) > MAX_REASONS:
        refuse(
            "invalid_request", "List at most {number} reasons, one for each digit key.", number=MAX_REASONS
        )
    for reason in reasons:
        require_storable(reason)
        if len(reason) > MAX_REASON_LENGTH:
            refuse(
                "invalid_request",
                "The reason {reason!r} is too long. Use at most {number} characters.",
                reason=f"{reason[:30]}…",
                number=MAX_REASON_LENGTH,
            )
    return reasons


def _reason_fields(task: TaskType) -> dict[str, forms.Field]:
    standard = "; ".join(gettext(reason) for reason in STANDARD_REASONS)
    return {
        "adjudication_reasons": forms.CharField(
            required=False,
            max_length=MAX_REASONS * (MAX_REASON_LENGTH + 2),
            label=gettext_lazy("Reasons with a key"),
            widget=forms.Textarea(attrs={"rows": 4}),
            help_text=gettext(
                "One per line, at most nine: the keys 1 to 9. Leave it empty for the standard reasons: {reasons}."
            ).format(reasons=standard),
        )
    }


def _join_reasons(cleaned: Mapping[str, Any]) -> list[str]:
    return [line.strip() for line in (cleaned.get("adjudication_reasons") or "").splitlines() if line.strip()]


class AdjudicationTerms(models.Model):
    """What adjudicators are offered and asked for."""

    adjudication_reasons = Term(
        label=gettext_noop("Reasons with a key"),
        help=gettext_noop("Reasons for a decision that adjudicators choose with the keys 1 to 9."),
        section="adjudication",
        purposes=WORK,
        changeable=ANY_TIME,
        effect=gettext_noop("The new reasons apply from the next decision. Earlier decisions stay."),
        usual_in_words="; ".join(STANDARD_REASONS),
        check=_check_reasons,
        inputs=Inputs(
            build=_reason_fields,
            join=_join_reasons,
            split=lambda value: {"adjudication_reasons": "\n".join(value)},
        ),
        key="adjudication.reasons",
        shape={
            "type": "array",
            "maxItems": MAX_REASONS,
            "items": {"type": "string", "minLength": 1, "maxLength": MAX_REASON_LENGTH},
        },
        reads=lambda value: "; ".join(gettext(reason) for reason in listed_reasons(value)),
    ).of(models.JSONField(default=list, db_default=[]))
    note_required = Term(
        label=gettext_noop("Require a note for each decision of an adjudicator"),
        help=gettext_noop("Otherwise a note is optional. Notes are published with the decision."),
        section="adjudication",
        purposes=WORK,
        changeable=ANY_TIME,
        effect=gettext_noop("Applies from the next decision of an adjudicator. Earlier decisions stay."),
        key="adjudication.note_required",
    ).of(models.BooleanField(default=False, db_default=False))

    class Meta:
        abstract = True
