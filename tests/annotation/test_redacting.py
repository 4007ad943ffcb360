"""A text that must not stay is replaced wherever it is about an item, but in releases that went out."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from annotation.access.roles import Role
from annotation.accounts import erasure, redaction
from annotation.explorer import index
from annotation.management import doctor
from annotation.models import (
    Annotation,
    Assignment,
    Batch,
    Draft,
    Event,
    Flag,
    IndexedColumn,
    IndexedItem,
    IndexedValue,
    Item,
    Outcome,
    Person,
    StoredTable,
)
from annotation.models import Example as StoredExample
from annotation.platform.refusals import ActionRefused
from annotation.releases import creation, verification
from annotation.workflow import assignments, automatic_decisions, batches, projects
from tableqa import Example, Table
from tableqa.releases import release_records
from tests.annotation.cast import NOON, World
from tests.annotation.plain_page import PlainPage, fill

NAME = "Ottilie Quandt"
SOON = NOON + timedelta(hours=1)


def browser(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def paraphrased(world: World) -> Batch:
    """A closed batch whose accepted response has the name in its question, with a release of it."""
    batch = world.batch("question_paraphrase", variant="word", name="Reworded", size=1, overlap=1)
    assignment = world.take(batch, "ada")
    assert assignment is not None
    data = {
        "question": f"As {NAME} asks, {assignment.item.example.question}",
        "category": "reasoning_carrier",
    }
    world.answer(assignment, data)
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    return batch


def noted(world: World) -> Item:
    """An item with the name in a flag, a draft and a note, and in an own column of its example."""
    batch = world.batch(name="Noted", size=1)
    assignment = world.take(batch, "ada")
    assert assignment is not None
    assignments.flag(assignment=assignment, note=f"ask {NAME} of this", now=NOON)
    response = {"type": "question_type", "data": {"label": f"from {NAME}"}}
    Draft.objects.update_or_create(
        assignment=assignment, defaults={"revision": 1, "response": response, "saved_at": NOON}
    )
    return assignment.item


def everywhere(text: str) -> list[str]:
    """The columns of the database that have the text."""
    columns = []
    for model in apps.get_app_config("annotation").get_models():
        for field in model._meta.concrete_fields:
            if field.get_internal_type() in ("CharField", "TextField", "JSONField"):
                values = model._base_manager.values_list(field.name, flat=True)
                if any(text.lower() in json.dumps(value, default=str).lower() for value in values):
                    columns.append(f"{model._meta.model_name}.{field.name}")
    return columns


def redact(world: World, item: Item, **more: Any) -> int:
    terms: dict[str, Any] = {"text": NAME, "reason": "A private person", "by": world.mara, "now": SOON}
    return redaction.redact(item=item, **(terms | more))


def test_a_text_is_gone_from_the_database_and_the_search(world: World) -> None:
    item = noted(world)
    column = IndexedColumn.objects.create(project=world.project, name="meta.asker")
    IndexedValue.objects.create(
        # Indexed by its first characters, which end within the name.
        column=column,
        example=item.example,
        number=0,
        value=f"by {NAME[:4]}",
        is_first=True,
    )
    index.refresh(world.project, now=NOON)
    assert "flag.note" in everywhere(NAME)

    count = redact(world, item)

    assert count == 2
    assert everywhere(NAME) == []
    assert Flag.objects.get().note == "ask [redacted] of this"
    assert not IndexedItem.objects.filter(item=item).exists()
    assert not IndexedValue.objects.filter(column=column).exists()
    event = Event.objects.get(after="redacted")
    assert (event.thing_id, event.actor, event.detail) == (
        item.pk,
        world.mara,
        {"reason": "A private person", "texts": 2},
    )
    index.refresh(world.project, now=SOON)
    assert "[redacted]" in IndexedItem.objects.get(item=item).responded
    assert doctor.findings() == []


def test_what_derives_from_a_redacted_response_has_the_tombstone_and_verifies(
    world: World, tmp_path: Path
) -> None:
    batch = paraphrased(world)
    first = creation.make_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=NOON, out=tmp_path / "v1"
    )
    item = batch.items.get()

    redact(world, item)

    derived = Outcome.objects.get(decision__item=item).example
    assert derived is not None
    assert derived.question.startswith("As [redacted] asks")
    assert everywhere(NAME) == []
    assert doctor.findings() == []
    creation.make_release(
        project=world.project, name="v2", format="askew", by=world.rea, now=SOON, out=tmp_path / "v2"
    )
    assert verification.verify(tmp_path / "v1")
    assert verification.verify(tmp_path / "v2")
    texts = {
        name: "".join(path.read_text() for path in (tmp_path / name).glob("*.jsonl")) for name in ("v1", "v2")
    }
    assert (NAME in texts["v1"], NAME in texts["v2"]) == (True, False)
    assert release_records.read_manifest(tmp_path / "v2")["redacted"] == 1
    assert "redacted" not in release_records.read_manifest(tmp_path / "v1")
    assert first.ready_at is not None


def test_counting_changes_nothing(world: World) -> None:
    item = noted(world)

    assert redact(world, item, only_count=True, reason="") == 2

    assert Flag.objects.get().note == f"ask {NAME} of this"
    assert not Event.objects.filter(after="redacted").exists()
    assert redact(world, item) == 2


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"text": "no"}, "3 to 2000 characters"),
        ({"text": "nothing has this"}, "in nothing that can be redacted"),
        ({"text": "extraction"}, "label or a value"),
        ({"reason": ""}, "Enter a reason"),
        ({"reason": f"as {NAME} asked"}, "must not contain the text"),
    ],
)
def test_what_cannot_be_redacted_is_refused_and_nothing_changes(
    world: World, terms: dict[str, str], message: str
) -> None:
    batch = world.batch(size=1)
    world.label(batch, "ada", "extraction")
    item = batch.items.get()
    before = list(Annotation.objects.values())

    with pytest.raises(ActionRefused, match=message):
        redact(world, item, **terms)

    assert list(Annotation.objects.values()) == before


def shortened(world: World) -> Item:
    """A decided item whose edit removed the row with the name. Another example over its table has the name as answer."""
    table = Table(["Film", "Director"], [["Heat", NAME], ["Alien", "Scott"]])
    world.source = world.import_written(
        Example("alien", "who made Alien?", table, ["Scott"]),
        Example("heat", "who made Heat?", table, [NAME]),
    )
    batch = world.batch("short_table", name="Shortened", only=["alien"], overlap=1)
    assignment = world.take(batch, "ada")
    assert assignment is not None
    cut = {"op": "remove_row", "row": "r0", "at": 0, "old": ["Heat", NAME]}
    world.answer(assignment, {"unanswerable": False, "whole": False, "operations": [cut], "program": None})
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    return batch.items.get()


def test_a_text_of_a_table_is_gone_from_all_that_have_the_table(world: World, tmp_path: Path) -> None:
    item = shortened(world)
    derived = Outcome.objects.get(decision__item=item).example
    assert derived is not None
    assert derived.table().rows == (("Alien", "Scott"),)
    tables = StoredTable.objects.count()

    redact(world, item)

    assert everywhere(NAME) == []
    alien, heat = (StoredExample.objects.get(external_id=name) for name in ("alien", "heat"))
    assert alien.table().rows[0] == ("Heat", "[redacted]")
    assert (heat.answers, heat.stored_table) == (["[redacted]"], alien.stored_table)
    assert StoredTable.objects.count() == tables
    derived.refresh_from_db()
    assert derived.operations[0]["old"] == ["Heat", "[redacted]"]
    assert derived.table().rows == (("Alien", "Scott"),)
    assert doctor.findings() == []
    creation.make_release(
        project=world.project, name="v1", format="askew", by=world.rea, now=SOON, out=tmp_path / "v1"
    )
    assert verification.verify(tmp_path / "v1")


def test_a_text_of_which_a_program_made_something_is_refused(world: World) -> None:
    item = shortened(world)
    original = item.example
    made = {"external_id": "made", "parent": original, "perturbation": "row_shuffle", "seed": 1}
    same = ("source", "position", "question", "answers", "stored_table", "table_digest")
    StoredExample.objects.create(**made, **{name: getattr(original, name) for name in same})

    with pytest.raises(ActionRefused, match="what a program made has this text"):
        redact(world, item)

    assert "storedtable.content" in everywhere(NAME)


def test_an_id_is_refused(world: World) -> None:
    item = noted(world)

    with pytest.raises(ActionRefused, match="An id or what a program made"):
        redact(world, item, text=item.example.external_id)


def test_a_manager_finds_first_and_redacts_then(world: World) -> None:
    item = noted(world)
    page = PlainPage(browser(world.mara), reverse("item_story", args=[item.public_id]))
    page.follow("Redact a text")
    assert "No release keeps a copy." in page.text()
    fill(page.field("Text to redact"), NAME)
    fill(page.field("Reason"), "A private person")

    page.press("Find")

    assert "2 fields have this text." in page.text()
    assert NAME in Flag.objects.get().note
    page.press("Redact")
    assert "2 fields were redacted." in page.text()
    assert NAME not in Flag.objects.get().note
    assert Assignment.objects.filter(item=item).exists()
    assert StoredExample.objects.get(pk=item.example_id).question == item.example.question


def test_texts_of_responses_with_a_part_of_a_name_are_listed_before_a_person_is_erased(world: World) -> None:
    Person.objects.filter(pk=world.bo.pk).update(name=NAME)
    item = paraphrased(world).items.get()
    projects.add_member(project=world.project, person=world.bo, roles=[Role.VIEWER], by=world.mara, now=NOON)
    world.bo.refresh_from_db()
    redaction.redact(item=item, text="Ottilie", reason="x", by=world.mara, now=SOON)

    (text,) = erasure.texts_with_parts(world.bo)

    assert text.startswith("As [redacted] Quandt asks")
    redaction.redact(item=item, text="Quandt", reason="x", by=world.mara, now=SOON)
    assert erasure.texts_with_parts(world.bo) == []
