"""Does removing the marked cells prevent answering? (FREB-TQA 3.4, A.2)"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tableqa import Example
from tableqa.answers import normal_forms
from tableqa.evidence import cells_in, evidence, read_reply, request
from tableqa.language import gettext, gettext_noop
from tableqa.operations import MaskCells, replay
from tableqa.writers.askew import askew_record
from tableqa.writers.freb_tqa import freb_example
from tasks.contract import (
    Answered,
    Ask,
    Exported,
    Field,
    Invalid,
    Item,
    Judging,
    Measure,
    ModelInTheLoop,
    Perturbed,
    Prepared,
    Preparing,
    Problem,
    Report,
    Surroundings,
)


def _asked(example: Example) -> tuple[str, int]:
    return request(example.question, example.table)


def _named(reply: str, example: Example) -> dict[str, Any]:
    return {"cells": [list(cell) for cell in read_reply(reply, example.table)], "reply": reply}


LABELS = {
    "yes": gettext_noop("Without the marked cells, the right answer can no longer be derived."),
    "no": gettext_noop("The rest of the table still gives the answer."),
    "unanswerable": gettext_noop("The question cannot be answered even with the cells, or makes no sense."),
}
CODES = {"yes": 1, "no": 0, "unanswerable": -1}
"""FREB-TQA's codes."""


@dataclass(frozen=True)
class Response:
    """One label of `LABELS`."""

    label: str


class CellRelevance(Judging, Preparing, ModelInTheLoop):
    """One label per item about cells that somebody or something has marked. Three people, the majority decides."""

    key = "cell_relevance"
    title = gettext_noop("Cell relevance")
    instruction = gettext_noop("Does removing the marked cells prevent answering the question?")
    response_type = Response
    of = ("originals", "perturbed")
    looks_into = ("relevant_cells",)
    cell_parts = ("cell_relevance",)
    asks = (Ask("cells", _asked, _named, points=True),)
    predicts = "on_request"
    prediction_in_form = True
    looks = (gettext_noop("with the cells"), gettext_noop("without them"))
    check_label = gettext_noop("Check without the cells")
    verdict_words = {
        "fooled": gettext_noop("Without the cells the model is wrong."),
        "not_fooled": gettext_noop("The model still gives the right answer without the cells."),
        "wrong_on_original": gettext_noop(
            "The model is wrong even with the cells, so this check says nothing about them."
        ),
    }
    without = gettext_noop(
        "they have no marked cells: neither from people nor from the source, a program or a model."
    )
    shows = ("question", "table", "titles", "answers", "context", "history", "evidence")
    fields = (Field("label", "choice", tuple(LABELS.items())),)
    measures = (Measure("label", "nominal", lambda response: response.label, order=tuple(LABELS)),)
    compares = "labels"
    rule: ClassVar[Mapping[str, Any]] = {"rule": "majority"}
    excludes: ClassVar[Mapping[str, str]] = {"unanswerable": "unanswerable"}

    def prepare(self, example: Example, around: Surroundings) -> Prepared | None:
        found = evidence(
            example, around.decided.get("relevant_cells", ()), around.model_answers.get("cells", ())
        )
        return None if found is None else Prepared({"evidence": found.to_dict()})

    def parse(self, data: object, item: Item) -> Response:
        label = data.get("label") if isinstance(data, Mapping) else None
        problems = []
        if not isinstance(label, str) or label not in LABELS:
            problems.append(
                Problem(
                    "label", "no_label", gettext("Choose one of: {labels}.").format(labels=", ".join(LABELS))
                )
            )
        unknown = sorted(str(key) for key in data if key != "label") if isinstance(data, Mapping) else []
        problems += [
            Problem(name, "unknown_field", gettext("There is no field {name!r}.").format(name=name))
            for name in unknown
        ]
        if problems:
            raise Invalid(problems)
        return Response(str(label))

    def tried(self, data: object, item: Item) -> Example | None:
        """The example without the texts of its marked cells, whatever the label says. (FREB-TQA 3.4)"""
        table = item.example.table
        cells = cells_in(table, item.inputs.get("evidence", {}).get("cells"))
        inside = tuple((row, column) for row, column in cells if row in table.row_ids)
        if not inside:
            return None
        masked = replay(table, [MaskCells(cells=inside, replacement="")])
        return dataclasses.replace(item.example, table=masked)

    def word(self, response: Response) -> str:
        return response.label

    def describe(self, response: Response, item: Item) -> list[str]:
        return [f"{gettext(response.label.capitalize())}: {gettext(LABELS[response.label])}"]

    def report(self, rows: Sequence[Answered]) -> list[Report]:
        """How often cells hold, by where they come from: people differ from programs, and both from models."""
        tallies: dict[str, Counter[str]] = {}
        for row in rows:
            source = str(row.item.inputs.get("evidence", {}).get("from", gettext("not known")))
            tallies.setdefault(source, Counter())[row.response.label] += 1
        lines: list[tuple[str | int | float | None, ...]] = [
            (source, *(counts[label] for label in LABELS), round(counts["yes"] / counts.total(), 3))
            for source, counts in sorted(tallies.items())
        ]
        if not lines:
            return []
        note = gettext("Responses of all annotators. Share of yes: “yes” responses among them.")
        return [
            Report(
                gettext("Source of the cells"),
                ("cells", *LABELS, gettext("share of yes")),
                tuple(lines),
                note,
            )
        ]

    def export(
        self, format: str, item: Item, response: Response, perturbed: Perturbed | None
    ) -> Iterator[Exported]:
        """The judgement under FREB-TQA's codes, with the cells that were judged and where they come from."""
        judged: dict[str, Any] = {
            "label": CODES[response.label],
            "evidence": dict(item.inputs.get("evidence", {})),
        }
        if format == "askew":
            yield Exported("cell_relevance", {**askew_record(item.example), **judged})
        elif format == "freb_tqa":
            table = item.example.table
            cells = cells_in(table, judged["evidence"].get("cells"))
            # FREB-TQA counts rows from below the header, and has no place for a cell of the header.
            places = [[table.row_index(r), table.column_index(c)] for r, c in cells if r in table.row_ids]
            record = {**freb_example(item.example), "label": judged["label"], "rel_cell": places}
            yield Exported("cell_relevance", record)

    def simulate(
        self, item: Item, rng: random.Random, accuracy: float, truth: random.Random
    ) -> dict[str, Any]:
        """Looks whether an answer stands outside the marked cells; where it stands nowhere, cells mostly hold."""
        labels = list(LABELS)
        table, answers = item.example.table, item.example.answers
        marked = set(cells_in(table, item.inputs.get("evidence", {}).get("cells")))
        wanted = {form for answer in answers for form in normal_forms(answer)}
        holding = {
            (row, column)
            for row, cells in zip(table.row_ids, table.rows, strict=True)
            for column, text in zip(table.column_ids, cells, strict=True)
            if text.strip() and not wanted.isdisjoint(normal_forms(text))
        }
        likely = (80, 15, 5) if holding <= marked else (20, 75, 5)
        right = truth.choices(labels, weights=likely)[0]
        careless = [label for label in labels if label != right]
        return {"label": right if rng.random() < accuracy else rng.choice(careless)}


task = CellRelevance()
