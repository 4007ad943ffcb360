"""Evidence: the cells of a table of an answer, and their source.

FREB-TQA (section 3.4) removes the relevant cells of a question, and its annotators judge whether that prevents the
answer (A.2). Where such cells come from differs: people marked them, the source names them, a program reads them, or a
model pointed at them. `evidence` takes the first source that there is, and says which it was, for a judgement about
cells is a judgement about their source.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tableqa.core.translation import message
from tableqa.data.examples import Example
from tableqa.data.tables import Table

CellRef = tuple[str, str]
"""(row id, column id); the header row has an id, too."""

# Stored with an item.
BY_PEOPLE = message("evidence.by_people", "cells marked by people in this project")
BY_PROGRAM = message("evidence.by_program", "cells that the program of the answer reads")
BY_MODEL = message("evidence.by_model", "cells that a model used ({model})")
BY_SOME_MODEL = message("evidence.by_some_model", "cells that a model used")
BY_DERIVATION = message("evidence.by_derivation", "numbers of the source's derivation (as in TAT-QA)")
BY_LOGICAL_FORM = message(
    "evidence.by_logical_form", "cells that the source's logical form reads (as in WikiSQL)"
)
_IN_META: Mapping[str, str] = {
    "relevant_cells": message(
        "evidence.relevant_cells", "relevant cells named in the source (as FREB-TQA does)"
    ),
    "highlighted_cells": message(
        "evidence.highlighted_cells", "cells highlighted in the source (as in FeTaQA)"
    ),
    "answer_cells": message("evidence.answer_cells", "the answer's cells, given by the data set (as in SQA)"),
}
"""Fields of `Example.meta` in which readers keep marked cells, and what to call them; the first one counts."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Cells in the order of the table, each once and at least one, and words that name where they come from."""

    cells: tuple[CellRef, ...]
    source: str

    def to_dict(self) -> dict[str, Any]:
        """{"cells": [[row id, column id]], "from": words}."""
        return {"cells": [list(cell) for cell in self.cells], "from": self.source}


def evidence(
    example: Example,
    marked: Iterable[Mapping[str, Any]] = (),
    model_answers: Iterable[Mapping[str, Any]] = (),
    *,
    program: bool = True,
) -> Evidence | None:
    """The evidence cells of the answer of `example`, from the first of these sources that names any:

    what people marked in the project (`marked`: {"cells": [...]}, oldest first; the newest counts), the source's
    marked cells, the source's program (a derivation of TAT-QA, a logical form of WikiSQL, `Example.program`), and what
    a model pointed at (`model_answers`: {"model": name, "cells": [...]}, oldest first; the newest counts). Cells that
    the table does not have, because it was edited, are left out. None without named cells. `program` says whether
    the source's program is asked at all.
    """
    for entry in reversed(list(marked)):
        if cells := cells_in(example.table, entry.get("cells")):
            return Evidence(cells, BY_PEOPLE)
    for name, source in _IN_META.items():
        if cells := cells_in(example.table, example.meta.get(name)):
            return Evidence(cells, source)
    if program and (own_program := source_program(example)) is not None:
        own, source = own_program
        if cells := in_order(example.table, _read(own, example.table)):
            return Evidence(cells, source)
    for entry in reversed(list(model_answers)):
        if cells := cells_in(example.table, entry.get("cells")):
            model = entry.get("model")
            return Evidence(
                cells,
                BY_MODEL.format(model=model) if model else BY_SOME_MODEL,
            )
    return None


def source_program(example: Example) -> tuple[Mapping[str, Any], str] | None:
    """The JSON of the program that comes with the example, and what to call the cells that it reads.

    `Example.program` where it is set (a person confirmed it, or a reader knows it); else what the source says in its own
    form. Each counts only where it yields the gold answer; where there is none to yield, `Example.program` and a logical
    form count if they run.
    """
    from tableqa.data.answers import compare
    from tableqa.programs import ProgramError, attempt, from_derivation, from_logical_form

    if example.program is not None:
        if example.program.get("op") == "none":  # people turned it down, and the source's form with it
            return None
        answers = attempt(example.program, example.table)
        if not isinstance(answers, ProgramError) and (
            not example.answers or compare(answers, example.answers).equal
        ):
            return example.program, BY_PROGRAM
    for programs, source in (
        (from_derivation, BY_DERIVATION),
        (from_logical_form, BY_LOGICAL_FORM),
    ):
        if candidates := programs(example):
            return candidates[0].to_dict(), source
    return None


def cells_in(table: Table, cells: object) -> tuple[CellRef, ...]:
    """Those of `cells`, a list of [row id, column id] from outside, that the table has; in its order, each once."""
    if not isinstance(cells, list | tuple):
        return ()
    return in_order(
        table, (tuple(cell) for cell in cells if isinstance(cell, list | tuple) and len(cell) == 2)
    )


def in_order(table: Table, cells: Iterable[Sequence[Any]]) -> tuple[CellRef, ...]:
    """The cells that the table has, in its order from the header down, each once."""
    rows = {id: index for index, id in enumerate(table.all_row_ids)}
    columns = {id: index for index, id in enumerate(table.column_ids)}
    existing = {
        (row, column)
        for row, column in cells
        if isinstance(row, str) and isinstance(column, str) and row in rows and column in columns
    }
    return tuple(sorted(existing, key=lambda cell: (rows[cell[0]], columns[cell[1]])))


def _read(program: Mapping[str, Any], table: Table) -> Iterable[CellRef]:
    from tableqa.programs import ProgramError, reads

    try:
        return reads(program, table)
    except ProgramError:
        return ()


# -- cells that a model names --------------------------------------------------------------------------------------------

MOST_ROWS_SHOWN = 60


def request(question: str, table: Table) -> tuple[str, int]:
    """The text that asks a language model for the relevant cells of a question, and how many rows of the table it shows.

    Rows and columns are numbered from 1, because names repeat. The model does not see the gold answer.
    """
    visible_rows = table.rows[:MOST_ROWS_SHOWN]
    lines = [
        "You are given a table and a question about it. Name the cells that the answer rests on: those without which",
        "it could no longer be derived, and no others. Rows and columns are numbered from 1.",
        'Reply with JSON of the form {"cells": [[row, column], ...]}.',
        "",
        *([f"Title: {table.title}"] if table.title else []),
        "columns: " + " | ".join(f"{n} {_plain(name)}" for n, name in enumerate(table.header, start=1)),
        *(f"row {n}: " + " | ".join(map(_plain, row)) for n, row in enumerate(visible_rows, start=1)),
    ]
    if len(table.rows) > len(visible_rows):
        lines.append(f"... ({len(table.rows) - len(visible_rows)} more rows)")
    return "\n".join([*lines, "", f"Question: {_plain(question)}"]), len(visible_rows)


def read_reply(reply: str, table: Table) -> tuple[CellRef, ...]:
    """The cells in a reply to `request`, in the order of the table; () where it names none that the table has."""
    pairs = re.findall(r"\[\s*(\d{1,6})\s*,\s*(\d{1,6})\s*\]", reply[:100_000])
    places = ((int(row) - 1, int(column) - 1) for row, column in pairs)
    rows, columns = table.row_ids, table.column_ids
    return in_order(
        table,
        [
            (rows[row], columns[column])
            for row, column in places
            if 0 <= row < len(rows) and 0 <= column < len(columns)
        ],
    )


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")
