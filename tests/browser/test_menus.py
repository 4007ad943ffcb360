"""The menu *More* of the navigation: with the keyboard, with the pointer, and without scripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.annotation.cast import World, make_world
from tests.browser.pages import signed_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def test_the_menu_opens_and_closes_with_keys_and_clicks(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    page = signed_in(new_context, live_server.url, world.mara).new_page()
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


def test_without_scripts_the_menu_leads_to_its_pages_on_a_phone(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    context = signed_in(
        new_context,
        live_server.url,
        world.mara,
        java_script_enabled=False,
        viewport={"width": 390, "height": 844},
    )
    page = context.new_page()
    page.goto(f"{live_server.url}/projects/films/people/")

    page.locator("details.menu > summary").click()
    page.get_by_role("link", name="Audit log").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Audit log")
