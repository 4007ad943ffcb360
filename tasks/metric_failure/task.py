"""Why do a metric and people disagree about an answer?"""

import dataclasses
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from tableqa import Example
from tableqa.core import translation
from tableqa.core.translation import gettext, gettext_noop, message
from tableqa.writers.askew import askew_record
from tasks.contract import (
    Item,
    Measure,
    PerturbedExample,
    PreparedInputs,
    PreparingTask,
    ReleaseRecord,
    Report,
    ReportedResponse,
    Surroundings,
    split_by_decision,
)
from tasks.shared.conditions import Condition
from tasks.shared.declared_types import DeclaredTask
from tasks.shared.form_fields import MultiChoice, Option, Text

CAUSES = MultiChoice(
    name="causes",
    label=gettext_noop("Causes"),
    legend=gettext_noop("Why? Choose all that apply."),
    required=gettext_noop("Choose at least one cause."),
    code="no_cause",
    unknown="unknown_cause",
    options=(
        Option(
            "question_ambiguous",
            gettext_noop("Question: ambiguous"),
            meaning=gettext_noop("It can be read in more than one way."),
            group=gettext_noop("Question"),
            short=gettext_noop("ambiguous"),
            brief=gettext_noop("several readings"),
        ),
        Option(
            "question_subjective",
            gettext_noop("Question: subjective"),
            meaning=gettext_noop("What counts as right is a matter of opinion."),
            group=gettext_noop("Question"),
            short=gettext_noop("subjective"),
            brief=gettext_noop("a matter of opinion"),
        ),
        Option(
            "question_open",
            gettext_noop("Question: open-ended"),
            meaning=gettext_noop("Very different answers can all be good."),
            group=gettext_noop("Question"),
            short=gettext_noop("open-ended"),
            brief=gettext_noop("many good answers"),
        ),
        Option(
            "reference_redundant",
            gettext_noop("Reference: redundant"),
            meaning=gettext_noop("It says more than the question asks for."),
            group=gettext_noop("Reference"),
            short=gettext_noop("redundant"),
            brief=gettext_noop("says too much"),
        ),
        Option(
            "reference_mismatched",
            gettext_noop("Reference: mismatched"),
            meaning=gettext_noop("It does not answer this question, or contradicts the table."),
            group=gettext_noop("Reference"),
            short=gettext_noop("mismatched"),
            brief=gettext_noop("off the question"),
        ),
        Option(
            "answer_length",
            gettext_noop("Answer: length"),
            meaning=gettext_noop(
                "It is much longer or shorter than the reference, but no better or worse for it."
            ),
            group=gettext_noop("Answer"),
            short=gettext_noop("length"),
            brief=gettext_noop("longer or shorter"),
        ),
        Option(
            "answer_structure",
            gettext_noop("Answer: structure"),
            meaning=gettext_noop(
                "Its structure differs from the reference: a list, another order, other words."
            ),
            group=gettext_noop("Answer"),
            short=gettext_noop("structure"),
            brief=gettext_noop("a list, another order"),
        ),
        Option(
            "other", gettext_noop("None of these"), meaning=gettext_noop("Describe the cause in the note.")
        ),
    ),
)
NOTE = Text(
    name="note",
    label=gettext_noop("Note"),
    help=gettext_noop("Required with “None of these”."),
    required=gettext_noop("Describe the cause in the note."),
    needed=Condition("causes", "contains", "other"),
    key="n",
)
DIMENSIONS = ("faithfulness", "comprehensiveness")
USUAL = {
    "tokenf1": gettext_noop("Token F1"),
    "f1": "F1",
    "bleu": "BLEU",
    "sacrebleu": "SacreBLEU",
    "rouge": "ROUGE",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougel": "ROUGE-L",
    "rougelsum": "ROUGE-Lsum",
    "meteor": "METEOR",
    "bertscore": "BERTScore",
    "bartscore": "BARTScore",
    "chrf": "chrF",
    "chrf++": "chrF++",
    "ter": "TER",
    "geval": "G-Eval",
    "tapascheck": gettext_noop("TAPAS check"),
    "tapasacc": "TAPAS-Acc",
    "autoacu": "AutoACU",
    "a3cu": "A3CU",
    "exactmatch": gettext_noop("Exact match"),
}
"""How metrics are spelt by their authors: name without blanks and hyphens, in small letters -> name."""
HIGHEST_SCORE = 5
METRIC_GIVES = message("metric_failure.metric_gives", "{name} gives it {short}: {standing}.")
PEOPLE_GIVE = message(
    "metric_failure.people_give", "People give it {each} out of {highest_score}: {standing}."
)
FOR_FAITHFULNESS = message("metric_failure.for_faithfulness", "{score} for faithfulness")
FOR_COMPREHENSIVENESS = message("metric_failure.for_comprehensiveness", "{score} for comprehensiveness")
FOR_BOTH = message("metric_failure.for_both", "{score} for faithfulness and {score_2} for comprehensiveness")
NO_OTHER = message("metric_failure.no_other", "no other answer was scored")
NONE_LOWER = message("metric_failure.none_lower", "no other answer scores lower")
OTHER_NO_LOWER = message("metric_failure.other_no_lower", "the other answer scores no lower")
OTHER_LOWER = message("metric_failure.other_lower", "the other answer scores lower")
OTHER_SAME = message("metric_failure.other_same", "the other answer scores the same")
ALL_LOWER = message("metric_failure.all_lower", "all {others} others score lower")
SOME_LOWER = message("metric_failure.some_lower", "{below} of the {others} others score lower")
SOME_LOWER_HALF = message(
    "metric_failure.some_lower_half", "{below} of the {others} others score lower (ties count half)"
)


