"""A language model as a model of the predictor, against a small OpenAI-compatible server."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from predictor import prompts
from predictor.architectures import Model, ModelError, info, load, never_stop
from predictor.protocol import Prediction, PredictRequest, ProtocolError
from tableqa import Context, Table, Turn
from tableqa.serialisations import SERIALISATIONS
from tests.predictor.test_server import serving

TABLE = Table(
    header=["City", "People"], rows=[["Oslo", "700"], ["Bergen", "290"]], title="Norway", caption="in 2020"
)
ASKED = PredictRequest(question="which city is larger?", table=TABLE)


class Endpoint:
    """A chat endpoint on this machine; `reply` makes the text of its answer from the request's body."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.reply: Callable[[dict[str, Any]], str] = lambda body: '{"answers": ["Oslo"]}'
        self.knows_schemas = True
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                endpoint.bodies.append(body)
                endpoint.keys.append(self.headers.get("authorization", ""))
                status, said = 200, {"choices": [{"message": {"content": endpoint.reply(body)}}]}
                if "response_format" in body and not endpoint.knows_schemas:
                    status, said = 400, {"error": "response_format is not known"}  # type: ignore[dict-item]
                data = json.dumps(said).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    running = Endpoint()
    yield running
    running.server.shutdown()
    running.server.server_close()


@pytest.fixture
def model(endpoint: Endpoint, tmp_path: Path) -> Callable[..., Model]:
    def made(**settings: Any) -> Model:
        said = {"architecture": "chat", "name": "qwen", "url": endpoint.url, "model": "qwen3", **settings}
        (tmp_path / "askew.json").write_text(json.dumps(said))
        return load(tmp_path)

    return made


def answer(model: Model, request: PredictRequest = ASKED) -> Prediction | ProtocolError:
    (found,) = model.predict_batch([request], never_stop)
    return found


def test_it_is_asked_with_three_demonstrations_and_a_schema(
    endpoint: Endpoint, model: Callable[..., Model]
) -> None:
    found = answer(model())
    assert isinstance(found, Prediction)
    assert (found.answers, found.text, found.op) == (("Oslo",), '{"answers": ["Oslo"]}', "generate")
    (body,) = endpoint.bodies
    assert body["response_format"]["json_schema"]["schema"] == prompts.ANSWER_SCHEMA
    assert [one["role"] for one in body["messages"]] == ["system", *["user", "assistant"] * 3, "user"]
    assert body["temperature"] == 0.0


def test_titles_history_and_context_are_in_what_it_reads(
    endpoint: Endpoint, model: Callable[..., Model]
) -> None:
    request = PredictRequest(
        question="and the smaller one?",
        table=TABLE,
        history=(Turn("which city is larger?", ["Oslo"]),),
        context=Context(text="Cities by the sea.", unit="EUR", scale="thousand"),
    )
    answer(model(), request)
    asked = endpoint.bodies[0]["messages"][-1]["content"]
    for said in ("Norway / in 2020", "which city is larger? (Oslo)", "Cities by the sea.", "EUR", "thousand"):
        assert said in asked


def test_an_endpoint_without_schemas_is_asked_without(
    endpoint: Endpoint, model: Callable[..., Model]
) -> None:
    endpoint.knows_schemas = False
    found = answer(model())
    assert isinstance(found, Prediction)
    assert found.answers == ("Oslo",)
    assert ["response_format" in body for body in endpoint.bodies] == [True, True, False]


@pytest.mark.parametrize(
    ("reply", "answers"),
    [
        ("I think it is Oslo.", ()),
        ("", ()),
        ('Sure! {"answers": ["Oslo"]} I hope this helps.', ("Oslo",)),
        ('{"answers": ["<script>alert(1)</script>"]}', ("<script>alert(1)</script>",)),
        ('{"answers": ["half \\ud800 and \\u0000"]}', ("half \ufffd and \ufffd",)),
        ("x" * 100_000, ()),
    ],
)
def test_whatever_it_replies_is_kept_as_text(
    endpoint: Endpoint, model: Callable[..., Model], reply: str, answers: tuple[str, ...]
) -> None:
    endpoint.reply = lambda body: reply
    qwen = model()
    found = answer(qwen)
    assert isinstance(found, Prediction)
    assert found.answers == answers
    said = json.loads(json.dumps(found.to_dict() | {"model": info(qwen).id}))
    assert Prediction.from_dict(said, TABLE.shape).answers == answers


@pytest.mark.parametrize("form", ["markdown", "json", "html", "csv"])
def test_the_form_of_the_table_is_chosen_and_is_part_of_the_hash(
    endpoint: Endpoint, model: Callable[..., Model], form: str
) -> None:
    plain, chosen = model(), model(serialisation=form)
    answer(chosen)
    assert SERIALISATIONS[form].dumps(TABLE) in endpoint.bodies[-1]["messages"][-1]["content"]
    assert plain.sha != chosen.sha


def test_a_table_that_is_too_long_loses_its_last_rows_in_every_form() -> None:
    table = Table(header=["n", "city"], rows=[[str(n), f"city {n}"] for n in range(3_000)])
    for form in ("", "markdown", "json"):
        text, seen = prompts.table_text(table, form)
        assert len(text) <= prompts.MOST_CHARACTERS
        assert 0 < seen < 3_000
        assert f"city {seen - 1}" in text
        assert f"city {seen}" not in text.replace(f"city {seen}0", "")


def test_the_key_comes_from_the_environment_alone(
    endpoint: Endpoint, model: Callable[..., Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QWEN_KEY", "secret")
    qwen = model(key_variable="QWEN_KEY")
    answer(qwen)
    assert endpoint.keys == ["Bearer secret"]
    assert "secret" not in repr(vars(qwen))
    monkeypatch.delenv("QWEN_KEY")
    with pytest.raises(ModelError, match="QWEN_KEY"):
        model(key_variable="QWEN_KEY")


@pytest.mark.parametrize("wrong", [{"url": ""}, {"model": 3}, {"serialisation": "yaml"}, {"key": "secret"}])
def test_what_is_wrong_in_the_file_is_named(model: Callable[..., Model], wrong: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=next(iter(wrong))):
        model(**wrong)


def test_it_answers_over_http_as_any_other_model(endpoint: Endpoint, model: Callable[..., Model]) -> None:
    qwen = model()
    with serving(qwen) as client:
        said = client.post("/v1/predict", json=ASKED.to_dict())
        ready = client.get("/readyz")
    assert said.status_code == 200
    assert said.json()["answers"] == ["Oslo"]
    assert ready.status_code == 200
