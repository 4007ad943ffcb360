"""A page of annotating while it loads: what is painted first stays where it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route

from annotation.models import Batch
from benchmarks.browser_data import over_its_sample
from tasks.contract import task_types
from tests.annotation.cast import World, make_world
from tests.browser.pages import settled, signed_in, takes_keys

pytestmark = pytest.mark.django_db(transaction=True)

NewContext = Callable[..., BrowserContext]
VARIANTS = [(key, variant) for key, task in task_types().items() for variant in (task.variants or {"": ""})]
OBSERVE = """
window.shifts = [];
new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifts.push(value);
}).observe({ type: "layout-shift", buffered: true });
"""
SMALL = 0.02
"""Of the score of layout shifts; 0.1 is what is still called good."""


PAGE_SCRIPT = re.compile(r"/static/(?:bundles|askew)/[\w-]*annotate\.")
"""What makes the page work, in a bundle or on its own."""


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


def loaded_late(context: BrowserContext, base: str, batch: Batch) -> Page:
    """The page of a batch, whose modules came only after it had been painted without them."""
    page = context.new_page()
    page.add_init_script(OBSERVE)
    held: list[Route] = []
    page.route(PAGE_SCRIPT, lambda route: held.append(route))
    page.goto(f"{base}/batches/{batch.public_id}/annotate/", wait_until="commit")
    page.wait_for_function("() => performance.getEntriesByType('paint').length > 0")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")
    while not held:
        page.evaluate("null")
    held[0].continue_()
    takes_keys(page)
    page.wait_for_load_state("networkidle")
    settled(page)
    return page


def test_nothing_moves_when_the_scripts_have_come(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    context = signed_in(new_context, live_server.url, world.ada)
    shifts = {}
    for key, variant in VARIANTS:
        page = loaded_late(context, live_server.url, over_its_sample(world, task_types()[key], variant))
        assert "guided" in (page.locator("body").get_attribute("class") or "")
        shifts[f"{key} {variant}"] = page.evaluate("shifts")
        page.close()
    assert {name: scores for name, scores in shifts.items() if sum(scores) >= SMALL} == {}


@pytest.mark.console_may_say("ERR_FAILED")
def test_without_its_modules_the_page_is_a_form_after_a_while(
    world: World, new_context: NewContext, live_server: Any
) -> None:
    page = signed_in(new_context, live_server.url, world.ada).new_page()
    page.clock.install()
    page.route(PAGE_SCRIPT, lambda route: route.abort())
    page.goto(f"{live_server.url}/batches/{world.batch().public_id}/annotate/")
    save = page.get_by_role("button", name="Save draft", exact=True).last
    assert not save.is_visible()
    page.clock.run_for(4001)
    assert save.is_visible()
    assert page.locator("body.guided").count() == 0
