"""The end of a batch in a browser: Enter goes on with the next batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, takes_keys

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def test_enter_at_the_end_of_a_batch_goes_on_with_the_next(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    done, following = world.batch(size=1), world.batch(size=3, name="Second day")
    page = annotating(new_context, live_server.url, world.ada, done)
    page.keyboard.press("1")
    expect(page.get_by_role("heading", name="All caught up")).to_be_visible()
    expect(page.get_by_role("link", name="Next: Second day")).to_be_focused()
    expect(page.locator("main")).to_contain_text("3 items left for you")
    page.keyboard.press("Enter")
    takes_keys(page)
    assert page.url == f"{live_server.url}/batches/{following.public_id}/annotate/"
