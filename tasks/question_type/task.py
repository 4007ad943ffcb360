"""Is the answer looked up in the table, or does it have to be worked out? (FREB-TQA 3.2, A.2)"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tableqa.writers.freb_tqa import freb_example
from tasks.contract import (
    Accepted,
    Adjudicate,
    Exported,
    Field,
    Invalid,
    Item,
    Measure,
    Outcome,
    Perturbed,
    Problem,
    Resolution,
    TaskType,
)

LABELS = {
    "extraction": "The answer stands in the table and is looked up, without any calculation.",
    "reasoning": "After looking cells up one has to count, compare, add, subtract, average or the like.",
    "neither": "The question can be answered, but in neither of these two ways.",
    "unanswerable": "The table does not answer the question, or the question makes no sense.",
}
CODES = {"extraction": 1, "reasoning": 0, "neither": -1, "unanswerable": -1}
"""FREB-TQA's codes. The paper writes -1 for two meanings; they are kept apart here and joined on export."""


@dataclass(frozen=True)
class Response:
    """One label of `LABELS`."""

    label: str


class QuestionType(TaskType):
    """One label per question: how the table gives its answer. Three people by default, the majority decides."""

    key = "question_type"
    title = "Question type"
    response_type = Response
    making = False
    shows = ("question", "table", "titles", "answers", "context", "history")
    fields = (Field("label", "choice", tuple(LABELS.items())),)
    measures = (Measure("label", "nominal", lambda response: response.label),)

    def parse(self, data: object, item: Item) -> Response:
        label = data.get("label") if isinstance(data, Mapping) else None
        if not isinstance(label, str) or label not in LABELS:
            raise Invalid([Problem("label", "no_label", f"Choose one of: {', '.join(LABELS)}.")])
        unknown = sorted(str(key) for key in data if key != "label") if isinstance(data, Mapping) else []
        if unknown:
            raise Invalid(
                [Problem(name, "unknown_field", f"There is no field {name!r}.") for name in unknown]
            )
        return Response(label)

    def resolve(self, responses: Sequence[Response], item: Item) -> Resolution:
        """The label of more than half of the people; without one, an adjudicator looks."""
        counts = Counter(response.label for response in responses)
        label, most = max(counts.items(), key=lambda pair: pair[1])
        if most * 2 <= len(responses):
            tally = ", ".join(f"{name} {counts[name]}" for name in LABELS if counts[name])
            return Adjudicate(f"No label has a majority ({tally}).")
        if label == "unanswerable":
            return Accepted((), "unanswerable")
        by = tuple(index for index, response in enumerate(responses) if response.label == label)
        return Accepted((Outcome(Response(label), by),))

    def describe(self, response: Response, item: Item) -> list[str]:
        return [f"{response.label.capitalize()}: {LABELS[response.label]}"]

    def export(
        self, format: str, item: Item, response: Response, perturbed: Perturbed | None
    ) -> Iterator[Exported]:
        """FREB-TQA's part 1 takes the extraction questions; every decided label stands in `question_type`."""
        if format != "freb_tqa":
            return
        example = item.example
        yield Exported(
            "question_type", {"id": example.id, "question": example.question, "label": CODES[response.label]}
        )
        if response.label == "extraction":
            yield Exported("01_str/{reader}_factoid_{split}", freb_example(example))

    def simulate(
        self, item: Item, rng: random.Random, accuracy: float, truth: random.Random
    ) -> dict[str, Any]:
        labels = list(LABELS)
        right = truth.choices(labels, weights=(45, 50, 3, 2))[0]
        return {
            "label": right
            if rng.random() < accuracy
            else rng.choice([label for label in labels if label != right])
        }


task = QuestionType()
