"""Pages whose options are typed: of every shipped definition, of every task type with keys, and of scales of many steps."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.test import Client

from annotation.models import Annotation, Assignment, Batch, Draft
from annotation.queue import sampling
from annotation.study_file import type_definitions
from annotation.workflow import batches, task_types
from tableqa import Example, Table
from tasks.contract import InvalidResponse, Item
from tasks.shared.defined_types import DefinedTask
from tasks.shared.form_fields import Question, Scale, Text
from tasks.shared.span_field import Spans
from tasks.shared.typed_fields import Date, Number, Shares
from tests.annotation.cast import NOON, World
from tests.modules.pages import cells, judging
from tests.modules.test_generated_forms import definition as generated_definition

OWN: dict[str, dict[str, Any]] = {
    "negative": {"name": "level", "type": "scale", "min": -11, "max": -9},
    "tens": {"name": "level", "type": "scale", "min": 9, "max": 11},
    "options": {
        "name": "level",
        "type": "choice",
        "options": [f"option {number}" for number in range(1, 12)],
    },
    "several": {
        "name": "level",
        "type": "multi_choice",
        "options": [f"o{number}" for number in range(1, 12)],
    },
    "answers": {"name": "level", "type": "choice", "of": "answers", "options": ["none"]},
}
BY_NAME: dict[str, list[dict[str, Any]]] = {
    **{name: [field] for name, field in OWN.items()},
    "two_scales": [OWN["tens"], {"name": "other", "type": "scale", "min": 9, "max": 11}],
    "two_of_three": [
        {"name": "level", "type": "choice", "options": ["a", "b"]},
        {"name": "reasons", "type": "multi_choice", "options": ["c", "d", "e"], "min": 2, "max": 2},
        {"name": "more", "type": "multi_choice", "options": ["f", "g", "h"]},
    ],
    "mixed": [{"name": "few", "type": "scale", "min": 1, "max": 3}, OWN["tens"]],
}
ANSWERS = {"answers": 11}
KINDS: dict[str, dict[str, Any]] = {"question_type": {}, "question_paraphrase": {"variant": "word"}}


GENERATED = "generated_"


def names(world: World, client: Client) -> list[str]:
    """The definitions: those that come with Askew, but for one whose fields are cells and text, and those of this file."""
    has_cells = [name for name in type_definitions.shipped() if "cells" in str(definition(name)["fields"])]
    assert has_cells == ["question_answering"]
    return [name for name in [*type_definitions.shipped(), *BY_NAME] if name not in has_cells]


def generated(world: World, client: Client) -> list[str]:
    """Definitions that are drawn: as many as the environment says."""
    return [f"{GENERATED}{number}" for number in range(int(os.environ.get("ASKEW_GENERATED", "8")))]


def definition(name: str) -> dict[str, Any]:
    shipped = type_definitions.shipped()
    if name in shipped:
        return dict(shipped[name])
    if name.startswith(GENERATED):
        return generated_definition(random.Random(int(name.removeprefix(GENERATED))))
    fields = BY_NAME[name]
    shows = ["question", "table", "answers"]
    decide = {"field": fields[0]["name"]}
    return {"title": "T", "instruction": "Look", "shows": shows, "fields": fields, "decide": decide}


def batch(world: World, client: Client, name: str) -> str:
    """Ada's first item of a batch with one item for each option of the definition."""
    data = task_types.define(
        project=world.project, name="typed", data=definition(name), by=world.mara, now=NOON
    )
    task = data.task()
    examples = [example(number, name) for number in range(len(responses_to(task, Item(example(0, name)))))]
    source = world.import_written(*examples)
    batch = batches.plan_batch(
        project=world.project,
        task=task,
        name="Typed",
        sample=sampling.Sample(sources=[source]),
        by=world.mara,
        now=NOON,
    )
    batches.open_batch(batch=batch, by=world.mara, now=NOON)
    client.force_login(world.ada)
    return f"/batches/{batch.public_id}/annotate/"


def example(number: int, name: str) -> Example:
    answers = [f"Film {place}" for place in range(ANSWERS.get(name, 3))]
    return Example(
        f"p-{number}", f"which? ({number})", Table(["Film"], [[answer] for answer in answers]), answers
    )


