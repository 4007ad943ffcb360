"""Keys: where the focus begins, that a key shown as active acts, F2 and typing, and the hint about changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from benchmarks.browser_data import over_its_sample
from tasks.contract import task_types
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, intercept, settled, takes_keys
from tests.modules.pages.cells import questions
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]
ACTIVE = """() => [...new Set([...document.querySelectorAll("askew-annotate kbd")]
    .filter((key) => key.checkVisibility() && getComputedStyle(key).borderTopStyle === "solid"
        && !key.closest("askew-grid, .grid-tools"))
    .map(({ textContent }) => textContent))]"""
"""The keys that the page shows as active, but for those of the table's tools."""
STATE = """() => JSON.stringify([
    location.href,
    [...document.querySelectorAll("*")].indexOf(document.activeElement),
    [...document.querySelectorAll("input, textarea, select")].map(({ checked, value }) => [checked, value]),
    [...document.querySelectorAll("dialog[open], details[open], [aria-busy], [aria-pressed=true]")].length,
    document.body.innerText,
])"""
"""What a person would notice of a page."""
PRESSED = {"Esc": "Escape", "Ctrl Enter": "Control+Enter", "Shift Enter": "Shift+Enter"}
DRAWN = (("value_change", "answer_changes"), ("column_masking", ""), ("answer_rating", ""))
STARTS = {
    "answer_rating": ".question",
    "value_change": "askew-grid td, [role=radiogroup]",
    "column_masking": ".lines *",
}
"""Where the work of each task type begins."""


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def test_every_key_that_is_drawn_as_active_does_something(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    """For every task type, with keys that are in the page but not drawn: tests/modules/keys.test.js."""
    for key, variant in DRAWN:
        batch = over_its_sample(world, task_types()[key], variant)
        page = annotating(new_context, live_server.url, world.ada, batch)
        for action in ("draft", "submit"):  # it never arrives: every visit finds the item untouched
            intercept(page, f"**/{action}/", lambda route: None)

        def begin() -> None:
            page.evaluate("localStorage.clear()")  # noqa: B023
            page.reload()  # noqa: B023
            takes_keys(page)  # noqa: B023
            expect(page.locator(f":is({STARTS[key]}):focus")).to_have_count(1)  # noqa: B023
            settled(page)  # noqa: B023

        begin()
        shown = page.evaluate(ACTIVE)
        assert shown
        for shortcut in shown:
            begin()
            before = page.evaluate(STATE)
            page.keyboard.press(PRESSED.get(shortcut, shortcut.lower() if len(shortcut) == 1 else shortcut))
            wait_until(lambda: page.evaluate(STATE) != before, f"{shortcut} does something")  # noqa: B023
        page.context.close()


def test_typing_replaces_a_cell_a_name_and_a_filled_in_answer_and_f2_appends_to_them(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    source = world.import_written(*questions())
    batch = world.batch("value_change", variant="answer_changes", sources=[source])
    page = annotating(new_context, live_server.url, world.ada, batch)
    expect(page.get_by_role("radiogroup")).to_be_focused()
    page.keyboard.press("1")
    cell = page.locator("[data-row=r3] [data-column=c3]")
    cell.click()
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(cell.locator("ins")).to_have_text("7")
    page.keyboard.press("F2")
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    expect(cell.locator("ins")).to_have_text("75")
    page.keyboard.type("1")  # a key begins anew; after F2 the arrows move in what is typed
    page.keyboard.press("F2")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(cell.locator("ins")).to_have_text("21")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")

    page.locator("[data-row=r1] [data-column=c1]").click()
    page.keyboard.type("$1")
    page.keyboard.press("Enter")
    answers = page.locator("textarea[name=answers]")
    expect(answers).not_to_have_value("")
    filled = answers.input_value()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    page.keyboard.type("9")
    expect(answers).to_have_value("9")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    page.keyboard.type("8")
    expect(answers).to_have_value("98")
    answers.fill(filled)
    page.keyboard.press("Control+a")
    page.keyboard.press("F2")
    page.keyboard.type("0")
    expect(answers).to_have_value(f"{filled}0")

    batch = world.batch("header_synonym", sources=[source])
    page = annotating(new_context, live_server.url, world.ada, batch)
    lines = page.locator("askew-renames .line")
    expect(page.locator(".lines :focus")).to_have_count(1)
    page.keyboard.press("Home")
    page.keyboard.type("Thing")
    page.keyboard.press("Enter")
    expect(lines.first.locator("ins")).to_have_text("Thing")
    page.keyboard.press("F2")
    page.keyboard.type("s")
    page.keyboard.press("Enter")
    expect(lines.first.locator("ins")).to_have_text("Things")
