"""The predictor's process over HTTP: what it answers, what it refuses, and what a client that hangs up costs."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from predictor.architectures import ModelError, find, load
from predictor.batcher import Settings
from predictor.protocol import LIMITS, Prediction, PredictRequest, models_from_dict
from predictor.server import COUNTED, create_app
from tableqa import Table
from tests.predictor.echo import Echo
from tests.waiting import wait_until

TABLE = Table(header=["City"], rows=[["Oslo"]])
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def serving(*models: Any, settings: Settings | None = None) -> Iterator[httpx.Client]:
    """A real server in a thread of this process, on a free port."""
    config = uvicorn.Config(
        create_app(models, settings), port=0, log_level="warning", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=10, trust_env=False) as client:
            yield client
    finally:
        for model in models:
            if isinstance(model, Echo):
                model.gate.set()
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive()


def body(question: str = "which city?", **changes: Any) -> dict[str, Any]:
    return PredictRequest(question=question, table=TABLE).to_dict() | changes


def test_a_question_is_answered_with_the_model_that_answered_it() -> None:
    with serving(Echo()) as client:
        said = client.post("/v1/predict", json=body(slot="s", seq=3))
        again = client.post("/v1/predict", json=body())
    prediction = Prediction.from_dict(said.json(), TABLE.shape)
    assert (said.status_code, prediction.answers, prediction.seq) == (200, ("which city?",), 3)
    assert prediction.model == "echo@0123456789ab"
    assert again.json()["cached"] is True


def test_it_says_which_models_there_are_and_that_they_answer() -> None:
    with serving(Echo()) as client:
        (model,) = models_from_dict(client.get("/v1/models").json())
        ready = client.get("/readyz")
        assert client.get("/healthz").text == "ok\n"
    assert (model.id, model.licence) == ("echo@0123456789ab", "none")
    assert ready.status_code == 200
    assert ready.json()["models"][model.id]["canary"] == ["which city has the most people?"]


def test_it_is_not_ready_before_its_first_answer_but_alive() -> None:
    model = Echo()
    model.gate.clear()
    with serving(model) as client:
        wait_until(lambda: bool(model.batches))
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["ready"], ready.headers["retry-after"]) == (503, False, "2")
        assert client.get("/healthz").status_code == 200
        model.gate.set()
        wait_until(lambda: client.get("/readyz").status_code == 200)


def test_a_model_that_fails_its_first_question_is_never_ready() -> None:
    class BrokenModel(Echo):
        def predict_batch(self, requests: Any, stop: Any) -> Any:
            raise RuntimeError("no such kernel")

    with serving(BrokenModel()) as client:
        ready = client.get("/readyz")
    assert ready.status_code == 503
    assert "RuntimeError" in json.dumps(ready.json())


def test_several_models_are_told_apart_by_name_and_by_weights() -> None:
    other = Echo()
    other.name, other.sha = "other", "ffffffffffff"
    with serving(Echo(), other) as client:
        for name, model in {"echo": "echo@0123456789ab", "other@ffffffffffff": "other@ffffffffffff"}.items():
            assert client.post("/v1/predict", json=body(model=name)).json()["model"] == model
        for name, words in {
            "": "echo, other",
            "third": "echo, other",
            "other@aaaaaaaaaaaa": "different weights",
        }.items():
            refused = client.post("/v1/predict", json=body(model=name))
            assert refused.status_code == 404
            assert words in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"not json", 422),
        (b"[" * 100_000, 422),
        (b"\xff\xfe", 422),
        (b"{}", 422),
        (json.dumps(body(question="")).encode(), 422),
        (json.dumps(body(table={"header": ["a"], "rows": [["x"]] * 5_000}, table_sha="")).encode(), 413),
        (json.dumps(body(question="endless")).encode(), 413),
        (b" " * (LIMITS.body_bytes + 1), 413),
        (json.dumps(body(question="poison")).encode(), 500),
    ],
)
def test_what_cannot_be_answered_is_refused_with_its_reason(sent: bytes, status: int) -> None:
    with serving(Echo()) as client:
        said = client.post("/v1/predict", content=sent)
        assert said.status_code == status
        assert said.json()["error"]["message"]
        assert client.post("/v1/predict", json=body()).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v2/predict", 404), ("GET", "/v1/predict", 405), ("PUT", "/", 404)],
)
def test_an_address_that_there_is_not_is_an_error_of_the_protocol(
    method: str, path: str, status: int
) -> None:
    with serving(Echo()) as client:
        reply = client.request(method, path)
    assert reply.status_code == status
    assert reply.json()["error"]["code"] == "bad_request"


def test_a_fault_nobody_expected_is_an_error_of_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Echo()) as client:
        monkeypatch.setattr(Prediction, "to_dict", lambda self: 1 / 0)
        reply = client.post("/v1/predict", json=body())
    assert reply.status_code == 500
    assert reply.json()["error"]["code"] == "cannot_answer"
    assert "Traceback" not in reply.text


def test_a_body_without_a_length_is_not_read_beyond_the_limit() -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(LIMITS.body_bytes // 50_000 + 2):
            yield b" " * 50_000

    with serving(Echo()) as client:
        assert client.post("/v1/predict", content=endless()).status_code == 413


def test_a_full_queue_and_a_missed_deadline_have_their_statuses() -> None:
    model = Echo()
    with serving(model, settings=Settings(most_waiting=1)) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200)
        model.gate.clear()
        asked = [
            threading.Thread(target=client.post, args=("/v1/predict",), kwargs={"json": body("running")})
        ]
        asked[0].start()
        wait_until(lambda: ["running"] in model.batches)
        asked.append(
            threading.Thread(target=client.post, args=("/v1/predict",), kwargs={"json": body("waiting")})
        )
        asked[1].start()
        wait_until(lambda: 'waiting{model="echo@0123456789ab"} 1' in client.get("/metrics").text)
        busy = client.post("/v1/predict", json=body("one more"))
        late = client.post("/v1/predict", json=body("running", deadline_ms=30))
        model.gate.set()
        for thread in asked:
            thread.join()
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")
    assert (late.status_code, late.json()["error"]["code"]) == (504, "too_late")


def test_a_client_that_hangs_up_stops_its_generation() -> None:
    model = Echo(seconds=0.01, steps=1)
    with serving(model) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200)
        model.steps, before = 1_000, model.steps_taken
        with pytest.raises(httpx.ReadTimeout):
            client.post("/v1/predict", json=body("long"), timeout=0.1)
        wait_until(lambda: 'stopped_total{model="echo@0123456789ab"} 1' in client.get("/metrics").text)
    assert model.steps_taken - before < 200


def test_every_counter_is_shown_in_the_form_that_prometheus_reads() -> None:
    with serving(Echo()) as client:
        client.post("/v1/predict", json=body())
        said = client.get("/metrics")
    assert said.headers["content-type"].startswith("text/plain; version=0.0.4")
    for name in COUNTED:
        assert f"# TYPE askew_predictor_{name}_total counter" in said.text
    assert 'askew_predictor_compute_seconds_bucket{model="echo@0123456789ab",le="+Inf"}' in said.text
    for line in said.text.splitlines():
        assert line.startswith("# ") or float(line.rpartition(" ")[2]) >= 0


# --- folders -----------------------------------------------------------------------------------------------


def test_the_kind_of_a_folder_is_found_or_said(tmp_path: Path) -> None:
    def folder(name: str, **files: dict[str, Any]) -> Path:
        (tmp_path / name).mkdir()
        for file, content in files.items():
            (tmp_path / name / f"{file}.json").write_text(json.dumps(content))
        return tmp_path / name

    assert find(folder("a", config={"model_type": "bart"})).architecture == "tapex"
    assert find(folder("omnitab-large", config={"model_type": "bart"})).architecture == "omnitab"
    assert find(folder("b", config={"model_type": "tapas"})).architecture == "tapas"
    assert find(folder("c", tb_config={}, config={"model_type": "bart"})).architecture == "tabert"
    named = folder("d", askew={"architecture": "tapex", "name": "mine", "licence": "MIT"}, config={})
    assert (find(named).name, find(named).licence) == ("mine", "MIT")
    assert "CC BY-NC" in find(tmp_path / "c").licence
    for wrong, words in (
        (folder("e"), "nothing says what it is"),
        (folder("f", config={"model_type": "gpt2"}), "'gpt2'"),
        (folder("g", askew={"architecture": "magic"}), "'magic'"),
        (folder("h", askew={"weights": "http://elsewhere"}), "no setting weights"),
        (tmp_path / "none", "is no folder"),
    ):
        with pytest.raises(ModelError, match=words):
            load(wrong)


def test_the_process_says_what_is_wrong_with_a_folder_and_ends(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "predictor.server", "--model", str(tmp_path / "nowhere")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "nowhere is no folder" in done.stderr
    assert "Traceback" not in done.stderr


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_process_ends_at_once_when_it_is_told_to(tmp_path: Path) -> None:
    (tmp_path / "askew.json").write_text(
        json.dumps({"architecture": "chat", "url": f"http://127.0.0.1:{free_port()}/v1", "model": "m"})
    )
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "predictor.server", "--model", str(tmp_path), "--port", str(port)],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )

    def is_up() -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/healthz", trust_env=False).status_code == 200
        except httpx.HTTPError:
            return False

    try:
        wait_until(is_up, seconds=30)
        assert httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False, timeout=20).status_code == 503
        process.send_signal(signal.SIGTERM)
        assert process.wait(15) in (0, -signal.SIGTERM)
    finally:
        process.kill()
        process.wait()
