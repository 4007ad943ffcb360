"""How often the answers are right: by WikiTableQuestions' published rule, and by the platform's own comparison."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from predictor.bundled.decode import OPERATIONS, Answer, Balance, Candidate, candidates, combine_candidates
from predictor.bundled.features import Input, collate
from predictor.bundled.score_calibration import Calibration, expected_error, fit
from predictor.bundled.table_features import TableReading
from predictor.training.supervision import supervise
from tableqa.data.answers import compare
from tableqa.data.examples import Example

Run = Callable[[Mapping[str, np.ndarray]], Mapping[str, np.ndarray]]
"""A batch of arrays in, the network's outputs as arrays out: torch in training, ONNX Runtime afterwards."""


@dataclass(frozen=True)
class PreparedQuestion:
    """A question with gold answers, read for the network."""

    example: Example
    table: TableReading
    given: Input


@dataclass(frozen=True)
class Verdict:
    """What was answered, and whether it is right: by the published rule, and by `tableqa.data.answers.compare`."""

    answer: Answer | None
    published: bool
    equal: bool


def check_answers(answers: Sequence[str], gold: Sequence[str]) -> tuple[bool, bool]:
    """(by WikiTableQuestions' published rule on the texts, by `compare`, which also knows forms and units)."""
    result = compare(list(answers), list(gold))
    return result.equal and result.difference in (None, "order"), result.equal


def all_candidates(questions: Sequence[PreparedQuestion], run: Run, batch: int = 32) -> list[list[Candidate]]:
    """The candidates of every question; questions of one size go through the network together."""
    order = sorted(range(len(questions)), key=lambda index: questions[index].given.links.size)
    out: list[list[Candidate]] = [[] for _ in questions]
    for start in range(0, len(order), batch):
        indices = order[start : start + batch]
        outputs = run(collate([questions[index].given for index in indices]))
        for row, index in enumerate(indices):
            output = {name: array[row] for name, array in outputs.items()}
            out[index] = candidates(
                output, questions[index].given, questions[index].table, questions[index].example.question
            )
    return out


def verdicts(
    questions: Sequence[PreparedQuestion], candidate_lists: Sequence[Sequence[Candidate]], balance: Balance
) -> list[Verdict]:
    """The best answer of each question, judged."""
    out = []
    for question, ways in zip(questions, candidate_lists, strict=True):
        answers = combine_candidates(ways, balance)
        if not answers:
            out.append(Verdict(None, False, False))
            continue
        out.append(Verdict(answers[0], *check_answers(answers[0].answers, question.example.answers)))
    return out


def accuracy(judged: Sequence[Verdict]) -> float:
    """The share that is right by the published rule."""
    return sum(verdict.published for verdict in judged) / max(len(judged), 1)


LEAST_HELD_OUT = 200
"""Held-out questions that a new calibration, or the balance of an adaptation, takes at least.

Measured with the shipped weights: maps were fitted to 40 random parts of the 684 held-out questions. Their expected
calibration error on every third development question is, on average and at the 95th percentile: 12 questions 0.14 and
0.24, which is no better than without a map (0.24); 100 questions 0.09 and 0.13; 200 questions 0.07 and 0.10; all 0.06.
"""


def fit_calibration(judged: Sequence[Verdict]) -> Calibration:
    """What the scores of these held-out questions mean: the share of right answers by score.

    Raises ValueError for fewer than `LEAST_HELD_OUT` questions.
    """
    if len(judged) < LEAST_HELD_OUT:
        raise ValueError(
            f"{len(judged)} held-out questions are too few to calibrate ({LEAST_HELD_OUT} needed)"
        )
    return fit(
        [verdict.answer.score if verdict.answer else 0.0 for verdict in judged],
        [verdict.published for verdict in judged],
    )


