"""What a job of proposals asks of a language model in the loop: estimated before, asked once, stopped after refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation.assistance import proposals, request_estimates
from annotation.models import Batch, ModelRequest
from annotation.platform.refusals import ActionRefused
from tests.annotation.cast import NOON, World, make_world
from tests.predictor.endpoints import Endpoint, endpoint

ITEMS = 5
STOP_AFTER = 3


@pytest.fixture
def world(db: None, tmp_path: Path, settings: Any) -> World:
    settings.MEDIA_ROOT = tmp_path / "media"
    return make_world(tmp_path, questions=ITEMS + 1)


@pytest.fixture
def llm() -> Iterator[Endpoint]:
    with endpoint(Endpoint("vllm")) as server:
        server.reply = lambda body: '{"why": "none fits", "applies": false}'
        yield server


@pytest.fixture
def loop(settings: Any, llm: Endpoint) -> Iterator[Endpoint]:
    with endpoint(Endpoint("vllm")) as server:
        settings.PREDICTORS = {
            "llm": llm.entry(price=[1, 1]),
            "loop": server.entry(stop_after=STOP_AFTER, parallel=1, price=[1, 1]),
        }
        yield server


def batch_with(world: World, **wants: Any) -> Batch:
    return world.batch("header_synonym", size=ITEMS, loop_model="loop", help="offered", help_from=wants)


def searches() -> Counter[str]:
    return Counter(ModelRequest.objects.filter(purpose="search").values_list("state", flat=True))


def test_tests_of_proposals_stop_after_repeated_refusals_of_the_model(world: World, loop: Endpoint) -> None:
    loop.mood = "declines"
    batch = batch_with(world, rules=True, search=True)

    with pytest.raises(ActionRefused, match=f"loop gave {STOP_AFTER} unusable replies in a row"):
        proposals.make_proposals(batch=batch, now=lambda: NOON)

    # The last test asks about the original and the changed example.
    assert STOP_AFTER <= searches()["declined"] <= 2 * STOP_AFTER


def test_answers_for_prompts_stop_after_repeated_refusals_of_the_model(world: World, loop: Endpoint) -> None:
    loop.mood = "declines"
    batch = batch_with(world, models=["llm"], repetitions=1)

    with pytest.raises(ActionRefused, match=f"loop gave {STOP_AFTER} unusable replies in a row"):
        proposals.make_proposals(batch=batch, now=lambda: NOON)

    assert searches() == {"declined": STOP_AFTER}


def test_a_job_that_runs_again_asks_the_model_in_the_loop_nothing(world: World, loop: Endpoint) -> None:
    batch = batch_with(world, models=["llm"], repetitions=1)
    proposals.make_proposals(batch=batch, now=lambda: NOON)
    before = len(loop.requests)
    assert before == ITEMS, "one original each"

    proposals.make_proposals(batch=batch, now=lambda: NOON)

    assert len(loop.requests) == before


def test_an_estimate_names_the_tests_of_proposals(world: World, loop: Endpoint) -> None:
    batch = batch_with(world, rules=True, search=True, models=["llm"], repetitions=1)

    lines = {line.purpose: line.estimate for line in request_estimates.of_batch(batch)}

    replies = lines["proposals"].requests
    looks = replies + request_estimates.USUAL_PROPOSALS * ITEMS
    assert lines["search"].requests == request_estimates.REQUESTS_PER_CHECK * looks + ITEMS
    assert lines["search"].usd
    proposals.make_proposals(batch=batch, now=lambda: NOON)
    assert "search" not in {line.purpose for line in request_estimates.of_batch(batch)}
