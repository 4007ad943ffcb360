"""A person's own work, for them to look back on: their last items in a batch, with what can still be changed.

Own responses are never a secret to their author. What others made of them is: until a batch closes, a reason says no more
than that a response is final (`visibility`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext

from annotation.models import Assignment, Batch
from annotation.workflow import assignments as workflow_assignments
from tasks.contract import InvalidResponse, UnknownTaskType

State = Assignment.State

RECENT = 20
"""Items that the history strip of a batch shows."""


@dataclass(frozen=True)
class PastItem:
    """An item that its person submitted or skipped.

    summary      the response in a few words; the reason where it was skipped
    words        the response, a sentence each
    can_change   whether the person may withdraw and change it now
    note         until when they may, or why they may not
    """

    assignment: Assignment
    summary: str
    words: tuple[str, ...]
    can_change: bool
    note: str


def past_items(assignments: Sequence[Assignment], *, now: datetime) -> list[PastItem]:
    """The assignments as their person looks back on them, in their order; in five queries.

    Wants what `authorization.own_assignments` loads. Items of a task type that is not installed have no words.
    """
    changeable = workflow_assignments.reopenable(assignments, now=now)
    return [_past_item(assignment, assignment.pk in changeable, now) for assignment in assignments]


def own_words(assignment: Assignment) -> tuple[str, ...]:
    """The submitted response, a sentence each; empty where there is none, or its task type is not installed."""
    return _read(assignment)[1]


def changeable_until(assignment: Assignment, now: datetime) -> str:
    """Until when the person can change a response that is not final, in words.

    Says the same of a gold item as of any other: for a minute after the submission the time, then the event.
    """
    batch = assignment.batch
    if batch.purpose == Batch.Purpose.QUALIFICATION:
        return gettext("You can change it until your result is recorded.")
    if not batch.decides or batch.decide_at_close:
        return gettext("You can change it until the batch closes.")
    ended = assignment.ended_at
    if ended is not None and now < ended + workflow_assignments.UNDO_WINDOW:
        until = date_format(timezone.localtime(ended + workflow_assignments.UNDO_WINDOW), "H:i:s")
        return gettext("You can change it at least until {time}.").format(time=until)
    return gettext("You can change it until the item is decided.")


def why_final(assignment: Assignment) -> str:
    """Why a submitted response cannot be changed any more."""
    if assignment.batch.closed_at is not None:
        return gettext("Final: the batch is closed.")
    if assignment.batch.purpose == Batch.Purpose.QUALIFICATION:
        return gettext("Final: your result is recorded.")
    return gettext("Final: the item is decided or released.")


# -- underneath -------------------------------------------------------------------------------------


def _past_item(assignment: Assignment, can_change: bool, now: datetime) -> PastItem:
    if assignment.state == State.SKIPPED:
        reason = gettext(assignment.reason) if assignment.reason else ""
        summary = gettext("Skipped: {reason}").format(reason=reason)
        return PastItem(assignment, summary, (summary,), False, gettext("You skipped this item."))
    summary, lines = _read(assignment)
    note = changeable_until(assignment, now) if can_change else why_final(assignment)
    return PastItem(assignment, summary, lines, can_change, note)


def _read(assignment: Assignment) -> tuple[str, tuple[str, ...]]:
    annotation = assignment.annotation
    if annotation is None or annotation.response is None:
        return "", ()
    try:
        task, item = assignment.batch.task(), assignment.plain_item
        response = task.read(annotation.response, item)
        lines, label = tuple(task.for_author(response, item)), task.label(response, item)
    except (UnknownTaskType, InvalidResponse):
        return "", ()
    return label, lines
