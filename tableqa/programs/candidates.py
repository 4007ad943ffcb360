"""The operations that the search tries, each pruned by the gold answer before a program is built."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import permutations
from typing import Literal

from tableqa.answers import compare
from tableqa.programs.conditions import Chosen, Conditions
from tableqa.programs.language import (
    Add,
    Aggregate,
    AllRows,
    Beside,
    Cell,
    Choice,
    Comparison,
    Count,
    CountDifferent,
    Divide,
    Expression,
    Extreme,
    Holds,
    MostCommon,
    Number,
    Percent,
    Pick,
    Place,
    Program,
    ProgramError,
    Rows,
    Select,
    Subtract,
    Those,
    Where,
    Which,
    Year,
)
from tableqa.programs.layout import words
from tableqa.programs.meaning import in_digits, run
from tableqa.programs.readings import names, reading, year_in
from tableqa.programs.sight import Sight, bits

A_PROGRAM = 40
"""Steps that a program found costs, for it will be scored."""

_MOST_FOR_EXTREMES = 40
_MOST_COUNTED = 14
_MOST_SUMMED = 8
_MOST_CELLS_OF_A_ROW = 16
_MOST_TOGETHER = 60
_MOST_KINDS = 12

_WHICH: tuple[Which, Which] = ("largest", "smallest")
_ENDS: tuple[Literal["first", "last"], ...] = ("first", "last")
_SIDES: tuple[Literal["after", "before"], ...] = ("after", "before")
_BOUNDS: tuple[Comparison, ...] = ("greater", "less", "at_least", "at_most")

_YES_NO = ("yes", "no")
_WAYS: dict[tuple[str, str], Comparison] = {
    _YES_NO: "greater",
    ("more", "less"): "greater",
    ("more", "fewer"): "greater",
    ("higher", "lower"): "greater",
    ("above", "below"): "less",
    ("after", "before"): "greater",
    ("later", "earlier"): "greater",
    ("older", "younger"): "greater",
    ("larger", "smaller"): "greater",
    ("better", "worse"): "less",
}
"""Pairs of words that answer a comparison, and the relation that the first of them states; "above" is a lower rank."""

_WORDS = {word: (pair, place == 0) for pair in reversed(_WAYS) for place, word in enumerate(pair)}

_Term = tuple[Cell | Count | Number, Decimal]
"""An expression and its value."""


class Candidates:
    """Builds the programs that yield an example's gold answer; `found` holds for each what of the question it uses."""

    def __init__(self, sight: Sight, conditions: Conditions) -> None:
        self.sight = sight
        self.table = sight.table
        self.cues = sight.question.cues
        self.conditions = conditions
        self.found: dict[Program, int] = {}
        self._numbers = [
            (1 << place, number)
            for place, one in enumerate(sight.question.mentioned)
            if (number := reading(one.text).number) is not None
        ]

    def _add(self, program: Program, said: int = 0) -> None:
        self.sight.work(A_PROGRAM)
        self.found[program] = said | self.found.get(program, 0)

    def _add_if_gold(self, program: Program, said: int = 0) -> None:
        try:
            if compare(run(program, self.table), self.sight.gold).equal:
                self._add(program, said)
        except ProgramError:
            pass

    def _cell(self, i: int, j: int) -> Cell:
        return Cell(self.table.row_ids[i], self.table.column_ids[j])

    # Texts of the table

    def lookups(self) -> None:
        """What stands in chosen rows, in the row with the most or least of something, and the commonest text."""
        for cell in self.sight.evidence:
            if len(self.sight.gold) == 1:
                self._add_if_gold(Cell(*cell))
        ids = self.table.column_ids
        for one in self.conditions.choices:
            self._select(one, one.rows, one.mask)
        for one in self._for_extremes():
            self._extremes(one)
        for one in self._for_extremes():
            for j in self.sight.gold_columns:
                if "most_common" in self.cues or (one.mask & self.sight.gold_cells[j][0]).bit_count() > 1:
                    for which in _WHICH:
                        if self._commonest(j, one.mask, which):
                            self._add(MostCommon(which, ids[j], one.rows), one.said)

    def _for_extremes(self) -> list[Chosen]:
        return [one for one in self.conditions.choices if one.mask.bit_count() > 1][:_MOST_FOR_EXTREMES]

    def _select(self, one: Chosen, rows: Rows, mask: int, other_than: int = -1) -> None:
        """Add the columns that hold the gold answers in these rows, or the years that are the gold answers."""
        ids = self.table.column_ids
        for j in self.sight.gold_columns:
            repeats = one.column == j and one.equals
            if j != other_than and not repeats and self.sight.is_gold(j, mask):
                self._add(Select(ids[j], rows), one.said)
        for j, years in self.sight.gold_years.items():
            if mask and not mask & ~years:
                self._add(Year(Select(ids[j], rows)), one.said)

    def _extremes(self, one: Chosen) -> None:
        ids = self.table.column_ids
        for k in self.sight.columns:
            if self.sight.kinds[k] is None:
                continue
            for which in _WHICH:
                mask = self.sight.extreme(k, one.mask, which)
                if k in self.sight.gold_columns and self.sight.is_gold(k, mask):
                    if not (one.equals and one.column == k):
                        self._add(Aggregate(which, ids[k], one.rows), one.said)
                    if self.sight.gold_columns == [k]:
                        continue
                self._select(one, Extreme(which, ids[k], one.rows), mask, other_than=k)

    def _commonest(self, j: int, mask: int, which: Which) -> bool:
        groups = self.sight.groups(j, mask)
        sizes = {rows.bit_count() for rows in groups.values()}
        if len(sizes) < 2:
            return False
        best = max(sizes) if which == "largest" else min(sizes)
        return self.sight.is_gold(j, sum(rows for rows in groups.values() if rows.bit_count() == best))

    def places(self) -> None:
        """What stands in the first or last of chosen rows, and in the row above or below."""
        for one in self.conditions.choices:
            size = one.mask.bit_count()
            lowest, highest = one.mask & -one.mask, 1 << max(one.mask.bit_length() - 1, 0)
            for end, mask in zip(_ENDS, (lowest, highest), strict=True):
                if size > 1 and end in self.cues:
                    self._select(one, Place(end, one.rows), mask)
            beside = one.mask << 1 & self.sight.everything, one.mask >> 1
            for side, mask in zip(_SIDES, beside, strict=True):
                if size <= 2 and side in self.cues and not isinstance(one.rows, AllRows):
                    self._select(replace(one, column=-1), Beside(side, one.rows), mask)

    # Counts

    def counts(self) -> None:
        """Counts of rows and of different texts; sums and differences of two counts."""
        number, ids = self.sight.gold_number, self.table.column_ids
        if number is None:
            return
        for one in self.conditions.choices:
            size = one.mask.bit_count()
            if size == number:
                self._add(Count(one.rows), one.said)
            for j in self.sight.columns:
                if size > number > 1 and len(self.sight.groups(j, one.mask)) == number:
                    self._add(CountDifferent(ids[j], one.rows), one.said)
        surest = [one for one in self.conditions.single if one.equals or one.strength > 2][:_MOST_COUNTED]
        for one, other in permutations(surest, 2):
            if one.column != other.column:
                continue
            size, other_size = one.mask.bit_count(), other.mask.bit_count()
            if size - other_size == number > 0:
                self._add(Subtract(Count(one.rows), Count(other.rows)), one.said | other.said)
            if size + other_size == number and not one.mask & other.mask and one.mask < other.mask:
                self._add(Add((Count(one.rows), Count(other.rows))), one.said | other.said)
        if 0 < number <= len(self.table.rows):
            self._unsaid_counts(int(number))
        if not number:
            for one in self.conditions.empty[:10]:
                self._add(Count(one.rows), one.said)

    def _unsaid_counts(self, number: int) -> None:
        """Counts over a text that the question does not say, in columns where texts repeat: "won" for "W"."""
        for j, column in enumerate(self.table.column_ids):
            groups = self.sight.groups(j, self.sight.everything)
            said = sum(rows.bit_count() for rows in groups.values())
            texts = {
                rows.bit_count(): self.table.rows[next(bits(rows))][j] for rows in reversed(groups.values())
            }
            if self.sight.layout.column_words(column) & self.sight.question.content:
                if said == number < len(self.table.rows):
                    self._add(Count(Where(column, "differs", "")))
                if len(groups) <= _MOST_KINDS and said - number in texts:
                    self._add(Count(Where(column, "differs", texts[said - number])))
            if number in texts and len(groups) <= max(6, len(self.table.rows) // 2):
                self._add(Count(Where(column, "equals", texts[number])))

    # Aggregates

    def aggregates(self) -> None:
        """Sum, average, extremes of columns over chosen rows, and the distance between the extremes."""
        if self.sight.gold_number is None:
            return
        for j in self.sight.columns:
            if self.sight.kinds[j] == "number":
                for one in self.conditions.choices:
                    if one.mask.bit_count() > 1 and not (one.equals and one.column == j):
                        self._aggregate(j, one)
                if "subtract" in self.cues:
                    self._sums_apart(j)
                    self._spans(j)

    def _aggregate(self, j: int, one: Chosen) -> None:
        column, number = self.table.column_ids[j], self.sight.gold_number
        seen = [self.sight.readings[i][j] for i in bits(one.mask)]
        self.sight.work(len(seen))
        known = [each.number for each in seen if each.number is not None]
        if not known:
            return
        largest, smallest = max(known), min(known)
        if end := self.sight.ending(largest - smallest):
            ends = Aggregate("largest", column, one.rows), Aggregate("smallest", column, one.rows)
            self._add(end.of(Subtract(*ends)), one.said)
        for which, value in zip(_WHICH, (largest, smallest), strict=True):
            if value == number:
                self._add(Aggregate(which, column, one.rows), one.said)
        if len(known) == sum(not each.silent for each in seen):
            total = sum(known, Decimal(0))
            if end := self.sight.ending(total):
                self._add(end.of(Aggregate("sum", column, one.rows)), one.said)
            if end := self.sight.ending(total / len(known)):
                self._add(end.of(Aggregate("average", column, one.rows)), one.said)

    def _sums_apart(self, j: int) -> None:
        """Differences of two sums: "how many more goals at home than away"."""
        column = self.table.column_ids[j]
        sums = []
        for one in [one for one in self.conditions.single if one.equals][:_MOST_SUMMED]:
            known = [self.sight.readings[i][j].number for i in bits(one.mask)]
            self.sight.work(len(known))
            numbers = [number for number in known if number is not None]
            if len(numbers) == len(known) > 1:
                sums.append((one, sum(numbers, Decimal(0))))
        for (one, value), (other, other_value) in permutations(sums, 2):
            if one.column == other.column and value - other_value == self.sight.gold_number:
                terms = Aggregate("sum", column, one.rows), Aggregate("sum", column, other.rows)
                self._add(Subtract(*terms), one.said | other.said)

    def _spans(self, j: int) -> None:
        """From the smallest number of one column to the largest of another: the years that a table covers."""
        largest = max((key[0] for key in self.sight.keys(j) if key), default=Decimal(0))
        for k, column in enumerate(self.table.column_ids):
            if k != j and self.sight.kinds[k] == "number":
                smallest = min((key[0] for key in self.sight.keys(k) if key), default=Decimal(0))
                self.sight.work(len(self.table.rows))
                if largest - smallest == self.sight.gold_number:
                    ends = Aggregate("largest", self.table.column_ids[j]), Aggregate("smallest", column)
                    self._add(Subtract(*ends))

    # Arithmetic over single cells

    def arithmetic(self) -> None:
        """Two cells of a column in rows that the question names, two cells of such a row, and the evidence."""
        if self.sight.gold_number is None:
            return
        anchors = self.conditions.anchors
        for j in self.sight.columns:
            self._pairs(self._terms((i, j) for i in anchors))
        for i in anchors[:4]:
            self._pairs(self._terms((i, j) for j in self.sight.columns)[:_MOST_CELLS_OF_A_ROW])
        if "subtract" in self.cues:
            for j in self.sight.columns:
                if self.sight.kinds[j] == "number":
                    self._from_extremes(j)
        terms: list[_Term] = [
            (Cell(*cell), value)
            for cell in self.sight.evidence
            if (value := self.sight.layout.value(cell)) is not None
        ]
        self._pairs(terms[:_MOST_CELLS_OF_A_ROW])
        self._together(terms)

    def _terms(self, places: Iterable[tuple[int, int]]) -> list[_Term]:
        return [
            (self._cell(i, j), value) for i, j in places if (value := self.sight.number(i, j)) is not None
        ]

    def _pairs(self, terms: Sequence[_Term]) -> None:
        number = self.sight.gold_number
        ratios = {"divide", "percent"} & self.cues
        for place, (one, value) in enumerate(terms):
            for other_place, (other, other_value) in enumerate(terms):
                if place == other_place or one == other:
                    continue
                self.sight.work(1)
                if value - other_value == number and number:
                    self._add(Subtract(one, other))
                if place < other_place:
                    both = Add((one, other))
                    if value + other_value == number:
                        self._add(both)
                    if "average" in self.cues and (end := self.sight.ending((value + other_value) / 2)):
                        self._add(end.of(Divide(both, Number("2"))))
                if ratios and other_value:
                    self._ratios(one, value, other, other_value)

    def _ratios(self, one: Expression, value: Decimal, other: Expression, base: Decimal) -> None:
        if end := self.sight.ending(value / base):
            self._add(end.of(Divide(one, other)))
        if end := self.sight.ending(value / base * 100):
            self._add(end.of(Percent(Divide(one, other))))
        if value != base and (end := self.sight.ending((value - base) / base * 100)):
            self._add(end.of(Percent(Divide(Subtract(one, other), other))))

    def _together(self, terms: Sequence[_Term]) -> None:
        """The sum and the average of all the evidence."""
        if not 2 < len(terms) <= _MOST_TOGETHER:
            return
        cells = Add(tuple(cell for cell, _ in terms))
        total = sum((value for _, value in terms), Decimal(0))
        if total == self.sight.gold_number:
            self._add(cells)
        if end := self.sight.ending(total / len(terms)):
            self._add(end.of(Divide(cells, Number(str(len(terms))))))

    def _from_extremes(self, j: int) -> None:
        """The distance of a named row from the largest or smallest value: "how far behind the winner was Bob"."""
        column, number = self.table.column_ids[j], self.sight.gold_number
        known = [key[0] for key in self.sight.keys(j) if key]
        self.sight.work(len(known))
        for i in self.conditions.anchors[:3]:
            value = self.sight.readings[i][j].number
            if value is None or not number:
                continue
            if max(known) - value == number:
                self._add(Subtract(Aggregate("largest", column), self._cell(i, j)))
            if value - min(known) == number:
                self._add(Subtract(self._cell(i, j), Aggregate("smallest", column)))

    # Comparisons

    def comparisons(self) -> None:
        """Which of the rows that the question names has more: the gold answer names it."""
        if len(self.sight.gold) != 1:
            return
        if not {"pick", "largest", "larger", "smallest", "smaller"} & self.cues:
            return
        for j in self.sight.columns:
            masks = self.sight.gold_cells[j]
            named = self._named(j)
            different = {self.sight.readings[i][j].plain for i in named}
            if not masks or not 2 <= len(different) == len(named) <= 4:
                continue
            if any(masks[0] >> i & 1 for i in named):
                for k in self.sight.columns:
                    if k != j and all(self.sight.keys(k)[i] is not None for i in named):
                        self._pick(tuple(Choice(self._cell(i, j), self._cell(i, k)) for i in named))

    def _named(self, j: int) -> list[int]:
        """The rows whose cell the question says; where it says fewer than two, those half of whose words it says."""
        question = self.sight.question
        said = {i: words(self.sight.readings[i][j].bare) for i in sorted(self.conditions.anchors)}
        whole = [i for i, text in said.items() if text in question.phrases]
        if len(whole) > 1:
            return whole
        return [i for i, text in said.items() if text and len(set(text) & question.content) * 2 >= len(text)]

    def _pick(self, choices: tuple[Choice, ...]) -> None:
        self.sight.work(2 * len(choices))
        for which in _WHICH:
            self._add_if_gold(Pick(which, choices))

    def across_columns(self) -> None:
        """Which columns of a named row hold more or less: financial tables have years from left to right."""
        for i in self.conditions.anchors[:4]:
            row = self.table.row_ids[i]
            values = [
                (row, self.table.column_ids[j])
                for j in self.sight.columns
                if self.sight.readings[i][j].number is not None
            ]
            if not 2 <= len(values) <= 20:
                continue
            for labels in self.sight.layout.labels(values):
                texts = [run(label, self.table)[0] for label in labels]
                counted = self.sight.gold_number is not None and all(map(year_in, texts))
                if not self._name_gold(texts) and not counted:
                    continue
                choices = tuple(
                    Choice(label, Cell(*value)) for label, value in zip(labels, values, strict=True)
                )
                if len(self.sight.gold) == 1:
                    self._pick(choices)
                self._those(choices)

    def _name_gold(self, labels: Sequence[str]) -> bool:
        golds = [reading(answer) for answer in self.sight.gold]
        return all(any(names(reading(label), gold) for label in labels) for gold in golds)

    def _those(self, choices: tuple[Choice, ...]) -> None:
        mentioned = self.sight.question.mentioned
        for said, number in self._numbers:
            relations = mentioned[said.bit_length() - 1].relations
            for relation in _BOUNDS:
                if not relations or relation in relations:
                    those = Those(choices, relation, Number(in_digits(number)))
                    self.sight.work(len(choices))
                    self._add_if_gold(those, said)
                    self._add_if_gold(Count(those), said)

    def whether(self) -> None:
        """Comparisons of two numbers whose outcome is the gold word: yes or no, more or less, before or after."""
        word = self.sight.gold[0].strip().lower() if len(self.sight.gold) == 1 else ""
        if word not in _WORDS:
            return
        pair, first = _WORDS[word]
        for j in self.sight.columns:
            if self.sight.kinds[j] != "number":
                continue
            cells = self._terms((i, j) for i in self.conditions.anchors[:4])
            for left, right in permutations(cells, 2):
                self._holds(pair, first, left, right)
            for left in cells:
                for said, number in self._numbers:
                    self._holds(pair, first, left, (Number(in_digits(number)), number), said)
        counts = [
            (one, (Count(one.rows), Decimal(one.mask.bit_count()))) for one in self.conditions.single[:8]
        ]
        for one, count in counts:
            for said, number in self._numbers:
                if not one.said & said:
                    self._holds(pair, first, count, (Number(in_digits(number)), number), said | one.said)
        for (one, count), (other, other_count) in permutations(counts, 2):
            if one.column == other.column and one.equals and other.equals:
                self._holds(pair, first, count, other_count, one.said | other.said)

    def _holds(self, pair: tuple[str, str], first: bool, left: _Term, right: _Term, said: int = 0) -> None:
        self.sight.work(1)
        (one, value), (other, other_value) = left, right
        if value == other_value:
            if first and pair == _YES_NO and "same" in self.sight.question.words:
                self._add(Holds(one, "equals", other, pair), said)
            return
        greater, less = value > other_value, value < other_value
        comparatives = self.sight.question.comparatives
        relations: tuple[tuple[Comparison, bool, str], ...] = (
            ("greater", greater, "larger"),
            ("less", less, "smaller"),
        )
        for relation, holds, cue in relations:
            # A pair says itself which way round it is: "more" is greater, "less" is not.
            asked = cue in comparatives if pair == _YES_NO else relation == _WAYS[pair]
            if holds == first and asked:
                self._add(Holds(one, relation, other, pair), said)
