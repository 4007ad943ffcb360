"""The operations that the search tries, each pruned by the gold answer before a program is built."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import permutations
from typing import Literal

from tableqa.data.answers import compare
from tableqa.programs.cell_readings import names, reading, year_in
from tableqa.programs.conditions import Conditions, RowChoice
from tableqa.programs.indexed_table import SearchContext, bits
from tableqa.programs.layout import words
from tableqa.programs.semantics import in_digits, run
from tableqa.programs.syntax import (
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

_WORDS = {word: (pair, index == 0) for pair in reversed(_WAYS) for index, word in enumerate(pair)}

_Term = tuple[Cell | Count | Number, Decimal]
"""An expression and its value."""


class Candidates:
    """Programs that yield an example's gold answer; `found` holds for each what of the question it uses."""

    def __init__(self, sight: SearchContext, conditions: Conditions) -> None:
        self.sight = sight
        self.table = sight.table
        self.cues = sight.question.cues
        self.conditions = conditions
        self.found: dict[Program, int] = {}
        self.numbers = [
            (1 << index, number)
            for index, mention in enumerate(sight.question.mentions)
            if (number := reading(mention.text).number) is not None
        ]

    def add(self, program: Program, mentions: int = 0) -> None:
        self.sight.work(A_PROGRAM)
        self.found[program] = mentions | self.found.get(program, 0)

    def add_if_gold(self, program: Program, mentions: int = 0) -> None:
        try:
            if compare(run(program, self.table), self.sight.gold).equal:
                self.add(program, mentions)
        except ProgramError:
            pass

    def cell(self, i: int, j: int) -> Cell:
        return Cell(self.table.row_ids[i], self.table.column_ids[j])


# -- texts of the table -----------------------------------------------------------------------------------


def lookups(search: Candidates) -> None:
    """What is in chosen rows, in the row with the most or least of something, and the commonest text."""
    for cell in search.sight.evidence:
        if len(search.sight.gold) == 1:
            search.add_if_gold(Cell(*cell))
    ids = search.table.column_ids
    for choice in search.conditions.choices:
        _select(search, choice, choice.rows, choice.mask)
    for choice in _for_extremes(search):
        _extremes(search, choice)
    for choice in _for_extremes(search):
        for j in search.sight.gold_columns:
            if "most_common" in search.cues or (choice.mask & search.sight.gold_cells[j][0]).bit_count() > 1:
                for which in _WHICH:
                    if _commonest(search, j, choice.mask, which):
                        search.add(MostCommon(which, ids[j], choice.rows), choice.said)


def _for_extremes(search: Candidates) -> list[RowChoice]:
    return [choice for choice in search.conditions.choices if choice.mask.bit_count() > 1][
        :_MOST_FOR_EXTREMES
    ]


def _select(search: Candidates, choice: RowChoice, rows: Rows, mask: int, other_than: int = -1) -> None:
    """Add the columns that hold the gold answers in these rows, or the years that are the gold answers."""
    ids = search.table.column_ids
    for j in search.sight.gold_columns:
        repeats = choice.column == j and choice.equals
        if j != other_than and not repeats and search.sight.is_gold(j, mask):
            search.add(Select(ids[j], rows), choice.said)
    for j, years in search.sight.gold_years.items():
        if mask and not mask & ~years:
            search.add(Year(Select(ids[j], rows)), choice.said)


def _extremes(search: Candidates, choice: RowChoice) -> None:
    ids = search.table.column_ids
    for k in search.sight.columns:
        if search.sight.kinds[k] is None:
            continue
        for which in _WHICH:
            mask = search.sight.extreme(k, choice.mask, which)
            if k in search.sight.gold_columns and search.sight.is_gold(k, mask):
                if not (choice.equals and choice.column == k):
                    search.add(Aggregate(which, ids[k], choice.rows), choice.said)
                if search.sight.gold_columns == [k]:
                    continue
            _select(search, choice, Extreme(which, ids[k], choice.rows), mask, other_than=k)


