"""What a person wants an adjudicator to look at comes to one, whatever happens to the item before."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from annotation.access.authorization import Actor
from annotation.accounts import erasure
from annotation.explorer import item_access, item_actions
from annotation.management import doctor
from annotation.models import Adjudication, Annotation, Batch, Decision, Item
from annotation.workflow import adjudication, assignments, automatic_decisions, batch_settings, batches
from tests.annotation.cast import NOON, World, make_world

SOON, LATER = NOON + timedelta(minutes=2), NOON + timedelta(hours=1)
REASON = "Both fell for the trap"


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def requested(world: World, who: str = "mara", **more: Any) -> Batch:
    """A batch of one item on which two people agree, and at which an adjudicator is to look all the same."""
    batch = world.batch(size=1, overlap=2, **more)
    for each in ("ada", "bo"):
        world.label(batch, each, "extraction")
    reader = item_access.reader(Actor(world.people[who]), world.project)
    done = item_actions.apply_action(reader, "adjudicate", [batch.items.get().pk], note=REASON, now=NOON)
    assert done.number == 1
    return batch


def take_back(world: World, batch: Batch, who: str = "ada") -> None:
    annotation = Annotation.objects.filter(assignment__batch=batch, assignment__person=world.people[who])
    assignments.undo(annotation=annotation.latest("revision"), now=SOON)


def require_waiting(world: World, batch: Batch) -> None:
    request = Adjudication.objects.get(item__batch=batch)
    assert (request.reason, request.asked_by, request.asked_at) == (REASON, world.mara, NOON)
    assert batch.items.get().resolution == Item.Resolution.ADJUDICATION
    assert list(doctor.findings()) == []


def test_it_survives_that_an_author_takes_a_response_back_and_submits_again(world: World) -> None:
    batch = requested(world)
    take_back(world, batch)
    assert not Adjudication.objects.exists(), "nobody adjudicates what somebody works on"

    world.label(batch, "ada", "extraction")
    automatic_decisions.resolve_due(now=LATER)

    require_waiting(world, batch)
    assert not Decision.objects.exists()


def test_it_survives_two_authors_and_a_larger_overlap(world: World) -> None:
    batch = requested(world)
    for who in ("ada", "bo"):
        take_back(world, batch, who)
    batch_settings.change(batch=batch, changes={"overlap": 3}, by=world.mara, now=SOON)

    for who in ("ada", "bo", "cy"):
        world.label(batch, who, "extraction")
    automatic_decisions.resolve_due(now=LATER)

    require_waiting(world, batch)


def test_it_survives_that_the_overlap_is_raised(world: World) -> None:
    batch = requested(world)

    batch_settings.change(batch=batch, changes={"overlap": 3}, by=world.mara, now=SOON)
    assert not Adjudication.objects.exists()
    world.label(batch, "cy", "extraction")
    automatic_decisions.resolve_due(now=LATER)

    require_waiting(world, batch)


def test_it_survives_that_the_batch_closes_before_all_responses_are_there(world: World) -> None:
    batch = requested(world)
    batch_settings.change(batch=batch, changes={"overlap": 3}, by=world.mara, now=SOON)
    batch.refresh_from_db()

    batches.close_batch(batch=batch, by=world.mara, now=SOON)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    require_waiting(world, batch)


def test_it_waits_again_where_it_was_after_an_adjudicator_undoes_their_decision(world: World) -> None:
    batch = requested(world)
    take_back(world, batch)
    world.label(batch, "ada", "extraction")
    automatic_decisions.resolve_due(now=LATER)
    item = batch.items.get()
    adjudication.decide(item=item, by=world.ivo, choose=["A"], now=LATER)

    adjudication.undo(item=item, by=world.ivo, now=LATER)

    require_waiting(world, batch)


def test_an_adjudicator_who_sends_a_response_back_has_looked(world: World) -> None:
    batch = requested(world)
    adjudication.send_back(item=batch.items.get(), by=world.ivo, choose="A", note="Read it again", now=SOON)
    back = batch.assignments.get(state="leased").person.name.lower()

    world.label(batch, back, "extraction")
    automatic_decisions.resolve_due(now=LATER)

    assert Decision.objects.filter(item__batch=batch).exists()


def test_what_a_rule_asked_is_asked_of_the_rule_again(world: World) -> None:
    batch = world.batch(size=1, overlap=2)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_due(now=SOON)
    assert Adjudication.objects.exists()
    take_back(world, batch)

    world.label(batch, "ada", "reasoning")
    automatic_decisions.resolve_due(now=LATER)

    assert Decision.objects.filter(item__batch=batch).exists()


def test_a_name_in_a_reason_that_waits_goes_when_its_person_is_erased(world: World) -> None:
    batch = world.batch(size=1, overlap=2)
    for each in ("ada", "bo"):
        world.label(batch, each, "extraction")
    item = batch.items.select_related("batch", "example__stored_table").get()
    adjudication.ask_adjudicator(item=item, by=world.mara, reason="Bo guessed", before="complete", now=NOON)
    take_back(world, batch)
    erasure.erase(person=world.bo, by=world.bo, now=SOON)

    world.label(batch, "ada", "extraction")
    automatic_decisions.resolve_due(now=LATER)

    assert "Bo" not in Adjudication.objects.get().reason
