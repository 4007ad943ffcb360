"""Language models behind an Askew predictor are metered as direct ones are: tokens, prices, retries and budgets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import tableqa
from annotation.evaluation import evaluating
from annotation.help import asking, model_accuracy, predicting
from annotation.models import Assignment, Batch, ModelRequest, Project
from annotation.refusals import Refused
from annotation.work import metering, paying
from predictor import client
from predictor.architectures import load
from predictor.protocol import PredictRequest
from tableqa.predictions import EvaluationError
from tests.annotation.cast import NOON, World, make_world
from tests.predictor.endpoints import Endpoint, endpoint
from tests.predictor.scripted import answer, scripted
from tests.predictor.test_server import serving
from tests.waiting import wait_until

EXAMPLE = tableqa.Example(
    id="1",
    question="which city is larger?",
    answers=["Oslo"],
    table=tableqa.Table(header=["City", "People"], rows=[["Oslo", "700"], ["Bergen", "290"]]),
)
REWORDED = {"question": "in which year was Alien released?", "category": "reasoning_synonym"}


@pytest.fixture
def llm() -> Iterator[Endpoint]:
    with endpoint(Endpoint("vllm")) as server:
        yield server


@pytest.fixture
def entry(llm: Endpoint, settings: Any, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The entry of a predictor of this machine with the endpoint behind it."""
    folder = tmp_path / "qwen"
    folder.mkdir()
    said = {"architecture": "chat", "name": "qwen", "url": llm.url, "model": "small", "max_tokens": 50}
    (folder / "askew.json").write_text(json.dumps(said))
    with serving(load(folder)) as server:
        client._connected.cache_clear()
        entry = {
            "protocol": "predict",
            "url": str(server.base_url),
            "model": "qwen",
            "price": [1, 2],
            "deadline_ms": 20_000,
        }
        settings.PREDICTORS = {"qwen": entry}
        wait_until(lambda: server.get("/readyz").status_code == 200)
        llm.requests.clear()  # the predictor's own test question
        yield entry


