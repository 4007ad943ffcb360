"""ToRR's figures (Ashury-Tahan et al. 2025): how well models do over all configurations, and how much each matters.

    report = torr_report({"model": {"wtq": {"nt-1": {"csv/none": 1.0, "csv/torr_row_swap": 0.0, ...}}}}, noops)
    report.sheets(); report.to_dict()

A score is from 0 to 1 and belongs to a model, a dataset, an example and a configuration (`tableqa.serialisations.torr`).
Means are taken within a dataset first and then over the datasets (macro); intervals draw examples within each dataset.
Choices that the paper leaves open are documented at the function.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from tableqa.data.answers import compare
from tableqa.scoring import text_metrics
from tableqa.scoring.answer_ratings import RatedAnswer
from tableqa.scoring.text_metrics import Scorer
from tableqa.statistics.robustness import Estimate, performance, robustness, win_rates
from tableqa.statistics.zero_width_intervals import honest_interval
from tableqa.writers.report_tables import UNDEFINED, Cell, Line, Sheet, count, figure, listed

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

ModelScores = Mapping[str, Mapping[str, Mapping[str, float]]]
"""{dataset: {example: {configuration: score}}} of one model."""
NoOps = Mapping[str, Mapping[str, frozenset[str]]]
"""{dataset: {example: the configurations whose perturbation left the table as it was}}."""

PLAIN = "none"
DRAWS = 30
"""How many draws Kendall's W is taken over (ToRR, reliability)."""
REPLICATES = 1_000
BINS = 10


class TorrError(ValueError):
    """Scores that cannot be compared; the message names model, dataset, example or configuration."""


# -- scores of one answer -----------------------------------------------------------------------------


def exact(prediction: str, answers: Sequence[str]) -> float:
    """1 where the answer is right by `tableqa.data.answers.compare`, as one text or as several with commas between them."""
    stripped = prediction.strip()
    if compare([stripped], answers).equal:
        return 1.0
    return float(len(answers) > 1 and bool(compare(_pieces(stripped), answers).equal))


def f1_strings(prediction: str, answers: Sequence[str]) -> float:
    """F1 of the words, each as often as it occurs, against those of all answers together, without regard to capitals.

    ToRR scores WikiTableQuestions so (unitxt's f1_strings). Its words are spaCy's tokens, ours those of
    `text_metrics.tokens`.
    """
    predicted = Counter(text_metrics.tokens(prediction.lower()))
    gold = Counter(text_metrics.tokens(" ".join(answers).lower()))
    both = (predicted & gold).total()
    return 2 * both / (predicted.total() + gold.total()) if both else 0.0


def same_text(prediction: str, answers: Sequence[str]) -> float:
    """1 where the text is one of the answers, but for capitals, blanks and a final stop: accuracy of a class or a number."""
    forms = {_plain(prediction), _plain(prediction.strip().removesuffix("."))}
    return float(any(_plain(answer) in forms for answer in answers))


def rouge_l(prediction: str, answers: Sequence[str]) -> float:
    """ROUGE-L's F-measure, the best over the references. Raises `tableqa.scoring.text_metrics.NotInstalled`."""
    rated_answers = [RatedAnswer("", "", "", text=prediction, reference=answer) for answer in answers]
    return max((score or 0.0 for score in _rouge_l().scores(rated_answers)), default=0.0)


@cache
def _rouge_l() -> Scorer:
    return text_metrics.rouge_l()


SCORES: Mapping[str, Callable[[str, Sequence[str]], float]] = {
    "exact": exact,
    "f1": f1_strings,
    "text": same_text,
    "rouge_l": rouge_l,
}
"""How an answer is scored, by name. ToRR: F1 for WikiTableQuestions, ROUGE for long answers, else accuracy."""


def _pieces(text: str) -> list[str]:
    return [piece.strip() for piece in text.split(",") if piece.strip()]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


# -- figures of one model -----------------------------------------------------------------------------


def rank_curve(scores: ModelScores) -> list[float]:
    """The mean of each example's best score, of its second best, and so on: as many as there are configurations.

    The first minus the last is 1 - R.
    """
    lines = [
        [sorted(of.values(), reverse=True) for of in dataset.values()]
        for dataset in scores.values()
        if dataset
    ]
    if not lines:
        return []
    means = [[math.fsum(rank) / len(rank) for rank in zip(*dataset, strict=True)] for dataset in lines]
    return [math.fsum(rank) / len(rank) for rank in zip(*means, strict=True)]


