"""A task type that the project defined: keys, conditions, ranks, drafts and undo, as for one that comes with Askew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Annotation
from tableqa import Example, Table
from tests.annotation.cast import World, make_world
from tests.browser.accessibility import AXE
from tests.browser.pages import annotating, settled, signed_in
from tests.modules.pages.defined import ANSWERS, DEFINITION, batch_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def submitted() -> Any:
    """The data of the only response."""
    response: Any = Annotation.objects.get().response
    return response["data"]


def field(page: Page, name: str) -> Any:
    return page.locator(f"[data-field={name}]")


def test_keys_answer_open_fields_and_a_condition_shows_another_one(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, batch_of(world, DEFINITION))
    expect(page.get_by_role("heading", name="How hard is this table to read?")).to_be_visible()
    first = page.locator(".question").inner_text()
    expect(field(page, "reasons")).to_be_hidden()

    page.keyboard.press("2")
    expect(field(page, "reasons")).to_be_visible()
    page.keyboard.press("w")
    page.keyboard.press("4")
    field(page, "ranking").locator("select").nth(0).select_option("b")
    field(page, "ranking").locator("select").nth(1).select_option("a")
    field(page, "ranking").locator("select").nth(2).select_option("c")
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    page.reload()
    expect(field(page, "reasons").get_by_label("Wide")).to_be_checked()
    expect(field(page, "ranking").locator("select").nth(0)).to_have_value("b")
    settled(page)
    page.locator(".question").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".question")).not_to_have_text(first)

    assert submitted() == {
        "level": "hard",
        "reasons": ["wide"],
        "quality": 4,
        "evidence": [],
        "ranking": ["b", "a", "c"],
        "comment": "",
    }
    expect(field(page, "reasons")).to_be_hidden()
    page.keyboard.press("u")
    expect(page.locator(".question")).to_have_text(first)
    expect(field(page, "reasons")).to_be_visible()


def test_the_preview_follows_the_text_and_names_the_line_of_a_fault(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    page.goto(f"{live_server.url}/projects/films/task-types/")
    preview = page.locator("#preview")
    expect(preview.get_by_text("You see the answer at once.")).to_be_visible()
    text = page.get_by_label("Definition (YAML)")
    before = text.input_value()

    text.fill(before.replace("You see the answer at once.", "It is hard to see."))
    expect(preview.get_by_text("It is hard to see.")).to_be_visible()
    text.fill(before.replace("when: level == hard", "when: level == high"))
    expect(preview).to_contain_text("line 23: fields[2].when: 'level' has no value 'high'.")
    assert Axe().run(page, options=AXE).violations_count == 0

    text.fill(before)
    expect(preview.get_by_text("You see the answer at once.")).to_be_visible()
    assert Axe().run(page, options=AXE).violations_count == 0
    page.get_by_role("button", name="Save task type").click()
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()


def test_answers_are_chosen_by_keys_and_each_item_offers_its_own(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    films = Table(["Film"], [["Heat"], ["Alien"]])
    world.source = world.import_written(
        *(Example(f"p-{number}", f"which? ({number})", films, said) for number, said in enumerate(ANSWERS))
    )
    tie = {"value": "tie", "title": "No difference"}
    fields = [{"name": "better", "type": "choice", "of": "answers", "options": [tie]}]
    definition = {**DEFINITION, "fields": fields, "decide": {"field": "better"}}
    page = annotating(new_context, live_server.url, world.ada, batch_of(world, definition))
    labels = field(page, "better").locator("label")
    number = labels.count()
    expect(labels.nth(number - 1)).to_contain_text("No difference")
    expect(labels.nth(number - 1).locator("kbd")).to_have_text("0")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(labels.nth(0).locator("small")).to_be_visible()
    expect(labels.nth(1).locator("small")).to_be_visible()
    page.set_viewport_size({"width": 1366, "height": 850})
    assert Axe().run(page, options=AXE).violations_count == 0
    first = page.locator(".question").inner_text()

    page.keyboard.press("2")
    expect(page.locator(".question")).not_to_have_text(first)
    assert submitted() == {"better": "2"}
    expect(labels).to_have_count(7 - number)
    expect(field(page, "better").locator("input:checked")).to_have_count(0)

    page.keyboard.press("u")
    expect(page.locator(".question")).to_have_text(first)
    expect(field(page, "better").get_by_label("Answer 2")).to_be_checked()


def test_the_digits_of_a_long_scale_have_room(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    scale = {"name": "sure", "type": "scale", "min": 0, "max": 20, "anchors": {0: "no", 20: "yes"}}
    definition = {**DEFINITION, "fields": [scale], "decide": {"field": "sure", "rule": "gap", "gap": 4}}
    batch = batch_of(world, {**definition, "agreement": {"sure": ["alpha_interval"]}})

    page = annotating(new_context, live_server.url, world.ada, batch)

    steps = field(page, "sure").locator("label")
    expect(steps).to_have_count(21)
    cut = "(labels) => labels.filter((label) => label.scrollWidth > label.clientWidth).length"
    assert steps.evaluate_all(cut) == 0