@pytest.fixture
def world(db: None, tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def tried(world: World, entry: dict[str, Any]) -> Batch:
    """A batch with one answer that the model in the loop has to look at."""
    batch = world.batch("question_paraphrase", variant="word", loop_model="qwen")
    assignment = world.take(batch, "ada")
    assert assignment is not None
    world.answer(assignment, REWORDED)
    return batch


def test_the_loop_counts_each_request_with_its_price(tried: Batch, llm: Endpoint) -> None:
    assert predicting.fill(batch=tried, now=NOON) == (1, 0)
    assert len(llm.requests) == 2
    rows = ModelRequest.objects.order_by("pk")
    assert [(row.purpose, row.batch, row.predictor, row.state, row.is_counted) for row in rows] == [
        ("loop", tried, "qwen", "answered", True)
    ] * 2
    assert all(row.completion_tokens == 2 and row.completion_price == Decimal(2) for row in rows)


def test_retries_within_the_predictor_are_rows_of_their_own(tried: Batch, llm: Endpoint) -> None:
    llm.flavour = "llama_cpp"
    predicting.fill(batch=tried, now=NOON)
    assert ModelRequest.objects.count() == len(llm.requests)


@pytest.mark.parametrize("mood", ["cut_off", "declines", "filtered"])
def test_a_reply_without_an_answer_has_cost_its_tokens(tried: Batch, llm: Endpoint, mood: str) -> None:
    llm.mood = mood
    predicting.fill(batch=tried, now=NOON)
    states = set(ModelRequest.objects.values_list("state", flat=True))
    assert states == {{"cut_off": "cut_off", "declines": "declined", "filtered": "filtered"}[mood]}
    assert metering.spent(ModelRequest.objects.all()).prompt_tokens > 0


@pytest.mark.parametrize("where", [Batch, Project])
def test_a_budget_is_checked_before_the_predictor_is_asked(
    tried: Batch, llm: Endpoint, where: type[Batch | Project]
) -> None:
    key = tried.pk if where is Batch else tried.project_id
    where.objects.filter(pk=key).update(model_budget={"tokens": 100})
    filled = predicting.fill_all(batch=Batch.objects.get(pk=tried.pk), now=NOON)
    assert (filled.asked, filled.left, llm.requests) == (0, 1, [])
    assert not ModelRequest.objects.exists()
    where.objects.filter(pk=key).update(model_budget={})
    assert predicting.fill(batch=tried, now=NOON) == (1, 0)


def test_a_budget_also_limits_an_entry_without_a_price(
    tried: Batch, llm: Endpoint, entry: dict[str, Any], settings: Any
) -> None:
    settings.PREDICTORS = {"qwen": {name: value for name, value in entry.items() if name != "price"}}
    Project.objects.update(model_budget={"tokens": 100})
    assert predicting.fill(batch=tried, now=NOON) == (0, 1)
    assert llm.requests == []


def test_a_preview_is_metered_and_limited(
    world: World, entry: dict[str, Any], llm: Endpoint, settings: Any
) -> None:
    settings.PREDICTORS = {"qwen": {**entry, "deadline_ms": 800}}
    batch = world.batch("question_paraphrase", variant="word", loop_model="qwen")
    assignment = world.take(batch, "ada")
    assert assignment is not None

    def look(assignment: Assignment, question: str, seq: int) -> predicting.Seen:
        data = {"question": question, "category": "reasoning_synonym"}
        response = {"base": assignment.plain_item.base, "data": data}
        return predicting.look(assignment=assignment, response=response, kind="preview", seq=seq, now=NOON)

    assert look(assignment, "what year was it released?", 1).state in ("answered", "unavailable")
    assert not ModelRequest.objects.filter(state="open").exists()
    asked = ModelRequest.objects.count()
    assert asked >= 1
    Batch.objects.update(model_budget={"tokens": 1})
    assignment = world.reload(assignment)
    seen = look(assignment, "in what year was it released?", 2)
    assert (seen.state, "budget" in seen.words) == ("unavailable", True)
    assert ModelRequest.objects.count() == asked


def test_an_answer_that_the_predictor_remembers_costs_nothing(entry: dict[str, Any], world: World) -> None:
    for _ in range(2):
        meter = metering.meter_of("qwen", project=world.project.pk, batch=None, purpose="evaluation")
        evaluating.model_of({"qwen": entry}, "qwen", meter)(EXAMPLE)
    assert list(ModelRequest.objects.values_list("purpose", "state")) == [("evaluation", "answered")]


def test_an_evaluation_stops_at_the_budget(entry: dict[str, Any], world: World, llm: Endpoint) -> None:
    Project.objects.update(model_budget={"tokens": 1})
    meter = metering.meter_of("qwen", project=world.project.pk, batch=None, purpose="evaluation")
    with pytest.raises(EvaluationError, match="budget of the project"):
        evaluating.model_of({"qwen": entry}, "qwen", meter)(EXAMPLE)
    assert llm.requests == []


def test_questions_and_accuracy_are_counted_for_their_project(
    entry: dict[str, Any], world: World, llm: Endpoint
) -> None:
    asking.ask_model(sources=[world.source], predictor="qwen", purpose="cells", now=lambda: NOON, limit=2)
    assert ModelRequest.objects.filter(purpose="questions").count() == 2
    batch = world.batch("question_paraphrase", variant="word")
    keys = list(batch.items.values_list("example_id", flat=True))
    Project.objects.update(model_budget={"tokens": 1})
    with pytest.raises(Refused, match="budget of the project"):
        model_accuracy.ask(keys, task=batch.task(), predictor="qwen", clock=lambda: NOON)
    assert not ModelRequest.objects.filter(purpose="accuracy").exists()


def test_an_answer_that_never_came_is_counted_by_estimate(entry: dict[str, Any], world: World) -> None:
    meter = metering.meter_of("qwen", project=world.project.pk, batch=None, purpose="evaluation")
    request = PredictRequest.about(EXAMPLE)
    payment = paying.begin(meter, entry, [request], within=5)
    payment.bills.append(client.Bill(request))
    payment.settle()
    (row,) = ModelRequest.objects.all()
    assert (row.state, row.is_counted, row.completion_tokens) == ("away", False, metering.USUAL_COMPLETION)


@pytest.mark.django_db
def test_other_models_are_neither_counted_nor_limited(settings: Any, world: World) -> None:
    with scripted(answer("1999")) as script:
        settings.PREDICTORS = {"small": {**script.entry, "price": [1, 2]}}
        Project.objects.update(model_budget={"tokens": 1})
        meter = metering.meter_of("small", project=world.project.pk, batch=None, purpose="evaluation")
        said = evaluating.model_of(settings.PREDICTORS, "small", meter)(EXAMPLE)
    assert said["answers"] == ["1999"]
    assert not ModelRequest.objects.exists()
