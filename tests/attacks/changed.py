"""Data with something changed at random: what fuzzing sends where a drawn value would be refused at the first look."""

from __future__ import annotations

import copy
import json
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


TOKENS = [
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\xe2\x80\xa8",
    b"\r",
    b"\r\n",
    b"\n",
    b"\t",
    b"\\",
    b'"',
    b'""',
    b"'",
    b",",
    b"[",
    b"]",
    b"{",
    b"}",
    b"[" * 5000,
    b'{"a":' * 3000,
    b"(" * 5000,
    b"-" * 5000,
    b"NaN",
    b"Infinity",
    b"-1",
    b"1e999",
    b"9" * 5000,
    b"null",
    b"true",
    b'"\\ud800"',
    b"\\u0000",
    b"../",
    b"/etc/passwd",
    b"#",
    b"\\N",
    b"__import__('os')",
    b"\x1a",
    b"\x85",
]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Some bytes of a file changed, put in, doubled, moved or gone."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice((1, 1, 2, 5, 30, 400)))
        way = rng.randrange(7)
        if way == 0:
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif way == 1:
            data = data[:at] + data[end:]
        elif way == 2:
            data = data[:at] + rng.choice(TOKENS) + data[at:]
        elif way == 3:
            data = data[:at] + rng.choice(TOKENS) + data[end:]
        elif way == 4:
            data = data[:at] + data[at:end] * 2 + data[end:]
        elif way == 5:
            data = data[:at]
        else:
            other = rng.randrange(len(data) + 1)
            data = data[:other] + data[at:end] + data[other:]
    return data


def with_other_values(data: bytes, rng: random.Random) -> bytes:
    """A file of JSON, whole or by lines, with values changed; another file: with bytes changed."""
    try:
        text = data.decode()
        lines = text.splitlines()
        one = rng.randrange(len(lines))
        bare = lines[one].rstrip(",")
        lines[one] = json.dumps(changed(json.loads(bare), rng)) + lines[one][len(bare) :]
        return "\n".join(lines).encode() + b"\n"
    except (ValueError, IndexError):
        return mutated(data, rng)
