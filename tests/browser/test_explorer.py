"""The explorer in a browser: by keys from item to item, one of them next to the list, counts that arrive by themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from annotation.explorer.links import explorer_url
from annotation.journeys import adjudicating
from tests.annotation.cast import NOON, World, make_world
from tests.browser.pages import signed_in

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

    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Next item")
    page.keyboard.press("Escape")
    page.locator(".facets").get_by_role("link", name="reasoning").click()
    expect(page.locator("#found")).to_have_text("1 item")
