"""Tables to read and to compare: evidence is pointed out and hidden, edits are shown old beside new."""

from __future__ import annotations

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.grids import VOTES, Grid
from tests.browser.test_road import AXE

pytestmark = pytest.mark.django_db(transaction=True)

EDIT: list[dict[str, Any]] = [
    {"op": "rename_header", "column": "c1", "old": "Country", "new": "Nation"},
    {"op": "set_cell", "row": "r2", "column": "c2", "old": "4", "new": "361"},
    {"op": "remove_row", "row": "r3", "old": VOTES["rows"][3]},
    {"op": "insert_row", "row": "n1", "after": "r0", "cells": ["Ann", "Peru", "5", ""]},
    {
        "op": "split_column",
        "column": "c0",
        "into": [
            {"column": "n2", "header": "First", "cells": ["", "", "", "", ""]},
            {"column": "n3", "header": "Last", "cells": ["Leslie", "Ann", "Nwosu", "Olsson", "Tanaka"]},
        ],
    },
]


@pytest.fixture
def grid(page: Page, live_server: Any) -> Grid:
    return Grid(page, live_server.url)


def compare(grid: Grid, operations: list[dict[str, Any]], table: dict[str, Any] = VOTES) -> None:
    grid.page.evaluate(
        "([table, operations]) => document.querySelector('askew-grid').compare(table, operations)",
        [table, operations],
    )
    grid.page.locator(".sheet").focus()


def test_marked_cells_are_pointed_out_hidden_and_shown_again(grid: Grid) -> None:
    grid.show(mode="read", marks=[["r2", "c2"], ["r1", "c3"], ["h", "c2"]])
    expect(grid.cell("r2", "c2")).to_have_text("marked: 4")  # in words for a screen reader
    expect(grid.header("c2")).to_have_class("n evidence")
    grid.page.evaluate("() => document.querySelector('askew-grid').hideMarked(true)")
    grid.hears("3 marked cells hidden.")
    grid.reads("3 marked cells, hidden")
    expect(grid.cell("r2", "c2")).to_have_text("hidden")
    expect(grid.cell("r1", "c3")).to_have_text("hidden")
    expect(grid.cell("r1", "c2")).to_have_text("1,212")
    grid.page.evaluate("() => document.querySelector('askew-grid').hideMarked(false)")
    grid.hears("3 marked cells shown again.")
    expect(grid.cell("r1", "c3")).to_contain_text("withdrew")


def test_what_is_hidden_is_not_found_either(grid: Grid) -> None:
    grid.show(mode="read", marks=[["r1", "c3"]])
    grid.page.evaluate("() => document.querySelector('askew-grid').hideMarked(true)")
    grid.press("/")
    grid.types("second round")
    expect(grid.page.locator(".find-bar")).to_contain_text("No matches")


def test_one_goes_from_one_marked_cell_to_the_next(grid: Grid) -> None:
    grid.show(mode="read", marks=[["r4", "c0"], ["r1", "c2"]])
    button = grid.page.get_by_role("button", name="Next marked cell")
    button.click()
    grid.hears("Row 2, Votes: 1,212. Marked cell 1 of 2.")
    button.click()
    grid.hears("Row 5, Competitor: Tanaka. Marked cell 2 of 2.")
    expect(grid.cell("r4", "c0")).to_have_attribute("data-here", "")


def test_a_table_to_read_leaves_letters_and_digits_to_the_page(grid: Grid) -> None:
    grid.show(mode="read")
    grid.page.evaluate(
        "() => { window.keys = []; document.addEventListener('keydown', e => keys.push(e.key)); }"
    )
    expect(grid.page.locator(".sheet")).to_be_focused()
    grid.press("1", "s", "ArrowDown", "Enter")
    assert grid.page.evaluate("() => keys") == ["1", "s", "ArrowDown", "Enter"]
    assert grid.get("operations") == []
    expect(grid.page.get_by_role("table", exact=True)).to_be_visible()


