"""My work: what one answered stands there to read, and only what can still be changed has a button for it."""

from __future__ import annotations

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.accounts import draft_text
from annotation.models import Assignment, RevisionRequest
from annotation.queue import resolutions
from annotation.web.views import pages
from annotation.workflow import adjudication, assignments, automatic_decisions, batches
from tableqa import Example, Table
from tasks.contract import Item, task_types
from tests.annotation.cast import World, envelope, set_work

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

    automatic_decisions.resolve_batch(batch=batch, now=timezone.now() + timedelta(minutes=2))

    said = page(client, world, "ada")
    assert WITHDRAW not in said
    assert said.count("Final: the item is decided or released.") == 2


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
    automatic_decisions.resolve_due(now=later)
    assert page(client, world, "ada").count(WITHDRAW) == 2
    mine = Assignment.objects.select_related("annotation").filter(person=world.ada).first()
    assert mine is not None
    assert mine.annotation is not None
    assignments.undo(annotation=mine.annotation, now=later)

    batches.close_batch(batch=batch, by=world.mara, now=later)
    automatic_decisions.resolve_due(now=later)

    assert batch.items.filter(decision__isnull=False).count() == 2
    assert "Final: the batch is closed." in page(client, world, "ada")


def test_what_was_sent_back_says_why(world: World, client: Client) -> None:
    batch = world.batch(size=1, overlap=2)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=timezone.now())
    item = resolutions.waiting(batch).get()
    adjudication.send_back(item=item, by=world.ivo, choose="A", note="Read rule 3 again.", now=timezone.now())
    whose = RevisionRequest.objects.get().assignment.person.name.lower()

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


def shown(client: Client, world: World, who: str, query: str) -> list[str]:
    """The questions that a filtered page lists."""
    client.force_login(world.people[who])
    answer = client.get(f"/work/?{query}")
    assert answer.status_code == 200
    return [assignment.item.example.question for assignment in answer.context["rows"]]


def test_questions_are_searched(world: World, client: Client) -> None:
    batch = world.batch(size=4, overlap=1)
    answer_all(world, batch, "ada")
    assert shown(client, world, "ada", "q=STALKER") == ["when did Stalker come out (2)?"]
    assert shown(client, world, "ada", "q=no+such+question") == []
    assert len(shown(client, world, "ada", "q=")) == 4


def test_a_search_with_a_nul_finds_as_if_it_were_not_there(world: World, client: Client) -> None:
    answer_all(world, world.batch(size=4, overlap=1), "ada")
    assert len(shown(client, world, "ada", "q=Stal%00ker&batch=%00")) == 1


def test_items_are_filtered_by_batch_and_state(world: World, client: Client) -> None:
    first, second = world.batch(size=2, overlap=1), world.batch(size=1, overlap=1)
    answer_all(world, first, "ada")
    held = world.take(second, "ada")
    assert held is not None

    assert len(shown(client, world, "ada", f"batch={first.public_id}")) == 2
    assert shown(client, world, "ada", "state=leased") == [held.item.example.question]
    assert shown(client, world, "ada", f"batch={first.public_id}&state=leased") == []
    assert shown(client, world, "ada", "batch=nowhere") == []


def test_the_pages_of_a_filtered_list_keep_the_filter(world: World, client: Client) -> None:
    batch = world.batch(size=4, overlap=1)
    answer_all(world, batch, "ada")
    with patch.object(pages.paginate, "__defaults__", ("page", 3)):
        client.force_login(world.ada)
        said = client.get(f"/work/?batch={batch.public_id}&q=come+out").content.decode()
    assert f"?q=come+out&amp;batch={batch.public_id}&amp;page=2" in said


def test_times_are_in_minutes(world: World, client: Client) -> None:
    batch = world.batch(size=1, overlap=1)
    answer_all(world, batch, "ada")
    set_work(Assignment.objects.all(), seconds=150)
    said = page(client, world, "ada")
    assert said.count(">2.5<") == 2  # of the item, and of the batch
    assert "Hours" not in said


def test_the_summary_leaves_out_batches_without_work(world: World, client: Client) -> None:
    batch = world.batch(size=1, overlap=1, name="Only opened")
    assert world.take(batch, "ada") is not None
    assert "Summary" not in page(client, world, "ada")
    Assignment.objects.update(active_seconds=90)
    assert "Summary" not in page(client, world, "ada"), "time at an item in progress counts when it ends"
    assignments.give_back(assignment=Assignment.objects.get(), now=timezone.now())
    assert "returns 1.5" in page(client, world, "ada")


def test_it_says_until_when_a_response_can_be_changed(world: World, client: Client) -> None:
    batch = world.batch(size=2, overlap=2)
    answer_all(world, batch, "ada")
    assert page(client, world, "ada").count("You can change it at least until") == 2
    Assignment.objects.update(ended_at=timezone.now() - timedelta(minutes=5))
    assert page(client, world, "ada").count("You can change it until the item is decided.") == 2


def test_a_kept_draft_is_in_words(world: World, client: Client) -> None:
    batch = world.batch("value_change", variant="answer_changes", size=1)
    held = world.take(batch, "ada")
    assert held is not None
    program = {"op": "lookup", "column": "c1", "where": []}
    cell = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "1996"}
    data = {
        "operations": [cell],
        "answers": ["1996"],
        "program": program,
        "reason": "It fits.",
        "unanswerable": True,
    }
    assignments.save_draft(assignment=held, revision=0, response=envelope(held, data), now=timezone.now())
    batches.close_batch(batch=batch, by=world.mara, now=timezone.now())

    said = page(client, world, "ada")

    assert "Answer: 1996" in said
    assert "Reason: It fits." in said
    assert "Unanswerable." in said
    assert "How the answer is worked out:" in said
    assert "&quot;op&quot;" not in said


@pytest.mark.parametrize(
    "value", ["text", 3, [1, 2], {"a": {"b": 1}}, [None], {"op": "no such operation"}, [[]], True]
)
def test_whatever_a_draft_holds_is_put_in_words(value: object) -> None:
    example = Example("x", "who?", Table(["Film", "Year"], [["Heat", "1995"]]), ["Heat"])
    for task in task_types().values():
        item = Item(example, next(iter(task.variants), ""), {}, {})
        words = draft_text.draft_in_words(task, {spec.name: value for spec in task.fields}, item)
        assert all("{" not in sentence and "[" not in sentence for sentence in words)
