"""How many requests the live server is at: a browser that is closed may have sent one more.

The database of a browser test is emptied at its end. A draft that is still being saved then would
wait for the emptying, and the emptying for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

_lock = threading.Lock()
_count = 0


class InFlight:
    """Middleware of the test suite, outermost: counts requests in and out."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        global _count
        with _lock:
            _count += 1
        try:
            return self.get_response(request)
        finally:
            with _lock:
                _count -= 1


def count() -> int:
    """Requests that are under way."""
    return _count


def wait_until_quiet(seconds: float = 10.0, quiet: float = 0.15) -> None:
    """Return once no request has been under way for `quiet` seconds; after `seconds` in any case."""
    until, since = time.monotonic() + seconds, time.monotonic()
    while time.monotonic() < until and time.monotonic() - since < quiet:
        if _count:
            since = time.monotonic()
        time.sleep(0.01)
