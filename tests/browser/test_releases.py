"""The pages of releases in a browser: several formats are chosen, the page fits two screens, two releases are compared."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Release
from annotation.releases import benchmark_files, creation, verification
from tests.annotation.cast import World, make_world
from tests.annotation.test_evaluation_runs import said, sent
from tests.annotation.test_mixing import perturbed_thrice
from tests.annotation.test_release_page import client_of, labelled
from tests.browser.accessibility import check_accessibility
from tests.browser.pages import signed_in

HEIGHT = 850
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = make_world(tmp_path)
    perturbed_thrice(world)
    labelled(world, ["reasoning", "reasoning", "extraction"], "Types")
    return world


def fits_and_is_accessible(page: Page) -> None:
    for width in (390, 1366):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        check_accessibility(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url


def released(world: World, name: str, *formats: str) -> Release:
    now = timezone.now() + timedelta(minutes=2)
    return creation.make_release(project=world.project, name=name, format=formats, by=world.rea, now=now)


def rea(new_context: Callable[..., BrowserContext], live_server: Any, world: World, **options: Any) -> Page:
    sized = {"viewport": {"width": 1366, "height": HEIGHT}, **options}
    return signed_in(new_context, live_server.url, world.rea, **sized).new_page()


@pytest.mark.both
def test_a_release_in_two_formats_is_made_by_ticks(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World, tmp_path: Path
) -> None:
    page = rea(new_context, live_server, world)
    page.goto(f"{live_server.url}/projects/films/releases/")
    check_accessibility(page)
    page.get_by_label("Name").fill("1.0")
    lines = page.locator("#id_format label").evaluate_all("(all) => all.map((one) => one.clientHeight)")
    assert len(lines) == len(benchmark_files.FORMATS)
    assert max(lines) < 100, "each format is explained in a few lines"
    page.get_by_label("askew One file per task type").check()
    page.get_by_label("robut One file per perturbation").check()
    page.get_by_role("button", name="Create release").click()
    assert page.locator("input:invalid").get_attribute("name") == "include_unchecked", (
        "the browser asks for it"
    )
    page.get_by_label("I know that 3 edits are released without a blind answer").check()
    with page.expect_navigation():
        page.get_by_role("button", name="Create release").click()

    page.goto(f"{live_server.url}/projects/films/releases/")
    with page.expect_navigation():
        page.get_by_role("link", name="1.0", exact=True).click()

    expect(page.locator("h1 + p")).to_contain_text("askew, robut")
    release = Release.objects.get(name="1.0")
    assert verification.verify(creation.folder(release))["decisions"] == 4


def test_the_page_of_a_release_fits_two_screens_before_its_folds(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    release = released(world, "1.0", *benchmark_files.FORMATS)
    sent(client_of(world.rea), release, "TAPEX", said(release))
    page = rea(new_context, live_server, world)

    page.goto(f"{live_server.url}{reverse('release', args=[release.public_id])}")

    robustness = page.locator("section[aria-labelledby=robustness]")
    expect(robustness.locator("svg[role=img]")).to_be_visible()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        check_accessibility(page)
    box = robustness.bounding_box()
    assert box is not None
    assert box["y"] < 2 * HEIGHT, "what people come for takes two screens at most"
    assert page.locator("main > details[open], main section details[open]").count() == 0
    page.get_by_text("What was changed: 3 questions").click()
    expect(page.get_by_text("Question 1 of 3")).to_be_visible()


def test_two_releases_and_the_appendix_are_read_on_a_desktop_and_a_phone(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    released(world, "1.0", "askew")
    labelled(world, ["extraction", "extraction", "extraction"], "More types")
    release = released(world, "2.0", "askew", "suc")
    page = rea(new_context, live_server, world)
    page.goto(f"{live_server.url}{reverse('release', args=[release.public_id])}")

    with page.expect_navigation():
        page.get_by_role("link", name="Compare with 1.0").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("1.0 compared with 2.0")
    row = page.get_by_role("row", name="askew/question_type.jsonl")
    row.get_by_text("Show ids").click()
    expect(row).to_contain_text("added")
    fits_and_is_accessible(page)
    page.goto(f"{live_server.url}/projects/films/methods/")
    fits_and_is_accessible(page)
    page.get_by_text("Preview").click()
    expect(page.get_by_role("heading", name="Adjudication and exclusions")).to_be_visible()
    fits_and_is_accessible(page)
