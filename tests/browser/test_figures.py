"""The menu beside a figure: its table goes to the clipboard, and without scripts it is a download."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.annotation.cast import World, make_world
from tests.annotation.test_dashboards import timed
from tests.browser.pages import signed_in

pytestmark = pytest.mark.django_db(transaction=True)
Contexts = Callable[..., BrowserContext]


@pytest.fixture
def world(tmp_path: Path, transactional_db: None) -> World:
    return make_world(tmp_path)


def agreement(world: World, new_context: Contexts, base: str, **options: Any) -> Page:
    batch = timed(world, 8)
    page = signed_in(new_context, base, world.mara, **options).new_page()
    page.goto(f"{base}/projects/{world.project.slug}/agreement/?batch={batch.public_id}")
    return page


def two_batches(world: World, new_context: Contexts, base: str, **options: Any) -> Locator:
    """The chart of agreement by week, of two batches with one week of work."""
    for _ in range(2):
        timed(world, 8)
    page = signed_in(new_context, base, world.mara, **options).new_page()
    page.goto(f"{base}/projects/{world.project.slug}/dashboard/")
    return page.locator("section[aria-labelledby=chart-weeks] .chart")


def test_a_table_is_copied_as_latex(world: World, new_context: Contexts, live_server: Any) -> None:
    page = agreement(world, new_context, live_server.url, permissions=["clipboard-read", "clipboard-write"])
    menu = page.locator("section[aria-labelledby=chart-statistics] .figure-menu")
    menu.locator("summary").click()
    menu.get_by_role("button", name="Copy as LaTeX").click()

    expect(menu.get_by_role("status")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert r"\toprule" in copied
    assert "Krippendorff" in copied


@pytest.mark.parametrize(
    ("format", "part"), [("LaTeX", r"\toprule"), ("Markdown", "| Batch |"), ("CSV", "Batch,Annotations")]
)
def test_the_costs_of_a_plan_are_copied_although_its_page_is_a_reply(
    world: World, new_context: Contexts, live_server: Any, format: str, part: str
) -> None:
    world.batch(name="Types of questions")
    clipboard = ["clipboard-read", "clipboard-write"]
    page = signed_in(new_context, live_server.url, world.mara, permissions=clipboard).new_page()
    page.goto(f"{live_server.url}/projects/{world.project.slug}/study/")
    page.locator("button[name=act][value=plan]").click()
    menu = page.locator(".figure-menu")
    menu.locator("summary").click()
    menu.get_by_role("button", name=f"Copy as {format}").click()

    expect(menu.get_by_role("status")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert part in copied
    assert "Types of questions" in copied


def test_escape_closes_the_menu_and_gives_the_focus_back(
    world: World, new_context: Contexts, live_server: Any
) -> None:
    page = agreement(world, new_context, live_server.url)
    menu = page.locator(".figure-menu").first
    menu.locator("summary").click()
    menu.get_by_role("button", name="Copy as CSV").focus()
    page.keyboard.press("Escape")

    expect(menu).not_to_have_attribute("open", "")
    expect(menu.locator("summary")).to_be_focused()


@pytest.mark.parametrize(
    "colours", [{"color_scheme": "light"}, {"color_scheme": "dark"}, {"forced_colors": "active"}]
)
def test_each_point_of_a_line_has_a_mark_and_whiskers_in_the_colour_of_its_series(
    world: World, new_context: Contexts, live_server: Any, colours: dict[str, str]
) -> None:
    chart = two_batches(world, new_context, live_server.url, **colours).locator(":scope > svg")
    points = chart.evaluate(
        """svg => {
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
    )

    assert all(point["visible"] for point in points)
    assert all(mark == whisker for mark, whisker in (point["colours"] for point in points) if whisker)
    assert any(point["colours"][1] for point in points), "a whisker is there"
    assert len({point["shape"] for point in points}) == len({point["colours"][0] for point in points}) > 1


@pytest.mark.parametrize("colours", [{}, {"forced_colors": "active"}])
def test_the_legend_has_the_colours_of_the_chart(
    world: World, new_context: Contexts, live_server: Any, colours: dict[str, str]
) -> None:
    chart = two_batches(world, new_context, live_server.url, **colours)

    def fills(place: str) -> list[str]:
        paths = chart.locator(f"{place} .mark path")
        return list(paths.evaluate_all("paths => paths.map(path => getComputedStyle(path).fill)"))

    assert len(set(fills(".legend"))) > 1
    assert fills(".legend") == fills(":scope > svg")


def test_a_copy_that_fails_says_so(world: World, new_context: Contexts, live_server: Any) -> None:
    page = agreement(world, new_context, live_server.url)
    page.evaluate("() => { navigator.clipboard.write = () => Promise.reject(new Error('no')); }")
    menu = page.locator(".figure-menu").first
    menu.locator("summary").click()
    menu.get_by_role("button", name="Copy as Markdown").click()

    expect(menu.get_by_role("status")).to_have_text("Copying failed. Download the file instead.")


def test_without_scripts_each_form_is_a_download(
    world: World, new_context: Contexts, live_server: Any
) -> None:
    page = agreement(world, new_context, live_server.url, java_script_enabled=False)
    menu = page.locator("section[aria-labelledby=chart-weeks] .figure-menu")
    menu.locator("summary").click()

    expect(menu.get_by_role("link")).to_have_text(
        [f"Download {format}" for format in ("LaTeX", "Markdown", "CSV", "SVG", "PDF", "PNG")]
    )
    with page.expect_download() as download:
        menu.get_by_role("link", name="Download CSV").click()
    assert download.value.suggested_filename.endswith("-agreement-weeks.csv")
