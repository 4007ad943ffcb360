"""An <askew-comparison> on a page of its own: variants of awkward tables in one table, and side by side."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = ["<img src=x onerror=alert(1)>", "<script>document.title='owned'</script>", "שלום עולם", "", "a\nb"]


@pytest.fixture
def empty(page: Page, live_server: Any) -> Page:
    """A page of the platform with its style sheet and nothing in it."""
    page.set_default_timeout(15_000)
    page.goto(f"{live_server.url}/sign-in/")
    return page


def compares(page: Page, table: dict[str, Any], *variants: list[dict[str, Any]]) -> Locator:
    """Show the edits as variants A, B, ..."""
    data = {
        "table": table,
        "variants": [
            {"letter": "ABCD"[at], "name": f"Variant {'ABCD'[at]}", "operations": operations}
            for at, operations in enumerate(variants)
        ],
    }
    page.evaluate(
        """async (data) => {
            await import("/static/askew/comparison.js");
            const element = document.createElement("askew-comparison");
            document.getElementById("main").replaceChildren(element);
            element.compare(data);
        }""",
        data,
    )
    return page.locator("askew-comparison")


def turns(comparison: Locator) -> None:
    """To the tables side by side, or to the next pair, or back."""
    comparison.evaluate("element => element.turn()")


def put(row: int, column: int, old: str, new: str) -> dict[str, Any]:
    return {
        "op": "set_cell",
        "row": f"r{row}",
        "column": f"c{column}",
        "at": [row, column],
        "old": old,
        "new": new,
    }


def test_cells_of_variants_are_text(empty: Page) -> None:
    table = {"header": ["x", "<b>y</b>"], "rows": [[text, "1"] for text in HOSTILE]}
    edits = [put(0, 0, HOSTILE[0], HOSTILE[1]), put(3, 0, "", HOSTILE[2])]
    comparison = compares(empty, table, edits, [put(0, 0, HOSTILE[0], "")])
    first = comparison.locator("[data-row=r0] td").first
    expect(first.locator("del")).to_contain_text(HOSTILE[0])
    expect(first.locator("ins")).to_contain_text([HOSTILE[1], "empty"])
    expect(comparison.locator("[data-row=r3] td").first.locator("ins")).to_contain_text(HOSTILE[2])
    expect(comparison.locator("th").nth(2)).to_have_text("<b>y</b>")
    assert comparison.locator("img, script").count() == 0
    assert "owned" not in empty.title()


@pytest.mark.parametrize("width", [390, 1280])
def test_rows_without_changes_of_a_long_table_open_by_key_and_are_found(empty: Page, width: int) -> None:
    empty.set_viewport_size({"width": width, "height": 800})
    rows = [[f"{row}.{column}" for column in range(40)] for row in range(1_000)]
    table = {"header": [f"h{column}" for column in range(40)], "rows": rows}
    comparison = compares(empty, table, [put(400, 30, "400.30", "new")], [put(400, 30, "400.30", "other")])
    runs = comparison.get_by_role("button", name="rows without changes")
    expect(runs).to_have_text(["399 rows without changes", "598 rows without changes"])
    expect(comparison.locator(".hidden-columns")).to_contain_text("Scroll sideways.")
    expect(comparison.locator("td.changed")).to_be_in_viewport()
    runs.first.focus()
    empty.keyboard.press("Enter")
    expect(runs).to_have_count(1)
    expect(comparison.locator("[data-row=r5]")).to_be_attached()
    expect(comparison.locator(".sheet")).to_be_focused()
    comparison.get_by_role("button", name="Show all rows").click()
    expect(runs).to_have_count(0)
    expect(comparison.get_by_role("button", name="Only changed rows")).to_be_focused()
    empty.keyboard.press("Enter")
    expect(runs).to_have_count(2)
    comparison.locator(".sheet").focus()
    empty.keyboard.press("Control+f")
    empty.keyboard.type("821.7")
    expect(comparison.locator("td.hit.now")).to_have_text("821.7")
    assert empty.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_long_table_is_whole_again_after_the_tables_side_by_side(empty: Page) -> None:
    table = {"header": ["x", "y"], "rows": [[str(row), "1"] for row in range(100)]}
    comparison = compares(empty, table, [put(50, 0, "50", "new")], [put(60, 0, "60", "other")])
    expect(comparison.get_by_role("button", name="rows without changes")).to_have_count(3)
    turns(comparison)
    expect(comparison.locator("table")).to_have_count(2)
    turns(comparison)
    expect(comparison.locator("table")).to_have_count(1)
    expect(comparison.locator("[data-row=r50] td").first.locator("ins")).to_contain_text("new")
    expect(comparison.locator("[data-row=r60] td").first.locator("ins")).to_contain_text("other")
    comparison.get_by_role("button", name="Show all rows").click()
    expect(comparison.locator("tr[data-row^=r]")).to_have_count(100)


@pytest.mark.parametrize(("rows", "shown"), [(9, 9), (40, 40), (100, 20)])
def test_only_changed_rows_is_offered_only_where_a_row_is_changed(empty: Page, rows: int, shown: int) -> None:
    table = {"header": ["x", "y"], "rows": [[str(row), "1"] for row in range(rows)]}
    names = [{"op": "rename_header", "column": "c0", "at": [0], "old": "x", "new": new} for new in ("u", "v")]

    comparison = compares(empty, table, [names[0]], [names[1]])

    expect(comparison.locator("thead th").nth(1)).to_contain_text("u")
    expect(comparison.locator("tr[data-row^=r]:not(.left-out)")).to_have_count(shown)
    expect(comparison.get_by_role("button", name="Only changed rows")).to_have_count(0)
    expect(comparison.get_by_role("button", name="Show all rows")).to_have_count(0)
    for run in comparison.get_by_role("button", name="rows without changes").all():
        run.click()
    expect(comparison.locator("tr[data-row^=r]")).to_have_count(rows)


def test_a_removed_column_is_no_wider_than_its_name_or_who_removed_it(empty: Page) -> None:
    table = {"header": ["City", "Score"], "rows": [["Rome", "1"], ["Oslo", "2"]]}
    removed = {"op": "remove_column", "column": "c1", "old": ["Score", "1", "2"]}
    comparison = compares(empty, table, [removed], [removed])
    header = comparison.locator("thead th").nth(2)
    expect(header).to_contain_text("removed by")

    name, note, place = header.evaluate(
        """(th) => [th.querySelector("span"), th.querySelector("small"), th].map((part) => {
            if (part === th) return [th.getBoundingClientRect().width, th.scrollWidth - th.clientWidth];
            const range = document.createRange();
            range.selectNodeContents(part);
            const { width, top } = range.getBoundingClientRect();
            return [width, top];
        })"""
    )

    assert place[1] <= 0
    assert place[0] < name[0] + note[0]  # side by side, they would need more
    assert name[1] < note[1]  # one above the other
    decoration = "part => getComputedStyle(part).textDecorationLine"
    assert header.locator("span").first.evaluate(decoration) == "line-through"
    assert "line-through" not in header.evaluate(decoration)
    assert comparison.locator("td.removed").first.evaluate(decoration) == "line-through"


def test_two_tables_have_equal_rows_and_scroll_as_one_in_both_directions(empty: Page) -> None:
    rows = [
        [f"row {row}", "word " * (row % 7), *(str(row * column) for column in range(8))] for row in range(60)
    ]
    table = {"header": [f"column {column}" for column in range(10)], "rows": rows}
    long = "a much longer text than before " * 4
    comparison = compares(empty, table, [put(3, 1, rows[3][1], long)], [put(5, 0, "row 5", "x")])
    turns(comparison)
    sheets = comparison.locator(".sheet")
    expect(sheets).to_have_count(2)
    places = (
        "sheet => [...sheet.querySelectorAll('tr')].map((tr) => Math.round(tr.getBoundingClientRect().top))"
    )
    left, right = sheets.all()
    assert left.evaluate(places) == right.evaluate(places)
    for here, other in ((left, right), (right, left)):
        here.evaluate("sheet => sheet.scrollTo(90, 400)")
        expect_equal(other, here)
        here.evaluate("sheet => sheet.scrollTo(0, 0)")
        expect_equal(other, here)


def test_two_tables_stay_beside_each_other_where_one_has_a_row_more(empty: Page) -> None:
    empty.set_viewport_size({"width": 1280, "height": 500})
    table = {"header": ["a", "b"], "rows": [[f"row {number}", "x"] for number in range(20)]}
    insert = {"op": "insert_row", "row": "n1", "after": "r1", "cells": ["a long text " * 30, ""]}
    comparison = compares(empty, table, [put(0, 0, "row 0", "new"), put(19, 0, "row 19", "y")], [insert])
    turns(comparison)
    left, right = comparison.locator(".sheet").all()
    expect_equal(right, left)
    for here, other in ((right, left), (left, right)):
        for top in (10, 45, 70, 95, 130, 180, 240):
            here.evaluate("(sheet, top) => sheet.scrollTo(0, top)", top)
            expect_equal(other, here)


def expect_equal(other: Locator, here: Locator) -> None:
    """Wait until both are scrolled to the same place."""
    there = here.evaluate("sheet => [sheet.scrollLeft, sheet.scrollTop].map(Math.round)")
    for name, value in zip(("scrollLeft", "scrollTop"), there, strict=True):
        expect(other).to_have_js_property(name, value)


def test_side_by_side_the_changes_of_both_tables_are_gone_through(empty: Page) -> None:
    table = {"header": ["a", "b"], "rows": [["1", "2"], ["3", "4"]]}
    here = "element => [...element.querySelectorAll('.where')].map(one => one.textContent)"
    comparison = compares(empty, table, [], [put(0, 0, "1", "5")])
    turns(comparison)
    comparison.evaluate("element => element.next()")
    assert comparison.evaluate(here) == ["No change", "Change 1 of 1"]
    comparison = compares(empty, table, [put(1, 1, "4", "6")], [put(0, 0, "1", "5")])
    turns(comparison)
    for seen in (["Change 1 of 1", "1 change"], ["Change 1 of 1", "Change 1 of 1"]):
        comparison.evaluate("element => element.next()")
        assert comparison.evaluate(here) == seen


def test_a_table_that_fits_hides_no_column_side_by_side(empty: Page) -> None:
    empty.set_viewport_size({"width": 1280, "height": 720})
    table = {"header": ["City", "Country", "Year"], "rows": [["Oslo", "Norway", "1952"]] * 9}
    rename = {"op": "rename_header", "column": "c2", "at": 2, "old": "Year", "new": "Year of the games"}
    comparison = compares(empty, table, [rename], [{**rename, "new": "When"}])
    expect(comparison.locator(".hidden-columns:visible")).to_have_count(0)
    turns(comparison)
    expect(comparison.locator(".sheet")).to_have_count(2)
    expect(comparison.locator(".hidden-columns:visible")).to_have_count(0)
    assert comparison.locator(".sheet").evaluate_all("all => all.map((one) => one.scrollLeft)") == [0, 0]


def test_the_new_name_of_a_column_is_above_the_old_one(empty: Page) -> None:
    table = {"header": ["City", "Year"], "rows": [["Oslo", "1952"]]}
    rename = {"op": "rename_header", "column": "c1", "at": 1, "old": "Year", "new": "When"}
    comparison = compares(empty, table, [rename], [])
    header = comparison.locator("thead th.changed")
    tags = header.evaluate("(header) => [...header.children].map((part) => part.localName)")
    assert tags[:2] == ["ins", "del"]
    new, old = header.locator("ins").bounding_box(), header.locator("del").bounding_box()
    assert new is not None
    assert old is not None
    assert new["y"] + new["height"] <= old["y"] + 1


def test_exchanged_rows_and_columns_are_shown_side_by_side_only(empty: Page) -> None:
    table = {"header": ["a", "b"], "rows": [["1", "2"], ["3", "4"]]}
    comparison = compares(empty, table, [{"op": "transpose"}], [put(0, 0, "1", "5")])
    expect(comparison.locator(".sheet")).to_have_count(2)
    turns(comparison)
    expect(comparison.locator(".sheet")).to_have_count(2)


def test_of_three_variants_every_pair_is_side_by_side_once(empty: Page) -> None:
    table = {"header": ["a"], "rows": [["1"]]}
    comparison = compares(empty, table, *([put(0, 0, "1", text)] for text in "234"))
    for pair in ("23", "24", "34"):
        turns(comparison)
        expect(comparison.locator("td ins")).to_have_text([re.compile(f"{text}$") for text in pair])
    turns(comparison)
    expect(comparison.locator(".sheet")).to_have_count(1)


def test_new_removed_and_moved_lines_say_whose_they_are(empty: Page) -> None:
    table = {"header": ["a", "b"], "rows": [["1", "2"], ["3", "4"], ["5", "6"]]}
    comparison = compares(
        empty,
        table,
        [{"op": "insert_row", "row": "n1", "after": "r0", "cells": ["7", "8"]}],
        [
            {"op": "remove_column", "column": "c1", "at": 1, "old": ["b", "2", "4", "6"]},
            {"op": "move_row", "row": "r2", "after": None},
        ],
    )
    expect(comparison.locator("thead th").last).to_have_text("bremoved by B")
    expect(comparison.locator("tr.inserted th")).to_have_text("new by A")
    expect(comparison.locator("[data-row=r2] th")).to_contain_text("moved by B")
    comparison.evaluate("element => element.next(-1)")
    expect(comparison.locator("askew-grid > [role=status]")).to_have_text("Change 3 of 3. Row 3: moved by B")
