"""The page at the end of a batch: what the person did, and the batch that comes next."""

from __future__ import annotations

from django.test import Client

from annotation.models import Assignment, Batch
from annotation.workflow import batches
from tests.annotation.cast import NOON, World, set_work


def end_of(world: World, client: Client, batch: Batch) -> str:
    """Ada's page once she has labelled every item of the batch."""
    for _ in range(batch.items_count):
        world.label(batch, "ada", "extraction")
    client.force_login(world.ada)
    return client.get(f"/batches/{batch.public_id}/annotate/").content.decode()


def test_the_next_batch_is_the_primary_action_and_has_the_focus(world: World, client: Client) -> None:
    done, following = world.batch(size=2), world.batch(size=3, name="Second day")
    page = end_of(world, client, done)
    primary = f'<a class="button primary" autofocus href="/batches/{following.public_id}/annotate/">Next: Second day'
    assert primary in page
    assert "3 items left for you" in page
    assert page.count("button primary") == 1


def test_a_batch_that_was_begun_comes_before_one_that_was_not(world: World, client: Client) -> None:
    done = world.batch(size=1)
    world.batch(size=2, name="Not begun")
    begun = world.batch(size=2, name="Begun")
    world.label(begun, "ada", "extraction")
    page = end_of(world, client, done)
    assert "Next: Begun" in page
    assert "1 item left for you" in page


def test_batches_without_items_for_the_person_are_not_offered(world: World, client: Client) -> None:
    done, paused = world.batch(size=1), world.batch(size=2, name="Paused")
    batches.pause_batch(batch=paused, by=world.mara, now=NOON)
    finished = world.batch(size=1, name="Finished")
    world.label(finished, "ada", "extraction")
    world.batch(size=2, name="Planned", open=False)
    entry = world.batch(size=1, name="Capped", caps={"items_per_day": 1})
    world.label(entry, "ada", "extraction")
    page = end_of(world, client, done)
    assert "Next:" not in page
    assert '<a class="button primary" autofocus href="/work/">' in page


def test_the_summary_has_items_and_minutes(world: World, client: Client) -> None:
    done = world.batch(size=2)
    for _ in range(2):
        world.label(done, "ada", "extraction")
    set_work(Assignment.objects.filter(batch=done), seconds=95)
    client.force_login(world.ada)
    page = client.get(f"/batches/{done.public_id}/annotate/").content.decode()
    assert "Thank you for your work." in page
    assert "<dt>submitted by you</dt><dd>2</dd>" in page
    assert "<dt>your time</dt><dd>3 <small>min</small></dd>" in page
