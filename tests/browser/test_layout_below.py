"""The layout "below": the panel of the task type stands under the table, which stays in sight."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from benchmarks.share import CLOSED, MEASURE, OPEN, SCROLLING
from tableqa import Example, Table
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating, settled

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]

TEN_ROWS = Table(["Year", "Gold", "Silver"], [[str(1990 + n), str(n), str(2 * n)] for n in range(10)])

HIDDEN_ROWS = """() => {
  const bar = document.querySelector(".workbench > .side").getBoundingClientRect()
  return [...document.querySelectorAll(".subject [data-row]")].filter(row => {
    const box = row.getBoundingClientRect()
    return box.top < 0 || box.bottom > bar.top + 1
  }).map(row => row.dataset.row)
}"""
IN_RIGHT_HALF = """() => {
  const panel = document.querySelector(".panel").getBoundingClientRect()
  return [...document.querySelectorAll(".panel :is(h2, legend, label, p, dl)")].filter(part => part.checkVisibility())
    .filter(part => part.getBoundingClientRect().left > panel.left + panel.width / 2).length
}"""


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def opened(
    world: World, sources: list[Any], new_context: NewContext, base: str, width: int, height: int
) -> Iterator[Page]:
    """Ada's page of a task type that labels and of one that edits, with the panel below the table."""
    world.ada.personal_settings = {"layout": "below"}
    world.ada.save(update_fields=["personal_settings"])
    for task_type, variant in (("question_type", ""), ("value_change", "answer_changes")):
        batch = world.batch(task_type, variant=variant, sources=sources)
        yield annotating(new_context, base, world.ada, batch, viewport={"width": width, "height": height})


def test_a_table_of_ten_rows_is_whole_above_the_panel(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    source = world.import_written(
        *(
            Example(id=f"gold-{n}", question=f"How much gold in 1995? ({n})", table=TEN_ROWS, answers=["5"])
            for n in range(2)
        )
    )
    for page in opened(world, [source], new_context, live_server.url, 1366, 850):
        assert page.locator("html").get_attribute("data-layout") == "below"
        assert page.locator(".subject [data-row]").count() >= len(TEN_ROWS.rows)
        assert page.evaluate(HIDDEN_ROWS) == []


def test_a_long_table_gets_its_share_with_two_scrollbars_and_the_guidelines_open_or_closed(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    header = ["Year", *(f"Gold of team {n}" for n in range(9))]
    table = Table(header, [[str(1900 + n), *(f"{n} medals" for _ in range(9))] for n in range(40)])
    example = Example(id="gold", question="How much gold in 1905?", table=table, answers=["5"])
    source = world.import_written(example)
    for page in opened(world, [source], new_context, live_server.url, 1280, 720):
        guidelines = page.locator("#guidelines")
        assert guidelines.get_attribute("open") is not None
        for share in (OPEN, CLOSED):
            settled(page)
            measured = page.evaluate(MEASURE)
            assert len(measured["scrolling"]) <= SCROLLING, measured
            assert measured["share"] >= share, measured
            if share == CLOSED:
                assert page.evaluate(IN_RIGHT_HALF) > 0, "the panel fills its columns"
            page.locator("[data-guidelines-button]").click()
            expect(guidelines).to_be_visible(visible=share == CLOSED)
