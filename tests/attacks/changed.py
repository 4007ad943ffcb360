"""Data with something changed at random: what fuzzing sends where a drawn value would be refused at the first look."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

AWKWARD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    7,
    2**31,
    2**63,
    -(2**63),
    10**400,
    1e308,
    -0.0,
    1.5,
    "",
    " ",
    "0",
    "r0",
    "c0",
    "h",
    "n1",
    "\0",
    "\ud800",
    "\u202e\u200b",
    "é" * 300,
    "x" * 200_000,
    "[" * 2000,
    "=1+1",
    "{{7*7}}",
    "%s%n",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    [],
    {},
    [[]],
    [None],
    [{}],
    {"": None},
    {"op": "set_cell"},
    {"op": "transpose"},
    {"row": "r0", "column": "c0"},
    ["r0", "c0"],
    [["r0", "c0"]],
    ["A"],
    {"texts": ["1"]},
]
"""Values that programs stumble over."""


def drawn(rng: random.Random, depth: int = 0) -> Any:
    """Any JSON at all."""
    kind = rng.random()
    if depth > 3 or kind < 0.6:
        return copy.deepcopy(rng.choice(AWKWARD))
    if kind < 0.8:
        return [drawn(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {
        rng.choice(["a", "label", "", "op", "row"]): drawn(rng, depth + 1) for _ in range(rng.randrange(4))
    }


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of nested data, as the container and the key in it."""
    if isinstance(data, dict | list):
        for key in list(data) if isinstance(data, dict) else range(len(data)):
            yield data, key
            yield from places(data[key])


def changed(data: Any, rng: random.Random) -> Any:
    """A copy with one to three places changed: another value, one that is gone, doubled, moved, misspelt or wrapped."""
    data = copy.deepcopy(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        found = list(places(data))
        if not found:
            return drawn(rng)
        container, key = rng.choice(found)
        way = rng.randrange(8)
        if way <= 2:
            container[key] = drawn(rng)
        elif way == 3:
            del container[key]
        elif way == 4:
            container[key] = [container[key], copy.deepcopy(container[key])]
        elif way == 5:
            other, there = rng.choice(found)
            container[key] = copy.deepcopy(other[there])
        elif way == 6 and isinstance(container, dict):
            container[rng.choice(["", "x", "op", "at", "old", str(key) + "s"])] = container.pop(key)
        elif way == 6:
            container.insert(key, copy.deepcopy(container[key]))
        elif isinstance(container[key], str):
            text = container[key]
            at = rng.randrange(len(text) + 1)
            container[key] = (
                text[:at] + rng.choice(["\0", "\ud800", "9", " ", "-", "é", "", "r"]) + text[at + 1 :]
            )
        elif isinstance(container[key], int) and abs(container[key]) < 2**63:
            container[key] = rng.choice(
                [container[key] + 1, -container[key], float(container[key]), str(container[key])]
            )
        else:
            container[key] = drawn(rng)
    return data
