"""Rate the quality of a changed example, 1-5, and choose the better of two."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from tableqa import Example
from tableqa.core.translation import gettext, gettext_noop
from tableqa.data.answers import gold_record
from tableqa.operations import describe, diff
from tableqa.statistics.proportions import proportion
from tableqa.writers.askew import askew_record
from tasks.contract import (
    Item,
    Measure,
    PerturbedExample,
    PreparedInputs,
    PreparingTask,
    Problem,
    ReleaseRecord,
    Report,
    ReportedResponse,
    Surroundings,
)
from tasks.contract.scores import HIGHEST, LOWEST, STEPS
from tasks.shared.conditions import Condition
from tasks.shared.declared_types import DeclaredTask
from tasks.shared.error_classes import ERRORS
from tasks.shared.form_fields import Choice, MultiChoice, Option, Question, Scale

SIDES = ("left", "right")
BETTER = Choice(
    name="better",
    note='`better` is "" where there is only one example',
    label=gettext_noop("Better"),
    legend=gettext_noop("Which is better?"),
    required=gettext_noop("Choose the better example, or “Equally good”."),
    code="no_choice",
    options=(
        Option("left", gettext_noop("Example L")),
        Option("tie", gettext_noop("Equally good")),
        Option("right", gettext_noop("Example R")),
    ),
)
GOOD = 4
REJECTED_BELOW = 3
"""From here down a score comes with what is wrong."""
UNKNOWN = gettext_noop("not known")
NO_ERROR = "no_error"


def _verdict(side: str, shape: str = "") -> tuple[Scale, MultiChoice]:
    """The score of a side, and what is wrong with it where the score is low."""
    required = gettext_noop("Choose what is wrong if the score is below {rejected_below}")
    return (
        Scale(name=side, shape=shape, required=gettext_noop("Rate {called} from {lowest} to {highest}.")),
        MultiChoice(
            name=f"{side}_errors",
            required=required,
            code=NO_ERROR,
            unknown=NO_ERROR,
            malformed=NO_ERROR,
            when=Condition(side, "<", REJECTED_BELOW),
            options=tuple(Option(*error) for error in ERRORS.items()),
        ),
    )


@dataclass(frozen=True)
class Response:
    """A score from 1 to 5 for each side that is there, which is better, and what is wrong where a score is below 3."""

    left: int | float
    right: int | float | None = None
    better: str = ""
    left_errors: tuple[str, ...] = ()
    right_errors: tuple[str, ...] = ()


class PerturbationRating(DeclaredTask, PreparingTask):
    """A perturbed example beside another of the same original by the same kind of perturbation, where there is one."""

    key = "perturbation_rating"
    title = gettext_noop("Perturbation rating")
    step = "rate"
    default_overlap = 2
    paper = "RobuT (ACL 2023) § 6.3"
    prerequisite = gettext_noop("Needs edited examples first.")
    instruction = gettext_noop("How natural is each changed example, and does it still mean the same?")
    response_type = Response
    shows = ("question", "answers", "context", "history", "original", "left", "right")
    of = ("perturbed",)
    without = gettext_noop("only perturbed examples can be rated.")
    fields = (*_verdict("left"), *_verdict("right", shape=r"1-5 \| null"), BETTER)
    compares = "scales"
    rule: ClassVar[Mapping[str, Any]] = {"rule": "mean"}
    measures = (
        *(
            Measure(
                f"quality, {side}",
                "ordinal",
                lambda response, side=side: getattr(response, side),  # type: ignore[misc]
                statistics=("krippendorff_alpha", "krippendorff_alpha_interval"),
            )
            for side in SIDES
        ),
        Measure(
            "better",
            "ordinal",
            lambda response: response.better or None,
            order=BETTER.values,
            statistics=("krippendorff_alpha",),
        ),
    )

    def prepare(self, example: Example, around: Surroundings) -> PreparedInputs | None:
        """Both sides as changes of the original. Which is left is drawn, and is in `sides`.

        Another maker's example is preferred beside it: it is people and machines that are compared.
        Who made what, the platform says: "person", "automatic", or what an import calls it ("leta", "rule").
        """
        if around.original is None:
            return None

        def maker(candidate: Example) -> str:
            return around.makers.get(candidate.id, UNKNOWN)

        others = sorted(around.alternatives, key=lambda other: (maker(other) == maker(example), other.id))
        both = [example, *others[:1]]
        Random(f"{self.key}:{around.secret}{example.id}").shuffle(both)
        inputs: dict[str, Any] = {
            "original": {
                "question": around.original.question,
                **gold_record(around.original.answers),
                "table": around.original.table.to_wire(),
            },
            "perturbation": around.perturbation,
            "sides": {
                side: {"id": side_example.id, "maker": maker(side_example)}
                for side, side_example in zip(SIDES, both, strict=False)
            },
        }
        for side, side_example in zip(SIDES, both, strict=False):
            inputs[side] = _side_inputs(around.original, side_example)
        # Two side by side tell more than one alone: pairs come first.
        return PreparedInputs(inputs, priority=len(both), uses=tuple(other.id for other in others[:1]))

    def together(
        self, prepared: Sequence[PreparedInputs], settings: Mapping[str, Any]
    ) -> Sequence[PreparedInputs | None]:
        """Each pair once: it is rated from both ends in one item."""
        seen: set[frozenset[str]] = set()
        deduplicated: list[PreparedInputs | None] = []
        for candidate in prepared:
            pair = frozenset(side["id"] for side in candidate.inputs["sides"].values())
            deduplicated.append(None if pair in seen else candidate)
            seen.add(pair)
        return deduplicated

    def payload(self, item: Item) -> dict[str, Any]:
        """The question and the answers that head the page are the original's: both sides differ from it."""
        payload = super().payload(item)
        original = item.inputs["original"]
        payload |= {name: original.get(name) for name in ("question", "answers", "alternatives")}
        return {name: value for name, value in payload.items() if value}

    def asked(self, item: Item) -> Sequence[Question]:
        """The fields of the sides that the item has; which is better is asked of two."""
        return self.fields if "right" in item.inputs else self.fields[:2]

    def missing(self, field: Question, item: Item) -> Problem:
        """Names the side: "example L" of two, "the example" of one."""
        side, of_errors, _ = field.name.partition("_")
        if side not in SIDES:
            return field.missing()
        pair = "right" in item.inputs
        two = gettext("example L") if side == "left" else gettext("example R")
        called = two if pair else gettext("the example")
        if of_errors:
            message = gettext("Choose what is wrong if the score is below {rejected_below}")
            return Problem(
                field.name, field.code, f"{message.format(rejected_below=REJECTED_BELOW)}: {called}."
            )
        message = gettext("Rate {called} from {lowest} to {highest}.")
        return Problem(side, field.code, message.format(called=called, lowest=LOWEST, highest=HIGHEST))

    def unasked(self, data: Mapping[str, Any], item: Item) -> Sequence[Problem]:
        if "right" in item.inputs or not (data.get("better") or data.get("right")):
            return ()
        return (Problem("right", "no_right", gettext("There is only one example to rate.")),)

    def scores(self, response: Response) -> Mapping[str, int | float | None]:
        return {side: getattr(response, side) for side in SIDES}

    def merged(self, responses: Sequence[Response], item: Item, consensus: Mapping[str, float]) -> Response:
        """The mean for each side; better is what more than half say, else they are equally good."""
        errors = {
            side: _named_errors(side, responses) if consensus.get(side, HIGHEST) < REJECTED_BELOW else ()
            for side in SIDES
        }
        votes = Counter(response.better for response in responses if response.better)
        better = next(
            (name for name, count in votes.items() if count * 2 > len(responses)), "tie" if votes else ""
        )
        return Response(consensus["left"], consensus.get("right"), better, errors["left"], errors["right"])

    def describe(self, response: Response, item: Item) -> list[str]:
        lines = []
        for side in SIDES:
            quality = getattr(response, side)
            if quality is not None:
                wrong = [gettext(ERRORS[error].lower()) for error in getattr(response, f"{side}_errors")]
                called = (
                    gettext("The example")
                    if response.right is None
                    else gettext("Example L" if side == "left" else "Example R")
                )
                score = gettext("{called}: {said} of {highest}").format(
                    called=called, said=f"{quality:g}", highest=HIGHEST
                )
                lines.append(f"{score}{': ' + ', '.join(wrong) if wrong else ''}.")
        message = gettext("Better: {better}.")
        return lines + (
            [message.format(better=gettext(BETTER.option(response.better).title))] if response.better else []
        )

    def feedback(self, item: Item, response: Response, expected: Response) -> tuple[bool, list[str]]:
        """One step beside the expected score is near enough; which one is better has to be as expected."""
        apart = [
            side
            for side in SIDES
            if getattr(expected, side) is not None
            and abs(getattr(response, side) - getattr(expected, side)) > 1
        ]
        right = not apart and response.better == expected.better
        return right, [] if response == expected else [gettext("Expected:"), *self.describe(expected, item)]

    def report(self, rows: Sequence[ReportedResponse]) -> list[Report]:
        """Quality and preference for each perturbation and kind of maker, from all people's responses. (RobuT, table 5)"""
        scores: dict[tuple[str, str, str, str], list[float]] = {}
        votes: dict[tuple[str, str, str], list[bool]] = {}
        wrong: Counter[tuple[str, str, str]] = Counter()
        alike: Counter[str] = Counter()
        for row in rows:
            sides, kind = row.item.inputs["sides"], str(row.item.inputs.get("perturbation", ""))
            for side, entry in sides.items():
                quality = getattr(row.response, side)
                if quality is None:
                    continue
                scores.setdefault((kind, entry["maker"], row.source, entry["id"]), []).append(quality)
                wrong.update(
                    (kind, entry["maker"], error) for error in getattr(row.response, f"{side}_errors")
                )
            makers = {entry["maker"] for entry in sides.values()}
            if row.response.better and len(makers) == 1:
                alike.update(makers)
            elif row.response.better:
                for side, entry in sides.items():
                    votes.setdefault((kind, *_maker_pair(entry, sides)), []).append(
                        row.response.better in (side, "tie")
                    )
        return [_quality_report(scores), _preference_report(votes, alike), _error_report(wrong)]

    def export(
        self, format: str, item: Item, response: Response, perturbed: PerturbedExample | None
    ) -> Iterator[ReleaseRecord]:
        """Askew's own form: a record for the item with both sides, who made them and what was decided."""
        if format != "askew":
            return
        sides = item.inputs.get("sides", {})
        rated = {
            side: {
                **entry,
                "quality": getattr(response, side),
                "errors": list(getattr(response, f"{side}_errors")),
            }
            for side, entry in sides.items()
        }
        more = {"perturbation": item.inputs.get("perturbation", ""), "better": response.better, **rated}
        yield ReleaseRecord(self.key, {**askew_record(item.example), **more})

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for side in SIDES:
            right = truth.choices(STEPS, weights=(3, 5, 12, 30, 50))[0]
            error = truth.choice(list(ERRORS))
            if side not in item.inputs:
                continue
            quality = int(right if rng.random() < accuracy else rng.choice(STEPS))
            data[side] = quality
            data[f"{side}_errors"] = [error] if quality < REJECTED_BELOW else []
        if "right" in data:
            better = "tie" if data["left"] == data["right"] else max(SIDES, key=lambda side: data[side])
            data["better"] = better if rng.random() < accuracy else rng.choice(BETTER.values)
        return data


