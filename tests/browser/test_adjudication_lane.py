"""Many decisions one after the other: by keys alone, without a page load, with undo, and with somebody else at work."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Decision, Item, RevisionRequest
from annotation.queue import candidates, resolutions
from annotation.workflow import automatic_decisions
from benchmarks.browser_data import waiting_item
from tableqa.operations import SetCell
from tasks.contract import task_types
from tests.annotation.cast import World, make_world
from tests.browser.pages import settled, signed_in, takes_keys
from tests.browser.test_phone import PHONE
from tests.modules.pages.adjudication import LATER, labelled
from tests.modules.pages.cells import questions

NewContext = Callable[..., BrowserContext]
KINDS = [(task, variant) for task in task_types().values() for variant in (task.variants or {"": ""})]
COVERED = """() => [...document.querySelectorAll(".candidate")].filter((part) => {
    const box = part.getBoundingClientRect();
    const list = part.closest(".responses").getBoundingClientRect();
    const bar = document.querySelector(".actions").getBoundingClientRect();
    return box.height < 10 || box.top < Math.max(0, list.top) - 1 || box.bottom > Math.min(list.bottom, bar.top) + 1;
}).length"""
"""How many responses are not wholly visible."""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    return make_world(tmp_path, questions=12)


def opened(world: World, new_context: NewContext, base: str, item: Item, **context: Any) -> Page:
    page = signed_in(new_context, base, world.ivo, **context).new_page()
    page.goto(base + reverse("adjudicate", args=[item.public_id]))
    shows(page, item)
    return page


def shows(page: Page, item: Item) -> None:
    """The item is on the page and takes keys."""
    expect(
        page.locator(f"askew-adjudicate[data-shown] form[data-item-id='{item.public_id}']")
    ).to_be_attached()
    takes_lane_keys(page)


def takes_lane_keys(page: Page) -> None:
    expect(page.locator("askew-adjudicate:is([data-sending], [data-resting])")).not_to_be_attached()


def chosen(page: Page) -> list[str]:
    """The letters of the chosen responses."""
    letters: list[str] = page.eval_on_selector_all(
        "input[name=choose]:checked", "inputs => inputs.map(({ value }) => value)"
    )
    return letters


def letter_of(item: Item, label: str) -> str:
    return next(one.letter.lower() for one in candidates.of_item(item) if one.response.label == label)


def test_ten_decisions_by_keys_with_an_undo_a_response_sent_back_and_an_own_response(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = labelled(world, items=10)
    items = list(resolutions.waiting(batch))
    page = opened(world, new_context, live_server.url, items[0])
    page.evaluate("window.sameDocument = true")
    expect(page.locator("[data-where]")).to_contain_text("10 waiting, 0 decided in this sitting")

    page.keyboard.press(letter_of(items[0], "extraction"))
    page.keyboard.press("Enter")
    shows(page, items[1])
    page.keyboard.press(letter_of(items[1], "reasoning"))
    page.keyboard.press("2")
    shows(page, items[2])
    expect(page.locator("[data-where]")).to_contain_text("8 waiting, 2 decided in this sitting")

    page.keyboard.press("u")
    shows(page, items[1])
    expect(page.locator("[data-ignored]")).to_have_text("Decision undone.")
    expect(page.get_by_role("status").filter(has_text="Decision undone.")).to_have_count(1)
    assert not Decision.objects.filter(item=items[1]).exists()
    expect(page.locator("input[name=choose]:checked")).to_have_count(1)
    page.keyboard.press("3")
    shows(page, items[2])

    page.keyboard.press("s")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    page.keyboard.type("Look at the years again.")
    page.keyboard.press("Control+Enter")
    shows(page, items[3])

    page.keyboard.press("x")
    page.keyboard.type("The question is about another table.")
    page.keyboard.press("Control+Enter")
    shows(page, items[4])

    page.keyboard.press("l")
    shows(page, items[5])
    for number in (5, 6, 7, 8, 9):
        page.keyboard.press("a")
        page.keyboard.press("Enter")
        shows(page, items[number + 1] if number < 9 else items[4])
    assert page.evaluate("window.sameDocument")

    page.keyboard.press("w")
    page.wait_for_url("**/own/")
    takes_keys(page)
    page.keyboard.press("1")
    page.wait_for_url(f"**{reverse('adjudication', args=[batch.public_id])}")
    expect(page.get_by_text("You decided 9 items in this sitting.")).to_be_visible()
    expect(page.locator("askew-adjudicate[data-shown]")).to_be_attached()
    page.keyboard.press("u")
    shows(page, items[4])
    page.keyboard.press("w")
    takes_keys(page)
    page.keyboard.press("1")
    expect(page.get_by_text("You decided 9 items in this sitting.")).to_be_visible()

    assert RevisionRequest.objects.get().note == "Look at the years again."
    decisions = {decision.item_id: decision for decision in Decision.objects.all()}
    assert len(decisions) == 9
    assert decisions[items[0].pk].outcomes.get().response["data"] == {"label": "extraction"}
    assert decisions[items[1].pk].listed_reason == "Clearest of several correct responses"
    assert decisions[items[3].pk].kind == "excluded"
    assert decisions[items[4].pk].outcomes.get().response["data"] == {"label": "extraction"}
    assert {decision.note for key, decision in decisions.items() if key != items[3].pk} == {""}


def send_back(page: Page) -> None:
    page.keyboard.press("s")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    page.keyboard.type("Look at the years again.")
    page.keyboard.press("Control+Enter")


def test_with_shortcuts_off_escape_stays_at_the_panel_that_tab_and_enter_opened(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    item = resolutions.waiting(labelled(world, items=1)).get()
    page = opened(world, new_context, live_server.url, item)
    page.evaluate("localStorage.setItem('askew:keys', JSON.stringify({ off: true }))")
    page.reload()
    shows(page, item)
    summary = page.locator("[data-panel=exclude] > summary")

    page.locator("[data-panel=send_back] > summary").focus()
    page.keyboard.press("Tab")
    expect(summary).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Reason for exclusion")).to_be_focused()
    page.keyboard.press("Escape")

    expect(summary).to_be_focused()
    expect(page.locator("details[data-panel][open]")).to_have_count(0)


def test_an_open_panel_covers_no_notice(world: World, new_context: NewContext, live_server: Any) -> None:
    item = resolutions.waiting(labelled(world, items=1)).get()
    page = opened(world, new_context, live_server.url, item)
    for letter in ("A", "C"):
        page.get_by_role("checkbox", name=f"Choose response {letter}").check()
    page.locator(".question").focus()
    page.keyboard.press("Enter")
    notice = page.get_by_text("These responses cannot be accepted together")
    expect(notice).to_be_visible()
    takes_lane_keys(page)

    for key, (width, height) in product(("s", "x"), ((1366, 850), (390, 844))):
        page.set_viewport_size({"width": width, "height": height})
        page.keyboard.press(key)
        panel = page.locator("details[data-panel][open] > .popped")
        expect(panel).to_be_in_viewport(ratio=1)
        expect(notice).to_be_in_viewport(ratio=1)
        assert not overlap(notice.bounding_box(), panel.bounding_box())
        page.keyboard.press("Escape")


def overlap(one: Any, other: Any) -> bool:
    """Whether two boxes have an area in common."""
    return all(
        one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
        for at, size in (("x", "width"), ("y", "height"))
    )


def test_all_responses_are_visible_beside_the_table_without_scrolling_for_every_task_type(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    covered = {}
    context = signed_in(new_context, live_server.url, world.ivo)
    for task, variant in KINDS:
        item = waiting_item(world, task, variant)
        page = context.new_page()
        page.goto(live_server.url + reverse("adjudicate", args=[item.public_id]))
        shows(page, item)
        assert page.locator(".candidate").count() == 3
        for width, height in ((1366, 850), (1280, 720)):
            page.set_viewport_size({"width": width, "height": height})
            settled(page)
            covered[f"{task.key} {variant} {width}"] = page.evaluate(COVERED)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.close()
    assert len(covered) == 2 * len(KINDS) >= 36
    assert {name: number for name, number in covered.items() if number} == {}


def test_on_a_phone_a_response_that_excludes_the_item_says_so_below_its_words(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    question = questions()[0]
    world.import_written(question)
    edit = SetCell(row="r0", column="c1", old=question.table.cell("r0", "c1"), new="1996").to_dict()
    batch = world.batch(
        "value_change",
        variant="answer_changes",
        overlap=2,
        sources=[world.project.sources.get(name="written")],
    )
    for who, data in (
        ("ada", {"unanswerable": True}),
        ("bo", {"unanswerable": False, "operations": [edit], "answers": ["1996"]}),
    ):
        assignment = world.take(batch, who)
        assert assignment is not None
        world.answer(assignment, data)
    automatic_decisions.resolve_batch(batch=batch, now=LATER)
    page = opened(world, new_context, live_server.url, resolutions.waiting(batch)[0], **PHONE)

    words = page.locator(".candidate", has_text="excludes the item").locator(".response").bounding_box()
    about = page.get_by_text("excludes the item").bounding_box()

    assert words is not None
    assert about is not None
    assert about["y"] >= words["y"] + words["height"]
    assert about["x"] + about["width"] <= PHONE["viewport"]["width"]


def test_on_a_phone_more_shows_the_actions_beside_decide_two_by_two(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = labelled(world, items=2)
    items = list(resolutions.waiting(batch))
    for language, more in (("en", "More"), ("de", "Mehr")):
        page = opened(world, new_context, live_server.url, items[0], locale=language, **PHONE)
        actions = page.locator(".actions > .further > :is(button, a.button, details)")
        expect(actions.first).to_be_hidden()
        bar = page.locator(".actions").bounding_box()

        page.get_by_role("button", name=more, exact=True).tap()
        expect(actions.first).to_be_visible()
        places = [place for one in actions.all() if (place := one.bounding_box()) is not None]

        assert bar is not None
        assert bar["height"] < 80, "one row until more is asked for"
        assert len(places) == 4
        assert len({round(place["x"]) for place in places}) == 2
        assert len({round(place["y"]) for place in places}) == 2
        assert len({round(place["width"]) for place in places}) == 1
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        page.locator("[data-panel=exclude] > summary").tap()
        expect(
            page.locator("[data-panel=exclude] textarea, [data-panel=exclude] input").first
        ).to_be_visible()
