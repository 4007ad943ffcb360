"""What goes wrong between a browser and a server: nothing is lost, nothing is sent twice, and the page says what is so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation import doctor
from annotation.journeys import assigning
from annotation.models import Annotation, Batch
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating


def adas_page(world: World, new_context: Callable[..., BrowserContext], base: str, batch: Batch) -> Page:
    page = annotating(new_context, base, world.ada, batch)
    expect(page.locator("h1.question")).to_contain_text("when did")
    return page


@pytest.mark.django_db(transaction=True)
@pytest.mark.console_may_say("Failed to load resource")
def test_a_submission_whose_answer_was_lost_is_one_submission(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    page = adas_page(world, new_context, live_server.url, world.batch(overlap=1))
    question = page.locator("h1.question").inner_text()
    lost: list[int] = []

    def lose_the_answer(route: Route) -> None:
        answer = route.fetch()
        lost.append(answer.status)
        route.abort()

    page.route("**/submit/", lose_the_answer, times=1)
    page.keyboard.press("1")
    expect(page.locator("h1.question")).not_to_have_text(question)
    assert lost == [200]
    assert Annotation.objects.count() == 1
    expect(page.locator("[data-notices]")).not_to_contain_text("another window")
    page.keyboard.press("u")
    expect(page.locator("h1.question")).to_have_text(question)
    page.keyboard.press("2")
    expect(page.locator("h1.question")).not_to_have_text(question)
    assert [a.response and a.response["data"]["label"] for a in Annotation.objects.order_by("pk")] == [
        "extraction",
        None,
        "reasoning",
    ]
    assert list(doctor.findings()) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.console_may_say("Failed to load resource")
def test_when_the_batch_closes_meanwhile_the_draft_is_kept_and_can_be_read(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    batch = world.batch(overlap=1)
    page = adas_page(world, new_context, live_server.url, batch)
    assigning.close_batch(batch=batch, by=world.mara, now=timezone.now())
    page.keyboard.press("2")
    expect(page.locator("[data-notices]")).to_contain_text(
        "This batch has been closed. What you entered is kept"
    )
    page.goto(f"{live_server.url}/work/")
    row = page.get_by_role("row").filter(has_text="batch closed, draft kept")
    row.get_by_text("Your draft").click()
    expect(row).to_contain_text("label: reasoning")
    assert not Annotation.objects.exists()
    assert list(doctor.findings()) == []


@pytest.mark.django_db(transaction=True)
def test_after_a_reload_every_change_can_still_be_taken_back_and_undone(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    page = adas_page(world, new_context, live_server.url, world.batch("value_change", variant="answer_stays"))
    for row, text in (("r0", "171"), ("r1", "118")):
        page.locator(f"[data-row={row}] [data-column=c2]").click()
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    expect(page.locator("[data-changes] li")).to_have_count(2)
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    page.wait_for_timeout(600)
    page.reload()
    expect(page.locator("[data-changes] button")).to_have_count(2)
    page.locator("[data-row=r0] [data-column=c0]").click()
    page.keyboard.press("Control+z")
    expect(page.locator("[data-changes] li")).to_have_count(1)
    page.locator("[data-changes] button").click()
    expect(page.locator("[data-changes] li")).to_have_count(0)


@pytest.mark.django_db(transaction=True)
def test_what_is_said_about_a_refused_submission_goes_with_the_next_change(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    page = adas_page(world, new_context, live_server.url, world.batch("value_change", variant="answer_stays"))
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("[data-notices]")).to_contain_text("Not submitted yet")
    page.locator("[data-row=r0] [data-column=c2]").click()
    page.keyboard.type("171")
    page.keyboard.press("Enter")
    expect(page.locator("[data-notices]")).not_to_contain_text("Not submitted yet")