def responses(world: World, client: Client) -> list[dict[str, Any]]:
    """For each option of the definition a response that has it: the fields that are asked, in order."""
    batch = Batch.objects.get(name="Typed")
    task, item = batch.task(), Item(batch.items.earliest("pk").example.example())
    assert isinstance(task, DefinedTask)
    return responses_to(task, item)


MOST_TRIES = 2000


def responses_to(task: DefinedTask, item: Item) -> list[dict[str, Any]]:
    """For each option of each field the first complete response that has it; none where no condition lets it be asked."""
    responses: list[dict[str, Any]] = []
    for field in task.fields:
        for value in values_of(task, field, item):
            tries = islice(entries(task, item, field, value, {}), MOST_TRIES)
            responses += islice((data for data in tries if is_complete(task, item, data)), 1)
    return responses


def entries(
    task: DefinedTask, item: Item, chosen: Question, value: Any, above: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Responses with this value of a field, field by field: only those that are asked."""
    if len(above) == len(task.fields):
        yield {name: each for name, each in above.items() if each is not None}
        return
    field = task.fields[len(above)]
    asked = {
        other.name: other.read(above[other.name], item)[0]
        for other in task.fields[: len(above)]
        if above[other.name] is not None
    }
    if field.when is not None and not field.when.holds(asked):
        values = [] if field is chosen else [None]
    else:
        values = [value] if field is chosen else values_of(task, field, item) or [field.empty]
    for each in values:
        yield from entries(task, item, chosen, value, {**above, field.name: each})


def is_complete(task: DefinedTask, item: Item, data: dict[str, Any]) -> bool:
    """Whether the response is valid. What is empty in it is left out."""
    try:
        task.parse(data, item)
    except InvalidResponse:
        return False
    for name in [name for name, value in data.items() if value in ("", (), [], None)]:
        del data[name]
    return True


def values_of(task: DefinedTask, field: Question, item: Item) -> list[Any]:
    """The values of a response with one option chosen; none for what has no options."""
    if isinstance(field, Scale):
        return [int(step) for step in field.values]
    numbers = [str(place + 1) for place in range(len(item.example.answers))]
    of_answers = type(field).__name__ in ("AnswerChoice", "AnswerMultiChoice")
    values = [*(numbers if of_answers else []), *field.values]
    if field.kind == "choices" and "Rank" not in type(field).__name__:
        several = [*values, *values]  # as many as a response has, beginning with each
        chosen = [several[at : at + max(1, getattr(field, "fewest", 1))] for at in range(len(values))]
        return [[value for value in values if value in some] for some in chosen]
    if "Rank" in type(field).__name__:
        return [list(field.values) or list(item.example.answers)]
    if field.kind == "choice":
        return values
    if isinstance(field, Number):
        return [field.example] if math.isinf(field.highest) else [field.lowest, field.highest]
    if isinstance(field, Date):
        return ["2024-02-29"]
    if isinstance(field, Spans):
        return [[[0, 5, value]] for value in field.values]  # the first word
    if isinstance(field, Shares):
        return [[field.total if other == value else 0 for other in values] for value in values]
    if isinstance(field, Text) and field.source:
        return ["\n".join(item.example.answers)]
    return ["Written."] if field.kind == "text" and field.required else []


def submitted(world: World, client: Client) -> list[Any]:
    """The fields of each response that are not empty, in the order of submission."""
    rows = Annotation.objects.filter(response__isnull=False).order_by("pk")
    return [filled(row.response["data"]) for row in rows if row.response]


def drafts(world: World, client: Client) -> list[Any]:
    """What is saved of items that are not submitted."""
    rows = Draft.objects.filter(assignment__state=Assignment.State.LEASED).order_by("pk")
    return [filled(row.response["data"]) for row in rows]


def filled(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value not in ("", [], None)}


def of_kind(world: World, client: Client, kind: str) -> str:
    """The first item of a batch of a task type that comes with Askew."""
    if kind in ("answer_rating", "metric_failure", "question_screening"):
        return judging.batch_over_rated(world, client, kind)
    if kind == "cell_relevance":
        return cells.batch(world, client, kind, "marked")
    if kind == "pair":
        return judging.pair(world, client)
    return judging.batch(world, client, kind, **KINDS[kind])
