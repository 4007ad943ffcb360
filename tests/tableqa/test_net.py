"""What operations come to, and the difference of two tables."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Table
from tableqa.operations import (
    InsertRow,
    MaskCells,
    MoveColumn,
    MoveRow,
    Operation,
    OperationError,
    RemoveColumn,
    RemoveRow,
    RenameHeader,
    SetCell,
    Transpose,
    diff,
    normalise,
    replay,
)
from tests.tableqa.strategies import edits, rows_of, source_tables, tables, texts

VOTES = Table(["Rank", "Name", "Votes"], [["1", "Ann", "1,204"], ["2", "Bob", "361"], ["3", "Cem", "4"]])


def cell(row: str, column: str, old: str, new: str, at: tuple[int, int] | None = None) -> SetCell:
    return SetCell(row=row, column=column, old=old, new=new, at=at)


def new_row(row: str, after: str | None, *cells: str, at: int | None = None) -> InsertRow:
    return InsertRow(row=row, after=after, cells=cells, at=at)


def old_row(row: str, *old: str, at: int | None = None) -> RemoveRow:
    return RemoveRow(row=row, old=old, at=at)


# (what is done, what it comes to): with the table and without, since these start from a source table.
NET: dict[str, tuple[Sequence[Operation], Sequence[Operation]]] = {
    "nothing": ([], []),
    "edits of one cell are one": (
        [cell("r2", "c2", "4", "5"), cell("r2", "c2", "5", "6")],
        [cell("r2", "c2", "4", "6", (2, 2))],
    ),
    "an edit taken back is none": ([cell("r2", "c2", "4", "5"), cell("r2", "c2", "5", "4")], []),
    "an edit that changes nothing is none": ([cell("r2", "c2", "4", "4")], []),
    "edits stand in the order of the table": (
        [cell("r2", "c2", "4", "5"), cell("r0", "c1", "Ann", "Eve")],
        [cell("r0", "c1", "Ann", "Eve", (0, 1)), cell("r2", "c2", "4", "5", (2, 2))],
    ),
    "a row put in and taken out is none": (
        [new_row("n1", "r0", "a", "b", "c"), old_row("n1", "a", "b", "c")],
        [],
    ),
    "an edit of a new row is folded into it": (
        [new_row("n1", "r0", "a", "b", "c"), cell("n1", "c1", "b", "x")],
        [new_row("n1", "r0", "a", "x", "c", at=1)],
    ),
    "a removed row has its texts from before": (
        [cell("r1", "c1", "Bob", "Bo"), old_row("r1", "2", "Bo", "361")],
        [old_row("r1", "2", "Bob", "361", at=1)],
    ),
    "a row put below one that went again": (
        [
            new_row("n1", "r0", "a", "b", "c"),
            new_row("n2", "n1", "d", "e", "f"),
            old_row("n1", "a", "b", "c"),
        ],
        [new_row("n2", "r0", "d", "e", "f", at=1)],
    ),
    "a row put below one that is removed": (
        [new_row("n1", "r1", "a", "b", "c"), old_row("r1", "2", "Bob", "361")],
        [old_row("r1", "2", "Bob", "361", at=1), new_row("n1", "r0", "a", "b", "c", at=1)],
    ),
    "new rows keep the order in which they were made": (
        [new_row("n1", "r1", "a", "b", "c"), new_row("n2", "r0", "d", "e", "f")],
        [new_row("n1", "r1", "a", "b", "c", at=2), new_row("n2", "r0", "d", "e", "f", at=1)],
    ),
    "a new row that is moved is put where it ends": (
        [new_row("n1", None, "a", "b", "c"), MoveRow(row="n1", after="r2")],
        [new_row("n1", "r2", "a", "b", "c", at=3)],
    ),
    "moved there and back is not moved": ([MoveRow(row="r0", after="r2"), MoveRow(row="r0", after=None)], []),
    "two moves that come to one": (
        [MoveRow(row="r1", after=None), MoveRow(row="r2", after="r1")],
        [MoveRow(row="r0", after="r2")],
    ),
    "a name given twice": (
        [RenameHeader(column="c2", old="Votes", new="X"), RenameHeader(column="c2", old="X", new="Y")],
        [RenameHeader(column="c2", at=2, old="Votes", new="Y")],
    ),
    "a row taken out and put back": (
        [old_row("r1", "2", "Bob", "361"), new_row("r1", "r0", "2", "Bob", "361")],
        [],
    ),
}


@pytest.mark.parametrize("name", NET)
def test_the_net_list(name: str) -> None:
    done, net = NET[name]
    assert normalise(done, VOTES) == net


@pytest.mark.parametrize("name", [name for name in NET if "two moves" not in name])
def test_without_the_table_the_operations_are_taken_to_start_from_a_source(name: str) -> None:
    done, net = NET[name]
    assert normalise(done) == net


def test_whole_operations_stay_and_what_is_around_them_is_net() -> None:
    done: list[Operation] = [
        cell("r2", "c2", "4", "5"),
        cell("r2", "c2", "5", "6"),
        Transpose(),
        cell("c2", "r2", "6", "7"),
        cell("c2", "r2", "7", "6"),
    ]
    shortened: list[Operation] = [cell("r2", "c2", "4", "6", (2, 2)), Transpose()]
    assert normalise(done, VOTES) == shortened


def test_a_remembered_net_list_is_that_of_its_own_table_and_operations() -> None:
    other = Table(VOTES.header, [["9", "Zoe", "1"], *VOTES.rows[1:]])
    done = [cell("r2", "c2", "4", "5"), cell("r0", "c1", VOTES.rows[0][1], "X")]

    net = normalise(done, VOTES)

    assert normalise(net, VOTES) == normalise(done, VOTES) == net
    assert normalise(done[:1], VOTES) == net[1:]
    with pytest.raises(OperationError):
        normalise(done, other)
    assert normalise(done[:1], other) == net[1:]
    assert normalise([], VOTES) == []


def test_with_the_table_operations_that_do_not_replay_are_refused() -> None:
    with pytest.raises(OperationError) as error:
        normalise([cell("r2", "c2", "4", "5"), cell("r2", "c2", "4", "6")], VOTES)
    assert (error.value.code, error.value.index) == ("stale_base", 1)


@pytest.mark.parametrize(
    "operations",
    [
        [cell("n1", "c0", "a", "b"), cell("n1", "c0", "b", "c")],  # n1 comes from somewhere else
        [cell("r0", "c0", "a", "b"), cell("r0", "c0", "x", "c")],  # they contradict one another
        [cell("r0", "c3", "a", "b"), new_row("n1", None, "a", "b", "c")],  # c3, and three columns
        [RemoveColumn(column="c0", old=("a", "b")), cell("r0", "c1", "x", "y")],
        [MoveColumn(column="c0", after="c1")],
    ],
)
def test_without_the_table_what_is_not_understood_stays(operations: list[Operation]) -> None:
    assert normalise(operations) == operations


@given(edits())
def test_the_net_operations_make_the_same_table(edit: tuple[Table, list[Operation]]) -> None:
    base, operations = edit
    net = normalise(operations, base)
    made = replay(base, operations)
    again = replay(base, net)
    assert again.same_content(made)
    assert (again.row_ids, again.column_ids, again.header_id) == (
        made.row_ids,
        made.column_ids,
        made.header_id,
    )
    assert again.header_rows == made.header_rows


@given(edits())
def test_net_is_as_short_as_it_gets(edit: tuple[Table, list[Operation]]) -> None:
    base, operations = edit
    net = normalise(operations, base)
    assert normalise(net, base) == net
    assert len(net) <= sum(max(1, len(base.header) + 5) for _ in operations) + len(operations)


def test_a_mask_names_the_cells_that_it_changes_and_is_none_without_any() -> None:
    base = Table(["a", "b"], [["", "x"], ["y", ""]])
    cells = tuple((row, column) for row in ("r0", "r1") for column in ("c0", "c1"))
    assert normalise([MaskCells(cells=cells, replacement="")], base) == [
        MaskCells(cells=(("r0", "c1"), ("r1", "c0")), replacement="")
    ]
    idle = MaskCells(cells=(("r0", "c0"), ("r1", "c1")), replacement="")
    assert normalise([idle], base) == []
    around: list[Operation] = [cell("r0", "c1", "x", "z"), idle, cell("r0", "c1", "z", "x")]
    assert normalise(around, base) == [], "what is around it is made net together"
    with pytest.raises(OperationError, match="operation 1: there is no row r9"):
        normalise([MaskCells(cells=(("r9", "c0"),), replacement="")], base)


@given(edits(kinds=("mask_cells", "set_cell", "remove_row")))
def test_no_net_mask_names_a_cell_that_it_leaves_as_it_is(edit: tuple[Table, list[Operation]]) -> None:
    base, operations = edit
    current = base
    for operation in normalise(operations, base):
        if isinstance(operation, MaskCells):
            assert operation.cells
            assert all(current.cell(*place) != operation.replacement for place in operation.cells)
        current = replay(current, [operation])
    assert current.same_content(replay(base, operations))


@given(edits(source_tables()))
def test_without_the_table_the_same_table_is_made_too(edit: tuple[Table, list[Operation]]) -> None:
    base, operations = edit
    assert replay(base, normalise(operations)).to_wire() == replay(base, operations).to_wire()


ROWS = ("set_cell", "remove_row", "insert_row", "rename_header")


@given(edits(source_tables(min_columns=1), kinds=ROWS))
def test_without_the_table_the_list_is_the_same_list(edit: tuple[Table, list[Operation]]) -> None:
    base, operations = edit
    assert normalise(operations) == normalise(operations, base)


@given(edits(kinds=("set_cell",)))
def test_setting_cells_never_takes_more_operations_than_were_made(
    edit: tuple[Table, list[Operation]],
) -> None:
    base, operations = edit
    net = normalise(operations, base)
    assert len(net) <= len(operations)
    assert len({(o.row, o.column) for o in net if isinstance(o, SetCell)}) == len(net)


# diff -----------------------------------------------------------------------------------------------------------------


@given(edits())
def test_the_difference_of_a_table_and_what_became_of_it_makes_it(
    edit: tuple[Table, list[Operation]],
) -> None:
    base, operations = edit
    edited = replay(base, operations)
    for match in ("auto", "ids", "content"):
        assert replay(base, diff(base, edited, match)).same_content(edited)


@given(tables, tables)
def test_the_difference_of_any_two_tables_makes_one_of_the_other(base: Table, edited: Table) -> None:
    for match in ("auto", "ids", "content"):
        assert replay(base, diff(base, edited, match)).same_content(edited)


@given(tables)
def test_a_table_does_not_differ_from_itself(table: Table) -> None:
    assert diff(table, table) == []
    assert diff(table, Table(table.header, table.rows)) == [] or not table.has_source_ids


@given(edits(source_tables(min_columns=1), kinds=ROWS))
def test_by_ids_the_difference_is_the_net_list(edit: tuple[Table, list[Operation]]) -> None:
    base, operations = edit
    net = normalise(operations, base)
    assert {
        str(o.to_dict()) for o in diff(base, replay(base, operations), "ids") if o.op != "insert_row"
    } == {str(o.to_dict()) for o in net if o.op != "insert_row"}


def rows(*lines: str) -> Table:
    cells = [line.split() for line in lines]
    return Table(cells[0], cells[1:])


@pytest.mark.parametrize(
    ("base", "edited", "operations"),
    [
        (rows("a b", "1 x", "2 y"), rows("a b", "1 x", "2 z"), ["set_cell"]),
        (rows("a b", "1 x", "2 y", "3 z"), rows("a b", "1 x", "3 z"), ["remove_row"]),
        (rows("a b", "1 x", "3 z"), rows("a b", "1 x", "2 y", "3 z"), ["insert_row"]),
        (rows("a b", "1 x", "2 y", "3 z"), rows("a b", "1 x", "3 w"), ["set_cell", "remove_row"]),
        (rows("a b", "1 x", "2 y", "3 z"), rows("a b", "2 y", "3 z", "1 x"), ["move_row"]),
        (rows("a b", "1 x"), rows("c b", "1 x"), ["rename_header"]),
        (rows("a b c", "1 x p", "2 y q"), rows("a c", "1 p", "2 q"), ["remove_column"]),
        (rows("a b c", "1 x p"), rows("a c b", "1 p x"), ["move_column"]),
        (rows("a a a", "1 x p", "2 y q"), rows("a a", "1 p", "2 q"), ["remove_column"]),
        (rows("a b", "1 x", "2 y"), rows("a b c", "1 x p", "2 w q"), ["set_cell", "insert_column"]),
        (
            rows("a b c", "1 x p", "2 y q", "3 z r"),
            rows("a b", "1 x", "3 z"),
            ["remove_row", "remove_column"],
        ),
        (rows("a", "1", "2"), rows("a", "1", "3"), ["set_cell"]),
        (rows("a b", "1 x"), rows("a b", "9 w"), ["set_cell", "set_cell"]),
        (rows("a b", "1 x"), rows("a b"), ["remove_row"]),
        (rows("a b"), rows("a b", "1 x"), ["insert_row"]),
    ],
)
def test_two_files_are_told_apart_as_a_person_would(
    base: Table, edited: Table, operations: list[str]
) -> None:
    assert [operation.op for operation in diff(base, edited)] == operations


def test_new_rows_are_named_after_those_that_the_base_has() -> None:
    base = replay(VOTES, [new_row("n1", "r2", "4", "Dan", "1")])
    edited = Table(base.header, [*base.rows, ["5", "Eva", "0"]])
    (operation,) = diff(base, edited, "content")
    assert operation == new_row("n2", "n1", "5", "Eva", "0", at=4)


def test_a_transposition_is_found_by_ids() -> None:
    edited = replay(VOTES, [Transpose(), cell("c2", "r2", "4", "5")])
    found: list[Operation] = [Transpose(), cell("c2", "r2", "4", "5", (1, 3))]
    assert diff(VOTES, edited) == found


@given(st.permutations(range(12)))
def test_a_shuffle_is_moves_alone_and_as_few_as_can_be(order: list[int]) -> None:
    base = Table(["a"], [[str(i)] for i in range(12)])
    edited = Table(["a"], [[str(i)] for i in order], row_ids=[f"r{i}" for i in order])
    moves = diff(base, edited)
    assert all(isinstance(move, MoveRow) for move in moves)
    assert len(moves) == 12 - longest_rising(order)


def longest_rising(order: Sequence[int]) -> int:
    best: list[int] = []
    for i, number in enumerate(order):
        best.append(1 + max((best[j] for j in range(i) if order[j] < number), default=0))
    return max(best)


@given(rows_of(2, 6), rows_of(2, 6), texts)
def test_content_is_aligned_the_same_way_each_time(
    some: list[list[str]], others: list[list[str]], text: str
) -> None:
    base, edited = Table(["a", text], some), Table(["a", "b"], others)
    assert diff(base, edited, "content") == diff(base, edited, "content")


@pytest.mark.parametrize("same", [True, False])
def test_large_tables_do_not_take_long(same: bool) -> None:
    """20,000 rows, all alike or all different, shuffled by moves and told apart: seconds, not hours."""
    number = 20_000
    base = Table(["a", "b"], [["x", "" if same else str(i)] for i in range(number)])
    start = time.perf_counter()
    reverse = [MoveRow(row=f"r{i}", after=None) for i in range(1, number)]
    made = replay(base, reverse)
    assert made.row_ids[0] == f"r{number - 1}"
    assert len(normalise(reverse, base)) == number - 1
    changed = [["x", "y"] if i % 100 == 0 else row for i, row in enumerate(base.rows)]
    edited = Table(["a", "b"], changed[: number // 2] + changed[number // 2 + 7 :])
    assert replay(base, diff(base, edited)).same_content(edited)
    assert time.perf_counter() - start < 30
