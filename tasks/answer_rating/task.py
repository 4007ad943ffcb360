"""How faithful and how comprehensive is a model's answer? (LFTQA-Eval 2.3)"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tableqa import Example
from tableqa.language import gettext, gettext_noop
from tableqa.writers.askew import askew_record
from tableqa.writers.lftqa import SCORES, output_record, scores
from tasks.common.scales import HIGHEST, LOWEST, STEPS, score
from tasks.contract import (
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
    Surroundings,
)

DIMENSIONS = {
    "faithfulness": gettext_noop("The table supports everything the answer says, and nothing is made up."),
    "comprehensiveness": gettext_noop(
        "The answer covers everything the question asks for, and nothing else."
    ),
}
GAP = 3
"""Two people this far apart on a dimension call a third."""


@dataclass(frozen=True)
class Response:
    """A score from 1 to 5 for each dimension; what several people's scores make may lie between whole numbers."""

    faithfulness: int | float
    comprehensiveness: int | float


class AnswerRating(Judging, Preparing):
    """Two scores for one answer of one system, whose name is not shown. Two people, a third where they are far apart."""

    key = "answer_rating"
    title = gettext_noop("Answer rating")
    instruction = gettext_noop("Rate faithfulness, then comprehensiveness")
    response_type = Response
    shows = ("question", "table", "titles", "context", "rated_answer", "reference")
    order = "shuffled"
    rates_answers = True
    without = gettext_noop("they have no model answer to rate (field rated_answer of the source).")
    fields = tuple(Field(name, "choice", tuple((step, step) for step in STEPS)) for name in DIMENSIONS)
    measures = tuple(
        Measure(
            name,
            "ordinal",
            lambda response, name=name: getattr(response, name),  # type: ignore[misc]
            statistics=("krippendorff_alpha", "krippendorff_alpha_interval"),
        )
        for name in DIMENSIONS
    )
    compares = "scales"
    rule: ClassVar[Mapping[str, Any]] = {"rule": "gap", "gap": GAP, "most": 3}
    rule_settings: ClassVar[Mapping[str, str]] = {"then": "third"}
    settings_schema = {
        "type": "object",
        "properties": {
            "third": {
                "enum": ["mean", "replace"],
                "default": "mean",
                "title": gettext_noop("Effect of a third score"),
                "description": gettext_noop(
                    "mean: the mean of all three. replace: the mean without the most distant score."
                ),
            },
            "show_reference": {
                "type": "boolean",
                "default": False,
                "title": gettext_noop("Show reference answer"),
                "description": gettext_noop(
                    "Raters who see it tend to rate the similarity to it. Show it only to measure that."
                ),
            },
        },
        "additionalProperties": False,
    }

    @property
    def default_overlap(self) -> int:
        return 2

    def prepare(self, example: Example, around: Surroundings) -> Prepared | None:
        """The answer's text, and apart from it what nobody sees who rates it: the system and the reference."""
        rated = example.meta.get("rated_answer")
        if not isinstance(rated, Mapping) or not str(rated.get("text") or "").strip():
            return None
        text = str(rated["text"])
        inputs: dict[str, Any] = {"rated_answer": text, "system": str(rated.get("system", ""))}
        if reference := example.meta.get("reference") or " ".join(example.answers):
            inputs["reference"] = str(reference)
        return Prepared(inputs)

    def showing(self, item: Item) -> Sequence[str]:
        shown = item.settings.get("show_reference", False)
        return [name for name in self.shows if name != "reference" or shown]

    def parse(self, data: object, item: Item) -> Response:
        if not isinstance(data, Mapping):
            raise Invalid([Problem("", "bad_response", gettext("The response must be an object."))])
        problems = [
            Problem(str(name), "unknown_field", gettext("There is no field {str!r}.").format(str=str(name)))
            for name in sorted(data.keys() - DIMENSIONS.keys(), key=str)
        ]
        scores = {name: score(data.get(name)) for name in DIMENSIONS}
        for name, said in scores.items():
            if said is None:
                message = gettext("Rate the {name} from {lowest} to {highest}.").format(
                    name=name, lowest=LOWEST, highest=HIGHEST
                )
                problems.append(Problem(name, "no_score", message))
        if problems:
            raise Invalid(problems)
        return Response(**{name: said for name, said in scores.items() if said is not None})

    def scores(self, response: Response) -> Mapping[str, int | float | None]:
        return {name: getattr(response, name) for name in DIMENSIONS}

    def merged(self, responses: Sequence[Response], item: Item, found: Mapping[str, float]) -> Response:
        return Response(**found)

    def describe(self, response: Response, item: Item) -> list[str]:
        return [
            gettext("{capitalize}: {getattr:g} of {highest}.").format(
                capitalize=name.capitalize(), getattr=getattr(response, name), highest=HIGHEST
            )
            for name in DIMENSIONS
        ]

    def feedback(self, item: Item, response: Response, expected: Response) -> tuple[bool, list[str]]:
        """One step beside the expected score is near enough: people of the paper were not closer."""
        words = []
        for name in DIMENSIONS:
            said, wanted = getattr(response, name), getattr(expected, name)
            if said != wanted:
                near = gettext(" Close enough.") if abs(said - wanted) == 1 else ""
                words.append(
                    gettext("{capitalize}: your score {said}, expected {wanted}.{near}").format(
                        capitalize=name.capitalize(), said=said, wanted=wanted, near=near
                    )
                )
        right = all(abs(getattr(response, name) - getattr(expected, name)) <= 1 for name in DIMENSIONS)
        return right, words

    def export(
        self, format: str, item: Item, response: Response, perturbed: Perturbed | None
    ) -> Iterator[Exported]:
        """LFTQA-Eval's answers and scores, a file for each dimension and metric; Askew's own record has all in one."""
        example, inputs = item.example, item.inputs
        asked, system = str(example.meta.get("example_id", example.id)), str(inputs.get("system", ""))
        if format == "lftqa":
            reference = str(inputs.get("reference", ""))
            rated = output_record(asked, system, str(inputs.get("rated_answer", "")), example, reference)
            yield Exported(f"{SCORES}/model_outputs", rated)
            said = {name: getattr(response, name) for name in DIMENSIONS}
            metrics = example.meta.get("metrics", {})
            for part, record in (
                *scores(asked, system, said, "human"),
                *scores(asked, system, metrics, "metric"),
            ):
                yield Exported(f"{SCORES}/{part}", record)
        elif format == "askew":
            rated = {"example_id": asked, "model": system, "rated_answer": inputs.get("rated_answer", "")}
            yield Exported(
                self.key,
                {**askew_record(example), **rated, **{name: getattr(response, name) for name in DIMENSIONS}},
            )

    def simulate(
        self, item: Item, rng: random.Random, accuracy: float, truth: random.Random
    ) -> dict[str, Any]:
        """Near what is right, mostly; whoever is wrong may say anything."""
        data = {}
        for name in DIMENSIONS:
            right = truth.choices(STEPS, weights=(8, 10, 16, 28, 38))[0]
            data[name] = int(right if rng.random() < accuracy else rng.choice(STEPS))
        return data


task = AnswerRating()
