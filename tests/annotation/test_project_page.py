"""The project's page: a new batch can be planned at any time, and the suggested next step stands beside it."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client

from annotation.models import Membership, Person, Project
from annotation.releases import creation
from annotation.workflow import automatic_decisions, batches, projects
from tests.annotation.cast import NOON, World
from tests.annotation.plain_page import PlainPage


def actions(person: Person, project: Project) -> list[str]:
    """The buttons of the board and at the Batches heading, the primary one marked with a star."""
    client = Client()
    client.force_login(person)
    page = client.get(f"/projects/{project.slug}/").content.decode()
    links = re.findall(r'<a class="button( primary)?" href="[^"]+">([^<]+)</a>', page.split("<main")[1])
    return [("* " if primary else "") + html.unescape(label) for primary, label in links]


def without_sources(world: World) -> Project:
    return projects.create_project(slug="empty", name="Empty", manager=world.mara, now=NOON)


def without_batches(world: World) -> Project:
    return world.project


def with_one_person(world: World) -> Project:
    world.batch()
    for membership in Membership.objects.exclude(person=world.mara):
        projects.remove_member(membership=membership, by=world.mara, now=NOON)
    return world.project


def with_work_in_progress(world: World) -> Project:
    world.batch()
    return world.project


def decided(world: World) -> Project:
    batch = world.batch(size=1)
    for who in ("ada", "bo", "cy"):
        world.label(batch, who, "extraction")
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    return world.project


def released(world: World) -> Project:
    project = decided(world)
    creation.make_release(project=project, name="v1", format="askew", by=world.rea, now=NOON)
    return project


@pytest.mark.parametrize(
    ("state", "buttons"),
    [
        (without_sources, ["* Import examples", "New batch", "Start from a template"]),
        (without_batches, ["* New batch", "Start from a template"]),
        (with_one_person, ["* Invite people", "New batch"]),
        (with_work_in_progress, ["* Browse items", "New batch"]),
        (decided, ["* Create release with 1 new item", "New batch"]),
        (released, ["* Browse items", "New batch"]),
    ],
)
def test_a_new_batch_can_be_planned_in_every_state_of_a_project(
    world: World, state: Any, buttons: list[str]
) -> None:
    assert actions(world.mara, state(world)) == buttons


def test_somebody_who_may_not_set_up_sees_no_button_for_a_new_batch(world: World) -> None:
    assert actions(world.rea, decided(world)) == ["* Create release with 1 new item"]


def test_the_table_of_batches_has_the_state_of_each(world: World) -> None:
    world.batch(name="First")
    world.batch(name="Second", open=False)
    client = Client()
    client.force_login(world.rea)

    page = PlainPage(client, "/projects/films/?table")

    rows = page.all("//table//tr[td/span[@class='state']]")
    states = {row.findtext("th/a"): row.findtext("td/span[@class='state']") for row in rows}
    assert states == {"First": "open", "Second": "planned"}
