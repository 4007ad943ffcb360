"""Choose extraction, reasoning, neither or unanswerable."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from tableqa import Example
from tableqa.core.translation import gettext, gettext_noop, translate_stored
from tableqa.perturbations import question_types
from tableqa.perturbations.question_types import Suggestion
from tableqa.statistics.proportions import Proportion, proportion
from tableqa.writers.freb_tqa import freb_example
from tasks.contract import (
    Context,
    Item,
    ModelQuery,
    PerturbedExample,
    PreparedInputs,
    PreparingTask,
    ReleaseRecord,
    Report,
    ReportedResponse,
    SuggestingTask,
    Surroundings,
    split_by_decision,
)
from tasks.shared.declared_types import LabelTask
from tasks.shared.form_fields import Choice, Option

LABEL = Choice(
    name="label",
    label=gettext_noop("Type"),
    legend=gettext_noop("How do you get the answer?"),
    required=gettext_noop("Choose one of the four types."),
    likely=(45, 50, 3, 2),
    options=(
        Option(
            "extraction",
            gettext_noop("Extraction"),
            gettext_noop("The answer can be read from the table, without any calculation."),
        ),
        Option(
            "reasoning",
            gettext_noop("Reasoning"),
            gettext_noop("The answer must be worked out: count, compare, add, subtract, average or similar."),
        ),
        Option(
            "neither",
            gettext_noop("Neither"),
            gettext_noop("The question can be answered, but neither of the two fits."),
        ),
        Option(
            "unanswerable",
            gettext_noop("Unanswerable"),
            gettext_noop("The table does not answer the question, or the question makes no sense."),
        ),
    ),
)
CODES = {"extraction": 1, "reasoning": 0, "neither": -1, "unanswerable": -1}
"""FREB-TQA's codes. The paper writes -1 for two meanings; they are kept apart here and joined on export."""


def _request_text(example: Example) -> tuple[str, int]:
    rows = min(len(example.table.rows), question_types.MOST_ROWS_SHOWN)
    return question_types.request(example.question, example.table), rows


def _read(reply: str, example: Example) -> dict[str, Any]:
    """Whether cells are retrieved or an operation is needed, in the model's view. (FREB-TQA A.4)"""
    return {**question_types.by_model(question_types.read_reply(reply)).to_dict(), "reply": reply}


SUGGESTERS = {
    "rule": gettext_noop("the lexical rule"),
    "model": gettext_noop("a language model"),
    "combined": gettext_noop("both combined"),
}
SUGGESTED = ("extraction", "reasoning")