def test_tab_goes_past_a_table_to_read_and_back_to_it(grid: Grid) -> None:
    """The table itself has one stop, so that the arrows scroll it; its cells have none."""
    grid.show({"header": ["a", "b"], "rows": [[f"{i}", "x"] for i in range(300)]}, mode="read")
    grid.page.evaluate(
        "() => document.getElementById('main').append(Object.assign(document.createElement('button'), {id: 'after'}))"
    )
    grid.page.locator(".sheet").focus()
    grid.page.keyboard.press("Tab")
    expect(grid.page.locator("#after")).to_be_focused()
    grid.page.keyboard.press("Shift+Tab")
    expect(grid.page.locator(".sheet")).to_be_focused()


def test_an_edit_is_shown_old_beside_new_with_what_went_and_what_came(grid: Grid) -> None:
    compare(grid, EDIT)
    expect(grid.cell("r2", "c2").locator("del")).to_contain_text("4")
    expect(grid.cell("r2", "c2").locator("ins")).to_have_text("361")
    expect(grid.header("c1").locator("ins")).to_have_text("Nation")
    expect(grid.page.locator("tr.removed")).to_have_attribute("data-row", "r3")
    expect(grid.page.locator("tr.inserted")).to_have_attribute("data-row", "n1")
    expect(grid.header("c0")).to_contain_text("split")
    expect(grid.header("n2")).to_contain_text("from Competitor")
    order = grid.page.eval_on_selector_all("tbody tr", "rows => rows.map(row => row.dataset.row)")
    assert order == ["r0", "n1", "r1", "r2", "r3", "r4"]
    columns = grid.page.eval_on_selector_all(
        "thead th[data-column]", "ths => ths.map(th => th.dataset.column)"
    )
    assert columns == ["c0", "n2", "n3", "c1", "c2", "c3"]


def test_n_goes_from_change_to_change_in_the_order_of_the_table(grid: Grid) -> None:
    compare(grid, EDIT)
    said = []
    for _ in range(5):
        grid.press("n")
        said.append(grid.page.locator("askew-grid > [role=status]").inner_text())
    assert [words.split(". ")[0] for words in said] == [f"Change {n} of 5" for n in range(1, 6)]
    assert [words.split(". ")[1].split(":")[0] for words in said] == [
        "Column 1 (Competitor) split into First | Last",
        "Header of column 2",
        "New row below row 1",
        "Row 3, Votes",
        "Row 4 removed",
    ]
    expect(grid.page.locator("[data-here]")).to_have_count(1)
    grid.press("Shift+N")
    expect(grid.cell("r2", "c2")).to_have_attribute("data-here", "")
    grid.press("n", "n")
    grid.reads("Change 1 of 5")
    grid.page.get_by_role("button", name="Previous change").click()
    grid.reads("Change 5 of 5")


def test_moved_rows_and_columns_say_so_and_a_turned_table_is_shown_turned(grid: Grid) -> None:
    compare(
        grid,
        [
            {"op": "move_row", "row": "r4", "after": None},
            {"op": "move_column", "column": "c3", "after": "c0"},
        ],
    )
    expect(grid.number("r4")).to_contain_text("moved")
    expect(grid.header("c3")).to_contain_text("moved")
    turned = [
        {"op": "transpose"},
        {"op": "set_cell", "row": "c2", "column": "r2", "old": "4", "new": "5"},
    ]
    compare(grid, turned)
    grid.reads("Rows and columns exchanged. 1 change")
    expect(grid.cell("c2", "r2").locator("del")).to_contain_text("4")


