"""Editing cells and headers: keys, mouse and touch; several cells at once; what is odd, refused or left out is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.grids import VOTES, Grid, edited

pytestmark = pytest.mark.django_db(transaction=True)

FORMS = {
    "header": ["", "2019", "2018"],
    "rows": [
        ["Revenue", "1,234", "1,100"],
        ["Loss", "(9.9)", "(8.0)"],
        ["Margin", "12 %", "11 %"],
        ["Price", "$41.0", "$40.5"],
    ],
}


@pytest.fixture
def grid(page: Page, live_server: Any) -> Grid:
    return Grid(page, live_server.url)


def test_typing_replaces_a_value_and_the_old_one_stays_visible(grid: Grid) -> None:
    grid.show(mode="edit")
    grid.press("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight")
    grid.types("361")
    assert edited(grid.get("operations")) == {("r2", "c2"): "361"}  # while it is typed
    grid.press("Enter")
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
    grid.press("Control+y", "Control+Shift+z", "Control+y")
    assert edited(grid.get("operations")) == {("r2", "c2"): ""}
    grid.hears("Nothing to redo.")


def test_undo_goes_back_without_limit(grid: Grid) -> None:
    grid.show(mode="edit")
    for number in range(60):
        grid.types(str(number))
        grid.press("Enter")
    for _ in range(60):
        grid.press("Control+z")
    assert grid.get("operations") == []
    for _ in range(60):
        grid.press("Control+y")
    assert edited(grid.get("operations")) == {("r0", "c0"): "59"}


@pytest.mark.parametrize(
    ("row", "column", "text", "like"),
    [
        ("r0", "c1", "1400", "1,234"),
        ("r1", "c1", "-9.9", "(9.9)"),
        ("r2", "c1", "13%", "12 %"),
        ("r3", "c1", "39.125", "$41.0"),
        ("r3", "c1", "$4l.0", "$41.0"),
    ],
)
def test_a_value_in_another_form_is_pointed_out_beside_its_cell_and_never_rewritten(
    grid: Grid, row: str, column: str, text: str, like: str
) -> None:
    grid.show(FORMS, mode="edit")
    grid.cell(row, column).click()
    grid.types(text)
    hint = grid.cell(row, column).locator(".hint")
    expect(hint).to_be_visible()
    expect(hint).to_have_text(f"Different format from “{like}”")
    expect(grid.page.locator("textarea.editor")).to_have_attribute(
        "aria-describedby", hint.get_attribute("id") or "?"
    )
    grid.hears(f"Different format from “{like}”")
    grid.press("Enter")
    assert edited(grid.get("operations")) == {(row, column): text}
    expect(hint).to_be_visible()
    grid.press("ArrowLeft")
    expect(hint).to_have_count(0)
    sign = grid.cell(row, column).evaluate("td => getComputedStyle(td, '::after').content")
    assert "!" in sign  # the sign stays when people have gone on
    grid.press("ArrowRight", "Control+z")
    expect(grid.cell(row, column)).not_to_have_class("odd")


@pytest.mark.parametrize(
    ("row", "text"), [("r0", "1,401"), ("r1", "(10.4)"), ("r2", "13 %"), ("r3", "$39.5"), ("r0", "987")]
)
def test_a_value_in_the_form_of_its_column_is_not_remarked_upon(grid: Grid, row: str, text: str) -> None:
    grid.show(FORMS, mode="edit")
    grid.cell(row, "c1").click()
    grid.types(text)
    expect(grid.page.locator(".hint")).to_be_hidden()
    grid.press("Enter")
    expect(grid.page.locator(".odd")).to_have_count(0)


def test_headers_are_renamed_by_typing_f2_and_double_click(grid: Grid) -> None:
    grid.show(mode="edit", allowed=["set_cell", "rename_header"])
    grid.press("ArrowUp", "ArrowRight")
    expect(grid.header("c1")).to_be_focused()
    grid.types("Nation")
    grid.press("Enter")
    expect(grid.header("c1")).to_be_focused()
    expect(grid.header("c1").locator("del")).to_contain_text("Country")
    grid.hears("Header of column 2: Country becomes Nation.")
    grid.press("F2")
    grid.types("s")
    grid.press("Enter")
    grid.header("c2").dblclick()
    grid.types(" cast")
    grid.press("Enter")
    assert edited(grid.get("operations")) == {("h", "c1"): "Nations", ("h", "c2"): "Votes cast"}
    grid.press("Control+z", "Control+z", "Control+z")
    assert grid.get("operations") == []


@pytest.mark.parametrize("name", ["Representatives", "Votes of the electorate"])
def test_a_new_header_is_never_broken_within_a_word(grid: Grid, name: str) -> None:
    grid.show(mode="edit", allowed=["set_cell", "rename_header"])
    widths = [grid.header(column).evaluate("(th) => th.offsetWidth") for column in ("c0", "c1")]
    grid.header("c2").dblclick()
    grid.page.keyboard.press("ControlOrMeta+a")
    grid.types(name)
    grid.press("Enter")
    lines = (
        grid.header("c2")
        .locator("ins")
        .evaluate(
            """(part) => {
            const range = document.createRange();
            const text = part.firstChild;
            return [...text.data.matchAll(/\\S+/g)].map((word) => {
                range.setStart(text, word.index);
                range.setEnd(text, word.index + word[0].length);
                return range.getClientRects().length;
            });
        }"""
        )
    )
    assert lines == [1] * len(name.split())
    assert [grid.header(column).evaluate("(th) => th.offsetWidth") for column in ("c0", "c1")] == widths


def test_a_new_number_is_never_cut(grid: Grid) -> None:
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


def test_a_new_word_breaks_no_word_of_another_column(grid: Grid) -> None:
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


def test_a_column_with_room_to_spare_gives_some_of_it_to_a_new_word(grid: Grid) -> None:
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


def test_a_new_word_stays_whole_where_the_room_for_the_table_changes(grid: Grid) -> None:
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


@pytest.mark.parametrize("rows", [5, 2000])
def test_a_column_is_as_wide_as_its_new_words_need_for_as_long_as_they_stand_there(
    grid: Grid, rows: int
) -> None:
    table = {"header": ["No", "Id", "Note"], "rows": [["1", "b", "c"] for _ in range(rows)]}
    grid.page.set_viewport_size({"width": 1366, "height": 850})
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
    grid.types("w" * 300)
    grid.press("Enter")
    assert once[1] < widths_of(grid)[1] <= 360
    grid.press("Control+z", "Control+z", "Control+z")
    assert widths_of(grid) == before


def test_a_table_that_was_opened_with_changes_is_measured_again_without_them(grid: Grid) -> None:
    table = {"header": ["Id", "Note"], "rows": [["b", "c"]] * 5}
    grid.show(table, mode="edit")
    before = widths_of(grid)
    change = {"op": "set_cell", "row": "r0", "column": "c0", "at": [0, 0], "old": "b", "new": SHIPPING}
    grid.show(table, [change], mode="edit")
    assert widths_of(grid) != before
    grid.press("Control+z")
    assert widths_of(grid) == before


def test_what_is_not_allowed_is_refused_with_a_reason_that_is_seen_and_heard(grid: Grid) -> None:
    grid.show(mode="edit", allowed=["set_cell"], protected=[["r1", "c2", "evidence"]])
    expect(grid.page.get_by_role("button", name="Remove row")).to_have_count(0)
    expect(grid.page.get_by_role("button", name="Insert row")).to_have_count(0)
    for keys, words in [
        (["ArrowUp", "x"], "Columns cannot be renamed here."),
        (["ArrowDown", "Alt+Delete"], "Rows cannot be removed here."),
        (["Alt+Shift+Delete"], "Columns cannot be removed here."),
        (["Alt+Enter"], "Rows cannot be added here."),
        (
            ["ArrowDown", "End", "ArrowLeft", "5"],
            "Row 2, Votes is protected (evidence) and cannot be changed.",
        ),
        (["Delete"], "Row 2, Votes is protected (evidence)"),
    ]:
        grid.press(*keys)
        grid.hears(words)
        grid.reads(words)
    assert grid.get("operations") == []
    expect(grid.page.locator("textarea.editor")).to_have_count(0)
    grid.press("Home")
    grid.types("Ann")
    grid.press("Enter")
    assert edited(grid.get("operations")) == {("r1", "c0"): "Ann"}


def test_rows_and_columns_are_removed_in_ranges_and_put_back(grid: Grid) -> None:
    grid.show(mode="edit")
    grid.press("ArrowDown", "Shift+ArrowDown", "Alt+Delete")
    expect(grid.page.locator("tr.removed")).to_have_count(2)
    grid.hears("2 rows removed.")
    grid.press("Alt+Delete")
    expect(grid.page.locator("tr.removed")).to_have_count(0)
    grid.press("Alt+Shift+Delete")
    expect(grid.header("c0")).to_contain_text("removed")
    expect(grid.cell("r4", "c0")).to_have_class("removed")
    assert [op["op"] for op in grid.get("operations")] == ["remove_column"]
    grid.types("x")
    grid.hears("Column Competitor is removed. Restore it before you edit it.")
    grid.press("Alt+Delete", "Alt+Shift+Delete")  # both rows away, the column back
    operations = grid.get("operations")
    assert [(op["op"], op["old"][0]) for op in operations] == [
        ("remove_row", "Nwosu"),
        ("remove_row", "Olsson"),
    ]
    grid.press("Control+z", "Control+z", "Control+z", "Control+z", "Control+z")
    assert grid.get("operations") == []


def test_a_new_row_is_filled_and_taken_away(grid: Grid) -> None:
    grid.show(mode="edit")
    grid.press("Alt+Enter")
    grid.types("Zoë")
    grid.press("Tab")
    grid.types("Peru")
    grid.press("Enter")
    (operation,) = grid.get("operations")
    assert (operation["op"], operation["after"], operation["cells"]) == (
        "insert_row",
        "r0",
        ["Zoë", "Peru", "", ""],
    )
    expect(grid.page.locator("tr.inserted")).to_have_count(1)
    grid.press("Alt+Delete")
    assert grid.get("operations") == []


def test_the_focus_goes_from_cell_to_cell_and_never_through_nothing(grid: Grid) -> None:
    """A cell that loses its place in the order of Tab loses the focus later in Firefox, and keys would go nowhere."""
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


def test_cells_are_copied_and_pasted_as_in_a_spreadsheet_in_one_step(grid: Grid) -> None:
    grid.show(mode="edit")
    grid.press("Shift+ArrowDown", "Shift+ArrowRight")
    assert grid.copied() == "Leslie\tCanada\nNwosu\tNigeria"
    grid.press("ArrowDown", "Home")
    grid.pastes("A\tB\r\nC\tD\r\n")
    grid.hears("4 cells pasted.")
    assert edited(grid.get("operations")) == {
        ("r2", "c0"): "A",
        ("r2", "c1"): "B",
        ("r3", "c0"): "C",
        ("r3", "c1"): "D",
    }
    assert grid.copied() == "A\tB\nC\tD"  # what was pasted is selected
    grid.press("Control+z")
    assert grid.get("operations") == []


def test_what_lies_beyond_the_table_is_not_pasted_and_that_is_said(grid: Grid) -> None:
    grid.show(mode="edit", protected=[["r4", "c2", "evidence"]])
    grid.press("Control+End", "ArrowLeft")
    grid.pastes("1\t2\t3\n4\t5\t6")
    grid.hears("4 cells outside the table were ignored. Row 5, Votes is protected (evidence)")
    grid.reads("4 cells outside the table were ignored.")
    assert edited(grid.get("operations")) == {("r4", "c3"): "2"}


def test_one_text_fills_a_range_and_quoted_cells_keep_their_lines(grid: Grid) -> None:
    grid.show(mode="edit")
    grid.press("Control+End", "Shift+ArrowUp", "Shift+ArrowUp")
    grid.pastes("none")
    assert set(edited(grid.get("operations")).values()) == {"none"}
    assert len(grid.get("operations")) == 3
    grid.press("Control+Home")
    grid.pastes('"two\nlines, ""quoted"""\tplain')
    assert edited(grid.get("operations"))[("r0", "c0")] == 'two\nlines, "quoted"'
    assert edited(grid.get("operations"))[("r0", "c1")] == "plain"
    grid.press("Control+Home", "Shift+ArrowRight")
    assert grid.copied() == '"two\nlines, ""quoted"""\tplain'
    assert grid.cut()
    assert edited(grid.get("operations"))[("r0", "c0")] == ""
    grid.press("Control+Space", "Delete")  # a whole column: its name is left alone
    assert all(op["op"] == "set_cell" for op in grid.get("operations"))


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


