"""How long this process waits for its database: the limits of its role, from `settings.DATABASE_LIMITS`.

A web process, a worker and a command have limits of their own. A process that says nothing is a command.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings

WEB, WORKER, COMMAND = "web", "worker", "command"
MARGIN = 1.5
"""Seconds that the server has beyond its own statement timeout to say so. Silence beyond them is cut on our side."""


@dataclass(frozen=True)
class Limits:
    """Seconds for one statement, and for a transaction between two statements; 0 is without limit."""

    statement: float
    idle_in_transaction: float

    @property
    def answer(self) -> float:
        """Seconds after which a connection that says nothing is cut; 0 is never."""
        return self.statement + MARGIN if self.statement else 0.0


NONE = Limits(0, 0)


class _Thread(threading.local):
    cap = 0.0
    is_lifted = False


class _Process:
    role = COMMAND
    limits: Limits | None = None
    answer = 0.0


_thread, _process = _Thread(), _Process()


def use(role: str) -> None:
    """Give this process the limits of a role. Connections that are open keep the server's limits they began with."""
    _process.role, _process.limits = role, None


def is_web() -> bool:
    """Whether this process serves pages."""
    return _process.role == WEB


def is_worker() -> bool:
    """Whether this process runs jobs in the background."""
    return _process.role == WORKER


def current() -> Limits:
    """The limits of this process, or none at all within `lifted`."""
    if _thread.is_lifted:
        return NONE
    if _process.limits is None:
        _process.limits = Limits(**settings.DATABASE_LIMITS[_process.role])
        _process.answer = _process.limits.answer
    return _process.limits


def longest_answer() -> float:
    """Seconds after which this thread cuts a silent connection; 0 is never."""
    if _process.limits is None or _thread.is_lifted:
        seconds = current().answer
    else:
        seconds = _process.answer
    cap = _thread.cap
    return cap if cap and (cap < seconds or not seconds) else seconds


def is_capped() -> bool:
    """Whether `at_most` limits this thread."""
    return _thread.cap > 0


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Wait no longer than this for an answer, in this thread; 0 takes a surrounding `at_most` away."""
    before = _thread.cap
    _thread.cap = seconds
    try:
        yield
    finally:
        _thread.cap = before


@contextmanager
def lifted() -> Iterator[None]:
    """Wait without limit, in this thread: for migrations."""
    before = _thread.is_lifted
    _thread.is_lifted = True
    try:
        yield
    finally:
        _thread.is_lifted = before
