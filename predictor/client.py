"""Requests to a model in another process, with the deadline of a page or of a job.

    model = connect(entry)                         one per process and entry of PREDICTORS, pooled
    await model.ask(request, within=0.8)           -> Prediction, or PredictionError with a `kind` that says why not
    await model.ask_both(original, perturbed)      -> both predictions, by the same weights
    model.predict(request), model.predict_both()   the same for a thread that waits
    model.identity(within=0.8)                     -> "name@sha"

Nothing that a model's server does reaches a person but an answer that was checked, or a sentence: it may be gone, block,
send slowly, send wrong data, or answer with 50 MB. Requests are coroutines: on the event loop of the gateway, else on one
background loop per process. A request beyond `in_flight` is refused at once, and so is a thread beyond `THREADS`. After
several calls that failed or came late the server gets no calls for a moment, and then one call as a trial.
"""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from cachetools import LRUCache

from predictor import observing
from predictor.configuration import IN_FLIGHT
from predictor.protocol import (
    LIMITS,
    ModelInfo,
    Prediction,
    PredictRequest,
    ProtocolError,
    models_from_dict,
    refused,
    state_from,
    usage_from_list,
)
from predictor.replies import storable_text
from predictor.usage import Call

if TYPE_CHECKING:
    import httpx

log = logging.getLogger(__name__)

CONNECT = 0.2
"""Seconds until a server that does not take the connection counts as gone, for a page."""
CONNECT_PATIENT = 5.0
"""The same for a job."""
LIVE = 0.8
"""Seconds that a page waits for an answer. A model that needs longer is asked in the background."""
TO_SAY_SO = 150.0
"""Milliseconds that a predictor has to say what a question without an answer in time has cost."""
PATIENT = 30.0
"""Seconds that a job waits."""
THREADS = 4
"""Threads of a process that may wait for models at one time, whichever models: half of those of a web process."""
JOB_THREADS = 16
"""The same for threads of jobs, which wait for their turn."""
SLACK = 0.3
"""Seconds beyond the deadline that a thread gives the background loop to report it."""
REMEMBERED = 2_000
"""Answers to originals that a process remembers for each model, the latest used."""

Answer = TypeVar("Answer")
Kind = Literal["busy", "late", "gone", "wrong", "too_large", "superseded", "replaced"]