def test_line_ends_of_the_source_are_kept(grid: Grid) -> None:
    grid.show({"header": ["a"], "rows": [["one\r\ntwo"]]}, mode="edit")
    grid.press("F2", "Enter")
    assert grid.get("operations") == []
    grid.press("F2", "Shift+Enter")
    grid.types("three")
    grid.press("Enter")
    assert edited(grid.get("operations")) == {("r0", "c0"): "one\r\ntwo\r\nthree"}


def test_dragging_selects_a_range_and_a_double_click_edits(grid: Grid) -> None:
    grid.show(mode="edit")
    grid.drag(grid.cell("r1", "c1"), grid.cell("r3", "c2"))
    grid.reads("Row 2 to row 4, Country to Votes: 6 cells")
    grid.press("Delete")
    assert len(grid.get("operations")) == 6
    grid.cell("r0", "c1").dblclick()
    grid.types("!")
    grid.cell("r4", "c0").click()  # somewhere else: the value is kept
    assert edited(grid.get("operations"))[("r0", "c1")] == "Canada!"
    grid.number("r4").click()
    grid.reads("Row 5, Competitor to Notes: 4 cells")
    grid.cell("r0", "c0").click()
    grid.cell("r1", "c1").click(modifiers=["Shift"])
    grid.reads("Row 1 to row 2, Competitor to Country: 4 cells")


