"""A table that is being worked on."""

from collections.abc import Sequence

from tableqa.core.translation import gettext
from tableqa.data.tables import Span, Table, default_ids
from tableqa.operations.checks import OperationError
from tableqa.operations.order import Order


class Sheet:
    """A table while operations are being done to it. It belongs to one replay and is thrown away after it."""

    def __init__(self, table: Table) -> None:
        self.source = table
        self.above = [list(row) for row in table.header_rows]
        self.header = list(table.header)
        self.header_id = table.header_id
        self.columns = list(table.column_ids)
        # A row is copied into a list when it is first written to; most never are.
        self.rows: dict[str, Sequence[str]] = dict(zip(table.row_ids, table.rows, strict=True))
        self.order = Order(table.row_ids)
        lines = table.all_row_ids
        self.spans = [_covered_ids(span, lines, table.column_ids) for span in table.spans]

    def table(self) -> Table:
        """What has become of the table."""
        row_ids = self.order.names()
        lines = (*default_ids("h", len(self.above)), self.header_id, *row_ids)
        return Table(
            header=self.header,
            rows=[self.rows[row_id] for row_id in row_ids],
            title=self.source.title,
            caption=self.source.caption,
            header_rows=self.above,
            spans=[span for covered in self.spans if (span := _remaining_span(covered, lines, self.columns))],
            row_ids=row_ids,
            column_ids=self.columns,
            header_id=self.header_id,
        )

    def body_row(self, row_id: str) -> Sequence[str]:
        """The cells of a row, for reading."""
        if row_id == self.header_id:
            message = gettext("{row_id} is the header row; use rename_header for its names")
            raise OperationError("bad_operation", message.format(row_id=row_id))
        if row_id not in self.rows:
            raise OperationError("unknown_row", gettext("there is no row {row_id}").format(row_id=row_id))
        return self.rows[row_id]

    def writable_row(self, row_id: str) -> list[str]:
        """The cells of a row, for writing."""
        cells = self.rows[row_id]
        if not isinstance(cells, list):
            cells = list(cells)
            self.rows[row_id] = cells
        return cells

    def check_new_row(self, row_id: str) -> None:
        if row_id in self.rows or row_id == self.header_id or row_id in default_ids("h", len(self.above)):
            raise OperationError(
                "duplicate_id", gettext("there is a row {row_id} already").format(row_id=row_id)
            )

    def insert_row(self, row_id: str, after: str | None, cells: list[str]) -> None:
        self._check_after(after)
        self.rows[row_id] = cells
        self.order.insert(row_id, after)

    def remove_row(self, row_id: str) -> None:
        del self.rows[row_id]
        self.order.remove(row_id)

    def move_row(self, row_id: str, after: str | None) -> None:
        self._check_after(after)
        self.order.remove(row_id)
        self.order.insert(row_id, after)

    def _check_after(self, after: str | None) -> None:
        if after is not None and after not in self.rows:
            message = gettext("there is no row {after} to put it after (null puts it on top)")
            raise OperationError("unknown_row", message.format(after=after))

    def column(self, column_id: str) -> int:
        """The place of a column, counted from 0."""
        try:
            return self.columns.index(column_id)
        except ValueError:
            raise OperationError(
                "unknown_column", gettext("there is no column {column_id}").format(column_id=column_id)
            ) from None

    def check_new_column(self, column_id: str) -> None:
        if column_id in self.columns:
            raise OperationError(
                "duplicate_id", gettext("there is a column {column_id} already").format(column_id=column_id)
            )

    def cells_of(self, j: int) -> tuple[str, ...]:
        return tuple(self.rows[row_id][j] for row_id in self.order.names())

    def insert_column(
        self, j: int, column_id: str, above: Sequence[str], header: str, cells: Sequence[str]
    ) -> None:
        self.columns.insert(j, column_id)
        self.header.insert(j, header)
        for line, text in zip(self.above, above, strict=True):
            line.insert(j, text)
        for row_id, text in zip(self.order.names(), cells, strict=True):
            self.writable_row(row_id).insert(j, text)

    def remove_column(self, j: int) -> None:
        for line in (self.columns, self.header, *self.above):
            del line[j]
        for row_id in self.rows:
            del self.writable_row(row_id)[j]

    def transpose(self) -> None:
        row_ids = self.order.names()
        lines = [*self.above, self.header, *(self.rows[row_id] for row_id in row_ids)]
        turned = [list(cells) for cells in zip(*lines, strict=True)]
        turned_ids = [*default_ids("h", len(self.above)), self.header_id, *row_ids]
        self.header_id, body_ids = self.columns[0], self.columns[1:]
        self.above, self.header, self.columns = [], turned[0], turned_ids
        self.rows = dict(zip(body_ids, turned[1:], strict=True))
        self.order = Order(body_ids)
        self.spans = [(columns, rows) for rows, columns in self.spans]


_Covered = tuple[Sequence[str], Sequence[str]]
"""The ids of the rows and of the columns that a merged cell covers."""


def _covered_ids(span: Span, lines: Sequence[str], columns: Sequence[str]) -> _Covered:
    i, j = lines.index(span.row), columns.index(span.column)
    return lines[i : i + span.rows], columns[j : j + span.columns]


def _remaining_span(covered: _Covered, lines: Sequence[str], columns: Sequence[str]) -> Span | None:
    spans = []
    for covered_names, present in zip(covered, (lines, columns), strict=True):
        places = sorted(present.index(name) for name in covered_names if name in present)
        if not places or places[-1] - places[0] >= len(places):
            return None
        spans.append((present[places[0]], len(places)))
    (row, rows), (column, columns_left) = spans
    return Span(row, column, rows, columns_left) if rows * columns_left > 1 else None
