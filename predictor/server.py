"""The predictor's process: models behind HTTP, as `predictor.protocol` describes it.

    python -m predictor.server --model /srv/models/tapex-large --device cuda --port 8100

    POST /v1/predict   GET /v1/models   GET /healthz   GET /readyz   GET /metrics

All that can reach it can ask it, so it listens on this machine only by default. It knows no users: a request
holds a question, a table and a random slot, and no request is written to a log.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import math
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from predictor.architectures import Model, ModelError, info, load_to_serve
from predictor.batcher import Batcher, Settings
from predictor.budget import Tally
from predictor.protocol import (
    LIMITS,
    PROTOCOL,
    ModelInfo,
    Options,
    Prediction,
    PredictRequest,
    ProtocolError,
    refused,
)
from predictor.usage import cost
from predictor.web import cancel_on_disconnect, read_json, refusal
from tableqa import Table
from tableqa.core.command_line import PROGRAM

CANARY = PredictRequest(
    question="which city has the most people?",
    table=Table(header=["City", "People"], rows=[["Lunden", "1,200"], ["Marsk", "34,000"], ["Tove", "560"]]),
    options=Options(max_new_tokens=8),
    deadline_ms=20_000,
)
"""What every model is asked before it counts as ready, and again when a person wants to know after a while."""

CANARY_EVERY = 30.0
"""Seconds for which a canary's answer counts."""
PAID_CANARY_EVERY = 3_600.0
"""The same of a language model, whose every answer costs."""
REPLIED = frozenset(("cut_off", "declined", "filtered", "unreadable"))
"""States of unusable replies: the endpoint of a language model works, for any reply to the test question."""
FAILS_AFTER = 2
"""Requests in a row without an answer after which the endpoint of a language model has to pass the test again."""
HANGS_AFTER = 60.0
"""Seconds after which one batch is no longer slow but stuck."""


class ServedModel:
    """One model with its queue, and whether it has shown that it answers."""

    def __init__(self, model: Model, settings: Settings | None = None) -> None:
        self.model = model
        self.info = info(model)
        self.batcher = Batcher(model, settings)
        self.canary: Prediction | None = None
        self.test_usage = Tally(getattr(model, "price", (0, 0)))
        """What a language model used for test questions, which belong to no project."""
        self.reason = "It has not answered its first question yet."
        self._asked_at = -math.inf
        self._asking = asyncio.Lock()
        self._test: asyncio.Future[bool] | None = None

    async def is_ready(self) -> bool:
        """Whether it answers; asks the canary where the last answer is too old."""
        if self.batcher.computing_for > HANGS_AFTER:
            self.reason = f"One batch has been running for {self.batcher.computing_for:.0f} s."
            return False
        if self._asking.locked():
            return self.canary is not None  # a person is finding out already
        failures = getattr(self.model, "failures", 0)
        if failures >= FAILS_AFTER and self.canary is not None:
            self.canary, self.reason = None, f"Its endpoint did not answer the last {failures} requests."
            self._test = asyncio.ensure_future(self.is_ready())  # which takes long without an answer
            return False
        async with self._asking:
            loop = asyncio.get_running_loop()
            every = PAID_CANARY_EVERY if self.info.max_tokens else CANARY_EVERY
            if loop.time() - self._asked_at > every or self.canary is None:
                try:
                    self.canary = await self.batcher.submit(test_question(self.info), fresh=True)
                    self.test_usage.settle_all(None, self.canary.usage)
                except ProtocolError as error:
                    if error.code == "busy" and self.canary is not None:
                        return True  # it has so much to do that it answers no test question; it does answer
                    self.test_usage.settle_all(None, error.usage or ())
                    self.canary, self.reason = unusable_canary(error), error.message
                self._asked_at = loop.time()
        return self.canary is not None


def test_question(model: ModelInfo) -> PredictRequest:
    """The canary for a model; a language model needs more tokens and more time for its reply."""
    return replace(CANARY, options=Options(), deadline_ms=60_000) if model.max_tokens else CANARY


def unusable_canary(error: ProtocolError) -> Prediction | None:
    """The reply of a language model that has no answer to the canary; None where there was no reply."""
    if error.state not in REPLIED:
        return None
    rows = len(CANARY.table.rows)
    return Prediction((), error.message, rows_seen=rows, rows_total=rows, state=error.state)


def settings_for(device: str) -> Settings:
    """How the queue of models on a device behaves.

    On a CPU, time grows with the tokens of a batch, padding included. On a GPU it grows with the steps, so requests of
    different lengths go together, as far as the budget of tokens allows.
    """
    return Settings() if device == "cpu" else Settings(spread=math.inf)


