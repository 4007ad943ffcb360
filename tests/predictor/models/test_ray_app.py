"""The Ray Serve application on a Ray of this machine, where Ray is installed (requirements/ray.txt)."""

from __future__ import annotations

import importlib.util
import os
import socket
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

import httpx
import pytest

from predictor.architectures import load, never_stop
from predictor.client import Bill, Model
from predictor.protocol import Options, Prediction, PredictRequest, models_from_dict
from tableqa import Table

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="ray is not installed (requirements/ray.txt)"
    ),
    pytest.mark.usefixtures("deep_learning"),
]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def address(folders: dict[str, Path]) -> Iterator[str]:
    """Two replicas of a small TAPEX."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    from ray import serve

    from predictor.ray_app import build

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ray.init(
        num_cpus=4,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}},
    )
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        serve.run(build({"models": str(folders["tapex"]), "replicas": "2"}), name="askew", route_prefix="/")
        yield f"http://127.0.0.1:{port}"
    finally:
        serve.shutdown()
        ray.shutdown()


def test_replicas_give_the_answers_of_one_process(address: str, folders: dict[str, Path]) -> None:
    here = load(folders["tapex"])
    asked = [
        PredictRequest(
            question=f"which city is number {n}?",
            table=Table(header=["n", "city"], rows=[[str(i), f"city {i}"] for i in range(n + 1)]),
            options=Options(max_new_tokens=5),
            deadline_ms=60_000,
        )
        for n in range(12)
    ]
    with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
        (model,) = models_from_dict(client.get("/v1/models").json())
        assert model.sha == here.sha
        assert client.get("/readyz").status_code == 200
        with ThreadPoolExecutor(6) as pool:
            said = list(pool.map(lambda one: client.post("/v1/predict", json=one.to_dict()), asked))
        wrong = client.post("/v1/predict", json=asked[0].to_dict() | {"model": "another"})
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (404, "no_such_model")
        assert client.post("/v1/predict", content=b"no").status_code == 422
        late = client.post("/v1/predict", json=asked[0].to_dict() | {"deadline_ms": 1})
        assert late.status_code == 504
    for request, answer in zip(asked, said, strict=True):
        (expected,) = here.predict_batch([request], never_stop)
        assert isinstance(expected, Prediction)
        found = Prediction.from_dict(answer.json(), request.table.shape)
        assert (found.text, found.rows_seen) == (expected.text, expected.rows_seen)


KILLS = 10
"""At most; the test ends with the first that takes requests with it."""


def test_a_replica_that_is_killed_at_work_costs_no_answer(address: str, folders: dict[str, Path]) -> None:
    """SIGKILL, as by the kernel where memory ends: each question that it worked on is asked once more, and answered."""
    here = load(folders["tapex"])
    client = Model(address, here.name, in_flight=64)
    bills: list[Bill] = []

    def ask(number: int) -> Prediction:
        request = PredictRequest(
            question=f"which city is number {number}?",
            table=Table(header=["n", "city"], rows=[[str(row), f"city {row}"] for row in range(20)]),
            options=Options(max_new_tokens=100),
            deadline_ms=60_000,
        )
        return client.predict(request, within=90, bills=bills)

    answered = 0
    with ThreadPoolExecutor(16) as pool:
        for _ in range(KILLS):
            under_way = [pool.submit(ask, answered + number) for number in range(48)]
            wait(under_way, return_when=FIRST_COMPLETED)
            kill_a_replica()
            for future in under_way:  # raises PredictionError where an answer was lost
                assert future.result().text
            answered += len(under_way)
            if any(bill.lost for bill in bills):
                break
    client.close()
    assert sum(bill.lost for bill in bills) >= 1, "no request was under way in a replica that was killed"
    assert max(bill.lost for bill in bills) == 1
    assert len(bills) == answered


def kill_a_replica() -> None:
    """End the process of one replica at once."""
    import ray

    named = ray.util.list_named_actors(all_namespaces=True)
    replicas = [one for one in named if one["name"].startswith("SERVE_REPLICA::askew#predictor")]
    assert replicas, named
    handle = ray.get_actor(replicas[0]["name"], namespace=replicas[0]["namespace"])
    ray.kill(handle)


def test_an_unknown_argument_is_refused() -> None:
    from predictor.architectures import ModelError
    from predictor.ray_app import build

    with pytest.raises(ModelError, match="no argument gpus"):
        build({"gpus": "2"})
