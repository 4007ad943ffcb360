"""A closed batch is opened again: decisions stay, items that lack responses are served, but not to people who read them."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse

from annotation.access.roles import Role
from annotation.management import doctor
from annotation.models import Adjudication, Batch, Event, Membership
from annotation.platform.refusals import ActionRefused
from annotation.workflow import automatic_decisions, batches, projects
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_item_actions import PEOPLE, SOON, browser, items, state

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def batch(world: World) -> Batch:
    """A closed batch: 1 is accepted, 2 is contested, 3 has one response and 4 none."""
    batch = world.batch(name="Labels", overlap=3)
    for who in PEOPLE:
        world.label(batch, who, "extraction")
    for who, label in zip(PEOPLE, ("extraction", "reasoning", "neither"), strict=True):
        world.label(batch, who, label)
    world.label(batch, "ada", "extraction")
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    assert [state(item) for item in items(batch)] == ["accepted", "adjudication", "adjudication", "open"]
    return batch


def test_a_reopened_batch_serves_what_lacks_responses(world: World, batch: Batch) -> None:
    batches.reopen_batch(batch=batch, by=world.mara, now=SOON)
    batches.reopen_batch(batch=batch, by=world.mara, now=SOON)

    batch.refresh_from_db()
    assert batch.state == "open"
    assert [state(item) for item in items(batch)] == ["accepted", "adjudication", "open", "open"]
    assert Event.objects.filter(thing="batch", before="closed", after="open").count() == 1
    third, fourth = items(batch)[2:]
    for who in ("bo", "cy"):
        world.label(batch, who, "extraction")
    taken = world.take(batch, "ada")
    assert taken is not None
    assert taken.item_id == fourth.pk
    automatic_decisions.resolve_batch(batch=batch, now=SOON)
    assert state(third) == "accepted"
    assert doctor.findings() == []


def test_what_a_person_asked_an_adjudicator_is_asked_again_once_the_item_is_complete(
    world: World, batch: Batch
) -> None:
    third = items(batch)[2]
    Adjudication.objects.filter(item=third).update(asked_by=world.mara)
    batches.reopen_batch(batch=batch, by=world.mara, now=SOON)
    for who in ("bo", "cy"):
        world.label(batch, who, "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=SOON)
    assert Adjudication.objects.get(item=third).asked_by == world.mara


def test_whoever_could_read_the_responses_of_a_closed_batch_does_not_answer_its_items(
    world: World, batch: Batch
) -> None:
    projects.change_roles(
        membership=Membership.objects.get(person=world.bo),
        roles=[Role.ANNOTATOR, Role.VIEWER],
        by=world.mara,
        now=NOON,
    )
    batches.reopen_batch(batch=batch, by=world.mara, now=SOON)
    third, fourth = items(batch)[2:]
    by_bo, by_cy = world.take(batch, "bo"), world.take(batch, "cy")
    assert by_bo is not None
    assert by_cy is not None
    assert (by_bo.item_id, by_cy.item_id) == (fourth.pk, third.pk)


@pytest.mark.parametrize("purpose", ["qualification", "calibration"])
def test_final_results_stay_final(world: World, purpose: str) -> None:
    batch = world.batch(name="Test", open=False)
    Batch.objects.filter(pk=batch.pk).update(purpose=purpose, opened_at=NOON, closed_at=NOON)
    batch.refresh_from_db()
    with pytest.raises(ActionRefused, match="results that are final"):
        batches.reopen_batch(batch=batch, by=world.mara, now=SOON)


def test_a_manager_reopens_a_batch_from_its_page(world: World, batch: Batch) -> None:
    mara = browser(world.mara)
    assert "Reopen batch" in mara.get(reverse("batch", args=[batch.public_id])).content.decode()
    address = reverse("act_on_batches", args=[world.project.slug])
    form = {"batches": batch.public_id, "action": "reopen"}
    page = mara.post(address, form).content.decode()
    assert "Annotators get items again. Decisions stay." in page
    batch.refresh_from_db()
    assert batch.state == "closed"
    mara.post(address, {**form, "confirmed": "yes"})
    batch.refresh_from_db()
    assert batch.state == "open"
    assert "Reopen batch" not in mara.get(reverse("batch", args=[batch.public_id])).content.decode()