def win_rate(scores: ModelScores, replicates: int = REPLICATES) -> dict[str, Estimate]:
    """How often each serialisation beats the others: its share of an example's wins (`statistics.robustness.win_rates`).

    The serialisations of one example are compared under the same perturbation, and an example counts with the mean over
    the perturbations. Where all do equally well there is no win to share: such are left out and counted as undefined.
    """
    rates: dict[str, dict[str, dict[str, list[float]]]] = {}
    undefined = 0
    for dataset, examples in scores.items():
        for example, of in examples.items():
            shares: dict[str, list[float]] = {}
            for perturbation in dict.fromkeys(name.partition("/")[2] for name in of):
                line = {name: score for name, score in of.items() if name.partition("/")[2] == perturbation}
                won = win_rates(list(line.values()))
                if won is not None:
                    for name, share in zip(line, won, strict=True):
                        shares.setdefault(name.partition("/")[0], []).append(share)
            undefined += not shares
            for serialisation, values in shares.items():
                mean = math.fsum(values) / len(values)
                rates.setdefault(serialisation, {}).setdefault(dataset, {})[example] = [mean]
    names = dict.fromkeys(name.partition("/")[0] for of in _lines(scores) for name in of)
    return {
        name: _counted(performance(rates.get(name, {}), replicates=replicates), undefined) for name in names
    }


def impact(scores: ModelScores, noops: NoOps, replicates: int = REPLICATES) -> dict[str, Estimate]:
    """The mean absolute change of a score when a perturbation is applied, in the same serialisation.

    A perturbation that did nothing to a table is not counted; an example on which it never did is undefined.
    """
    return _changes(scores, noops, abs, replicates)


def mean_change(scores: ModelScores, noops: NoOps, replicates: int = REPLICATES) -> dict[str, Estimate]:
    """The same with its sign: below zero where the perturbation makes the model worse."""
    return _changes(scores, noops, float, replicates)


def _changes(
    scores: ModelScores, noops: NoOps, of_change: Callable[[float], float], replicates: int
) -> dict[str, Estimate]:
    names = dict.fromkeys(name.partition("/")[2] for of in _lines(scores) for name in of)
    estimates = {}
    for perturbation in names:
        if perturbation == PLAIN:
            continue
        changes: dict[str, dict[str, list[float]]] = {}
        undefined = 0
        for dataset, examples in scores.items():
            for example, of in examples.items():
                noop_names = noops.get(dataset, {}).get(example, frozenset())
                here = [
                    of_change(score - of[f"{serialisation}/{PLAIN}"])
                    for name, score in of.items()
                    for serialisation, _, done in [name.partition("/")]
                    if done == perturbation and name not in noop_names and f"{serialisation}/{PLAIN}" in of
                ]
                undefined += not here
                if here:
                    changes.setdefault(dataset, {})[example] = [math.fsum(here) / len(here)]
        least = min(of_change(-1.0), of_change(0.0))
        mean = performance(changes, replicates=replicates, bounds=(least, 1.0))
        estimates[perturbation] = _counted(mean, undefined)
    return estimates


def distribution(values: Sequence[float], bins: int = BINS) -> list[int]:
    """How many values are in each of equally wide bins from 0 to 1; the last one takes 1 as well."""
    counts = [0] * bins
    for value in values:
        if not 0 <= value <= 1:
            raise ValueError(f"{value} is no score from 0 to 1")
        counts[min(int(value * bins), bins - 1)] += 1
    return counts


# -- figures over models ------------------------------------------------------------------------------


def separability(estimates: Mapping[str, Estimate]) -> tuple[int, int]:
    """How many of the pairs of models have intervals that do not overlap, and how many pairs there are."""
    bounded = [
        estimate for estimate in estimates.values() if estimate.low is not None and estimate.high is not None
    ]
    pairs = list(itertools.combinations(bounded, 2))
    apart = sum(estimate.low > other.high or other.low > estimate.high for estimate, other in pairs)  # type: ignore[operator]
    return apart, len(pairs)


def dataset_tau(
    models: Mapping[str, ModelScores], replicates: int = REPLICATES
) -> dict[tuple[str, str], Estimate]:
    """Kendall's tau-b between the rankings of the models by two datasets, for each pair of datasets.

    The interval draws examples within each dataset; `n` counts the models. Undefined where a dataset ranks none.
    """
    import numpy as np

    rng = np.random.default_rng(0)
    names = [name for name, of in next(iter(models.values())).items() if of]
    values, drawn = [], []
    for array in _arrays(models):
        means = array.mean(axis=2)  # by model and example
        examples = means.shape[1]
        weights = rng.multinomial(examples, np.full(examples, 1 / examples), size=replicates) / examples
        values.append(_orders(means.mean(axis=1)[None]))
        drawn.append(_orders(weights @ means.T))
    taus = {}
    for (i, first), (j, second) in itertools.combinations(enumerate(names), 2):
        (tau,) = _tau(values[i], values[j])
        if np.isnan(tau):
            reason = "One of the datasets does not tell the models apart."
            taus[first, second] = Estimate(None, None, None, len(models), reason)
            continue
        taus[first, second] = _coefficient(float(tau), _tau(drawn[i], drawn[j]), len(models))
    return taus


