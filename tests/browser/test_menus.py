"""The menu *More* of the navigation and the menus of exports: with the keyboard and the pointer, and where they open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.annotation.cast import World, make_world
from tests.browser.pages import signed_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def box(part: Locator) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a part of the page within the window."""
    found = part.bounding_box()
    assert found is not None
    left, top = found["x"], found["y"]
    return left, top, left + found["width"], top + found["height"]


def test_the_menu_opens_and_closes_with_keys_and_clicks_and_covers_neither_people_nor_batches(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    world.batch(name="Labels")
    context = signed_in(new_context, live_server.url, world.mara, viewport={"width": 1366, "height": 850})
    page = context.new_page()
    page.goto(f"{live_server.url}/projects/films/people/")
    menu, log = page.locator("details.menu > summary"), page.get_by_role("link", name="Audit log")

    menu.focus()
    page.keyboard.press("Enter")
    expect(log).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Sources")).to_be_focused()
    page.keyboard.press("Escape")
    expect(log).to_be_hidden()
    expect(menu).to_be_focused()

    menu.click()
    expect(log).to_be_visible()
    page.mouse.click(5, 500)  # beside the content, where the menu covers nothing
    expect(log).to_be_hidden()

    for address, below in (
        ("/projects/films/people/", "#members table"),
        ("/projects/films/?table", ".flow-of-batches"),
    ):
        page.goto(f"{live_server.url}{address}")
        menu.first.click()
        expect(log).to_be_visible()
        left, _, right, bottom = box(page.locator("details.menu > div").first)
        assert bottom <= box(page.locator(below).first)[1]
        for button in page.locator(".page-header .act > .button").all():
            assert right <= box(button)[0]
        assert left >= 0
        assert right <= 1366


def test_the_tab_of_the_page_is_whole_on_a_phone(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    batch = world.batch()
    page = signed_in(
        new_context, live_server.url, world.mara, viewport={"width": 390, "height": 844}
    ).new_page()

    page.goto(f"{live_server.url}/batches/{batch.public_id}/settings/")

    tab = page.locator(".places .line > ul > li", has=page.locator("[aria-current]"))
    expect(tab).to_have_text("Settings")
    expect(tab).to_be_in_viewport(ratio=0.99)


def opens_in_sight(page: Page, width: int, height: int) -> int:
    """Open each export menu that is shown, and check that all of it is in the window; how many there are."""
    menus = [menu for menu in page.locator("details.figure-menu").all() if menu.is_visible()]
    for menu in menus:
        menu.locator("summary").click()
        expect(menu.get_by_role("link", name="Download CSV")).to_be_visible()
        expect(menu.locator(".popped")).to_be_in_viewport(ratio=1)
        left, top, right, bottom = box(menu.locator(".popped"))
        assert left >= 0
        assert right <= width
        assert top >= 0
        assert bottom <= height
        for link in menu.get_by_role("link").all():
            assert box(link)[2] <= right
        page.keyboard.press("Escape")
        expect(menu).not_to_have_attribute("open", "")
    return len(menus)


def test_export_menus_open_in_sight_also_at_the_end_of_a_page(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    batch = world.batch(name="Labels")
    world.label(batch, "ada", "extraction")
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    sizes = ((1366, 850), (390, 844))

    menus = dict.fromkeys(sizes, 0)
    for address in ("/projects/films/people/", "/projects/films/?table", f"/batches/{batch.public_id}/"):
        for width, height in sizes:
            page.set_viewport_size({"width": width, "height": height})
            page.goto(f"{live_server.url}{address}")
            menus[width, height] += opens_in_sight(page, width, height)

    assert min(menus.values()) >= 4
