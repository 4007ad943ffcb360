"""What was made under which version of the guidelines: the one that its person had before them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.access.authorization import Actor
from annotation.accounts import item_history
from annotation.models import Annotation, Assignment, Batch, Guidelines
from annotation.quality import guidelines
from annotation.workflow import assignments
from tasks.contract import task_type
from tests.annotation.cast import NOON, World, envelope
from tests.annotation.plain_page import PlainPage

LATER = NOON + timedelta(hours=1)
NEW = "New rule: superlatives are extraction."


def _text(world: World, batch: Batch) -> str:
    newest = guidelines.newest(world.project, batch.task())
    return newest.text if newest else batch.task().guidelines()


def rewrite(world: World, batch: Batch) -> Guidelines:
    text = _text(world, batch) + f"\n\n{NEW}\n"
    now = timezone.now() if batch.opened_at != NOON else LATER
    return guidelines.revise(project=world.project, task=batch.task(), text=text, person=world.mara, now=now)


def test_a_response_names_the_version_of_the_day_on_which_its_item_was_handed_out(world: World) -> None:
    batch = world.batch(size=2, overlap=1)
    held = world.take(batch, "ada")
    assert held is not None
    assert assignments.payload(held)["guidelines"] == 1
    rewrite(world, batch)

    first = world.answer(held, {"label": "extraction"}, now=LATER)

    assert Annotation.objects.get(pk=first.pk).guidelines.number == 1
    Guidelines.objects.filter(number=2).update(made_at=NOON)
    second = world.take(batch, "ada")
    assert second is not None
    assert assignments.payload(second)["guidelines"] == 2
    assert Annotation.objects.get(pk=world.answer(second, {"label": "extraction"}).pk).guidelines.number == 2


def test_what_somebody_has_confirmed_as_read_counts_for_what_is_on_their_desk(world: World) -> None:
    batch = world.batch(size=1, overlap=2)
    held = world.take(batch, "ada")
    assert held is not None
    newer = rewrite(world, batch)
    guidelines.confirm(guidelines=newer, person=world.ada, now=LATER)

    held = world.reload(held)

    assert assignments.payload(held)["guidelines"] == 2
    assert Annotation.objects.get(pk=world.answer(held, {"label": "extraction"}).pk).guidelines.number == 2
    other = world.take(batch, "bo")
    assert other is not None
    assert assignments.payload(other)["guidelines"] == 1


def test_the_page_shows_the_version_that_a_response_will_name_and_says_when_it_is_a_new_one(
    world: World, client: Client
) -> None:
    batch = world.batch(size=3, overlap=1)
    client.force_login(world.ada)
    address = f"/batches/{batch.public_id}/annotate/"
    client.get(address)
    first = Assignment.objects.get(person=world.ada)
    rewrite(world, batch)
    Guidelines.objects.filter(number=2).update(made_at=timezone.now())
    held = client.get(address).content.decode()
    assert NEW not in held
    first = world.reload(first)
    answer = client.post(
        f"/api/assignments/{first.public_id}/submit/",
        {"response": envelope(first, {"label": "extraction"}), "next": True, "holding": []},
        content_type="application/json",
    )
    assert answer.json()["next"]["guidelines"] == 2

    shown = client.get(address).content.decode()

    assert NEW in shown
    assert "Version 2 applies from this item on" in shown
    assert Annotation.objects.get().guidelines.number == 1


def test_the_story_of_an_item_names_the_version_of_each_revision(world: World) -> None:
    batch = world.batch(size=1, overlap=1)
    world.label(batch, "ada", "extraction")
    item = batch.items.select_related("batch__project", "example__stored_table").get()

    story = item_history.of_item(item, item_history.Names(Actor(world.mara), world.project))

    words = [word for moment in story.moments for word in moment.words]
    assert "Revision 1, under version 1 of the guidelines" in words


def test_whoever_opens_an_item_again_sees_the_guidelines_as_they_are_now(world: World) -> None:
    batch = world.batch(size=1, overlap=2)
    held = world.take(batch, "ada")
    assert held is not None
    said = world.answer(held, {"label": "extraction"})
    rewrite(world, batch)
    Guidelines.objects.filter(number=2).update(made_at=NOON + timedelta(seconds=20))

    assignments.undo(annotation=said, now=NOON + timedelta(seconds=30))

    again = world.reload(held)
    assert assignments.payload(again)["guidelines"] == 2
    later = world.answer(again, {"label": "reasoning"}, now=NOON + timedelta(seconds=40))
    assert Annotation.objects.get(pk=later.pk).guidelines.number == 2


def test_two_managers_who_save_at_once_write_two_versions(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have read the version before; the slower one writes the version after the other's."""
    task, read = task_type("question_type"), guidelines.ensure
    given: dict[str, Any] = {"project": world.project, "task": task, "now": NOON}
    read(**given)

    def read_before_the_other_saves(**arguments: Any) -> Guidelines:
        version = read(**arguments)
        monkeypatch.setattr(guidelines, "ensure", read)
        guidelines.revise(text="# Of the faster one\n", person=world.rea, **given)
        return version

    monkeypatch.setattr(guidelines, "ensure", read_before_the_other_saves)
    saved = guidelines.revise(text="# Of the slower one\n", person=world.mara, **given)

    assert saved == guidelines.newest(world.project, task)
    texts = Guidelines.objects.filter(project=world.project).order_by("number").values_list("number", "text")
    assert list(texts) == [(1, task.guidelines()), (2, "# Of the faster one\n"), (3, "# Of the slower one\n")]


def test_two_first_readers_at_once_get_the_same_version(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {"project": world.project, "task": task_type("question_type"), "now": NOON}
    first = guidelines.ensure(**given)
    with monkeypatch.context() as patch:  # the second one looked before the first one wrote
        patch.setattr(QuerySet, "first", lambda rows: None)
        assert guidelines.ensure(**given) == first


def test_the_full_text_is_in_a_frame_that_scrolls_also_by_keys(world: World, client: Client) -> None:
    """A table in guidelines may be wider than a phone: the page must not scroll sideways for it."""
    client.force_login(world.ada)

    page = PlainPage(client, reverse("guidelines", args=["films", "question_type"]))

    [frame] = page.all("//*[contains(@class, 'prose')]/parent::*")
    assert (frame.get("class"), frame.get("tabindex"), frame.get("role")) == ("scroll", "0", "region")
    assert frame.get("aria-label") == "Guidelines"
