"""A press on a choice submits where its key does, and nothing that was meant for the last item reaches the next one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Annotation
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, passes
from tests.modules.pages.judging import rated

PAUSE = 300
"""Milliseconds, more than those in which presses are ignored after another item has come."""

NewContext = Callable[..., BrowserContext]


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def submitted_data() -> Any:
    response = Annotation.objects.get().response
    assert response is not None
    return response["data"]


def question(page: Page) -> str:
    return page.locator(".question").inner_text()


def test_arrow_keys_and_where_the_setting_is_off_clicks_only_choose_and_a_click_submits_as_its_key_does(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1))
    page.clock.install()
    submit, saved = page.locator(".actions > [value=submit]"), page.locator("[data-saved]")
    first = question(page)
    expect(submit).to_have_css("background-color", "rgba(0, 0, 0, 0)")  # quiet: a choice submits
    page.locator("[name=label]").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[name=label]:checked")).to_have_count(1)
    expect(saved).to_contain_text("Saved")
    assert question(page) == first
    assert not Annotation.objects.exists()

    page.evaluate("document.documentElement.dataset.clickSubmits = 'off'")
    expect(submit).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")
    page.locator("label", has_text="Reasoning").first.click()
    expect(page.locator("[value=reasoning]")).to_be_checked()
    expect(saved).to_contain_text("Saved")
    assert not Annotation.objects.exists()
    submit.click()
    expect(saved).to_contain_text("submitted")
    assert submitted_data() == {"label": "reasoning"}

    page.evaluate("document.documentElement.dataset.clickSubmits = 'on'")
    second = question(page)
    passes(page, PAUSE)  # a press sooner was meant for the item before
    page.locator("label", has_text="Reasoning").first.click()
    expect(page.locator(".question")).not_to_have_text(second)
    assert [annotation.response["data"] for annotation in Annotation.objects.order_by("pk")] == [  # type: ignore[index]
        {"label": "reasoning"}
    ] * 2


def test_a_tap_submits_too(world: World, new_context: NewContext, live_server: Any) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1), **phone)
    first = question(page)
    page.locator("label", has_text="Extraction").first.tap()
    expect(page.locator(".question")).not_to_have_text(first)
    assert submitted_data() == {"label": "extraction"}


def test_two_scales_are_submitted_by_the_click_on_the_second_and_other_task_types_by_a_prominent_button(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("answer_rating", sources=[rated(world)], overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    page.locator(".scale").nth(0).locator("label").nth(3).click()
    expect(page.locator(".scale").nth(0).locator("input").nth(3)).to_be_checked()
    assert not Annotation.objects.exists()
    page.locator(".scale").nth(1).locator("label").nth(2).click()
    expect(page.locator("[data-saved]")).to_contain_text("submitted")

    other = world.batch("header_synonym", overlap=1)
    page.goto(f"{live_server.url}/batches/{other.public_id}/annotate/")
    expect(page.locator(".actions > [value=submit]")).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")
