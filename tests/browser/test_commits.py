"""A press on a choice submits where its key does, and nothing that was meant for the last item reaches the next one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Annotation
from tests.annotation.cast import World, make_world
from tests.browser.pages import HeldRequests, annotating, settled
from tests.browser.test_kinds_judging import rated

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


def test_a_click_on_a_label_submits_as_its_key_does(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1))
    first = question(page)
    page.locator("label", has_text="Reasoning").first.click()
    expect(page.locator(".question")).not_to_have_text(first)
    assert submitted_data() == {"label": "reasoning"}


def test_a_tap_submits_too(world: World, new_context: NewContext, live_server: Any) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1), **phone)
    first = question(page)
    page.locator("label", has_text="Extraction").first.tap()
    expect(page.locator(".question")).not_to_have_text(first)
    assert submitted_data() == {"label": "extraction"}


def test_arrow_keys_move_through_choices_and_submit_nothing(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1))
    first = question(page)
    page.locator("[name=label]").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[name=label]:checked")).to_have_count(1)
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    assert question(page) == first
    assert not Annotation.objects.exists()


def test_with_the_setting_off_a_click_only_chooses(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1))
    page.evaluate("document.documentElement.dataset.clickSubmits = 'off'")
    page.locator("label", has_text="Reasoning").first.click()
    expect(page.locator("[value=reasoning]")).to_be_checked()
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    assert not Annotation.objects.exists()
    page.locator(".actions [value=submit]").click()
    expect(page.locator("[data-saved]")).to_contain_text("submitted")


def test_of_two_quick_changes_of_a_setting_the_later_one_is_stored(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1))
    held = HeldRequests(page, "**/account/display/")
    page.get_by_role("button", name="Display").click()
    page.locator("#display label:has([name=click_submits][value=off])").click()
    earlier = held.take()
    page.locator("#display label:has([name=click_submits][value=on])").click()
    settled(page)
    assert not held.routes, "it waits for the earlier one"
    earlier.continue_()
    later = held.take()
    assert 'name="click_submits"\r\n\r\non' in (later.request.post_data or "")
    later.continue_()


def test_submit_is_quiet_where_a_choice_submits_and_prominent_where_it_only_chooses(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1))
    submit = page.locator(".actions > [value=submit]")
    expect(submit).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    page.evaluate("document.documentElement.dataset.clickSubmits = 'off'")
    expect(submit).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")


def test_submit_is_prominent_where_no_choice_submits(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch("header_synonym", overlap=1))
    submit = page.locator(".actions > [value=submit]")
    expect(submit).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")


def test_two_scales_are_submitted_by_the_click_on_the_second(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("answer_rating", sources=[rated(world)], overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    page.locator(".scale").nth(0).locator("label").nth(3).click()
    expect(page.locator(".scale").nth(0).locator("input").nth(3)).to_be_checked()
    assert not Annotation.objects.exists()
    page.locator(".scale").nth(1).locator("label").nth(2).click()
    expect(page.locator("[data-saved]")).to_contain_text("submitted")


def test_digits_are_ignored_for_a_moment_after_another_set_of_choices_has_come(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1))
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    page.evaluate(
        """() => {
            document.querySelector("[name=label]").dataset.key = "7";
            document.querySelector("askew-annotate").commits.arranged();
        }"""
    )
    page.keyboard.press("2")
    expect(page.locator("[name=label]:checked")).to_have_count(0)
    page.clock.run_for(251)
    page.keyboard.press("2")
    expect(page.locator("[data-saved]")).to_contain_text("submitted")
