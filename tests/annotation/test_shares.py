"""Shares: split, kept, moved, taken back; and accounts that hold through all of it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from django.db import connection

from annotation.management import doctor
from annotation.models import Assignment, Batch, Event, Exclusion, Item, Slot
from annotation.platform import immutable_rows
from annotation.platform.refusals import ActionRefused
from annotation.queue import allocation, availability, workload
from annotation.workflow import assignments, batch_settings, batches
from tests.annotation.cast import NOON, World, make_world

pytestmark = pytest.mark.both

State = Assignment.State


@pytest.fixture
def twenty(db: None, tmp_path: Path) -> World:
    """The small project with twenty questions."""
    return make_world(tmp_path, questions=20)


def kept_for(batch: Batch) -> Counter[str]:
    rows = Slot.objects.filter(batch=batch, is_taken=False, reserved_for__isnull=False)
    return Counter(rows.values_list("reserved_for__name", flat=True))


def work(world: World, batch: Batch, who: str, most: int = 100) -> list[int]:
    """The person labels up to so many items; gives which."""
    found: list[int] = []
    while len(found) < most and (assignment := world.take(batch, who)) is not None:
        found.append(assignment.item_id)
        world.answer(assignment, {"label": "extraction"})
    return found


def test_a_split_gives_everybody_a_share_of_their_own_and_all_of_it_is_done(twenty: World) -> None:
    batch = twenty.batch(strategy="split", overlap=2)
    assert sorted(kept_for(batch).values()) == [13, 13, 14]
    done = [item for who in ("ada", "bo", "cy") for item in work(twenty, batch, who)]
    assert Counter(Counter(done).values()) == {2: 20}
    assert list(doctor.findings()) == []


def test_a_split_leaves_makers_out(twenty: World) -> None:
    batch = twenty.batch(strategy="split", overlap=2, open=False)
    for item in batch.items.all():
        Exclusion.objects.create(item=item, person=twenty.ada)
    batches.open_batch(batch=batch, by=twenty.mara, now=NOON)
    assert kept_for(batch) == {"Bo": 20, "Cy": 20}


def test_a_split_with_too_few_people_or_too_large_a_share_does_not_open(twenty: World) -> None:
    many = twenty.batch(strategy="split", overlap=4, open=False)
    with pytest.raises(ActionRefused, match="needs 4 annotators; the project has 3"):
        batches.open_batch(batch=many, by=twenty.mara, now=NOON)
    much = twenty.batch(strategy="split", overlap=1, caps={"items": 6}, open=False)
    with pytest.raises(ActionRefused, match="largest share would be 7 items, above the limit of 6"):
        batches.open_batch(batch=much, by=twenty.mara, now=NOON)
    assert Batch.objects.get(pk=much.pk).state == "planned"
    assert not kept_for(much)


def test_a_batch_for_everyone_opens_with_room_for_everyone(twenty: World) -> None:
    batch = twenty.batch(strategy="everyone", size=5, decide_at_close=False)
    assert Batch.objects.get(pk=batch.pk).overlap == 3
    assert set(Item.objects.filter(batch=batch).values_list("slots_count", flat=True)) == {3}
    for who in ("ada", "bo", "cy"):
        assert len(work(twenty, batch, who)) == 5
    assert Item.objects.filter(batch=batch, due_at__isnull=False).count() == 5
    assert list(doctor.findings()) == []


def test_a_share_moves_to_others_evenly_and_what_is_done_stays(twenty: World) -> None:
    batch = twenty.batch(strategy="split", overlap=1)
    assert len(work(twenty, batch, "ada", 2)) == 2
    held = twenty.take(batch, "ada")
    assert held is not None
    before = kept_for(batch)
    moved = allocation.move(
        batch=batch, person=twenty.ada, to=[twenty.bo, twenty.cy], leases=True, by=twenty.mara, now=NOON
    )
    after = kept_for(batch)
    assert moved == allocation.MoveResult(before["Ada"] + 1, 0, 1)
    assert "Ada" not in after
    assert abs(after["Bo"] - after["Cy"]) <= 1
    assert after["Bo"] + after["Cy"] == 18
    assert world_state(held) == State.RETURNED
    assert twenty.take(batch, "ada") is None
    assert len(work(twenty, batch, "bo")) + len(work(twenty, batch, "cy")) == 18
    assert Item.objects.filter(batch=batch, submitted_count=1).count() == 20
    assert Event.objects.filter(thing="place", after=f"person {twenty.bo.pk}").exists()
    assert list(doctor.findings()) == []


def world_state(assignment: Assignment) -> str:
    return str(Assignment.objects.get(pk=assignment.pk).state)


def test_a_share_that_nobody_of_the_others_may_have_is_open_to_all(twenty: World) -> None:
    batch = twenty.batch(strategy="split", overlap=3)
    moved = allocation.move(batch=batch, person=twenty.ada, to=[twenty.bo], by=twenty.mara, now=NOON)
    assert moved == allocation.MoveResult(0, 20, 0)
    assert kept_for(batch) == {"Bo": 20, "Cy": 20}
    assert len(work(twenty, batch, "ada")) == 20, "open to all is open to whoever had it, too"


def test_items_of_an_open_queue_are_kept_for_somebody(twenty: World) -> None:
    batch = twenty.batch(overlap=2)
    assert allocation.assign(batch=batch, person=twenty.cy, most=7, by=twenty.mara, now=NOON) == 7
    assert kept_for(batch) == {"Cy": 7}
    assert allocation.assign(batch=batch, person=twenty.cy, most=100, by=twenty.mara, now=NOON) == 13
    done = [item for who in ("ada", "bo") for item in work(twenty, batch, who)]
    assert len(done) == 20, "the other place of each item"
    assert len(work(twenty, batch, "cy")) == 20
    assert list(doctor.findings()) == []


def test_a_lease_is_not_kept_for_somebody_who_has_responded_already(twenty: World) -> None:
    batch = twenty.batch(size=1, overlap=2)
    assert len(work(twenty, batch, "bo")) == 1
    assert twenty.take(batch, "ada") is not None

    moved = allocation.take_back(
        batch=batch, leases=allocation.leases_of(batch, [twenty.ada]), to=twenty.bo, by=twenty.mara, now=NOON
    )

    assert moved == allocation.MoveResult(0, 1, 1)
    assert not kept_for(batch)


def test_a_lease_is_taken_back_for_somebody_else(twenty: World) -> None:
    batch = twenty.batch(overlap=1)
    held = twenty.take(batch, "ada")
    assert held is not None
    assignments.save_draft(
        assignment=twenty.reload(held), revision=0, response={"data": {"label": "neither"}}, now=NOON
    )
    moved = allocation.take_back(
        batch=batch, leases=allocation.leases_of(batch, [twenty.ada]), to=twenty.bo, by=twenty.mara, now=NOON
    )
    assert moved == allocation.MoveResult(1, 0, 1)
    assert held.item_id not in work(twenty, batch, "ada")
    assert held.item_id in work(twenty, batch, "bo")
    assert twenty.reload(held).draft.response["data"] == {"label": "neither"}, (
        "the draft stays with its person"
    )
    with pytest.raises(ActionRefused, match="A manager gave this item to another annotator"):
        assignments.resume(assignment=twenty.reload(held), now=NOON)
    assert list(doctor.findings()) == []


def test_nothing_is_moved_to_somebody_who_does_not_annotate(twenty: World) -> None:
    batch = twenty.batch(strategy="split", overlap=1)
    for person in (twenty.ivo, twenty.zoe):
        with pytest.raises(ActionRefused, match="is not an annotator"):
            allocation.move(batch=batch, person=twenty.ada, to=[person], by=twenty.mara, now=NOON)
    with pytest.raises(ActionRefused, match="already has this share"):
        allocation.move(batch=batch, person=twenty.ada, to=[twenty.ada], by=twenty.mara, now=NOON)
    batches.close_batch(batch=batch, by=twenty.mara, now=NOON)
    with pytest.raises(ActionRefused, match="closed"):
        allocation.assign(batch=batch, person=twenty.ada, most=1, by=twenty.mara, now=NOON)


def test_the_accounts_balance_whatever_people_do(twenty: World) -> None:
    batch = twenty.batch(overlap=2)
    work(twenty, batch, "ada", 3)
    skipped = twenty.take(batch, "ada")
    assert skipped is not None
    assignments.skip(assignment=skipped, reason="unclear", now=NOON)
    held = twenty.take(batch, "ada")
    assert held is not None
    assert twenty.take(batch, "ada", holding=[held.public_id]) is not None
    back = twenty.take(batch, "bo")
    assert back is not None
    assignments.give_back(assignment=back, now=NOON)
    allocation.assign(batch=batch, person=twenty.cy, most=4, by=twenty.mara, now=NOON)
    found = workload.accounts([batch])
    assert found[batch.pk, twenty.ada.pk] == workload.Account(6, 3, 1, 2, 0)
    assert found[batch.pk, twenty.bo.pk] == workload.Account(1, 0, 0, 0, 1)
    assert found[batch.pk, twenty.cy.pk] == workload.Account(kept=4)
    assert all(account.balances for account in found.values())
    told = workload.as_csv(workload.lines(twenty.project, [batch]))
    assert "Ada" not in told
    assert told.splitlines()[0] == "batch,batch_name,annotator,assigned,submitted,skipped,open,returned,kept"
    assert len(told.splitlines()) == 4


def test_the_doctor_finds_an_account_that_the_log_does_not_bear_out(twenty: World) -> None:
    batch = twenty.batch(overlap=1)
    held = twenty.take(batch, "ada")
    assert held is not None
    assert list(doctor.findings()) == []
    with immutable_rows.writable():
        Event.objects.filter(thing="assignment", thing_id=held.pk).delete()
    assert [found for found in doctor.findings() if "the log has no entry" in found]


def test_paused_and_closed_in_bulk_each_batch_for_itself(twenty: World) -> None:
    planned = twenty.batch(open=False)
    one, two = twenty.batch(), twenty.batch()
    changed, refused = batches.act(batches=[planned, one, two], action="pause", by=twenty.mara, now=NOON)
    assert changed == [one, two]
    assert [why for _, why in refused] == [f"{planned.name} is planned and cannot be changed."]
    assert {batch.state for batch in Batch.objects.filter(pk__in=[one.pk, two.pk])} == {"paused"}
    batches.act(batches=[one], action="resume", by=twenty.mara, now=NOON)
    assert twenty.take(Batch.objects.get(pk=one.pk), "ada") is not None
    batches.act(batches=[one, two], action="close", by=twenty.mara, now=NOON)
    assert {batch.state for batch in Batch.objects.filter(pk__in=[one.pk, two.pk])} == {"closed"}
    log = Event.objects.filter(thing="batch", thing_id=two.pk).order_by("pk")
    assert list(log.values_list("before", "after")) == [
        ("", "planned"),
        ("planned", "open"),
        ("open", "paused"),
        ("paused", "closed"),
    ]
    for again in (batches.open_batch, batches.pause_batch, batches.resume_batch):
        with pytest.raises(ActionRefused, match=r"is closed\. Reopen it first"):
            again(batch=Batch.objects.get(pk=two.pk), by=twenty.mara, now=NOON)


def test_a_draw_by_difficulty_keeps_its_shares(twenty: World) -> None:
    batch = twenty.batch(size=10, strata="difficulty", overlap=1)
    assert batch.sampling == {
        "sources": [twenty.source.public_id],
        "of": "originals",
        "by": "difficulty",
        "size": 10,
    }
    assert availability.left_for(twenty.ada, [batch.pk]) == {batch.pk: 10}


@pytest.mark.django_db(transaction=True)
def test_a_manager_who_moves_and_changes_while_people_work_breaks_nothing(tmp_path: Path) -> None:
    """Shares change hands, leases end and places come and go under people's hands: all of it adds up in the end."""
    world = make_world(tmp_path, questions=30)
    batch = world.batch(strategy="split", overlap=2)
    errors: list[BaseException] = []
    done = threading.Event()

    def manage() -> None:
        turn = 0
        while not done.is_set():
            turn += 1
            people = [world.ada, world.bo, world.cy]
            one = people.pop(turn % 3)
            allocation.move(batch=batch, person=one, to=people, leases=turn % 2 == 0, by=world.mara, now=NOON)
            batch_settings.change(batch=batch, changes={"overlap": 1 + turn % 3}, by=world.mara, now=NOON)
            allocation.take_back(
                batch=batch, leases=allocation.leases_of(batch), to=one, by=world.mara, now=NOON
            )

    def label(who: str) -> None:
        for _ in range(25):
            assignment = world.take(Batch.objects.select_related("project").get(pk=batch.pk), who)
            if assignment is not None:
                with suppress(ActionRefused):
                    world.answer(assignment, {"label": "extraction"})

    def in_thread(work_of: Callable[[], None]) -> None:
        try:
            work_of()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    manager = threading.Thread(target=in_thread, args=(manage,))
    workers = [threading.Thread(target=in_thread, args=(partial(label, who),)) for who in ("ada", "bo", "cy")]
    for thread in (manager, *workers):
        thread.start()
    for thread in workers:
        thread.join(120)
    done.set()
    manager.join(60)
    assert errors == []
    assert list(doctor.findings()) == []
    found = workload.accounts([batch])
    assert all(account.balances for account in found.values())
    assert workload.total(found.values()).submitted > 0
