"""The operations: each a frozen dataclass that knows its JSON and how it is done to a sheet."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Protocol, Self

from tableqa.data.tables import MAX_CELLS, MAX_COLUMNS, MAX_ROWS
from tableqa.operations.checks import (
    OperationError,
    bad_operation_error,
    check_cell_place,
    check_id,
    check_not_itself,
    check_number,
    check_place,
    check_text,
    check_texts,
    fields_of,
    kind_of,
    set_frozen_field,
    stale_base_error,
)
from tableqa.operations.sheet import Sheet

MAX_OPERATIONS = 20_000
"""How many operations `from_list` takes: one move for each row of the largest table."""


class Operation(Protocol):
    """What every operation has. They are immutable, and checked when they are made (OperationError)."""

    op: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the operation."""

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the JSON; OperationError(bad_operation) for an unknown or missing key or a wrong type."""

    def apply(self, sheet: Sheet) -> None:
        """Do it to a sheet; OperationError if that is not possible."""


class _FieldOperation:
    """An operation whose JSON has its fields by name; one with a default is left out where it has that value."""

    op: ClassVar[str]
    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {"op": self.op}
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            if value != each.default:
                data[each.name] = list(value) if isinstance(value, tuple) else value
        return data

    @classmethod
    def from_dict(cls, data: object) -> Self:
        class_fields = fields(cls)  # type: ignore[arg-type]
        required = [each.name for each in class_fields if each.default is MISSING]
        optional = [each.name for each in class_fields if each.default is not MISSING]
        return cls(**fields_of(data, cls.op, required, optional))


@dataclass(frozen=True, kw_only=True, slots=True)
class SetCell(_FieldOperation):
    """Give a cell of the body another text. Headers are renamed with RenameHeader."""

    row: str
    column: str
    at: tuple[int, int] | None = None
    old: str
    new: str

    op: ClassVar[str] = "set_cell"

    def __post_init__(self) -> None:
        check_id(self.row, "row")
        check_id(self.column, "column")
        set_frozen_field(self, "at", check_cell_place(self.at))
        check_text(self.old, "old")
        check_text(self.new, "new")

    def apply(self, sheet: Sheet) -> None:
        cells, j = sheet.body_row(self.row), sheet.column(self.column)
        if cells[j] != self.old:
            raise stale_base_error(f"the cell {self.row}/{self.column}", cells[j], self.old)
        sheet.writable_row(self.row)[j] = self.new


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoveRow(_FieldOperation):
    """Remove a row; `old` holds its cells from left to right."""

    row: str
    at: int | None = None
    old: tuple[str, ...]

    op: ClassVar[str] = "remove_row"

    def __post_init__(self) -> None:
        check_id(self.row, "row")
        check_place(self.at)
        set_frozen_field(self, "old", check_texts(self.old, "old", MAX_COLUMNS))

    def apply(self, sheet: Sheet) -> None:
        cells = tuple(sheet.body_row(self.row))
        if cells != self.old:
            raise stale_base_error(f"the row {self.row}", cells, self.old)
        sheet.remove_row(self.row)


@dataclass(frozen=True, kw_only=True, slots=True)
class InsertRow(_FieldOperation):
    """Put a new row, which gets the id `row`, below the row `after` (None: on top)."""

    row: str
    after: str | None
    at: int | None = None
    cells: tuple[str, ...]

    op: ClassVar[str] = "insert_row"

    def __post_init__(self) -> None:
        check_id(self.row, "row")
        check_id(self.after, "after", optional=True)
        check_place(self.at)
        set_frozen_field(self, "cells", check_texts(self.cells, "cells", MAX_COLUMNS))

    def apply(self, sheet: Sheet) -> None:
        sheet.check_new_row(self.row)
        check_number(self.cells, len(sheet.columns), "cells", "columns")
        sheet.insert_row(self.row, self.after, list(self.cells))


@dataclass(frozen=True, kw_only=True, slots=True)
class MoveRow(_FieldOperation):
    """Put a row directly below the row `after` (None: on top)."""

    row: str
    after: str | None

    op: ClassVar[str] = "move_row"

    def __post_init__(self) -> None:
        check_id(self.row, "row")
        check_id(self.after, "after", optional=True)
        check_not_itself(self.row, self.after, "row")

    def apply(self, sheet: Sheet) -> None:
        sheet.body_row(self.row)
        sheet.move_row(self.row, self.after)


@dataclass(frozen=True, kw_only=True, slots=True)
class RenameHeader(_FieldOperation):
    """Give a column another name."""

    column: str
    at: int | None = None
    old: str
    new: str

    op: ClassVar[str] = "rename_header"

    def __post_init__(self) -> None:
        check_id(self.column, "column")
        check_place(self.at)
        check_text(self.old, "old")
        check_text(self.new, "new")

    def apply(self, sheet: Sheet) -> None:
        j = sheet.column(self.column)
        if sheet.header[j] != self.old:
            raise stale_base_error(f"the header of {self.column}", sheet.header[j], self.old)
        sheet.header[j] = self.new


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoveColumn(_FieldOperation):
    """Remove a column; `old` holds its header and then its cells from the top."""

    column: str
    at: int | None = None
    old: tuple[str, ...]

    op: ClassVar[str] = "remove_column"

    def __post_init__(self) -> None:
        check_id(self.column, "column")
        check_place(self.at)
        set_frozen_field(self, "old", check_texts(self.old, "old", MAX_ROWS + 1))

    def apply(self, sheet: Sheet) -> None:
        j = sheet.column(self.column)
        cells = (sheet.header[j], *sheet.cells_of(j))
        if cells != self.old:
            raise stale_base_error(f"the column {self.column}", cells, self.old)
        sheet.remove_column(j)


@dataclass(frozen=True, kw_only=True, slots=True)
class InsertColumn(_FieldOperation):
    """Put a new column, which gets the id `column`, to the right of the column `after` (None: first).

    `cells` go from the top, one for each row. `above` holds its texts in the further header rows; () leaves them empty.
    """

    column: str
    after: str | None
    header: str
    cells: tuple[str, ...]
    above: tuple[str, ...] = ()

    op: ClassVar[str] = "insert_column"

    def __post_init__(self) -> None:
        check_id(self.column, "column")
        check_id(self.after, "after", optional=True)
        check_text(self.header, "header")
        set_frozen_field(self, "cells", check_texts(self.cells, "cells", MAX_ROWS))
        set_frozen_field(self, "above", check_texts(self.above, "above", MAX_ROWS))

    def apply(self, sheet: Sheet) -> None:
        sheet.check_new_column(self.column)
        check_number(self.cells, len(sheet.rows), "cells", "rows")
        above = self.above or ("",) * len(sheet.above)
        check_number(above, len(sheet.above), "texts above", "further header rows")
        j = 0 if self.after is None else sheet.column(self.after) + 1
        sheet.insert_column(j, self.column, above, self.header, self.cells)


@dataclass(frozen=True, kw_only=True, slots=True)
class MoveColumn(_FieldOperation):
    """Put a column directly to the right of the column `after` (None: first)."""

    column: str
    after: str | None

    op: ClassVar[str] = "move_column"

    def __post_init__(self) -> None:
        check_id(self.column, "column")
        check_id(self.after, "after", optional=True)
        check_not_itself(self.column, self.after, "column")

    def apply(self, sheet: Sheet) -> None:
        j = sheet.column(self.column)
        after = None if self.after is None else sheet.column(self.after)
        column = (self.column, tuple(line[j] for line in sheet.above), sheet.header[j], sheet.cells_of(j))
        sheet.remove_column(j)
        sheet.insert_column(0 if after is None else after + (after < j), *column)


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One of the columns that a column is split into; `cells` from the top, one for each row."""

    column: str
    header: str
    cells: tuple[str, ...]

    def __post_init__(self) -> None:
        check_id(self.column, "into.column")
        check_text(self.header, "into.header")
        set_frozen_field(self, "cells", check_texts(self.cells, "into.cells", MAX_ROWS))

    def to_dict(self) -> dict[str, Any]:
        return {"column": self.column, "header": self.header, "cells": list(self.cells)}


