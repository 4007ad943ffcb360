"""The table: immutable, its cells the strings of its source, its rows and columns named by ids that survive edits.

A cell is never parsed and printed again (that is how released benchmarks lost decimal points and dates); what a
cell *means* is a view, in `tableqa.cells`. What is *done* to a table is an operation, in `tableqa.operations`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from itertools import chain, product
from operator import itemgetter
from typing import Any

from tableqa.core.canonical_json import SharedObject, canonical, digest, digest_of_text
from tableqa.core.foreign_values import unstorable_part
from tableqa.core.translation import Message, gettext, gettext_noop, phrase, sentence, word
from tableqa.data.table_forms import TableForms

MAX_ROWS = 20_000
MAX_COLUMNS = 500
MAX_CELLS = 1_000_000
MAX_TEXT = 100_000
"""Limits of what comes from outside (files, browsers): rows, columns, cells of a table, characters of a cell.

A `Table` itself has no limits; code that takes one from outside (a reader, `operations.from_dict`) checks them.
"""

HEADER = "h"
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")


class TableError(ValueError):
    """What was given is not a table; the message names the row and column. As a `str` it is in the reader's language."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message.shown() if isinstance(message, Message) else message)


@dataclass(frozen=True, slots=True)
class Span:
    """A merged cell: its text is at (`row`, `column`) and it covers `rows` x `columns` cells from there on.

    `row` and `column` are ids; `row` may be a body row, the header row, or a further header row ("h0" is the top
    one of `Table.header_rows`).
    """

    row: str
    column: str
    rows: int
    columns: int

    def to_dict(self) -> dict[str, Any]:
        return {"row": self.row, "column": self.column, "rows": self.rows, "columns": self.columns}

    @classmethod
    def from_dict(cls, data: object) -> "Span":
        """Read what `to_dict` wrote; TableError for anything else."""
        if not isinstance(data, Mapping) or set(data) != {"row", "column", "rows", "columns"}:
            raise TableError(phrase("a span has exactly the keys row, column, rows and columns"))
        return cls(data["row"], data["column"], data["rows"], data["columns"])