def create_app(models: Sequence[Model], settings: Settings | None = None) -> Starlette:
    """The application for these models, whose names differ."""
    if len({model.name for model in models}) < len(models) or not models:
        raise ModelError("give at least one model, each with a different name")
    served: dict[str, ServedModel] = {}

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        served.update({model.name: ServedModel(model, settings) for model in models})
        warming = [asyncio.ensure_future(served_model.is_ready()) for served_model in served.values()]
        try:
            yield
        finally:
            for served_model in served.values():
                await served_model.batcher.close()
            await asyncio.gather(*warming, return_exceptions=True)

    async def predict(request: Request) -> Response:
        try:
            prediction_request = await read_request(request)
            batcher = _find_model(served, prediction_request.model).batcher
        except ProtocolError as error:
            return refusal(error)
        except ClientDisconnect:
            return Response(status_code=499)  # it is not read
        try:
            prediction = await cancel_on_disconnect(request, batcher.submit(prediction_request))
        except ProtocolError as error:
            return refusal(error)
        except ClientDisconnect:
            batcher.counts["withdrawn"] += 1
            return Response(status_code=499)
        return JSONResponse(prediction.to_dict())

    async def list_models(request: Request) -> Response:
        return JSONResponse(
            {
                "protocol": PROTOCOL,
                "models": [served_model.info.to_dict() for served_model in served.values()],
            }
        )

    async def health(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def ready(request: Request) -> Response:
        state = {
            served_model.info.id: {"ready": await served_model.is_ready(), **_canary(served_model)}
            for served_model in tuple(served.values())
        }
        fine = all(model["ready"] for model in state.values())
        headers = {} if fine else {"Retry-After": "2"}
        return JSONResponse(
            {"ready": fine, "models": state}, status_code=200 if fine else 503, headers=headers
        )

    async def metrics(request: Request) -> Response:
        return PlainTextResponse(
            exposition(tuple(served.values())), media_type="text/plain; version=0.0.4; charset=utf-8"
        )

    return Starlette(
        routes=[
            Route("/v1/predict", predict, methods=["POST"]),
            Route("/v1/models", list_models),
            Route("/healthz", health),
            Route("/readyz", ready),
            Route("/metrics", metrics),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: no_such_page, Exception: internal_error},
    )


async def no_such_page(request: Request, error: Exception) -> Response:
    """An address or a method that there is not, in the form of every other error."""
    assert isinstance(error, HTTPException)  # nosec
    protocol_error = ProtocolError(
        error.status_code, "bad_request", f"{request.method} {request.url.path}: {error.detail}."
    )
    return refusal(protocol_error)


async def internal_error(request: Request, error: Exception) -> Response:
    """An unexpected error, in the form of every other error; Starlette logs it."""
    return refusal(
        refused("cannot_answer", f"The predictor failed on this request ({type(error).__name__}).")
    )


def _find_model(served: dict[str, ServedModel], model_id: str) -> ServedModel:
    """The model that a request names; where it names weights, these and no others."""
    name, _, sha = model_id.partition("@")
    if not name and len(served) == 1:
        return next(iter(served.values()))
    if name not in served:
        raise refused("no_such_model", f"There is no model {name!r}. Available: {', '.join(served)}.")
    if sha and served[name].info.sha != sha:
        raise refused(
            "no_such_model",
            f"{name} has different weights: {served[name].info.id} instead of {model_id}.",
        )
    return served[name]


async def read_request(request: Request) -> PredictRequest:
    """What a person asks. Raises ProtocolError for what is no request, or too long to be read."""
    return PredictRequest.from_dict(await read_json(request, LIMITS.body_bytes))


def _canary(served_model: ServedModel) -> dict[str, Any]:
    if served_model.canary is None:
        return {"reason": served_model.reason}
    return {
        "canary": list(served_model.canary.answers),
        "compute_ms": round(served_model.canary.ms["compute"], 1),
    }


COUNTED = {
    "requests": "Requests received.",
    "answered": "Requests answered by a computation.",
    "cached": "Requests answered from the cache.",
    "merged": "Requests that joined the computation of an identical request.",
    "superseded": "Requests replaced by a newer one of the same slot.",
    "withdrawn": "Requests whose client disconnected.",
    "dropped": "Computations removed from the queue because no client was waiting.",
    "stopped": "Computations that ended after all their clients had gone.",
    "too_late": "Requests that exceeded their deadline.",
    "too_fast": "Requests refused because of the rate limit per slot.",
    "busy": "Requests refused because the queue was full.",
    "failed": "Computations that failed.",
    "computed": "Computations started.",
    "batches": "Batches started.",
}


def exposition(served: Sequence[ServedModel]) -> str:
    """The figures of /metrics, in Prometheus' text format."""
    lines = []
    for name, help_text in COUNTED.items():
        lines += [
            f"# HELP askew_predictor_{name}_total {help_text}",
            f"# TYPE askew_predictor_{name}_total counter",
        ]
        lines += [
            f'askew_predictor_{name}_total{{model="{served_model.info.id}"}} {served_model.batcher.counts[name]}'
            for served_model in served
        ]
    lines += [
        "# HELP askew_predictor_waiting Computations in the queue.",
        "# TYPE askew_predictor_waiting gauge",
    ]
    lines += [
        f'askew_predictor_waiting{{model="{served_model.info.id}"}} {served_model.batcher.waiting}'
        for served_model in served
    ]
    for name, help_text in (("queue", "Seconds spent waiting."), ("compute", "Seconds spent in the model.")):
        metric = f"askew_predictor_{name}_seconds"
        lines += [f"# HELP {metric} {help_text}", f"# TYPE {metric} histogram"]
        for served_model in served:
            times, label = served_model.batcher.times[name], f'model="{served_model.info.id}"'
            lines += [
                f'{metric}_bucket{{{label},le="{bound}"}} {count}'
                for bound, count in zip((*times.BOUNDS, "+Inf"), (*times.buckets, times.count), strict=True)
            ]
            lines += [f"{metric}_sum{{{label}}} {times.sum:.6f}", f"{metric}_count{{{label}}} {times.count}"]
    lines += _test_usage([served_model for served_model in served if served_model.info.max_tokens])
    return "\n".join(lines) + "\n"


def _test_usage(served: Sequence[ServedModel]) -> list[str]:
    """What the test questions to language models used: no project pays for them."""
    if not served:
        return []
    requests, tokens = "askew_predictor_test_requests_total", "askew_predictor_test_tokens_total"
    lines = [f"# HELP {requests} Test questions to a language model, retries included."]
    lines += [f"# TYPE {requests} counter"]
    lines += [
        f'{requests}{{model="{served_model.info.id}"}} {len(served_model.test_usage.calls)}'
        for served_model in served
    ]
    lines += [f"# HELP {tokens} Tokens of test questions to a language model.", f"# TYPE {tokens} counter"]
    for served_model in served:
        usage = served_model.test_usage
        for direction, count in (("input", usage.prompt_tokens), ("output", usage.completion_tokens)):
            lines.append(f'{tokens}{{model="{served_model.info.id}",direction="{direction}"}} {count}')
    usd = "askew_predictor_test_usd_total"
    lines += [
        f"# HELP {usd} Price of test questions in USD, by the price in askew.json.",
        f"# TYPE {usd} counter",
    ]
    for served_model in served:
        usage = served_model.test_usage
        price = cost(usage.prompt_tokens, usage.completion_tokens, usage.price)
        lines.append(f'{usd}{{model="{served_model.info.id}"}} {price:.6f}')
    return lines


# --- the process -------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or Ctrl-C. Exit status 1 where a model cannot be loaded."""
    parser = argparse.ArgumentParser(
        prog=f"{PROGRAM} predictor", description="Serve models that answer questions about tables."
    )
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        help="folder of a model, repeatable; default: the bundled model",
    )
    parser.add_argument("--port", type=int, default=8100, metavar="N", help="default 8100")
    parser.add_argument(
        "--host", default="127.0.0.1", help="default 127.0.0.1: this machine only. The server has no password"
    )
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, or a device such as cuda:1")
    parser.add_argument("--quiet", action="store_true", help="do not print what is served")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    try:
        models = [load_to_serve(folder, options.device) for folder in options.model] or [bundled()]
        app = create_app(models, settings_for(options.device))
    except ModelError as error:
        print(f"predictor: {error}", file=sys.stderr)
        return 1
    for model in models:
        print(
            f"predictor: {info(model).id} ({model.architecture}); licence: {model.licence}", file=sys.stderr
        )
    import uvicorn

    # No access log: it would hold when which lease asked something. The backlog is for bursts of short connections.
    uvicorn.run(
        app,
        host=options.host,
        port=options.port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=3,
        server_header=False,
    )
    return 0


def bundled() -> Model:
    """The model that comes with this copy. Raises ModelError where it does not."""
    from predictor.bundled import load_bundled

    return load_bundled()


if __name__ == "__main__":
    sys.exit(main())
