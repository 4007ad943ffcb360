"""The form of a batch that serves only what its model answers correctly, without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.models import Batch
from predictor import client as connections
from tests.annotation.cast import World, make_world
from tests.annotation.plain_page import PlainPage, check, fill, select
from tests.annotation.test_right_only import knows_all_but_playtime
from tests.predictor.scripted import ScriptedServer, scripted


@pytest.fixture
def server(settings: Any) -> Iterator[ScriptedServer]:
    with scripted(knows_all_but_playtime) as script:
        settings.PREDICTORS = {"small": script.entry}
        yield script
        connections.connect(script.entry).close()
        connections._cached_model.cache_clear()


@pytest.mark.django_db
def test_a_manager_creates_the_batch_and_asks_the_model_again(
    tmp_path: Path, client: Client, server: ScriptedServer, django_capture_on_commit_callbacks: Any
) -> None:
    world: World = make_world(tmp_path, questions=12)
    client.force_login(world.mara)
    page = PlainPage(client, "/projects/films/batches/new/?kind=question_paraphrase:word")
    fill(page.named("name"), "Reworded")
    fill(page.named("size"), "5")
    select(page.named("loop_model"), "small")
    check(page.field("Serve only items that the model answers correctly"))
    server.mood = "failing"
    with django_capture_on_commit_callbacks(execute=True):  # the job that asks the model
        page.press("Create batch")
    page.go(page.address)
    assert "3 requests in a row without an answer" in page.text("//*[contains(@class, 'problem')]")
    server.mood = "well"
    connections._cached_model.cache_clear()
    with django_capture_on_commit_callbacks(execute=True):
        page.press("Ask the model again")
    page.go(page.address)
    assert "9 of 12 questions are answered correctly" in page.text()
    batch = Batch.objects.get()
    assert (batch.name, batch.state, batch.items_count) == ("Reworded", "open", 5)