@dataclass(frozen=True, init=False)
class Table(TableForms):
    """A table of strings.

    header       n names, one for each column; they may repeat or be empty, so address columns by id, never by name
    rows         m rows of n cells each; m and n may be 0
    title, caption   texts that are beside the table in its source, "" where it has none
    header_rows  further header rows above `header`, from the top, n cells each; their ids are "h0", "h1", ...
    spans        merged cells, header rows included
    row_ids, column_ids   ids, by default r0, r1, ... and c0, c1, ...; a row or column keeps its id when it moves, and
                 one that an operation made is called n1, n2, ...
    header_id    the id of the header row: "h", and after a transposition the id of what was the first column

    Lists are accepted and kept as tuples. Two tables are equal if everything is, ids included; their digests are
    equal if everything but the ids is. Raises TableError naming the place for ragged rows, cells that are not
    strings, characters that no file or database can hold (NUL, half a surrogate pair), and ids that repeat.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str
    caption: str
    header_rows: tuple[tuple[str, ...], ...]
    spans: tuple[Span, ...]
    row_ids: tuple[str, ...]
    column_ids: tuple[str, ...]
    header_id: str

    def __init__(
        self,
        header: Iterable[str],
        rows: Iterable[Iterable[str]],
        title: str = "",
        caption: str = "",
        header_rows: Iterable[Iterable[str]] = (),
        spans: Iterable[Span] = (),
        row_ids: Iterable[str] | None = None,
        column_ids: Iterable[str] | None = None,
        header_id: str = HEADER,
    ) -> None:
        header = _texts(header, gettext_noop("the header"))
        width = len(header)
        rows = _rows(_sequence(rows, gettext_noop("the rows")), width, _ROW)
        above = _rows(_sequence(header_rows, gettext_noop("the header rows")), width, _HEADER_ROW)
        put = object.__setattr__
        put(self, "header", header)
        put(self, "rows", rows)
        put(self, "title", _text(title, gettext_noop("the title")))
        put(self, "caption", _text(caption, gettext_noop("the caption")))
        put(self, "header_rows", above)
        put(self, "spans", tuple(spans))
        put(self, "row_ids", default_ids("r", len(rows)) if row_ids is None else tuple(row_ids))
        put(self, "column_ids", default_ids("c", width) if column_ids is None else tuple(column_ids))
        put(self, "header_id", header_id)
        if not self._has_source_row_ids or header_id != HEADER:
            _check_ids(
                [*default_ids("h", len(above)), header_id, *self.row_ids],
                len(rows) + len(above) + 1,
                gettext_noop("row"),
            )
        if not self._has_source_column_ids:
            _check_ids(self.column_ids, width, gettext_noop("column"))
        if self.spans:
            _check_spans(self)

    def titled(self, title: str, caption: str) -> "Table":
        """The same table with another title and caption."""
        table = self._like()
        table["title"] = _text(title, gettext_noop("the title"))
        table["caption"] = _text(caption, gettext_noop("the caption"))
        return self._made(table)

    @property
    def shape(self) -> tuple[int, int]:
        """(number of rows, number of columns); header rows are not counted."""
        return len(self.rows), len(self.header)

    @property
    def all_row_ids(self) -> tuple[str, ...]:
        """The ids of every row from the top, header rows included."""
        return (*default_ids("h", len(self.header_rows)), self.header_id, *self.row_ids)

    @cached_property
    def _row_indices(self) -> dict[str, int]:
        return {row_id: i for i, row_id in enumerate(self.row_ids)}

    @cached_property
    def _column_indices(self) -> dict[str, int]:
        return {column_id: j for j, column_id in enumerate(self.column_ids)}

    def row_index(self, row_id: str) -> int:
        """The place, counted from 0, of a row; KeyError naming the id if there is none (the header row has none)."""
        return _index_of(self._row_indices, row_id, "row")

    def column_index(self, column_id: str) -> int:
        """The place, counted from 0, of a column; KeyError naming the id if there is none."""
        return _index_of(self._column_indices, column_id, "column")

    def has_row(self, row_id: str) -> bool:
        """Whether a row of the body has this id; in `row_ids` it takes as long as there are rows to look for one."""
        return row_id in self._row_indices

    def cell(self, row_id: str, column_id: str) -> str:
        """The text at a row and a column; the header row's id gives the header. KeyError if there is no such place."""
        column = self.column_index(column_id)
        if row_id == self.header_id:
            return self.header[column]
        return self.rows[self.row_index(row_id)][column]

    def column(self, column_id: str) -> tuple[str, ...]:
        """The cells of a column from the top, its header not among them; KeyError if there is no such column."""
        j = self.column_index(column_id)
        return tuple(row[j] for row in self.rows)

    def same_content(self, other: "Table") -> bool:
        """Whether header and rows are equal, for any ids, title and caption."""
        return self.header == other.header and self.rows == other.rows

    def to_dict(self) -> dict[str, Any]:
        """{"header", "rows"} and, where set, "title", "caption", "header_rows", "spans": what the digest is taken of.

        It knows no ids: spans are written with the ids that a source table would have at their places.
        """
        return self._to_dict(self._spans_by_place() if self.spans else ())

    def _to_dict(self, spans: Sequence[Span]) -> dict[str, Any]:
        data: dict[str, Any] = {"header": list(self.header), "rows": [list(row) for row in self.rows]}
        if self.title:
            data["title"] = self.title
        if self.caption:
            data["caption"] = self.caption
        if self.header_rows:
            data["header_rows"] = [list(row) for row in self.header_rows]
        if spans:
            data["spans"] = [span.to_dict() for span in spans]
        return data

    def _spans_by_place(self) -> list[Span]:
        rows, columns = self.all_row_ids, self.column_ids
        above = len(self.header_rows)
        names = (*default_ids("h", above), HEADER, *default_ids("r", len(self.rows)))
        return [
            Span(names[rows.index(span.row)], f"c{columns.index(span.column)}", span.rows, span.columns)
            for span in self.spans
        ]

    def in_order(self, rows: Sequence[str] | None = None, columns: Sequence[str] | None = None) -> "Table":
        """The same table with its rows, its columns or both in another order; None for the order that they have.

        Equal to replaying the moves, and many times faster. ValueError where ids are missing or repeat, and for a table
        with merged cells, which a move may tear apart: replay moves there.
        """
        if self.spans:
            raise ValueError(gettext("a table with merged cells cannot be reordered in one step"))
        table = self._like()
        if rows is not None:
            places = self._row_indices
            _check_order(rows, places, "row")
            table["rows"] = tuple([self.rows[places[id]] for id in rows])
            table["row_ids"] = tuple(rows)
        if columns is not None:
            places = self._column_indices
            _check_order(columns, places, "column")
            reorder = _tuple_getter([places[id] for id in columns])
            table["header"] = reorder(self.header)
            table["rows"] = tuple([reorder(row) for row in table["rows"]])
            table["header_rows"] = tuple([reorder(row) for row in self.header_rows])
            table["column_ids"] = tuple(columns)
        return self._made(table)

    def turned(self) -> "Table":
        """The table with rows and columns exchanged, the header with them: what `operations.Transpose` gives.

        ValueError for a table without columns, and for one with merged cells.
        """
        if self.spans or not self.header:
            raise ValueError(
                gettext("a table without columns or with merged cells cannot be transposed in one step")
            )
        header, *rows = zip(*self.header_rows, self.header, *self.rows, strict=True)
        table = self._like()
        table["header"], table["rows"], table["header_rows"] = header, tuple(rows), ()
        table["column_ids"] = self.all_row_ids
        table["header_id"], *row_ids = self.column_ids
        table["row_ids"] = tuple(row_ids)
        return self._made(table)

    def _like(self) -> dict[str, Any]:
        """The fields of this table, without what was worked out from them."""
        return {name: value for name, value in self.__dict__.items() if name in _FIELDS}

    @staticmethod
    def _made(values: dict[str, Any]) -> "Table":
        """A table of parts of another one, which were checked when that was made."""
        table = object.__new__(Table)
        table.__dict__.update(values)
        return table

    @property
    def has_source_ids(self) -> bool:
        """Whether the ids are those of a source table, which the places tell: r0, r1, ..., c0, c1, ... and h."""
        return self._has_source_row_ids and self._has_source_column_ids and self.header_id == HEADER

    @property
    def _has_source_row_ids(self) -> bool:
        return self.row_ids == default_ids("r", len(self.rows))

    @property
    def _has_source_column_ids(self) -> bool:
        return self.column_ids == default_ids("c", len(self.header))

    def to_wire(self) -> dict[str, Any]:
        """`to_dict` plus "row_ids", "column_ids" and "header_id" where they are not those of a source table."""
        data = self._to_dict(self.spans)
        if not self._has_source_row_ids:
            data["row_ids"] = list(self.row_ids)
        if not self._has_source_column_ids:
            data["column_ids"] = list(self.column_ids)
        if self.header_id != HEADER:
            data["header_id"] = self.header_id
        return data

    @cached_property
    def worded(self) -> SharedObject:
        """`to_wire` for records that hold the table: a table stands in many, and its text is made for the first."""
        return SharedObject(self.to_wire())

    @classmethod
    def from_dict(cls, data: object) -> "Table":
        """Read what `to_dict` or `to_wire` wrote; TableError for a missing or unknown key or a wrong type."""
        if not isinstance(data, Mapping):
            raise TableError(
                phrase("a table must be an object with header and rows, not {kind}", kind=_kind(data))
            )
        if missing := {"header", "rows"} - set(data):
            raise TableError(phrase("a table needs {value}", value=" and ".join(sorted(missing))))
        if unknown := sorted(str(key) for key in set(data) - _FIELDS):
            names = ", ".join(sorted(_FIELDS))
            raise TableError(
                phrase("a table has no {unknown}; it has {value}", unknown=", ".join(unknown), value=names)
            )
        return cls(
            header=data["header"],
            rows=data["rows"],
            title=data.get("title", ""),
            caption=data.get("caption", ""),
            header_rows=data.get("header_rows", ()),
            spans=[
                Span.from_dict(span) for span in _sequence(data.get("spans", ()), gettext_noop("the spans"))
            ],
            row_ids=_ids(data.get("row_ids"), "row_ids"),
            column_ids=_ids(data.get("column_ids"), "column_ids"),
            header_id=data.get("header_id", HEADER),
        )

    def digest(self) -> str:
        """The sha256 of the canonical JSON of `to_dict()`, 64 hexadecimal digits: equal content, equal digest."""
        return self._digest

    @property
    def has_digest(self) -> bool:
        """Whether the digest is known already."""
        return "_digest" in self.__dict__

    def canonical_text(self) -> str:
        """The canonical JSON of `to_dict()`, of which the digest is taken: both for the cost of one."""
        text = canonical(self.to_dict())
        self.__dict__["_digest"] = digest_of_text(text)
        return text

    @cached_property
    def _digest(self) -> str:
        return digest(self.to_dict())


