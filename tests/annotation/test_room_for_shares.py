"""Shares and quotas: nothing is kept for somebody beyond what one person may do, and nothing kept lies dead."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from annotation.management import doctor
from annotation.models import Batch, Event, Item, Slot
from annotation.platform.refusals import ActionRefused
from annotation.queue import allocation, availability
from annotation.workflow import automatic_decisions
from tests.annotation.cast import NOON, World, make_world


@pytest.fixture
def twenty(db: None, tmp_path: Path) -> World:
    """The small project with twenty questions."""
    return make_world(tmp_path, questions=20)


def work(world: World, batch: Batch, who: str, most: int = 100) -> int:
    """The person labels up to so many items, until nothing comes or the limit is reached; gives how many."""
    done = 0
    try:
        while done < most and (assignment := world.take(batch, who)) is not None:
            world.answer(assignment, {"label": "extraction"})
            done += 1
    except ActionRefused as refused:
        if refused.code != "cap_reached":
            raise
    return done


def kept(world: World, batch: Batch, who: str) -> int:
    return allocation.reserved_counts([batch]).get((batch.pk, world.people[who].pk), 0)


def test_keeping_more_is_cut_to_what_one_person_may_do(twenty: World) -> None:
    batch = twenty.batch(overlap=1, caps={"items": 5})
    assert work(twenty, batch, "ada", 1) == 1
    assert allocation.assign(batch=batch, person=twenty.ada, most=20, by=twenty.mara, now=NOON) == 4
    assert allocation.assign(batch=batch, person=twenty.ada, most=20, by=twenty.mara, now=NOON) == 0
    assert [availability.left_for(twenty.people[who], [batch.pk])[batch.pk] for who in ("ada", "bo")] == [
        4,
        5,
    ]
    assert sum(work(twenty, batch, who) for who in ("ada", "bo", "cy")) == 14
    assert Slot.objects.filter(batch=batch, is_taken=False, reserved_for=None).count() == 5


def test_items_that_come_to_a_split_go_to_those_with_room_and_the_rest_is_free(twenty: World) -> None:
    first = twenty.batch(size=12, overlap=1)
    batch = twenty.batch(
        "relevant_cells", strategy="split", overlap=2, feeds_from=first, sources=[], caps={"items": 3}
    )
    assert work(twenty, first, "ada") == 12
    automatic_decisions.resolve_due(now=NOON + timedelta(minutes=5))
    assert batch.items.count() == 12
    assert [kept(twenty, batch, who) for who in ("ada", "bo", "cy")] == [3, 3, 3]
    assert Slot.objects.filter(batch=batch, reserved_for=None).count() == 15
    assert availability.left_for(twenty.bo, [batch.pk]) == {batch.pk: 3}


def test_a_share_moves_to_others_as_far_as_they_have_room(twenty: World) -> None:
    batch = twenty.batch(strategy="split", overlap=1, caps={"items": 8})
    before = {who: kept(twenty, batch, who) for who in ("ada", "bo", "cy")}
    moved = allocation.move(batch=batch, person=twenty.ada, to=[twenty.bo], by=twenty.mara, now=NOON)
    room = 8 - before["bo"]
    assert moved == allocation.MoveResult(room, before["ada"] - room, 0)
    held = twenty.take(batch, "ada")
    assert held is not None
    taken = allocation.take_back(
        batch=batch, leases=allocation.leases_of(batch, [twenty.ada]), to=twenty.bo, by=twenty.mara, now=NOON
    )
    assert taken == allocation.MoveResult(0, 1, 1)


def test_what_is_kept_for_somebody_who_reaches_the_limit_is_free_for_others(twenty: World) -> None:
    """A lower limit, or items from the open queue in between: nothing waits for somebody who may do no more."""
    batch = twenty.batch(strategy="split", overlap=1)
    share = kept(twenty, batch, "ada")
    Batch.objects.filter(pk=batch.pk).update(caps={"items": 4})
    batch = Batch.objects.select_related("project").get(pk=batch.pk)
    assert work(twenty, batch, "ada") == 4
    assert kept(twenty, batch, "ada") == 0
    freed = Event.objects.filter(thing="place", before=f"person {twenty.ada.pk}", after="open")
    assert freed.count() == share - 4
    Batch.objects.filter(pk=batch.pk).update(caps={})
    batch = Batch.objects.select_related("project").get(pk=batch.pk)
    work(twenty, batch, "bo")
    work(twenty, batch, "cy")
    assert Item.objects.filter(batch=batch, submitted_count=1).count() == 20
    assert list(doctor.findings()) == []
