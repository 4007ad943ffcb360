"""The kinds about cells, by keyboard alone: relevant cells, their relevance, shortened tables, changed values.

Each test also counts what it cost: keys per item, and page loads, of which there may be none inside a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Annotation, Batch, Item
from annotation.workflow import automatic_decisions
from tests.annotation.cast import NOON, World, make_world
from tests.browser.pages import annotating
from tests.modules.pages.cells import EXAMPLES, questions


class Hands:
    """Somebody at a keyboard, who counts what they press. Typing a text counts its letters."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.pressed = 0
        self.loads = 0
        page.on("framenavigated", self._count)

    def _count(self, frame: Any) -> None:
        self.loads += frame == self.page.main_frame

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.pressed += 1

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.pressed += len(text)

    def spent(self) -> int:
        """The keys since it was asked last."""
        pressed, self.pressed = self.pressed, 0
        return pressed


def at(
    new_context: Callable[..., BrowserContext], base: str, world: World, batch: Batch, who: str = "ada"
) -> tuple[Page, Hands]:
    page = annotating(new_context, base, world.people[who], batch)
    return page, Hands(page)


def saved(page: Page) -> None:
    expect(page.locator("[data-saved]")).to_contain_text("Saved")


def said(batch: Batch) -> list[dict[str, Any]]:
    """The data of what was submitted in a batch, in order."""
    newest = Annotation.objects.filter(assignment__batch=batch, assignment__state="submitted")
    return [annotation.response["data"] for annotation in newest.order_by("pk") if annotation.response]


def next_item(page: Page, question: str) -> None:
    expect(page.locator(".question")).to_contain_text(question)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def test_relevant_cells_are_marked_with_a_range_and_enter(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    batch = world.batch("relevant_cells", sources=[world.import_written(*questions())])
    page, hands = at(new_context, live_server.url, world, batch)
    hands.press("ArrowDown", "Shift+ArrowRight", "Shift+ArrowRight", "Space")
    expect(page.locator("askew-marked-cells")).to_contain_text("Row 2. column 1: Cost; 2019: $100; 2018: $82")
    hands.press("Enter")
    next_item(page, "(1)")
    assert hands.spent() == 5
    expect(page.locator("askew-marked-cells")).to_contain_text("None yet")
    hands.press("Enter")
    expect(page.locator(".notice.problem")).to_contain_text("Mark at least one cell")
    hands.press("Escape", "0", "Enter")
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    assert said(batch) == [
        {"cells": [["r1", "c0"], ["r1", "c1"], ["r1", "c2"]], "unanswerable": False},
        {"cells": [], "unanswerable": True},
    ]
    assert hands.loads == 1, "only the end of the batch is a page of its own"


def test_a_few_programs_are_shown_and_of_those_the_chosen_one(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    source = world.import_written(*EXAMPLES["total"])
    batch = world.batch("value_change", variant="answer_stays", sources=[source])
    page, hands = at(new_context, live_server.url, world, batch)
    group, more = page.get_by_role("radiogroup"), page.locator(".more-programs")
    expect(group).to_be_focused()
    shown = group.locator("label:visible")
    expect(more).to_contain_text("2 more")
    expect(shown).to_have_count(4)
    hands.press("1")
    expect(shown).to_have_count(1)
    expect(more).to_contain_text("5 others")
    expect(page.locator("askew-grid :focus")).to_have_count(1)
    hands.press("Escape", "m")
    expect(shown).to_have_count(6)
    hands.press("ArrowDown")
    expect(shown).to_have_count(6)
    expect(shown.nth(1).locator("input")).to_be_checked()
    hands.press("n")
    expect(shown).to_have_text(["None of these"], use_inner_text=True)


def test_the_whole_chain_by_keyboard_from_marked_cells_to_a_changed_value(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    source = world.import_written(*questions(1))
    cells = world.batch("relevant_cells", sources=[source], overlap=1)
    _, hands = at(new_context, live_server.url, world, cells)
    hands.press("ArrowDown", "ArrowRight", "Shift+ArrowRight", "Space", "Enter")
    expect(hands.page.locator(".question", has_text="cost")).to_have_count(0)
    automatic_decisions.resolve_batch(batch=cells, now=NOON + timedelta(days=400))
    short = world.batch("short_table", sources=[source])
    page, hands = at(new_context, live_server.url, world, short)
    expect(page.locator("[data-show=evidence]")).to_have_text("cells marked by people in this project")
    expect(page.locator("askew-first-cut")).to_be_visible()
    expect(page.locator("askew-programs kbd", has_text="1")).to_be_visible()
    hands.press("Escape", "c", "1", "Enter")
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    change = world.batch("value_change", variant="answer_changes", feeds_from=short, sources=[])
    automatic_decisions.resolve_batch(batch=short, now=NOON + timedelta(days=400))
    assert Item.objects.get(batch=change).example.perturbation == "short_table"
    page, hands = at(new_context, live_server.url, world, change, "bo")
    expect(page.locator("askew-programs input:checked")).to_have_count(1)
    hands.press("ArrowDown", "ArrowRight")
    hands.type("$112")
    hands.press("Enter")
    expect(page.locator("[data-field=answers]")).to_have_value("30")
    hands.press("Enter")
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    assert hands.spent() == 8, "nothing but the edit and Enter: the answer comes from the program"
    assert said(change)[0]["answers"] == ["30"]
