"""Scores from 1 to 5, as several kinds ask for them: reading one, and what several make."""

import math
import re
from collections.abc import Sequence

from tableqa.core.foreign_values import decimal

LOWEST, HIGHEST = 1, 5
STEPS = tuple(str(step) for step in range(LOWEST, HIGHEST + 1))


def score(value: object, lowest: int = LOWEST, highest: int = HIGHEST) -> int | None:
    """A whole score, as a number or as a form posts it; None for anything else."""
    if isinstance(value, str):
        return next((step for step in range(lowest, highest + 1) if value == str(step)), None)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if lowest <= value <= highest else None


def number_of(value: object) -> int | float | None:
    """A number, as a number or as a form posts it; None for anything else, and for a decimal that no float has.

    A whole number is an int, also where it is written as 7.0: databases and files then have one form of it.
    """
    text = str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    if re.fullmatch("-?[0-9]{1,300}", text):
        return int(text)
    number = decimal(text) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", text) else ""
    if isinstance(number, str) or not math.isfinite(number):
        return None
    return int(number) if number == int(number) else number


def mean(scores: Sequence[int | float]) -> int | float:
    """The mean, to six decimals; a whole one is a whole number, so that people who agree are quoted as they said it."""
    average = sum(scores) / len(scores)
    return int(average) if average == int(average) else round(average, 6)
