"""Rewrite the question at word or sentence level."""

import dataclasses
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from tableqa import Example
from tableqa.cells import fold
from tableqa.core.translation import gettext, gettext_noop
from tableqa.perturbations.paraphrases import rephrasings, rewordings
from tableqa.perturbations.wording import CATEGORIES, word_diff
from tableqa.writers.askew import askew_record
from tableqa.writers.robut import robut_pair, robut_record
from tasks.contract import (
    Context,
    Field,
    GenerationRequest,
    InvalidResponse,
    Item,
    MakingTask,
    Measure,
    ModelInTheLoop,
    PerturbedExample,
    Problem,
    ProposedResponse,
    ProposingTask,
    ReleaseRecord,
)
from tasks.shared.column_prompts import read_text, relevant_table, require_fields
from tasks.shared.response_parts import ResponseReader

TITLES = {category.key: category.title for category in CATEGORIES}
INSTRUCTIONS = {
    "word": (
        gettext_noop("Swap words, keep the sentence"),
        gettext_noop("Swap words, keep the sentence, so that the model fails"),
    ),
    "sentence": (
        gettext_noop("Ask the same question with another sentence"),
        gettext_noop("Ask the same question with another sentence so that the model fails"),
    ),
}
"""By variant: without and with a model in the loop."""
LONGEST_QUESTION = 2_000
LEAST_SURE = 0.35
"""How sure a rule has to be that its paraphrase means the same (`tableqa.perturbations.paraphrases`)."""
DEMONSTRATIONS = 6
"""RobuT shows 5 to 8 for each category."""


@dataclass(frozen=True)
class Response:
    """The question in its new words, and which of `tableqa.perturbations.wording.CATEGORIES` the change is (its key)."""

    question: str
    category: str


