"""Closing a batch, a new rule and a new definition wait for decisions and submissions, and never in a circle."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import F, Q

from annotation.access.authorization import Actor
from annotation.explorer import item_access, item_actions
from annotation.models import Assignment, Batch, Decision, Item, Outcome, PersonBatchCounts, Slot
from annotation.platform import immutable_rows
from annotation.platform.refusals import ActionRefused
from annotation.queue import slots
from annotation.workflow import automatic_decisions, batch_settings, batches
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_defining import batch_of, define
from tests.waiting import wait_until

LATER = NOON + timedelta(hours=1)
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time"),
]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path, questions=8)


class ActionThread(threading.Thread):
    """An action in a thread with a connection of its own; `error` is what the database said to it."""

    def __init__(self, action: Callable[[], Any]) -> None:
        super().__init__()
        self.action, self.error = action, ""
        self.start()

    def run(self) -> None:
        try:
            self.action()
        except ActionRefused:
            pass
        except OperationalError as error:
            self.error = str(error)
        finally:
            connection.close()


def somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])


def close(world: World, batch: Batch) -> None:
    batches.close_batch(batch=batch, by=world.mara, now=LATER)


def change_rule(world: World, batch: Batch) -> None:
    automatic_decisions.change_rule(batch=batch, rule={"rule": "majority"}, by=world.mara, now=LATER)


def change_overlap(world: World, batch: Batch) -> None:
    batch_settings.change(batch=batch, changes={"overlap": 3}, by=world.mara, now=LATER)


def define_anew(world: World, batch: Batch) -> None:
    define(world, title="Another title")


@pytest.mark.parametrize("action", [close, change_rule, change_overlap, define_anew])
def test_who_holds_an_item_gets_its_batch_while_the_batch_changes(
    world: World, action: Callable[[World, Batch], None]
) -> None:
    if action is define_anew:
        batch = batch_of(world, define(world))
    else:
        batch = world.batch(size=2, overlap=1)
        world.label(batch, "ada", "extraction")
        Batch.objects.filter(pk=batch.pk).update(decide_at_close=action is change_rule)
        batch.refresh_from_db()
    item = batch.items.order_by("pk").first()
    assert item is not None

    with transaction.atomic():
        Item.objects.select_for_update(no_key=True).get(pk=item.pk)
        other = ActionThread(lambda: action(world, Batch.objects.select_related("project").get(pk=batch.pk)))
        wait_until(somebody_waits_for_a_lock)
        slots.add_slot(item)  # as a decision that asks one more person does
    other.join(60)

    assert other.error == ""


def exclude_all(world: World, batch: Batch) -> None:
    reader = item_access.reader(Actor(world.mara), world.project)
    items = Item.objects.filter(Q(batch=batch) | Q(batch__feeds_from=batch), decision=None).order_by("pk")
    keys = list(items.values_list("pk", flat=True))
    item_actions.apply_action(reader, "exclude", keys, note="A torn table", now=LATER)


def test_an_action_on_several_items_takes_their_places_before_it_counts_on_the_batch(world: World) -> None:
    batch = world.batch(size=2, overlap=1)
    last = Slot.objects.filter(batch=batch).order_by("item__position").last()
    assert last is not None

    with transaction.atomic():  # as one request that takes an item, and makes a place on a gold item ahead
        Slot.objects.select_for_update().get(pk=last.pk)
        other = ActionThread(lambda: exclude_all(world, batch))
        wait_until(somebody_waits_for_a_lock)
        Batch.objects.filter(pk=batch.pk).update(slots_count=F("slots_count") + 1)
    other.join(60)

    assert other.error == ""
    assert batch.items.filter(resolution="excluded").count() == 2


@pytest.mark.parametrize("action", [exclude_all, define_anew])
def test_batches_of_a_chain_are_taken_from_the_last_to_the_first(
    world: World, action: Callable[[World, Batch], None]
) -> None:
    """A decision makes items in the batches that it feeds, and counts itself on its own batch afterwards."""
    if action is define_anew:
        row = define(world)
        first, last = (feeding := batch_of(world, row, size=1)), batch_of(world, row, feeds_from=feeding)
    else:
        first = world.batch(size=2, overlap=1)
        last = world.batch("answer_check", sources=[], feeds_from=first)
        world.label(first, "ada", "extraction")
        automatic_decisions.resolve_batch(batch=first, now=NOON)
        assert last.items.count() == 1

    with transaction.atomic():
        Batch.objects.select_for_update(no_key=True).get(pk=last.pk)
        other = ActionThread(lambda: action(world, first))
        wait_until(somebody_waits_for_a_lock)
        Batch.objects.filter(pk=first.pk).update(accepted_count=F("accepted_count") + 1)
    other.join(60)

    assert other.error == ""


@pytest.mark.parametrize("rounds", [10, pytest.param(500, marks=pytest.mark.slow)])
def test_batches_close_while_the_worker_decides_and_people_work_without_a_deadlock(
    world: World, rounds: int
) -> None:
    batch = world.batch(size=6, overlap=1)
    for _ in range(3):
        world.label(batch, "ada", "extraction")
    deadlocks = held = 0
    for _ in range(rounds):
        closing = Batch.objects.select_related("project").get(pk=batch.pk)
        running = [
            ActionThread(lambda: automatic_decisions.resolve_due(now=LATER)),
            ActionThread(partial(close, world, closing)),
            ActionThread(lambda: _work(world, batch)),
        ]
        for thread in running:
            thread.join(60)
        deadlocks += sum("deadlock" in thread.error for thread in running)
        held += Assignment.objects.filter(batch=batch, state="leased").count()
        _begin_again(world, batch)

    assert (deadlocks, held) == (0, 0)


def _work(world: World, batch: Batch) -> None:
    """Label an item, if Cy gets one."""
    assignment = world.take(Batch.objects.get(pk=batch.pk), "cy")
    if assignment is not None:
        world.answer(assignment, {"label": "reasoning"})


def _begin_again(world: World, batch: Batch) -> None:
    """Have the batch be as it was before the round: open, with three complete items of Ada's."""
    with immutable_rows.writable(), transaction.atomic():
        Outcome.annotations.through.objects.all().delete()
        Outcome.objects.all().delete()
        Decision.objects.all().delete()
        theirs = Assignment.objects.filter(person=world.cy)
        theirs.update(state="returned", annotation=None)
        for assignment in theirs:
            assignment.annotations.all().delete()
        theirs.delete()
    PersonBatchCounts.objects.filter(person=world.cy).delete()
    done = Item.objects.filter(batch=batch, assignments__person=world.ada)
    batch.items.update(resolution="", due_at=None, submitted_count=0)
    Item.objects.filter(pk__in=done.values("pk")).update(due_at=NOON, submitted_count=1)
    Slot.objects.filter(batch=batch).exclude(item__in=done.values("pk")).update(is_taken=False)
    Batch.objects.filter(pk=batch.pk).update(closed_at=None, accepted_count=0)
