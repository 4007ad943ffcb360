"""SUC's seven tasks: what is asked of a table's structure, and every answer that is right."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tableqa.data.tables import Table
from tableqa.scoring.structural_tasks.prompt_designs import (
    BASELINE,
    Design,
    Part,
    Prompt,
    SolvedExample,
    build,
)
from tableqa.serialisations import SERIALISATIONS

SEED = 33
JOIN = "|"
NONE = "None"


class NotApplicable(ValueError):
    """The task cannot be asked of this table; the message says why."""


@dataclass(frozen=True)
class StructuralRequest:
    """A request, and the answers that are right, the first of them the one that a solved item shows."""

    request: str
    accepted: tuple[str, ...]


@dataclass(frozen=True)
class StructuralItem:
    """One item of SUC: a prompt about a table and the answers that are right.

    accepted     the right answers, each as one string; where several positions hold the value, each of them
    not_shown    what the serialisation leaves out of the table: a question about merged cells cannot be answered from a
                 text that has none
    """

    task: str
    seed: int
    table: Table
    design: Design
    request: str
    prompt: Prompt
    accepted: tuple[str, ...]
    not_shown: tuple[str, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The named parts of the prompt, in their order."""
        return self.prompt.parts

    @property
    def text(self) -> str:
        """The whole prompt."""
        return self.prompt.text

    def is_right(self, answer: str) -> bool:
        """Whether an answer is one of the accepted; blanks around it and around | do not matter, nor does a final stop."""
        return is_accepted(answer, self.accepted)

    def solved(self) -> SolvedExample:
        """This item with its answer, to be shown before another one."""
        return SolvedExample(self.table, self.request, self.accepted[0])


def is_accepted(answer: str, accepted: Sequence[str]) -> bool:
    """What `StructuralItem.is_right` says, from the accepted answers alone."""
    answer_forms = {_plain(answer), _plain(answer.strip().removesuffix("."))}
    return any(_plain(right) in answer_forms for right in accepted)


def _plain(answer: str) -> str:
    return re.sub(" ?[|] ?", "|", " ".join(answer.split()))


@dataclass(frozen=True)
class StructuralTask:
    """One of the seven tasks; calling it makes an item."""

    name: str
    title: str
    ask: Callable[[Table, random.Random], StructuralRequest]

    def __call__(
        self,
        table: Table,
        seed: int = SEED,
        design: Design = BASELINE,
        solved: SolvedExample | StructuralItem | None = None,
    ) -> StructuralItem:
        """The item of this task about `table`; equal arguments, equal item, on any machine and in every design.

        What is asked depends on the table and the seed alone, so that designs are compared on the same questions.
        NotApplicable where the table has nothing to ask about; ValueError for a design that cannot be built, or that says
        the answer (the size of the table, in size_detection).
        """
        if design.table_size and self.name == "size_detection":
            raise ValueError("the switch table_size says what size_detection asks for")
        drawn_request = self.ask(table, random.Random(f"{self.name}:{seed}:{table.digest()}"))
        shot = solved.solved() if isinstance(solved, StructuralItem) else solved
        return StructuralItem(
            task=self.name,
            seed=seed,
            table=table,
            design=design,
            request=drawn_request.request,
            prompt=build(table, drawn_request.request, design, shot),
            accepted=drawn_request.accepted,
            not_shown=SERIALISATIONS[design.serialisation].leaves_out(table),
        )


_COUNTED = "Rows and columns are counted from 0; the header is not counted as a row."


def _table_partition(table: Table, rng: random.Random) -> StructuralRequest:
    first = (table.header_rows or (table.header,))[0][:1]
    body = [table.rows[0][:1], table.rows[-1][-1:]] if table.rows and table.header else []
    if not body or not first:
        raise NotApplicable("The table has no cell.")
    # The paper does not say whether the header belongs to the table's bounds; its code takes the first row below it.
    accepted = dict.fromkeys(JOIN.join((start[0], body[1][0])) for start in (first, body[0]))
    request = (
        "What does the first cell of the table say, and what does its last cell say? "
        f"Answer with the two texts and “{JOIN}” between them."
    )
    return StructuralRequest(request, tuple(accepted))