def report(
    questions: Sequence[PreparedQuestion], judged: Sequence[Verdict], calibration: Calibration | None = None
) -> dict[str, Any]:
    """Accuracy overall, by the operation that was used, by what kind of answer it is, and by how sure the model was.

    With a calibration, its expected error beside that of the scores as the network gives them.
    """
    by_operation: dict[str, list[bool]] = defaultdict(list)
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for entry, verdict in zip(questions, judged, strict=True):
        by_operation[verdict.answer.operation if verdict.answer else "none"].append(verdict.published)
        by_kind[answer_kind(entry)].append(verdict.published)
    sure = np.array([verdict.answer.score if verdict.answer else 0.0 for verdict in judged])
    good = np.array([verdict.published for verdict in judged])
    order = np.argsort(sure, kind="stable")
    fifths = [round(float(good[part].mean()), 3) for part in np.array_split(order, 5) if len(part)]
    errors = {}
    if calibration is not None:
        errors = {
            "calibration_error": round(
                expected_error([calibration(entry) for entry in sure], good.tolist()), 4
            ),
            "calibration_error_before": round(expected_error(sure.clip(0, 1).tolist(), good.tolist()), 4),
        }
    return {
        **errors,
        "questions": len(judged),
        "published_rule": round(accuracy(judged), 4),
        "equal": round(sum(entry.equal for entry in judged) / max(len(judged), 1), 4),
        "by_operation": _shares(by_operation),
        "by_answer": _shares(by_kind),
        "by_fifth_of_score": fifths,
    }


def _shares(outcomes: Mapping[str, Sequence[bool]]) -> dict[str, dict[str, float]]:
    return {
        name: {"questions": len(good), "right": round(sum(good) / len(good), 3)}
        for name, good in sorted(outcomes.items(), key=lambda pair: -len(pair[1]))
    }


def answer_kind(question: PreparedQuestion) -> str:
    """What kind of answer the gold is: a cell, a list, yes or no, a number that no cell holds, or something else."""
    answers = question.example.answers
    if len(answers) > 1:
        return "list"
    goal = supervise(question.example, question.table, question.given.rows)
    if any(operation == "select" for operation, _ in goal.cells):
        return "cell"
    if goal.flags or goal.headers:
        return "yes, no, an option or a column"
    if goal.count >= 0 or goal.masks or goal.pairs:
        return "number not in the table"
    return "other"


_WEIGHTS = (1.0, 0.75, 0.5, 0.25, 0.1)
_BIASES = (0.0, -0.5, 0.5, -1.0, 1.0, -2.0)


def fit_balance(
    questions: Sequence[PreparedQuestion], candidate_lists: Sequence[Sequence[Candidate]]
) -> Balance:
    """The balance of operations that answers most of these held-out questions; one operation at a time, twice round.

    What makes no difference stays as it is, so few questions cannot pull it far.
    """
    gold = [
        [check_answers(way.answers, question.example.answers)[0] for way in ways]
        for question, ways in zip(questions, candidate_lists, strict=True)
    ]
    weights: dict[str, float] = {}
    biases: dict[str, float] = {}
    best = _score(candidate_lists, gold, Balance(weights, biases))
    least = max(1.0, 0.001 * len(questions))
    used = {way.operation for ways in candidate_lists for way in ways}
    for _, name in itertools.product(range(2), [name for name in OPERATIONS if name in used]):
        best_settings = (weights.get(name, 1.0), biases.get(name, 0.0))
        for weight, bias in itertools.product(_WEIGHTS, _BIASES):
            tried = Balance(weights | {name: weight}, biases | {name: bias})
            score = _score(candidate_lists, gold, tried)
            if score > best + least:
                best, best_settings = score, (weight, bias)
        weights[name], biases[name] = best_settings
    return Balance(weights, biases)


def _score(
    candidate_lists: Sequence[Sequence[Candidate]], gold: Sequence[Sequence[bool]], balance: Balance
) -> float:
    total = 0
    for ways, good in zip(candidate_lists, gold, strict=True):
        if any(good):
            best = combine_candidates(ways, balance)[0]
            total += any(
                ok and way.operation == best.operation and way.answers == best.answers
                for way, ok in zip(ways, good, strict=True)
            )
    return float(total)


def read_all(examples: Iterable[Example], tables: Any) -> list[PreparedQuestion]:
    """Read questions and tables; `tables` is a `corpus.Tables`."""
    from predictor.bundled.question_features import encode_question

    out = []
    for example in examples:
        table = tables.reading(example.table)
        out.append(
            PreparedQuestion(example, table, encode_question(example.question, table, tables.tokenizer))
        )
    return out
