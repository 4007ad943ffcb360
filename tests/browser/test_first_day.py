"""The first day by keys alone: what comes before the first item, and marking an edit as gold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Assignment, Batch, Consent, Item, PracticeResult, Reading
from annotation.quality import consent, guidelines
from annotation.queue import practice
from tasks.contract import task_type
from tests.annotation.cast import NOON, World, make_world
from tests.browser.pages import signed_in, takes_keys
from tests.modules.pages.cells import questions

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def tab_to(page: Page, words: str) -> None:
    """Press Tab until what has the focus says this."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if words in page.evaluate("document.activeElement.textContent || document.activeElement.value || ''"):
            return
    raise AssertionError(f"{words!r} cannot be reached with Tab")


def test_what_comes_before_the_first_item_is_done_by_keys_alone(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch()
    Batch.objects.filter(pk=batch.pk).update(must_practise=True)
    consent.write(project=world.project, text="We publish your labels.", by=world.mara, now=NOON)
    guidelines.require_reading(project=world.project, required=True, by=world.mara, now=NOON)
    exercises = practice.exercises(task_type("question_type"))
    keys = {"extraction": "1", "reasoning": "2", "neither": "3", "unanswerable": "4"}
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    page.set_default_timeout(15_000)

    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    expect(page.locator("h1")).to_have_text("Consent")
    tab_to(page, "I have read this and agree")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Guidelines")
    assert Consent.objects.get().person == world.ada
    tab_to(page, "I have read these guidelines")
    page.keyboard.press("Enter")
    takes_keys(page)
    assert Reading.objects.get().person == world.ada
    for number, exercise in enumerate(exercises, start=1):
        page.keyboard.press(keys[exercise.expected.label])
        expect(page.locator("[data-feedback]")).to_be_visible()
        expect(page.locator(".feedback .verdict")).to_have_text("Correct")
        page.keyboard.press("Enter")
        if number < len(exercises):
            expect(page.locator("[data-feedback]")).to_be_hidden()

    expect(page.locator("h1")).to_have_text("Practice completed")
    page.keyboard.press("Enter")
    expect(page.locator("[data-panel=ask]")).to_be_attached()
    assert PracticeResult.objects.get().right == len(exercises)
    assert Assignment.objects.filter(person=world.ada, state="leased").exists()


def test_an_edit_is_marked_as_gold_by_making_it(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    source = world.import_written(*questions(2))
    batch = world.batch("value_change", variant="answer_changes", sources=[source], size=1)
    example = source.examples.exclude(pk__in=batch.items.values("example")).get()
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    page.set_default_timeout(15_000)
    page.goto(f"{live_server.url}/batches/{batch.public_id}/gold/new/?example={example.public_id}")
    takes_keys(page)
    page.locator("[data-row=r1] [data-column=c1]").click()
    page.keyboard.type("$110")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    page.keyboard.type("28")
    page.keyboard.press("Escape")
    page.locator("[name=why]").fill("The row that the question asks about.")
    page.get_by_role("button", name="Save gold answer").press("Enter")

    expect(page.get_by_text("Gold answer saved. Next example:")).to_be_visible()
    expect(page.get_by_text("1 gold answer", exact=True)).to_be_visible()
    page.get_by_role("link", name=batch.name).click()
    expect(page.locator("h1")).to_have_text("Gold answers")
    expect(page.locator("main")).to_contain_text("The row that the question asks about.")
    item = Item.objects.get(batch=batch, is_gold=True)
    assert item.gold.expected["data"]["operations"][0]["new"] == "$110"
