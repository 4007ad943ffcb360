"""Pages of managers: the explorer and the forms that take the time zone of the browser."""

from __future__ import annotations

from django.test import Client

from annotation.explorer.links import explorer_url
from tests.annotation.cast import World


def explorer(world: World, client: Client) -> str:
    """Four items of a batch, each with a response of Ada."""
    batch = world.batch()
    for _ in range(4):
        world.label(batch, "ada", "extraction")
    return _page(world, client, explorer_url(world.project, batch=batch, state="open"))


def new_project(world: World, client: Client) -> str:
    return _page(world, client, "/projects/new/")


def sign_in(world: World, client: Client) -> str:
    return client.get("/sign-in/").content.decode()


def _page(world: World, client: Client, address: str) -> str:
    client.force_login(world.mara)
    return client.get(address).content.decode()
