"""Keys: where the focus begins, that a key shown as active acts, F2 and typing, and the hint about changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from playwright.sync_api import BrowserContext, Page, expect

from annotation.work import lineage
from benchmarks.browser_data import over_its_sample
from tasks.contract import task_types
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, intercept, settled, takes_keys
from tests.browser.test_guidelines import films
from tests.browser.test_panel import VARIANTS
from tests.modules.pages.cells import questions
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]
TABLET = {"viewport": {"width": 820, "height": 1180}, "has_touch": True, "is_mobile": True}
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
STARTS = {
    "question_type": ".question",
    "question_screening": ".question",
    "cell_relevance": ".question",
    "answer_rating": ".question",
    "metric_failure": ".question",
    "perturbation_rating": ".question",
    "relevant_cells": "askew-grid td",
    "short_table": "askew-grid td, askew-grid th, [role=radiogroup]",
    "value_change": "askew-grid td, [role=radiogroup]",
    "answer_check": "textarea[name=answers]",
    "question_paraphrase": "textarea[name=question]",
    "header_synonym": ".lines *",
    "header_abbreviation": ".lines *",
    "column_adding": ".lines *",
    "column_extension": ".lines *",
    "column_masking": ".lines *",
}
"""Where the work of each task type begins."""


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def changing(world: World, new_context: NewContext, base: str, **more: Any) -> Page:
    batch = world.batch(
        "value_change", variant="answer_stays", sources=[world.import_written(*questions())], **more
    )
    page = annotating(new_context, base, world.ada, batch)
    expect(page.get_by_role("radiogroup")).to_be_focused()
    return page


def write(page: Page, row: str, text: str) -> None:
    page.locator(f"[data-row={row}] [data-column=c3]").click()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


@pytest.mark.parametrize(("key", "variant"), VARIANTS)
def test_the_focus_begins_where_keys_act_and_every_active_key_does_something(
    world: World, new_context: NewContext, live_server: Any, key: str, variant: str
) -> None:
    batch = over_its_sample(world, task_types()[key], variant)

    def begun() -> Page:
        page = annotating(new_context, live_server.url, world.ada, batch)
        for action in ("draft", "submit"):
            intercept(
                page, f"**/{action}/", lambda route: None
            )  # it never arrives: every visit finds the item untouched
        expect(page.locator(f":is({STARTS[key]}):focus")).to_have_count(1)
        settled(page)
        return page

    page = begun()
    shown = page.evaluate(ACTIVE)
    assert shown or page.locator("textarea:focus").count()
    page.context.close()
    for shortcut in shown:
        page = begun()
        before = page.evaluate(STATE)
        page.keyboard.press(PRESSED.get(shortcut, shortcut.lower() if len(shortcut) == 1 else shortcut))
        wait_until(lambda: page.evaluate(STATE) != before, f"{shortcut} does something")  # noqa: B023
        page.context.close()


def test_only_what_is_pressed_per_item_shows_its_key_and_the_list_shows_all(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch())
    assert page.locator(".actions kbd:visible").all_inner_texts() == ["Enter", "?"]
    assert page.locator(".panel kbd:visible").all_inner_texts() == ["1", "2", "3", "4"]
    for name, key in (("Undo last submission", "U"), ("Guidelines", "I")):
        button = page.get_by_role("button", name=name)
        expect(button).to_have_attribute("title", f"Key: {key}")
        expect(button).to_have_attribute("aria-keyshortcuts", key)
    page.keyboard.press("?")
    for key in ("S", "G", "Q", "U", "I", "Enter"):
        expect(page.locator("dialog.all-keys kbd", has_text=key).first).to_be_visible()


@pytest.mark.parametrize(
    ("key", "variant"), [("value_change", "answer_changes"), ("column_masking", ""), ("answer_rating", "")]
)
def test_a_touch_screen_shows_no_key(
    world: World, new_context: NewContext, live_server: Any, key: str, variant: str
) -> None:
    batch = over_its_sample(world, task_types()[key], variant)
    page = annotating(new_context, live_server.url, world.ada, batch, **TABLET)
    settled(page)
    assert page.locator("kbd:visible").all_inner_texts() == []
    assert page.locator(".key-hint:visible, [data-while-typing]:visible").count() == 0


def test_typing_replaces_a_cell_and_f2_appends_to_it(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = changing(world, new_context, live_server.url)
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


def test_typing_replaces_the_name_of_a_column_and_f2_appends_to_it(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("header_synonym", sources=[world.import_written(*questions())])
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


def test_the_key_of_an_answer_goes_on_behind_it_and_replaces_what_was_filled_in(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(
        "value_change", variant="answer_changes", sources=[world.import_written(*questions())]
    )
    page = annotating(new_context, live_server.url, world.ada, batch)
    expect(page.get_by_role("radiogroup")).to_be_focused()
    page.keyboard.press("1")
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


def test_a_hint_about_changes_says_when_they_are_used_up(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = changing(world, new_context, live_server.url)
    hint = page.locator("[data-changes-hint]")
    expect(hint).to_have_text("Type into a cell to change it.")
    write(page, "r1", "7")
    expect(hint).to_have_text("Type into a cell to change it.")
    write(page, "r2", "7")
    expect(hint).to_have_text("All used. Revert one, or change more and give the reason.")
    write(page, "r3", "7")
    expect(hint).to_have_text("Revert a change, or give the reason below.")
    expect(page.locator("textarea[name=reason]")).to_be_visible()
    page.locator("[data-take-back]").first.click()
    expect(hint).to_contain_text("All used.")


def test_where_no_reason_helps_the_hint_says_what_does(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = changing(
        world, new_context, live_server.url, settings={"contract": {"at_most": 1, "more_with_reason": False}}
    )
    write(page, "r1", "7")
    expect(page.locator("[data-changes-hint]")).to_have_text("All used. Revert one to change another cell.")


def test_the_total_of_the_progress_stays_while_other_people_add_items(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(sources=[world.import_written(*films(3))])
    page = annotating(new_context, live_server.url, world.ada, batch)
    progress = page.locator("[data-progress-text]")
    expect(progress).to_have_text("0 of 3")
    added = world.import_written(*films(5)[3:], name="added")
    with transaction.atomic():
        lineage.make_items(batch=batch, examples=list(added.examples.values_list("pk", flat=True)))
    for text in ("1 of 3", "2 of 3"):
        page.keyboard.press("1")
        expect(progress).to_have_text(text)
    page.keyboard.press("u")
    expect(progress).to_have_text("1 of 3")
    page.reload()
    takes_keys(page)
    expect(progress).to_have_text("1 of 5")  # another visit


def test_the_total_of_the_progress_does_not_shrink_when_the_page_is_reloaded(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(sources=[world.import_written(*films(5))], overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    progress = page.locator("[data-progress-text]")
    page.keyboard.press("1")
    expect(progress).to_have_text("1 of 5")
    wait_until(lambda: batch.assignments.count() == 3, "the next item is fetched ahead")
    for _ in range(2):
        world.label(batch, "bo", "extraction")  # what was left for Ada
    page.reload()
    takes_keys(page)
    expect(progress).to_have_text("1 of 5")
    page.keyboard.press("1")
    expect(progress).to_have_text("2 of 5")
