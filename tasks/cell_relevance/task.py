"""Does removing the marked cells prevent answering?"""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from tableqa import Example
from tableqa.core.translation import gettext, gettext_noop
from tableqa.operations import MaskCells, replay
from tableqa.programs.evidence import evidence, read_reply, request
from tableqa.writers.freb_tqa import freb_example
from tasks.contract import (
    Item,
    ModelInTheLoop,
    ModelQuery,
    PerturbedExample,
    PreparedInputs,
    PreparingTask,
    ReleaseRecord,
    Report,
    ReportedResponse,
    Surroundings,
)
from tasks.shared.answer_programs import cells_with_answer, marked_cells
from tasks.shared.declared_types import LabelTask
from tasks.shared.form_fields import Choice, Option, Question


def _render(example: Example) -> tuple[str, int]:
    return request(example.question, example.table)


def _named(reply: str, example: Example) -> dict[str, Any]:
    return {"cells": [list(cell) for cell in read_reply(reply, example.table)], "reply": reply}


LABEL = Choice(
    name="label",
    label=gettext_noop("Does removing them prevent answering?"),
    legend=gettext_noop("Does removing the marked cells prevent answering?"),
    required=gettext_noop("Choose yes, no or unanswerable."),
    options=(
        Option(
            "yes",
            gettext_noop("Yes"),
            gettext_noop("Without them, the right answer can no longer be derived."),
            meaning=gettext_noop("Without the marked cells, the right answer can no longer be derived."),
        ),
        Option("no", gettext_noop("No"), gettext_noop("The rest of the table still gives the answer.")),
        Option(
            "unanswerable",
            gettext_noop("Unanswerable"),
            gettext_noop("The question cannot be answered even with them, or makes no sense."),
            meaning=gettext_noop("The question cannot be answered even with the cells, or makes no sense."),
        ),
    ),
)
CODES = {"yes": 1, "no": 0, "unanswerable": -1}
"""FREB-TQA's codes."""


class CellRelevance(LabelTask, PreparingTask, ModelInTheLoop):
    """One label per item about cells that somebody or something has marked. Three people, the majority decides."""

    key = "cell_relevance"
    title = gettext_noop("Cell relevance")
    step = "evidence"
    paper = "FREB-TQA (NAACL 2024) § A.2"
    prerequisite = gettext_noop("Needs marked cells first: from Relevant cells, or from the source.")
    instruction = gettext_noop("Does removing the marked cells prevent answering the question?")
    of = ("originals", "perturbed")
    looks_into = ("relevant_cells",)
    asks = (ModelQuery("cells", _render, _named, points=True, holds="cells"),)
    predicts = "on_request"
    prediction_in_form = True
    looks = (gettext_noop("with the cells"), gettext_noop("without them"))
    check_label = gettext_noop("Check without the cells")
    verdict_words = {
        "fooled": gettext_noop("Wrong without the cells"),
        "not_fooled": gettext_noop("Still right without them"),
        "wrong_on_original": gettext_noop("The model is wrong even with the cells. Judge them without it."),
    }
    without = gettext_noop(
        "they have no marked cells: neither from people nor from the source, a program or a model."
    )
    shows = ("question", "table", "titles", "answers", "context", "history", "evidence")
    fields = (LABEL,)
    recorded = CODES
    excludes: ClassVar[Mapping[str, str]] = {"unanswerable": "unanswerable"}

    def prepare(self, example: Example, around: Surroundings) -> PreparedInputs | None:
        evidence_cells = evidence(
            example, around.decided.get("relevant_cells", ()), around.model_answers.get("cells", ())
        )
        return None if evidence_cells is None else PreparedInputs({"evidence": evidence_cells.to_dict()})

    def tried(self, data: object, item: Item) -> Example | None:
        """The example without the texts of its marked cells, with any label. (FREB-TQA 3.4)"""
        table = item.example.table
        inside = tuple((row, column) for row, column in marked_cells(item) if row in table.row_ids)
        if not inside:
            return None
        masked = replay(table, [MaskCells(cells=inside, replacement="")])
        return dataclasses.replace(item.example, table=masked)

    def report(self, rows: Sequence[ReportedResponse]) -> list[Report]:
        """How often cells hold, by where they come from: people differ from programs, and both from models."""
        tallies: dict[str, Counter[str]] = {}
        for row in rows:
            source = row.item.inputs.get("evidence", {}).get("from") or gettext("not known")
            tallies.setdefault(source, Counter())[row.response.label] += 1
        lines: list[tuple[str | int | float | None, ...]] = [
            (source, *(counts[label] for label in LABEL.values), round(counts["yes"] / counts.total(), 3))
            for source, counts in sorted(tallies.items())
        ]
        if not lines:
            return []
        note = gettext("Responses of all annotators. Share of yes: “yes” responses among them.")
        return [
            Report(
                gettext("Source of the cells"),
                ("cells", *LABEL.values, gettext("share of yes")),
                tuple(lines),
                note,
            )
        ]

    def item_record_fields(self, item: Item) -> Mapping[str, Any]:
        """The cells that were judged, and where they come from."""
        return {"evidence": dict(item.inputs.get("evidence", {}))}

    def export(
        self, format: str, item: Item, response: Any, perturbed: PerturbedExample | None
    ) -> Iterator[ReleaseRecord]:
        """The judgement under FREB-TQA's codes, with the cells that were judged and where they come from."""
        yield from super().export(format, item, response, perturbed)
        if format == "freb_tqa":
            table = item.example.table
            # FREB-TQA counts rows from below the header, and has no place for a cell of the header.
            positions = [
                [table.row_index(r), table.column_index(c)]
                for r, c in marked_cells(item)
                if r in table.row_ids
            ]
            record = {**freb_example(item.example), "label": CODES[response.label], "rel_cell": positions}
            yield ReleaseRecord("cell_relevance", record)

    def weights(self, field: Question, item: Item) -> Sequence[int]:
        """Looks whether an answer stands outside the marked cells; where it stands nowhere, cells mostly hold."""
        holding = cells_with_answer(item.example.table, item.example.answers)
        return (80, 15, 5) if set(holding) <= set(marked_cells(item)) else (20, 75, 5)


task = CellRelevance()
