"""The pages of managers on a phone: forms open on screen, tabs scroll, events and labels have the width they need."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, expect

from tests.annotation.cast import World, make_world
from tests.browser.pages import signed_in

pytestmark = pytest.mark.django_db(transaction=True)
Contexts = Callable[..., BrowserContext]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LINES = """(label) => {
  const range = new Range();
  range.selectNodeContents(label);
  const box = label.querySelector("input").getBoundingClientRect();
  const lines = [...range.getClientRects()].filter(({ width, top }) => width > 1 && top > box.bottom - 4);
  return lines.map(({ left }) => left - box.right);
}"""
"""How far the lines of a label below its first one begin from the end of its check box."""


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


@pytest.fixture
def page(world: World, new_context: Contexts, live_server: Any) -> Page:
    """A phone of the manager."""
    return signed_in(new_context, live_server.url, world.mara, base_url=live_server.url, **PHONE).new_page()


def test_the_explorer_folds_its_filters_and_opens_the_form_of_a_view_on_screen(
    world: World, page: Page
) -> None:
    batch = world.batch(size=3)
    world.label(batch, "ada", "reasoning")
    page.goto(reverse("explorer", args=[world.project.slug]) + "?state=open")
    facet = page.locator(".facets").get_by_role("link", name="reasoning")

    expect(facet).to_be_hidden()
    page.get_by_text("Number of items by state, label and person").tap()
    expect(facet).to_be_visible()
    page.get_by_text("Save view").tap()

    form = page.locator(".saved-views form")
    expect(form).to_be_in_viewport(ratio=1)
    expect(form.get_by_role("button", name="Save")).to_be_in_viewport(ratio=1)

    page.set_viewport_size({"width": 1366, "height": 850})
    expect(facet).to_be_visible()
    expect(page.get_by_text("Number of items by state, label and person")).to_be_hidden()


def test_tabs_stay_on_one_line_events_get_the_width_and_labels_begin_beside_their_boxes(
    world: World, page: Page
) -> None:
    batch = world.batch()
    world.label(batch, "ada", "extraction")
    page.goto(reverse("batch_settings", args=[batch.public_id]))
    tops = page.locator(".places .line:not(.within) > ul > li").evaluate_all(
        "(tabs) => tabs.map((tab) => tab.getBoundingClientRect().top)"
    )
    assert len(tops) > 3
    assert len(set(tops)) == 1

    item = batch.items.get(position=1)
    for address in (
        reverse("item_story", args=[item.public_id]),
        reverse("project_log", args=[world.project.slug]),
    ):
        page.goto(address)
        row = page.locator("main .data tbody tr").last
        width = row.locator("> :is(td, th):not(.when, .actor)").first.evaluate("(cell) => cell.clientWidth")
        assert width > 300, address
        assert page.evaluate("document.documentElement.scrollWidth") == 390

    page.goto(reverse("people", args=[world.project.slug]))
    lines = page.locator("#invite label", has=page.get_by_role("checkbox")).evaluate_all(
        f"(labels) => labels.flatMap({LINES})"
    )
    assert lines
    assert min(lines) > 0, "a long label begins beside its box in every line"
