"""The results of operations: the edited table, the net list, the difference of two tables, and the inverse."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from tableqa.data.tables import MAX_COLUMNS, MAX_ROWS, Table
from tableqa.operations.alignment import align
from tableqa.operations.checks import OperationError, bad_operation_error
from tableqa.operations.edit_types import (
    InsertColumn,
    InsertRow,
    MaskCells,
    MoveColumn,
    MoveRow,
    Operation,
    RemoveColumn,
    RemoveRow,
    RenameHeader,
    SetCell,
    SplitColumn,
    Transpose,
)
from tableqa.operations.order import changes_of_order
from tableqa.operations.sheet import Sheet

WHOLE = (SplitColumn, Transpose, MaskCells)
"""Operations that say more than the cells they change; `normalise` keeps them as they are."""
_ON_COLUMNS = (InsertColumn, MoveColumn, RemoveColumn)
MOST_ON_COLUMNS = 2 * MAX_COLUMNS
"""Operations of one list that insert, move or remove a column, each of which takes as long as there are rows."""
MOST_CELLS_ON_TABLE = 2_000_000
"""Cells of the table times operations of `WHOLE`; 20 of these can be done to a table of any size."""


def replay(table: Table, operations: Iterable[Operation]) -> Table:
    """The table that `operations`, done in order, make of `table`; the same input gives the same output.

    Title, caption and ids stay. A merged cell stays merged as long as what is left of it is connected; one that a new
    or moved row or column parts is taken apart (its text stays where it was). Raises OperationError with the index of
    the first operation that cannot be done.
    """
    return _replay(table, tuple(operations))


@lru_cache(maxsize=2)  # a response and its net list are replayed for the page, warnings and preview
def _replay(table: Table, operations: tuple[Operation, ...]) -> Table:
    sheet = Sheet(table)
    changed = False
    for index, operation in enumerate(operations):
        changed = True
        try:
            operation.apply(sheet)
        except OperationError as error:
            raise error.at(index) from None
    return sheet.table() if changed else table


def normalise(operations: Iterable[Operation], table: Table | None = None) -> list[Operation]:
    """The net operations: what `operations` come to, without what was done and undone on the way.

    Edits of one cell become one, one that restores the old text vanishes, so does a row inserted and then removed; an
    edit of an inserted row is folded into its cells, and a removed row carries its texts from before any edit. The
    result replays to the same table and is in a fixed order (renamed headers, cells, removed, moved, inserted), so
    two people who did the same have equal lists in any order of edits. transpose, split_column and mask_cells stay
    as they are, and what is around them is made net on either side; cells that a mask leaves as they were are not
    named by it, and a mask without any is none.

    `table` is what the operations start from. Without it they are taken to start from a source table (ids r0, r1, ...
    and c0, c1, ...) and only those before the first operation on whole columns are made net: give the table of
    anything derived. With it, OperationError if they do not replay on it.
    """
    operations = list(operations)
    if table is not None:
        return list(_net_on(tuple(operations), table))
    cut = next(
        (i for i, operation in enumerate(operations) if not isinstance(operation, _ON_ROWS)), len(operations)
    )
    implied = _implied_source(operations[:cut])
    try:
        return operations if implied is None else [*_net(operations[:cut], implied), *operations[cut:]]
    except OperationError:
        return operations


def _net_on(operations: tuple[Operation, ...], table: Table) -> tuple[Operation, ...]:
    """The net operations; the last result is remembered, which is its own net list as well."""
    global _last
    last_table, last_operations, net = _last
    if operations not in (last_operations, net) or table != last_table:
        net = tuple(_net(operations, table))
        _last = table, operations, net
    return net


_last: tuple[Table | None, tuple[Operation, ...], tuple[Operation, ...]] = (None, (), ())


def _net(operations: Sequence[Operation], table: Table) -> list[Operation]:
    result: list[Operation] = []
    start, sheet, created = table, Sheet(table), list[str]()
    _check_cost(operations, table)
    for index, operation in enumerate(operations):
        try:
            telling = _effective_mask(operation, sheet) if isinstance(operation, MaskCells) else operation
            whole = isinstance(telling, WHOLE)
            if whole:
                result += _difference(start, sheet.table(), created)
            operation.apply(sheet)
        except OperationError as error:
            raise error.at(index) from None
        if whole and telling is not None:
            result.append(telling)
            start, created = sheet.table(), []
        elif isinstance(operation, InsertRow):
            created.append(operation.row)
        elif isinstance(operation, InsertColumn):
            created.append(operation.column)
    return result + _difference(start, sheet.table(), created)


def _check_cost(operations: Sequence[Operation], table: Table) -> None:
    """Raises OperationError for more operations on columns or on the whole table than can be done in seconds."""
    most = max(20, MOST_CELLS_ON_TABLE // max(1, len(table.rows) * len(table.header)))
    for kinds, limit in ((_ON_COLUMNS, MOST_ON_COLUMNS), (WHOLE, most)):
        if sum(isinstance(operation, kinds) for operation in operations) > limit:
            names = ", ".join(kind.op for kind in kinds)
            raise bad_operation_error(
                f"at most {limit} operations of these kinds can be done to this table: {names}"
            )


def _effective_mask(mask: MaskCells, sheet: Sheet) -> MaskCells | None:
    """The mask with only the cells that it changes; None where it changes none."""
    cells = tuple(
        (row, column)
        for row, column in mask.cells
        if sheet.body_row(row)[sheet.column(column)] != mask.replacement
    )
    return replace(mask, cells=cells) if cells else None


_ON_ROWS = (SetCell, RemoveRow, InsertRow, MoveRow, RenameHeader)


def _implied_source(operations: Sequence[Operation]) -> Table | None:
    """The upper rows of the source table that these operations must have started from, as far as they tell.

    In a source table ids are places, so the rows and columns named, and the lengths of the lists given, tell
    its shape, and the first `old` of each cell tells its text. None where they contradict one another.
    """
    inserted_rows = set[str]()
    texts: dict[tuple[int, int], str] = {}
    rows, columns, widths = -1, -1, set[int]()
    for operation in operations:
        if isinstance(operation, InsertRow):
            inserted_rows.add(operation.row)
        for name in (getattr(operation, "row", None), getattr(operation, "after", None)):
            if name is not None and name not in inserted_rows:
                if (i := _number(name, "r")) is None:
                    return None
                rows = max(rows, i)
        if isinstance(operation, SetCell | RenameHeader):
            if (j := _number(operation.column, "c")) is None:
                return None
            columns = max(columns, j)
            line = -1 if isinstance(operation, RenameHeader) else _base_row(operation.row, inserted_rows)
            if line is not None:
                texts.setdefault((line, j), operation.old)
        elif isinstance(operation, RemoveRow):
            widths.add(len(operation.old))
            line = _base_row(operation.row, inserted_rows)
            if line is not None:
                for j, text in enumerate(operation.old):
                    texts.setdefault((line, j), text)
        elif isinstance(operation, InsertRow):
            widths.add(len(operation.cells))
    if len(widths) > 1 or (widths and columns >= min(widths)) or rows >= MAX_ROWS or columns >= MAX_COLUMNS:
        return None
    width = widths.pop() if widths else columns + 1
    body = [[texts.get((i, j), "") for j in range(width)] for i in range(rows + 1)]
    return Table([texts.get((-1, j), "") for j in range(width)], body)


def _base_row(name: str, inserted_rows: set[str]) -> int | None:
    return None if name in inserted_rows else _number(name, "r")


def _number(name: str, letter: str) -> int | None:
    digits = name[1:]
    return (
        int(digits)
        if name[0] == letter and digits.isascii() and digits.isdigit() and len(digits) < 9
        else None
    )


def diff(base: Table, edited: Table, match: Literal["auto", "ids", "content"] = "auto") -> list[Operation]:
    """The operations that make `edited` of `base`: replay(base, diff(base, edited)) has its header and its rows.

    match="ids"      rows and columns are the same where their ids are: for a table derived from `base`, transposed once
                     at most (one that was turned more often is compared by content)
    match="content"  rows and columns are aligned by what they hold, as for a released file without recorded edits:
                     equal rows first, then the pairing with the fewest changed cells; new ones are called n1, n2, ...
    match="auto"     by ids if either table has other ids than a source table has, else by content

    Titles, captions, further header rows and merged cells are not compared: no operation changes them.
    """
    if match == "auto":
        match = "content" if base.has_source_ids and edited.has_source_ids else "ids"
    if match == "ids":
        if _share_headers(base, edited):
            return _difference(base, edited, [])
        if base.header and _share_headers(turned := replay(base, [Transpose()]), edited):
            return [Transpose(), *_difference(turned, edited, [])]
    return _difference(base, align(base, edited), [])


def _share_headers(base: Table, edited: Table) -> bool:
    """Whether the header row is the same one, and no header row of the base has become a row of the body."""
    headers = base.all_row_ids[: len(base.header_rows) + 1]
    return base.header_id == edited.header_id and not set(headers) & set(edited.row_ids)


def _difference(base: Table, edited: Table, created: Sequence[str]) -> list[Operation]:
    """The net operations between two tables that share their ids; new rows and columns in the order of `created`."""
    return [
        *_header_renames(base, edited),
        *_cell_changes(base, edited),
        *_removals(base, edited),
        *_columns_rearranged(base, edited, created),
        *_rows_rearranged(base, edited, created),
    ]


def _header_renames(base: Table, edited: Table) -> Iterator[Operation]:
    for column, j, k in _shared_columns(base, edited):
        if base.header[j] != edited.header[k]:
            yield RenameHeader(column=column, at=j, old=base.header[j], new=edited.header[k])


def _cell_changes(base: Table, edited: Table) -> Iterator[Operation]:
    columns = _shared_columns(base, edited)
    same_columns = base.column_ids == edited.column_ids
    for row, i in _shared_rows(base, edited):
        before, after = base.rows[i], edited.rows[edited.row_index(row)]
        if same_columns and before == after:
            continue
        for column, j, k in columns:
            if before[j] != after[k]:
                yield SetCell(row=row, column=column, at=(i, j), old=before[j], new=after[k])


def _removals(base: Table, edited: Table) -> Iterator[Operation]:
    """Rows first, with the texts of the base; a column removed after them has the cells of the rows that are left."""
    rows, columns = set(edited.row_ids), set(edited.column_ids)
    for i, row in enumerate(base.row_ids):
        if row not in rows:
            yield RemoveRow(row=row, at=i, old=base.rows[i])
    remaining_rows = _shared_rows(base, edited)
    for j, column in enumerate(base.column_ids):
        if column not in columns:
            yield RemoveColumn(
                column=column, at=j, old=(base.header[j], *(base.rows[i][j] for _, i in remaining_rows))
            )


def _columns_rearranged(base: Table, edited: Table, created: Sequence[str]) -> Iterator[Operation]:
    """Columns are put in before rows move or come, so their cells go by the rows of the base that are left."""
    rows = [edited.rows[edited.row_index(row)] for row, _ in _shared_rows(base, edited)]
    same_header_rows = len(base.header_rows) == len(edited.header_rows)
    changes = changes_of_order(base.column_ids, edited.column_ids, created)
    for column, after in changes.moves:
        yield MoveColumn(column=column, after=after)
    for column, after in changes.insertions:
        k = edited.column_index(column)
        yield InsertColumn(
            column=column,
            after=after,
            header=edited.header[k],
            cells=tuple(row[k] for row in rows),
            above=_row_above(edited, k) if same_header_rows else (),
        )


def _rows_rearranged(base: Table, edited: Table, created: Sequence[str]) -> Iterator[Operation]:
    changes = changes_of_order(base.row_ids, edited.row_ids, created)
    for row, after in changes.moves:
        yield MoveRow(row=row, after=after)
    places = _insertion_positions(base, edited) if changes.insertions else {}
    for row, after in changes.insertions:
        yield InsertRow(row=row, after=after, at=places[row], cells=edited.rows[edited.row_index(row)])


def _shared_columns(base: Table, edited: Table) -> list[tuple[str, int, int]]:
    """(id, place in the base, place in the edited table) of the columns that both have."""
    shared = set(edited.column_ids)
    return [(name, j, edited.column_index(name)) for j, name in enumerate(base.column_ids) if name in shared]


def _shared_rows(base: Table, edited: Table) -> list[tuple[str, int]]:
    """(id, place in the base) of the rows that both have, in the order of the base."""
    shared = set(edited.row_ids)
    return [(row, i) for i, row in enumerate(base.row_ids) if row in shared]


def _insertion_positions(base: Table, edited: Table) -> dict[str, int]:
    """Where each new row would be in the base: below the nearest row above it that the base has."""
    base_row_ids = set(base.row_ids)
    places, below = dict[str, int](), 0
    for row in edited.row_ids:
        if row in base_row_ids:
            below = base.row_index(row) + 1
        else:
            places[row] = below
    return places


def _row_above(table: Table, k: int) -> tuple[str, ...]:
    texts = tuple(row[k] for row in table.header_rows)
    return texts if any(texts) else ()


def invert(operation: Operation, table: Table) -> list[Operation]:
    """The operations that take `operation` back: `table` is what it was done to, and they are done to what it made.

    Header, rows and ids are restored, and the texts in further header rows; merged cells that the operation took apart
    stay apart. Raises OperationError if `operation` cannot be done to `table`, or is a transposition of a table with
    further header rows, which cannot be taken back.
    """
    replay(table, [operation])
    match operation:
        case SetCell():
            return [
                SetCell(
                    row=operation.row,
                    column=operation.column,
                    at=operation.at,
                    old=operation.new,
                    new=operation.old,
                )
            ]
        case RenameHeader():
            return [
                RenameHeader(column=operation.column, at=operation.at, old=operation.new, new=operation.old)
            ]
        case RemoveRow():
            after = _neighbour(table.row_ids, operation.row)
            return [InsertRow(row=operation.row, after=after, at=operation.at, cells=operation.old)]
        case InsertRow():
            return [RemoveRow(row=operation.row, at=operation.at, old=operation.cells)]
        case MoveRow():
            return [MoveRow(row=operation.row, after=_neighbour(table.row_ids, operation.row))]
        case RemoveColumn():
            return [_insertion(table, operation.column)]
        case InsertColumn():
            return [RemoveColumn(column=operation.column, old=(operation.header, *operation.cells))]
        case MoveColumn():
            return [MoveColumn(column=operation.column, after=_neighbour(table.column_ids, operation.column))]
        case SplitColumn():
            parts = [
                RemoveColumn(column=part.column, old=(part.header, *part.cells)) for part in operation.into
            ]
            return [*parts, _insertion(table, operation.column)]
        case MaskCells():
            return [
                SetCell(row=row, column=column, old=operation.replacement, new=table.cell(row, column))
                for row, column in operation.cells
            ]
        case Transpose() if not table.header_rows:
            return [Transpose()]
    raise bad_operation_error("this operation cannot be taken back")


def _neighbour(ids: Sequence[str], name: str) -> str | None:
    index = ids.index(name)
    return ids[index - 1] if index else None


def _insertion(table: Table, column: str) -> InsertColumn:
    j = table.column_index(column)
    return InsertColumn(
        column=column,
        after=_neighbour(table.column_ids, column),
        header=table.header[j],
        cells=table.column(column),
        above=_row_above(table, j),
    )
