"""An adjudicator's page in a real browser: by keyboard alone, for everybody, without scripts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, expect

from annotation.journeys import adjudicating, assigning
from annotation.models import Batch, Decision, Item, SentBack
from tableqa import Example, Table
from tests.annotation.cast import NOON, World, make_world
from tests.browser.pages import annotating, signed_in, takes_keys

AXE = {"preload": False, "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
LATER = NOON + timedelta(days=1)
NewContext = Callable[..., BrowserContext]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


def edited(world: World, rows: int = 3) -> Item:
    """Two people changed the table, one calls the question unanswerable: the item waits."""
    table = Table(["Film", "Year"], [[f"Film {row}", str(1900 + row % 100)] for row in range(rows)])
    world.import_written(Example(id="w-1", question="When was Film 1?", table=table, answers=("1901",)))
    batch = world.batch(
        "value_change",
        variant="answer_changes",
        overlap=3,
        sources=[world.project.sources.get(name="written")],
    )
    for who, new in (("ada", "1996"), ("bo", "1997"), ("cy", "")):
        assignment = world.take(batch, who)
        assert assignment is not None
        operation = {"op": "set_cell", "row": "r1", "column": "c1", "at": [1, 1], "old": "1901", "new": new}
        edit = {"unanswerable": False, "operations": [operation], "answers": [new]}
        world.answer(assignment, edit if new else {"unanswerable": True})
    adjudicating.resolve_batch(batch=batch, now=LATER)
    return adjudicating.waiting(batch).get()


def labelled(world: World, items: int = 2, **more: Any) -> Batch:
    batch = world.batch("question_type", size=items, **more)
    for _ in range(items):
        for who, label in (("ada", "extraction"), ("bo", "reasoning"), ("cy", "neither")):
            world.label(batch, who, label)
    adjudicating.resolve_batch(batch=batch, now=LATER)
    return batch


def opened(world: World, new_context: NewContext, live_server: Any, item: Item, **context: Any) -> Page:
    page = signed_in(new_context, live_server.url, world.ivo, **context).new_page()
    page.goto(live_server.url + reverse("adjudicate", args=[item.public_id]))
    return page


@pytest.mark.smoke
def test_a_letter_a_reason_and_enter_decide_and_the_next_item_is_there(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = labelled(world)
    first, second = adjudicating.waiting(batch)
    page = opened(world, new_context, live_server, first)
    expect(page.get_by_role("heading", level=1)).to_have_text("Decide which responses to accept")
    asked = page.locator("askew-adjudicate .asked")
    expect(asked.get_by_role("heading", level=2)).to_have_text(
        ["Instruction for annotators", "Question", "Answer"]
    )
    expect(asked.first).to_contain_text("Can the answer be read from the table, or must it be worked out?")
    expect(page.locator("askew-adjudicate .question")).to_be_focused()

    page.keyboard.press("b")
    page.keyboard.press("r")
    page.keyboard.type("B reads it right.")
    page.keyboard.press("Control+Enter")

    page.wait_for_url(f"**{reverse('adjudicate', args=[second.public_id])}")
    letters = {one.letter: one.response for one in adjudicating.candidates(first)}
    decision = Decision.objects.get(item=first)
    assert decision.note == "B reads it right."
    assert decision.outcomes.get().response["data"]["label"] == letters["B"].label


def test_where_nothing_can_be_sent_back_the_key_says_so_and_decides_nothing(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    item = edited(world)
    assigning.close_batch(batch=item.batch, by=world.mara, now=LATER)
    page = opened(world, new_context, live_server, item)
    page.keyboard.press("s")
    panel = page.locator("details[data-panel=send_back]")
    expect(panel).to_contain_text("The batch is closed: responses can no longer be sent back.")
    expect(panel.locator(".popped")).to_be_focused()
    page.keyboard.press("b")
    page.keyboard.press("Control+Enter")
    expect(page.locator("input[name=choose]:checked")).to_have_count(0)
    expect(panel).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    expect(panel).not_to_have_attribute("open", "")
    assert not Decision.objects.exists()


def test_an_exclusion_without_a_reason_asks_for_it_in_its_panel(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = opened(world, new_context, live_server, edited(world))
    page.keyboard.press("b")
    page.keyboard.press("x")
    page.keyboard.press("Control+Enter")
    panel = page.locator("details[data-panel=exclude]")
    expect(panel.get_by_text("Write why you exclude the item.")).to_be_visible()
    expect(panel.get_by_label("Reason for exclusion")).to_be_focused()
    expect(page.locator(".refused")).to_have_count(0)
    expect(page.get_by_role("checkbox", name="Choose response B")).to_be_checked()
    page.keyboard.press("Escape")
    expect(panel).not_to_have_attribute("open", "")


@pytest.mark.smoke
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
    back = SentBack.objects.get()
    assert back.note == "Is this believable?"
    author = signed_in(new_context, live_server.url, back.assignment.person).new_page()
    author.goto(live_server.url + reverse("annotate", args=[item.batch.public_id]))
    expect(author.get_by_text("Sent back to you: Is this believable?")).to_be_visible()


def test_an_own_response_begins_with_another_and_decides(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = labelled(world, items=1, note_required=True)
    item = adjudicating.waiting(batch).get()
    page = opened(world, new_context, live_server, item)

    page.keyboard.press("w")
    page.wait_for_url("**/own/")
    expect(page.locator("askew-annotate[data-ready]")).to_be_visible()
    page.keyboard.press("1")
    page.get_by_label("Note on the decision").fill("It is read off one cell.")
    page.get_by_label("Note on the decision").press("Enter")

    page.wait_for_url(f"**{reverse('adjudication', args=[batch.public_id])}")
    decision = Decision.objects.get(item=item)
    assert decision.outcomes.get().response["data"] == {"label": "extraction"}
    assert decision.note == "It is read off one cell."


@pytest.mark.smoke
def test_without_scripts_an_item_is_excluded(world: World, new_context: NewContext, live_server: Any) -> None:
    item = edited(world)
    page = opened(world, new_context, live_server, item, java_script_enabled=False)

    page.locator("details[data-panel=exclude] summary").click()
    page.get_by_label("Reason for exclusion").fill("No such film.")
    page.get_by_role("button", name="Exclude item").click()

    page.wait_for_url(f"**{reverse('adjudication', args=[item.batch.public_id])}")
    assert Decision.objects.get(item=item).reason == "No such film."


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_everybody_can_use_the_pages(
    world: World, new_context: NewContext, live_server: Any, scheme: Any, width: int
) -> None:
    item = edited(world)
    page = opened(
        world, new_context, live_server, item, color_scheme=scheme, viewport={"width": width, "height": 844}
    )
    addresses = [
        reverse("adjudicate", args=[item.public_id]),
        reverse("own_response", args=[item.public_id]) + "?from=A",
        reverse("adjudication", args=[item.batch.public_id]),
        reverse("project_adjudication", args=[world.project.slug]),
    ]
    for address in addresses:
        page.goto(live_server.url + address)
        page.wait_for_load_state("networkidle")
        found = Axe().run(page, options=AXE)
        assert found.violations_count == 0, f"{address}: {found.generate_report()}"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address


def places(page: Page) -> list[Any]:
    """Where everything in the bar stands."""
    return page.eval_on_selector_all(
        ".actions *",
        "all => all.map((one) => one.getBoundingClientRect()).filter(({width}) => width > 1)"
        ".map(({x, y, width, height}) => [x, y, width, height].map(Math.round))",
    )


@pytest.mark.parametrize("width", [1000, 1280, 1600])
def test_one_click_with_the_mouse_decides_while_the_note_is_being_written(
    world: World, new_context: NewContext, live_server: Any, width: int
) -> None:
    item = adjudicating.waiting(labelled(world, items=1, note_required=True)).get()
    page = opened(world, new_context, live_server, item, viewport={"width": width, "height": 844})
    page.get_by_role("button", name="Own response").click()
    page.wait_for_url("**/own/")
    takes_keys(page)
    page.keyboard.press("1")
    page.get_by_label("Note on the decision").click()
    page.keyboard.type("It is read off one cell.")
    decide = page.get_by_role("button", name="Decide").bounding_box()
    assert decide is not None
    page.mouse.move(decide["x"] + 5, decide["y"] + decide["height"] / 2)
    before = places(page)

    page.mouse.down()
    assert places(page) == before
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


@pytest.mark.parametrize("scripts", [True, False])
def test_a_note_goes_along_from_page_to_page(
    world: World, new_context: NewContext, live_server: Any, scripts: bool
) -> None:
    item = adjudicating.waiting(labelled(world, items=1)).get()
    page = opened(world, new_context, live_server, item, java_script_enabled=scripts)
    note = page.get_by_label("Note on the decision")
    page.get_by_text("Add a note").click()
    note.fill("Neither reads the table.")

    page.get_by_role("button", name="Edit response A").click()
    page.wait_for_url("**/own/?from=A")
    expect(note).to_have_value("Neither reads the table.")
    assert note.evaluate("field => getComputedStyle(field).borderTopWidth") == "1px"
    note.fill("Neither reads the table, nor the question.")
    page.get_by_role("button", name="Back to the responses").click()

    page.wait_for_url(f"**{reverse('adjudicate', args=[item.public_id])}")
    expect(note).to_have_value("Neither reads the table, nor the question.")
    assert not Decision.objects.filter(item=item).exists()
