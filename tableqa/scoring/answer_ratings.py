"""Answers of systems that people rated, and how far a metric's scores go with the ratings (LFTQA-Eval).

    correlations(answers, [ScoreColumn("bleu", "sacrebleu 2.6.0 ...", {("fetaqa", "fetaqa_0", "GPT-4o"): 0.31, ...})])

A correlation is taken across the systems within one example, then the mean over the examples: never pooled. An example in
which people or the metric give every system the same has none; it is left out and counted.

Source: Wang et al. (2024), LFTQA-Eval, sections 2.3 (the two dimensions) and 2.5 (instance-level correlation).
"""

import csv
import hashlib
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args

from tableqa.core.json_text import read_json
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.readers.lftqa import DIMENSIONS
from tableqa.statistics.robustness import Estimate, Method, instance_correlation
from tableqa.writers.report_tables import Cell, Sheet, count, figure, listed

Key = tuple[str, str, str]
"""(dataset, example, system)"""
METHODS: tuple[Method, ...] = get_args(Method)
_IDS = ("example_id", "id", "example")
_SYSTEMS = ("model", "system")


class ScoresError(ValueError):
    """A file of scores that cannot be read; the message names file, line and what is wrong."""


@dataclass(frozen=True)
class RatedAnswer:
    """What a system answered to a question, and what people said of it.

    human      the people's score on each dimension; empty without ratings
    text       the answer; "" where only its scores are known
    reference  the answer that was expected; "" where there is none
    metrics    scores of metrics that came with the data, by their names
    """

    dataset: str
    example: str
    system: str
    human: Mapping[str, float] = field(default_factory=dict)
    text: str = ""
    reference: str = ""
    question: str = ""
    table: Table | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        return self.dataset, self.example, self.system


@dataclass(frozen=True)
class ScoreColumn:
    """The scores of one metric, and what computed them (program, version, settings)."""

    name: str
    implementation: str
    scores: Mapping[Key, float]


@dataclass(frozen=True)
class Correlation:
    """One metric against one dimension of one dataset.

    answers    answers that both people and the metric scored
    unscored   answers that people rated and the metric has no score for
    by_method  "pearson", "spearman", "kendall": the mean over examples with its interval; `n` counts the examples,
               `undefined` those without a correlation
    """

    dataset: str
    metric: str
    implementation: str
    dimension: str
    answers: int
    unscored: int
    by_method: Mapping[str, Estimate]


@dataclass(frozen=True)
class Correlations:
    """Every correlation, and how many answers, examples and systems of each dataset people rated."""

    rows: tuple[Correlation, ...]
    sizes: Mapping[str, tuple[int, int, int]]

    def to_dict(self) -> dict[str, Any]:
        """JSON."""
        names = ("answers", "examples", "systems")
        sizes = {name: dict(zip(names, size, strict=True)) for name, size in self.sizes.items()}
        return {"datasets": sizes, "correlations": [asdict(row) for row in self.rows]}

    def sheets(self) -> Iterator[Sheet]:
        """A table for each dataset, then what computed the scores."""
        for position, (dataset, (answers, examples, systems)) in enumerate(self.sizes.items(), start=1):
            of_dataset = [row for row in self.rows if row.dataset == dataset]
            title = f"{dataset}: {answers} rated answers of {systems} systems to {examples} questions"
            header = ("metric", "dimension", *METHODS, "answers", "unscored", "examples", "undefined")
            yield listed(f"metrics-{position}", title, header, map(_cells, of_dataset), texts=2)
        computed = {row.metric: row.implementation for row in self.rows}
        header = ("metric", "implementation")
        yield listed("implementations", "What computed the scores", header, computed.items(), texts=2)


def _cells(row: Correlation) -> tuple[Cell | str, ...]:
    first = next(iter(row.by_method.values()))
    values = (figure(row.by_method[method]) for method in METHODS)
    counts = (row.answers, row.unscored, first.n, first.undefined)
    return (row.metric, row.dimension, *values, *map(count, counts))


