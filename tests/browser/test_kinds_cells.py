"""The kinds about cells, by keyboard alone: relevant cells, their relevance, shortened tables, changed values.

Each test also counts what it cost: keys per item, and page loads, of which there may be none inside a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.journeys import adjudicating
from annotation.models import Annotation, Batch, Item
from tableqa import Example, Table
from tableqa.examples import Context
from tests.annotation.cast import NOON, World, make_world
from tests.browser.pages import annotating, signed_in

SALES = Table(
    ["", "2019", "2018", "2017"],
    [
        ["For the year ended December 31:", "", "", ""],
        ["Cost", "$100", "$82", "$91"],
        ["Selling and administrative", "453", "361", "384"],
        ["Research", "126", "67", "59"],
        ["Total", "679", "510", "534"],
    ],
)


def questions(number: int = 2, **more: Any) -> list[Example]:
    return [
        Example(
            id=f"cost-{n}",
            question=f"By how much did the cost rise from 2018 to 2019? ({n})",
            table=SALES,
            answers=["18"],
            context=Context(scale="million", unit="USD"),
            **more,
        )
        for n in range(number)
    ]


class Hands:
    """Somebody at a keyboard, who counts what they press. Typing a text counts its letters."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.pressed = 0
        self.loads = 0
        page.on("framenavigated", self._count)

    def _count(self, frame: Any) -> None:
        self.loads += frame == self.page.main_frame

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.pressed += 1

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.pressed += len(text)

    def spent(self) -> int:
        """The keys since it was asked last."""
        pressed, self.pressed = self.pressed, 0
        return pressed


def at(
    new_context: Callable[..., BrowserContext], base: str, world: World, batch: Batch, who: str = "ada"
) -> tuple[Page, Hands]:
    page = annotating(new_context, base, world.people[who], batch)
    return page, Hands(page)


def saved(page: Page) -> None:
    expect(page.locator("[data-saved]")).to_contain_text("Saved")


def said(batch: Batch) -> list[dict[str, Any]]:
    """The data of what was submitted in a batch, in order."""
    newest = Annotation.objects.filter(assignment__batch=batch, assignment__state="submitted")
    return [annotation.response["data"] for annotation in newest.order_by("pk") if annotation.response]


def next_item(page: Page, question: str) -> None:
    expect(page.locator(".question")).to_contain_text(question)


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


