"""What a model's answers say about it: each kind of perturbation against its baseline, by source and over them.

    evaluation = evaluate(instances, predictions)
    evaluation.to_dict(); evaluation.lines()

    judged = judge(instances, predictions)      which instances are right
    judge(instances, predictions, match="wtq")  ... by another rule of `MATCHES`
    figures(judged)                             the same evaluation
    compare(judged, other)                      another model on the same questions

An instance knows what it was made of: pairs are made by id and never by position. The baselines are those of the
papers (FREB-TQA 5): structure and evidence against the original, a value change against the table it was made on (the
short one), judged by its new gold. What is right, a rule of `MATCHES` says: "askew", if no other is named.

Sources:
  Zhou et al. (2024), FREB-TQA, section 5 (Em, Emd, VP; five seeds, mean and deviation; macro mean over sources; what is
  still right without evidence), Table 6 (questions that compare against others).
  Zhao et al. (2023), RobuT, section 4.1 (accuracy before and after, R-ACC; SQA by question and by sequence).
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tableqa.core.command_line import manage
from tableqa.core.translation import Message
from tableqa.data.answers import accepted, alternatives_of, are_sentences, is_month_first
from tableqa.scoring import tat_metric
from tableqa.scoring.matching import MATCHES, ORIGINAL, GeneratedText, Instance, Match
from tableqa.scoring.pairs import ABOVE, Pairs, parts_of
from tableqa.scoring.predictions import EvaluationError, Predictions, Question, answer_to
from tableqa.statistics.paired_tests import holm, sign_test
from tableqa.statistics.robustness import (
    DIVIDES_BY_NOTHING,
    NOTHING_RIGHT,
    Estimate,
    Parts,
    defined_parts,
    difference,
    gap,
    ratio,
    ratio_where_defined,
)

MACRO = "all"
"""The name of the row that is the mean over sources, each counting once."""
MICRO = "all-questions"
"""The name of the row over all questions of all sources, each question counting once."""
COMPARISON = "comparison"
"""The group of the questions that compare, of which FREB-TQA's Table 6 takes the variation beside that of the others."""
MOVED = "relevant_row_shuffle"
"""The kind that Table 6 is about: rows of relevant cells moved."""
WITHOUT_EVIDENCE = ("mask_cell", "escape_table")
"""Kinds that take away what an answer rests on: who is right then does not look at the table."""

FIGURES = ("after", "emd", "vp", "r_acc")
"""The figures by which two models are compared."""


@dataclass(frozen=True)
class JudgedInstance:
    """An instance that a model answered: whether it, and what it is compared with, was answered rightly.

    `f1` is the score of its own answer between wrong and right, under a rule that has one.
    """

    instance: Instance
    before: bool
    after: bool
    f1: float | None = None


@dataclass(frozen=True)
class Judgement:
    """Every instance of which both sides have an answer. `missing` instances have none; `left_out` were not asked.

    `long_form` are the sources that are left out because their answers are sentences.
    """

    judged: tuple[JudgedInstance, ...]
    missing: int = 0
    left_out: int = 0
    long_form: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One kind in one source, the mean over all sources (`MACRO`), or over all questions of all sources (`MICRO`).

    before, after   share of right answers on the baselines and on the instances (Em; pre- and post-accuracy)
    emd             after - before
    vp              share of questions that changed sides, VP
    r_acc           right on both of those right before, R-ACC
    seeds           `after` for each seed on its own, and their standard deviation (of a sample; None with one seed)
    emd_deviation, vp_deviation   the standard deviation over seeds of these two
    f1              the mean F1 of the instances, under a rule that has one
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
    emd_deviation: float | None = None
    vp_deviation: float | None = None
    f1: Estimate | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Gap:
    """VP of moved relevant rows where the question compares and where it does not, and the first less the second.

    Zhou et al. (2024), Table 6.
    """

    source: str
    comparison: Estimate
    other: Estimate
    gap: Estimate


