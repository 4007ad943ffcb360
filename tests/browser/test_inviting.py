"""Inviting people: each link has a button that copies it, and all of them together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.annotation.cast import World, make_world
from tests.browser.pages import signed_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def invited(page: Page, base: str) -> None:
    page.goto(f"{base}/projects/films/people/")
    page.get_by_label("E-mail addresses").fill("Dana <dana@x.org>; elif@x.org")
    page.get_by_label("Annotator:").check()
    page.get_by_role("button", name="Create invitation links").click()


def test_a_manager_copies_one_link_or_all(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    context = signed_in(new_context, live_server.url, world.mara)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    invited(page, live_server.url)
    link = page.get_by_role("textbox", name="elif@x.org").input_value()

    page.get_by_role("button", name="Copy the link for elif@x.org").click()

    expect(page.get_by_role("button", name="Copied")).to_have_count(1)
    assert page.evaluate("navigator.clipboard.readText()") == link

    page.get_by_role("button", name="Copy all").click()

    expect(page.get_by_role("button", name="Copied")).to_have_count(2)
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines()[1] == f"elif@x.org\t{link}"
