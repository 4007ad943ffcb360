"""Keeping and removing rows and columns: what goes stays visible, comes back, and what is protected says why it stays."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.grids import VOTES, Grid

pytestmark = pytest.mark.django_db(transaction=True)
EVIDENCE: dict[str, Any] = {"protected": [["r2", "c2", "evidence"]], "marks": [["r2", "c2"]]}


@pytest.fixture
def grid(page: Page, live_server: Any) -> Grid:
    return Grid(page, live_server.url)


def removed(grid: Grid) -> list[tuple[str, str]]:
    return [(op["op"], op.get("row") or op["column"]) for op in grid.get("operations")]


def test_x_removes_the_row_in_the_header_the_column_and_puts_them_back(grid: Grid) -> None:
    grid.show(mode="structure")
    grid.press("x")
    grid.hears("Row 1 removed.")
    expect(grid.page.locator("tr.removed")).to_have_attribute("data-row", "r0")
    expect(grid.number("r0")).to_contain_text("removed")
    grid.press("ArrowUp", "ArrowRight", "x")
    grid.hears("Column Country removed.")
    expect(grid.header("c1")).to_contain_text("removed")
    expect(grid.cell("r4", "c1")).to_have_class("removed")
    assert removed(grid) == [("remove_row", "r0"), ("remove_column", "c1")]
    assert grid.get("operations")[1]["old"] == ["Country", "Nigeria", "Sweden", "Germany", "Japan"]
    grid.press("ArrowDown", "x")  # the removed row: it comes back, and the column is still whole
    grid.hears("Row 1 restored.")
    assert removed(grid) == [("remove_column", "c1")]
    assert len(grid.get("operations")[0]["old"]) == 6
    grid.press("Alt+Shift+Delete")
    grid.hears("Column Country restored.")
    assert removed(grid) == []
    grid.press("Control+z", "Control+z", "Control+z", "Control+z", "Control+y")
    assert removed(grid) == [("remove_row", "r0")]
    assert set(grid.events()) == {"grid-change"}


def test_a_range_of_rows_or_of_columns_goes_at_once(grid: Grid) -> None:
    grid.show(mode="structure")
    grid.press("Shift+ArrowDown", "Shift+ArrowDown", "Delete")
    assert removed(grid) == [("remove_row", "r0"), ("remove_row", "r1"), ("remove_row", "r2")]
    grid.press("Control+z", "Control+Home", "ArrowUp", "Shift+ArrowRight", "x")
    assert removed(grid) == [("remove_column", "c0"), ("remove_column", "c1")]
    grid.press("Control+z", "Control+Home", "Shift+ArrowRight", "Alt+Shift+Delete")
    assert removed(grid) == [("remove_column", "c0"), ("remove_column", "c1")]
    grid.page.get_by_role("button", name="Undo all").click()
    assert removed(grid) == []


def test_k_keeps_what_is_chosen_by_keys_and_nothing_else(grid: Grid) -> None:
    grid.show(mode="structure")
    grid.press("Shift+Space", "ArrowDown", "ArrowDown", "Shift+Space")
    grid.hears("Row 3 chosen. 2 rows chosen.")
    grid.press("ArrowRight", "ArrowRight", "Control+Space")
    grid.reads("2 rows and 1 column chosen.")
    expect(grid.page.locator(".area.chosen")).not_to_have_count(0)
    grid.press("k")
    grid.hears("2 rows and 1 column kept, the others removed.")
    grid.reads("2 rows, 1 column kept")
    rows = [("remove_row", f"r{i}") for i in (1, 3, 4)]
    assert removed(grid) == [*rows, *(("remove_column", f"c{j}") for j in (0, 1, 3))]
    assert grid.get("edited.rows") == [["15"], ["4"]]
    grid.press("Control+z")
    assert removed(grid) == []  # one step
    grid.press("Control+Home", "Shift+ArrowDown", "Shift+ArrowRight", "k")  # without a choice: the range
    assert grid.get("edited.rows") == [["Leslie", "Canada"], ["Nwosu", "Nigeria"]]


def test_rows_and_columns_are_chosen_by_mouse(grid: Grid) -> None:
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


def test_what_is_protected_stays_and_says_why(grid: Grid) -> None:
    grid.show(mode="structure", **EVIDENCE)
    grid.press("ArrowDown", "ArrowDown", "x")
    grid.hears("Row 3 cannot be removed: Row 3, Votes is protected (evidence).")
    grid.reads("Row 3 cannot be removed: Row 3, Votes is protected (evidence).")
    grid.press("ArrowRight", "ArrowRight", "Alt+Shift+Delete")
    grid.hears("Column Votes cannot be removed: Row 3, Votes is protected (evidence).")
    assert removed(grid) == []
    sign = grid.cell("r2", "c2").evaluate("td => getComputedStyle(td, '::after').content")
    assert "protected" in sign  # in words for screen readers
    grid.press("Control+Home", "Shift+ArrowDown", "k")  # what would be kept is elsewhere
    grid.hears("2 rows and 1 column kept, the others removed. Row 3 cannot be removed:")
    assert grid.get("edited.rows") == [["Leslie", "15"], ["Nwosu", "1,212"], ["Olsson", "4"]]


def test_only_what_is_allowed_can_be_removed(grid: Grid) -> None:
    grid.show(mode="structure", allowed=["remove_row"])
    grid.press("ArrowUp", "x")
    grid.hears("Columns cannot be removed here.")
    grid.press("ArrowDown", "Shift+Space", "k")
    assert [name for name, _ in removed(grid)] == ["remove_row"] * 4


def test_where_only_columns_may_go_every_word_is_of_columns(grid: Grid) -> None:
    grid.show(mode="structure", allowed=["remove_column"])
    expect(grid.page.get_by_role("grid")).to_have_attribute("aria-label", "Table, columns can be removed")
    button = grid.page.locator("[data-tool=remove]")
    expect(button).to_contain_text("Remove column")
    grid.press("ArrowDown", "ArrowRight", "x")
    grid.hears("Column Country removed.")
    expect(button).to_contain_text("Restore column")
    grid.press("Shift+Space")
    grid.hears("Rows cannot be removed here.")
    grid.press("x", "Space", "ArrowRight", "Space")
    grid.hears("Column Votes chosen. 2 columns chosen.")
    grid.press("k")
    grid.hears("2 columns kept, the others removed.")
    assert removed(grid) == [("remove_column", "c0"), ("remove_column", "c3")]
    grid.press("Control+z", "Control+Home", "k")  # nothing is chosen: the column one is in
    assert removed(grid) == [("remove_column", f"c{j}") for j in (1, 2, 3)]
    keys = grid.page.evaluate(
        "async () => (await import('/static/askew/grid-keys.js')).gridKeys('structure', ['remove_column'])"
    )
    said = " ".join(words for _, words in keys)
    assert not {"row", "rows", "row,"} & set(said.split())
    assert "remove or restore the column" in said


def test_where_only_rows_may_go_the_header_offers_nothing(grid: Grid) -> None:
    grid.show(mode="structure", allowed=["remove_row"])
    button = grid.page.locator("[data-tool=remove]")
    expect(button).to_contain_text("Remove row")
    grid.press("ArrowUp")
    expect(button).to_contain_text("Remove row")
    expect(button).to_have_attribute("aria-disabled", "true")
    grid.press("Control+Space")
    grid.hears("Columns cannot be removed here.")
    grid.press("Space", "k")
    assert removed(grid) == []
    grid.press("ArrowDown", "k")
    assert [name for name, _ in removed(grid)] == ["remove_row"] * 4


def test_letters_do_not_write_and_enter_submits(grid: Grid) -> None:
    grid.show(VOTES, mode="structure")
    grid.press("a", "5", "Enter")
    expect(grid.page.locator("textarea")).to_have_count(0)
    assert removed(grid) == []
    assert grid.events() == ["grid-submit"]


def test_thousands_of_rows_go_and_come_back(grid: Grid) -> None:
    grid.show({"header": ["a", "b"], "rows": [[f"{i}", "x"] for i in range(3000)]}, mode="structure")
    grid.press("Shift+ArrowDown", "k")
    assert len(grid.get("operations")) == 2999
    expect(grid.page.locator("tr.removed")).to_have_count(2998)
    grid.press("Control+z")
    expect(grid.page.locator("tr.removed")).to_have_count(0)


def test_columns_that_a_split_makes_are_in_sight(grid: Grid) -> None:
    header = [f"a column with a name {n}" for n in range(14)]
    rows = [[f"{i}-{j}" for j in range(14)] for i in range(40)]
    grid.show({"header": header, "rows": rows}, mode="structure")
    into = [
        {"column": name, "header": f"part {name}", "cells": [f"{name} {i}" for i in range(40)]}
        for name in ("n1", "n2")
    ]
    old = [header[12], *(row[12] for row in rows)]
    grid.page.evaluate(
        "(operation) => document.querySelector('askew-grid').act([operation])",
        {"op": "split_column", "column": "c12", "at": 12, "old": old, "into": into},
    )
    sheet = grid.page.locator(".sheet").bounding_box()
    assert sheet
    for column in ("n1", "n2"):
        box = grid.header(column).bounding_box()
        assert box
        assert sheet["x"] < box["x"] <= sheet["x"] + sheet["width"] - box["width"] + 1, column
    assert grid.page.evaluate("() => document.querySelector('.sheet').scrollTop") == 0


def test_a_header_has_a_button_that_removes_its_row_or_column_and_puts_it_back(grid: Grid) -> None:
    grid.show(mode="structure")
    table = grid.page.get_by_role("grid")
    expect(table.get_by_role("columnheader", name="Country", exact=True)).to_be_visible()
    expect(table.get_by_role("rowheader", name="3", exact=True)).to_be_visible()
    grid.header("c1").get_by_role("button", name="Remove column Country").click()
    grid.hears("Column Country removed.")
    expect(table.get_by_role("columnheader", name="Country, removed", exact=True)).to_be_focused()
    grid.number("r2").get_by_role("button", name="Remove row 3").click()
    grid.hears("Row 3 removed.")
    expect(table.get_by_role("rowheader", name="3, removed", exact=True)).to_be_visible()
    expect(grid.cell("r2", "c1")).to_be_focused()
    assert removed(grid) == [("remove_row", "r2"), ("remove_column", "c1")]
    grid.press("x")  # keys go on where the button was
    grid.hears("Row 3 restored.")
    grid.header("c1").get_by_role("button", name="Restore column Country").click()
    assert removed(grid) == []


def test_a_double_click_on_the_button_of_a_header_removes_once(grid: Grid) -> None:
    grid.show(mode="structure")
    grid.number("r0").get_by_role("button").dblclick()
    assert removed(grid) == [("remove_row", "r0")]


def test_the_button_of_a_header_acts_for_itself_whatever_is_chosen(grid: Grid) -> None:
    grid.show(mode="structure")
    grid.press("Shift+Space", "ArrowDown", "Shift+Space")
    grid.number("r1").get_by_role("button").click()
    assert removed(grid) == [("remove_row", "r1")]
    grid.press("k")
    assert removed(grid) == [("remove_row", f"r{place}") for place in (1, 2, 3, 4)]


def test_a_header_has_no_button_for_what_may_not_be_removed(grid: Grid) -> None:
    grid.show(mode="structure", allowed=["remove_row"])
    expect(grid.number("r0").get_by_role("button")).to_have_count(1)
    expect(grid.header("c0").get_by_role("button")).to_have_count(0)
    grid.show(mode="edit")
    expect(grid.page.locator("th button")).to_have_count(0)
    grid.show(mode="structure", **EVIDENCE)
    grid.number("r2").get_by_role("button").click()
    grid.reads("Row 3 cannot be removed")
    assert removed(grid) == []
