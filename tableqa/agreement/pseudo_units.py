"""Units without ratings of people, for intervals of agreement: half a unit on which all agree, half by chance.

    pseudo_units(3, [2, 2, 3], seed=0)   # ratings of the units, and the weight of each

A bootstrap over units knows only what was seen: where two of twenty units have the rarer labels, the interval of a
coefficient is that of two units, and of units that are all alike it has no width. The interval here is that of the posterior
distribution of the patterns under a Dirichlet process: a unit that was rated has a weight of 1 (the Bayesian bootstrap), and
all units of this module together have the weight of one more. Categories are those that were used, each as likely.
`./run bench coverage` shows how often such intervals hold, and docs/reference/agreement.md what they assume.

Sources:
  Rubin, D. B. (1981). The Bayesian bootstrap. Annals of Statistics 9(1), 130-134.
  Ferguson, T. S. (1973). A Bayesian analysis of some nonparametric problems. Annals of Statistics 1(2), 209-230.
  Agresti, A. and Coull, B. A. (1998). Approximate is better than "exact" for interval estimation of binomial proportions.
    The American Statistician 52(2), 119-126 (observations that are added).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from tableqa.core.release_rules import version
from tableqa.statistics.bootstrap import Bootstrap

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

AGREEING, BY_CHANCE = 0.5, 0.5
"""Weights of all units on which raters agree, and of all that they rated by chance, in units."""
_MOST = 64
"""Units of each of the two sorts: the prior of more categories is a sample of this size."""
_RULES = 12
"""Releases before these rules have percentile intervals."""


def is_smoothed() -> bool:
    """Whether intervals are those of this module by the rules that count here."""
    return version() >= _RULES


def pseudo_units(categories: int, sizes: Sequence[int], seed: int) -> tuple[Array, Array]:
    """Ratings as category numbers from 0, -1 where a unit has fewer than others, and the weight of each unit.

    sizes: of how many ratings a unit may be, each as likely.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    agreed = generator.permutation(categories)[:_MOST]
    rows = np.concatenate(
        [
            np.repeat(agreed[:, None], max(sizes), axis=1),
            generator.integers(0, categories, (_MOST, max(sizes))),
        ]
    )
    widths = generator.choice(np.asarray(sizes), len(rows))
    rows[np.arange(max(sizes)) >= widths[:, None]] = -1
    weights = np.repeat([AGREEING / len(agreed), BY_CHANCE / _MOST], [len(agreed), _MOST])
    return rows, weights


def posterior_counts(weights: Array, units: int, at_once: int, bootstrap: Bootstrap) -> Iterator[Array]:
    """Replicates x weights: how many of `units` units are of each sort, at most `at_once` replicates at a time."""
    import numpy as np

    generator = np.random.default_rng(bootstrap.seed)
    for done in range(0, bootstrap.replicates, at_once):
        size = min(at_once, bootstrap.replicates - done)
        drawn = generator.standard_gamma(weights, (size, len(weights)))
        yield drawn * (units / drawn.sum(axis=1, keepdims=True))
