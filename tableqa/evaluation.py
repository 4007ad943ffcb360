"""What a model's answers say about it: each kind of perturbation against its baseline, by source and over them.

    evaluation = evaluate(instances, predictions)
    evaluation.to_dict(); evaluation.lines()

An instance knows what it was made of: pairs are made by id and never by position. The baselines are those of the
papers (FREB-TQA 5): structure and evidence against the original, a value change against the table it was made on (the
short one), judged by its new gold. Whatever is right is right by `tableqa.answers.compare`.

Sources:
  Zhou et al. (2024), FREB-TQA, section 5 (Em, Emd, VP; five seeds, mean and deviation; macro mean over sources).
  Zhao et al. (2023), RobuT, section 4.1 (accuracy before and after, R-ACC).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tableqa.answers import compare
from tableqa.metrics import Estimate, ratio

ORIGINAL = "original"
"""The kind of an instance that nothing was done to."""
MACRO = "all"
"""The name of the row that is the mean over sources."""

Key = tuple[str, str]
"""(source, id of an instance)"""
Predictions = Mapping[Key, Sequence[str]]


class EvaluationError(ValueError):
    """Predictions that do not fit the instances, or cannot be read; the message names file, line or ids."""


@dataclass(frozen=True)
class Instance:
    """One question as it is put to a model.

    source    the dataset; macro means are over these
    id        unique within the source
    question  the id of the original, which all instances of one question share
    kind      the perturbation, `ORIGINAL` for none
    seed      which draw of it; 0 where nothing is drawn
    baseline  the id of the instance that this one is compared with; its own where there is none
    answers   the gold answers of this instance
    """

    source: str
    id: str
    question: str
    kind: str
    seed: int
    baseline: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """One kind in one source, or the mean over all sources.

    before, after   share of right answers on the baselines and on the instances (Em; pre- and post-accuracy)
    emd             after - before
    vp              share of questions that changed sides, VP
    r_acc           right on both of those right before, R-ACC
    seeds           `after` for each seed on its own, and their standard deviation (of a sample; None with one seed)
    """

    kind: str
    source: str
    questions: int
    before: Estimate
    after: Estimate
    emd: Estimate
    vp: Estimate
    r_acc: Estimate
    seeds: dict[int, float | None]
    deviation: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Evaluation:
    """The rows, the originals' accuracy first; `missing` are instances without a prediction that were left out."""

    rows: tuple[Row, ...]
    missing: int

    def to_dict(self) -> dict[str, Any]:
        """JSON; shares from 0 to 1."""
        return {"rows": [row.to_dict() for row in self.rows], "missing": self.missing}

    def lines(self) -> list[str]:
        """A table to read, shares times 100 as the papers print them."""
        found = [f"{'':<44}{'n':>7}{'before':>9}{'after':>9}{'sd':>7}{'Emd':>9}{'VP':>8}{'R-ACC':>8}"]
        for row in self.rows:
            name = row.kind if row.source == MACRO else f"  {row.source}"
            deviation = "" if row.deviation is None else f"{100 * row.deviation:.2f}"
            figures = (_percent(row.before), _percent(row.after), deviation)
            others = (_percent(row.emd), _percent(row.vp), _percent(row.r_acc))
            found.append(
                f"{name:<44}{row.questions:>7}{figures[0]:>9}{figures[1]:>9}{figures[2]:>7}"
                f"{others[0]:>9}{others[1]:>8}{others[2]:>8}"
            )
        return found


def _percent(estimate: Estimate) -> str:
    return "undef." if estimate.value is None else f"{100 * estimate.value:.2f}"


def read_predictions(path: Path, sources: Iterable[str] = ()) -> dict[Key, tuple[str, ...]]:
    """Predictions from JSON Lines: {"id", "answers": [str] or one text, "source"} a line; the last for an id counts.

    "prediction" and "pred" are taken for "answers". A text that a sequence model wrote may hold several answers with ", "
    between them: `is_right` tries both. "source" may be left out where `sources` has one member. EvaluationError naming
    the line.
    """
    names = list(sources)
    found: dict[Key, tuple[str, ...]] = {}
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    key, answers = _prediction(line, f"{path.name}, line {number}", names)
                    found[key] = answers
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{path} cannot be read: {error}") from None
    return found


class Generated(tuple[str, ...]):
    """One text that a sequence model wrote, which may stand for several answers."""


def _prediction(line: str, where: str, sources: Sequence[str]) -> tuple[Key, tuple[str, ...]]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise EvaluationError(f"{where}: not JSON ({error})") from None
    if not isinstance(record, dict) or not isinstance(record.get("id"), str):
        raise EvaluationError(f"{where}: an object with an id is expected")
    given = next((record[name] for name in ("answers", "prediction", "pred") if name in record), None)
    if isinstance(given, str):
        answers: tuple[str, ...] = Generated([given])
    elif isinstance(given, list) and all(isinstance(answer, str) for answer in given):
        answers = tuple(given)
    else:
        raise EvaluationError(f'{where}: "answers" is a list of texts, or one text')
    source = record.get("source", sources[0] if len(sources) == 1 else None)
    if not isinstance(source, str):
        raise EvaluationError(f'{where}: name the "source", one of {", ".join(sources)}')
    return (source, record["id"]), answers


