"""A changed definition reaches every batch without responses, and nobody's work is lost on the way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from annotation.management import doctor
from annotation.models import Annotation, Batch, Draft, LabelImport
from annotation.quality import gold
from annotation.workflow import assignments, task_types
from tasks.contract import InvalidResponse
from tests.annotation.cast import NOON, World, envelope
from tests.annotation.test_defining import DEFINITION, EASY, HARD, PAGE, batch_of, define, manager, say

LOWER = {
    "fields": [
        {"name": "level", "type": "choice", "options": ["easy", "medium", "hard"]},
        {"name": "comment", "type": "text", "optional": True},
    ]
}


def test_an_open_batch_without_responses_takes_the_changed_definition(world: World) -> None:
    batch = batch_of(world, define(world))

    new = define(world, **LOWER)

    taken = Batch.objects.get(pk=batch.pk)
    assert (taken.state, taken.definition, taken.version) == ("open", new, 2)
    say(world, taken, "ada", {"level": "medium", "comment": ""})
    assert doctor.findings() == []


def test_a_response_to_the_older_form_is_refused_and_its_draft_is_kept(world: World) -> None:
    batch = batch_of(world, define(world))
    mine = world.take(batch, "ada")
    assert mine is not None
    written = envelope(mine, HARD)
    assignments.save_draft(assignment=mine, revision=0, response=written, now=NOON)
    define(world, **LOWER)

    with pytest.raises(InvalidResponse) as refused:
        assignments.submit(assignment=world.reload(mine), response=written, now=NOON)

    assert [problem.code for problem in refused.value.problems] == ["stale_version"]
    assert Draft.objects.get().response == written
    again = world.reload(mine)
    world.answer(again, {"level": "hard", "comment": ""})


def test_a_submission_on_its_way_does_not_store_the_older_version(world: World) -> None:
    batch = batch_of(world, define(world))
    loaded = world.take(batch, "ada")
    assert loaded is not None
    assert loaded.batch.task().version == 1
    define(world, **LOWER)

    with pytest.raises(InvalidResponse) as refused:
        assignments.submit(assignment=loaded, response=envelope(loaded, HARD), now=NOON)

    assert [problem.code for problem in refused.value.problems] == ["stale_version"]
    assert not Annotation.objects.exists()


def test_the_page_says_what_of_a_draft_does_not_fit_the_changed_form(world: World) -> None:
    batch = batch_of(world, define(world))
    mine = world.take(batch, "ada")
    assert mine is not None
    assignments.save_draft(assignment=mine, revision=0, response=envelope(mine, HARD), now=NOON)
    define(world, **LOWER)
    client = Client()
    client.force_login(world.ada)

    page = client.get(f"/batches/{batch.public_id}/annotate/?plain=1").content.decode()

    assert "The form has changed since you saved this draft." in page
    assert "reasons: long" in page


def test_a_plain_form_of_the_older_version_is_refused(world: World) -> None:
    batch = batch_of(world, define(world))
    mine = world.take(batch, "ada")
    assert mine is not None
    client = Client()
    client.force_login(world.ada)
    before = client.get(f"/batches/{batch.public_id}/annotate/").content.decode()
    assert '<input type="hidden" name="version" value="1">' in before
    define(world, **LOWER)

    sent = {"assignment": mine.public_id, "version": "1", "level": "hard", "action": "submit"}
    page = client.post(f"/batches/{batch.public_id}/annotate/", sent)

    assert "Reload the page, check what is new and submit again." in page.content.decode()
    assert not Annotation.objects.exists()


def test_batches_with_responses_or_gold_answers_keep_their_version(world: World) -> None:
    row = define(world)
    answered, golden = batch_of(world, row), batch_of(world, row, open=False)
    say(world, answered, "ada", EASY)
    item = golden.items.select_related("example").first()
    assert item is not None
    gold.set_gold(batch=golden, example=item.example, data=HARD, by=world.mara, now=NOON)

    define(world, **LOWER)

    assert {batch.version for batch in Batch.objects.all()} == {1}


def test_a_withdrawn_response_is_a_response(world: World) -> None:
    batch = batch_of(world, define(world))
    assignments.undo(annotation=say(world, batch, "ada", EASY), now=NOON)

    define(world, **LOWER)

    assert Batch.objects.get(pk=batch.pk).version == 1


def test_a_batch_keeps_its_version_while_labels_are_imported(world: World) -> None:
    batch = batch_of(world, define(world))
    LabelImport.objects.create(batch=batch, digest="0" * 64, started_at=NOON)

    define(world, **LOWER)

    assert Batch.objects.get(pk=batch.pk).version == 1


def test_a_batch_keeps_its_version_where_its_own_rule_does_not_fit_the_changed_field(world: World) -> None:
    batch = batch_of(world, define(world), resolve={"rule": "majority", "most": 5, "more_than": 0.5})
    scale = {"fields": [{"name": "level", "type": "scale"}], "agreement": {"level": ["alpha_ordinal"]}}

    define(world, **scale)

    assert Batch.objects.get(pk=batch.pk).version == 1


def save(client: Client, data: dict[str, Any]) -> Any:
    body = {"name": "table_complexity", "text": json.dumps(data), "save": "1"}
    return client.post(PAGE, body, follow=True).content.decode()


def test_saving_says_which_batches_keep_the_version_before_and_what_to_do(world: World) -> None:
    row = define(world)
    answered, fresh = batch_of(world, row), batch_of(world, row)
    say(world, answered, "ada", EASY)

    page = save(manager(world), {**DEFINITION, **LOWER})

    assert "Saved as version 2." in page
    assert f"These batches use it now: {fresh.name}." in page
    assert (
        f"These batches keep their version, because they have responses or gold answers: {answered.name}. "
        "Create a new batch to use version 2." in page
    )


def test_the_api_says_which_version_each_batch_has(world: World) -> None:
    row = define(world)
    answered, fresh = batch_of(world, row), batch_of(world, row)
    say(world, answered, "ada", EASY)
    define(world, **LOWER)

    (listed,) = manager(world).get("/api/projects/films/task-types/").json()

    assert [(one["id"], one["version"]) for one in listed["batches"]] == [
        (answered.public_id, 1),
        (fresh.public_id, 2),
    ]


def test_the_older_version_of_a_defining_race_is_never_in_use(world: World) -> None:
    """A definition that only open batches used is not left behind by a second change."""
    batch_of(world, define(world))
    define(world, **LOWER)

    third = define(world, title="Difficulty")

    assert (third.number, Batch.objects.get().version) == (3, 3)
    assert task_types.newest(world.project)["table_complexity"] == third
