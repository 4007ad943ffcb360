"""Days of a study that go otherwise than planned, in a browser: the crowd from link to code, and what ends in mid-item."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect

from annotation.journeys import assigning, setting_up
from annotation.models import Assignment, Batch, CrowdEntry, Draft, Person, Project
from annotation.people import crowd
from annotation.quality import consenting, gold, guidance
from annotation.roles import Role
from annotation.work import practising
from tasks.contract import task_type
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.test_crowd import QUERY, make_link
from tests.browser.pages import annotating, signed_in, takes_keys

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]
KEYS = {"extraction": "1", "reasoning": "2", "neither": "3", "unanswerable": "4"}


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path, questions=8)


def practise(page: Page) -> None:
    takes_keys(page)
    exercises = practising.exercises(task_type("question_type"))
    for number, exercise in enumerate(exercises, start=1):
        page.keyboard.press(KEYS[exercise.expected.label])
        expect(page.locator("[data-feedback]")).to_be_visible()
        page.keyboard.press("Enter")
        if number < len(exercises):
            expect(page.locator("[data-feedback]")).to_be_hidden()
    expect(page.locator("h1")).to_have_text("Practice completed")
    expect(page.get_by_role("link", name="Continue to the items")).to_be_focused()
    page.keyboard.press("Enter")


@pytest.mark.smoke
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
    gold.mark(batch=batch, example=some[5], data={"label": "reasoning"}, why="", by=world.mara, now=NOON)
    assigning.open_batch(batch=batch, by=world.mara, now=NOON)
    consenting.write(project=world.project, text="We publish your labels.", by=world.mara, now=NOON)
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

    late = crowd.let_back_in(entry=CrowdEntry.objects.get(), by=world.mara, now=timezone.now())
    other = new_context().new_page()
    other.goto(f"{live_server.url}/crowd/back/{late}/")
    other.get_by_role("button", name="Continue in this browser").click()
    other.goto(f"{live_server.url}/crowd/finish/")
    expect(other.get_by_label("Your code")).to_have_value("C0MPLETE")
    page.goto(f"{live_server.url}/crowd/finish/")
    expect(page.locator("h1")).not_to_have_text("Your work is complete")


@pytest.mark.console_may_say("Failed to load resource")
def test_a_batch_that_closes_in_mid_item_says_so_and_keeps_what_was_begun(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("value_change", variant="answer_changes", overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    page.locator("[name=answers]").first.fill("1996")
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    assert Draft.objects.filter(revision__gt=0).exists()

    assigning.close_batch(batch=batch, by=world.mara, now=timezone.now())
    page.keyboard.press("Control+Enter")

    page.goto(f"{live_server.url}/work/")
    expect(page.locator("main")).to_contain_text("1996")


@pytest.mark.console_may_say("Failed to load resource")
def test_who_is_removed_in_mid_item_is_told_so_and_reads_what_they_did(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1))

    setting_up.remove_member(membership=world.ada.memberships.get(), by=world.mara, now=timezone.now())
    page.keyboard.press("1")

    expect(page.locator("body")).to_contain_text(re.compile("no longer|not a member|removed"))
    page.goto(f"{live_server.url}/work/")
    expect(page.locator("h1")).to_have_text("My work")


def test_a_project_that_is_renamed_in_mid_work_keeps_its_links(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    question = page.locator(".question").inner_text()
    setting_up.rename_project(
        project=world.project, name="Pictures", time_zone="Europe/Paris", by=world.mara, now=timezone.now()
    )

    page.keyboard.press("1")

    expect(page.locator(".question")).not_to_have_text(question)
    page.goto(f"{live_server.url}/projects/films/")
    expect(page.locator("h1")).to_have_text("Pictures")
    assert Project.objects.get(slug="films").name == "Pictures"


@pytest.mark.smoke
@pytest.mark.console_may_say("409 \\(Conflict\\)")
def test_guidelines_that_change_in_mid_work_come_before_the_next_item_and_the_one_on_the_desk_is_handed_in(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(overlap=1)
    guidance.require_reading(project=world.project, asked=True, by=world.mara, now=NOON)
    guidance.confirm(
        guidelines=guidance.current(world.project.pk, batch.task_type), person=world.ada, now=NOON
    )
    page = annotating(new_context, live_server.url, world.ada, batch)
    guidance.revise(
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


def test_an_invitation_that_ran_out_says_so(world: World, new_context: NewContext, live_server: Any) -> None:
    _, token = setting_up.invite(
        project=world.project,
        roles=[Role.ANNOTATOR],
        name="Eli",
        by=world.mara,
        now=timezone.now() - timedelta(days=60),
    )
    context = new_context()
    page = context.new_page()
    page.goto("about:blank")
    answer = context.request.get(f"{live_server.url}/join/{token}/")

    assert answer.status == 410
    assert "This invitation is not valid or has expired. Ask for a new link." in answer.text()
    assert not Person.objects.filter(name="Eli").exists()


def test_the_log_is_cut_by_days(world: World, new_context: NewContext, live_server: Any) -> None:
    batch = world.batch()
    assert Batch.objects.get(pk=batch.pk).made_at == NOON
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    page.set_default_timeout(15_000)
    page.goto(f"{live_server.url}/projects/films/log/?thing=batch")
    page.locator("[name=since]").fill("2026-03-02")
    page.locator("[name=until]").fill("2026-03-02")
    page.get_by_role("button", name="Apply filters").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    page.goto(f"{live_server.url}/projects/films/log/?thing=batch&since=2026-03-03")
    expect(page.locator("main")).to_contain_text("No entries match the filters.")
