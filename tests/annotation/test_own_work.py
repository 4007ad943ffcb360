"""Looking back: the last items of a batch with the given response, and until when each can be changed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.accounts import own_work
from annotation.models import Assignment, Batch
from annotation.workflow import assignments, automatic_decisions, batches
from tests.annotation.cast import World
from tests.annotation.test_release_preflight import edited


def history(client: Client, world: World, batch: Batch, who: str = "ada") -> list[dict[str, object]]:
    client.force_login(world.people[who])
    answer = client.get(f"/api/batches/{batch.public_id}/history/")
    assert answer.status_code == 200
    items: list[dict[str, object]] = answer.json()["items"]
    return items


def submit(world: World, batch: Batch, who: str, label: str = "extraction") -> Assignment:
    assignment = world.take(batch, who)
    assert assignment is not None
    world.answer(assignment, {"label": label}, now=timezone.now())
    return world.reload(assignment)


def test_the_last_items_come_newest_first_with_the_response_in_short(world: World, client: Client) -> None:
    batch, other = world.batch(size=3), world.batch(size=1)
    first, second = submit(world, batch, "ada"), submit(world, batch, "ada", "reasoning")
    submit(world, other, "ada")
    submit(world, batch, "bo")

    items = history(client, world, batch)

    assert [item["id"] for item in items] == [second.public_id, first.public_id]
    assert [item["question"] for item in items] == [second.item.example.question, first.item.example.question]
    assert [item["summary"] for item in items] == [
        "Reasoning",
        "Extraction",
    ]  # the options, not their sentences
    assert all(item["can_change"] for item in items)


def test_a_skipped_item_is_listed_with_its_reason_and_cannot_be_changed(world: World, client: Client) -> None:
    batch = world.batch(size=2)
    assignment = world.take(batch, "ada")
    assert assignment is not None
    assignments.skip(assignment=assignment, reason="The table is damaged.", now=timezone.now())

    (item,) = history(client, world, batch)

    assert item["state"] == "skipped"
    assert item["summary"] == "Skipped: The table is damaged."
    assert not item["can_change"]


def test_a_closed_batch_leaves_the_responses_to_be_read(world: World, client: Client) -> None:
    batch = world.batch(size=1)
    submitted = submit(world, batch, "ada")
    batches.close_batch(batch=batch, by=world.mara, now=timezone.now())

    (item,) = history(client, world, batch)

    assert not item["can_change"]
    assert item["note"] == "Final: the batch is closed."
    shown = client.get(f"/api/assignments/{submitted.public_id}/response/").json()
    assert shown["response"]["data"] == {"label": "extraction"}
    assert shown["shows"]["question"] == submitted.item.example.question


def test_a_past_response_is_only_for_its_author(world: World, client: Client) -> None:
    batch = world.batch(size=1)
    submitted = submit(world, batch, "ada")
    client.force_login(world.bo)
    assert client.get(f"/api/assignments/{submitted.public_id}/response/").status_code == 404
    assert client.get(f"/api/batches/{batch.public_id}/history/").json() == {"items": []}


def test_an_item_that_is_not_submitted_has_no_past_response(world: World, client: Client) -> None:
    held = world.take(world.batch(size=1), "ada")
    assert held is not None
    client.force_login(world.ada)
    assert client.get(f"/api/assignments/{held.public_id}/response/").status_code == 404


def test_who_checks_an_answer_reads_no_comparison_with_the_hidden_one(world: World, client: Client) -> None:
    batch = world.batch("answer_check", sources=[], feeds_from=edited(world))
    assignment = world.take(batch, "bo")
    assert assignment is not None
    hidden = assignment.item.example.answers[0]
    world.answer(assignment, {"answers": ["no such answer"], "unanswerable": False}, now=timezone.now())

    (item,) = history(client, world, batch, "bo")
    past = client.get(f"/api/assignments/{assignment.public_id}/response/").json()
    page = client.get("/work/").content.decode()

    assert "no such answer" in str(item["summary"])
    assert past["words"] == ["Answer: no such answer"]
    assert hidden not in str({**past, "shows": None})
    assert "Compared with the given answer" not in page


@pytest.mark.parametrize("more", [{}, {"decide_at_close": True}])
def test_gold_can_be_changed_as_long_as_the_notes_of_other_items_say(
    world: World, more: dict[str, Any]
) -> None:
    batch = world.batch(size=2, overlap=2, **more)
    ordinary = submit(world, batch, "ada")
    hidden = submit(world, batch, "ada")
    now = timezone.now()
    for later in (now, now + timedelta(minutes=5)):
        before = own_work.past_items([ordinary, hidden], now=later)
        hidden.item.is_gold = True
        after = own_work.past_items([ordinary, hidden], now=later)
        hidden.item.is_gold = False
        assert [past.note[:30] for past in before] == [past.note[:30] for past in after]


def test_a_decided_item_is_final(world: World, client: Client) -> None:
    batch = world.batch(size=1, overlap=1)
    submit(world, batch, "ada")
    automatic_decisions.resolve_batch(batch=batch, now=timezone.now() + timedelta(minutes=2))
    (item,) = history(client, world, batch)
    assert (item["can_change"], item["note"]) == (False, "Final: the item is decided or released.")


def test_twenty_items_take_as_many_statements_as_one(world: World, client: Client) -> None:
    batch = world.batch(size=4)
    submit(world, batch, "ada")
    history(client, world, batch)
    with CaptureQueriesContext(connection) as one:
        history(client, world, batch)
    for _ in range(3):
        submit(world, batch, "ada")
    with CaptureQueriesContext(connection) as many:
        history(client, world, batch)
    assert len(many) <= len(one) + 1