class QuestionParaphrase(MakingTask, ModelInTheLoop, ProposingTask):
    """A question reworded so that it means the same. Every one that differs from the original stands on its own."""

    key = "question_paraphrase"
    title = gettext_noop("Question paraphrase")
    step = "edit"
    paper = "RobuT (ACL 2023) § 3.1 and Table 9"
    response_type = Response
    variants = {
        "word": gettext_noop("Word level: swap words, keep the sentence"),
        "sentence": gettext_noop("Sentence level: ask the same question with another sentence"),
    }
    shows = ("question", "table", "titles", "context", "history")
    needs = ("thesaurus",)
    predicts = "live"
    tried_on = ("question",)
    prediction_in_form = True
    compares = "texts"
    rule: ClassVar[Mapping[str, Any]] = {"rule": "each", "merge": True}
    measures = (
        Measure("category", "nominal", lambda response: response.category),
        Measure("wording", "nominal", lambda response: _bare(response.question)),
    )
    fields = (
        Field("question", "text"),
        Field("category", "choice", tuple(TITLES.items())),
    )
    levels = {
        level: tuple(category for category in CATEGORIES if category.level == level)
        for level in ("word", "sentence")
    }

    def instruct(self, item: Item, *, has_model: bool = False) -> str:
        return gettext(INSTRUCTIONS[item.variant][has_model])

    def parse(self, data: object, item: Item) -> Response:
        sent = ResponseReader(data, self.fields)
        problems = sent.problems
        question, category = sent.data.get("question", ""), sent.data.get("category", "")
        if not isinstance(question, str) or len(question) > LONGEST_QUESTION:
            message = gettext("The question must have at most {longest_question} characters.").format(
                longest_question=LONGEST_QUESTION
            )
            problems.append(Problem("question", "wrong_type", message))
        elif not question.strip():
            problems.append(Problem("question", "no_question", gettext("Write the reworded question.")))
        elif _bare(question) == _bare(item.example.question):
            message = gettext(
                "The question is unchanged. Case, whitespace and the final mark do not count as changes."
            )
            problems.append(Problem("question", "question_unchanged", message))
        valid_keys = [level_category.key for level_category in self.levels[item.variant]]
        if not isinstance(category, str) or category not in valid_keys:
            message = gettext("Choose what you changed: one of {known}.")
            problems.append(Problem("category", "no_category", message.format(known=", ".join(valid_keys))))
        if problems:
            raise InvalidResponse(problems)
        return Response(" ".join(str(question).split()), str(category))

    def perturb(self, item: Item, response: Response) -> PerturbedExample:
        """The same example with the new question; until a person checks it, its answer is the original's. (JOINTS 4)"""
        return PerturbedExample(dataclasses.replace(item.example, question=response.question), ())

    def tried(self, data: object, item: Item) -> Example | None:
        """The words so far, also before the change is described."""
        question = data.get("question") if isinstance(data, Mapping) else None
        if not isinstance(question, str) or len(question) > LONGEST_QUESTION:
            return None
        if not question.strip() or _bare(question) == _bare(item.example.question):
            return None
        return dataclasses.replace(item.example, question=" ".join(question.split()))

    # -- what machines propose -----------------------------------------------------------------------

    def propose(self, item: Item, context: Context) -> Iterator[ProposedResponse]:
        example = item.example
        if item.variant == "word":
            rewrites = rewordings(example.question, example.table, context.thesaurus)
        else:
            rewrites = rephrasings(example.question)
        for rewrite in rewrites:
            if rewrite.score >= LEAST_SURE:
                data = {"question": rewrite.question, "category": rewrite.category}
                yield ProposedResponse(data, rewrite.category, rewrite.by, rewrite.why, rewrite.score)

    def generation_requests(self, item: Item) -> Sequence[GenerationRequest]:
        form = '{"question": "the question in its new words"}'
        return [
            GenerationRequest(
                category.key,
                f"Paraphrase the question. {category.title}: {category.what} "
                f"For example “{category.before}” becomes “{category.after}” "
                "The meaning and the answer stay; add nothing and leave nothing out.",
                form,
                DEMONSTRATIONS,
            )
            for category in self.levels[item.variant]
        ]

    def render(self, item: Item) -> str:
        before = [f"Asked before: {turn.question}" for turn in item.example.history]
        return "\n".join(
            [
                relevant_table(item.example.table, item.example.question),
                *before,
                f"Question: {item.example.question}",
            ]
        )

    def as_demonstration(
        self, response: Response, request: GenerationRequest, item: Item
    ) -> Mapping[str, Any] | None:
        return {"question": response.question} if response.category == request.key else None

    def parse_reply(
        self, reply: Mapping[str, Any], request: GenerationRequest, item: Item
    ) -> Mapping[str, Any]:
        require_fields(reply, {"question"})
        return {"question": read_text(reply["question"], "question"), "category": request.key}

    # -- what follows --------------------------------------------------------------------------------

    def alike(self, response: Response, item: Item) -> Hashable:
        return _bare(response.question)

    def describe(self, response: Response, item: Item) -> list[str]:
        changes = word_diff(item.example.question, response.question).changes
        parts = [
            gettext("“{old}” becomes “{new}”").format(old=change.old, new=change.new)
            if change.new
            else gettext("“{old}” is removed").format(old=change.old)
            for change in changes
            if change.old
        ]
        parts += [gettext("“{new}” is added").format(new=change.new) for change in changes if not change.old]
        return [
            response.question,
            gettext("Changed: {words}.").format(words=", ".join(parts)),
            f"{gettext(TITLES[response.category])}.",
        ]

    def feedback(self, item: Item, response: Response, expected: Response) -> tuple[bool | None, list[str]]:
        """The category has to fit. Whether other words still ask the same is not judged: one way is shown."""
        lines = [gettext("One way to say it: {question}").format(question=expected.question)]
        if response.category != expected.category:
            return False, [
                gettext("Expected: {titles}.").format(titles=gettext(TITLES[expected.category])),
                *lines,
            ]
        same = fold(response.question).casefold() == fold(expected.question).casefold()
        return (True, []) if same else (None, lines)

    def export(
        self, format: str, item: Item, response: Response, perturbed: PerturbedExample | None
    ) -> Iterator[ReleaseRecord]:
        """RobuT's item form, beside the original, and Askew's own with the category."""
        if perturbed is None:
            return
        if format == "robut":
            for part, record in robut_pair(item.example, perturbed.example, item.variant):
                yield ReleaseRecord(part, record, is_of_shown=record["perturbation_type"] == "original")
        elif format == "askew":
            record = robut_record(item.example, perturbed.example, item.variant)
            yield ReleaseRecord(
                self.key, {**askew_record(perturbed.example), **record, "category": response.category}
            )

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> dict[str, Any]:
        """By rule, and marked as what it is: requests for questions, and synonyms of a few common words."""
        question = item.example.question.rstrip(" ?.")
        if item.variant == "sentence":
            return {"question": f"please tell me: {question}.", "category": "mood"}
        for old, new, category in SYNONYMS:
            if old in question.lower().split():
                words = [new if word.lower() == old else word for word in question.split()]
                return {"question": f"{' '.join(words)}?", "category": category}
        return {"question": f"according to the table, {question}?", "category": "reasoning_carrier"}


SYNONYMS = (
    ("first", "earliest", "reasoning_synonym"),
    ("last", "final", "reasoning_synonym"),
    ("most", "largest number of", "reasoning_synonym"),
    ("many", "large a number of", "reasoning_carrier"),
    ("team", "club", "header_carrier"),
    ("country", "nation", "header_synonym"),
)


def _bare(question: str) -> str:
    """A question without what makes no other words of it: case, blanks, the mark at its end."""
    return " ".join(fold(question).casefold().split()).rstrip(" ?.!")


task = QuestionParaphrase()
