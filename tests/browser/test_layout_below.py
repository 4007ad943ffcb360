"""The layout "below": the panel of the task type stands under the table, which stays in sight."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from benchmarks.share import MEASURE, SCROLLING
from tableqa import Example, Table
from tests.annotation.cast import World, make_world
from tests.browser.pages import annotating

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


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


@pytest.mark.parametrize(
    ("task_type", "variant"), [("question_type", ""), ("value_change", "answer_changes")]
)
def test_a_table_of_ten_rows_is_whole_above_the_panel(
    world: World, new_context: NewContext, live_server: Any, task_type: str, variant: str
) -> None:
    source = world.import_written(
        *(
            Example(id=f"gold-{n}", question=f"How much gold in 1995? ({n})", table=TEN_ROWS, answers=["5"])
            for n in range(2)
        )
    )
    batch = world.batch(task_type, variant=variant, sources=[source])
    world.ada.personal_settings = {"layout": "below"}
    world.ada.save(update_fields=["personal_settings"])
    page = annotating(new_context, live_server.url, world.ada, batch, viewport={"width": 1366, "height": 850})

    assert page.locator("html").get_attribute("data-layout") == "below"
    assert page.locator(".subject [data-row]").count() >= len(TEN_ROWS.rows)
    assert page.evaluate(HIDDEN_ROWS) == []


@pytest.mark.parametrize(
    ("task_type", "variant"), [("question_type", ""), ("value_change", "answer_changes")]
)
def test_the_open_guidelines_bring_no_third_scrollbar(
    world: World, new_context: NewContext, live_server: Any, task_type: str, variant: str
) -> None:
    rows = [[str(1900 + n), str(n), str(2 * n)] for n in range(40)]
    table = Table(["Year", "Gold", "Silver"], rows)
    example = Example(id="gold", question="How much gold in 1905?", table=table, answers=["5"])
    batch = world.batch(task_type, variant=variant, sources=[world.import_written(example)])
    world.ada.personal_settings = {"layout": "below"}
    world.ada.save(update_fields=["personal_settings"])
    page = annotating(new_context, live_server.url, world.ada, batch, viewport={"width": 1280, "height": 720})
    guidelines = page.locator("#guidelines")
    if guidelines.get_attribute("open") is None:
        page.locator("[data-guidelines-button]").click()
    expect(guidelines).to_be_visible()
    scrolling = page.evaluate(MEASURE)["scrolling"]
    assert len(scrolling) <= SCROLLING, scrolling
    assert page.evaluate(MEASURE)["height"] >= 0.35 * 720
