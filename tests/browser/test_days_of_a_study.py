"""Days of a study in a browser: somebody of a crowd from the link to the code, and guidelines that change meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from annotation.accounts import crowd_entry
from annotation.models import Assignment, CrowdEntry
from annotation.quality import consent, gold, guidelines
from annotation.queue import practice
from annotation.workflow import batches
from tasks.contract import task_type
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_crowd import QUERY, make_link
from tests.browser.pages import annotating, takes_keys

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]
KEYS = {"extraction": "1", "reasoning": "2", "neither": "3", "unanswerable": "4"}


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path, questions=8)


def practise(page: Page) -> None:
    takes_keys(page)
    exercises = practice.exercises(task_type("question_type"))
    for number, exercise in enumerate(exercises, start=1):
        page.keyboard.press(KEYS[exercise.expected.label])
        expect(page.locator("[data-feedback]")).to_be_visible()
        page.keyboard.press("Enter")
        if number < len(exercises):
            expect(page.locator("[data-feedback]")).to_be_hidden()
    expect(page.locator("h1")).to_have_text("Practice completed")
    expect(page.get_by_role("link", name="Continue to the items")).to_be_focused()
    page.keyboard.press("Enter")


def test_somebody_of_the_crowd_goes_from_the_link_to_the_code_and_comes_back_late(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    some = list(world.source.examples.order_by("position"))
    batch = world.batch(
        strategy="everyone",
        only=[one.external_id for one in some[:3]],
        must_practise=True,
        gold_percent=25,
        open=False,
    )
    gold.set_gold(batch=batch, example=some[5], data={"label": "reasoning"}, why="", by=world.mara, now=NOON)
    batches.open_batch(batch=batch, by=world.mara, now=NOON)
    consent.write(project=world.project, text="We publish your labels.", by=world.mara, now=NOON)
    link = make_link(world, return_url="")
    query = "&".join(f"{name}={value}" for name, value in QUERY.items())
    page = new_context(viewport={"width": 390, "height": 800}).new_page()
    page.set_default_timeout(15_000)

    page.goto(f"{live_server.url}/crowd/{link.public_id}/?{query}")
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("h1")).to_have_text("Films")
    page.locator(f"main a[href$='/batches/{batch.public_id}/annotate/']").first.click()
    expect(page.locator("h1")).to_have_text("Consent")
    page.get_by_role("button", name="I have read this and agree").click()
    practise(page)
    expect(page.locator("[data-panel=ask]")).to_be_attached()
    person = CrowdEntry.objects.get().person
    for done in range(4):
        takes_keys(page)
        question = page.locator(".question").inner_text()
        page.keyboard.press("2")
        if done < 3:
            expect(page.locator(".question")).not_to_have_text(question)
    expect(page.locator("body")).to_contain_text("code")
    assert Assignment.objects.filter(person=person, state="submitted").count() == 4
    assert Assignment.objects.filter(person=person, item__is_gold=True).count() == 1

    page.goto(f"{live_server.url}/crowd/finish/")
    page.get_by_role("button", name="Finish and show code").click()
    expect(page.get_by_label("Your code")).to_have_value("C0MPLETE")

    late = crowd_entry.make_return_link(entry=CrowdEntry.objects.get(), by=world.mara, now=timezone.now())
    other = new_context().new_page()
    other.goto(f"{live_server.url}/crowd/back/{late}/")
    other.get_by_role("button", name="Continue in this browser").click()
    other.goto(f"{live_server.url}/crowd/finish/")
    expect(other.get_by_label("Your code")).to_have_value("C0MPLETE")
    page.goto(f"{live_server.url}/crowd/finish/")
    expect(page.locator("h1")).not_to_have_text("Your work is complete")


@pytest.mark.console_may_say("409 \\(Conflict\\)")
def test_guidelines_that_change_in_mid_work_come_before_the_next_item_and_the_one_on_the_desk_is_handed_in(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(overlap=1)
    guidelines.require_reading(project=world.project, required=True, by=world.mara, now=NOON)
    guidelines.confirm(
        guidelines=guidelines.current(world.project.pk, batch.task_type), person=world.ada, now=NOON
    )
    page = annotating(new_context, live_server.url, world.ada, batch)
    guidelines.revise(
        project=world.project,
        task=batch.task(),
        text="# Anew\n\nA year is a number.",
        person=world.mara,
        now=timezone.now(),
    )

    for _ in range(2):  # the one on the screen, and the one that the page had fetched ahead
        question = page.locator(".question").inner_text()
        page.keyboard.press("1")
        expect(page.locator(".question", has_text=question)).to_have_count(0)

    expect(page.locator("body")).to_contain_text("guidelines are new or have changed")
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    expect(page.locator("h1")).to_contain_text("Guidelines")
    expect(page.locator("main")).to_contain_text("A year is a number.")
    page.get_by_role("button", name="I have read these guidelines").click()
    takes_keys(page)
    assert Assignment.objects.filter(person=world.ada, state="submitted").count() == 2
