"""Pages of a task type that the project defined, of gold answers and of examples of earlier work."""

from __future__ import annotations

from typing import Any

from django.test import Client

from annotation.models import Annotation, Batch, Gold
from annotation.queue import sampling
from annotation.study_file import type_definitions
from annotation.workflow import batches, task_types
from tableqa import Example, Table
from tests.annotation.cast import NOON, World

DEFINITION: dict[str, Any] = {
    "title": "Table complexity",
    "instruction": "How hard is this table to read?",
    "shows": ["question", "table", "answers"],
    "fields": [
        {
            "name": "level",
            "type": "choice",
            "question": "How hard is it?",
            "options": [{"value": "easy", "help": "You see the answer at once."}, "hard"],
        },
        {
            "name": "reasons",
            "type": "multi_choice",
            "options": [{"value": "long", "key": "b"}, {"value": "wide", "key": "w"}],
            "when": "level == hard",
        },
        {"name": "quality", "type": "scale", "anchors": {"1": "poor", "5": "excellent"}},
        {"name": "evidence", "type": "cells", "optional": True},
        {"name": "ranking", "type": "rank", "options": ["a", "b", "c"], "optional": True},
        {"name": "comment", "type": "text", "optional": True},
    ],
    "decide": {"field": "level"},
    "guidelines": "Look at the table first.",
}
ANSWERS = [["Heat", "Alien"], ["Stalker", "Playtime", "Heat"]]


def batch(world: World, client: Client, size: int = 2) -> str:
    """Ada's first item of the whole definition."""
    return opened(client, world, batch_of(world, DEFINITION, size))


def only_level(world: World, client: Client) -> str:
    """One field: a choice."""
    return opened(client, world, batch_of(world, {**DEFINITION, "fields": DEFINITION["fields"][:1]}))


def over_answers(world: World, client: Client, field: dict[str, Any]) -> str:
    """One field over the answers of two examples: two of the one, three of the other."""
    films = Table(["Film"], [["Heat"], ["Alien"]])
    world.source = world.import_written(
        *(Example(f"p-{number}", f"which? ({number})", films, said) for number, said in enumerate(ANSWERS))
    )
    definition = {**DEFINITION, "fields": [field], "decide": {"field": field["name"]}}
    return opened(client, world, batch_of(world, definition))


def best_worst(world: World, client: Client) -> str:
    """The shipped definition with best and worst, and a ranking."""
    shipped = dict(type_definitions.shipped()["best_worst"])
    order = {"name": "order", "type": "rank", "options": ["a", "b"], "optional": True}
    return opened(client, world, batch_of(world, {**shipped, "fields": [*shipped["fields"], order]}))


def without_question(world: World, client: Client) -> str:
    """A choice and a text over the table alone, with no guidelines but the instruction."""
    fields = [DEFINITION["fields"][0], DEFINITION["fields"][-1]]
    definition = {key: value for key, value in DEFINITION.items() if key != "guidelines"}
    return opened(client, world, batch_of(world, {**definition, "shows": ["table"], "fields": fields}))


def passages(world: World, client: Client) -> str:
    """Names in the question, with letters of two code units before them."""
    films = Table(["Film"], [["Heat"], ["Alien"]])
    question = "is 𝒜 Ada Lovelace in Alien or in Heat?"
    world.source = world.import_written(
        *(Example(f"p-{index}", question, films, ["Heat"]) for index in range(2))
    )
    field = {"name": "names", "type": "spans", "options": ["person", "film"]}
    definition = {**DEFINITION, "fields": [field], "decide": {"field": "names"}}
    return opened(client, world, batch_of(world, definition))


def practice(world: World, client: Client) -> str:
    """Practice over the answers of an example."""
    films = {"header": ["Film", "Year"], "rows": [["Heat", "1995"], ["Alien", "1979"]]}
    example = {"id": "x", "question": "which is older?", "answers": ["Heat", "Alien"], "table": films}
    fields = [{"name": "better", "type": "choice", "of": "answers"}]
    exercises = [{"example": example, "expected": {"better": "2"}, "why": "Alien is from 1979."}]
    define(world, {**DEFINITION, "fields": fields, "decide": {"field": "better"}, "practice": exercises})
    client.force_login(world.ada)
    return "/projects/films/practice/complexity/"


def form_changes(world: World, client: Client) -> None:
    """The definition gets a further level and loses the reasons and the ranking."""
    level = {**DEFINITION["fields"][0], "options": ["easy", "medium", "hard"]}
    others = [field for field in DEFINITION["fields"] if field["name"] in ("quality", "comment")]
    define(world, {**DEFINITION, "fields": [level, *others]})


def instruction_changes(world: World, client: Client) -> None:
    define(world, {**DEFINITION, "instruction": "Is this table hard to read?"})


def submitted(world: World, client: Client) -> list[Any]:
    """What was submitted, in order."""
    rows = Annotation.objects.filter(response__isnull=False).order_by("pk")
    return [row.response["data"] for row in rows if row.response]


def gold(world: World, client: Client) -> str:
    """Mara's list of gold answers of a planned qualification with four items."""
    batch = world.batch(purpose="qualification", pass_percent=60, open=False, name="Entry")
    client.force_login(world.mara)
    return f"/batches/{batch.public_id}/gold/"


def gold_answers(world: World, client: Client) -> list[Any]:
    """The label and the explanation of each gold answer, in the order of the items."""
    golds = Gold.objects.order_by("item__example__position")
    return [[row.expected["data"]["label"], row.why] for row in golds]


def earlier_work(world: World, client: Client) -> str:
    """An item beside examples of earlier work, of which one response was sent back to the reader."""
    from tests.annotation.test_worked_examples import sent_back

    _, author = sent_back(world, note="<b>Read</b> rule 3 again.")
    client.force_login(world.people[author])
    return f"/batches/{world.batch(size=2).public_id}/annotate/"


def batch_of(world: World, definition: dict[str, Any], size: int = 2) -> Batch:
    batch = batches.plan_batch(
        project=world.project,
        task=define(world, definition).task(),
        name="Complexity",
        sample=sampling.Sample(sources=[world.source], size=size),
        by=world.mara,
        now=NOON,
    )
    batches.open_batch(batch=batch, by=world.mara, now=NOON)
    return batch


def define(world: World, data: dict[str, Any]) -> Any:
    return task_types.define(project=world.project, name="complexity", data=data, by=world.mara, now=NOON)


def opened(client: Client, world: World, batch: Batch) -> str:
    client.force_login(world.ada)
    return f"/batches/{batch.public_id}/annotate/"
