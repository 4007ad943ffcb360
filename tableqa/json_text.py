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
        found = json.loads(text)
    except RecursionError:
        raise ValueError(gettext("it is nested too deeply")) from None
    if text.count("[") + text.count("{") > DEEPEST and _is_deep(found):
        raise ValueError(gettext("it is nested too deeply"))
    return found


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, list | dict)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return any(isinstance(one, list | dict) for one in level)
