"""Relevant cells: people who agree decide, majorities of cells are taken where they nearly do, FREB's places come out."""

from __future__ import annotations

import random
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Example, Table
from tasks.contract import Acceptance, InvalidResponse, Item, NeedsAdjudication
from tasks.relevant_cells.task import Response, task

TABLE = Table(
    ["Film", "Year", "Minutes"], [["Heat", "1995", "170"], ["Alien", "1979", "117"], ["Ran", "1985", "162"]]
)
EXAMPLE = Example("nu-1", "how long is Alien?", TABLE, ["117"], meta={"context": "csv/1-csv/1.csv"})
UNANSWERABLE = Response((), True)


def item(**settings: Any) -> Item:
    return Item(EXAMPLE, settings=settings)


def cells(*names: str) -> Response:
    return Response(tuple((name[:2], name[2:]) for name in names), False)


def test_equal_sets_decide_however_they_were_drawn() -> None:
    said = [
        task.parse({"cells": order, "unanswerable": False}, item())
        for order in ([["r1", "c0"], ["r1", "c2"]], [["r1", "c2"], ["r1", "c0"], ["r1", "c2"]])
    ]
    resolution = task.resolve(said, item())
    assert isinstance(resolution, Acceptance)
    assert [(outcome.response, outcome.by) for outcome in resolution.outcomes] == [
        (cells("r1c0", "r1c2"), (0, 1))
    ]


def test_a_cell_that_two_of_three_marked_is_in_and_one_that_only_one_marked_is_not() -> None:
    said = [cells("r1c0", "r1c2"), cells("r1c0", "r1c2", "r0c2"), cells("r1c2")]
    resolution = task.resolve(said, item())
    assert isinstance(resolution, Acceptance)
    assert [(outcome.response, outcome.by) for outcome in resolution.outcomes] == [
        (cells("r1c0", "r1c2"), (0, 1, 2))
    ]


def test_sets_that_overlap_too_little_are_for_an_adjudicator() -> None:
    said = [cells("r1c2"), cells("r1c0", "r0c0", "r2c0"), cells("r1c2", "r0c0")]
    resolution = task.resolve(said, item())
    assert isinstance(resolution, NeedsAdjudication)
    assert "0.25" in resolution.reason
    assert isinstance(task.resolve(said, item(least_overlap=0.2)), Acceptance)


def test_cells_of_which_none_has_a_majority_are_for_an_adjudicator() -> None:
    said = [cells("r0c0"), cells("r1c0"), cells("r2c0")]
    assert isinstance(task.resolve(said, item(least_overlap=0)), NeedsAdjudication)


def test_what_most_people_call_unanswerable_is_excluded_and_a_tie_is_not_decided() -> None:
    assert task.resolve([UNANSWERABLE, cells("r1c2"), UNANSWERABLE], item()) == Acceptance((), "unanswerable")
    assert isinstance(task.resolve([UNANSWERABLE, cells("r1c2")], item()), NeedsAdjudication)
    resolution = task.resolve([UNANSWERABLE, cells("r1c2"), cells("r1c2")], item())
    assert isinstance(resolution, Acceptance)
    assert resolution.outcomes[0].by == (1, 2)


subsets = st.sets(st.sampled_from([(r, c) for r in TABLE.row_ids for c in TABLE.column_ids]), min_size=1)


@given(st.lists(subsets | st.none(), min_size=1, max_size=4))
def test_a_decision_follows_from_the_responses_that_support_it_alone(sets: list[set[Any] | None]) -> None:
    """What verifying a release recomputes: the supporters of an outcome make it, without the others."""
    said = [UNANSWERABLE if chosen is None else Response(tuple(sorted(chosen)), False) for chosen in sets]
    resolution = task.resolve(said, item())
    if isinstance(resolution, Acceptance):
        for outcome in resolution.outcomes:
            again = task.resolve([said[index] for index in outcome.by], item())
            assert isinstance(again, Acceptance)
            assert [one.response for one in again.outcomes] == [outcome.response]
    for order in permutations(said):
        other = task.resolve(order, item())
        assert type(other) is type(resolution)
        if isinstance(resolution, Acceptance):
            assert isinstance(other, Acceptance)
            assert [o.response for o in other.outcomes] == [o.response for o in resolution.outcomes]


@pytest.mark.parametrize("cell", [["r9", "c0"], ["h", "c0"], ["r0", "c9"], ["r0"], "r0/c0", [0, 0], None])
def test_what_is_no_cell_of_the_body_is_refused(cell: Any) -> None:
    with pytest.raises(InvalidResponse):
        task.parse({"cells": [cell], "unanswerable": False}, item())


def test_places_come_out_as_freb_tqa_counts_them() -> None:
    (exported,) = task.export("freb_tqa", item(), cells("r1c0", "r1c2"), None)
    assert exported.part == "02_rel/{reader}_nonfactoid_{split}"
    assert exported.record["rel_cell"] == [[1, 0], [1, 2]]
    assert exported.record["table"][0] == ["Film", "Year", "Minutes"]
    (own,) = task.export("askew", item(), cells("r1c2"), None)
    assert (own.part, own.record["relevant_cells"]) == ("relevant_cells", [["r1", "c2"]])


def test_practice_names_what_is_missing_and_what_is_too_much() -> None:
    right, words = task.feedback(item(), cells("r1c0", "r0c2"), cells("r1c0", "r1c2"))
    assert not right
    assert words == ["Also needed:", "Row 2: Minutes (117).", "Not needed:", "Row 1: Minutes (170)."]
    assert task.feedback(item(), cells("r1c0"), cells("r1c0")) == (True, [])


def test_simulated_people_mark_the_cell_that_holds_the_answer() -> None:
    marked = task.simulate(item(), random.Random(1), 1.0, random.Random("truth"))
    assert marked == {"cells": [["r1", "c0"], ["r1", "c2"]], "unanswerable": False}
    empty = Item(Example("e", "?", Table(["a"], []), ["1"]))
    assert task.simulate(empty, random.Random(1), 1.0, random.Random(2))["unanswerable"]
