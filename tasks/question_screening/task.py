"""Is a question that a model always answers rightly worth keeping? (SUC, the human step of "Table meets LLM")"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tableqa import Example
from tableqa.language import gettext, gettext_noop, kept, sentence
from tableqa.scales import compare_scaled, scale_of
from tableqa.writers.askew import askew_record
from tasks.contract import (
    Answered,
    Ask,
    Exported,
    Field,
    Invalid,
    Item,
    Judging,
    Measure,
    Perturbed,
    Prepared,
    Preparing,
    Problem,
    Report,
    Surroundings,
)

LABELS = {
    "keep": gettext_noop("Answering it needs the table, even if a model always gets it right."),
    "remove": gettext_noop(
        "It tests nothing: it can be answered without the table, or every answer is right."
    ),
}
LEAST_SAMPLES = 2
"""Always right is a word about several samples; one of them says nothing."""

# Kept with an item, in English; pages say it in the reader's language.
ALL_RIGHT = sentence("{number} of {number} samples right")
ALL_RIGHT_BY = sentence("{number} of {number} samples right ({by})")


@dataclass(frozen=True)
class Response:
    """One of `LABELS`."""

    label: str


class QuestionScreening(Judging, Preparing):
    """Keep or remove. Only questions are shown of which every sample of a model was right; one person decides."""

    key = "question_screening"
    title = gettext_noop("Question screening")
    instruction = gettext_noop("Do you need the table to answer this? Keep or remove the question")
    asks = (Ask("screening", several=True),)
    response_type = Response
    shows = ("question", "table", "titles", "answers", "context", "history", "samples")
    without = gettext_noop(
        "no model answered them several times, always correctly. Ask a model first (./run manage "
        "ask_model --purpose screening)."
    )
    fields = (Field("label", "choice", tuple(LABELS.items())),)
    measures = (Measure("label", "nominal", lambda response: response.label, order=tuple(LABELS)),)
    compares = "labels"
    rule: ClassVar[Mapping[str, Any]] = {"rule": "majority"}
    excludes: ClassVar[Mapping[str, str]] = {"remove": "removed"}

    @property
    def default_overlap(self) -> int:
        return 1

    def prepare(self, example: Example, around: Surroundings) -> Prepared | None:
        """An item only where every sample of one model says what the gold answer says."""
        found = _samples(example, around)
        if found is None or len(found["answers"]) < LEAST_SAMPLES or not example.answers:
            return None
        number = len(found["answers"])
        scale = scale_of(example)
        if not all(compare_scaled(sample, example.answers, scale).equal for sample in found["answers"]):
            return None
        by = (
            f"{found['model']}, at temperature {found['temperature']}"
            if found["temperature"]
            else found["model"]
        )
        return Prepared(
            {
                "samples": {
                    "text": (ALL_RIGHT_BY if by else ALL_RIGHT).format(number=number, by=by),
                    "total": number,
                    **found,
                }
            }
        )

    def payload(self, item: Item) -> dict[str, Any]:
        """What was sampled is said in words; the samples themselves repeat the answer."""
        shown = super().payload(item)
        return shown | ({"samples": {"text": kept(shown["samples"]["text"])}} if "samples" in shown else {})

    def parse(self, data: object, item: Item) -> Response:
        if not isinstance(data, Mapping):
            raise Invalid([Problem("", "bad_response", gettext("The response must be an object."))])
        problems = [
            Problem(str(name), "unknown_field", gettext("There is no field {str!r}.").format(str=str(name)))
            for name in sorted(data.keys() - {"label"}, key=str)
        ]
        label = data.get("label")
        if not isinstance(label, str) or label not in LABELS:
            problems.append(
                Problem(
                    "label", "no_label", gettext("Choose one of: {labels}.").format(labels=", ".join(LABELS))
                )
            )
        if problems:
            raise Invalid(problems)
        return Response(str(label))

    def word(self, response: Response) -> str:
        return response.label

    def describe(self, response: Response, item: Item) -> list[str]:
        return [f"{gettext(response.label.capitalize())}: {gettext(LABELS[response.label])}"]

    def report(self, rows: Sequence[Answered]) -> list[Report]:
        """How many questions of each source were kept and removed."""
        decided: dict[tuple[str, str], str] = {}
        for row in rows:
            if row.decided is not None:
                decided[row.source, row.item.example.id] = "keep" if row.decided else "remove"
        sources = sorted({source for source, _ in decided})
        counts = Counter((source, label) for (source, _), label in decided.items())
        lines = tuple(
            (
                source,
                counts[source, "keep"] + counts[source, "remove"],
                counts[source, "keep"],
                counts[source, "remove"],
            )
            for source in sources
        )
        columns = ("Source", gettext("Decided items"), "Keep", "Remove")
        return [Report(gettext("Questions that a model always answers correctly"), columns, lines)]

    def export(
        self, format: str, item: Item, response: Response, perturbed: Perturbed | None
    ) -> Iterator[Exported]:
        """Askew's own form: the questions that were kept, with what was sampled. Removed ones stand in the decisions."""
        if format != "askew":
            return
        sampled = item.inputs.get("samples", {})
        more = {
            "label": response.label,
            "samples": sampled.get("total", 0),
            "model": sampled.get("model", ""),
        }
        yield Exported(self.key, {**askew_record(item.example), **more})

    def simulate(
        self, item: Item, rng: random.Random, accuracy: float, truth: random.Random
    ) -> dict[str, Any]:
        right = truth.choices(list(LABELS), weights=(70, 30))[0]
        return {"label": right if rng.random() < accuracy else rng.choice(list(LABELS))}


def _samples(example: Example, around: Surroundings) -> dict[str, Any] | None:
    """The samples of the model that was asked last: {model, temperature, answers: a list of answers for each}.

    A source may bring its own, as `samples` in its meta: then no model is named.
    """
    asked = [row for row in around.model_answers.get("screening", ()) if row.get("samples")]
    if asked:
        last = asked[-1]
        answers = [list(sample or ()) for sample in last["samples"]]
        return {
            "model": last.get("model", ""),
            "temperature": last.get("temperature", ""),
            "answers": answers,
        }
    own = example.meta.get("samples")
    if not isinstance(own, tuple | list):
        return None
    return {
        "model": "",
        "temperature": "",
        "answers": [[sample] if isinstance(sample, str) else list(map(str, sample)) for sample in own],
    }


task = QuestionScreening()
