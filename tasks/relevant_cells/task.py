"""Mark the cells that the answer depends on."""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from tableqa import Table
from tableqa.core.translation import gettext, gettext_noop
from tableqa.data.answers import normal_forms
from tableqa.writers.askew import askew_record
from tableqa.writers.freb_tqa import freb_example
from tasks.contract import Field, InvalidResponse, Item, JudgingTask, Measure, PerturbedExample, ReleaseRecord
from tasks.shared.form_fields import Cell, Cells, cells_in_order, cells_in_words
from tasks.shared.response_parts import ResponseReader

CELLS = Cells(name="cells")
LEAST_OVERLAP = 0.5
PART = "02_rel/{reader}_nonfactoid_{split}"
"""Where FREB-TQA names relevant cells."""


@dataclass(frozen=True)
class Response:
    """Cells of the body in the order of the table, or `unanswerable` and no cells."""

    cells: tuple[Cell, ...]
    unanswerable: bool


class RelevantCells(JudgingTask):
    """The cells without which the question cannot be answered.

    Three people mark them: a cell that one of two has marked could not be decided, of three the
    majority decides. (FREB-TQA lets three people judge cells that were found automatically.)
    """

    key = "relevant_cells"
    title = gettext_noop("Relevant cells")
    step = "evidence"
    paper = "FREB-TQA (NAACL 2024) § 3.4"
    instruction = gettext_noop("Mark every cell the answer depends on")
    response_type = Response
    shows = ("question", "table", "titles", "answers", "context", "history")
    fields = (CELLS, Field("unanswerable", "flag"))
    measures = (
        Measure(
            "cells",
            "cells",
            lambda response: None if response.unanswerable else frozenset(response.cells),
            statistics=("cell_sets_jaccard", "cell_sets_masi"),
        ),
        Measure("answerable", "nominal", lambda response: not response.unanswerable, order=(False, True)),
    )
    compares = "sets"
    rule: ClassVar[Mapping[str, Any]] = {"rule": "set_overlap"}
    rule_settings: ClassVar[Mapping[str, str]] = {"least": "least_overlap"}
    excludes: ClassVar[Mapping[str, str]] = {"unanswerable": "unanswerable"}
    settings = {
        "least_overlap": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "default": LEAST_OVERLAP,
            "title": gettext_noop("Minimum overlap"),
            "description": gettext_noop(
                "Items with a lower mean overlap between two annotators (Jaccard) go to adjudication."
            ),
        },
    }

    def parse(self, data: object, item: Item) -> Response:
        sent = ResponseReader(data, self.fields)
        unanswerable = sent.flag("unanswerable")
        cells, problems = CELLS.read(sent.data.get("cells", []), item)
        sent.problems += problems
        sent.finish()
        if unanswerable:
            return Response((), True)
        if not cells:
            message = gettext("Mark at least one cell, or choose Unanswerable.")
            raise InvalidResponse.of("cells", "no_cells", message)
        return Response(cells, False)

    def word(self, response: Response) -> str:
        return "unanswerable" if response.unanswerable else ""

    def members(self, response: Response) -> frozenset[Hashable]:
        return frozenset(response.cells)

    def merged(self, responses: Sequence[Response], item: Item, consensus: Collection[Cell]) -> Response:
        return Response(cells_in_order(consensus, item.example.table), False)

    def describe(self, response: Response, item: Item) -> list[str]:
        return (
            [gettext("Unanswerable.")]
            if response.unanswerable
            else cells_in_words(response.cells, item.example.table)
        )

    def feedback(self, item: Item, response: Response, expected: Response) -> tuple[bool, list[str]]:
        """Says which cells are missing and which are too many."""
        if response == expected:
            return True, []
        if response.unanswerable or expected.unanswerable:
            return False, ["Expected:", *self.describe(expected, item)]
        table, mine, expected_cells = item.example.table, set(response.cells), set(expected.cells)
        lines = []
        for title, cells in (
            (gettext("Also needed:"), expected_cells - mine),
            (gettext("Not needed:"), mine - expected_cells),
        ):
            if cells:
                lines += [title, *cells_in_words(cells_in_order(cells, table), table)]
        return False, lines

    def export(
        self, format: str, item: Item, response: Response, perturbed: PerturbedExample | None
    ) -> Iterator[ReleaseRecord]:
        """FREB-TQA's part 2 names the cells by their places, rows counted from below the header ("rel_cell")."""
        if format == "askew":
            cells = [list(cell) for cell in response.cells]
            yield ReleaseRecord("relevant_cells", {**askew_record(item.example), "relevant_cells": cells})
        elif format == "freb_tqa":
            table = item.example.table
            positions = [[table.row_index(row), table.column_index(column)] for row, column in response.cells]
            rows = [list(table.header), *map(list, table.rows)]
            record = {**freb_example(item.example), "table": rows, "rel_cell": positions}
            yield ReleaseRecord(PART, record)

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> dict[str, Any]:
        """Marks the cells that hold the answer, else one row; a careless person loses one or marks a neighbour."""
        table = item.example.table
        if not table.rows or not table.header:
            return {"cells": [], "unanswerable": True}
        cells = _cells_with_answer(table, item.example.answers)
        if not cells:
            row = truth.choice(table.row_ids)
            cells = [(row, column) for column in table.column_ids[:2]]
        if rng.random() > accuracy:
            cells = cells[1:] if len(cells) > 1 else [(rng.choice(table.row_ids), cells[0][1])]
        return {"cells": [list(cell) for cell in cells], "unanswerable": False}


def _cells_with_answer(table: Table, answers: Sequence[str]) -> list[Cell]:
    """Cells that hold an answer and what is first in their rows."""
    answer_forms = {form for answer in answers for form in normal_forms(answer)}
    evidence_cells: list[Cell] = []
    for row, cells in zip(table.row_ids, table.rows, strict=True):
        hits = [
            column
            for column, text in zip(table.column_ids, cells, strict=True)
            if text.strip() and answer_forms & set(normal_forms(text))
        ]
        if hits and len(evidence_cells) < 40:
            evidence_cells += [(row, column) for column in dict.fromkeys((table.column_ids[0], *hits))]
    return evidence_cells


task = RelevantCells()