@lru_cache(maxsize=4096)
def default_ids(letter: str, count: int) -> tuple[str, ...]:
    """The ids that a source table has: default_ids("r", 3) is ("r0", "r1", "r2")."""
    return tuple(f"{letter}{i}" for i in range(count))


def is_id(value: object) -> bool:
    """Whether `value` can be the id of a row or column: a letter, then at most 31 letters, digits, "_" and "-"."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


_ROW = gettext_noop("row {number}")
_HEADER_ROW = gettext_noop("header row {number}")


def _where(where: str, row_number: int) -> Message:
    return sentence(where, {"number": row_number} if row_number else {})


def _rows(rows: Iterable[Any], width: int, where: str) -> tuple[tuple[str, ...], ...]:
    rows = tuple(rows)
    if all(type(row) in (tuple, list) and len(row) == width for row in rows):
        with suppress(TypeError):  # all cells at once, as nearly no table has a fault
            if not unstorable_part("\x1f".join(chain.from_iterable(rows))):
                return tuple(map(tuple, rows))
    return tuple(_row(row, width, where, i + 1) for i, row in enumerate(rows))


def _row(cells: Any, width: int, where: str, row_number: int) -> tuple[str, ...]:
    row = _texts(cells, where, row_number)
    if len(row) != width:
        raise TableError(
            phrase(
                "{where} has {number} cells, the header has {width}",
                where=_where(where, row_number),
                number=len(row),
                width=width,
            )
        )
    return row


def _texts(cells: Any, where: str, row_number: int = 0) -> tuple[str, ...]:
    row = tuple(_sequence(cells, where, row_number))
    try:
        joined = "\x1f".join(row)
    except TypeError:
        j, cell = next((j, cell) for j, cell in enumerate(row) if not isinstance(cell, str))
        raise TableError(
            phrase(
                "{where}, column {value}: a cell must be a string, not {kind}",
                where=_where(where, row_number),
                value=j + 1,
                kind=_kind(cell),
            )
        ) from None
    if unstorable_part(joined):
        j, reason = next((j, reason) for j, cell in enumerate(row) if (reason := unstorable_part(cell)))
        raise TableError(
            phrase(
                "{where}, column {value}: the text contains {reason}",
                where=_where(where, row_number),
                value=j + 1,
                reason=reason,
            )
        )
    return row


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise TableError(
            phrase("{where} must be a string, not {kind}", where=_where(where, 0), kind=_kind(value))
        )
    if reason := unstorable_part(value):
        raise TableError(phrase("{where} contains {reason}", where=_where(where, 0), reason=reason))
    return value


def _sequence(value: Any, where: str, row_number: int = 0) -> Iterable[Any]:
    if type(value) in (tuple, list):  # nearly all are, by the million
        return value
    # A string is a sequence of strings to Python and never what is meant here.
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise TableError(
            phrase("{where} must be a list, not {kind}", where=_where(where, row_number), kind=_kind(value))
        )
    return value


def _ids(value: Any, where: str) -> tuple[str, ...] | None:
    return None if value is None else tuple(_sequence(value, where))


def _check_ids(ids: Sequence[str], expected: int, kind: str) -> None:
    if len(ids) != expected:
        raise TableError(
            phrase(
                "there are {number} {kind} ids (header rows counted) for {expected} {kind}s",
                number=len(ids),
                kind=word(kind),
                expected=expected,
            )
        )
    seen: set[str] = set()
    for value in ids:
        if not is_id(value):
            raise TableError(
                phrase(
                    "{value!r} cannot be a {kind} id: a letter, then letters, digits, _ and - (32 at most)",
                    value=value,
                    kind=word(kind),
                )
            )
        if value in seen:
            raise TableError(phrase("the {kind} id {value} is given twice", kind=word(kind), value=value))
        seen.add(value)


def _index_of(places: dict[str, int], line_id: str, kind: str) -> int:
    try:
        return places[line_id]
    except KeyError:
        raise KeyError(f"there is no {kind} {line_id!r} in this table") from None


def _kind(value: object) -> str:
    names = {
        dict: gettext_noop("an object"),
        list: gettext_noop("a list"),
        str: gettext_noop("a string"),
        int: gettext_noop("a number"),
        float: gettext_noop("a number"),
        bool: gettext_noop("a truth value"),
        type(None): gettext_noop("nothing"),
    }
    name = names.get(type(value))
    return phrase("a {type}", type=type(value).__name__) if name is None else word(name)


_FIELDS = frozenset(field.name for field in fields(Table))


def _check_spans(table: Table) -> None:
    covered: set[tuple[int, int]] = set()
    lines = table.all_row_ids
    for span in table.spans:
        if not isinstance(span, Span) or type(span.rows) is not int or type(span.columns) is not int:
            raise TableError(phrase("a span is a Span(row id, column id, number of rows, number of columns)"))
        start = {"row": span.row, "column": span.column}
        if span.row not in lines or span.column not in table.column_ids:
            raise TableError(phrase("a span starts at {row}/{column}, which is not in this table", **start))
        first_row, first_column = lines.index(span.row), table.column_ids.index(span.column)
        if span.rows < 1 or span.columns < 1 or span.rows * span.columns < 2:
            raise TableError(phrase("the span at {row}/{column} covers no second cell", **start))
        if first_row + span.rows > len(lines) or first_column + span.columns > len(table.column_ids):
            raise TableError(phrase("the span at {row}/{column} reaches beyond the table", **start))
        rows = range(first_row, first_row + span.rows)
        for position in product(rows, range(first_column, first_column + span.columns)):
            if position in covered:
                raise TableError(phrase("the span at {row}/{column} overlaps another one", **start))
            covered.add(position)


def _check_order(order: Sequence[str], places: Mapping[str, int], what: str) -> None:
    if len(order) != len(places) or places.keys() != set(order):
        raise ValueError(gettext("an order must name every {what} of the table once").format(what=what))


def _tuple_getter(places: Sequence[int]) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
    """What takes the members at these places out of a tuple, in their order."""
    if len(places) == 1:
        return lambda row: (row[places[0]],)
    return itemgetter(*places) if places else lambda row: ()
