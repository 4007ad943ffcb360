"""Home in a browser: Enter goes on with the recommended batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.annotation.cast import World, make_world
from tests.browser.pages import signed_in, takes_keys

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def test_enter_on_home_goes_on_where_one_was(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    world.batch(size=2, name="First")
    second = world.batch(size=3, name="Second")
    world.label(second, "ada", "extraction")
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    page.goto(live_server.url)
    expect(page.get_by_role("link", name="Continue Second")).to_be_focused()
    expect(page.get_by_role("heading", level=2).first).to_have_text(
        "Can the answer be read from the table, or must it be worked out?"
    )
    page.set_viewport_size({"width": 390, "height": 844})
    name = page.locator("table.batches th[scope=row]").first.bounding_box()
    button = page.locator("table.batches td .button").first.bounding_box()
    assert name
    assert button
    assert name["width"] >= 340, "on a phone a batch has the whole width"
    assert button["y"] >= name["y"] + name["height"]

    page.keyboard.press("Enter")
    takes_keys(page)
    assert page.url == f"{live_server.url}/batches/{second.public_id}/annotate/"
