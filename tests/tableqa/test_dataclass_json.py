"""Dataclasses as JSON and back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest

from tableqa.core.translation import Message, pack_all, phrase, unpack_object
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.data.typed_json import from_json, to_json


@dataclass(frozen=True)
class Part:
    name: str
    nature: Literal["a", "b"] = "a"


@dataclass(frozen=True)
class Whole:
    text: str = ""
    parts: list[Part] = field(default_factory=list)
    by_name: Mapping[str, Part] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    rows: Sequence[int] = ()
    counts: Counter[str] = field(default_factory=Counter)
    chosen: set[Part] = field(default_factory=set)
    first: Part | None = None
    at: datetime | None = None
    path: Path = Path()
    data: Mapping[str, Any] = field(default_factory=dict)
    examples: Sequence[Example] = ()


@dataclass(frozen=True)
class Larger(Whole):
    more: object = None


EXAMPLE = Example(
    "1", "Which?", Table(["a"], [["b"]]), ["b"], meta={"code": "text", "values": {"text": "no message"}}
)

WHOLES = [
    Whole(),
    Whole(text=phrase("{name} is empty", name="a.csv")),
    Whole(
        parts=[Part("x"), Part("y", "b")],
        by_name={"x": Part("x")},
        first=Part("z"),
        chosen={Part("x"), Part("y")},
    ),
    Whole(names=("x", "y"), rows=(1, 2), counts=Counter(x=2, y=0), path=Path("a") / "b"),
    Whole(at=datetime(2026, 3, 2, 12, tzinfo=UTC), data={"at": "2026", "list": [1, {"x": None}]}),
    Whole(examples=(EXAMPLE,)),
]


@pytest.mark.parametrize("whole", WHOLES)
def test_what_is_written_is_read_as_it_was(whole: Whole) -> None:
    stored = json.dumps(pack_all(to_json(whole)))

    read = from_json(Whole, json.loads(stored, object_hook=unpack_object))

    assert read == whole
    assert [type(value) for value in vars(read).values()] == [type(value) for value in vars(whole).values()]


def test_a_message_stays_one() -> None:
    read = from_json(Whole, to_json(Whole(text=phrase("{name} is empty", name="a.csv"))))

    assert isinstance(read.text, Message)


def test_of_a_class_above_only_its_fields_are_taken() -> None:
    larger = Larger("x", more=object())

    assert from_json(Whole, to_json(larger, Whole)) == Whole("x")


def test_what_is_missing_has_its_default() -> None:
    assert from_json(Whole, {"text": "x"}) == Whole("x")
