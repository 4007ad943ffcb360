"""Finding text in a table and showing it larger or smaller, without taking the browser's own keys away."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.grids import VOTES, Grid

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def grid(page: Page, live_server: Any) -> Grid:
    return Grid(page, live_server.url)


def bar(grid: Grid) -> Any:
    return grid.page.locator(".find-bar")


def test_hits_are_counted_marked_and_gone_through(grid: Grid) -> None:
    grid.show(mode="edit")
    grid.press("Control+f")
    grid.types("AN")  # Canada, Adeyemi-Brandt, Germany, Tanaka, Japan: whatever the case
    expect(bar(grid)).to_contain_text("1 of 5 matches")
    expect(grid.page.locator(".hit")).to_have_count(5)
    expect(grid.page.locator(".hit.now")).to_have_text("Canada")
    grid.press("Enter")
    expect(grid.page.locator(".hit.now")).to_have_text("Adeyemi-Brandt")
    grid.press("Shift+Enter", "Shift+Enter")
    expect(bar(grid)).to_contain_text("5 of 5 matches")
    grid.press("F3")
    expect(grid.page.locator(".hit.now")).to_have_text("Canada")
    bar(grid).get_by_role("button", name="Next match").click()
    expect(grid.page.locator(".hit.now")).to_have_text("Adeyemi-Brandt")
    grid.page.get_by_label("Find in the table").last.focus()
    grid.press("Escape")
    expect(bar(grid)).to_be_hidden()
    expect(grid.cell("r3", "c0")).to_be_focused()  # where it was found
    expect(grid.page.locator(".hit")).to_have_count(0)
    assert grid.get("operations") == []


def test_the_browsers_own_search_opens_the_second_time(grid: Grid) -> None:
    grid.show(mode="select")
    grid.page.evaluate(
        """() => {
            window.taken = [];
            addEventListener("keydown", (event) => setTimeout(() => window.taken.push(event.defaultPrevented)), true);
        }"""
    )
    for _ in range(2):
        grid.page.evaluate(
            """() => document.activeElement.dispatchEvent(new KeyboardEvent("keydown",
                { key: "f", ctrlKey: true, bubbles: true, cancelable: true }))"""
        )
        expect(bar(grid)).to_be_visible()
    grid.page.wait_for_function("() => window.taken.length === 2")
    assert grid.page.evaluate("() => window.taken") == [True, False]


def test_a_slash_finds_where_letters_do_not_write_and_writes_where_they_do(grid: Grid) -> None:
    grid.show(mode="select")
    grid.press("/")
    grid.types("olsson")
    grid.press("Escape", "Space")
    assert grid.get("cells") == [["r2", "c0"]]
    grid.show(mode="edit")
    grid.press("/")
    expect(grid.page.locator("textarea.editor")).to_have_value("/")
    expect(bar(grid)).to_be_hidden()


def test_accents_and_blanks_do_not_matter_and_headers_are_found(grid: Grid) -> None:
    table = {"header": ["Überschrift", "b"], "rows": [["Čeněk\u00a0Novák", "x"], ["Zoë", "y"]]}
    grid.show(table, mode="structure")
    for text, found in (("cenek novak", "Čeněk\u00a0Novák"), ("uber", "Überschrift"), ("zoe", "Zoë")):
        grid.press("Control+f")
        grid.types(text)
        expect(grid.page.locator(".hit.now")).to_have_text(found)
        grid.press("Escape")
    assert grid.get("here") == {"row": "r1", "column": "c0"}


def test_a_hit_far_down_is_brought_into_sight(grid: Grid) -> None:
    rows = [[f"row {i}", str(i)] for i in range(1200)]
    grid.show({"header": ["a", "b"], "rows": rows}, mode="select")
    grid.press("/")
    grid.types("row 1100")
    expect(grid.cell("r1100", "c0")).to_be_in_viewport()
    grid.press("Escape")
    expect(grid.cell("r1100", "c0")).to_be_focused()


def test_hits_follow_when_the_table_changes(grid: Grid) -> None:
    grid.show(mode="edit")
    grid.press("Control+f")
    grid.types("olsson")
    expect(grid.page.locator(".hit")).to_have_count(1)
    grid.cell("r0", "c0").click()
    grid.types("Olsson")
    grid.press("Enter")
    expect(grid.page.locator(".hit")).to_have_count(2)
    expect(bar(grid)).to_contain_text("2 matches")


def test_the_table_has_five_sizes_that_this_browser_remembers(grid: Grid) -> None:
    grid.show(mode="select")
    size = "td => td.getBoundingClientRect().height"
    plain = grid.cell("r0", "c0").evaluate(size)
    grid.press("Control++")
    grid.reads("125 %")
    larger = grid.cell("r0", "c0").evaluate(size)
    assert larger > plain * 1.15
    grid.press("Control+=")
    grid.reads("150 %")
    more = grid.page.get_by_role("button", name="More tools")
    more.click()
    expect(grid.page.get_by_role("button", name="Zoom in")).to_have_attribute("aria-disabled", "true")
    grid.page.keyboard.press("Escape")
    grid.cell("r0", "c0").focus()
    grid.press("Control+0")
    assert abs(grid.cell("r0", "c0").evaluate(size) - plain) < 1
    more.click()
    for _ in range(2):
        grid.page.get_by_role("button", name="Zoom out").click()
    grid.reads("75 %")
    assert grid.cell("r0", "c0").evaluate(size) < plain * 0.85
    again = Grid(grid.page, grid.page.url.split("/sign-in")[0])
    again.show(mode="read", table=VOTES)
    again.reads("75 %")


def test_at_the_largest_size_the_key_is_the_browsers_again(grid: Grid) -> None:
    grid.show(mode="read")
    press = """() => !document.querySelector(".sheet").dispatchEvent(new KeyboardEvent("keydown",
        { key: "+", ctrlKey: true, bubbles: true, cancelable: true }))"""
    taken = [grid.page.evaluate(press) for _ in range(3)]
    assert taken == [True, True, False]


def test_at_twice_the_size_everything_is_still_there(page: Page, live_server: Any) -> None:
    page.set_viewport_size({"width": 640, "height": 430})  # 200 % on a screen of 1280 x 860
    grid = Grid(page, live_server.url)
    grid.show(mode="edit")
    grid.press("Control+End")
    expect(grid.cell("r4", "c3")).to_be_in_viewport()
    grid.types("x")
    expect(grid.page.locator("textarea.editor")).to_be_in_viewport()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
