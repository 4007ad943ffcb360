"""Tables as the datasets have them: huge, wide, empty, right to left, and full of what looks like code."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotation.explorer.links import explorer_url
from annotation.models import Batch, Project
from annotation.releases import creation, verification
from annotation.workflow import automatic_decisions
from tableqa import Example, Table
from tests.annotation.cast import NOON, World, make_world
from tests.browser.pages import annotating, signed_in

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
    automatic_decisions.resolve_due(now=NOON + timedelta(days=20_000))
    out = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="freb_tqa", by=None, now=NOON, out=out)
    verification.verify(out)
    changed = json.loads(next((out / "03_agg_com").glob("*ans_no_change.json")).read_text())
    assert [row[0] for row in changed["table"]["rows"]] == HOSTILE
    assert changed["table"]["rows"][0][1] == "<b>2</b>"
    assert changed["answers"] == ["</script>4"]


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


LONG = "x" * 2000
TABLES = {
    "forty": Table(
        header=[f"Column number {j}" for j in range(40)],
        rows=[[f"{i}.{j}" for j in range(40)] for i in range(3)],
    ),
    "long": Table(header=["y" * 300, "Text"], rows=[[LONG, "long " * 200]]),
    "right-to-left": Table(header=["שם הסרט", "דקות"], rows=[["שלום עולם", "١٢٣"]]),
    "empty": Table(header=["only", "names"], rows=[]),
    "markup": Table(header=["<i>x</i>", "{{ 7|add:7 }}"], rows=[[HOSTILE[0], HOSTILE[1]]]),
    "one-cell": Table(header=["one"], rows=[["cell"]]),
}
QUESTIONS = {
    "forty": "Which of the forty columns is the widest one?",
    "long": "z" * 400,
    "right-to-left": "מה שם הסרט?",
    "empty": "Is there a row?",
    "markup": "<script>document.title='owned'</script><b>how many?</b>",
    "one-cell": "1",
}
SIDEWAYS = """() => {
  const most = document.documentElement.clientWidth;
  const within = (part) => part.parentElement?.closest(".scroll, .sheet, pre, svg, details:not([open]), nav, [data-board]");
  return [document.documentElement.scrollWidth - most, ...[...document.querySelectorAll("main *")]
    .filter((part) => part.checkVisibility() && !within(part) && part.getBoundingClientRect().right > most + 1
      && getComputedStyle(part).clipPath === "none")
    .map((part) => `${part.localName}.${part.className} ${part.textContent.slice(0, 40)}`).slice(0, 5)];
}"""
"""How far the page scrolls to the side, and what of it is beyond its edge."""
MARKUP = "main :is(em, mark, script:not([type='application/json']), u, s, i:not([class], :empty))"
"""Elements that only texts of the examples could have made."""


@pytest.fixture
def awkward(tmp_path: Path, transactional_db: None) -> tuple[World, Batch]:
    """Edits of awkward tables by Ada, in a project and a batch with awkward names."""
    world = make_world(tmp_path)
    examples = [
        Example(id=f"{name}-{LONG[:60]}", question=QUESTIONS[name], table=table, answers=[HOSTILE[1]])
        for name, table in TABLES.items()
    ]
    Project.objects.filter(pk=world.project.pk).update(name="<b>שלום</b>" + "n" * 100)
    world.project.refresh_from_db()
    batch = world.batch(
        "value_change",
        variant="answer_changes",
        name="<u>batch</u>" + "m" * 100,
        sources=[world.import_written(*examples, name="<s>" + "s" * 90)],
    )
    for _ in TABLES:
        change(world, batch, "ada")
    automatic_decisions.resolve_batch(batch=batch, now=NOON)
    return world, batch


def change(world: World, batch: Batch, who: str) -> None:
    """Answer the next item: a change of its first cell where it has one."""
    held = world.take(batch, who)
    assert held is not None
    table = held.plain_item.example.table
    data: dict[str, Any] = {"unanswerable": False, "operations": [], "answers": [], "reason": ""}
    if not table.rows:
        data["unanswerable"] = True
    else:
        edit = {"op": "set_cell", "row": table.row_ids[0], "column": table.column_ids[0], "at": [0, 0]}
        data["operations"] = [
            {**edit, "old": table.rows[0][0], "new": f"<em>{who}</em>" + table.rows[0][0][::-1]}
        ]
        data["answers"] = [f"<mark>{who}</mark>"]
    world.answer(held, data)


@pytest.mark.django_db(transaction=True)
def test_awkward_tables_and_names_fit_the_explorer_home_and_the_project(
    awkward: tuple[World, Batch], new_context: Callable[..., BrowserContext], live_server: Any
) -> None:
    world, batch = awkward
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    page.on("dialog", lambda dialog: pytest.fail(f"a script of a cell ran: {dialog.message}"))
    items = batch.items.select_related("example").order_by("position")
    places = {item.example.external_id.partition("-x")[0]: item for item in items}
    listed = explorer_url(world.project)
    opened = {name: f"{listed}?open={item.public_id}" for name, item in places.items()}
    too_wide = {}

    for name, place in {"list": listed, "home": "/", "project": "/projects/films/", **opened}.items():
        page.set_viewport_size({"width": 1920, "height": 850})
        page.goto(live_server.url + place)
        if place.startswith(listed):
            expect(page.locator(".facets section").first).to_be_attached()
        if name in opened:
            expect(page.locator("#beside h2")).to_have_text(QUESTIONS[name])
        assert "owned" not in page.title()
        expect(page.locator(MARKUP)).to_have_count(0)
        for width in (1920, 1366, 390):
            page.set_viewport_size({"width": width, "height": 850})
            beyond, *parts = page.evaluate(SIDEWAYS)
            if beyond > 0 or parts:
                too_wide[name, width] = (beyond, parts)
        if name == "long":
            expect_whole_texts(page)

    assert not too_wide


def expect_whole_texts(page: Page) -> None:
    """An open item has the whole text of changed cells."""
    changed = page.locator("#beside td.changed").first
    expect(changed.locator("del")).to_contain_text(LONG)
    expect(changed.locator("ins").first).to_contain_text("<em>ada</em>" + LONG)
    expect(page.locator("#beside .sheet th").nth(1)).to_contain_text("y" * 300)
    thumbnails = page.locator(".thumbnail")
    expect(thumbnails.filter(has_text="x…").locator("td.changed").first).to_be_visible()
