"""A batch tried by a person who runs the study: its real items as annotators see them, leaving no trace."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.models import Batch, Gold, Item
from annotation.quality.compared_responses import restore_response
from annotation.queue.practice import Feedback
from tasks.contract import InvalidResponse
from tasks.contract import Item as PlainItem


@dataclass(frozen=True)
class PreviewItem:
    """One item of a batch to be tried, by its number from 1."""

    number: int
    item: Item
    plain: PlainItem


def preview_items(batch: Batch) -> QuerySet[Item]:
    """What people get of the batch, in its order; gold that is mixed in comes with them."""
    return Item.objects.filter(batch=batch).order_by("position")


def item_at(batch: Batch, position: int) -> PreviewItem | None:
    """The item with this number; None where there is none."""
    if position < 1:
        return None
    matches = preview_items(batch).select_related("example__stored_table")[position - 1 : position]
    for item in matches:
        item.batch = batch
        return PreviewItem(position, item, item.plain())
    return None


def check_response(batch: Batch, item: PlainItem, envelope: object) -> Feedback:
    """Look at a response to an item as a submission would: what is wrong with it, or what it says in words."""
    task = batch.task()
    try:
        response = task.receive(envelope if isinstance(envelope, Mapping) else {}, item)
    except InvalidResponse as invalid:
        return Feedback(False, (), "", tuple(invalid.problems))
    return Feedback(None, tuple(task.describe(response, item)), "")


def judge_response(tried: PreviewItem, envelope: object) -> Feedback:
    """`check_response`, and where the right response is known, a comparison with it. Nothing is stored."""
    task = tried.item.batch.task()
    seen = check_response(tried.item.batch, tried.plain, envelope)
    gold = Gold.objects.filter(item=tried.item).first()
    if gold is None or seen.problems or not isinstance(envelope, Mapping):
        return seen
    response = task.receive(envelope, tried.plain)
    right, lines = task.feedback(tried.plain, response, restore_response(task, gold.expected))
    return Feedback(right, tuple(lines), gold.why)
