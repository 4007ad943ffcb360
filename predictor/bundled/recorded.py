"""Recorded answers: what a model said when it was exported, kept beside its weights, so that any change is noticed.

    ./run train --record predictor/bundled/weights      # after new weights have been put there

The questions are Askew's own excerpts of public datasets (fixtures/), taken at even distances; the answers are the
model's, right or wrong. A question is passed over where a second answer is almost as likely as the first: there the last
digits of a processor's arithmetic decide.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predictor.checkpoints import RECORDED
from tableqa.data.answers import compare
from tableqa.data.examples import Example
from tableqa.readers import READERS

if TYPE_CHECKING:
    from predictor.bundled.model import BundledModel

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

SOURCES: Mapping[str, tuple[str, int]] = {
    "wtq/excerpt-dev.tsv": ("wtq", 18),
    "wtq_related/excerpt.tsv": ("wtq", 8),
    "wikisql/excerpt-dev.jsonl": ("wikisql", 6),
    "sqa/excerpt-dev.tsv": ("sqa", 4),
    "tat_qa/excerpt-dev.json": ("tat_qa", 4),
}
"""File of fixtures/: its format, and how many questions are taken from it."""

CLEARLY = 1.05
"""How many times as likely as the second answer the first has to be."""


@dataclass(frozen=True)
class RecordedAnswer:
    """One question with the answer that was given; `example` is what was asked."""

    source: str
    example: Example
    answers: tuple[str, ...]
    op: str
    cells: tuple[tuple[int, int], ...]
    score: float

    @property
    def right(self) -> bool:
        """Whether the answer is the gold one; a recorded answer need not be."""
        return compare(list(self.answers), list(self.example.answers)).equal

    def to_dict(self) -> dict[str, Any]:
        """As it is kept: the question by its source and id, with the table's digest to notice another table."""
        return {
            "source": self.source,
            "id": self.example.id,
            "question": self.example.question,
            "table": self.example.table.digest(),
            "answers": list(self.answers),
            "op": self.op,
            "cells": [list(cell) for cell in self.cells],
            "score": round(self.score, 6),
            "right": self.right,
        }


def record(folder: Path, fixtures: Path = FIXTURES) -> list[RecordedAnswer]:
    """Ask the model of `folder` and write its recorded.json. Raises ModelError where the folder holds no model."""
    from predictor.bundled.model import BundledModel

    model = BundledModel(folder)
    answers = [
        answer
        for source, (form, count) in SOURCES.items()
        for answer in _clear_answers(
            model, source, [entry for entry in READERS[form](fixtures / source) if not entry.history], count
        )
    ]
    lines = ",\n".join(f"  {json.dumps(entry.to_dict(), ensure_ascii=False)}" for entry in answers)
    (folder / RECORDED).write_text(f'{{\n "sha": "{model.sha}",\n "recorded": [\n{lines}\n ]\n}}\n')
    return answers


def _clear_answers(
    model: BundledModel, source: str, examples: Sequence[Example], count: int
) -> Iterator[RecordedAnswer]:
    """`count` answers at even distances; where one is not clear, that of the next question that is."""
    index = 0
    for turn in range(count):
        index = max(index, turn * len(examples) // count)
        while index < len(examples):
            example = examples[index]
            index += 1
            ways, _ = model.answers(example.question, example.table)
            if len(ways) < 2 or ways[0].score > CLEARLY * ways[1].score:
                best, score = ways[0], model.calibration(ways[0].score)
                yield RecordedAnswer(source, example, best.answers, best.operation, best.cells, score)
                break
