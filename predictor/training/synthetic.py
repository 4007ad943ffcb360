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
from predictor.bundled.features import NOTHING, TableReading
from predictor.training.supervision import Supervision
from tableqa.cells import fold, without_details, without_notes
from tableqa.tables import Table

MOST_ROWS = 90
"""Rows of the tables that questions are made from."""


@dataclass(frozen=True)
class Made:
    """A question and its one derivation, in rows of the table.

    "select", "year": any of `cells`; "list", "count", "different", "sum", "average": `rows`, and `column` but for a
    count; "difference": the two `cells`; "yes", "no": nothing more.
    """

    question: str
    operation: str
    cells: tuple[tuple[int, int], ...] = ()
    rows: tuple[int, ...] = ()
    column: int = -1

    def supervision(self, kept: np.ndarray, width: int) -> Supervision | None:
        """The derivation in the rows that the network sees; None where they lack one of its own."""
        place_of = {int(row): place for place, row in enumerate(kept)}
        rows = [row for row, _ in self.cells] or list(self.rows)
        if not all(row in place_of for row in rows):
            return None
        flat = [place_of[row] * width + column for row, column in self.cells]
        out = Supervision()
        if self.operation in ("select", "year"):
            out.cells = {(self.operation, place): 1.0 for place in flat}
        elif self.operation == "difference":
            out.pairs = {(min(flat), max(flat)): 1.0}
        elif self.operation in ("yes", "no"):
            out.flags = {self.operation: 1.0}
        else:
            chosen = tuple(place_of[row] for row in self.rows)
            out.masks = {(self.operation, self.column, chosen): 1.0}
        return out


class _Impossible(Exception):
    """This kind of question cannot be made from this table; another one is tried."""


def made_of(
    tables: Sequence[Table], reading: Callable[[Table], TableReading], count: int, seed: int
) -> Iterator[tuple[TableReading, Made]]:
    """`count` questions about tables drawn from `tables`; fewer where most tables give none."""
    rng = Random(seed)
    usable = [table for table in tables if 3 <= len(table.rows) <= MOST_ROWS and len(table.header) >= 2]
    kinds, weights = list(_KINDS), list(_KINDS.values())
    tries = left = 0
    while usable and left < count and tries < 40 * count:
        tries += 1
        table = reading(rng.choice(usable))
        try:
            made = _Asker(table, rng).ask(rng.choices(kinds, weights)[0])
        except _Impossible:
            continue
        left += 1
        yield table, made


Rows = list[int]