class PredictionError(Exception):
    """No answer, and why: `kind` for a program, the message for a person.

    busy         too many wait already, or the server's queue is full
    late         it did not answer in time
    gone         it cannot be reached, is starting, or pauses after failures
    wrong        what it answered is no prediction about this table
    too_large    the example is more than the model reads; asking again does not help
    superseded   a newer request of the same person has come
    replaced     two answers that belong together are of different weights

    `pause`: seconds of pause that the server requested, None where it did not. `usage`: what a language model
    behind it used in vain, None where the server may still compute the answer. `state`: how the request to a
    language model ended (`predictor.chat.Kind`), "" for other models.
    """

    def __init__(
        self,
        kind: Kind,
        message: str,
        pause: float | None = None,
        usage: tuple[Call, ...] | None = (),
        state: str = "",
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.pause = pause
        self.usage = usage
        self.state = state


@dataclass
class Bill:
    """What one question to a language model used: its requests, None as long as that is unknown.

    `lost`: how often the question was sent before without an answer. `is_metered`: the server describes the model as a
    language model, so that a question without an answer counts by estimate.
    """

    request: PredictRequest
    usage: tuple[Call, ...] | None = None
    lost: int = 0
    is_metered: bool = False


# -- leaving a server alone -------------------------------------------------------------------------


@dataclass
class Breaker:
    """Whether a server is to be asked at all. Calls that fail and calls that come late count alike.

    It opens when at least half of the last `window` calls were bad, and three of them; stays open for `first` seconds,
    twice as long each time it opens again, `longest` at most; then lets one call through, which decides.
    """

    window: int = 8
    least: int = 3
    first: float = 1.0
    longest: float = 15.0
    clock: Callable[[], float] = time.monotonic
    _last: deque[bool] = field(default_factory=deque)
    _open_until: float = 0.0
    _pause: float = 0.0
    _trying: bool = False
    is_asked: bool = False
    """Whether the server itself asked for the pause: it is busy, not gone."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def lets_through(self) -> bool:
        """Whether a call may be made now. After a pause one is; the others wait for its result."""
        with self._lock:
            if not self._pause:
                return True
            if self._trying or self.clock() < self._open_until:
                return False
            self._trying = True
            return True

    def report(self, good: bool) -> None:
        """Record how a call ended that was let through."""
        with self._lock:
            self._trying = False
            self.is_asked = False
            if good and self._pause:
                self._pause = 0.0
                self._last.clear()
            self._last.append(good)
            while len(self._last) > self.window:
                self._last.popleft()
            bad = self._last.count(False)
            if not good and (self._pause or (bad >= self.least and 2 * bad >= len(self._last))):
                self._pause = min(2 * self._pause or self.first, self.longest)
                self._open_until = self.clock() + self._pause

    def forget(self) -> None:
        """A call that was let through ended without a result about the server."""
        with self._lock:
            self._trying = False

    def leave_alone(self, seconds: float) -> None:
        """The server itself asked for a pause."""
        with self._lock:
            self._trying = False
            self.is_asked = True
            self._pause = min(max(seconds, self.first), self.longest)
            self._open_until = self.clock() + self._pause


# -- one server -------------------------------------------------------------------------------------


class Model:
    """One model at one server; made once per process by `connect`. At most `in_flight` requests wait for it."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        in_flight: int = IN_FLIGHT,
        breaker: Breaker | None = None,
        transport: Any = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.model = model
        self.in_flight = in_flight
        self.breaker = breaker or Breaker()
        self._transport = transport
        self._waiting = 0
        self._originals: LRUCache[str, Prediction] = LRUCache(REMEMBERED)
        self.max_tokens: int | None = None
        """Of a reply of a language model, 0 for other models; None until the server has described the model."""
        self.parallel = 0
        self._described = ""
        """The model's id when the server described it; other weights are described again."""
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = False

    async def ask(
        self, request: PredictRequest, *, within: float = LIVE, bills: list[Bill] | None = None
    ) -> Prediction:
        """The model's answer, checked. Raises PredictionError. Cancelling it closes the request. `bills` gets what it used.

        The first question waits for the server's description of the model: language models are metered from the first.
        """
        body = request.to_dict() | {"model": self.model, "deadline_ms": max(1, int(within * 1000))}
        try:
            PredictRequest.from_dict(body)  # what no model takes is not sent
        except ProtocolError as error:
            raise PredictionError("too_large", _sentence(error.message)) from None
        shape = (len(request.table.rows), len(request.table.header))
        began, outcome, bill = time.monotonic(), "cancelled", Bill(request)
        try:
            remaining_seconds = within
            if self.max_tokens is None:
                await self._describe(within)
                remaining_seconds = max(0.001, within - (time.monotonic() - began))
                body["deadline_ms"] = max(1, int(remaining_seconds * 1000))
            if self.max_tokens:  # one that is too late says in time what it has used
                body["deadline_ms"] = max(
                    1, int(remaining_seconds * 1000 - min(TO_SAY_SO, remaining_seconds * 1000 / 8))
                )
                bill.is_metered = True
            if bills is not None:
                bills.append(bill)
            prediction = await self._in_time(
                "POST",
                "/v1/predict",
                body,
                lambda data: Prediction.from_dict(data, shape=shape),
                remaining_seconds,
                bill,
            )
            outcome, bill.usage = "answered", prediction.usage
            if prediction.model != self._described:
                self.max_tokens = None
            return prediction
        except PredictionError as unanswered:
            outcome, bill.usage = unanswered.kind, unanswered.usage
            raise
        finally:
            observing.notify(self.model, outcome, time.monotonic() - began)

    async def ask_both(
        self,
        original: PredictRequest,
        perturbed: PredictRequest | None,
        *,
        within: float = LIVE,
        bills: list[Bill] | None = None,
    ) -> tuple[Prediction, Prediction | None]:
        """The answers to an original and to what a person made of it, None where that is None. Raises PredictionError.

        The original's answer is requested once and cached, as long as answers come from the same weights.
        """
        remembered = self._originals.get(original.key)
        if perturbed is None:
            return remembered or await self._predict_once(original, within, bills), None
        until = time.monotonic() + within
        if remembered is None:
            asking = [
                asyncio.ensure_future(self._predict_once(original, within, bills)),
                asyncio.ensure_future(self.ask(perturbed, within=within, bills=bills)),
            ]
            if self.max_tokens != 0:  # the cost of the other answer is recorded, too
                await asyncio.gather(*asking, return_exceptions=True)
            first, second = await asyncio.gather(*asking)
        else:
            first, second = remembered, await self.ask(perturbed, within=within, bills=bills)
        if first.model != second.model and remembered is not None:
            first = await self._predict_once(original, max(0.05, until - time.monotonic()), bills)
        if first.model != second.model:
            raise PredictionError("replaced", "The model is being replaced.")
        return first, second

    async def _predict_once(
        self, original: PredictRequest, within: float, bills: list[Bill] | None
    ) -> Prediction:
        prediction = await self.ask(original, within=within, bills=bills)
        self._originals[original.key] = prediction
        return prediction

    def predict(
        self, request: PredictRequest, *, within: float = LIVE, bills: list[Bill] | None = None
    ) -> Prediction:
        """`ask` for a thread, which waits. Raises PredictionError."""
        return _wait_for(self.ask(request, within=within, bills=bills), within)

    def predict_both(
        self,
        original: PredictRequest,
        perturbed: PredictRequest | None,
        *,
        within: float = LIVE,
        bills: list[Bill] | None = None,
    ) -> tuple[Prediction, Prediction | None]:
        """`ask_both` for a thread, which waits. Raises PredictionError."""
        return _wait_for(self.ask_both(original, perturbed, within=within, bills=bills), within)

    def identity(self, *, within: float = LIVE) -> str:
        """The model's name with the hash of its weights, as the server reports it now. Raises PredictionError."""

        return _wait_for(self._describe(within), within).id

    def reply_tokens(self, *, within: float = LIVE) -> int:
        """The most tokens of a reply of a language model, 0 for other models; asked once. Raises PredictionError."""
        if self.max_tokens is None:
            return _wait_for(self._describe(within), within).max_tokens
        return self.max_tokens

    async def _describe(self, within: float) -> ModelInfo:
        def read(data: object) -> ModelInfo:
            infos = [info for info in models_from_dict(data) if info.name == self.model]
            if not infos:
                raise refused("bad_answer", f"the server has no model {self.model}")
            return infos[0]

        info = await self._in_time("GET", "/v1/models", None, read, within)
        self.max_tokens, self.parallel, self._described = info.max_tokens, info.parallel, info.id
        return info

    def close(self) -> None:
        """Close the connections; later requests are refused."""
        self._is_closed = True
        if self._client is not None and self._loop is not None and self._loop.is_running():
            asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop)
        self._client = None

    async def _in_time(
        self,
        method: str,
        path: str,
        body: Any,
        read: Callable[[object], Answer],
        within: float,
        bill: Bill | None = None,
    ) -> Answer:
        if self._is_closed:  # while a request was on its way here
            raise PredictionError("gone", "The server is shutting down. Ask again in a moment.")
        if self._waiting >= self.in_flight:
            raise PredictionError("busy", "The model is still busy with earlier questions.")
        if not self.breaker.lets_through():
            if self.breaker.is_asked:
                raise PredictionError("busy", "The model is still busy with earlier questions.")
            raise PredictionError(
                "gone", "The model does not respond at the moment. It is tried again automatically."
            )
        self._waiting += 1
        good: bool | None = False
        try:
            async with asyncio.timeout(within):
                connect = CONNECT if within <= LIVE else CONNECT_PATIENT
                answer = await self._call(method, path, body, read, connect, bill)
            good = True
            return answer
        except TimeoutError:
            raise PredictionError("late", "The model did not answer in time.", usage=None) from None
        except asyncio.CancelledError:
            good = None  # the client has disconnected, which is no fault of the server
            raise
        except PredictionError as unanswered:
            if unanswered.pause is not None:
                good = None
                self.breaker.leave_alone(unanswered.pause)
            else:  # a refusal in time shows that it is there
                good = unanswered.kind in ("busy", "too_large", "superseded")
            raise
        except Exception:
            log.exception("asking %s failed", self.url)
            raise PredictionError("wrong", "The model's answer is not readable.", usage=None) from None
        finally:
            self._waiting -= 1
            if good is None:
                self.breaker.forget()
            else:
                self.breaker.report(good)

    async def _call(
        self,
        method: str,
        path: str,
        body: Any,
        read: Callable[[object], Answer],
        connect: float,
        bill: Bill | None,
    ) -> Answer:
        """The checked answer. A connection that breaks, and an error without a protocol error (a replica that was
        killed, a proxy before it), are tried again, which the bill records."""
        import httpx

        limit = httpx.Timeout(None, connect=connect)  # the deadline of a request is its own
        for is_last in (False, True):
            try:
                async with self._http().stream(method, self.url + path, json=body, timeout=limit) as response:
                    data = await _body(response)
                    if response.status_code == 200:
                        return read(_json(data))
                    if is_last or response.status_code < 500 or _error(data):
                        raise self._refusal(response, data)
                    log.info("%s answered %d; asking again", self.url, response.status_code)
            except httpx.ConnectTimeout:
                raise PredictionError("gone", "The model's server does not respond.") from None
            except httpx.PoolTimeout:
                raise PredictionError("busy", "The model is still busy with earlier questions.") from None
            except httpx.TimeoutException:
                raise PredictionError("late", "The model did not answer in time.", usage=None) from None
            except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError) as error:
                log.info("%s: %s", self.url, error)
                if is_last:
                    raise PredictionError(
                        "gone", "The model's server closed the connection.", usage=None
                    ) from None
            except httpx.HTTPError as error:
                log.info("%s: %s", self.url, error)
                raise PredictionError("gone", "The model's server cannot be reached.") from None
            except ProtocolError as error:
                log.warning("%s: %s", self.url, error.message)
                raise PredictionError(
                    "wrong", "The model's server sent an invalid prediction.", usage=None
                ) from None
            if bill is not None:
                bill.lost += 1
        raise AssertionError

    def _http(self) -> httpx.AsyncClient:
        """The client with its pooled connections, which belong to one event loop."""
        import httpx  # slow to load: a web server does so before its first request (config.preload)

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._loop = loop
            self._client = httpx.AsyncClient(
                transport=self._transport,
                trust_env=False,  # a proxy of the environment is for the internet, not for the local network
                limits=httpx.Limits(
                    max_connections=self.in_flight,
                    max_keepalive_connections=self.in_flight,
                    keepalive_expiry=30,
                ),
                headers={"accept": "application/json", "accept-encoding": "identity"},
            )
        return self._client

    @staticmethod
    def _refusal(response: httpx.Response, data: bytes) -> PredictionError:
        status, (code, message) = response.status_code, _error(data) or ("", "")
        stated, state = _usage(data)
        usage = stated or ()
        if status in (413, 422):
            sentence = _sentence(message or "the model cannot read this example")
            return PredictionError("too_large", sentence, usage=usage, state=state)
        if status == 409:
            return PredictionError("superseded", "A newer question has replaced this one.", usage=stated)
        if status == 429:  # for one client, not for all
            return PredictionError("busy", "The model received too many questions at once.")
        if status == 503:
            after = response.headers.get("retry-after", "")
            pause = float(after) if after.isascii() and after.isdigit() and len(after) < 4 else 1.0
            return PredictionError("busy", "The model is busy. Ask again in a moment.", pause, usage)
        if status == 504:
            return PredictionError("late", "The model did not answer in time.", usage=stated)
        if code == "cannot_answer":
            sentence = _sentence(message) if state else "The model failed on this question."
            return PredictionError("gone", sentence, usage=usage, state=state)
        # Without a protocol error it may have asked the language model.
        is_unknown = status >= 500 and not code
        return PredictionError(
            "gone", f"The model's server answered {status}.", usage=None if is_unknown else usage
        )


