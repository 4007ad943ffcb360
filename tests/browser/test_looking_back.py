"""The history on the annotation page: back and forward through the last items, to read them or to change them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Annotation, Assignment
from annotation.workflow import batches
from tests.annotation.cast import NOON, World, make_world
from tests.browser.pages import HeldRequests, annotating
from tests.browser.test_page_at_work import accessible
from tests.modules.pages.cells import questions

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def words(page: Page) -> Any:
    return page.locator("[data-past-words]")


def lines(page: Page, selector: str) -> int:
    """Lines over which the text of an element runs."""
    return int(
        page.locator(selector).evaluate(
            """element => {
              const range = document.createRange()
              range.selectNodeContents(element)
              return new Set([...range.getClientRects()].map(box => Math.round(box.bottom / 8))).size
            }"""
        )
    )


def submitted(page: Page, key: str) -> str:
    """Answer the item on screen by key; returns its question."""
    place = page.locator(".question")
    question = place.inner_text()
    page.keyboard.press(key)
    expect(place).not_to_have_text(question)
    return question


def test_earlier_items_are_read_changed_and_left_again_until_they_are_final(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(size=5)
    page = annotating(new_context, live_server.url, world.ada, batch)
    strip, place = page.locator("[data-past]"), page.locator(".question")
    page.keyboard.press("p")
    expect(words(page)).to_contain_text("You have not submitted an item in this batch yet.")
    page.keyboard.press("Escape")
    expect(strip).to_be_hidden()
    first, second = submitted(page, "1"), submitted(page, "2")
    current = place.inner_text()
    page.evaluate("window.loaded = true")

    page.keyboard.press("p")
    expect(place).to_have_text(second)
    expect(words(page)).to_contain_text("1 of your last 2.")
    expect(page.locator("input[value=reasoning]")).to_be_checked()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        accessible(page)
    page.keyboard.press("p")
    expect(place).to_have_text(first)
    expect(words(page)).to_contain_text("2 of your last 2.")
    expect(words(page)).to_contain_text("You can change it at least until")
    assert page.locator(".panel kbd:visible, .panel .commits:visible").count() == 0
    page.keyboard.press("1")  # rests: nothing is entered into what is looked back on
    page.keyboard.press("s")
    expect(page.locator("details[data-panel=skip]")).not_to_have_attribute("open", "")
    page.keyboard.press("f")
    expect(place).to_have_text(second)
    page.keyboard.press("f")
    expect(place).to_have_text(current)
    expect(strip).to_be_hidden()
    assert page.evaluate("window.loaded")
    assert Annotation.objects.count() == 2

    page.keyboard.press("p")
    page.keyboard.press("p")
    expect(place).to_have_text(first)
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_contain_text("Response withdrawn.")
    assert lines(page, "[data-saved]") == 1
    expect(place).to_have_text(first)
    expect(page.locator("input[value=extraction]")).to_be_checked()
    page.keyboard.press("3")
    expect(place).to_have_text(current)
    labels = Assignment.objects.filter(state="submitted").values_list(
        "annotation__response__data__label", flat=True
    )
    assert sorted(labels) == ["neither", "reasoning"]

    saved = Annotation.objects.count()
    batches.close_batch(batch=batch, by=world.mara, now=NOON)
    page.keyboard.press("p")
    expect(words(page)).to_contain_text("Final: the batch is closed.")
    expect(page.locator("[data-past-change]")).to_be_hidden()
    page.keyboard.press("Enter")
    assert Annotation.objects.count() == saved


def test_the_strip_lists_each_submission_and_stays_open(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(size=4))
    page.locator("summary", has_text="Earlier").click()
    page.get_by_role("button", name="History").click()
    expect(words(page)).to_have_text("You have not submitted an item in this batch yet.")
    submitted(page, "1")
    expect(page.locator("[data-past] li")).to_have_count(1)
    submitted(page, "2")
    expect(page.locator("[data-past] li")).to_have_count(2)
    page.reload()
    expect(page.locator("[data-past] li")).to_have_count(2)
    page.locator("[data-past] li button").last.click()
    expect(words(page)).to_contain_text("2 of your last 2.")
    page.get_by_role("button", name="Back to your item").click()
    expect(page.locator("[data-past]")).to_be_visible()


def test_an_earlier_response_with_changes_is_shown_withdrawn_and_checked_again_before_it_is_submitted(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    source = world.import_written(*questions(3))
    batch = world.batch("value_change", variant="answer_changes", sources=[source])
    page = annotating(new_context, live_server.url, world.ada, batch)
    changed = page.locator("[data-row=r1] [data-column=c1]")
    changed.click()
    page.keyboard.type("$110")
    for key in ("Enter", "Escape", "a"):
        page.keyboard.press(key)
    page.keyboard.type("28")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_contain_text("Previous item submitted.")
    current = page.locator(".question").inner_text()
    page.locator("[data-row=r2] [data-column=c1]").click()
    page.keyboard.type("99")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")  # out of the table, where a letter begins a cell

    page.keyboard.press("p")
    expect(page.locator(".question")).not_to_have_text(current)
    expect(changed).to_contain_text("$110")
    for part in ("[data-step=program]", ".contract", ".changes button"):
        expect(page.locator(part).first).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator(".question")).to_have_text(current)
    expect(page.locator("[data-row=r2] [data-column=c1]")).to_contain_text("99")

    page.keyboard.press("Escape")
    page.keyboard.press("p")
    expect(words(page)).to_contain_text("1 of your last 1.")
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_contain_text("Response withdrawn.")
    expect(changed).to_contain_text("$110")
    expect(page.locator(".ready")).not_to_have_attribute("data-checking", "")
    page.reload()
    expect(changed).to_contain_text("$110")
    expect(page.locator(".ready")).not_to_have_attribute("data-checking", "")


def test_a_submission_waits_for_the_check_of_a_response_taken_back(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    source = world.import_written(*questions(3))
    batch = world.batch("value_change", variant="answer_changes", sources=[source])
    page = annotating(new_context, live_server.url, world.ada, batch)
    page.locator("[data-row=r1] [data-column=c1]").click()
    page.keyboard.type("$110")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    page.keyboard.type("28")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_contain_text("Previous item submitted.")
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    expect(words(page)).to_contain_text("1 of your last 1.")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url.rstrip("/").rsplit("/", 1)[-1]))
    drafts = HeldRequests(page, "**/draft/")

    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_contain_text("Response withdrawn.")
    check = drafts.take()
    page.keyboard.press("Control+Enter")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")
    assert "submit" not in requests
    check.continue_()
    drafts.let_go()

    expect(page.locator("[data-saved]")).to_contain_text("submitted")
    assert requests.count("submit") == 1


def test_the_bar_takes_one_line_and_nothing_scrolls_sideways(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(size=3)
    for locale in ("en-GB", "de-DE"):
        small = {"viewport": {"width": 1280, "height": 720}, "locale": locale}
        page = annotating(new_context, live_server.url, world.ada, batch, **small)
        buttons = page.locator(".actions > button:visible, .actions > details:visible, .actions > .hint")
        tops = {round(box["y"] + box["height"] / 2) for each in buttons.all() if (box := each.bounding_box())}
        assert max(tops) - min(tops) <= 4, f"all in one line ({locale})"
        page.locator("details.earlier summary").click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), locale
        page.context.close()


def test_on_a_phone_an_earlier_item_is_in_sight_with_its_words_and_the_way_back(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    size = {"width": 390, "height": 844}
    batch = world.batch("question_paraphrase", variant="sentence", size=2)
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=size)
    page.locator("textarea[name=question]").fill(
        "in which of all of these years did that film come out, then?"
    )
    page.locator("input[name=category]").first.press("Space")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("[data-progress-text]")).to_contain_text("1 of")
    page.locator("[data-more-actions]").click()
    page.locator("details.earlier summary").click()
    page.locator("[data-past-button]").click()
    page.locator("[data-past] ol button").first.click()
    expect(words(page)).to_contain_text("1 of your last 1.")
    expect(words(page)).to_be_in_viewport(ratio=1)
    expect(page.locator("[data-past-back]")).to_be_in_viewport(ratio=1)