class QuestionType(LabelTask, PreparingTask, SuggestingTask):
    """One label per question: how the table gives its answer. Three people by default, the majority decides.

    What the paper's suggesters say is frozen with the item and kept from people until they have answered,
    unless the batch says otherwise.
    """

    key = "question_type"
    title = gettext_noop("Question type")
    step = "label"
    paper = "FREB-TQA (NAACL 2024) § 3.2"
    instruction = gettext_noop("Can the answer be read from the table, or must it be worked out?")
    asks = (ModelQuery("question_type", _request_text, _read, holds="label"),)
    shows = ("question", "table", "titles", "answers", "context", "history")
    fields = (LABEL,)
    sheet = ""
    # What the lexical rule says of every third question of WikiTableQuestions' dev split (n = 944).
    usual_shares: ClassVar[Mapping[str, Mapping[str, float]]] = {
        "label": {"reasoning": 0.57, "extraction": 0.43}
    }
    excludes: ClassVar[Mapping[str, str]] = {"unanswerable": "unanswerable"}
    settings = {
        "suggestions": {
            "enum": ["never", "before", "after"],
            "default": "never",
            "title": gettext_noop("Suggestions"),
            "description": (
                gettext_noop(
                    "When to show what the lexical rule and a model suggest. Shown before the "
                    "answer, suggestions bias people towards agreement. Shown after it, they train people: "
                    "this happens in practice only."
                )
            ),
        },
    }

    def prepare(self, example: Example, around: Surroundings) -> PreparedInputs:
        """What each suggester says: the rule always, a model where one was asked, both combined where both are there."""
        rule = question_types.lexical(example.question, example.table, example.answers)
        suggestions = {"rule": rule.to_dict()}
        model_answers = around.model_answers.get("question_type", ())
        if model_answers:
            model = _model_suggestion(model_answers[-1])
            suggestions["model"] = {**model.to_dict(), "model": str(model_answers[-1].get("model", ""))}
            suggestions["combined"] = question_types.combined(rule, model).to_dict()
        return PreparedInputs({"suggestions": suggestions})

    def suggests(self, item: Item) -> Literal["before", ""]:
        """Before the label where the batch says so. After its own label no item of a batch shows any."""
        has_suggestions = item.settings.get("suggestions") == "before" and item.inputs.get("suggestions")
        return "before" if has_suggestions else ""

    def feedback(self, item: Item, response: Any, expected: Any) -> tuple[bool | None, list[str]]:
        right, lines = super().feedback(item, response, expected)
        if item.settings.get("suggestions") == "after":
            rule = question_types.lexical(item.example.question, item.example.table, item.example.answers)
            message = gettext("Suggested by the lexical rule: {label}")
            lines = [*lines, message.format(label=rule.label or gettext("nothing"))]
        return right, lines

    def suggest(self, item: Item, context: Context) -> dict[str, Any] | None:
        """A line for each suggester: [{"by", "label", "why"}]; nothing is computed again."""
        suggestions = item.inputs.get("suggestions")
        if not suggestions:
            return None
        lines = [
            {"by": gettext(SUGGESTERS[name]), **suggestions[name]}
            for name in SUGGESTERS
            if name in suggestions
        ]
        return {
            "said": [
                {"by": line["by"], "label": line["label"], "why": translate_stored(line["why"])}
                for line in lines
            ]
        }

    def report(self, rows: Sequence[ReportedResponse]) -> list[Report]:
        """Of what each suggester called extraction or reasoning, the share that people decided so. (FREB-TQA, table 2)"""
        decided, undecided = split_by_decision(rows)
        lines: list[tuple[str | int | Proportion, ...]] = []
        for name, title in SUGGESTERS.items():
            label_pairs = [
                (
                    row.item.inputs["suggestions"][name]["label"],
                    row.decided[0].label if row.decided else "unanswerable",
                )
                for row in decided
                if name in row.item.inputs.get("suggestions", {})
            ]
            for of in SUGGESTED:
                right = [label == of for suggested, label in label_pairs if suggested == of]
                share = proportion(sum(right), len(right))
                lines.append((gettext(title), of, len(label_pairs), share.n, share.hits, share))
        columns = (
            "Suggester",
            "Type",
            gettext("Decided items"),
            "Suggested",
            "Correct",
            "Precision",
        )
        note = gettext(
            "Correct: the suggestion equals the decision of people. Unanswerable items count as wrong. "
            "95 % CI: Wilson. FREB-TQA (table 2) reports 93.81 for extraction (both combined) and "
            "83.42 for reasoning (rule)."
        )
        return [Report(gettext("Precision of the suggestions"), columns, tuple(lines), f"{note} {undecided}")]

    def item_record_fields(self, item: Item) -> Mapping[str, Any]:
        """What each suggester said."""
        return {
            "suggested": {
                name: suggestion["label"] for name, suggestion in item.inputs.get("suggestions", {}).items()
            }
        }

    def export(
        self, format: str, item: Item, response: Any, perturbed: PerturbedExample | None
    ) -> Iterator[ReleaseRecord]:
        """FREB-TQA's part 1 takes the extraction questions; `question_type` has every decided label."""
        yield from super().export(format, item, response, perturbed)
        if format == "freb_tqa":
            record = freb_example(item.example)
            yield ReleaseRecord("question_type", {**record, "label": CODES[response.label]})
            if response.label == "extraction":
                yield ReleaseRecord("01_str/{reader}_factoid_{split}", record)


def _model_suggestion(answer: Mapping[str, Any]) -> Suggestion:
    """What a stored answer of a model says: its reply read again, or the label that was read when it came."""
    if isinstance(answer.get("reply"), str):
        return question_types.by_model(question_types.read_reply(answer["reply"]))
    label = answer.get("label")
    if label in SUGGESTED:
        return Suggestion(label, gettext("The model says {label}.").format(label=label))
    return Suggestion(None, gettext("The model says nothing."))


task = QuestionType()
