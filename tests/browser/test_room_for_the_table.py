"""The share of the table where there is more to read above it: long questions, and what the header says of the day."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.people import sessions
from benchmarks.share import CLOSED, MEASURE, OPEN
from benchmarks.share_data import LONG_QUESTION, lengthened
from tableqa import Example, Table
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, settled

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]
SIZES = [(1366, 850), (1280, 720)]
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


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("kind", ["question_type", "relevant_cells", "short_table"])
def test_beside_a_long_question_the_table_keeps_its_share(
    world: World, new_context: NewContext, live_server: Any, kind: str, width: int, height: int
) -> None:
    assert len(LONG) == LONG_QUESTION
    batch = asking(world, LONG, kind=kind)
    page = annotating(
        new_context, live_server.url, world.ada, batch, viewport={"width": width, "height": height}
    )
    assert share(page, guided=True) >= OPEN
    assert share(page, guided=False) >= CLOSED


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_long_question_is_cut_and_a_button_shows_the_rest(
    world: World, new_context: NewContext, live_server: Any, width: int, height: int
) -> None:
    batch = asking(world, VERY_LONG, f"{VERY_LONG} (again)")
    page = annotating(
        new_context, live_server.url, world.ada, batch, viewport={"width": width, "height": height}
    )
    asked, button = page.locator(".asked"), page.locator("[data-whole-question]")
    question = page.locator(".question")
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


def test_a_question_that_fits_is_whole_and_has_no_button(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(
        new_context,
        live_server.url,
        world.ada,
        asking(world, LONG),
        viewport={"width": 1366, "height": 850},
    )
    share(page, guided=False)
    assert not page.locator(".asked").evaluate(IS_CUT)
    expect(page.locator("[data-whole-question]")).to_be_hidden()


def test_where_the_page_scrolls_a_long_question_is_whole(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(
        new_context,
        live_server.url,
        world.ada,
        asking(world, VERY_LONG),
        viewport={"width": 390, "height": 844},
    )
    assert not page.locator(".asked").evaluate(IS_CUT)
    expect(page.locator("[data-whole-question]")).to_be_hidden()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_limit_that_is_near_takes_nothing_from_the_table(
    world: World,
    new_context: NewContext,
    live_server: Any,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    height: int,
) -> None:
    monkeypatch.setattr(sessions, "NEARLY", 0.95)
    batch = asking(
        world,
        LONG,
        LONG + "?",
        LONG + "??",
        caps={"items_per_day": 20, "hours_per_day": 0.5},
        gold_feedback=True,
    )
    page = annotating(
        new_context, live_server.url, world.ada, batch, viewport={"width": width, "height": height}
    )
    before = share(page, guided=False)
    page.locator(".question").focus()
    page.keyboard.press("1")
    reminder = page.locator("[data-break]")
    expect(reminder).to_contain_text("Only 19 items, 30 min left today.")
    expect(page.get_by_role("status").filter(has=reminder)).to_contain_text("Take a break soon.")
    header = page.locator(".top")
    assert header.evaluate("(part) => part.scrollWidth <= part.clientWidth")
    assert share(page, guided=False) == before >= CLOSED
    words = reminder.locator("strong").bounding_box()
    saved = page.locator("[data-saved]").bounding_box()
    assert words is not None
    assert saved is not None
    assert words["x"] + words["width"] <= saved["x"], "one is beside the other"
