"""Changing values in a real browser: marks in forced colours, and a table that stays in view.

What the form says and does, with and without scripts, is tested in tests/modules/value_change.test.js.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import BrowserContext, Route, expect

from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, settled
from tests.modules.pages.value_change import FILMS, SALES

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


SIGNS = """() => [...document.querySelectorAll("askew-grid td.read")].map(
  (cell) => `${cell.closest("tr").dataset.row} ${cell.dataset.column}`
)"""
"""The cells that are marked as read by a program."""


def test_the_cells_that_the_focused_program_reads_are_marked_and_the_legend_shows_only_what_is_there(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("value_change", variant="answer_changes", sources=[world.import_written(*SALES)])
    page = annotating(new_context, live_server.url, world.ada, batch)
    programs = page.locator("askew-programs input")
    expect(programs.first).to_be_attached()
    legend = page.locator(".grid-state .legend")
    expect(legend).to_be_hidden()
    programs.first.focus()
    expect(page.locator("td.read")).to_have_count(2)
    first = page.evaluate(SIGNS)
    cell = page.locator("td.read").first
    colours: Literal["active", "none"]
    for colours in ("active", "none"):
        page.emulate_media(forced_colors=colours)
        expect(cell).to_have_accessible_description("read by the program")
        assert '"ƒ"' in cell.evaluate("(cell) => getComputedStyle(cell, '::before').content")
        expect(legend.locator("li")).to_have_text(
            ["current cell", "keys act here", "cells the program reads"]
        )
    page.keyboard.press("ArrowDown")
    expect(programs.nth(1)).to_be_checked()
    page.wait_for_function(
        "(first) => document.querySelectorAll('td.read').length !== first.length", arg=first
    )
    page.locator("[data-row=r0] [data-column=c0]").click()
    here = page.locator("[data-row=r0] [data-column=c0]")
    expect(here).to_be_focused()
    page.locator("textarea[name=answers]").focus()
    outline = "(cell) => getComputedStyle(cell).outlineStyle"
    assert here.evaluate(outline) != "dashed"
    page.emulate_media(forced_colors="active")
    assert here.evaluate(outline) == "dashed", "the current cell without the focus"


def test_all_answers_to_choose_from_are_in_view_beside_the_table(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("value_change", variant="answer_changes", sources=[world.import_written(FILMS)])
    page = annotating(new_context, live_server.url, world.ada, batch, viewport={"width": 1280, "height": 560})
    expect(page.get_by_role("radiogroup")).to_be_focused()
    cell = page.locator("[data-row=r1] [data-column=c2]")
    cell.click()
    page.keyboard.type("300")
    page.keyboard.press("Enter")
    buttons = page.locator("askew-disagreement button")
    expect(buttons).to_have_count(2)
    settled(page)
    expect(cell).to_be_in_viewport(ratio=0.9)
    bar, last = page.locator(".actions").bounding_box(), buttons.last.bounding_box()
    assert bar is not None
    assert last is not None
    assert last["y"] + last["height"] <= bar["y"]

    page.set_viewport_size({"width": 390, "height": 844})
    cell.focus()
    page.keyboard.press("Control+z")
    expect(buttons).to_have_count(0)
    page.keyboard.press("Control+y")
    expect(buttons).to_have_count(2)
    settled(page)
    expect(cell).to_be_in_viewport(ratio=0.9)


def test_the_focus_stays_where_letters_belong_whatever_takes_it_away(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("value_change", variant="answer_changes", sources=[world.import_written(*SALES)])
    page = annotating(new_context, live_server.url, world.ada, batch)
    page.keyboard.press("1")
    cell = page.locator("[data-row=r1] [data-column=c1]")
    editor = page.locator("textarea.editor")
    commands = page.locator("details.pop[open], dialog[open], [data-unsure][aria-pressed=true]")

    cell.click()
    page.keyboard.type("9")
    editor.evaluate(
        "(field) => field.dispatchEvent(new FocusEvent('blur'))"
    )  # as when the window loses the focus
    page.keyboard.type("sul")
    expect(editor).to_have_value("9sul")
    page.locator(".answers li").first.click()
    expect(editor).to_have_count(0)
    assert page.evaluate("document.activeElement !== document.body")
    cell.click()
    page.keyboard.type("10")
    page.locator("textarea[name=answers]").click()
    expect(page.locator("textarea[name=answers]")).to_be_focused()
    expect(cell).to_contain_text("10")
    page.keyboard.type("sul")
    expect(page.locator("textarea[name=answers]")).to_have_value(re.compile("sul"))
    expect(commands).to_have_count(0)


def test_what_an_input_method_composes_during_a_submission_lands_in_no_item(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("answer_check", of="originals")
    page = annotating(new_context, live_server.url, world.ada, batch)
    field = page.locator("textarea[name=answers]")
    held: list[Route] = []
    page.route("**/submit/", lambda route: held.append(route))
    field.fill("1995")
    with page.expect_request("**/submit/"):
        page.keyboard.press("Enter")
    session = page.context.new_cdp_session(page)
    session.send("Input.imeSetComposition", {"text": "か", "selectionStart": 1, "selectionEnd": 1})
    expect(field).to_have_value("1995")
    session.send("Input.insertText", {"text": "感"})
    expect(field).to_have_value("1995")
    question = page.locator(".question").inner_text()
    held[0].continue_()
    expect(page.locator(".question")).not_to_have_text(question)
    expect(field).to_have_value("")
    page.keyboard.type("2001")
    expect(field).to_have_value("2001")
