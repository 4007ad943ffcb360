"""Collections on disk behave as the ones in memory, however much they hold and wherever they lie."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tableqa.core.disk_collections import Lines, Shelf, SortedTuples

scalars = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.integers(-(2**53), 2**53)
keys = scalars | st.tuples(scalars, scalars)
steps = st.lists(st.tuples(st.sampled_from(["set", "add", "delete"]), keys, scalars), max_size=40)


@given(steps, st.integers(0, 5))
def test_a_shelf_is_a_dict_wherever_it_lies(steps: list[tuple[str, Any, Any]], most: int) -> None:
    shelf: Shelf[Any, Any] = Shelf(most)
    plain: dict[Any, Any] = {}
    for what, key, value in steps:
        if what == "set":
            shelf[key] = plain[key] = value
        elif what == "add":
            assert shelf.add(key, value) == (key not in plain)
            plain.setdefault(key, value)
        else:
            assert shelf.pop(key, None) == plain.pop(key, None)
    assert list(shelf.items()) == list(plain.items()), "in the order in which the keys came"
    assert len(shelf) == len(plain)
    for _, key, _ in steps:
        assert (key in shelf) == (key in plain)
        assert shelf.get(key, "nothing") == plain.get(key, "nothing")


def test_a_shelf_may_grow_while_it_is_gone_through() -> None:
    shelf: Shelf[int, int] = Shelf(0)
    for number in range(3_000):
        shelf[number] = number
    seen = []
    for number in shelf:
        shelf[number] = -number
        seen.append(number)
    assert seen == list(range(3_000))
    assert shelf[2_999] == -2_999


rows = st.lists(st.tuples(scalars, st.integers(0, 9), st.none() | st.integers(0, 9)), max_size=30)


@given(rows.filter(lambda rows: len({type(row[0]) for row in rows}) < 2))
def test_sorted_rows_come_as_python_sorts_them(rows: list[tuple[Any, int, int | None]]) -> None:
    found = SortedTuples(3, key=2)
    first: dict[tuple[Any, int], tuple[Any, int, int | None]] = {}
    for row in rows:
        found.add(*row)
        first.setdefault(row[:2], row)
    expected = [first[key] for key in sorted(first)]
    assert list(found) == expected
    assert [row for page in found.pages(4) for row in page] == expected
    assert all(len(page) <= 4 for page in found.pages(4))
    assert len(found) == len(expected)
    assert list(found.distinct(1)) == sorted({row[1:2] for row in expected})
    assert list(found.distinct(1, 0)) == sorted({(row[1], row[0]) for row in expected})
    at_once = SortedTuples(3, key=2)
    at_once.update(rows)
    assert list(at_once) == expected


@given(st.lists(scalars | st.lists(scalars), max_size=20), st.integers(0, 60), st.randoms())
def test_lines_are_a_list_read_in_any_order_while_it_grows(values: list[Any], most: int, draw: Any) -> None:
    found = Lines(most)
    for number, value in enumerate(values):
        found.append(value)
        at = draw.randint(0, number)
        assert found[at] == values[at]
    assert list(found) == values
    assert len(found) == len(values)
