"""Small models of every architecture through their server to the verdict of a check, and one of them onto the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from playwright.sync_api import BrowserContext, expect

from annotation.models import Assignment, Batch, Try
from predictor import client
from predictor.architectures import Model, info, load
from tests.annotation.cast import World, envelope, make_world
from tests.annotation.elements import parsed
from tests.annotation.filling import fill
from tests.browser.pages import annotating
from tests.in_flight import wait_until_quiet
from tests.predictor.models.test_every_architecture import ARCHITECTURES
from tests.predictor.test_server import serving

pytestmark = pytest.mark.usefixtures("deep_learning")

FOR_AS_LONG_AS_IT_TAKES = 60_000
"""Weights are random and the machine may be busy: what is tested is the way, not its speed."""
QUESTION = "in which year was it released?"


@contextmanager
def in_the_loop(model: Model, folder: Path, settings: Any) -> Iterator[tuple[World, Batch]]:
    """A batch with this model in the loop, served as an administrator would."""
    with serving(model) as server:
        entry = {
            "protocol": "predict",
            "url": str(server.base_url).rstrip("/"),
            "model": model.name,
            "deadline_ms": 60_000,
        }
        settings.PREDICTORS = {"small": entry}
        world = make_world(folder)
        yield world, world.batch("question_paraphrase", variant="word", loop_model="small", overlap=1)
        wait_until_quiet()
        client.connect(entry).close()
        client._cached_model.cache_clear()


def as_shown(answers: list[str]) -> list[list[str]]:
    """How the page may show these answers: each, or the words for none."""
    return [[text.strip() or "no answer" for text in answers], ["no answer"]]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_check_is_answered(name: str, folders: dict[str, Path], tmp_path: Path, settings: Any) -> None:
    model = load(folders[name])
    with in_the_loop(model, tmp_path, settings) as (world, batch):
        ada = Client()
        ada.force_login(world.ada)
        page = f"/batches/{batch.public_id}/annotate/"
        ada.get(page)
        assignment = Assignment.objects.get()
        response = envelope(assignment, {"question": QUESTION})
        url = f"/api/assignments/{assignment.public_id}/predictions/"
        body = {"response": response, "kind": "preview", "seq": 1}
        assert ada.post(url, body, content_type="application/json").json()["state"] == "slow"
        form = {"assignment": assignment.public_id, "action": "check", "question": QUESTION}
        ada.post(page, form)
        fill(batch=batch, now=timezone.now())  # as the worker does
        prediction = parsed(ada.post(page, form).content.decode()).find("askew-prediction")

        row = Try.objects.get()
        assert row.model == info(model).id
        assert row.original is not None
        assert row.perturbed is not None
        for part in ("original", "perturbed"):
            answer = getattr(row, part)
            shown = [line.text for line in prediction.find("div", data_part=part).all("li")]
            assert shown in as_shown(answer["answers"])
            assert answer["rows_seen"] == answer["rows_total"] == 4
        assert prediction.attributes["data-verdict"] == row.verdicts.get().verdict


@pytest.mark.django_db(transaction=True)
def test_a_slow_model_is_asked_from_the_page_and_its_verdict_appears(
    folders: dict[str, Path],
    new_context: Callable[..., BrowserContext],
    live_server: Any,
    tmp_path: Path,
    settings: Any,
) -> None:
    with in_the_loop(load(folders["tapex"]), tmp_path, settings) as (world, batch):
        page = annotating(new_context, live_server.url, world.ada, batch)
        looks = page.locator("askew-prediction")
        expect(looks).to_have_attribute("data-state", "slow")
        page.locator("textarea[name=question]").fill(QUESTION)
        page.keyboard.press("Enter")
        expect(looks).to_have_attribute("data-state", "answered", timeout=FOR_AS_LONG_AS_IT_TAKES)
        row = Try.objects.get()
        for part in ("original", "perturbed"):
            shown = page.locator(f"[data-part={part}] li").all_text_contents()
            assert shown in as_shown(getattr(row, part)["answers"])
        expect(looks).to_have_attribute("data-verdict", row.verdicts.get().verdict)
        page.keyboard.press("1")
        expect(page.locator("[data-progress-text]")).to_contain_text("1 of")
        page.context.close()
