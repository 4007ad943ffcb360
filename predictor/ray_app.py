"""The predictor beyond one machine: the same models as a Ray Serve application with replicas.

    serve run predictor.ray_app:build models=/srv/models/tapex-large replicas=4 device=cuda

It speaks `predictor.protocol`, so the platform uses it as it uses `predictor.server`. Ray spreads requests over the
replicas, collects those of a replica (`@serve.batch`) and drops those whose client has hung up; within a replica
the batch is cut by a budget of tokens as everywhere (`predictor.batcher.plan`). Requests of a slot may reach
different replicas, so nothing is superseded here and nothing is remembered: a page closes requests that it no longer needs.
Needs requirements/ray.txt; nothing else imports this module.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from predictor.architectures import Model, ModelError, info, load_to_serve
from predictor.batcher import predict_all
from predictor.protocol import PROTOCOL, Prediction, PredictRequest, ProtocolError, refused
from predictor.server import (
    bundled,
    internal_error,
    read_request,
    settings_for,
    test_question,
    unusable_canary,
)
from predictor.web import refusal

MOST_AT_ONCE = 64
"""Requests in a batch of one replica."""


class PredictorReplica:
    """One replica with one model. `__call__` answers HTTP."""

    def __init__(self, folder: str, device: str) -> None:
        self.settings = settings_for(device)
        self.model: Model = load_to_serve(folder, device) if folder else bundled()
        self.info = info(self.model)
        (canary,) = predict_all(self.model, [test_question(self.info)], self.settings)
        if isinstance(canary, ProtocolError) and unusable_canary(canary) is None:
            raise ModelError(f"{self.info.id} failed its first question: {canary.message}")

    async def __call__(self, request: Request) -> Response:
        route = (request.method, request.url.path)
        if route == ("GET", "/v1/models"):
            return JSONResponse({"protocol": PROTOCOL, "models": [self.info.to_dict()]})
        if route in (("GET", "/healthz"), ("GET", "/readyz")):  # a replica that is not ready gets no requests
            return PlainTextResponse("ok\n")
        if route != ("POST", "/v1/predict"):
            return refusal(ProtocolError(404, "bad_request", "There is no such page."))
        try:
            return JSONResponse((await self.answer(await read_request(request))).to_dict())
        except ProtocolError as error:
            return refusal(error)
        except Exception as error:
            return await internal_error(request, error)

    async def answer(self, request: PredictRequest) -> Prediction:
        """The answer, within the request's deadline. Raises ProtocolError."""
        model_name, _, sha = request.model.partition("@")
        if (model_name and model_name != self.info.name) or (sha and sha != self.info.sha):
            raise refused(
                "no_such_model", f"There is no model {request.model!r} here; there is {self.info.id}."
            )
        started = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(request.deadline_ms / 1000):
                outcome = await self.together(request)
        except TimeoutError:
            raise refused("too_late", f"No answer within {request.deadline_ms} ms.") from None
        if isinstance(outcome, ProtocolError):
            raise outcome
        spent = (asyncio.get_running_loop().time() - started) * 1000
        return outcome.for_request(request.seq, self.info.id, 0.0, spent, cached=False)

    @serve.batch(max_batch_size=MOST_AT_ONCE, batch_wait_timeout_s=0.005)
    async def together(self, requests: list[PredictRequest]) -> list[Prediction | ProtocolError]:
        """Requests of about the same time, computed in a thread so that new ones can be accepted."""
        return await asyncio.to_thread(predict_all, self.model, requests, self.settings)


def build(arguments: Mapping[str, str]) -> Any:
    """The application for `serve run`.

    models     the folder of a model; without it, the bundled one
    replicas   how many processes, default 1
    device     cpu (default) or cuda; each replica on cuda takes its own GPU
    """
    if unknown := sorted(arguments.keys() - {"models", "replicas", "device"}):
        raise ModelError(f"there is no argument {', '.join(unknown)}; there are models, replicas and device")
    device = arguments.get("device", "cpu")
    deployment = serve.deployment(PredictorReplica).options(
        name="predictor",
        num_replicas=int(arguments.get("replicas", 1)),
        max_ongoing_requests=4 * MOST_AT_ONCE,
        ray_actor_options={"num_gpus": 1 if device.startswith("cuda") else 0},
    )
    return deployment.bind(arguments.get("models", ""), device)
