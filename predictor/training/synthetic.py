"""Questions made from tables by templates, each with the derivation it was made by.

Gold answers teach the rare operations badly: a sum is right once in fifty questions and often by chance. A made
question says exactly which rows are added up. The words are plain on purpose; real questions teach the wording. Only the
tables that are given are used, so a table of the development set never comes in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from predictor.bundled.decode import year_in
from predictor.bundled.cell_text import NOTHING
from predictor.bundled.table_features import TableReading
from predictor.training.supervision import Supervision
from tableqa.cells import fold, without_details, without_notes
from tableqa.data.tables import Table

MOST_ROWS = 90
"""Rows of the tables that questions are made from."""


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


class _Impossible(Exception):
    """This kind of question cannot be made from this table; another one is tried."""


def generate_questions(
    tables: Sequence[Table], reading: Callable[[Table], TableReading], count: int, seed: int
) -> Iterator[tuple[TableReading, SyntheticQuestion]]:
    """`count` questions about tables drawn from `tables`; fewer where most tables give none."""
    rng = Random(seed)
    usable = [table for table in tables if 3 <= len(table.rows) <= MOST_ROWS and len(table.header) >= 2]
    kinds, weights = list(_KINDS), list(_KINDS.values())
    tries = yielded = 0
    while usable and yielded < count and tries < 40 * count:
        tries += 1
        table = reading(rng.choice(usable))
        try:
            asker = _QuestionBuilder(table, rng)
            question = rng.choices(kinds, weights)[0](asker)
        except _Impossible:
            continue
        yielded += 1
        yield table, question


Rows = list[int]


class _QuestionBuilder:
    """Rows, columns and words of one table for questions about it. Raises _Impossible for a table without a key."""

    def __init__(self, table: TableReading, rng: Random) -> None:
        self.table, self.rng = table, rng
        height = len(table.numbers)
        self.live = [row for row in range(height) if not table.totals[row]]
        self.names = [self._header(name) for name in table.table.header[: table.columns]]
        self.numeric: list[int] = []
        self.dated: list[int] = []
        self.keys: list[int] = []
        self.kinds: list[int] = []
        for column in range(table.columns):
            if self.names[column]:
                self._sort(column)
        if not self.keys or len(self.live) < 3:
            raise _Impossible
        self.key = rng.choice(self.keys[:3])
        self.rows = [row for row in self.live if self.says(row, self.key)]
        if len(self.rows) < 3:
            raise _Impossible

    def _sort(self, column: int) -> None:
        live, numbers = self.live, self.table.numbers[:, column]
        numeric_rows = [row for row in live if not np.isnan(numbers[row])]
        different = len({int(self.table.codes[row, column]) for row in live})
        says = [row for row in live if self.says(row, column)]
        if len(numeric_rows) >= 0.8 * len(live) and different > 2:
            years = all(1000 <= numbers[row] <= 2100 for row in numeric_rows)
            dates = (
                sum(int(self.table.kinds[row, column] == 2) for row in numeric_rows) > len(numeric_rows) / 2
            )
            if years or dates:
                self.dated.append(column)
                if different > 0.8 * len(live):
                    self.keys.append(column)
                return
            if sum(int(self.table.kinds[row, column] in (1, 3)) for row in numeric_rows) > 0.8 * len(
                numeric_rows
            ):
                self.numeric.append(column)
                return
        if len(says) >= 0.8 * len(live):
            if different > 0.7 * len(live):
                self.keys.insert(0, column)
            if 1 < different <= 0.8 * len(live):
                self.kinds.append(column)

    def _header(self, name: str) -> str:
        text = without_details(without_notes(" ".join(fold(name).lower().split())))
        return text if len(text) < 40 and any(letter.isalpha() for letter in text) else ""

    def says(self, row: int, column: int) -> bool:
        reading = self.table.readings[row][column]
        return reading.normal not in NOTHING and reading.length < 45

    # Words ---------------------------------------------------------------------------------------------------

    def one(self, *choices: Any) -> Any:
        return self.rng.choice(choices)

    def pick(self, choices: Sequence[Any]) -> Any:
        if not choices:
            raise _Impossible
        return self.rng.choice(choices)

    def text(self, row: int, column: int) -> str:
        """How a question would write the cell."""
        text = " ".join(without_notes(fold(self.table.table.rows[row][column])).lower().split())
        bare = without_details(text)
        return bare if self.rng.random() < 0.6 else text

    def name(self, column: int) -> str:
        name = self.names[column]
        if self.rng.random() < 0.25 and name[-1:].isalpha() and not name.endswith("s"):
            name += "s"
        elif self.rng.random() < 0.15 and name.endswith("s") and len(name) > 4:
            name = name[:-1]
        return name

    def thing(self) -> str:
        """What the rows are about."""
        return (
            self.name(self.key)
            if self.rng.random() < 0.8
            else self.one("people", "entries", "ones", "of them")
        )

    def end(self, text: str) -> str:
        return text + self.one("?", "?", "?", "", ".")

    def same(self, column: int, row: int) -> Rows:
        code = self.table.codes[row, column]
        return [other for other in self.live if self.table.codes[other, column] == code]

    def number(self, row: int, column: int) -> float:
        return float(self.table.numbers[row, column])

    def known(self, column: int, rows: Rows | None = None) -> Rows:
        return [
            row
            for row in (self.live if rows is None else rows)
            if not np.isnan(self.table.numbers[row, column])
        ]

    def subject(self) -> tuple[int, str]:
        """A row that its key names alone."""
        row = self.pick(self.rows)
        if len(self.same(self.key, row)) != 1:
            raise _Impossible
        return row, self.text(row, self.key)

    def two(self) -> tuple[int, int]:
        first, second = self.subject()[0], self.subject()[0]
        if first == second:
            raise _Impossible
        return first, second

    # Conditions ----------------------------------------------------------------------------------------------

    def condition(self, most: float = 0.9) -> tuple[str, Rows]:
        """Words for a choice of rows, and the rows: at least one, and not all."""
        kinds = (
            ["equal"] * 5 * bool(self.kinds)
            + ["amount"] * 4 * bool(self.numeric)
            + ["time"] * 3 * bool(self.dated)
        )
        words, rows = getattr(self, "_" + self.pick(kinds))()
        if self.rng.random() < 0.15:
            more, others = getattr(self, "_" + self.pick(kinds))()
            if words.split()[:2] != more.split()[:2]:
                words, rows = (
                    f"{words} {self.one('and', '')} {more}".replace("  ", " "),
                    sorted({*rows} & {*others}),
                )
        if not 1 <= len(rows) <= most * len(self.live):
            raise _Impossible
        return words, rows

    def _equal(self) -> tuple[str, Rows]:
        column = self.pick([column for column in self.kinds if column != self.key])
        row = self.pick([row for row in self.live if self.says(row, column)])
        value, name = self.text(row, column), self.name(column)
        words = self.one(
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
        return words, self.same(column, row)

    def _amount(self) -> tuple[str, Rows]:
        column = self.pick(self.numeric)
        rows = self.known(column)
        limit = self.number(self.pick(rows), column)
        if self.rng.random() < 0.4 and abs(limit) >= 20:
            size = 10 ** (len(str(int(abs(limit)))) - 1)
            limit = round(limit / size) * size
        relation = self.one(">", "<", ">=", "<=", "=")
        holds = {
            ">": lambda value: value > limit,
            "<": lambda value: value < limit,
            ">=": lambda value: value >= limit,
            "<=": lambda value: value <= limit,
            "=": lambda value: value == limit,
        }[relation]
        phrases = {
            ">": ("more than", "over", "greater than", "above", "higher than"),
            "<": ("less than", "under", "fewer than", "below", "lower than"),
            ">=": ("at least", "no less than", "{} or more"),
            "<=": ("at most", "no more than", "{} or less"),
            "=": ("", "exactly"),
        }[relation]
        number = f"{limit:g}" if abs(limit) < 1e5 else f"{limit:.0f}"
        if abs(limit) >= 1000 and limit == int(limit) and self.rng.random() < 0.5:
            number = f"{int(limit):,}"
        word = self.one(*phrases)
        amount = word.format(number) if "{}" in word else f"{word} {number}".strip()
        name = self.name(column)
        words = self.one(
            f"with {amount} {name}",
            f"with a {name} of {amount}",
            f"that had {amount} {name}",
            f"whose {name} is {amount}",
            f"having {amount} {name}",
            f"with {name} {amount}",
        )
        return words, [row for row in rows if holds(self.number(row, column))]

    def _time(self) -> tuple[str, Rows]:
        column = self.pick(self.dated)
        rows = self.known(column)
        year = int(self.number(self.pick(rows), column))
        if not 1000 <= year <= 2100:
            raise _Impossible
        when = {row: int(self.number(row, column)) for row in rows}
        other = int(self.number(self.pick(rows), column))
        low, high = min(year, other), max(year, other)
        kind = self.one("in", "in", "before", "after", "since", "between")
        if kind == "between":
            if low == high:
                raise _Impossible
            words = self.one(f"between {low} and {high}", f"from {low} to {high}")
            return words, [row for row in rows if low <= when[row] <= high]
        words = self.one(f"{kind} {year}", f"{kind} the year {year}")
        holds = {"in": year.__eq__, "before": year.__gt__, "after": year.__lt__, "since": year.__le__}[kind]
        return words, [row for row in rows if holds(when[row])]


# -- kinds: cells -----------------------------------------------------------------------------------------


def _look_up(asker: _QuestionBuilder) -> SyntheticQuestion:
    row, subject = asker.subject()
    column = asker.pick(
        [c for c in range(asker.table.columns) if c != asker.key and asker.names[c] and asker.says(row, c)]
    )
    name = asker.name(column)
    question = asker.one(
        f"what is the {name} of {subject}",
        f"what {name} did {subject} have",
        f"which {name} is listed for {subject}",
        f"{subject} has what {name}",
        f"what was {subject}'s {name}",
        f"name the {name} for {subject}",
        f"when {asker.name(asker.key)} is {subject}, what is the {name}",
        f"how many {name} does {subject} have",
        f"what {name} was {subject}",
    )
    return SyntheticQuestion(asker.end(question), "select", ((row, column),))


def _who(asker: _QuestionBuilder) -> SyntheticQuestion:
    words, rows = asker.condition()
    if len(rows) != 1:
        raise _Impossible
    name = asker.name(asker.key)
    question = asker.one(
        f"which {name} {words}",
        f"what is the only {name} {words}",
        f"who is the {name} {words}",
        f"what {name} is listed {words}",
        f"name the {name} {words}",
    )
    return SyntheticQuestion(asker.end(question), "select", ((rows[0], asker.key),))


def _best(asker: _QuestionBuilder) -> tuple[str, int, int, str]:
    """(superlative, row, column, condition) of an extreme, maybe among some rows only."""
    column = asker.pick([column for column in asker.numeric + asker.dated if column != asker.key])
    words, rows = "", asker.rows
    if asker.rng.random() < 0.35:
        words, rows = asker.condition()
    rows = [row for row in asker.known(column, rows) if asker.says(row, asker.key)]
    if len(rows) < 2 or (not words and len(rows) < 3):
        raise _Impossible
    high = asker.rng.random() < 0.55
    values = sorted({asker.number(row, column) for row in rows}, reverse=high)
    second = asker.rng.random() < 0.08 and len(values) > 2
    best = [row for row in rows if asker.number(row, column) == values[int(second)]]
    if len(best) > 1:
        raise _Impossible
    if column in asker.dated:
        superlative = (
            asker.one("latest", "most recent", "last", "newest")
            if high
            else asker.one("earliest", "first", "oldest")
        )
    elif high:
        superlative = asker.one("highest", "most", "largest", "greatest", "top", "biggest", "best", "longest")
    else:
        superlative = asker.one("lowest", "least", "smallest", "fewest", "shortest", "worst")
    return f"{'second ' if second else ''}{superlative}", best[0], column, words


def _superlative(asker: _QuestionBuilder) -> SyntheticQuestion:
    superlative, row, column, words = _best(asker)
    key, name = asker.name(asker.key), asker.name(column)
    question = asker.one(
        f"which {key} {words} has the {superlative} {name}",
        f"who had the {superlative} {name} {words}",
        f"what {key} received the {superlative} {name} {words}",
        f"the {superlative} {name} belongs to which {key} {words}",
        f"which {key} {words} is {superlative} in {name}",
        f"who was the {superlative} {words}"
        if column in asker.dated
        else f"what {key} {words} had the {superlative} number of {name}",
        f"which {key} {words} had the {superlative} {name}",
    )
    return SyntheticQuestion(asker.end(" ".join(question.split())), "select", ((row, asker.key),))


def _extreme_value(asker: _QuestionBuilder) -> SyntheticQuestion:
    superlative, row, column, words = _best(asker)
    name = asker.name(column)
    question = asker.one(
        f"what is the {superlative} {name} {words}",
        f"what was the {superlative} {name} {words}",
        f"{superlative} {name} {words}",
        f"what is the {superlative} number of {name} {words}",
    )
    return SyntheticQuestion(asker.end(" ".join(question.split())), "select", ((row, column),))


def _neighbour(asker: _QuestionBuilder) -> SyntheticQuestion:
    row, subject = asker.subject()
    after = asker.rng.random() < 0.5
    other = row + (1 if after else -1)
    if other not in asker.rows:
        raise _Impossible
    key = asker.name(asker.key)
    words = (
        (
            f"is listed after {subject}",
            f"comes next after {subject}",
            f"came immediately after {subject}",
            f"follows {subject}",
            f"is next after {subject}",
            f"is below {subject}",
            f"was after {subject}",
        )
        if after
        else (
            f"is listed before {subject}",
            f"comes right before {subject}",
            f"came immediately before {subject}",
            f"precedes {subject}",
            f"is previous to {subject}",
            f"is above {subject}",
            f"was before {subject}",
        )
    )
    return SyntheticQuestion(
        asker.end(f"{asker.one('which', 'what', 'the')} {key} {asker.one(*words)}"),
        "select",
        ((other, asker.key),),
    )


def _listed_position(asker: _QuestionBuilder) -> SyntheticQuestion:
    words, rows = "", asker.rows
    if asker.rng.random() < 0.4:
        words, rows = asker.condition()
    rows = [row for row in rows if asker.says(row, asker.key)]
    if len(rows) < 2:
        raise _Impossible
    key = asker.name(asker.key)
    if not words and asker.rng.random() < 0.15 and len(rows) > 4 and rows[:5] == list(range(5)):
        index = asker.rng.randrange(1, 5)
        ordinal = ("first", "second", "third", "fourth", "fifth")[index]
        question = asker.one(f"what is the {ordinal} {key} listed", f"who is the {ordinal} {key} on the list")
        return SyntheticQuestion(asker.end(question), "select", ((rows[index], asker.key),))
    first = asker.rng.random() < 0.55
    row = rows[0] if first else rows[-1]
    ordinal = asker.one("first", "top") if first else asker.one("last", "final", "bottom")
    question = asker.one(
        f"what is the {ordinal} {key} {words} listed",
        f"who was the {ordinal} {key} {words} on the list",
        f"which {key} {words} is at the {'top' if first else 'bottom'} of the table",
        f"what is the {ordinal} {key} {words}",
        f"what was the {ordinal} {key} {words} on this chart",
    )
    return SyntheticQuestion(asker.end(" ".join(question.split())), "select", ((row, asker.key),))


def _compare_two(asker: _QuestionBuilder) -> SyntheticQuestion:
    first_row, second_row = asker.two()
    column = asker.pick([column for column in asker.numeric + asker.dated if column != asker.key])
    values = [asker.number(row, column) for row in (first_row, second_row)]
    if np.isnan(values).any() or values[0] == values[1]:
        raise _Impossible
    high, low = (first_row, second_row) if values[0] > values[1] else (second_row, first_row)
    a, b, key, name = (
        asker.text(first_row, asker.key),
        asker.text(second_row, asker.key),
        asker.name(asker.key),
        asker.name(column),
    )
    if column in asker.dated:
        late = asker.rng.random() < 0.5
        comparative = (
            asker.one("later", "more recent", "last") if late else asker.one("first", "earlier", "before")
        )
        question = asker.one(
            f"which came {comparative}, {a} or {b}",
            f"who was {comparative}, {a} or {b}",
            f"was {a} or {b} {comparative}",
        )
        return SyntheticQuestion(asker.end(question), "select", ((high if late else low, asker.key),))
    up = asker.rng.random() < 0.6
    comparative = (
        asker.one("more", "a higher", "a greater", "the most")
        if up
        else asker.one("less", "a lower", "fewer", "the least")
    )
    question = asker.one(
        f"who had {comparative} {name}, {a} or {b}",
        f"which {key} has {comparative} {name}, {a} or {b}",
        f"did {a} or {b} have {comparative} {name}",
        f"{a} or {b}, which has {comparative} {name}",
    )
    return SyntheticQuestion(asker.end(question), "select", ((high if up else low, asker.key),))


def _most_common(asker: _QuestionBuilder) -> SyntheticQuestion:
    column = asker.pick(asker.kinds)
    counts: dict[int, Rows] = {}
    for row in asker.live:
        if asker.says(row, column):
            counts.setdefault(int(asker.table.codes[row, column]), []).append(row)
    most = asker.rng.random() < 0.8
    best = (max if most else min)(len(rows) for rows in counts.values())
    groups = [rows for rows in counts.values() if len(rows) == best]
    if len(groups) != 1 or len(counts) < 2:
        raise _Impossible
    name, key = asker.name(column), asker.name(asker.key)
    frequency = (
        asker.one("the most", "most often", "most frequently")
        if most
        else asker.one("the least", "least often")
    )
    question = asker.one(
        f"which {name} appears {frequency}",
        f"which {name} is listed {frequency}",
        f"what {name} occurs {frequency}",
        f"which {name} has {frequency.replace(' often', '')} {key}",
        f"what {name} shows up {frequency}",
    )
    return SyntheticQuestion(asker.end(question), "select", tuple((row, column) for row in groups[0]))


def _same_as(asker: _QuestionBuilder) -> SyntheticQuestion:
    row, subject = asker.subject()
    column = asker.pick([c for c in (*asker.kinds, *asker.numeric) if c != asker.key])
    rows = [other for other in asker.same(column, row) if other != row and asker.says(other, asker.key)]
    if not asker.says(row, column) or not rows or len(rows) > 4:
        raise _Impossible
    key, name = asker.name(asker.key), asker.name(column)
    question = asker.one(
        f"which other {key} has the same {name} as {subject}",
        f"who has the same {name} as {subject}",
        f"besides {subject}, which {key} has the same {name}",
        f"what {key} shares its {name} with {subject}",
    )
    if len(rows) == 1:
        return SyntheticQuestion(asker.end(question), "select", ((rows[0], asker.key),))
    return SyntheticQuestion(asker.end(question), "list", rows=tuple(rows), column=asker.key)


def _which_year(asker: _QuestionBuilder) -> SyntheticQuestion:
    row, subject = asker.subject()
    column = asker.pick([column for column in asker.dated if column != asker.key])
    if not year_in(asker.table.table.rows[row][column]):
        raise _Impossible
    question = asker.one(
        f"in what year was {subject}",
        f"what year did {subject} take place",
        f"which year was {subject}",
        f"what is the year of {subject}",
    )
    return SyntheticQuestion(asker.end(question), "year", ((row, column),))


# -- kinds: rows ------------------------------------------------------------------------------------------


def _count(asker: _QuestionBuilder) -> SyntheticQuestion:
    words, rows = asker.condition(1.0)
    thing = asker.thing()
    question = asker.one(
        f"how many {thing} {words}",
        f"how many {thing} are there {words}",
        f"what is the number of {thing} {words}",
        f"how many {thing} were {words}",
        f"what is the total number of {thing} {words}",
        f"how many were {words}",
        f"how many times is {words}",
        f"how many had {words.removeprefix('with ').removeprefix('that had ')}",
    )
    return SyntheticQuestion(asker.end(question), "count", rows=tuple(rows))


def _count_all(asker: _QuestionBuilder) -> SyntheticQuestion:
    name = asker.name(asker.key)
    question = asker.one(
        f"how many {name} are there",
        f"how many {name} are listed",
        f"how many {name} are in the table",
        f"what is the total number of {name}",
        f"total number of {name} listed",
        f"how many {name} in all",
        f"how many total {name} are there",
    )
    return SyntheticQuestion(asker.end(question), "count", rows=tuple(asker.live))


def _count_beside(asker: _QuestionBuilder) -> SyntheticQuestion:
    row, subject = asker.subject()
    before = asker.rng.random() < 0.5
    rows = [other_row for other_row in asker.live if (other_row < row if before else other_row > row)]
    if not rows:
        raise _Impossible
    preposition = (
        asker.one("before", "above", "ahead of", "prior to")
        if before
        else asker.one("after", "below", "following")
    )
    name = asker.name(asker.key)
    question = asker.one(
        f"how many {name} are listed {preposition} {subject}",
        f"how many {name} come {preposition} {subject}",
        f"how many were {preposition} {subject}",
    )
    return SyntheticQuestion(asker.end(question), "count", rows=tuple(rows))


def _count_against(asker: _QuestionBuilder) -> SyntheticQuestion:
    row, subject = asker.subject()
    column = asker.pick(asker.numeric)
    value = asker.number(row, column)
    more = asker.rng.random() < 0.55
    rows = [
        r
        for r in asker.known(column)
        if (asker.number(r, column) > value if more else asker.number(r, column) < value)
    ]
    if np.isnan(value) or not rows:
        raise _Impossible
    comparative = asker.one("more", "a higher", "greater") if more else asker.one("less", "a lower", "fewer")
    question = asker.one(
        f"how many {asker.name(asker.key)} had {comparative} {asker.name(column)} than {subject}",
        f"how many have {comparative} {asker.name(column)} than {subject}",
    )
    return SyntheticQuestion(asker.end(question), "count", rows=tuple(rows))


def _different(asker: _QuestionBuilder) -> SyntheticQuestion:
    column = asker.pick(asker.kinds)
    rows, words = [row for row in asker.live if asker.says(row, column)], ""
    if asker.rng.random() < 0.3:
        words, chosen = asker.condition()
        rows = [row for row in rows if row in set(chosen)]
    if len(rows) < 2:
        raise _Impossible
    name = asker.name(column)
    question = asker.one(
        f"how many different {name} are there {words}",
        f"how many unique {name} are listed {words}",
        f"how many distinct {name} {words}",
        f"how many {name} are represented {words}",
        f"how many different {name} {words}",
    )
    return SyntheticQuestion(
        asker.end(" ".join(question.split())), "different", rows=tuple(rows), column=column
    )


def _listing(asker: _QuestionBuilder) -> SyntheticQuestion:
    words, rows = asker.condition()
    rows = [row for row in rows if asker.says(row, asker.key)]
    if not 2 <= len(rows) <= 6:
        raise _Impossible
    name = asker.name(asker.key)
    question = asker.one(
        f"which {name} are {words}",
        f"what are the {name} {words}",
        f"name all {name} {words}",
        f"list the {name} {words}",
        f"which {name} {words}",
        f"name the {name} {words}",
    )
    return SyntheticQuestion(asker.end(question), "list", rows=tuple(rows), column=asker.key)


def _total(asker: _QuestionBuilder) -> SyntheticQuestion:
    column = asker.pick([column for column in asker.numeric if column != asker.key])
    name, key = asker.name(column), asker.name(asker.key)
    average = asker.rng.random() < 0.4
    kind = asker.rng.random()
    if kind < 0.3:
        first_row, second_row = asker.two()
        if len(rows := asker.known(column, [first_row, second_row])) != 2:
            raise _Impossible
        a, b = asker.text(first_row, asker.key), asker.text(second_row, asker.key)
        if average:
            question = asker.one(
                f"what is the average {name} of {a} and {b}", f"average {name} for {a} and {b}"
            )
        else:
            question = asker.one(
                f"how many {name} did {a} and {b} have combined",
                f"what is the total {name} of {a} and {b}",
                f"what is the combined {name} of {a} and {b}",
                f"how many {name} do {a} and {b} have together",
            )
        return SyntheticQuestion(
            asker.end(question), "average" if average else "sum", rows=tuple(sorted(rows)), column=column
        )
    words, rows = "", asker.known(column)
    if kind < 0.65:
        words, chosen = asker.condition()
        rows = [row for row in rows if row in set(chosen)]
    if len(rows) < 2:
        raise _Impossible
    if average:
        question = asker.one(
            f"what is the average {name} {words}",
            f"what was the mean {name} of all {key} {words}",
            f"average {name} {words}",
            f"what is the average number of {name} {words}",
        )
    else:
        question = asker.one(
            f"what is the total {name} {words}",
            f"what is the sum of {name} {words}",
            f"how many {name} in total {words}",
            f"what is the combined {name} of all {key} {words}",
            f"what is the total number of {name} {words}",
            f"how many total {name} {words}",
            f"how many {name} were there altogether {words}",
        )
    return SyntheticQuestion(
        asker.end(" ".join(question.split())),
        "average" if average else "sum",
        rows=tuple(rows),
        column=column,
    )


# -- kinds: pairs and yes or no ---------------------------------------------------------------------------


def _difference_of_rows(asker: _QuestionBuilder) -> SyntheticQuestion:
    column = asker.pick([column for column in asker.numeric + asker.dated if column != asker.key])
    name = asker.name(column)
    if asker.rng.random() < 0.2:
        rows = asker.known(column)
        high, low = (choose(rows, key=lambda row: asker.number(row, column)) for choose in (max, min))
        most, least = asker.one("highest", "most", "largest"), asker.one("lowest", "least", "smallest")
        words = f"between the {most} and {least} {name}"
        question = asker.one(f"what is the difference {words}", f"how much is {words}")
        return _difference_question(asker, asker.end(question), (high, column), (low, column))
    first_row, second_row = asker.two()
    if np.isnan([asker.number(row, column) for row in (first_row, second_row)]).any():
        raise _Impossible
    high, low = (
        (first_row, second_row)
        if asker.number(first_row, column) > asker.number(second_row, column)
        else (second_row, first_row)
    )
    a, b = asker.text(high, asker.key), asker.text(low, asker.key)
    if column in asker.dated:
        question = asker.one(
            f"how many years are between {a} and {b}",
            f"how many years after {b} was {a}",
            f"how long between {b} and {a}",
            f"how many years passed between {b} and {a}",
            f"how many years before {a} was {b}",
        )
    else:
        question = asker.one(
            f"what is the difference in {name} between {a} and {b}",
            f"how many more {name} did {a} have than {b}",
            f"what is the difference between {a}'s and {b}'s {name}",
            f"how much more {name} does {a} have compared to {b}",
            f"how many fewer {name} did {b} have than {a}",
            f"what is the difference of {name} for {b} and {a}",
        )
    return _difference_question(asker, asker.end(question), (high, column), (low, column))


def _difference_in_row(asker: _QuestionBuilder) -> SyntheticQuestion:
    row, subject = asker.subject()
    columns = [column for column in asker.numeric if column != asker.key]
    first_column, second_column = asker.pick(columns), asker.pick(columns)
    a, b = asker.name(first_column), asker.name(second_column)
    question = asker.one(
        f"how many more {a} than {b} did {subject} have",
        f"what is the difference between {a} and {b} for {subject}",
        f"for {subject}, how many more {a} than {b}",
    )
    if not asker.number(row, first_column) > asker.number(row, second_column):
        raise _Impossible
    return _difference_question(asker, asker.end(question), (row, first_column), (row, second_column))


def _difference_question(
    asker: _QuestionBuilder, question: str, first_cell: tuple[int, int], second_cell: tuple[int, int]
) -> SyntheticQuestion:
    if first_cell == second_cell or asker.number(*first_cell) == asker.number(*second_cell):
        raise _Impossible
    return SyntheticQuestion(question, "difference", (first_cell, second_cell))


def _yes_no_question(asker: _QuestionBuilder) -> SyntheticQuestion:
    column = asker.pick([column for column in asker.numeric + asker.dated if column != asker.key])
    first_row, second_row = asker.two()
    values = [asker.number(row, column) for row in (first_row, second_row)]
    if np.isnan(values).any():
        raise _Impossible
    a, b, name = asker.text(first_row, asker.key), asker.text(second_row, asker.key), asker.name(column)
    more = asker.rng.random() < 0.55
    if column in asker.dated:
        comparative = "after" if more else "before"
        question = asker.one(
            f"was {a} {comparative} {b}", f"did {a} come {comparative} {b}", f"is {a} {comparative} {b}"
        )
    elif asker.rng.random() < 0.5:
        comparative = "more" if more else asker.one("less", "fewer")
        question = asker.one(
            f"did {a} have {comparative} {name} than {b}", f"does {a} have {comparative} {name} than {b}"
        )
    else:
        comparative = asker.one("more than", "over") if more else asker.one("less than", "under")
        question = asker.one(
            f"did {a} have {comparative} {values[1]:g} {name}",
            f"is the {name} of {a} {comparative} {values[1]:g}",
        )
    holds = values[0] > values[1] if more else values[0] < values[1]
    return SyntheticQuestion(asker.end(question), "yes" if holds else "no")


_KINDS: dict[Callable[[_QuestionBuilder], SyntheticQuestion], float] = {
    _look_up: 8,
    _who: 8,
    _superlative: 14,
    _extreme_value: 5,
    _neighbour: 7,
    _listed_position: 6,
    _compare_two: 7,
    _most_common: 4,
    _same_as: 4,
    _which_year: 1,
    _count: 18,
    _count_all: 3,
    _count_beside: 3,
    _count_against: 3,
    _different: 4,
    _listing: 7,
    _total: 8,
    _difference_of_rows: 8,
    _difference_in_row: 2,
    _yes_no_question: 3,
}
"""How often each kind is tried; some are seldom possible."""
