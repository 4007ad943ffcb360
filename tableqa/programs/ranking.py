"""How likely it is that a program is what a question means: a small, documented sum over its words.

No model and no training: each line of `score` is one stated assumption. Weights were set by hand on
questions of WikiTableQuestions' train split; the figures in docs/reference/programs.md are of its dev split.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cached_property

from tableqa.data.tables import Table
from tableqa.programs.cell_readings import Kind, kind_of_column, reading
from tableqa.programs.layout import Layout, words
from tableqa.programs.question import NAMES_OF_RESULTS, Question
from tableqa.programs.superlatives import is_about
from tableqa.programs.syntax import (
    Add,
    Aggregate,
    AllRows,
    Beside,
    Cell,
    Choice,
    Count,
    CountDifferent,
    Divide,
    Extreme,
    Holds,
    MostCommon,
    Node,
    Number,
    Percent,
    Pick,
    Place,
    Program,
    Select,
    Subtract,
    Those,
    Where,
    Which,
    Year,
)

_NAMED = 2.0
"""An operation that the question's words may name."""

WHICH: tuple[Which, Which] = ("largest", "smallest")

_HALF_NAMED = 0.7
"""A superlative where the question has a comparative: "larger" for "largest"."""

_COMPARATIVES = {"largest": "larger", "smallest": "smaller"}

_NOT_NAMED = {"largest": -2.5, "smallest": -2.5, "count": -2.0, "sum": -1.5, "pick": -1.0}
_NOT_NAMED_ELSE = -3.0
"""An operation that no word of the question names."""

_LEFT_OUT = {
    "average": -2.5,
    "subtract": -0.6,
    "count": -0.4,
    "largest": -0.8,
    "smallest": -0.8,
    "after": -0.5,
    "before": -0.5,
    "not": -0.3,
    "percent": -0.5,
    "pick": -0.5,
    "holds": -0.5,
}
"""An operation that the question's words may name and the program does not have."""

_NODE = -0.12
"""Each node: of two programs the smaller one."""

_CONSTANT = -0.3
"""Each constant: what is not in the table must come from the question."""

_UNUSED = -0.8
"""Each number, date or cell's text of the question that the program does not use."""

_BY_ITSELF = -1.5
"""A condition on the column whose value is asked for."""

_BY_NAME = 0.3
"""A row that the question names by a whole cell."""

_ABOUT = 1.5
"""The end of a column that a superlative is about: the smallest year for the oldest."""

_NOT_ABOUT = -0.8
"""Another column than one of the table that the superlative is about."""

_LISTED = 1.5
"""The first or last row, or the end of a column that numbers the rows, where the question asks about the list itself."""

_SAME_ROW = 0.8
"""The difference of two cells of one row, where the question asks how long something lasted."""

_NOT_TOLD_APART = -1.0
"""A row of a difference that the question says nothing of but what it says of the other row, too."""

_LISTS = frozenset(words("list listed chart table row"))
_NEGATIONS = frozenset(("not", "no", "never", "without", "none", "didn"))


TOTALS = frozenset(("total", "totals", "all", "overall", "sum", "career", "grand total", "turnout"))
"""What is in a row that holds the totals of the others."""


