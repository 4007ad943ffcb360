"""Tables as the datasets have them: huge, wide, empty, right to left, and full of what looks like code."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.journeys import adjudicating, releasing
from annotation.releases import release_files
from tableqa import Example, Table
from tableqa.tables import Span
from tests.annotation.cast import NOON, World, make_world
from tests.browser.pages import annotating

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<script>document.title='owned'</script>",
    "=HYPERLINK(1)",
    "{{ 7|add:7 }}",
    "שלום עולם",
    "a\nb",
    "  two blanks",
    "x" * 2000,
]


def example(table: Table) -> Example:
    return Example(id="awkward", question="<b>how many?</b> & why", table=table, answers=["</script>4"])


def opened(world: World, new_context: Callable[..., BrowserContext], base: str, table: Table) -> Page:
    """Ada's page on a value change over this table."""
    batch = world.batch(
        "value_change", variant="answer_stays", sources=[world.import_written(example(table))]
    )
    page = annotating(new_context, base, world.ada, batch)
    expect(page.locator(".question")).to_have_text("<b>how many?</b> & why")
    return page


def cell(page: Page, row: str, column: str) -> Any:
    return page.locator(f"[data-row={row}] [data-column={column}]")


@pytest.mark.django_db(transaction=True)
def test_cells_are_text_and_come_out_unchanged(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    table = Table(header=["", "", "<i>x</i>"], rows=[[text, "1", "same"] for text in HOSTILE])
    page = opened(world, new_context, live_server.url, table)
    for number, text in enumerate(HOSTILE[:6]):
        assert cell(page, f"r{number}", "c0").text_content() == text
    assert "owned" not in page.title()
    cell(page, "r0", "c1").click()
    page.keyboard.type("<b>2</b>")
    page.keyboard.press("Enter")
    expect(page.locator("[data-saved]")).to_contain_text("Saved")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("main")).to_contain_text("All caught up")
    adjudicating.resolve_due(now=NOON + timedelta(days=20_000))
    out = tmp_path / "release"
    releasing.make_release(project=world.project, name="v1", format="freb_tqa", by=None, now=NOON, out=out)
    release_files.verify(out)
    changed = json.loads(next((out / "03_agg_com").glob("*ans_no_change.json")).read_text())
    assert [row[0] for row in changed["table"]["rows"]] == HOSTILE
    assert changed["table"]["rows"][0][1] == "<b>2</b>"
    assert changed["answers"] == ["</script>4"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("rows", "columns"), [(753, 4), (60, 43)])
def test_the_last_cell_of_a_large_table_is_reached_and_changed_by_keyboard(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path, rows: int, columns: int
) -> None:
    world = make_world(tmp_path)
    table = Table(
        header=[f"Column {j}" for j in range(columns)],
        rows=[[f"{i}.{j}" for j in range(columns)] for i in range(rows)],
    )
    page = opened(world, new_context, live_server.url, table)
    cell(page, "r0", "c0").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("7.5")
    page.keyboard.press("Enter")
    last = cell(page, f"r{rows - 1}", f"c{columns - 1}")
    expect(last).to_contain_text("7.5")
    expect(last.locator("del")).to_contain_text(f"{rows - 1}.{columns - 1}")
    page.keyboard.press("Control+z")
    expect(last.locator("del")).to_have_count(0)


@pytest.mark.django_db(transaction=True)
def test_a_table_without_rows_is_shown(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    page = opened(
        make_world(tmp_path), new_context, live_server.url, Table(header=["only", "names"], rows=[])
    )
    expect(page.locator("askew-grid")).to_contain_text("names")


@pytest.mark.django_db(transaction=True)
def test_titles_header_rows_and_merged_cells_are_shown(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    table = Table(
        header=["", "2019", "2018"],
        rows=[["Revenue", "1,234", "(9.9)"], ["Revenue", "5", "6"]],
        title="Net revenue",
        caption="in thousands",
        header_rows=[["", "Fiscal year", "Fiscal year"]],
        spans=[Span("h0", "c1", 1, 2), Span("r0", "c0", 2, 1)],
    )
    page = opened(make_world(tmp_path), new_context, live_server.url, table)
    grid = page.locator("askew-grid")
    expect(grid.locator("caption")).to_contain_text("Net revenue: in thousands")
    expect(grid.locator("tr.above td[colspan='2']")).to_have_text("Fiscal year")
    expect(grid.locator("td.merged")).to_have_count(2)
    cell(page, "r1", "c0").click()
    page.keyboard.type("Costs")
    page.keyboard.press("Enter")
    expect(cell(page, "r1", "c0")).to_contain_text("Costs")


@pytest.mark.django_db(transaction=True)
def test_a_value_is_changed_and_submitted_by_keyboard_alone(
    new_context: Callable[..., BrowserContext], live_server: Any, tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    table = Table(header=["Film", "Minutes"], rows=[["Heat", "170"], ["Alien", "117"], ["Stalker", "162"]])
    page = opened(world, new_context, live_server.url, table)
    press = page.keyboard.press
    expect(page.locator("askew-grid :focus")).to_have_count(1)  # the item begins in the table
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        press(key)
    page.keyboard.type("163")
    press("Enter")
    expect(cell(page, "r2", "c1")).to_contain_text("163")
    press("F2")
    press("Backspace")
    page.keyboard.type("4")
    press("Enter")
    expect(cell(page, "r2", "c1")).to_contain_text("164")
    press("Control+z")
    expect(cell(page, "r2", "c1")).to_contain_text("163")
    press("Control+y")
    expect(cell(page, "r2", "c1")).to_contain_text("164")
    press("Alt+Delete")
    expect(page.locator("tr.removed")).to_have_count(1)
    press("Control+z")
    expect(page.locator("tr.removed")).to_have_count(0)
    press("Escape")  # out of the table, to the actions
    press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    press("Escape")
    press("t")  # back into the table, where Enter submits when no cell is being edited
    press("Enter")
    expect(page.locator("main")).to_contain_text("All caught up")
