"""What each automatic perturbation does to a table, as operations on it."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from tableqa.core.translation import Message, message
from tableqa.data.answers import texts_that_say
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.operations import (
    Edit,
    InsertColumn,
    InsertRow,
    MaskCells,
    MoveColumn,
    MoveRow,
    Operation,
    RemoveColumn,
    RemoveRow,
    RenameHeader,
    Transpose,
    normalise,
    replay,
)
from tableqa.operations.order import changes_of_order
from tableqa.perturbations.contracts import Contract
from tableqa.perturbations.question_types import structure_words
from tableqa.programs.evidence import evidence

SEED = 33
EMPTY_ROWS = 2
"""How many empty rows `torr_empty_rows` inserts."""

# Why nothing was made; kept with a run, in English. Pages say it in the reader's language.
NO_ROW = message("perturbations.no_row", "No row contains the answer.")
NO_ANSWER_COLUMN = message("perturbations.no_answer_column", "No column contains the answer.")
ONLY_ONE = message("perturbations.only_one", "There is only one row or column.")
THERE_ALREADY = message(
    "perturbations.there_already", "The rows or columns are already in the target region."
)
NO_COLUMN = message("perturbations.no_column", "The table has no columns.")
NOTHING_TO_SWAP = message(
    "perturbations.nothing_to_swap", "There is only one row or column, so a swap is impossible."
)
AS_IT_WAS = message("perturbations.as_it_was", "The table is unchanged.")
NOT_SAID = message("perturbations.not_said", "The relevant cells are unknown.")
NO_ROOM = message("perturbations.no_room", "{number} rows or columns do not fit into {places} positions.")
ASKS_FOR_A_POSITION = message(
    "perturbations.asks_for_a_position", "The question asks for a position ({word})."
)


class NotApplicable(Exception):
    """The perturbation does not apply to this example."""

    def __init__(self, why: Message) -> None:
        self.why = why
        super().__init__(why)


class Order(NamedTuple):
    """The rows and the columns of a table in a new order; None where they stay."""

    rows: Sequence[str] | None = None
    columns: Sequence[str] | None = None

    def operations(self, table: Table) -> list[Operation]:
        """The fewest moves that lead there from the table: the net list of any others (`normalise`)."""
        columns = changes_of_order(table.column_ids, self.columns or ()).moves
        rows = changes_of_order(table.row_ids, self.rows or ()).moves
        return [
            *(MoveColumn(column=id, after=left_neighbour) for id, left_neighbour in columns),
            *(MoveRow(row=id, after=above) for id, above in rows),
        ]


Change = Order | tuple[Operation, ...]
Make = Callable[[Example, random.Random], Change]


@dataclass(frozen=True)
class PerturbationResult:
    """What a perturbation made of an example.

    A no-op has the example as it was, no operations, and the reason. `base` is the table before, `change` what was done
    to it, as it was drawn; `operations` are worked out of that when they are needed.
    """

    example: Example
    base: Table
    change: Change
    is_noop: bool
    reason: str = ""

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """The net list of operations that lead from the base to the new table."""
        if self.is_noop:
            return ()
        change = self.change
        return tuple(
            change.operations(self.base) if isinstance(change, Order) else normalise(change, self.base)
        )

    def _repr_html_(self) -> str:
        """The perturbed table with each change marked, for a notebook."""
        return Edit(self.base, self.operations)._repr_html_()


_STAYS = Contract(table="differs", answer="stays", cell_format="ignore")
_ANY = Contract(table="differs", answer="any", cell_format="ignore")
_GONE = Contract(table="gone", answer="any", cell_format="ignore")


@dataclass(frozen=True)
class Perturbation:
    """One kind: its title, its paper, how it is made, and the contract that it keeps.

    `seeded` is False where nothing is drawn, and every seed gives the same.
    """

    title: Message
    paper: str
    make: Make
    contract: Contract = _STAYS
    seeded: bool = True

    @cached_property
    def name(self) -> str:
        """Its name in the published files, which the code of its title ends with."""
        return self.title.code.removeprefix("perturbations.")

    def __call__(self, example: Example, seed: int = SEED) -> PerturbationResult:
        """Perturb the example; equal arguments, equal result, on any machine."""
        rng = random.Random(f"{self.name}:{seed}:{example.id}")
        base = example.table
        try:
            change = self.make(example, rng)
            table = _apply_change(base, change)
        except NotApplicable as nothing:
            return PerturbationResult(example, base, (), True, nothing.why)
        if table.same_content(base):
            return PerturbationResult(example, base, (), True, AS_IT_WAS)
        return PerturbationResult(example.over(table), base, change, False)


def _apply_change(base: Table, change: Change) -> Table:
    if base.spans:
        return replay(base, change.operations(base) if isinstance(change, Order) else change)
    if isinstance(change, Order):
        return base.in_order(change.rows, change.columns)
    if base.header and all(isinstance(operation, Transpose) for operation in change) and len(change) == 1:
        return base.turned()
    return replay(base, change)


# -- which rows and columns -------------------------------------------------------------------------


_looked_up: tuple[Example | None, tuple[tuple[str, str], ...]] = (None, ())


def target_cells(example: Example) -> tuple[tuple[str, str], ...]:
    """The cells that the answer is in: marked evidence, else every cell that says one of the answers."""
    global _looked_up  # the kinds and seeds of one example follow each other, and looking costs more than moving
    last, cells = _looked_up
    if last is not example:
        cells = _target_cells(example)
        _looked_up = (example, cells)
    return cells


def _target_cells(example: Example) -> tuple[tuple[str, str], ...]:
    if source_evidence := evidence(example):
        return source_evidence.cells
    table = example.table
    telling = texts_that_say(set(chain.from_iterable(table.rows)), example.answers)
    return tuple(
        (row_id, column_id)
        for row_id, row in zip(table.row_ids, table.rows, strict=True)
        for column_id, text in zip(table.column_ids, row, strict=True)
        if text in telling
    )


def _target_rows(example: Example) -> list[str]:
    cells = target_cells(example)
    rows = [id for id in example.table.row_ids if any(row == id for row, _ in cells)]
    if not rows:
        raise NotApplicable(NO_ROW)
    return rows


def _target_columns(example: Example) -> list[str]:
    cells = target_cells(example)
    columns = [id for id in example.table.column_ids if any(column == id for _, column in cells)]
    if not columns:
        raise NotApplicable(NO_ANSWER_COLUMN)
    return columns


def third(name: str, n: int) -> range:
    """The places of the front, middle or bottom third of n rows; front and bottom are equally long."""
    edge = max(1, n // 3)
    return {"front": range(edge), "middle": range(edge, n - edge), "bottom": range(n - edge, n)}[name]


def half(name: str, n: int) -> range:
    """The places of the front or back half of n columns; a column in the very middle is in neither."""
    edge = max(1, n // 2)
    return {"front": range(edge), "back": range(n - edge, n)}[name]


def _order_with_targets_in(
    ids: Sequence[str], targets: Sequence[str], region: range, rng: random.Random
) -> list[str]:
    """The ids in a new order: targets, in their order, at random places of the region, the others as they were."""
    if len(ids) < 2:
        raise NotApplicable(ONLY_ONE)
    if all(ids.index(id) in region for id in targets) and len(region) < len(ids):
        raise NotApplicable(THERE_ALREADY)
    if len(targets) > len(region):
        raise NotApplicable(NO_ROOM.format(number=len(targets), places=len(region)))
    places = dict(zip(sorted(rng.sample(region, len(targets))), targets, strict=True))
    others = iter([id for id in ids if id not in targets])
    return [places[position] if position in places else next(others) for position in range(len(ids))]


# -- the kinds --------------------------------------------------------------------------------------


def _row_shuffle(example: Example, rng: random.Random) -> Change:
    order = list(example.table.row_ids)
    rng.shuffle(order)
    return Order(rows=order)


def _col_shuffle(example: Example, rng: random.Random) -> Change:
    order = list(example.table.column_ids)
    rng.shuffle(order)
    return Order(columns=order)


def _no_position(make: Make) -> Make:
    """RobuT leaves out questions about absolute position."""

    def make_unless_positional(example: Example, rng: random.Random) -> Change:
        if position_words := structure_words(example.question):
            raise NotApplicable(ASKS_FOR_A_POSITION.format(word=repr(position_words[0])))
        return make(example, rng)

    return make_unless_positional


def _target_row(region: str | None) -> Make:
    def make_change(example: Example, rng: random.Random) -> Change:
        ids = example.table.row_ids
        places = range(len(ids)) if region is None else third(region, len(ids))
        return Order(rows=_order_with_targets_in(ids, _target_rows(example), places, rng))

    return make_change


def _target_col(region: str | None) -> Make:
    def make_change(example: Example, rng: random.Random) -> Change:
        ids = example.table.column_ids
        places = range(len(ids)) if region is None else half(region, len(ids))
        return Order(columns=_order_with_targets_in(ids, _target_columns(example), places, rng))

    return make_change


def _relevant_rows(example: Example, rng: random.Random) -> Change:
    if evidence(example) is None:
        raise NotApplicable(NOT_SAID)
    return _target_row(None)(example, rng)


def _mask_cell(example: Example, rng: random.Random) -> Change:
    source_evidence = evidence(example)
    cells = (
        [cell for cell in source_evidence.cells if cell[0] in example.table.row_ids]
        if source_evidence
        else []
    )
    if not cells:
        raise NotApplicable(NOT_SAID)
    return (MaskCells(cells=tuple(cells), replacement=""),)


def _escape_table(example: Example, rng: random.Random) -> Change:
    table = example.table
    if not table.column_ids:
        raise NotApplicable(NO_COLUMN)
    first, *others = table.column_ids
    rows: list[Operation] = [
        RemoveRow(row=id, old=row) for id, row in zip(table.row_ids, table.rows, strict=True)
    ]
    after_rows = replay(table, rows)
    columns = [
        RemoveColumn(column=id, old=(after_rows.header[after_rows.column_index(id)],)) for id in others
    ]
    return (*rows, *columns, RenameHeader(column=first, old=table.header[0], new="None"))


def _transpose(example: Example, rng: random.Random) -> Change:
    if not example.table.column_ids:
        raise NotApplicable(NO_COLUMN)
    return (Transpose(),)


def _torr_transpose(example: Example, rng: random.Random) -> Change:
    table = example.table
    name = _new_id(table.column_ids)
    row_numbers = tuple(str(index) for index in range(len(table.rows)))
    return (InsertColumn(column=name, after=None, header="", cells=row_numbers), Transpose())


def _torr_row_swap(example: Example, rng: random.Random) -> Change:
    return Order(rows=_swap_two(example.table.row_ids, rng))


def _torr_column_swap(example: Example, rng: random.Random) -> Change:
    return Order(columns=_swap_two(example.table.column_ids, rng))


def _swap_two(ids: Sequence[str], rng: random.Random) -> list[str]:
    if len(ids) < 2:
        raise NotApplicable(NOTHING_TO_SWAP)
    order = list(ids)
    first, second = rng.sample(range(len(order)), 2)
    order[first], order[second] = order[second], order[first]
    return order


def _torr_empty_rows(example: Example, rng: random.Random) -> Change:
    table = example.table
    order: list[str] = list(table.row_ids)
    operations: list[Operation] = []
    for _ in range(EMPTY_ROWS):
        name, position = _new_id([*table.all_row_ids, *order]), rng.randint(0, len(order))
        after = order[position - 1] if position else None
        operations.append(InsertRow(row=name, after=after, cells=("",) * len(table.header)))
        order.insert(position, name)
    return tuple(operations)


def _new_id(ids: Sequence[str]) -> str:
    return next(name for suffix in range(1, len(ids) + 2) if (name := f"n{suffix}") not in ids)


FREB, ROBUT, TORR = "FREB-TQA", "RobuT", "ToRR"

PERTURBATIONS: dict[str, Perturbation] = {
    perturbation.name: perturbation
    for perturbation in (
        Perturbation(message("perturbations.row_shuffle", "All rows in a random order"), FREB, _row_shuffle),
        Perturbation(
            message("perturbations.col_shuffle", "All columns in a random order"), FREB, _col_shuffle
        ),
        Perturbation(
            message("perturbations.target_row_random", "Rows of the answer at a random place"),
            FREB,
            _target_row(None),
        ),
        Perturbation(
            message("perturbations.target_row_front", "Rows of the answer in the first third"),
            FREB,
            _target_row("front"),
        ),
        Perturbation(
            message("perturbations.target_row_middle", "Rows of the answer in the middle third"),
            FREB,
            _target_row("middle"),
        ),
        Perturbation(
            message("perturbations.target_row_bottom", "Rows of the answer in the last third"),
            FREB,
            _target_row("bottom"),
        ),
        Perturbation(
            message("perturbations.target_col_random", "Columns of the answer at a random place"),
            FREB,
            _target_col(None),
        ),
        Perturbation(
            message("perturbations.target_col_front", "Columns of the answer in the first half"),
            FREB,
            _target_col("front"),
        ),
        Perturbation(
            message("perturbations.target_col_back", "Columns of the answer in the second half"),
            FREB,
            _target_col("back"),
        ),
        Perturbation(
            message("perturbations.transpose", "Rows become columns"), FREB, _transpose, seeded=False
        ),
        Perturbation(
            message("perturbations.mask_cell", "The relevant cells are emptied"),
            FREB,
            _mask_cell,
            contract=_ANY,
            seeded=False,
        ),
        Perturbation(
            message("perturbations.escape_table", "One cell “None” instead of the table"),
            FREB,
            _escape_table,
            contract=_GONE,
            seeded=False,
        ),
        Perturbation(
            message("perturbations.relevant_row_shuffle", "Rows of the relevant cells at random places"),
            FREB,
            _relevant_rows,
        ),
        Perturbation(
            message("perturbations.row", "All rows in a random order, except for questions about a position"),
            ROBUT,
            _no_position(_row_shuffle),
        ),
        Perturbation(
            message(
                "perturbations.column", "All columns in a random order, except for questions about a position"
            ),
            ROBUT,
            _no_position(_col_shuffle),
        ),
        Perturbation(message("perturbations.torr_row_swap", "Two rows change places"), TORR, _torr_row_swap),
        Perturbation(
            message("perturbations.torr_column_swap", "Two columns change places"), TORR, _torr_column_swap
        ),
        Perturbation(
            message(
                "perturbations.torr_transpose", "Rows become columns, with the columns’ numbers as header"
            ),
            TORR,
            _torr_transpose,
            seeded=False,
        ),
        Perturbation(
            message("perturbations.torr_empty_rows", "Two empty rows at random places"),
            TORR,
            _torr_empty_rows,
        ),
    )
}
"""Every automatic perturbation by its name in the published files."""