def _commonest(search: Candidates, j: int, mask: int, which: Which) -> bool:
    groups = search.sight.groups(j, mask)
    sizes = {rows.bit_count() for rows in groups.values()}
    if len(sizes) < 2:
        return False
    best = max(sizes) if which == "largest" else min(sizes)
    return search.sight.is_gold(j, sum(rows for rows in groups.values() if rows.bit_count() == best))


def places(search: Candidates) -> None:
    """What is in the first or last of chosen rows, and in the row above or below."""
    for choice in search.conditions.choices:
        size = choice.mask.bit_count()
        lowest, highest = choice.mask & -choice.mask, 1 << max(choice.mask.bit_length() - 1, 0)
        for end, mask in zip(_ENDS, (lowest, highest), strict=True):
            if size > 1 and end in search.cues:
                _select(search, choice, Place(end, choice.rows), mask)
        beside = choice.mask << 1 & search.sight.everything, choice.mask >> 1
        for side, mask in zip(_SIDES, beside, strict=True):
            if size <= 2 and side in search.cues and not isinstance(choice.rows, AllRows):
                _select(search, replace(choice, column=-1), Beside(side, choice.rows), mask)


# -- counts -----------------------------------------------------------------------------------------------


def counts(search: Candidates) -> None:
    """Counts of rows and of different texts; sums and differences of two counts."""
    number, ids = search.sight.gold_number, search.table.column_ids
    if number is None:
        return
    for choice in search.conditions.choices:
        size = choice.mask.bit_count()
        if size == number:
            search.add(Count(choice.rows), choice.said)
        for j in search.sight.columns:
            if size > number > 1 and len(search.sight.groups(j, choice.mask)) == number:
                search.add(CountDifferent(ids[j], choice.rows), choice.said)
    surest = [choice for choice in search.conditions.single if choice.equals or choice.strength > 2][
        :_MOST_COUNTED
    ]
    for choice, other_choice in permutations(surest, 2):
        if choice.column != other_choice.column:
            continue
        size, other_size = choice.mask.bit_count(), other_choice.mask.bit_count()
        if size - other_size == number > 0:
            search.add(
                Subtract(Count(choice.rows), Count(other_choice.rows)), choice.said | other_choice.said
            )
        if (
            size + other_size == number
            and not choice.mask & other_choice.mask
            and choice.mask < other_choice.mask
        ):
            search.add(Add((Count(choice.rows), Count(other_choice.rows))), choice.said | other_choice.said)
    if 0 < number <= len(search.table.rows):
        _counts_of_unmentioned_texts(search, int(number))
    if not number:
        for choice in search.conditions.empty[:10]:
            search.add(Count(choice.rows), choice.said)


