"""JSON that another person wrote: read, or refused in one way."""

import json
from typing import Any

from .translation import gettext

DEEPEST = 100
"""Lists and objects inside each other. What is read is walked again and again by what goes into itself for each."""


def read_json(text: str) -> Any:
    """What a text of JSON says. Raises ValueError, also where it is nested too deeply to walk."""
    try:
        value = json.loads(text)
        check_depth(value)
    except RecursionError:
        raise ValueError(gettext("it is nested too deeply")) from None
    return value


def check_depth(value: Any) -> None:
    """Raise RecursionError for more than DEEPEST levels. The limit of json itself depends on the version of Python."""
    level: list[Any] = [[value]]
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _CONTAINERS
        ]
        if not level:
            return
    raise RecursionError


_CONTAINERS = frozenset((list, dict))
