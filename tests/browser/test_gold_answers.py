"""Gold answers in a browser: one page for each item, by clicks alone and by keys alone, without explanations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Batch, Gold
from tests.annotation.cast import World, make_world
from tests.browser.pages import signed_in, takes_keys

pytestmark = pytest.mark.django_db(transaction=True)
LABELS = ["extraction", "reasoning", "neither", "extraction"]


@pytest.fixture
def entry(tmp_path: Path, transactional_db: None) -> tuple[World, Batch]:
    """A planned qualification with four items."""
    world = make_world(tmp_path)
    return world, world.batch(purpose="qualification", pass_percent=60, open=False, name="Entry")


class Visits(list[str]):
    """The pages of a tab, in the order in which they were loaded."""

    def __init__(self, page: Page) -> None:
        page.on("load", lambda loaded: self.append(loaded.url.partition("?")[0].rpartition("/batches/")[2]))


def opened(
    entry: tuple[World, Batch], new_context: Callable[..., BrowserContext], base: str, **options: Any
) -> Page:
    world, batch = entry
    page = signed_in(new_context, base, world.mara, **options).new_page()
    page.goto(f"{base}/batches/{batch.public_id}/gold/")
    return page


def are_set(batch: Batch) -> bool:
    golds = Gold.objects.filter(item__batch=batch).order_by("item__example__position")
    return [(one.expected["data"]["label"], one.why) for one in golds] == [(label, "") for label in LABELS]


def test_gold_answers_are_set_by_one_click_on_one_page_each(
    entry: tuple[World, Batch], new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = entry[1]
    page = opened(entry, new_context, live_server.url, viewport={"width": 390, "height": 850})
    visits = Visits(page)
    page.get_by_role("link", name="Add gold answer").click()

    for left, label in zip((4, 3, 2, 1), LABELS, strict=True):
        expect(page.locator(".where").first).to_contain_text(
            f"{left} item{'s' * (left > 1)} without a gold answer"
        )
        takes_keys(page)
        page.locator("label", has_text=label.capitalize()).first.click()  # the only question: it is saved

    expect(page.get_by_role("heading", name="Gold answers", level=1)).to_be_visible()
    assert are_set(batch)
    assert visits == [f"{batch.public_id}/gold/new/"] * 4 + [f"{batch.public_id}/gold/"]
    expect(page.get_by_text("The batch can open when all items have one.")).to_have_count(0)


def test_gold_answers_are_set_by_one_key_each(
    entry: tuple[World, Batch], new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = entry[1]
    page = opened(entry, new_context, live_server.url)
    visits = Visits(page)
    for _ in range(25):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Add gold answer":
            break
    page.keyboard.press("Enter")

    for left, label in zip((4, 3, 2, 1), LABELS, strict=True):
        expect(page.locator(".where").first).to_contain_text(
            f"{left} item{'s' * (left > 1)} without a gold answer"
        )
        takes_keys(page)
        page.keyboard.press({"extraction": "1", "reasoning": "2", "neither": "3"}[label])
        if left == 3:
            page.keyboard.press("Enter")  # a digit is enough; one key too many sends nothing twice

    expect(page.get_by_role("heading", name="Gold answers", level=1)).to_be_visible()
    assert are_set(batch)
    assert visits == [f"{batch.public_id}/gold/new/"] * 4 + [f"{batch.public_id}/gold/"]
