"""The recipient of outcomes of model requests: the figures of a process that asks (annotation/management/prometheus.py).
Else none."""

from __future__ import annotations

import logging
from collections.abc import Callable

log = logging.getLogger(__name__)

listeners: list[Callable[[str, str, float], None]] = []
"""Each is called with the model's name, how the question ended ("answered", or the kind of what went wrong), and seconds."""


def notify(model: str, outcome: str, seconds: float) -> None:
    """Call all listeners. One that fails is logged and disturbs no request."""
    for listener in listeners:
        try:
            listener(model, outcome, seconds)
        except Exception:
            log.exception("a question to %s was not counted", model)