@dataclass(frozen=True)
class Response:
    """One or more of `CAUSES`, in their order; `other` comes with a note."""

    causes: tuple[str, ...]
    note: str = ""


class MetricFailure(DeclaredTask, PreparingTask):
    """The causes of a disagreement between a metric and people, on the answers where it is largest."""

    key = "metric_failure"
    title = gettext_noop("Metric failure")
    step = "rate"
    paper = "LFTQA-Eval (EMNLP 2024) Tables 3 to 5"
    prerequisite = gettext_noop("Needs ratings first: from Answer rating, or from the source.")
    instruction = gettext_noop("The metric and people disagree about this answer. Why?")
    response_type = Response
    shows = ("question", "table", "titles", "context", "rated_answer", "reference", "metric", "people")
    without = gettext_noop("they lack a rated answer, its metric score or its scores from people.")
    fields = (CAUSES, NOTE)
    measures = (
        *(
            Measure(
                cause,
                "nominal",
                lambda response, cause=cause: cause in response.causes,  # type: ignore[misc]
                order=(False, True),
                statistics=("fleiss_kappa",),
            )
            for cause in CAUSES.values
        ),
        Measure(
            gettext_noop("all causes"),
            "sets",
            lambda response: frozenset(response.causes),
            statistics=("krippendorff_alpha_masi", "krippendorff_alpha_jaccard"),
        ),
    )
    compares = "sets"
    rule: ClassVar[Mapping[str, Any]] = {"rule": "set_overlap", "least": 0}
    settings = {
        "metric": {
            "type": "string",
            "default": "",
            "maxLength": 100,
            "title": "Metric",
            "description": gettext_noop(
                "The name of a metric of the source. If empty, each answer uses the metric that differs most."
            ),
        },
    }

    def prepare(self, example: Example, around: Surroundings) -> PreparedInputs | None:
        """The answer with every score of it; `together` picks one. People's scores: decided here, else the source's."""
        rated, metrics = example.meta.get("rated_answer"), example.meta.get("metrics")
        decided = around.decided.get("answer_rating")
        human = decided[-1] if decided else example.meta.get("human")
        if not (isinstance(rated, Mapping) and isinstance(metrics, Mapping) and isinstance(human, Mapping)):
            return None
        people = {name: human[name] for name in DIMENSIONS if _is_number(human.get(name))}
        scores = {str(name): score for name, score in metrics.items() if _is_number(score)}
        if not rated.get("text") or not people or not scores:
            return None
        return PreparedInputs(
            {
                "rated_answer": str(rated["text"]),
                "system": str(rated.get("system", "")),
                "reference": str(example.meta.get("reference") or " ".join(example.answers)),
                "scores": {"metrics": scores, "people": people},
            }
        )

    def together(
        self, prepared: Sequence[PreparedInputs], settings: Mapping[str, Any]
    ) -> Sequence[PreparedInputs | None]:
        """For each answer the metric whose rank is furthest from people's; the further, the more wanted.

        Metrics have scales of their own, so ranks are compared, not scores: among the answers that are
        prepared together and have this metric, the share of the others that are below (a tie counts
        half). A metric called after a dimension (`geval_..._faithfulness`) is held against people's scores
        of it, any other against the mean of theirs. Answers without the metric of the settings are left out.
        """
        metric_name = str(settings.get("metric", ""))
        names = sorted({name for candidate in prepared for name in candidate.inputs["scores"]["metrics"]})
        best: dict[int, dict[str, Any]] = {}
        for name in [name for name in names if name == metric_name or not metric_name]:
            of = {
                i: _metric_and_people_scores(candidate, name)
                for i, candidate in enumerate(prepared)
                if name in candidate.inputs["scores"]["metrics"]
            }
            metric_ranks = _ranks({i: metric for i, (metric, _) in of.items()})
            people_ranks = _ranks({i: people for i, (_, people) in of.items()})
            for i, (metric, people) in of.items():
                gap = round(metric_ranks[i] - people_ranks[i], 6)
                if i not in best or abs(gap) > abs(best[i]["gap"]):
                    best[i] = {
                        "name": name,
                        "score": metric,
                        "people": people,
                        "gap": gap,
                        "among": len(of),
                        "rank": round(metric_ranks[i], 6),
                        "people_rank": round(people_ranks[i], 6),
                    }
        return [
            _with_metric(candidate, best[i]) if i in best else None for i, candidate in enumerate(prepared)
        ]

    def payload(self, item: Item) -> dict[str, Any]:
        """The two scores in words, in the reader's language, and both ranks for a chart.

        The metric's "claim" says in one sentence which of the two ranks is higher; "" where neither is.
        A rank is {"name": whose it is, "place": in words, "share": percent of the others that are below}; None where the
        item has no ranks.
        """
        payload = super().payload(item)
        among = payload.get("metric", {}).get("among")
        names = {
            "metric": metric_title(str(payload.get("metric", {}).get("name", ""))),
            "people": gettext("People"),
        }
        return payload | {
            name: {
                "text": translation.translate_stored(payload[name]["text"]),
                "rank": _rank_data(names[name], payload[name].get("rank"), among),
                **({"claim": _claim(names[name], payload[name], among)} if name == "metric" else {}),
            }
            for name in ("metric", "people")
            if name in payload
        }

    def members(self, response: Response) -> frozenset[Hashable]:
        return frozenset(response.causes)

    def member_title(self, member: str) -> str:
        return CAUSES.option(member).title

    def merged(self, responses: Sequence[Response], item: Item, consensus: Collection[str]) -> Response:
        notes = sorted({response.note for response in responses if response.note})
        return Response(CAUSES.in_order(consensus), "\n".join(notes))

    def feedback(self, item: Item, response: Response, expected: Response) -> tuple[bool, list[str]]:
        """Naming one of the detected causes is right; the other detected causes are listed."""
        right = bool(set(response.causes) & set(expected.causes))
        same = set(response.causes) == set(expected.causes)
        return right, [] if same else [gettext("Expected:"), *self.describe(expected, item)]

    def report(self, rows: Sequence[ReportedResponse]) -> list[Report]:
        """How often each cause was decided, for each metric, apart by which of the two is higher."""
        decided, undecided = split_by_decision(rows)
        counts: Counter[tuple[str, str, bool]] = Counter()
        totals: Counter[tuple[str, bool]] = Counter()
        for row in decided:
            if not row.decided:
                continue
            metric = row.item.inputs.get("metric", {})
            side = (str(metric.get("name", "")), metric.get("gap", 0) > 0)
            totals[side] += 1
            counts.update((side[0], cause, side[1]) for cause in row.decided[0].causes)
        lines = tuple(
            (
                metric,
                "higher" if higher else "lower",
                totals[metric, higher],
                *(counts[metric, cause, higher] for cause in CAUSES.values),
            )
            for metric, higher in sorted(totals)
        )
        columns = (
            "Metric",
            gettext("ranks the answer"),
            "Answers",
            *(option.title for option in CAUSES.options),
        )
        note = gettext(
            "An answer may have several causes. Higher or lower: the rank by the metric compared "
            "with the rank by people."
        )
        return [Report(gettext("Why metrics and people disagree"), columns, lines, f"{note} {undecided}")]

    def export(
        self, format: str, item: Item, response: Response, perturbed: PerturbedExample | None
    ) -> Iterator[ReleaseRecord]:
        """Askew's own form: the answer with both scores and the causes."""
        if format != "askew":
            return
        inputs = item.inputs
        yield ReleaseRecord(
            self.key,
            {
                **askew_record(item.example),
                "model": inputs.get("system", ""),
                "rated_answer": inputs.get("rated_answer", ""),
                "reference": inputs.get("reference", ""),
                "metric": inputs.get("metric", {}),
                "people": inputs.get("people", {}),
                "causes": list(response.causes),
                "note": response.note,
            },
        )

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> dict[str, Any]:
        named = [cause for cause in CAUSES.values if cause != "other"]
        right = truth.sample(named, truth.choices((1, 2), weights=(70, 30))[0])
        return {"causes": right if rng.random() < accuracy else [rng.choice(named)], "note": ""}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _metric_and_people_scores(prepared: PreparedInputs, metric: str) -> tuple[float, float]:
    """The metric's score of an answer and people's, on the dimension that the metric is about or on both."""
    scores = prepared.inputs["scores"]
    people: Mapping[str, float] = scores["people"]
    about = next((people[name] for name in DIMENSIONS if metric.endswith(name) and name in people), None)
    return scores["metrics"][metric], sum(people.values()) / len(people) if about is None else about