def _coefficient(value: float, drawn: Array, n: int) -> Estimate:
    """A coefficient over n models or rankings; without an interval, and with the reason, where every draw gives the same."""
    ends = honest_interval(value, *_ends(drawn), n)
    return Estimate(value, ends.low, ends.high, n, ends.reason or None)


def _ends(values: Array) -> tuple[float | None, float | None]:
    """The middle 95 % of the values that are numbers."""
    import numpy as np

    defined = values[~np.isnan(values)]
    if not len(defined):
        return None, None
    low, high = np.quantile(defined, [0.025, 0.975])
    return float(low), float(high)


def _orders(means: Array) -> Array:
    """For each draw and pair of models 1, 0 or -1: which of the two is better."""
    import numpy as np

    first, second = np.triu_indices(means.shape[1], k=1)
    # What is equal but for the order of a sum is equal.
    return np.sign(np.round(means[:, first] - means[:, second], 12))


def _tau(first: Array, second: Array) -> Array:
    """Tau-b of each draw; nan where one side ties every pair."""
    import numpy as np

    untied = (first != 0).sum(axis=1) * (second != 0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        taus: Array = (first * second).sum(axis=1) / np.sqrt(untied)
    return taus


def kendall_w(rankings: Sequence[Sequence[float]] | Array) -> float | None:
    """Kendall's coefficient of concordance, corrected for ties: judges give scores to the same things.

    `rankings` has a line of scores for each judge, at least two, over at least two things. None where every judge
    ties everything. (Kendall and Babington Smith 1939; Siegel and Castellan 1988, section 9.7)
    """
    import numpy as np
    from scipy.stats import rankdata

    scores = np.asarray(rankings, dtype=float)
    judges, things = scores.shape
    if judges < 2 or things < 2:
        return None
    ranks = rankdata(scores, axis=1)
    spread = float(((ranks.sum(axis=0) - judges * (things + 1) / 2) ** 2).sum())
    ties = 0.0
    for line in scores:
        _, counts = np.unique(line, return_counts=True)
        ties += float((counts**3 - counts).sum())
    whole = judges**2 * (things**3 - things) - judges * ties
    return None if whole == 0 else 12 * spread / whole


def concordance(
    models: Mapping[str, ModelScores], over: str, sizes: Sequence[int], seed: int = 0
) -> dict[int, Estimate]:
    """Kendall's W of the rankings of the models that small samples give, against the size of the samples.

    over    "configurations" or "examples": of these `size` are drawn without replacement, `DRAWS` times; each draw
            ranks the models by P; W says how far the draws agree. Examples are drawn within each dataset.
    The interval draws rankings with replacement from the `DRAWS`. A size larger than there are is left out.
    """
    import numpy as np

    if over not in ("configurations", "examples"):
        raise ValueError(f"over is {over!r}; it is configurations or examples")
    arrays = _arrays(models)
    most = min(array.shape[1 if over == "examples" else 2] for array in arrays)
    rng = np.random.default_rng(seed)
    estimates = {}
    for size in sorted(set(sizes)):
        if not 1 <= size <= most:
            continue
        lines = []
        for _ in range(DRAWS):
            if over == "configurations":
                chosen = rng.choice(most, size, replace=False)
                drawn = [array[:, :, chosen] for array in arrays]
            else:
                drawn = [array[:, rng.choice(array.shape[1], size, replace=False)] for array in arrays]
            parts = [array.mean(axis=(1, 2)) for array in drawn]
            # What is equal but for the order of a sum is equal.
            lines.append(np.round(np.mean(parts, axis=0), 12))
        estimates[size] = _w_estimate(np.array(lines), rng)
    return estimates


def _w_estimate(lines: Array, rng: Any) -> Estimate:
    import numpy as np

    value = kendall_w(lines)
    if value is None:
        return Estimate(
            None, None, None, len(lines), "The models cannot be ranked: there is one, or all are equal."
        )
    drawn = [kendall_w(lines[rng.integers(0, len(lines), len(lines))]) for _ in range(200)]
    return _coefficient(value, np.array(drawn, dtype=float), len(lines))


# -- the report -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TorrModel:
    """The figures of one model."""

    name: str
    p: Estimate
    r: Estimate
    datasets: Mapping[str, tuple[Estimate, Estimate]]
    wins: Mapping[str, Estimate]
    impacts: Mapping[str, Estimate]
    changes: Mapping[str, Estimate]
    curve: Sequence[float]
    distribution: Sequence[int]


@dataclass(frozen=True)
class TorrReport:
    """The figures of several models on the same examples and configurations.

    separable     pairs of models with intervals of P apart, and pairs
    taus          Kendall's tau between the rankings by two datasets
    w             "configurations", "examples": Kendall's W by the size of the samples
    difficulty    examples by the mean of all models and configurations, in bins from hard to easy
    """

    models: tuple[TorrModel, ...]
    configurations: tuple[str, ...]
    examples: Mapping[str, int]
    separable: tuple[int, int]
    taus: Mapping[tuple[str, str], Estimate]
    w: Mapping[str, Mapping[int, Estimate]]
    difficulty: Sequence[int]

    def to_dict(self) -> dict[str, Any]:
        """JSON; scores from 0 to 1."""
        models = [
            {
                **asdict(model),
                "datasets": {
                    name: {"p": asdict(p), "r": asdict(r)} for name, (p, r) in model.datasets.items()
                },
            }
            for model in self.models
        ]
        taus = [{"datasets": list(pair), **asdict(tau)} for pair, tau in self.taus.items()]
        return {
            "models": models,
            "configurations": list(self.configurations),
            "examples": dict(self.examples),
            "separable": {"pairs": self.separable[1], "apart": self.separable[0]},
            "taus": taus,
            "w": {
                over: {size: asdict(estimate) for size, estimate in of.items()} for over, of in self.w.items()
            },
            "difficulty": list(self.difficulty),
        }

    def sheets(self) -> Iterator[Sheet]:
        """The tables, scores times 100 as the paper prints them."""
        counts = ", ".join(f"{n} of {name}" for name, n in self.examples.items())
        title = f"Performance and robustness over {len(self.configurations)} configurations ({counts})"
        overall = ((entry.name, _percent(entry.p), _percent(entry.r)) for entry in self.models)
        yield listed("performance", title, ("model", "P", "R"), overall)
        names = tuple(self.examples)
        header = ("model", *(f"{name} {which}" for name in names for which in ("P", "R")))
        by_dataset: Iterable[Line] = (
            (entry.name, *(_percent(each) for name in names for each in entry.datasets[name]))
            for entry in self.models
        )
        yield listed("by-dataset", "By dataset", header, by_dataset)
        yield self._by("win-rate", "Win rate of each serialisation", lambda entry: entry.wins)
        yield self._by("impact", "Mean absolute impact of each perturbation", lambda entry: entry.impacts)
        yield self._by("change", "Mean change by each perturbation", lambda entry: entry.changes)
        ranks = _sampled_ranks(len(self.configurations))
        yield listed(
            "rank-curve",
            "Rank curve: the mean of each example's scores from the best to the worst",
            ("model", *(str(rank + 1) for rank in ranks)),
            ((entry.name, *(f"{100 * entry.curve[rank]:.1f}" for rank in ranks)) for entry in self.models),
        )
        bins = tuple(f"{n / BINS:.1f}-{(n + 1) / BINS:.1f}" for n in range(BINS))
        spread: list[Line] = [(entry.name, *map(count, entry.distribution)) for entry in self.models]
        spread.append(("all models", *map(count, self.difficulty)))
        yield listed("distribution", "Examples by their mean score", ("model", *bins), spread)
        apart, pairs = self.separable
        share = f"{100 * apart / pairs:.1f} %" if pairs else UNDEFINED
        header = ("pairs of models", "intervals apart", "share")
        yield listed("separability", "Separability", header, ((count(pairs), count(apart), share),))
        if self.taus:
            title = "Kendall's tau between the rankings of two datasets"
            taus = ((entry, other, figure(tau)) for (entry, other), tau in self.taus.items())
            yield listed("tau", title, ("dataset", "dataset", "tau"), taus, texts=2)
        for over, of in self.w.items():
            sizes = ((count(size), figure(entry)) for size, entry in of.items())
            title = f"Kendall's W of {DRAWS} draws, by the number of {over}"
            yield listed(f"w-{over}", title, (over, "W"), sizes)

    def _by(self, name: str, title: str, of: Callable[[TorrModel], Mapping[str, Estimate]]) -> Sheet:
        names = tuple(dict.fromkeys(name for model in self.models for name in of(model)))
        rows: Iterable[Line] = (
            (model.name, *(_percent(of(model)[name]) for name in names)) for model in self.models
        )
        return listed(name, title, ("model", *names), rows)


def torr_report(
    models: Mapping[str, ModelScores], noops: NoOps | None = None, replicates: int = REPLICATES
) -> TorrReport:
    """Every figure of ToRR. Raises TorrError unless all models have all examples in the same configurations."""
    configurations, examples = _checked(models)
    noops = noops or {}
    results = [_model(name, scores, noops, replicates) for name, scores in models.items()]
    every = [
        [math.fsum(models[name][dataset][example].values()) / len(configurations) for name in models]
        for dataset, of in next(iter(models.values())).items()
        for example in of
    ]
    smallest = min(examples.values())
    return TorrReport(
        models=tuple(results),
        configurations=configurations,
        examples=examples,
        separable=separability({result.name: result.p for result in results}),
        taus=dataset_tau(models, replicates) if len(models) > 1 and len(examples) > 1 else {},
        w={
            over: concordance(models, over, _sampled_ranks(number, shift=1))
            for over, number in (("configurations", len(configurations)), ("examples", smallest))
            if len(models) > 1
        },
        difficulty=distribution([_share(math.fsum(line) / len(line)) for line in every]),
    )


def _model(name: str, scores: ModelScores, noops: NoOps, replicates: int) -> TorrModel:
    rows = {
        dataset: {example: list(of.values()) for example, of in examples.items()}
        for dataset, examples in scores.items()
        if examples
    }
    each = {
        dataset: (
            performance({dataset: of}, replicates=replicates),
            robustness({dataset: of}, replicates=replicates),
        )
        for dataset, of in rows.items()
    }
    means = [_share(math.fsum(line) / len(line)) for of in rows.values() for line in of.values()]
    return TorrModel(
        name=name,
        p=performance(rows, replicates=replicates),
        r=robustness(rows, replicates=replicates),
        datasets=each,
        wins=win_rate(scores, replicates),
        impacts=impact(scores, noops, replicates),
        changes=mean_change(scores, noops, replicates),
        curve=rank_curve(scores),
        distribution=distribution(means),
    )


def _checked(models: Mapping[str, ModelScores]) -> tuple[tuple[str, ...], dict[str, int]]:
    """The configurations, and how many examples each dataset has."""
    if not models or not any(of for scores in models.values() for of in scores.values()):
        raise TorrError("There is no score.")
    first, *others = models
    lines = next(iter(_lines(models[first])))
    configurations = tuple(lines)
    for name, scores in models.items():
        for dataset, examples in scores.items():
            for example, of in examples.items():
                if of.keys() != lines.keys():
                    differ = ", ".join(sorted(of.keys() ^ lines.keys())[:3])
                    raise TorrError(f"{name}: {example} of {dataset} has other configurations: {differ}")
    for name in others:
        if models[name].keys() != models[first].keys():
            raise TorrError(f"{name} and {first} have scores on different datasets")
        for dataset in models[first]:
            if only := sorted(models[name][dataset].keys() ^ models[first][dataset].keys()):
                raise TorrError(
                    f"{dataset}: {len(only)} examples are scored for one of {first} and {name} only: {only[0]}"
                )
    return configurations, {dataset: len(of) for dataset, of in models[first].items() if of}


def _lines(scores: ModelScores) -> Iterator[Mapping[str, float]]:
    return (of for examples in scores.values() for of in examples.values())


def _arrays(models: Mapping[str, ModelScores]) -> list[Array]:
    """For each dataset the scores by model, example and configuration."""
    import numpy as np

    configurations, examples = _checked(models)
    first = next(iter(models.values()))
    return [
        np.array(
            [
                [[scores[dataset][example][name] for name in configurations] for example in first[dataset]]
                for scores in models.values()
            ]
        )
        for dataset in examples
    ]


def _sampled_ranks(size: int, shift: int = 0) -> list[int]:
    """A few places from the first to the last: for curves that are printed as a table."""
    ranks = (0, 1, 2, 4, 9, 14, 19, 24, 29, 49, 99, 199, 499, 999, size - 1)
    return sorted({rank + shift for rank in ranks if 0 <= rank < size})


def _share(value: float) -> float:
    """A mean of scores from 0 to 1, which a sum of floats may have put a little beyond."""
    return min(max(value, 0.0), 1.0)


def _counted(estimate: Estimate, undefined: int) -> Estimate:
    return replace(estimate, undefined=estimate.undefined + undefined)


def _percent(estimate: Estimate) -> Cell:
    return figure(estimate, factor=100, places=1)
