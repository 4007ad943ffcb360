"""What comes to a person while they annotate: their session, how checks went, a word before a limit, and answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from annotation.accounts import work_sessions
from annotation.models import Assignment
from annotation.quality import annotator_questions
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_gold import examples, mark, small
from tests.browser.pages import annotating, passes, signed_in, takes_keys

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def test_how_the_last_checks_went_is_told_in_the_flow(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = small(world, gold_percent=50, gold_feedback=True)
    for example in examples(world)[2:]:
        mark(world, batch, example)
    world.draw_gold_first(batch, "ada", 2)
    page = annotating(new_context, live_server.url, world.ada, batch)
    expect(page.locator("[data-checks]")).to_be_hidden()
    place = page.locator(".question")
    for _ in range(3):  # of four items, two of which are checks
        question = place.inner_text()
        page.keyboard.press("1")
        expect(place).not_to_have_text(question)
    expect(page.locator("[data-checks]")).to_contain_text("of your last")
    assert Assignment.objects.filter(item__is_gold=True, state="submitted").exists()


def test_the_history_tells_the_session_and_a_limit_that_is_near_is_told_and_dismissed_for_the_day(
    world: World, new_context: NewContext, live_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_sessions, "NEARLY", 0.95)
    page = annotating(
        new_context, live_server.url, world.ada, world.batch(size=4, caps={"items_per_day": 20})
    )
    reminder, place = page.locator("[data-break]"), page.locator(".question")
    expect(reminder).to_be_hidden()
    page.locator("summary", has_text="Earlier").click()
    page.get_by_role("button", name="History").click()
    expect(page.locator("[data-session]")).to_contain_text("This session: 0 items")
    page.keyboard.press("1")
    expect(page.locator("[data-session]")).to_contain_text("This session: 1 item ·")
    expect(reminder).to_contain_text("Only 19 items left today.")
    reminder.get_by_role("button", name="Dismiss").click()
    expect(reminder).to_be_hidden()
    question = place.inner_text()
    with page.expect_response("**/session/"):
        page.keyboard.press("1")
    expect(place).not_to_have_text(question)
    with page.expect_response("**/session/"):
        page.reload()
    expect(reminder).to_be_hidden()
    other = world.batch(size=4, caps={"items_per_day": 20})
    page.goto(f"{live_server.url}/batches/{other.public_id}/annotate/")
    takes_keys(page)
    page.keyboard.press("1")
    expect(reminder).to_contain_text("Only 19 items left today.")


def test_an_answer_comes_while_the_page_is_open(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(size=2)
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    page.clock.install()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    takes_keys(page)
    held = Assignment.objects.filter(person=world.ada).earliest("pk")
    asked = annotator_questions.ask(
        project=world.project, person=world.ada, text="Do totals count?", assignment=held, now=NOON
    )
    annotator_questions.answer(inquiry=asked, text="They do.", by=world.mara, now=NOON)
    question = page.locator(".question").inner_text()

    passes(page, 31_000)

    expect(page.locator("nav .badge")).to_have_count(0)  # the page is older than the answer
    notice = page.locator(f"[data-topic=answer-{asked.public_id}]")
    expect(notice).to_have_text("Answer to your question “Do totals count?”: They do.")
    expect(page.locator(".question")).to_have_text(question)
    passes(page, 31_000)
    expect(notice).to_have_count(1)

    page.reload()
    takes_keys(page)
    expect(notice).to_have_count(1)
    expect(page.locator("nav .badge")).to_have_text(re.compile("1 new answer"))
    page.keyboard.press("p")
    expect(page.locator("[data-past-words]")).to_contain_text("You have not submitted")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.keyboard.press("Escape")
    expect(notice).to_have_count(1)
    page.keyboard.press("1")  # an item is finished beside the answer
    expect(page.locator(".question")).not_to_have_text(question)
    expect(page.locator("nav .badge")).to_have_count(0)
    page.goto(f"{live_server.url}/work/")
    expect(page.locator("nav .badge")).to_have_count(0)
