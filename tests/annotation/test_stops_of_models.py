"""Language models that keep giving unusable replies: questions and evaluations stop, as proposals and accuracy jobs do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tableqa
from annotation.assistance import model_queries
from annotation.models import ModelAnswer
from annotation.platform.refusals import ActionRefused
from annotation.queue.conversations import UnusableReplies
from annotation.releases.model_evaluation import queries
from predictor.configuration import STOP_AFTER
from tableqa.scoring.predictions import EvaluationError
from tests.annotation.cast import NOON, make_world
from tests.predictor.endpoints import Endpoint, endpoint

EXAMPLE = tableqa.Example(
    id="1",
    question="which city is larger?",
    answers=["Oslo"],
    table=tableqa.Table(header=["City", "People"], rows=[["Oslo", "700"], ["Bergen", "290"]]),
)


@pytest.fixture
def llm(settings: Any) -> Iterator[Endpoint]:
    with endpoint(Endpoint("vllm")) as server:
        settings.PREDICTORS = {"llm": server.entry(parallel=1)}
        yield server


@pytest.mark.parametrize("purpose", ["screening", "cells", "question_type"])
@pytest.mark.parametrize("mood", ["well", "declines"])
@pytest.mark.django_db
def test_questions_about_originals_stop_after_repeated_replies_without_what_was_asked_for(
    llm: Endpoint, settings: Any, tmp_path: Path, purpose: str, mood: str
) -> None:
    settings.PREDICTORS = {"llm": llm.entry(parallel=1, stop_after=2)}
    world = make_world(tmp_path)
    llm.mood, llm.reply = mood, lambda body: "I would rather not."
    with pytest.raises(ActionRefused, match="2 unusable replies in a row"):
        model_queries.ask_model(
            sources=[world.source], predictor="llm", purpose=purpose, samples=2, now=lambda: NOON
        )
    assert ModelAnswer.objects.count() == 2, "what was paid for is kept, and no more is asked"


@pytest.mark.parametrize("mood", ["well", "declines"])
def test_an_evaluation_stops_after_repeated_replies_without_a_list(llm: Endpoint, mood: str) -> None:
    llm.mood, llm.reply = mood, lambda body: "I would rather not."
    ask = queries.model_of({"llm": llm.entry()}, "llm")
    states = {ask(EXAMPLE)["state"] for _ in range(STOP_AFTER)}
    assert states == {"no_list" if mood == "well" else "declined"}
    with pytest.raises(EvaluationError, match="20 unusable replies in a row"):
        ask(EXAMPLE)
    assert len(llm.requests) == STOP_AFTER


def test_a_list_ends_a_row_of_unusable_replies(llm: Endpoint) -> None:
    ask = queries.model_of({"llm": llm.entry()}, "llm")
    llm.reply = lambda body: '{"answers": ["Oslo"]}' if len(llm.requests) % STOP_AFTER == 0 else "no"
    for _ in range(2 * STOP_AFTER):
        ask(EXAMPLE)
    assert len(llm.requests) == 2 * STOP_AFTER


def test_a_usable_reply_that_was_under_way_does_not_start_a_stopped_model_again() -> None:
    replies = UnusableReplies("llm", stop_after=2)
    for reason in ("no list", "", "no list", "declined", ""):
        replies.count(reason)
    assert (replies.is_stopped, replies.reason) == (True, "declined")
