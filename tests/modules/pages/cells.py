"""Pages of task types about cells: relevant cells, their relevance, shortened tables, changed values."""

from __future__ import annotations

from typing import Any

from django.test import Client

from annotation.models import Annotation
from tableqa import Example, Table
from tableqa.data.answers import Answers
from tableqa.data.examples import Context
from tests.annotation.cast import World

SALES = Table(
    ["", "2019", "2018", "2017"],
    [
        ["For the year ended December 31:", "", "", ""],
        ["Cost", "$100", "$82", "$91"],
        ["Selling and administrative", "453", "361", "384"],
        ["Research", "126", "67", "59"],
        ["Total", "679", "510", "534"],
    ],
)
FILMS = Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"], ["Ran", "162"]])
TOTAL: dict[str, Any] = {"op": "cell", "row": "r4", "column": "c1"}


def questions(number: int = 2, **more: Any) -> list[Example]:
    return [
        Example(
            id=f"cost-{n}",
            question=f"By how much did the cost rise from 2018 to 2019? ({n})",
            table=SALES,
            answers=["18"],
            context=Context(scale="million", unit="USD"),
            **more,
        )
        for n in range(number)
    ]


EXAMPLES = {
    "costs": questions(),
    "cost": questions(1),
    "highlighted": questions(meta={"highlighted_cells": [["r1", "c1"], ["h", "c1"]]}),
    "marked": questions(meta={"relevant_cells": [["r1", "c1"], ["r1", "c2"]]}),
    "total": [Example("total", "what was the total in 2019?", SALES, ["679"])],
    "total with program": [Example("total", "what was the total in 2019?", SALES, ["679"], program=TOTAL)],
    "forms": [
        Example("f-1", "which film is longest?", FILMS, Answers(["Heat"], [["Heat (1995)", "170"]])),
        Example("f-2", "which film is second?", FILMS, ["Ran"]),
    ],
    "film": [Example("long", "which film is the one?", FILMS, ["Heat"])],
}


def batch(world: World, client: Client, kind: str, examples: str, **terms: Any) -> str:
    """Ada's first item of a batch over some examples."""
    batch = world.batch(kind, sources=[world.import_written(*EXAMPLES[examples])], **terms)
    client.force_login(world.ada)
    return f"/batches/{batch.public_id}/annotate/"


def submitted(world: World, client: Client) -> list[Any]:
    """What was submitted, in order."""
    rows = Annotation.objects.filter(assignment__state="submitted").order_by("pk")
    return [row.response["data"] for row in rows if row.response]


def unmet(world: World, client: Client) -> list[Any]:
    """The codes of the unmet conditions of what was submitted, in order."""
    return [row.unmet for row in Annotation.objects.filter(assignment__state="submitted").order_by("pk")]
