"""Items that lack answers which nobody can give any more: nothing waits for somebody who never comes."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.access.roles import Role
from annotation.management import doctor
from annotation.models import (
    Adjudication,
    Annotation,
    Assignment,
    Batch,
    Decision,
    Event,
    Exclusion,
    Item,
    Membership,
    Person,
    Slot,
)
from annotation.queue import availability, reservations
from annotation.releases import creation, verification
from annotation.workflow import (
    adjudication,
    assignments,
    automatic_decisions,
    batch_settings,
    batches,
    projects,
)
from tests.annotation.cast import NOON, World

pytestmark = pytest.mark.both

LATER = NOON + timedelta(hours=1)
EDIT = [{"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "1996"}]


@pytest.fixture(autouse=True)
def sound(world: World) -> Any:
    yield
    assert list(doctor.findings()) == []


def leave(world: World, who: str) -> None:
    membership = Membership.objects.select_related("project", "person").get(person=world.people[who])
    projects.remove_member(membership=membership, by=world.mara, now=NOON)


def skip(world: World, batch: Batch, who: str) -> None:
    assignment = world.take(batch, who)
    assert assignment is not None
    assignments.skip(assignment=assignment, reason="The table is broken.", now=NOON)


def newcomer(world: World, name: str) -> Person:
    person = Person.objects.create_person(name.capitalize(), f"{name}@example.org", "tilted tables")
    projects.add_member(project=world.project, person=person, roles=[Role.ANNOTATOR], by=world.mara, now=NOON)
    world.people[name] = person
    return person


# -- everybody --------------------------------------------------------------------------------------


def fed(world: World, **more: Any) -> Batch:
    """A batch for everybody of one item that Ada made."""
    edits = world.batch("value_change", variant="answer_changes", overlap=1, size=1)
    assignment = world.take(edits, "ada")
    assert assignment is not None
    world.answer(assignment, {"operations": EDIT, "answers": ["1996"], "reason": "One cell decides it."})
    batch = world.batch("answer_check", sources=[], feeds_from=edits, strategy="everyone", **more)
    automatic_decisions.resolve_batch(batch=edits, now=LATER)
    assert Exclusion.objects.filter(item__batch=batch, person=world.ada).exists()
    return batch


@pytest.mark.parametrize("early", [True, False])
def test_an_item_for_everybody_has_as_many_places_as_there_are_people_who_may_do_it(
    world: World, early: bool
) -> None:
    batch = fed(world, open=not early, decide_at_close=False)
    if early:
        batches.open_batch(batch=batch, by=world.mara, now=NOON)
    item = Item.objects.get(batch=batch)
    assert item.slots_count == 2

    for who in ("bo", "cy"):
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(assignment, {"answers": ["1996"]})

    assert automatic_decisions.resolve_due(now=LATER) == 1
    assert Decision.objects.filter(item=item).exists()


def test_who_leaves_keeps_nobody_waiting_in_a_batch_for_everybody(world: World) -> None:
    batch = world.batch(size=1, strategy="everyone", decide_at_close=False)
    for who in ("ada", "bo"):
        world.label(batch, who, "extraction")
    leave(world, "cy")

    automatic_decisions.resolve_orphaned(now=NOON)

    assert Item.objects.get(batch=batch).slots_count == 2
    assert automatic_decisions.resolve_due(now=LATER) == 1


def test_who_skips_keeps_nobody_waiting_in_a_batch_for_everybody(world: World) -> None:
    batch = world.batch(size=1, strategy="everyone", decide_at_close=False)
    for who in ("ada", "bo"):
        world.label(batch, who, "extraction")
    skip(world, batch, "cy")

    automatic_decisions.resolve_orphaned(now=NOON)

    assert automatic_decisions.resolve_due(now=LATER) == 1


def test_a_lone_answer_decides_nothing_in_a_batch_for_everybody_that_began_with_nobody(world: World) -> None:
    for who in ("ada", "bo", "cy"):
        leave(world, who)
    batch = world.batch(size=2, strategy="everyone", overlap=2)
    first = newcomer(world, "fay")
    for _ in range(2):
        world.label(batch, "fay", "extraction")

    assert automatic_decisions.resolve_due(now=LATER) == 0
    second = newcomer(world, "gus")
    assert availability.left_for(second, [batch.pk]) == {batch.pk: 2}
    assert availability.left_for(first, [batch.pk]) == {batch.pk: 0}
    assert world.take(batch, "fay") is None
    for _ in range(2):
        world.label(batch, "gus", "extraction")
    third = newcomer(world, "hal")
    assert availability.left_for(third, [batch.pk]) == {batch.pk: 2}
    world.label(batch, "hal", "extraction")
    assert not Decision.objects.exists()

    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    assert automatic_decisions.resolve_batch(batch=batch, now=LATER) == 2
    assert Decision.objects.count() == 2


def test_a_lone_answer_of_one_who_came_to_a_batch_for_everybody_goes_to_an_adjudicator(world: World) -> None:
    for who in ("ada", "bo", "cy"):
        leave(world, who)
    batch = world.batch(size=1, strategy="everyone", overlap=2)
    newcomer(world, "fay")
    world.label(batch, "fay", "extraction")

    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)

    assert not Decision.objects.exists()
    assert Adjudication.objects.get().reason.startswith("1 of 2 annotators has responded")


# -- one more, and places as planned ----------------------------------------------------------------


def asked_one_more(world: World) -> Batch:
    batch = world.batch(size=1, overlap=2, resolve={"rule": "majority", "most": 3})
    world.label(batch, "ada", "extraction")
    world.label(batch, "bo", "reasoning")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    assert Slot.objects.filter(batch=batch, added=True, is_taken=False).exists()
    return batch


@pytest.mark.parametrize("ends", ["skips", "leaves", "loses the role"])
def test_where_the_last_who_could_be_asked_is_gone_an_adjudicator_looks(world: World, ends: str) -> None:
    batch = asked_one_more(world)
    if ends == "skips":
        skip(world, batch, "cy")
    elif ends == "leaves":
        leave(world, "cy")
    else:
        membership = Membership.objects.select_related("project", "person").get(person=world.cy)
        projects.change_roles(membership=membership, roles=[Role.RESEARCHER], by=world.mara, now=NOON)

    assert automatic_decisions.resolve_orphaned(now=LATER) == 1

    assert (
        Adjudication.objects.get().reason
        == "One more annotator is required, but no further annotator is available."
    )
    assert not Slot.objects.filter(batch=batch, is_taken=False).exists()
    assert automatic_decisions.resolve_orphaned(now=LATER) == 0


def test_an_item_that_nobody_is_left_for_waits_for_an_adjudicator_with_what_there_is(world: World) -> None:
    batch = world.batch(size=1, overlap=3)
    world.label(batch, "ada", "extraction")
    world.label(batch, "bo", "extraction")
    skip(world, batch, "cy")

    assert automatic_decisions.resolve_orphaned(now=LATER) == 1

    waiting = Adjudication.objects.get()
    assert waiting.reason == "2 of 3 annotators have responded, but no further annotator is available."
    adjudication.decide(item=waiting.item, by=world.ivo, choose=["A", "B"], note="Both say so.", now=LATER)


def test_an_item_with_one_response_waits_for_an_adjudicator_once_nobody_else_is_there(world: World) -> None:
    batch = world.batch(size=1, overlap=2)
    world.label(batch, "ada", "extraction")
    for who in ("bo", "cy"):
        leave(world, who)

    assert automatic_decisions.resolve_orphaned(now=LATER) == 1

    assert Adjudication.objects.get().reason.startswith("1 of 2 annotators has responded")


def test_an_item_that_everybody_skipped_waits_for_an_adjudicator_who_may_exclude_it(
    world: World, client: Client
) -> None:
    batch = world.batch(size=1, overlap=2)
    for who in ("ada", "bo", "cy"):
        skip(world, batch, who)
    assert automatic_decisions.resolve_orphaned(now=LATER) == 1
    item = Item.objects.get(batch=batch)
    client.force_login(world.ivo)

    page = client.get(f"/items/{item.public_id}/adjudicate/")
    assert page.status_code == 200
    client.post(
        f"/items/{item.public_id}/adjudicate/",
        {"action": "exclude", "exclude": "The table is broken.", "note": ""},
    )

    assert Decision.objects.get().kind == Decision.Kind.EXCLUDED
    newcomer(world, "fay")
    assert world.take(batch, "fay") is None, "nobody is given an item that is decided"


def test_too_few_people_are_no_reason_to_go_on_without_them(world: World) -> None:
    batch = world.batch(size=1, overlap=4)
    for who in ("ada", "bo", "cy"):
        world.label(batch, who, "extraction")

    assert automatic_decisions.resolve_orphaned(now=LATER) == 0
    assert not Adjudication.objects.exists()


def test_somebody_who_gave_an_item_back_may_still_answer_it(world: World) -> None:
    batch = asked_one_more(world)
    assignment = world.take(batch, "cy")
    assert assignment is not None
    assignments.give_back(assignment=assignment, now=NOON)

    assert automatic_decisions.resolve_orphaned(now=LATER) == 0


# -- closing ----------------------------------------------------------------------------------------


def test_what_lacks_answers_when_the_batch_closes_goes_to_an_adjudicator_if_anybody_answered(
    world: World,
) -> None:
    batch = world.batch(size=2, overlap=2)
    world.label(batch, "ada", "extraction")

    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    assert automatic_decisions.resolve_due(now=LATER) == 1

    waiting = Adjudication.objects.get()
    assert (
        waiting.reason
        == "1 of 2 annotators has responded, but the batch was closed before more responses arrived."
    )
    assert Item.objects.filter(batch=batch, adjudication__isnull=True, submitted_count=0).count() == 1


def test_what_somebody_withdrew_and_did_not_hand_in_again_counts_when_the_batch_closes(world: World) -> None:
    batch = world.batch(size=1, overlap=2)
    world.label(batch, "ada", "extraction")
    stood = world.label(batch, "bo", "extraction")
    assignments.undo(annotation=stood, now=NOON)

    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    assert automatic_decisions.resolve_due(now=LATER) == 1

    again = Assignment.objects.get(item__batch=batch, person=world.bo)
    assert again.annotation is not None
    assert (again.state, again.annotation.revision, again.annotation.response) == (
        "submitted",
        3,
        stood.response,
    )
    assert again.annotation.guidelines_id == stood.guidelines_id
    said = Event.objects.get(pk=again.annotation.event_id)
    assert (said.actor, said.detail) == (None, {"reason": "batch closed"})
    (outcome,) = Decision.objects.get().outcomes.all()
    assert outcome.annotations.count() == 2
    assert Annotation.objects.filter(assignment=again).count() == 3


def test_an_item_for_everybody_waits_for_whoever_gave_it_back(world: World) -> None:
    batch = world.batch(size=2, strategy="everyone")
    first = world.take(batch, "ada")
    assert first is not None
    assignments.give_back(assignment=first, now=NOON)
    newcomer(world, "dee")
    while (theirs := world.take(batch, "dee")) is not None:
        world.answer(theirs, {"label": "extraction"})

    assert availability.left_for(world.ada, [batch.pk]) == {batch.pk: 2}
    seen = set()
    while (mine := world.take(batch, "ada")) is not None:
        seen.add(mine.item_id)
        world.answer(mine, {"label": "reasoning"})
    assert len(seen) == 2
    assert availability.left_for(world.ada, [batch.pk]) == {batch.pk: 0}


@pytest.mark.parametrize("change", ["somebody comes later", "the overlap is lowered"])
def test_a_release_verifies_whatever_became_of_the_overlap(world: World, change: str, tmp_path: Path) -> None:
    everybody = change == "somebody comes later"
    batch = world.batch(size=2, **({"strategy": "everyone"} if everybody else {"overlap": 3}))
    if everybody:
        newcomer(world, "dee")
    for who in ("ada", "bo", "cy", "dee")[: 4 if everybody else 3]:
        while (held := world.take(batch, who)) is not None:
            world.answer(held, {"label": "extraction"})
    if not everybody:
        batch_settings.change(batch=batch, changes={"overlap": 2}, by=world.mara, now=NOON)
    batches.close_batch(batch=Batch.objects.get(pk=batch.pk), by=world.mara, now=LATER)
    automatic_decisions.resolve_batch(batch=Batch.objects.get(pk=batch.pk), now=LATER)

    creation.make_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=LATER, out=tmp_path / "out"
    )

    assert verification.verify(tmp_path / "out")["annotations"] == (8 if everybody else 6)


@pytest.mark.parametrize("reason", reservations.BY_A_MANAGER)
@pytest.mark.parametrize("strategy", ["open", "everyone"])
def test_an_item_that_a_manager_takes_off_a_desk_does_not_wait_for_its_place_for_ever(
    world: World, strategy: str, reason: str
) -> None:
    more = {"overlap": 3} if strategy == "open" else {"decide_at_close": False}
    batch = world.batch(size=1, strategy=strategy, **more)
    held = world.take(batch, "ada")
    assert held is not None
    reservations.give_back(held, state=Assignment.State.RETURNED, reason=reason, now=NOON, actor=world.mara)
    for who in ("bo", "cy"):
        world.label(batch, who, "reasoning")

    assert automatic_decisions.resolve_orphaned(now=LATER) == 1
    automatic_decisions.resolve_due(now=LATER)

    item = Item.objects.get(batch=batch)
    assert Adjudication.objects.filter(item=item).exists() is (strategy == "open")
    assert Decision.objects.filter(item=item).exists() is (strategy == "everyone")
