"""A predictor for benchmarks: a model that only takes time, or one of a real shape with random weights.

    python -m benchmarks.simulated --port N --milliseconds 120
    python -m benchmarks.simulated --port N --shape tapex-large --device cuda --dtype bfloat16 --steps 16

The server, its queue and its batches are those of `./run predictor`. The simulated model takes the same time for a batch of
any size, as a GPU does as long as the batch is small. `GET /stats` tells the batches so far: number, requests, seconds,
and tokens written one after the other.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Sequence
from typing import Any

import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from predictor.architectures import Model, Stop
from predictor.batcher import Settings
from predictor.protocol import Prediction, PredictRequest, ProtocolError
from predictor.server import create_app, settings_for

SHAPES = {"tapex-tiny": "tiny", "tapex-base": "base", "tapex-large": "large"}


class SimulatedModel:
    """Answers with the first cell after a fixed time."""

    name, sha, architecture, licence = "bench", "0123456789ab", "simulated", "none"
    budget = 1_000

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def tokens(self, request: PredictRequest) -> int:
        return 1

    def predict_batch(self, requests: Sequence[PredictRequest], stop: Stop) -> Sequence[Prediction]:
        time.sleep(self.seconds)
        return [
            Prediction(
                answers=(one.table.rows[0][0],),
                text=one.table.rows[0][0],
                rows_seen=len(one.table.rows),
                rows_total=len(one.table.rows),
                score=0.5,
            )
            for one in requests
        ]


class CountedModel:
    """A model whose batches are counted; with `steps`, an answer has that many tokens."""

    def __init__(self, model: Model, steps: int = 0) -> None:
        self.model, self.steps = model, steps
        self.name, self.sha = "bench", model.sha
        self.architecture, self.licence, self.budget = model.architecture, model.licence, model.budget
        self.tokens = model.tokens
        self.stats: dict[str, float] = {"batches": 0, "requests": 0, "seconds": 0.0, "steps": 0, "largest": 0}

    def predict_batch(
        self, requests: Sequence[PredictRequest], stop: Stop
    ) -> Sequence[Prediction | ProtocolError]:
        if self.steps:
            requests = [
                dataclasses.replace(one, options=dataclasses.replace(one.options, max_new_tokens=self.steps))
                for one in requests
            ]
        began = time.perf_counter()
        answers = self.model.predict_batch(requests, stop)
        self.stats["seconds"] += time.perf_counter() - began
        self.stats["batches"] += 1
        self.stats["requests"] += len(requests)
        self.stats["steps"] += self.steps
        self.stats["largest"] = max(self.stats["largest"], len(requests))
        return answers


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulated")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--milliseconds", type=float, default=120.0)
    parser.add_argument("--shape", choices=SHAPES)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--steps", type=int, default=16, help="tokens of each answer of a shape")
    options = parser.parse_args(arguments)
    if options.shape:
        from benchmarks.predictor import _model

        model: Any = _model(SHAPES[options.shape], options.device, options.dtype)
        model.prepare()
        counted = CountedModel(model, options.steps)
        settings = settings_for(options.device)
    else:
        counted, settings = CountedModel(SimulatedModel(options.milliseconds / 1000)), Settings()
    app = create_app([counted], settings)

    async def stats(request: Request) -> JSONResponse:
        return JSONResponse(counted.stats)

    app.routes.append(Route("/stats", stats))
    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning", access_log=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
