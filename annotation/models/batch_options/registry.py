"""All terms of a batch, in the order of their declaration, and their checks together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.utils.translation import gettext_noop

from annotation.models.batch_options.adjudication import AdjudicationTerms
from annotation.models.batch_options.allocation import PeopleTerms
from annotation.models.batch_options.assistance import AssistanceTerms
from annotation.models.batch_options.budget import BudgetTerms
from annotation.models.batch_options.decision import DecisionTerms
from annotation.models.batch_options.entry_requirements import EntryTerms
from annotation.models.batch_options.gold import GoldTerms
from annotation.models.batch_options.pay import PayTerms
from annotation.models.batch_options.task_settings import TaskTerms
from annotation.models.batch_options.term import NEVER, Context, Term
from annotation.platform.refusals import refuse

if TYPE_CHECKING:
    from tasks.contract import TaskType


class BatchTerms(
    TaskTerms,
    PeopleTerms,
    DecisionTerms,
    AdjudicationTerms,
    EntryTerms,
    AssistanceTerms,
    BudgetTerms,
    GoldTerms,
    PayTerms,
):
    """The columns of all terms; `Batch` has them."""

    class Meta:
        abstract = True


def declared_in(subject: Any) -> list[Term]:
    """The terms of one of the classes above."""
    return [column.term for column in subject._meta.local_fields if hasattr(column, "term")]


TERMS: Final[dict[str, Term]] = {
    term.name: term for subject in BatchTerms.__bases__ for term in declared_in(subject)
}
"""Every term by its name. Terms are checked in this order, so that one can depend on those before it."""
SECTIONS: Final[dict[str, str]] = {
    "people": gettext_noop("People per item"),
    "sampling": gettext_noop("Sampling"),
    "fed": gettext_noop("Items from another batch"),
    "rule": gettext_noop("Decision rule"),
    "decision": gettext_noop("Decision time"),
    "adjudication": gettext_noop("Adjudication"),
    "limits": gettext_noop("Limits per person"),
    "pay": gettext_noop("Pay in this batch"),
    "quality": gettext_noop("Quality: practice, qualification, calibration"),
    "gold": gettext_noop("Gold answers"),
    "loop": gettext_noop("Model in the loop"),
    "help": gettext_noop("Proposals (assistance)"),
    "budget": gettext_noop("Cost of language models"),
    "task": gettext_noop("Task type settings"),
}
"""The parts of a form, in order."""


def in_section(section: str) -> list[Term]:
    """The terms of a part of a form."""
    return [term for term in TERMS.values() if term.section == section]


def changeable() -> dict[str, Term]:
    """The terms that may change after a batch was created."""
    return {name: term for name, term in TERMS.items() if term.changeable != NEVER}


def check(
    task: TaskType, values: Mapping[str, Any], *, project: Any, feeds_from: Any = None
) -> dict[str, Any]:
    """The columns of a new batch; a term that is not given, or None, has its default. Raises
    ActionRefused(invalid_request)."""
    _require_known(values)
    context = Context(task, project, settings.PREDICTORS, feeds_from)
    for name, term in TERMS.items():
        context.values[name] = term.checked(values.get(name), context)
    return context.values


def check_change(batch: Any, new_values: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that a change of a batch sets. Raises ActionRefused(invalid_request)."""
    _require_known(new_values)
    values = {name: getattr(batch, name) for name in TERMS}
    context = Context(batch.task(), batch.project, settings.PREDICTORS, batch.feeds_from, batch, values)
    for name, term in TERMS.items():
        if name in new_values:
            values[name] = term.checked(new_values[name], context)
        elif not new_values.keys().isdisjoint(term.depends_on):
            term.checked(values[name], context)
    return {name: values[name] for name in TERMS if name in new_values}


def _require_known(values: Mapping[str, Any]) -> None:
    if unknown := sorted(values.keys() - TERMS.keys()):
        refuse("invalid_request", "A batch has no term {unknown!r}.", unknown=unknown[0])
