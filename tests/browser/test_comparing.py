"""An <askew-comparison> in a real browser: the layout of variants in one table, and of two tables that scroll as one.

What it shows and what keys do is tested without a browser in tests/modules/comparison.test.js.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.django_db(transaction=True)


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


def test_rows_without_changes_of_a_long_table_open_by_key_and_are_found(empty: Page) -> None:
    rows = [[f"{row}.{column}" for column in range(40)] for row in range(1_000)]
    table = {"header": [f"h{column}" for column in range(40)], "rows": rows}
    for width in (390, 1280):
        empty.set_viewport_size({"width": width, "height": 800})
        comparison = compares(
            empty, table, [put(400, 30, "400.30", "new")], [put(400, 30, "400.30", "other")]
        )
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


def test_a_header_is_as_wide_and_as_high_as_its_names_need(empty: Page) -> None:
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

    # The new name of a column is above the old one.
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

    # A table that fits hides no column, and neither do two tables next to each other.
    empty.set_viewport_size({"width": 1280, "height": 720})
    table = {"header": ["City", "Country", "Year"], "rows": [["Oslo", "Norway", "1952"]] * 9}
    rename = {"op": "rename_header", "column": "c2", "at": 2, "old": "Year", "new": "Year of the games"}
    comparison = compares(empty, table, [rename], [{**rename, "new": "When"}])
    expect(comparison.locator(".hidden-columns:visible")).to_have_count(0)
    turns(comparison)
    expect(comparison.locator(".sheet")).to_have_count(2)
    expect(comparison.locator(".hidden-columns:visible")).to_have_count(0)
    assert comparison.locator(".sheet").evaluate_all("all => all.map((one) => one.scrollLeft)") == [0, 0]


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

    # Also where only one of them has a row.
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
