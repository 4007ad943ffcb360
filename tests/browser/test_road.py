"""The whole road in a real browser: manager, three annotators, adjudicator, researcher, all of them on a phone.

The pages are checked for accessibility on a desktop, too. `test_walk_of_a_study.py` goes the way of the manager there.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import BrowserContext, FilePayload, Frame, Locator, Page, ViewportSize, expect

from annotation.management import doctor
from annotation.models import Annotation, Person
from annotation.releases import verification
from annotation.workflow import automatic_decisions
from tests.annotation.cast import FILMS
from tests.browser.accessibility import check_accessibility
from tests.browser.pages import takes_keys

DESKTOP, PHONE = ViewportSize(width=1280, height=860), ViewportSize(width=390, height=800)
PASSWORD = "tilted tables"


class Somebody:
    """A person at a browser of their own. Every page that is new on the road is checked for accessibility."""

    def __init__(self, context: BrowserContext, base: str, checks: bool = True) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(10_000)
        self.base = base
        self.checks = checks

    def goes_to(self, path: str) -> Page:
        self.page.goto(path if path.startswith("http") else self.base + path)
        return self.page

    def clicks(self, name: str) -> None:
        """Press a button that leads to a page, and wait for that page."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=name).first.click()

    def follows(self, words: str) -> None:
        with self.page.expect_navigation():
            self.page.locator("main a:visible", has_text=words).first.click()

    def annotates(self, link: Locator) -> None:
        """Follow a link to a page of annotating, and wait until it takes keys."""
        with self.page.expect_navigation():
            link.click()
        takes_keys(self.page)

    def reads(self, text: str) -> None:
        expect(self.page.locator("main")).to_contain_text(text)

    def finds_the_page_accessible(self) -> None:
        if not self.checks:
            return
        own = self.page.viewport_size or DESKTOP
        for size in (DESKTOP, PHONE):
            self.page.set_viewport_size(size)
            # At its end, where a bar that stays at the bottom covers no control. Axe takes a control half below one for
            # small.
            self.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            check_accessibility(self.page, size)
        self.page.set_viewport_size(own)

    def signs_in(self, email: str) -> None:
        self.goes_to("/sign-in/")
        self.page.get_by_label("E-mail").fill(email)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.clicks("Sign in")
        expect(self.page.get_by_role("button", name="Sign out")).to_be_visible()

    def joins(self, link: str, name: str) -> None:
        self.goes_to(link)
        self.finds_the_page_accessible()
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("E-mail").fill(f"{name.lower()}@example.org")
        self.page.get_by_label("Password").fill(PASSWORD)
        self.clicks("Create account and join")
        expect(self.page.get_by_role("button", name="Sign out")).to_be_visible()


@pytest.fixture
def somebody(
    new_context: Callable[..., BrowserContext], live_server: Any, request: pytest.FixtureRequest
) -> Callable[..., Somebody]:
    """Opens a phone. The second pass, on the other database, has the same pages: nothing is checked there."""
    is_second_pass = request.config.getoption("both")

    def opened(checks: bool = True) -> Somebody:
        return Somebody(new_context(viewport=PHONE), live_server.url, checks and not is_second_pass)

    return opened


def questions_and_tables() -> tuple[FilePayload, FilePayload]:
    """The files that a manager uploads: four questions about films and a zip with their table."""
    rows = ["id\tutterance\tcontext\ttargetValue"]
    rows += [f"nu-{n}\twhen did {FILMS[n][0]} come out?\tcsv/1-csv/1.csv\t{FILMS[n][1]}" for n in range(4)]
    lines = [["Film", "Year", "Minutes"], *FILMS]
    table = "\n".join(",".join(f'"{cell}"' for cell in line) for line in lines) + "\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("csv/1-csv/1.csv", table)
    questions = "\n".join(rows).encode() + b"\n"
    return (
        {"name": "films-dev.tsv", "mimeType": "text/tab-separated-values", "buffer": questions},
        {"name": "tables.zip", "mimeType": "application/zip", "buffer": packed.getvalue()},
    )


def invite(manager: Somebody, role: str) -> str:
    page = manager.page
    page.get_by_label(f"{role.capitalize()}:").check()
    manager.clicks("Create invitation links")
    return page.get_by_role("textbox", name="anyone with the link").input_value()


def make_batch(manager: Somebody, kind: str, name: str) -> None:
    manager.goes_to("/projects/films/batches/new/")
    manager.finds_the_page_accessible()
    manager.follows(kind)
    manager.finds_the_page_accessible()
    manager.page.get_by_label("Name").fill(name)
    manager.page.get_by_label("films-dev").check()
    manager.clicks("Create batch")
    manager.reads("responses")
    manager.finds_the_page_accessible()


def page_loads(page: Page) -> list[str]:
    """The addresses that the page goes to from now on."""
    seen: list[str] = []

    def note(frame: Frame) -> None:
        seen.append(frame.url)

    page.on("framenavigated", note)
    return seen


def submitted(count: int) -> None:
    assert Annotation.objects.filter(response__isnull=False).count() == count


