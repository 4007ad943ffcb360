"""Tables with a mouse and with a finger: drags across cells, headers and row numbers, double clicks, taps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.grids import Grid, edited

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def grid(page: Page, live_server: Any) -> Grid:
    return Grid(page, live_server.url)


def test_a_mouse_marks_cells_rectangles_rows_and_columns(grid: Grid) -> None:
    grid.show(mode="select")
    grid.cell("r1", "c1").click()
    assert grid.get("cells") == [["r1", "c1"]]
    grid.cell("r1", "c1").click()
    assert grid.get("cells") == []
    grid.drag(grid.cell("r0", "c0"), grid.cell("r2", "c1"))
    assert grid.get("cells") == [[f"r{i}", f"c{j}"] for i in range(3) for j in range(2)]
    grid.drag(grid.cell("r1", "c1"), grid.cell("r1", "c0"))  # from a marked cell: taken away
    assert [row for row, _ in grid.get("cells")] == ["r0", "r0", "r2", "r2"]
    grid.header("c3").click()
    assert [cell for cell in grid.get("cells") if cell[1] == "c3"] == [[f"r{i}", "c3"] for i in range(5)]
    grid.number("r4").click()
    assert [cell for cell in grid.get("cells") if cell[0] == "r4"] == [["r4", f"c{j}"] for j in range(4)]
    grid.header("c3").click()
    assert ["r0", "c3"] not in grid.get("cells")
    expect(grid.header("c3")).to_be_focused()  # keys go on where the mouse was
    grid.press("Space", "ArrowDown", "Space")
    assert [cell for cell in grid.get("cells") if cell[1] == "c3"] == [[f"r{i}", "c3"] for i in range(1, 5)]


def test_a_mouse_selects_a_range_to_edit_and_a_double_click_edits_a_cell(grid: Grid) -> None:
    grid.show(mode="edit")
    grid.drag(grid.cell("r1", "c1"), grid.cell("r3", "c2"))
    grid.reads("Row 2 to row 4, Country to Votes: 6 cells")
    grid.press("Delete")
    assert len(grid.get("operations")) == 6
    grid.cell("r0", "c1").dblclick()
    grid.types("!")
    grid.cell("r4", "c0").click()  # another cell: the value is kept
    assert edited(grid.get("operations"))[("r0", "c1")] == "Canada!"
    grid.number("r4").click()
    grid.reads("Row 5, Competitor to Notes: 4 cells")
    grid.cell("r0", "c0").click()
    grid.cell("r1", "c1").click(modifiers=["Shift"])
    grid.reads("Row 1 to row 2, Competitor to Country: 4 cells")


def test_a_mouse_chooses_rows_and_columns_to_keep_and_removes_a_row_once(grid: Grid) -> None:
    grid.show(mode="structure")
    grid.number("r1").click()
    grid.number("r3").click()
    grid.header("c0").click()
    grid.drag(grid.header("c2"), grid.header("c3"))
    grid.reads("2 rows and 3 columns chosen.")
    grid.header("c3").click()
    grid.page.get_by_role("button", name="Keep only these").click()
    assert grid.get("edited.rows") == [["Nwosu", "1,212"], ["Adeyemi-Brandt", "97"]]
    grid.drag(grid.number("r0"), grid.number("r2"))
    grid.press("Escape")
    grid.hears("Nothing selected.")
    expect(grid.page.locator(".area")).to_have_count(0)

    grid.show(mode="structure")
    grid.number("r0").get_by_role("button").dblclick()
    assert [(op["op"], op["row"]) for op in grid.get("operations")] == [("remove_row", "r0")]


def test_a_tap_marks_a_cell_and_a_second_tap_edits_it(
    new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    context = new_context(viewport={"width": 390, "height": 800}, has_touch=True)
    grid = Grid(context.new_page(), live_server.url)
    grid.show(mode="select")
    grid.cell("r1", "c0").tap()
    grid.cell("r2", "c2").tap()
    assert grid.get("cells") == [["r1", "c0"], ["r2", "c2"]]
    grid.cell("r1", "c0").tap()
    assert grid.get("cells") == [["r2", "c2"]]
    # The sheet scrolls, the page does not.
    assert grid.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")

    grid.show(mode="edit")
    grid.cell("r2", "c2").tap()
    expect(grid.page.locator("textarea.editor")).to_have_count(0)
    grid.cell("r2", "c2").tap()
    grid.types("0")
    grid.cell("r0", "c0").tap()
    assert edited(grid.get("operations")) == {("r2", "c2"): "40"}
    grid.page.get_by_role("button", name="Undo").tap()
    assert grid.get("operations") == []
