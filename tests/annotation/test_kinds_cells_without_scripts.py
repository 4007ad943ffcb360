"""Task types about cells, without scripts: forms, and what is submitted with them."""

from __future__ import annotations

from django.test import Client

from tests.annotation.cast import World
from tests.annotation.plain_page import PlainPage, check, select
from tests.modules.pages import cells


def test_without_scripts_relevant_cells_are_boxes_to_tick(world: World, client: Client) -> None:
    page = PlainPage(client, cells.batch(world, client, "relevant_cells", "cost"))
    for column in ("c1", "c2"):
        check(page.all(f"//input[@value='r1/{column}']")[0])
    page.press("Save draft")
    assert page.all("//input[@value='r1/c2'][@checked]")
    page.press("Submit")
    assert "By how much did the cost rise" not in page.text()
    [data] = cells.submitted(world, client)
    assert data["cells"] == [["r1", "c1"], ["r1", "c2"]]


def test_without_scripts_rows_and_columns_are_removed_and_restored(world: World, client: Client) -> None:
    page = PlainPage(client, cells.batch(world, client, "short_table", "cost"))
    removed = "//tr[contains(concat(' ', @class, ' '), ' removed ')]"
    select(page.named("row"), "5")
    page.press("Remove row")
    select(page.named("column"), "2017")
    page.press("Remove column")
    assert len(page.all(removed)) == 1
    select(page.named("row"), "5 (removed)")
    page.press("Restore row")
    assert not page.all(removed)
    page.follow("Show ways to work out the answer")
    check(page.field("2019 in row 2 (Cost) minus 2018 in row 2 (Cost)"))
    page.press("Submit")
    assert "By how much did the cost rise" not in page.text()
    [data] = cells.submitted(world, client)
    assert [operation["op"] for operation in data["operations"]] == ["remove_column"]
    assert data["program"]["op"] == "subtract"
