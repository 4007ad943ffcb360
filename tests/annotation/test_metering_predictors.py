"""Language models behind an Askew predictor are metered as direct ones are: tokens, prices, retries and budgets."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

import tableqa
from annotation.assistance import (
    draft_checks,
    model_accuracy,
    model_answers,
    model_queries,
    prediction_jobs,
    visible_verdicts,
)
from annotation.models import Assignment, Batch, ModelRequest, Project
from annotation.platform.refusals import ActionRefused
from annotation.queue import metered_models, metering
from annotation.releases.model_evaluation import queries
from predictor import client
from predictor.architectures import ModelError, load
from predictor.architectures.chat import ChatPredictor
from predictor.budget import Tally
from predictor.protocol import PredictRequest
from predictor.usage import USUAL_COMPLETION, Call
from tableqa.scoring.predictions import EvaluationError
from tests.annotation.cast import NOON, World, make_world
from tests.annotation.filling import fill
from tests.annotation.test_api import program
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


@contextmanager
def behind(llm: Endpoint, tmp_path: Path) -> Iterator[httpx.Client]:
    """A predictor of this machine with the endpoint behind it."""
    folder = tmp_path / "qwen"
    folder.mkdir()
    said: dict[str, Any] = {
        "architecture": "chat",
        "name": "qwen",
        "url": llm.url,
        "model": "small",
        "max_tokens": 50,
        "parallel": 2,  # one question at a time
    }
    said["price"] = [1_000_000, 2_000_000]
    (folder / "askew.json").write_text(json.dumps(said))
    model = load(folder)
    assert isinstance(model, ChatPredictor)
    model.chat = replace(model.chat, wait=lambda seconds: None)
    with serving(model) as server:
        yield server


@pytest.fixture
def entry(llm: Endpoint, settings: Any, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The entry of a predictor of this machine with the endpoint behind it."""
    with behind(llm, tmp_path) as server:
        client._cached_model.cache_clear()
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
    assert fill(batch=tried, now=NOON) == (1, 0)
    assert len(llm.requests) == 2
    rows = ModelRequest.objects.order_by("pk")
    assert [(row.purpose, row.batch, row.predictor, row.state, row.is_counted) for row in rows] == [
        ("loop", tried, "qwen", "answered", True)
    ] * 2
    assert all(row.completion_tokens == 2 and row.completion_price == Decimal(2) for row in rows)


def test_retries_within_the_predictor_are_rows_of_their_own(tried: Batch, llm: Endpoint) -> None:
    llm.flavour = "llama_cpp"
    fill(batch=tried, now=NOON)
    assert ModelRequest.objects.count() == len(llm.requests)


@pytest.mark.parametrize("mood", ["cut_off", "declines", "filtered"])
def test_a_reply_without_an_answer_has_cost_its_tokens(tried: Batch, llm: Endpoint, mood: str) -> None:
    llm.mood = mood
    fill(batch=tried, now=NOON)
    states = set(ModelRequest.objects.values_list("state", flat=True))
    assert states == {{"cut_off": "cut_off", "declines": "declined", "filtered": "filtered"}[mood]}
    assert metering.usage(ModelRequest.objects.all()).prompt_tokens > 0


@pytest.mark.parametrize("where", [Batch, Project])
def test_a_budget_is_checked_before_the_predictor_is_asked(
    tried: Batch, llm: Endpoint, where: type[Batch | Project]
) -> None:
    key = tried.pk if where is Batch else tried.project_id
    where.objects.filter(pk=key).update(model_budget={"tokens": 100})
    filled = prediction_jobs.fill_all(batch=Batch.objects.get(pk=tried.pk), now=NOON)
    assert (filled.asked, filled.left, llm.requests) == (0, 1, [])
    assert not ModelRequest.objects.exists()
    where.objects.filter(pk=key).update(model_budget={})
    assert fill(batch=tried, now=NOON) == (1, 0)


def test_a_budget_also_limits_an_entry_without_a_price(
    tried: Batch, llm: Endpoint, entry: dict[str, Any], settings: Any
) -> None:
    settings.PREDICTORS = {"qwen": {name: value for name, value in entry.items() if name != "price"}}
    Project.objects.update(model_budget={"tokens": 100})
    assert fill(batch=tried, now=NOON) == (0, 1)
    assert llm.requests == []


def test_a_preview_is_metered_and_limited(
    world: World, entry: dict[str, Any], llm: Endpoint, settings: Any
) -> None:
    settings.PREDICTORS = {"qwen": {**entry, "deadline_ms": 800}}
    batch = world.batch("question_paraphrase", variant="word", loop_model="qwen")
    assignment = world.take(batch, "ada")
    assert assignment is not None

    def look(assignment: Assignment, question: str, seq: int) -> visible_verdicts.VisibleVerdict:
        data = {"question": question, "category": "reasoning_synonym"}
        response = {"base": assignment.plain_item.base, "data": data}
        return draft_checks.check_draft(
            assignment=assignment, response=response, kind="preview", seq=seq, now=NOON
        )

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
        queries.model_of({"qwen": entry}, "qwen", meter)(EXAMPLE)
    assert list(ModelRequest.objects.values_list("purpose", "state")) == [("evaluation", "answered")]