def _ranks(scores: Mapping[int, float]) -> dict[int, float]:
    """For each the share of the others that score lower, ties counted half: 0 for the lowest, 1 for the highest."""
    if len(scores) == 1:
        return dict.fromkeys(scores, 0.5)
    counts = Counter(scores.values())
    below, lower = {}, 0
    for value in sorted(counts):
        below[value] = lower
        lower += counts[value]
    others = len(scores) - 1
    return {key: (below[value] + (counts[value] - 1) / 2) / others for key, value in scores.items()}


def _with_metric(prepared: PreparedInputs, best: Mapping[str, Any]) -> PreparedInputs:
    """The item with the one metric that is shown, in words that say how the two scores are among the others."""
    people: Mapping[str, float] = prepared.inputs["scores"]["people"]
    faithful, whole = (
        translation.number(f"{people[name]:g}") if name in people else "" for name in DIMENSIONS
    )
    each = (
        FOR_BOTH.format(score=faithful, score_2=whole)
        if faithful and whole
        else FOR_FAITHFULNESS.format(score=faithful)
        if faithful
        else FOR_COMPREHENSIVENESS.format(score=whole)
    )
    name = metric_title(best["name"])
    metric = {
        "text": METRIC_GIVES.format(
            name=name,
            short=translation.number(_short(best["score"])),
            standing=rank_in_words(best["rank"], best["among"]),
        ),
        **{name: best[name] for name in ("name", "score", "rank", "gap", "among")},
    }
    people_scores = {
        "text": (
            PEOPLE_GIVE.format(
                each=each,
                highest_score=HIGHEST_SCORE,
                standing=rank_in_words(best["people_rank"], best["among"]),
            )
        ),
        "score": best["people"],
        "rank": best["people_rank"],
        **people,
    }
    inputs = {**prepared.inputs, "metric": metric, "people": people_scores}
    return dataclasses.replace(prepared, inputs=inputs, priority=abs(best["gap"]))


