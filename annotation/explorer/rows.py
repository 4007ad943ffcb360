"""What a list of items shows: their facts, and the responses that the reader may see; a fixed number of queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from annotation.access.visibility import Fact
from annotation.explorer.item_access import Reader, state_of
from annotation.models import Assignment, Flag, Item, Outcome
from annotation.quality import compared_responses
from annotation.queue import candidates
from tasks.contract import Item as PlainItem
from tasks.contract import TaskType

BRIEF: Final = 3
"""Edits that one line shows."""


@dataclass(frozen=True)
class Response:
    """What a person did with an item.

    person    key of its author; 0 where the reader sees a letter in place of the name
    letter    this letter, as in adjudication, else ""
    state     "submitted" or "skipped"
    words     the response, a sentence each; the reason of a skipped item
    brief     the same for one line: labels without their descriptions, the first edits of a table
    data      the response as data; {} where there is none
    seconds   active time, 0.0 if unknown
    added     asked for in addition to the planned responses
    """

    id: str
    person: int
    state: str
    words: tuple[str, ...]
    data: Mapping[str, Any]
    seconds: float
    at: datetime | None
    unsure: bool = False
    added: bool = False
    brief: tuple[str, ...] = ()
    letter: str = ""


@dataclass(frozen=True)
class Row:
    """An item of the list. `is_readable`: the reader may see its responses; else there are none.

    state    of `selection.STATES`, "" where the reader must not know it, or for gold
    plain    the item as its task type sees it; None where the type is not installed
    accepted    the accepted outcomes in brief, where the reader may see the responses
    """

    item: Item
    state: str
    is_readable: bool
    task: TaskType | None
    plain: PlainItem | None
    responses: list[Response] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)
    differs: bool | None = None

    @property
    def is_gold(self) -> bool:
        return self.state == "gold"


def rows(who: Reader, keys: Sequence[int], *, with_tables: bool = True) -> list[Row]:
    """The items with these keys, in their order."""
    relations = ("example__source", "decision", "indexed")
    tables = ("example__stored_table",) if with_tables else ()
    items = Item.objects.select_related(*relations, *tables).in_bulk(keys)
    rows_by_key = {key: _row(who, items[key]) for key in keys if key in items}
    readable = [key for key, row in rows_by_key.items() if row.is_readable]
    submitted, skipped = Assignment.State.SUBMITTED, Assignment.State.SKIPPED
    assignments = Assignment.objects.filter(item__in=readable, state__in=[submitted, skipped])
    for assignment in assignments.select_related("annotation", "slot").order_by("slot__number", "pk"):
        row = rows_by_key[assignment.item_id]
        row.responses.append(_response(assignment, row))
    for row in rows_by_key.values():
        if row.responses and not who.sight.shows(Fact.NAMES, row.item):
            row.responses[:] = _without_names(row)
    outcomes = Outcome.objects.filter(decision__item__in=readable).order_by("decision_id", "number")
    for key, stored in outcomes.values_list("decision__item_id", "response"):
        row = rows_by_key[key]
        row.accepted.extend(_in_words(row, stored)[1])
    flags = Flag.objects.filter(item__in=readable).order_by("pk")
    for key, note in flags.values_list("item_id", "note"):
        rows_by_key[key].flags.append(note)
    return list(rows_by_key.values())


def items_to_decide(listed_rows: Sequence[Row]) -> list[Item]:
    """The items of open batches, to be decided, whose responses the reader of these rows sees."""
    return [
        row.item
        for row in listed_rows
        if row.responses and row.item.batch.decides and row.item.batch.closed_at is None
    ]


def _row(who: Reader, item: Item) -> Row:
    item.batch = who.batches[item.batch_id]
    task = item.batch.installed_task()
    is_readable, knows = who.sight.shows(Fact.RESPONSES, item), who.sight.shows(Fact.STATE, item)
    state = state_of(who, item) if knows else ""
    differs = item.indexed.differs if is_readable and hasattr(item, "indexed") else None
    plain = item.plain() if task is not None else None
    return Row(item, "gold" if knows and not state else state, is_readable, task, plain, differs=differs)


def _without_names(row: Row) -> list[Response]:
    """The responses under letters, those that were submitted first."""
    submitted = [response for response in row.responses if response.state == Assignment.State.SUBMITTED]
    skipped = [response for response in row.responses if response.state != Assignment.State.SUBMITTED]
    ordered = candidates.by_letter(row.item, submitted) + skipped
    letters = candidates.letters(len(ordered))
    return [
        replace(response, person=0, letter=letter) for letter, response in zip(letters, ordered, strict=True)
    ]


def _response(assignment: Assignment, row: Row) -> Response:
    annotation = assignment.annotation
    if assignment.state == Assignment.State.SKIPPED or annotation is None or annotation.response is None:
        lines: tuple[str, ...] = (assignment.reason,) if assignment.reason else ()
        data: Mapping[str, Any] = {}
        brief = lines[:BRIEF]
    else:
        data = annotation.response.get("data") or {}
        lines, brief = _in_words(row, annotation.response)
    return Response(
        id=assignment.public_id,
        person=assignment.person_id,
        state=assignment.state,
        words=lines,
        data=data,
        seconds=assignment.active_seconds,
        at=assignment.ended_at,
        unsure=bool(annotation and annotation.unsure),
        added=assignment.slot.added,
        brief=brief,
    )


def _in_words(row: Row, stored: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A response to the item of a row, a sentence each, and the same for one line."""
    if row.task is None or row.plain is None:
        return (), ()
    response = compared_responses.restore_response(row.task, dict(stored))
    lines = tuple(row.task.describe(response, row.plain))
    label = row.task.label(response, row.plain) if row.task.operations_field is None else ""
    return lines, (label,) if label else lines[:BRIEF]
