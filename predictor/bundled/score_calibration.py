"""How sure the bundled model is of an answer, as the share of such answers that are right.

    calibration = fit(scores, right)          on held-out questions
    calibration(0.62)                         of answers with a score like this one, this share was right
    expected_error(shares, right)             how far what it says lies from what happens

One monotone map, stored with the weights as its knots: it changes no answer and no order of answers.

Sources: Ayer et al. (1955), An empirical distribution function for sampling with incomplete information (pool adjacent
violators). Guo et al. (2017), On calibration of modern neural networks, section 2 (expected calibration error).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

BINS = 10
"""Parts of equal width, from 0 to 1, in which what a model says is held against what happens."""


NEVER_NEARER = 0.05
"""To 0 and to 1: some hundred held-out questions do not show that an answer is always wrong, or always right."""


@dataclass(frozen=True)
class Calibration:
    """A piecewise linear map from scores to shares; both rise. Without knots, a score stays as it is."""

    scores: tuple[float, ...] = ()
    shares: tuple[float, ...] = ()

    def __call__(self, score: float) -> float:
        return float(np.interp(score, self.scores, self.shares)) if self.scores else min(score, 1.0)

    def spread(self, scores: Sequence[float]) -> tuple[float, ...]:
        """The shares of several answers to one question, the best first.

        The map is fitted to best answers. The others keep their proportion to the first, so that equal shares at the
        lower end of the map hide no margin.
        """
        first, *others = scores
        share = self(first)
        return share, *(share * min(other / first, 1.0) if first else 0.0 for other in others)

    def to_dict(self) -> dict[str, list[float]]:
        """JSON, as bundled.json holds it."""
        return {"scores": list(self.scores), "shares": list(self.shares)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Calibration:
        """What `to_dict` gave. Raises ValueError where the knots do not rise."""
        scores, shares = (tuple(map(float, data[name])) for name in ("scores", "shares"))
        if len(scores) != len(shares) or list(scores) != sorted(scores) or list(shares) != sorted(shares):
            raise ValueError("the knots of the calibration do not rise")
        return cls(scores, shares)


def fit(scores: Sequence[float], right: Sequence[bool]) -> Calibration:
    """The rising step function nearest to what was right (isotonic regression), its steps joined at their middles.

    No share is nearer to 0 or 1 than `NEVER_NEARER`.
    """
    order = np.argsort(np.asarray(scores, float), kind="stable")
    steps: list[tuple[float, int, float, float]] = []  # right, questions, lowest and highest score
    for index in order:
        score = float(scores[index])
        step = (float(right[index]), 1, score, score)
        while steps and (steps[-1][3] == score or steps[-1][0] * step[1] >= step[0] * steps[-1][1]):
            before = steps.pop()
            step = (before[0] + step[0], before[1] + step[1], before[2], step[3])
        steps.append(step)
    return Calibration(
        tuple(round((low + high) / 2, 4) for _, _, low, high in steps),
        tuple(
            round(min(max(hits / questions, NEVER_NEARER), 1 - NEVER_NEARER), 4)
            for hits, questions, _, _ in steps
        ),
    )


def expected_error(shares: Sequence[float], right: Sequence[bool], bins: int = BINS) -> float:
    """Expected calibration error: the mean distance of share said and share right, over the bins by their size."""
    confidences, hits = np.asarray(shares, float), np.asarray(right, float)
    bin_indices = np.minimum((confidences * bins).astype(int), bins - 1)
    within = [bin_indices == bin_index for bin_index in range(bins)]
    return float(
        sum(abs(confidences[mask].sum() - hits[mask].sum()) for mask in within) / max(len(confidences), 1)
    )
