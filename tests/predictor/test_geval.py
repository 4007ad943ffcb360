"""G-Eval: what the model sees, how its reply is read, and what is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from predictor import geval
from predictor.chat import ChatModel
from tableqa import Table
from tableqa.readers.lftqa import DIMENSIONS
from tableqa.scoring.answer_ratings import RatedAnswer

FILMS = Table(["Film", "Minutes"], [["Heat", "170"]], title="Films of Michael Mann")


def answer(number: int = 1) -> RatedAnswer:
    return RatedAnswer(
        "fetaqa",
        f"fetaqa_{number}",
        "system-1",
        human={"faithfulness": 5},
        text="Heat is the longest.",
        reference="The expected sentence.",
        question=f"which film is the longest ({number})?",
        table=FILMS,
    )


def model(choose: Callable[[dict[str, Any]], str | int]) -> ChatModel:
    """An endpoint that replies to a request with a text, or with a status."""

    def handle(request: httpx.Request) -> httpx.Response:
        reply = choose(json.loads(request.content))
        if isinstance(reply, int):
            return httpx.Response(reply, text="no")
        return httpx.Response(200, json={"choices": [{"message": {"content": reply}}]})

    return ChatModel("http://model/v1", "m", transport=httpx.MockTransport(handle), wait=lambda seconds: None)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_the_model_sees_table_question_and_answer_and_neither_system_nor_reference(dimension: str) -> None:
    text = "\n".join(message["content"] for message in geval.messages(answer(), dimension))
    for shown in (
        "Films of Michael Mann",
        "Heat | 170",
        "which film is the longest (1)?",
        "Heat is the longest.",
    ):
        assert shown in text
    assert "system-1" not in text
    assert "expected sentence" not in text
    assert f"{dimension.capitalize()}:" in text


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('{"score": 4}', 4),
        ('I would say: {"score": "3"}.', 3),
        ("5", 5),
        ("2.5", 2.5),
        ('{"score": 6}', None),
        ('{"score": true}', None),
        ("very good", None),
        ("between 3 and 4", None),
    ],
)
def test_a_score_is_read_where_there_is_exactly_one(reply: str, score: float | None) -> None:
    assert geval.read_score(reply) == score


def test_several_samples_make_a_mean_of_those_that_have_a_score() -> None:
    asked: list[dict[str, Any]] = []

    def in_turn(body: dict[str, Any]) -> str:
        asked.append(body)
        return ('{"score": 5}', "well", '{"score": 2}')[len(asked) - 1]

    assert geval.rate(model(in_turn), answer(), "faithfulness", 3, 0.7) == 3.5
    assert asked[0]["temperature"] == 0.7
    assert asked[0]["response_format"]["json_schema"]["schema"] == geval.SCHEMA


def test_a_reply_without_a_score_is_named() -> None:
    with pytest.raises(geval.RatingError, match="fetaqa_1 of system-1"):
        geval.rate(model(lambda body: "nonsense"), answer(1), "comprehensiveness")


def test_the_implementation_names_model_samples_temperature_and_the_words() -> None:
    said = geval.implementation("m", "faithfulness", 4, 0.7)
    assert said.startswith("G-Eval of faithfulness: m, 4 samples at temperature 0.7, prompt ")
    assert said != geval.implementation("m", "comprehensiveness", 4, 0.7)
    with pytest.raises(ValueError, match="table of e is not available"):
        geval.messages(RatedAnswer("d", "e", "s", text="x"), "faithfulness")
