"""What interrupts somebody at work, for each way of entering a response: nothing that was entered is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation.models import Annotation, Draft
from annotation.workflow import batches
from benchmarks.browser_data import over_its_sample
from tasks.contract import task_type
from tests.annotation.cast import World, make_world
from tests.browser.pages import TIMEOUT, intercept, signed_in, takes_keys
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.console_may_say("Failed to load resource"),
]

NewContext = Callable[..., BrowserContext]
DATA = "document.querySelector('askew-annotate').response.data"


def types_a_text(page: Page, step: int) -> None:
    page.locator("textarea[name=question]").press("End")
    page.keyboard.type(f" {step}")


def edits_a_cell(page: Page, step: int) -> None:
    page.locator("askew-grid tbody [data-column=c2]").first.click()
    page.keyboard.type(f"18{step}")  # the editor stays open


def picks_a_score(page: Page, step: int) -> None:
    page.locator("input[name=faithfulness]").nth(step % 5).press("Space")


STYLES = {
    "text": ("question_paraphrase", "word", types_a_text),
    "grid edits": ("value_change", "answer_stays", edits_a_cell),
}
"""How a response is entered. That other ways reach the draft, too: tests/modules/page_at_work.test.js."""


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


class Worker:
    """Ada on her page of a batch, who enters something else with every step."""

    def __init__(self, page: Page, address: str, enter: Callable[[Page, int], None]) -> None:
        self.page, self.address, self.enter = page, address, enter
        self.steps = 0
        self.entered: Any = None

    def opens(self) -> None:
        self.page.goto(self.address)
        takes_keys(self.page)

    def works(self) -> None:
        self.page.bring_to_front()
        before = self.page.evaluate(DATA)
        self.enter(self.page, self.steps)
        self.steps += 1
        self.page.wait_for_function(
            f"(before) => JSON.stringify({DATA}) !== before", arg=_text(self.page, before)
        )
        self.entered = self.page.evaluate(DATA)

    def has_it_all(self) -> None:
        takes_keys(self.page)
        self.page.wait_for_function(
            f"(entered) => JSON.stringify({DATA}) === entered", arg=_text(self.page, self.entered)
        )

    def is_saved(self) -> None:
        wait_until(
            lambda: Draft.objects.get().response["data"] == self.entered, "the draft is saved", TIMEOUT
        )
        expect(self.page.locator("[data-saved]")).to_contain_text("Saved")
        self.has_it_all()

    def fails_to_save(self, words: str) -> None:
        expect(self.page.locator("[data-saved]")).to_contain_text("Not saved")
        expect(self.page.locator("[data-notices]")).to_contain_text(words)
        self.has_it_all()


def _text(page: Page, data: Any) -> str:
    return str(page.evaluate("(data) => JSON.stringify(data)", data))


def lose_the_answer(route: Route) -> None:
    route.fetch()
    route.abort()


def test_a_page_that_was_made_before_the_last_save_shows_what_was_saved(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = over_its_sample(world, task_type("answer_rating"), "")
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    page.set_default_timeout(15_000)
    ada = Worker(page, f"{live_server.url}/batches/{batch.public_id}/annotate/", picks_a_score)
    ada.opens()
    made_before = page.context.request.get(ada.address).text()
    ada.works()
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    intercept(
        page, ada.address, lambda route: route.fulfill(body=made_before, content_type="text/html"), times=1
    )
    page.reload()
    ada.has_it_all()
    ada.works()
    ada.is_saved()
    assert page.locator("dialog[open]").count() == 0
    page.reload()
    ada.has_it_all()


@pytest.mark.parametrize("style", STYLES)
def test_nothing_that_was_entered_is_lost(
    world: World, new_context: NewContext, live_server: Any, style: str
) -> None:
    key, variant, enter = STYLES[style]
    batch = over_its_sample(world, task_type(key), variant)
    context = signed_in(new_context, live_server.url, world.ada)
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.goto(f"{live_server.url}/work/")
    ada = Worker(page, f"{live_server.url}/batches/{batch.public_id}/annotate/", enter)
    ada.opens()

    ada.works()
    page.wait_for_function("Object.keys(localStorage).some((key) => key.startsWith('askew:draft:'))")
    page.reload()  # the copy of this browser may be all there is
    ada.has_it_all()

    ada.works()
    page.go_back()
    page.go_forward()
    ada.has_it_all()

    context.set_offline(True)
    ada.works()
    ada.fails_to_save("stored in this browser")
    context.set_offline(False)
    ada.is_saved()

    intercept(page, "**/draft/", lose_the_answer, times=1)
    ada.works()
    ada.fails_to_save("stored in this browser")
    ada.works()  # the server has the step before, and the page has not heard of it
    ada.is_saved()

    context.clear_cookies()
    ada.works()
    ada.fails_to_save("You are signed out.")
    other = context.new_page()
    other.goto(f"{live_server.url}/sign-in/")
    other.get_by_label("E-mail").fill("ada@example.org")
    other.get_by_label("Password").fill("tilted tables")
    other.get_by_role("button", name="Sign in").click()
    expect(other.get_by_role("button", name="Sign out")).to_be_visible()
    ada.is_saved()

    second = Worker(other, ada.address, enter)
    second.opens()
    second.steps, second.entered = ada.steps + 1, ada.entered
    ada.works()
    ada.is_saved()
    second.works()
    dialog = other.get_by_role("dialog", name="Two versions of your work")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Keep the other version").click()
    wait_until(lambda: other.evaluate(DATA) == page.evaluate(DATA), "one version", TIMEOUT)
    assert Draft.objects.get().response["data"] == page.evaluate(DATA)
    other.close()

    batches.close_batch(batch=batch, by=world.mara, now=timezone.now())
    ada.works()
    ada.is_saved()
    page.goto(f"{live_server.url}/work/")
    expect(page.get_by_role("row").filter(has_text="batch closed · draft saved")).to_have_count(1)
    assert not Annotation.objects.filter(response__isnull=False).exists()
