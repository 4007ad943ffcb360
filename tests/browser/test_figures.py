"""The menu beside a figure, whose table goes to the clipboard, and the colours of a chart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from tests.annotation.cast import World, make_world
from tests.annotation.test_dashboards import timed
from tests.browser.pages import signed_in

pytestmark = pytest.mark.django_db(transaction=True)
Contexts = Callable[..., BrowserContext]


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def agreement(world: World) -> str:
    """The address of the agreement of a batch with eight items."""
    return f"/projects/{world.project.slug}/agreement/?batch={timed(world, 8).public_id}"


def two_batches(world: World, new_context: Contexts, base: str, **options: Any) -> Locator:
    """The chart of agreement by week, of two batches with one week of work."""
    for _ in range(2):
        timed(world, 8)
    page = signed_in(new_context, base, world.mara, **options).new_page()
    page.goto(f"{base}/projects/{world.project.slug}/dashboard/")
    return page.locator("section[aria-labelledby=chart-weeks] .chart")


def test_tables_are_copied_also_where_their_page_is_a_reply(
    world: World, new_context: Contexts, live_server: Any
) -> None:
    name = world.batch(name="Types of questions").name
    clipboard = ["clipboard-read", "clipboard-write"]
    page = signed_in(new_context, live_server.url, world.mara, permissions=clipboard).new_page()
    page.goto(f"{live_server.url}/projects/{world.project.slug}/study/")
    page.locator("button[name=act][value=plan]").click()
    menu = page.locator(".figure-menu")
    for format, part in (("LaTeX", r"\toprule"), ("Markdown", "| Batch |"), ("CSV", "Batch,Annotations")):
        page.evaluate("navigator.clipboard.writeText('')")
        menu.locator("summary").click()
        menu.get_by_role("button", name=f"Copy as {format}").click()
        expect(menu.get_by_role("status")).to_have_text("Copied.")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert part in copied
        assert name in copied
        page.keyboard.press("Escape")

    page.goto(f"{live_server.url}{agreement(world)}")
    menu = page.locator("section[aria-labelledby=chart-statistics] .figure-menu")
    menu.locator("summary").click()
    menu.get_by_role("button", name="Copy as LaTeX").click()
    expect(menu.get_by_role("status")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert r"\toprule" in copied
    assert "Krippendorff" in copied
    menu.get_by_role("button", name="Copy as CSV").focus()
    page.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    expect(menu.locator("summary")).to_be_focused()


COLOURS: tuple[dict[str, Any], ...] = (
    {"color_scheme": "light"},
    {"color_scheme": "dark"},
    {"forced_colors": "active"},
)
MARKS = """svg => {
    svg.scrollIntoView({block: "center"});
    return [...svg.querySelectorAll(".mark")].map(mark => {
        const {x, y} = mark.getBoundingClientRect(), path = mark.querySelector("path");
        const whisker = mark.parentElement.querySelector(".interval");
        return {
            visible: document.elementFromPoint(x + 3, y) === path,
            colours: [getComputedStyle(path).fill, whisker && getComputedStyle(whisker).stroke],
            shape: path.getAttribute("d"),
        };
    });
}"""


def test_each_point_of_a_line_has_a_mark_and_whiskers_in_the_colour_of_its_series_and_of_the_legend(
    world: World, new_context: Contexts, live_server: Any
) -> None:
    chart = two_batches(world, new_context, live_server.url)

    def fills(place: str) -> list[str]:
        paths = chart.locator(f"{place} .mark path")
        return list(paths.evaluate_all("paths => paths.map(path => getComputedStyle(path).fill)"))

    for colours in COLOURS:
        chart.page.emulate_media(**colours)
        points = chart.locator(":scope > svg").evaluate(MARKS)
        assert all(point["visible"] for point in points)
        assert all(mark == whisker for mark, whisker in (point["colours"] for point in points) if whisker)
        assert any(point["colours"][1] for point in points), "a whisker is there"
        shapes, own = {point["shape"] for point in points}, {point["colours"][0] for point in points}
        assert len(shapes) == len(own) > 1
        assert len(set(fills(".legend"))) > 1
        assert fills(".legend") == fills(":scope > svg")