class _Asker:
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
        self.rows = [row for row in self.live if self._says(row, self.key)]
        if len(self.rows) < 3:
            raise _Impossible

    def _sort(self, column: int) -> None:
        live, numbers = self.live, self.table.numbers[:, column]
        known = [row for row in live if not np.isnan(numbers[row])]
        different = len({int(self.table.codes[row, column]) for row in live})
        says = [row for row in live if self._says(row, column)]
        if len(known) >= 0.8 * len(live) and different > 2:
            years = all(1000 <= numbers[row] <= 2100 for row in known)
            dates = sum(int(self.table.kinds[row, column] == 2) for row in known) > len(known) / 2
            if years or dates:
                self.dated.append(column)
                if different > 0.8 * len(live):
                    self.keys.append(column)
                return
            if sum(int(self.table.kinds[row, column] in (1, 3)) for row in known) > 0.8 * len(known):
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

    def _says(self, row: int, column: int) -> bool:
        one = self.table.readings[row][column]
        return one.normal not in NOTHING and one.length < 45

    def ask(self, kind: str) -> Made:
        """One question of a kind. Raises _Impossible."""
        made: Made = getattr(self, kind)()
        return made

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
        row = self.pick([row for row in self.live if self._says(row, column)])
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
        said = {
            ">": ("more than", "over", "greater than", "above", "higher than"),
            "<": ("less than", "under", "fewer than", "below", "lower than"),
            ">=": ("at least", "no less than", "{} or more"),
            "<=": ("at most", "no more than", "{} or less"),
            "=": ("", "exactly"),
        }[relation]
        number = f"{limit:g}" if abs(limit) < 1e5 else f"{limit:.0f}"
        if abs(limit) >= 1000 and limit == int(limit) and self.rng.random() < 0.5:
            number = f"{int(limit):,}"
        word = self.one(*said)
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

    # Kinds: cells --------------------------------------------------------------------------------------------

    def look_up(self) -> Made:
        row, subject = self.subject()
        column = self.pick(
            [c for c in range(self.table.columns) if c != self.key and self.names[c] and self._says(row, c)]
        )
        name = self.name(column)
        question = self.one(
            f"what is the {name} of {subject}",
            f"what {name} did {subject} have",
            f"which {name} is listed for {subject}",
            f"{subject} has what {name}",
            f"what was {subject}'s {name}",
            f"name the {name} for {subject}",
            f"when {self.name(self.key)} is {subject}, what is the {name}",
            f"how many {name} does {subject} have",
            f"what {name} was {subject}",
        )
        return Made(self.end(question), "select", ((row, column),))

    def who(self) -> Made:
        words, rows = self.condition()
        if len(rows) != 1:
            raise _Impossible
        name = self.name(self.key)
        question = self.one(
            f"which {name} {words}",
            f"what is the only {name} {words}",
            f"who is the {name} {words}",
            f"what {name} is listed {words}",
            f"name the {name} {words}",
        )
        return Made(self.end(question), "select", ((rows[0], self.key),))

    def _best(self) -> tuple[str, int, int, str]:
        """(superlative, row, column, condition) of an extreme, maybe among some rows only."""
        column = self.pick([column for column in self.numeric + self.dated if column != self.key])
        words, rows = "", self.rows
        if self.rng.random() < 0.35:
            words, rows = self.condition()
        rows = [row for row in self.known(column, rows) if self._says(row, self.key)]
        if len(rows) < 2 or (not words and len(rows) < 3):
            raise _Impossible
        high = self.rng.random() < 0.55
        values = sorted({self.number(row, column) for row in rows}, reverse=high)
        second = self.rng.random() < 0.08 and len(values) > 2
        best = [row for row in rows if self.number(row, column) == values[int(second)]]
        if len(best) > 1:
            raise _Impossible
        if column in self.dated:
            said = (
                self.one("latest", "most recent", "last", "newest")
                if high
                else self.one("earliest", "first", "oldest")
            )
        elif high:
            said = self.one("highest", "most", "largest", "greatest", "top", "biggest", "best", "longest")
        else:
            said = self.one("lowest", "least", "smallest", "fewest", "shortest", "worst")
        return f"{'second ' if second else ''}{said}", best[0], column, words

    def superlative(self) -> Made:
        said, row, column, words = self._best()
        key, name = self.name(self.key), self.name(column)
        question = self.one(
            f"which {key} {words} has the {said} {name}",
            f"who had the {said} {name} {words}",
            f"what {key} received the {said} {name} {words}",
            f"the {said} {name} belongs to which {key} {words}",
            f"which {key} {words} is {said} in {name}",
            f"who was the {said} {words}"
            if column in self.dated
            else f"what {key} {words} had the {said} number of {name}",
            f"which {key} {words} had the {said} {name}",
        )
        return Made(self.end(" ".join(question.split())), "select", ((row, self.key),))

    def extreme_value(self) -> Made:
        said, row, column, words = self._best()
        name = self.name(column)
        question = self.one(
            f"what is the {said} {name} {words}",
            f"what was the {said} {name} {words}",
            f"{said} {name} {words}",
            f"what is the {said} number of {name} {words}",
        )
        return Made(self.end(" ".join(question.split())), "select", ((row, column),))

    def neighbour(self) -> Made:
        row, subject = self.subject()
        after = self.rng.random() < 0.5
        other = row + (1 if after else -1)
        if other not in self.rows:
            raise _Impossible
        key = self.name(self.key)
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
        return Made(
            self.end(f"{self.one('which', 'what', 'the')} {key} {self.one(*words)}"),
            "select",
            ((other, self.key),),
        )

    def place(self) -> Made:
        words, rows = "", self.rows
        if self.rng.random() < 0.4:
            words, rows = self.condition()
        rows = [row for row in rows if self._says(row, self.key)]
        if len(rows) < 2:
            raise _Impossible
        key = self.name(self.key)
        if not words and self.rng.random() < 0.15 and len(rows) > 4 and rows[:5] == list(range(5)):
            place = self.rng.randrange(1, 5)
            said = ("first", "second", "third", "fourth", "fifth")[place]
            question = self.one(f"what is the {said} {key} listed", f"who is the {said} {key} on the list")
            return Made(self.end(question), "select", ((rows[place], self.key),))
        first = self.rng.random() < 0.55
        row = rows[0] if first else rows[-1]
        said = self.one("first", "top") if first else self.one("last", "final", "bottom")
        question = self.one(
            f"what is the {said} {key} {words} listed",
            f"who was the {said} {key} {words} on the list",
            f"which {key} {words} is at the {'top' if first else 'bottom'} of the table",
            f"what is the {said} {key} {words}",
            f"what was the {said} {key} {words} on this chart",
        )
        return Made(self.end(" ".join(question.split())), "select", ((row, self.key),))

    def compare_two(self) -> Made:
        one, other = self.two()
        column = self.pick([column for column in self.numeric + self.dated if column != self.key])
        values = [self.number(row, column) for row in (one, other)]
        if np.isnan(values).any() or values[0] == values[1]:
            raise _Impossible
        high, low = (one, other) if values[0] > values[1] else (other, one)
        a, b, key, name = (
            self.text(one, self.key),
            self.text(other, self.key),
            self.name(self.key),
            self.name(column),
        )
        if column in self.dated:
            late = self.rng.random() < 0.5
            said = (
                self.one("later", "more recent", "last") if late else self.one("first", "earlier", "before")
            )
            question = self.one(
                f"which came {said}, {a} or {b}", f"who was {said}, {a} or {b}", f"was {a} or {b} {said}"
            )
            return Made(self.end(question), "select", ((high if late else low, self.key),))
        up = self.rng.random() < 0.6
        said = (
            self.one("more", "a higher", "a greater", "the most")
            if up
            else self.one("less", "a lower", "fewer", "the least")
        )
        question = self.one(
            f"who had {said} {name}, {a} or {b}",
            f"which {key} has {said} {name}, {a} or {b}",
            f"did {a} or {b} have {said} {name}",
            f"{a} or {b}, which has {said} {name}",
        )
        return Made(self.end(question), "select", ((high if up else low, self.key),))

    def commonest(self) -> Made:
        column = self.pick(self.kinds)
        counts: dict[int, Rows] = {}
        for row in self.live:
            if self._says(row, column):
                counts.setdefault(int(self.table.codes[row, column]), []).append(row)
        most = self.rng.random() < 0.8
        best = (max if most else min)(len(rows) for rows in counts.values())
        groups = [rows for rows in counts.values() if len(rows) == best]
        if len(groups) != 1 or len(counts) < 2:
            raise _Impossible
        name, key = self.name(column), self.name(self.key)
        said = (
            self.one("the most", "most often", "most frequently")
            if most
            else self.one("the least", "least often")
        )
        question = self.one(
            f"which {name} appears {said}",
            f"which {name} is listed {said}",
            f"what {name} occurs {said}",
            f"which {name} has {said.replace(' often', '')} {key}",
            f"what {name} shows up {said}",
        )
        return Made(self.end(question), "select", tuple((row, column) for row in groups[0]))

    def same_as(self) -> Made:
        row, subject = self.subject()
        column = self.pick([c for c in (*self.kinds, *self.numeric) if c != self.key])
        rows = [other for other in self.same(column, row) if other != row and self._says(other, self.key)]
        if not self._says(row, column) or not rows or len(rows) > 4:
            raise _Impossible
        key, name = self.name(self.key), self.name(column)
        question = self.one(
            f"which other {key} has the same {name} as {subject}",
            f"who has the same {name} as {subject}",
            f"besides {subject}, which {key} has the same {name}",
            f"what {key} shares its {name} with {subject}",
        )
        if len(rows) == 1:
            return Made(self.end(question), "select", ((rows[0], self.key),))
        return Made(self.end(question), "list", rows=tuple(rows), column=self.key)

    def which_year(self) -> Made:
        row, subject = self.subject()
        column = self.pick([column for column in self.dated if column != self.key])
        if not year_in(self.table.table.rows[row][column]):
            raise _Impossible
        question = self.one(
            f"in what year was {subject}",
            f"what year did {subject} take place",
            f"which year was {subject}",
            f"what is the year of {subject}",
        )
        return Made(self.end(question), "year", ((row, column),))

    # Kinds: rows ---------------------------------------------------------------------------------------------

    def count(self) -> Made:
        words, rows = self.condition(1.0)
        thing = self.thing()
        question = self.one(
            f"how many {thing} {words}",
            f"how many {thing} are there {words}",
            f"what is the number of {thing} {words}",
            f"how many {thing} were {words}",
            f"what is the total number of {thing} {words}",
            f"how many were {words}",
            f"how many times is {words}",
            f"how many had {words.removeprefix('with ').removeprefix('that had ')}",
        )
        return Made(self.end(question), "count", rows=tuple(rows))

    def count_all(self) -> Made:
        name = self.name(self.key)
        question = self.one(
            f"how many {name} are there",
            f"how many {name} are listed",
            f"how many {name} are in the table",
            f"what is the total number of {name}",
            f"total number of {name} listed",
            f"how many {name} in all",
            f"how many total {name} are there",
        )
        return Made(self.end(question), "count", rows=tuple(self.live))

    def count_beside(self) -> Made:
        row, subject = self.subject()
        before = self.rng.random() < 0.5
        rows = [other for other in self.live if (other < row if before else other > row)]
        if not rows:
            raise _Impossible
        said = (
            self.one("before", "above", "ahead of", "prior to")
            if before
            else self.one("after", "below", "following")
        )
        name = self.name(self.key)
        question = self.one(
            f"how many {name} are listed {said} {subject}",
            f"how many {name} come {said} {subject}",
            f"how many were {said} {subject}",
        )
        return Made(self.end(question), "count", rows=tuple(rows))

    def count_against(self) -> Made:
        row, subject = self.subject()
        column = self.pick(self.numeric)
        value = self.number(row, column)
        more = self.rng.random() < 0.55
        rows = [
            r
            for r in self.known(column)
            if (self.number(r, column) > value if more else self.number(r, column) < value)
        ]
        if np.isnan(value) or not rows:
            raise _Impossible
        said = self.one("more", "a higher", "greater") if more else self.one("less", "a lower", "fewer")
        question = self.one(
            f"how many {self.name(self.key)} had {said} {self.name(column)} than {subject}",
            f"how many have {said} {self.name(column)} than {subject}",
        )
        return Made(self.end(question), "count", rows=tuple(rows))

    def different(self) -> Made:
        column = self.pick(self.kinds)
        rows, words = [row for row in self.live if self._says(row, column)], ""
        if self.rng.random() < 0.3:
            words, chosen = self.condition()
            rows = [row for row in rows if row in set(chosen)]
        if len(rows) < 2:
            raise _Impossible
        name = self.name(column)
        question = self.one(
            f"how many different {name} are there {words}",
            f"how many unique {name} are listed {words}",
            f"how many distinct {name} {words}",
            f"how many {name} are represented {words}",
            f"how many different {name} {words}",
        )
        return Made(self.end(" ".join(question.split())), "different", rows=tuple(rows), column=column)

    def listing(self) -> Made:
        words, rows = self.condition()
        rows = [row for row in rows if self._says(row, self.key)]
        if not 2 <= len(rows) <= 6:
            raise _Impossible
        name = self.name(self.key)
        question = self.one(
            f"which {name} are {words}",
            f"what are the {name} {words}",
            f"name all {name} {words}",
            f"list the {name} {words}",
            f"which {name} {words}",
            f"name the {name} {words}",
        )
        return Made(self.end(question), "list", rows=tuple(rows), column=self.key)

    def total(self) -> Made:
        column = self.pick([column for column in self.numeric if column != self.key])
        name, key = self.name(column), self.name(self.key)
        average = self.rng.random() < 0.4
        kind = self.rng.random()
        if kind < 0.3:
            one, other = self.two()
            if len(rows := self.known(column, [one, other])) != 2:
                raise _Impossible
            a, b = self.text(one, self.key), self.text(other, self.key)
            if average:
                question = self.one(
                    f"what is the average {name} of {a} and {b}", f"average {name} for {a} and {b}"
                )
            else:
                question = self.one(
                    f"how many {name} did {a} and {b} have combined",
                    f"what is the total {name} of {a} and {b}",
                    f"what is the combined {name} of {a} and {b}",
                    f"how many {name} do {a} and {b} have together",
                )
            return Made(
                self.end(question), "average" if average else "sum", rows=tuple(sorted(rows)), column=column
            )
        words, rows = "", self.known(column)
        if kind < 0.65:
            words, chosen = self.condition()
            rows = [row for row in rows if row in set(chosen)]
        if len(rows) < 2:
            raise _Impossible
        if average:
            question = self.one(
                f"what is the average {name} {words}",
                f"what was the mean {name} of all {key} {words}",
                f"average {name} {words}",
                f"what is the average number of {name} {words}",
            )
        else:
            question = self.one(
                f"what is the total {name} {words}",
                f"what is the sum of {name} {words}",
                f"how many {name} in total {words}",
                f"what is the combined {name} of all {key} {words}",
                f"what is the total number of {name} {words}",
                f"how many total {name} {words}",
                f"how many {name} were there altogether {words}",
            )
        return Made(
            self.end(" ".join(question.split())),
            "average" if average else "sum",
            rows=tuple(rows),
            column=column,
        )

    # Kinds: pairs and yes or no ------------------------------------------------------------------------------

    def apart(self) -> Made:
        column = self.pick([column for column in self.numeric + self.dated if column != self.key])
        name = self.name(column)
        if self.rng.random() < 0.2:
            rows = self.known(column)
            high, low = (choose(rows, key=lambda row: self.number(row, column)) for choose in (max, min))
            most, least = self.one("highest", "most", "largest"), self.one("lowest", "least", "smallest")
            words = f"between the {most} and {least} {name}"
            question = self.one(f"what is the difference {words}", f"how much is {words}")
            return self._pair(self.end(question), (high, column), (low, column))
        one, other = self.two()
        if np.isnan([self.number(row, column) for row in (one, other)]).any():
            raise _Impossible
        high, low = (one, other) if self.number(one, column) > self.number(other, column) else (other, one)
        a, b = self.text(high, self.key), self.text(low, self.key)
        if column in self.dated:
            question = self.one(
                f"how many years are between {a} and {b}",
                f"how many years after {b} was {a}",
                f"how long between {b} and {a}",
                f"how many years passed between {b} and {a}",
                f"how many years before {a} was {b}",
            )
        else:
            question = self.one(
                f"what is the difference in {name} between {a} and {b}",
                f"how many more {name} did {a} have than {b}",
                f"what is the difference between {a}'s and {b}'s {name}",
                f"how much more {name} does {a} have compared to {b}",
                f"how many fewer {name} did {b} have than {a}",
                f"what is the difference of {name} for {b} and {a}",
            )
        return self._pair(self.end(question), (high, column), (low, column))

    def across(self) -> Made:
        row, subject = self.subject()
        columns = [column for column in self.numeric if column != self.key]
        one, other = self.pick(columns), self.pick(columns)
        a, b = self.name(one), self.name(other)
        question = self.one(
            f"how many more {a} than {b} did {subject} have",
            f"what is the difference between {a} and {b} for {subject}",
            f"for {subject}, how many more {a} than {b}",
        )
        if not self.number(row, one) > self.number(row, other):
            raise _Impossible
        return self._pair(self.end(question), (row, one), (row, other))

    def _pair(self, question: str, one: tuple[int, int], other: tuple[int, int]) -> Made:
        if one == other or self.number(*one) == self.number(*other):
            raise _Impossible
        return Made(question, "difference", (one, other))

    def whether(self) -> Made:
        column = self.pick([column for column in self.numeric + self.dated if column != self.key])
        one, other = self.two()
        values = [self.number(row, column) for row in (one, other)]
        if np.isnan(values).any():
            raise _Impossible
        a, b, name = self.text(one, self.key), self.text(other, self.key), self.name(column)
        more = self.rng.random() < 0.55
        if column in self.dated:
            said = "after" if more else "before"
            question = self.one(f"was {a} {said} {b}", f"did {a} come {said} {b}", f"is {a} {said} {b}")
        elif self.rng.random() < 0.5:
            said = "more" if more else self.one("less", "fewer")
            question = self.one(
                f"did {a} have {said} {name} than {b}", f"does {a} have {said} {name} than {b}"
            )
        else:
            said = self.one("more than", "over") if more else self.one("less than", "under")
            question = self.one(
                f"did {a} have {said} {values[1]:g} {name}", f"is the {name} of {a} {said} {values[1]:g}"
            )
        holds = values[0] > values[1] if more else values[0] < values[1]
        return Made(self.end(question), "yes" if holds else "no")


_KINDS: dict[str, float] = {
    "look_up": 8,
    "who": 8,
    "superlative": 14,
    "extreme_value": 5,
    "neighbour": 7,
    "place": 6,
    "compare_two": 7,
    "commonest": 4,
    "same_as": 4,
    "which_year": 1,
    "count": 18,
    "count_all": 3,
    "count_beside": 3,
    "count_against": 3,
    "different": 4,
    "listing": 7,
    "total": 8,
    "apart": 8,
    "across": 2,
    "whether": 3,
}
"""How often each kind is tried; some are seldom possible."""