@dataclass(frozen=True)
class UnsupportedAnswers:
    """Questions of a source that are answered rightly without their evidence, and what these right answers are.

    right     the ids of the questions that are right under at least one seed, in their order
    shares    of each of these the share of its seeds under which it is right
    answers   (gold answers, sum of these shares), the most frequent first (Zhou et al. 2024, 5.2: one year made up all of
              TAT's)
    """

    kind: str
    source: str
    questions: int
    right: tuple[str, ...]
    shares: tuple[float, ...]
    answers: tuple[tuple[str, float], ...]

    @property
    def number(self) -> float:
        """How many questions are right under a seed, on average: `questions` times what their row says, `Row.after`."""
        return math.fsum(self.shares)


@dataclass(frozen=True)
class Evaluation:
    """The rows, the originals' accuracy first, and what else the papers report.

    turns        the same rows for the questions of dialogues alone (RobuT's ALL)
    sequences    the same rows, with whole dialogues in the place of questions: one is right if all of its turns are (SEQ)
    incomplete   dialogues of some kind and seed that lack a turn, and are in no row of `sequences`
    missing      instances without a prediction that were left out
    left_out     instances that were not to be asked, because they are too long for the model
    """

    rows: tuple[Row, ...]
    missing: int
    left_out: int = 0
    turns: tuple[Row, ...] = ()
    sequences: tuple[Row, ...] = ()
    incomplete: int = 0
    gaps: tuple[Gap, ...] = ()
    unsupported: tuple[UnsupportedAnswers, ...] = ()

    def row(self, kind: str, source: str = MACRO) -> Row | None:
        """The row of that kind in that source, or over all sources."""
        return next((row for row in self.rows if (row.kind, row.source) == (kind, source)), None)

    def to_dict(self) -> dict[str, Any]:
        """JSON; shares from 0 to 1."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "turns": [row.to_dict() for row in self.turns],
            "sequences": [row.to_dict() for row in self.sequences],
            "incomplete": self.incomplete,
            "gaps": list(map(asdict, self.gaps)),
            "unsupported": list(map(asdict, self.unsupported)),
            "missing": self.missing,
            "left_out": self.left_out,
        }


@dataclass(frozen=True)
class Difference:
    """How much the second of two models differs from the first on one kind: second - first, for each of `FIGURES`.

    The bootstrap is paired over questions: each that is drawn is drawn for both models.

    p_value   of accuracy by the exact sign test over questions (McNemar's, where each was asked once)
    corrected by Holm for all comparisons of the report, where `corrected` was called
    """

    kind: str
    source: str
    questions: int
    figures: dict[str, Estimate] = field(default_factory=dict)
    p_value: float = 1.0
    corrected: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


SIDE_BY_SIDE: tuple[Match, ...] = ("askew", "wtq", "tapex")
"""The rules that are reported beside each other where none is named; the first makes the other tables."""


def evaluate(
    instances: Iterable[Instance],
    predictions: Predictions,
    *,
    leave_out_missing: bool = False,
    replicates: int = 1_000,
    match: Match = "askew",
) -> Evaluation:
    """The figures of one model: `judge`, then `figures`."""
    judged = judge(instances, predictions, leave_out_missing=leave_out_missing, match=match)
    return figures(judged, replicates=replicates)


def judge(
    instances: Iterable[Instance],
    predictions: Predictions,
    *,
    leave_out_missing: bool = False,
    match: Match = "askew",
) -> Judgement:
    """Which instances a model answers rightly. EvaluationError where some have no prediction, unless those are left out.

    A pair of which either side has no prediction, or was not to be asked, is left out whole.
    """
    scores: dict[tuple[str, str], bool | tat_metric.Score] = {}
    by_texts: dict[Hashable, bool | tat_metric.Score] = {}
    all_instances = list(instances)
    sentences = long_form(all_instances)
    eligible = [instance for instance in all_instances if instance.source not in sentences]
    missing: list[Instance] = []
    named: dict[Question, str] = {}
    for instance in eligible:
        predicted = answer_to(predictions, instance, named)
        if predicted is None:
            missing.append(instance)
        else:
            texts = _judged_texts(predicted, instance)
            if (score := by_texts.get(texts)) is None:
                score = by_texts[texts] = MATCHES[match](predicted, instance)
            scores[instance.source, instance.id] = score
    if sentences and not eligible:
        listed = ", ".join(sentences)
        raise EvaluationError(
            f"The answers of {listed} are sentences, which exact match cannot judge. Use {manage('metrics')}."
        )
    if not eligible:
        raise EvaluationError("There are no instances to evaluate.")
    if missing and not leave_out_missing:
        listed = ", ".join(f"{unanswered.id} ({unanswered.source})" for unanswered in missing[:5])
        raise EvaluationError(f"{len(missing)} of {len(eligible)} instances have no prediction: {listed}")
    judged = (
        _judge_instance(instance, before, after)
        for instance in eligible
        if (after := scores.get((instance.source, instance.id))) is not None
        and (before := scores.get((instance.source, instance.baseline))) is not None
    )
    return Judgement(tuple(judged), len(missing), long_form=sentences)


def _judged_texts(predicted: Sequence[str], instance: Instance) -> Hashable:
    """Everything that a rule of `MATCHES` looks at: equal texts are judged once."""
    gold = instance.answers
    return (
        *(type(predicted), tuple(predicted), getattr(predicted, "scale", "")),
        *(tuple(gold), alternatives_of(gold), is_month_first(gold), instance.scale, instance.answer_type),
    )


def joined_answers(instances: Iterable[Instance], predictions: Predictions) -> list[Instance]:
    """The instances with several gold answers whose prediction is a list of one text with ", " in it: likely several."""
    named: dict[Question, str] = {}
    return [
        instance
        for instance in instances
        if any(len(form) > 1 for form in accepted(instance.answers))
        and (predicted := answer_to(predictions, instance, named)) is not None
        and not isinstance(predicted, GeneratedText)
        and len(predicted) == 1
        and ", " in predicted[0]
    ]


def long_form(instances: Iterable[Instance]) -> tuple[str, ...]:
    """The sources of which most originals have one answer of `LONG_ANSWER` words or more, as FeTaQA's have."""
    answers: dict[str, list[Sequence[str]]] = {}
    for instance in instances:
        if instance.kind == ORIGINAL:
            answers.setdefault(instance.source, []).append(instance.answers)
    return tuple(sorted(source for source, lists in answers.items() if are_sentences(lists)))


def _judge_instance(
    instance: Instance, before: bool | tat_metric.Score, after: bool | tat_metric.Score
) -> JudgedInstance:
    f1 = after.f1 if isinstance(after, tat_metric.Score) else None
    was, is_now = (score.em if isinstance(score, tat_metric.Score) else score for score in (before, after))
    return JudgedInstance(instance, was, is_now, f1)


def figures(judgement: Judgement, *, replicates: int = 1_000) -> Evaluation:
    """Everything that the papers report about one model."""
    dialogues, incomplete = _dialogues(judgement.judged)
    turns = [result for result in judgement.judged if result.instance.sequence] if dialogues else []
    return Evaluation(
        rows=tuple(_rows(judgement.judged, replicates)),
        missing=judgement.missing,
        left_out=judgement.left_out,
        turns=tuple(_rows(turns, replicates)),
        sequences=tuple(_rows(dialogues, replicates)),
        incomplete=incomplete,
        gaps=tuple(_gaps(judgement.judged, replicates)),
        unsupported=tuple(_unsupported(judgement.judged)),
    )


def compare(
    first_judgement: Judgement, second_judgement: Judgement, *, replicates: int = 1_000
) -> tuple[Difference, ...]:
    """The second model less the first, kind by kind, over the instances that both answered."""
    theirs = {(judged.instance.source, judged.instance.id): judged for judged in second_judgement.judged}
    both = [
        (judged, theirs[key])
        for judged in first_judgement.judged
        if (key := (judged.instance.source, judged.instance.id)) in theirs
    ]
    kinds: dict[str, list[tuple[JudgedInstance, JudgedInstance]]] = {}
    for pair in both:
        kinds.setdefault(pair[0].instance.kind, []).append(pair)
    differences = []
    for kind in _ordered(kinds):
        for name, sources in _rows_by_source(kinds[kind], lambda pair: pair[0].instance.source):
            of = [pair for pair in kinds[kind] if pair[0].instance.source in sources]
            first, second = _by_question([pair[0] for pair in of]), _by_question([pair[1] for pair in of])
            estimates = {
                figure: _interval_of_comparison(
                    kind,
                    figure,
                    _difference(parts_of(first, figure), parts_of(second, figure), figure, replicates),
                )
                for figure in FIGURES
            }
            p_value = _p_value(parts_of(first, "after"), parts_of(second, "after"))
            differences.append(Difference(kind, name, sum(map(len, first.values())), estimates, p_value))
    return tuple(differences)


def _p_value(first: Parts, second: Parts) -> float:
    gains = [
        second[source][question][0] - right
        for source, questions in first.items()
        for question, (right, _) in questions.items()
    ]
    return sign_test(sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains))