def test_a_second_tap_edits_on_a_phone(new_context: Callable[..., BrowserContext], live_server: Any) -> None:
    context = new_context(viewport={"width": 390, "height": 800}, has_touch=True)
    grid = Grid(context.new_page(), live_server.url)
    grid.show(mode="edit")
    grid.cell("r2", "c2").tap()
    expect(grid.page.locator("textarea.editor")).to_have_count(0)
    grid.cell("r2", "c2").tap()
    grid.types("0")
    grid.cell("r0", "c0").tap()
    assert edited(grid.get("operations")) == {("r2", "c2"): "40"}
    grid.page.get_by_role("button", name="Undo").tap()
    assert grid.get("operations") == []


def test_a_page_changes_the_table_by_operations_that_can_be_undone(grid: Grid) -> None:
    grid.show(mode="edit")
    parts = ["Leslie", "Nwosu", "Olsson", "Adeyemi", "Tanaka"]
    split = {
        "op": "split_column",
        "column": "c0",
        "into": [
            {"column": "n1", "header": "First", "cells": [""] * 5},
            {"column": "n2", "header": "Last", "cells": parts},
        ],
    }
    assert grid.page.evaluate("op => document.querySelector('askew-grid').act([op])", split)
    grid.hears("Column 1 (Competitor) split into First | Last.")
    expect(grid.header("n2")).to_contain_text("from Competitor")
    expect(grid.header("c0")).to_contain_text("split")
    assert grid.get("freshIds(2)") == ["n3", "n4"]
    grid.page.evaluate("() => document.querySelector('askew-grid').focusCell()")
    grid.press("Home", "ArrowRight")
    grid.types("L.")
    grid.press("Enter")
    grid.page.evaluate("() => document.querySelector('askew-grid').takeBack(0)")
    grid.hears("Later changes depend on this one.")
    grid.press("Control+z", "Control+z")
    assert grid.get("operations") == []
    expect(grid.header("n2")).to_have_count(0)