@functools.cache
def _cached_model(url: str, model: str, in_flight: int = IN_FLIGHT) -> Model:
    return Model(url, model, in_flight=in_flight)


def connect(entry: Mapping[str, Any]) -> Model:
    """The connection to the model of an entry of PREDICTORS, one per process."""
    return _cached_model(str(entry["url"]), str(entry["model"]), int(entry.get("in_flight", IN_FLIGHT)))


def questions_at_once(model: Model, *, within: float = LIVE) -> int:
    """Questions of two examples each that a job may ask at a time: half of the requests that the server states, and of
    `in_flight`. 1 for a model that is no language model. Raises PredictionError.
    """
    model.reply_tokens(within=within)
    return max(1, min(model.parallel, model.in_flight, JOB_THREADS) // 2)


# -- threads that wait ------------------------------------------------------------------------------

_threads = threading.BoundedSemaphore(THREADS)
_job_threads = threading.BoundedSemaphore(JOB_THREADS)


def _wait_for(request: Coroutine[Any, Any, Answer], within: float) -> Answer:
    """Run it on the background loop. Raises PredictionError; "busy" where enough threads wait already: for a page at once,
    for a job after `within`.
    """
    threads, patience = (_threads, 0.0) if within <= LIVE else (_job_threads, within)
    if not threads.acquire(timeout=patience):
        request.close()
        raise PredictionError("busy", "Too many requests at once.")
    try:
        call = asyncio.run_coroutine_threadsafe(request, _background(os.getpid()))
        try:
            return call.result(within + SLACK)
        except TooLate:
            call.cancel()
            raise PredictionError("late", "The model did not answer in time.") from None
    finally:
        threads.release()


_loops: dict[int, asyncio.AbstractEventLoop] = {}


def _background(pid: int) -> asyncio.AbstractEventLoop:
    """The event loop of this process for its threads; a process that was forked has its own.

    Threads that are the first at the same time get the same one: pooled connections belong to one loop.
    """
    if (loop := _loops.get(pid)) is None:
        fresh = asyncio.new_event_loop()
        loop = _loops.setdefault(pid, fresh)  # atomic, and without a lock that a fork could copy
        if loop is fresh:
            threading.Thread(target=loop.run_forever, name="predictor", daemon=True).start()
        else:
            fresh.close()
    return loop


# -- reading ----------------------------------------------------------------------------------------


async def _body(response: httpx.Response) -> bytes:
    """The bytes of an answer, no more than one may have."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise refused("bad_answer", "the answer is compressed, although this was not requested")
    data = bytearray()
    async for chunk in response.aiter_raw():
        data += chunk
        if len(data) > LIMITS.answer_bytes:
            raise refused("bad_answer", f"the answer is longer than {LIMITS.answer_bytes:,} bytes")
    return bytes(data)


def _json(data: bytes) -> Any:
    try:
        return json.loads(storable_text(data.decode()))
    except (ValueError, RecursionError):
        raise refused("bad_answer", "the answer is not JSON") from None


def _error(data: bytes) -> tuple[str, str] | None:
    """Code and message (cut to a line) of a protocol error; None where it is none."""
    try:
        error = _json(data)["error"]
        code, message = error["code"], error["message"]
    except (ProtocolError, LookupError, TypeError):
        return None
    if not isinstance(code, str) or not isinstance(message, str):
        return None
    return code, " ".join(message.split())[:300]


def _usage(data: bytes) -> tuple[tuple[Call, ...] | None, str]:
    """What a language model used before an error, and how its request ended; None and "" where the error does not say."""
    try:
        error = _json(data)["error"]
        usage = usage_from_list(error["usage"]) if "usage" in error else None
        return usage, state_from(error.get("state", ""))
    except (ProtocolError, LookupError, TypeError, AttributeError):
        return None, ""


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