def corrected(
    differences: Mapping[tuple[str, str], Sequence[Difference]],
) -> dict[tuple[str, str], tuple[Difference, ...]]:
    """The differences of all pairs of models of a report, with p values corrected for the number of rows."""
    p_values = iter(holm([row.p_value for rows in differences.values() for row in rows]))
    return {
        pair: tuple(replace(row, corrected=next(p_values)) for row in rows)
        for pair, rows in differences.items()
    }


def _difference(first: Parts, second: Parts, figure: str, replicates: int) -> Estimate:
    """The difference over the sources in which the figure of both models is defined; the reason names the others."""
    left_out = sorted({*defined_parts(first)[1], *defined_parts(second)[1]})
    if len(left_out) == len(first):
        left_out = []
    first_defined, second_defined = (
        {source: of for source, of in parts.items() if source not in left_out} for parts in (first, second)
    )
    nothing, (least, most) = _nothing(figure), _bounds(figure)
    bounds = (least - most, most - least)
    estimate = difference(
        first_defined, second_defined, replicates=replicates, nothing=nothing, bounds=bounds
    )
    if not left_out:
        return estimate
    reason = nothing.format(sources=", ".join(left_out))
    return replace(estimate, reason=reason, undefined=sum(len(first[source]) for source in left_out))