def rated_answer(
    dataset: str, example: Example, human: Mapping[str, float] | None = None
) -> RatedAnswer | None:
    """The rated answer that an example holds as the reader "lftqa" gives it, None if it holds none.

    `human` are other ratings than its own. Without an example_id the answer belongs to the id before "~SYSTEM".
    """
    stored = example.meta.get("rated_answer")
    if not isinstance(stored, Mapping):
        return None
    system = str(stored.get("system", ""))
    return RatedAnswer(
        dataset=dataset,
        example=str(example.meta.get("example_id") or example.id.removesuffix(f"~{system}")),
        system=system,
        human=dict(example.meta.get("human", {}) if human is None else human),
        text=str(stored.get("text") or ""),
        reference=str(example.meta.get("reference") or " ".join(example.answers)),
        question=example.question,
        table=example.table,
        metrics=dict(example.meta.get("metrics", {})),
    )


def scores_alone(folder: Path, dataset: str) -> list[RatedAnswer]:
    """What LFTQA-Eval's folder scores/DATASET says, without the answers themselves: ratings and metrics.

    The folder has human_scores and metric_scores, a file for each dimension and metric; the file's name says which.
    [] where it has no human_scores. ScoresError naming file and record.
    """
    human = _named_scores(folder / "human_scores")
    metrics = _named_scores(folder / "metric_scores")
    unknown = [
        name
        for named in human.values()
        for name in named
        if not any(dimension in name for dimension in DIMENSIONS)
    ]
    if unknown:
        raise ScoresError(f"{folder}/human_scores: {unknown[0]} says neither of {' and '.join(DIMENSIONS)}")
    return [
        RatedAnswer(
            dataset,
            *key,
            human={
                dimension: score
                for name, score in named.items()
                for dimension in DIMENSIONS
                if dimension in name
            },
            metrics=metrics.get(key, {}),
        )
        for key, named in human.items()
    ]


def _named_scores(folder: Path) -> dict[tuple[str, str], dict[str, float]]:
    """(example, system) -> {name of the file: score} over the files of a folder."""
    scores: dict[tuple[str, str], dict[str, float]] = {}
    for path in sorted(folder.glob("*.json")):
        for where, record in _records(path):
            key = _required_text(record, _IDS, where), _required_text(record, _SYSTEMS, where)
            named = scores.setdefault(key, {})
            if path.stem in named:
                raise ScoresError(f"{where}: {key[0]} of {key[1]} has a score already; remove one of the two")
            named[path.stem] = _number(record.get("score"), where)
    return scores


def columns_of(answers: Sequence[RatedAnswer], where: str) -> list[ScoreColumn]:
    """The scores that came with the answers, a column for each metric; `where` says whose they are."""
    names = sorted({name for answer in answers for name in answer.metrics})
    return [
        ScoreColumn(
            name,
            where,
            {scored.key: float(scored.metrics[name]) for scored in answers if name in scored.metrics},
        )
        for name in names
    ]


def read_column(name: str, path: Path, answers: Sequence[RatedAnswer]) -> ScoreColumn:
    """The scores of a metric from a file: CSV with a header, a JSON array, or JSON Lines.

    A record has example_id (or id), model (or system) and score; "dataset" where several are compared. Scores of answers
    without ratings are skipped. Raises ScoresError naming the line, and where not one score is of a rated answer.
    """
    datasets = {answer.dataset for answer in answers}
    rated_keys = {answer.key for answer in answers}
    scores: dict[Key, float] = {}
    for where, record in _records(path):
        example, system = _required_text(record, _IDS, where), _required_text(record, _SYSTEMS, where)
        dataset = record.get("dataset") or (next(iter(datasets)) if len(datasets) == 1 else None)
        if dataset is None:
            raise ScoresError(
                f'{where}: name the "dataset" of the score, one of {", ".join(sorted(datasets))}'
            )
        key = str(dataset), example, system
        if key in scores:
            raise ScoresError(f"{where}: {example} of {system} has a score already; remove one of the two")
        scores[key] = _number(record.get("score"), where)
    rated_scores = {key: score for key, score in scores.items() if key in rated_keys}
    if not rated_scores:
        raise ScoresError(f"{path} has no score of a rated answer: compare its ids and systems with the data")
    sha = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    return ScoreColumn(name, f"imported from {path.name} (sha256 {sha})", rated_scores)