def test_a_table_without_a_change_says_so(grid: Grid) -> None:
    compare(grid, [])
    grid.reads("No change")
    grid.press("n")
    grid.hears("No changes.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_every_mode_is_accessible(page: Page, live_server: Any, scheme: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    grid = Grid(page, live_server.url)
    page.evaluate("() => document.querySelector('askew-grid').before(document.createElement('h1'))")
    page.evaluate("() => document.querySelector('main h1').append('Table')")
    marks = [["r1", "c2"]]
    for mode in ("read", "select", "edit", "structure", "compare"):
        operations = EDIT if mode == "compare" else EDIT[1:3] if mode == "edit" else []
        grid.show(VOTES, operations, mode=mode, cells=[["r0", "c0"]], marks=marks, protected=marks)
        if mode in ("select", "structure"):
            grid.press("Shift+ArrowDown")
        if mode == "edit":
            grid.press("ArrowRight", "ArrowRight")
            grid.types("many")
        if mode == "read":
            grid.press("/")
            grid.types("e")
        found = Axe().run(page, options=AXE)
        assert found.violations_count == 0, f"{mode}\n{found.generate_report()}"
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), mode
        if mode == "read":
            grid.press("Escape")


def spoken(page: Page) -> list[tuple[str, str, dict[str, Any]]]:
    """What a screen reader is given of the table: (role, name, properties) in order, from the browser's own tree."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    kept = ("grid", "table", "row", "columnheader", "rowheader", "gridcell", "cell")
    return [
        (
            node["role"]["value"],
            node.get("name", {}).get("value", ""),
            {one["name"]: one["value"].get("value") for one in node.get("properties", [])},
        )
        for node in nodes
        if not node.get("ignored") and node["role"]["value"] in kept
    ]


def test_a_screen_reader_is_given_a_table_with_all_its_headers_and_signs(grid: Grid) -> None:
    table = {
        "header": ["2019", "2020", "Notes"],
        "rows": [["1", "2", "a"], ["3", "4", "b"]],
        "header_rows": [["Year", "Year", ""]],
        "spans": [{"row": "h0", "column": "c0", "rows": 1, "columns": 2}],
        "title": "Votes",
        "caption": "by year",
    }
    change = {"op": "set_cell", "row": "r1", "column": "c1", "old": "4", "new": "44"}
    grid.show(table, [change], mode="edit", marks=[["r0", "c0"]], protected=[["r0", "c1", "evidence"]])
    said = spoken(grid.page)
    assert [name for role, name, _ in said if role == "grid"] == ["Votes. by year. Table, editable"]
    assert [name for role, name, _ in said if role == "columnheader"] == [
        *("Year", "", "Row", "2019", "2020", "Notes"),
    ]
    assert [name for role, name, _ in said if role == "gridcell" and name] == [
        *("marked: 1", "2 protected", "a", "3", "was 4 44", "b"),
    ]
    assert [(name, more["selected"]) for _, name, more in said if more.get("focused")] == [
        ("marked: 1", True)
    ]
    expect(grid.page.get_by_role("grid")).to_have_attribute("aria-rowcount", "4")
    numbers = grid.page.eval_on_selector_all("tr", "rows => rows.map((tr) => tr.ariaRowIndex)")
    assert numbers == ["1", "2", "3", "4"]
    grid.press("Alt+Enter")  # a new row below the first
    numbers = grid.page.eval_on_selector_all("tr", "rows => rows.map((tr) => tr.ariaRowIndex)")
    assert numbers == ["1", "2", "3", "4", "5"]
    expect(grid.page.get_by_role("grid")).to_have_attribute("aria-rowcount", "5")


def test_rows_out_of_sight_are_counted_and_the_one_in_hand_says_its_number(grid: Grid) -> None:
    grid.show({"header": ["a", "b"], "rows": [[f"{i}", ""] for i in range(3000)]}, mode="edit")
    expect(grid.cell("r2999", "c1")).to_be_attached()
    expect(grid.page.get_by_role("grid")).to_have_attribute("aria-rowcount", "3001")
    rows = [name for role, name, _ in spoken(grid.page) if role == "row"]
    assert len(rows) < 1000  # the browser leaves out what it does not lay out
    grid.press("Control+End")
    expect(grid.page.locator("[data-row=r2999]")).to_have_attribute("aria-rowindex", "3001")
    focused = [name for _, name, more in spoken(grid.page) if more.get("focused")]
    assert len(focused) == 1


def test_columns_of_numbers_are_set_flush_right_with_and_without_scripts(grid: Grid) -> None:
    table = {
        "header": ["Rank", "Film", "Gross", "Share", "Run"],
        "rows": [
            ["1", "Heat", "$1,234.5", "12 %", "1–2"],
            ["2", "12", "(9.9)", "n/a", "3–1"],
            ["-", "Alien", "$40", "", "2"],
        ],
    }
    grid.show(table)
    for column, numbers in [("c0", True), ("c1", False), ("c2", True), ("c3", True), ("c4", False)]:
        styles = [
            place.evaluate(
                "one => [getComputedStyle(one).textAlign, getComputedStyle(one).fontVariantNumeric]"
            )
            for place in (grid.header(column), grid.cell("r0", column))
        ]
        assert styles == [["right" if numbers else "start", "tabular-nums"]] * 2, column


def test_columns_take_the_room_that_a_wider_window_gives_them(grid: Grid) -> None:
    long = "a sentence that is too long for a narrow window and has to be broken into lines there"
    grid.page.set_viewport_size({"width": 500, "height": 800})
    grid.show({"header": ["Name", "Notes", "More"], "rows": [["Ann", long, long]]}, mode="edit")
    narrow = grid.cell("r0", "c1").bounding_box()
    grid.page.set_viewport_size({"width": 1280, "height": 800})
    grid.page.wait_for_function(
        "(width) => document.querySelector('td[data-column=c1]').offsetWidth > 1.4 * width",
        arg=narrow["width"] if narrow else 0,
    )
    expect(grid.cell("r0", "c0")).to_be_focused()


def test_the_first_change_is_in_sight_though_nobody_has_gone_to_it(grid: Grid) -> None:
    header = [f"a column with a name {n}" for n in range(14)]
    rows = [[f"{i}-{j}" for j in range(14)] for i in range(80)]
    change = {"op": "set_cell", "row": "r60", "column": "c12", "old": "60-12", "new": "x"}
    compare(grid, [change], {"header": header, "rows": rows})
    cell, sheet = grid.cell("r60", "c12").bounding_box(), grid.page.locator(".sheet").bounding_box()
    assert cell
    assert sheet
    assert sheet["y"] < cell["y"] < sheet["y"] + sheet["height"] - cell["height"]
    assert sheet["x"] < cell["x"] <= sheet["x"] + sheet["width"] - cell["width"] + 1
    assert grid.page.evaluate("() => scrollY") == 0  # the page around it stays where it is
    grid.reads("1 change")
    grid.press("n")
    grid.reads("Change 1 of 1")


WIDE: dict[str, Any] = {
    "header": [f"a column with a name {n}" for n in range(14)],
    "rows": [[f"cell {i} {j}" for j in range(14)] for i in range(80)],
}


def cut_in_two(grid: Grid, which: int = 0) -> bool:
    """Whether a column stands half behind those that do not scroll."""
    cut: bool = grid.page.evaluate(
        """(which) => {
            const grid = document.querySelectorAll("askew-grid")[which];
            const heads = [...grid.querySelectorAll("thead tr:last-child th")];
            const still = heads.filter((one) => getComputedStyle(one).position === "sticky");
            const edge = still.at(-1).getBoundingClientRect().right;
            return heads.slice(still.length).some((one) => {
                const { left, right } = one.getBoundingClientRect();
                return left < edge - 1.5 && right > edge + 1.5;
            });
        }""",
        which,
    )
    return cut


@pytest.mark.parametrize("column", ["c3", "c8", "c12", "c13"])
def test_the_first_change_stands_between_whole_columns(grid: Grid, column: str) -> None:
    place = int(column[1:])
    change = {"op": "set_cell", "row": "r0", "column": column, "old": f"cell 0 {place}", "new": "x"}
    compare(grid, [change], WIDE)
    assert not cut_in_two(grid)
    cell, sheet = grid.cell("r0", column).bounding_box(), grid.page.locator(".sheet").bounding_box()
    assert cell
    assert sheet
    assert sheet["x"] < cell["x"] <= sheet["x"] + sheet["width"] - cell["width"] + 1


def test_two_tables_begin_at_the_same_place_and_scroll_as_one(grid: Grid) -> None:
    grid.page.evaluate(
        """(table) => {
            const [one] = document.querySelectorAll("askew-grid");
            const other = document.createElement("askew-grid");
            one.after(other);
            document.getElementById("main").style.maxWidth = "30rem"; // too little room for all columns
            const change = (column) => (
                { op: "rename_header", column, old: table.header[Number(column.slice(1))], new: "x" }
            );
            one.compare(table, [change("c7")]);
            other.compare(table, [change("c3"), change("c4")]);
            one.scrollWith(other);
        }""",
        WIDE,
    )
    first = """() => [...document.querySelectorAll("askew-grid")].map((grid) => {
        const heads = [...grid.querySelectorAll("thead tr:last-child th")];
        const sticks = (one) => getComputedStyle(one).position === "sticky";
        const edge = Math.max(...heads.filter(sticks).map((one) => one.getBoundingClientRect().right));
        const top = grid.querySelector("thead").getBoundingClientRect().bottom;
        return [
            heads.find((one) => one.getBoundingClientRect().right > edge + 2).dataset.column,
            [...grid.querySelectorAll("tbody tr")].find((one) => one.getBoundingClientRect().bottom > top + 2).dataset.row,
        ];
    })"""
    [left, right] = grid.page.evaluate(first)
    assert left == right
    assert left[0] != "c1"
    assert not cut_in_two(grid, 0)
    assert not cut_in_two(grid, 1)
    for which, down, across in ((1, 900, 600), (0, 300, 0)):
        grid.page.evaluate(
            "([which, down, across]) => document.querySelectorAll('.sheet')[which].scrollTo(across, down)",
            [which, down, across],
        )
        grid.page.wait_for_function(
            f"() => {{ const [a, b] = ({first})(); return String(a) === String(b); }}"
        )
        assert grid.page.evaluate(first)[0] != left
        left = grid.page.evaluate(first)[0]


WINNERS: dict[str, Any] = {
    "header": ["Year", "City", "Country", "Champion", "Seconds"],
    "rows": [
        ["1896", "Athens", "Greece", "Thomas Burke", "12.0"],
        ["1900", "Paris", "France", "Frank Jarvis", "11.0"],
        ["1904", "St. Louis", "United States", "Archie Hahn", "11.0"],
        ["1908", "London", "United Kingdom", "Reggie Walker", "10.8"],
    ],
}


def set_champion(text: str) -> dict[str, Any]:
    return {"op": "set_cell", "row": "r2", "column": "c3", "old": "Archie Hahn", "new": text}


def compare_two(
    grid: Grid, left: list[Any], right: list[Any], table: dict[str, Any] = WINNERS, width: int = 470
) -> None:
    """Two tables beside each other, each with so many pixels of room."""
    grid.page.evaluate(
        """([table, left, right, width]) => {
            const grids = [left, right].map(() => document.createElement("askew-grid"));
            const room = document.createElement("div");
            room.append(...grids);
            document.getElementById("main").replaceChildren(room);
            document.getElementById("main").style.maxWidth = "none";
            const sheet = new CSSStyleSheet();
            sheet.replaceSync(`#main > div { display: grid; grid-template-columns: ${width}px ${width}px; gap: 36px }`);
            document.adoptedStyleSheets = [sheet];
            grids[0].compare(table, left);
            grids[1].compare(table, right);
            grids[0].scrollWith(grids[1]);
        }""",
        [table, left, right, width],
    )


def tops(grid: Grid) -> list[dict[str, float]]:
    """Of each table: row id -> where it begins on the page."""
    found: list[dict[str, float]] = grid.page.evaluate(
        """() => [...document.querySelectorAll("askew-grid")].map((grid) => Object.fromEntries(
            [...grid.querySelectorAll("tbody tr")].map((tr) => [tr.dataset.row, tr.getBoundingClientRect().top])))"""
    )
    return found


def sideways(grid: Grid) -> list[int]:
    """How far each table would scroll to the side."""
    found: list[int] = grid.page.evaluate(
        "() => [...document.querySelectorAll('.sheet')].map((sheet) => sheet.scrollWidth - sheet.clientWidth)"
    )
    return found


def test_two_tables_that_fit_side_by_side_hide_no_column(grid: Grid) -> None:
    compare_two(
        grid, [set_champion("Nat Cartmell the second of Pennsylvania")], [set_champion("Fay Moulton")]
    )
    assert sideways(grid) == [0, 0]
    expect(grid.page.locator(".hidden-columns:visible")).to_have_count(0)
    heads = grid.page.evaluate(
        """() => [...document.querySelectorAll("askew-grid")].map((grid) => (
            [...grid.querySelectorAll("thead th")].map((th) => Math.round(th.getBoundingClientRect().width))))"""
    )
    assert heads[0] == heads[1]


def test_rows_of_two_tables_are_beside_each_other(grid: Grid) -> None:
    new_row = {"op": "insert_row", "row": "n1", "after": "r0", "cells": ["1898", "Nowhere", "", "", ""]}
    removal = {"op": "remove_row", "row": "r1", "at": 1, "after": "r0", "old": WINNERS["rows"][1]}
    compare_two(
        grid,
        [set_champion("Nat Cartmell, the second of Pennsylvania, and a half"), removal],
        [new_row, {"op": "rename_header", "column": "c4", "old": "Seconds", "new": "Time in seconds"}],
    )
    left, right = tops(grid)
    assert "n1" in right
    assert "n1" not in left
    for row in ("r0", "r1", "r2", "r3"):
        assert abs(left[row] - right[row]) < 1, row
    assert left["r1"] - left["r0"] > 50  # room for the row that only the other table has
    grid.press("Control++")
    left, right = tops(grid)
    assert all(abs(left[row] - right[row]) < 1 for row in left)


def test_a_hidden_column_is_named_above_the_table(grid: Grid) -> None:
    compare_two(grid, [set_champion("Nat Cartmell")], [set_champion("Fay Moulton")], width=240)
    hidden = grid.page.locator(".hidden-columns")
    expect(hidden.first).to_have_text(re.compile(r"^Hidden: .*Seconds.*\. Scroll sideways\.$"))
    for left, seen, unseen in ((10_000, "Seconds", "City"), (0, "City", "Seconds")):
        grid.page.evaluate("(left) => { document.querySelector('.sheet').scrollLeft = left; }", left)
        for one in hidden.all():
            expect(one).not_to_contain_text(seen)
            expect(one).to_contain_text(unseen)


def test_a_column_is_as_wide_as_what_stands_far_down_in_it(grid: Grid) -> None:
    rows = [[str(n), "a", "1"] for n in range(1500)]
    rows[1400] = ["1401", "Person 744 of the longer list", "12,345,678.90"]
    grid.show({"header": ["No", "Name", "Sum"], "rows": rows}, mode="edit")
    grid.press("Control+End")
    heights = [grid.cell("r1400", column).bounding_box() for column in ("c0", "c1", "c2")]
    other = grid.cell("r1399", "c1").bounding_box()
    assert other
    assert all(box and box["height"] == other["height"] for box in heights), "nothing wraps"
    inside = grid.cell("r1400", "c2").evaluate("(cell) => cell.scrollWidth <= cell.clientWidth")
    assert inside


def test_columns_are_as_wide_as_the_widest_text_of_all_rows_not_the_longest(
    page: Page, live_server: Any
) -> None:
    rows = [["i" * 14, "1"] for _ in range(400)]
    rows[390] = ["WWWWWWWWWWWW", "2"]  # fewer letters, and wider; far below what is painted at first
    grid = Grid(page, live_server.url)
    grid.show({"header": ["Name", "Number"], "rows": rows})
    wide = grid.cell("r390", "c0")
    wide.scroll_into_view_if_needed()
    expect(wide).to_be_visible()
    assert wide.evaluate("(cell) => cell.scrollWidth <= cell.clientWidth")
    heights = [grid.cell(row, "c0").evaluate("(cell) => cell.offsetHeight") for row in ("r389", "r390")]
    assert heights[0] == heights[1], "it stands in one line"
