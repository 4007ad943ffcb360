"""The loop of annotating: what the panels of the bar do by key, what a program fills in, and what a draft brings back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.models import Annotation, Assignment, Batch, Draft, Flag
from benchmarks.browser_data import over_its_sample
from tableqa import Example, Table
from tasks.contract import task_types
from tests.annotation.cast import World, make_world
from tests.browser.pages import TIMEOUT, HeldRequests, annotating, passes, takes_keys
from tests.modules.pages.cells import questions
from tests.waiting import wait_until

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def changes(world: World, number: int = 2) -> Batch:
    return world.batch(
        "value_change", variant="answer_changes", sources=[world.import_written(*questions(number))]
    )


def write(page: Page, text: str, row: str = "r1", column: str = "c1") -> None:
    page.locator(f"[data-row={row}] [data-column={column}]").click()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


# -- the panels of the bar ---------------------------------------------------------------------------


def test_items_are_skipped_with_a_reason_and_flagged_by_key_and_never_submitted(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, world.batch(overlap=1))
    page.clock.install()
    question, notices = page.locator(".question"), page.locator("[data-notices]")
    first = question.inner_text()
    page.keyboard.press("g")
    page.keyboard.press("Control+Enter")
    expect(notices).to_contain_text("Enter what the managers should check.")
    page.locator("details[data-panel=flag] .popped").click(position={"x": 3, "y": 3})
    page.keyboard.press("Enter")
    page.locator("[name=flag_note]").fill("Two rows are the same.")
    page.locator("details[data-panel=flag] .popped").click(position={"x": 3, "y": 3})
    page.keyboard.press("Enter")
    expect(notices).to_contain_text("Flagged.")
    assert Flag.objects.get().note == "Two rows are the same."

    page.keyboard.press("s")
    expect(page.locator("[name=skip_reason]:checked")).to_have_count(0)
    for key in ("Enter", "Control+Enter", "7"):
        page.keyboard.press(key)
    expect(notices).to_contain_text("Choose or write a reason")
    passes(page, 300)
    expect(question).to_have_text(first)
    page.locator("details[data-panel=skip] legend").click()  # the words of the panel are part of it
    page.keyboard.press("Enter")
    passes(page, 300)
    assert not Annotation.objects.exists()
    page.locator("[name=skip_other]").fill("1 table is 2 tables.")
    page.locator("details[data-panel=skip] legend").click()
    page.keyboard.press("Enter")
    expect(question).not_to_have_text(first)
    assert Assignment.objects.get(state="skipped").reason == "1 table is 2 tables."

    second = question.inner_text()
    page.keyboard.press("s")
    expect(page.locator("[name=skip_reason]:checked")).to_have_count(0)  # the last reason is not this item's
    page.keyboard.press("3")
    expect(question).not_to_have_text(second)
    expect(page.locator("details[data-panel=skip]")).not_to_have_attribute("open", "")
    assert Assignment.objects.filter(state="skipped", reason="The table is damaged.").count() == 1
    page.keyboard.press("s")
    expect(page.locator("[name=skip_reason]:checked")).to_have_count(0)
    assert not Annotation.objects.exists(), "the digit answered nothing"


# -- what a program fills in -------------------------------------------------------------------------


def test_the_answer_of_a_program_is_filled_in_goes_and_comes_back_with_the_changes_and_is_waited_for(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, changes(world, 3))
    first = page.locator(".asked .question").inner_text()
    answers = page.locator("[data-field=answers]")
    expect(page.get_by_role("radiogroup")).to_be_focused()
    page.keyboard.press("1")
    write(page, "$110")
    expect(answers).to_have_value("28")
    page.keyboard.press("Control+z")
    expect(answers).to_have_value("")
    expect(page.locator("askew-filled-answer")).to_be_empty()
    page.keyboard.press("Control+y")
    expect(answers).to_have_value("28")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.keyboard.press("n")
    expect(answers).to_have_value("")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.keyboard.press("1")
    expect(answers).to_have_value("28")
    expect(page.locator("askew-shown-if")).to_be_hidden()
    page.evaluate(
        """() => new Promise((done) => setTimeout(() => {
            const { grid } = document.querySelector("askew-annotate");
            grid.undo(); // both sooner than a draft is saved
            grid.redo();
            done();
        }, 50))"""
    )
    expect(answers).to_have_value("28")

    answers.focus()
    page.keyboard.press("Delete")  # an answer that somebody took out is not filled in by submitting
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-notices]")).to_contain_text("Write the answer that the changed table gives.")
    assert not Annotation.objects.filter(assignment__state="submitted").exists()
    answers.fill("28")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".asked .question")).not_to_have_text(first)

    second = page.locator(".asked .question").inner_text()
    expect(page.get_by_role("radiogroup")).to_be_focused()
    page.keyboard.press("1")
    page.locator("[data-row=r1] [data-column=c1]").click()
    page.keyboard.type("$110")
    page.keyboard.press("Control+Enter")  # sooner than the draft is saved and its answer computed
    expect(page.locator(".asked .question")).not_to_have_text(second)
    assert [note.response["data"]["answers"] for note in Annotation.objects.all()] == [["28"], ["28"]]  # type: ignore[index]


def test_an_answer_about_what_was_there_before_is_told_to_nobody(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, changes(world))
    page.clock.install()
    answers = page.locator("[data-field=answers]")
    expect(page.get_by_role("radiogroup")).to_be_focused()
    page.evaluate(
        """() => {
            window.filled = [];
            const field = document.querySelector("[data-field=answers]");
            field.addEventListener("input", () => window.filled.push(field.value));
        }"""
    )

    page.keyboard.press("1")
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    held = HeldRequests(page, "**/draft/")
    write(page, "$110")
    before = held.take()
    answer = before.fetch()
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.keyboard.press("n")  # while the answer of the program is on its way
    expect(page.get_by_role("radio", name="None of these")).to_be_checked()
    before.fulfill(response=answer)
    held.let_go()
    passes(page, 2500)
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    expect(answers).to_have_value("")
    assert page.evaluate("() => window.filled") == []


def test_a_draft_that_is_resumed_shows_what_holds_and_an_answer_that_somebody_typed_stays(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, changes(world))
    answers, computed = page.locator("[data-field=answers]"), page.locator("askew-programs .computed")
    expect(page.get_by_role("radiogroup")).to_be_focused()
    page.keyboard.press("1")
    write(page, "$110")
    expect(answers).to_have_value("28")
    differs = page.locator("li[data-holds~=computed_answer_differs]")
    expect(differs).to_have_attribute("data-state", "yes")
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    page.reload()
    takes_keys(page)
    expect(computed).to_contain_text("18 → 28")
    expect(differs).to_have_attribute("data-state", "yes")
    expect(page.locator("li[data-holds~=answer_unchanged]")).to_have_attribute("data-state", "yes")
    page.get_by_role("button", name="Revert:").click()
    expect(answers).to_have_value("")  # nobody typed it

    page.clock.install()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    page.keyboard.type("28")
    write(page, "$110")
    expect(computed).to_contain_text("18 → 28")
    write(page, "$120")
    expect(computed).to_contain_text("18 → 38")
    expect(answers).to_have_value("28")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect(page.locator("[data-changes] li")).to_have_count(0)
    passes(page, 600)
    expect(answers).to_have_value("28")


def answer_is_saved(answer: str) -> None:
    wait_until(lambda: _saved_answers() == [answer], f"the answer {answer} is saved", TIMEOUT)


def _saved_answers() -> list[str]:
    draft = Draft.objects.first()
    return draft.response["data"].get("answers", []) if draft else []


@pytest.mark.console_may_say("Failed to load resource")
def test_the_version_that_is_kept_of_two_is_shown_with_what_its_program_gives(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    first = annotating(new_context, live_server.url, world.ada, changes(world))
    expect(first.get_by_role("radiogroup")).to_be_focused()
    first.keyboard.press("1")
    write(first, "$110")
    answer_is_saved("28")
    second = first.context.new_page()
    second.goto(first.url)
    takes_keys(second)
    expect(second.locator("askew-programs .computed")).to_contain_text("18 → 28")
    write(first, "$120")
    answer_is_saved("38")
    write(second, "$130")
    dialog = second.get_by_role("dialog", name="Two versions of your work")
    dialog.get_by_role("button", name="Keep the other version").click()
    expect(second.locator("askew-programs .computed")).to_contain_text("18 → 38")
    expect(second.locator("[data-field=answers]")).to_have_value("38")
    expect(second.locator("li[data-holds~=computed_answer_differs]")).to_have_attribute("data-state", "yes")


# -- the list of changes -----------------------------------------------------------------------------


def test_the_focus_returns_to_the_table_after_taking_a_change_back_and_ctrl_enter_submits_from_a_button(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, changes(world))
    for row, text in (("r1", "$110"), ("r2", "460"), ("r3", "130")):
        write(page, text, row)
    back = page.get_by_role("button", name="Revert:")
    expect(back).to_have_count(3)
    cell = page.locator("askew-grid [role=gridcell]:focus, askew-grid [role=columnheader]:focus")
    back.nth(2).focus()
    page.keyboard.press("Enter")
    expect(back).to_have_count(2)
    expect(cell).to_have_count(1)
    back.nth(1).click()
    expect(back).to_have_count(1)
    expect(cell).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    page.keyboard.type("28")
    back.focus()
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-saved]")).to_contain_text("submitted")
    assert len((Annotation.objects.get().response or {})["data"]["operations"]) == 1


# -- classic scrollbars and narrow panels ------------------------------------------------------------


BOX = """(box) => ({
    bar: box.offsetWidth - box.clientWidth,
    down: box.scrollHeight - box.clientHeight,
    sideways: box.scrollWidth - box.clientWidth,
})"""


BROKEN = """(prose) => [...prose.querySelectorAll("th, td")].flatMap((cell) => {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const words = [];
    while (texts.nextNode()) {
        for (const word of texts.currentNode.data.matchAll(/[a-z]+/giu)) {
            const range = document.createRange();
            range.setStart(texts.currentNode, word.index);
            range.setEnd(texts.currentNode, word.index + word[0].length);
            if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) words.push(word[0]);
        }
    }
    return words;
})"""
"""The words of tables that are broken in two."""


def test_beside_classic_scrollbars_no_table_scrolls_sideways_and_no_word_is_broken(
    world: World, browser: Browser, browser_type_launch_args: dict[str, Any], live_server: Any
) -> None:
    columns = ["Artist", "Song", "Place", "Nation"]
    rows = [
        [f"Artist {n}", "a long title of a song", "somewhere in the north", "Portugal"] for n in range(12)
    ]
    wide = Example("wide", "where does artist 4 sing?", Table(columns, rows), ["Portugal"])
    rated = Example(
        "rated",
        "which film is the longest?",
        Table(["Film", "Minutes"], [["Heat", "170"]]),
        ["Heat"],
        meta={"rated_answer": {"text": "Heat.", "system": "s"}},
    )
    options = {**browser_type_launch_args, "ignore_default_args": ["--hide-scrollbars"]}
    classic = browser.browser_type.launch(**options)
    try:
        batch = world.batch("relevant_cells", sources=[world.import_written(wide)])
        page = annotating(classic.new_context, live_server.url, world.ada, batch)
        sheet = page.locator("askew-grid > .sheet")
        expect(sheet.locator(".tabular.locked")).to_be_visible()
        roomy = sheet.evaluate(BOX)
        assert (roomy["down"], roomy["sideways"]) == (0, 0), "it fits"
        page.set_viewport_size({"width": 1280, "height": 560})
        low = sheet.evaluate(BOX)
        assert low["bar"] > 10, "the bar takes room"
        assert low["down"] > 0
        assert low["sideways"] == 0

        for number in (9, 1100):
            rows = [[f"Artist {n}", *["a text of some words that wraps"] * 3] for n in range(number)]
            squeezed = Example(
                f"squeezed {number}", "where does he sing?", Table(columns, rows), ["Portugal"]
            )
            batch = world.batch("relevant_cells", sources=[world.import_written(squeezed, name=squeezed.id)])
            page = annotating(classic.new_context, live_server.url, world.ada, batch)
            sheet, subject = page.locator("askew-grid > .sheet"), page.locator(".subject")
            expect(sheet.locator(".tabular.locked")).to_be_visible()
            assert (subject.evaluate(BOX)["bar"], sheet.evaluate(BOX)["sideways"]) == (0, 0)
            subject.evaluate("(subject) => { subject.style.overflowY = 'scroll'; }")
            assert subject.evaluate(BOX)["bar"] > 10
            page.wait_for_function(f"(sheet) => ({BOX})(sheet).sideways === 0", arg=sheet.element_handle())

        batch = world.batch("answer_rating", sources=[world.import_written(rated, name="rated")])
        page = annotating(
            classic.new_context, live_server.url, world.ada, batch, viewport={"width": 1366, "height": 850}
        )
        prose = page.locator("#guidelines .prose")
        expect(prose).to_be_visible()
        assert prose.locator("table").count()
        assert prose.evaluate(BOX)["sideways"] <= 0
        assert prose.evaluate(BROKEN) == []
    finally:
        classic.close()


def test_a_table_short_of_room_loses_its_padding_before_it_scrolls_sideways(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    columns = ["Candidate", "Constituency", "Votes received", "Share of votes", "Changes", "Region", "Seat"]
    rows = [["Wilhelmina", "Westphalia", "1,234,567", "12.34 %", "Reelected", "North", "Herford"]] * 3
    wide = Example("wide", "who was reelected?", Table(columns, rows), ["Wilhelmina"])
    batch = world.batch("relevant_cells", sources=[world.import_written(wide)])
    page = annotating(new_context, live_server.url, world.ada, batch, viewport={"width": 1280, "height": 720})
    sheet = page.locator("askew-grid > .sheet")
    expect(sheet.locator(".tabular.locked")).to_be_visible()
    assert sheet.evaluate(BOX)["sideways"] == 0
    expect(sheet.locator(".tabular.dense")).to_be_visible()
    page.set_viewport_size({"width": 2000, "height": 720})
    expect(sheet.locator(".tabular:not(.dense)")).to_be_visible()


# -- what is said ------------------------------------------------------------------------------------


def test_nothing_that_the_table_said_of_one_item_stands_there_with_the_next(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = world.batch("relevant_cells", sources=[world.import_written(*questions())])
    page = annotating(new_context, live_server.url, world.ada, batch)
    page.clock.install()
    first = page.locator(".question").inner_text()
    for key in ("ArrowDown", "Shift+ArrowRight", "Space"):
        page.keyboard.press(key)
    assert any("marked" in text for text in live(page))
    page.keyboard.press("Enter")
    expect(page.locator(".question")).not_to_have_text(first)
    passes(page, 700)
    assert not any("marked" in text for text in live(page)), live(page)

    source = world.import_written(
        *questions(meta={"highlighted_cells": [["r1", "c1"], ["h", "c1"]]}), name="marked"
    )
    page = annotating(
        new_context, live_server.url, world.ada, world.batch("cell_relevance", sources=[source])
    )
    page.clock.install()
    first = page.locator(".question").inner_text()
    page.keyboard.press("h")
    assert any("hidden" in text for text in live(page))
    page.keyboard.press("1")
    expect(page.locator(".question")).not_to_have_text(first)
    passes(page, 700)
    assert not any("marked cell" in text for text in live(page)), live(page)


def live(page: Page) -> list[str]:
    """What stands in every live region."""
    texts: list[str] = page.evaluate(
        "[...document.querySelectorAll('[role=status], [aria-live]')].map(one => one.textContent.trim()).filter(Boolean)"
    )
    return texts


# -- on a phone --------------------------------------------------------------------------------------


def test_on_a_phone_what_is_to_be_chosen_next_stays_above_the_bar(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = over_its_sample(world, task_types()["answer_rating"], "")
    options: dict[str, Any] = {**PHONE, "viewport": {"width": 390, "height": 480}}
    page = annotating(new_context, live_server.url, world.ada, batch, **options)
    faithfulness, comprehensiveness = page.locator(".scale").all()
    expect(faithfulness).to_be_in_viewport(ratio=1)
    expect(comprehensiveness).not_to_be_in_viewport()
    faithfulness.locator("label").nth(3).tap()
    expect(comprehensiveness).to_be_in_viewport(ratio=1)
    comprehensiveness.locator("label").nth(2).tap()
    expect(page.locator(".top [data-progress-text]")).to_have_text("1 of 2")

    batch = world.batch("question_paraphrase", variant="word")
    options = {**PHONE, "viewport": {"width": 390, "height": 640}}
    page = annotating(new_context, live_server.url, world.ada, batch, **options)
    categories = page.locator("fieldset.choices")
    expect(categories).not_to_be_in_viewport(ratio=1)
    page.get_by_label("Your rewording").fill("tell me when it was")
    page.evaluate("scrollTo(0, 0)")
    expect(categories).to_be_in_viewport(ratio=1)
