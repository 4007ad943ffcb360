"""The annotation page on a phone: what is chosen and Submit are under the thumb, and nothing is cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from benchmarks.browser_data import numbered, over_items
from tableqa import Example, Table
from tasks.contract import task_types
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, settled, takes_keys
from tests.tasks.test_contract import sample

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LONG = 6
CHOICES = {
    "column_adding": "askew-adding .line",
    "column_extension": "[data-lines] .line",
    "column_masking": "askew-masking .line",
    "header_synonym": "askew-renames .line",
    "metric_failure": ".choices label",
    "question_type": ".choices label",
    "value_change answer_changes": "askew-programs label",
}


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def is_in_view(page: Page, place: Locator) -> bool:
    """Whether the middle of a part is on screen, with nothing over it."""
    found: bool = place.evaluate(
        """(part) => {
          const { left, right, top, bottom } = part.getBoundingClientRect();
          const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
          return left >= 0 && right <= innerWidth && (part.contains(there) || there?.contains(part));
        }"""
    )
    return found


SCROLLING = """() => [document.scrollingElement, ...document.body.querySelectorAll("*")].filter((part) =>
  part.scrollHeight > part.clientHeight + 1 && part.checkVisibility()
  && (part === document.scrollingElement || /auto|scroll/.test(getComputedStyle(part).overflowY))
).map(({ localName, className }) => `${localName}.${className}`)"""
"""The parts of a page that scroll up and down."""


def with_a_long_table(
    world: World, new_context: NewContext, live_server: Any, name: str, **options: Any
) -> Page:
    """A page on a phone whose table is as high as it may be."""
    key, _, variant = name.partition(" ")
    task = task_types()[key]
    first = next(item for item in sample(task)["items"] if item.variant == variant)
    table = first.example.table
    rows = [*table.rows, *(row for _ in range(LONG) for row in table.rows)]
    longer = Table(table.header, rows, title=table.title)
    first = replace(first, example=replace(first.example, table=longer))
    batch = over_items(world, task, variant, [numbered(first, number) for number in range(2)])
    return annotating(new_context, live_server.url, world.ada, batch, **PHONE, **options)


def test_a_choice_and_submit_are_on_screen_at_first(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    for name, selector in CHOICES.items():
        page = with_a_long_table(world, new_context, live_server, name)
        choice = page.locator(selector).first
        expect(choice).to_be_visible()
        settled(page)

        assert is_in_view(page, choice), name
        assert is_in_view(page, page.get_by_role("button", name="Submit")), name
        assert page.evaluate("document.documentElement.scrollWidth") == 390, name
        assert page.evaluate(SCROLLING) == ["html.", "div.sheet"], name
        page.context.close()


def test_choices_kept_in_sight_hide_no_part_of_what_follows_a_short_table(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    example = Example(
        "q", "How many films are there?", Table(["Film"], [["Heat"], ["Alien"], ["Ran"]]), ["3"]
    )
    batch = world.batch("value_change", variant="answer_changes", sources=[world.import_written(example)])
    page = annotating(new_context, live_server.url, world.ada, batch, **PHONE)
    heading = page.get_by_role("heading", name="Your changes")
    expect(heading).to_be_in_viewport(ratio=1)
    settled(page)

    edges = page.locator("[data-step=program]").evaluate(
        """(step) => {
            const [, down] = getComputedStyle(step).boxShadow.match(/([\\d.]+)px 0px 0px$/);
            return [step.getBoundingClientRect().bottom + Number(down), Number(down)];
        }"""
    )
    box = heading.bounding_box()
    assert box
    assert edges[1] > 0
    assert box["y"] >= edges[0]


def test_the_last_of_many_choices_is_in_sight_once_it_has_the_focus(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = with_a_long_table(world, new_context, live_server, "column_masking")
    lines = page.locator("askew-masking .line")
    expect(lines.nth(1)).to_be_visible()
    assert not is_in_view(page, lines.last)
    for _ in range(lines.count() - 1):
        page.keyboard.press("ArrowDown")
    expect(lines.last.locator(":focus")).to_be_attached()
    settled(page)

    assert is_in_view(page, lines.last.locator(".head"))
    page.evaluate("scrollTo(0, 0)")
    settled(page)
    assert is_in_view(page, lines.first)


def test_the_actions_behind_more_and_what_is_being_written_are_in_sight(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    table = Table(["Team", "Wins"], [[f"Team {n}", str(n)] for n in range(20)])
    source = world.import_written(Example("e", "how many wins has team 3?", table, ["3"]))
    batch = world.batch("question_paraphrase", variant="sentence", sources=[source])
    page = annotating(new_context, live_server.url, world.ada, batch, **PHONE)
    ask = page.locator(".actions summary", has_text="Ask")
    more = page.get_by_role("button", name="More", exact=True)
    assert not is_in_view(page, ask)
    expect(more).to_have_attribute("aria-expanded", "false")
    more.tap()
    expect(more).to_have_attribute("aria-expanded", "true")
    assert is_in_view(page, ask)
    ask.tap()
    expect(page.get_by_label("Your question to the managers")).to_be_visible()
    page.keyboard.press("Escape")
    more.tap()

    writing = page.locator("textarea[name=question]")
    writing.tap()
    page.keyboard.press("End")
    page.keyboard.type(" and where")
    expect(page.locator(".choices[data-step=category]")).to_have_attribute("aria-current", "step")
    settled(page)
    assert is_in_view(page, writing)
    assert is_in_view(page, page.locator(".choices label").first)


BROKEN = r"""(table) => {
  const isBroken = (text, { index, 0: word }) => {
    const range = new Range();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
  };
  return [...table.querySelectorAll("th[data-column], td[data-column]")].flatMap((cell) => {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const broken = [];
    while (texts.nextNode()) {
      const text = texts.currentNode;
      broken.push(...[...text.data.matchAll(/\S+/gu)].filter((match) => isBroken(text, match)).map(([word]) => word));
    }
    return broken;
  });
}"""
"""The words of a table that are broken in two."""


def test_no_word_of_a_table_is_broken(world: World, new_context: NewContext, live_server: Any) -> None:
    table = Table(
        ["Club", "Town", "Founded", "Colours", "Wins"],
        [["Bray", "Greystones", "1922", "green white", "12"], ["Arklow", "Wicklow", "1948", "red", "7"]],
    )
    source = world.import_written(Example("e", "how many wins has bray?", table, ["12"]))
    page = annotating(
        new_context, live_server.url, world.ada, world.batch("question_type", sources=[source]), **PHONE
    )
    broken = {}
    for width in (360, 390, 432, 440, 448):
        page.set_viewport_size({"width": width, "height": 844})
        page.reload()
        takes_keys(page)
        settled(page)
        broken[width] = page.locator("table.tabular.locked").evaluate(BROKEN)
    assert not any(broken.values()), broken
