"""How many keys an item of each task type takes on the shortest honest way (docs/reference/keys.md has the table)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.models import Annotation, Batch
from benchmarks.browser_data import numbered, over_items
from tasks.contract import task_types
from tests.annotation.cast import World, make_world
from tests.browser.pages import begin_batch, settled, signed_in, takes_digits
from tests.tasks.test_contract import sample

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]
DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "reference" / "keys.md"
OFFERED = ".line.open kbd, .choices.programs kbd"
"""What is suggested comes after the item: nobody takes it before it is there."""

WAYS: dict[str, str] = {
    "answer_check": "'Solaris' Enter",
    "answer_rating": "4 5",
    "cell_relevance": "1",
    "column_adding": "1 Enter",
    "column_extension": "1 Enter",
    "column_masking": "1 Enter",
    "header_abbreviation": "1 1 Enter",
    "header_synonym": "1 1 Enter",
    "metric_failure": "6 Enter",
    "perturbation_rating": "4 4 2",
    "question_paraphrase word": "Control+a 'which movie is the longest?' Enter 3",
    "question_paraphrase sentence": "Control+a 'name the longest film.' Enter 2",
    "question_screening": "1",
    "question_type": "1",
    "relevant_cells": "ArrowDown ArrowDown Space ArrowRight ArrowRight Space Enter",
    "short_table": "n ArrowDown Shift+Space Shift+ArrowDown k Enter",
    "value_change answer_changes": "1 'Ran' Enter Enter",
    "value_change answer_stays": "1 ArrowRight ArrowRight '171' Enter Enter",
}
"""Keys for the first item of each sample, from its question to the next one. What stands in quotes is typed."""


IRREGULAR, REGULAR = "unknown", "2-2"
"""A cell without parts asks for a look of its own; most tables to be split have none."""


ENTERED = "document.querySelector('askew-annotate').response"


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def headings(page: Page) -> list[str]:
    """The headings over the sections of the panel; a label beside its value is none."""
    found: list[str] = page.evaluate(
        """Array.from(document.querySelectorAll('.panel :is(h2, legend)')).filter(({offsetParent, clientHeight}) => (
          offsetParent && clientHeight > 1)).filter((title) => getComputedStyle(title).float === 'none')
          .map(({textContent}) => textContent.trim())"""
    )
    return found


def published() -> dict[str, int]:
    """The keys without typed letters, as the table of the document has them."""
    text = DOCUMENT.read_text("utf-8").partition("## Keys per item")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| (\w+(?: \w+)?) \|.*\| (\d+) \|$", text, re.MULTILINE)
    return {name: int(keys) for name, keys in lines}


def walk(page: Page, way: str) -> int:
    """Press the keys; return how many they were, typed letters not counted."""
    count = 0
    for typed, key in re.findall(r"'([^']*)'|(\S+)", way):
        takes_digits(page)
        if typed:
            page.keyboard.type(typed)
        else:
            page.keyboard.press(key)
            count += 1
        settled(page)
    return count


def differing(page: Page, data: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What the page has entered, and what was stored, where they differ. The page has numbers as text."""
    stored = {name: str(value) if type(value) is int else value for name, value in data.items()}
    entered: dict[str, Any] = page.evaluate(f"{ENTERED}.data")
    return {name: (value, stored.get(name)) for name, value in entered.items() if value != stored.get(name)}


def looks_back(page: Page, name: str, batch: Batch) -> None:
    """By keys alone: examples, not sure, the submitted item as it was, back again, and the item opened to be changed."""
    annotation = Annotation.objects.get(assignment__batch=batch)
    assert annotation.response is not None
    given = annotation.response["data"]
    item = page.locator("input[name=assignment]").first
    current = item.input_value()
    words = page.locator("[data-past-words]")
    for key in ("Escape", "e"):
        page.keyboard.press(key)
    expect(page.locator("dialog[open]"), name).to_be_visible()
    for key in ("Escape", "l"):
        page.keyboard.press(key)
    expect(page.locator("[data-unsure]"), name).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("p")
    expect(words, name).to_contain_text("1 of your last 1.")
    assert item.input_value() == annotation.assignment.public_id, name
    assert differing(page, given) == {}, name
    page.keyboard.press("f")
    expect(words, name).to_be_hidden()
    assert item.input_value() == current, name
    assert page.evaluate(f"{ENTERED}.unsure"), name
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    expect(words, name).to_contain_text("1 of your last 1.")
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]"), name).to_contain_text("Response withdrawn.")
    assert differing(page, given) == {}, name
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-saved]"), name).to_contain_text("submitted")
    assert item.input_value() == current, name
    assert page.evaluate(f"{ENTERED}.unsure"), name


def test_no_item_takes_more_keys_than_published_loads_a_page_or_forgets_what_was_submitted(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    counts = {}
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    page.set_default_timeout(15_000)
    for task in task_types().values():
        for variant in task.variants or {"": ""}:
            name = f"{task.key} {variant}".strip()
            first = next(item for item in sample(task)["items"] if item.variant == variant)
            rows = [
                [{IRREGULAR: REGULAR}.get(cell, cell) for cell in row] for row in first.example.table.rows
            ]
            first = replace(
                first, example=replace(first.example, table=replace(first.example.table, rows=rows))
            )
            batch = over_items(world, task, variant, [numbered(first, number) for number in range(2)])
            begin_batch(page, live_server.url, batch)
            if page.locator(".lines, askew-programs").count():
                expect(page.locator(OFFERED).first, name).to_be_visible()
            settled(page)
            assert len(headings(page)) <= 3, (name, headings(page))
            origin = page.evaluate("performance.timeOrigin")
            counts[name] = walk(page, WAYS[name])
            expect(page.locator("[data-progress-text]"), name).to_have_text("1 of 2")
            loads = page.evaluate("performance.getEntriesByType('navigation').length")
            assert (loads, page.evaluate("performance.timeOrigin")) == (1, origin), name
            looks_back(page, name, batch)
            assert page.evaluate("performance.timeOrigin") == origin, name
    assert counts == published()
