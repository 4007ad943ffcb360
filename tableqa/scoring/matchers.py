"""The two matchers by which published results were counted, kept beside `data.answers` so that both can be recomputed.

They decide nothing here: `compare` does. Their results are stored with every try of a model, because figures can only
be compared if they are counted in the same way. Of gold answers with alternatives, each form is right.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from ..data.answers import accepted

_QUOTES = str.maketrans(
    {**dict.fromkeys("‘’´`", "'"), **dict.fromkeys("“”", '"'), **dict.fromkeys("‐‑‒–—−", "-")}
)
_MARKS = frozenset("•♦†‡*#+")
_NUMBER_IN_BRACKETS = re.compile(r"\[\d+\]")
_QUOTED = re.compile(r'^"([^"]*)"$')
_DATE = re.compile(r"^(\d{4}|xxxx|xx)-(\d{1,2}|xx)-(\d{1,2}|xx)$")
_NUMBER = re.compile(r"^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$")


def wtq_official(predicted: Sequence[str], gold: Sequence[str]) -> bool:
    """The rule of WikiTableQuestions' evaluator on plain strings (Pasupat and Liang 2015), without canonical values.

    Marks, notes and details at the end, outer quotes, the final full stop and case are left out; numbers are equal
    within 1e-6, dates part by part; both sides are sets of the same size.
    """
    predicted_values = {_value(text) for text in predicted}
    forms = ({_value(text) for text in form} for form in accepted(gold))
    return any(
        len(predicted_values) == len(gold_values)
        and all(any(_match(g, p) for p in predicted_values) for g in gold_values)
        for gold_values in forms
    )


def tapex(predicted: Sequence[str], gold: Sequence[str]) -> bool:
    """The rule of TAPEX's evaluation, which RobuT uses, too (Liu et al. 2022): both sides joined by ", " and split
    there again, lower case, numbers as floats; as many times each answer on both sides."""
    return _spans(predicted) in map(_spans, accepted(gold))


# WikiTableQuestions ---------------------------------------------------------------------------------------------------


class _Value(NamedTuple):
    """The normal text with the number or the date (year, month, day; -1 = not said) that it is.

    In a set, numbers and dates are equal by value, as in the evaluator: "2.0" and "2" are one answer.
    """

    normal: str
    number: float | None
    date: tuple[int, int, int] | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Value) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> object:
        return self.number if self.number is not None else self.date or self.normal


def _normal(text: str) -> str:
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if unicodedata.category(c) != "Mn")
    text = text.translate(_QUOTES)
    while True:
        before = text
        text = _without_notes(text.strip())
        text = _without_details(text.strip())
        text = _QUOTED.sub(r"\1", text.strip())
        if text == before:
            break
    return re.sub(r"\s+", " ", text.removesuffix(".")).lower().strip()


def _without_notes(text: str) -> str:
    r"""The text without marks and notes in square brackets at its end; one that is nothing but a note keeps it, unless it is
    a number. As the evaluator's `((?<!^)\[[^\]]*\]|\[\d+\]|[•♦†‡*#+])*$`, which takes quadratic time.
    """
    end = len(text)
    while end:
        if text[end - 1] in _MARKS:
            end -= 1
            continue
        if text[end - 1] != "]":
            break
        after_last_note = text.rfind("]", 0, end - 1) + 1
        start = text.find("[", after_last_note, end)
        if start == 0 and not _NUMBER_IN_BRACKETS.fullmatch(text, 0, end):
            start = text.find("[", 1, end)
        if start < 0:
            break
        end = start
    return text[:end]


def _without_details(text: str) -> str:
    r"""The text without details in brackets at its end, each after a blank. As the evaluator's `(?<!^)( \([^)]*\))*$`."""
    end = len(text)
    while end and text[end - 1] == ")":
        after_last_detail = text.rfind(")", 0, end - 1) + 1
        start = text.find(" (", max(1, after_last_detail), end)
        if start < 0:
            break
        end = start
    return text[:end]


def _value(text: str) -> _Value:
    normal = _normal(text)
    lowered = text.strip().lower()
    if _NUMBER.match(lowered) and isfinite(number := float(lowered)):
        return _Value(normal, number, None)
    if date_match := _DATE.match(lowered):
        year, month, day = (-1 if part.startswith("x") else int(part) for part in date_match.groups())
        if (year, month, day) != (-1, -1, -1) and month <= 12 and day <= 31:
            # A date with a year only is the number of the year.
            is_year = month == day == -1
            return _Value(normal, float(year), None) if is_year else _Value(normal, None, (year, month, day))
    return _Value(normal, None, None)


def _match(first: _Value, second: _Value) -> bool:
    if first[0] == second[0]:
        return True
    if first[1] is not None and second[1] is not None:
        return abs(first[1] - second[1]) < 1e-6
    return first[2] is not None and first[2] == second[2]


# TAPEX ----------------------------------------------------------------------------------------------------------------


def _spans(answers: Sequence[str]) -> Counter[float | str]:
    spans: Counter[float | str] = Counter()
    for span in ", ".join(answers).lower().split(", "):
        try:
            spans[float(span)] += 1  # "1_000" and "infinity" are floats to Python, and therefore to this rule
        except ValueError:
            spans[span.strip()] += 1
    return spans
