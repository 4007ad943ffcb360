"""What goes wrong between a browser and a server: nothing is lost, nothing is sent twice, and the page says what is so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from annotation.management import doctor
from annotation.models import Annotation, Batch, Draft
from annotation.workflow import batches
from tests.annotation.cast import World, make_world
from tests.browser.accessibility import AXE
from tests.browser.pages import annotating, intercept, passes, settled, takes_digits, takes_keys


def adas_page(world: World, new_context: Callable[..., BrowserContext], base: str, batch: Batch) -> Page:
    page = annotating(new_context, base, world.ada, batch)
    expect(page.locator(".question")).to_contain_text("when did")
    return page


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
@pytest.mark.console_may_say("Failed to load resource")
def test_a_submission_whose_answer_was_lost_is_one_and_a_batch_that_closes_meanwhile_keeps_the_draft(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    batch = world.batch(overlap=1)
    page = adas_page(world, new_context, live_server.url, batch)
    question = page.locator(".question").inner_text()
    lost: list[int] = []

    def lose_the_answer(route: Route) -> None:
        answer = route.fetch()
        lost.append(answer.status)
        route.abort()

    intercept(page, "**/submit/", lose_the_answer, times=1)
    page.keyboard.press("1")
    expect(page.locator(".question")).not_to_have_text(question)
    assert lost == [200]
    assert Annotation.objects.count() == 1
    expect(page.locator("[data-notices]")).not_to_contain_text("another window")
    page.keyboard.press("u")
    expect(page.locator(".question")).to_have_text(question)
    page.keyboard.press("2")
    expect(page.locator(".question")).not_to_have_text(question)
    labels = ["extraction", None, "reasoning"]
    assert [a.response and a.response["data"]["label"] for a in Annotation.objects.order_by("pk")] == labels
    assert list(doctor.findings()) == []

    takes_digits(page)
    batches.close_batch(batch=batch, by=world.mara, now=timezone.now())
    page.keyboard.press("2")
    expect(page.locator("[data-notices]")).to_contain_text("This batch is closed. Your draft is saved")
    page.goto(f"{live_server.url}/work/")
    row = page.get_by_role("row").filter(has_text="batch closed · draft saved")
    row.get_by_text("Your draft").click()
    expect(row).to_contain_text("Label: Reasoning")
    assert Annotation.objects.count() == len(labels)
    assert list(doctor.findings()) == []


@pytest.mark.django_db(transaction=True)
def test_what_is_said_about_a_refused_submission_goes_with_a_change_and_a_reload_loses_no_change(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    page = adas_page(world, new_context, live_server.url, world.batch("value_change", variant="answer_stays"))
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("[data-notices]")).to_contain_text("Not submitted yet")
    page.clock.install()
    for row, text in (("r0", "171"), ("r1", "118")):
        page.locator(f"[data-row={row}] [data-column=c2]").click()
        page.keyboard.type(text)
        page.keyboard.press("Enter")
        expect(page.locator("[data-notices]")).not_to_contain_text("Not submitted yet")
    expect(page.locator("[data-changes] li")).to_have_count(2)
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    passes(page, 600)
    page.reload()
    expect(page.locator("[data-changes] button")).to_have_count(2)
    page.locator("[data-row=r0] [data-column=c0]").click()
    page.keyboard.press("Control+z")
    expect(page.locator("[data-changes] li")).to_have_count(1)
    page.locator("[data-changes] button").click()
    expect(page.locator("[data-changes] li")).to_have_count(0)


def two_windows(
    world: World,
    new_context: Callable[..., BrowserContext],
    base: str,
    handler: Callable[[Route], Any] | None = None,
) -> tuple[Page, Page]:
    """One item of Ada's in two windows. In each she changes another cell; in the first she also chooses a program.

    The second window asks the handler for the script of the dialog in which she chooses between the two.
    """
    first = adas_page(world, new_context, base, world.batch("value_change", variant="answer_stays"))
    second = first.context.new_page()
    second.set_default_timeout(15_000)
    if handler:
        second.route("**/bundles/*/versions.*.js", handler)
    second.goto(first.url)
    takes_keys(second)
    expect(first.locator("askew-programs label").first).to_be_visible()
    first.locator("askew-programs label").first.click()
    first.locator("[data-row=r0] [data-column=c2]").click()
    first.keyboard.type("171")
    first.keyboard.press("Enter")
    expect(first.locator("[data-saved]")).to_contain_text("Saved")
    second.locator("[data-row=r1] [data-column=c2]").click()
    second.keyboard.type("118")
    second.keyboard.press("Enter")
    if not handler:
        expect(second.locator("dialog[open]")).to_be_visible()
    return first, second


def is_in_the_middle_and_styled(page: Page, dialog: Locator) -> None:
    settled(page)
    place = dialog.evaluate(
        """(dialog) => {
          const box = dialog.getBoundingClientRect();
          const { paddingTop, paddingLeft, display } = getComputedStyle(dialog);
          return {
            left: box.left, right: innerWidth - box.right, top: box.top, bottom: innerHeight - box.bottom,
            paddingTop, paddingLeft, display, over: dialog.scrollWidth - dialog.clientWidth,
          };
        }"""
    )
    assert abs(place["left"] - place["right"]) <= 1
    assert abs(place["top"] - place["bottom"]) <= 1
    assert (place["paddingTop"], place["paddingLeft"], place["display"]) == ("20px", "24px", "block")
    assert place["over"] <= 0
    buttons = dialog.locator("tfoot").get_by_role("button").all()
    looks = "(one) => { const { color, backgroundColor } = getComputedStyle(one); return { color, backgroundColor }; }"
    submit = page.locator("button[value=submit]").evaluate(looks)
    plain = page.locator("button[value=undo]").evaluate(looks)
    assert [button.evaluate(looks) for button in buttons] == [submit, plain]
    # At one moment: the dialog is fitted to a new size of the window in steps.
    left, right = dialog.evaluate(
        "(dialog) => [...dialog.querySelectorAll('tfoot button')].map((button) => button.getBoundingClientRect().toJSON())"
    )
    assert left["y"] == right["y"]
    assert left["right"] < right["x"]


def is_the_saved_version(page: Page, text: str) -> None:
    expect(page.locator("dialog")).to_have_count(0)
    expect(page.locator("[data-changes] li")).to_have_count(1)
    expect(page.locator("[data-changes] li")).to_contain_text(text)
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    stored = Draft.objects.get().response["data"]
    assert [operation["new"] for operation in stored["operations"]] == [text]


@pytest.mark.django_db(transaction=True)
@pytest.mark.console_may_say("Failed to load resource")
def test_two_versions_are_compared_in_one_table_and_in_words_in_a_dialog_like_any_other(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    first, second = two_windows(make_world(tmp_path), new_context, live_server.url)
    program = first.locator("askew-programs label:has(:checked) > span").inner_text()
    dialog = second.get_by_role("dialog", name="Two versions of your work")
    assert "object" not in dialog.inner_text()
    changed = dialog.locator("askew-comparison td.changed")
    expect(changed).to_have_count(2)
    assert [part.inner_text().split() for part in changed.locator("ins").all()] == [
        ["by", "B", "171"],
        ["by", "A", "118"],
    ]
    fields = dialog.locator(":scope > table")
    assert fields.locator("thead th").all_inner_texts() == ["A On this page", "B In the other window"]
    names = fields.locator("tbody th").all()
    assert [" ".join(name.inner_text().split()) for name in names] == [
        "How is the answer worked out? different"
    ]
    expect(dialog.get_by_role("heading", name="Two versions of your work")).to_be_focused()
    second.keyboard.press("n")
    expect(dialog.locator("[data-here]")).to_contain_text("171")
    second.keyboard.press("v")
    expect(dialog.locator(".sheet")).to_have_count(2)
    second.keyboard.press("v")
    here, there = fields.locator("tbody").get_by_role("cell").all()
    expect(here).to_have_text("Nothing entered")
    expect(there).to_have_text(program)
    assert Axe().run(second, options=AXE).violations_count == 0
    for width in (390, 1280):
        second.set_viewport_size({"width": width, "height": 860})
        expect(dialog.locator("askew-comparison .sheet").first).to_be_visible()
        is_in_the_middle_and_styled(second, dialog)
    dialog.get_by_role("button", name="Keep the other version").click()
    expect(second.locator("askew-grid td:focus")).to_be_visible()
    is_the_saved_version(second, "171")


@pytest.mark.django_db(transaction=True)
@pytest.mark.console_may_say("Failed to load resource")
def test_of_two_versions_none_is_chosen_by_accident_and_the_chosen_one_is_saved(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    _, page = two_windows(make_world(tmp_path), new_context, live_server.url)
    dialog = page.locator("dialog[open]")
    for key in ("Enter", "Space", "Escape", "Escape"):
        page.keyboard.press(key)
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Keep this version").click()
    is_the_saved_version(page, "118")


@pytest.mark.django_db(transaction=True)
@pytest.mark.console_may_say("Failed to load resource")
def test_what_is_entered_until_the_dialog_has_come_is_in_the_version_of_its_page(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    refused = [True]
    _, page = two_windows(
        make_world(tmp_path),
        new_context,
        live_server.url,
        lambda route: route.abort() if refused else route.continue_(),
    )
    expect(page.locator("[data-notices]")).to_contain_text("The server cannot be reached.")
    page.locator("[data-row=r2] [data-column=c2]").click()
    page.keyboard.type("163")
    page.keyboard.press("Enter")
    refused.clear()
    page.locator("dialog[open]").get_by_role("button", name="Keep this version").click()
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    expect(page.locator("[data-changes] li")).to_have_count(2)
    page.reload()
    expect(page.locator("[data-changes] li")).to_contain_text(["118", "163"])
