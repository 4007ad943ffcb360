"""What is noted about every request, and nothing about who made it: an id, how it went, how long it took."""

import logging
import re
import time
from collections.abc import Callable
from secrets import token_hex

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from annotation.management import prometheus
from config.logs import request_id

log = logging.getLogger("askew.requests")

GIVEN = re.compile(r"[A-Za-z0-9_-]{8,64}")


class RequestLogMiddleware:
    """Middleware: gives the request an id (a trusted proxy's own, where it sent one) and the answer `X-Request-ID`.

    With LOG_REQUESTS a line says method, view, status and milliseconds; with METRICS_TOKEN the same is counted. Views are
    told by their names: an address may hold a secret, and a name says more.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        if settings.METRICS_TOKEN:
            prometheus.listen()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        header_id = request.headers.get("X-Request-ID", "") if settings.TRUST_PROXY else ""
        current_id = header_id if GIVEN.fullmatch(header_id) else token_hex(8)
        mark = request_id.set(current_id)
        began = time.perf_counter()
        try:
            response = self.get_response(request)
            if settings.LOG_REQUESTS or settings.METRICS_TOKEN:
                _record_request(request, response, time.perf_counter() - began)
        finally:
            request_id.reset(mark)
        response.headers["X-Request-ID"] = current_id
        return response


def _record_request(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    view, method = view_name(request), request.method or ""
    method = method if method in METHODS else "other"
    if settings.METRICS_TOKEN:
        prometheus.count_request(view, method, response.status_code, seconds)
    if settings.LOG_REQUESTS:
        fields = {
            "view": view,
            "method": method,
            "status": response.status_code,
            "ms": round(seconds * 1000, 1),
        }
        log.info("%s %s %s %.1f ms", method, view, response.status_code, fields["ms"], extra={"said": fields})


METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


def view_name(request: HttpRequest) -> str:
    """The name of the view that answered, "static" for a file of ours, "nothing" where there is no such address."""
    match = request.resolver_match
    if match is not None:
        return match.view_name or match.route or "unnamed"
    return "static" if request.path.startswith(settings.STATIC_URL) else "nothing"
