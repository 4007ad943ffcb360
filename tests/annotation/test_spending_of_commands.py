"""What `answer_prompts`, `metrics --geval` and `evaluate` spend on language models without a project."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.annotation.test_metrics_command import lftqa_file
from tests.predictor.endpoints import Body, Endpoint, endpoint

PROMPTS, RATINGS = 30, 18


@pytest.fixture
def llm(settings: Any) -> Iterator[Endpoint]:
    with endpoint(Endpoint("vllm", reply=lambda body: '{"score": 4}')) as server:
        settings.PREDICTORS = {"llm": server.entry(price=[10, 20], parallel=2, stop_after=5)}
        yield server


def prompts(folder: Path) -> Path:
    path = folder / "prompts.jsonl"
    lines = [
        json.dumps({"id": f"p{number}", "design": "d", "dataset": "s", "prompt": "heat " * 200 + str(number)})
        for number in range(PROMPTS)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(params=["answer_prompts", "metrics"])
def command(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[str], int]:
    """A command that asks the language model, and how many requests it makes in all."""
    if request.param == "answer_prompts":
        out = str(tmp_path / "replies.jsonl")
        return ["answer_prompts", str(prompts(tmp_path)), "--predictor", "llm", "--out", out], PROMPTS
    return rating(tmp_path), RATINGS


def rating(folder: Path) -> list[str]:
    arguments = ["metrics", str(lftqa_file(folder)), "--reader", "jsonl", "--metric", "meteor"]
    return [*arguments, "--geval", "llm", "--keep", str(folder / "kept")]


def run(*arguments: str) -> str:
    """What the command prints about costs."""
    err = StringIO()
    call_command(*arguments, stdout=StringIO(), stderr=err)
    return err.getvalue()


def kept(folder: Path) -> int:
    files = [folder / "replies.jsonl", *(folder / "kept").glob("geval_*")]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files if file.exists())


def test_an_estimate_is_printed_before_anything_is_asked(
    command: tuple[list[str], int], llm: Endpoint
) -> None:
    arguments, requests = command
    printed = run(*arguments, "--estimate")
    assert f"llm: about {requests} requests" in printed
    assert "USD (estimate)" in printed
    assert llm.requests == []


def test_a_budget_is_a_hard_limit_and_answers_that_were_paid_are_kept(
    command: tuple[list[str], int], llm: Endpoint, tmp_path: Path
) -> None:
    arguments, requests = command
    with pytest.raises(CommandError, match="budget of 3,000 tokens"):
        run(*arguments, "--budget-tokens", "3000")
    sent = len(llm.requests)
    assert 0 < sent < requests
    assert kept(tmp_path) == sent
    printed = run(*arguments, "--budget-usd", "5")
    assert f"about {requests - sent} requests" in printed
    assert len(llm.requests) == requests
    assert f"({requests - sent} of {requests - sent} counted)" in printed
    assert printed.count(" USD") == 2, "in the estimate and in the sum"


def test_a_budget_in_usd_needs_a_price(command: tuple[list[str], int], llm: Endpoint, settings: Any) -> None:
    settings.PREDICTORS = {"llm": llm.entry()}
    with pytest.raises(CommandError, match="has no price"):
        run(*command[0], "--budget-usd", "5")
    assert llm.requests == []


def test_the_command_stops_after_unusable_replies_in_a_row(
    command: tuple[list[str], int], llm: Endpoint
) -> None:
    llm.mood = "declines"
    err = StringIO()
    with pytest.raises(CommandError, match="5 unusable replies in a row"):
        call_command(*command[0], stdout=StringIO(), stderr=err)
    assert 5 <= len(llm.requests) <= 7, "those under way when the fifth came are kept, too"
    assert f"{len(llm.requests)} declined by the model" in err.getvalue()


def test_as_many_requests_are_under_way_as_the_entry_allows(
    command: tuple[list[str], int], llm: Endpoint
) -> None:
    llm.gathers = 2
    run(*command[0])
    assert llm.most_at_once == 2


def test_a_rating_ends_the_row_of_unusable_replies(llm: Endpoint, settings: Any, tmp_path: Path) -> None:
    settings.PREDICTORS["llm"]["parallel"] = 1

    def every_third(body: Body) -> str:
        return '{"score": 4}' if len(llm.requests) % 3 == 0 else "well"

    llm.reply = every_third
    run(*rating(tmp_path))
    assert len(llm.requests) == RATINGS
