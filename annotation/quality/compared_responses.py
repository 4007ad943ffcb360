"""The responses of a batch that enter agreement. Decisions never do, nor do added slots, nor gold items."""

import itertools
import zoneinfo
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.db.models import F, JSONField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Batch, Item, RevisionRequest
from annotation.quality.rating_tallies import wants_shapes
from tableqa.data.own_columns import column_values
from tasks.contract import TaskType

PAGE = 1_000
"""Items whose responses are read at once."""


class RatedResponse(NamedTuple):
    """One person's response to an item, as it enters agreement, with the slices that the item's figures go into."""

    item: str
    annotator: str
    response: Any
    source: str = ""
    week: str = ""
    columns: tuple[tuple[str, str], ...] = ()


def agreement_assignments(batch: Batch) -> Any:
    """The assignments whose responses enter agreement (a queryset), with `blind`: the response in a planned slot, and
    where an adjudicator sent that back, as it was before its author had read why.
    """
    planned = planned_assignments(batch)
    if not RevisionRequest.objects.filter(assignment__batch=batch).exists():
        return planned.annotate(blind=F("annotation__response"))
    first = (
        RevisionRequest.objects.filter(assignment=OuterRef("pk"))
        .order_by("pk")
        .values("annotation__response")
    )
    blind = Coalesce(Subquery(first[:1]), F("annotation__response"), output_field=JSONField())
    return planned.annotate(blind=blind)


def planned_assignments(batch: Batch) -> Any:
    """The assignments of planned slots with a submitted response (a queryset), without those of gold items."""
    return Assignment.objects.filter(batch=batch, slot__added=False, item__is_gold=False).submitted()


def responses_of(batch: Batch, person: int) -> Iterator[dict[str, Any]]:
    """A person's responses that enter agreement, a few at a time: the first will mostly do."""
    last, few = 0, 20
    while page := list(
        agreement_assignments(batch)
        .filter(person=person, pk__gt=last)
        .order_by("pk")
        .values_list("pk", "blind")[:few]
    ):
        yield from (response or {} for _, response in page)
        last, few = page[-1][0], PAGE


def counted_batches(batches: Any) -> Any:
    """Those of the batches (a queryset) whose agreement is part of the study: work, not set aside."""
    return batches.filter(purpose=Batch.Purpose.WORK, set_aside_at__isnull=True)


def rated_responses(batch: Batch, *, with_columns: bool = False) -> Iterator[RatedResponse]:
    """What enters agreement, item by item, in pages: what people said in planned slots (`agreement_assignments`), without
    gold items.

    The week is that, in the project's time zone, in which the item's last response came. The own columns of the example
    are there on request.
    """
    task, zone = batch.task(), zoneinfo.ZoneInfo(batch.project.time_zone)
    rows = agreement_assignments(batch)
    columns = ("item__public_id", "person_id", "blind", "annotation__made_at", "item_id")
    for keys in item_pages(batch):
        # By range, not by list: a database limits the number of parameters, and both ends are of one batch.
        page = rows.filter(item_id__gte=keys[0], item_id__lte=keys[-1]).order_by("item_id", "person_id")
        items = Item.objects.filter(batch=batch, pk__range=(keys[0], keys[-1]))
        sources = dict(items.values_list("pk", "example__source__name"))
        more = dict(items.values_list("pk", "example__more")) if with_columns else {}
        for _, group in itertools.groupby(page.values_list(*columns), key=lambda row: row[0]):
            of_item = list(group)
            year, week, _ = max(row[3] for row in of_item).astimezone(zone).isocalendar()
            for item, person, response, _, pk in of_item:
                yield RatedResponse(
                    item,
                    str(person),
                    restore_response(task, response or {}),
                    sources.get(pk, ""),
                    f"{year}-W{week:02}",
                    tuple(column_values(more.get(pk, {}).get("meta"))),
                )


def item_pages(batch: Batch) -> Iterator[list[int]]:
    """The keys of the batch's items that any person has submitted, in pages: no cursor stays open between them."""
    last = 0
    items = (
        Item.objects.filter(batch=batch, submitted_count__gt=0).order_by("pk").values_list("pk", flat=True)
    )
    while page := list(items.filter(pk__gt=last)[:PAGE]):
        yield page
        last = page[-1]


def answered_items(batch: Batch) -> QuerySet[Item]:
    """The batch's items with a submitted response, without gold items."""
    return Item.objects.filter(batch=batch, is_gold=False, submitted_count__gt=0)


def shapes_by_item(batch: Batch) -> dict[str, tuple[int, int]]:
    """Rows and columns of the table of every item with a response; nothing where the kind has no use for them."""
    if not wants_shapes(batch.task(), batch.people_compared):
        return {}
    table_shapes = {}
    for keys in item_pages(batch):
        items = Item.objects.filter(batch=batch, pk__range=(keys[0], keys[-1]), submitted_count__gt=0)
        for item in items.select_related("example__stored_table"):
            table_shapes[item.public_id] = item.example.table().shape
    return table_shapes


def restore_response(task: TaskType, envelope: Mapping[str, Any]) -> Any:
    """A response as it was stored, without judging it again: measures need its fields only."""
    return task.restore(current_data(task, envelope))


def current_data(task: TaskType, envelope: Mapping[str, Any]) -> Mapping[str, Any]:
    """The data of a stored response in the present version of the task type."""
    data: Mapping[str, Any] = envelope["data"]
    return data if envelope["version"] == task.version else task.upgrade(data, envelope["version"])
