"""Examples of earlier work: what they may show to whom. Blindness comes first."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.access.visibility import shown_as_examples
from annotation.accounts.worked_examples import worked_examples
from annotation.models import Batch, Outcome
from annotation.queue import resolutions
from annotation.workflow import adjudication, automatic_decisions, batches
from tableqa import Example, Table
from tests.annotation.cast import NOON, World
from tests.annotation.test_gold import examples, mark, small
from tests.annotation.test_qualification_journey import text
from tests.annotation.test_releasing import LATER

OTHER = Example(
    "cities", "Which city is largest?", Table(["City", "People"], [["Oslo", "7"], ["Bergen", "3"]]), ["Oslo"]
)


def closed(world: World, **more: object) -> Batch:
    """A closed batch in which Bo and Cy agreed about every item."""
    batch = world.batch(**{"size": 3, "overlap": 2, **more})  # type: ignore[arg-type]
    for who in ("bo", "cy"):
        while (assignment := world.take(batch, who)) is not None:
            world.answer(assignment, {"label": "extraction"})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    return batch


def elsewhere(world: World, **more: object) -> Batch:
    """An open batch on another table."""
    return world.batch(**{"sources": [world.import_written(OTHER)], **more})  # type: ignore[arg-type]


def kinds(batch: Batch, world: World, who: str = "ada") -> list[str]:
    return [example.kind for example in worked_examples(batch, world.people[who])]


def test_two_accepted_responses_of_a_closed_batch_are_shown_without_names(
    world: World, client: Client
) -> None:
    closed(world)
    batch = elsewhere(world)
    client.force_login(world.ada)

    told = client.get(f"/api/batches/{batch.public_id}/examples/").json()["examples"]

    assert [one["kind"] for one in told] == ["accepted", "accepted"]
    assert set(told[0]) == {"kind", "question", "words", "reason", "is_own"}
    assert not any(one["is_own"] for one in told)
    assert not {"Bo", "Cy"} & set(str(told).split())


def test_nothing_of_an_open_batch_is_shown(world: World) -> None:
    batch = world.batch(size=2, overlap=1)
    world.label(batch, "bo", "extraction")
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    assert Outcome.objects.exists()
    assert not shown_as_examples(batch).exists()
    assert set(kinds(elsewhere(world), world)) == {"practice"}


@pytest.mark.parametrize("state", ["open", "planned", "paused"])
def test_nothing_on_a_table_of_an_item_that_somebody_may_still_get_is_shown(world: World, state: str) -> None:
    closed(world)
    batch = elsewhere(world)
    assert kinds(batch, world) == ["accepted", "accepted"]

    same = world.batch("relevant_cells", size=1, open=state != "planned", name="same table")
    if state == "paused":
        batches.pause_batch(batch=same, by=world.mara, now=NOON)

    assert set(kinds(batch, world)) == {"practice"}
    if state != "planned":
        batches.close_batch(batch=same, by=world.mara, now=NOON)
        assert kinds(batch, world) == ["accepted", "accepted"]


def test_an_edit_is_not_shown_while_somebody_may_get_the_edited_example(world: World) -> None:
    cell = {"op": "set_cell", "row": "r1", "column": "c2", "at": [1, 2], "old": "117", "new": "118"}
    edits = world.batch("value_change", variant="answer_stays", only=["nu-0"], overlap=1)
    assignment = world.take(edits, "bo")
    assert assignment is not None
    world.answer(assignment, {"unanswerable": False, "operations": [cell], "answers": [], "reason": ""})
    batches.close_batch(batch=edits, by=world.mara, now=LATER)
    automatic_decisions.resolve_batch(batch=edits, now=LATER)
    assert Outcome.objects.filter(decision__item__batch=edits).exists()
    assert shown_as_examples(edits).exists()

    world.batch("answer_check", sources=[], feeds_from=edits, overlap=1)

    assert not shown_as_examples(edits).exists()


def test_gold_is_never_an_example(world: World) -> None:
    batch = small(world, gold_percent=50, overlap=1)
    for example in examples(world)[2:]:
        mark(world, batch, example)
    for who in ("bo", "cy"):
        while (assignment := world.take(batch, who)) is not None:
            world.answer(assignment, {"label": "extraction"})
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    batches.close_batch(batch=batch, by=world.mara, now=LATER)
    assert not shown_as_examples(batch).filter(is_gold=True).exists()


def test_a_batch_that_is_set_aside_and_another_task_type_give_none(world: World) -> None:
    batch = closed(world)
    assert shown_as_examples(batch).exists()
    Batch.objects.filter(pk=batch.pk).update(set_aside_at=NOON)
    assert not shown_as_examples(batch).exists()
    Batch.objects.filter(pk=batch.pk).update(set_aside_at=None)
    assert not shown_as_examples(elsewhere(world, kind="relevant_cells")).exists()


def test_own_work_comes_first(world: World) -> None:
    closed(world, only=["nu-0", "nu-1"])
    again = world.batch(only=["nu-2"], overlap=1)
    world.label(again, "ada", "extraction")
    automatic_decisions.resolve_batch(batch=again, now=LATER)
    batches.close_batch(batch=again, by=world.mara, now=LATER)
    found = worked_examples(elsewhere(world), world.ada)
    assert [(one.kind, one.is_own) for one in found] == [("accepted", True), ("accepted", False)]


def sent_back(world: World, note: str = "Read rule 3 again.") -> tuple[Batch, str]:
    """An item of an open batch that was sent back to one of two people; returns their name too."""
    batch = world.batch(size=1, overlap=2)
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    item = resolutions.waiting(batch).get()
    back = adjudication.send_back(item=item, by=world.ivo, choose="A", note=note, now=LATER)
    return batch, back.assignment.person.name.lower()


def test_what_was_sent_back_to_oneself_is_shown_with_its_reason_and_to_nobody_else(world: World) -> None:
    batch, author = sent_back(world)
    other = "bo" if author == "ada" else "ada"

    (example,) = [one for one in worked_examples(batch, world.people[author]) if one.kind == "sent_back"]

    assert (example.reason, example.is_own) == ("Read rule 3 again.", True)
    for who in (other, "cy"):
        assert "sent_back" not in kinds(batch, world, who)


def test_the_page_without_scripts_has_the_same_examples(world: World, client: Client) -> None:
    closed(world)
    batch = elsewhere(world)
    client.force_login(world.ada)
    page = client.get(f"/batches/{batch.public_id}/worked-examples/")
    assert text(page).count("Accepted") == 2
    held = world.take(batch, "ada")
    assert held is not None
    form = {
        "assignment": held.public_id,
        "base": held.plain_item.base,
        "label": "reasoning",
        "action": "examples",
    }
    answer = client.post(f"/batches/{batch.public_id}/annotate/", form)
    assert answer["Location"] == f"/batches/{batch.public_id}/worked-examples/"
    assert world.reload(held).draft.response["data"] == {"label": "reasoning"}


def test_practice_fills_what_is_missing(world: World) -> None:
    found = worked_examples(elsewhere(world), world.ada)
    assert [one.kind for one in found] == ["practice", "practice"]
    assert all(one.reason and one.words for one in found)
