"""Changing values: what counts as a change, what the contract says on the page, and all of it without scripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from annotation.models import Annotation, Batch, Draft
from tableqa import Example, Table
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, settled, signed_in, takes_keys
from tests.browser.test_kinds_cells import questions

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def changes(world: World, variant: str = "answer_stays", **more: Any) -> Batch:
    return world.batch("value_change", variant=variant, sources=[world.import_written(*questions())], **more)


def line(page: Page, code: str) -> Locator:
    return page.locator(f"li[data-holds~={code}]")


def test_a_blank_at_the_end_of_a_cell_is_no_change(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, changes(world))
    first = page.locator(".question").inner_text()
    page.locator("[data-row=r3] [data-column=c0]").click()
    for key in ("F2", "End", "Space", "Enter"):
        page.keyboard.press(key)
    expect(line(page, "table_unchanged")).to_have_attribute("data-state", "no")
    expect(line(page, "table_unchanged")).to_contain_text(
        "Only whitespace or invisible characters have changed"
    )
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-notices]")).to_contain_text("Not submitted yet. Only whitespace")
    assert page.locator(".question").inner_text() == first
    assert not Annotation.objects.exists()
    page.locator("[data-row=r3] [data-column=c3]").click()
    page.keyboard.type("60")
    page.keyboard.press("Enter")
    expect(line(page, "blanks_changed")).to_have_attribute("data-state", "look")
    expect(line(page, "blanks_changed")).to_contain_text("only whitespace or invisible")


def test_that_the_table_is_unchanged_is_no_fault_before_it_can_be_changed(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, changes(world, "answer_changes"))
    unchanged = line(page, "table_unchanged")
    expect(page.get_by_role("radiogroup")).to_be_focused()
    page.keyboard.press("1")
    expect(page.locator("[data-step=program]")).to_have_attribute("data-done", "")
    settled(page)
    expect(unchanged).to_be_visible()
    expect(unchanged).to_have_attribute("data-state", "open")
    expect(unchanged.locator("[data-why]")).to_be_empty()
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-notices]")).to_contain_text("Not submitted yet")
    expect(unchanged).to_have_attribute("data-state", "no")
    expect(unchanged).to_contain_text("The table is unchanged. Change something.")


def test_that_the_table_is_unchanged_is_a_fault_after_a_change_is_taken_back(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, changes(world, "answer_changes"))
    unchanged = line(page, "table_unchanged")
    expect(page.get_by_role("radiogroup")).to_be_focused()
    page.keyboard.press("1")
    edit(page, "r1", "c1", "$110")
    expect(unchanged).to_have_attribute("data-state", "yes")
    page.locator("[data-row=r1] [data-column=c1]").focus()
    page.keyboard.press("Control+z")
    expect(unchanged).to_have_attribute("data-state", "no")


@pytest.mark.parametrize("scripts", [True, False])
def test_where_a_reason_cannot_help_none_is_asked_for(
    world: World, new_context: NewContext, live_server: Any, scripts: bool
) -> None:
    settings = {"contract": {"at_most": 1, "more_with_reason": False}}
    batch = changes(world, settings=settings)
    context = signed_in(new_context, live_server.url, world.ada, java_script_enabled=scripts)
    page = context.new_page()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    expect(line(page, "too_many_operations").locator("span").first).to_have_text("At most 1 change")
    expect(page.locator("[name=reason]")).to_have_count(0)


def test_a_limit_that_a_reason_lifts_says_so(world: World, new_context: NewContext, live_server: Any) -> None:
    page = annotating(new_context, live_server.url, world.ada, changes(world, settings={"at_most": 1}))
    expect(line(page, "too_many_operations").locator("span").first).to_have_text(
        "At most 1 change, or a reason"
    )
    for row in ("r1", "r2"):
        page.locator(f"[data-row={row}] [data-column=c3]").click()
        page.keyboard.type("7")
        page.keyboard.press("Enter")
    expect(page.locator("[name=reason]")).to_be_visible()
    expect(page.locator("[data-over-limit]")).to_contain_text("More than 1 change needs a reason.")


def test_every_cell_that_is_written_in_another_way_is_named(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, changes(world))
    why = line(page, "cell_format").locator("[data-why]")
    for row in ("r2", "r3", "r4", "r1"):
        page.locator(f"[data-row={row}] [data-column=c3]").click()
        page.keyboard.type("many")
        page.keyboard.press("Enter")
        if row == "r3":
            expect(why).to_contain_text("Row 3, 2017")
            expect(why).to_contain_text("Row 4, 2017")
    expect(why).to_contain_text("And 1 more.")


def test_without_scripts_the_page_says_what_the_program_gives_and_what_holds(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = changes(world, "answer_changes")
    page = signed_in(new_context, live_server.url, world.ada, java_script_enabled=False).new_page()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    answers = page.locator("[name=answers]")
    expect(line(page, "table_unchanged")).to_contain_text("waiting")
    page.get_by_role("link", name="Show ways to work out the answer").click()
    program = page.locator("askew-programs label").first
    words = program.inner_text()
    program.click()

    def apply(value: str) -> None:
        page.locator("[name=row]").select_option("r1")
        page.locator("[name=column]").select_option("c1")
        page.locator("[name=value]").fill(value)
        page.locator("button[value=apply]").click()

    apply("$110")
    expect(page.locator("askew-programs")).to_contain_text(words)
    expect(page.locator("askew-programs .computed")).to_have_text("18 → 28")
    expect(answers).to_have_value("28\n")
    for code in ("table_unchanged", "answer_unchanged", "computed_answer_differs", "too_many_operations"):
        expect(line(page, code)).to_have_attribute("data-state", "yes")
        expect(line(page, code)).to_contain_text("OK")
    apply("$120")
    expect(page.locator("askew-programs .computed")).to_have_text("18 → 38")
    expect(answers).to_have_value("38\n")  # nobody wrote the one before
    answers.fill("40")
    page.locator("button[value=save]").last.click()
    expect(answers).to_have_value("40\n")  # somebody wrote this one
    expect(line(page, "computed_answer_differs")).to_have_attribute("data-state", "no")
    expect(line(page, "computed_answer_differs")).to_contain_text("not yet")
    page.locator("button[value=restore]").click()
    expect(answers).to_have_value("40\n")
    answers.fill("")
    page.locator("button[value=save]").last.click()
    expect(answers).to_have_value("")  # nothing was changed: what the program gives is no new answer
    expect(line(page, "table_unchanged")).to_contain_text("not yet")
    apply("many")
    expect(line(page, "cell_format")).to_contain_text("please check")
    expect(line(page, "cell_format")).to_contain_text("has a different format from")
    apply("$110")
    assert Draft.objects.get().response["data"]["answers"] == ["28"]
    page.locator(".actions button.primary").click()
    expect(page.locator("[data-progress-text]")).to_have_text("1 of 2")
    assert Annotation.objects.filter(response__data__answers=["28"]).exists()


SIGNS = """() => [...document.querySelectorAll("askew-grid td.read")].map(
  (cell) => `${cell.closest("tr").dataset.row} ${cell.dataset.column}`
)"""
"""The cells that are marked as read by a program."""


@pytest.mark.parametrize("colours", ["none", "active"])
def test_the_cells_that_the_focused_program_reads_are_marked_and_the_legend_shows_only_what_is_there(
    world: World, new_context: NewContext, live_server: Any, colours: str
) -> None:
    page = annotating(
        new_context, live_server.url, world.ada, changes(world, "answer_changes"), forced_colors=colours
    )
    programs = page.locator("askew-programs input")
    expect(programs.first).to_be_attached()
    legend = page.locator(".grid-state .legend")
    expect(legend).to_be_hidden()
    programs.first.focus()
    expect(page.locator("td.read")).to_have_count(2)
    first = page.evaluate(SIGNS)
    cell = page.locator("td.read").first
    expect(cell).to_have_accessible_description("read by the program")
    assert '"ƒ"' in cell.evaluate("(cell) => getComputedStyle(cell, '::before').content")
    expect(legend.locator("li")).to_have_text(["current cell", "keys act here", "cells the program reads"])
    page.keyboard.press("ArrowDown")
    expect(programs.nth(1)).to_be_checked()
    page.wait_for_function(
        "(first) => document.querySelectorAll('td.read').length !== first.length", arg=first
    )
    page.locator("[data-row=r0] [data-column=c0]").click()
    here = page.locator("[data-row=r0] [data-column=c0]")
    expect(here).to_be_focused()
    page.locator("textarea[name=answers]").focus()
    outline = here.evaluate("(cell) => getComputedStyle(cell).outlineStyle")
    assert (outline == "dashed") is (colours == "active"), "the current cell without the focus"


# -- programs that disagree on the edited table ------------------------------------------------------

FILMS = Table(["Film", "Year", "Minutes"], [["Heat", "1995", "170"], ["Alien", "1979", "117"]])


def films(world: World, variant: str = "answer_changes") -> Batch:
    longest = Example("longest", "which film is the longest?", FILMS, ["Heat"])
    return world.batch("value_change", variant=variant, sources=[world.import_written(longest)])


def edit(page: Page, row: str, column: str, text: str) -> None:
    page.locator(f"[data-row={row}] [data-column={column}]").click()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def test_digits_choose_no_program_for_a_moment_after_the_programs_have_come(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, films(world))
    expect(page.get_by_role("radiogroup")).to_be_focused()
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    page.evaluate(
        """() => {
            const programs = document.querySelector("askew-programs");
            const offers = [...programs.querySelectorAll("input")].slice(0, 2);
            document.activeElement.blur();
            programs.dispatchEvent(new CustomEvent("item-suggested", {detail: {suggestions: {
                programs: offers.map(({value, dataset}) => ({program: JSON.parse(value), words: dataset.label})),
            }}}));
        }"""
    )
    page.keyboard.press("2")
    expect(page.locator("askew-programs input:checked")).to_have_count(0)
    expect(page.locator("askew-programs kbd:visible")).to_have_count(0)
    page.clock.run_for(251)
    expect(page.get_by_role("radiogroup")).to_be_focused()
    page.keyboard.press("2")
    expect(page.locator("askew-programs input:checked")).to_have_count(1)


def test_digits_choose_no_answer_for_a_moment_after_the_programs_disagree(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, films(world))
    expect(page.get_by_role("radiogroup")).to_be_focused()
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    page.evaluate(
        """() => {
            document.activeElement.blur();
            const program = (words) => ({program: {op: words}, words});
            document.querySelector("askew-programs").dispatchEvent(new CustomEvent("draft-checked", {detail: {answer: {
                alternatives: [
                    {answers: ["Alien"], programs: [program("longest")]},
                    {answers: ["Heat"], programs: [program("first")]},
                ],
            }}}));
        }"""
    )
    answers = page.locator("askew-disagreement button")
    page.keyboard.press("2")
    expect(answers).to_have_count(2)
    expect(answers.locator("kbd:visible")).to_have_count(0)
    page.clock.run_for(251)
    expect(answers.locator("kbd:visible")).to_have_count(2)
    page.keyboard.press("2")
    expect(answers).to_have_count(0)


def programs_of(page: Page) -> Locator:
    return page.locator("askew-programs label:visible")


def test_where_the_programs_disagree_the_page_asks_and_one_key_answers(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, films(world))
    expect(page.get_by_role("radiogroup")).to_be_focused()
    minutes = page.locator("askew-programs label", has_text="Minutes")
    page.keyboard.press(minutes.locator("kbd").inner_text())
    edit(page, "r1", "c2", "300")
    asked = page.locator("askew-disagreement")
    answers = page.locator("[data-field=answers]")
    expect(asked).to_contain_text("The programs give different answers for your table. Which one is right?")
    expect(asked.locator("button strong")).to_have_text(["Alien", "Heat"])
    expect(answers).to_have_value("")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-notices]")).to_contain_text("Choose an answer, or write one.")
    assert not Annotation.objects.exists()
    page.keyboard.press("Escape")
    expect(asked.locator("kbd:visible")).to_have_count(2)
    page.keyboard.press("1")
    expect(asked).to_be_empty()
    expect(answers).to_have_value("Alien")
    expect(programs_of(page)).to_have_count(1)
    expect(programs_of(page)).to_contain_text("Minutes")
    # The program with the other answer is ruled out: the next change asks nothing.
    edit(page, "r0", "c2", "400")
    expect(answers).to_have_value("Heat")
    edit(page, "r0", "c2", "200")
    expect(answers).to_have_value("Alien")
    expect(asked).to_be_empty()
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    page.reload()
    takes_keys(page)
    expect(page.locator("askew-programs .computed")).to_contain_text("Heat → Alien")
    expect(asked).to_be_empty()
    page.locator("[data-row=r1] [data-column=c2]").focus()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".question", has_text="film")).to_have_count(0)
    stored = (Annotation.objects.get().response or {})["data"]
    assert (stored["answers"], stored["program"]["rows"]["column"]) == (["Alien"], "c2")


@pytest.mark.parametrize(("width", "height"), [(1280, 560), (390, 844)])
def test_all_answers_to_choose_from_are_in_view_beside_the_table(
    world: World, new_context: NewContext, live_server: Any, width: int, height: int
) -> None:
    page = annotating(
        new_context, live_server.url, world.ada, films(world), viewport={"width": width, "height": height}
    )
    expect(page.get_by_role("radiogroup")).to_be_focused()
    edit(page, "r1", "c2", "300")
    cell = page.locator("[data-row=r1] [data-column=c2]")
    buttons = page.locator("askew-disagreement button")
    expect(buttons).to_have_count(2)
    settled(page)
    expect(cell).to_be_in_viewport(ratio=0.9)
    if width > 1000:
        bar = page.locator(".actions").bounding_box()
        last = buttons.last.bounding_box()
        assert bar is not None
        assert last is not None
        assert last["y"] + last["height"] <= bar["y"]


def test_the_answer_that_is_right_brings_its_program(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, films(world))
    expect(page.get_by_role("radiogroup")).to_be_focused()
    edit(page, "r1", "c2", "300")  # no program is chosen
    asked = page.locator("askew-disagreement")
    asked.get_by_role("button", name="Alien").click()
    expect(page.locator("[data-field=answers]")).to_have_value("Alien")
    expect(page.locator("askew-programs input:checked")).to_have_count(1)
    expect(programs_of(page)).to_contain_text("Minutes")
    expect(page.locator("askew-grid :focus")).to_have_count(1)


def test_the_table_without_a_change_and_a_declined_program_ask_nothing(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, films(world))
    expect(page.get_by_role("radiogroup")).to_be_focused()
    edit(page, "r1", "c2", "300")
    asked = page.locator("askew-disagreement")
    expect(asked.locator("button")).to_have_count(2)
    page.locator("[data-row=r1] [data-column=c2]").focus()
    page.keyboard.press("Control+z")
    expect(asked).to_be_empty()
    page.keyboard.press("Control+y")
    expect(asked.locator("button")).to_have_count(2)
    page.locator("askew-programs label", has_text="None of these").click()
    expect(asked).to_be_empty()
    expect(page.locator("[data-field=answers]")).to_have_value("")


def test_where_the_answer_stays_the_page_asks_and_stops_nobody(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, films(world, "answer_stays"))
    expect(page.get_by_role("radiogroup")).to_be_focused()
    edit(page, "r1", "c2", "300")
    asked = page.locator("askew-disagreement")
    asked.get_by_role("button", name="Alien").click()
    expect(line(page, "computed_answer_differs")).to_have_attribute("data-state", "no")
    edit(page, "r1", "c2", "120")
    expect(line(page, "computed_answer_differs")).to_have_attribute("data-state", "yes")
    expect(asked).to_be_empty()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".question", has_text="film")).to_have_count(0)


def test_without_scripts_an_answer_is_chosen_where_the_programs_disagree(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = films(world)
    page = signed_in(new_context, live_server.url, world.ada, java_script_enabled=False).new_page()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    page.locator("[name=row]").select_option("r1")
    page.locator("[name=column]").select_option("c2")
    page.locator("[name=value]").fill("300")
    page.locator("button[value=apply]").click()
    expect(page.locator("[name=answers]")).to_have_value("")
    page.get_by_role("button", name="Alien").click()
    expect(page.locator("[name=answers]")).to_have_value("Alien\n")
    expect(page.locator("askew-programs .computed")).to_have_text("Heat → Alien")
    page.locator(".actions button.primary").click()
    stored = (Annotation.objects.get().response or {})["data"]
    assert (stored["answers"], stored["program"]["rows"]["column"]) == (["Alien"], "c2")
