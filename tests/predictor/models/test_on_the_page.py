"""Small models of every architecture through their server and onto the page: what a person sees of a try."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from annotation.models import Try
from predictor import client
from predictor.architectures import info, load
from tests.annotation.cast import make_world
from tests.browser.pages import annotating
from tests.in_flight import wait_until_quiet
from tests.predictor.models.test_every_architecture import ARCHITECTURES
from tests.predictor.test_server import serving

pytestmark = pytest.mark.usefixtures("deep_learning")

FOR_AS_LONG_AS_IT_TAKES = 60_000
"""Weights are random and the machine may be busy: what is tested is the way, not its speed."""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_try_is_answered_on_the_page(
    name: str,
    folders: dict[str, Path],
    new_context: Callable[..., BrowserContext],
    live_server: Any,
    tmp_path: Path,
    settings: Any,
) -> None:
    model = load(folders[name])
    with serving(model) as server:
        entry = {
            "protocol": "predict",
            "url": str(server.base_url).rstrip("/"),
            "model": model.name,
            "deadline_ms": 60_000,
        }
        settings.PREDICTORS = {"small": entry}
        world = make_world(tmp_path)
        batch = world.batch("question_paraphrase", variant="word", loop_model="small", overlap=1)
        page = annotating(new_context, live_server.url, world.ada, batch)
        looks = page.locator("askew-prediction")
        expect(looks).to_have_attribute("data-state", "slow")
        page.locator("textarea[name=question]").fill("in which year was it released?")
        page.keyboard.press("Enter")
        expect(looks).to_have_attribute("data-state", "answered", timeout=FOR_AS_LONG_AS_IT_TAKES)
        row = Try.objects.get()
        assert row.model == info(model).id
        assert row.original is not None
        assert row.perturbed is not None
        for part in ("original", "perturbed"):
            said = getattr(row, part)
            shown = page.locator(f"[data-part={part}] li").all_text_contents()
            assert shown == [text.strip() or "no answer" for text in said["answers"]] or shown == [
                "no answer"
            ]
            assert said["rows_seen"] == said["rows_total"] == 4
        expect(looks).to_have_attribute("data-verdict", row.verdicts.get().verdict)
        page.keyboard.press("1")
        expect(page.locator("[data-progress-text]")).to_contain_text("1 of")
        page.context.close()
        wait_until_quiet()
        client.connect(entry).close()
        client._connected.cache_clear()
