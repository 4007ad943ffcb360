"""Rate faithfulness and comprehensiveness of a model's answer, 1-5."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tableqa import Example
from tableqa.core.translation import gettext_noop
from tableqa.writers.askew import askew_record
from tableqa.writers.lftqa import SCORES, output_record, scores
from tasks.contract import Item, PerturbedExample, PreparedInputs, PreparingTask, ReleaseRecord, Surroundings
from tasks.shared.declared_types import RatingTask
from tasks.shared.form_fields import Scale

ENDS = (gettext_noop("not at all"), gettext_noop("entirely"))
LIKELY = (8, 10, 16, 28, 38)
DIMENSIONS = (
    Scale(
        name="faithfulness",
        label=gettext_noop("Faithfulness"),
        help=gettext_noop("The table supports everything the answer says, and nothing is made up."),
        required=gettext_noop("Rate the faithfulness from 1 to 5."),
        ends=ENDS,
        likely=LIKELY,
    ),
    Scale(
        name="comprehensiveness",
        label=gettext_noop("Comprehensiveness"),
        help=gettext_noop("The answer covers everything the question asks for, and nothing else."),
        required=gettext_noop("Rate the comprehensiveness from 1 to 5."),
        ends=ENDS,
        likely=LIKELY,
    ),
)
GAP = 3
"""Two people this far apart on a dimension call a third."""


@dataclass(frozen=True)
class Response:
    """A score from 1 to 5 for each dimension; what several people's scores make may be between whole numbers."""

    faithfulness: int | float
    comprehensiveness: int | float


class AnswerRating(RatingTask, PreparingTask):
    """Two scores for one answer of one system, whose name is not shown. Two people, a third where they are far apart."""

    key = "answer_rating"
    title = gettext_noop("Answer rating")
    step = "rate"
    default_overlap = 2
    paper = "LFTQA-Eval (EMNLP 2024) § 2.3"
    prerequisite = gettext_noop("Needs answers of models in the source.")
    instruction = gettext_noop("Rate faithfulness, then comprehensiveness")
    response_type = Response
    shows = ("question", "table", "titles", "context", "rated_answer", "reference")
    order = "shuffled"
    rates_answers = True
    without = gettext_noop("they have no model answer to rate, as LFTQA-Eval and JSON Lines files can have.")
    fields = DIMENSIONS
    rule: ClassVar[Mapping[str, Any]] = {"rule": "gap", "gap": GAP, "most": 3}
    rule_settings: ClassVar[Mapping[str, str]] = {"then": "third"}
    settings = {
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
    }

    def prepare(self, example: Example, around: Surroundings) -> PreparedInputs | None:
        """The answer's text, and apart from it what raters do not see: the system and the reference."""
        rated = example.meta.get("rated_answer")
        if not isinstance(rated, Mapping) or not str(rated.get("text") or "").strip():
            return None
        text = str(rated["text"])
        inputs: dict[str, Any] = {"rated_answer": text, "system": str(rated.get("system", ""))}
        if reference := example.meta.get("reference") or " ".join(example.answers):
            inputs["reference"] = str(reference)
        return PreparedInputs(inputs)

    def shown_names(self, item: Item) -> Sequence[str]:
        show_reference = item.settings.get("show_reference", False)
        return [name for name in self.shows if name != "reference" or show_reference]

    def export(
        self, format: str, item: Item, response: Response, perturbed: PerturbedExample | None
    ) -> Iterator[ReleaseRecord]:
        """LFTQA-Eval's answers and scores, a file for each dimension and metric; Askew's own record has all in one."""
        example, inputs = item.example, item.inputs
        example_id, system = str(example.meta.get("example_id", example.id)), str(inputs.get("system", ""))
        if format == "lftqa":
            reference = str(inputs.get("reference", ""))
            rated = output_record(example_id, system, str(inputs.get("rated_answer", "")), example, reference)
            yield ReleaseRecord(f"{SCORES}/model_outputs", rated)
            human_scores = dict(self.scores(response))
            metrics = example.meta.get("metrics", {})
            for part, record in (
                *scores(example_id, system, human_scores, "human"),
                *scores(example_id, system, metrics, "metric"),
            ):
                yield ReleaseRecord(f"{SCORES}/{part}", record)
        elif format == "askew":
            rated = {
                "example_id": example_id,
                "model": system,
                "rated_answer": inputs.get("rated_answer", ""),
            }
            yield ReleaseRecord(
                self.key,
                {**askew_record(example), **rated, **dict(self.scores(response))},
            )


task = AnswerRating()
