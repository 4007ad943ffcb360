"""How far annotators agree on rankings of the same options, with a bootstrap interval over items.

    rank_agreement(units, "mean_spearman")           # units: for each item one ranking for each rater, or None
    second_opinion(units, "kendall_w")               # the same value from another package

The options may differ from item to item (the answers of a question, say): rankings are compared within an item only.
Rankings have no ties. Items with fewer than two rankings, or fewer than two options, do not enter.

    kendall_w       Kendall's coefficient of concordance W of each item, 12 S / (m^2 (n^3 - n)) for m rankings of n
                    options, where S is the sum of squared deviations of the rank sums from their mean; its mean over
                    items. 0 to 1. Rankings at random give 1/m on average, so W is no agreement beyond chance.
    mean_spearman   the mean of Spearman's correlation over all pairs of raters of an item, (m W - 1) / (m - 1); its
                    mean over items. 1 for equal rankings, 0 as by chance. It is one minus observed over expected
                    disagreement, the form of Krippendorff's alpha, with squared differences of ranks, and random
                    rankings as chance.

Items weigh as their number of rankings, as in Krippendorff's alpha.

Sources:
  Kendall, M. G. and Babington Smith, B. (1939). The problem of m rankings. Annals of Mathematical Statistics 10(3).
  Siegel, S. (1956). Nonparametric Statistics for the Behavioral Sciences, pages 229-239 (W, and Spearman's correlation).
  Krippendorff, K. (2018). Content Analysis, 4th edition, chapter 12 (weights of units).
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, get_args

from tableqa.agreement.cell_sets import DistanceSums
from tableqa.agreement.measures import Agreement
from tableqa.core.translation import message
from tableqa.statistics.bootstrap import Bootstrap, BootstrapOptions

if TYPE_CHECKING:
    import numpy as np

RankMeasure = Literal["kendall_w", "mean_spearman"]
RANK_MEASURES: tuple[str, ...] = get_args(RankMeasure)
"""The measures by their names in a manifest."""

Ranking: TypeAlias = Sequence[Hashable]
"""All options, the best first."""

WITHIN_ITEMS = message("rank_agreement.within_items", "Rankings are compared within each item.")
ONE_OPTION = message("rank_agreement.one_option", "Disagreement was impossible: no item has two options.")


def rank_agreement(
    units: Sequence[Sequence[Ranking | None]], measure: RankMeasure, **resampling: Unpack[BootstrapOptions]
) -> Agreement:
    """One measure of agreement of rankings, each unit with one for each rater, None where missing.

    `value` is None with a reason where nothing was ranked twice. Raises ValueError for an unknown measure, and for
    rankings of one unit that do not hold the same options once each.
    """
    used = {rater for unit in units for rater, ranking in enumerate(unit) if ranking is not None}
    patterns = Counter(pattern_of(unit) for unit in units)
    return from_patterns(patterns, measure, raters=len(used), **resampling)


@dataclass(frozen=True, slots=True, order=True)
class Pattern:
    """All that an item's part in the figure depends on, in whole numbers.

    options   options that were ranked
    rankings  rankings that were given
    squares   the sum of the squared rank sums of the options
    """

    options: int
    rankings: int
    squares: int

    def concordance(self) -> float:
        """Kendall's W."""
        options, rankings = self.options, self.rankings
        # Four times the deviations, so that a half mean stays whole.
        deviations = 4 * self.squares - options * (rankings * (options + 1)) ** 2
        return 3 * deviations / (rankings**2 * (options**3 - options))

    def disagreement(self, measure: RankMeasure) -> float:
        """One minus the value of this item."""
        concordance = self.concordance()
        if measure == "kendall_w":
            return 1 - concordance
        return 1 - (self.rankings * concordance - 1) / (self.rankings - 1)


def pattern_of(rankings: Sequence[Ranking | None]) -> Pattern:
    """The pattern of an item. Raises ValueError where its rankings hold different options."""
    present_rankings = [tuple(ranking) for ranking in rankings if ranking is not None]
    sums: Counter[Hashable] = Counter()
    for ranking in present_rankings:
        if len(set(ranking)) != len(ranking) or set(ranking) != set(present_rankings[0]):
            raise ValueError(
                f"{ranking!r} and {present_rankings[0]!r} do not rank the same options, each once."
            )
        for rank, option in enumerate(ranking, start=1):
            sums[option] += rank
    return Pattern(len(sums), len(present_rankings), sum(total**2 for total in sums.values()))


def from_patterns(
    patterns: Mapping[Pattern, int],
    measure: RankMeasure,
    *,
    raters: int,
    **resampling: Unpack[BootstrapOptions],
) -> Agreement:
    """The same figure from distinct patterns of items, and how many items show each."""
    _check(measure)
    clusters = _entering({(pattern,): count for pattern, count in patterns.items()})
    return _sums(clusters, measure).agreement(
        measure=measure,
        note=WITHIN_ITEMS,
        no_choice=ONE_OPTION,
        ratings=sum(pattern.rankings * count for (pattern,), count in clusters.items()),
        raters=raters,
        bootstrap=Bootstrap(**resampling),
    )


def over_clusters(
    coefficient: Agreement, clusters: Mapping[tuple[Pattern, ...], int], measure: RankMeasure
) -> Agreement:
    """The same figure with the interval of a bootstrap over clusters of units, as `coefficients.over_clusters`."""
    return _sums(_entering(clusters), measure).with_interval(coefficient)


def influence(
    patterns: Mapping[Pattern, int], measure: RankMeasure
) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    """How much one item of each pattern moves the value, and how many items have it, as `cell_sets.influence`."""
    _check(measure)
    return _sums(_entering({(pattern,): count for pattern, count in patterns.items()}), measure).influence()


def second_opinion(units: Sequence[Sequence[Any]], measure: str) -> float | None:
    """The value alone, from Spearman's correlations of scipy, for checking a release. None where it is undefined."""
    from scipy.stats import spearmanr

    _check(measure)
    total, weight = 0.0, 0
    for unit in units:
        present_rankings = [tuple(ranking) for ranking in unit if ranking is not None]
        if len(present_rankings) < 2 or len(present_rankings[0]) < 2:
            continue
        ranks = [[ranking.index(option) for option in present_rankings[0]] for ranking in present_rankings]
        pairs = [float(spearmanr(first, second).statistic) for first, second in combinations(ranks, 2)]
        mean = sum(pairs) / len(pairs)
        count = len(present_rankings)
        value = mean if measure == "mean_spearman" else (mean * (count - 1) + 1) / count
        total, weight = total + count * value, weight + count
    return total / weight if weight else None


def _entering(clusters: Mapping[tuple[Pattern, ...], int]) -> Counter[tuple[Pattern, ...]]:
    """Clusters of items of two or more rankings of two or more options, without other items."""
    counts: Counter[tuple[Pattern, ...]] = Counter()
    for cluster, count in clusters.items():
        if entering := tuple(item for item in cluster if item.rankings > 1 and item.options > 1):
            counts[tuple(sorted(entering))] += count
    return counts


def _sums(clusters: Mapping[tuple[Pattern, ...], int], measure: RankMeasure) -> DistanceSums:
    return DistanceSums.of(
        clusters,
        observed=lambda item: item.rankings * item.disagreement(measure),
        expected=lambda item: float(item.rankings),
    )


def _check(measure: str) -> None:
    if measure not in RANK_MEASURES:
        raise ValueError(f"measure is {measure!r}; it must be one of {', '.join(RANK_MEASURES)}.")
