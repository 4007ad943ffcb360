"""Figures of trained models on the same perturbed examples: accuracy, R-ACC and differences, each with its interval.

Intervals are 95 % percentile bootstraps over the originals: an original and all that was made of it are drawn together,
and with them their answers by every model and seed, so differences are paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tableqa.statistics.zero_width_intervals import honest_interval

DRAWS = 2_000
_AT_ONCE = 200


@dataclass(frozen=True)
class Estimate:
    """A share or a difference of shares with its interval; None without observations."""

    value: float | None
    low: float | None
    high: float | None

    def to_dict(self, name: str) -> dict[str, float | None]:
        """{name: value, name_low: ..., name_high: ...}, to four digits and without a negative zero."""
        rounded = [
            None if figure is None else round(figure, 4) + 0.0 for figure in (self.value, self.low, self.high)
        ]
        return dict(zip((name, f"{name}_low", f"{name}_high"), rounded, strict=True))


def ratio(
    clusters: Sequence[Any], hits: Sequence[float], sizes: Sequence[float], share: bool = True
) -> Estimate:
    """The sum of `hits` by the sum of `sizes`, one of each per observation, with clusters drawn together.

    share   whether it is a share, from 0 to 1; otherwise it is a difference of shares, from -1 to 1

    Where all clusters have one value, a bootstrap has no width: the interval there is that of `honest_interval`. For paired
    shares that are both 0 or both 1, it is that of Newcombe (1998), Improved confidence intervals for the difference between
    binomial proportions based on paired data, method 10.
    """
    total = float(sum(sizes))
    if not total:
        return Estimate(None, None, None)
    value = float(sum(hits)) / total
    indexes = {cluster: index for index, cluster in enumerate(dict.fromkeys(clusters))}
    cluster_indices = np.array([indexes[key] for key in clusters])
    upper = np.bincount(cluster_indices, np.asarray(hits, float), len(indexes))
    lower = np.bincount(cluster_indices, np.asarray(sizes, float), len(indexes))
    used = lower > 0
    if np.allclose(upper[used] / lower[used], value):
        least = 0.0 if share else -1.0
        interval = honest_interval(value, value, value, int(used.sum()), bounds=(least, 1.0))
        return Estimate(value, interval.low, interval.high)
    rng = np.random.default_rng(0)
    drawn: list[np.ndarray] = []
    even = np.full(len(indexes), 1 / len(indexes))
    for _ in range(DRAWS // _AT_ONCE):
        weights = rng.multinomial(len(indexes), even, _AT_ONCE)
        below = weights @ lower
        drawn.append((weights @ upper)[below > 0] / below[below > 0])
    low, high = np.percentile(np.concatenate(drawn), [2.5, 97.5])
    return Estimate(value, float(low), float(high))


@dataclass(frozen=True)
class Observation:
    """A test example: its kind ("" for an original), and the key of the original that it is or comes from."""

    kind: str
    original: Any


@dataclass(frozen=True)
class Arm:
    """What one column answered: by seed, by example, whether it was right and whether it could be read."""

    right: Sequence[Sequence[bool]]
    unread: Sequence[bool]

    def original_right(self, observations: Sequence[Observation], seed: int) -> dict[Any, bool]:
        """Whether each original was answered rightly under a seed."""
        answers: dict[Any, bool] = {}
        for observation, right in zip(observations, self.right[seed % len(self.right)], strict=True):
            if not observation.kind:
                answers.setdefault(observation.original, right)
        return answers


def compare_arms(
    observations: Sequence[Observation],
    arms: Mapping[str, Arm],
    baseline: str | None,
    trained: Sequence[str],
    rows: Mapping[str, Sequence[int]],
) -> dict[str, dict[str, dict[str, Any]]]:
    """Figures by arm and row.

    baseline   the arm that differences are taken from, where there is one
    trained    the arms whose common subset of originals answered rightly before is used for R-ACC
    rows       name -> positions of its examples
    """
    seeds = max(len(arm.right) for arm in arms.values())
    before = {
        name: [arm.original_right(observations, seed) for seed in range(seeds)] for name, arm in arms.items()
    }
    originals = {entry.original for entry in observations}
    common = [
        {entry for entry in originals if all(before[name][seed].get(entry, False) for name in trained)}
        for seed in range(seeds)
    ]
    figures: dict[str, dict[str, dict[str, Any]]] = {}
    for name, arm in arms.items():
        figures[name] = {}
        for row, indices in rows.items():
            figures[name][row] = _row(
                observations,
                arm,
                None if name == baseline else arms.get(baseline or ""),
                before[name],
                common,
                indices,
            )
    return figures


def _row(
    observations: Sequence[Observation],
    arm: Arm,
    baseline: Arm | None,
    before: Sequence[Mapping[Any, bool]],
    common: Sequence[set[Any]],
    indices: Sequence[int],
) -> dict[str, Any]:
    clusters = [observations[index].original for index in indices]
    means = [_mean(arm, index) for index in indices]
    ones = [1.0] * len(indices)
    figures: dict[str, Any] = {
        "examples": len(indices),
        "right": [sum(seed[index] for index in indices) for seed in arm.right],
        **ratio(clusters, means, ones).to_dict("accuracy"),
        "unread": sum(arm.unread[index] for index in indices),
    }
    seeds = len(before)
    own = [
        [float(before[seed].get(observations[index].original, False)) for index in indices]
        for seed in range(seeds)
    ]
    shared = [
        [float(observations[index].original in common[seed]) for index in indices] for seed in range(seeds)
    ]
    is_perturbed = any(observations[index].kind for index in indices)
    for label, indicators in (("r_acc", own), ("common_r_acc", shared)):
        sizes = [sum(column) if is_perturbed else 0.0 for column in zip(*indicators, strict=True)]
        hits = [
            sum(size * arm.right[seed % len(arm.right)][index] for seed, size in enumerate(column))
            for index, column in zip(indices, zip(*indicators, strict=True), strict=True)
        ]
        figures["right_before" if label == "r_acc" else "common"] = round(sum(sizes))
        figures |= ratio(clusters, hits, sizes).to_dict(label)
    difference = Estimate(None, None, None)
    if baseline is not None:
        gains = [mean - _mean(baseline, index) for mean, index in zip(means, indices, strict=True)]
        difference = ratio(clusters, gains, ones, share=False)
    return figures | difference.to_dict("difference")


def _mean(arm: Arm, index: int) -> float:
    return sum(seed[index] for seed in arm.right) / len(arm.right)
