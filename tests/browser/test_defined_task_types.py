"""A task type that the project defined: keys, conditions, ranks, drafts and undo, as for one that comes with Askew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from annotation.journeys import assigning, defining
from annotation.models import Annotation, Batch
from annotation.studying import definitions
from tableqa import Example, Table
from tests.annotation.cast import NOON, World, make_world
from tests.browser.pages import annotating, settled, signed_in

pytestmark = pytest.mark.django_db(transaction=True)

AXE = {"preload": False, "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
DEFINITION: dict[str, Any] = {
    "title": "Table complexity",
    "instruction": "How hard is this table to read?",
    "shows": ["question", "table", "answers"],
    "fields": [
        {
            "name": "level",
            "type": "choice",
            "question": "How hard is it?",
            "options": [{"value": "easy", "help": "You see the answer at once."}, "hard"],
        },
        {
            "name": "reasons",
            "type": "multi_choice",
            "options": [{"value": "long", "key": "b"}, {"value": "wide", "key": "w"}],
            "when": "level == hard",
        },
        {"name": "quality", "type": "scale", "anchors": {"1": "poor", "5": "excellent"}},
        {"name": "evidence", "type": "cells", "optional": True},
        {"name": "ranking", "type": "rank", "options": ["a", "b", "c"], "optional": True},
        {"name": "comment", "type": "text", "optional": True},
    ],
    "decide": {"field": "level"},
    "guidelines": "Look at the table first.",
}


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def batch_of(world: World, definition: dict[str, Any], size: int = 2) -> Batch:
    row = defining.define(project=world.project, name="complexity", data=definition, by=world.mara, now=NOON)
    batch = assigning.plan_batch(
        project=world.project,
        task=row.task(),
        name="Complexity",
        sample=assigning.Sample(sources=[world.source], size=size),
        by=world.mara,
        now=NOON,
    )
    assigning.open_batch(batch=batch, by=world.mara, now=NOON)
    return batch


def submitted() -> Any:
    """The data of the only response."""
    response: Any = Annotation.objects.get().response
    return response["data"]


def field(page: Page, name: str) -> Any:
    return page.locator(f"[data-field={name}]")


@pytest.mark.smoke
def test_keys_answer_open_fields_and_a_condition_shows_another_one(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, batch_of(world, DEFINITION))
    expect(page.get_by_role("heading", name="How hard is this table to read?")).to_be_visible()
    first = page.locator(".question").inner_text()
    expect(field(page, "reasons")).to_be_hidden()

    page.keyboard.press("2")
    expect(field(page, "reasons")).to_be_visible()
    page.keyboard.press("w")
    page.keyboard.press("4")
    field(page, "ranking").locator("select").nth(0).select_option("b")
    field(page, "ranking").locator("select").nth(1).select_option("a")
    field(page, "ranking").locator("select").nth(2).select_option("c")
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    page.reload()
    expect(field(page, "reasons").get_by_label("Wide")).to_be_checked()
    expect(field(page, "ranking").locator("select").nth(0)).to_have_value("b")
    settled(page)
    page.locator(".question").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".question")).not_to_have_text(first)

    assert submitted() == {
        "level": "hard",
        "reasons": ["wide"],
        "quality": 4,
        "evidence": [],
        "ranking": ["b", "a", "c"],
        "comment": "",
    }
    expect(field(page, "reasons")).to_be_hidden()
    page.keyboard.press("u")
    expect(page.locator(".question")).to_have_text(first)
    expect(field(page, "reasons")).to_be_visible()


def test_what_a_hidden_field_held_is_not_sent_and_a_required_one_is_named(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, batch_of(world, DEFINITION))
    page.keyboard.press("2")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.locator("[data-notices]")).to_contain_text("Answer “Reasons”.")
    page.keyboard.press("b")
    field(page, "level").get_by_label("Easy").check()
    expect(field(page, "reasons")).to_be_hidden()
    first = page.locator(".question").inner_text()
    page.locator(".question").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".question")).not_to_have_text(first)

    data = submitted()
    assert (data["level"], data["reasons"]) == ("easy", [])


def test_one_choice_submits_by_its_key(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    only = {**DEFINITION, "fields": DEFINITION["fields"][:1]}
    page = annotating(new_context, live_server.url, world.ada, batch_of(world, only))
    first = page.locator(".question").inner_text()
    page.keyboard.press("1")
    expect(page.locator(".question")).not_to_have_text(first)
    assert submitted() == {"level": "easy"}


def test_the_preview_follows_the_text_and_names_the_line_of_a_fault(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    page.goto(f"{live_server.url}/projects/films/task-types/")
    preview = page.locator("#preview")
    expect(preview.get_by_text("You see the answer at once.")).to_be_visible()
    text = page.get_by_label("Definition (YAML)")
    before = text.input_value()

    text.fill(before.replace("You see the answer at once.", "It is hard to see."))
    expect(preview.get_by_text("It is hard to see.")).to_be_visible()
    text.fill(before.replace("when: level == hard", "when: level == high"))
    expect(preview).to_contain_text("line 23: fields[2].when: 'level' has no value 'high'.")
    assert Axe().run(page, options=AXE).violations_count == 0

    text.fill(before)
    expect(preview.get_by_text("You see the answer at once.")).to_be_visible()
    assert Axe().run(page, options=AXE).violations_count == 0
    page.get_by_role("button", name="Save task type").click()
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()


def test_the_answers_of_each_item_are_ranked(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    answers = [["Heat", "Alien"], ["Stalker", "Playtime", "Heat"]]
    films = Table(["Film"], [["Heat"], ["Alien"]])
    world.source = world.import_written(
        *(Example(f"p-{number}", f"which? ({number})", films, said) for number, said in enumerate(answers))
    )
    fields = [{"name": "order", "type": "rank", "of": "answers", "question": "Best answer first"}]
    page = annotating(
        new_context,
        live_server.url,
        world.ada,
        batch_of(world, {**DEFINITION, "fields": fields, "decide": {"field": "order"}}),
    )
    ranks = field(page, "order").locator("select")
    number = ranks.count()
    first = page.locator(".question").inner_text()
    shown = [text for text in ranks.nth(0).locator("option").all_inner_texts() if text != "Choose"]
    for place, answer in enumerate(reversed(shown)):
        ranks.nth(place).select_option(answer)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".question")).not_to_have_text(first)
    assert submitted() == {"order": list(reversed(shown))}
    expect(ranks).to_have_count(5 - number)
    expect(ranks.nth(0)).to_have_value("")


@pytest.mark.console_may_say("422")
def test_a_form_that_changes_before_the_first_response_comes_anew_with_the_draft(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    batch = batch_of(world, DEFINITION)
    page = annotating(new_context, live_server.url, world.ada, batch)
    page.keyboard.press("2")
    page.keyboard.press("w")
    page.keyboard.press("4")
    field(page, "comment").fill("Too many columns.")
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    changed = {
        **DEFINITION,
        "fields": [
            {**DEFINITION["fields"][0], "options": ["easy", "medium", "hard"]},
            *[field for field in DEFINITION["fields"] if field["name"] in ("quality", "comment")],
        ],
    }
    defining.define(project=world.project, name="complexity", data=changed, by=world.mara, now=NOON)
    settled(page)

    page.get_by_role("button", name="Submit").click()
    expect(page.locator("[data-notices]")).to_contain_text("Reload the page, check what is new")
    page.reload()
    notices = page.locator("[data-notices]")
    expect(notices).to_contain_text("The form has changed since you saved this draft.")
    expect(notices).to_contain_text("Not in the form any more: reasons: wide.")
    expect(field(page, "level").get_by_label("Hard")).to_be_checked()
    expect(field(page, "comment")).to_have_value("Too many columns.")
    first = page.locator(".question").inner_text()
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".question")).not_to_have_text(first)
    assert submitted() == {"level": "hard", "quality": 4, "comment": "Too many columns."}


def test_the_item_after_the_one_fetched_ahead_comes_with_the_changed_form(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    page = annotating(new_context, live_server.url, world.ada, batch_of(world, DEFINITION, size=3))
    changed = {**DEFINITION, "instruction": "Is this table hard to read?"}
    defining.define(project=world.project, name="complexity", data=changed, by=world.mara, now=NOON)

    for _ in range(2):
        first = page.locator(".question").inner_text()
        page.keyboard.press("s")
        page.get_by_label("The table is damaged.").check()
        page.get_by_role("button", name="Skip this item").click()
        expect(page.locator(".question")).not_to_have_text(first)

    expect(page.get_by_role("heading", name="Is this table hard to read?")).to_be_visible()


def test_answers_are_chosen_by_keys_and_each_item_offers_its_own(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    answers = [["Heat", "Alien"], ["Stalker", "Playtime", "Heat"]]
    films = Table(["Film"], [["Heat"], ["Alien"]])
    world.source = world.import_written(
        *(Example(f"p-{number}", f"which? ({number})", films, said) for number, said in enumerate(answers))
    )
    tie = {"value": "tie", "title": "No difference"}
    fields = [{"name": "better", "type": "choice", "of": "answers", "options": [tie]}]
    definition = {**DEFINITION, "fields": fields, "decide": {"field": "better"}}
    page = annotating(new_context, live_server.url, world.ada, batch_of(world, definition))
    labels = field(page, "better").locator("label")
    number = labels.count()
    expect(labels.nth(number - 1)).to_contain_text("No difference")
    expect(labels.nth(number - 1).locator("kbd")).to_have_text("0")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(labels.nth(0).locator("small")).to_be_visible()
    expect(labels.nth(1).locator("small")).to_be_visible()
    page.set_viewport_size({"width": 1366, "height": 850})
    assert Axe().run(page, options=AXE).violations_count == 0
    first = page.locator(".question").inner_text()

    page.keyboard.press("2")
    expect(page.locator(".question")).not_to_have_text(first)
    assert submitted() == {"better": "2"}
    expect(labels).to_have_count(7 - number)
    expect(field(page, "better").locator("input:checked")).to_have_count(0)

    page.keyboard.press("u")
    expect(page.locator(".question")).to_have_text(first)
    expect(field(page, "better").get_by_label("Answer 2")).to_be_checked()


def test_the_panel_says_that_best_and_worst_must_differ_before_submitting(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    best_worst = dict(definitions.shipped()["best_worst"])
    order = {"name": "order", "type": "rank", "options": ["a", "b"], "optional": True}
    definition = {**best_worst, "fields": [*best_worst["fields"], order]}
    page = annotating(new_context, live_server.url, world.ada, batch_of(world, definition))
    lines = page.locator(".contract li.required")
    expect(lines).to_have_text(["Answer “Best”.", "Answer “Worst”."])
    field(page, "best").get_by_label("Units").check()
    field(page, "worst").get_by_label("Units").check()
    expect(lines).to_have_text(["“Worst” must differ from “Best”. Choose another value."])
    field(page, "order").locator("select").nth(0).select_option("b")
    expect(lines.nth(1)).to_have_text("Give every option in “Order” a rank.")

    page.get_by_role("button", name="Submit").click()
    expect(page.locator("[data-notices]")).to_contain_text("“Worst” must differ from “Best”.")
    assert not Annotation.objects.exists()
    field(page, "worst").get_by_label("Title").check()
    field(page, "order").locator("select").nth(1).select_option("a")
    expect(lines).to_have_count(0)
    first = page.locator(".question").inner_text()
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".question")).not_to_have_text(first)
    assert submitted() == {"best": "units", "worst": "title", "order": ["b", "a"]}


def test_practice_with_answers_is_judged_on_the_page(
    world: World, new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    films = {"header": ["Film", "Year"], "rows": [["Heat", "1995"], ["Alien", "1979"]]}
    example = {"id": "x", "question": "which is older?", "answers": ["Heat", "Alien"], "table": films}
    fields = [{"name": "better", "type": "choice", "of": "answers"}]
    practice = [{"example": example, "expected": {"better": "2"}, "why": "Alien is from 1979."}]
    data = {**DEFINITION, "fields": fields, "decide": {"field": "better"}, "practice": practice}
    defining.define(project=world.project, name="complexity", data=data, by=world.mara, now=NOON)
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    page.goto(f"{live_server.url}/projects/films/practice/complexity/")
    expect(field(page, "better").get_by_label("Answer 2")).to_be_visible()

    page.keyboard.press("1")
    expect(page.locator("main")).to_contain_text("your answer Answer 1 (Heat), expected Answer 2 (Alien)")
    expect(page.locator("main")).to_contain_text("Alien is from 1979.")
