"""An adjudicator's page in a real browser: by keyboard alone, for everybody, without scripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Decision, Item, RevisionRequest
from annotation.queue import resolutions
from tests.annotation.cast import World, make_world
from tests.browser.accessibility import AXE
from tests.browser.pages import annotating, settled, signed_in, takes_keys
from tests.modules.pages.adjudication import edited, labelled

NewContext = Callable[..., BrowserContext]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def opened(world: World, new_context: NewContext, live_server: Any, item: Item, **context: Any) -> Page:
    page = signed_in(new_context, live_server.url, world.ivo, **context).new_page()
    page.goto(live_server.url + reverse("adjudicate", args=[item.public_id]))
    return page


def test_by_keys_one_goes_from_difference_to_difference_and_sends_a_response_back(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    item = edited(world, rows=200)
    page = opened(world, new_context, live_server, item)
    page.get_by_role("button", name="197 rows without changes").click()
    expect(page.get_by_role("cell", name="Film 199")).to_be_attached()
    page.locator(".question").focus()

    page.keyboard.press("n")
    here = page.locator("askew-comparison [data-here]")
    expect(here).to_contain_text("1996")
    expect(here).to_contain_text("1997")
    for tables in (2, 1):
        page.keyboard.press("v")
        expect(page.locator("askew-comparison .sheet")).to_have_count(tables)
    page.keyboard.press("s")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.type("Is this believable?")
    page.keyboard.press("Control+Enter")

    page.wait_for_url(f"**{reverse('adjudication', args=[item.batch.public_id])}")
    back = RevisionRequest.objects.get()
    assert back.note == "Is this believable?"
    author = signed_in(new_context, live_server.url, back.assignment.person).new_page()
    author.goto(live_server.url + reverse("annotate", args=[item.batch.public_id]))
    expect(author.get_by_text("Sent back to you: Is this believable?")).to_be_visible()


def test_everybody_can_use_the_pages(world: World, new_context: NewContext, live_server: Any) -> None:
    item = edited(world)
    page = signed_in(new_context, live_server.url, world.ivo).new_page()
    addresses = [
        reverse("adjudicate", args=[item.public_id]),
        reverse("own_response", args=[item.public_id]) + "?from=A",
        reverse("adjudication", args=[item.batch.public_id]),
        reverse("project_adjudication", args=[world.project.slug]),
    ]
    for address in addresses:
        page.goto(live_server.url + address)
        page.wait_for_load_state("networkidle")
        looks: list[tuple[Literal["light", "dark"], int]] = [("light", 1280), ("dark", 390)]
        for scheme, width in looks:
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 844})
            settled(page)
            results = Axe().run(page, options=AXE)
            assert results.violations_count == 0, f"{address}: {results.generate_report()}"
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address


def places(page: Page) -> list[Any]:
    """Where everything in the bar stands."""
    return page.eval_on_selector_all(
        ".actions *",
        "all => all.map((one) => one.getBoundingClientRect()).filter(({width}) => width > 1)"
        ".map(({x, y, width, height}) => [x, y, width, height].map(Math.round))",
    )


def test_one_click_with_the_mouse_decides_while_the_note_is_being_written(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    item = resolutions.waiting(labelled(world, items=1, note_required=True)).get()
    page = opened(world, new_context, live_server, item)
    page.get_by_role("button", name="Own response").click()
    page.wait_for_url("**/own/")
    takes_keys(page)
    page.keyboard.press("1")
    note = page.get_by_label("Note on the decision")
    note.fill("It is read off one cell.")
    assert note.evaluate("field => getComputedStyle(field).borderTopWidth") == "1px"
    for width in (1000, 1280, 1600):
        page.set_viewport_size({"width": width, "height": 844})
        note.click()
        decide = page.get_by_role("button", name="Decide").bounding_box()
        assert decide is not None
        page.mouse.move(decide["x"] + 5, decide["y"] + decide["height"] / 2)
        before = places(page)

        page.mouse.down()
        assert places(page) == before, f"at {width} pixels"
        if width < 1600:
            page.mouse.move(10, 10)  # let go elsewhere: nothing is pressed
        page.mouse.up()

    page.wait_for_url(f"**{reverse('adjudication', args=[item.batch.public_id])}")
    assert Decision.objects.get(item=item).note == "It is read off one cell."


def test_nothing_in_the_bar_of_annotating_moves_when_the_mouse_ends_the_typing(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("question_paraphrase", variant="sentence", size=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    page.locator("[data-field] :is(input, textarea), textarea[data-field], input[data-field]").first.click()
    page.keyboard.type("Which")
    expect(page.locator("[data-while-typing]")).to_be_visible()
    before = places(page)
    submit = page.get_by_role("button", name="Submit").bounding_box()
    assert submit is not None
    page.mouse.move(submit["x"] + 5, submit["y"] + 5)

    page.mouse.down()

    expect(page.locator("[data-while-typing]")).not_to_be_visible()
    assert places(page) == before
