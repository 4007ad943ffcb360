"""JSON that somebody else wrote: read, or refused in one way."""

from __future__ import annotations

import json
from typing import Any

from tableqa.language import gettext

DEEPEST = 100
"""Lists and objects inside each other. What is read is walked again and again by what goes into itself for each."""


def read_json(text: str) -> Any:
    """What a text of JSON says. Raises ValueError, also where it is nested so deeply that nobody could walk it."""
    try:
        value = json.loads(text)
        refuse_depth(value, text)
    except RecursionError:
        raise ValueError(gettext("it is nested too deeply")) from None
    return value


def refuse_depth(value: Any, text: str, start: int = 0, end: int | None = None) -> None:
    """Raise RecursionError for a value of this part of a text with more than DEEPEST levels; json's limit varies."""
    if text.count("[", start, end) + text.count("{", start, end) > DEEPEST and _is_deep(value):
        raise RecursionError


def _is_deep(value: Any) -> bool:
    level: list[Any] = [[value]]
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _CONTAINERS
        ]
        if not level:
            return False
    return True


_CONTAINERS = frozenset((list, dict))
