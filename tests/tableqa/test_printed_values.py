"""Lists and objects as Python and NumPy print them: each value comes back, and nothing else is read."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tableqa.readers.json_values import value_in
from tableqa.serialisations.printed_values import json_of


def printed_value(text: str, number: Callable[[str], Any] = float) -> Any:
    return json.loads(json_of(text), parse_float=number, parse_int=number, object_pairs_hook=dict)


LETTERS = ["a", "é", "'", '"', "\\", ",", " ", "[", "]", "\n", "\t", "\x00", "\u2028", "😀", "(", "7", "\x85"]


def drawn(random: random.Random, depth: int = 0) -> Any:
    kind = random.randrange(6 if depth < 3 else 4)
    if kind < 2:
        return "".join(random.choices(LETTERS, k=random.randrange(6)))
    if kind < 4:
        return random.choice(
            [random.randrange(-9, 10**20), random.uniform(-1e9, 1e9), 1e-7, 1e22, None, True]
        )
    members = [drawn(random, depth + 1) for _ in range(random.randrange(4))]
    return members if kind == 4 else {f"{number}'": member for number, member in enumerate(members)}


def number(text: str) -> int | float:
    return float(text) if set(text) & set(".e") else int(text)


@pytest.mark.parametrize("seed", range(50))
def test_what_python_prints_comes_back(seed: int) -> None:
    value = [drawn(random.Random(seed)) for _ in range(5)]

    assert printed_value(repr(value), number) == value
    assert printed_value(repr(tuple(value)), number) == value


@pytest.mark.parametrize("seed", range(50))
def test_what_numpy_prints_comes_back(seed: int) -> None:
    draw = random.Random(seed)
    texts = ["".join(draw.choices(LETTERS, k=3)) for _ in range(draw.randrange(1, 60))]
    numbers = [draw.choice([draw.randrange(100), draw.randrange(1000) / 8]) for _ in texts]

    for values in (texts, numbers):
        for array in (np.array(values), np.array(values, dtype=object)):
            shown = [f"{value}" if isinstance(value, float) else value for value in array.tolist()]
            read = printed_value(str(array), lambda text: f"{float(text)}" if "." in text else int(text))
            assert read == shown
            assert printed_value(repr(array), str) == printed_value(str(array), str)
    pairs = np.array([texts, texts])
    assert printed_value(str(pairs)) == printed_value(repr(pairs)) == pairs.tolist()
    parts = np.empty(2, dtype=object)
    parts[:] = [np.array(texts, dtype=object), texts[:1]]
    assert printed_value(str(parts)) == [texts, texts[:1]]


def test_numbers_are_told_as_they_are_written() -> None:
    assert printed_value("['007', 1.50, -0, 1E+5, 3.]", str) == ["007", "1.50", "-0", "1E+5", "3.0"]
    assert printed_value("[np.float64(1.50), np.str_('a'), Decimal('2.0')]", str) == ["1.50", "a", "2.0"]


def test_missing_values_are_null() -> None:
    assert printed_value("[None, nan, NaN, null, 'nan']") == [None, None, None, None, "nan"]


@pytest.mark.parametrize(
    "text",
    [
        "['Ann' 'Bob', 'Cy']",
        "['Ann''Bob']",
        "('Ann' 'Bob')",
        "(1)",
        "['it's', 'b']",
        "[0 1 ... 8 9]",
        "[007]",
        "[1_000]",
        "[0x1]",
        "[1,, 2]",
        "[, 1]",
        "[1",
        "1]",
        "[1] [2]",
        "[a]",
        "[Ann, Bob]",
        "[b'a']",
        "[f'a']",
        "{'a': 1, 'a': 2}",
        "{'a', 'b'}",
        "{['a']: 1}",
        "['\\N{DASH}', '\\q']",
        "['a\nb']",
        "[open('a')]",
        "array('a')",
        "[np.float64([1])]",
        "[" * 200 + "]" * 200,
        "[1 + 2j]",
        "['\\Uffffffff']",
        "",
    ],
)
def test_anything_else_is_no_value(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        value_in(text)


def test_texts_of_json_are_read_as_far_as_python_prints_them_so() -> None:
    values = ["a", 'b"', None, True, 1.5]

    assert printed_value(json.dumps(values)) == values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[datetime.date(2024, 5, 1)]", ["2024-05-01"]),
        ("[datetime.datetime(2024, 5, 1, 12, 30)]", ["2024-05-01 12:30:00"]),
        ("[datetime.datetime(2024, 5, 1, 0, 0, 1, 500)]", ["2024-05-01 00:00:01.000500"]),
        ("{'at': datetime.time(9, 5)}", {"at": "09:05:00"}),
        ("[UUID('12345678-1234-5678-1234-567812345678')]", ["12345678-1234-5678-1234-567812345678"]),
    ],
)
def test_dates_of_python_are_written_as_iso_8601_has_them(text: str, value: Any) -> None:
    assert value_in(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "[datetime.date(2024)]",
        "[datetime.date(2024, 13, 1)]",
        "[datetime.date(2024, 5, 1, 2)]",
        "[datetime.datetime(2024, 5, 1)]",
        "[datetime.datetime(2024, 5, 1, 12, 30, tzinfo=datetime.timezone.utc)]",
        "[datetime.date(99999999999999999999, 1, 1)]",
        "[datetime.time(25, 0)]",
        "[datetime.date(2024, 5, 1]",
    ],
)
def test_what_is_no_date_is_no_value(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        value_in(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': Ann Lee, 'b': NULL}", {"a": "Ann Lee", "b": None}),
        (
            "{'a': [x, 'y, z', 'it\\'s', ''], 'b': {'c': true}}",
            {"a": ["x", "y, z", "it's", ""], "b": {"c": True}},
        ),
        ("[{'a': 007}, {'a': 1.50}]", [{"a": "007"}, {"a": "1.50"}]),
        ("{'a': 2024-05-01 12:30:00, 'b': 'null'}", {"a": "2024-05-01 12:30:00", "b": "null"}),
    ],
)
def test_objects_of_duckdb_are_read(text: str, value: Any) -> None:
    assert json.loads(json.dumps(plain_texts(value_in(text)))) == value


def plain_texts(value: Any) -> Any:
    """The value with numbers as they are written."""
    if isinstance(value, dict):
        return {name: plain_texts(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain_texts(inner) for inner in value]
    return getattr(value, "text", value)


@pytest.mark.parametrize(
    "text",
    [
        "[Ann, Bo]",
        "{'a': \"Ann\" x}",
        "{'a': [1 2 ... 3]}",
        "{'a': x y=z}",
        "{'a': Ann , 'b': x}",
        "{'a': [x}",
        "{'a': b'x'}",
    ],
)
def test_other_bare_words_are_no_value(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        value_in(text)
