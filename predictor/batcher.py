"""Requests of many people to one model: which are computed together, and which are not computed.

    batcher = Batcher(model)
    prediction = await batcher.submit(request)        # or ProtocolError: superseded, busy, too_late, ...
    await batcher.close()

    answers = predict_all(model, requests)             # without an event loop: all of them, in their order

A person who types makes a request per pause, and only the last is worth an answer. So a newer request of a slot
supersedes the older one at once, also one that is being computed; equal requests are computed once; what no client
waits for any more leaves the queue before the queue is counted, and a generation whose people have all gone stops at
its next step. What is left is computed in batches of similar length, the oldest first, within a budget of tokens,
because a batch costs its longest member times its size.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from cachetools import LRUCache

from predictor.architectures import Model, Stop, info, never_stop
from predictor.protocol import Prediction, PredictRequest, ProtocolError, refused
from predictor.usage import Call

log = logging.getLogger("askew.predictor")


@dataclass(frozen=True)
class Settings:
    """How a batcher behaves.

    most_waiting  computations in the queue; one more is answered 503
    most_batch    requests in one batch, within any budget
    spread        the longest of a batch is at most this many times as long as the shortest
    per_second    requests of one slot; more is answered 429
    remembered    answers kept, the latest used
    """

    most_waiting: int = 256
    most_batch: int = 64
    spread: float = 1.5
    per_second: int = 20
    remembered: int = 2_000


def fits(lengths: Sequence[int], more: int, budget: int, settings: Settings) -> bool:
    """Whether a request of length `more` may join a batch of these lengths. Any one request may be a batch."""
    if not lengths:
        return True
    longest, shortest = max(*lengths, more), min(*lengths, more)
    return (
        len(lengths) < settings.most_batch
        and longest * (len(lengths) + 1) <= budget
        and longest <= settings.spread * max(shortest, 1)
    )


def plan(lengths: Sequence[int], budget: int, settings: Settings | None = None) -> list[list[int]]:
    """The batches, as indices of `lengths`, in which everything is computed fastest: sorted by length."""
    settings = settings or Settings()
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        if batches and fits([lengths[member] for member in batches[-1]], lengths[index], budget, settings):
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def predict_all(
    model: Model, requests: Sequence[PredictRequest], settings: Settings | None = None
) -> list[Prediction | ProtocolError]:
    """An answer or an error for each request, in their order; computed here and now, in batches."""
    answers: dict[int, Prediction | ProtocolError] = {}
    lengths: dict[int, int] = {}
    for index, request in enumerate(requests):
        try:
            lengths[index] = model.tokens(request)
        except ProtocolError as error:
            answers[index] = error
    indices = list(lengths)
    for batch in plan([lengths[index] for index in indices], model.budget, settings):
        chosen = [indices[position] for position in batch]
        answers |= dict(
            zip(chosen, compute(model, [requests[index] for index in chosen], never_stop), strict=True)
        )
    return [answers[index] for index in range(len(requests))]


def compute(model: Model, requests: Sequence[PredictRequest], stop: Stop) -> list[Prediction | ProtocolError]:
    """Run one batch. Where it fails as a whole, each on its own, so that one bad request fails alone."""
    try:
        answers = list(model.predict_batch(requests, stop))
        if len(answers) != len(requests):
            raise RuntimeError(f"{len(answers)} answers to {len(requests)} requests")
        return answers
    except Exception as error:
        if len(requests) > 1:
            log.warning("a batch of %d failed (%s); one by one", len(requests), type(error).__name__)
            return [
                compute(model, [request], lambda _, index=index: stop(index))[0]  # type: ignore[misc]
                for index, request in enumerate(requests)
            ]
        log.exception("a request failed")
        return [refused("cannot_answer", f"The model failed on this request ({type(error).__name__}).")]


@dataclass(eq=False)
class _Waiter:
    """A person who waits for an answer."""

    slot: str
    seq: int
    future: asyncio.Future[Prediction]


@dataclass(eq=False)
class _Work:
    """One computation, and all clients that wait for it."""

    request: PredictRequest
    since: float
    waiters: set[_Waiter] = field(default_factory=set)
    length: int | None = None
    started: float | None = None

    @property
    def unwanted(self) -> bool:
        return not self.waiters


class Batcher:
    """The queue of one model, for one event loop. `counts` and `times` are what /metrics shows."""

    def __init__(self, model: Model, settings: Settings | None = None) -> None:
        self.model = model
        self.id = info(model).id
        self.settings = settings or Settings()
        self.counts: Counter[str] = Counter()
        self.times = {"queue": Histogram(), "compute": Histogram()}
        self._queue: list[_Work] = []
        self._by_key: dict[str, _Work] = {}
        self._by_slot: dict[str, _Waiter] = {}
        self._paces: OrderedDict[str, deque[float]] = OrderedDict()
        self._cache: LRUCache[str, Prediction] = LRUCache(self.settings.remembered)
        self._running: list[_Work] = []
        self._wake = asyncio.Event()
        self._measuring = ThreadPoolExecutor(1, "measure")
        self._computing = ThreadPoolExecutor(1, "compute")
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self._start(self._serve())

    # --- what callers see ---

    async def submit(self, request: PredictRequest, *, fresh: bool = False) -> Prediction:
        """The answer, within the request's deadline; a `fresh` one is computed now, without the cache.

        Raises ProtocolError. Cancelling it withdraws the request.
        """
        loop = asyncio.get_running_loop()
        arrived = loop.time()
        self.counts["requests"] += 1
        if self._closed:
            raise refused("not_ready", "The predictor is shutting down.", retry_after=5)
        self._check_pace(request.slot, arrived)
        waiter = _Waiter(request.slot, request.seq, loop.create_future())
        self._supersede(waiter)
        if request.key in self._cache and not fresh:
            self.counts["cached"] += 1
            return self._cache[request.key].for_request(request.seq, self.id, 0.0, 0.0, cached=True)
        work = self._join(request, waiter, arrived)
        if waiter.slot:
            self._by_slot[waiter.slot] = waiter
        try:
            async with asyncio.timeout(request.deadline_ms / 1000):
                answer = await waiter.future
        except TimeoutError:
            self.counts["too_late"] += 1
            message = f"No answer within {request.deadline_ms} ms."
            raise refused("too_late", message, usage=self._cost(work, waiter)) from None
        finally:
            self._leave(work, waiter)
        self.counts["answered"] += 1
        started = work.started or arrived
        queue = max(0.0, started - arrived)
        spent = loop.time() - arrived - queue
        self.times["queue"].add(queue)
        self.times["compute"].add(spent)
        return answer.for_request(request.seq, self.id, queue * 1000, spent * 1000, cached=False)

    @property
    def waiting(self) -> int:
        """How many computations wait; abandoned ones are not counted."""
        self._purge()
        return len(self._queue)

    @property
    def computing_for(self) -> float:
        """Seconds since the running batch was begun, 0 where none runs."""
        started = [work.started for work in self._running if work.started is not None]
        return asyncio.get_running_loop().time() - min(started) if started else 0.0

    async def close(self) -> None:
        """Answer `not_ready` to all waiting clients, stop what runs, and end the threads."""
        self._closed = True
        for work in (*self._queue, *self._running):
            message, usage = "The predictor is shutting down.", self._cost(work, None)
            self._fail(work, refused("not_ready", message, retry_after=5, usage=usage))
            work.waiters.clear()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._measuring.shutdown(wait=False, cancel_futures=True)
        self._computing.shutdown(wait=False, cancel_futures=True)

    # --- in and out of the queue ---

    def _check_pace(self, slot: str, now: float) -> None:
        if not slot:
            return
        pace = self._paces.setdefault(slot, deque())
        self._paces.move_to_end(slot)
        while pace and pace[0] <= now - 1:
            pace.popleft()
        if len(pace) >= self.settings.per_second:
            self.counts["too_fast"] += 1
            raise refused("too_fast", f"More than {self.settings.per_second} requests per second.", 1)
        pace.append(now)
        while len(self._paces) > 10_000:
            self._paces.popitem(last=False)

    def _supersede(self, waiter: _Waiter) -> None:
        """The newer of two requests of a slot continues. Only one that still waits can be superseded, or supersede."""
        other = self._by_slot.get(waiter.slot) if waiter.slot else None
        if other is None or other.future.done() or other.seq == waiter.seq:
            return
        self.counts["superseded"] += 1
        message = "A newer request of this slot has arrived."
        if other.seq > waiter.seq:
            raise refused("superseded", message, usage=self._cost(None, waiter))
        work = next(
            (candidate for candidate in (*self._queue, *self._running) if other in candidate.waiters), None
        )
        other.future.set_exception(refused("superseded", message, usage=self._cost(work, other)))
        if work is not None:
            work.waiters.discard(other)  # now, not when its task next runs: the queue is counted in a moment

    def _cost(self, work: _Work | None, leaving: _Waiter | None) -> list[Call] | None:
        """The cost reported to a client that leaves: all of it to the last one; None but for language models."""
        used = getattr(self.model, "used", None)
        if used is None:
            return None
        if work is None or (leaving is not None and work.waiters - {leaving}):
            return []
        return list(used(work.request))

    def _join(self, request: PredictRequest, waiter: _Waiter, now: float) -> _Work:
        """Wait for the computation of this request that there is already, or for a new one."""
        work = self._by_key.get(request.key)
        if work is not None and not work.unwanted:
            self.counts["merged"] += 1
            work.waiters.add(waiter)
            return work
        self._purge()
        if len(self._queue) >= self.settings.most_waiting:
            self.counts["busy"] += 1
            raise refused("busy", f"{len(self._queue)} requests are already waiting.", self._retry_after())
        work = _Work(request, now, {waiter})
        self._queue.append(work)
        self._by_key[request.key] = work
        self._start(self._measure(work))
        return work

    def _leave(self, work: _Work, waiter: _Waiter) -> None:
        work.waiters.discard(waiter)
        if self._by_slot.get(waiter.slot) is waiter:
            del self._by_slot[waiter.slot]
        if work.unwanted and self._by_key.get(work.request.key) is work:
            # A stopped generation has no answer for a repeated request.
            del self._by_key[work.request.key]
        if waiter.future.done() and not waiter.future.cancelled():
            waiter.future.exception()  # looked at, so that asyncio does not report it as lost

    def _purge(self) -> None:
        remaining_work = [work for work in self._queue if not work.unwanted]
        self.counts["dropped"] += len(self._queue) - len(remaining_work)
        self._queue = remaining_work

    def _retry_after(self) -> float:
        """Seconds until the queue will have moved, by what computing has taken so far."""
        return float(max(1, min(30, math.ceil(len(self._queue) * self.times["compute"].mean / 4))))

    async def _measure(self, work: _Work) -> None:
        loop = asyncio.get_running_loop()
        try:
            work.length = await loop.run_in_executor(self._measuring, self.model.tokens, work.request)
        except Exception as error:
            if not isinstance(error, ProtocolError):
                log.exception("a request could not be read")
                error = refused("cannot_answer", "The model could not read this request.")
            self._queue = [queued_work for queued_work in self._queue if queued_work is not work]
            self._fail(work, error)
        self._wake.set()

    # --- computing ---

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            if not any(work.length is not None for work in self._queue):
                self._wake.clear()
                await self._wake.wait()
            batch = self._pick()
            if not batch:
                continue
            now = loop.time()
            for work in batch:
                work.started = now
            self._running = batch
            self.counts["batches"] += 1
            self.counts["computed"] += len(batch)
            answers = await loop.run_in_executor(
                self._computing,
                compute,
                self.model,
                [work.request for work in batch],
                lambda index, batch=batch: batch[index].unwanted,
            )
            self._running = []
            for work, answer in zip(batch, answers, strict=True):
                self._finish(work, answer)

    def _pick(self) -> list[_Work]:
        """The oldest request that has been measured, and those nearest to it in length as far as they fit."""
        self._purge()
        ready = [work for work in self._queue if work.length is not None]
        if not ready:
            return []
        first = min(ready, key=lambda work: work.since)
        chosen: list[_Work] = []
        for work in sorted(ready, key=lambda work: (abs(_length(work) - _length(first)), work.since)):
            if fits([_length(member) for member in chosen], _length(work), self.model.budget, self.settings):
                chosen.append(work)
        chosen_ids = set(map(id, chosen))
        self._queue = [work for work in self._queue if id(work) not in chosen_ids]
        return sorted(chosen, key=_length)

    def _finish(self, work: _Work, answer: Prediction | ProtocolError) -> None:
        if self._by_key.get(work.request.key) is work:
            del self._by_key[work.request.key]
        if work.unwanted:
            self.counts["stopped"] += 1  # its result may be half an answer
        elif isinstance(answer, ProtocolError):
            self._fail(work, answer)
        else:
            remembered = replace(answer, usage=())
            if self._cache.maxsize:
                self._cache[work.request.key] = remembered
            for waiter in work.waiters:
                if not waiter.future.done():
                    waiter.future.set_result(answer)
                    answer = remembered  # one of the waiting clients receives the cost

    def _fail(self, work: _Work, error: ProtocolError) -> None:
        self.counts["failed"] += 1
        if self._by_key.get(work.request.key) is work:
            del self._by_key[work.request.key]
        for waiter in work.waiters:
            if not waiter.future.done():
                waiter.future.set_exception(error)
                error = error.without_usage()

    def _start(self, coroutine: object) -> None:
        task = asyncio.ensure_future(coroutine)  # type: ignore[call-overload]
        self._tasks.add(task)  # a task without a reference may be collected while it runs
        task.add_done_callback(self._tasks.discard)


class Histogram:
    """Seconds, counted in buckets as Prometheus wants them: each counts all that took at most so long."""

    BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 10.0)

    def __init__(self) -> None:
        self.buckets = [0] * len(self.BOUNDS)
        self.count = 0
        self.sum = 0.0

    @property
    def mean(self) -> float:
        return self.sum / self.count if self.count else 0.0

    def add(self, seconds: float) -> None:
        """Count one more."""
        self.count += 1
        self.sum += seconds
        for index, bound in enumerate(self.BOUNDS):
            self.buckets[index] += seconds <= bound


def _length(work: _Work) -> int:
    return work.length or 0
