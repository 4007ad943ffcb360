"""The explorer without a mouse: filter, move, open, select, act with a preview, undo, and save a view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from annotation.explorer.links import explorer_url
from annotation.models import SavedView
from annotation.workflow import automatic_decisions
from tests.annotation.cast import NOON, World, make_world
from tests.browser.pages import signed_in

pytestmark = pytest.mark.django_db(transaction=True)
MOST_TABS = 25
"""The keys from a place to the next control of one part of the page."""


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


@pytest.fixture
def page(world: World, new_context: Callable[..., BrowserContext], live_server: Any) -> Page:
    """Mara's explorer over a batch of four items, the first of which needs adjudication."""
    batch = world.batch()
    for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
        world.label(batch, who, label)
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    page = signed_in(
        new_context, live_server.url, world.mara, viewport={"width": 1366, "height": 850}
    ).new_page()
    page.goto(live_server.url + explorer_url(world.project))
    expect(page.locator(".facets").get_by_role("link", name="reasoning")).to_be_visible()
    return page


def tab_to(page: Page, target: Locator, key: str = "Tab") -> None:
    """Press Tab until the control has the focus, as somebody does who sees where it is."""
    for _ in range(MOST_TABS):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press(key)
    expect(target).to_be_focused()


def question(world: World, position: int) -> str:
    return str(world.project.batches.get().items.get(position=position).example.question)


def test_an_item_is_opened_read_and_left_again(page: Page, world: World) -> None:
    press = page.keyboard.press
    for key in ("j", "j", "ArrowDown", "k"):
        press(key)
    expect(page.get_by_role("link", name=question(world, 2))).to_be_focused()
    press("Enter")
    expect(page.locator("#beside h2")).to_have_text(question(world, 2))
    page.wait_for_url(f"**open={world.project.batches.get().items.get(position=2).public_id}*")
    expect(page.locator("tr[aria-current]")).to_contain_text(question(world, 2))
    cell = page.locator("tr[aria-current] > th").bounding_box()
    assert cell is not None
    assert cell["width"] >= 150, "no word of the question is broken"
    press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Next item")
    press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()

    press("j")
    expect(page.get_by_role("link", name=question(world, 3))).to_be_focused()
    press("Enter")
    expect(page.locator("#beside h2")).to_have_text(question(world, 3))
    press("o")
    expect(page.locator("#beside")).to_be_focused()
    tab_to(page, page.locator("#beside").get_by_role("link", name="History"))
    press("Escape")
    expect(page.get_by_role("link", name=question(world, 3))).to_be_focused()
    press("o")
    tab_to(page, page.locator("#beside").get_by_role("link", name="History"))
    press("Enter")

    page.wait_for_url("**/story/")


def test_search_and_filters_are_set_and_removed(page: Page, world: World) -> None:
    press = page.keyboard.press
    press("/")
    page.keyboard.type(question(world, 1).split()[-1].strip("?"))
    press("Enter")
    expect(page.locator(".chips")).to_contain_text("Search")
    expect(page.get_by_role("link", name=question(world, 1))).to_be_visible()
    press("/")
    tab_to(page, page.get_by_role("link", name="Clear filters").first)
    press("Enter")
    expect(page.locator("#found")).to_have_text("4 items")

    press("/")
    tab_to(page, page.get_by_label("State"))
    press("E")  # by its first letter: Excluded
    press("ArrowUp")
    chosen = page.get_by_label("State").input_value()
    assert chosen
    tab_to(page, page.get_by_role("button", name="Filter", exact=True))
    press("Enter")
    page.wait_for_url(f"**state={chosen}*")
    press("/")
    tab_to(page, page.get_by_role("link", name="Remove the filter State").first)
    press("Enter")
    expect(page.locator("#found")).to_have_text("4 items")

    facet = page.locator(".facets").get_by_role("link", name="reasoning")
    expect(facet).to_be_visible()
    press("/")
    tab_to(page, facet)
    press("Enter")
    expect(page.locator("#found")).to_have_text("1 item · 1 response")


def test_items_are_selected_excluded_after_a_preview_and_taken_back(page: Page, world: World) -> None:
    press = page.keyboard.press
    batch = world.project.batches.get()
    first, second, third, _ = batch.items.order_by("position")
    page.goto(page.url.partition("/projects/")[0] + explorer_url(world.project, batch=batch))
    address = page.url
    expect(page.locator("#act")).to_be_hidden()
    for key in ("j", "x"):
        press(key)
    expect(page.locator("#act")).to_contain_text("1 selected")
    for key in ("j", "j", "Shift+X"):
        press(key)
    expect(page.locator("#act")).to_contain_text("3 selected")
    press("a")
    expect(page.get_by_role("button", name="Exclude…")).to_be_focused()
    press("Escape")
    expect(page.get_by_role("button", name="Exclude…")).to_be_hidden()
    expect(page.locator("#act summary")).to_be_focused()
    press("a")
    press("Enter")
    expect(page.get_by_text("3 items will be excluded.")).to_be_visible()
    expect(page.get_by_label("Reason for exclusion")).to_be_focused()
    page.keyboard.type("A torn table")
    tab_to(page, page.get_by_role("button", name="Exclude items"))
    press("Enter")

    expect(page.locator(".messages")).to_contain_text("3 items excluded.")
    assert page.url == address
    assert set(batch.items.filter(decision__kind="excluded")) == {first, second, third}
    expect(page.locator(".facets a").first).to_be_visible()  # scripts load the facets, and take keys
    press("u")
    expect(page.locator(".messages")).to_contain_text("Undone for 3 items.")
    assert not batch.items.filter(decision__isnull=False).exists()


def test_a_view_is_saved_opened_and_deleted(page: Page, world: World) -> None:
    press = page.keyboard.press
    press("/")
    tab_to(page, page.locator(".facets").get_by_role("link", name="neither"))
    press("Enter")
    expect(page.locator("#found")).to_have_text("1 item · 1 response")
    press("/")
    tab_to(page, page.locator(".saved-views summary", has_text="Save view"), "Shift+Tab")
    press("Enter")
    tab_to(page, page.get_by_label("Name"))
    page.keyboard.type("Neither")
    press("Enter")
    views = page.get_by_role("navigation", name="Saved views")
    expect(views.get_by_role("link", name="Neither")).to_be_visible()

    press("/")
    tab_to(page, page.get_by_role("link", name="Clear filters").first)
    press("Enter")
    expect(page.locator("#found")).to_have_text("4 items")
    press("/")
    tab_to(page, views.get_by_role("link", name="Neither"), "Shift+Tab")
    press("Enter")
    expect(page.locator("#found")).to_have_text("1 item · 1 response")

    press("/")
    tab_to(page, page.locator(".saved-views summary", has_text="Delete views"), "Shift+Tab")
    press("Enter")
    tab_to(page, page.get_by_role("button", name="Delete the view Neither"))
    press("Escape")
    expect(page.get_by_role("button", name="Delete the view Neither")).to_be_hidden()
    press("Enter")
    tab_to(page, page.get_by_role("button", name="Delete the view Neither"))
    press("Enter")
    tab_to(page, page.get_by_role("button", name="Delete view", exact=True))
    press("Enter")
    expect(views).to_be_hidden()
    assert not SavedView.objects.exists()
