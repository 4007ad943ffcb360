"""An annotator who reads German works through items by keys alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from annotation.models import Annotation
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def test_an_item_is_answered_and_another_one_skipped_in_german_with_keys(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = world.batch(overlap=1)
    page = annotating(
        new_context,
        live_server.url,
        world.ada,
        batch,
        locale="de-DE",
        viewport={"width": 390, "height": 860},
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("button[value=submit]")).to_contain_text("Abgeben")
    page.keyboard.press("Enter")
    expect(page.locator("[data-notices]")).to_contain_text("Wählen Sie eine der vier Arten.")

    page.keyboard.press("1")  # chooses and submits; Enter would be for the next item
    expect(page.locator("[data-saved]")).to_contain_text("Vorige Aufgabe abgegeben.")
    expect(page.locator("[data-progress-text]")).to_contain_text("1 von")
    response: Any = Annotation.objects.get().response
    assert response["data"]["label"] == "extraction"

    page.keyboard.press("s")
    for press in ("ArrowDown", "Space", "Enter"):
        page.keyboard.press(press)
    expect(page.locator("[data-saved]")).to_contain_text("Vorige Aufgabe übersprungen.")

    page.keyboard.press("?")
    expect(page.locator("dialog")).to_contain_text("Tastenkürzel zurücksetzen")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 860})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not [url for url in asked if "/words/" in url]  # once a page, and never again with an item
