"""Suggestions of a kind for the item on somebody's desk: asked for after the item is shown, never waited for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, gettext_noop

from annotation.models import Annotation, Assignment
from annotation.work import lending
from tasks.contract import Suggesting

HIDDEN = gettext_noop("Suggestions appear after you have answered.")


@dataclass(frozen=True)
class Suggested:
    """What the kind suggests, as JSON; None with a `reason` where it says nothing now."""

    suggestions: dict[str, Any] | None
    reason: str = ""


def suggestions(assignment: Assignment) -> Suggested:
    """What the kind suggests for this item, if the batch lets the person see it yet.

    Where suggestions come after the answer, a withdrawn answer counts: whoever has seen them keeps seeing them.
    """
    task, item = assignment.batch.task(), assignment.plain_item
    when = task.suggests(item)
    if not when or not isinstance(task, Suggesting):
        return Suggested(None, gettext("This batch has no suggestions."))
    if when == "after" and not Annotation.objects.filter(assignment=assignment).exists():
        return Suggested(None, gettext(HIDDEN))
    return Suggested(task.suggest(item, lending.context(assignment.batch.project, task.needs)))
