"""Whose work an adjudicator's own response is: whoever it was begun from, and whoever it has a piece in common with."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.models import Assignment, Batch, Exclusion, Item, Person
from annotation.queue import candidates as queue_candidates
from annotation.queue import resolutions
from annotation.releases import creation, verification
from annotation.workflow import adjudication, automatic_decisions, batches
from tests.annotation.cast import NOON, World, envelope

LATER = NOON + timedelta(hours=1)
OPS = {
    "ada": {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "1996"},
    "bo": {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "1990"},
    "own": {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": "2001"},
}


def data(who: str, **more: Any) -> dict[str, Any]:
    operation = OPS[who]
    return {"operations": [operation], "answers": [operation["new"]], "reason": f"So says {who}."} | more


@pytest.fixture
def edits(world: World) -> Batch:
    """Ada and Bo edited one item differently, and it waits; a batch of checks is fed by it."""
    batch = world.batch(
        "value_change", variant="answer_changes", overlap=2, size=1, resolve={"rule": "unanimous"}
    )
    for who in ("ada", "bo"):
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(assignment, data(who))
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    world.batch("answer_check", sources=[], feeds_from=batch, name="checks")
    return batch


def barred(world: World) -> set[str]:
    item = Item.objects.get(batch__name="checks")
    people = set(Exclusion.objects.filter(item=item).values_list("person_id", flat=True))
    return {name for name, person in world.people.items() if person.pk in people}


def decide(world: World, batch: Batch, said: dict[str, Any], **more: Any) -> Item:
    item = resolutions.waiting(batch).get()
    response = envelope(
        Assignment.objects.filter(item=item).select_related("batch", "item__example")[0], said
    )
    adjudication.decide(item=item, by=world.ivo, note="Better so.", response=response, now=LATER, **more)
    return item


def letter_of(batch: Batch, person: Person) -> str:
    candidates = queue_candidates.of_item(resolutions.waiting(batch).get())
    return next(one.letter for one in candidates if one.annotation.assignment.person_id == person.pk)


def test_whose_operation_an_adjudicator_keeps_does_not_check_the_answer(world: World, edits: Batch) -> None:
    decide(world, edits, data("ada", answers=["nineteen ninety-six"], reason="Mine."))

    assert barred(world) == {"ada", "ivo"}


def test_where_an_operation_was_shown_makes_no_other_of_it(world: World, edits: Batch) -> None:
    """The page says so, files and programs need not."""
    said = data("ada", answers=["nineteen ninety-six"], reason="Mine.")
    said["operations"] = [
        {key: value for key, value in one.items() if key != "at"} for one in said["operations"]
    ]
    decide(world, edits, said)

    assert barred(world) == {"ada", "ivo"}


def test_whose_response_an_adjudicator_began_from_does_not_check_the_answer(
    world: World, edits: Batch
) -> None:
    decide(world, edits, data("own"), based_on=[letter_of(edits, world.bo)])

    assert barred(world) == {"bo", "ivo"}


def test_a_response_of_an_adjudicators_own_bars_nobody_else(world: World, edits: Batch) -> None:
    decide(world, edits, data("own"))

    assert barred(world) == {"ivo"}


def test_the_page_says_whose_response_it_began_from(world: World, edits: Batch, client: Client) -> None:
    letter = letter_of(edits, world.ada)
    item = resolutions.waiting(edits).get()
    client.force_login(world.ivo)

    answer = client.post(
        f"/items/{item.public_id}/adjudicate/own/?from={letter}",
        {"action": "submit", "note": "Better so.", "response": json.dumps({"data": data("own")})},
    )

    assert answer.status_code == 302, answer.content.decode()[:3000]
    assert barred(world) == {"ada", "ivo"}


def test_a_release_says_which_responses_it_rests_on_and_verifies(
    world: World, edits: Batch, tmp_path: Path
) -> None:
    decide(world, edits, data("ada", reason="Mine."))
    for batch in Batch.objects.all():
        batches.close_batch(batch=batch, by=world.mara, now=LATER)
        automatic_decisions.resolve_batch(batch=batch, now=LATER)
    out = tmp_path / "out"

    creation.make_release(
        project=world.project, name="first", format="askew", by=world.rea, now=LATER, out=out
    )

    verification.verify(out)
    (said,) = [json.loads(line) for line in (out / "decisions.jsonl").read_text().splitlines()]
    ada = Assignment.objects.get(batch=edits, person=world.ada)
    assert ada.annotation is not None
    assert said["based_on"] == [ada.annotation.public_id]
