"""Somebody leaves a project, or annotates there no more: what was kept for them, what they are told, what they still see."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.access.roles import Role
from annotation.accounts import crowd_entry
from annotation.models import Assignment, Batch, Event, Membership, Person, Slot
from annotation.platform.refusals import ActionRefused
from annotation.queue import allocation
from annotation.workflow import projects
from tests.annotation.cast import NOON, World, envelope, make_world


def client_of(person: Person) -> Client:
    client = Client()
    client.force_login(Person.objects.get(pk=person.pk))
    return client


def member(world: World, who: str) -> Membership:
    return Membership.objects.get(project=world.project, person=world.people[who])


def done_by(world: World, batch: Batch, who: str) -> int:
    number = 0
    while taken := world.take(batch, who):
        world.answer(taken, {"label": "reasoning"})
        number += 1
    return number


@pytest.fixture
def split(db: None, tmp_path: Any) -> tuple[World, Batch]:
    """Nine items in fixed shares of three."""
    world = make_world(tmp_path, questions=9)
    return world, world.batch(strategy="split", overlap=1)


# -- what was kept for them -------------------------------------------------------------------------


def test_the_share_of_somebody_who_is_removed_is_for_whoever_comes_next(split: tuple[World, Batch]) -> None:
    world, batch = split
    assert world.take(batch, "ada") is not None  # one on the desk, two kept

    assert projects.remove_member(membership=member(world, "ada"), by=world.mara, now=NOON) == 2

    assert allocation.reserved_counts([batch]).get((batch.pk, world.ada.pk)) is None
    assert done_by(world, batch, "bo") + done_by(world, batch, "cy") == 9
    assert Event.objects.filter(thing="place", after="open", actor=world.mara).count() == 2


def test_so_is_the_share_of_somebody_who_annotates_no_more(split: tuple[World, Batch]) -> None:
    world, batch = split

    freed = projects.change_roles(
        membership=member(world, "ada"), roles=[Role.VIEWER], by=world.mara, now=NOON
    )

    assert freed == 3
    assert done_by(world, batch, "bo") + done_by(world, batch, "cy") == 9


def test_another_role_beside_leaves_the_share_alone(split: tuple[World, Batch]) -> None:
    world, batch = split

    both = [Role.ANNOTATOR, Role.VIEWER]
    assert projects.change_roles(membership=member(world, "ada"), roles=both, by=world.mara, now=NOON) == 0

    assert allocation.reserved_counts([batch])[batch.pk, world.ada.pk] == 3


def test_the_page_says_how_many_items_become_free(split: tuple[World, Batch]) -> None:
    world, _ = split
    address = reverse("remove_member", args=[member(world, "ada").pk])
    mara = client_of(world.mara)

    page = mara.get(address).content.decode()
    assert ">3</a> items reserved for them become available to other annotators." in page
    page = mara.post(address, follow=True).content.decode()

    assert "3 reserved items are available again." in page
    assert not Slot.objects.filter(reserved_for=world.ada).exists()


# -- what they are told -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        (
            "removed",
            (
                "You are no longer a member of this project. Your saved work is kept. Ask a manager if you "
                "need access."
            ),
        ),
        (
            "viewer",
            (
                "You are no longer an annotator in this project. Your saved work is kept. Ask a manager if "
                "you need access."
            ),
        ),
    ],
)
def test_an_open_page_says_that_they_have_left_and_not_that_they_are_signed_out(
    world: World, ends: str, words: str
) -> None:
    batch = world.batch()
    done = world.label(batch, "ada", "reasoning")
    taken = world.take(batch, "ada")
    assert taken is not None
    client = client_of(world.ada)
    if ends == "removed":
        projects.remove_member(membership=member(world, "ada"), by=world.mara, now=NOON)
    else:
        projects.change_roles(membership=member(world, "ada"), roles=[Role.VIEWER], by=world.mara, now=NOON)

    response = envelope(taken, {"label": "reasoning"})
    for method, address, body in (
        ("post", f"assignments/{taken.public_id}/submit/", {"response": response}),
        ("put", f"assignments/{taken.public_id}/draft/", {"revision": 0, "response": response}),
        ("post", f"assignments/{taken.public_id}/ping/", {}),
        ("post", f"annotations/{done.public_id}/undo/", {}),
    ):
        answer = getattr(client, method)(f"/api/{address}", json.dumps(body), content_type="application/json")
        assert (answer.status_code, answer.json()["code"], answer.json()["detail"]) == (
            409,
            "no_member",
            words,
        )


def test_nobody_elses_assignment_is_any_more_than_nothing(world: World) -> None:
    taken = world.take(world.batch(), "ada")
    assert taken is not None
    projects.remove_member(membership=member(world, "bo"), by=world.mara, now=NOON)

    answer = client_of(world.bo).post(f"/api/assignments/{taken.public_id}/ping/")

    assert answer.status_code == 404


def test_the_pages_say_so_too(world: World) -> None:
    batch = world.batch()
    taken = world.take(batch, "ada")
    assert taken is not None
    client = client_of(world.ada)
    projects.remove_member(membership=member(world, "ada"), by=world.mara, now=NOON)

    for page in (
        client.get(f"/batches/{batch.public_id}/annotate/", follow=True),
        client.post(f"/work/{taken.public_id}/", follow=True),
    ):
        assert "You are no longer a member of this project." in page.content.decode()
    assert client_of(world.zoe).get(f"/batches/{batch.public_id}/annotate/").status_code == 404
    assert Assignment.objects.get(pk=taken.pk).state == Assignment.State.RETURNED


# -- what they still see ----------------------------------------------------------------------------


def test_my_work_lists_what_they_did_and_earned_and_opens_nothing(world: World) -> None:
    projects.change_terms(
        project=world.project, pay={"currency": "EUR", "per_item": 0.5}, caps={}, by=world.mara, now=NOON
    )
    batch = world.batch()
    world.label(batch, "ada", "reasoning")
    assert world.take(batch, "ada") is not None
    projects.remove_member(membership=member(world, "ada"), by=world.mara, now=NOON)

    page = client_of(world.ada).get("/work/").content.decode()

    assert batch.name in page
    assert "submitted" in page
    assert "0.50 EUR" in page
    assert "Withdraw and change" not in page
    assert 'action="/work/' not in page


# -- the crowd --------------------------------------------------------------------------------------


def test_somebody_of_the_crowd_who_was_removed_is_told_so(world: World) -> None:
    link = crowd_entry.make_link(
        project=world.project,
        name="Prolific",
        parameters={"person": "PROLIFIC_PID", "study": "STUDY_ID", "session": "SESSION_ID"},
        completion_code="DONE1",
        screen_out_code="OUT1",
        by=world.mara,
        now=timezone.now(),
        expires_at=timezone.now() + timedelta(days=3),
    )
    ids = crowd_entry.Ids(person="5f1a")
    person = crowd_entry.enter(link=link, ids=ids, person=None, now=timezone.now())
    gone = Membership.objects.get(person=person)
    projects.remove_member(membership=gone, by=world.mara, now=timezone.now())

    for who in (None, person):
        with pytest.raises(
            ActionRefused, match="The researchers have ended your part in this study"
        ) as error:
            crowd_entry.enter(link=link, ids=ids, person=who, now=timezone.now())
        assert error.value.code == "no_member"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", ["remove", "demote"])
def test_two_managers_who_send_each_other_away_at_once_leave_one(tmp_path: Path, act: str) -> None:
    world = make_world(tmp_path)
    projects.change_roles(
        membership=member(world, "rea"), roles=[Role.MANAGER, Role.RESEARCHER], by=world.mara, now=NOON
    )
    ready, said = threading.Barrier(2), []

    def send_away(who: str, by: str) -> None:
        try:
            membership = member(world, who)
            ready.wait(30)
            if act == "remove":
                projects.remove_member(membership=membership, by=world.people[by], now=NOON)
            else:
                projects.change_roles(
                    membership=membership, roles=[Role.ANNOTATOR], by=world.people[by], now=NOON
                )
            said.append("done")
        except ActionRefused as refused:
            said.append(refused.code)
        finally:
            connection.close()

    both = [threading.Thread(target=send_away, args=pair) for pair in (("mara", "rea"), ("rea", "mara"))]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join(60)

    assert sorted(said) == ["done", "still_involved"]
    left = Membership.objects.filter(removed_at__isnull=True, roles__icontains=Role.MANAGER.value)
    assert left.count() == 1
