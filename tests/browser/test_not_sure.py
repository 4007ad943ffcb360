"""Not sure, by key: the mark belongs to one item, and no key that is lost with the page loses it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Annotation
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, takes_keys

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def pressed(page: Page, state: str) -> None:
    expect(page.get_by_role("button", name="Not sure")).to_have_attribute("aria-pressed", state)


def test_one_key_or_press_marks_the_response_and_the_next_item_begins_without(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(size=3))
    first = page.locator(".question").inner_text()
    page.keyboard.press("l")
    pressed(page, "true")
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    page.reload()
    takes_keys(page)
    pressed(page, "true")
    page.keyboard.press("1")
    expect(page.locator(".question")).not_to_have_text(first)
    pressed(page, "false")
    assert Annotation.objects.get().unsure is True

    page.keyboard.press("u")
    expect(page.locator(".question")).to_have_text(first)
    pressed(page, "true")
    page.keyboard.press("l")
    pressed(page, "false")
    page.keyboard.press("Enter")
    expect(page.locator(".question")).not_to_have_text(first)
    assert Annotation.objects.order_by("revision").last().unsure is None  # type: ignore[union-attr]
    page.get_by_role("button", name="Not sure").click()
    pressed(page, "true")
    page.get_by_role("button", name="Not sure").click()
    pressed(page, "false")
