"""Finding text in a table and zooming it in a real browser: what is found is in sight, and sizes are what they say.

Matches, keys and the stored size are tested without a browser in tests/modules/grid_find.test.js.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.grids import VOTES, Grid

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def grid(page: Page, live_server: Any) -> Grid:
    return Grid(page, live_server.url)


def test_a_hit_far_down_is_brought_into_sight_and_at_twice_the_size_all_is_still_there(grid: Grid) -> None:
    rows = [[f"row {i}", str(i)] for i in range(1200)]
    grid.show({"header": ["a", "b"], "rows": rows}, mode="select")
    grid.press("/")
    grid.types("row 1100")
    expect(grid.cell("r1100", "c0")).to_be_in_viewport()
    grid.press("Escape")
    expect(grid.cell("r1100", "c0")).to_be_focused()

    grid.page.set_viewport_size({"width": 640, "height": 430})  # 200 % on a screen of 1280 x 860
    grid.show(mode="edit")
    grid.press("Control+End")
    expect(grid.cell("r4", "c3")).to_be_in_viewport()
    grid.types("x")
    expect(grid.page.locator("textarea.editor")).to_be_in_viewport()
    assert grid.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


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