def test_operations_that_do_not_fit_are_left_out(grid: Grid) -> None:
    stale = [{"op": "set_cell", "row": "r0", "column": "c0", "old": "Somebody", "new": "x"}]
    assert grid.show(VOTES, stale, mode="edit") is False
    assert grid.get("operations") == []
    expect(grid.cell("r0", "c0")).to_have_text("Leslie")


def test_a_table_of_headers_alone_gets_its_first_row(grid: Grid) -> None:
    grid.show({"header": ["a", "b"], "rows": []}, mode="edit")
    expect(grid.header("c0")).to_be_focused()
    grid.press("Alt+Enter")
    grid.types("1")
    grid.press("Enter")
    assert [op["cells"] for op in grid.get("operations")] == [["1", ""]]


MANY: dict[str, Any] = {
    "header": [f"column {j}" for j in range(8)],
    "rows": [[f"{i}.{j}" for j in range(8)] for i in range(600)],
}
"""4,800 cells."""


def paste_many(grid: Grid) -> None:
    grid.page.evaluate(
        r"""() => {
            const data = new DataTransfer();
            data.setData("text/plain", Array(600).fill(Array(8).fill("x").join("\t")).join("\n"));
            const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
            document.activeElement.dispatchEvent(event);
        }"""
    )


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (2, "at most 2 are allowed."),
        (1, "at most 1 change is allowed."),
        (None, "at most 1000 are allowed."),
    ],
)
def test_changing_thousands_of_cells_at_once_is_refused_with_a_reason(
    grid: Grid, limit: int | None, reason: str
) -> None:
    grid.show(MANY, mode="edit", limit=limit)
    told = grid.page.locator(".told")
    for act in (lambda: grid.press("Delete"), lambda: grid.press("Backspace"), lambda: paste_many(grid)):
        grid.press("Control+Home", "Control+a")
        act()
        expect(told).to_have_text(f"Nothing was changed: 4800 cells is too much at once; {reason}")
        assert grid.get("operations") == []
        grid.press("ArrowDown")
        expect(told).to_have_text(f"Nothing was changed: 4800 cells is too much at once; {reason}")
    if limit is not None:
        grid.press("Control+a", "Alt+Delete")
        expect(told).to_have_text(f"Nothing was changed: 600 rows is too much at once; {reason}")
        assert grid.get("operations") == []


def test_some_cells_are_changed_at_once_where_the_contract_asks_for_a_reason(grid: Grid) -> None:
    grid.show(MANY, mode="edit", limit=2)
    grid.press("Shift+ArrowDown", "Shift+ArrowDown", "Delete")
    assert len(grid.get("operations")) == 3


def test_cells_that_stay_as_they_are_do_not_count(grid: Grid) -> None:
    empty = {**MANY, "rows": [["only this", *[""] * 7], *[[""] * 8 for _ in range(599)]]}
    grid.show(empty, mode="edit", limit=2)
    grid.press("Control+a", "Delete")
    assert [operation["old"] for operation in grid.get("operations")] == ["only this"]
