"""Pages of annotating for the tests of keys, guidelines, the checklist, drafts and looking back."""

from __future__ import annotations

from typing import Any

from django.test import Client

from annotation.models import Assignment, Batch
from benchmarks.browser_data import over_its_sample
from tableqa import Example, Table
from tasks.contract import task_types
from tests.annotation.cast import World


def question_type(world: World, client: Client) -> str:
    return _page(client, world, world.batch("question_type", size=4))


def value_change(world: World, client: Client) -> str:
    """At most two changes, or more with a reason; the answer must stay."""
    return _page(client, world, world.batch("value_change", variant="answer_stays"))


def one_change(world: World, client: Client) -> str:
    """One change, and no reason allows more."""
    settings = {"contract": {"at_most": 1, "more_with_reason": False}}
    return _page(client, world, world.batch("value_change", variant="answer_stays", settings=settings))


def new_answer(world: World, client: Client) -> str:
    """The answer must change."""
    return _page(client, world, world.batch("value_change", variant="answer_changes"))


def short_table(world: World, client: Client) -> str:
    return _page(client, world, world.batch("short_table"))


def paraphrase(world: World, client: Client) -> str:
    return _page(client, world, world.batch("question_paraphrase", variant="word"))


def header_synonym(world: World, client: Client) -> str:
    return _page(client, world, world.batch("header_synonym"))


def answer_check(world: World, client: Client) -> str:
    return _page(client, world, world.batch("answer_check", of="originals"))


def relevant_cells(world: World, client: Client) -> str:
    return _page(client, world, world.batch("relevant_cells"))


def answer_rating(world: World, client: Client) -> str:
    return _page(client, world, over_its_sample(world, task_types()["answer_rating"], ""))


def every_task_type(world: World, client: Client) -> dict[str, str]:
    """The first item of each task type and variant."""
    return {
        f"{key} {variant}".strip(): _page(client, world, over_its_sample(world, task, variant))
        for key, task in task_types().items()
        for variant in (task.variants or {"": ""})
    }


def no_program(world: World, client: Client) -> str:
    table = Table(["Film", "Minutes"], [["Heat", "170"], ["Ran", "162"]])
    source = world.import_written(Example("none", "who else?", table, ["Nobody"]))
    return _page(client, world, world.batch("value_change", variant="answer_changes", sources=[source]))


def no_suggestions(world: World, client: Client) -> dict[str, Any]:
    """What the server offers for the item of `no_program`."""
    no_program(world, client)
    assignment = Assignment.objects.get(person=world.ada)
    reply = client.get(f"/api/assignments/{assignment.public_id}/suggestions/")
    assert reply.status_code == 200, reply.content
    suggestions: dict[str, Any] = reply.json()
    return suggestions


def _page(client: Client, world: World, batch: Batch) -> str:
    client.force_login(world.ada)
    reply = client.get(f"/batches/{batch.public_id}/annotate/")
    assert reply.status_code == 200
    return reply.content.decode()
