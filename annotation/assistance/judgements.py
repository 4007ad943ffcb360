"""Requests to a model about a response, and verdicts on its answers: without a database, so that a person with the files
of a release can take every verdict again.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from django.utils.translation import gettext

import tableqa
import tasks.contract
from predictor.protocol import PredictRequest
from tableqa import programs
from tableqa.core.canonical_json import digest
from tableqa.data.answer_scales import scale_of, with_scale
from tableqa.data.answers import accepted, alternatives_of, is_month_first
from tableqa.scoring import verdicts
from tasks.contract import InvalidResponse, MakingTask, ModelInTheLoop, TaskType

Raw = Mapping[str, Any]
"""A prediction as it is stored: without timings, and without whether a person had asked the same before."""


@dataclass(frozen=True)
class ExamplePair:
    """The two examples of a request to a model; `perturbed` is None while there is nothing to try.

    What of them goes to the model is question, table with titles, earlier questions, the scale of the answers, and the
    rest of the context where the kind shows it. Their answers stay here: they are the gold answers. `computed` is what
    a confirmed program says of the perturbed; `is_submittable`: the response could be submitted as it is.
    """

    original: tableqa.Example
    perturbed: tableqa.Example | None
    computed: tuple[str, ...] | None = None
    is_submittable: bool = True

    @cached_property
    def keys(self) -> dict[str, dict[str, str]]:
        """Digests of question and table of both, for the record."""
        digests = {}
        for name, example in (("original", self.original), ("perturbed", self.perturbed)):
            if example is not None:
                request = PredictRequest.about(example)
                digests[name] = {
                    "question": digest(example.question),
                    "table": request.table_sha,
                    "key": request.key,
                }
        return digests

    @cached_property
    def digest(self) -> str:
        """Equal for two tries that look the same to a model."""
        return digest({name: key["key"] for name, key in self.keys.items()})


def example_pair(task: TaskType, item: tasks.contract.Item, data: object) -> ExamplePair:
    """The request to a model about a draft of a response."""
    shows = task.shown_names(item)
    perturbed = task.tried(data, item) if isinstance(task, ModelInTheLoop) else None
    preview = task.preview(data, item) if perturbed is not None and isinstance(task, MakingTask) else None
    computed = (preview or {}).get("computed")
    return ExamplePair(
        _visible(item.example, shows),
        _visible(perturbed, shows) if perturbed is not None else None,
        tuple(computed) if computed else None,
        not isinstance(task, ModelInTheLoop)
        or perturbed is None
        or task.predicts != "live"
        or _is_submittable(task, item, data),
    )


def _is_submittable(task: ModelInTheLoop, item: tasks.contract.Item, data: object) -> bool:
    """Whether no problem is in what the model is asked. What is said about a change can still be lacking."""
    try:
        task.parse(data, item)
    except InvalidResponse as error:
        return not any(problem.path.startswith(task.tried_on or "") for problem in error.problems)
    return True


def unchanged_pair(task: TaskType, example: tableqa.Example) -> ExamplePair:
    """The request to a model about an unchanged example."""
    return ExamplePair(_visible(example, task.shows), None)


def _visible(example: tableqa.Example, shows: Sequence[str]) -> tableqa.Example:
    """The part of an example that a model is given: the context only where annotators see it."""
    if "context" in shows:
        return example
    return dataclasses.replace(example, context=with_scale(None, scale_of(example)))


# -- what it comes to -------------------------------------------------------------------------------


@dataclass(frozen=True)
class JudgedPair:
    """A verdict with what it rests on: gold answers and judgements under "original" and "perturbed".

    `gold` has the "scale" of the answers and their "alternatives", and says "month_first" of dates. `is_confirmed`: the
    program gives the gold answer of the perturbed example, and the response could be submitted.
    """

    verdict: verdicts.Verdict
    gold: Mapping[str, Any]
    judgements: Mapping[str, verdicts.Judgement | None]
    is_confirmed: bool = False

    @property
    def words(self) -> str:
        """A sentence for the page."""
        if self.verdict == "pending" and not self.gold["original"]:
            return gettext("This example has no gold answer. The model cannot be judged.")
        if self.verdict == "pending" and not self.gold["perturbed"]:
            return gettext("Enter the correct answer after your change to check the model.")
        return verdicts.WORDS[self.verdict]


class RawAnswers(Protocol):
    """Raw answers to both examples, or why the model cannot read them."""

    @property
    def original(self) -> Any: ...

    @property
    def perturbed(self) -> Any: ...

    @property
    def error(self) -> str: ...


def judge_answers(pair: ExamplePair, answers: RawAnswers, *, gold: Sequence[str] | None = None) -> JudgedPair:
    """The verdict on what a model has answered; see `judge_pair`."""
    return judge_pair(pair, answers.original, answers.perturbed, gold=gold, failed=bool(answers.error))


def is_right_on_original(pair: ExamplePair, answers: RawAnswers) -> bool:
    """Whether the model answers the original correctly; only then can a change fool it."""
    judgement = judge_answers(pair, answers).judgements["original"]
    return not answers.error and judgement is not None and judgement.right


def judge_pair(
    pair: ExamplePair,
    original: Raw | None,
    perturbed: Raw | None,
    *,
    gold: Sequence[str] | None = None,
    failed: bool = False,
) -> JudgedPair:
    """The verdict on raw answers. `gold` is the perturbed example's answer where another person has given it since."""
    right: dict[str, Sequence[str]] = {
        "original": pair.original.answers,
        "perturbed": gold
        if gold is not None
        else pair.perturbed.answers
        if pair.perturbed is not None
        else (),
    }
    raw_answers, scale = {"original": original, "perturbed": perturbed}, scale_of(pair.original)
    judgements = {name: _judge_answer(raw_answers[name], right[name], scale) for name in right}
    verdict = verdicts.verdict(
        judgements["original"],
        judgements["perturbed"],
        original_computed=_judge_answer(original, _program_answer(pair.original), scale),
        perturbed_computed=_judge_answer(perturbed, pair.computed, scale),
        failed=failed,
    )
    alternatives = {name: list(map(list, forms)) for name in right if (forms := alternatives_of(right[name]))}
    month_first = any(map(is_month_first, right.values()))
    more = {"scale": scale, "alternatives": alternatives, "month_first": month_first}
    gold_answers = {name: list(answers) for name, answers in right.items()} | {
        name: value for name, value in more.items() if value
    }
    confirmed = pair.is_submittable and is_confirmed(right["perturbed"], pair.computed)
    return JudgedPair(verdict, gold_answers, judgements, confirmed)


def is_confirmed(answers: Sequence[str], computed: Sequence[str] | None) -> bool:
    """Whether a program gives these answers to the changed example."""
    return bool(answers) and list(computed or ()) in map(list, accepted(answers))


def _judge_answer(
    raw_answer: Raw | None, gold: Sequence[str] | None, scale: str
) -> verdicts.Judgement | None:
    return (
        verdicts.judge(raw_answer["answers"], gold, raw_answer["text"], scale)
        if raw_answer is not None and gold
        else None
    )


def _program_answer(example: tableqa.Example) -> list[str] | None:
    """What the example's own program gives, where it has one that runs."""
    if example.program is None:
        return None
    try:
        return programs.run(example.program, example.table)
    except programs.ProgramError:
        return None
