"""Pages of task types that change columns, over questions of WikiTableQuestions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.test import Client

from annotation.models import Annotation, Batch
from annotation.quality import task_report
from tableqa import Example, Table
from tableqa.readers.wtq import READER
from tests.annotation.cast import World
from tests.plugin import ROOT

EXCERPT = ROOT / "fixtures" / "wtq" / "excerpt-dev.tsv"

WRITTEN = [
    Example(
        id="codes",  # a column whose parts nothing names
        question="who has one point?",
        table=Table(["Code", "Points"], [["ax, by", "1"], ["cz, dw", "2"], ["ef, gh", "3"]]),
        answers=["ax, by"],
    ),
    Example(
        id="league",
        question="how many games did maynooth win?",
        table=Table(
            ["Team", "Won", "Lost", "Played"],
            [
                ["Greystones", "3", "1", "4"],
                ["Ballymore", "2", "2", "4"],
                ["Maynooth", "5", "1", "6"],
                ["Fingal", "1", "0", "1"],
            ],
        ),
        answers=["5"],
    ),
    Example(
        id="winners",  # the total cannot be worked out in the row of the answer
        question="when did confey win?",
        table=Table(
            ["No.", "Team", "W", "L", "P", "Year"],
            [
                ["1", "Greystones", "3", "1", "4", "2009"],
                ["2", "Ballymore", "2", "2", "4", "2008"],
                ["3", "Maynooth", "5", "1", "6", "2007"],
                ["4", "Fingal", "1", "0", "1", "2006"],
                ["5", "Confey", "?", "2", "9", "2005"],
            ],
        ),
        answers=["2005", "9"],
    ),
    Example(
        id="teams",  # no column follows from another one
        question="where is confey?",
        table=Table(
            ["Team", "County"], [["Greystones", "Wicklow"], ["Ballymore", "Kildare"], ["Confey", "Kildare"]]
        ),
        answers=["Kildare"],
    ),
    Example(
        id="capitals",  # related to the games, nt-908
        question="what is the capital of cuba?",
        table=Table(
            ["Country", "Capital", "Currency"],
            [
                ["Cuba", "Havana", "peso"],
                ["Mexico", "Mexico City", "peso"],
                ["Chile", "Santiago", "peso"],
                ["Argentina", "Buenos Aires", "peso"],
                ["Brazil", "Brasília", "real"],
            ],
            title="Countries of America",
        ),
        answers=["Havana"],
    ),
]


def batch(world: World, client: Client, kind: str, ids: Sequence[str], beside: Sequence[str] = ()) -> str:
    """Ada's first item of a batch over these examples, in their order; `beside` are others of the source."""
    source = world.import_written(*questions(*ids, *beside))
    batch = world.batch(kind, sources=[source], only=list(ids))
    client.force_login(world.ada)
    return f"/batches/{batch.public_id}/annotate/"


def questions(*ids: str) -> list[Example]:
    examples = {example.id: example for example in [*READER(EXCERPT), *WRITTEN]}
    return [examples[id] for id in ids]


def practice(world: World, client: Client, kind: str) -> str:
    """Ada's practice of a task type."""
    client.force_login(world.ada)
    return f"/projects/films/practice/{kind}/"


def responses(world: World, client: Client) -> list[Any]:
    """The data of what was submitted, oldest first."""
    annotations = Annotation.objects.filter(response__isnull=False).order_by("pk")
    return [annotation.response["data"] for annotation in annotations if annotation.response]


def unmet(world: World, client: Client) -> list[Any]:
    """The codes of the unmet conditions of what was submitted, oldest first."""
    return [
        annotation.unmet for annotation in Annotation.objects.filter(response__isnull=False).order_by("pk")
    ]


def report(world: World, client: Client) -> dict[str, Any]:
    """The rows of the only report on the only batch, by their first column."""
    [table] = task_report.reports(Batch.objects.get())
    return {str(row[0]): [*row[1:]] for row in table.rows}


def digest(world: World, client: Client, id: str) -> str:
    """The digest of the table of an example."""
    return next(example.table.digest() for example in WRITTEN if example.id == id)
