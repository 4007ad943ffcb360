"""What two perturbations share, and how varied many are."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.operations import InsertColumn, Operation, RemoveColumn, RenameHeader, SetCell, replay
from tableqa.perturbations import similarity

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
    assert similarity.added_content(ORIGINAL, asked("who finished at the head?")) == {
        "word at",
        "word the",
        "word head",
    }
    assert similarity.added_content(ORIGINAL, asked("who finished?")) == {"without first"}
    assert similarity.added_content(ORIGINAL, RENAMED) == {"name c1 score"}
    gone = edited(RemoveColumn(column="c1", at=1, old=("Points", "9", "7")))
    assert similarity.added_content(ORIGINAL, gone) == {"without column c1"}
    cell = edited(SetCell(row="r0", column="c1", at=(0, 1), old="9", new="8"))
    assert similarity.added_content(ORIGINAL, cell) == {"cell r0 c1 8"}
    more = edited(InsertColumn(column="n1", after="c0", header="Club", cells=("A", "")))
    assert similarity.added_content(ORIGINAL, more) == {"column club", "cell 0 a"}
    assert similarity.added_content(ORIGINAL, ORIGINAL) == frozenset()


def test_edits_are_comparable_across_examples() -> None:
    assert similarity.edits(ORIGINAL, asked("who finished earliest?")) == {"first > earliest"}
    assert similarity.edits(ORIGINAL, RENAMED) == {"points > score"}


def test_what_is_made_is_the_same_in_another_case_and_nowhere_else() -> None:
    assert similarity.perturbation_digest(asked("Who finished  first")) == similarity.perturbation_digest(
        ORIGINAL
    )
    assert similarity.perturbation_digest(
        dataclasses.replace(ORIGINAL, id="y")
    ) == similarity.perturbation_digest(ORIGINAL)
    others = [asked("who came first?"), RENAMED, dataclasses.replace(ORIGINAL, answers=("Bo",))]
    assert len({similarity.perturbation_digest(one) for one in (ORIGINAL, *others)}) == 4


def test_openings_and_shares() -> None:
    assert similarity.opening("Who's first?") == "who 's"
    assert similarity.opening("") == ""
    assert similarity.overlap({"a", "b"}, {"a"}) == 0.5
    assert similarity.overlap(set(), {"a"}) == 0
    assert similarity.distinct(["a", "b", "a", "c"]) == 0.75
    assert similarity.distinct([]) is None
    assert similarity.mean_distance([{"a"}]) is None
    assert similarity.mean_distance([{"a"}, {"b"}, {"a"}]) == pytest.approx(2 / 3)


sets = st.frozensets(st.sampled_from("abcde"))


@given(sets, sets, sets)
def test_the_distance_is_a_metric(one: frozenset[str], other: frozenset[str], third: frozenset[str]) -> None:
    assert similarity.distance(one, one) == 0
    assert similarity.distance(one, other) == similarity.distance(other, one)
    assert 0 <= similarity.distance(one, other) <= 1
    apart = similarity.distance(one, third) + similarity.distance(third, other)
    assert similarity.distance(one, other) <= apart + 1e-12
