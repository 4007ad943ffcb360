"""Words, rows and conditions of one table for questions about it, with the derivation of each question."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from predictor.bundled.cell_text import DATE, NOTHING, NUMBER, TIME
from predictor.bundled.table_features import TableReading
from predictor.training.supervision import Supervision
from tableqa.cells import fold, without_details, without_notes

Rows = list[int]


@dataclass(frozen=True)
class SyntheticQuestion:
    """A question and its one derivation, in rows of the table.

    "select", "year": any of `cells`; "list", "count", "different", "sum", "average": `rows`, and `column` but for a
    count; "difference": the two `cells`; "yes", "no": nothing more.
    """

    question: str
    operation: str
    cells: tuple[tuple[int, int], ...] = ()
    rows: tuple[int, ...] = ()
    column: int = -1

    def supervision(self, visible_rows: np.ndarray, width: int) -> Supervision | None:
        """The derivation in the rows that the network sees; None where they lack one of its own."""
        index_of = {int(row): index for index, row in enumerate(visible_rows)}
        rows = [row for row, _ in self.cells] or list(self.rows)
        if not all(row in index_of for row in rows):
            return None
        flat = [index_of[row] * width + column for row, column in self.cells]
        out = Supervision()
        if self.operation in ("select", "year"):
            out.cells = {(self.operation, index): 1.0 for index in flat}
        elif self.operation == "difference":
            out.pairs = {(min(flat), max(flat)): 1.0}
        elif self.operation in ("yes", "no"):
            out.flags = {self.operation: 1.0}
        else:
            chosen = tuple(index_of[row] for row in self.rows)
            out.masks = {(self.operation, self.column, chosen): 1.0}
        return out


class Impossible(Exception):
    """This template makes no question about this table; another one is tried."""


class QuestionTable:
    """A table with rows, columns and words for questions about it. Raises Impossible for one without a key."""

    def __init__(self, reading: TableReading, rng: Random) -> None:
        self.reading, self.rng = reading, rng
        height = len(reading.numbers)
        self.live = [row for row in range(height) if not reading.totals[row]]
        self.names = [self._header(name) for name in reading.table.header[: reading.columns]]
        self.numeric: list[int] = []
        self.dated: list[int] = []
        self.keys: list[int] = []
        self.kinds: list[int] = []
        for column in range(reading.columns):
            if self.names[column]:
                self._classify(column)
        if not self.keys or len(self.live) < 3:
            raise Impossible
        self.key = rng.choice(self.keys[:3])
        self.rows = [row for row in self.live if self.has_text(row, self.key)]
        if len(self.rows) < 3:
            raise Impossible

    def _classify(self, column: int) -> None:
        live, numbers = self.live, self.reading.numbers[:, column]
        numeric_rows = [row for row in live if not np.isnan(numbers[row])]
        different = len({int(self.reading.codes[row, column]) for row in live})
        filled = [row for row in live if self.has_text(row, column)]
        if len(numeric_rows) >= 0.8 * len(live) and different > 2:
            years = all(1000 <= numbers[row] <= 2100 for row in numeric_rows)
            kinds = self.reading.kinds[numeric_rows, column]
            if years or (kinds == DATE).sum() > len(numeric_rows) / 2:
                self.dated.append(column)
                if different > 0.8 * len(live):
                    self.keys.append(column)
                return
            if np.isin(kinds, (NUMBER, TIME)).sum() > 0.8 * len(numeric_rows):
                self.numeric.append(column)
                return
        if len(filled) >= 0.8 * len(live):
            if different > 0.7 * len(live):
                self.keys.insert(0, column)
            if 1 < different <= 0.8 * len(live):
                self.kinds.append(column)

    def _header(self, name: str) -> str:
        text = without_details(without_notes(" ".join(fold(name).lower().split())))
        return text if len(text) < 40 and any(letter.isalpha() for letter in text) else ""

    def has_text(self, row: int, column: int) -> bool:
        cell = self.reading.readings[row][column]
        return cell.normal not in NOTHING and cell.length < 45

    def choose(self, *choices: Any) -> Any:
        return self.rng.choice(choices)

    def word(self, is_first: bool, words: str, others: str) -> str:
        """One of the words, else of the others; both are separated by commas."""
        return str(self.choose(*(words if is_first else others).split(", ")))

    def pick(self, choices: Sequence[Any]) -> Any:
        if not choices:
            raise Impossible
        return self.rng.choice(choices)

    def text(self, row: int, column: int) -> str:
        """How a question would write the cell."""
        text = " ".join(without_notes(fold(self.reading.table.rows[row][column])).lower().split())
        bare = without_details(text)
        return bare if self.rng.random() < 0.6 else text

    def name(self, column: int) -> str:
        name = self.names[column]
        if self.rng.random() < 0.25 and name[-1:].isalpha() and not name.endswith("s"):
            name += "s"
        elif self.rng.random() < 0.15 and name.endswith("s") and len(name) > 4:
            name = name[:-1]
        return name

    def row_noun(self) -> str:
        """What the rows are about."""
        if self.rng.random() < 0.8:
            return self.name(self.key)
        return str(self.choose("people", "entries", "ones", "of them"))

    def measured_column(self) -> int:
        """A column of numbers or dates beside the key."""
        return int(self.pick([column for column in self.numeric + self.dated if column != self.key]))

    def punctuate(self, text: str) -> str:
        return text + self.choose("?", "?", "?", "", ".")

    def question(
        self,
        operation: str,
        *templates: str,
        cells: tuple[tuple[int, int], ...] = (),
        rows: Sequence[int] = (),
        column: int = -1,
    ) -> SyntheticQuestion:
        """A question in the words of one of the templates, with blanks closed without a condition."""
        text = self.punctuate(" ".join(self.choose(*templates).split()))
        return SyntheticQuestion(text, operation, cells, tuple(rows), column)

    def rows_like(self, column: int, row: int) -> Rows:
        code = self.reading.codes[row, column]
        return [other for other in self.live if self.reading.codes[other, column] == code]

    def number(self, row: int, column: int) -> float:
        return float(self.reading.numbers[row, column])

    def rows_with_number(self, column: int, rows: Rows | None = None) -> Rows:
        rows = self.live if rows is None else rows
        return [row for row in rows if not np.isnan(self.reading.numbers[row, column])]

    def subject(self) -> tuple[int, str]:
        """A row that its key names alone."""
        row = self.pick(self.rows)
        if len(self.rows_like(self.key, row)) != 1:
            raise Impossible
        return row, self.text(row, self.key)

    def two_subjects(self) -> tuple[int, int]:
        first, second = self.subject()[0], self.subject()[0]
        if first == second:
            raise Impossible
        return first, second

    def condition(self, most: float = 0.9) -> tuple[str, Rows]:
        """Words for a choice of rows, and the rows: at least one, and not all."""
        conditions = (
            [_text_condition] * 5 * bool(self.kinds)
            + [_number_condition] * 4 * bool(self.numeric)
            + [_time_condition] * 3 * bool(self.dated)
        )
        phrase, rows = self.pick(conditions)(self)
        if self.rng.random() < 0.15:
            more, others = self.pick(conditions)(self)
            if phrase.split()[:2] != more.split()[:2]:
                phrase, rows = f"{phrase} {self.choose('and', '')} {more}", sorted({*rows} & {*others})
        if not 1 <= len(rows) <= most * len(self.live):
            raise Impossible
        return phrase, rows


# -- conditions --------------------------------------------------------------------------------------------


def _text_condition(table: QuestionTable) -> tuple[str, Rows]:
    column = table.pick([column for column in table.kinds if column != table.key])
    row = table.pick([row for row in table.live if table.has_text(row, column)])
    value, name = table.text(row, column), table.name(column)
    phrase = table.choose(
        f"with {name} {value}",
        f"from {value}",
        f"in {value}",
        f"with a {name} of {value}",
        f"that are {value}",
        f"whose {name} is {value}",
        f"where {name} is {value}",
        f"for {value}",
        f"with {value} as {name}",
        f"by {value}",
        f"in the {value} {name}",
    )
    return phrase, table.rows_like(column, row)


_RELATIONS = (
    (operator.gt, ("more than", "over", "greater than", "above", "higher than")),
    (operator.lt, ("less than", "under", "fewer than", "below", "lower than")),
    (operator.ge, ("at least", "no less than", "{} or more")),
    (operator.le, ("at most", "no more than", "{} or less")),
    (operator.eq, ("", "exactly")),
)


def _number_condition(table: QuestionTable) -> tuple[str, Rows]:
    column = table.pick(table.numeric)
    rows = table.rows_with_number(column)
    limit = table.number(table.pick(rows), column)
    if table.rng.random() < 0.4 and abs(limit) >= 20:
        size = 10 ** (len(str(int(abs(limit)))) - 1)
        limit = round(limit / size) * size
    holds, phrases = table.choose(*_RELATIONS)
    limit_text = f"{limit:g}" if abs(limit) < 1e5 else f"{limit:.0f}"
    if abs(limit) >= 1000 and limit == int(limit) and table.rng.random() < 0.5:
        limit_text = f"{int(limit):,}"
    template = table.choose(*phrases)
    amount = template.format(limit_text) if "{}" in template else f"{template} {limit_text}".strip()
    name = table.name(column)
    phrase = table.choose(
        f"with {amount} {name}",
        f"with a {name} of {amount}",
        f"that had {amount} {name}",
        f"whose {name} is {amount}",
        f"having {amount} {name}",
        f"with {name} {amount}",
    )
    return phrase, [row for row in rows if holds(table.number(row, column), limit)]


def _time_condition(table: QuestionTable) -> tuple[str, Rows]:
    column = table.pick(table.dated)
    rows = table.rows_with_number(column)
    year = int(table.number(table.pick(rows), column))
    if not 1000 <= year <= 2100:
        raise Impossible
    when = {row: int(table.number(row, column)) for row in rows}
    other = int(table.number(table.pick(rows), column))
    low, high = min(year, other), max(year, other)
    kind = table.choose("in", "in", "before", "after", "since", "between")
    if kind == "between":
        if low == high:
            raise Impossible
        phrase = table.choose(f"between {low} and {high}", f"from {low} to {high}")
        return phrase, [row for row in rows if low <= when[row] <= high]
    phrase = table.choose(f"{kind} {year}", f"{kind} the year {year}")
    holds = {"in": year.__eq__, "before": year.__gt__, "after": year.__lt__, "since": year.__le__}[kind]
    return phrase, [row for row in rows if holds(when[row])]


Templates = dict[Callable[[QuestionTable], SyntheticQuestion], float]
"""How often each template of questions is tried; some are seldom possible."""
