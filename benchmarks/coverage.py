"""How often a 95 % interval holds the value of the population that a study is drawn from.

    ./run bench coverage [--studies 2000] [--figure fleiss_kappa]    # every cell
    ./run bench coverage --studies 200 --units 20                    # a look

A cell is a figure, a number of units, a number of raters, the shares of the labels and a share of missing ratings. A unit
has a true label, drawn by the shares; a rater gives it, or in 30 % of cases a label drawn by the same shares. Ordinal and
interval ratings are 1 to 5 around a normal value, sets are of four labels. Questions are answered correctly before and
after a perturbation with given probabilities. The value of the population is that of a million units, or computed exactly.

A cell holds if the interval has the value in 92 to 98 % of the studies where the figure is defined, less or more by what
chance allows (99 %). An interval that is not there counts as a miss. Of a share near 0 or 1 more than 98 % is allowed where
intervals are at most 1.1 times as wide as those of Clopper and Pearson. The status is 1 where a cell does not hold that has
to: all with shares other than 90/7/3 from 50 units on, and all of 200 units.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.figures import keep
from tableqa.agreement.coefficients import agreement
from tableqa.scoring.pairs import parts_of
from tableqa.statistics.robustness import ratio

SHARES = {
    "balanced": (1 / 3, 1 / 3, 1 / 3),
    "50/30/15/5": (0.5, 0.3, 0.15, 0.05),
    "90/7/3": (0.9, 0.07, 0.03),
}
BY_CHANCE = 0.3
"""How often a rater's label has nothing to do with the unit."""
MISSING = 0.2
NOMINAL = ("fleiss_kappa", "krippendorff_alpha_nominal", "gwet_ac1", "percent_agreement")
ORDERED = ("krippendorff_alpha_ordinal", "krippendorff_alpha_interval")
SETS = ("krippendorff_alpha_jaccard", "krippendorff_alpha_masi")
PAIRED = {"em": "after", "emd": "emd", "vp": "vp", "r_acc": "r_acc"}
"""Figures of questions, and their names in `tableqa.scoring.pairs`."""
CORRECT = {"60 %": (0.6, 0.8, 0.2), "97 %": (0.97, 0.98, 0.5)}
"""Correct before, and after of those that were and of those that were not."""
LEAST, MOST, NEAR, WIDER = 0.92, 0.98, 0.1, 1.1
POPULATION = 1_000_000
REPLICATES = 1000


@dataclass(frozen=True)
class Cell:
    """What is studied, how much of it, and the shares of labels or of correct answers."""

    figure: str
    units: int
    raters: int
    shares: str
    missing: float = 0.0

    def __str__(self) -> str:
        raters = f", {self.raters} raters" if self.raters else ""
        return f"{self.figure}, {self.shares}, {self.units} units{raters}, {self.missing:.0%} missing"

    @property
    def has_to_hold(self) -> bool:
        """Whether the cell is one of those where every method has enough to go by."""
        return self.units >= (200 if self.shares == "90/7/3" else 50)

    def study(self, generator: np.random.Generator, units: int) -> Any:
        """The ratings of a study, or correct before and after."""
        if self.figure in PAIRED:
            return answers(generator, units, *CORRECT[self.shares])
        if self.figure in ORDERED:
            return scores(generator, units, self.raters, self.missing)
        if self.figure in SETS:
            return sets(generator, units, self.raters)
        return labels(generator, units, self.raters, SHARES[self.shares], missing=self.missing)

    def compute(self, study: Any, replicates: int = REPLICATES) -> Any:
        """The figure with `value`, `low` and `high`."""
        if self.figure in PAIRED:
            named = {str(question): [pair] for question, pair in enumerate(zip(*study, strict=True))}
            parts = parts_of({"": named}, PAIRED[self.figure])
            return ratio(parts, replicates=replicates, bounds=(-1.0 if self.figure == "emd" else 0.0, 1.0))
        return agreement(study, self.figure, replicates=replicates)


