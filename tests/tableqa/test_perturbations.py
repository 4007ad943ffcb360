"""Automatic perturbations: seeded, replayable, honest about what they did not do."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.operations import MoveColumn, MoveRow, Operation, Transpose, normalise, replay
from tableqa.perturbations import PERTURBATIONS, SEEDS, instances
from tableqa.perturbations.catalogue import Order, half, third
from tableqa.perturbations.contracts import check
from tableqa.readers import READERS
from tests.tableqa.strategies import tables

FILMS = Table(
    header=["Film", "Year", "Minutes"],
    rows=[[f"Film {n}", str(1970 + n), str(100 + n)] for n in range(9)],
)
EXAMPLE = Example(id="nu-1", question="how long is film 4?", table=FILMS, answers=["104"])
every_kind = pytest.mark.parametrize("name", PERTURBATIONS)


@every_kind
def test_a_perturbation_is_a_replay_and_never_touches_what_it_was_given(name: str) -> None:
    marked = dataclasses.replace(EXAMPLE, meta={"relevant_cells": [["r4", "c2"]]})
    before = marked.table.to_dict()
    for seed in (33, 16):
        done = PERTURBATIONS[name](marked, seed=seed)
        assert marked.table.to_dict() == before
        assert done == PERTURBATIONS[name](marked, seed=seed)
        assert replay(marked.table, done.operations).same_content(done.example.table)
        assert done.is_noop == done.example.table.same_content(marked.table)
        assert done.is_noop == bool(done.reason)
        if not done.is_noop:
            contract = PERTURBATIONS[name].contract
            assert check(contract, marked, done.example, done.operations) == []


@every_kind
def test_an_example_without_an_answer_is_perturbed_as_well(name: str) -> None:
    """Nothing says which answer should stay, and that is no fault of the perturbation."""
    unanswered = Example("nu-2", EXAMPLE.question, FILMS, [], meta={"relevant_cells": [["r4", "c2"]]})
    for one in instances(unanswered, [name], [33]):
        assert one.violations == ()
        assert one.is_made or one.perturbed.reason


def test_the_own_program_of_an_example_is_run_on_what_is_made_of_it() -> None:
    first = {"op": "place", "which": "first", "rows": {"op": "all_rows"}}
    known = dataclasses.replace(
        EXAMPLE, answers=("Film 0",), program={"op": "select", "column": "c0", "rows": first}
    )

    def codes(example: Example) -> set[str]:
        return {found.code for one in instances(example, ["row_shuffle"], SEEDS) for found in one.violations}

    assert codes(known) == {"computed_answer_differs"}, "which film is listed first depends on the order"
    assert codes(dataclasses.replace(known, program={"op": "none"})) == set()
    contradicted = dataclasses.replace(EXAMPLE, program={"op": "cell", "row": "r0", "column": "c0"})
    assert codes(contradicted) == {"computed_answer_differs"}, "nothing tells which of the two is wrong"
    derived = Example("nu-3", "how much longer?", FILMS, ["3"], meta={"derivation": "104-101"})
    assert codes(derived) == set(), "a difference of two cells does not"


@every_kind
@given(seed=st.integers(0, 2**32), rows=st.integers(0, 7), columns=st.integers(1, 5))
def test_any_table_comes_out_perturbed_or_as_it_was_with_a_reason(
    name: str, seed: int, rows: int, columns: int
) -> None:
    table = Table(
        header=[f"h{c}" for c in range(columns)],
        rows=[[f"{r}.{c}" for c in range(columns)] for r in range(rows)],
    )
    example = Example(
        id="x", question="what?", table=table, answers=["1.0"], meta={"relevant_cells": [["r1", "c0"]]}
    )
    done = PERTURBATIONS[name](example, seed=seed)
    assert done.is_noop == bool(done.reason) == (not done.operations)
    if "shuffle" in name or name in ("row", "column") or "swap" in name or name.startswith("target"):
        cells = sorted(text for row in done.example.table.rows for text in row)
        assert cells == sorted(text for row in table.rows for text in row)


@pytest.mark.parametrize("n", range(1, 30))
def test_thirds_and_halves_overlap_nowhere_and_are_equally_long(n: int) -> None:
    front, middle, bottom = (third(name, n) for name in ("front", "middle", "bottom"))
    assert len(front) == len(bottom) >= 1
    if n > 2:
        assert [*front, *middle, *bottom] == list(range(n))
    assert len(half("front", n)) == len(half("back", n))


@pytest.mark.parametrize(
    ("kind", "region"), [("front", range(3)), ("middle", range(3, 6)), ("bottom", range(6, 9))]
)
def test_the_row_of_the_answer_comes_into_its_third_and_the_others_keep_their_order(
    kind: str, region: range
) -> None:
    for seed in range(20):
        done = PERTURBATIONS[f"target_row_{kind}"](EXAMPLE, seed=seed)
        names = [row[0] for row in done.example.table.rows]
        if kind == "middle":
            assert done.is_noop
            assert done.reason == "The rows or columns are already in the target region."
        else:
            assert names.index("Film 4") in region
        assert [name for name in names if name != "Film 4"] == [f"Film {n}" for n in range(9) if n != 4]


def test_a_column_of_the_answer_comes_into_its_half() -> None:
    done = PERTURBATIONS["target_col_front"](EXAMPLE)
    assert done.example.table.header == ("Minutes", "Film", "Year")
    assert PERTURBATIONS["target_col_back"](EXAMPLE).is_noop


def test_two_papers_have_two_transposes() -> None:
    small = dataclasses.replace(
        EXAMPLE, table=Table(header=["Film", "Year"], rows=[["Heat", "1995"], ["Alien", "1979"]])
    )
    freb = PERTURBATIONS["transpose"](small).example.table
    assert (freb.header, freb.rows) == (("Film", "Heat", "Alien"), (("Year", "1995", "1979"),))
    torr = PERTURBATIONS["torr_transpose"](small).example.table
    assert torr.header == ("", "0", "1")
    assert torr.rows == (("Film", "Heat", "Alien"), ("Year", "1995", "1979"))


def test_evidence_is_emptied_and_the_table_escaped() -> None:
    marked = dataclasses.replace(EXAMPLE, meta={"relevant_cells": [["r4", "c0"], ["r4", "c2"]]})
    assert PERTURBATIONS["mask_cell"](marked).example.table.rows[4] == ("", "1974", "")
    assert PERTURBATIONS["mask_cell"](EXAMPLE).reason == "The relevant cells are unknown."
    escaped = PERTURBATIONS["escape_table"](EXAMPLE).example.table
    assert (escaped.header, escaped.rows) == (("None",), ())


def test_questions_about_a_position_are_left_out_where_rows_move_as_in_robut() -> None:
    asked = dataclasses.replace(EXAMPLE, question="which film is LAST?")
    assert PERTURBATIONS["row"](asked).is_noop
    assert not PERTURBATIONS["row_shuffle"](asked).is_noop
    assert not PERTURBATIONS["row"](EXAMPLE).is_noop


@pytest.mark.parametrize("table", [Table([], []), Table([], [[], []]), Table(["a"], []), FILMS], ids=repr)
def test_what_one_perturbation_leaves_any_other_takes(table: Table) -> None:
    left = [Example("e", "which?", table, ["104"])]
    for name in PERTURBATIONS:
        done = PERTURBATIONS[name](left[0], seed=3)
        left += [] if done.is_noop else [done.example]
    for example in left:
        for name in PERTURBATIONS:
            done = PERTURBATIONS[name](example, seed=16)
            assert done.is_noop == bool(done.reason)
            assert done.is_noop or done.operations


def test_two_empty_rows_come_in() -> None:
    rows = PERTURBATIONS["torr_empty_rows"](EXAMPLE).example.table.rows
    assert sum(not any(row) for row in rows) == 2
    assert [row for row in rows if any(row)] == list(FILMS.rows)


def test_on_real_tables_what_stays_is_a_noop_with_a_reason(test_data: Path) -> None:
    examples = list(READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv", limit=150))
    for name, perturbation in PERTURBATIONS.items():
        for example in examples:
            done = perturbation(example)
            assert done.is_noop == done.example.table.same_content(example.table), (name, example.id)


@given(table=tables, rng=st.randoms(use_true_random=False))
def test_an_order_and_a_turn_at_once_are_what_their_operations_make(table: Table, rng: random.Random) -> None:
    rows, columns = list(table.row_ids), list(table.column_ids)
    rng.shuffle(rows)
    rng.shuffle(columns)
    assume(not table.spans)
    order = Order(rows=rows, columns=columns)
    assert table.in_order(rows, columns) == replay(table, order.operations(table))
    assert table.in_order(rows).row_ids == tuple(rows)
    if table.header:
        assert table.turned() == replay(table, [Transpose()])


@every_kind
@given(table=tables, data=st.data())
def test_what_is_derived_from_an_order_is_what_comparing_the_tables_gives(
    name: str, table: Table, data: st.DataObject
) -> None:
    cells = [text for row in table.rows for text in row] or ["a"]
    relevant_cells = [[row, column] for row in table.row_ids[:2] for column in table.column_ids[:1]]
    example = Example(
        id="x",
        question="what?",
        table=table,
        answers=data.draw(st.lists(st.sampled_from(cells), max_size=2)),
        meta={"relevant_cells": relevant_cells} if data.draw(st.booleans()) else {},
    )
    [instance] = instances(example, [name], [data.draw(st.integers(1, 2**31))])
    done = instance.perturbed
    if done.is_noop:
        return
    steps: Sequence[Operation] = done.operations
    if isinstance(done.change, Order):
        rows, columns = done.change.rows or (), done.change.columns or ()
        steps = (
            *(MoveRow(row=row, after=above) for above, row in zip((None, *rows), rows, strict=False)),
            *(
                MoveColumn(column=column, after=before)
                for before, column in zip((None, *columns), columns, strict=False)
            ),
        )
    assert done.operations == tuple(normalise(steps, table))
    assert replay(table, done.operations).same_content(done.example.table)
    violations = check(PERTURBATIONS[name].contract, example, done.example, steps)
    assert instance.violations == tuple(found for found in violations if found.level == "error")


@given(table=tables)
def test_an_order_names_every_row_once_and_merged_cells_are_moved_one_by_one(table: Table) -> None:
    with pytest.raises(ValueError, match=r"once|in one step"):
        table.in_order([*table.row_ids, "r99"])
    if table.spans:
        with pytest.raises(ValueError, match="merged"):
            table.in_order()
        with pytest.raises(ValueError, match="merged"):
            table.turned()
    example = Example(id="x", question="what?", table=table, answers=["a"])
    done = PERTURBATIONS["row_shuffle"](example, seed=33)
    assert replay(table, done.operations) == done.example.table


def test_a_run_replays_one_of_a_hundred_orders_and_stops_where_its_moves_lead_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Order, "operations", lambda order, table: [])
    examples = [dataclasses.replace(EXAMPLE, id=f"nu-{number}") for number in range(1_000)]
    stopped = 0
    for example in examples:
        try:
            list(instances(example, ["row_shuffle"], [33]))
        except RuntimeError as error:
            stopped += str(error) == f"The moves of {example.id}:row_shuffle:33 do not lead to its table."
    assert 3 <= stopped <= 30
