"""A table as the search sees it: readings of all cells, columns as numbers, rows as bits of an integer.

A choice of rows is a mask, bit i for row i, so that "all of these rows hold the gold answer" is one operation. All work
is counted here, and a part of the search that has done its share stops.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cached_property

from tableqa.cells import number_of
from tableqa.data.examples import Example
from tableqa.programs.cell_readings import (
    CellReading,
    Key,
    Kind,
    amount,
    kind_of_column,
    names,
    reading,
    year_in,
)
from tableqa.programs.layout import CellRef, Layout
from tableqa.programs.question import Question
from tableqa.programs.ranking import Ranking
from tableqa.programs.semantics import meets, rounded
from tableqa.programs.syntax import Comparison, Program, RoundedValue, Which


class StepLimitReached(Exception):
    """A part of the search has done all the work that it may."""


class SearchContext:
    """An example as the search sees it, and the work that may still be done."""

    def __init__(self, example: Example, evidence: Sequence[CellRef], steps: int) -> None:
        self.table = example.table
        self.gold = example.answers
        self.question = Question(example.question)
        self.layout = Layout(example.table, example.question, evidence)
        self.ranking = Ranking(example.table, self.question, self.layout)
        self.evidence = [cell for cell in evidence if self.layout.has(cell)]
        self.readings = [[reading(text) for text in row] for row in self.table.rows]
        self.everything = (1 << len(self.table.rows)) - 1
        self.steps = steps
        self._keys: dict[int, list[Key | None]] = {}

    def work(self, steps: int) -> None:
        """Count work done; StepLimitReached where there was too much of it."""
        self.steps -= steps
        if self.steps < 0:
            raise StepLimitReached

    # Columns

    @property
    def columns(self) -> range:
        """The places of the columns."""
        return range(len(self.table.header))

    @cached_property
    def kinds(self) -> list[Kind | None]:
        """What each column mostly holds; None for words."""
        return [kind_of_column([row[j] for row in self.table.rows]) for j in self.columns]

    def keys(self, j: int) -> list[Key | None]:
        """What the cells of a column are compared by, None where a cell is nothing of the column's kind."""
        if j not in self._keys:
            kind = self.kinds[j]
            self._keys[j] = [None if kind is None else row[j].key(kind) for row in self.readings]
        return self._keys[j]

    def number(self, i: int, j: int) -> Decimal | None:
        """The number that a cell counts as in a calculation; of a date, the year."""
        return amount(self.readings[i][j])

    # Rows

    def rows_that(self, j: int, relation: Comparison, value: CellReading) -> int:
        """The rows whose cell in a column stands in a relation to a value."""
        fits = meets(relation, value)
        mask = 0
        for i, row in enumerate(self.readings):
            if fits(row[j]):
                mask |= 1 << i
        self.work(len(self.readings))
        return mask

    def extreme(self, j: int, mask: int, which: Which) -> int:
        """The rows among these that hold the extreme value of a column."""
        keys = self.keys(j)
        best: Key | None = None
        extreme_rows = 0
        for i in bits(mask):
            key = keys[i]
            if key is None:
                continue
            if best is None or (key > best if which == "largest" else key < best):
                best, extreme_rows = key, 1 << i
            elif key == best:
                extreme_rows |= 1 << i
        self.work(mask.bit_count())
        return extreme_rows

    def groups(self, j: int, mask: int) -> dict[str, int]:
        """The rows among these by what a column holds; cells that say nothing are passed over."""
        groups: dict[str, int] = {}
        for i in bits(mask):
            seen = self.readings[i][j]
            if not seen.silent:
                groups[seen.plain] = groups.get(seen.plain, 0) | 1 << i
        self.work(mask.bit_count())
        return groups

    # The gold answer

    @cached_property
    def gold_number(self) -> Decimal | None:
        """The gold answer, if it is one number."""
        number = number_of(self.gold[0]) if len(self.gold) == 1 else None
        return None if number is None or number.fraction else number.value

    @cached_property
    def gold_cells(self) -> list[list[int]]:
        """For each column, the rows that hold each of the gold answers; an empty list where one is nowhere in it."""
        golds = [reading(answer) for answer in self.gold]
        masks_by_column = []
        for j in self.columns:
            masks = [0] * len(golds)
            for i, row in enumerate(self.readings):
                for k, gold in enumerate(golds):
                    if names(row[j], gold) or (gold.whole and row[j].number == gold.number):
                        masks[k] |= 1 << i
            masks_by_column.append(masks if all(masks) else [])
        self.work(len(golds) * len(self.readings) * len(self.columns))
        return masks_by_column

    @cached_property
    def gold_columns(self) -> list[int]:
        """The columns that hold all the gold answers."""
        return [j for j, masks in enumerate(self.gold_cells) if masks]

    @cached_property
    def gold_years(self) -> dict[int, int]:
        """Where the gold answer is one year: the rows that hold it as part of a longer text, by column."""
        rows_by_column: dict[int, int] = {}
        if len(self.gold) != 1 or year_in(self.gold[0]) != self.gold[0].strip():
            return rows_by_column
        for j in self.columns:
            for i, row in enumerate(self.table.rows):
                if row[j] != self.gold[0] and year_in(row[j]) == self.gold[0].strip():
                    rows_by_column[j] = rows_by_column.get(j, 0) | 1 << i
        self.work(len(self.readings) * len(self.columns))
        return rows_by_column

    def is_gold(self, j: int, mask: int) -> bool:
        """Whether the cells of these rows in a column are the gold answers, all of them and nothing else."""
        masks = self.gold_cells[j]
        if not masks or not mask:
            return False
        union = 0
        for answer_mask in masks:
            if not answer_mask & mask:
                return False
            union |= answer_mask
        return not mask & ~union

    def ending(self, value: Decimal) -> "ProgramEnd | None":
        """How a program with this value must end to yield the gold number; None if it cannot."""
        if self.gold_number is None:
            return None
        if value == self.gold_number:
            return ProgramEnd(None)
        number = number_of(self.gold[0])
        places = min(number.decimals, 12) if number else 0
        if (places or abs(value) >= 10) and rounded(value, places) == self.gold_number:
            return ProgramEnd(places)
        return None


class ProgramEnd:
    """The end of a program: nothing, or rounding as the gold answer is."""

    def __init__(self, places: int | None) -> None:
        self.places = places

    def of(self, program: Program) -> Program:
        """The program with this end."""
        return program if self.places is None else RoundedValue(program, self.places)  # type: ignore[arg-type]


def bits(mask: int) -> Iterator[int]:
    """The places of the rows of a mask, from the top."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
