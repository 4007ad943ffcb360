"""Task types that change columns, without scripts: a form for each operation, and what is submitted with it."""

from __future__ import annotations

from typing import Any

from django.test import Client

from annotation.models import Annotation
from tests.annotation.cast import World
from tests.annotation.plain_page import PlainPage, check, fill, select, value_of
from tests.modules.pages import columns

MEDALS, JUMPS, GAMES = "nt-3630", "nt-15", "nt-908"


def opened(world: World, client: Client, kind: str, id: str, *beside: str) -> PlainPage:
    return PlainPage(client, columns.batch(world, client, kind, [id], beside))


def response() -> dict[str, Any]:
    """The data of the only response."""
    stored: Any = Annotation.objects.get(response__isnull=False).response
    return dict(stored["data"])


def test_without_scripts_a_column_is_renamed(world: World, client: Client) -> None:
    page = opened(world, client, "header_synonym", MEDALS)
    page.follow("Show suggestions")
    assert "Country" in page.text("//dl")
    select(page.named("column"), "c1")
    fill(page.field("New name"), "Country")
    page.press("Rename column")
    assert "Nation becomes Country" in page.text("//ol[contains(@class, 'changes')]")
    page.press("Submit")
    renamed = {operation["column"]: operation["new"] for operation in response()["operations"]}
    assert renamed == {"c1": "Country"}


def test_without_scripts_a_column_is_split_and_its_parts_written(world: World, client: Client) -> None:
    page = opened(world, client, "column_extension", JUMPS)
    select(page.named("column"), "c2")
    fill(page.field("Delimiter, template or pattern"), ", ")
    fill(page.field("Names of the new columns"), "City\nCountry")
    page.press("Split column")
    assert "City" in page.text("//thead")
    [name, *_] = [field for field in page.all("//input") if value_of(field) == ["City"]]
    fill(name, "Town")
    cells = page.field("Cells, one per line")
    fill(cells, value_of(cells)[0].replace("Sydney", "Perth"))
    page.press("Save names and cells")
    page.press("Submit")
    assert page.status == 422
    assert "“Perth” is not in “Sydney, Australia”" in page.text()
    assert not Annotation.objects.filter(response__isnull=False).exists()
    fill(page.named("reason"), "The source is wrong.")
    page.press("Submit")
    data = response()
    assert data["reason"] == "The source is wrong."
    [operation] = data["operations"]
    assert operation["into"][0]["header"] == "Town"
    assert operation["into"][0]["cells"][:2] == ["Perth", "New Delhi"]


def test_without_scripts_a_column_is_removed_and_restored(world: World, client: Client) -> None:
    page = opened(world, client, "column_masking", MEDALS)
    page.follow("Show relations between columns")
    assert "Total = Gold + Silver + Bronze" in page.text("//dl")
    for column in ("c5", "c0"):
        select(page.named("column"), column)
        page.press("Remove column")
    select(page.named("column"), "c0")
    page.press("Restore column")
    page.press("Submit")
    [operation] = response()["operations"]
    assert operation["column"] == "c5"


def test_without_scripts_a_column_of_a_related_table_is_added(world: World, client: Client) -> None:
    page = opened(world, client, "column_adding", GAMES, "capitals")
    check(page.field("Capital"))
    page.press("Add column")
    page.press("Submit")
    data = response()
    assert data["operations"][0]["header"] == "Capital"
    digest = columns.digest(world, client, "capitals")
    assert data["provenance"][0][1:] == [digest, "c1", "Countries of America"]
