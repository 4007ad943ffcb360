"""Pages of an adjudicator: items on which three people differ."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Batch, Decision, Item, RevisionRequest
from annotation.queue import candidates as queue_candidates
from annotation.queue import resolutions
from annotation.workflow import adjudication, assignments, automatic_decisions, batches
from tableqa import Example, Table
from tests.annotation.cast import NOON, World

LATER = NOON + timedelta(days=1)


def labels(world: World, client: Client, items: int, another: bool = False, **terms: Any) -> str:
    """Ivo's first of several question types; with `another`, an item of another batch waits as well."""
    batch = labelled(world, items, **terms)
    if another:
        labelled(world, 1, name="Another batch")
    return opened(client, world, resolutions.waiting(batch)[0])


def labelled(world: World, items: int, **terms: Any) -> Batch:
    batch = world.batch("question_type", size=items, **terms)
    for _ in range(items):
        for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
            world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return batch


def edits(world: World, client: Client, rows: int = 3, is_closed: bool = False) -> str:
    """Two people changed the table, one calls the question unanswerable."""
    item = edited(world, rows)
    if is_closed:
        batches.close_batch(batch=item.batch, by=world.mara, now=LATER)
    return opened(client, world, item)


def edited(world: World, rows: int = 3) -> Item:
    table = Table(["Film", "Year"], [[f"Film {row}", str(1900 + row % 100)] for row in range(rows)])
    source = world.import_written(Example("w-1", "When was Film 1?", table, answers=("1901",)))
    batch = world.batch("value_change", variant="answer_changes", overlap=3, sources=[source])
    for who, new in (("ada", "1996"), ("bo", "1997"), ("cy", "")):
        assignment = world.take(batch, who)
        assert assignment is not None
        operation = {"op": "set_cell", "row": "r1", "column": "c1", "at": [1, 1], "old": "1901", "new": new}
        edit = {"unanswerable": False, "operations": [operation], "answers": [new]}
        world.answer(assignment, edit if new else {"unanswerable": True})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    return resolutions.waiting(batch).get()


def sample(world: World, client: Client, kind: str) -> str:
    """The first item of a batch over the sample of a task type, with three simulated responses."""
    from benchmarks.browser_data import waiting_item
    from tasks.contract import task_types

    return opened(client, world, waiting_item(world, task_types()[kind], ""))


def opened(client: Client, world: World, item: Item) -> str:
    client.force_login(world.ivo)
    return reverse("adjudicate", args=[item.public_id])


def queue(world: World, client: Client) -> list[str]:
    """The items that wait, batch by batch, by their public ids."""
    return [
        str(item.public_id) for batch in Batch.objects.order_by("pk") for item in resolutions.waiting(batch)
    ]


def decisions(world: World, client: Client) -> list[dict[str, Any]]:
    """What was decided, oldest first."""
    return [
        {
            "item": str(decision.item.public_id),
            "kind": decision.kind,
            "note": decision.note,
            "listed": decision.listed_reason,
            "by": decision.made_by.name if decision.made_by else None,
            "data": [outcome.response["data"] for outcome in decision.outcomes.order_by("pk")],
        }
        for decision in Decision.objects.order_by("pk")
    ]


def sent_back(world: World, client: Client) -> list[str]:
    """The notes of responses that were sent back."""
    return [sent.note for sent in RevisionRequest.objects.order_by("pk")]


def letters(world: World, client: Client, item: str) -> dict[str, str]:
    """The letter of each label of an item."""
    candidates = queue_candidates.of_item(Item.objects.get(public_id=item))
    return {str(each.response.label): each.letter for each in candidates}


def author_continues(world: World, client: Client) -> None:
    """Save a draft as the author of the only response that was sent back."""
    sent = RevisionRequest.objects.select_related("assignment__draft").get()
    assignments.save_draft(
        assignment=sent.assignment,
        response={"data": {"label": "neither"}},
        revision=sent.assignment.draft.revision,
        now=timezone.now(),
    )


def another_decides(world: World, client: Client, item: str, choose: str) -> None:
    """Decide as Rea."""
    row = Item.objects.get(public_id=item)
    adjudication.decide(item=row, by=world.rea, choose=[choose], now=LATER)


def response_changes(world: World, client: Client, item: str, choose: str) -> None:
    """Ada's response goes back to her, and she calls the question unanswerable."""
    row = Item.objects.get(public_id=item)
    adjudication.send_back(item=row, by=world.rea, choose=choose, note="Look again.", now=LATER)
    world.label(row.batch, "ada", "unanswerable")
    automatic_decisions.resolve_batch(batch=row.batch, now=LATER)
