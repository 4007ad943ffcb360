"""Editing cells and headers in a real browser: new words are whole, columns keep their widths, an input method writes.

What keys, copies and pastes do is tested without a browser in tests/modules/grid_edit.test.js.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.grids import Grid, edited

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def grid(page: Page, live_server: Any) -> Grid:
    return Grid(page, live_server.url)


LINES = """(part) => {
    const range = document.createRange();
    const text = part.firstChild;
    return [...text.data.matchAll(/\\S+/g)].map((word) => {
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        return range.getClientRects().length;
    });
}"""
"""In how many lines each word of an element is."""


def test_a_new_header_is_never_broken_within_a_word_and_a_new_number_never_cut(grid: Grid) -> None:
    for name in ("Representatives", "Votes of the electorate"):
        grid.show(mode="edit", allowed=["set_cell", "rename_header"])
        widths = [grid.header(column).evaluate("(th) => th.offsetWidth") for column in ("c0", "c1")]
        grid.header("c2").dblclick()
        grid.page.keyboard.press("ControlOrMeta+a")
        grid.types(name)
        grid.press("Enter")
        assert grid.header("c2").locator("ins").evaluate(LINES) == [1] * len(name.split())
        assert [grid.header(column).evaluate("(th) => th.offsetWidth") for column in ("c0", "c1")] == widths

    grid.show(mode="edit")
    cell = grid.cell("r2", "c2")
    cell.click()
    for number in ("1,234,567,890", "9" * 40):
        grid.types(number)
        grid.press("Enter")
        expect(cell.locator("ins")).to_have_text(number)
        assert cell.evaluate("(cell) => cell.scrollWidth <= cell.clientWidth")
        lines = cell.locator("ins").evaluate(
            "(part) => part.offsetHeight / parseFloat(getComputedStyle(part).lineHeight)"
        )
        assert number.startswith("9") or lines < 1.5
        cell.click()


BROKEN = """(cells) => cells.flatMap((cell) => {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const words = [];
    while (walker.nextNode()) {
        const { currentNode: text } = walker;
        for (const word of text.data.matchAll(/\\S+/g)) {
            const range = document.createRange();
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) words.push(word[0]);
        }
    }
    return words;
})"""
"""The words that are broken in two."""


def nearly_full(grid: Grid, room: int, table: dict[str, Any]) -> None:
    """Show a table in a window that is so wide that this much room (px) is left beside it."""
    grid.page.set_viewport_size({"width": 1800, "height": 850})
    grid.show(table, mode="edit")
    left: int = grid.page.evaluate(
        "() => document.querySelector('askew-grid').clientWidth - document.querySelector('.sheet').offsetWidth"
    )
    grid.page.set_viewport_size({"width": 1800 - left + room, "height": 850})
    grid.show(table, mode="edit")


def widths_of(grid: Grid) -> list[int]:
    found: list[int] = grid.page.locator("thead th[data-column]").evaluate_all(
        "(cells) => cells.map((cell) => Math.round(cell.getBoundingClientRect().width))"
    )
    return found


INSURANCE = "Rechtsschutzversicherung"
SHIPPING = "Donaudampfschifffahrtsgesellschaft"


def test_a_new_word_is_whole_and_breaks_no_word_of_another_column(grid: Grid) -> None:
    numbers = [f"eightletr {place}" for place in range(4)]
    table = {
        "header": ["Name", "Long", *(f"Col{place}" for place in range(4))],
        "rows": [[f"Ann {row}", SHIPPING, *numbers] for row in range(1, 5)],
    }
    nearly_full(grid, 40, table)
    before = widths_of(grid)
    grid.types(INSURANCE)
    grid.press("Enter")
    expect(grid.cell("r0", "c0").locator("ins")).to_have_text(INSURANCE)
    assert grid.page.locator("tbody td, thead th").evaluate_all(BROKEN) == []
    assert widths_of(grid)[1] == before[1]
    grid.press("Control+z")
    assert widths_of(grid) == before

    # A column with room to spare gives some of it to the new word.
    table = {
        "header": ["Name", "Notes"],
        "rows": [["Ann", "several short words that can be set in more lines than one"]] * 3,
    }
    nearly_full(grid, 10, table)
    grid.types(INSURANCE)
    grid.press("Enter")
    expect(grid.cell("r0", "c0").locator("ins")).to_have_text(INSURANCE)
    assert grid.page.locator("tbody td, thead th").evaluate_all(BROKEN) == []
    assert grid.page.locator(".sheet").evaluate("(sheet) => sheet.scrollWidth <= sheet.clientWidth")

    # The word stays whole where the room for the table changes.
    row = ["Ann", "several short words that can be set in more lines than one"]
    grid.page.set_viewport_size({"width": 1000, "height": 850})
    grid.show({"header": ["Name", "Notes"], "rows": [row] * 3}, mode="edit")
    grid.types(INSURANCE)
    grid.press("Enter")
    expect(grid.cell("r0", "c0").locator("ins")).to_have_text(INSURANCE)
    columns = "document.querySelector('.tabular').style.getPropertyValue('--columns')"
    before = grid.page.evaluate(columns)
    grid.page.set_viewport_size({"width": 600, "height": 850})
    grid.page.wait_for_function(f"(before) => {columns} !== before", arg=before)
    assert grid.page.locator("tbody td, thead th").evaluate_all(BROKEN) == []


def test_a_column_is_as_wide_as_its_new_words_as_long_as_they_are_there(grid: Grid) -> None:
    grid.page.set_viewport_size({"width": 1366, "height": 850})
    for rows in (5, 2000):
        table = {"header": ["No", "Id", "Note"], "rows": [["1", "b", "c"] for _ in range(rows)]}
        grid.show(table, mode="edit")
        before = widths_of(grid)
        grid.press("ArrowRight")
        grid.types(SHIPPING)
        grid.press("Enter")
        assert grid.page.locator("tbody td, thead th").evaluate_all(BROKEN) == []
        once = widths_of(grid)
        grid.types(SHIPPING)
        grid.press("Enter")
        assert widths_of(grid) == once
        grid.types("w")
        grid.page.keyboard.insert_text("w" * 299)
        grid.press("Enter")
        assert once[1] < widths_of(grid)[1] <= 360
        grid.press("Control+z", "Control+z", "Control+z")
        assert widths_of(grid) == before

    # A table that was opened with changes is measured again without them.
    table = {"header": ["Id", "Note"], "rows": [["b", "c"]] * 5}
    grid.show(table, mode="edit")
    before = widths_of(grid)
    change = {"op": "set_cell", "row": "r0", "column": "c0", "at": [0, 0], "old": "b", "new": SHIPPING}
    grid.show(table, [change], mode="edit")
    assert widths_of(grid) != before
    grid.press("Control+z")
    assert widths_of(grid) == before


def test_a_typed_value_is_kept_by_enter_and_dropped_by_escape(grid: Grid) -> None:
    """A browser tells a field that is taken away that it loses the focus, which keeps a value elsewhere."""
    grid.show(mode="edit")
    grid.press("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight")
    grid.types("361")
    assert edited(grid.get("operations")) == {("r2", "c2"): "361"}  # while it is typed
    grid.press("Enter")
    expect(grid.cell("r2", "c2")).to_be_focused()
    expect(grid.cell("r2", "c2").locator("del")).to_contain_text("4")
    expect(grid.cell("r2", "c2").locator("ins")).to_have_text("361")
    grid.hears("Row 3, Votes: 4 becomes 361.")
    grid.press("F2")
    grid.types("0")
    grid.press("Escape")
    assert edited(grid.get("operations")) == {("r2", "c2"): "361"}
    grid.press("Delete")
    assert edited(grid.get("operations")) == {("r2", "c2"): ""}
    grid.press("Control+z", "Control+z")
    assert grid.get("operations") == []


def test_the_focus_goes_from_cell_to_cell_and_is_never_lost_in_between(grid: Grid) -> None:
    """A cell that is taken out of the tab order loses the focus, in Firefox later, and keys would have no effect."""
    grid.show(mode="edit")
    grid.page.evaluate(
        """() => {
            window.lost = [];
            addEventListener("focusout", ({ target, relatedTarget }) => {
                if (!relatedTarget) lost.push(target.outerHTML);
            }, true);
        }"""
    )
    grid.press("Alt+Enter", "ArrowDown", "Shift+ArrowDown", "Escape")
    grid.pastes("A\tB\nC\tD")
    grid.press("ArrowUp", "ArrowUp", "Tab", "Home")
    assert grid.page.evaluate("() => lost") == []
    expect(grid.page.locator("td:focus")).to_have_count(1)


def test_an_input_method_writes_its_text_whole_and_its_enter_keeps_nothing(grid: Grid) -> None:
    grid.show(mode="edit")
    cdp = grid.page.context.new_cdp_session(grid.page)

    def composes(key: str, text: str) -> None:
        """A key that goes to the input method, and what it shows for it so far."""
        for kind in ("rawKeyDown", "keyUp"):
            cdp.send("Input.dispatchKeyEvent", {"type": kind, "key": key, "windowsVirtualKeyCode": 229})
        at = {"selectionStart": len(text), "selectionEnd": len(text)}
        cdp.send("Input.imeSetComposition", {"text": text, **at})

    composes("Process", "と")  # the first key opens the field
    composes("Process", "とう")
    editor = grid.page.locator("textarea.editor")
    expect(editor).to_have_value("とう")
    for key in ("Enter", "Escape", "Tab", "ArrowDown"):  # the input method's own: it chooses among its words
        grid.page.evaluate(
            """(key) => document.activeElement.dispatchEvent(
                new KeyboardEvent("keydown", { key, isComposing: true, bubbles: true, cancelable: true }))""",
            key,
        )
        expect(editor).to_have_value("とう")
    expect(editor).to_be_focused()
    assert "grid-submit" not in grid.events()
    assert grid.get("here") == {"row": "r0", "column": "c0"}
    cdp.send("Input.insertText", {"text": "東"})  # what it settles on
    expect(editor).to_have_value("東")
    grid.press("Enter")
    assert edited(grid.get("operations")) == {("r0", "c0"): "東"}
    expect(grid.cell("r0", "c0")).to_be_focused()
    grid.press("F2")
    composes("Process", "京")
    cdp.send("Input.insertText", {"text": "京都"})
    grid.press("Enter")
    assert edited(grid.get("operations")) == {("r0", "c0"): "東京都"}


def test_signs_of_cells_are_not_by_colour_alone(grid: Grid) -> None:
    sign = "td => getComputedStyle(td, '::after').content"
    grid.show({"header": ["a"], "rows": [["1,234"], ["2,345"]]}, mode="edit")
    grid.types("many")
    grid.press("Enter", "ArrowDown")
    expect(grid.cell("r0", "c0")).to_have_class("n changed odd")
    assert "!" in grid.cell("r0", "c0").evaluate(sign)
    grid.show(mode="select", cells=[["r2", "c2"]])
    assert "✓" in grid.cell("r2", "c2").evaluate(sign)
    grid.show(mode="structure", protected=[["r2", "c2", "evidence"]])
    assert "protected" in grid.cell("r2", "c2").evaluate(sign)  # in words for screen readers
