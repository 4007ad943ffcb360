"""The settings of a batch and the people of a project: accessible, also on a phone; a save is seen where it was made."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Batch
from annotation.workflow import automatic_decisions
from tests.annotation.cast import NOON, World, make_world
from tests.browser.accessibility import check_accessibility
from tests.browser.pages import signed_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def is_sound(page: Page) -> None:
    """On a desktop with dark colours, and on a phone."""
    desktop: Literal["dark"] = "dark"
    phone: Literal["light"] = "light"
    for scheme, width, height in ((desktop, 1280, 860), (phone, 390, 844)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        check_accessibility(page, scheme)
        widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1], f"{page.url} scrolls sideways at {width}"


def test_the_pages_have_no_violations_and_no_sideways_scrolling(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    batch = world.batch("value_change", variant="answer_changes")
    page = signed_in(new_context, live_server.url, world.mara).new_page()

    for path in (f"/batches/{batch.public_id}/settings/", "/projects/films/people/"):
        page.goto(f"{live_server.url}{path}")
        page.locator("details.menu > summary").last.click()
        is_sound(page)


def test_the_calibration_and_the_report_of_a_batch_have_no_violations(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    batch = world.batch(size=2, overlap=2)
    for label in ("extraction", "reasoning"):
        world.label(batch, "ada", label)
        world.label(batch, "bo", label)
    automatic_decisions.resolve_batch(batch=batch, now=NOON + timedelta(hours=1))
    marks = world.batch("relevant_cells", purpose="calibration", size=2, overlap=2)
    for who, cells in (("ada", [["r0", "c1"]]), ("bo", [["r2", "c0"]])):
        while (assignment := world.take(marks, who)) is not None:
            world.answer(assignment, {"cells": cells, "unanswerable": False})
    page = signed_in(new_context, live_server.url, world.mara).new_page()

    page.goto(live_server.url + reverse("calibration", args=[batch.public_id]))
    expect(page.locator("article.compared [role=region]")).to_have_count(2)
    is_sound(page)
    page.goto(live_server.url + reverse("calibration", args=[marks.public_id]))
    expect(page.locator("article.compared .contrast")).to_have_count(2)
    is_sound(page)
    page.goto(live_server.url + reverse("batch_report", args=[batch.public_id]))
    expect(page.get_by_role("heading", name="Precision of the suggestions", level=2)).to_be_visible()
    is_sound(page)


def test_a_section_is_saved_and_says_so_in_view(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    batch = world.batch()
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/settings/")

    page.get_by_role("link", name="Limits and pay").click()
    limits = page.get_by_role("region", name="Limits and pay")
    limits.get_by_label("Items per person", exact=True).fill("12")
    limits.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Change batch").click()

    expect(limits.get_by_role("status")).to_have_text("Saved.")
    expect(limits.get_by_role("status")).to_be_in_viewport()
    assert Batch.objects.get(pk=batch.pk).caps == {"items": 12}
