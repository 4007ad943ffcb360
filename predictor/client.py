"""Asking a model in another process, for as long as a person would wait and no longer.

    model = connect(name, entry)             one per process and entry of PREDICTORS, pooled
    model.predict(request, within=0.8)       -> Prediction, or Unanswered with a `kind` that says why not
    model.identity(within=0.8)               -> "name@sha"

Nothing that a model's server does reaches a person but an answer that was checked, or a sentence: it may be gone, hang,
trickle, lie, or answer with 50 MB. Calls are made by a few threads of each connection; whoever asks waits for them no
longer than agreed, and where all of them are taken is told so at once. After several calls that failed or came late the
server is left alone for a moment, and then one call tries whether it is back.
"""

from __future__ import annotations

import functools
import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from predictor import observing
from predictor.protocol import LIMITS, Prediction, PredictRequest, ProtocolError, models_from_dict, refused

if TYPE_CHECKING:
    import httpx

log = logging.getLogger(__name__)

CONNECT = 0.2
"""Seconds until a server that does not take the connection counts as gone."""
LIVE = 0.8
"""Seconds that a page waits for an answer. A model that needs longer is asked in the background."""
PATIENT = 30.0
"""Seconds that a job waits."""
MOST_WAITING = 2
"""Threads of a web process that may wait for models at one time, whichever models."""

Answer = TypeVar("Answer")
Kind = Literal["busy", "late", "gone", "wrong", "too_large", "superseded"]


class Unanswered(Exception):
    """No answer, and why: `kind` for a program, the message for a person.

    busy         too many wait already, or the server has no room just now
    late         it did not answer in time
    gone         it cannot be reached, is starting, or is left alone for a moment
    wrong        what it answered is no prediction about this table
    too_large    the example is more than the model reads; asking again does not help
    superseded   a newer request of the same person has come

    `pause`: seconds for which the server asked to be left alone, None where it did not.
    """

    def __init__(self, kind: Kind, message: str, pause: float | None = None) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.pause = pause


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
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def lets_through(self) -> bool:
        """Whether a call may be made now. After a pause, one is; the others wait for what it says."""
        with self._lock:
            if not self._pause:
                return True
            if self._trying or self.clock() < self._open_until:
                return False
            self._trying = True
            return True

    def report(self, good: bool) -> None:
        """Say how a call ended that was let through."""
        with self._lock:
            self._trying = False
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

    def leave_alone(self, seconds: float) -> None:
        """The server itself asked for a pause."""
        with self._lock:
            self._trying = False
            self._pause = min(max(seconds, self.first), self.longest)
            self._open_until = self.clock() + self._pause


# -- one server -------------------------------------------------------------------------------------

_waiting = threading.BoundedSemaphore(MOST_WAITING)