def _interval_of_comparison(kind: str, figure: str, estimate: Estimate) -> Estimate:
    """An estimate without interval if it compares originals with themselves: its value follows from the definition."""
    if kind == ORIGINAL and figure in _COMPARISONS:
        return replace(estimate, low=None, high=None)
    return estimate


def _bounds(figure: str) -> tuple[float, float]:
    """The least and most that a figure can be of one question."""
    return (-1.0, 1.0) if figure == "emd" else (0.0, 1.0)


def question_scores(judgement: Judgement, kind: str) -> dict[tuple[str, str], float]:
    """For each question (source, id) of a kind: the share of its seeds that were answered rightly."""
    questions: dict[tuple[str, str], list[bool]] = {}
    for judged in judgement.judged:
        if judged.instance.kind == kind:
            questions.setdefault((judged.instance.source, judged.instance.question), []).append(judged.after)
    return {key: _mean(of) for key, of in questions.items()}


# -- rows -------------------------------------------------------------------------------------------

_COMPARISONS = ("emd", "vp", "r_acc")
"""The figures that compare a reply after the perturbation with the one before."""


def _rows(judged: Sequence[JudgedInstance], replicates: int) -> list[Row]:
    """For every kind the row over all sources, then one for each where there are several."""
    kinds: dict[str, list[JudgedInstance]] = {}
    for result in judged:
        kinds.setdefault(result.instance.kind, []).append(result)
    rows = []
    for kind in _ordered(kinds):
        for name, sources in _rows_by_source(kinds[kind], lambda result: result.instance.source):
            of = [result for result in kinds[kind] if result.instance.source in sources]
            rows.append(_row(kind, name, of, replicates))
            if name == MACRO and len(sources) > 1:
                rows.append(_row(kind, MICRO, [_pool_sources(result) for result in of], replicates))
    return rows