@dataclass(frozen=True, kw_only=True, slots=True)
class SplitColumn:
    """Replace a column by others, at its place and in the order given. In further header rows each repeats its text."""

    column: str
    into: tuple[Part, ...]

    op: ClassVar[str] = "split_column"

    def __post_init__(self) -> None:
        check_id(self.column, "column")
        if not isinstance(self.into, list | tuple) or not 1 <= len(self.into) <= MAX_COLUMNS:
            raise bad_operation_error(f"into is a list of 1 to {MAX_COLUMNS} columns")
        if not all(isinstance(part, Part) for part in self.into):
            raise bad_operation_error("into holds something that is not a Part(column, header, cells)")
        set_frozen_field(self, "into", tuple(self.into))

    def to_dict(self) -> dict[str, Any]:
        return {"op": self.op, "column": self.column, "into": [part.to_dict() for part in self.into]}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        values = fields_of(data, cls.op, ("column", "into"))
        if not isinstance(values["into"], list | tuple):
            raise bad_operation_error(f"into is a list, not {kind_of(values['into'])}")
        parts = [Part(**fields_of(part, "", ("column", "header", "cells"))) for part in values["into"]]
        return cls(column=values["column"], into=tuple(parts))

    def apply(self, sheet: Sheet) -> None:
        j = sheet.column(self.column)
        above = tuple(line[j] for line in sheet.above)
        for part in self.into:
            check_number(part.cells, len(sheet.rows), "cells", "rows")
        sheet.remove_column(j)
        for step, part in enumerate(self.into):
            sheet.check_new_column(part.column)
            sheet.insert_column(j + step, part.column, above, part.header, part.cells)


