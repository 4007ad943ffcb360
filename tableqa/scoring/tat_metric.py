"""TAT-QA's own measure: exact match and F1 of an answer with its scale (Zhu et al. 2021, section 5).

    score(["1,496.5"], ["$1,496.5"], scale="million", predicted_scale="million").em

The rule of the official evaluator (NExTplusplus/TAT-QA, commit 870accc), written again: all answers of a side are one text,
in the order of their characters; a number is multiplied by its scale; a text gets its scale behind it; texts are compared as
bags of words. Numbers of different scales differ, however they are written.
"""

import math
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass

from ..data.answers import accepted

_FACTORS = (
    ("hundred", 100),
    ("thousand", 1_000),
    ("million", 1_000_000),
    ("billion", 1_000_000_000),
    ("percent", 0.01),
)
_SIGNS = str.maketrans(dict.fromkeys("'\"\\$€£¥%(),[]", ""))
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, ""))
_NUMBER = re.compile(r"([+-]?\d+(\.\d+)?)|[+-]?\.\d+")
_IN_BRACKETS = re.compile(r"\([\d.\s]+\)")
_PERCENT = re.compile(r"[\d.\s]%")
_WITH_WORD = re.compile(r"(?<![\d.])[\d.]++\s?[a-zA-Z]+")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_COMPUTED = ("arithmetic", "count")
"""Kinds of answers that are right or wrong and nothing between."""
_LONGEST_INTEGER = 300
"""Digits; a longer one is read as a floating-point number."""


@dataclass(frozen=True, slots=True)
class Score:
    """Exact match, and F1 from 0 to 1, rounded to two digits as the evaluator does."""

    em: bool
    f1: float


def score(
    predicted: Sequence[str],
    gold: Sequence[str],
    *,
    scale: str = "",
    predicted_scale: str = "",
    answer_type: str = "",
) -> Score:
    """Score the answers of one question. `scale` is that of the gold answers, `answer_type` TAT-QA's name of their kind."""
    if not predicted or not gold:
        return Score(False, 0.0)
    candidates = [_joined(predicted, predicted_scale)]
    only = predicted[0]
    if len(predicted) == 1 and not predicted_scale and "%" not in only and _is_number(only):
        number = _value(only)
        candidates += [] if number is None else [f"{number:.4f}"]  # 0.2342 for 23.42 percent
    forms = [_normal(_joined(form, scale)) for form in accepted(gold)]
    em, f1 = max(_of_texts(_normal(candidate), right) for candidate in candidates for right in forms)
    return Score(em, float(em) if answer_type in _COMPUTED else f1)


def _of_texts(predicted: str, gold: str) -> tuple[bool, float]:
    predicted_words, gold_words = set(predicted.split()), set(gold.split())
    common = len(predicted_words & gold_words)
    precision = common / len(predicted_words) if predicted_words else 1.0
    recall = common / len(gold_words) if gold_words else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return predicted == gold, round(f1, 2)


def _joined(answers: Sequence[str], scale: str) -> str:
    """All answers as one text, numbers with four digits and multiplied by the scale."""
    parts = []
    for answer in sorted(answers):
        number = _value(answer) if _is_number(answer) else None
        if number is None:
            parts.append(f"{answer} {scale}" if scale else answer)
        elif "%" in answer:
            parts.append(f"{number:.4f}")
        else:
            parts.append(f"{round(number, 2) * _factor(scale):.4f}")
    return " ".join(parts)


def _normal(text: str) -> str:
    parts = [_normal_token(token.lower()) for token in text.split(" ")]
    return " ".join(part for part in parts if part)


def _normal_token(token: str) -> str:
    bare = token if _is_number(token) else token.translate(_PUNCTUATION)
    written = str(_value(bare)) if _is_number(bare) else bare
    return " ".join(_ARTICLES.sub(" ", written).split())


def _is_number(text: str) -> bool:
    words = " ".join(word.translate(_SIGNS) for word in text.split()).split()
    if not words:
        return False
    try:
        number = float(words[0])
    except ValueError:
        return False
    return not math.isnan(number) and (len(words) == 1 or _factor(words[1]) != 1)


def _value(text: str) -> float | None:
    """The number in a text with its sign, scale word and percent sign; None where there is none."""
    match = _NUMBER.search(text.translate(_SIGNS))
    if match is None or match[1] is None:
        return None
    number = float(match[1]) if match[2] or len(match[1]) > _LONGEST_INTEGER else int(match[1])
    word = _WITH_WORD.search(text)
    factor = _factor(word[0]) if word else 1
    sign = -1 if _IN_BRACKETS.search(text.strip()) else 1
    return round(number * factor * sign * (0.01 if _PERCENT.search(text.strip()) else 1), 4)


def _factor(scale: str) -> float:
    lower = scale.lower()
    return next((factor for name, factor in _FACTORS if name in lower), 1)