def _side_inputs(original: Example, example: Example) -> dict[str, Any]:
    """One of the examples as the page draws it: its question, its answers, and its table as changes of the original's."""
    operations = diff(original.table, example.table, match="ids")
    return {
        "question": example.question,
        **gold_record(example.answers),
        "table": example.table.to_wire(),
        "operations": [operation.to_dict() for operation in operations],
        "changes": [describe(operation, original.table) for operation in operations],
    }


def _named_errors(side: str, responses: Sequence[Response]) -> tuple[str, ...]:
    named = {error for response in responses for error in getattr(response, f"{side}_errors")}
    return tuple(error for error in ERRORS if error in named)


def _maker_pair(entry: Mapping[str, str], sides: Mapping[str, Mapping[str, str]]) -> tuple[str, str]:
    other = next(side["maker"] for side in sides.values() if side["id"] != entry["id"])
    return entry["maker"], other


def _quality_report(scores: Mapping[tuple[str, str, str, str], Sequence[float]]) -> Report:
    by_maker: dict[tuple[str, str], list[float]] = {}
    for (kind, made_by, _, _), ratings in scores.items():
        by_maker.setdefault((kind, made_by), []).append(sum(ratings) / len(ratings))
    rows = []
    for (kind, made_by), means in sorted(by_maker.items()):
        share = proportion(sum(value >= GOOD for value in means), len(means))
        middle = round(sum(means) / len(means), 2)
        rows.append((kind, made_by, len(means), middle, share.hits, share))
    columns = (
        "Perturbation",
        gettext("Made by"),
        "Examples",
        "Mean",
        gettext("4 or better"),
        "Share",
    )
    note = gettext("The score of an example is the mean over all raters. 95 % CI: Wilson, over examples.")
    return Report("Quality", columns, tuple(rows), note)


