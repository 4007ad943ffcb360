"""The example: a question about a table, and what its source says around it."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Context, Example, Table, Turn
from tableqa.data.examples import ExampleError
from tests.tableqa.strategies import tables, texts

TABLE = Table(["a"], [["1"]])


@pytest.fixture
def example() -> Example:
    return Example(
        id="nt-1",
        question="how many?",
        table=TABLE,
        answers=["1"],
        meta={"derivation": "1+0", "cells": [[0, 0]]},
        program={"op": "lookup", "cells": [["r0", "c0"]]},
        context=Context(text="In millions.", unit="USD", scale="million"),
        history=[Turn("which?", ["this", "that"])],
    )


def test_an_example_says_what_its_source_says(example: Example) -> None:
    assert example.answers == ("1",)
    assert example.meta["derivation"] == "1+0"
    assert example.context == Context("In millions.", "USD", "million")
    assert example.history == (Turn("which?", ("this", "that")),)


def test_nothing_of_an_example_can_be_changed(example: Example) -> None:
    for field in dataclasses.fields(example):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(example, field.name, None)
    with pytest.raises(TypeError):
        example.meta["derivation"] = "2"  # type: ignore[index]
    with pytest.raises(TypeError):
        example.program["op"] = "sum"  # type: ignore[index]
    assert example.meta["cells"] == ((0, 0),)


def test_the_meta_given_may_change_afterwards_the_example_does_not() -> None:
    meta = {"cells": [1]}
    example = Example("1", "q", TABLE, ["a"], meta)
    meta["cells"].append(2)
    assert example.meta == {"cells": (1,)}


def test_replacing_a_field_gives_another_example(example: Example) -> None:
    other = dataclasses.replace(example, answers=("2",))
    assert other.answers == ("2",)
    assert other.meta == example.meta


def test_empty_fields_are_left_out() -> None:
    assert Example("1", "q", TABLE, []).to_dict() == {
        "id": "1",
        "question": "q",
        "table": {"header": ["a"], "rows": [["1"]]},
        "answers": [],
    }


@given(tables, st.lists(texts, max_size=3), texts)
def test_an_example_survives_json(table: Table, answers: list[str], text: str) -> None:
    example = Example("1", text, table, answers, {"x": [text]}, None, Context(text), [Turn(text, answers)])
    assert Example.from_dict(example.to_dict()) == example


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": ""}, "id is empty"),
        ({"id": 3}, "id is a string"),
        ({"question": None}, "question is a string"),
        ({"answers": "1"}, "answers is a list of strings, not a str"),
        ({"answers": [1]}, r"answers\[0\] is a string"),
        ({"answers": None}, "answers is a list of strings"),
        ({"table": {"header": []}}, "table: a table needs rows"),
        ({"meta": []}, "meta is an object"),
        ({"meta": {"x": float("nan")}}, r"meta\.x contains a number that is infinite or not a number"),
        ({"meta": {"x": "\ud800"}}, r"meta\.x contains an unpaired surrogate"),
        ({"meta": {"a\0": [1]}}, r"meta\.a\\u0000 contains a NUL character"),
        ({"meta": {"a": [{"b": "\0"}]}}, r"meta\.a\[0\]\.b contains a NUL character"),
        ({"program": "sum"}, "program is an object"),
        ({"context": {"currency": "USD"}}, "context has no field currency"),
        ({"context": {"unit": 1}}, "context.unit is a string"),
        ({"history": {}}, "history is a list of turns"),
        ({"history": [{"question": "q"}]}, "a turn of the history lacks answers"),
        ({"gold": 1}, "an example has no field gold"),
    ],
)
def test_what_cannot_be_read_is_refused_naming_the_field(change: dict[str, object], message: str) -> None:
    data = Example("1", "q", TABLE, ["a"]).to_dict() | change
    with pytest.raises(ExampleError, match=message):
        Example.from_dict(data)


@pytest.mark.parametrize("data", [None, [], "x", {}, {"id": "1"}])
def test_what_is_no_example_at_all_is_refused(data: object) -> None:
    with pytest.raises(ExampleError):
        Example.from_dict(data)
