"""Pages of managers: the explorer and the forms that take the time zone of the browser."""

from __future__ import annotations

from typing import Any

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


def tried(world: World, client: Client) -> str:
    """The preview of a batch with four items."""
    return _page(world, client, f"/batches/{world.batch().public_id}/try/")


def judged(world: World, client: Client) -> list[dict[str, Any]]:
    """What the server replies to a response to each of the four items of a preview."""
    batch = world.batch()
    client.force_login(world.mara)
    replies = []
    for number, item in enumerate(batch.items.order_by("position"), start=1):
        task = batch.task()
        response = {"type": task.key, "variant": "", "version": task.version, "base": item.plain().base}
        body = {"number": number, "response": {**response, "data": {"label": "extraction"}}}
        reply = client.post(f"/api/batches/{batch.public_id}/try/", body, content_type="application/json")
        assert reply.status_code == 200, reply.content
        replies.append(reply.json())
    return replies
