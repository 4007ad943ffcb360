"""The kinds that judge and that reword, in a real browser: by keyboard alone, counted; without scripts; for everybody.

What an item costs in keys is part of what the platform promises: one label is one key, two scales are two digits, a
paraphrase is its words, Enter and a digit; and no page is loaded between two items.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Frame, Page, expect

from annotation.journeys import adjudicating
from annotation.models import Annotation, Batch, ModelAnswer, Person
from annotation.models import Example as StoredExample
from tableqa import Example, Table
from tests.annotation.cast import NOON, World, make_world
from tests.browser.pages import annotating, settled, signed_in

AXE = {"preload": False, "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
LATER = NOON + timedelta(days=1)
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


def rated(world: World, number: int = 3) -> Any:
    """A source of answers of systems, rated and scored."""
    table = Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"]], title="Long films")
    examples = [
        Example(
            f"fetaqa_{n}~system",
            f"which film is the longest ({n})?",
            table,
            ["Heat, with 170 minutes."],
            meta={
                "rated_answer": {
                    "text": f"Answer number {n}: Heat, at 170 minutes.",
                    "system": "hidden-system",
                },
                "reference": f"The hidden reference {n}.",
                "metrics": {"bleu": [0.1, 0.2, 0.9][n % 3]},
                "human": {"faithfulness": [5, 3, 1][n % 3], "comprehensiveness": [5, 3, 1][n % 3]},
                "samples": [["Heat, with 170 minutes."]] * 4,
            },
        )
        for n in range(number)
    ]
    return world.import_written(*examples)


def change(world: World, who: str, year: str, overlap: int = 2) -> Batch:
    """Somebody changes the year of Heat so that the answer changes."""
    batch = Batch.objects.filter(task_type="value_change").first() or world.batch(
        "value_change", variant="answer_changes", only=["nu-0"], overlap=overlap
    )
    assignment = world.take(batch, who)
    assert assignment is not None
    operation = {"op": "set_cell", "row": "r0", "column": "c1", "at": [0, 1], "old": "1995", "new": year}
    edit = {"unanswerable": False, "operations": [operation], "answers": [year], "reason": ""}
    world.answer(assignment, edit)
    adjudicating.resolve_batch(batch=batch, now=LATER)
    return batch


def pair(world: World) -> Batch:
    """A batch in which two changed examples of one question are rated side by side."""
    change(world, "ada", "1996")
    change(world, "bo", "2006")
    return world.batch("perturbation_rating", of="perturbed", overlap=1)


def asked(world: World) -> None:
    """A model was asked for the type of every question: it always needs a count."""
    for example in StoredExample.objects.originals():
        ModelAnswer.objects.create(
            example=example,
            purpose="question_type",
            model="small",
            data={"reply": "Operation: count"},
            made_at=NOON,
        )


@pytest.fixture
def world(transactional_db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


# -- by keyboard ------------------------------------------------------------------------------------


@pytest.mark.smoke
def test_a_label_is_one_key_and_then_one_reads_what_was_suggested(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    asked(world)
    batch = world.batch("question_type", overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    said = page.locator("askew-said")
    ada = Keyboard(page)
    expect(said).to_be_hidden()
    assert "lexical" not in page.content(), "nothing is suggested before the first answer"
    for key in "12":
        before = ada.question
        ada.presses(key)
        ada.is_led_on(before)
        expect(said).to_contain_text("The last question:")
        expect(said.locator("li")).to_have_text(
            ["the lexical rule: extraction", "a language model: reasoning", "both combined: nothing"]
        )
    assert ada.keys == 2
    finds_the_page_accessible(page)
    assert [data["label"] for data in submitted()] == ["extraction", "reasoning"]


def test_a_batch_may_suggest_before_the_answer_and_then_says_why(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("question_type", overlap=1, settings={"suggestions": "before"})
    page = annotating(new_context, live_server.url, world.ada, batch)
    expect(page.locator("askew-said")).to_contain_text("every answer is a cell")
    finds_the_page_accessible(page)
    never = world.batch("question_type", overlap=1, settings={"suggestions": "never"})
    page = annotating(new_context, live_server.url, world.bo, never)
    bo, before = Keyboard(page), page.locator(".question").inner_text()
    bo.presses("1")
    bo.is_led_on(before)
    page.wait_for_load_state("networkidle")
    expect(page.locator("askew-said")).to_be_hidden()


def test_an_answer_is_typed_and_sent_with_one_key(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("answer_check", of="originals", overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    ada = Keyboard(page)
    expect(page.get_by_label("Your answer")).to_be_focused()
    first = ada.question
    ada.presses("Enter")  # nothing is written yet
    expect(page.get_by_label("Your answer")).to_have_value("\n")
    ada.presses("Backspace")
    ada.keys = 0
    ada.types("1995")
    ada.presses("Enter")
    ada.is_led_on(first)
    assert ada.keys == len("1995") + 1
    expect(page.get_by_label("Your answer")).to_be_focused()
    expect(page.get_by_label("Your answer")).to_have_value("")
    second = ada.question
    ada.types("Heat")
    ada.presses("Shift+Enter")
    ada.types("Alien")
    ada.presses("Enter")
    ada.types("Stalker")
    ada.presses("Control+Enter")
    ada.is_led_on(second)
    third = ada.question
    ada.presses("Control+Enter")
    expect(page.locator("[data-notices]")).to_contain_text("Write the answer, or choose")
    ada.presses("Escape", "0", "Enter")
    ada.is_led_on(third)
    assert submitted() == [
        {"answers": ["1995"], "unanswerable": False},
        {"answers": ["Heat", "Alien", "Stalker"], "unanswerable": False},
        {"answers": [], "unanswerable": True},
    ]
    finds_the_page_accessible(page)


def test_a_category_that_is_clicked_before_anything_is_written_submits_nothing(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(
        new_context, live_server.url, world.ada, world.batch("question_paraphrase", variant="word")
    )
    ada = Keyboard(page)
    first = ada.question
    page.locator("label:has([name=category])").first.click()
    expect(page.locator("[name=category]").first).to_be_checked()
    settled(page)
    expect(page.locator("[data-notices]")).to_be_empty()
    page.get_by_label("Your rewording").fill(f"tell me {first}")
    page.locator("label:has([name=category])").nth(1).click()
    ada.is_led_on(first)
    assert submitted()[0]["category"] == "reasoning_carrier"


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


@pytest.mark.smoke
def test_two_scales_are_two_digits_and_an_undone_item_two_digits_again(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("answer_rating", sources=[rated(world)], overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    ada = Keyboard(page)
    first = ada.question
    for kept in ("hidden-system", "The hidden reference"):
        assert kept not in page.content()
    ada.presses("4")
    expect(page.get_by_role("radio", name="4").first).to_be_checked()
    assert ada.question == first
    ada.presses("2")
    ada.is_led_on(first)
    assert ada.keys == 2
    expect(page.locator(".scale input:checked")).to_have_count(0)
    finds_the_page_accessible(page)
    ada.presses("u")
    expect(page.locator(".question")).to_have_text(first)
    expect(page.locator(".scale input:checked")).to_have_count(2)
    ada.presses("5")
    assert ada.question == first, "the second scale is asked for once more"
    ada.presses("5")
    ada.is_led_on(first)
    assert submitted() == [
        {"faithfulness": 4, "comprehensiveness": 2},
        {"faithfulness": 5, "comprehensiveness": 5},
    ]


def several_answers(world: World, *questions: str) -> Any:
    """A source of answers by models: one for each question, of which some are the same."""
    table = Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"]])
    return world.import_written(
        *(
            Example(
                f"q-{n}",
                question,
                table,
                ["Heat"],
                meta={"rated_answer": {"text": f"Answer {n}.", "system": "s"}},
            )
            for n, question in enumerate(questions)
        )
    )


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_another_answer_to_the_same_question_says_so_and_moves_in(
    world: World, new_context: NewContext, live_server: Any, motion: str
) -> None:
    batch = world.batch(
        "answer_rating", sources=[several_answers(world, *["which film is the longest?"] * 3)]
    )
    page = annotating(new_context, live_server.url, world.ada, batch, reduced_motion=motion)
    said, words = page.locator(".said"), page.locator("[data-same-question]")
    expect(words).to_be_hidden()
    assert said.evaluate("(one) => getComputedStyle(one).animationName") == "none"
    for number in (2, 3):
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


def test_another_question_does_not_move_in(world: World, new_context: NewContext, live_server: Any) -> None:
    batch = world.batch(
        "answer_rating", sources=[several_answers(world, "which is longest?", "which is shortest?")]
    )
    page = annotating(new_context, live_server.url, world.ada, batch)
    before = page.locator(".question").inner_text()
    page.keyboard.press("5")
    page.keyboard.press("4")
    expect(page.locator(".question")).not_to_have_text(before)
    expect(page.locator("[data-same-question]")).to_be_hidden()
    assert page.locator(".said").evaluate("(one) => getComputedStyle(one).animationName") == "none"


def test_the_reference_is_shown_only_where_the_batch_says_so(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    source = rated(world)
    batch = world.batch("answer_rating", sources=[source], settings={"show_reference": True})
    page = annotating(new_context, live_server.url, world.ada, batch)
    expect(page.locator("main")).to_contain_text("The hidden reference")
    expect(page.locator("main")).to_contain_text("Long films")
    assert "hidden-system" not in page.content()


def test_a_pair_is_three_digits_and_the_changes_are_marked(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.cy, pair(world))
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
    cy.presses("5", "4", "1")
    cy.is_done()
    assert cy.keys == 3
    assert submitted()[-1] == {
        "left": 5,
        "right": 4,
        "better": "left",
        "left_errors": [],
        "right_errors": [],
    }


def test_changes_are_jumped_to_and_tables_turned_from_anywhere_on_the_page(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.cy, pair(world))
    here = page.locator("askew-comparison [data-here]")
    expect(page.locator(".question")).to_be_focused()
    page.keyboard.press("n")
    expect(here).to_have_class(re.compile("changed"))
    expect(page.locator("askew-grid > [role=status]")).to_contain_text(
        "Change 1 of 1. Row 1, Year: was 1995; "
    )
    expect(page.locator(".question")).to_be_focused()
    page.keyboard.press("v")
    tables = page.locator("askew-comparison .sheet")
    expect(tables).to_have_count(2)
    assert {page.locator("askew-comparison td ins").nth(at).inner_text() for at in (0, 1)} == {"1996", "2006"}
    rows = [[row.bounding_box() for row in tables.nth(at).locator("tr").all()] for at in (0, 1)]
    assert [(box["y"], box["height"]) for box in rows[0] if box] == [
        (box["y"], box["height"]) for box in rows[1] if box
    ]
    finds_the_page_accessible(page)
    page.get_by_role("button", name="One table").click()
    expect(tables).to_have_count(1)
    expect(page.get_by_role("button", name="Two tables")).to_be_focused()


def test_a_digit_that_the_question_does_not_have_changes_nothing(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.cy, pair(world))
    cy = Keyboard(page)
    chosen = page.locator(".scale input:checked")
    cy.presses("4", "4")
    expect(chosen).to_have_count(2)
    for digit in ("5", "4"):
        cy.presses(digit)
        expect(page.locator("[data-notices]")).to_contain_text(
            f"“Better” has no option {digit}. Nothing was changed."
        )
        assert chosen.evaluate_all("fields => fields.map(({name, value}) => name + value)") == [
            "left4",
            "right4",
        ]
    cy.presses("1")
    cy.is_done()
    assert [submitted()[-1][name] for name in ("left", "right", "better")] == [4, 4, "left"]


def test_a_score_that_was_given_is_changed_by_going_to_it(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.cy, pair(world))
    cy = Keyboard(page)
    cy.presses("1", "4", "2")
    notices = page.locator("[data-notices]")
    expect(notices).to_contain_text("Choose what is wrong with example L")
    chosen = page.locator(".scale input:checked")
    cy.presses("5")
    expect(notices).to_contain_text("Every question is answered. Go to the one you want to change.")
    assert chosen.evaluate_all("fields => fields.map(({name, value}) => name + value)") == [
        "left1",
        "right4",
        "bettertie",
    ]
    page.locator("input[name=right]:checked").focus()
    cy.presses("2")
    expect(page.locator("[data-errors-of=right]")).to_be_visible()
    page.locator("input[name=left]:checked").focus()
    cy.presses("3")
    assert not [data for data in submitted() if "better" in data]
    expect(page.locator("[data-errors-of=left]")).to_be_hidden()
    expect(notices).to_contain_text("Choose what is wrong with example R")


def test_a_low_score_asks_what_is_wrong(world: World, new_context: NewContext, live_server: Any) -> None:
    page = annotating(new_context, live_server.url, world.cy, pair(world))
    cy = Keyboard(page)
    cy.presses("5", "2")
    expect(page.locator("[data-errors-of=right]")).to_be_visible()
    expect(page.locator("[data-errors-of=left]")).to_be_hidden()
    cy.presses("1")
    expect(page.locator("[data-notices]")).to_contain_text("Choose what is wrong with example R")
    cy.presses("d")
    expect(page.locator("[data-errors-of=right] input:checked")).to_have_count(1)
    finds_the_page_accessible(page)
    cy.presses("Enter")
    cy.is_done()
    assert cy.keys == 5
    assert submitted()[-1]["right_errors"] == ["invented"]
    assert submitted()[-1]["left_errors"] == []


def test_on_a_phone_what_is_wrong_is_asked_before_which_is_better(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = annotating(new_context, live_server.url, world.cy, pair(world), **phone)
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


def test_one_changed_example_alone_is_one_digit_and_nothing_is_called_left(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    change(world, "ada", "1996", overlap=1)
    batch = world.batch("perturbation_rating", of="perturbed", overlap=1)
    page = annotating(new_context, live_server.url, world.cy, batch)
    cy = Keyboard(page)
    expect(page.locator("[data-verdict=right]")).to_be_hidden()
    expect(page.locator("askew-comparison td.changed ins")).to_have_text("1996")
    expect(page.locator(".who:visible")).to_have_count(0)
    expect(page.get_by_text("Which is better?")).to_be_hidden()
    expect(page.get_by_role("heading", name="Changed example", exact=True)).to_be_visible()
    expect(page.locator(".panel").get_by_text("Example L").locator("visible=true")).to_have_count(0)
    cy.presses("Enter")
    expect(page.locator("[data-notices]")).to_contain_text("Rate the example from 1 to 5.")
    cy.presses("4")
    cy.is_done()
    assert cy.keys == 2
    assert submitted()[-1] == {"left": 4, "right": None, "better": "", "left_errors": [], "right_errors": []}


@REFUSED_ONCE
def test_causes_are_digits_and_enter(world: World, new_context: NewContext, live_server: Any) -> None:
    batch = world.batch("metric_failure", sources=[rated(world)], size=2, overlap=1)
    page = annotating(new_context, live_server.url, world.ada, batch)
    ada = Keyboard(page)
    first = ada.question
    expect(page.locator("main")).to_contain_text("BLEU gives it 0.")
    expect(page.locator("main")).to_contain_text("People give it ")
    expect(page.locator("main")).to_contain_text("The hidden reference")
    assert "hidden-system" not in page.content()
    expect(page.get_by_text("BLEU gives it 0.")).to_be_hidden()  # the arithmetic is there on demand
    expect(page.get_by_role("meter", name="BLEU")).to_be_visible()
    people = page.locator("[data-rank=people]")
    expect(people.get_by_role("meter", name="People")).to_be_visible()
    expect(people).to_contain_text("rank 3 of 3")
    finds_the_page_accessible(page)
    ada.presses("6", "4", "4", "7", "Enter")
    ada.is_led_on(first)
    assert ada.keys == 5
    ada.presses("8", "Enter")
    expect(page.locator("[data-notices]")).to_contain_text("Describe the cause in the note")
    expect(page.get_by_label("Note")).to_be_focused()
    ada.types("people erred")
    ada.presses("Control+Enter")
    ada.is_done()
    assert submitted() == [
        {"causes": ["answer_length", "answer_structure"], "note": ""},
        {"causes": ["other"], "note": "people erred"},
    ]


def test_keeping_a_question_is_one_key(world: World, new_context: NewContext, live_server: Any) -> None:
    batch = world.batch("question_screening", sources=[rated(world)])
    page = annotating(new_context, live_server.url, world.ada, batch)
    ada = Keyboard(page)
    for key in "12":
        expect(page.locator("main")).to_contain_text("4 of 4 samples right")
        before = ada.question
        ada.presses(key)
        ada.is_led_on(before)
    assert ada.keys == 2
    finds_the_page_accessible(page)
    assert [data["label"] for data in submitted()] == ["keep", "remove"]


# -- without scripts --------------------------------------------------------------------------------


def plain(new_context: NewContext, base: str, person: Person, batch: Batch) -> Page:
    page = signed_in(new_context, base, person, java_script_enabled=False).new_page()
    page.goto(f"{base}/batches/{batch.public_id}/annotate/")
    return page


def submits(page: Page) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name="Submit").click()


@pytest.mark.smoke
@REFUSED_ONCE
def test_without_scripts_a_paraphrase_is_a_form(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("question_paraphrase", variant="sentence")
    page = plain(new_context, live_server.url, world.ada, batch)
    first = page.locator(".question").inner_text()
    assert page.get_by_label("Your rewording").input_value() == first
    page.get_by_label("Simpler").check()
    submits(page)
    expect(page.locator("[data-notices]")).to_contain_text("question is unchanged")
    page.get_by_label("Your rewording").fill(f"tell me: {first}")
    submits(page)
    expect(page.locator(".question")).not_to_have_text(first)
    assert submitted() == [{"question": f"tell me: {first}", "category": "simplification"}]


@REFUSED_ONCE
def test_without_scripts_two_examples_are_one_table_with_both_texts(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = plain(new_context, live_server.url, world.cy, pair(world))
    cell = page.locator("askew-comparison td.changed")
    assert {part.inner_text()[-4:] for part in cell.locator("ins").all()} == {"1996", "2006"}
    assert sorted(letter.inner_text()[-1] for letter in cell.locator(".who").all()) == ["L", "R"]
    expect(cell.locator("del")).to_contain_text("1995")  # as on the page with scripts
    expect(page.locator("[data-verdict=left] [data-old-answers]")).to_have_text("1995")
    page.locator("[data-verdict=left]").get_by_role("radio", name="5").check()
    page.locator("[data-verdict=right]").get_by_role("radio", name="2").check()
    page.get_by_role("radio", name="Example L").check()
    submits(page)
    expect(page.locator("[data-notices]")).to_contain_text("hoose what is wrong")
    page.locator("[data-verdict=right]").get_by_label("Something is missing").check()
    submits(page)
    expect(page.locator("main")).to_contain_text("All caught up")
    assert submitted()[-1] == {
        "left": 5,
        "right": 2,
        "better": "left",
        "left_errors": [],
        "right_errors": ["missing"],
    }


def test_without_scripts_an_answer_is_two_scales(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("answer_rating", sources=[rated(world)], overlap=1)
    page = plain(new_context, live_server.url, world.ada, batch)
    first = page.locator(".question").inner_text()
    expect(page.locator("blockquote")).to_contain_text("Answer number")
    page.get_by_role("group", name="Faithfulness").get_by_role("radio", name="5").check()
    page.get_by_role("group", name="Comprehensiveness").get_by_role("radio", name="3").check()
    submits(page)
    expect(page.locator(".question")).not_to_have_text(first)
    assert submitted() == [{"faithfulness": 5, "comprehensiveness": 3}]


def test_without_scripts_the_others_are_forms_too(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    source = rated(world)
    page = plain(
        new_context, live_server.url, world.ada, world.batch("answer_check", of="originals", sources=[source])
    )
    page.get_by_label("Your answer").fill("Heat\nAlien")
    submits(page)
    page = plain(new_context, live_server.url, world.ada, world.batch("question_screening", sources=[source]))
    page.get_by_label("Remove").check()
    submits(page)
    page = plain(new_context, live_server.url, world.ada, world.batch("metric_failure", sources=[source]))
    expect(page.locator("main")).to_contain_text("BLEU gives it 0.")
    page.get_by_label("Answer: length").check()
    page.get_by_label("Note").fill("short")
    submits(page)
    before = {"suggestions": "before"}
    page = plain(new_context, live_server.url, world.ada, world.batch("question_type", settings=before))
    expect(page.locator("askew-said")).to_contain_text("every answer is a cell")
    page.get_by_label("Extraction").check()
    submits(page)
    assert submitted() == [
        {"answers": ["Heat", "Alien"], "unanswerable": False},
        {"label": "remove"},
        {"causes": ["answer_length"], "note": "short"},
        {"label": "extraction"},
    ]


# -- wordings ---------------------------------------------------------------------------------------

WORDINGS = [
    ("which film came first?", "which movie came first?"),
    ("when did Heat come out (0)?", "in which year was Heat released (0)?"),
    ("a b c", "a b c"),
    ("", "new"),
    ("old", ""),
    ("Was it 1,204.5?", "was it 1,204.6?"),
    ("  two  blanks ", "two blanks"),
    ("ما هو الفيلم؟", "ما هي المدينة؟"),
    ("cafe\u0301 o'neill", "café o’neill"),
    ("x " * 400, "y " * 300),
]


def test_a_wording_and_its_changes_are_put_together_again(page: Page, live_server: Any) -> None:
    page.goto(f"{live_server.url}/sign-in/")
    found = page.evaluate(
        """async (pairs) => {
            const { changesOfWords } = await import("/static/askew/wording.js");
            return pairs.map(([before, after]) => changesOfWords(before, after));
        }""",
        WORDINGS,
    )
    for (before, after), parts in zip(WORDINGS, found, strict=True):
        now = "".join(part["text"] for part in parts if part["kind"] != "removed")
        old = "".join(part["text"] for part in parts if part["kind"] != "added")
        assert now == after
        assert "".join(old.split()).casefold() == "".join(before.split()).casefold()
        assert all(one["kind"] != other["kind"] for one, other in pairwise(parts))
    assert [(part["kind"], part["text"].strip()) for part in found[0]] == [
        ("same", "which"),
        ("removed", "film"),
        ("added", "movie"),
        ("same", "came first?"),
    ]
    assert [part["kind"] for part in found[2]] == ["same"]
