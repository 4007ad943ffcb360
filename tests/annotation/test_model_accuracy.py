"""Questions about originals: in parallel, once, within budgets, and no longer than a model answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation.assistance import model_accuracy
from annotation.models import ModelAnswer, ModelRequest, Project
from annotation.platform.refusals import ActionRefused
from annotation.queue import sampling
from predictor.client import JOB_THREADS
from predictor.configuration import STOP_AFTER
from predictor.listing import breaker_of
from tasks.contract import task_type
from tests.annotation.cast import NOON, World, make_world
from tests.predictor.endpoints import Endpoint, endpoint
from tests.predictor.scripted import answer, scripted


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path, questions=36)


@pytest.fixture
def llm(settings: Any) -> Iterator[Endpoint]:
    with endpoint(Endpoint("vllm")) as server:
        settings.PREDICTORS = {"llm": server.entry(price=[1, 2], parallel=3)}
        yield server


def keys_of(world: World) -> list[int]:
    sample = sampling.Sample([world.source])
    return list(sampling.drawable_examples(world.project, task_type("question_paraphrase"), sample))


def ask(world: World, predictor: str = "llm", **more: Any) -> model_accuracy.Accuracy:
    more = {"clock": lambda: NOON, "wait": lambda seconds: None} | more
    return model_accuracy.ask(
        keys_of(world), task=task_type("question_paraphrase"), predictor=predictor, **more
    )


def test_a_language_model_gets_as_many_questions_at_a_time_as_its_entry_says(
    world: World, llm: Endpoint
) -> None:
    llm.gathers = 3
    progress: list[tuple[int, int]] = []
    accuracy = ask(world, progress=lambda done, total: progress.append((done, total)))
    assert llm.most_at_once == 3
    assert (accuracy.total, accuracy.unknown) == (36, 0)
    assert len(llm.requests) == ModelAnswer.objects.count() == 36
    assert ModelRequest.objects.filter(purpose="accuracy", state="answered").count() == 36
    assert progress == [(number, 36) for number in range(1, 37)]
    ask(world)
    assert len(llm.requests) == 36, "nothing is asked twice"


@pytest.mark.parametrize(("in_flight", "most"), [(2, 2), (64, 16)])
def test_a_model_of_the_own_protocol_gets_as_many_as_its_entry_says(
    world: World, settings: Any, in_flight: int, most: int
) -> None:
    assert JOB_THREADS == 16
    with scripted(answer("1999")) as script:
        settings.PREDICTORS = {"small": {**script.entry, "in_flight": in_flight}}
        assert model_accuracy._at_once("small") == most
        assert ask(world, "small").answered == 36
        assert len(script.asked) == 36


def test_repeated_refusals_stop_the_questions_and_asking_again_continues(world: World, llm: Endpoint) -> None:
    llm.mood = "declines"
    with pytest.raises(ActionRefused, match="20 unusable replies in a row") as refused:
        ask(world)
    asked = len(llm.requests)
    assert STOP_AFTER <= asked < STOP_AFTER + 4 * 3
    assert f"{asked} of 36" in refused.value.detail
    assert set(ModelAnswer.objects.values_list("data__state", flat=True)) == {"declined"}
    llm.mood = "well"
    accuracy = ask(world)
    assert len(llm.requests) == 36
    assert (accuracy.unjudged, accuracy.states) == (asked, {"declined": asked})
    assert f"{asked} declined by the model" in accuracy.rest_in_words
    assert accuracy.to_dict()["states"] == {"declined": asked}


def test_a_used_up_budget_stops_the_questions_at_once_and_names_it(world: World, llm: Endpoint) -> None:
    Project.objects.filter(pk=world.project.pk).update(model_budget={"tokens": 2_000})
    with pytest.raises(ActionRefused, match="budget of the project"):
        ask(world)
    asked = len(llm.requests)
    assert 0 < asked < 36
    assert ModelAnswer.objects.count() == asked
    assert breaker_of({"url": llm.url, "model": "small"}).lets_through(), "other projects may ask the model"
    Project.objects.filter(pk=world.project.pk).update(model_budget={})
    ask(world)
    assert len(llm.requests) == 36


def test_a_model_that_is_gone_is_asked_a_few_times_only(world: World, llm: Endpoint) -> None:
    llm.mood = "locked"
    with pytest.raises(ActionRefused, match="without an answer"):
        ask(world)
    assert len(llm.requests) <= model_accuracy.MAX_FAILURES * 3
    assert not ModelAnswer.objects.exists()