@dataclass(frozen=True, kw_only=True, slots=True)
class Transpose(_FieldOperation):
    """Turn the table round its diagonal, the header row with it: it becomes the first column, the first column the header.

    Ids go with the texts: row r3 becomes column r3, column c2 row c2, and `Table.header_id` says what the header row is
    called. Twice gives the table back, unless it has further header rows, which come back as rows of the body.
    """

    op: ClassVar[str] = "transpose"

    def apply(self, sheet: Sheet) -> None:
        if not sheet.columns:
            raise bad_operation_error("a table without columns cannot be transposed")
        sheet.transpose()


@dataclass(frozen=True, kw_only=True, slots=True)
class MaskCells:
    """Replace the texts of cells of the body by one text, e.g. "" to hide the evidence (FREB-TQA 3.4)."""

    cells: tuple[tuple[str, str], ...]
    replacement: str

    op: ClassVar[str] = "mask_cells"

    def __post_init__(self) -> None:
        if not isinstance(self.cells, list | tuple) or len(self.cells) > MAX_CELLS:
            raise bad_operation_error(f"cells is a list of at most {MAX_CELLS} [row, column] pairs")
        for pair in self.cells:
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise bad_operation_error("cells holds something that is not a [row, column] pair")
            check_id(pair[0], "row")
            check_id(pair[1], "column")
        cells = tuple((row, column) for row, column in self.cells)
        if len(set(cells)) < len(cells):
            raise bad_operation_error("cells names one cell twice")
        set_frozen_field(self, "cells", cells)
        check_text(self.replacement, "with")

    def to_dict(self) -> dict[str, Any]:
        return {"op": self.op, "cells": [list(pair) for pair in self.cells], "with": self.replacement}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        values = fields_of(data, cls.op, ("cells", "with"))
        return cls(cells=values["cells"], replacement=values["with"])

    def apply(self, sheet: Sheet) -> None:
        for row, column in self.cells:
            sheet.body_row(row)
            sheet.column(column)
        for row, column in self.cells:
            sheet.writable_row(row)[sheet.column(column)] = self.replacement


_CLASSES: tuple[type[Operation], ...] = (
    SetCell,
    RemoveRow,
    InsertRow,
    MoveRow,
    RenameHeader,
    RemoveColumn,
    InsertColumn,
    MoveColumn,
    SplitColumn,
    Transpose,
    MaskCells,
)
OPERATIONS: Mapping[str, type[Operation]] = {kind.op: kind for kind in _CLASSES}
"""Every operation by its name in JSON."""


def from_dict(data: object) -> Operation:
    """Read one operation from JSON, trusting nothing; OperationError(bad_operation) for anything else.

    One that is read already is given back: a list of 20,000 is read once, however many look at it.
    """
    if isinstance(data, _CLASSES):
        return data
    if not isinstance(data, Mapping):
        raise bad_operation_error(f"an operation is an object, not {kind_of(data)}")
    name = data.get("op")
    if not isinstance(name, str) or name not in OPERATIONS:
        actual = repr(name) if isinstance(name, str) and len(name) <= 40 else kind_of(name)
        raise bad_operation_error(f"op is one of {', '.join(OPERATIONS)}, not {actual}")
    return OPERATIONS[name].from_dict(data)


def from_list(data: object) -> list[Operation]:
    """Read a list of operations from JSON, trusting nothing; OperationError with the index of the first bad one."""
    if not isinstance(data, list | tuple):
        raise bad_operation_error(f"operations are a list, not {kind_of(data)}")
    if len(data) > MAX_OPERATIONS:
        raise bad_operation_error(f"there are {len(data)} operations; at most {MAX_OPERATIONS} are taken")
    operations = []
    for index, item in enumerate(data):
        try:
            operations.append(from_dict(item))
        except OperationError as error:
            raise error.at(index) from None
    return operations
