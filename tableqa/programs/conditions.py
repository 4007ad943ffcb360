"""The choices of rows of a question: texts, numbers and rows that it mentions, alone and in pairs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from tableqa.programs.cell_readings import CellReading, contains, reading, same
from tableqa.programs.indexed_table import SearchContext, bits
from tableqa.programs.layout import STOP_WORDS, words
from tableqa.programs.question import NAMES_OF_RESULTS
from tableqa.programs.ranking import TOTALS, alike
from tableqa.programs.syntax import AllRows, Cell, Comparison, Rows, Where

_MOST_SINGLE = 160
_MOST_PAIRS = 160
_MOST_PAIRED = 14
_MOST_WITHOUT_TOTAL = 40
_MOST_ANCHORS = 8
_MOST_OF_A_COLUMN = 60
_LONGEST_CELL = 60
"""Words of a cell that are looked at."""

_LONGEST_PHRASE = 6

_BOUNDS: tuple[Comparison, ...] = ("greater", "less", "at_least", "at_most")


@dataclass(frozen=True, slots=True)
class RowChoice:
    """A choice of rows: as a mask and as a node.

    said      which of the question's numbers and dates it uses, as bits
    strength  how surely it is in the question
    column    the column of a single condition, -1 for others; equals says whether it is one of equality
    pairs     whether it may be half of a pair of conditions
    words     the question's words that it rests on: a pair does not use one twice
    """

    mask: int
    rows: Rows
    said: int = 0
    strength: float = 0.0
    column: int = -1
    equals: bool = False
    pairs: bool = True
    words: frozenset[str] = frozenset()

    @property
    def names(self) -> bool:
        """Whether it is one condition that names rows: it says what a cell is or contains."""
        return isinstance(self.rows, Where) and self.rows.relation in ("equals", "contains")


class Conditions:
    """Finds the choices of rows of one example; `collect` may be cut off, and what was found by then counts."""

    def __init__(self, sight: SearchContext) -> None:
        self.sight = sight
        self.table = sight.table
        self.question = sight.question
        self.empty: list[RowChoice] = []
        self._strongest: dict[int, list[RowChoice]] = {}
        self._naming: list[RowChoice] = []

    def collect(self) -> None:
        """Find the single conditions of the question.

        For each choice of rows the strongest is kept, and one on another column: a town may be the name of its district.
        """
        for source in (self._text_conditions, self._number_conditions, self._relatives):
            for choice in source():
                if not choice.mask:
                    if choice.strength > 2:
                        self.empty.append(choice)
                elif choice.mask != self.sight.everything:
                    if choice.mask.bit_count() <= 2 and choice.names:
                        self._naming.append(choice)
                    self._keep(choice)

    def _keep(self, choice: RowChoice) -> None:
        strongest = self._strongest.setdefault(choice.mask, [])
        same_column = [earlier for earlier in strongest if earlier.column == choice.column]
        if same_column and same_column[0].strength >= choice.strength:
            return
        strongest[:] = sorted(
            [choice, *(earlier for earlier in strongest if earlier.column != choice.column)],
            key=lambda each: -each.strength,
        )[:2]

    @cached_property
    def single(self) -> list[RowChoice]:
        """The single conditions, the strongest first."""
        choices = [choice for strongest in self._strongest.values() for choice in strongest]
        return sorted(choices, key=lambda choice: -choice.strength)[:_MOST_SINGLE]

    @cached_property
    def choices(self) -> list[RowChoice]:
        """All rows, all without a total, then the single conditions and the pairs, each group the strongest first."""
        everything = RowChoice(self.sight.everything, AllRows())
        without = self._without_total()
        pairs: dict[int, RowChoice] = {}
        for choice, other_choice in combinations(
            [choice for choice in self.single if choice.pairs][:_MOST_PAIRED], 2
        ):
            both = _combine(choice, other_choice)
            if both:
                self._keep_pair(both, pairs)
        if without and isinstance(without.rows, Where):
            # A total row is no row of the things that are counted.
            for choice in self.single[:_MOST_WITHOUT_TOTAL]:
                if (mask := choice.mask & without.mask) and mask != choice.mask:
                    rows = replace(without.rows, rows=choice.rows)
                    self._keep_pair(
                        RowChoice(mask, rows, choice.said, choice.strength - 0.2, choice.column), pairs
                    )
        strongest = sorted(pairs.values(), key=lambda choice: -choice.strength)[:_MOST_PAIRS]
        return [everything, *([without] if without else []), *self.single, *strongest]

    def _keep_pair(self, pair: RowChoice, pairs: dict[int, RowChoice]) -> None:
        """Keep a pair of conditions if nothing that the question says as surely chooses the same rows."""
        same_rows = [*self._strongest.get(pair.mask, ()), *([pairs[pair.mask]] if pair.mask in pairs else [])]
        if all(choice.strength < pair.strength for choice in same_rows):
            pairs[pair.mask] = pair

    def _without_total(self) -> RowChoice | None:
        rows = self.table.rows
        if len(rows) < 3:
            return None
        for i in (len(rows) - 1, 0):
            for j, text in enumerate(rows[i]):
                if reading(text).bare in TOTALS:
                    return self._where(j, "differs", text, reading(text), 0, 0.0)
        return None

    def _where(
        self,
        j: int,
        relation: Comparison,
        value: str | Cell,
        seen: CellReading,
        mentions: int,
        strength: float,
    ) -> RowChoice:
        column = self.table.column_ids[j]
        strength += 0.4 * self.sight.ranking.header(column)
        mask = self.sight.rows_that(j, relation, seen)
        used = (
            self.question.content.intersection(words(value)) if isinstance(value, str) else frozenset[str]()
        )
        return RowChoice(
            mask, Where(column, relation, value), mentions, strength, j, relation == "equals", words=used
        )

    # What question and cells have in common

    def _text_conditions(self) -> Iterator[RowChoice]:
        """Conditions on texts that question and cells share."""
        negated = "not" in self.question.cues
        results = {name for word in self.question.words for name in NAMES_OF_RESULTS.get(word, ())}
        for j in self.sight.columns:
            whole: dict[str, str] = {}
            phrases: dict[tuple[str, ...], str] = {}
            for i, row in enumerate(self.table.rows):
                seen = self.sight.readings[i][j]
                if seen.silent:
                    continue
                cell_words = words(seen.bare)[:_LONGEST_CELL]
                if cell_words in self.question.phrases or seen.bare in results or self._is_alike(cell_words):
                    whole.setdefault(seen.plain, row[j])
                for phrase in self._shared_phrases(cell_words):
                    phrases.setdefault(phrase, seen.plain)
            for text in list(whole.values())[:_MOST_OF_A_COLUMN]:
                seen = reading(text)
                cell_words = words(seen.bare)
                strength = 2.0 + 0.5 * len(cell_words) if cell_words in self.question.phrases else 0.8
                yield self._where(j, "equals", text, seen, self._mention_bits(seen), strength)
                if negated:
                    yield self._where(j, "differs", text, seen, self._mention_bits(seen), strength - 0.5)
            for phrase, text in _longest(phrases):
                if surface := _surface(phrase, text):
                    seen = reading(surface)
                    yield self._where(
                        j, "contains", surface, seen, self._mention_bits(seen), 1.2 + 0.5 * len(phrase)
                    )
            for name in sorted(results):
                if any(_begins(row[j].bare, name) for row in self.sight.readings):
                    yield self._where(j, "contains", name, reading(name), 0, 0.9)

    def _mention_bits(self, seen: CellReading) -> int:
        """Which of the question's numbers and dates a text is, as bits."""
        if seen.number is None and not seen.dates:
            return 0
        numbers = enumerate(self.question.mentions)
        return sum(1 << index for index, mention in numbers if same(reading(mention.text), seen))

    def _is_alike(self, text_words: tuple[str, ...]) -> bool:
        return (
            len(text_words) == 1
            and text_words[0][:4] in self._stems
            and alike(text_words, self._non_header_words)
        )

    @cached_property
    def _non_header_words(self) -> tuple[str, ...]:
        """The question's words that name no column: the mountain of "which mountain" is not Mount Keith."""
        headers = frozenset().union(*map(self.sight.layout.column_words, self.table.column_ids))
        return tuple(word for word in self.question.words if word in self.question.content - headers)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(word[:4] for word in self._non_header_words if len(word) > 3 and word.isalpha())

    def _shared_phrases(self, cell_words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """The runs of words that a cell shares with the question; without any, words that begin as one of its words."""
        content = self.question.content
        if content.isdisjoint(cell_words):
            for word in cell_words:
                if self._is_alike((word,)):
                    yield (word,)
            return
        for start, word in enumerate(cell_words):
            if word in STOP_WORDS or word not in content:
                continue
            yield (word,)
            for end in range(start + 2, min(start + _LONGEST_PHRASE, len(cell_words)) + 1):
                if cell_words[start:end] not in self.question.phrases:
                    break
                yield cell_words[start:end]

    # Bounds

    def _number_conditions(self) -> Iterator[RowChoice]:
        """Conditions on numbers and dates that the question says."""
        for index, mention in enumerate(self.question.mentions):
            seen = reading(mention.text)
            for j in self.sight.columns:
                if self.sight.kinds[j] is None:
                    continue
                yield self._where(j, "equals", mention.text, seen, 1 << index, 1.8)
                for relation in _BOUNDS:
                    strength = 2.4 if relation in mention.relations else (0.2 if mention.relations else 0.5)
                    yield self._where(j, relation, mention.text, seen, 1 << index, strength)

    def _relatives(self) -> Iterator[RowChoice]:
        """Conditions that compare with another row's cell: "more points than Bob"."""
        if not {"larger", "smaller", "after", "before"} & self.question.cues:
            return
        for i in self.anchors[:3]:
            for j in self.sight.columns:
                if self.sight.keys(j)[i] is None:
                    continue
                value = Cell(self.table.row_ids[i], self.table.column_ids[j])
                for relation in _BOUNDS[:2]:
                    seen = self.sight.readings[i][j]
                    yield replace(self._where(j, relation, value, seen, 0, 0.6), pairs=False)

    @cached_property
    def anchors(self) -> list[int]:
        """The rows that the question names by a text that few rows have, and those of evidence; the surest first.

        To be asked for once texts and bounds are collected.
        """
        strengths: dict[int, float] = {}
        for row, _ in self.sight.evidence:
            if row in self.table.row_ids:
                strengths[self.table.row_index(row)] = 10.0
        for choice in self._naming:
            for i in bits(choice.mask):
                strengths[i] = max(strengths.get(i, 0.0), choice.strength - choice.mask.bit_count())
        for i, row in enumerate(self.table.row_ids):
            named = self.sight.layout.row_words(row)
            if shared_count := len(named & self.question.content):
                strengths[i] = max(strengths.get(i, 0.0), shared_count / len(named) + 0.3 * shared_count)
        return sorted(strengths, key=lambda i: (-strengths[i], i))[:_MOST_ANCHORS]


def _combine(first: RowChoice, second: RowChoice) -> RowChoice | None:
    """The rows that meet both conditions; None where that is none, or no sense."""
    mask = first.mask & second.mask
    if not mask or first.said & second.said or first.words & second.words:
        return None
    if not isinstance(first.rows, Where) or not isinstance(second.rows, Where):
        return None
    if first.rows.column == second.rows.column and (first.equals or second.equals):
        return None
    rows = replace(second.rows, rows=first.rows)
    return RowChoice(mask, rows, first.said | second.said, first.strength + second.strength - 1.0)


def _longest(phrases: Mapping[tuple[str, ...], str]) -> list[tuple[tuple[str, ...], str]]:
    """Phrases and the texts that they are in, the longest first."""
    return sorted(phrases.items(), key=lambda entry: (-len(entry[0]), entry[0]))[:_MOST_OF_A_COLUMN]


def _surface(phrase: tuple[str, ...], text: str) -> str:
    """The phrase as it is written in the text, "" where it cannot be cut out as whole words: "2007" of "2007-08"."""
    pieces = text.split()
    for start in range(len(pieces)):
        for end in range(start + 1, min(start + len(phrase) + 2, len(pieces)) + 1):
            piece = " ".join(pieces[start:end]).strip(".,;:!?()[]\"'")
            if words(piece) == phrase:
                return piece
    plain = " ".join(phrase)
    return plain if contains(reading(text), reading(plain)) else ""


def _begins(text: str, name: str) -> bool:
    """Whether a text begins with a code: "W 24-10" with "w"."""
    return len(text) > len(name) and text.startswith(name) and not text[len(name)].isalnum()
