"""The first batch of a manager: how many clicks it takes from the home page, and what the gallery does without a mouse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from annotation.models import Batch, Person
from tableqa import Example, Table
from tests.annotation.cast import World, make_world
from tests.browser.clicking import Clicker
from tests.browser.pages import signed_in
from tests.browser.test_road import Somebody

pytestmark = pytest.mark.django_db(transaction=True)
NewContext = Callable[..., BrowserContext]
MOST_CLICKS = 8
LABEL = "Question type Can the answer be read from the table, or must it be worked out?"


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def test_the_first_batch_takes_few_clicks(world: World, new_context: NewContext, live_server: Any) -> None:
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    mara = Clicker(page, live_server.url)
    mara.begins()

    mara.link("Films")
    mara.link("New batch")
    mara.link(LABEL)
    mara.button("Create batch")

    mara.reads("Question type is open")
    batch = Batch.objects.get()
    assert (batch.state, batch.items_count) == ("open", 4)
    assert mara.has_done("First batch").clicks <= MOST_CLICKS


TABLE = {"header": ["Film", "Minutes"], "rows": [["Heat", "170"]]}
OWN_DATA = {"id": "1", "question": "how long is Heat?", "table": TABLE, "answers": ["170"]}


def test_an_empty_server_is_few_clicks_away_from_the_first_item(
    new_context: NewContext, live_server: Any, tmp_path: Path, transactional_db: None
) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps(OWN_DATA) + "\n")
    person = Person.objects.create_person("Mara", "mara@example.org", "tilted tables", is_administrator=True)
    page = signed_in(new_context, live_server.url, person).new_page()
    mara = Clicker(page, live_server.url)
    mara.begins()

    mara.link("New project")
    page.get_by_label("Name", exact=True).fill("Films")
    mara.button("Create project")
    with page.expect_file_chooser() as chooser:
        page.get_by_label("Questions file").click()
    chooser.value.set_files(file)
    mara.button("Continue")
    mara.button("Import")
    mara.reads("done 1 of 1")
    mara.link("New batch")
    mara.link(LABEL)
    mara.button("Create batch")

    mara.reads("Question type is open")
    assert Batch.objects.get().items_count == 1
    assert mara.has_done("From an empty server").clicks <= MOST_CLICKS


def test_the_gallery_is_accessible_and_used_by_keyboard_and_no_qualification_is_offered_to_be_opened_now(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    context = signed_in(new_context, live_server.url, world.mara)
    mara = Somebody(context, live_server.url)
    page = mara.goes_to("/projects/films/batches/new/")
    mara.finds_the_page_accessible()
    page.get_by_role("link", name=LABEL).focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Preview Question type")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.get_by_label("Name")).to_be_focused()
    opens = page.get_by_label("Open now")
    expect(opens).to_be_visible()
    fold = page.locator("details", has=page.locator("[name=purpose]"))
    fold.locator("summary").first.click()
    page.locator("[name=purpose]").select_option("qualification")
    expect(opens).to_be_hidden()  # a qualification is opened once it has its gold answers


def test_a_template_takes_two_clicks_after_its_source_and_its_pages_are_accessible(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    world.import_written(Example("x", "how long?", Table(["Film"], [["Heat"]]), ["Heat"]), name="other")
    somebody = Somebody(signed_in(new_context, live_server.url, world.mara), live_server.url)
    somebody.goes_to("/projects/films/templates/")
    somebody.finds_the_page_accessible()
    mara = Clicker(somebody.page, live_server.url)
    mara.page.reload()
    mara.page.get_by_label("Source").select_option(world.source.public_id)
    mara.waits_for_others()

    mara.button("FREB-TQA part 3")
    somebody.finds_the_page_accessible()
    mara.button("Create 9 batches")

    mara.reads("9 batches were created.")
    assert Batch.objects.count() == 9
    assert mara.has_done("Template").clicks == 2