def metric_title(metric: str) -> str:
    """What a metric is called on the page: its usual spelling where it has one, else its name with blanks.

    A part that says of which kind a score is stays: "geval_gpt4_faithfulness" is "G-Eval gpt4, faithfulness".
    """
    first, *rest = [part for part in re.split(r"[_\s]+", metric.strip()) if part] or [metric]
    compact = "".join([first, *rest[:1]]).lower().replace("-", "")
    if rest and compact in USUAL:
        first, rest = USUAL[compact], rest[1:]
    else:
        first = USUAL.get(first.lower().replace("-", ""), first)
    about = f", {rest.pop()}" if rest and rest[-1] in DIMENSIONS else ""
    return " ".join([first, *rest]) + about


def _rank_data(name: str, rank: object, among: object) -> dict[str, Any] | None:
    """A rank for the chart: 1 is the best of `among` answers, and answers with the same score share the mean of theirs."""
    if not _is_number(rank) or not isinstance(among, int) or among < 2:
        return None
    position = among - round(2 * float(rank) * (among - 1)) / 2  # type: ignore[arg-type]
    text = gettext("rank {place} of {among}").format(
        place=translation.number(f"{position:g}").shown(), among=among
    )
    return {"name": name, "place": translation.translate_stored(text), "share": round(100 * float(rank))}  # type: ignore[arg-type]


def _claim(name: str, metric: Mapping[str, Any], among: object) -> str:
    """Which of the two ranks the answer higher, in one sentence; "" where there are no ranks or they are equal."""
    gap = metric.get("gap")
    if _rank_data(name, metric.get("rank"), among) is None or not _is_number(gap) or not gap:
        return ""
    message = (
        gettext("The automatic score {name} ranks this answer higher than people do.")
        if gap > 0
        else gettext("The automatic score {name} ranks this answer lower than people do.")
    )
    return message.format(name=name)


def rank_in_words(rank: float, count: int) -> str:
    """How an answer is among the `count` answers that were scored, in words: 9 of the 11 others score lower.

    In English, as it is kept with the item.
    """
    others = count - 1
    if others < 1:
        return NO_OTHER
    below = round(2 * rank * others) / 2  # equal ones count half; the rank itself is rounded
    if below == 0:
        return NONE_LOWER if others > 1 else OTHER_NO_LOWER
    if others == 1:
        return OTHER_LOWER if below == 1 else OTHER_SAME
    if below == others:
        return ALL_LOWER.format(others=others)
    return (SOME_LOWER if below == int(below) else SOME_LOWER_HALF).format(
        below=translation.number(f"{below:g}"), others=others
    )


def _short(score: float) -> str:
    return f"{score:.3f}".rstrip("0").rstrip(".")


task = MetricFailure()
