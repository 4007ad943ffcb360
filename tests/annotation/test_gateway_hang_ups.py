"""A page that is closed while a preview is on its way: its slot is free, nothing waits, what was sent is counted."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from annotation.assistance import draft_checks
from annotation.models import ModelRequest
from predictor import client
from tests.annotation.cast import World, make_world
from tests.annotation.test_gateway import a_ticket, body
from tests.annotation.test_metering_predictors import behind, llm
from tests.annotation.test_predicting import take
from tests.gateways import gateway
from tests.predictor.endpoints import Endpoint
from tests.waiting import wait_until

__all__ = ["llm"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def predictor(llm: Endpoint, settings: Any, tmp_path: Path, patient: None) -> Iterator[httpx.Client]:
    """A language model behind a predictor, with room for one preview: the original and the changed example."""
    with behind(llm, tmp_path) as server:
        entry = {"protocol": "predict", "url": str(server.base_url), "model": "qwen", "price": [1, 2]}
        settings.PREDICTORS = {"qwen": {**entry, "in_flight": 2}}
        settings.MODEL_GATEWAY = True
        wait_until(lambda: server.get("/readyz").status_code == 200)
        llm.requests.clear()  # the predictor's own test question
        yield server
        client.connect(settings.PREDICTORS["qwen"]).close()
        client._cached_model.cache_clear()


def send(url: str, ticket: str, preview: dict[str, Any]) -> httpx.Response:
    headers = {"Authorization": f"Ticket {ticket}"}
    return httpx.post(f"{url}/gateway/", json=preview, headers=headers, trust_env=False, timeout=20)


def hang_up_once(is_reached: Callable[[], Any], url: str, ticket: str, preview: dict[str, Any]) -> None:
    """Send a preview and close the connection as soon as something is reached."""

    async def ask() -> None:
        headers = {"Authorization": f"Ticket {ticket}"}
        async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
            asking = asyncio.ensure_future(http.post(f"{url}/gateway/", json=preview, headers=headers))
            await asyncio.to_thread(wait_until, is_reached)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    asyncio.run(ask())


def states() -> list[tuple[str, bool]]:
    return list(ModelRequest.objects.order_by("pk").values_list("state", "is_counted"))


def test_a_preview_that_is_with_the_model(
    world: World, predictor: httpx.Client, llm: Endpoint, settings: Any
) -> None:
    mine = take(world, world.batch("question_paraphrase", variant="word", loop_model="qwen"), film="Alien")
    ticket = a_ticket(world, mine)
    model = client.connect(settings.PREDICTORS["qwen"])
    llm.mood = "hung"
    with gateway() as url:
        hang_up_once(lambda: llm.requests, url, ticket, body(mine))
        wait_until(lambda: len(states()) == 2 and ("open", False) not in states(), "the meter has counted")
        assert states() == [("away", False)] * 2
        assert all(row.prompt_tokens > 0 for row in ModelRequest.objects.all())
        wait_until(lambda: model._waiting == 0, "the slots of the client are free")
        wait_until(
            lambda: re.search(r"withdrawn_total{.*} 2\n", predictor.get("/metrics").text),
            "the predictor knows that the client has gone",
        )
        assert re.search(r"askew_predictor_waiting{.*} 0\n", predictor.get("/metrics").text)
        llm.mood = "well"
        llm.stop.set()
        sent = len(llm.requests)
        assert send(url, ticket, body(mine, seq=2)).json()["state"] == "answered"
    assert states()[2:] == [("answered", True)] * (len(llm.requests) - sent)


@pytest.mark.parametrize("step", ["prepare", "record_answer"])
def test_a_preview_that_is_with_a_thread_of_the_gateway(
    world: World,
    predictor: httpx.Client,
    llm: Endpoint,
    step: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine = take(world, world.batch("question_paraphrase", variant="word", loop_model="qwen"), film="Alien")
    ticket = a_ticket(world, mine)
    is_reached, go_on = threading.Event(), threading.Event()
    original = getattr(draft_checks, step)

    def hold(*args: Any, **params: Any) -> Any:
        result = original(*args, **params) if step == "prepare" else None
        is_reached.set()
        go_on.wait(20)
        return result or original(*args, **params)

    monkeypatch.setattr(draft_checks, step, hold)
    with gateway() as url:
        hang_up_once(is_reached.is_set, url, ticket, body(mine))
        assert [state for state, _ in states()] == ["open"]
        go_on.set()
        wait_until(lambda: ("open", False) not in states(), "the reservation is settled or released")
    if step == "prepare":
        assert (states(), llm.requests) == ([], [])
    else:
        assert states() == [("answered", True)] * len(llm.requests)
