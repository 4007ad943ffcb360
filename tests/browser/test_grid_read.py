"""Tables to read and to compare in a real browser: layout, scrolling, and what a screen reader is given.

What is shown and said is tested without a browser in tests/modules/grid_read.test.js.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessibility import AXE
from tests.browser.grids import VOTES, Grid

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


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
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


def test_a_screen_reader_is_given_a_table_with_all_its_headers_signs_and_rows(grid: Grid) -> None:
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

    # Rows out of sight are counted, and the current one has its number.
    grid.show({"header": ["a", "b"], "rows": [[f"{i}", ""] for i in range(3000)]}, mode="edit")
    expect(grid.cell("r2999", "c1")).to_be_attached()
    expect(grid.page.get_by_role("grid")).to_have_attribute("aria-rowcount", "3001")
    row_names = [name for role, name, _ in spoken(grid.page) if role == "row"]
    assert len(row_names) < 1000  # the browser leaves out what it does not lay out
    grid.press("Control+End")
    expect(grid.page.locator("[data-row=r2999]")).to_have_attribute("aria-rowindex", "3001")
    focused = [name for _, name, more in spoken(grid.page) if more.get("focused")]
    assert len(focused) == 1


def test_columns_have_the_width_and_alignment_of_their_texts(grid: Grid) -> None:
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

    # Columns take the room that a wider window gives them.
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


def test_columns_are_as_wide_as_the_widest_text_of_all_rows(grid: Grid) -> None:
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

    # The widest text is not the longest.
    rows = [["i" * 14, "1"] for _ in range(400)]
    rows[390] = ["WWWWWWWWWWWW", "2"]  # fewer letters, and wider; far below what is painted at first
    grid.show({"header": ["Name", "Number"], "rows": rows})
    wide = grid.cell("r390", "c0")
    wide.scroll_into_view_if_needed()
    expect(wide).to_be_visible()
    assert wide.evaluate("(cell) => cell.scrollWidth <= cell.clientWidth")
    two = [grid.cell(row, "c0").evaluate("(cell) => cell.offsetHeight") for row in ("r389", "r390")]
    assert two[0] == two[1], "it stands in one line"


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


def in_sight(grid: Grid, cell: Locator) -> bool:
    """Whether a cell is wholly within the width of the sheet."""
    box, sheet = cell.bounding_box(), grid.page.locator(".sheet").bounding_box()
    assert box
    assert sheet
    return sheet["x"] < box["x"] <= sheet["x"] + sheet["width"] - box["width"] + 1


def test_the_first_change_is_in_sight_between_whole_columns(grid: Grid) -> None:
    header = [f"a column with a name {n}" for n in range(14)]
    rows = [[f"{i}-{j}" for j in range(14)] for i in range(80)]
    change = {"op": "set_cell", "row": "r60", "column": "c12", "old": "60-12", "new": "x"}
    compare(grid, [change], {"header": header, "rows": rows})
    cell, sheet = grid.cell("r60", "c12").bounding_box(), grid.page.locator(".sheet").bounding_box()
    assert cell
    assert sheet
    assert sheet["y"] < cell["y"] < sheet["y"] + sheet["height"] - cell["height"]
    assert in_sight(grid, grid.cell("r60", "c12"))
    assert grid.page.evaluate("() => scrollY") == 0  # the page around it stays where it is
    grid.reads("1 change")
    grid.press("n")
    grid.reads("Change 1 of 1")

    for place in (3, 8, 12, 13):
        column = f"c{place}"
        change = {"op": "set_cell", "row": "r0", "column": column, "old": f"cell 0 {place}", "new": "x"}
        compare(grid, [change], WIDE)
        assert not cut_in_two(grid)
        assert in_sight(grid, grid.cell("r0", column))


def test_columns_that_a_split_makes_are_in_sight(grid: Grid) -> None:
    rows = WIDE["rows"]
    grid.show(WIDE, mode="structure")
    into = [
        {"column": name, "header": f"part {name}", "cells": [f"{name} {i}" for i in range(len(rows))]}
        for name in ("n1", "n2")
    ]
    old = [WIDE["header"][12], *(row[12] for row in rows)]
    grid.page.evaluate(
        "(operation) => document.querySelector('askew-grid').act([operation])",
        {"op": "split_column", "column": "c12", "at": 12, "old": old, "into": into},
    )
    for column in ("n1", "n2"):
        assert in_sight(grid, grid.header(column)), column
    assert grid.page.evaluate("() => document.querySelector('.sheet').scrollTop") == 0


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


def test_two_tables_beside_each_other_have_equal_columns_and_rows(grid: Grid) -> None:
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

    # Rows are beside each other.
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
    grid.page.locator(".sheet").first.focus()
    grid.press("Control++")
    left, right = tops(grid)
    assert all(abs(left[row] - right[row]) < 1 for row in left)

    # A hidden column is named above the table.
    grid.press("Control+0")
    compare_two(grid, [set_champion("Nat Cartmell")], [set_champion("Fay Moulton")], width=240)
    hidden = grid.page.locator(".hidden-columns")
    expect(hidden.first).to_have_text(re.compile(r"^Hidden: .*Seconds.*\. Scroll sideways\.$"))
    for distance, seen, unseen in ((10_000, "Seconds", "City"), (0, "City", "Seconds")):
        grid.page.evaluate("(left) => { document.querySelector('.sheet').scrollLeft = left; }", distance)
        for one in hidden.all():
            expect(one).not_to_contain_text(seen)
            expect(one).to_contain_text(unseen)
