"""What is around a cell: the words that name its row and its column, and how they go with a question.

Financial tables (TAT-QA) have empty headers, years in body rows and sections whose name is in its own row; tables
of Wikipedia have a header and names in their first columns. Both are read here, by place and never by the header's name.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache

from tableqa.cells import fold
from tableqa.data.tables import Table, default_ids
from tableqa.programs.cell_readings import amount, reading, year_in
from tableqa.programs.syntax import Cell, Year

CellRef = tuple[str, str]
"""(row id, column id)."""

_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d|21\d\d)\b")
_MOST_HEAD_ROWS = 4

_STOP_WORDS = """
a an the of in on at to for from by with and or as is was were are be been being did do does has have had that this these
those which what who whom whose when where how many much there their its it his her he she they them than then other any
all each per into over under out up down not no st nd rd th s
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that say nothing about which cells are meant."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word without the commonest English endings, so that "wins", "winning" and "win" meet."""
    if len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz" else word
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


@lru_cache(maxsize=65_536)
def words(text: str) -> tuple[str, ...]:
    """The stems of the words of a text in order; numbers without signs for thousands."""
    lower = fold(text).lower() if len(text) < 1_000 else text[:1_000].lower()
    return tuple(
        stem(word) for word in _WORD.findall(re.sub(r"(?<=\d),(?=\d{3}\b)", "", lower).replace("'s", ""))
    )


@lru_cache(maxsize=65_536)
def content_words(text: str) -> frozenset[str]:
    """The stems of the words that mean something by themselves."""
    return frozenset(word for word in words(text) if word not in STOP_WORDS)