def is_right(predicted: Sequence[str], gold: Sequence[str]) -> bool:
    """Whether an answer is right. A generated text is right as one answer or as several with ", " between them."""
    if compare(predicted, gold).equal:
        return True
    split = isinstance(predicted, Generated) and len(gold) > 1
    return split and compare(predicted[0].split(", "), gold).equal


def evaluate(
    instances: Iterable[Instance],
    predictions: Predictions,
    *,
    leave_out_missing: bool = False,
    replicates: int = 1_000,
) -> Evaluation:
    """The figures of one model. EvaluationError where instances have no prediction, unless those are left out.

    A pair of which either side has no prediction is left out whole.
    """
    right: dict[Key, bool] = {}
    asked: list[Instance] = []
    missing: list[Key] = []
    for instance in instances:
        asked.append(instance)
        key = (instance.source, instance.id)
        if key in predictions:
            right[key] = is_right(predictions[key], instance.answers)
        else:
            missing.append(key)
    if not asked:
        raise EvaluationError("There is nothing to evaluate: no instance was given.")
    if missing and not leave_out_missing:
        named = ", ".join(f"{id} ({source})" for source, id in missing[:5])
        raise EvaluationError(f"{len(missing)} of {len(asked)} instances have no prediction: {named}")
    kinds: dict[str, list[Instance]] = {}
    for instance in asked:
        if (instance.source, instance.id) in right and (instance.source, instance.baseline) in right:
            kinds.setdefault(instance.kind, []).append(instance)
    order = sorted(kinds, key=lambda kind: (kind != ORIGINAL, kind))
    rows = [row for kind in order for row in _rows(kind, kinds[kind], right, replicates)]
    return Evaluation(tuple(rows), len(missing))


def _rows(kind: str, instances: Sequence[Instance], right: Mapping[Key, bool], replicates: int) -> list[Row]:
    """The row over all sources, then one for each where there are several."""
    sources = sorted({instance.source for instance in instances})
    rows = [_row(kind, MACRO, sources, instances, right, replicates)]
    if len(sources) > 1:
        rows += [_row(kind, source, [source], instances, right, replicates) for source in sources]
    return rows


def _row(
    kind: str,
    name: str,
    sources: Sequence[str],
    instances: Sequence[Instance],
    right: Mapping[Key, bool],
    replicates: int,
) -> Row:
    pairs: dict[str, dict[str, list[tuple[bool, bool]]]] = {source: {} for source in sources}
    by_seed: dict[int, dict[str, list[bool]]] = {}
    for one in instances:
        if one.source in pairs:
            pair = right[one.source, one.baseline], right[one.source, one.id]
            pairs[one.source].setdefault(one.question, []).append(pair)
            by_seed.setdefault(one.seed, {}).setdefault(one.source, []).append(pair[1])

    def figure(above: Any, below: Any = lambda before, after: True) -> Estimate:
        parts = {
            source: {
                question: (_mean(above(*pair) for pair in of), _mean(below(*pair) for pair in of))
                for question, of in questions.items()
            }
            for source, questions in pairs.items()
        }
        return ratio(parts, replicates=replicates)

    seeds = {seed: _macro_mean(by_seed[seed].values()) for seed in sorted(by_seed)}
    values = [value for value in seeds.values() if value is not None]
    row = Row(
        kind=kind,
        source=name,
        questions=sum(map(len, pairs.values())),
        before=figure(lambda before, after: before),
        after=figure(lambda before, after: after),
        emd=figure(lambda before, after: after - before),
        vp=figure(lambda before, after: before != after),
        r_acc=figure(lambda before, after: before and after, lambda before, after: before),
        seeds=seeds,
        deviation=_deviation(values),
    )
    _check_bounds(row)
    return row


def _check_bounds(row: Row) -> None:
    """|Emd| <= VP, and R-ACC <= after / before, whatever the answers are: ArithmeticError where this module is wrong."""
    emd, vp, r_acc, after = row.emd.value, row.vp.value, row.r_acc.value, row.after.value
    if emd is not None and vp is not None and abs(emd) > vp + 1e-9:
        raise ArithmeticError(f"{row.kind} in {row.source}: |Emd| is {abs(emd)}, above VP, {vp}")
    if row.source == MACRO or r_acc is None or after is None or not row.before.value:
        return
    if r_acc > after / row.before.value + 1e-9:
        raise ArithmeticError(f"{row.kind} in {row.source}: R-ACC is {r_acc}, above after / before")


def _mean(values: Iterable[float]) -> float:
    found = [float(value) for value in values]
    return math.fsum(found) / len(found)


def _macro_mean(sources: Iterable[Sequence[bool]]) -> float | None:
    means = [_mean(one) for one in sources if one]
    return _mean(means) if means else None


def _deviation(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = _mean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