@dataclass(frozen=True)
class Coverage:
    """Of a cell: the value of the population, studies where the figure is defined, and what their intervals were like."""

    cell: Cell
    value: float
    defined: int
    hits: int
    width: float
    exact_width: float

    @property
    def share(self) -> float:
        """Of the studies, those whose interval has the value."""
        return self.hits / self.defined

    @property
    def holds(self) -> bool:
        """Whether the share is between both limits within what chance allows."""
        slack = {limit: 2.326 * math.sqrt(limit * (1 - limit) / self.defined) for limit in (LEAST, MOST)}
        if self.share < LEAST - slack[LEAST]:
            return False
        is_near = self.cell.figure in ("em", "vp", "r_acc", "percent_agreement") and (
            min(self.value, 1 - self.value) <= NEAR
        )
        return self.share <= MOST + slack[MOST] or (is_near and self.width <= WIDER * self.exact_width)


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 where a cell does not hold that has to."""
    parser = argparse.ArgumentParser(prog="./run bench coverage", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--studies", type=int, default=2000, metavar="N")
    parser.add_argument("--units", type=int, metavar="N", help="cells with this number of units only")
    parser.add_argument("--figure", metavar="NAME", help="cells of this figure only")
    options = parser.parse_args(arguments)
    chosen = [
        cell
        for cell in cells()
        if options.units in (None, cell.units) and options.figure in (None, cell.figure)
    ]
    missed = 0
    print(
        "| figure | labels | units | raters | missing | population | held, % | mean width | |\n|" + "---|" * 9
    )
    for cell in chosen:
        result = measure(cell, options.studies)
        missed += cell.has_to_hold and not result.holds
        sign = "" if result.holds else "does not hold" if cell.has_to_hold else "too few"
        print(
            f"| {cell.figure} | {cell.shares} | {cell.units} | {cell.raters or ''} | {cell.missing:.0%} "
            f"| {result.value:.3f} | {100 * result.share:.1f} | {result.width:.3f} | {sign} |",
            flush=True,
        )
    keep("cells that have to hold and do not", missed, "cells", at_most=0)
    return 1 if missed else 0


def cells() -> Iterator[Cell]:
    """All cells of the table."""
    for units in (20, 50, 200):
        for raters in (2, 3, 5):
            for missing in (0.0, MISSING):
                for figure in NOMINAL:
                    yield from (Cell(figure, units, raters, shares, missing) for shares in SHARES)
                yield from (Cell(figure, units, raters, "normal", missing) for figure in ORDERED)
            yield from (Cell(figure, units, raters, "four of 35 %") for figure in SETS)
        yield from (Cell(figure, units, 0, correct) for figure in PAIRED for correct in CORRECT)


SMALL = (
    Cell("fleiss_kappa", 50, 3, "balanced"),
    Cell("fleiss_kappa", 50, 3, "90/7/3"),
    Cell("krippendorff_alpha_nominal", 20, 2, "90/7/3"),
    Cell("krippendorff_alpha_interval", 50, 3, "normal", MISSING),
    Cell("gwet_ac1", 50, 2, "90/7/3"),
    Cell("percent_agreement", 50, 3, "50/30/15/5"),
    Cell("vp", 50, 0, "60 %"),
)
"""A few cells of the table, for a test."""


def measure(cell: Cell, studies: int) -> Coverage:
    """Studies of a cell, drawn with seeds 0, 1, and so on."""
    value = population(cell)
    defined, hits, widths, exact = 0, 0, [], []
    for seed in range(studies):
        result = cell.compute(cell.study(np.random.default_rng([seed, cell.units, cell.raters]), cell.units))
        if result.value is None:
            continue
        defined += 1
        if result.low is None or result.high is None or result.high <= result.low:
            continue
        hits += result.low - 1e-9 <= value <= result.high + 1e-9
        widths.append(result.high - result.low)
        exact.append(clopper_pearson_width(result.value, cell.units))
    return Coverage(cell, value, defined, hits, float(np.mean(widths)), float(np.mean(exact)))


@cache
def population(cell: Cell) -> float:
    """The value of the population of a cell."""
    if cell.figure in PAIRED:
        before, kept, gained = CORRECT[cell.shares]
        after = before * kept + (1 - before) * gained
        changed = before * (1 - kept) + (1 - before) * gained
        return {"em": after, "emd": after - before, "vp": changed, "r_acc": kept}[cell.figure]
    units = POPULATION // 20 if cell.figure in SETS else POPULATION
    study = cell.study(np.random.default_rng(cell.raters), units)
    return float(cell.compute(study, replicates=0).value)


def clopper_pearson_width(share: float, n: int) -> float:
    """The width of the exact interval of a share of n."""
    from scipy.stats import beta

    hits = share * n
    low = float(beta.ppf(0.025, hits, n - hits + 1)) if hits > 0 else 0.0
    high = float(beta.ppf(0.975, hits + 1, n - hits)) if hits < n else 1.0
    return high - low


# -- studies ----------------------------------------------------------------------------------------


def labels(
    generator: np.random.Generator, units: int, raters: int, shares: tuple[float, ...], missing: float = 0.0
) -> Any:
    """Units x raters of labels from 0, NaN where missing."""
    truth = generator.choice(len(shares), units, p=shares)
    guesses = generator.choice(len(shares), (units, raters), p=shares)
    ratings = np.where(generator.random((units, raters)) < BY_CHANCE, guesses, truth[:, None])
    return _with_missing(generator, ratings, missing)


def scores(generator: np.random.Generator, units: int, raters: int, missing: float = 0.0) -> Any:
    """Units x raters of ratings from 1 to 5, NaN where missing."""
    values = 3.6 + generator.normal(0, 1, (units, 1)) + generator.normal(0, 0.7, (units, raters))
    return _with_missing(generator, np.clip(np.round(values), 1, 5), missing)


def sets(generator: np.random.Generator, units: int, raters: int) -> list[list[frozenset[int]]]:
    """Units x raters of sets of labels."""
    truth = generator.random((units, 1, 4)) < 0.35
    guesses = generator.random((units, raters, 4)) < 0.35
    chosen = np.where(generator.random((units, raters, 4)) < BY_CHANCE, guesses, truth)
    return [[frozenset(np.flatnonzero(chosen_labels).tolist()) for chosen_labels in unit] for unit in chosen]


def answers(
    generator: np.random.Generator, units: int, before: float, kept: float, gained: float
) -> tuple[list[bool], list[bool]]:
    """Whether questions are answered correctly before and after."""
    first = generator.random(units) < before
    second = generator.random(units) < np.where(first, kept, gained)
    return first.tolist(), second.tolist()


def _with_missing(generator: np.random.Generator, ratings: Any, missing: float) -> Any:
    return np.where(generator.random(ratings.shape) < missing, np.nan, ratings) if missing else ratings


if __name__ == "__main__":
    sys.exit(main())
