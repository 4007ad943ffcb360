"""The pages that ask before an act with consequences, by keyboard alone: to the act, back by Cancel, and through with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import BrowserContext, expect

from tests.annotation.cast import make_world
from tests.annotation.role_table import make_things
from tests.annotation.test_confirmations import acts, rows
from tests.browser.accessibility import check_accessibility
from tests.browser.pages import signed_in

pytestmark = pytest.mark.django_db(transaction=True)

BUTTONS = {
    "withdraw consent": ("Withdraw consent", "Withdraw consent"),
    "close link": ("Close link", "Close link"),
    "create new key": ("Create new key", "Create new key"),
    "end signatures": ("Accept ids without signature", "Accept ids without signature"),
    "replace list": ("Save list", "Replace list"),
    "remove gold answer": ("Remove", "Remove gold answer"),
    "revoke token": ("Revoke mine", "Revoke token"),
    "delete view": ("Delete the view To decide", "Delete view"),
}
"""The act -> the name of its button on the page, and on the page that asks."""


@pytest.mark.parametrize("act", BUTTONS)
def test_an_act_is_asked_for_cancelled_and_confirmed_by_keyboard_alone(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path, act: str
) -> None:
    things = make_things(make_world(tmp_path))
    who, address, _, model = acts(things)[act]
    pages = {
        "close link": address.removesuffix("close/"),
        **dict.fromkeys(("create new key", "end signatures", "replace list"), address.removesuffix("admit/")),
        "revoke token": reverse("account"),
        "delete view": reverse("explorer", args=[things.world.project.slug]),
    }
    start, (opens, confirms) = pages.get(act, address), BUTTONS[act]
    page = signed_in(new_context, live_server.url, things.world.people[who]).new_page()
    before = rows(model)

    def ask() -> None:
        page.goto(live_server.url + start)
        if act == "delete view":
            page.get_by_text("Delete views").focus()
            page.keyboard.press("Enter")
            page.keyboard.press("Tab")
        else:
            page.get_by_role("button", name=opens).focus()
        expect(page.get_by_role("button", name=opens)).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Confirm")).to_be_focused()

    ask()
    check_accessibility(page, act)
    assert rows(model) == before
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name=confirms)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Cancel")).to_be_focused()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.url == live_server.url + start
    assert rows(model) == before
    ask()
    page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert rows(model) != before
