"""Models asked in the background: every example once, every answer kept, and people decide."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.assistance import model_queries
from annotation.models import ModelAnswer
from annotation.platform.refusals import ActionRefused
from predictor.chat import ChatError, Completion
from tests.annotation.cast import FILMS, World, make_world
from tests.predictor.scripted import SHA, answer, scripted


class Endpoint(BaseHTTPRequestHandler):
    """A model that knows when the films came out, all but one."""

    asked: list[dict[str, Any]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append(body)
        question = body["messages"][-1]["content"].rpartition("Question:")[2]
        answers = next(([year] for film, year, _ in FILMS if film in question and film != "Stalker"), ["?"])
        text = json.dumps({"answers": answers})
        data = json.dumps({"choices": [{"message": {"content": text}}] * body["n"]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def endpoint(settings: Any) -> Iterator[list[dict[str, Any]]]:
    Endpoint.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    settings.PREDICTORS = {"llm": {"protocol": "chat", "url": url, "model": "small"}}
    yield Endpoint.asked
    server.shutdown()
    server.server_close()


def screen(world: World, **more: Any) -> int:
    asked = {"predictor": "llm", "purpose": "screening", "samples": 3, **more}
    return model_queries.ask_model(sources=[world.source], **asked)


@pytest.mark.django_db
def test_every_example_is_asked_about_once(endpoint: list[dict[str, Any]], tmp_path: Path) -> None:
    world = make_world(tmp_path)
    assert screen(world, limit=1) == 1
    assert screen(world) == 3
    assert screen(world) == 0
    assert len(endpoint) == 4
    assert all(body["temperature"] > 0 and body["n"] == 3 for body in endpoint)
    first = ModelAnswer.objects.order_by("pk")[0]
    assert first.model == "llm:small"
    assert first.data["samples"] == [["1995"]] * 3
    assert (first.data["rows_seen"], first.data["rows_total"]) == (4, 4)


@pytest.mark.django_db
def test_a_batch_of_screening_holds_what_the_model_always_answers_rightly(
    endpoint: list[dict[str, Any]], tmp_path: Path
) -> None:
    world = make_world(tmp_path)
    screen(world)
    batch = world.batch("question_screening")
    asked = set(batch.items.values_list("example__question", flat=True))
    assert len(asked) == 3
    assert not any("Stalker" in question for question in asked)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"purpose": "poetry"}, "purpose must be one of"),
        ({"samples": 0}, "between 1 and 50"),
        ({"samples": 1}, "at least two samples"),
        ({"temperature": 0.0}, "above 0"),
        ({"predictor": "other"}, "no predictor 'other'"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_asked(
    endpoint: list[dict[str, Any]], tmp_path: Path, more: dict[str, Any], words: str
) -> None:
    world = make_world(tmp_path)
    with pytest.raises(ActionRefused, match=words):
        screen(world, **more)
    assert endpoint == []


@pytest.mark.django_db
def test_an_endpoint_that_fails_leaves_what_was_answered(settings: Any, tmp_path: Path) -> None:
    world = make_world(tmp_path)
    settings.PREDICTORS = {"llm": {"protocol": "chat", "url": "http://127.0.0.1:9/v1", "model": "m"}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("predictor.chat.TRIES", 1)
        with pytest.raises(ActionRefused, match="cannot be reached"):
            screen(world)
    assert not ModelAnswer.objects.exists()


@pytest.mark.django_db
def test_the_command_says_how_many(endpoint: list[dict[str, Any]], tmp_path: Path) -> None:
    make_world(tmp_path)
    out = StringIO()
    asked = ["--project", "films", "--predictor", "llm", "--purpose", "screening", "--samples", "2"]
    call_command("ask_model", *asked, stdout=out, stderr=StringIO())
    assert out.getvalue() == "4 examples asked.\n"
    with pytest.raises(CommandError, match="no predictor"):
        call_command("ask_model", *[*asked, "--predictor", "gone"], stdout=StringIO(), stderr=StringIO())


@pytest.mark.django_db
def test_a_models_view_of_a_question_is_a_suggestion(
    endpoint: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path)
    monkeypatch.setattr("predictor.chat.ChatModel.ask", lambda *a, **k: ["Cells: 1995\nOperation: retrieved"])
    asked = model_queries.ask_model(
        sources=[world.source], predictor="llm", purpose="question_type", samples=1, temperature=0
    )
    assert asked == 4
    batch = world.batch("question_type")
    said = batch.items.get(example__external_id="nu-0").inputs["suggestions"]
    assert said["model"]["label"] == "extraction"
    assert said["model"]["model"] == "llm:small"
    assert said["combined"]["label"] == "extraction"


@pytest.mark.django_db
def test_a_view_that_was_cut_off_is_kept_as_unread_and_the_job_goes_on(
    endpoint: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path)

    def ask(*given: Any, **more: Any) -> list[str]:
        raise ChatError("The reply was cut off.", "cut_off", "Operation: retrieved, or rather")

    monkeypatch.setattr("predictor.chat.ChatModel.ask", ask)
    asked = {"predictor": "llm", "purpose": "question_type", "samples": 1, "temperature": 0}
    assert model_queries.ask_model(sources=[world.source], **asked) == 4  # type: ignore[arg-type]
    data = ModelAnswer.objects.all()[0].data
    assert (data["reply"], data["unread"]) == ("", ["The reply was cut off."])
    said = world.batch("question_type").items.get(example__external_id="nu-0").inputs["suggestions"]
    assert said["model"]["label"] is None


@pytest.mark.django_db
def test_a_sample_that_was_cut_off_is_no_answer(
    endpoint: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path)
    samples = [Completion('{"answers": ["1995"]}'), Completion("", ChatError("cut off", "cut_off"))]
    monkeypatch.setattr("predictor.chat.ChatModel.complete", lambda *given, **more: samples)
    assert screen(world) == 4
    assert ModelAnswer.objects.all()[0].data["samples"] == [["1995"], None]
    assert ModelAnswer.objects.all()[0].data["unread"] == ["", "cut off"]
    with pytest.raises(ActionRefused, match="no model answered them several times, always correctly"):
        world.batch("question_screening")


@pytest.mark.django_db
def test_a_language_model_names_cells_and_people_judge_them(
    endpoint: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path)
    monkeypatch.setattr(
        "predictor.chat.ChatModel.ask", lambda *a, **k: ['I think {"cells": [[1, 2], [99, 1]]}']
    )
    asked = {"predictor": "llm", "purpose": "cells", "samples": 1, "temperature": 0}
    assert model_queries.ask_model(sources=[world.source], **asked) == 4  # type: ignore[arg-type]
    evidence = world.batch("cell_relevance").items.get(example__external_id="nu-0").inputs["evidence"]
    assert evidence == {"cells": [["r0", "c1"]], "from": "cells that a model used (llm:small)"}


@pytest.mark.django_db
def test_the_cells_that_a_model_points_at_will_do_as_well(settings: Any, tmp_path: Path) -> None:
    world = make_world(tmp_path)
    with scripted(answer("1995", cells=((0, 1),))) as server:
        settings.PREDICTORS = {"small": server.entry}
        asked = model_queries.ask_model(
            sources=[world.source], predictor="small", purpose="cells", samples=1, temperature=0
        )
        assert asked == 4
        with pytest.raises(ActionRefused, match="needs a language model"):
            screen(world, predictor="small")
    evidence = world.batch("cell_relevance").items.get(example__external_id="nu-0").inputs["evidence"]
    assert evidence["from"] == f"cells that a model used (small@{SHA})"


def test_every_purpose_is_one_that_a_kind_names() -> None:
    assert set(model_queries.purposes()) == {"screening", "question_type", "cells"}
