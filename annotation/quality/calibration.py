"""A calibration round: the same items for all, a comparison of responses, and a pilot that is set aside."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.access import audit_log
from annotation.models import Assignment, Batch, Gold, Item, Person
from annotation.platform.refusals import refuse, require_storable
from annotation.quality.compared_responses import restore_response
from annotation.quality.rating_tallies import measures_of
from tableqa.agreement.edits import edits_of
from tableqa.operations import OperationError, normalise
from tasks.contract import Item as PlainItem
from tasks.contract import Measure, TaskType, response_data

LONGEST_REASON = 500


@dataclass(frozen=True)
class ResponseInWords:
    """One person's response in words, and its data. `apart`: it is not what most said."""

    person: int
    words: tuple[str, ...]
    apart: bool
    data: Mapping[str, Any]


@dataclass(frozen=True)
class ItemComparison:
    """An item with all its responses; `differ` where they are not equal (None: nothing is compared)."""

    item: Item
    plain: PlainItem
    answers: tuple[ResponseInWords, ...]
    differ: bool | None
    gold: tuple[str, ...]


def comparable_items(batch: Batch) -> QuerySet[Item]:
    """The items of which at least two people have said something, in their order."""
    items = Item.objects.filter(batch=batch, submitted_count__gte=2, is_gold=False)
    return items.select_related("decision").order_by("position")


def compare_responses(batch: Batch, items: Sequence[Item]) -> list[ItemComparison]:
    """What people said of these items, those on which they differ first; in three queries, however many items."""
    task = batch.task()
    measures = measures_of(task, batch.people_compared)
    full = Item.objects.select_related("example__stored_table").in_bulk([item.pk for item in items])
    golds = {gold.item_id: gold for gold in Gold.objects.filter(item__in=list(full))}
    submitted = Assignment.objects.filter(item__in=list(full), slot__added=False).submitted()
    responses: dict[int, list[tuple[int, Any]]] = {}
    for item_id, person, response in submitted.order_by("person_id").values_list(
        "item_id", "person_id", "annotation__response"
    ):
        responses.setdefault(item_id, []).append((person, restore_response(task, response or {})))
    comparisons = []
    for item in items:
        full_item = full[item.pk]
        full_item.batch = batch
        plain = full_item.plain()
        gold = golds.get(item.pk)
        gold_lines = task.describe(restore_response(task, gold.expected), plain) if gold else ()
        comparisons.append(
            _compare_item(task, measures, full_item, plain, responses.get(item.pk, []), tuple(gold_lines))
        )
    return sorted(comparisons, key=lambda entry: entry.differ is not True)


def _compare_item(
    task: TaskType,
    measures: Sequence[Measure],
    item: Item,
    plain: PlainItem,
    responses: Sequence[tuple[int, Any]],
    gold_lines: tuple[str, ...],
) -> ItemComparison:
    values = [
        tuple(compared_value(measure, response, plain) for measure in measures) for _, response in responses
    ]
    usual = _majority_value(values)
    answers = tuple(
        ResponseInWords(
            person,
            tuple(task.describe(response, plain)),
            usual is not None and value != usual,
            response_data(response),
        )
        for (person, response), value in zip(responses, values, strict=True)
    )
    differ = len(set(values)) > 1 if measures and values else None
    return ItemComparison(item, plain, answers, differ, gold_lines)


def compared_value(measure: Measure, response: Any, plain: PlainItem | None) -> Any:
    """What is compared of a response. Edits are the same where they come to the same and what is right then is the same.

    `plain` is the item; it is needed for edits only.
    """
    if measure.level != "edits" or plain is None:
        return measure.value(response)
    operations: Any = measure.value(response)
    try:
        operations = normalise(operations, plain.example.table)
    except OperationError:  # of a response from elsewhere: as it was given
        pass
    return edits_of(operations), tuple(getattr(response, "answers", None) or ())


def _majority_value(values: Iterable[tuple[Any, ...]]) -> tuple[Any, ...] | None:
    """What more than half said; None without a majority, or nothing is compared."""
    values = list(values)
    return next((value for value in values if value and 2 * values.count(value) > len(values)), None)


def set_aside(*, batch: Batch, because: str, by: Person, now: datetime) -> None:
    """From now on the batch is in no release and no agreement; its annotations stay. Releases made before stay, too.

    Raises ActionRefused(invalid_request) without a reason, or while people work on it.
    """
    because = because.strip()
    require_storable(because)
    if not because or len(because) > LONGEST_REASON:
        refuse(
            "invalid_request",
            "Enter a reason of at most {longest_reason} characters for setting the batch aside.",
            longest_reason=LONGEST_REASON,
        )
    if batch.state in ("open", "paused"):
        refuse("invalid_request", "{name} is not closed. Close it first.", name=batch.name)
    with transaction.atomic():
        if Batch.objects.filter(pk=batch.pk, set_aside_at__isnull=True).update(
            set_aside_at=now, set_aside_because=because
        ):
            audit_log.log(batch, batch.state, "set aside", by=by, now=now, detail={"reason": because})
    batch.refresh_from_db(fields=["set_aside_at", "set_aside_because"])


def count_again(*, batch: Batch, by: Person, now: datetime) -> None:
    """The batch counts again, as if it had never been set aside."""
    with transaction.atomic():
        if Batch.objects.filter(pk=batch.pk, set_aside_at__isnull=False).update(
            set_aside_at=None, set_aside_because=""
        ):
            audit_log.log(batch, "set aside", batch.state, by=by, now=now)
    batch.refresh_from_db(fields=["set_aside_at", "set_aside_because"])
