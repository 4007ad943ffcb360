"""Suggestions of a kind for the item a person has in progress: requested after the item is shown, never waited for."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from annotation.models import Assignment
from annotation.queue import resources
from tasks.contract import SuggestingTask


@dataclass(frozen=True)
class Suggestions:
    """What the kind suggests, as JSON; None with a `reason` where it says nothing now."""

    suggestions: dict[str, Any] | None
    reason: str = ""


def suggestions(assignment: Assignment) -> Suggestions:
    """What the kind suggests for this item, if the batch shows it to people."""
    task = assignment.batch.task()
    if not task.suggests(assignment.plain_item) or not isinstance(task, SuggestingTask):
        return Suggestions(None, gettext("This batch has no suggestions."))
    return Suggestions(
        task.suggest(assignment.plain_item, resources.context(assignment.batch.project, task.needs))
    )
