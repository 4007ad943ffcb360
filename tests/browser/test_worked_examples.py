"""Examples of earlier work, one key away, and the way back to the item."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.annotation.cast import World, make_world
from tests.annotation.test_worked_examples import sent_back
from tests.browser.pages import annotating

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def test_one_key_shows_examples_and_escape_returns_to_the_item(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    _, author = sent_back(world, note="<b>Read</b> rule 3 again.")
    page = annotating(new_context, live_server.url, world.people[author], world.batch(size=2))
    page.keyboard.press("e")
    dialog = page.get_by_role("dialog", name="Examples of earlier work")
    expect(dialog.locator("section")).to_have_count(3)
    expect(dialog).to_contain_text("From the practice set")
    expect(dialog.locator("[data-state=no]")).to_contain_text("<b>Read</b> rule 3 again.")
    expect(dialog.locator("[data-state=no]")).to_contain_text("by you")
    page.keyboard.press("1")  # belongs to the dialog: nothing is submitted
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    question = page.locator(".question").inner_text()
    page.keyboard.press("1")
    expect(page.locator(".question")).not_to_have_text(question)
