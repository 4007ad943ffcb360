"""The form of a batch that serves only what its model answers correctly: the count, the request, and what was typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from annotation.models import Batch, Job
from predictor import client
from tests.annotation.cast import World, make_world
from tests.annotation.test_right_only import knows_all_but_playtime
from tests.browser.pages import signed_in
from tests.in_flight import wait_until_quiet
from tests.predictor.scripted import ScriptedServer, scripted

pytestmark = pytest.mark.django_db(transaction=True)

Contexts = Callable[..., BrowserContext]


@pytest.fixture
def server(settings: Any, browser: Browser) -> Iterator[ScriptedServer]:
    with scripted(knows_all_but_playtime) as script:
        settings.PREDICTORS = {"small": script.entry}
        yield script
        for context in browser.contexts:
            context.close()
        wait_until_quiet()
        client.connect(script.entry).close()
        client._cached_model.cache_clear()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path, questions=12)


def test_a_manager_asks_the_model_and_creates_the_batch(
    new_context: Contexts, live_server: Any, world: World, server: ScriptedServer
) -> None:
    page = signed_in(new_context, live_server.url, world.mara).new_page()
    page.goto(f"{live_server.url}/projects/films/batches/new/?kind=question_paraphrase:word")
    page.locator("input[name=name]").fill("Reworded")
    page.locator("input[name=size]").fill("5")
    answers = page.locator("#model-answers")
    page.locator("select[name=loop_model]").select_option("small")
    expect(answers).to_contain_text("small has not been asked about these 12 questions yet.")
    page.get_by_role("button", name="Ask the model now").click()
    expect(answers).to_contain_text("9 of 12 questions are answered correctly by small@01234567.")
    expect(page.locator("input[name=name]")).to_have_value("Reworded")
    expect(page.locator("input[name=size]")).to_have_value("5")
    assert Job.objects.get().kind == "ask_originals"
    page.get_by_label("Serve only items that the model answers correctly").check()
    server.mood = "failing"
    page.locator("input[name=name]").press("Enter")
    page.wait_for_url("**/batches/*/")
    batch = Batch.objects.get()
    expect(page.locator("main")).to_contain_text("9 of 12 questions are answered correctly")
    batch.refresh_from_db()
    assert (batch.name, batch.state, batch.items_count) == ("Reworded", "open", 5)
