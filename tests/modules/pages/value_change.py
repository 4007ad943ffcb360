"""Pages of value change, for `openLive`: Ada annotates films or sales."""

from __future__ import annotations

from typing import Any

from django.test import Client

from annotation.models import Annotation, Draft
from tableqa import Example, Table
from tableqa.data.examples import Context
from tableqa.data.tables import Span
from tests.annotation.cast import World

FILMS = Example(
    "longest",
    "which film is the longest?",
    Table(["Film", "Year", "Minutes"], [["Heat", "1995", "170"], ["Alien", "1979", "117"]]),
    ["Heat"],
)
SALES = [
    Example(
        id=f"cost-{number}",
        question=f"By how much did the cost rise from 2018 to 2019? ({number})",
        table=Table(
            ["", "2019", "2018", "2017"],
            [
                ["For the year ended December 31:", "", "", ""],
                ["Cost", "$100", "$82", "$91"],
                ["Selling and administrative", "453", "361", "384"],
                ["Research", "126", "67", "59"],
                ["Total", "679", "510", "534"],
            ],
        ),
        answers=["18"],
        context=Context(scale="million", unit="USD"),
    )
    for number in range(2)
]


def films(world: World, client: Client, variant: str = "answer_changes") -> str:
    """One question whose answer follows from the table by more than one program."""
    return _page(world, client, [FILMS], variant=variant)


def cities(world: World, client: Client) -> str:
    """Two questions whose answer is a cell, which may have a line break."""
    table = Table(["City", "Votes"], [["Paris", "5"], ["Lima", "7"]])
    asked = [Example(f"city-{n}", "which city has 5 votes?", table, ["Paris"]) for n in range(2)]
    return _page(world, client, asked, variant="answer_changes")


def sales(world: World, client: Client, variant: str = "answer_stays", **terms: Any) -> str:
    """Two questions about a table of amounts."""
    return _page(world, client, SALES, variant=variant, **terms)


def empty(world: World, client: Client) -> str:
    """A question about a table without rows."""
    return _page(world, client, [_about(Table(header=["only", "names"], rows=[]))], variant="answer_stays")


def merged(world: World, client: Client) -> str:
    """A question about a table with a title, a row above its header and merged cells."""
    table = Table(
        header=["", "2019", "2018"],
        rows=[["Revenue", "1,234", "(9.9)"], ["Revenue", "5", "6"]],
        title="Net revenue",
        caption="in thousands",
        header_rows=[["", "Fiscal year", "Fiscal year"]],
        spans=[Span("h0", "c1", 1, 2), Span("r0", "c0", 2, 1)],
    )
    return _page(world, client, [_about(table)], variant="answer_stays")


def large(world: World, client: Client, rows: int, columns: int) -> str:
    """A question about a table of this size, with `row.column` in each cell."""
    table = Table(
        header=[f"Column {column}" for column in range(columns)],
        rows=[[f"{row}.{column}" for column in range(columns)] for row in range(rows)],
    )
    return _page(world, client, [_about(table)], variant="answer_stays")


def responses(world: World, client: Client) -> list[Any]:
    """The data of all submitted responses."""
    return [
        annotation.response["data"] for annotation in Annotation.objects.order_by("pk") if annotation.response
    ]


def drafts(world: World, client: Client) -> list[Any]:
    """The data of all drafts."""
    return [draft.response["data"] for draft in Draft.objects.order_by("pk")]


def _about(table: Table) -> Example:
    return Example("awkward", "<b>how many?</b> & why", table, ["4"])


def _page(world: World, client: Client, examples: list[Example], **terms: Any) -> str:
    batch = world.batch("value_change", sources=[world.import_written(*examples)], **terms)
    client.force_login(world.ada)
    return f"/batches/{batch.public_id}/annotate/"