@pytest.mark.django_db(transaction=True)
@pytest.mark.both
def test_the_road_from_a_file_to_a_release(somebody: Callable[..., Somebody], tmp_path: Path) -> None:
    # The manager makes a project, imports real files, invites people and opens batches.
    Person.objects.create_person("Mara", "mara@example.org", PASSWORD, is_administrator=True)
    mara = somebody()
    mara.signs_in("mara@example.org")
    mara.finds_the_page_accessible()
    mara.goes_to("/projects/new/")
    mara.page.get_by_label("Name", exact=True).fill("Films")
    mara.finds_the_page_accessible()
    mara.clicks("Create project")
    mara.finds_the_page_accessible()
    mara.goes_to("/projects/films/")
    mara.reads("No batch yet")
    mara.finds_the_page_accessible()
    mara.goes_to("/projects/films/sources/import/")
    mara.finds_the_page_accessible()
    questions, tables = questions_and_tables()
    mara.page.get_by_label("Questions file").set_input_files([questions])
    mara.page.get_by_label("Tables").set_input_files([tables])
    mara.clicks("Continue")
    mara.finds_the_page_accessible()
    mara.clicks("Import")
    mara.reads("done 4 of 4")
    mara.finds_the_page_accessible()
    links = {}
    for who, role in {
        "ada": "annotator",
        "bo": "annotator",
        "cy": "annotator",
        "ivo": "adjudicator",
        "rea": "researcher",
    }.items():
        mara.goes_to("/projects/films/people/")
        links[who] = invite(mara, role)
    mara.finds_the_page_accessible()
    make_batch(mara, "Question type", "Types")
    make_batch(mara, "Change one or two values so that the answer changes", "Edits")

    for path in (
        "/account/",
        "/work/",
        "/projects/films/sources/",
        "/projects/films/guidelines/question_type/",
    ):
        mara.goes_to(path)
        mara.finds_the_page_accessible()
    mara.goes_to("/projects/films/guidelines/value_change/?edit")
    mara.finds_the_page_accessible()
    mara.goes_to("/projects/films/sources/")
    mara.follows("films-dev")
    mara.finds_the_page_accessible()

    # Three annotators label by keyboard: one key an item, no page load between items.
    labels = {"ada": "1211", "bo": "1212", "cy": "1323"}
    crew = {who: somebody(checks=who == "ada") for who in labels}  # their pages are the same
    for who, keys in labels.items():
        one = crew[who]
        one.joins(links[who], who.capitalize())
        one.goes_to("/")
        one.finds_the_page_accessible()
        one.annotates(one.page.get_by_role("link", name=re.compile("^(Start|Continue|Annotate) Types")))
        expect(one.page.locator(".question")).to_contain_text("when did")
        one.finds_the_page_accessible()
        loads = page_loads(one.page)
        asked = set()
        for number, key in enumerate(keys, start=1):
            question = one.page.locator(".question").inner_text()
            asked.add(question)
            one.page.keyboard.press(key)
            if number < len(keys):
                expect(one.page.locator(".question")).not_to_have_text(question)
                assert loads == []
        one.reads("All caught up")
        one.finds_the_page_accessible()
        assert len(asked) == 4
    submitted(12)

    # One of them changes a cell so that the answer changes.
    ada = crew["ada"]
    ada.goes_to("/")
    ada.annotates(ada.page.locator("a[href*=annotate]").first)
    asked_now = ada.page.locator(".question")
    film = asked_now.inner_text().removeprefix("when did ").removesuffix(" come out?")
    row = [name for name, *_ in FILMS].index(film)
    year = ada.page.locator(f"[data-row=r{row}] [data-column=c1]")
    year.click()
    ada.page.keyboard.type("2001")
    ada.page.keyboard.press("Enter")
    expect(year).to_contain_text("2001")
    expect(year.locator("del")).to_contain_text(FILMS[row][1])
    ada.page.get_by_label("New answer").fill("2001")
    expect(ada.page.locator("[data-saved]")).to_contain_text("Saved")
    ada.finds_the_page_accessible()
    ada.page.get_by_role("button", name="Submit").click()
    expect(asked_now).not_to_contain_text(film)
    submitted(13)

    # A minute later the items are resolved; the manager closes the batch, the adjudicator decides what is open.
    automatic_decisions.resolve_due(now=timezone.now() + timedelta(seconds=61))
    ivo = somebody()
    ivo.joins(links["ivo"], "Ivo")
    ivo.goes_to("/")
    ivo.finds_the_page_accessible()
    with ivo.page.expect_navigation():
        ivo.page.locator("main a[href*=adjudication]").first.click()
    ivo.finds_the_page_accessible()
    ivo.follows("Start adjudicating")
    ivo.finds_the_page_accessible()
    ivo.page.get_by_label("Choose response A").check()
    ivo.clicks("Decide")
    ivo.reads("All caught up")
    ivo.finds_the_page_accessible()

    mara.goes_to("/projects/films/")
    mara.follows("“Types” is ready to close")
    mara.finds_the_page_accessible()
    mara.clicks("Close batch")
    mara.goes_to("/projects/films/")
    mara.follows("Types")
    mara.reads("Fleiss' kappa")
    mara.finds_the_page_accessible()

    # The researcher makes a release, downloads it, and it verifies from its own files.
    rea = somebody()
    rea.joins(links["rea"], "Rea")
    rea.goes_to("/projects/films/releases/")
    rea.page.get_by_label("Name").fill("films-1")
    rea.page.get_by_label("freb_tqa").check()
    rea.reads("These are not finished")
    rea.page.get_by_label("I know that 1 edit is released without a blind answer").check()
    rea.finds_the_page_accessible()
    rea.clicks("Create release")
    rea.goes_to("/projects/films/releases/")
    rea.follows("films-1")
    rea.reads("Fleiss' kappa")
    rea.finds_the_page_accessible()
    with rea.page.expect_download() as download:
        rea.page.locator("main a", has_text="Download (zip)").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        archive.extractall(tmp_path / "release")
    checked = verification.verify(tmp_path / "release")
    assert checked["annotations"] == 13
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert manifest["counts"]["adjudicated"] == 1
    assert list(doctor.findings()) == []