def _preference_report(
    votes: Mapping[tuple[str, str, str], Sequence[bool]], alike: Mapping[str, int]
) -> Report:
    rows = []
    for (kind, made_by, against), won in sorted(votes.items()):
        share = proportion(sum(won), len(won))
        rows.append((kind, made_by, against, share.n, share.hits, share))
    columns = (
        "Perturbation",
        gettext("Made by"),
        "Against",
        "Votes",
        gettext("At least as good"),
        gettext("Win rate"),
    )
    note = gettext(
        "A tie counts as a win for both, so two rates can add up to more than 100 %. Only pairs of "
        "different origin count."
    )
    if alike:
        named = ", ".join(
            gettext("{made_by} and {made_by}: {count}").format(made_by=made_by, count=count)
            for made_by, count in sorted(alike.items())
        )
        note += gettext(" Not in the table: votes on pairs of the same origin ({named}).").format(named=named)
    return Report("Preference", columns, tuple(rows), note)


def _error_report(wrong: Counter[tuple[str, str, str]]) -> Report:
    makers = sorted({(kind, made_by) for kind, made_by, _ in wrong})
    rows: list[tuple[str | int, ...]] = [
        (kind, made_by, *(wrong[kind, made_by, error] for error in ERRORS)) for kind, made_by in makers
    ]
    note = gettext(
        "From raters who scored below {rejected_below}. An example may have several errors."
    ).format(rejected_below=REJECTED_BELOW)
    return Report(
        gettext("What is wrong"), ("Perturbation", gettext("Made by"), *ERRORS.values()), tuple(rows), note
    )


task = PerturbationRating()
