"""Unusable replies of a language model behind an Askew predictor have states and stop jobs."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.assistance import model_accuracy, model_queries, prediction_jobs
from annotation.models import Batch, Job, ModelAnswer, Try
from annotation.platform.refusals import ActionRefused
from annotation.releases.model_evaluation import queries
from predictor.client import PATIENT, PredictionError, connect
from predictor.protocol import PredictRequest
from tableqa.scoring.predictions import EvaluationError
from tests.annotation.cast import NOON, World
from tests.annotation.filling import fill
from tests.annotation.test_metering_predictors import EXAMPLE, REWORDED, entry, llm, tried, world
from tests.predictor.endpoints import Endpoint

__all__ = ["entry", "llm", "tried", "world"]

STATES = {
    "talks": "no_list",
    "declines": "declined",
    "cut_off": "cut_off",
    "filtered": "filtered",
    "silent": "unreadable",
    "filtered_prompt": "filtered",
}


def put_in_mood(llm: Endpoint, mood: str) -> None:
    llm.mood = "well" if mood == "talks" else mood
    if mood == "talks":
        llm.reply = lambda body: "I would rather not."


@pytest.mark.parametrize(("mood", "state"), STATES.items())
def test_the_predictor_states_how_a_reply_ended(
    entry: dict[str, Any], llm: Endpoint, mood: str, state: str
) -> None:
    put_in_mood(llm, mood)
    model, request = connect(entry), PredictRequest.about(EXAMPLE)
    if mood == "talks":
        assert [model.predict(request, within=PATIENT).state for _ in range(2)] == [state] * 2
    else:
        with pytest.raises(PredictionError) as caught:
            model.predict(request, within=PATIENT)
        assert (caught.value.kind, caught.value.state) == ("too_large", state)


def test_a_text_without_a_list_does_not_count_as_fooled(tried: Batch, llm: Endpoint) -> None:
    put_in_mood(llm, "talks")
    assert fill(batch=tried, now=NOON) == (1, 0)
    row = Try.objects.get()
    assert row.error == "The reply holds no list of answers."
    assert row.original is not None
    assert row.original["state"] == "no_list"
    assert row.verdicts.get().verdict == "model_error"


@pytest.mark.parametrize("mood", STATES)
def test_a_job_of_the_loop_stops_after_repeated_unusable_replies(
    world: World, entry: dict[str, Any], llm: Endpoint, settings: Any, mood: str
) -> None:
    settings.PREDICTORS = {"qwen": {**entry, "stop_after": 2}}
    batch = world.batch("question_paraphrase", variant="word", loop_model="qwen")
    for _ in range(4):
        assignment = world.take(batch, "ada")
        assert assignment is not None
        world.answer(assignment, REWORDED)
    put_in_mood(llm, mood)
    job = prediction_jobs.enqueue(batch=batch, now=NOON)
    assert job is not None
    filled = prediction_jobs.fill_all(batch=batch, now=NOON)
    assert (filled.asked, filled.left, list(filled.stopped)) == (2, 2, ["qwen"])
    assert filled.stopped["qwen"]
    assert Job.objects.filter(kind="predictions").count() == 1


def test_an_evaluation_stops_and_keeps_the_states(entry: dict[str, Any], llm: Endpoint) -> None:
    ask = queries.model_of({"qwen": {**entry, "stop_after": 3}}, "qwen")
    put_in_mood(llm, "declines")
    assert [ask(EXAMPLE)["state"] for _ in range(3)] == ["declined"] * 3
    with pytest.raises(EvaluationError, match="3 unusable replies in a row"):
        ask(EXAMPLE)
    assert len(llm.requests) == 3


def test_rejected_parameters_end_an_evaluation_at_once(entry: dict[str, Any], llm: Endpoint) -> None:
    llm.flavour = "openai_reasoning"
    with pytest.raises(EvaluationError, match="max_tokens"):
        queries.model_of({"qwen": entry}, "qwen")(EXAMPLE)
    assert len(llm.requests) == 1


@pytest.mark.parametrize("mood", ["talks", "declines"])
def test_questions_and_accuracy_stop_and_count_the_states(
    world: World, entry: dict[str, Any], llm: Endpoint, settings: Any, mood: str
) -> None:
    settings.PREDICTORS = {"qwen": {**entry, "stop_after": 2, "in_flight": 1}}
    put_in_mood(llm, mood)
    with pytest.raises(ActionRefused, match="2 unusable replies in a row"):
        model_queries.ask_model(sources=[world.source], predictor="qwen", purpose="cells", now=lambda: NOON)
    assert [answer.data["states"] for answer in ModelAnswer.objects.all()] == [[STATES[mood]]] * 2
    batch = world.batch("question_paraphrase", variant="word")
    keys = list(batch.items.values_list("example_id", flat=True))
    with pytest.raises(ActionRefused, match="2 unusable replies in a row"):
        model_accuracy.ask(keys, task=batch.task(), predictor="qwen", clock=lambda: NOON)
    known = model_accuracy.stored_accuracy(keys, task=batch.task(), predictor="qwen")
    assert (known.unjudged, known.states) == (2, {STATES[mood]: 2})