def correlations(
    answers: Sequence[RatedAnswer], columns: Iterable[ScoreColumn], *, replicates: int = 1_000
) -> Correlations:
    """Every column against every dimension that people rated, in each dataset. ScoresError without ratings."""
    rated = [answer for answer in answers if answer.human]
    if not rated:
        raise ScoresError("No answer has a rating of people: there is nothing to compare metrics with.")
    rows, sizes = [], {}
    columns = list(columns)
    for dataset in dict.fromkeys(answer.dataset for answer in rated):
        here = [answer for answer in rated if answer.dataset == dataset]
        sizes[dataset] = (
            len(here),
            len({entry.example for entry in here}),
            len({entry.system for entry in here}),
        )
        for column in columns:
            if not any(answer.key in column.scores for answer in here):
                continue  # a metric of another dataset
            rows += [_correlation(dataset, here, column, dimension, replicates) for dimension in DIMENSIONS]
    return Correlations(tuple(rows), sizes)


def _correlation(
    dataset: str, rated: Sequence[RatedAnswer], column: ScoreColumn, dimension: str, replicates: int
) -> Correlation:
    human: dict[str, dict[str, float]] = {}
    metric: dict[str, dict[str, float]] = {}
    pairs = unscored = 0
    for answer in rated:
        if dimension not in answer.human:
            continue
        if answer.key not in column.scores:
            unscored += 1
            continue
        pairs += 1
        human.setdefault(answer.example, {})[answer.system] = answer.human[dimension]
        metric.setdefault(answer.example, {})[answer.system] = column.scores[answer.key]
    estimates: dict[str, Estimate] = {
        name: instance_correlation(human, metric, name, replicates=replicates) for name in METHODS
    }
    return Correlation(dataset, column.name, column.implementation, dimension, pairs, unscored, estimates)


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(location, record) of a file of scores."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ScoresError(f"{path} cannot be read: {error}") from None
    if path.suffix.lower() == ".csv":
        for position, row in enumerate(csv.DictReader(io.StringIO(text, newline="")), start=2):
            yield f"{path.name}, line {position}", row
    elif text.lstrip().startswith("["):
        try:
            records = read_json(text)
        except ValueError as error:
            raise ScoresError(f"{path.name}: not JSON ({error})") from None
        for position, record in enumerate(records, start=1):
            yield f"{path.name}, record {position}", _object(record, f"{path.name}, record {position}")
    else:
        for position, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                where = f"{path.name}, line {position}"
                try:
                    record = read_json(line)
                except ValueError as error:
                    raise ScoresError(f"{where}: not JSON ({error})") from None
                yield where, _object(record, where)


def _object(record: object, where: str) -> Mapping[str, Any]:
    if not isinstance(record, Mapping):
        raise ScoresError(f"{where}: an object with example_id, model and score is expected")
    return record


def _required_text(record: Mapping[str, Any], names: Sequence[str], where: str) -> str:
    for name in names:
        if isinstance(record.get(name), str | int) and not isinstance(record[name], bool):
            return str(record[name])
    raise ScoresError(f"{where}: there is no {names[0]}")


def _number(value: object, where: str) -> float:
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError
        score = float(value)
    except ValueError:
        raise ScoresError(f"{where}: the score is {value!r}, not a number") from None
    if not math.isfinite(score):
        raise ScoresError(f"{where}: the score is {value!r}, not a finite number")
    return score