class Layout:
    """A table seen with a question in mind."""

    def __init__(self, table: Table, question: str, evidence: Iterable[CellRef] = ()) -> None:
        self.table = table
        self.question = content_words(question)
        self.evidence = frozenset(evidence)

    @cached_property
    def head_rows(self) -> int:
        """How many rows at the top of the body only name columns: they hold words and years, and no other number.

        There are none under a header that names every column, unless their own first cell is empty.
        """
        names = [" ".join(name.split()) for name in self.table.header]
        named = all(names) and len(set(names)) == len(names)
        for i, row in enumerate(self.table.rows[:_MOST_HEAD_ROWS]):
            if any(_is_amount(text) for text in row) or (named and row and row[0].strip()):
                return i
            if i and row and row[0].strip() and any(text.strip() and not year_in(text) for text in row[1:]):
                return i
        return min(_MOST_HEAD_ROWS, len(self.table.rows))

    @cached_property
    def _column_words(self) -> list[frozenset[str]]:
        table = self.table
        lines = [*table.header_rows, table.header, *table.rows[: self.head_rows]]
        filled = [_fill_merged(line) for line in lines]
        return [
            frozenset().union(*(content_words(line[j]) for line in filled))
            for j in range(len(table.column_ids))
        ]

    def column_words(self, column: str) -> frozenset[str]:
        """The words that name a column: of its headers and of the rows at the top that go with them."""
        return self._column_words[self.table.column_index(column)]

    @cached_property
    def _row_words(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        named = []
        section: frozenset[str] = frozenset()
        for row in self.table.rows:
            label = next((text for text in row if text.strip() and not _is_amount(text)), "")
            if row and row[0].strip() and not any(text.strip() for text in row[1:]):
                section = content_words(row[0])
            named.append((content_words(label), section))
        return named

    def row_words(self, row: str) -> frozenset[str]:
        """The words that name a row: of its first text."""
        return self._row_words[self.table.row_index(row)][0]

    def affinity(self, cell: CellRef) -> float:
        """How well a cell goes with the question: from 0, the words of its row and column; and 5 more for evidence."""
        row, column = cell
        score = 5.0 if cell in self.evidence else 0.0
        score += 2 * _share(self.column_words(column), self.question)
        if row in self.table.row_ids:
            label, section = self._row_words[self.table.row_index(row)]
            score += 3 * _share(label, self.question) + 0.2 * len(label & self.question)
            score += _share(section, self.question)
        return score

    def value(self, cell: CellRef) -> Decimal | None:
        """The number of a cell as a program reads it, None if it is none."""
        return amount(reading(self.table.cell(*cell)))

    @cached_property
    def _by_size(self) -> dict[Decimal, list[tuple[CellRef, Decimal]]]:
        cells_by_size: dict[Decimal, list[tuple[CellRef, Decimal]]] = {}
        lines = [
            (self.table.header_id, self.table.header),
            *zip(self.table.row_ids, self.table.rows, strict=True),
        ]
        for row_id, row in lines:
            for column_id, text in zip(self.table.column_ids, row, strict=True):
                seen = reading(text)
                value = None if seen.dates else amount(seen)
                if value is not None:
                    cells_by_size.setdefault(abs(value), []).append(((row_id, column_id), value))
        return cells_by_size

    def cells_with(self, size: Decimal) -> Sequence[tuple[CellRef, Decimal]]:
        """The cells whose number is `size` or its negative, each with its number."""
        return self._by_size.get(size, ())

    def later(self, cell: CellRef, other: CellRef) -> int:
        """1 if the year that names a cell is after the other's, -1 if it is before, 0 if neither."""
        year, other_year = self._year(cell), self._year(other)
        return (year > other_year) - (year < other_year) if year and other_year else 0

    def _year(self, cell: CellRef) -> int:
        row, column = cell
        names = self.column_words(column)
        if row in self.table.row_ids:
            names = names | self.row_words(row)
        years = [int(match) for word in names for match in _YEAR.findall(word)]
        return years[0] if len(years) == 1 else 0

    def lines_with(self, sizes: Sequence[Decimal]) -> Iterator[list[CellRef]]:
        """The cells of one row, or of one column, that hold these numbers, sign aside; the best lines first."""
        scored_lines: list[tuple[float, list[CellRef]]] = []
        for axis in (0, 1):
            lines = [{cell[axis] for cell, _ in self.cells_with(size)} for size in sizes]
            for line in set.intersection(*lines):
                cells = [
                    max((cell for cell, _ in self.cells_with(size) if cell[axis] == line), key=self.affinity)
                    for size in sizes
                ]
                if len(set(cells)) == len(cells):
                    scored_lines.append((sum(map(self.affinity, cells)), cells))
        for _, cells in sorted(scored_lines, key=lambda entry: -entry[0]):
            yield cells

    def has(self, cell: CellRef) -> bool:
        """Whether the table has a cell, the header's among them."""
        row, column = cell
        return column in self.table.column_ids and (row in self.table.row_ids or row == self.table.header_id)

    def in_order(self, cells: Iterable[CellRef]) -> list[CellRef]:
        """Cells in the order in which the table is read."""
        rows = {row: i for i, row in enumerate((self.table.header_id, *self.table.row_ids))}
        return sorted(cells, key=lambda cell: (rows[cell[0]], self.table.column_index(cell[1])))

    def labels(self, cells: Sequence[CellRef]) -> Iterator[list[Cell | Year]]:
        """What may name each of these: the cells above them in one row, or beside them in one column; or their years."""
        table = self.table
        rows, columns = [row for row, _ in cells], [column for _, column in cells]
        if len(set(rows)) == 1:
            above = [*default_ids("h", len(table.header_rows)), table.header_id]
            if rows[0] in table.row_ids:
                above += table.row_ids[: min(self.head_rows, table.row_index(rows[0]))]
            for row in reversed(above):
                yield from self._named([(row, column) for column in columns])
        elif len(set(columns)) == 1:
            for column in table.column_ids:
                if column != columns[0]:
                    yield from self._named([(row, column) for row in rows])

    def _named(self, labels: list[CellRef]) -> Iterator[list[Cell | Year]]:
        texts = [self.text(label) for label in labels]
        if all(text.strip() for text in texts) and len(set(texts)) > 1:
            yield [Cell(*label) for label in labels]
            years = [year_in(text) for text in texts]
            if all(years) and years != texts:
                yield [Year(Cell(*label)) for label in labels]

    def text(self, cell: CellRef) -> str:
        """The text of a cell, further header rows included."""
        row, column = cell
        above = default_ids("h", len(self.table.header_rows))
        if row in above:
            return self.table.header_rows[above.index(row)][self.table.column_index(column)]
        return self.table.cell(row, column)


def _is_amount(text: str) -> bool:
    """Whether a text is a number and not a year."""
    seen = reading(text)
    return seen.number is not None and seen.whole and not _YEAR.fullmatch(text.strip())


def _share(label: frozenset[str], question: frozenset[str]) -> float:
    return len(label & question) / len(label) if label else 0.0


def _fill_merged(line: Sequence[str]) -> list[str]:
    """A row of headers with its merged cells filled: a name holds for the empty cells to its right."""
    filled, last = [], ""
    for j, text in enumerate(line):
        if text.strip():
            last = text
        filled.append(text if j == 0 or text.strip() else last)
    return filled
