"""A manager's answer reaches the person who asked: a badge in the header, beside the next item of that batch, on My work."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.management import doctor
from annotation.models import Batch, Inquiry, Person
from annotation.quality import annotator_questions
from annotation.workflow import assignments
from tests.annotation.cast import NOON, World

HREF = 'class="badge" href="/projects/films/inquiries/"'


def client_of(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


@pytest.fixture
def batch(world: World) -> Batch:
    return world.batch(overlap=2)


@pytest.fixture
def inquiry(world: World, batch: Batch) -> Inquiry:
    """Ada asked while she had an item before her, and Mara answered."""
    held = world.take(batch, "ada")
    assert held is not None
    asked = annotator_questions.ask(
        project=world.project, person=world.ada, text="Do totals count?", assignment=held, now=NOON
    )
    annotator_questions.answer(inquiry=asked, text="They do, <b>always</b>.", by=world.mara, now=NOON)
    return asked


def test_it_is_a_badge_beside_the_item_and_on_my_work_until_it_is_read(
    world: World, batch: Batch, inquiry: Inquiry
) -> None:
    client = client_of(world.ada)
    home = client.get("/")
    assert HREF in home.content.decode()
    assert "1 new answer" in text(home)

    work = client.get(reverse("annotate", args=[batch.public_id]))
    assert HREF in work.content.decode()
    assert "Answer to your question “Do totals count?”: They do, &lt;b&gt;always&lt;/b&gt;." in text(work)

    page = client.get(reverse("inquiries", args=["films"]))
    assert "new They do" in text(page)
    assert HREF not in page.content.decode()
    for address in ("/", reverse("my_work"), reverse("annotate", args=[batch.public_id])):
        page = client.get(address)
        assert HREF not in page.content.decode(), address
        assert "Do totals count?" not in text(page), address
    assert "new They do" not in text(client.get(reverse("inquiries", args=["films"])))
    assert list(doctor.findings()) == []


def test_my_work_shows_it_once_and_then_it_is_read(world: World, inquiry: Inquiry) -> None:
    client = client_of(world.ada)
    page = client.get(reverse("my_work"))
    assert "Answers to your questions Do totals count? They do, &lt;b&gt;always&lt;/b&gt;." in text(page)
    assert HREF not in page.content.decode()
    assert "Do totals count?" not in text(client.get(reverse("my_work")))


def test_who_was_shown_an_answer_beside_an_item_marks_it_as_read(
    world: World, batch: Batch, inquiry: Inquiry
) -> None:
    client = client_of(world.ada)
    address = reverse("api_read_answers", args=[batch.public_id])
    unknown = client.post(address, {"answers": ["nothing"]}, content_type="application/json")
    assert unknown.json() == {"unread": 1}
    read = client.post(address, {"answers": [inquiry.public_id]}, content_type="application/json")
    assert read.json() == {"unread": 0}
    assert HREF not in client.get("/").content.decode()


def test_it_comes_with_the_next_item_through_the_interface_and_of_that_batch_alone(
    world: World, batch: Batch, inquiry: Inquiry
) -> None:
    other = world.batch(overlap=1)
    client = client_of(world.ada)

    found = client.post(f"/api/batches/{batch.public_id}/next/", {}, content_type="application/json").json()
    elsewhere = client.post(
        f"/api/batches/{other.public_id}/next/", {}, content_type="application/json"
    ).json()

    assert found["answers"] == [
        {
            "id": inquiry.public_id,
            "question": "Do totals count?",
            "answer": "They do, <b>always</b>.",
            "is_whole": True,
        }
    ]
    assert elsewhere["answers"] == []


def test_it_comes_with_the_sign_of_life_of_a_page_that_is_open(
    world: World, batch: Batch, inquiry: Inquiry
) -> None:
    client = client_of(world.ada)
    held = inquiry.assignment
    assert held is not None
    ping = reverse("api_ping", args=[held.public_id])

    assert [one["question"] for one in client.post(ping).json()["answers"]] == ["Do totals count?"]
    client.get(reverse("inquiries", args=["films"]))
    assert client.post(ping).json()["answers"] == []


def test_it_is_for_whoever_asked_and_nobody_else(world: World, batch: Batch, inquiry: Inquiry) -> None:
    for who in (world.bo, world.mara):
        assert HREF not in client_of(who).get("/").content.decode()
    client_of(world.bo).get(reverse("inquiries", args=["films"]))
    assert HREF in client_of(world.ada).get("/").content.decode()


def test_an_answer_that_is_changed_is_new_again(world: World, batch: Batch, inquiry: Inquiry) -> None:
    client = client_of(world.ada)
    client.get(reverse("inquiries", args=["films"]))

    annotator_questions.answer(inquiry=inquiry, text="Only the last one.", by=world.mara, now=NOON)

    assert HREF in client.get("/").content.decode()


def test_where_nothing_is_unread_the_next_item_costs_no_statement_more(
    world: World, batch: Batch, django_assert_num_queries: Any
) -> None:
    held = world.take(batch, "bo")
    assert held is not None
    with django_assert_num_queries(0):
        assert assignments.payload(held)["answers"] == []


def test_the_doctor_recounts(world: World, batch: Batch, inquiry: Inquiry) -> None:
    Person.objects.filter(pk=world.ada.pk).update(unread_answers=3)

    assert list(doctor.findings()) == [f"person {world.ada.pk}: unread_answers is 3, not 1"]
