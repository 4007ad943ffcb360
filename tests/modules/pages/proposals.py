"""Pages with help in crafting, and what the interface proposes for their items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.test import Client

from annotation.models import Assignment, Batch
from annotation.queue import reservations
from tableqa.readers.wtq import READER
from tests.annotation.cast import NOON, World, envelope

Reply = dict[str, Any]

EXCERPT = Path(__file__).resolve().parents[3] / "fixtures" / "wtq" / "excerpt-dev.tsv"
QUESTIONS = ("nt-3630", "nt-92", "nt-908")


def offered(world: World, client: Client) -> str:
    """Ada's first item, for which rules propose rewordings."""
    return _page(client, world, helped(world))


def filled(world: World, client: Client) -> str:
    """The same with the first proposal in the form."""
    return _page(client, world, helped(world, help="filled"))


def header_synonym(world: World, client: Client) -> str:
    batch = world.batch("header_synonym", help="offered", help_from={"rules": True}, only=["nu-0"], overlap=1)
    return _page(client, world, batch)


def without_help(world: World, client: Client) -> str:
    """An item of the control group of a batch with help."""
    batch = helped(world, unhelped=50)
    client.force_login(world.ada)
    seen: list[str] = []
    while (
        assignment := reservations.next_assignment(batch=batch, person=world.ada, holding=seen, now=NOON)
    ) is not None:
        seen.append(assignment.public_id)
        page = client.get(f"/batches/{batch.public_id}/annotate/?assignment={assignment.public_id}")
        if not page.context["assignment"]["help"]:
            return page.content.decode()
    raise AssertionError("half of the items are without help")


def proposals(world: World, client: Client) -> dict[str, Reply]:
    """What the interface proposes for the first item, by how the help is given and by task type."""
    batches = {"offered": helped(world), "filled": helped(world, help="filled")}
    batches["header_synonym"] = world.batch(
        "header_synonym", help="offered", help_from={"rules": True}, only=["nu-0"], overlap=1
    )
    return {name: _post(client, world, batch, "proposals", {}) for name, batch in batches.items()}


def submitted(world: World, client: Client) -> dict[str, Reply]:
    """What the server replies when Ada submits her first item, the proposals for the next one, and her earlier work."""
    batch = helped(world)
    first = _post(client, world, batch, "proposals", {})["proposals"][0]
    assignment = Assignment.objects.get(batch=batch, person=world.ada)
    body = {"response": envelope(assignment, first["data"]), "next": True}
    reply = _post(client, world, batch, "submit", body)
    url = f"/api/assignments/{reply['next']['id']}/proposals/"
    return {
        "submitted": reply,
        "proposals": client.post(url, {}, content_type="application/json").json(),
        "history": client.get(f"/api/batches/{batch.public_id}/history/").json(),
        "response": client.get(f"/api/assignments/{assignment.public_id}/response/").json(),
    }


def helped(world: World, **more: Any) -> Batch:
    examples = [example for example in READER(EXCERPT) if example.id in QUESTIONS]
    source = world.import_written(*examples, name=f"excerpt {Batch.objects.count()}")
    terms = {"help": "offered", "help_from": {"rules": True}, "variant": "sentence", "overlap": 1, **more}
    return world.batch("question_paraphrase", sources=[source], only=list(QUESTIONS), **terms)


def _page(client: Client, world: World, batch: Batch) -> str:
    client.force_login(world.ada)
    return client.get(f"/batches/{batch.public_id}/annotate/").content.decode()


def _post(client: Client, world: World, batch: Batch, action: str, body: Reply) -> Reply:
    _page(client, world, batch)
    assignment = Assignment.objects.get(batch=batch, person=world.ada)
    url = f"/api/assignments/{assignment.public_id}/{action}/"
    reply = client.post(url, body, content_type="application/json")
    assert reply.status_code == 200, reply.content
    content: Reply = reply.json()
    return content
