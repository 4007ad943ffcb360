"""The explorer in a browser: by keys from item to item, one of them next to the list, counts that arrive by themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, expect

from annotation.explorer.links import explorer_url, with_query
from annotation.journeys import adjudicating
from tableqa import Example, Table
from tests.annotation.cast import NOON, World, make_world
from tests.browser.pages import signed_in
from tests.modules.pages.adjudication import edited

AXE = {"preload": False, "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


@pytest.mark.smoke
def test_keys_go_from_item_to_item_and_open_one_next_to_the_list(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = world.batch()
    for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
        world.label(batch, who, label)
    adjudicating.resolve_batch(batch=batch, now=NOON)
    second = batch.items.get(position=2)
    page = signed_in(
        new_context, live_server.url, world.mara, viewport={"width": 1366, "height": 850}
    ).new_page()
    page.goto(live_server.url + explorer_url(world.project))
    expect(page.locator(".facets").get_by_role("link", name="reasoning")).to_be_visible()

    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name=second.example.question)).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator("#beside h2")).to_have_text(second.example.question)
    page.wait_for_url(f"**open={second.public_id}*")
    expect(page.locator("tr[aria-current]")).to_contain_text(second.example.question)
    question = page.locator("tr[aria-current] > th").bounding_box()
    assert question is not None
    assert question["width"] >= 150, "no word of the question is broken"

    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Next item")
    page.keyboard.press("Escape")
    page.locator(".facets").get_by_role("link", name="reasoning").click()
    expect(page.locator("#found")).to_have_text("1 item · 1 response")


@pytest.mark.parametrize("width", [1366, 390])
def test_the_open_item_compares_its_responses_as_adjudication_does(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any, width: int
) -> None:
    edited(world, rows=60)
    other = Example("w-2", "When was Film 3?", Table(["Film", "Year"], [["Film 3", "1903"]]), ["1903"])
    second = world.batch("question_type", name="Labels", sources=[world.import_written(other, name="other")])
    world.label(second, "ada", "extraction")
    page = signed_in(
        new_context, live_server.url, world.mara, viewport={"width": width, "height": 850}
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
    page.keyboard.press("v")
    expect(comparison.locator("table")).to_have_count(2)
    heights = comparison.locator("[data-row=r1]").evaluate_all(
        "(rows) => rows.map((row) => row.offsetHeight)"
    )
    assert heights[0] == heights[1]
    page.keyboard.press("v")
    expect(comparison.locator("table")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    report = Axe().run(page, options=AXE)
    assert report.violations_count == 0, report.generate_report()


def test_an_open_item_that_needs_adjudication_leads_there_or_says_who_decides(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = world.batch()
    for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
        world.label(batch, who, label)
    adjudicating.resolve_batch(batch=batch, now=NOON)
    item = batch.items.get(adjudication__isnull=False)
    address = live_server.url + with_query(explorer_url(world.project), "", open=item.public_id)

    page = signed_in(new_context, live_server.url, world.mara).new_page()
    page.goto(address)
    expect(page.locator("#beside")).to_contain_text("An adjudicator decides this item.")
    page.locator("#beside").get_by_role("link", name="Roles").click()
    page.wait_for_url("**/people/")

    page = signed_in(new_context, live_server.url, world.ivo).new_page()
    page.goto(address)
    page.locator("#beside").get_by_role("link", name="Adjudicate").click()
    page.wait_for_url(f"**/items/{item.public_id}/adjudicate/")


@pytest.mark.smoke
def test_items_are_selected_by_keys_excluded_and_taken_back(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = world.batch()
    first, second, third, _ = batch.items.order_by("position")
    page = signed_in(
        new_context, live_server.url, world.mara, viewport={"width": 1366, "height": 850}
    ).new_page()
    page.goto(live_server.url + explorer_url(world.project, batch=batch))
    expect(page.locator("#act")).to_be_hidden()

    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("#act")).to_contain_text("1 selected")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Shift+X")
    expect(page.locator("#act")).to_contain_text("3 selected")
    page.get_by_text("Actions", exact=True).click()
    page.get_by_role("button", name="Exclude…").click()
    expect(page.get_by_text("3 items will be excluded.")).to_be_visible()
    page.get_by_label("Reason for exclusion").fill("A torn table")
    page.get_by_role("button", name="Exclude items").click()

    expect(page.locator(".messages")).to_contain_text("3 items excluded.")
    assert page.url == live_server.url + explorer_url(world.project, batch=batch)
    assert set(batch.items.filter(decision__kind="excluded")) == {first, second, third}
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".messages")).to_contain_text("Undone for 3 items.")
    assert not batch.items.filter(decision__isnull=False).exists()


def test_all_items_of_a_page_and_all_that_match_are_selected_and_cleared(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    world.batch()
    page = signed_in(
        new_context, live_server.url, world.mara, viewport={"width": 390, "height": 844}
    ).new_page()
    page.goto(live_server.url + explorer_url(world.project))
    boxes = page.locator("input[name=item]")

    boxes.nth(0).check()
    page.get_by_label("Select all 4 that match").check()
    expect(page.locator("#act")).to_contain_text("4 selected")
    boxes.nth(3).uncheck()
    expect(page.locator("#act")).to_contain_text("3 selected")
    expect(page.get_by_label("Select all 4 that match")).not_to_be_checked()
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.locator("#act")).to_be_hidden()


def test_on_a_phone_the_list_comes_before_unfolded_filters(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    world.label(world.batch(), "ada", "reasoning")
    page = signed_in(
        new_context, live_server.url, world.mara, viewport={"width": 390, "height": 844}
    ).new_page()
    page.goto(live_server.url + explorer_url(world.project))
    facet = page.locator(".facets").get_by_role("link", name="reasoning")

    expect(facet).to_be_hidden()
    page.get_by_text("Number of items by state, label and person").click()
    expect(facet).to_be_visible()

    page.set_viewport_size({"width": 1366, "height": 850})
    expect(facet).to_be_visible()
    expect(page.locator(".facets summary")).to_be_hidden()


def test_the_files_are_of_the_selected_items(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = world.batch()
    for _ in range(4):
        world.label(batch, "ada", "extraction")
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    page.goto(live_server.url + explorer_url(world.project, batch=batch, state="open"))
    link = page.locator(".exports").get_by_role("link", name="CSV")
    whole = link.get_attribute("href")
    boxes = page.locator("input[name=item]")

    boxes.nth(0).check()
    boxes.nth(2).check()

    expect(page.locator(".exports")).to_contain_text("Download the responses, 2 selected:")
    with page.expect_download() as download:
        link.click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").strip().splitlines()
    assert len(lines) == 3, "the head and two responses"
    page.get_by_label("Select all 4 that match").check()
    assert whole is not None
    expect(link).to_have_attribute("href", whole)


def test_a_new_project_starts_with_the_time_zone_of_the_browser(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.mara, timezone_id="Asia/Tokyo").new_page()

    page.goto(live_server.url + "/projects/new/")

    expect(page.locator("select[name=time_zone]")).to_have_value("Asia/Tokyo")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_list_an_open_item_and_saved_views_are_accessible(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any, scheme: str
) -> None:
    batch = world.batch()
    for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
        world.label(batch, who, label)
    page = signed_in(
        new_context, live_server.url, world.mara, viewport={"width": 1366, "height": 850}, color_scheme=scheme
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

    results = Axe().run(page, options=AXE)

    assert results.violations_count == 0, results.generate_report()