class Model:
    """One model at one server. Safe for threads; made once per process by `connect`."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        breaker: Breaker | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        import httpx  # slow to load: a web server does so before its first request (config.preload)

        self.url = url.rstrip("/")
        self.model = model
        self.breaker = breaker or Breaker()
        # Threads that a server keeps hanging are lost to this server alone, and only until it lets go.
        self._free = threading.BoundedSemaphore(MOST_WAITING)
        self._threads = ThreadPoolExecutor(MOST_WAITING, thread_name_prefix="predictor")
        self._client = httpx.Client(
            transport=transport,
            trust_env=False,  # a proxy of the environment is for the world outside, not for the next room
            limits=httpx.Limits(max_connections=MOST_WAITING, max_keepalive_connections=MOST_WAITING),
            headers={"accept": "application/json", "accept-encoding": "identity"},
        )

    def predict(self, request: PredictRequest, *, within: float = LIVE) -> Prediction:
        """The model's answer, checked. Raises Unanswered."""
        body = request.to_dict() | {"model": self.model, "deadline_ms": max(1, int(within * 1000))}
        try:
            PredictRequest.from_dict(body)  # what no model takes is not sent
        except ProtocolError as error:
            raise Unanswered("too_large", _sentence(error.message)) from None
        shape = (len(request.table.rows), len(request.table.header))
        began, outcome = time.monotonic(), "answered"
        try:
            return self._ask(
                "POST", "/v1/predict", body, lambda data: Prediction.from_dict(data, shape=shape), within
            )
        except Unanswered as unanswered:
            outcome = unanswered.kind
            raise
        finally:
            observing.tell(self.model, outcome, time.monotonic() - began)

    def identity(self, *, within: float = LIVE) -> str:
        """The model's name with the hash of its weights, as the server says it now. Raises Unanswered."""

        def read(data: object) -> str:
            found = [info.id for info in models_from_dict(data) if info.name == self.model]
            if not found:
                raise refused("bad_answer", f"the server has no model {self.model}")
            return found[0]

        return self._ask("GET", "/v1/models", None, read, within)

    def close(self) -> None:
        """Let go of connections and threads; those that hang are not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._client.close()

    def _ask(
        self, method: str, path: str, body: Any, read: Callable[[object], Answer], within: float
    ) -> Answer:
        if not _waiting.acquire(blocking=False):
            raise Unanswered("busy", "Too many requests at once.")
        try:
            return self._in_time(method, path, body, read, within)
        finally:
            _waiting.release()

    def _in_time(
        self, method: str, path: str, body: Any, read: Callable[[object], Answer], within: float
    ) -> Answer:
        if not self.breaker.lets_through():
            raise Unanswered(
                "gone", "The model does not respond at the moment. It is tried again automatically."
            )
        if not self._free.acquire(blocking=False):
            self.breaker.report(False)
            raise Unanswered("busy", "The model is still busy with earlier questions.")
        until = time.monotonic() + within
        try:
            call: Future[Answer] = self._threads.submit(self._call, method, path, body, read, until)
        except RuntimeError:  # closed while a request was on its way here
            self._free.release()
            raise Unanswered("gone", "The server is shutting down. Ask again in a moment.") from None
        call.add_done_callback(lambda _: self._free.release())
        try:
            answer = call.result(timeout=within)
        except TooLate:
            self.breaker.report(False)
            raise Unanswered("late", "The model did not answer in time.") from None
        except Unanswered as unanswered:
            if unanswered.pause is not None:
                self.breaker.leave_alone(unanswered.pause)
            else:  # who says no in time is there
                self.breaker.report(unanswered.kind in ("busy", "too_large", "superseded"))
            raise
        except Exception:
            log.exception("asking %s failed", self.url)
            self.breaker.report(False)
            raise Unanswered("wrong", "The model's answer is not readable.") from None
        self.breaker.report(True)
        return answer

    def _call(
        self, method: str, path: str, body: Any, read: Callable[[object], Answer], until: float
    ) -> Answer:
        import httpx

        left = max(0.01, until - time.monotonic())
        timeout = httpx.Timeout(left, connect=min(CONNECT, left), pool=left)
        try:
            with self._client.stream(method, self.url + path, json=body, timeout=timeout) as response:
                data = _body(response, until)
                if response.status_code == 200:
                    return read(_json(data))
                raise self._refusal(response, data)
        except httpx.TimeoutException as error:
            if isinstance(error, httpx.ConnectTimeout):
                raise Unanswered("gone", "The model's server does not respond.") from None
            raise Unanswered("late", "The model did not answer in time.") from None
        except httpx.HTTPError as error:
            log.info("%s: %s", self.url, error)
            raise Unanswered("gone", "The model's server cannot be reached.") from None
        except ProtocolError as error:
            log.warning("%s: %s", self.url, error.message)
            raise Unanswered("wrong", "The model's server sent an invalid prediction.") from None

    @staticmethod
    def _refusal(response: httpx.Response, data: bytes) -> Unanswered:
        status = response.status_code
        if status in (413, 422):
            return Unanswered("too_large", _sentence(_said(data) or "the model cannot read this example"))
        if status == 409:
            return Unanswered("superseded", "A newer question has replaced this one.")
        if status == 429:  # said to one who types, not to everybody
            return Unanswered("busy", "The model received too many questions at once.")
        if status == 503:
            after = response.headers.get("retry-after", "")
            pause = float(after) if after.isascii() and after.isdigit() and len(after) < 4 else 1.0
            return Unanswered("busy", "The model is busy. Ask again in a moment.", pause)
        if status == 504:
            return Unanswered("late", "The model did not answer in time.")
        return Unanswered("gone", f"The model's server answered {status}.")


@functools.cache
def _connected(url: str, model: str) -> Model:
    return Model(url, model)


def connect(entry: Mapping[str, Any]) -> Model:
    """The connection to the model of an entry of PREDICTORS, one per process."""
    return _connected(str(entry["url"]), str(entry["model"]))


# -- reading ----------------------------------------------------------------------------------------


def _body(response: httpx.Response, until: float) -> bytes:
    """The bytes of an answer, no more than one may have and no longer than agreed, however they trickle."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise refused("bad_answer", "the answer is compressed, although this was not requested")
    data = bytearray()
    for chunk in response.iter_raw():
        data += chunk
        if len(data) > LIMITS.answer_bytes:
            raise refused("bad_answer", f"the answer is longer than {LIMITS.answer_bytes:,} bytes")
        if time.monotonic() > until:
            raise Unanswered("late", "The model did not answer in time.")
    return bytes(data)


def _json(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise refused("bad_answer", "the answer is not JSON") from None


def _said(data: bytes) -> str:
    """The message of an error, cut to a line; "" where there is none."""
    try:
        message = json.loads(data)["error"]["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return " ".join(message.split())[:300] if isinstance(message, str) else ""


def _sentence(words: str) -> str:
    words = words[:1].upper() + words[1:]
    return words if words.endswith((".", "!", "?")) else f"{words}."
