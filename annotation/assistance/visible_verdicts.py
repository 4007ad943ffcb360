"""What a page shows of a model's answers to an example and to its change: both answers, the verdict and its reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

import tableqa
from annotation.assistance import judgements, model_answers, verdict_line
from tableqa.core.translation import translate_stored
from tableqa.data.answers import alternatives_of, in_words
from tableqa.scoring import verdicts
from tasks.contract import ModelInTheLoop, TaskType


@dataclass(frozen=True)
class ModelAnswerView:
    """What a model says of one example: answers, how sure it is, where it looked, how much of the table it saw.

    `expected` holds the gold answers, () where there are none; `confidence` is the score as a word.
    `next_best`: other answers with their scores, the likeliest first.
    """

    answers: tuple[str, ...]
    expected: tuple[str, ...]
    score: float | None
    cells: tuple[tuple[str, str], ...]
    rows_seen: int
    rows_total: int
    right: bool | None
    next_best: tuple[tuple[tuple[str, ...], float], ...] = ()

    @property
    def next_best_in_words(self) -> str:
        """The next best answers and how far the first is ahead, in the reader's language; "" for a model without."""
        return verdict_line.next_best(self.score, self.next_best)

    @property
    def confidence(self) -> str:
        """How sure the model is, as a word in the reader's language."""
        return verdict_line.confidence(self.score)

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "confidence": self.confidence, "next_best": self.next_best_in_words}


@dataclass(frozen=True)
class VisibleVerdict:
    """What a page shows of a check: a state with a sentence, both answers and a verdict where there are any.

    `forms`: for `unsure`, the form of the model's answer and of the given one that were compared. `tries` counts
    what the person has tried on this item, None where nothing is counted. `line` is the verdict in one line
    (`verdict_line.parts`), `meaning` whether any person has confirmed the answer to the changed example, in words.
    `fooled_today`: for a check that fools the model with an answer that the program confirms, how many items of the task
    type the person has fooled it on today.
    """

    state: model_answers.State
    words: str
    original: ModelAnswerView | None = None
    perturbed: ModelAnswerView | None = None
    verdict: str | None = None
    forms: tuple[str, str] | None = None
    tries: int | None = None
    line: tuple[verdict_line.Part, ...] = ()
    meaning: str = ""
    fooled_today: int | None = None

    @property
    def is_verified(self) -> bool:
        """Whether the program confirms the answer to the changed example."""
        return any(kind == "verified" for kind, _ in self.line)

    @property
    def expected(self) -> tuple[str, ...]:
        """The gold answers to the example that the model has answered last."""
        newest = self.perturbed or self.original
        return newest.expected if newest is not None else ()

    def to_dict(self, seq: int) -> dict[str, Any]:
        views = {"original": self.original, "perturbed": self.perturbed}
        return {
            "seq": seq,
            **vars(self),
            **{name: view.to_dict() if view else None for name, view in views.items()},
        }


def describe_verdict(
    pair: judgements.ExamplePair, answers: judgements.RawAnswers, task: TaskType, tries: int | None
) -> VisibleVerdict:
    """What a page shows of raw answers and their verdict."""
    original, perturbed, error = answers.original, answers.perturbed, answers.error
    judged_pair = judgements.judge_answers(pair, answers)
    judged = judged_pair.judgements["perturbed"]
    own_texts = task.verdict_words if isinstance(task, ModelInTheLoop) else {}
    nothing_yet = pair.perturbed is None and not error
    newest = perturbed or original
    of_meaning = ""
    if task.predicts == "live":
        of_meaning = verdict_line.meaning(
            answers=verdicts.gold_of(judged_pair.gold, "perturbed"),
            pair=pair,
            verdict=judged_pair.verdict,
        )
    visible_verdict = judged_pair.verdict
    if visible_verdict == "fooled" and not pair.is_submittable:
        visible_verdict = "pending"
    line = verdict_line.parts(
        judged_pair,
        original=original["answers"] if original else (),
        perturbed=perturbed["answers"] if perturbed else None,
        score=newest["score"] if newest else None,
        of_meaning=of_meaning,
        own=own_texts,
    )
    return VisibleVerdict(
        state="answered",
        words=translate_stored(error)
        or (
            _verdict_on_original(judged_pair)
            if nothing_yet
            else gettext(verdict_line.MEANING[of_meaning])
            if judged_pair.verdict == "fooled" and of_meaning in verdict_line.NEVER_FOOLED
            else gettext(own_texts.get(judged_pair.verdict, judged_pair.words))
        ),
        # A model that cannot read the example, or be read, has said nothing that is right or wrong.
        original=_answer_view(
            original, pair.original, None if error else judged_pair.judgements["original"], judged_pair.gold
        ),
        perturbed=_answer_view(
            perturbed, pair.perturbed, None if error else judged, judged_pair.gold, "perturbed"
        ),
        verdict=None if nothing_yet else visible_verdict,
        forms=judged.forms if judged is not None and judged_pair.verdict == "unsure" else None,
        tries=tries,
        line=tuple(line),
        meaning=gettext(verdict_line.MEANING[of_meaning]) if of_meaning and perturbed else "",
    )


def _verdict_on_original(judged_pair: judgements.JudgedPair) -> str:
    """The verdict on the original alone, before anything is tried."""
    judgement = judged_pair.judgements["original"]
    if judgement is None:
        return "" if judged_pair.gold["original"] else judged_pair.words
    return (
        gettext(model_answers.TEXTS["right_so_far"])
        if judgement.right
        else gettext(verdicts.WORDS["wrong_on_original"])
    )


def _answer_view(
    raw_answer: Mapping[str, Any] | None,
    example: tableqa.Example | None,
    judged: verdicts.Judgement | None,
    gold: Mapping[str, Any],
    name: str = "original",
) -> ModelAnswerView | None:
    if raw_answer is None or example is None:
        return None
    expected = verdicts.gold_of(gold, name)
    rows, columns = example.table.row_ids, example.table.column_ids
    return ModelAnswerView(
        answers=tuple(raw_answer["answers"]),
        expected=(in_words(expected),) if alternatives_of(expected) else expected,
        score=raw_answer["score"],
        cells=tuple((rows[row], columns[column]) for row, column in raw_answer["cells"]),
        rows_seen=raw_answer["rows_seen"],
        rows_total=raw_answer["rows_total"],
        right=judged.right if judged is not None else None,
        next_best=tuple(
            (tuple(candidate["answers"]), candidate["score"]) for candidate in raw_answer.get("topk", ())
        ),
    )
