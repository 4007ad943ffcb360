"""The gateway: previews and checks of models without a web thread, the asynchronous form of `api.assignments.Predictions`.

    POST /gateway/   Authorization: Ticket TICKET   {"response", "kind", "seq", "model"}   -> as predictions/ answers
    GET  /healthz, GET /metrics

A ticket (`assistance.tickets`) replaces the session. The item of a ticket is loaded once and kept until that
expires, so a preview reads no database; a check loads it again. Waiting for a model is a coroutine, everything else
runs in a few threads, each with its own connection to the database. Every refusal is a problem document.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from cachetools import LRUCache, TTLCache
from django.conf import settings
from django.db import close_old_connections, connections
from django.utils import timezone, translation
from django.utils.crypto import constant_time_compare
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from annotation.assistance import draft_checks, model_answers, tickets, visible_verdicts
from annotation.management import prometheus
from annotation.models import Assignment
from annotation.platform.database import failures
from annotation.platform.refusals import ActionRefused
from annotation.web.api import problems
from annotation.web.api import serializers as shapes
from predictor.client import PredictionError, connect
from predictor.protocol import ProtocolError
from predictor.web import cancel_on_disconnect, read_json

log = logging.getLogger("askew.gateway")

T = TypeVar("T")

THREADS = 4
"""Threads for everything but waiting, and connections to the database."""
MOST_BYTES = 4 * draft_checks.MOST_BYTES
"""Of a request; the limit of the response in it is `draft_checks.MOST_BYTES`."""
PER_SECOND = 10
"""Requests of one person; more are answered 429."""
MOST_LEASES = 2_000
"""Items that are kept, the latest used."""
MOST_PACES = 10_000
"""People whose last requests are kept, the latest ones."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
CODES = {"too_large": "draft_too_large", "bad_request": "parse_error"}
"""Codes of problems for errors of the protocol in reading a request."""


