"""Operations: their JSON, which nobody is trusted with, and their replay on a locked base."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Span, Table
from tableqa.data.tables import MAX_TEXT
from tableqa.operations import (
    MAX_OPERATIONS,
    OPERATIONS,
    InsertColumn,
    InsertRow,
    MaskCells,
    MoveColumn,
    MoveRow,
    Operation,
    OperationError,
    Part,
    RemoveColumn,
    RemoveRow,
    RenameHeader,
    SetCell,
    SplitColumn,
    Transpose,
    describe,
    from_dict,
    from_list,
    invert,
    normalise,
    replay,
)
from tests.tableqa.strategies import edits

VOTES = Table(["Rank", "Name", "Votes"], [["1", "Ann", "1,204"], ["2", "Bob", "361"], ["3", "Cem", "4"]])

# Every operation in its published form, with what it makes of VOTES.
PUBLISHED: list[tuple[dict[str, Any], Table]] = [
    (
        {"op": "set_cell", "row": "r2", "column": "c2", "at": [2, 2], "old": "4", "new": "361"},
        Table(["Rank", "Name", "Votes"], [["1", "Ann", "1,204"], ["2", "Bob", "361"], ["3", "Cem", "361"]]),
    ),
    (
        {"op": "remove_row", "row": "r1", "at": 1, "old": ["2", "Bob", "361"]},
        Table(["Rank", "Name", "Votes"], [["1", "Ann", "1,204"], ["3", "Cem", "4"]], row_ids=["r0", "r2"]),
    ),
    (
        {"op": "insert_row", "row": "n1", "after": "r0", "at": 1, "cells": ["", "Eva", "7"]},
        Table(
            ["Rank", "Name", "Votes"],
            [["1", "Ann", "1,204"], ["", "Eva", "7"], ["2", "Bob", "361"], ["3", "Cem", "4"]],
            row_ids=["r0", "n1", "r1", "r2"],
        ),
    ),
    (
        {"op": "move_row", "row": "r2", "after": None},
        Table(
            ["Rank", "Name", "Votes"],
            [["3", "Cem", "4"], ["1", "Ann", "1,204"], ["2", "Bob", "361"]],
            row_ids=["r2", "r0", "r1"],
        ),
    ),
    (
        {"op": "rename_header", "column": "c2", "at": 2, "old": "Votes", "new": "Ballots"},
        Table(["Rank", "Name", "Ballots"], VOTES.rows),
    ),
    (
        {"op": "remove_column", "column": "c1", "at": 1, "old": ["Name", "Ann", "Bob", "Cem"]},
        Table(["Rank", "Votes"], [["1", "1,204"], ["2", "361"], ["3", "4"]], column_ids=["c0", "c2"]),
    ),
    (
        {"op": "insert_column", "column": "n1", "after": None, "header": "", "cells": ["a", "b", "c"]},
        Table(
            ["", "Rank", "Name", "Votes"],
            [["a", "1", "Ann", "1,204"], ["b", "2", "Bob", "361"], ["c", "3", "Cem", "4"]],
            column_ids=["n1", "c0", "c1", "c2"],
        ),
    ),
    (
        {"op": "move_column", "column": "c0", "after": "c1"},
        Table(
            ["Name", "Rank", "Votes"],
            [["Ann", "1", "1,204"], ["Bob", "2", "361"], ["Cem", "3", "4"]],
            column_ids=["c1", "c0", "c2"],
        ),
    ),
    (
        {
            "op": "split_column",
            "column": "c1",
            "into": [
                {"column": "n1", "header": "Initial", "cells": ["A", "B", "C"]},
                {"column": "n2", "header": "Rest", "cells": ["nn", "ob", "em"]},
            ],
        },
        Table(
            ["Rank", "Initial", "Rest", "Votes"],
            [["1", "A", "nn", "1,204"], ["2", "B", "ob", "361"], ["3", "C", "em", "4"]],
            column_ids=["c0", "n1", "n2", "c2"],
        ),
    ),
    (
        {"op": "transpose"},
        Table(
            ["Rank", "1", "2", "3"],
            [["Name", "Ann", "Bob", "Cem"], ["Votes", "1,204", "361", "4"]],
            row_ids=["c1", "c2"],
            column_ids=["h", "r0", "r1", "r2"],
            header_id="c0",
        ),
    ),
    (
        {"op": "mask_cells", "cells": [["r0", "c2"], ["r2", "c0"]], "with": "?"},
        Table(["Rank", "Name", "Votes"], [["1", "Ann", "?"], ["2", "Bob", "361"], ["?", "Cem", "4"]]),
    ),
]


def test_the_published_forms_are_all_there() -> None:
    assert [data["op"] for data, _ in PUBLISHED] == list(OPERATIONS)


@pytest.mark.parametrize(
    ("data", "made"), PUBLISHED, ids=lambda value: value["op"] if isinstance(value, dict) else ""
)
def test_an_operation_is_read_done_and_written(data: dict[str, object], made: Table) -> None:
    operation = from_dict(data)
    assert replay(VOTES, [operation]) == made
    assert json.dumps(operation.to_dict()) == json.dumps(data)


def test_operations_are_made_by_keyword_and_at_is_optional() -> None:
    operation = SetCell(row="r2", column="c2", old="4", new="5")
    assert operation.to_dict() == {"op": "set_cell", "row": "r2", "column": "c2", "old": "4", "new": "5"}
    assert from_dict(operation.to_dict()) == operation


def test_nothing_of_an_operation_can_be_changed() -> None:
    operation = RemoveRow(row="r1", old=["2", "Bob", "361"])  # type: ignore[arg-type]
    assert operation.old == ("2", "Bob", "361")
    with pytest.raises(dataclasses.FrozenInstanceError):
        operation.row = "r2"  # type: ignore[misc]


def test_the_base_is_untouched() -> None:
    before = VOTES.to_dict()
    for data, _ in PUBLISHED:
        replay(VOTES, [from_dict(data)])
    assert VOTES.to_dict() == before


def test_title_caption_and_further_header_rows_stay() -> None:
    base = Table(["a", "b"], [["1", "2"]], title="t", caption="c", header_rows=[["x", "y"]])
    made = replay(
        base,
        from_list([{"op": "insert_column", "column": "n1", "after": "c0", "header": "m", "cells": ["9"]}]),
    )
    assert (made.title, made.caption) == ("t", "c")
    assert made.header_rows == (("x", "", "y"),)


def test_no_operation_gives_the_table_itself() -> None:
    assert replay(VOTES, []) is VOTES


def test_row_ids_survive_whatever_happens_to_the_rows() -> None:
    made = replay(
        VOTES,
        [
            MoveRow(row="r2", after=None),
            RemoveRow(row="r0", old=("1", "Ann", "1,204")),
            InsertRow(row="n1", after="r2", cells=("9", "Eva", "7")),
            SetCell(row="r1", column="c1", old="Bob", new="Bo"),
            MoveRow(row="n1", after="r1"),
        ],
    )
    assert made.row_ids == ("r2", "r1", "n1")
    assert made.cell("r1", "c1") == "Bo"


# Refused --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        (SetCell(row="r2", column="c2", old="5", new="6"), "stale_base"),
        (SetCell(row="r2", column="c2", old="4 ", new="6"), "stale_base"),
        (SetCell(row="r9", column="c2", old="4", new="6"), "unknown_row"),
        (SetCell(row="r2", column="c9", old="4", new="6"), "unknown_column"),
        (SetCell(row="h", column="c2", old="Votes", new="6"), "bad_operation"),
        (RemoveRow(row="r1", old=("2", "Bob")), "stale_base"),
        (RemoveRow(row="n1", old=()), "unknown_row"),
        (RemoveRow(row="h", old=("Rank", "Name", "Votes")), "bad_operation"),
        (InsertRow(row="r1", after=None, cells=("1", "2", "3")), "duplicate_id"),
        (InsertRow(row="h", after=None, cells=("1", "2", "3")), "duplicate_id"),
        (InsertRow(row="n1", after="n1", cells=("1", "2", "3")), "unknown_row"),
        (InsertRow(row="n1", after="h", cells=("1", "2", "3")), "unknown_row"),
        (InsertRow(row="n1", after=None, cells=("1", "2")), "bad_operation"),
        (MoveRow(row="r1", after="n3"), "unknown_row"),
        (MoveRow(row="n3", after=None), "unknown_row"),
        (RenameHeader(column="c2", old="votes", new="x"), "stale_base"),
        (RenameHeader(column="c7", old="Votes", new="x"), "unknown_column"),
        (RemoveColumn(column="c2", old=("Votes",)), "stale_base"),
        (RemoveColumn(column="r2", old=("Votes",)), "unknown_column"),
        (InsertColumn(column="c1", after=None, header="", cells=("", "", "")), "duplicate_id"),
        (InsertColumn(column="n1", after="c9", header="", cells=("", "", "")), "unknown_column"),
        (InsertColumn(column="n1", after=None, header="", cells=("",)), "bad_operation"),
        (InsertColumn(column="n1", after=None, header="", cells=("", "", ""), above=("x",)), "bad_operation"),
        (MoveColumn(column="c9", after=None), "unknown_column"),
        (MoveColumn(column="c1", after="c9"), "unknown_column"),
        (
            SplitColumn(column="c9", into=(Part(column="n1", header="", cells=("", "", "")),)),
            "unknown_column",
        ),
        (SplitColumn(column="c1", into=(Part(column="c2", header="", cells=("", "", "")),)), "duplicate_id"),
        (SplitColumn(column="c1", into=(Part(column="n1", header="", cells=("",)),)), "bad_operation"),
        (MaskCells(cells=(("r0", "c9"),), replacement=""), "unknown_column"),
        (MaskCells(cells=(("h", "c1"),), replacement=""), "bad_operation"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_code_and_place(operation: Operation, code: str) -> None:
    with pytest.raises(OperationError) as error:
        replay(VOTES, [SetCell(row="r0", column="c1", old="Ann", new="Eve"), operation])
    assert (error.value.code, error.value.index) == (code, 1)
    assert str(error.value).startswith("operation 2: ")


def test_a_table_without_columns_cannot_be_transposed() -> None:
    with pytest.raises(OperationError, match="without columns"):
        replay(Table([], []), [Transpose()])


GOOD = {"op": "set_cell", "row": "r3", "column": "c2", "at": [3, 2], "old": "4", "new": "361"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "an operation is an object, not null"),
        ([], "an operation is an object, not a list"),
        ("set_cell", "an operation is an object, not a string"),
        ({}, "op is one of set_cell"),
        ({"op": "explode"}, "not 'explode'"),
        ({"op": []}, "not a list"),
        ({"op": "x" * 10_000_000}, "not a string"),
        ({"op": "__class__"}, "op is one of"),
        (GOOD | {"row": 3}, "row is the id of a row or column, such as r3, c2 or n1, not 3"),
        (GOOD | {"row": ""}, "row is the id"),
        (GOOD | {"row": "r" * 33}, "row is the id"),
        (GOOD | {"row": "<script>"}, "row is the id"),
        (GOOD | {"row": "r3\n"}, "row is the id"),
        (GOOD | {"row": None}, "row is the id"),
        (GOOD | {"column": ["c2"]}, "column is the id"),
        (GOOD | {"new": 361}, "new is a string, not a number"),
        (GOOD | {"new": None}, "new is a string, not null"),
        (GOOD | {"new": "x" * (MAX_TEXT + 1)}, "a cell takes 100,000"),
        (GOOD | {"new": "a\0"}, "a NUL character"),
        (GOOD | {"new": "\udfff"}, "an unpaired surrogate"),
        (GOOD | {"at": [3]}, "at is a place"),
        (GOOD | {"at": [3, -1]}, "at is a place counted from 0, not -1"),
        (GOOD | {"at": [3, 1.0]}, "at is a place counted from 0"),
        (GOOD | {"at": [True, 1]}, "at is a place counted from 0"),
        (GOOD | {"at": [None, 1]}, "at is a place counted from 0"),
        (GOOD | {"at": "31"}, "at is a place"),
        (GOOD | {"note": "x"}, "set_cell has no field 'note'"),
        ({"op": "set_cell", "row": "r1", "column": "c1", "new": "x"}, "set_cell lacks old"),
        ({"op": "remove_row", "row": "r1", "at": -1, "old": []}, "at is a place"),
        ({"op": "remove_row", "row": "r1", "at": [1], "old": []}, "at is a place"),
        ({"op": "remove_row", "row": "r1", "old": "abc"}, "old is a list of strings, not a string"),
        ({"op": "remove_row", "row": "r1", "old": [1]}, "a cell of old is a string"),
        ({"op": "remove_row", "row": "r1", "old": [""] * 501}, "at most 500 are taken"),
        ({"op": "insert_row", "row": "n1", "cells": []}, "insert_row lacks after"),
        ({"op": "insert_row", "row": "n1", "after": 0, "cells": []}, "after is the id"),
        ({"op": "insert_row", "row": None, "after": None, "cells": []}, "row is the id"),
        ({"op": "move_row", "row": "r1", "after": "r1"}, "cannot be put after itself"),
        ({"op": "move_column", "column": "c1", "after": "c1"}, "cannot be put after itself"),
        (
            {"op": "insert_column", "column": "n1", "after": None, "header": 1, "cells": []},
            "header is a string",
        ),
        (
            {"op": "insert_column", "column": "n1", "after": None, "header": "", "cells": [""] * 20_001},
            "at most 20,000",
        ),
        ({"op": "split_column", "column": "c1", "into": {}}, "into is a list"),
        ({"op": "split_column", "column": "c1", "into": []}, "into is a list of 1 to 500 columns"),
        ({"op": "split_column", "column": "c1", "into": [3]}, "a column of into is an object"),
        (
            {"op": "split_column", "column": "c1", "into": [{"column": "n1"}]},
            "a column of into lacks header, cells",
        ),
        ({"op": "transpose", "twice": True}, "transpose has no field 'twice'"),
        ({"op": "mask_cells", "cells": [["r1"]], "with": ""}, "not a \\[row, column\\] pair"),
        ({"op": "mask_cells", "cells": ["rc"], "with": ""}, "not a \\[row, column\\] pair"),
        ({"op": "mask_cells", "cells": [["r1", "c1"], ["r1", "c1"]], "with": ""}, "names one cell twice"),
        ({"op": "mask_cells", "cells": [["r1", "c1"]], "with": None}, "with is a string"),
        ({"op": "mask_cells", "cells": [["r1", []]], "with": ""}, "column is the id"),
    ],
)
def test_json_that_is_no_operation_is_refused(data: object, message: str) -> None:
    with pytest.raises(OperationError, match=message) as error:
        from_dict(data)
    assert error.value.code == "bad_operation"
    assert error.value.index is None
    assert len(str(error.value)) < 500


@pytest.mark.parametrize(
    "operation", [Transpose(), MoveColumn(column="c1", after="c0")], ids=lambda each: each.op
)
def test_more_operations_on_whole_tables_than_can_be_replayed_in_seconds_are_refused(
    operation: Operation,
) -> None:
    table = Table(["a", "b"], [[f"{i}", "x"] for i in range(2_000)])
    most = {"transpose": 500, "move_column": 1_000}[operation.op]
    moves = [operation, MoveColumn(column="c1", after=None)] if operation.op == "move_column" else [operation]
    operations = moves * (most // len(moves))
    began = time.process_time()
    assert replay(table, normalise(operations[:20], table)).shape == (2_000, 2)
    for data in ([*operations, operation], operations * 20):
        with pytest.raises(OperationError, match=f"^at most {most} operations of these kinds") as error:
            normalise(data, table)
        assert error.value.code == "bad_operation"
    assert time.process_time() - began < 5


@pytest.mark.parametrize("data", [None, {}, "[]", 3, [GOOD] * (MAX_OPERATIONS + 1)])
def test_what_is_no_list_of_operations_is_refused(data: object) -> None:
    with pytest.raises(OperationError):
        from_list(data)


def test_the_first_bad_operation_of_a_list_is_named() -> None:
    with pytest.raises(OperationError, match=r"^operation 2: ") as error:
        from_list([GOOD, GOOD | {"row": 3}, 5])
    assert error.value.index == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.fixed_dictionaries(
        {"op": st.sampled_from([*OPERATIONS, "other"])},
        optional={
            name: json_values | st.sampled_from(["r1", "c1", "n1"])
            for name in (
                "row",
                "column",
                "at",
                "old",
                "new",
                "after",
                "cells",
                "header",
                "into",
                "with",
                "above",
                "x",
            )
        },
    )
)
def test_json_of_any_kind_is_read_or_refused_and_nothing_else(data: dict[str, object]) -> None:
    try:
        operation = from_dict(data)
    except OperationError:
        return
    assert from_dict(operation.to_dict()) == operation
    with contextlib.suppress(OperationError):
        replay(VOTES, [operation])


# What always holds ----------------------------------------------------------------------------------------------------


@given(edits())
def test_operations_survive_json(edit: tuple[Table, list[Operation]]) -> None:
    _, operations = edit
    assert from_list(json.loads(json.dumps([operation.to_dict() for operation in operations]))) == operations


@given(edits())
def test_replay_gives_the_same_table_each_time(edit: tuple[Table, list[Operation]]) -> None:
    base, operations = edit
    digest = base.digest()
    made = replay(base, operations)
    assert replay(base, operations) == made
    assert replay(Table.from_dict(base.to_wire()), operations).to_wire() == made.to_wire()
    assert base.digest() == digest


@given(edits())
def test_replay_in_two_parts_is_replay_in_one(edit: tuple[Table, list[Operation]]) -> None:
    base, operations = edit
    half = len(operations) // 2
    whole = replay(base, operations)
    in_two = replay(replay(base, operations[:half]), operations[half:])
    # A merged cell that the first half takes apart and the second puts together again is one only to who saw both.
    assert dataclasses.replace(in_two, spans=whole.spans) == whole


def test_a_merged_cell_that_is_whole_again_at_the_end_is_one() -> None:
    base = Table(["a"], [["x"], [""]], spans=[Span("r0", "c0", 2, 1)])
    apart = [InsertRow(row="n1", after="r0", cells=("new",))]
    together = [RemoveRow(row="n1", old=("new",))]
    assert replay(base, apart).spans == ()
    assert replay(base, [*apart, *together]) == base
    assert normalise([*apart, *together], base) == []


@given(edits(most=1))
def test_an_operation_is_taken_back(edit: tuple[Table, list[Operation]]) -> None:
    base, operations = edit
    if not operations or (isinstance(operations[0], Transpose) and base.header_rows):
        return
    restored = replay(replay(base, operations), invert(operations[0], base))
    without_spans = dataclasses.replace(base, spans=restored.spans)
    assert restored == without_spans


@given(edits())
def test_a_list_is_taken_back_from_its_end(edit: tuple[Table, list[Operation]]) -> None:
    base, operations = edit
    if base.header_rows and any(isinstance(operation, Transpose) for operation in operations):
        return
    tables = [base]
    for operation in operations:
        tables.append(replay(tables[-1], [operation]))
    current = tables.pop()
    for operation, before in zip(reversed(operations), reversed(tables), strict=True):
        current = replay(current, invert(operation, before))
        assert current.same_content(before)
        assert (current.row_ids, current.column_ids) == (before.row_ids, before.column_ids)


def test_a_transposition_of_several_header_rows_cannot_be_taken_back() -> None:
    with pytest.raises(OperationError, match="cannot be taken back"):
        invert(Transpose(), Table(["a"], [["1"]], header_rows=[["x"]]))


def test_what_cannot_be_done_cannot_be_taken_back() -> None:
    with pytest.raises(OperationError, match="there is no row r9"):
        invert(SetCell(row="r9", column="c0", old="", new=""), VOTES)


@given(edits())
def test_every_operation_has_words(edit: tuple[Table, list[Operation]]) -> None:
    base, operations = edit
    for operation in operations:
        words = describe(operation, base)
        assert words
        assert "\n" not in words
        assert len(words) < 1_000


# Merged cells ---------------------------------------------------------------------------------------------------------


MERGED = Table(
    ["a", "b", "c"], [["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"]], spans=[Span("r0", "c0", 2, 2)]
)


@pytest.mark.parametrize(
    ("operation", "left"),
    [
        (SetCell(row="r0", column="c0", old="1", new="x"), [Span("r0", "c0", 2, 2)]),
        (RemoveRow(row="r0", old=("1", "2", "3")), [Span("r1", "c0", 1, 2)]),
        (RemoveRow(row="r2", old=("7", "8", "9")), [Span("r0", "c0", 2, 2)]),
        (RemoveColumn(column="c0", old=("a", "1", "4", "7")), [Span("r0", "c1", 2, 1)]),
        (InsertRow(row="n1", after="r0", cells=("", "", "")), []),
        (InsertRow(row="n1", after="r1", cells=("", "", "")), [Span("r0", "c0", 2, 2)]),
        (MoveRow(row="r1", after="r2"), []),
        (MoveRow(row="r1", after=None), [Span("r1", "c0", 2, 2)]),
        (MoveColumn(column="c0", after="c2"), []),
    ],
)
def test_a_merged_cell_stays_while_it_hangs_together(operation: Operation, left: list[Span]) -> None:
    assert list(replay(MERGED, [operation]).spans) == left


def test_a_merged_cell_that_is_down_to_one_cell_is_none() -> None:
    table = replay(
        MERGED, [RemoveRow(row="r0", old=("1", "2", "3")), RemoveColumn(column="c0", old=("a", "4", "7"))]
    )
    assert table.spans == ()


def test_merged_cells_are_transposed() -> None:
    base = Table(
        ["a", "b", "c"], [["1", "2", "3"]], spans=[Span("h", "c0", 1, 2)], header_rows=[["x", "y", "z"]]
    )
    made = replay(base, [Transpose()])
    assert made.column_ids == ("h0", "h", "r0")
    assert made.header == ("x", "a", "1")
    assert made.spans == (Span("c0", "h", 2, 1),)


# In words -------------------------------------------------------------------------------------------------------------


NAMES = Table(["Name", "Name", "", "Wins"], [["a", "b", "c", "4"], ["d", "e", "f", "x" * 90]])


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (SetCell(row="r0", column="c3", old="4", new="361"), "Row 1, Wins: 4 becomes 361"),
        (SetCell(row="r0", column="c1", old="b", new=""), "Row 1, column 2: b becomes (empty)"),
        (SetCell(row="r0", column="c2", old="c", new=" "), "Row 1, column 3: c becomes (whitespace)"),
        (SetCell(row="n1", column="n2", old="c", new="d"), "Row n1, column n2: c becomes d"),
        (
            SetCell(row="r0", column="c3", old="a\u00a0b", new="a b"),
            "Row 1, Wins: a b becomes a b (only whitespace or invisible characters differ)",
        ),
        (SetCell(row="r0", column="c3", old="1\n2", new="3"), "Row 1, Wins: 1 2 becomes 3"),
        (SetCell(row="r0", column="c3", old="אב", new="3"), "Row 1, Wins: \u2068אב\u2069 becomes 3"),
        (SetCell(row="r1", column="c3", old="x" * 90, new="y"), f"Row 2, Wins: {'x' * 59}… becomes y"),
        (RemoveRow(row="r0", old=("a", "b", "", "4")), "Row 1 removed: a | b | (empty) | 4"),
        (InsertRow(row="n1", after="r1", cells=("1", "2", "3", "4")), "New row below row 2: 1 | 2 | 3 | 4"),
        (InsertRow(row="n1", after=None, cells=("1", "2", "3", "4")), "New row on top: 1 | 2 | 3 | 4"),
        (MoveRow(row="r1", after=None), "Row 2 moved on top"),
        (MoveRow(row="r0", after="r1"), "Row 1 moved below row 2"),
        (RenameHeader(column="c1", old="Name", new="Club"), "Header of column 2: Name becomes Club"),
        (RemoveColumn(column="c3", old=("Wins", "4", "5")), "Column 4 (Wins) removed: 4 | 5"),
        (RemoveColumn(column="c2", old=("", "c", "f")), "Column 3 removed: c | f"),
        (
            InsertColumn(column="n1", after="c3", header="Losses", cells=("1", "2")),
            "New column after column 4 (Wins): Losses | 1 | 2",
        ),
        (MoveColumn(column="c3", after=None), "Column 4 (Wins) moved in front"),
        (
            SplitColumn(
                column="c3",
                into=(Part(column="n1", header="W", cells=()), Part(column="n2", header="L", cells=())),
            ),
            "Column 4 (Wins) split into W | L",
        ),
        (MaskCells(cells=(("r0", "c0"),), replacement=""), "1 cell replaced by (empty)"),
        (MaskCells(cells=(("r0", "c0"), ("r1", "c0")), replacement="?"), "2 cells replaced by ?"),
        (Transpose(), "Rows and columns exchanged"),
    ],
)
def test_an_operation_is_said_in_words(operation: Operation, words: str) -> None:
    assert describe(operation, NAMES) == words
