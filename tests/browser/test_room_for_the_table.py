"""The share of the table where there is more to read above it: long questions, and what the header says of the day."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from annotation.accounts import work_sessions
from benchmarks.share import CLOSED, MEASURE, OPEN
from benchmarks.share_data import LONG_QUESTION, lengthened
from tableqa import Example, Table
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, settled, takes_keys

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]
SIZES: list[ViewportSize] = [{"width": 1366, "height": 850}, {"width": 1280, "height": 720}]
HEADER = ["Year", *(f"Gold of team {n}" for n in range(9))]
FORTY_ROWS = Table(HEADER, [[str(1900 + n), *(f"{n} medals" for _ in range(9))] for n in range(40)])
LONG = lengthened("how much gold in 1905?")
VERY_LONG = f"{LONG} {LONG} {LONG}"
IS_CUT = """(part) => {
    const question = part.querySelector(".question");
    return question.getBoundingClientRect().bottom > part.getBoundingClientRect().bottom + 1;
}"""


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def asking(world: World, *questions: str, kind: str = "question_type", **terms: Any) -> Any:
    """A batch of these questions about a large table."""
    examples = [
        Example(f"e{number}", question, FORTY_ROWS, ["5"]) for number, question in enumerate(questions)
    ]
    return world.batch(kind, sources=[world.import_written(*examples)], **terms)


def share(page: Page, *, guided: bool) -> float:
    button = page.locator("[data-guidelines-button]")
    if (button.get_attribute("aria-expanded") == "true") != guided:
        button.click()
    settled(page)
    percent: float = page.evaluate(MEASURE)["share"]
    return percent


@pytest.mark.parametrize("kind", ["question_type", "relevant_cells", "short_table"])
def test_beside_a_long_question_the_table_keeps_its_share(
    world: World, new_context: NewContext, live_server: Any, kind: str
) -> None:
    assert len(LONG) == LONG_QUESTION
    batch = asking(world, LONG, kind=kind)
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=SIZES[0])
    for size in SIZES:
        page.set_viewport_size(size)
        assert share(page, guided=True) >= OPEN
        assert share(page, guided=False) >= CLOSED
    if kind == "question_type":
        # A question that fits is whole and has no button.
        assert not page.locator(".asked").evaluate(IS_CUT)
        expect(page.locator("[data-whole-question]")).to_be_hidden()


def test_a_long_question_is_cut_and_a_button_shows_the_rest(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = asking(world, VERY_LONG, f"{VERY_LONG} (again)")
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=SIZES[0])
    asked, button = page.locator(".asked"), page.locator("[data-whole-question]")
    question = page.locator(".question")
    for size in SIZES:
        page.set_viewport_size(size)
        assert share(page, guided=False) >= CLOSED
        assert asked.evaluate(IS_CUT)
        whole = page.get_by_role("paragraph").filter(has_text=VERY_LONG)
        expect(whole).to_have_count(1)  # for screen readers

        button.focus()
        page.keyboard.press("Enter")
        expect(button).to_have_text("Show less")
        expect(button).to_have_attribute("aria-expanded", "true")
        assert not asked.evaluate(IS_CUT)
        button.click()
        expect(button).to_have_text("Show all")
        assert asked.evaluate(IS_CUT)

    button.click()
    first = question.inner_text()
    question.focus()
    page.keyboard.press("1")
    expect(question).not_to_have_text(first)
    expect(button).to_have_text("Show all")
    assert asked.evaluate(IS_CUT), "each question begins with two lines"

    # Where the page scrolls, a long question is whole.
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    takes_keys(page)
    assert not asked.evaluate(IS_CUT)
    expect(button).to_be_hidden()


def test_a_limit_that_is_near_takes_nothing_from_the_table(
    world: World, new_context: NewContext, live_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_sessions, "NEARLY", 0.95)
    batch = asking(
        world,
        LONG,
        LONG + "?",
        LONG + "??",
        caps={"items_per_day": 20, "hours_per_day": 0.5},
        gold_feedback=True,
    )
    page = annotating(new_context, live_server.url, world.ada, batch, viewport=SIZES[0])
    before: list[float] = []
    for size in reversed(SIZES):
        page.set_viewport_size(size)
        before.insert(0, share(page, guided=False))
    page.locator(".question").focus()
    page.keyboard.press("1")
    reminder = page.locator("[data-break]")
    expect(reminder).to_contain_text("Only 19 items, 30 min left today.")
    expect(page.get_by_role("status").filter(has=reminder)).to_contain_text("Take a break soon.")
    header, saved_line = page.locator(".top"), page.locator("[data-saved]")
    for size, closed in zip(SIZES, before, strict=True):
        page.set_viewport_size(size)
        assert header.evaluate("(part) => part.scrollWidth <= part.clientWidth")
        assert share(page, guided=False) == closed >= CLOSED
        words = reminder.locator("strong").bounding_box()
        saved = saved_line.bounding_box()
        assert words is not None
        assert saved is not None
        assert words["x"] + words["width"] <= saved["x"], "one is beside the other"