def _counts_of_unmentioned_texts(search: Candidates, count: int) -> None:
    """Counts over a text that the question does not say, in columns where texts repeat: "won" for "W"."""
    for j, column in enumerate(search.table.column_ids):
        groups = search.sight.groups(j, search.sight.everything)
        filled_count = sum(rows.bit_count() for rows in groups.values())
        texts = {
            rows.bit_count(): search.table.rows[next(bits(rows))][j] for rows in reversed(groups.values())
        }
        if search.sight.layout.column_words(column) & search.sight.question.content:
            if filled_count == count < len(search.table.rows):
                search.add(Count(Where(column, "differs", "")))
            if len(groups) <= _MOST_KINDS and filled_count - count in texts:
                search.add(Count(Where(column, "differs", texts[filled_count - count])))
        if count in texts and len(groups) <= max(6, len(search.table.rows) // 2):
            search.add(Count(Where(column, "equals", texts[count])))


# -- aggregates -------------------------------------------------------------------------------------------


def aggregates(search: Candidates) -> None:
    """Sum, average, extremes of columns over chosen rows, and the distance between the extremes."""
    if search.sight.gold_number is None:
        return
    for j in search.sight.columns:
        if search.sight.kinds[j] == "number":
            for choice in search.conditions.choices:
                if choice.mask.bit_count() > 1 and not (choice.equals and choice.column == j):
                    _aggregate(search, j, choice)
            if "subtract" in search.cues:
                _differences_of_sums(search, j)
                _spans(search, j)


def _aggregate(search: Candidates, j: int, choice: RowChoice) -> None:
    column, number = search.table.column_ids[j], search.sight.gold_number
    seen = [search.sight.readings[i][j] for i in bits(choice.mask)]
    search.sight.work(len(seen))
    numbers = [each.number for each in seen if each.number is not None]
    if not numbers:
        return
    largest, smallest = max(numbers), min(numbers)
    if end := search.sight.ending(largest - smallest):
        ends = Aggregate("largest", column, choice.rows), Aggregate("smallest", column, choice.rows)
        search.add(end.of(Subtract(*ends)), choice.said)
    for which, value in zip(_WHICH, (largest, smallest), strict=True):
        if value == number:
            search.add(Aggregate(which, column, choice.rows), choice.said)
    if len(numbers) == sum(not each.silent for each in seen):
        total = sum(numbers, Decimal(0))
        if end := search.sight.ending(total):
            search.add(end.of(Aggregate("sum", column, choice.rows)), choice.said)
        if end := search.sight.ending(total / len(numbers)):
            search.add(end.of(Aggregate("average", column, choice.rows)), choice.said)


def _differences_of_sums(search: Candidates, j: int) -> None:
    """Differences of two sums: "how many more goals at home than away"."""
    column = search.table.column_ids[j]
    sums = []
    for choice in [choice for choice in search.conditions.single if choice.equals][:_MOST_SUMMED]:
        cell_numbers = [search.sight.readings[i][j].number for i in bits(choice.mask)]
        search.sight.work(len(cell_numbers))
        numbers = [number for number in cell_numbers if number is not None]
        if len(numbers) == len(cell_numbers) > 1:
            sums.append((choice, sum(numbers, Decimal(0))))
    for (choice, value), (other_choice, other_value) in permutations(sums, 2):
        if choice.column == other_choice.column and value - other_value == search.sight.gold_number:
            terms = Aggregate("sum", column, choice.rows), Aggregate("sum", column, other_choice.rows)
            search.add(Subtract(*terms), choice.said | other_choice.said)


def _spans(search: Candidates, j: int) -> None:
    """From the smallest number of one column to the largest of another: the years that a table covers."""
    largest = max((key[0] for key in search.sight.keys(j) if key), default=Decimal(0))
    for k, column in enumerate(search.table.column_ids):
        if k != j and search.sight.kinds[k] == "number":
            smallest = min((key[0] for key in search.sight.keys(k) if key), default=Decimal(0))
            search.sight.work(len(search.table.rows))
            if largest - smallest == search.sight.gold_number:
                ends = Aggregate("largest", search.table.column_ids[j]), Aggregate("smallest", column)
                search.add(Subtract(*ends))


# -- arithmetic over single cells -------------------------------------------------------------------------


def arithmetic(search: Candidates) -> None:
    """Two cells of a column in rows that the question names, two cells of such a row, and the evidence."""
    if search.sight.gold_number is None:
        return
    anchors = search.conditions.anchors
    for j in search.sight.columns:
        _pairs(search, _terms(search, [(i, j) for i in anchors]))
    for i in anchors[:4]:
        _pairs(search, _terms(search, [(i, j) for j in search.sight.columns])[:_MOST_CELLS_OF_A_ROW])
    if "subtract" in search.cues:
        for j in search.sight.columns:
            if search.sight.kinds[j] == "number":
                _from_extremes(search, j)
    terms: list[_Term] = [
        (Cell(*cell), value)
        for cell in search.sight.evidence
        if (value := search.sight.layout.value(cell)) is not None
    ]
    _pairs(search, terms[:_MOST_CELLS_OF_A_ROW])
    _totals(search, terms)


def _terms(search: Candidates, places: Iterable[tuple[int, int]]) -> list[_Term]:
    return [(search.cell(i, j), value) for i, j in places if (value := search.sight.number(i, j)) is not None]


def _pairs(search: Candidates, terms: Sequence[_Term]) -> None:
    number = search.sight.gold_number
    ratios = {"divide", "percent"} & search.cues
    for index, (term, value) in enumerate(terms):
        for other_index, (other_term, other_value) in enumerate(terms):
            if index == other_index or term == other_term:
                continue
            search.sight.work(1)
            if value - other_value == number and number:
                search.add(Subtract(term, other_term))
            if index < other_index:
                both = Add((term, other_term))
                if value + other_value == number:
                    search.add(both)
                if "average" in search.cues and (end := search.sight.ending((value + other_value) / 2)):
                    search.add(end.of(Divide(both, Number("2"))))
            if ratios and other_value:
                _ratios(search, term, value, other_term, other_value)


def _ratios(
    search: Candidates, numerator: Expression, value: Decimal, denominator: Expression, base: Decimal
) -> None:
    if end := search.sight.ending(value / base):
        search.add(end.of(Divide(numerator, denominator)))
    if end := search.sight.ending(value / base * 100):
        search.add(end.of(Percent(Divide(numerator, denominator))))
    if value != base and (end := search.sight.ending((value - base) / base * 100)):
        search.add(end.of(Percent(Divide(Subtract(numerator, denominator), denominator))))


def _totals(search: Candidates, terms: Sequence[_Term]) -> None:
    """The sum and the average of all the evidence."""
    if not 2 < len(terms) <= _MOST_TOGETHER:
        return
    cells = Add(tuple(cell for cell, _ in terms))
    total = sum((value for _, value in terms), Decimal(0))
    if total == search.sight.gold_number:
        search.add(cells)
    if end := search.sight.ending(total / len(terms)):
        search.add(end.of(Divide(cells, Number(str(len(terms))))))


def _from_extremes(search: Candidates, j: int) -> None:
    """The distance of a named row from the largest or smallest value: "how far behind the winner was Bob"."""
    column, number = search.table.column_ids[j], search.sight.gold_number
    numbers = [key[0] for key in search.sight.keys(j) if key]
    search.sight.work(len(numbers))
    for i in search.conditions.anchors[:3]:
        value = search.sight.readings[i][j].number
        if value is None or not number:
            continue
        if max(numbers) - value == number:
            search.add(Subtract(Aggregate("largest", column), search.cell(i, j)))
        if value - min(numbers) == number:
            search.add(Subtract(search.cell(i, j), Aggregate("smallest", column)))


# -- comparisons ------------------------------------------------------------------------------------------


def comparisons(search: Candidates) -> None:
    """Which of the rows that the question names has more: the gold answer names it."""
    if len(search.sight.gold) != 1:
        return
    if not {"pick", "largest", "larger", "smallest", "smaller"} & search.cues:
        return
    for j in search.sight.columns:
        masks = search.sight.gold_cells[j]
        named = _named_rows(search, j)
        different = {search.sight.readings[i][j].plain for i in named}
        if not masks or not 2 <= len(different) == len(named) <= 4:
            continue
        if any(masks[0] >> i & 1 for i in named):
            for k in search.sight.columns:
                if k != j and all(search.sight.keys(k)[i] is not None for i in named):
                    _pick(search, tuple(Choice(search.cell(i, j), search.cell(i, k)) for i in named))


def _named_rows(search: Candidates, j: int) -> list[int]:
    """The rows whose cell the question says; where it says fewer than two, those half of whose words it says."""
    question = search.sight.question
    cell_words = {i: words(search.sight.readings[i][j].bare) for i in sorted(search.conditions.anchors)}
    whole = [i for i, text in cell_words.items() if text in question.phrases]
    if len(whole) > 1:
        return whole
    return [
        i for i, text in cell_words.items() if text and len(set(text) & question.content) * 2 >= len(text)
    ]


def _pick(search: Candidates, choices: tuple[Choice, ...]) -> None:
    search.sight.work(2 * len(choices))
    for which in _WHICH:
        search.add_if_gold(Pick(which, choices))


def across_columns(search: Candidates) -> None:
    """Which columns of a named row hold more or less: financial tables have years from left to right."""
    for i in search.conditions.anchors[:4]:
        row = search.table.row_ids[i]
        values = [
            (row, search.table.column_ids[j])
            for j in search.sight.columns
            if search.sight.readings[i][j].number is not None
        ]
        if not 2 <= len(values) <= 20:
            continue
        for labels in search.sight.layout.labels(values):
            texts = [run(label, search.table)[0] for label in labels]
            counted = search.sight.gold_number is not None and all(map(year_in, texts))
            if not _name_gold(search, texts) and not counted:
                continue
            choices = tuple(Choice(label, Cell(*value)) for label, value in zip(labels, values, strict=True))
            if len(search.sight.gold) == 1:
                _pick(search, choices)
            _matching_choices(search, choices)


def _name_gold(search: Candidates, labels: Sequence[str]) -> bool:
    golds = [reading(answer) for answer in search.sight.gold]
    return all(any(names(reading(label), gold) for label in labels) for gold in golds)


def _matching_choices(search: Candidates, choices: tuple[Choice, ...]) -> None:
    mentioned = search.sight.question.mentions
    for mention_bit, number in search.numbers:
        relations = mentioned[mention_bit.bit_length() - 1].relations
        for relation in _BOUNDS:
            if not relations or relation in relations:
                those = Those(choices, relation, Number(in_digits(number)))
                search.sight.work(len(choices))
                search.add_if_gold(those, mention_bit)
                search.add_if_gold(Count(those), mention_bit)


def yes_no_comparisons(search: Candidates) -> None:
    """Comparisons of two numbers whose outcome is the gold word: yes or no, more or less, before or after."""
    word = search.sight.gold[0].strip().lower() if len(search.sight.gold) == 1 else ""
    if word not in _WORDS:
        return
    pair, first = _WORDS[word]
    for j in search.sight.columns:
        if search.sight.kinds[j] != "number":
            continue
        cells = _terms(search, [(i, j) for i in search.conditions.anchors[:4]])
        for cell, other_cell in permutations(cells, 2):
            _add_comparison(search, pair, first, cell, other_cell)
        for cell in cells:
            for mention_bit, number in search.numbers:
                _add_comparison(search, pair, first, cell, (Number(in_digits(number)), number), mention_bit)
    counts = [
        (choice, (Count(choice.rows), Decimal(choice.mask.bit_count())))
        for choice in search.conditions.single[:8]
    ]
    for choice, count in counts:
        for mention_bit, number in search.numbers:
            if not choice.said & mention_bit:
                _add_comparison(
                    search, pair, first, count, (Number(in_digits(number)), number), mention_bit | choice.said
                )
    for (choice, count), (other_choice, other_count) in permutations(counts, 2):
        if choice.column == other_choice.column and choice.equals and other_choice.equals:
            _add_comparison(search, pair, first, count, other_count, choice.said | other_choice.said)


def _add_comparison(
    search: Candidates,
    pair: tuple[str, str],
    first: bool,
    left_term: _Term,
    right_term: _Term,
    mentions: int = 0,
) -> None:
    search.sight.work(1)
    (left_expression, value), (right_expression, other_value) = left_term, right_term
    if value == other_value:
        if first and pair == _YES_NO and "same" in search.sight.question.words:
            search.add(Holds(left_expression, "equals", right_expression, pair), mentions)
        return
    greater, less = value > other_value, value < other_value
    comparatives = search.sight.question.comparatives
    relations: tuple[tuple[Comparison, bool, str], ...] = (
        ("greater", greater, "larger"),
        ("less", less, "smaller"),
    )
    for relation, holds, cue in relations:
        # A pair says itself which way round it is: "more" is greater, "less" is not.
        is_asked_for = cue in comparatives if pair == _YES_NO else relation == _WAYS[pair]
        if holds == first and is_asked_for:
            search.add(Holds(left_expression, relation, right_expression, pair), mentions)
