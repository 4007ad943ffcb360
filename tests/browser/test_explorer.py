"""The explorer in a browser: the changes of an open item and the colours, at two widths and in two schemes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from annotation.explorer.links import explorer_url
from tableqa import Example, Table
from tests.annotation.cast import World, make_world
from tests.browser.accessibility import check_accessibility
from tests.browser.pages import signed_in
from tests.modules.pages.adjudication import edited

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def test_the_open_item_compares_its_responses_as_adjudication_does(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    edited(world, rows=60)
    other = Example("w-2", "When was Film 3?", Table(["Film", "Year"], [["Film 3", "1903"]]), ["1903"])
    second = world.batch("question_type", name="Labels", sources=[world.import_written(other, name="other")])
    world.label(second, "ada", "extraction")
    page = signed_in(
        new_context, live_server.url, world.mara, viewport={"width": 1366, "height": 850}
    ).new_page()
    page.goto(live_server.url + explorer_url(world.project))
    for question in ("When was Film 3?", "When was Film 1?"):  # the second one takes the place of the first
        page.get_by_role("link", name=question).click()
        expect(page.locator("#beside h2")).to_have_text(question)
    comparison = page.locator("#beside askew-comparison")
    expect(comparison.locator("td.changed ins")).to_contain_text(["1996", "1997"])
    comparison.get_by_role("button", name="Only changed rows").click()
    unchanged = comparison.get_by_role("button", name="rows without changes")
    expect(comparison.locator("[data-row=r40]")).to_have_count(0)
    unchanged.last.click()
    expect(comparison.locator("[data-row=r40]")).to_be_attached()

    page.keyboard.press("n")
    expect(comparison.locator("[data-row=r1] [data-here], [data-row=r1] [data-now]").first).to_be_attached()
    for width in (1366, 390):
        page.set_viewport_size({"width": width, "height": 850})
        page.keyboard.press("v")
        expect(comparison.locator("table")).to_have_count(2)
        heights = comparison.locator("[data-row=r1]").evaluate_all(
            "(rows) => rows.map((row) => row.offsetHeight)"
        )
        assert heights[0] == heights[1]
        page.keyboard.press("v")
        expect(comparison.locator("table")).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        check_accessibility(page)


def test_the_list_an_open_item_and_saved_views_are_accessible(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = world.batch()
    for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
        world.label(batch, who, label)
    page = signed_in(
        new_context, live_server.url, world.mara, viewport={"width": 1366, "height": 850}
    ).new_page()
    page.goto(live_server.url + explorer_url(world.project, state="open"))
    page.get_by_text("Save view").click()
    page.get_by_label("Name").fill("To do")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(
        page.get_by_role("navigation", name="Saved views").get_by_role("link", name="To do")
    ).to_be_visible()
    page.locator("[data-item]").first.click()
    expect(page.locator("#beside h2")).to_be_visible()

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        check_accessibility(page)
