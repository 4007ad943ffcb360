"""What gold answers say about how they come about: derivations in the network's own terms, each with a weight.

The answers alone leave many derivations open (Herzig et al. 2020 sum over them). Two sources narrow them down. The base
is everything that the network can do and that gives the answers: each cell that says so, each count. The search for
programs (`tableqa.programs.find_programs`) ranks small programs by the words of the question; the share of a program
among those found is the weight of its derivation. Nothing here looks at anything but one question of the training set.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictor.bundled.cell_text import read
from predictor.bundled.decode import difference, in_digits, options, over_rows, year_in
from predictor.bundled.table_features import TableReading
from tableqa.data.answers import compare
from tableqa.data.examples import Example
from tableqa.programs import ProgramError, find_programs, rows_of
from tableqa.programs.syntax import (
    Add,
    Aggregate,
    Cell,
    Choice,
    Count,
    CountDifferent,
    Holds,
    MostCommon,
    Node,
    Pick,
    Program,
    RoundedValue,
    Select,
    Subtract,
    Those,
    Year,
)

BASE = 0.08
"""The weight of a derivation that gives the answers and that no program speaks for."""

MOST_MASKS = 24
MOST_PAIRS = 40
_SOFTNESS = 1.0
"""How far apart two programs' scores are when one is e times as likely as the other."""

Place = tuple[int, int]


@dataclass
class Supervision:
    """Derivations of one question, in rows as the network sees them (R rows, C columns).

    cells    (operation, row * C + column) -> weight: "select" or "year" of that cell
    masks    (operation, column or -1, rows chosen) -> weight: "list", "count", "different", "sum", "average"
    count    how many rows are chosen, whichever they are, and the weight of that; -1 for none
    pairs    (row * C + column, row * C + column) -> weight: "difference" of two cells, in either order
    flags    operation -> weight: "yes", "no", "first_option", "second_option"
    headers  column -> weight: its name
    """

    cells: dict[tuple[str, int], float] = field(default_factory=dict)
    masks: dict[tuple[str, int, tuple[int, ...]], float] = field(default_factory=dict)
    count: int = -1
    count_weight: float = 0.0
    pairs: dict[tuple[int, int], float] = field(default_factory=dict)
    flags: dict[str, float] = field(default_factory=dict)
    headers: dict[int, float] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        return not (self.cells or self.masks or self.pairs or self.flags or self.headers) and self.count < 0

    def to_list(self) -> list[Any]:
        """JSON of a corpus on disk."""
        return [
            [[*key, weight] for key, weight in self.cells.items()],
            [[*key, weight] for key, weight in self.masks.items()],
            [self.count, self.count_weight],
            [[*key, weight] for key, weight in self.pairs.items()],
            list(self.flags.items()),
            list(self.headers.items()),
        ]

    @classmethod
    def from_list(cls, data: list[Any]) -> Supervision:
        """Read what `to_list` wrote."""
        cells, masks, (count, count_weight), pairs, flags, headers = data
        return cls(
            cells={(name, flat): weight for name, flat, weight in cells},
            masks={(name, column, tuple(rows)): weight for name, column, rows, weight in masks},
            count=count,
            count_weight=count_weight,
            pairs={(first, second): weight for first, second, weight in pairs},
            flags=dict(flags),
            headers=dict(headers),
        )


def supervise(example: Example, table: TableReading, rows: NDArray[np.int64]) -> Supervision:
    """The derivations of an example whose table was read as `table` and of which the network sees `rows`."""
    search_result = find_programs(example)
    maker = _SupervisionBuilder(example, table, rows)
    maker.base()
    if search_result.programs:
        scores = np.array(search_result.scores) / _SOFTNESS
        shares = np.exp(scores - scores.max())
        for program, share in zip(search_result.programs, shares / shares.sum(), strict=True):
            maker.program(program, float(share))
    else:
        maker.any_pairs()
    return maker.done()