def _cell_lookup(table: Table, rng: random.Random) -> StructuralRequest:
    places: dict[str, list[str]] = {}
    for i, row in enumerate(table.rows):
        for j, cell in enumerate(row):
            if text := " ".join(cell.split()):
                places.setdefault(text, []).append(f"{i}{JOIN}{j}")
    if not places:
        raise NotApplicable("The table has no cell that says anything.")
    text = rng.choice(list(places))
    several = "If several cells say this, name any one of them. " if len(places[text]) > 1 else ""
    request = (
        f"Where is the cell that says “{text}”? {several}Answer with the number of its row and the number of its column and "
        f"“{JOIN}” between them, for example 2{JOIN}3. {_COUNTED}"
    )
    return StructuralRequest(request, tuple(places[text]))


def _reverse_lookup(table: Table, rng: random.Random) -> StructuralRequest:
    places = [(i, j) for i, row in enumerate(table.rows) for j, cell in enumerate(row) if cell.strip()]
    if not places:
        raise NotApplicable("The table has no cell that says anything.")
    i, j = rng.choice(places)
    request = f"What does the cell in row {i} and column {j} say? Answer with its text alone. {_COUNTED}"
    return StructuralRequest(request, (table.rows[i][j],))


def _column_retrieval(table: Table, rng: random.Random) -> StructuralRequest:
    places = [j for j, name in enumerate(table.header) if name.strip()]
    if not places:
        raise NotApplicable("No column of the table has a name.")
    j = rng.choice(places)
    request = f"What is the name of column {j}? Answer with the name alone. Columns are counted from 0."
    return StructuralRequest(request, (table.header[j],))


def _row_retrieval(table: Table, rng: random.Random) -> StructuralRequest:
    places = [i for i, row in enumerate(table.rows) if any(cell.strip() for cell in row)]
    if not places:
        raise NotApplicable("The table has no row that says anything.")
    i = rng.choice(places)
    request = f"What do the cells of row {i} say? Answer with their texts in order and “{JOIN}” between them. {_COUNTED}"
    return StructuralRequest(request, (JOIN.join(table.rows[i]),))


def _size_detection(table: Table, rng: random.Random) -> StructuralRequest:
    rows, columns = table.shape
    request = (
        "How many rows and how many columns has the table? The header is not counted as a row. "
        f"Answer with the two numbers and “{JOIN}” between them, for example 2{JOIN}3."
    )
    return StructuralRequest(request, (f"{rows}{JOIN}{columns}",))


def _merged_cell_detection(table: Table, rng: random.Random) -> StructuralRequest:
    columns = sorted({table.column_ids.index(span.column) for span in table.spans})
    request = (
        "In which columns does a merged cell begin, that is, one that reaches over more than one column or row? "
        f"Answer with the numbers of these columns, the smallest first, and “{JOIN}” between them, for example 3{JOIN}4; "
        f"columns are counted from 0. If there is no merged cell, answer {NONE}."
    )
    return StructuralRequest(request, (JOIN.join(map(str, columns)) or NONE,))


STRUCTURAL_TASKS: dict[str, StructuralTask] = {
    task.name: task
    for task in (
        StructuralTask("table_partition", "First and last cell", _table_partition),
        StructuralTask("cell_lookup", "Position of a value", _cell_lookup),
        StructuralTask("reverse_lookup", "Value at a position", _reverse_lookup),
        StructuralTask("column_retrieval", "Name of a column", _column_retrieval),
        StructuralTask("row_retrieval", "Cells of a row", _row_retrieval),
        StructuralTask("size_detection", "Number of rows and columns", _size_detection),
        StructuralTask("merged_cell_detection", "Columns with merged cells", _merged_cell_detection),
    )
}
"""SUC's seven tasks by name."""
