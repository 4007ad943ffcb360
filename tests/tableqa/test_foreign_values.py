"""The rules for foreign texts, names, numbers, times and columns, each with what it takes and what it refuses."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa.core.foreign_values import (
    NAMES,
    decimal,
    faults,
    in_column,
    normal,
    printable,
    printable_in,
    unstorable,
)
from tableqa.core.translation import phrase

NUL = "a NUL character"
SURROGATE = "an unpaired surrogate (wrongly decoded text)"
NUMBER = "a number that is infinite or not a number (NaN)"


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ("a\0b", (), NUL),
        ("\ud83d", (), SURROGATE),
        ({"a\0": 1}, ("a\0",), NUL),
        ({"a": {"\udfff": 1}}, ("a", "\udfff"), SURROGATE),
        ({"a": [0, {"b": "\0"}]}, ("a", 1, "b"), NUL),
        (float("nan"), (), NUMBER),
        ({"a": (float("-inf"),)}, ("a", 0), NUMBER),
    ],
)
def test_what_cannot_be_stored_is_found_with_its_path(value: Any, path: Any, reason: str) -> None:
    assert list(faults(value)) == [(path, reason)]
    assert unstorable(value) == reason


@pytest.mark.parametrize(
    "value",
    ["\x01\x1b[31m\x7f\u2028", "e\u0301 \U0001f600 \ufffe", None, 2**53 + 1, 10**400, {"": [None, 1.5]}],
)
def test_other_control_characters_null_and_long_whole_numbers_are_kept(value: Any) -> None:
    assert list(faults(value)) == []
    assert unstorable(value) is None


def test_a_name_has_no_control_character_and_one_spelling() -> None:
    assert unstorable("A\x1b", NAMES) == "a control character"
    assert unstorable("A\0", NAMES) == NUL
    assert unstorable("José 😀", NAMES) is None
    assert normal({"e\u0301": ["e\u0301", 1, None]}) == {"e\u0301": ["é", 1, None]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1000", 0.1),
        ("1e3", 1000.0),
        ("1e15", 1e15),
        ("1e16", 10**16),
        ("-1e23", -(10**23)),
        ("12345678901234567890.10", "12345678901234567890.10"),
        ("9007199254740993.0", "9007199254740993.0"),
        ("1e-400", "1e-400"),
        ("1e-99999999999999999999", "1e-99999999999999999999"),
    ],
)
def test_a_decimal_that_no_float_has_stays_a_text(text: str, value: Any) -> None:
    assert decimal(text) == value
    assert type(decimal(text)) is type(value)


def test_zero_has_no_sign() -> None:
    assert repr(decimal("-0.0")) == "0.0"


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**300), max_value=10**300))
def test_a_decimal_keeps_its_value(number: Decimal) -> None:
    value = decimal(str(number))
    assert Decimal(value if isinstance(value, str) else repr(value)) == number


def test_no_column_is_not_the_column_without_a_name() -> None:
    row = {"": "20200101", "note": "x"}
    assert in_column(row, None) is None
    assert in_column(row, None, "") == ""
    assert in_column(row, "note") == "x"


def test_what_is_printed_is_escaped_as_in_json() -> None:
    assert printable("a\0\x1b[2J\ud83d\r\x85é\n\t😀") == "a\\u0000\\u001b[2J\\ud83d\\u000d\\u0085é\n\t😀"
    assert printable_in({"\0": ("\ud800", 1)}) == {"\\u0000": ("\\ud800", 1)}
    message = printable(phrase("{field} is empty", field="\ud800"))
    assert message == "\\ud800 is empty"
    assert message.values["values"] == {"field": "\\ud800"}  # type: ignore[attr-defined]


@given(st.text(st.characters()))
def test_a_text_without_a_fault_can_be_written(text: str) -> None:
    printable(text).encode()
    if unstorable(text) is None:
        text.encode()
        assert "\\u0000" not in json.dumps(text).replace("\\\\", "")


@given(
    st.recursive(
        st.text(st.sampled_from("a\\u0d\x00\ud83d\ude00é")) | st.floats() | st.none(),
        lambda parts: st.lists(parts) | st.dictionaries(st.text(st.sampled_from("a\\u0d\x00\ud83d")), parts),
        max_leaves=8,
    )
)
def test_a_look_at_the_encoded_value_overlooks_nothing(value: Any) -> None:
    first = next((reason.shown() for _, reason in faults(value)), None)

    assert unstorable(value) == first