class _SupervisionBuilder:
    def __init__(self, example: Example, table: TableReading, rows: NDArray[np.int64]) -> None:
        self.question = example.question
        self.answers = [answer for answer in example.answers if answer.strip()]
        self.table = table
        self.width = table.columns
        self.place_of = {int(row): index for index, row in enumerate(rows)}
        self.rows = rows
        self.columns = {name: index for index, name in enumerate(table.table.column_ids[: table.columns])}
        self.out = Supervision()
        self.matching = [self._matching(answer) for answer in self.answers]

    def _matching(self, answer: str) -> set[Place]:
        """The places of the table whose cells say the answer; by the strict rule if any does, else by the wide one."""
        strict: set[str] = set()
        wide: set[str] = set()
        expected = read(answer).normal
        cells = {cell for row in self.table.table.rows for cell in row[: self.width]}
        for cell in cells:
            if not cell.strip():
                continue
            if read(cell).normal == expected:
                strict.add(cell)
            elif len(cell) < 200 and (result := compare([cell], [answer])).equal:
                (strict if result.difference is None else wide).add(cell)
        texts = strict or wide
        return {
            (row, column)
            for row, line in enumerate(self.table.table.rows)
            for column, cell in enumerate(line[: self.width])
            if cell in texts
        }

    # Derivations ---------------------------------------------------------------------------------------------

    def _flat(self, position: Place) -> int | None:
        row = self.place_of.get(position[0])
        return None if row is None or position[1] >= self.width else row * self.width + position[1]

    def _cell(self, operation: str, position: Place, weight: float) -> None:
        if (flat := self._flat(position)) is not None:
            key = (operation, flat)
            self.out.cells[key] = self.out.cells.get(key, 0.0) + weight

    def _mask(self, operation: str, column: int, rows: Iterable[int], weight: float) -> None:
        chosen = sorted(set(rows))
        if not chosen or not all(row in self.place_of for row in chosen) or column >= self.width:
            return
        key = (operation, column, tuple(self.place_of[row] for row in chosen))
        if key in self.out.masks or len(self.out.masks) < MOST_MASKS:
            self.out.masks[key] = self.out.masks.get(key, 0.0) + weight

    def _pair(self, first_position: Place, second_position: Place, weight: float) -> None:
        first, second = self._flat(first_position), self._flat(second_position)
        if first is None or second is None or first == second:
            return
        key = (min(first, second), max(first, second))
        if key in self.out.pairs or len(self.out.pairs) < MOST_PAIRS:
            self.out.pairs[key] = self.out.pairs.get(key, 0.0) + weight

    # The base ------------------------------------------------------------------------------------------------

    def base(self) -> None:
        if len(self.answers) == 1:
            self._add_single_answer(self.answers[0])
        elif self.answers:
            for column in range(self.width):
                rows = [{row for row, where in places if where == column} for places in self.matching]
                if all(rows):
                    self._mask("list", column, set().union(*rows), BASE)

    def _add_single_answer(self, answer: str) -> None:
        for position in self.matching[0]:
            self._cell("select", position, BASE)
        parsed = read(answer)
        if parsed.normal in ("yes", "no"):
            self.out.flags[parsed.normal] = BASE
        for name, word in zip(("first_option", "second_option"), options(self.question) or (), strict=False):
            if word == parsed.normal:
                self.out.flags[name] = BASE
        for column, header in enumerate(self.table.table.header[: self.width]):
            if parsed.normal and read(header).normal == parsed.normal:
                self.out.headers[column] = BASE
        if parsed.kind == 1 and parsed.number == int(parsed.number) and 0 <= parsed.number <= len(self.rows):
            self.out.count, self.out.count_weight = int(parsed.number), BASE
        if parsed.kind == 1 and len(answer.strip()) == 4:
            for row, line in enumerate(self.table.table.rows):
                for column, cell in enumerate(line[: self.width]):
                    if year_in(cell) == answer.strip():
                        self._cell("year", (row, column), BASE)

    def any_pairs(self) -> None:
        """Every pair of a column that is as far apart as the answer says, where no program was found."""
        if len(self.answers) != 1:
            return
        parsed = read(self.answers[0])
        if math.isnan(parsed.number) or parsed.number <= 0:
            return
        numbers = self.table.numbers
        for column in range(self.width):
            with np.errstate(invalid="ignore"):
                apart = np.abs(numbers[:, None, column] - numbers[None, :, column])
            for first_row, second_row in zip(*np.nonzero(np.abs(apart - parsed.number) < 1e-6), strict=True):
                if first_row < second_row:
                    self._pair((int(first_row), column), (int(second_row), column), BASE)

    # Programs ------------------------------------------------------------------------------------------------

    def program(self, program: Program, share: float) -> None:
        try:
            self._program(program, share)
        except (ProgramError, KeyError):
            return  # it reads the table turned round, or names what the network does not see

    def _program(self, program: Program | Node, share: float) -> None:
        table = self.table.table
        match program:
            case Select():
                column, rows = self.columns[program.column], rows_of(program.rows, table)
                if len(self.answers) == 1:
                    self._cells_of("select", [(row, column) for row in rows], share)
                else:
                    self._mask("list", column, rows, share)
            case Year(of=Select() as of):
                self._cells_of(
                    "year", [(row, self.columns[of.column]) for row in rows_of(of.rows, table)], share
                )
            case Year(of=Cell() as of):
                self._cells_of("year", [self._place(of)], share)
            case Count(of=Those() as of):
                self._mask("count", -1, self._labels(of.choices), share)
            case Count():
                rows = rows_of(program.of, table)  # type: ignore[arg-type]
                self._mask("count", -1, rows, share)
                if len(rows) == self.out.count:
                    self.out.count_weight += share
            case CountDifferent():
                rows = rows_of(program.rows, table)
                self._mask("different", self.columns[program.column], rows, share)
            case RoundedValue(of=Aggregate() as of):
                self._program(of, share)
            case Aggregate(function="sum" | "average"):
                column = self.columns[program.column]
                rows = [
                    row
                    for row in rows_of(program.rows, table)
                    if not np.isnan(self.table.numbers[row, column])
                ]
                self._mask(program.function, column, rows, share)
            case Aggregate() | MostCommon():
                column, chosen = self.columns[program.column], set(rows_of(program.rows, table))
                positions = [
                    (row, where) for row, where in self.matching[0] if where == column and row in chosen
                ]
                self._cells_of("select", positions, share)
            case Add(terms=terms) if all(isinstance(term, Cell) for term in terms):
                positions = [self._place(term) for term in terms if isinstance(term, Cell)]
                if len({column for _, column in positions}) == 1:
                    self._mask("sum", positions[0][1], [row for row, _ in positions], share)
            case Subtract():
                self._pair(self._single(program.left), self._single(program.right), share)
            case Pick():
                for choice in program.choices:
                    cell = choice.label
                    if (
                        isinstance(cell, Cell)
                        and cell.row == table.header_id
                        and self.columns[cell.column] in self.out.headers
                    ):
                        self.out.headers[self.columns[cell.column]] += share
                labels = [self._label(choice) for choice in program.choices]
                if len(self.answers) == 1:
                    matching_labels = [position for position in labels if position in self.matching[0]]
                    self._cells_of("select", matching_labels, share)
            case Holds():
                verdict = read(self.answers[0]).normal
                if verdict in ("yes", "no"):
                    self.out.flags[verdict] = self.out.flags.get(verdict, 0.0) + share

    def _cells_of(self, operation: str, positions: Sequence[Place], share: float) -> None:
        for position in positions:
            self._cell(operation, position, share)

    def _place(self, cell: Cell) -> Place:
        return self.table.table.row_ids.index(cell.row), self.columns[cell.column]

    def _label(self, choice: Choice) -> Place:
        label = choice.label.of if isinstance(choice.label, Year) else choice.label
        return (
            self._place(label)
            if isinstance(label, Cell) and label.row in self.table.table.row_ids
            else (-1, 0)
        )

    def _labels(self, choices: Sequence[Choice]) -> list[int]:
        return [row for row, _ in map(self._label, choices)]

    def _single(self, node: Node) -> Place:
        """The one cell that an expression gives the number of. Raises KeyError where it is none."""
        table = self.table.table
        match node:
            case Cell() if node.row in table.row_ids:
                return self._place(node)
            case Aggregate(function="largest" | "smallest"):
                column = self.columns[node.column]
                rows = rows_of(node.rows, table)
                values = self.table.numbers[rows, column]
                if rows and not np.isnan(values).all():
                    best = np.nanargmax(values) if node.function == "largest" else np.nanargmin(values)
                    return rows[int(best)], column
        raise KeyError("no single cell")

    def done(self) -> Supervision:
        """What was found, without what the network would read otherwise: programs pass over other cells than it does,
        and may round."""
        goal, answers = self.out, self.answers
        goal.masks = {
            key: weight for key, weight in goal.masks.items() if self._mask_gives_answers(key, answers)
        }
        goal.pairs = {
            pair: weight for pair, weight in goal.pairs.items() if self._pair_gives_answers(pair, answers)
        }
        return goal

    def _mask_gives_answers(self, key: tuple[str, int, tuple[int, ...]], answers: Sequence[str]) -> bool:
        operation, column, chosen = key
        if operation == "count":
            return compare([str(len(chosen))], answers).equal
        rows = [int(self.rows[row]) for row in chosen]
        return compare(over_rows(operation, rows, column, self.table), answers).equal

    def _pair_gives_answers(self, pair: tuple[int, int], answers: Sequence[str]) -> bool:
        (first_row, first_column), (second_row, second_column) = (divmod(flat, self.width) for flat in pair)
        apart = difference(
            self.table, (int(self.rows[first_row]), first_column), (int(self.rows[second_row]), second_column)
        )
        return apart is not None and compare([in_digits(apart)], answers).equal
