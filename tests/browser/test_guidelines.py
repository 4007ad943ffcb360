"""The drawer of the guidelines: when it is open, its search, and the part that is about the chosen option."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.quality import guidelines
from benchmarks.share import MEASURE, SCROLLING
from tableqa import Example, Table
from tasks.contract import task_types
from tests.annotation.cast import NOON, World, make_world
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
SIDEWAYS = "(part) => part.scrollWidth - part.clientWidth"
SMALL_WINDOWS = [
    {"width": width, "height": height}
    for width, height in ((390, 844), (820, 1180), (820, 700), (900, 500), (1000, 800))
]


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


def test_the_part_about_the_chosen_option_is_highlighted_and_in_view(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch()
    for locale in ("en", "de"):
        options = {"viewport": {"width": 1366, "height": 560}, "locale": locale}
        page = annotating(new_context, live_server.url, world.ada, batch, **options)
        page.locator("input[name=label]").nth(1).focus()
        expect(page.locator(".guidelines .fits")).to_have_count(1)
        title = page.locator(".choices label").nth(1).locator("[data-name]").inner_text()
        assert fitting(page)[0].startswith(f"{title}.")
        page.locator("input[name=label]").nth(3).focus()
        title = page.locator(".choices label").nth(3).locator("[data-name]").inner_text()
        expect(page.locator(".guidelines .fits")).to_contain_text(title)
        expect(page.locator(".guidelines .fits")).to_be_in_viewport(ratio=1)
        page.context.close()
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


def test_no_column_of_any_guidelines_is_cut(world: World, new_context: NewContext, live_server: Any) -> None:
    for locale in ("en", "de"):
        page = signed_in(new_context, live_server.url, world.ada, locale=locale).new_page()
        prose, tables = page.locator(".guidelines .prose"), 0
        for key in task_types():
            page.set_viewport_size({"width": 1366, "height": 850})
            page.goto(f"{live_server.url}/projects/films/practice/{key}/")
            takes_keys(page)
            for width in (1366, 1200):
                page.set_viewport_size({"width": width, "height": 850})
                settled(page)
                expect(prose).to_be_visible()
                assert not prose.evaluate(CUT), (key, width, locale)
            tables += prose.locator("table").count()
        assert tables >= 4
        page.context.close()


def test_a_table_that_is_too_wide_for_the_guidelines_breaks_its_words(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch()
    cells = " | ".join(["comprehensiveness"] * 5)
    guidelines.revise(
        project=world.project,
        task=batch.task(),
        text=f"# Scores\n\n| {cells} |\n|{'---|' * 5}\n| {cells} |",
        person=world.mara,
        now=NOON,
    )
    page = annotating(new_context, live_server.url, world.ada, batch, viewport={"width": 1366, "height": 850})
    prose = page.locator("#guidelines .prose")
    expect(prose.locator("td")).to_have_count(5)
    assert prose.evaluate(SIDEWAYS) <= 0
    page.set_viewport_size({"width": 900, "height": 850})
    expect(prose).to_be_visible()
    assert prose.evaluate(SIDEWAYS) <= 0


def test_in_every_layout_the_drawer_covers_no_bar_and_cuts_no_column(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    page.set_viewport_size({"width": 1366, "height": 720})
    page.goto(f"{live_server.url}/projects/films/practice/perturbation_rating/")
    takes_keys(page)
    guidelines, prose = page.locator(".guidelines"), page.locator(".guidelines .prose")
    page.get_by_role("button", name="Display").click()
    for width, layout in product((1366, 1280), ("Left", "Below", "Right")):
        page.set_viewport_size({"width": width, "height": 720})
        page.get_by_role("radio", name=layout).press("Space")
        settled(page)
        expect(guidelines).to_be_visible()
        assert not prose.evaluate(CUT), (layout, width)
        if layout == "Below":
            title = guidelines.locator("summary")
            assert title.evaluate(BOX)["top"] >= page.locator("header.top").evaluate(BOX)["bottom"] - 1
        last = prose.locator(":scope > :last-child")
        last.scroll_into_view_if_needed()
        end, bar = last.evaluate(BOX)["bottom"], page.locator(".actions").evaluate(BOX)["top"]
        assert end <= bar + 1, (layout, width)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (layout, width)


def test_open_guidelines_leave_two_scrollbars_in_a_small_window_and_the_page_scrolls_again_after_them(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    table = Table(
        ["Film", *(f"Words on it, {n}" for n in range(9))],
        [[f"{n}, Film", *("a few words",) * 9] for n in range(40)],
    )
    source = world.import_written(Example("f", "how many?", table, ["40"]))
    prose = ".guidelines .prose"
    for kind in ("question_type", "column_extension"):
        page = annotating(
            new_context, live_server.url, world.ada, world.batch(kind, sources=[source]), **DESK
        )
        for size in SMALL_WINDOWS:
            page.set_viewport_size(size)  # type: ignore[arg-type]
            page.evaluate("localStorage.clear()")
            page.reload()
            takes_keys(page)
            settled(page)
            assert page.locator(".guidelines").get_attribute("open") is None
            closed = page.evaluate(MEASURE)["scrolling"]
            box = page.locator("askew-grid").evaluate(BOX)
            page.keyboard.press("Escape")
            page.keyboard.press("i")
            expect(page.locator(prose)).to_be_focused()
            settled(page)
            opened = page.evaluate(MEASURE)["scrolling"]
            assert "guidelines" in opened, (kind, size)
            assert len(opened) <= SCROLLING, (kind, size)
            assert page.locator("askew-grid").evaluate(BOX)["width"] == box["width"], (
                "nothing moves for a scrollbar"
            )
            page.keyboard.press("Escape")
            expect(page.locator(prose)).to_be_hidden()
            assert page.evaluate(MEASURE)["scrolling"] == closed, (kind, size)
        page.context.close()
