"""What two perturbations share, and how varied many are."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table, likeness
from tableqa.operations import InsertColumn, Operation, RemoveColumn, RenameHeader, SetCell, replay

ORIGINAL = Example(
    id="x",
    question="who finished first?",
    table=Table(["Name", "Points"], [["Ann", "9"], ["Bo", "7"]]),
    answers=["Ann"],
)


def asked(question: str) -> Example:
    return dataclasses.replace(ORIGINAL, question=question)


def edited(*operations: Operation) -> Example:
    return dataclasses.replace(ORIGINAL, table=replay(ORIGINAL.table, operations))


RENAMED = edited(RenameHeader(column="c1", at=1, old="Points", new="Score"))


def test_pieces_are_what_is_new_and_else_what_is_gone() -> None:
    assert likeness.pieces(ORIGINAL, asked("who finished at the head?")) == {
        "word at",
        "word the",
        "word head",
    }
    assert likeness.pieces(ORIGINAL, asked("who finished?")) == {"without first"}
    assert likeness.pieces(ORIGINAL, RENAMED) == {"name c1 score"}
    gone = edited(RemoveColumn(column="c1", at=1, old=("Points", "9", "7")))
    assert likeness.pieces(ORIGINAL, gone) == {"without column c1"}
    cell = edited(SetCell(row="r0", column="c1", at=(0, 1), old="9", new="8"))
    assert likeness.pieces(ORIGINAL, cell) == {"cell r0 c1 8"}
    more = edited(InsertColumn(column="n1", after="c0", header="Club", cells=("A", "")))
    assert likeness.pieces(ORIGINAL, more) == {"column club", "cell 0 a"}
    assert likeness.pieces(ORIGINAL, ORIGINAL) == frozenset()


def test_edits_are_comparable_across_examples() -> None:
    assert likeness.edits(ORIGINAL, asked("who finished earliest?")) == {"first > earliest"}
    assert likeness.edits(ORIGINAL, RENAMED) == {"points > score"}


def test_what_is_made_is_the_same_in_another_case_and_nowhere_else() -> None:
    assert likeness.made(asked("Who finished  first")) == likeness.made(ORIGINAL)
    assert likeness.made(dataclasses.replace(ORIGINAL, id="y")) == likeness.made(ORIGINAL)
    others = [asked("who came first?"), RENAMED, dataclasses.replace(ORIGINAL, answers=("Bo",))]
    assert len({likeness.made(one) for one in (ORIGINAL, *others)}) == 4


def test_openings_and_shares() -> None:
    assert likeness.opening("Who's first?") == "who 's"
    assert likeness.opening("") == ""
    assert likeness.shared({"a", "b"}, {"a"}) == 0.5
    assert likeness.shared(set(), {"a"}) == 0
    assert likeness.distinct(["a", "b", "a", "c"]) == 0.75
    assert likeness.distinct([]) is None
    assert likeness.mean_distance([{"a"}]) is None
    assert likeness.mean_distance([{"a"}, {"b"}, {"a"}]) == pytest.approx(2 / 3)


sets = st.frozensets(st.sampled_from("abcde"))


@given(sets, sets, sets)
def test_the_distance_is_a_metric(one: frozenset[str], other: frozenset[str], third: frozenset[str]) -> None:
    assert likeness.distance(one, one) == 0
    assert likeness.distance(one, other) == likeness.distance(other, one)
    assert 0 <= likeness.distance(one, other) <= 1
    apart = likeness.distance(one, third) + likeness.distance(third, other)
    assert likeness.distance(one, other) <= apart + 1e-12
