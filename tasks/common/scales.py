"""Scores from 1 to 5, as several kinds ask for them: reading one, and what several make."""

from __future__ import annotations

from collections.abc import Sequence

LOWEST, HIGHEST = 1, 5
STEPS = tuple(str(step) for step in range(LOWEST, HIGHEST + 1))


def score(value: object, lowest: int = LOWEST, highest: int = HIGHEST) -> int | None:
    """A whole score, as a number or as a form posts it; None for anything else."""
    if isinstance(value, str):
        return next((step for step in range(lowest, highest + 1) if value == str(step)), None)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if lowest <= value <= highest else None


def mean(scores: Sequence[int | float]) -> int | float:
    """The mean, to six decimals; a whole one is a whole number, so that people who agree are quoted as they said it."""
    found = sum(scores) / len(scores)
    return int(found) if found == int(found) else round(found, 6)