def test_an_evaluation_stops_at_the_budget(entry: dict[str, Any], world: World, llm: Endpoint) -> None:
    Project.objects.update(model_budget={"tokens": 1})
    meter = metering.meter_of("qwen", project=world.project.pk, batch=None, purpose="evaluation")
    with pytest.raises(EvaluationError, match="budget of the project"):
        queries.model_of({"qwen": entry}, "qwen", meter)(EXAMPLE)
    assert llm.requests == []


def test_questions_and_accuracy_are_counted_for_their_project(
    entry: dict[str, Any], world: World, llm: Endpoint
) -> None:
    model_queries.ask_model(
        sources=[world.source], predictor="qwen", purpose="cells", now=lambda: NOON, limit=2
    )
    assert ModelRequest.objects.filter(purpose="questions").count() == 2
    batch = world.batch("question_paraphrase", variant="word")
    keys = list(batch.items.values_list("example_id", flat=True))
    Project.objects.update(model_budget={"tokens": 1})
    with pytest.raises(ActionRefused, match="budget of the project"):
        model_accuracy.ask(keys, task=batch.task(), predictor="qwen", clock=lambda: NOON)
    assert not ModelRequest.objects.filter(purpose="accuracy").exists()


def test_an_answer_that_never_came_is_counted_by_estimate(entry: dict[str, Any], world: World) -> None:
    meter = metering.meter_of("qwen", project=world.project.pk, batch=None, purpose="evaluation")
    request = PredictRequest.about(EXAMPLE)
    payment = metered_models.begin(meter, entry, [request], within=5)
    payment.bills.append(client.Bill(request))
    payment.settle()
    (row,) = ModelRequest.objects.all()
    assert (row.state, row.is_counted, row.completion_tokens) == ("away", False, USUAL_COMPLETION)


# -- evaluations without a project, practice, and the predictor's own question -----------------------


def test_the_command_that_evaluates_counts_and_limits(entry: dict[str, Any], llm: Endpoint) -> None:
    tally = Tally(entry["price"])
    queries.model_of({"qwen": entry}, "qwen", tally)(EXAMPLE)
    (call,) = tally.calls
    assert (call.state, call.is_counted, call.completion_tokens) == ("answered", True, 2)
    assert "1 of 1 counted" in tally.in_words()
    with pytest.raises(EvaluationError, match="budget of 5 tokens"):
        queries.model_of({"qwen": entry}, "qwen", Tally(budget={"tokens": 5}))(EXAMPLE)
    assert len(llm.requests) == 1


def test_practice_is_counted_for_its_project_and_limited(
    world: World, entry: dict[str, Any], llm: Endpoint, settings: Any
) -> None:
    settings.PREDICTORS = {"qwen": {**entry, "deadline_ms": 800}}
    address = "projects/films/practice/question_paraphrase/predictions/"
    data = {"question": "in which year was Alien released?", "category": "reasoning_synonym"}

    def practise(seq: int) -> Any:
        body = {"variant": "word", "number": 1, "kind": "try", "response": {"data": data}, "seq": seq}
        return program(world, "ada")("POST", address, body).body

    assert practise(1)["state"] == "answered"
    rows = ModelRequest.objects.all()
    assert {(row.purpose, row.batch, row.project, row.state) for row in rows} == {
        ("practice", None, world.project, "answered")
    }
    assert len(rows) == len(llm.requests) == 2
    assert [row["purpose"] for row in metering.table(rows).rows] == ["practice"]
    Project.objects.update(model_budget={"tokens": 1})
    refused = practise(2)
    assert (refused["state"], "budget of the project" in refused["words"]) == ("unavailable", True)
    assert len(llm.requests) == 2