class Ranking:
    """Scores programs for one question about one table."""

    def __init__(self, table: Table, question: Question, layout: Layout) -> None:
        self.table = table
        self.question = question
        self.layout = layout
        self._kinds: dict[str, Kind | None] = {}

    def score(self, program: Program, mention_count: int = 0) -> float:
        """The higher the likelier; `mention_count` is how many numbers and texts of the question the program uses."""
        operations = set(_operations(program))
        cues = self._cues
        score = 0.0
        for operation in operations:
            if operation in cues:
                score += _NAMED
            elif _COMPARATIVES.get(operation) in cues:
                score += _NAMED if "pick" in operations else _HALF_NAMED
            elif operation in self.question.cues:
                continue  # named by a word that is the name of a column as well
            else:
                score += _NOT_NAMED.get(operation, _NOT_NAMED_ELSE)
        score += sum(weight for name, weight in _LEFT_OUT.items() if name in cues and name not in operations)
        for node in _parts(program):
            score += _NODE + self._part(node)
            if isinstance(node, Number):
                score += _CONSTANT
        return (
            score + self._answer(program) + _UNUSED * max(0, self._unused_mentions(program) - mention_count)
        )

    def _unused_mentions(self, program: Program) -> int:
        """How many of the question's numbers no column of the program has in its header."""
        columns = {node.column for node in program.walk() if hasattr(node, "column")}
        headers = {word for column in columns for word in self.layout.column_words(column)}
        return sum(mention.text not in headers for mention in self.question.mentions)

    @cached_property
    def _cues(self) -> frozenset[str]:
        """The operations that the question names, by words that are not the names of columns: "Final", "Total points"."""
        headers = frozenset().union(*map(self.layout.column_words, self.table.column_ids))
        named = {
            name
            for name, cue_words in self.question.cue_words.items()
            if all(len(words(word)) == 1 and words(word)[0] in headers for word in cue_words)
        }
        return self.question.cues - named

    def _part(self, node: Node) -> float:
        match node:
            case Where():
                return self._condition(node)
            case Place():
                return _LISTED if self._asks_for_the_list else 0.0
            case Subtract(left=Cell() as left_cell, right=Cell() as right_cell):
                return self._pair(left_cell, right_cell)
            case Extreme():
                often = 1.0 if "often" in self.question.cues else 0.0
                score = 1.6 * self.header(node.column) - often + self._end(node.which, node.column)
                if self._asks_for_the_list:
                    return score + (_LISTED if self._numbers_rows(node.column) else -_LISTED)
                return score - self._numbering(node.column)
            case Aggregate():
                return 1.6 * self.header(node.column) + self._end(node.function, node.column)
            case CountDifferent():
                named = 1.2 * self.header(node.column, self.question.counted)
                return named - (0.0 if "different" in self.question.cues else 1.2)
            case MostCommon():
                return 1.2 * self.header(node.column) + (1.0 if "often" in self.question.cues else 0.0)
            case Select():
                return 1.2 * self.header(node.column) + self._selected(node)
            case Holds(left=Cell() as left_cell, right=Cell() as right_cell):
                return 0.6 if self._place(left_cell) < self._place(right_cell) else 0.0
            case Choice(value=Cell() as value):
                named = self._cell(value)
                return (
                    min(named, 0.0) + 0.5 * self.header(value.column) - _NODE - self._numbering(value.column)
                )
            case Cell():
                return self._cell(node)
        return 0.0

    def _selected(self, node: Select) -> float:
        """A value is rarely asked for by itself: "c42 where c42 contains 5". Rows that are named in full by a cell
        that the question says are worth more.
        """
        score = 0.0
        if any(isinstance(part, Beside) for part in node.walk()):
            return score  # "who came after Smith?" asks for the column that names the row
        for condition in node.walk():
            if isinstance(condition, Where):
                if condition.column == node.column:
                    score += _BY_ITSELF
                elif condition.relation == "equals" and isinstance(condition.value, str):
                    score += _BY_NAME if words(condition.value) in self.question.phrases else 0.0
        return score

    def _condition(self, node: Where) -> float:
        """A condition whose value the question says is worth more the longer the value is, and one it does not say, less."""
        score = 0.6 * self.header(node.column)
        score -= self._numbering(node.column)
        if node.relation == "differs" and isinstance(node.value, str) and reading(node.value).bare in TOTALS:
            return -0.2
        if not isinstance(node.value, str):
            return score - (1.0 if "than" in self.question.words else 2.5)
        if node.relation in ("greater", "less", "at_least", "at_most"):
            relations = next(
                (mention.relations for mention in self.question.mentions if mention.text == node.value), None
            )
            if relations is None:
                return score - 3.0
            if node.relation in relations:
                return score + 2.2
            return score - (1.5 if relations else 2.0)
        value = words(node.value)
        if value in self.question.phrases or not value:
            score += 1.2 + 0.4 * min(len(value), 5)
            if self.layout.column_words(node.column).issuperset(value):
                score -= 1.2  # the question names the column, and not what is in it
            if node.relation == "contains":
                score -= 0.15 + self._piecewise(node)
        elif len(value) > 1 and _in_order(value, self.question.words):
            score += 1.0 + 0.4 * min(len(value), 5)
        elif value == ("0",) and node.relation == "equals" and not _NEGATIONS.isdisjoint(self.question.words):
            score += 1.0  # "did not win": no wins
        elif any(mention.text == node.value for mention in self.question.mentions):
            score += 1.0
        elif any(
            value == words(name) for word in self.question.words for name in NAMES_OF_RESULTS.get(word, ())
        ):
            score += 1.2
        elif alike(value, self.question.words):
            score += 0.8
        else:
            score -= 2.5
        return score

    def _piecewise(self, node: Where) -> float:
        """What a part of a cell is worth less where another part of it is a condition already: one text is named."""
        others = (part for part in node.rows.walk() if isinstance(part, Where))
        return (
            1.5
            if any(
                condition.column == node.column and condition.relation == "contains" for condition in others
            )
            else 0.0
        )

    def header(self, column: str, among: frozenset[str] | None = None) -> float:
        """The share of a header's words that the question says, and a little for the first; or some of its words."""
        names = self.layout.column_words(column)
        if not names:
            return 0.0
        among = self.question.content if among is None else among
        shared_words = names & among
        if not shared_words:
            shared_words = frozenset(name for name in names if alike((name,), tuple(among)))
        return len(shared_words) / len(names) + (0.2 if shared_words else 0.0)

    def _cell(self, node: Cell) -> float:
        if node.row not in self.table.row_ids:
            return 0.0
        row = self.table.rows[self.table.row_index(node.row)]
        named = max((self._named(text) for text in row), default=0.0)
        return 0.7 * self.header(node.column) + (named if named else -1.5)

    def _place(self, node: Cell) -> int:
        """Where the question first says a word of a cell's row."""
        if node.row not in self.table.row_ids:
            return len(self.question.words)
        named = {word for text in self.table.rows[self.table.row_index(node.row)] for word in words(text)}
        places = [
            index
            for index, word in enumerate(self.question.words)
            if word in named and word in self.question.content
        ]
        return places[0] if places else len(self.question.words)

    def _named(self, text: str) -> float:
        value = words(text)
        if value and value in self.question.phrases:
            return 1.0 + 0.2 * min(len(value), 4)
        shared_words = self.layout.question & frozenset(value)
        return 0.6 * len(shared_words) / len(value) if value else 0.0

    def _numbering(self, column: str) -> float:
        """A little for a column that only numbers the rows, unless the question names it: few are about that."""
        return 0.5 if self._numbers_rows(column) and not self.header(column) else 0.0

    def _numbers_rows(self, column: str) -> bool:
        cells = self.table.column(column)
        return len(cells) > 2 and all(_ordinal(text) == i for i, text in enumerate(cells[:6], 1))

    @cached_property
    def _asks_for_the_list(self) -> bool:
        """Whether the question asks for the first or last of the list, and not of what it lists."""
        ends = {"first", "last", "top", "bottom"}
        return not _LISTS.isdisjoint(self.question.words) and not ends.isdisjoint(self.question.words)

    def _end(self, which: str, column: str) -> float:
        """Whether a superlative of the question is about this end of the column, or about one of another column."""
        if which not in ("largest", "smallest") or not self._ends:
            return 0.0
        if (which, column) in self._ends:
            return _ABOUT
        return 0.0 if self.header(column) else _NOT_ABOUT

    @cached_property
    def _ends(self) -> frozenset[tuple[str, str]]:
        """The ends of columns that the question's superlatives are about."""
        return frozenset(
            (which, column)
            for column in self.table.column_ids
            for which in WHICH
            if is_about(
                self.question.words,
                which,
                self.layout.column_words(column),
                is_date=self._kind(column) == "date",
            )
        )

    def _pair(self, left_cell: Cell, right_cell: Cell) -> float:
        """Two cells of one row for a time that passed; of two rows, each must be named by something of its own."""
        if left_cell.row == right_cell.row:
            return _SAME_ROW if "how long" in self.question.text else 0.0
        words_by_cell = [self._said(cell) for cell in (left_cell, right_cell)]
        return sum(
            _NOT_TOLD_APART for own, other in (words_by_cell, reversed(words_by_cell)) if own and own < other
        )

    def _said(self, node: Cell) -> frozenset[str]:
        """The words of a cell's row that the question says."""
        if node.row not in self.table.row_ids:
            return frozenset()
        row = self.table.rows[self.table.row_index(node.row)]
        return self.question.content & {word for text in row for word in words(text)}

    def _kind(self, column: str) -> Kind | None:
        if column not in self._kinds:
            self._kinds[column] = kind_of_column(self.table.column(column))
        return self._kinds[column]

    def _answer(self, program: Program) -> float:
        """Whether the sort of answer is the one asked for: "when", "who", "how many"."""
        text = self.question.text
        if isinstance(program, Year):
            return (0.8 if "year" in self.question.words else -0.8) - 0.3
        if not isinstance(program, Select | Cell):
            return 0.0
        kind = self._kind(program.column)
        header = self.layout.column_words(program.column)
        if (
            "when" in self.question.words
            or "date" in self.question.words
            or "what year" in text
            or "which year" in text
        ):
            return 0.8 if kind == "date" or header & {"year", "date", "season", "day", "month"} else -0.8
        if "who" in self.question.words or "name" in self.question.words:
            return -0.8 if kind is not None else 0.3
        if "how many" in text or "how much" in text:
            return 0.6 if kind == "number" else -0.8
        return -0.4 if kind == "number" and not self.header(program.column) else 0.0


