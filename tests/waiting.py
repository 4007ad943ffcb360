"""Waiting for an event that another thread, process or machine brings about: the only pause in a test."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")

EVERY = 0.02
"""Seconds between two looks."""


def wait_until(
    condition: Callable[[], Value | None],
    what: str = "the condition",
    seconds: float = 30,
    every: float = EVERY,
) -> Value:
    """The first true value of the condition. Fails after so many seconds, naming what has not come about."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {seconds:g} seconds: {what}"
        time.sleep(every)
    return value


async def until(condition: Callable[[], bool], seconds: float = 5, every: float = 0.002) -> None:
    """The same for a coroutine: the event loop goes on, and so do other threads."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(every)


def listens(port: int) -> bool:
    """Whether a server of this machine takes connections on the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
