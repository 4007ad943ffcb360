"""The kinds that judge and that reword, in a real browser: by keyboard alone, counted; for everybody.

What an item costs in keys is part of what the platform promises: one label is one key, two scales are two digits, a
paraphrase is its words, Enter and a digit; and no page is loaded between two items.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Frame, Page, expect

from annotation.models import Annotation
from tests.annotation.cast import World, make_world
from tests.browser.accessibility import AXE
from tests.browser.pages import annotating, signed_in, takes_keys
from tests.modules.pages.judging import pair_of, rated, several_answers

NewContext = Callable[..., BrowserContext]

pytestmark = pytest.mark.django_db(transaction=True)
REFUSED_ONCE = pytest.mark.console_may_say("422")
"""The server refuses a response in words; the browser notes on its console that it did."""


class Keyboard:
    """A person who has no mouse. Counts keys, and the pages that are loaded meanwhile."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.keys = 0
        self.loads: list[str] = []
        page.on("framenavigated", self._note)

    def _note(self, frame: Frame) -> None:
        self.loads.append(frame.url)

    def presses(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.keys += 1

    def types(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.keys += len(text)

    @property
    def question(self) -> str:
        return self.page.locator(".question").inner_text()

    def is_led_on(self, from_question: str) -> None:
        """The next item is on screen, and no page was loaded for it."""
        expect(self.page.locator(".question")).not_to_have_text(from_question)
        assert self.loads == []

    def is_done(self) -> None:
        expect(self.page.locator("main")).to_contain_text("All caught up")


def submitted() -> list[dict[str, Any]]:
    """What was submitted, in order."""
    rows = Annotation.objects.filter(response__isnull=False).order_by("pk")
    return [row.response["data"] for row in rows if row.response]


def finds_the_page_accessible(page: Page) -> None:
    found = Axe().run(page, options=AXE)
    assert found.violations_count == 0, f"{page.url}\n{found.generate_report()}"


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


# -- by keyboard ------------------------------------------------------------------------------------


@REFUSED_ONCE
def test_a_paraphrase_is_its_words_enter_and_a_digit(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("question_paraphrase", variant="word")
    page = annotating(new_context, live_server.url, world.ada, batch)
    ada = Keyboard(page)
    field = page.get_by_label("Your rewording")
    expect(field).to_be_focused()
    expect(field).to_have_value(ada.question)
    expect(page.locator("[data-wording]")).to_be_hidden()
    first = ada.question
    ada.presses("Enter", "1")
    expect(page.locator("[data-notices]")).to_contain_text("question is unchanged")
    expect(field).to_be_focused()
    before = ada.keys
    ada.presses("Control+Home", "Control+Shift+ArrowRight")
    ada.types("in which year ")
    expect(page.locator("[data-wording] del")).to_have_text("when")
    expect(page.locator("[data-wording] ins")).to_have_text("in which year")
    finds_the_page_accessible(page)
    ada.presses("Enter")
    ada.is_led_on(first)
    assert ada.keys - before == 2 + len("in which year ") + 1, "the category was chosen before"
    expect(field).to_have_value(ada.question)
    expect(page.locator("[data-wording]")).to_be_hidden()
    expect(page.locator("[name=category]:checked")).to_have_count(0)
    second = ada.question
    ada.presses("Control+Home")
    ada.types("tell me ")
    ada.presses("Enter")
    expect(page.get_by_role("radio").first).to_be_focused()
    ada.presses("2")
    ada.is_led_on(second)
    assert [data["category"] for data in submitted()] == ["reasoning_synonym", "reasoning_carrier"]
    assert submitted()[0]["question"].startswith("in which year did")
    assert submitted()[1]["question"].startswith("tell me when did")


def test_another_answer_to_the_same_question_says_so_and_moves_in(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch(
        "answer_rating", sources=[several_answers(world, *["which film is the longest?"] * 3)]
    )
    page = annotating(new_context, live_server.url, world.ada, batch)
    said, words = page.locator(".said"), page.locator("[data-same-question]")
    expect(words).to_be_hidden()
    assert said.evaluate("(one) => getComputedStyle(one).animationName") == "none"
    motions: list[tuple[int, Literal["no-preference", "reduce"]]] = [(2, "no-preference"), (3, "reduce")]
    for number, motion in motions:
        page.emulate_media(reduced_motion=motion)
        page.keyboard.press("5")
        page.keyboard.press("4")
        expect(words).to_have_text(f"Same question, another answer: {number} of 3")
        expect(words).to_be_visible()
        expect(page.locator("[data-announce]")).to_contain_text(f"{number} of 3. {said.inner_text()}")
        moves = said.evaluate("(one) => getComputedStyle(one).animationName")
        assert moves == ("another-answer" if motion == "no-preference" else "none")
        said.evaluate("(one) => Promise.all(one.getAnimations().map(({ finished }) => finished))")
    finds_the_page_accessible(page)
    page.reload()
    expect(words).to_have_text("Same question, another answer: 3 of 3")
    page.keyboard.press("u")
    expect(words).to_have_text("Same question, another answer: 2 of 3")


def test_a_pair_is_three_digits_and_the_changes_are_marked(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.cy, pair_of(world))
    cy = Keyboard(page)
    expect(page.locator(".question")).to_have_text("when did Heat come out (0)?")
    left, cell = page.locator("[data-verdict=left]"), page.locator("askew-comparison td.changed")
    expect(cell).to_have_count(1)
    expect(cell.locator("del")).to_contain_text("1995")
    texts = dict(part.inner_text().split()[1:] for part in cell.locator("ins").all())
    assert sorted(texts) == ["L", "R"]
    assert {*texts.values()} == {"1996", "2006"}
    expect(left.locator("[data-old-answers]")).to_have_text("1995")
    expect(left.locator("[data-new-answers]")).to_have_text(texts["L"])
    expect(left.get_by_role("heading", name="Example L")).to_be_visible()
    expect(left.locator("[data-wording]")).to_be_hidden()  # it heads the page already
    expect(page.get_by_role("group", name="Example R: how good is it?")).to_be_in_viewport()
    expect(page.locator("[data-errors-of]:visible")).to_have_count(0)
    finds_the_page_accessible(page)
    cy.presses("n", "v")
    tables = page.locator("askew-comparison .sheet")
    expect(tables).to_have_count(2)
    rows = [[row.bounding_box() for row in tables.nth(at).locator("tr").all()] for at in (0, 1)]
    assert [(box["y"], box["height"]) for box in rows[0] if box] == [
        (box["y"], box["height"]) for box in rows[1] if box
    ]
    finds_the_page_accessible(page)
    cy.presses("v")
    cy.keys = 0
    cy.presses("5", "2", "1")
    expect(page.locator("[data-errors-of=right]")).to_be_visible()
    finds_the_page_accessible(page)
    page.locator("input[name=right]:checked").focus()
    cy.keys = 2
    cy.presses("4")
    cy.is_done()
    assert cy.keys == 3
    assert submitted()[-1] == {
        "left": 5,
        "right": 4,
        "better": "left",
        "left_errors": [],
        "right_errors": [],
    }


def test_on_a_phone_what_is_wrong_is_asked_before_which_is_better(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = annotating(new_context, live_server.url, world.cy, pair_of(world), **phone)
    wrong, better = page.locator("[data-errors-of=right]"), page.get_by_role("group", name="Which is better?")
    sentence = page.get_by_text("The last choice submits the item.", exact=True)
    docked = page.locator("[data-due]")

    page.locator("label:has([name=left][value='5'])").tap()
    page.locator("label:has([name=right][value='2'])").tap()

    expect(docked).to_have_attribute("data-field", "right_errors")
    expect(wrong.locator("label").last).to_be_in_viewport(ratio=1)
    expect(wrong.locator("legend")).to_contain_text("Example R: What is wrong with it?")
    expect(
        page.locator("askew-annotate [role=status]", has_text="Choose what is wrong with example R.")
    ).to_have_count(1)
    expect(sentence).to_be_hidden()

    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    wrong.locator("label").last.tap()

    expect(docked).to_have_attribute("data-field", "better")
    expect(sentence).to_be_visible()
    better.locator("label", has_text="Equally good").tap()  # too soon to be meant
    expect(better.locator(":checked")).to_have_count(0)
    page.clock.run_for(251)
    better.locator("label", has_text="Example L").tap()
    page.clock.resume()
    expect(page.locator("main")).to_contain_text("All caught up")
    assert submitted()[-1]["right_errors"] == ["invented"]


def test_everybody_can_use_the_pages(world: World, new_context: NewContext, live_server: Any) -> None:
    source = rated(world)
    answers = world.batch("answer_check", of="originals", overlap=1)
    labels = world.batch("question_type", overlap=1, settings={"suggestions": "before"})
    causes = world.batch("metric_failure", sources=[source], overlap=1)
    screening = world.batch("question_screening", sources=[source])
    context = signed_in(new_context, live_server.url, world.ada)
    for batch in (answers, labels, causes, screening):
        page = context.new_page()
        page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
        takes_keys(page)
        if batch == labels:
            expect(page.locator("askew-said")).to_contain_text("every answer is a cell")
        if batch == causes:
            expect(page.get_by_text("BLEU gives it 0.")).to_be_hidden()  # the arithmetic is there on demand
            expect(page.get_by_role("meter", name="BLEU")).to_be_visible()
            expect(page.get_by_role("meter", name="People")).to_be_visible()
        finds_the_page_accessible(page)