@pytest.mark.smoke
def test_relevant_cells_are_marked_with_a_range_and_enter(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    batch = world.batch("relevant_cells", sources=[world.import_written(*questions())])
    page, hands = at(new_context, live_server.url, world, batch)
    hands.press("ArrowDown", "Shift+ArrowRight", "Shift+ArrowRight", "Space")
    expect(page.locator("askew-marked-cells")).to_contain_text("Row 2. column 1: Cost; 2019: $100; 2018: $82")
    hands.press("Enter")
    next_item(page, "(1)")
    assert hands.spent() == 5
    expect(page.locator("askew-marked-cells")).to_contain_text("None yet")
    hands.press("Enter")
    expect(page.locator(".notice.problem")).to_contain_text("Mark at least one cell")
    hands.press("Escape", "0", "Enter")
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    assert said(batch) == [
        {"cells": [["r1", "c0"], ["r1", "c1"], ["r1", "c2"]], "unanswerable": False},
        {"cells": [], "unanswerable": True},
    ]
    assert hands.loads == 1, "only the end of the batch is a page of its own"


def test_marked_cells_are_hidden_with_one_key_and_judged_with_another(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    source = world.import_written(*questions(meta={"highlighted_cells": [["r1", "c1"], ["h", "c1"]]}))
    batch = world.batch("cell_relevance", sources=[source])
    page, hands = at(new_context, live_server.url, world, batch)
    expect(page.locator("[data-show=evidence]")).to_have_text(
        "cells highlighted in the source (as in FeTaQA)"
    )
    cell = page.locator("[data-row=r1] [data-column=c1]")
    expect(cell).to_contain_text("$100")
    hands.press("h")
    expect(cell).not_to_contain_text("$100")
    expect(page.locator("[data-hide-marked]")).to_have_attribute("aria-pressed", "true")
    hands.press("h")
    expect(cell).to_contain_text("$100")
    assert hands.spent() == 2
    hands.press("1")
    next_item(page, "(1)")
    assert hands.spent() == 1
    expect(page.locator("[data-hide-marked]")).to_have_attribute("aria-pressed", "false")
    hands.press("2")
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    assert [data["label"] for data in said(batch)] == ["yes", "no"]
    assert hands.loads == 1


def test_a_table_is_cut_down_to_its_evidence_and_a_program_goes_with_it(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    source = world.import_written(*questions(meta={"relevant_cells": [["r1", "c1"], ["r1", "c2"]]}))
    batch = world.batch("short_table", sources=[source])
    page, hands = at(new_context, live_server.url, world, batch)
    programs = page.locator("askew-programs")
    expect(programs.locator("label").first).to_contain_text("2019 in row 2 (Cost) minus 2018 in row 2 (Cost)")
    expect(page.locator("askew-first-cut")).to_be_visible()
    expect(programs.get_by_role("radiogroup")).to_be_focused()
    hands.press("c")
    expect(page.locator("[data-changes] li")).to_have_count(4)
    hands.press("1")
    expect(programs.locator(".computed")).to_contain_text("18 → 18The program still gives 18.")
    hands.press("Enter")
    next_item(page, "(1)")
    assert hands.spent() == 3
    # By hand: what is protected stays, and the page says why.
    hands.press("ArrowDown", "x")
    expect(page.locator("[data-row=r1]")).not_to_have_class("removed")
    hands.press("ArrowDown", "x")
    expect(page.locator("[data-row=r2]")).to_have_class("removed")
    hands.press("Enter")
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    assert hands.loads == 1
    first, second = said(batch)
    assert first["program"]["op"] == "subtract"
    assert [operation["op"] for operation in first["operations"]].count("remove_row") == 3
    assert second["program"] is None
    assert [operation["row"] for operation in second["operations"]] == ["r2"]


FILMS = Table(["Film", "Minutes"], [["Heat", "170"], ["Alien", "117"], ["Ran", "162"]])


def test_nothing_is_said_to_hold_that_was_not_checked_and_the_program_is_asked_for(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    batch = world.batch("short_table", sources=[world.import_written(*questions(1))])
    page, hands = at(new_context, live_server.url, world, batch)
    group = page.get_by_role("radiogroup")
    expect(group).to_be_focused()
    hands.press("ArrowDown", "ArrowDown", "x")
    expect(page.locator("[data-row=r2]")).to_have_class("removed")
    saved(page)
    for code in ("protected_cell", "computed_answer_differs"):
        expect(page.locator(f"[data-holds={code}]")).to_have_attribute("data-state", "open")
    hands.press("Enter")
    expect(page.locator(".notice.problem")).to_contain_text("Choose how the answer is worked out")
    hands.press("1")
    for code in ("protected_cell", "computed_answer_differs"):
        expect(page.locator(f"[data-holds={code}]")).to_have_attribute("data-state", "yes")
    hands.press("Enter")
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    assert said(batch)[0]["program"]["op"] == "subtract"


def test_what_only_the_program_guards_is_free_once_it_is_turned_down(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    total: dict[str, Any] = {"op": "cell", "row": "r4", "column": "c1"}
    known = Example("total", "what was the total in 2019?", SALES, ["679"], program=total)
    batch = world.batch("short_table", sources=[world.import_written(known)])
    page, hands = at(new_context, live_server.url, world, batch)
    guarded = page.locator("[data-row=r4] [data-column=c1]")
    line = page.locator("[data-holds=protected_cell]")
    expect(guarded).to_contain_class("kept")
    page.locator("[data-row=r4] [data-column=c0]").click()
    hands.press("x")
    expect(page.locator("[data-row=r4]")).not_to_have_class("removed")
    hands.press("Escape", "m", "n")
    expect(page.locator("askew-grid .kept")).to_have_count(0)
    page.locator("[data-row=r4] [data-column=c0]").click()
    hands.press("x")
    expect(page.locator("[data-row=r4]")).to_have_class("removed")
    expect(line).not_to_have_attribute("data-state", "no")
    saved(page)
    expect(line).not_to_have_attribute("data-state", "no")
    hands.press("Escape", "m", "1")
    expect(guarded).to_contain_class("kept")
    expect(line).to_have_attribute("data-state", "no")
    page.reload()
    expect(line).to_have_attribute("data-state", "no")


def test_the_cell_of_the_answer_goes_only_with_a_word(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    longest = Example("long", "which film is the one?", FILMS, ["Heat"])
    batch = world.batch("short_table", sources=[world.import_written(longest)])
    page, hands = at(new_context, live_server.url, world, batch)
    expect(page.get_by_role("radiogroup")).to_be_focused()
    expect(page.locator("askew-shown-if")).to_be_hidden()
    hands.press("n", "x", "Enter")
    expect(page.locator(".notice.problem")).to_contain_text("“Heat” was in row 1, Film")
    expect(page.locator("[name=worked_out]")).to_be_focused()
    hands.press("8", "Enter")
    expect(page.locator(".question", has_text="film")).to_have_count(0)
    assert hands.spent() == 5
    assert said(batch)[0]["worked_out"] is True


@pytest.mark.console_may_say("422")
def test_a_shortened_table_that_nothing_can_be_checked_against_is_asked_about_once(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    longest = Example("long", "which film is the one?", FILMS, ["Heat"])
    batch = world.batch("short_table", sources=[world.import_written(longest)])
    page, hands = at(new_context, live_server.url, world, batch)
    expect(page.get_by_role("radiogroup")).to_be_focused()
    hands.press("n", "ArrowDown", "x")
    expect(page.locator("[data-row=r1]")).to_have_class("removed")
    saved(page)
    for code in ("protected_cell", "computed_answer_differs"):
        expect(page.locator(f"[data-holds={code}]")).to_have_attribute("data-state", "open")
    hands.press("Enter")
    expect(page.locator("[data-notices]")).to_contain_text(
        "no program is chosen, so the answer cannot be checked"
    )
    expect(page.locator("[data-notices]")).to_contain_text("Submit again to confirm.")
    assert said(batch) == []
    page.get_by_role("button", name="Submit anyway").click()
    expect(page.locator(".question", has_text="film")).to_have_count(0)
    assert len(said(batch)) == 1
    assert Annotation.objects.get().unmet == ["nothing_to_check_against"]


def test_a_few_programs_are_shown_and_of_those_the_chosen_one(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    total = Example("total", "what was the total in 2019?", SALES, ["679"])
    batch = world.batch("value_change", variant="answer_stays", sources=[world.import_written(total)])
    page, hands = at(new_context, live_server.url, world, batch)
    group, more = page.get_by_role("radiogroup"), page.locator(".more-programs")
    expect(group).to_be_focused()
    shown = group.locator("label:visible")
    expect(more).to_contain_text("2 more")
    expect(shown).to_have_count(4)
    hands.press("1")
    expect(shown).to_have_count(1)
    expect(more).to_contain_text("5 others")
    expect(page.locator("askew-grid :focus")).to_have_count(1)
    hands.press("Escape", "m")
    expect(shown).to_have_count(6)
    hands.press("ArrowDown")
    expect(shown).to_have_count(6)
    expect(shown.nth(1).locator("input")).to_be_checked()
    hands.press("n")
    expect(shown).to_have_text(["None of these"], use_inner_text=True)


def test_an_untouched_table_is_submitted_only_with_a_word(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    batch = world.batch("short_table", sources=[world.import_written(*questions(1))])
    page, hands = at(new_context, live_server.url, world, batch)
    hands.press("Enter")
    expect(page.locator(".notice.problem")).to_contain_text("Change something")
    hands.press("Escape", "9", "Enter")
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    assert said(batch)[0]["whole"] is True


def test_the_new_answer_is_computed_from_a_program_that_is_confirmed_by_one_key(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    batch = world.batch(
        "value_change", variant="answer_changes", sources=[world.import_written(*questions())]
    )
    page, hands = at(new_context, live_server.url, world, batch)
    expect(page.locator("askew-measure")).to_have_text("in million USD")
    expect(page.locator("askew-programs label").first).to_contain_text("minus 2018 in row 2")
    expect(page.get_by_role("radiogroup")).to_be_focused()
    hands.press("1", "ArrowDown", "ArrowRight")
    hands.type("$110")
    hands.press("Enter")
    expect(page.locator("[data-field=answers]")).to_have_value("28")
    expect(page.locator("askew-programs .computed")).to_contain_text("18 → 28")
    hands.press("Enter")
    next_item(page, "(1)")
    assert hands.spent() == 9
    # One's own answer is not overwritten, and asks for a reason.
    expect(page.locator("askew-programs label").first).to_contain_text("minus 2018 in row 2")
    expect(page.get_by_role("radiogroup")).to_be_focused()
    hands.press("1", "ArrowDown", "ArrowRight")
    hands.type("$120")
    hands.press("Enter")
    expect(page.locator("[data-field=answers]")).to_have_value("38")
    hands.press("Escape", "a")
    hands.type("37")
    expect(page.locator("askew-shown-if")).to_be_visible()
    expect(page.locator("[data-field=answers]")).to_have_value("37")
    hands.press("Escape", "Enter")
    expect(page.locator(".notice.problem")).to_contain_text("the program gives “38”")
    expect(page.locator("[data-field=difference]")).to_be_focused()
    hands.type("rounded")
    hands.press("Control+Enter")
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    assert hands.loads == 1
    first, second = said(batch)
    assert (first["answers"], first["difference"]) == (["28"], "")
    assert (second["answers"], second["difference"]) == (["37"], "rounded")


def test_somebody_may_say_that_no_program_is_right(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    batch = world.batch("value_change", variant="answer_stays", sources=[world.import_written(*questions(1))])
    page, hands = at(new_context, live_server.url, world, batch)
    expect(page.locator("askew-programs label").last).to_contain_text("None of these")
    expect(page.get_by_role("radiogroup")).to_be_focused()
    hands.press("n", "ArrowDown", "ArrowRight", "ArrowDown")
    hands.type("460")
    hands.press("Enter", "Enter")
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    assert said(batch)[0]["program"] == {"op": "none"}
    assert hands.spent() == 9


def test_a_change_outside_the_marked_cells_is_pointed_out_and_may_stand(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    source = world.import_written(*questions(1, meta={"relevant_cells": [["r1", "c1"], ["r1", "c2"]]}))
    batch = world.batch("value_change", variant="answer_stays", sources=[source])
    page, hands = at(new_context, live_server.url, world, batch)
    hands.press("ArrowDown", "ArrowDown", "ArrowRight")
    hands.type("460")
    hands.press("Enter")
    line = page.locator("[data-holds=outside_evidence]")
    expect(line).to_have_attribute("data-state", "look")
    expect(line).to_contain_text("outside the cells that the answer depends on")
    hands.press("Enter")
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    assert len(said(batch)) == 1


def test_the_whole_chain_by_keyboard_from_marked_cells_to_a_changed_value(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World
) -> None:
    source = world.import_written(*questions(1))
    cells = world.batch("relevant_cells", sources=[source], overlap=1)
    _, hands = at(new_context, live_server.url, world, cells)
    hands.press("ArrowDown", "ArrowRight", "Shift+ArrowRight", "Space", "Enter")
    expect(hands.page.locator(".question", has_text="cost")).to_have_count(0)
    adjudicating.resolve_batch(batch=cells, now=NOON + timedelta(days=400))
    short = world.batch("short_table", sources=[source])
    page, hands = at(new_context, live_server.url, world, short)
    expect(page.locator("[data-show=evidence]")).to_have_text("cells marked by people in this project")
    expect(page.locator("askew-first-cut")).to_be_visible()
    expect(page.locator("askew-programs kbd", has_text="1")).to_be_visible()
    hands.press("Escape", "c", "1", "Enter")
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    change = world.batch("value_change", variant="answer_changes", feeds_from=short, sources=[])
    adjudicating.resolve_batch(batch=short, now=NOON + timedelta(days=400))
    assert Item.objects.get(batch=change).example.perturbation == "short_table"
    page, hands = at(new_context, live_server.url, world, change, "bo")
    expect(page.locator("askew-programs input:checked")).to_have_count(1)
    hands.press("ArrowDown", "ArrowRight")
    hands.type("$112")
    hands.press("Enter")
    expect(page.locator("[data-field=answers]")).to_have_value("30")
    hands.press("Enter")
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    assert hands.spent() == 8, "nothing but the edit and Enter: the answer comes from the program"
    assert said(change)[0]["answers"] == ["30"]


@pytest.mark.parametrize("kind", ["relevant_cells", "short_table"])
def test_without_scripts_it_is_a_plain_form(
    new_context: Callable[..., BrowserContext], live_server: Any, world: World, kind: str
) -> None:
    batch = world.batch(kind, sources=[world.import_written(*questions(1))])
    context = signed_in(new_context, live_server.url, world.ada, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    if kind == "relevant_cells":
        page.locator("[value='r1/c1']").check()
        page.locator("[value='r1/c2']").check()
        page.get_by_role("button", name="Save draft", exact=True).click()
        expect(page.locator("[value='r1/c2']")).to_be_checked()
    else:
        page.locator("select[name=row]").select_option("5")
        page.get_by_role("button", name="Remove row").click()
        page.locator("select[name=column]").select_option("2017")
        page.get_by_role("button", name="Remove column").click()
        expect(page.locator("tr.removed")).to_have_count(1)
        page.locator("select[name=row]").select_option("5 (removed)")
        page.get_by_role("button", name="Restore row").click()
        expect(page.locator("tr.removed")).to_have_count(0)
        page.get_by_role("link", name="Show ways to work out the answer").click()
        page.get_by_label("2019 in row 2 (Cost) minus 2018 in row 2 (Cost)").check()
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".question", has_text="cost")).to_have_count(0)
    (data,) = said(batch)
    if kind == "relevant_cells":
        assert data["cells"] == [["r1", "c1"], ["r1", "c2"]]
    else:
        assert [operation["op"] for operation in data["operations"]] == ["remove_column"]
        assert data["program"]["op"] == "subtract"
