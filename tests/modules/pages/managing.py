"""Pages of managers with menus, as they are without the scripts of other parts."""

from __future__ import annotations

from django.test import Client

from annotation.study_file import type_definitions
from tests.annotation.cast import World
from tests.annotation.test_dashboards import timed


def agreement(world: World, client: Client) -> str:
    """Charts of a batch with their menus."""
    batch = timed(world, 8)
    client.force_login(world.mara)
    url = f"/projects/{world.project.slug}/agreement/?batch={batch.public_id}"
    return client.get(url).content.decode()


def plan(world: World, client: Client) -> str:
    """The costs of a plan: the page is the reply to a form."""
    world.batch(name="Types of questions")
    client.force_login(world.mara)
    url = f"/projects/{world.project.slug}/study/"
    text = client.get(url, {"download": ""}).content.decode()
    return client.post(url, {"act": "plan", "text": text}).content.decode()


def people(world: World, client: Client) -> str:
    """The navigation of a project with its menu."""
    client.force_login(world.mara)
    return client.get(f"/projects/{world.project.slug}/people/").content.decode()


def batches(world: World, client: Client) -> str:
    """The table of nine batches, which are selected one by one or all at once."""
    for number in range(9):
        world.batch(name=f"Batch {number}")
    client.force_login(world.mara)
    return client.get(f"/projects/{world.project.slug}/?table").content.decode()


def new_batch(world: World, client: Client) -> str:
    """The form for a new batch."""
    client.force_login(world.mara)
    url = f"/projects/{world.project.slug}/batches/new/?kind=question_type"
    return client.get(url).content.decode()


def settings(world: World, client: Client) -> str:
    """The settings of an open batch: a form for each section."""
    batch = world.batch(name="Types of questions")
    client.force_login(world.mara)
    return client.get(f"/batches/{batch.public_id}/settings/").content.decode()


def definition(world: World, client: Client) -> str:
    """The page of task types with a definition whose second field has a condition."""
    client.force_login(world.mara)
    text = type_definitions.written(type_definitions.shipped()["conditional"])
    entered = {"name": "conditional", "text": text, "preview": "1"}
    return client.post("/projects/films/task-types/", entered).content.decode()