def _parts(node: Node) -> Iterator[Node]:
    """The node and all in it, but not what is in a choice: five years compared are no better than two."""
    yield node
    if not isinstance(node, Choice):
        for inner in node.inner():
            yield from _parts(inner)


def _operations(program: Node) -> Iterator[str]:
    for node in program.walk():
        match node:
            case Count():
                yield "count"
            case CountDifferent():
                yield "count"
            case Aggregate():
                yield node.function
            case Divide(left=Add(), right=Number()):
                yield "average"
            case Divide():
                yield "divide"
            case Percent():
                yield "percent"
            case Subtract():
                yield "subtract"
            case Add():
                yield "sum"
            case Extreme() | Place():
                yield node.which
            case Pick():
                yield node.which
                yield "pick"
            case Beside():
                yield node.which
            case MostCommon():
                yield "most_common"
            case Holds():
                yield "holds"
            case Where(relation="differs", value=value):
                if not isinstance(value, str) or (value and reading(value).bare not in TOTALS):
                    yield "not"
            case Those() | AllRows():
                continue


def _ordinal(text: str) -> Decimal | None:
    """The number of "3", "3." or "3rd"."""
    return reading(re.sub(r"(?<=\d)(?:st|nd|rd|th|\.)$", "", text.strip().lower())).number


def _in_order(value: tuple[str, ...], among: tuple[str, ...], gap: int = 2) -> bool:
    """Whether words are among others in their order, each at most `gap` words after the one before it."""
    for start, word in enumerate(among):
        if word != value[0]:
            continue
        position = start
        for next_word in value[1:]:
            after = among[position + 1 : position + 2 + gap]
            if next_word not in after:
                break
            position += 1 + after.index(next_word)
        else:
            return True
    return False


def alike(value: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether one of some words begins as one of others does: Canada and Canadian."""
    return any(
        len(word) > 3
        and len(other) > 3
        and word[:4] == other[:4]
        and (word[:5] == other[:5] or min(len(word), len(other)) < 6)
        for word in value
        for other in others
        if word not in ("with", "from", "that")
    )
