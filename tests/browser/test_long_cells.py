"""Cells with texts of thousands of characters: they use the free space of the page, and are read in a pane of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, expect

from tableqa import Example, Table
from tests.annotation.cast import World, make_world
from tests.browser.accessibility import check_accessibility
from tests.browser.pages import annotating, signed_in

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = "The survey of the northern coast was repeated in every season, and compared with that of the year before. "
LONG = (WORDS * 100)[:10_000]
ROWS = [
    ["Aberdeen", "1904", LONG],
    ["Bergen", "1911", "short"],
    ["Calais", "1923", ""],
    ["Dover", "1931", "short"],
]
LINES = """() => {
  const box = (selector) => document.querySelector(selector).getBoundingClientRect();
  const [sheet, subject, text] = [box(".sheet"), box(".subject"), box("[data-row=r0] .long")];
  const line = parseFloat(getComputedStyle(document.querySelector("[data-row=r0] .long")).lineHeight);
  const last = box("[data-row=r3] td");
  return { lines: Math.round(text.height / line), below: subject.bottom - sheet.bottom, beside: subject.right - sheet.right,
           rows: last.bottom <= sheet.bottom + 1, over: document.documentElement.scrollWidth - innerWidth };
}"""
"""How many lines the long text has, the white below and beside the table, whether its last row is in sight."""


def opened(
    new_context: Callable[..., BrowserContext], base: str, folder: Path, kind: str, **options: Any
) -> tuple[World, Page]:
    world = make_world(folder)
    table = Table(header=["Place", "Year", "Notes"], rows=ROWS)
    example = Example(id="long", question="Which survey was repeated?", table=table, answers=["Aberdeen"])
    batch = world.batch(kind, sources=[world.import_written(example)])
    page = annotating(new_context, base, world.ada, batch, **options)
    return world, page


@pytest.mark.parametrize("kind", ["relevant_cells", "header_synonym"])
def test_a_long_cell_uses_the_free_space_of_the_window(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path, kind: str
) -> None:
    _, page = opened(new_context, live_server.url, tmp_path, kind, viewport={"width": 1366, "height": 850})
    expect(page.locator("[data-row=r0] .long")).to_be_visible()
    page.wait_for_function(f"({LINES})().lines > 5")
    measured = page.evaluate(LINES)
    assert measured["lines"] > 12, measured
    assert measured["below"] < 90, measured
    assert measured["rows"], measured
    page.set_viewport_size({"width": 1366, "height": 600})
    page.wait_for_function(f"({LINES})().rows")
    shorter = page.evaluate(LINES)
    assert 5 <= shorter["lines"] < measured["lines"], (shorter, measured)


@pytest.mark.parametrize(
    ("width", "height", "scheme"),
    [(1366, 850, "light"), (1366, 850, "dark"), (390, 844, "light"), (390, 844, "dark")],
)
def test_the_whole_text_is_read_by_keyboard_in_a_pane_that_gives_the_focus_back(
    new_context: Callable[..., BrowserContext],
    live_server: Any,
    tmp_path: Path,
    width: int,
    height: int,
    scheme: str,
) -> None:
    _, page = opened(
        new_context,
        live_server.url,
        tmp_path,
        "relevant_cells",
        viewport={"width": width, "height": height},
        color_scheme=scheme,
    )
    cell = page.locator("[data-row=r0] [data-column=c2]")
    page.locator("[data-row=r0] [data-column=c0]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(cell).to_be_focused()
    page.keyboard.press("Alt+ArrowDown")
    pane = page.get_by_role("dialog", name="Row 1, Notes")
    text = pane.locator(".text")
    expect(text).to_be_focused()
    assert text.text_content() == LONG
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    check_accessibility(page, "the pane")
    page.keyboard.press("End")
    page.wait_for_function(
        """() => {
          const text = document.querySelector(".reading .text");
          return text.scrollTop + text.clientHeight >= text.scrollHeight - 2;
        }"""
    )
    page.keyboard.press("Escape")
    expect(pane).to_have_count(0)
    expect(cell).to_be_focused()
    assert page.evaluate("document.querySelector('askew-grid').cells.length") == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_a_table_without_a_pane_shows_the_whole_text_while_it_has_the_focus(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path, width: int
) -> None:
    world = make_world(tmp_path)
    table = Table(header=["Place", "Year", "Notes"], rows=ROWS)
    example = Example(id="long", question="Which survey was repeated?", table=table, answers=["Aberdeen"])
    stored = world.import_written(example).examples.get()
    page = signed_in(
        new_context, live_server.url, world.mara, viewport={"width": width, "height": 850}
    ).new_page()
    page.goto(live_server.url + reverse("example", args=[stored.public_id]))
    text = page.locator(".tabular .long")
    is_whole = "text => text.scrollHeight <= text.clientHeight + 1"
    assert not text.evaluate(is_whole)
    text.click()
    expect(text).to_be_focused()
    assert text.evaluate(is_whole)
    check_accessibility(page, "the whole text")
    text.evaluate("text => text.blur()")
    assert not text.evaluate(is_whole)
    page.locator("[role=region]:has(.tabular)").focus()
    page.keyboard.press("Tab")
    expect(text).to_be_focused()
    assert text.evaluate(is_whole)
