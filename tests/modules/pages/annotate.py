"""Pages of annotating."""

from __future__ import annotations

from typing import Any

from django.test import Client

from annotation.models import Assignment, Batch
from tests.annotation.cast import World, envelope


def question_type(world: World, client: Client) -> str:
    """Ada's first of four questions, single overlap."""
    return _first_item(client, world, world.batch("question_type", overlap=1))


def value_change(world: World, client: Client) -> str:
    """Ada's first item, whose answer must stay the same."""
    return _first_item(client, world, world.batch("value_change", variant="answer_stays", overlap=1))


def submitted_question_type(world: World, client: Client) -> dict[str, Any]:
    """What the server replies when Ada submits her first item: the annotation and the next item."""
    batch = world.batch("question_type", overlap=1)
    _first_item(client, world, batch)
    assignment = Assignment.objects.get(person=world.ada)
    url = f"/api/assignments/{assignment.public_id}/submit/"
    body = {"response": envelope(assignment, {"label": "extraction"}), "next": True}
    reply = client.post(url, body, content_type="application/json")
    assert reply.status_code == 200, reply.content
    answer: dict[str, Any] = reply.json()
    return answer


def _first_item(client: Client, world: World, batch: Batch) -> str:
    client.force_login(world.ada)
    return client.get(f"/batches/{batch.public_id}/annotate/").content.decode()