def _pool_sources(judged: JudgedInstance) -> JudgedInstance:
    """The same as of one source that holds the questions of all."""
    instance = judged.instance
    question = f"{instance.source}/{instance.question}"
    return replace(judged, instance=replace(instance, source=MICRO, question=question))


def _ordered(kinds: Iterable[str]) -> list[str]:
    return sorted(kinds, key=lambda kind: (kind != ORIGINAL, kind))


def _rows_by_source(of: Sequence[Any], source: Callable[[Any], str]) -> list[tuple[str, set[str]]]:
    """The names of the rows of a kind, each with the sources that it is about."""
    sources = sorted({source(entry) for entry in of})
    return [(MACRO, set(sources)), *((entry, {entry}) for entry in sources if len(sources) > 1)]


def _row(kind: str, name: str, judged: Sequence[JudgedInstance], replicates: int) -> Row:
    pairs = _by_question(judged)
    by_seed: dict[int, list[JudgedInstance]] = {}
    for result in judged:
        by_seed.setdefault(result.instance.seed, []).append(result)
    seeds = {seed: _by_question(by_seed[seed]) for seed in sorted(by_seed)}
    estimates = {
        figure: _interval_of_comparison(
            kind,
            figure,
            (ratio_where_defined if figure == "r_acc" else ratio)(
                parts_of(pairs, figure),
                replicates=replicates,
                nothing=_nothing(figure),
                bounds=_bounds(figure),
            ),
        )
        for figure in ABOVE
    }
    values = {
        figure: {seed: _macro_mean(of, ABOVE[figure]) for seed, of in seeds.items()}
        for figure in ("after", "emd", "vp")
    }
    row = Row(
        kind=kind,
        source=name,
        questions=sum(map(len, pairs.values())),
        **estimates,
        seeds={**values["after"]},
        deviation=_deviation(list(values["after"].values())),
        emd_deviation=_deviation(list(values["emd"].values())),
        vp_deviation=_deviation(list(values["vp"].values())),
        f1=_f1(judged, replicates),
    )
    _check_bounds(row, of_one_source=len(pairs) == 1)
    return row


def _f1(judged: Sequence[JudgedInstance], replicates: int) -> Estimate | None:
    scores: dict[str, dict[str, list[float]]] = {}
    for result in judged:
        if result.f1 is None:
            return None
        of_source = scores.setdefault(result.instance.source, {})
        of_source.setdefault(result.instance.question, []).append(result.f1)
    parts = {
        source: {question: (_mean(of), 1.0) for question, of in questions.items()}
        for source, questions in scores.items()
    }
    return ratio(parts, replicates=replicates)


def _by_question(judged: Iterable[JudgedInstance]) -> Pairs:
    pairs: dict[str, dict[str, list[tuple[bool, bool]]]] = {}
    for result in judged:
        of_source = pairs.setdefault(result.instance.source, {})
        of_source.setdefault(result.instance.question, []).append((result.before, result.after))
    return pairs


def _nothing(figure: str) -> Message:
    return NOTHING_RIGHT if figure == "r_acc" else DIVIDES_BY_NOTHING


def _check_bounds(row: Row, of_one_source: bool) -> None:
    """|Emd| <= VP, and R-ACC <= after / before, whatever the answers are: ArithmeticError where this module is wrong.

    The second holds within a source only: over several, a mean of ratios is beside a ratio of means.
    """
    emd, vp, r_acc, after = row.emd.value, row.vp.value, row.r_acc.value, row.after.value
    if emd is not None and vp is not None and abs(emd) > vp + 1e-9:
        raise ArithmeticError(f"{row.kind} in {row.source}: |Emd| is {abs(emd)}, above VP, {vp}")
    if not of_one_source or r_acc is None or after is None or not row.before.value:
        return
    if r_acc > after / row.before.value + 1e-9:
        raise ArithmeticError(f"{row.kind} in {row.source}: R-ACC is {r_acc}, above after / before")


# -- dialogues, comparisons, evidence ---------------------------------------------------------------


