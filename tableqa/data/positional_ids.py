"""An edited example on its own: without its operations the ids of its table mean nothing, so places name them again."""

from dataclasses import replace
from typing import Any

from tableqa.core.canonical_json import thaw
from tableqa.data.examples import Example
from tableqa.data.tables import HEADER, Table

MARKED = ("answer_cells", "highlighted_cells", "relevant_cells")
"""What `Example.meta` holds as lists of [row id, column id]."""


def with_positional_ids(example: Example) -> Example:
    """The example with a table as a source has it, r0, r1, ... and c0, c1, ...

    Marked cells in meta are named again with their rows and columns, and those that the edit removed are left out. A
    program goes where ids changed: it names columns by ids that the table does not have any more.
    """
    table = example.table
    marks = {name: _marked(table, example.meta[name]) for name in MARKED if name in example.meta}
    if table.has_source_ids:
        return replace(example, meta={**thaw(example.meta), **marks}) if marks else example
    return replace(
        example, table=Table.from_dict(table.to_dict()), meta={**thaw(example.meta), **marks}, program=None
    )


def _marked(table: Table, cells: Any) -> list[list[str]]:
    rows = {table.header_id: HEADER, **{id: f"r{i}" for i, id in enumerate(table.row_ids)}}
    columns = {id: f"c{j}" for j, id in enumerate(table.column_ids)}
    return [[rows[row], columns[column]] for row, column in cells if row in rows and column in columns]
