"""Pages work with the modules of the tree, as from a clone without Node.js. All other browser tests load bundles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from annotation.models import Annotation
from tests.annotation.cast import World, make_world
from tests.browser.pages import signed_in, takes_keys

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.unbundled]
NewContext = Callable[..., BrowserContext]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def test_a_value_is_changed_and_submitted(world: World, new_context: NewContext, live_server: Any) -> None:
    batch = world.batch("value_change", variant="answer_changes")
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    takes_keys(page)
    question = page.locator(".question").inner_text()
    page.locator("td[data-column=c0]").first.click()
    page.keyboard.press("ArrowRight")
    expect(page.locator("td[data-column=c1]").first).to_be_focused()
    page.keyboard.press("F2")
    page.keyboard.press("Control+a")
    page.keyboard.type("1996")
    page.keyboard.press("Enter")
    page.locator("[data-field=answers] textarea, textarea[data-field=answers]").first.fill("1996")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".question")).not_to_have_text(question)
    (response,) = Annotation.objects.values_list("response__data", flat=True)
    assert [step["new"] for step in response["operations"]] == ["1996"]
    scripts = page.locator("script[type=module]").evaluate_all("scripts => scripts.map(({src}) => src)")
    assert f"{live_server.url}/static/askew/annotate.js" in scripts
