"""A qualification comes to an end for everybody: when an item was taken off a desk, and when it is closed half way."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from annotation.accounts import crowd_entry
from annotation.management import doctor
from annotation.models import Batch, CrowdEntry, Qualification
from annotation.platform.refusals import ActionRefused
from annotation.quality import gold
from annotation.queue import allocation, availability
from annotation.workflow import assignments, batches
from tests.annotation.cast import NOON, World, make_world


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path, questions=8)


@pytest.fixture
def asked(world: World) -> Batch:
    """An open qualification of three items."""
    batch = world.batch(size=3, purpose="qualification", pass_percent=60, open=False, name="Asked")
    for item in batch.items.select_related("example"):
        gold.set_gold(
            batch=batch, example=item.example, data={"label": "extraction"}, by=world.mara, now=NOON
        )
    batches.open_batch(batch=batch, by=world.mara, now=NOON)
    return batch


def enter(world: World, *names: str) -> list[CrowdEntry]:
    link = crowd_entry.make_link(
        project=world.project,
        name="Pool",
        parameters=crowd_entry.PARAMETERS["prolific"],
        completion_code="C1",
        screen_out_code="S1",
        expires_at=NOON + timedelta(days=9),
        by=world.mara,
        now=NOON,
    )
    for name in names:
        world.people[name] = crowd_entry.enter(
            link=link, ids=crowd_entry.Ids(name, "s", "t"), person=None, now=NOON
        )
    rows = CrowdEntry.objects.select_related("link__project", "person").order_by("pk")
    return list(rows)


def work(world: World, batch: Batch, who: str) -> int:
    done = 0
    while (assignment := world.take(batch, who)) is not None:
        world.answer(assignment, {"label": "extraction"})
        done += 1
    return done


def end(entry: CrowdEntry) -> Any:
    return crowd_entry.finish(entry=entry, now=NOON + timedelta(minutes=1))


def again(batch: Batch) -> Batch:
    return Batch.objects.select_related("project", "requires").get(pk=batch.pk)


@pytest.mark.parametrize("how", ["take back", "take back for somebody", "move"])
def test_what_a_manager_takes_off_a_desk_comes_back_to_the_person(
    world: World, asked: Batch, how: str
) -> None:
    batch = world.batch(size=2, overlap=1, requires=asked)
    (entry,) = enter(world, "pat")
    held = world.take(asked, "pat")
    assert held is not None
    if how == "move":
        allocation.move(batch=asked, person=world.pat, to=[world.bo], leases=True, by=world.mara, now=NOON)
    else:
        to = world.bo if how.endswith("somebody") else None
        allocation.take_back(
            batch=asked, leases=allocation.leases_of(asked, [world.pat]), to=to, by=world.mara, now=NOON
        )
    assert availability.left_for(world.pat, [asked.pk]) == {asked.pk: 3}
    assert work(world, asked, "pat") == 3
    assert Qualification.objects.get(person=world.pat).passed
    assert work(world, asked, "bo") == 3
    assert work(world, batch, "pat") == 2
    assert end(entry).code == "C1"
    assert list(doctor.findings()) == []


def test_it_is_opened_again_from_my_work(world: World, asked: Batch) -> None:
    held = world.take(asked, "ada")
    assert held is not None
    allocation.take_back(
        batch=asked, leases=allocation.leases_of(asked, [world.ada]), by=world.mara, now=NOON
    )
    assignments.resume(assignment=world.reload(held), now=NOON)
    assert work(world, asked, "ada") == 3
    assert list(doctor.findings()) == []


def test_a_qualification_that_is_closed_half_way_is_an_end(world: World, asked: Batch) -> None:
    batch = world.batch(size=2, overlap=2, requires=asked)
    pat, quin, ray = enter(world, "pat", "quin", "ray")
    assert world.take(asked, "pat") is not None
    assert work(world, asked, "quin") == 3
    batches.close_batch(batch=asked, by=world.mara, now=NOON)
    batch = again(batch)
    with pytest.raises(ActionRefused, match="which closed before you finished"):
        world.take(batch, "pat")
    assert availability.left_for(world.pat, [batch.pk]) == {batch.pk: 0}
    assert availability.left_for(world.quin, [batch.pk]) == {batch.pk: 2}
    assert (end(pat).code, end(ray).code, end(ray).work_left) == ("S1", "", False)
    assert end(quin).work_left
    assert work(world, batch, "quin") == 2
    assert end(quin).code == "C1"


def test_who_passed_and_found_everything_taken_has_done_their_part(world: World, asked: Batch) -> None:
    batch = world.batch(size=2, overlap=1, requires=asked)
    first, second = enter(world, "pat", "sam")
    for who in ("pat", "sam"):
        assert work(world, asked, who) == 3
    assert work(world, batch, "pat") == 2
    assert work(world, batch, "sam") == 0

    assert (end(first).code, end(second).code) == ("C1", "C1")
