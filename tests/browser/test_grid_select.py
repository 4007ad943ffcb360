"""Marking cells: by keys, by mouse, by touch; what is marked is seen, heard and given in the order of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.grids import VOTES, Grid

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def grid(page: Page, live_server: Any) -> Grid:
    return Grid(page, live_server.url)


def test_space_marks_a_cell_and_takes_the_mark_away(grid: Grid) -> None:
    grid.show(mode="select")
    grid.press("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "Space")
    assert grid.get("cells") == [["r2", "c2"]]
    grid.hears("Row 3, Votes, marked. 1 cell marked.")
    grid.reads("1 cell marked")
    expect(grid.cell("r2", "c2")).to_have_attribute("aria-selected", "true")
    expect(grid.cell("r1", "c2")).to_have_attribute("aria-selected", "false")
    sign = grid.cell("r2", "c2").evaluate("td => getComputedStyle(td, '::after').content")
    assert "✓" in sign  # not by colour alone
    grid.press("Space")
    assert grid.get("cells") == []
    grid.hears("Row 3, Votes, no longer marked. 0 cells marked.")
    assert grid.events() == ["grid-change", "grid-change"]


def test_a_range_is_marked_at_once_and_escape_drops_it_before_it_leaves(grid: Grid) -> None:
    grid.show(mode="select", cells=[["r4", "c3"]])
    grid.press("Shift+ArrowDown", "Shift+ArrowRight")
    grid.hears("Row 1 to row 2, Competitor to Country: 4 cells selected")
    expect(grid.page.locator(".area.range")).not_to_have_count(0)
    grid.press("Space")
    assert grid.get("cells") == [["r0", "c0"], ["r0", "c1"], ["r1", "c0"], ["r1", "c1"], ["r4", "c3"]]
    expect(grid.page.locator(".area")).to_have_count(0)
    grid.press("Shift+End")
    grid.press("Escape")
    assert "grid-leave" not in grid.events()
    grid.press("Escape")
    assert grid.events() == ["grid-leave"]


def test_rows_columns_and_everything_are_marked_by_the_keys_of_a_spreadsheet(grid: Grid) -> None:
    grid.show(mode="select")
    grid.press("ArrowDown", "Shift+Space")
    assert grid.get("cells") == [["r1", f"c{j}"] for j in range(4)]
    grid.press("Control+Space")
    assert len(grid.get("cells")) == 8
    grid.press("Control+a")
    assert len(grid.get("cells")) == 20
    grid.press("Control+a")
    assert grid.get("cells") == []
    grid.press("Control+z", "Control+z")
    assert len(grid.get("cells")) == 8
    grid.press("Control+y")
    assert len(grid.get("cells")) == 20
    grid.press("Control+Home", "Control+Shift+End", "Delete")
    assert grid.get("cells") == []


def test_a_mouse_toggles_cells_draws_rectangles_and_marks_rows_and_columns(grid: Grid) -> None:
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


def test_shift_and_click_extend_a_range_that_space_or_the_button_marks(grid: Grid) -> None:
    grid.show(mode="select")
    grid.cell("r1", "c1").click()
    grid.press("Space")
    grid.cell("r3", "c2").click(modifiers=["Shift"])
    assert grid.get("cells") == []
    grid.page.get_by_role("button", name="Mark").click()
    assert len(grid.get("cells")) == 6


def test_arrows_reach_headers_and_numbers_which_mark_all_that_they_stand_for(grid: Grid) -> None:
    grid.show(mode="select")
    grid.press("ArrowRight", "ArrowUp")
    expect(grid.header("c1")).to_be_focused()
    expect(grid.header("c1")).to_have_attribute("aria-selected", "false")
    grid.reads("Column Country: 5 cells")
    grid.press("Enter")
    assert grid.get("cells") == [[f"r{i}", "c1"] for i in range(5)]
    grid.hears("Column Country: 5 cells, marked. 5 cells marked.")
    expect(grid.header("c1")).to_have_attribute("aria-selected", "true")
    grid.press("ArrowDown", "ArrowDown", "Home", "ArrowLeft")
    expect(grid.number("r1")).to_be_focused()
    expect(grid.number("r1")).to_have_attribute("aria-selected", "false")
    expect(grid.header("c1")).not_to_have_attribute("aria-selected", "true")
    grid.reads("Row 2: 4 cells")
    grid.press("Space")
    assert [cell for cell in grid.get("cells") if cell[0] == "r1"] == [["r1", f"c{j}"] for j in range(4)]
    grid.hears("Row 2: 4 cells, marked. 8 cells marked.")
    grid.press("Enter")
    grid.hears("Row 2: 4 cells, no longer marked. 4 cells marked.")
    expect(grid.number("r1")).to_have_attribute("aria-selected", "false")
    assert "grid-submit" not in grid.events()  # Enter submits from a cell


def test_headers_extend_to_a_range_of_columns_and_the_corner_is_the_whole_table(grid: Grid) -> None:
    grid.show(mode="select")
    grid.press("ArrowUp", "Shift+ArrowRight")
    grid.hears("Row 1 to row 5, Competitor to Country: 10 cells selected")
    expect(grid.page.locator(".area.range")).not_to_have_count(0)
    grid.press("Space")
    assert grid.get("cells") == [[f"r{i}", f"c{j}"] for i in range(5) for j in range(2)]
    grid.press("Control+ArrowLeft", "Control+ArrowLeft")
    grid.reads("The whole table: 20 cells")
    grid.press("Space")
    assert len(grid.get("cells")) == 20
    grid.press("ArrowDown", "Shift+ArrowDown", "Space")
    assert {row for row, _ in grid.get("cells")} == {"r2", "r3", "r4"}
    grid.press("PageUp", "ArrowUp", "PageUp")
    assert grid.get("here") == {"row": "h", "column": None}
    grid.press("ArrowRight")
    assert grid.copied() == "\n".join(row[0] for row in VOTES["rows"])


def test_a_header_of_a_table_without_rows_marks_nothing(grid: Grid) -> None:
    grid.show({"header": ["a", "b"], "rows": []}, mode="select")
    expect(grid.header("c0")).to_be_focused()
    grid.press("Space", "Enter", "ArrowLeft", "Space", "Control+a")
    assert grid.get("cells") == []


def test_a_tap_toggles_on_a_phone(new_context: Callable[..., BrowserContext], live_server: Any) -> None:
    context = new_context(viewport={"width": 390, "height": 800}, has_touch=True)
    grid = Grid(context.new_page(), live_server.url)
    grid.show(mode="select")
    grid.cell("r1", "c0").tap()
    grid.cell("r2", "c2").tap()
    assert grid.get("cells") == [["r1", "c0"], ["r2", "c2"]]
    grid.cell("r1", "c0").tap()
    assert grid.get("cells") == [["r2", "c2"]]
    wide = grid.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert wide  # the sheet scrolls, the page does not


def test_marks_on_thousands_of_cells_reach_those_out_of_sight(grid: Grid) -> None:
    rows = [[f"{i}", f"{i * 7}"] for i in range(1500)]
    grid.show({"header": ["a", "b"], "rows": rows}, mode="select")
    grid.press("Control+a")
    assert len(grid.get("cells")) == 3000
    expect(grid.cell("r1499", "c1")).to_have_attribute("aria-selected", "true")
    grid.press("Control+z")
    expect(grid.cell("r1499", "c1")).to_have_attribute("aria-selected", "false")


def test_a_range_over_thousands_of_rows_is_a_few_rectangles(grid: Grid) -> None:
    grid.show({"header": ["a", "b"], "rows": [[f"{i}", ""] for i in range(2000)]}, mode="select")
    expect(grid.cell("r1999", "c1")).to_be_attached()
    grid.press("Control+Shift+End")
    grid.reads("Row 1 to row 2000, a to b: 4000 cells")
    groups = grid.page.locator("tbody").count()
    assert grid.page.locator(".areas").count() == groups < 60
    grid.press("Shift+Control+Home")
    expect(grid.page.locator(".areas")).to_have_count(0)


def test_the_grid_says_what_it_is_to_screen_readers(grid: Grid) -> None:
    grid.show(VOTES, mode="select")
    table = grid.page.get_by_role("grid")
    expect(table).to_have_attribute("aria-multiselectable", "true")
    expect(table).to_have_attribute("aria-rowcount", "6")
    expect(table).to_have_attribute("aria-colcount", "5")
    expect(table.get_by_role("columnheader")).to_have_count(5)
    expect(table.get_by_role("rowheader")).to_have_count(5)
    expect(table.get_by_role("gridcell")).to_have_count(20)
    expect(table).to_have_attribute("aria-readonly", "true")
    help_text = grid.page.locator(f"#{table.get_attribute('aria-describedby')}")
    expect(help_text).to_contain_text("Space marks the cell")
    expect(grid.page.locator("[tabindex='0']:is(td, th)")).to_have_count(1)  # one stop for Tab


def test_a_range_is_copied_as_spreadsheets_do(grid: Grid) -> None:
    grid.show(mode="select")
    grid.press("ArrowDown", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowDown")
    assert grid.copied() == "Nigeria\t1,212\nSweden\t4"
    assert grid.get("cells") == []


def test_enter_submits(grid: Grid) -> None:
    grid.show(mode="select")
    grid.press("Enter")
    assert grid.events() == ["grid-submit"]
