"""The board in a browser: the answers without scrolling, a box that opens its batch, a list on phones, a table on demand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from annotation.charts import flow_diagram
from annotation.charts.flow_diagram import Arrow, Box, End
from annotation.models import Batch, Project
from annotation.workflow import automatic_decisions
from tests.annotation.cast import NOON, World, make_world
from tests.browser.accessibility import AXE
from tests.browser.pages import signed_in

DESK = {"width": 1366, "height": 850}
PHONE = {"width": 390, "height": 844}

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

NewContext = Callable[..., BrowserContext]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    """A chain of three batches: items to adjudicate in the first one, and one that is ready to open."""
    world = make_world(tmp_path)
    types = world.batch(size=2, overlap=2, name="Types")
    for who, label in (("ada", "extraction"), ("bo", "reasoning")):
        world.label(types, who, label)
    automatic_decisions.resolve_batch(batch=types, now=NOON)
    change = world.batch(
        "value_change", variant="answer_changes", feeds_from=types, sources=[], name="Change the answer"
    )
    world.batch("answer_check", feeds_from=change, sources=[], open=False, name="Check the change")
    return world


def is_accessible(page: Page) -> None:
    found = Axe().run(page, options=AXE)
    assert found.violations_count == 0, f"{page.url}\n{found.generate_report()}"


def bottom(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def test_a_manager_reads_what_to_do_what_is_blocked_and_how_far_it_is_without_scrolling(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.mara, viewport=DESK).new_page()
    for place in ("/", "/projects/films/"):
        page.goto(f"{live_server.url}{place}")
        primary = page.locator("main .primary")
        expect(primary).to_have_count(1)
        expect(primary).to_have_text("“Check the change” is ready to open")
        expect(page.get_by_role("link", name="1 item waits for an adjudicator")).to_be_visible()
        expect(page.get_by_role("region", name="Blocked")).to_contain_text("1 item waits for adjudication.")
        expect(page.get_by_role("region", name="Progress")).to_contain_text("0 of 2")
        assert bottom(page, ".board") < DESK["height"]
        assert page.evaluate("document.documentElement.scrollWidth") <= DESK["width"]
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            is_accessible(page)
    assert bottom(page, ".pipeline") < DESK["height"]


def test_words_on_arrows_touch_no_box_and_no_bend(new_context: Callable[..., BrowserContext]) -> None:
    places = [(1, 0), (2, 0), (2, 1)]
    boxes = [
        Box(str(at), column, row, "Types", "open", "/x/", "Types. open")
        for at, (column, row) in enumerate(places, 1)
    ]
    ends = [
        End("from", 0, 0, "wtq", "Source", "/s/", is_start=True),
        End("releases", 0, 0, "Releases", "None yet", "/r/", is_start=False),
    ]
    pairs = [("from", "1"), ("1", "2"), ("1", "3"), ("2", "releases")]
    style = Path("static/askew/askew.css").read_text() + Path("static/askew/board.css").read_text()
    page = new_context(viewport=DESK).new_page()

    for words in ("1,234,567 accepted", "12.345 in Bearbeitung", "6 accepted"):
        arrows = [Arrow(start, end, words, ((words, "/w/"),)) for start, end in pairs]
        page.set_content(f"<style>{style}</style>{flow_diagram.draw('flow', 'Flow', ends, boxes, arrows)}")
        assert page.evaluate(TOUCHING) == 0, words


TOUCHING = """() => {
    const box = (element) => element.getBoundingClientRect();
    const boxes = [...document.querySelectorAll("rect.box")].map(box);
    const touch = (a, b) => a.left < b.right + 12 && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    const texts = [...document.querySelectorAll("text.end")].map(box);
    return texts.filter((text) => text.width < 10 || boxes.some((other) => touch(text, other))).length;
}"""
"""How many words lie on a box or beside one, or are squeezed."""


def test_a_box_of_the_picture_opens_its_batch_and_the_table_opens_on_demand(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.mara, viewport=DESK).new_page()
    page.goto(f"{live_server.url}/projects/films/")
    page.locator(".pipeline").get_by_role("link", name="Change the answer. open").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Change the answer")
    page.go_back()
    page.locator(".pipeline").get_by_role("link", name="Types. open.").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Types")
    page.go_back()
    table = page.get_by_role("region", name="Batches, table")
    expect(table).to_be_hidden()
    page.get_by_text("Batches as a table").click()
    expect(table.get_by_role("row", name="Check the change")).to_contain_text(
        "takes accepted items from Change the answer"
    )
    is_accessible(page)


def test_a_phone_has_a_list_in_place_of_the_picture(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.mara, viewport=PHONE).new_page()
    page.goto(f"{live_server.url}/projects/films/")
    expect(page.locator(".pipeline")).to_be_hidden()
    expect(page.locator(".flow-list > li").first).to_contain_text("Types")
    expect(page.locator(".flow-list")).to_contain_text("1 item waits for adjudication.")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    is_accessible(page)


BEYOND = """
() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("main *, header *")]
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !element.closest(".scroll"))
  .map((element) => `${element.tagName} ${element.className} ${element.textContent.trim().slice(0, 30)}`)
"""
"""What is wider than the page; nothing where the page does not scroll sideways."""
AWKWARD = ("W" * 100, "جداول مائلة " * 8, "<b>tables</b> & <script>alert(1)</script>" * 2)


def test_pages_of_a_manager_fit_on_a_phone_in_german_whatever_batches_are_called(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    for number, batch in enumerate(Batch.objects.filter(project=world.project).order_by("pk")):
        Batch.objects.filter(pk=batch.pk).update(name=AWKWARD[number % len(AWKWARD)][:100])
    Project.objects.filter(pk=world.project.pk).update(name=AWKWARD[0])
    batch = Batch.objects.filter(project=world.project).order_by("pk")[0]
    context = signed_in(new_context, live_server.url, world.mara, viewport=PHONE, locale="de")
    page, beyond = context.new_page(), []

    for path in (
        "/",
        "/projects/films/",
        "/projects/films/people/",
        "/projects/films/releases/",
        "/projects/films/templates/",
        "/projects/films/batches/new/",
        f"/batches/{batch.public_id}/",
    ):
        page.goto(f"{live_server.url}{path}")
        beyond += [f"{path} {element}" for element in page.evaluate(BEYOND)]
    assert beyond == []
