"""Whoever submits in a session is loaded with what they submit, and a session that is over submits nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Annotation, Assignment, Person
from annotation.queue import reservations
from tests.annotation.cast import World

pytestmark = [pytest.mark.django_db, pytest.mark.both]

JSON = "application/json"


@pytest.fixture
def held(world: World) -> Assignment:
    found = reservations.next_assignment(
        batch=world.batch(overlap=2, size=3), person=world.people["ada"], now=timezone.now()
    )
    assert found is not None
    return found


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def submit(client: Client, assignment: Assignment) -> Any:
    plain, task = assignment.plain_item, assignment.batch.task()
    envelope = {"type": task.key, "variant": plain.variant, "version": task.version, "base": plain.base}
    response = {**envelope, "data": {"label": "reasoning"}}
    path = f"/api/assignments/{assignment.public_id}/submit/"
    return client.post(path, {"response": response, "next": True}, content_type=JSON)


def test_person_and_assignment_are_one_question_to_the_database(world: World, held: Assignment) -> None:
    client = signed_in(world.people["ada"])
    following = Assignment.objects.get(public_id=submit(client, held).json()["next"]["id"])
    assert following.plain_item.variant == ""  # loaded, so that only the request asks below
    with CaptureQueriesContext(connection) as asked:
        assert submit(client, following).status_code == 200
    sent = [query["sql"] for query in asked]
    begins = next(at for at, sql in enumerate(sent) if sql.startswith("SAVEPOINT"))
    assert begins == 1, sent[:begins]


def test_a_session_that_was_ended_submits_nothing(world: World, held: Assignment) -> None:
    client = signed_in(world.people["ada"])
    Person.objects.filter(pk=held.person_id).update(session_epoch=7)
    assert submit(client, held).status_code in (401, 403)
    assert not Annotation.objects.exists()


def test_an_account_that_was_closed_submits_nothing(world: World, held: Assignment) -> None:
    client = signed_in(world.people["ada"])
    Person.objects.filter(pk=held.person_id).update(is_active=False)
    assert submit(client, held).status_code in (401, 403)
    assert not Annotation.objects.exists()


def test_a_session_that_names_somebody_else_is_not_theirs(world: World, held: Assignment) -> None:
    client = signed_in(world.people["bo"])
    session = client.session
    session["_auth_user_id"] = str(held.person_id)
    session.save()
    client.cookies["sessionid"] = str(session.session_key)
    assert submit(client, held).status_code in (401, 403)
    assert not Annotation.objects.exists()


def test_somebody_elses_assignment_is_not_there(world: World, held: Assignment) -> None:
    assert submit(signed_in(world.people["bo"]), held).status_code == 404
    assert not Annotation.objects.exists()


def test_nobody_submits_without_a_session(world: World, held: Assignment) -> None:
    assert submit(Client(), held).status_code in (401, 403)
    assert not Annotation.objects.exists()
