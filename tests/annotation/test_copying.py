"""Copies: a batch with all its settings, and what was set up in a project."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Batch, Guidelines, Person, Project
from annotation.models.batch_options import TERMS
from annotation.quality import consent
from annotation.study_file import current_state
from annotation.workflow import projects
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.plain_page import PlainPage
from tests.annotation.test_item_actions import browser

pytestmark = pytest.mark.django_db(transaction=True)
PAY = {"currency": "EUR", "per_hour": 15.0}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def test_a_copy_of_a_batch_has_all_its_settings_and_a_name_of_its_own(world: World) -> None:
    first = world.batch(name="Labels", overlap=1)
    original = world.batch(
        "value_change",
        variant="answer_stays",
        name="Edits",
        overlap=2,
        seed=7,
        size=3,
        strata="difficulty",
        caps={"items": 5},
        pay=PAY,
        adjudication_reasons=["w wrong"],
        settings={"at_most": 3, "cell_format": "require"},
        decide_at_close=True,
    )
    fed = world.batch(name="Fed", feeds_from=first, sources=[], overlap=1)

    for batch in (original, fed):
        page = PlainPage(browser(world.mara), reverse("batch", args=[batch.public_id]))
        page.follow("Copy batch")
        page.press("Create batch")

        copy = Batch.objects.latest("pk")
        assert copy.name == f"{batch.name} 2"
        names = (*TERMS, "task_type", "version", "seed", "sampling", "feeds_from", "settings_digest")
        assert {name: getattr(copy, name) for name in names} == {name: getattr(batch, name) for name in names}
        examples = [
            list(each.items.order_by("position").values_list("example", flat=True)) for each in (copy, batch)
        ]
        assert examples[0] == examples[1]


def test_a_batch_of_another_project_is_not_copied(world: World) -> None:
    batch = world.batch(name="Secret", seed=7)
    otto = Person.objects.create_person("Otto", "otto@example.org", "tilted tables")
    projects.create_project(slug="books", name="Books", manager=otto, now=NOON)
    address = f"{reverse('batch_new', args=['books'])}?kind=question_type&copy={batch.public_id}"
    page = browser(otto).get(address)
    assert page.context["form"].initial["name"] != "Secret 2"
    assert page.context["form"].copied is None


def test_a_new_project_takes_the_set_up_of_another_one(world: World) -> None:
    films = world.project
    world.batch(name="Labels")
    projects.change_terms(project=films, pay=PAY, caps={"items_per_day": 9}, by=world.mara, now=NOON)
    consent.write(project=films, text="We keep your responses.", by=world.mara, now=NOON)
    Guidelines.objects.update(text="Read twice.\n")
    projects.change_statement(project=films, statement={"biases": "Few films."}, by=world.mara, now=NOON)

    page = PlainPage(browser(world.mara), reverse("project_new"))
    page.named("name").value = "More films"
    page.named("original").value = "films"
    page.press("Create project")

    copy = Project.objects.get(slug="more-films")
    before, after = (
        current_state.of_project(project, now=NOON, derived=False, with_remaining=False).study
        for project in (films, copy)
    )
    none: dict[str, Any] = {"slug": "", "name": "", "people": (), "sources": (), "batches": ()}
    assert replace(after, **none) == replace(before, **none)
    assert (after.sources, after.batches) == ((), ())
    assert after.guidelines
    assert [member.person for member in copy.memberships.all()] == [world.mara]


def test_only_projects_that_the_person_manages_can_be_copied(world: World) -> None:
    otto = Person.objects.create_person("Otto", "otto@example.org", "tilted tables")
    projects.create_project(slug="books", name="Books", manager=otto, now=NOON)
    client = browser(otto)
    assert list(client.get(reverse("project_new")).context["form"].fields["original"].queryset) == [
        Project.objects.get(slug="books")
    ]
    client.post(reverse("project_new"), {"name": "Mine", "time_zone": "UTC", "original": "films"})
    assert not Project.objects.filter(slug="mine").exists()
