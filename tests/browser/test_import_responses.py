"""The import of responses in a browser: task type, fields and options are corrected while the preview follows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Batch
from tests.annotation.cast import World, make_world
from tests.annotation.test_transfer import annotation, choice, labels, task
from tests.browser.accessibility import check_accessibility
from tests.browser.pages import signed_in


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def finds_each_width_accessible(page: Page) -> None:
    for width in (390, 1366):
        page.set_viewport_size({"width": width, "height": 850})
        check_accessibility(page)


@pytest.mark.console_may_say(
    "htmx:(afterRequest|sendAbort)"
)  # a change replaces the request of the one before
def test_labels_of_another_tool_get_the_options_of_a_task_type(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    path = tmp_path / "export.json"
    people = {"id": 1, "email": "xenia@example.org"}, 2
    given = [
        task(1, annotation(people[0], choice("kind", "EQ")), annotation(people[1], choice("kind", "RQ"))),
        task(2, annotation(people[0], choice("kind", "EQ")), annotation(3, was_cancelled=True)),
    ]
    path.write_text(json.dumps(given), "utf-8")
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    page.goto(f"{live_server.url}/projects/films/sources/")
    page.get_by_role("link", name="Import responses").click()
    finds_each_width_accessible(page)
    page.get_by_label("Tool").select_option("Label Studio")
    page.get_by_label("File").set_input_files(path)
    page.get_by_role("button", name="Continue").click()

    expect(page.get_by_label("Task type")).to_have_value("export")
    page.get_by_label("Task type").select_option("question_type")
    expect(page.get_by_label("Option for EQ")).to_be_visible()
    page.get_by_label("Option for EQ").select_option("extraction")
    expect(page.get_by_label("Option for EQ")).to_have_value("extraction")
    page.get_by_label("Option for RQ").select_option("reasoning")
    expect(page.locator(".problem")).to_have_count(0)
    finds_each_width_accessible(page)
    page.get_by_label("Name of 2").fill("Yuri")
    page.get_by_role("button", name="Import", exact=True).click()

    expect(page.get_by_text("3 responses were imported")).to_be_visible()
    assert Batch.objects.get().state == "closed"
    assert labels() == [
        ("Yuri", {"label": "reasoning"}),
        ("xenia@example.org", {"label": "extraction"}),
        ("xenia@example.org", {"label": "extraction"}),
    ]
