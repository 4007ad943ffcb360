"""The panel beside the table: its sections, its steps, and a checklist that lists what is missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from benchmarks.browser_data import over_its_sample
from tableqa import Example, Table
from tasks.contract import task_types
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, settled, signed_in, takes_keys
from tests.modules.pages.cells import questions

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]
VARIANTS = [(key, variant) for key, task in task_types().items() for variant in (task.variants or {"": ""})]
SECTIONS = """() => [...document.querySelectorAll(
        ".panel :is(h1, h2, h3, h4, legend, [data-step] > label, askew-rewording > label)"
    )]
    .filter((heading) => heading.checkVisibility() && !heading.matches(".sr, .sr *, .choices label"))
    .filter((heading) => heading.getBoundingClientRect().height > 1)
    .map((heading) => heading.textContent.trim())"""
"""Every visible heading of the panel, nested ones and those of what is given included."""


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def listed(page: Page) -> Locator:
    """The lines of the checklist that a person sees."""
    return page.locator(".contract li:visible")


def steps(page: Page) -> list[str]:
    """Of every visible step: "current", "done" or "open"."""
    states: list[str] = page.locator("[data-step]:visible").evaluate_all(
        """(parts) => parts.map((part) => part.hasAttribute("aria-current") ? "current"
            : part.hasAttribute("data-done") ? "done" : "open")"""
    )
    return states


def test_no_panel_holds_more_than_three_sections_in_any_state(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    sections = {}
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    for key, variant in VARIANTS:
        batch = over_its_sample(world, task_types()[key], variant)
        page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
        takes_keys(page)
        settled(page)
        sections[f"{key} {variant}"] = page.evaluate(SECTIONS)
    assert len(sections) == len(VARIANTS) >= 18
    assert {name: titles for name, titles in sections.items() if len(titles) > 3} == {}
    assert any(len(titles) == 3 for titles in sections.values()), "headings are found"

    table = Table(["Games", "Place"], [["1896 Summer", "Athens, Greece"], ["1900 Summer", "Paris, France"]])
    source = world.import_written(Example("games", "where were they in 1896?", table, ["Athens"]))
    batch = world.batch("column_extension", sources=[source])
    page.goto(f"{live_server.url}/batches/{batch.public_id}/annotate/")
    takes_keys(page)
    blocks = """(panel) => [...panel.children].filter((part) => part.checkVisibility() && part.offsetHeight > 1).length"""
    panel, changes = page.locator(".panel"), page.locator("[data-changes] li")

    def at_most_three_sections() -> None:
        settled(page)
        assert len(page.evaluate(SECTIONS)) <= 3
        assert panel.evaluate(blocks) <= 3

    expect(page.locator(".line.open")).to_have_count(1)
    at_most_three_sections()
    page.locator(".line.open .choice").first.click()
    expect(changes).to_have_count(1)
    expect(page.locator("textarea[name=reason]")).to_be_visible()
    at_most_three_sections()
    page.locator("textarea[name=reason]").fill("The place has a city and a country.")
    at_most_three_sections()
    page.locator("[name=does_not_apply]").check()
    expect(page.locator("textarea[name=reason]")).to_be_hidden()
    at_most_three_sections()


NUMBERS = """(headings) => headings.map((heading) => getComputedStyle(heading, "::before").content.replaceAll('"', ""))"""


def test_the_checklist_and_the_numbered_steps_say_what_is_missing_and_what_is_done(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    source = world.import_written(*questions())
    batch = world.batch("value_change", variant="answer_changes", sources=[source])
    page = annotating(new_context, live_server.url, world.ada, batch)
    expect(page.get_by_role("radiogroup")).to_be_focused()  # the programs are there
    ready, headings = page.locator("[data-ready-to-submit]"), page.locator("[data-step] [data-number]")
    expect(listed(page)).to_have_count(3)
    expect(listed(page).first).to_contain_text("The table is changed")
    expect(listed(page).last).to_have_text("Write the answer that the changed table gives.")
    expect(ready).to_be_hidden()
    assert steps(page) == ["current", "open", "open"]
    page.keyboard.press("1")
    expect(page.locator("askew-programs .computed")).to_contain_text("18")
    expect(page.locator("[data-step=operations]")).to_have_attribute("aria-current", "step")
    assert steps(page) == ["done", "current", "open"]
    page.locator("[data-row=r1] [data-column=c1]").click()
    page.keyboard.type("$1")
    page.keyboard.press("Enter")
    expect(page.locator("[data-step=operations]")).to_have_attribute("data-done", "")
    expect(ready).to_have_text("Ready to submit")
    expect(listed(page)).to_have_count(0)
    expect(page.locator("[data-step=answers]")).to_have_attribute("data-done", "")
    assert steps(page) == ["done", "done", "done"]
    for width in (390, 1366):
        page.set_viewport_size({"width": width, "height": 850})
        assert headings.evaluate_all(NUMBERS) == ["1 ✓", "2 ✓", "3 ✓"]
    page.keyboard.press("Escape")
    page.keyboard.press("0")  # unanswerable: the changes are all that is left, and they are made
    expect(page.locator("[data-step=program]")).to_be_hidden()
    assert steps(page) == ["done"]

    other = world.batch("value_change", variant="answer_changes", sources=[source])
    page.goto(f"{live_server.url}/batches/{other.public_id}/annotate/")
    takes_keys(page)
    for width in (390, 1366):
        page.set_viewport_size({"width": width, "height": 850})
        assert headings.evaluate_all(NUMBERS) == ["1", "2", "3"]
    page.get_by_label("New answer").fill("2018")
    expect(page.locator("[data-step=answers]")).to_have_attribute("data-done", "")
    assert headings.evaluate_all(NUMBERS) == ["1", "2", "3 ✓"]


def test_the_panel_says_when_a_choice_submits_and_where_keys_rest_and_shows_choices_first(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    batch = over_its_sample(world, task_types()["answer_rating"], "")
    page = annotating(new_context, live_server.url, world.ada, batch)
    expect(page.get_by_text("The last choice submits the item.", exact=True)).to_be_visible()
    page.evaluate("document.documentElement.dataset.clickSubmits = 'off'")
    expect(page.get_by_text("The last choice submits the item.", exact=True)).to_be_hidden()
    expect(page.get_by_text("The key of the last choice submits the item.")).to_be_visible()
    batch = over_its_sample(world, task_types()["metric_failure"], "")
    page = annotating(new_context, live_server.url, world.ada, batch)
    expect(page.get_by_text("The last choice submits the item.", exact=True)).to_be_hidden()
    page.set_viewport_size({"width": 1366, "height": 850})
    expect(page.locator("[name=note]")).to_be_in_viewport(ratio=1)  # the last field, without scrolling

    batch = over_its_sample(world, task_types()["cell_relevance"], "")
    page = annotating(new_context, live_server.url, world.ada, batch, viewport={"width": 1280, "height": 720})
    expect(page.locator(".panel .choices label").last).to_be_in_viewport(ratio=1)
    choices, marked = (
        page.locator(".panel .choices").bounding_box(),
        page.locator("[data-hide-marked]").bounding_box(),
    )
    assert choices
    assert marked
    assert choices["y"] < marked["y"]

    hint = "[data-while-typing]"
    batch = over_its_sample(world, task_types()["answer_check"], "")
    page = annotating(new_context, live_server.url, world.ada, batch)
    expect(page.locator("[data-field=answers]")).to_be_focused()
    expect(page.locator(hint)).to_be_visible()
    submit = page.locator("button[value=submit] kbd")
    expect(submit).to_have_css("border-top-style", "solid")  # Enter submits from a field of one line
    expect(page.locator(hint)).to_have_text(re.compile("Press Esc to use shortcuts"))
    batch = over_its_sample(world, task_types()["question_paraphrase"], "word")
    page = annotating(new_context, live_server.url, world.ada, batch)
    expect(page.locator("textarea[name=question]")).to_be_focused()
    expect(page.locator(hint)).to_be_visible()
    expect(page.locator("button[value=submit] kbd")).to_have_css(
        "border-top-style", "solid"
    )  # Enter leads to it
    batch = world.batch("header_synonym", sources=[world.import_written(*questions())])
    page = annotating(new_context, live_server.url, world.ada, batch)
    expect(page.locator(".line.open .head")).to_be_focused()
    expect(page.locator("kbd[data-shortcut]:not([data-shortcut=submit]):visible").first).to_have_css(
        "border-top-style", "dashed"
    )
    expect(page.locator(hint)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(hint)).to_be_hidden()
