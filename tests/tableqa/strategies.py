"""Tables and edits for Hypothesis: small, and strange in the ways in which the published tables are strange."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tableqa import Span, Table
from tableqa.operations import (
    InsertColumn,
    InsertRow,
    MaskCells,
    MoveColumn,
    MoveRow,
    Operation,
    Part,
    RemoveColumn,
    RemoveRow,
    RenameHeader,
    SetCell,
    SplitColumn,
    Transpose,
    replay,
)

STRANGE = (
    *(
        "",
        " ",
        "a",
        "b",
        "4",
        "1,234",
        "(9.9)",
        "12 %",
        "October 31",
        "nan",
        "=1+1",
        "@x",
        "a\nb",
        "a\u00a0b",
    ),
    *("\u200b", "שלום", "e\u0301", "|", '"', "\\", "<b>", "…"),
)

texts = st.sampled_from(STRANGE) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6
)
widths = st.integers(0, 4)


def rows_of(width: int, most: int = 4) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.lists(texts, min_size=width, max_size=width), max_size=most)


@st.composite
def source_tables(draw: st.DrawFn, min_columns: int = 0) -> Table:
    """Tables as readers make them."""
    width = draw(st.integers(min_columns, 4))
    header = draw(st.lists(texts, min_size=width, max_size=width))
    return Table(header, draw(rows_of(width)), title=draw(texts), caption=draw(texts))


@st.composite
def rich_tables(draw: st.DrawFn) -> Table:
    """Tables with further header rows, merged cells and the ids of a derived table."""
    width, height, above = draw(st.integers(1, 4)), draw(st.integers(0, 4)), draw(st.integers(0, 2))
    rows = draw(st.lists(st.lists(texts, min_size=width, max_size=width), min_size=height, max_size=height))
    numbers = st.integers(0, 30)
    row_ids = draw(st.lists(numbers, min_size=height, max_size=height, unique=True))
    column_ids = draw(st.lists(numbers, min_size=width, max_size=width, unique=True))
    table = Table(
        draw(st.lists(texts, min_size=width, max_size=width)),
        rows,
        header_rows=draw(
            st.lists(st.lists(texts, min_size=width, max_size=width), min_size=above, max_size=above)
        ),
        row_ids=[f"r{number}" for number in row_ids],
        column_ids=[f"c{number}" for number in column_ids],
    )
    return Table(**{**vars_of(table), "spans": draw(spans_of(table))})


def vars_of(table: Table) -> dict[str, Any]:
    return {
        "header": table.header,
        "rows": table.rows,
        "header_rows": table.header_rows,
        "row_ids": table.row_ids,
        "column_ids": table.column_ids,
    }


@st.composite
def spans_of(draw: st.DrawFn, table: Table) -> list[Span]:
    lines, columns = table.all_row_ids, table.column_ids
    i, j = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(columns) - 1))
    rows, width = draw(st.integers(1, len(lines) - i)), draw(st.integers(1, len(columns) - j))
    return [Span(lines[i], columns[j], rows, width)] if rows * width > 1 else []


tables = source_tables() | rich_tables()


@st.composite
def operation_for(
    draw: st.DrawFn, table: Table, name: str, kinds: tuple[str, ...] | None = None
) -> Operation | None:
    """One operation that can be done to `table`, None if there is none; what it makes is called `name`, or `name`a, ..."""
    (height, width), rows, columns = table.shape, table.row_ids, table.column_ids
    possible = ["insert_row", "insert_column"]
    if width:
        possible += ["rename_header", "remove_column", "split_column", "move_column", "transpose"]
    if height:
        possible += ["remove_row", "move_row"]
    if height and width:
        possible += ["set_cell", "set_cell", "set_cell", "mask_cells"]
    if kinds is not None:
        possible = [kind for kind in possible if kind in kinds]
    if not possible:
        return None
    kind = draw(st.sampled_from(possible))
    row: st.SearchStrategy[Any] = st.sampled_from(rows) if rows else st.nothing()
    column: st.SearchStrategy[Any] = st.sampled_from(columns) if columns else st.nothing()
    below, beside = st.none() | row, st.none() | column
    line, cells = (st.lists(texts, min_size=size, max_size=size).map(tuple) for size in (width, height))
    if kind == "set_cell":
        r, c = draw(row), draw(column)
        return SetCell(row=r, column=c, old=table.cell(r, c), new=draw(texts))
    if kind == "remove_row":
        r = draw(row)
        return RemoveRow(row=r, old=table.rows[table.row_index(r)])
    if kind == "insert_row":
        return InsertRow(row=name, after=draw(below), cells=draw(line))
    if kind == "move_row":
        r = draw(row)
        return MoveRow(row=r, after=draw(below.filter(lambda after: after != r)))
    if kind == "rename_header":
        c = draw(column)
        return RenameHeader(column=c, old=table.cell(table.header_id, c), new=draw(texts))
    if kind == "remove_column":
        c = draw(column)
        return RemoveColumn(column=c, old=(table.cell(table.header_id, c), *table.column(c)))
    if kind == "insert_column":
        number = len(table.header_rows)
        above = draw(st.lists(texts, min_size=number, max_size=number).map(tuple))
        return InsertColumn(
            column=name, after=draw(beside), header=draw(texts), cells=draw(cells), above=above
        )
    if kind == "move_column":
        c = draw(column)
        return MoveColumn(column=c, after=draw(beside.filter(lambda after: after != c)))
    if kind == "split_column":
        names = draw(st.sampled_from([(f"{name}a",), (f"{name}a", f"{name}b")]))
        parts = tuple(Part(column=part, header=draw(texts), cells=draw(cells)) for part in names)
        return SplitColumn(column=draw(column), into=parts)
    if kind == "mask_cells":
        some = draw(st.lists(st.tuples(row, column), unique=True, max_size=3))
        return MaskCells(cells=tuple(some), replacement=draw(texts))
    return Transpose()


@st.composite
def edits(
    draw: st.DrawFn,
    bases: st.SearchStrategy[Table] = tables,
    kinds: tuple[str, ...] | None = None,
    most: int = 8,
) -> tuple[Table, list[Operation]]:
    """A table and operations that can be done to it, one after the other."""
    base = draw(bases)
    current, operations = base, []
    for step in range(draw(st.integers(0, most))):
        operation = draw(operation_for(current, f"n{step + 1}", kinds))
        if operation is None:
            break
        operations.append(operation)
        current = replay(current, [operation])
    return base, operations
