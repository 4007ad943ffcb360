"""A zipped release that is uploaded with a new project becomes this project again, in a browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from annotation.models import Project
from annotation.workflow import projects
from tests.annotation.cast import NOON, World, make_world
from tests.browser.accessibility import check_accessibility
from tests.browser.pages import signed_in

RELEASE = Path(__file__).parents[1] / "annotation" / "release_of_november"


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.mark.both
def test_a_zipped_release_becomes_its_project_again(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    archive = shutil.make_archive(str(tmp_path / "release"), "zip", RELEASE)
    page = signed_in(
        new_context, live_server.url, world.mara, viewport={"width": 1280, "height": 850}
    ).new_page()
    page.goto(f"{live_server.url}/projects/new/")
    check_accessibility(page)
    page.get_by_label("Name", exact=True).fill("Again")
    page.get_by_label("Short name").fill("again")
    page.get_by_label("Release to restore").set_input_files(archive)
    page.get_by_role("button", name="Create project").click()

    expect(page.get_by_text("18 responses, 9 decisions")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("link", name="Again").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Again")
    restored = Project.objects.get(slug="again")
    for name in restored.batches.values_list("name", flat=True):
        expect(page.get_by_text(name, exact=True).first).to_be_visible()


def test_the_import_page_of_an_empty_project_restores_a_release(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    projects.create_project(slug="empty", name="Empty", manager=world.mara, now=NOON)
    archive = shutil.make_archive(str(tmp_path / "release"), "zip", RELEASE)
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    page.goto(f"{live_server.url}/projects/empty/sources/import/")
    page.get_by_label("Questions file").set_input_files(archive)
    page.get_by_role("button", name="Continue").click()

    expect(page.get_by_text("films-dev (CC-BY-SA-4.0)")).to_be_visible()
    for width in (1366, 390):
        page.set_viewport_size({"width": width, "height": 850})
        check_accessibility(page)
    page.get_by_role("button", name="Restore release").click()

    expect(page.get_by_text("18 responses, 9 decisions")).to_be_visible()