def test_the_test_question_is_counted_by_the_predictor_and_asked_once_an_hour(
    llm: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("predictor.server.CANARY_EVERY", -1.0)
    with behind(llm, tmp_path) as server:
        wait_until(lambda: server.get("/readyz").status_code == 200)
        for _ in range(3):
            assert server.get("/readyz").status_code == 200
        figures = server.get("/metrics").text
    assert len(llm.requests) == 1
    assert re.search(r'askew_predictor_test_requests_total{model="qwen@\w+"} 1\n', figures)
    assert re.search(r'askew_predictor_test_tokens_total{model="qwen@\w+",direction="output"} 2\n', figures)
    (tokens,) = re.findall(r'test_tokens_total{model="qwen@\w+",direction="input"} (\d+)\n', figures)
    (usd,) = re.findall(r'askew_predictor_test_usd_total{model="qwen@\w+"} ([0-9.]+)\n', figures)
    assert float(usd) == int(tokens) + 2 * 2


@pytest.mark.parametrize("price", [[1], [1, -1], "1", [1, True]])
def test_a_price_that_is_none_is_named(tmp_path: Path, price: Any) -> None:
    said = {"architecture": "chat", "url": "http://127.0.0.1:9/v1", "model": "small", "price": price}
    (tmp_path / "askew.json").write_text(json.dumps(said))
    with pytest.raises(ModelError, match="price must be"):
        load(tmp_path)


@pytest.mark.parametrize(("mood", "status"), [("cut_off", 200), ("declines", 200), ("locked", 503)])
def test_a_language_model_that_replies_is_ready(
    llm: Endpoint, tmp_path: Path, mood: str, status: int
) -> None:
    llm.mood = mood
    with behind(llm, tmp_path) as server:
        wait_until(lambda: llm.requests and server.get("/readyz").status_code == status)
        assert server.get("/readyz").status_code == status


def test_a_language_model_that_dies_is_not_ready_until_it_answers_again(
    llm: Endpoint, tmp_path: Path
) -> None:
    with behind(llm, tmp_path) as server:
        wait_until(lambda: server.get("/readyz").status_code == 200)
        llm.moods = ["broken"] * 4
        assert server.post("/v1/predict", json=PredictRequest.about(EXAMPLE).to_dict()).status_code == 500
        llm.mood = "locked"
        dead = server.get("/readyz")
        assert (dead.status_code, "did not answer" in dead.text) == (503, True)
        llm.mood = "well"
        wait_until(lambda: server.get("/readyz").status_code == 200)


def test_one_failed_request_asks_no_test_question(llm: Endpoint, tmp_path: Path) -> None:
    with behind(llm, tmp_path) as server:
        wait_until(lambda: server.get("/readyz").status_code == 200)
        llm.moods = ["broken"]
        assert server.post("/v1/predict", json=PredictRequest.about(EXAMPLE).to_dict()).status_code == 200
        assert server.get("/readyz").status_code == 200
    assert len(llm.requests) == 3, "the test question, the request, and its retry"


# -- what is lost ------------------------------------------------------------------------------------


@pytest.mark.parametrize("moods", [["crashing"], ["cut"], ["hung"]])
def test_a_first_answer_that_is_lost_counts_without_price_and_budget(
    world: World, settings: Any, moods: list[str]
) -> None:
    with scripted(answer("1999", usage=(Call("answered", 30, 2, True),))) as script:
        script.max_tokens = 50
        client._cached_model.cache_clear()
        settings.PREDICTORS = {"small": script.entry}
        script.moods = moods * 2
        meter = metering.meter_of("small", project=world.project.pk, batch=None, purpose="evaluation")
        request = PredictRequest.about(EXAMPLE)
        payment = metered_models.begin(meter, script.entry, [request], within=1)
        with pytest.raises(client.PredictionError):
            client.connect(script.entry).predict(request, within=1, bills=payment.bills)
        payment.settle()
        lost = len(script.asked)
        script.stop.set()
    rows = list(ModelRequest.objects.all())
    assert [(row.state, row.is_counted) for row in rows] == [("away", False)] * lost
    assert lost >= 1


def test_a_server_that_cannot_describe_its_model_is_asked_nothing() -> None:
    with scripted(answer("1999")) as script:
        script.kill()
        client._cached_model.cache_clear()
        bills: list[client.Bill] = []
        with pytest.raises(client.PredictionError):
            client.connect(script.entry).predict(PredictRequest.about(EXAMPLE), within=1, bills=bills)
    assert (bills, script.asked) == ([], [])


def test_each_try_that_was_lost_counts_by_estimate_within_what_was_reserved(
    world: World, entry: dict[str, Any], llm: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserved: list[tuple[int, int]] = []
    reserve = metering.ProjectMeter.reserve

    def noting(meter: metering.ProjectMeter, *tokens: int) -> int:
        reserved.append((tokens[0], tokens[1]))
        return reserve(meter, *tokens)

    monkeypatch.setattr(metering.ProjectMeter, "reserve", noting)
    llm.moods = ["broken", "broken"]
    meter = metering.meter_of("qwen", project=world.project.pk, batch=None, purpose="evaluation")
    queries.model_of({"qwen": entry}, "qwen", meter)(EXAMPLE)
    rows = list(ModelRequest.objects.order_by("pk"))
    assert [(row.state, row.is_counted) for row in rows] == [
        ("away", False),
        ("away", False),
        ("answered", True),
    ]
    assert all(row.prompt_tokens > 0 for row in rows)
    ((prompt, completion),) = reserved
    assert sum(row.prompt_tokens for row in rows) <= prompt
    assert sum(row.completion_tokens for row in rows) <= completion


def test_a_question_that_is_too_late_counts_what_was_sent_and_is_not_tried_again(
    world: World, entry: dict[str, Any], llm: Endpoint
) -> None:
    meter = metering.meter_of("qwen", project=world.project.pk, batch=None, purpose="evaluation")
    llm.moods = ["broken", "hung"]
    request = PredictRequest.about(EXAMPLE)
    payment = metered_models.begin(meter, entry, [request], within=1.5)
    with pytest.raises(client.PredictionError, match="in time") as caught:
        client.connect(entry).predict(request, within=1.5, bills=payment.bills)
    payment.settle()
    assert caught.value.usage is not None
    assert [(row.state, row.is_counted) for row in ModelRequest.objects.all()] == [("away", False)] * 2
    llm.stop.set()
    wait_until(lambda: not llm.moods)
    assert len(llm.requests) == 2


def test_a_superseded_question_that_was_never_sent_costs_nothing(
    entry: dict[str, Any], llm: Endpoint
) -> None:
    model = client.connect(entry)
    assert model.reply_tokens() == 50
    llm.moods = ["hung"]
    bills: list[client.Bill] = []

    def ask(question: str, slot: str, seq: int) -> threading.Thread:
        request = replace(PredictRequest.about(EXAMPLE), question=question, slot=slot, seq=seq)

        def predict() -> None:
            with suppress(client.PredictionError):
                model.predict(request, within=20, bills=bills)

        thread = threading.Thread(target=predict)
        thread.start()
        return thread

    threads = [ask("first?", "a", 1)]
    wait_until(lambda: len(llm.requests) == 1)
    threads.append(ask("second?", "b", 1))
    wait_until(lambda: len(bills) == 2)
    threads.append(ask("third?", "b", 2))
    wait_until(lambda: any(bill.usage == () for bill in bills))
    assert [bill.request.question for bill in bills if bill.usage == ()] == ["second?"]
    llm.stop.set()
    for thread in threads:
        thread.join()


def test_a_predictor_that_is_asked_again_is_counted_twice(world: World, settings: Any) -> None:
    usage = (Call("answered", 30, 2, True),)
    with scripted(answer("1999", usage=usage)) as script:
        script.max_tokens = 50
        settings.PREDICTORS = {"small": {**script.entry, "price": [1, 2]}}
        script.moods = ["crashing"]
        meter = metering.meter_of("small", project=world.project.pk, batch=None, purpose="evaluation")
        queries.model_of(settings.PREDICTORS, "small", meter)(EXAMPLE)
    assert list(ModelRequest.objects.order_by("is_counted").values_list("state", "is_counted")) == [
        ("away", False),
        ("answered", True),
    ]


@pytest.mark.django_db
def test_other_models_are_neither_counted_nor_limited(settings: Any, world: World) -> None:
    with scripted(answer("1999")) as script:
        settings.PREDICTORS = {"small": {**script.entry, "price": [1, 2]}}
        Project.objects.update(model_budget={"tokens": 1})
        meter = metering.meter_of("small", project=world.project.pk, batch=None, purpose="evaluation")
        said = queries.model_of(settings.PREDICTORS, "small", meter)(EXAMPLE)
    assert said["answers"] == ["1999"]
    assert not ModelRequest.objects.exists()


def test_a_job_asks_in_parallel_what_the_predictor_states(world: World, settings: Any) -> None:
    under_way, most, lock = 0, 0, threading.Lock()

    def says(request: PredictRequest) -> Any:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        wait_until(lambda: most >= 4, "two questions of two examples each are under way")
        with lock:
            under_way -= 1
        return answer("1999", usage=(Call("answered", 30, 2, True),))(request)

    with scripted(says) as script:
        script.max_tokens, script.parallel = 50, 4
        settings.PREDICTORS = {"small": script.entry}
        client._cached_model.cache_clear()
        assert model_answers.create_crew("small").at_once == 2
        batch = world.batch("question_paraphrase", variant="word", loop_model="small")
        for _ in range(3):
            assignment = world.take(batch, "ada")
            assert assignment is not None
            world.answer(assignment, REWORDED)
        assert fill(batch=batch, now=NOON) == (3, 0)
        assert most == 4
        assert ModelRequest.objects.filter(purpose="loop").count() == len(script.asked)


def test_a_predictor_states_the_requests_that_its_endpoint_gets_at_a_time(entry: dict[str, Any]) -> None:
    (model,) = httpx.get(f"{entry['url']}/v1/models").json()["models"]
    assert (model["max_tokens"], model["parallel"]) == (50, 2)
    assert model_answers.create_crew("qwen").at_once == 1
