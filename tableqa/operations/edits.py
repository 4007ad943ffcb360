"""An edit: a table with the operations on it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from html import escape

from tableqa.data.table_forms import table_html
from tableqa.data.tables import Table
from tableqa.operations.descriptions import describe
from tableqa.operations.edit_types import Operation
from tableqa.operations.net import normalise, replay


@dataclass(frozen=True)
class Edit:
    """A table and the operations on it; a notebook shows the edited table with each change marked.

    base        the table before
    operations  in their order; `table` raises `OperationError` if they do not fit the base
    """

    base: Table
    operations: Sequence[Operation]

    @cached_property
    def table(self) -> Table:
        """The edited table."""
        return replay(self.base, self.operations)

    def _repr_html_(self) -> str:
        """The edited table with new text in `<ins>` and old in `<del>`, and below it each operation in words."""
        steps = "".join(
            f"<li>{escape(describe(step, self.base))}</li>" for step in normalise(self.operations, self.base)
        )
        return f"{table_html(self.table, self._cell)}<ul>{steps}</ul>"

    def _cell(self, row: str, column: str, text: str) -> str:
        before = self._text_before(row, column)
        if before == text:
            return escape(text)
        return (
            f"<del>{escape(before)}</del> <ins>{escape(text)}</ins>"
            if before
            else f"<ins>{escape(text)}</ins>"
        )

    def _text_before(self, row: str, column: str) -> str | None:
        for ids in ((row, column), (column, row)):  # the second of a transposed table
            with suppress(KeyError):
                return self.base.cell(*ids)
        return None