class Gateway:
    """What one process keeps: items by their ticket, and when each person asked last."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(THREADS, "gateway")
        self._leases: TTLCache[str, Assignment] = TTLCache(MOST_LEASES, tickets.SECONDS)
        self._paces: LRUCache[str, deque[float]] = LRUCache(MOST_PACES)

    async def answer(self, request: Request) -> Response:
        """A preview or a check. A client that hangs up withdraws a preview; a check is kept all the same."""
        language = settings.LANGUAGE_CODE
        try:
            scheme, _, text = request.headers.get("authorization", "").partition(" ")
            ticket = tickets.read(text if scheme == "Ticket" else "")
            language = ticket.language
            self._check_pace(ticket.holder)
            data = shapes.checked(shapes.PanelPredictionRequest, await read_json(request, MOST_BYTES))
            seq, is_try = data["seq"], data["kind"] == "try"
            assignment = await self._assignment(text, ticket, fresh=is_try)
            answering = self._predict(assignment, data, language)
            seen = await (answering if is_try else cancel_on_disconnect(request, answering))
        except ClientDisconnect:
            return Response(status_code=499)  # it is not read
        except Exception as error:
            return await self._in_thread(partial(refusal, error), language)
        return JSONResponse(
            seen.to_dict(seq), status_code=202 if seen.state == "waiting" else 200, headers=HEADERS
        )

    async def _predict(
        self, assignment: Assignment, data: dict[str, Any], language: str
    ) -> visible_verdicts.VisibleVerdict:
        """`draft_checks.check_draft` in three steps, of which only the middle one waits.

        A client that hangs up ends none of the others half way: what was reserved is settled.
        """
        preparing = asyncio.ensure_future(
            self._in_thread(
                lambda: draft_checks.prepare(assignment=assignment, tries=None, now=timezone.now(), **data),
                language,
            )
        )
        try:
            query = await asyncio.shield(preparing)
        except asyncio.CancelledError:
            preparing.add_done_callback(self._settle_prepared)
            raise
        if isinstance(query, visible_verdicts.VisibleVerdict):
            return query
        outcome: model_answers.Outcomes
        try:
            outcome = await connect(query.entry).ask_both(
                *query.requests, within=query.within, bills=query.payment.bills
            )
        except PredictionError as unanswered:
            outcome = unanswered
        except asyncio.CancelledError:  # the client has hung up; the cost is counted all the same
            self.threads.submit(_with_connection, query.payment.settle)
            raise
        return await asyncio.shield(
            self._in_thread(lambda: draft_checks.record_answer(query, outcome, now=timezone.now()), language)
        )

    def _settle_prepared(
        self, preparing: asyncio.Future[draft_checks.Query | visible_verdicts.VisibleVerdict]
    ) -> None:
        """Release what was reserved for a question that is not asked any more."""
        if preparing.cancelled() or preparing.exception() is not None:
            return
        query = preparing.result()
        if isinstance(query, draft_checks.Query):
            self.threads.submit(_with_connection, query.payment.settle)

    async def _assignment(self, text: str, ticket: tickets.Ticket, *, fresh: bool) -> Assignment:
        assignment = None if fresh else self._leases.get(text)
        if assignment is None:
            assignment = await self._in_thread(lambda: tickets.assignment_of(ticket), ticket.language)
            self._leases[text] = assignment
        return assignment

    def _check_pace(self, holder: str) -> None:
        now, pace = time.monotonic(), self._paces.setdefault(holder, deque())
        while pace and pace[0] <= now - 1:
            pace.popleft()
        if len(pace) >= PER_SECOND:
            raise ActionRefused("too_many_requests", "Too many requests at once.", retry_after=1)
        pace.append(now)

    async def _in_thread(self, call: Callable[[], T], language: str) -> T:
        def run() -> T:
            with translation.override(language):
                return _with_connection(call)

        return await asyncio.get_running_loop().run_in_executor(self.threads, run)

    async def metrics(self, request: Request) -> Response:
        """The figures of this process, for requests with METRICS_TOKEN."""
        token = request.headers.get("authorization", "")
        if not settings.METRICS_TOKEN or not constant_time_compare(token, f"Bearer {settings.METRICS_TOKEN}"):
            raise HTTPException(404)
        figures = await self._in_thread(prometheus.figures, settings.LANGUAGE_CODE)
        return Response(figures, media_type=CONTENT_TYPE_LATEST, headers=HEADERS)


def _with_connection(call: Callable[[], T]) -> T:
    close_old_connections()
    try:
        return call()
    finally:
        close_old_connections()


def refusal(error: Exception) -> Response:
    """Any error as a problem document, in the language of this thread."""
    if isinstance(error, ProtocolError):
        code = CODES.get(error.code, "parse_error")
        return _problem(problems.document(413 if error.code == "too_large" else 400, code, error.message))
    if failures.is_unavailable(error):
        detail = "The database does not respond. Try again in a few seconds."
        return _problem(problems.document(503, "database_unavailable", translation.gettext(detail)), 2)
    reply = problems.exception_handler(error, {})
    if reply is not None:
        return _problem(reply.data, reply.headers.get("Retry-After"))
    log.error("a request failed", exc_info=error)
    detail = "Internal error. Details are in the log."
    return _problem(problems.document(500, "internal_error", translation.gettext(detail)))


def _problem(document: Any, retry_after: object = None) -> Response:
    headers = HEADERS if retry_after is None else HEADERS | {"Retry-After": str(retry_after)}
    return JSONResponse(
        document, status_code=document["status"], media_type=problems.CONTENT_TYPE, headers=headers
    )


async def _no_such_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # nosec
    return _problem(problems.document(error.status_code, "not_found", "There is no such endpoint."))


async def _failed(request: Request, error: Exception) -> Response:
    return refusal(error)


async def _health(request: Request) -> Response:
    return PlainTextResponse("ok\n", headers=HEADERS)


def create_app() -> Starlette:
    """The application of one process, whose Django is set up."""
    gateway = Gateway()
    if settings.METRICS_TOKEN:
        prometheus.listen()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        all_of_them = threading.Barrier(THREADS)

        def close() -> None:
            all_of_them.wait(5)  # each thread closes the connection that is its own
            connections.close_all()

        for _ in range(THREADS):
            gateway.threads.submit(close)
        await asyncio.to_thread(gateway.threads.shutdown)

    return Starlette(
        routes=[
            Route("/gateway/", gateway.answer, methods=["POST"]),
            Route("/healthz", _health),
            Route("/metrics", gateway.metrics),
        ],
        exception_handlers={HTTPException: _no_such_page, Exception: _failed},
        lifespan=lifespan,
    )
