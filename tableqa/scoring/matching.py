"""Whether a model answers an instance rightly, by the rules of `MATCHES`.

Sources:
  Zhu et al. (2021), TAT-QA, section 5 (exact match and F1 with scales: `tat_metric`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..data.answer_scales import compare_scaled
from ..data.answers import accepted
from . import matchers, tat_metric

ORIGINAL = "original"
"""The kind of an instance that nothing was done to."""


@dataclass(frozen=True)
class Instance:
    """One question as it is put to a model.

    source    the dataset; macro means are over these
    id        unique within the source
    question  the id of the original, which all instances of one question share
    kind      the perturbation, `ORIGINAL` for none
    seed      which draw of it; 0 where nothing is drawn
    baseline  the id of the instance that this one is compared with; its own where there is none
    answers   the gold answers of this instance
    group     `COMPARISON` for a question that compares, "" for another
    sequence  the dialogue that the question belongs to, "" where it belongs to none
    turn      its place in the dialogue, from 0
    scale     the scale of the gold answers (`tableqa.data.answer_scales`), "" for none
    answer_type   what the source calls their kind; TAT-QA's rule asks for it
    """

    source: str
    id: str
    question: str
    kind: str
    seed: int
    baseline: str
    answers: tuple[str, ...]
    group: str = ""
    sequence: str = ""
    turn: int = 0
    scale: str = ""
    answer_type: str = ""


class GeneratedText(tuple[str, ...]):
    """One text that a sequence model wrote, which may stand for several answers."""


class ScaledAnswers(tuple[str, ...]):
    """Answers whose numbers are in `scale`: "thousand", "million", "billion" or "percent"."""

    scale: str = ""

    @property
    def said(self) -> tuple[str, ...]:
        """The answers with their scale behind each of them."""
        return tuple(f"{answer} {self.scale}" for answer in self)


def scaled(answers: Iterable[str], scale: str) -> ScaledAnswers:
    """These answers in that scale."""
    scaled_answers = ScaledAnswers(answers)
    scaled_answers.scale = scale
    return scaled_answers


def is_right(predicted: Sequence[str], gold: Sequence[str], scale: str = "") -> bool:
    """Whether an answer is right. A generated text is right as one answer or as several with ", " between them.

    `scale` is that of the gold answers (`tableqa.data.answer_scales`). Where the prediction names one, it is part of the
    answer.
    """
    answers = predicted.said if isinstance(predicted, ScaledAnswers) else predicted
    if compare_scaled(answers, gold, scale).equal:
        return True
    split = isinstance(predicted, GeneratedText) and any(len(form) > 1 for form in accepted(gold))
    return split and compare_scaled(predicted[0].split(", "), gold, scale).equal


Match = Literal["askew", "wtq", "tapex", "tat"]


def _by_tat(predicted: Sequence[str], instance: Instance) -> tat_metric.Score:
    return tat_metric.score(
        predicted,
        instance.answers,
        scale=instance.scale,
        predicted_scale=predicted.scale if isinstance(predicted, ScaledAnswers) else "",
        answer_type=instance.answer_type,
    )


MATCHES: Mapping[Match, Callable[[Sequence[str], Instance], bool | tat_metric.Score]] = {
    "askew": lambda predicted, instance: is_right(predicted, instance.answers, instance.scale),
    "wtq": lambda predicted, instance: matchers.wtq_official(predicted, instance.answers),
    "tapex": lambda predicted, instance: matchers.tapex(predicted, instance.answers),
    "tat": _by_tat,
}
"""The rules by which an answer is right: ours (`is_right`), WikiTableQuestions', TAPEX's and RobuT's, TAT-QA's."""
