"""What every serialisation is: a table as one text, and back again where the text still tells the table."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from tableqa.data.tables import Table, TableError

Part = Literal["title", "caption", "header_rows", "spans"]
Lossless = Literal["always", "per table", "never"]
"""For which tables header and rows can be told from the text of a form: all, some of them, or none."""

EVERYTHING: frozenset[Part] = frozenset({"title", "caption", "header_rows", "spans"})
HEADER_AND_ROWS: frozenset[Part] = frozenset()


class SerialisationError(ValueError):
    """A text that is not a table in this form, or a form that cannot be read back.

    line   the line of the text, counted from 1; None where the fault is not in a line
    """

    def __init__(self, name: str, line: int | None, what: str) -> None:
        self.name = name
        self.line = line
        self.what = what
        super().__init__(f"{name}{'' if line is None else f', line {line}'}: {what}.")


@dataclass(frozen=True)
class Serialisation:
    """One way to write a table.

    name     the key in SERIALISATIONS; a published form ends in its paper (json_torr), the one without an ending is ours
    source   where the form comes from
    keeps    the parts beside header and rows that the form has a place for; the others are left out (`leaves_out`)
    read     the table in a text of this form, for any cells; None for a form that is not read back
    loses    what of header and rows a reader of the text can no longer tell, in words; "" where nothing is lost
    safe     of a form that loses something, the name of the one that does not
    infer    of a form that loses something for some tables only, the table that a text seems to hold; ValueError
    """

    name: str
    title: str
    source: str
    write: Callable[[Table], str]
    read: Callable[[str], Table] | None = None
    keeps: frozenset[Part] = HEADER_AND_ROWS
    loses: str = ""
    safe: str = ""
    infer: Callable[[str], Table] | None = None

    def dumps(self, table: Table) -> str:
        """The table as text; no line break at the end, but for forms that are published with one."""
        return self.write(table)

    def loads(self, text: str) -> Table:
        """The table in a text that `dumps` wrote, with the ids of a source table.

        `loads(dumps(table)) == kept(table)`, for any cells. SerialisationError with the line and the reason
        for a text that is not of this form, and always for a form that loses something.
        """
        if self.read is None:
            raise SerialisationError(
                self.name, None, f"this form cannot be read back: {self.loses}; write {self.safe} instead"
            )
        try:
            return self.read(text)
        except TableError as error:  # a character that no table holds
            raise SerialisationError(self.name, None, str(error)) from error
        except RecursionError as error:
            raise SerialisationError(self.name, None, "it is nested too deeply") from error

    @property
    def lossless(self) -> Lossless:
        """For which tables `is_invertible` holds: "always" for any cells, "per table", or "never"."""
        if self.read is not None:
            return "always"
        return "never" if self.infer is None else "per table"

    def is_invertible(self, table: Table) -> bool:
        """Whether reading the text of this table in this form gives its header and rows, text for text.

        The other parts are not asked for: `leaves_out` names those that are not in the text.
        """
        if self.read is not None or self.infer is None:
            return self.read is not None
        try:
            return self.infer(self.write(table)).same_content(table)
        except (ValueError, RecursionError):
            return False

    def kept(self, table: Table) -> Table:
        """What the form holds of a table: header, rows and the parts that it keeps, with the ids of a source table.

        Merged cells come in the order of reading, in any stored order.
        """
        data = as_dict(table)
        return Table.from_dict(
            {key: value for key, value in data.items() if key in ("header", "rows") or key in self.keeps}
        )

    def leaves_out(self, table: Table) -> tuple[str, ...]:
        """The parts that this table has and this form has no place for, in words: ("the title", "2 merged cells")."""
        descriptions = {
            "title": "the title" if table.title else "",
            "caption": "the caption" if table.caption else "",
            "header_rows": _some(len(table.header_rows), "further header row"),
            "spans": _some(len(table.spans), "merged cell"),
        }
        return tuple(text for part, text in descriptions.items() if text and part not in self.keeps)


def _some(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count > 1 else ''}" if count else ""


def as_dict(table: Table) -> dict[str, Any]:
    """`table.to_dict()` with the merged cells in the order of reading."""
    rows = {id: i for i, id in enumerate(table.all_row_ids)}
    columns = {id: j for j, id in enumerate(table.column_ids)}
    spans = sorted(table.spans, key=lambda span: (rows[span.row], columns[span.column]))
    return (replace(table, spans=tuple(spans)) if len(spans) > 1 else table).to_dict()


def at_line(text: str, offset: int) -> int:
    """The number of the line of the character at `offset`, counted from 1."""
    return text.count("\n", 0, offset) + 1


def check_width(name: str, line: int, cells: int, columns: int) -> None:
    """SerialisationError if a row has not as many cells as the header."""
    if cells != columns:
        raise SerialisationError(name, line, f"the row has {cells} cells, the header has {columns}")


def excerpt(text: str) -> str:
    """A piece of a text for a message."""
    return repr(text if len(text) <= 40 else text[:39] + "…")
