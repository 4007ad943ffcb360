"""The drawer of the guidelines: when it is open, its search, and the part that is about the chosen option."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from benchmarks.share import MEASURE, SCROLLING
from tableqa import Example, Table
from tasks.contract import task_types
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, settled, signed_in, takes_keys

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]
DESK = {"viewport": {"width": 1366, "height": 850}}
CUT = """(prose) => {
    const { right } = prose.getBoundingClientRect();
    const cells = [...prose.querySelectorAll("th, td")];
    return prose.scrollWidth > prose.clientWidth || cells.some((cell) => cell.getBoundingClientRect().right > right + 1
        || cell.scrollWidth > cell.clientWidth + 1);
}"""
"""Whether a column of a table ends outside the text, or a word outside its cell."""
BOX = "(part) => part.getBoundingClientRect().toJSON()"


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def films(number: int) -> list[Example]:
    table = Table(["Film", "Minutes"], [["Heat", "170"], ["Ran", "162"]])
    return [Example(f"f{n}", f"how long is film {n}?", table, ["170"]) for n in range(number)]


def fitting(page: Page) -> list[str]:
    """The highlighted parts of the guidelines, by their first words."""
    texts: list[str] = page.locator(".guidelines .fits").all_inner_texts()
    return texts


def test_the_drawer_is_open_for_the_first_three_items_of_a_task_type(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(sources=[world.import_written(*films(6))])
    page = annotating(new_context, live_server.url, world.ada, batch, **DESK)
    prose = page.locator(".guidelines .prose")
    for submitted in range(3):
        expect(page.locator("[data-progress-text]")).to_have_text(f"{submitted} of 6")
        expect(prose).to_be_visible()
        page.keyboard.press("1")
    expect(page.locator("[data-progress-text]")).to_have_text("3 of 6")
    expect(prose).to_be_hidden()
    page.reload()
    takes_keys(page)
    expect(prose).to_be_hidden()  # the server knows how many were submitted, this browser as well
    page.keyboard.press("i")
    expect(prose).to_be_focused()
    page.keyboard.press("2")
    expect(page.locator("[data-progress-text]")).to_have_text("4 of 6")
    expect(prose).to_be_visible()  # whoever opens it wants it open


def test_the_drawer_of_another_batch_of_the_task_type_is_closed_too(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    first, second = (
        world.batch(sources=[world.import_written(*films(4), name=name)]) for name in ("first", "second")
    )
    page = annotating(new_context, live_server.url, world.ada, first, **DESK)
    for submitted in (1, 2, 3):
        page.keyboard.press("1")
        expect(page.locator("[data-progress-text]")).to_have_text(f"{submitted} of 4")
    page.goto(f"{live_server.url}/batches/{second.public_id}/annotate/")
    takes_keys(page)
    expect(page.locator("[data-progress-text]")).to_have_text("0 of 4")
    expect(page.locator(".guidelines .prose")).to_be_hidden()


def test_a_search_marks_its_matches_and_goes_from_one_to_the_next(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(), **DESK)
    marks = page.locator(".guidelines mark")
    field = page.get_by_role("searchbox", name="Search the guidelines")
    text = page.locator(".guidelines .prose").inner_text()
    page.locator(".guidelines .prose").focus()
    page.keyboard.press("/")
    expect(field).to_be_focused()
    page.keyboard.type("REASONING")
    number = text.lower().count("reasoning")
    expect(marks).to_have_count(number)
    assert number > 1
    expect(page.locator(".guidelines [data-count]")).to_have_text(f"1 of {number}")
    page.keyboard.press("Enter")
    expect(page.locator(".guidelines [data-count]")).to_have_text(f"2 of {number}")
    expect(marks.nth(1)).to_have_attribute("aria-current", "true")
    expect(marks.nth(1)).to_be_in_viewport()
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".guidelines [data-count]")).to_have_text(f"{number} of {number}")
    page.get_by_role("button", name="Next match").click()
    expect(page.locator(".guidelines [data-count]")).to_have_text(f"1 of {number}")
    field.fill("no such words")
    expect(marks).to_have_count(0)
    expect(page.locator(".guidelines [data-count]")).to_have_text("No matches")
    field.focus()
    page.keyboard.press("Escape")
    expect(field).to_have_value("")
    assert page.locator(".guidelines .prose").inner_text() == text
    page.keyboard.press("Escape")
    expect(page.locator(".guidelines .prose")).to_be_hidden()
    expect(page.locator("[data-progress-text]")).to_contain_text("0 of")  # nothing was submitted meanwhile


@pytest.mark.parametrize("locale", ["en", "de"])
def test_the_part_about_the_chosen_option_is_highlighted_and_in_view(
    world: World, new_context: NewContext, live_server: Any, locale: str
) -> None:
    options = {"viewport": {"width": 1366, "height": 560}, "locale": locale}
    page = annotating(new_context, live_server.url, world.ada, world.batch(), **options)
    page.locator("input[name=label]").nth(1).focus()
    expect(page.locator(".guidelines .fits")).to_have_count(1)
    title = page.locator(".choices label").nth(1).locator("[data-name]").inner_text()
    assert fitting(page)[0].startswith(f"{title}.")
    page.locator("input[name=label]").nth(3).focus()
    title = page.locator(".choices label").nth(3).locator("[data-name]").inner_text()
    expect(page.locator(".guidelines .fits")).to_contain_text(title)
    expect(page.locator(".guidelines .fits")).to_be_in_viewport(ratio=1)


def test_a_score_highlights_its_cell_and_a_flag_its_line(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.ada, **DESK).new_page()
    page.goto(f"{live_server.url}/projects/films/practice/answer_rating/")
    takes_keys(page)
    page.keyboard.press("4")
    expect(page.locator(".guidelines .fits")).to_have_text("one small, harmless slip")
    page.goto(f"{live_server.url}/projects/films/practice/value_change/")
    takes_keys(page)
    page.get_by_role("checkbox", name="Unanswerable").check()
    expect(page.locator(".guidelines li.fits")).to_contain_text("If the table does not contain the answer")
    expect(page.locator(".guidelines li.fits")).to_be_in_viewport()
    page.locator("[data-help]").focus()
    expect(page.locator(".guidelines .fits")).to_have_count(1)  # it is still the chosen one


@pytest.mark.parametrize("locale", ["en", "de"])
@pytest.mark.parametrize("width", [1366, 1200])
def test_no_column_of_any_guidelines_is_cut(
    world: World, new_context: NewContext, live_server: Any, locale: str, width: int
) -> None:
    options = {"viewport": {"width": width, "height": 850}, "locale": locale}
    page = signed_in(new_context, live_server.url, world.ada, **options).new_page()
    tables = 0
    for key in task_types():
        page.goto(f"{live_server.url}/projects/films/practice/{key}/")
        takes_keys(page)
        settled(page)
        prose = page.locator(".guidelines .prose")
        expect(prose).to_be_visible()
        tables += prose.locator("table").count()
        assert not prose.evaluate(CUT), key
    assert tables >= 4


@pytest.mark.parametrize("width", [1366, 1280])
def test_in_every_layout_the_drawer_covers_no_bar_and_cuts_no_column(
    world: World, new_context: NewContext, live_server: Any, width: int
) -> None:
    viewport = {"width": width, "height": 720}
    page = signed_in(new_context, live_server.url, world.ada, viewport=viewport).new_page()
    page.goto(f"{live_server.url}/projects/films/practice/perturbation_rating/")
    takes_keys(page)
    guidelines, prose = page.locator(".guidelines"), page.locator(".guidelines .prose")
    page.get_by_role("button", name="Display").click()
    for layout in ("Left", "Below", "Right"):
        page.get_by_role("radio", name=layout).press("Space")
        settled(page)
        expect(guidelines).to_be_visible()
        assert not prose.evaluate(CUT), layout
        if layout == "Below":
            title = guidelines.locator("summary")
            assert title.evaluate(BOX)["top"] >= page.locator("header.top").evaluate(BOX)["bottom"] - 1
        last = prose.locator(":scope > :last-child")
        last.scroll_into_view_if_needed()
        end, bar = last.evaluate(BOX)["bottom"], page.locator(".actions").evaluate(BOX)["top"]
        assert end <= bar + 1, layout
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), layout


def test_closing_the_drawer_gives_the_focus_back_to_where_keys_act(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("header_synonym", sources=[world.import_written(*films(2))])
    page = annotating(new_context, live_server.url, world.ada, batch, **DESK)
    prose, focus = page.locator(".guidelines .prose"), page.locator("askew-renames :focus")
    expect(prose).to_be_visible()
    expect(focus).to_be_attached()

    page.locator("[data-guidelines-button]").click()

    expect(prose).to_be_hidden()
    expect(focus).to_be_attached()
    page.locator("[data-guidelines-button]").click()
    expect(prose).to_be_focused()
    page.keyboard.press("i")
    expect(prose).to_be_hidden()
    expect(focus).to_be_attached()


@pytest.mark.parametrize("kind", ["question_type", "column_extension"])
@pytest.mark.parametrize(("width", "height"), [(390, 844), (820, 1180), (820, 700), (900, 500), (1000, 800)])
def test_open_guidelines_leave_two_scrollbars_in_a_small_window_and_the_page_scrolls_again_after_them(
    world: World, new_context: NewContext, live_server: Any, kind: str, width: int, height: int
) -> None:
    table = Table(
        ["Film", *(f"Words on it, {n}" for n in range(9))],
        [[f"{n}, Film", *("a few words",) * 9] for n in range(40)],
    )
    batch = world.batch(kind, sources=[world.import_written(Example("f", "how many?", table, ["40"]))])
    viewport = {"width": width, "height": height}
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=viewport)
    settled(page)
    assert page.locator(".guidelines").get_attribute("open") is None
    closed = page.evaluate(MEASURE)["scrolling"]
    box = page.locator("askew-grid").evaluate(BOX)
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    expect(page.locator(".guidelines .prose")).to_be_focused()
    settled(page)
    opened = page.evaluate(MEASURE)["scrolling"]
    assert "guidelines" in opened
    assert len(opened) <= SCROLLING
    assert page.locator("askew-grid").evaluate(BOX)["width"] == box["width"], "nothing moves for a scrollbar"
    page.keyboard.press("Escape")
    expect(page.locator(".guidelines .prose")).to_be_hidden()
    assert page.evaluate(MEASURE)["scrolling"] == closed