def _dialogues(judged: Sequence[JudgedInstance]) -> tuple[list[JudgedInstance], int]:
    """Whole dialogues as if each were a question, right if all of its turns are; and how many lack a turn.

    A dialogue's turns are those of its originals, two or more, which have to be there from the first on without a hole. Of
    a kind and seed it needs exactly one instance for each.
    """
    turns: dict[tuple[str, str], set[int]] = {}
    of: dict[tuple[str, str, str, int], list[JudgedInstance]] = {}
    for result in judged:
        instance = result.instance
        if not instance.sequence:
            continue
        if instance.kind == ORIGINAL:
            turns.setdefault((instance.source, instance.sequence), set()).add(instance.turn)
        of.setdefault((instance.source, instance.sequence, instance.kind, instance.seed), []).append(result)
    dialogues, incomplete = [], 0
    for (source, sequence, kind, seed), members in of.items():
        expected = turns.get((source, sequence), set())
        present_turns = sorted(result.instance.turn for result in members)
        if len(expected) < 2 or present_turns != list(range(len(expected))) or expected != set(present_turns):
            incomplete += 1
            continue
        whole = Instance(source, f"{sequence}~{kind}-{seed}", sequence, kind, seed, sequence, ())
        dialogues.append(
            JudgedInstance(
                whole, all(result.before for result in members), all(result.after for result in members)
            )
        )
    return dialogues, incomplete


def _gaps(judged: Sequence[JudgedInstance], replicates: int) -> list[Gap]:
    """Table 6 of FREB-TQA. Over several sources, only those count that have questions of both groups."""
    moved = [result for result in judged if result.instance.kind == MOVED]
    comparing = parts_of(
        _by_question(result for result in moved if result.instance.group == COMPARISON), "vp"
    )
    others = parts_of(_by_question(result for result in moved if result.instance.group != COMPARISON), "vp")
    gaps = []
    for name, sources in _rows_by_source(moved, lambda result: result.instance.source) if moved else ():
        both = sources & comparing.keys() & others.keys() if name == MACRO else sources
        first = {source: comparing[source] for source in both if source in comparing}
        second = {source: others[source] for source in both if source in others}
        result, other_result = (ratio(parts, replicates=replicates) for parts in (first, second))
        gaps.append(Gap(name, result, other_result, gap(first, second, replicates=replicates)))
    return gaps


def _unsupported(judged: Sequence[JudgedInstance]) -> list[UnsupportedAnswers]:
    unsupported = []
    for kind in WITHOUT_EVIDENCE:
        sources = sorted({result.instance.source for result in judged if result.instance.kind == kind})
        for source in sources:
            of: dict[str, list[JudgedInstance]] = {}
            for result in judged:
                if (result.instance.kind, result.instance.source) == (kind, source):
                    of.setdefault(result.instance.question, []).append(result)
            right = {
                question: _mean(result.after for result in seeds)
                for question, seeds in of.items()
                if any(result.after for result in seeds)
            }
            answers: dict[str, float] = {}
            for question, share in right.items():
                gold = ", ".join(of[question][0].instance.answers)
                answers[gold] = answers.get(gold, 0.0) + share
            ordered = sorted(answers.items(), key=lambda result: (-result[1], result[0]))
            shares = tuple(right.values())
            unsupported.append(
                UnsupportedAnswers(kind, source, len(of), tuple(right), shares, tuple(ordered))
            )
    return unsupported


# -- numbers ----------------------------------------------------------------------------------------


def _mean(values: Iterable[float]) -> float:
    floats = [float(value) for value in values]
    return math.fsum(floats) / len(floats)


def _macro_mean(pairs: Pairs, of_pair: Callable[[bool, bool], float]) -> float | None:
    means = [
        _mean(of_pair(*pair) for of in questions.values() for pair in of) for questions in pairs.values()
    ]
    return _mean(means) if means else None


def _deviation(per_seed: Sequence[float | None]) -> float | None:
    values = [value for value in per_seed if value is not None]
    if len(values) < 2:
        return None
    mean = _mean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
