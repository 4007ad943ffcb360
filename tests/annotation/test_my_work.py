"""My work: what one answered stands there to read, and only what can still be changed has a button for it."""

from __future__ import annotations

from datetime import timedelta

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.journeys import adjudicating, annotating, assigning
from annotation.models import Assignment, SentBack
from tests.annotation.cast import World

WITHDRAW = "Withdraw and change"


def page(client: Client, world: World, who: str) -> str:
    client.force_login(world.people[who])
    answer = client.get("/work/")
    assert answer.status_code == 200
    return answer.content.decode()


def answer_all(world: World, batch: object, *who: str) -> None:
    for name in who:
        while (assignment := world.take(batch, name)) is not None:  # type: ignore[arg-type]
            world.answer(assignment, {"label": "extraction"}, now=timezone.now())


def test_what_is_decided_has_no_button_that_can_only_fail(world: World, client: Client) -> None:
    batch = world.batch(size=2, overlap=1)
    answer_all(world, batch, "ada")
    assert page(client, world, "ada").count(WITHDRAW) == 2

    adjudicating.resolve_batch(batch=batch, now=timezone.now() + timedelta(minutes=2))

    said = page(client, world, "ada")
    assert WITHDRAW not in said
    assert said.count("final: decided or released") == 2


def test_what_one_answered_is_read_without_withdrawing_it(world: World, client: Client) -> None:
    batch = world.batch(size=1, overlap=1)
    answer_all(world, batch, "ada")
    assignment = Assignment.objects.get()
    assert assignment.annotation is not None
    task, item = batch.task(), assignment.item.plain()
    words = task.describe(task.read(assignment.annotation.response or {}, item), item)

    said = page(client, world, "ada")

    assert "Your response" in said
    assert all(word in said for word in words)
    assert Assignment.objects.get().state == "submitted"


def test_everything_can_be_changed_until_the_close_where_the_batch_decides_then(
    world: World, client: Client
) -> None:
    batch = world.batch(size=2, overlap=2, decide_at_close=True)
    answer_all(world, batch, "ada", "bo")
    later = timezone.now() + timedelta(hours=1)
    adjudicating.resolve_due(now=later)
    assert page(client, world, "ada").count(WITHDRAW) == 2
    mine = Assignment.objects.select_related("annotation").filter(person=world.ada).first()
    assert mine is not None
    assert mine.annotation is not None
    annotating.undo(annotation=mine.annotation, now=later)

    assigning.close_batch(batch=batch, by=world.mara, now=later)
    adjudicating.resolve_due(now=later)

    assert batch.items.filter(decision__isnull=False).count() == 2
    assert "final: batch closed" in page(client, world, "ada")


def test_what_was_sent_back_says_why(world: World, client: Client) -> None:
    batch = world.batch(size=1, overlap=2)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    adjudicating.resolve_batch(batch=batch, now=timezone.now())
    item = adjudicating.waiting(batch).get()
    adjudicating.send_back(item=item, by=world.ivo, choose="A", note="Read rule 3 again.", now=timezone.now())
    whose = SentBack.objects.get().assignment.person.name.lower()

    assert "Read rule 3 again." in page(client, world, whose)
    assert "Read rule 3 again." not in page(client, world, "cy")


def test_the_page_asks_as_much_for_many_items_as_for_few(world: World, client: Client) -> None:
    few = world.batch(size=1, overlap=1)
    answer_all(world, few, "ada")
    page(client, world, "ada")
    with CaptureQueriesContext(
        connection,
    ) as first:
        client.get("/work/")
    many = world.batch(size=4, overlap=2)
    answer_all(world, many, "ada")
    with CaptureQueriesContext(connection) as second:
        client.get("/work/")

    assert len(second) <= len(first) + 1
