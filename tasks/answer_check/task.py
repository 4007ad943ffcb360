"""Answer an example without seeing the given answer."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Literal

from tableqa import Example
from tableqa.cells import fold, number_of
from tableqa.core.translation import gettext, gettext_noop, joined, word
from tableqa.data.answers import accepted, compare, in_words
from tableqa.statistics.proportions import proportion
from tableqa.writers.askew import askew_record
from tasks.contract import (
    Acceptance,
    AnsweringTask,
    Field,
    InvalidResponse,
    Item,
    Measure,
    NeedsAdjudication,
    Outcome,
    PerturbedExample,
    PreparedInputs,
    PreparingTask,
    ReleaseRecord,
    Report,
    ReportedResponse,
    Resolution,
    Surroundings,
)
from tasks.shared.response_parts import ResponseReader

DIFFERENCES = {
    "form": gettext_noop("the same, written differently"),
    "unit": gettext_noop("the same except for a missing unit"),
    "rounding": gettext_noop("the same, rounded"),
    "order": gettext_noop("the same in another order"),
    "sign": gettext_noop("the same except for the sign"),
    "scale": gettext_noop("the same on another scale"),
    "partial": gettext_noop("only some of the answers"),
    "value": gettext_noop("a different value"),
    "unanswerable": gettext_noop("marked as unanswerable"),
}
"""What `tableqa.data.answers.compare` finds between an answer and the given one, and a refusal to answer."""
REAL = ("partial", "value", "unanswerable")
"""Differences that a person has to look at. (FREB-TQA 3.5)"""
SLIPS = ("sign", "scale")
"""Differences that are known for what they are."""
ORIGINAL = "original"


@dataclass(frozen=True)
class Response:
    """The answers as a person read them off the table, or `unanswerable` and nothing else."""

    answers: tuple[str, ...]
    unanswerable: bool = False


class AnswerCheck(AnsweringTask, PreparingTask):
    """Two people answer blind, neither of whom made the example; what they say is compared with the given answer."""

    key = "answer_check"
    title = gettext_noop("Answer check")
    step = "check"
    default_overlap = 2
    paper = "FREB-TQA (NAACL 2024) § 3.5"
    prerequisite = gettext_noop("Needs edited examples first.")
    instruction = gettext_noop("Answer the question from this table")
    response_type = Response
    shows = ("question", "table", "titles", "context", "history")
    of = ("perturbed", "originals")
    fields = (Field("answers", "lines"), Field("unanswerable", "flag"))
    compares = "answers"
    rule: ClassVar[Mapping[str, Any]] = {"rule": "given"}
    measures = (Measure("answers", "nominal", lambda response: _normal_form(response)),)

    def prepare(self, example: Example, around: Surroundings) -> PreparedInputs | None:
        """Which contract made the example: figures are given for each of them."""
        return PreparedInputs({"contract": around.perturbation or ORIGINAL})

    def parse(self, data: object, item: Item) -> Response:
        sent = ResponseReader(data, self.fields)
        unanswerable, answers = sent.flag("unanswerable"), sent.answers("answers")
        sent.finish()
        if not answers and not unanswerable:
            message = gettext("Write the answer, or choose Unanswerable.")
            raise InvalidResponse.of("answers", "no_answer", message)
        return Response((), True) if unanswerable else Response(answers)

    def alike(self, response: Response, item: Item) -> Hashable:
        return _normal_form(response)

    def compare_to_gold(
        self, response: Response, item: Item
    ) -> tuple[Literal["equal", "slip", "other"], str]:
        name = difference_name(response, item)
        kind = _kind(name)
        return ("other" if kind in REAL else "slip" if kind in SLIPS else "equal"), name

    def merged(self, responses: Sequence[Response], item: Item, consensus: object) -> Response:
        """Of equal answers the one nearest to the given one as written, in any order of people."""
        return min(
            responses,
            key=lambda response: (
                difference_name(response, item),
                response.answers not in accepted(item.example.answers),
                response.answers,
            ),
        )

    def resolve_adjudicated(self, responses: Sequence[Response], item: Item) -> Resolution:
        """An adjudicator may find that the table answers otherwise than the given answer says; its name is the reason."""
        if all(response.unanswerable for response in responses):
            return Acceptance((), "unanswerable")
        first = responses[0].answers
        if any(
            candidate.unanswerable or not compare(candidate.answers, first).equal for candidate in responses
        ):
            return NeedsAdjudication("The responses differ. Choose one of them.")
        names = sorted(
            {
                name
                for candidate in responses
                if (name := difference_name(candidate, item)) and not _is_equal(candidate, item)
            }
        )
        outcome = Outcome(self.merged(responses, item, None), tuple(range(len(responses))))
        return Acceptance((outcome,), joined(map(word, names), ", "))

    def gold(self, response: Response, item: Item) -> Sequence[str] | None:
        """The blind answer: what an edited example is held against from then on."""
        return None if response.unanswerable else response.answers

    def describe(self, response: Response, item: Item) -> list[str]:
        """The answer and how it is to the given one. Only who decides reads this: an annotator never does."""
        answer_text = (
            "Unanswerable."
            if response.unanswerable
            else gettext("Answer: {answers}").format(answers=" | ".join(response.answers))
        )
        name = difference_name(response, item)
        difference = f"{gettext(DIFFERENCES[_kind(name)])} ({name})" if name else gettext("the same")
        message = gettext("Compared with the given answer, {value}: {words}.")
        return [
            answer_text,
            message.format(value=in_words(item.example.answers) or "none", words=difference),
        ]

    def for_author(self, response: Response, item: Item) -> list[str]:
        """Without the comparison: the given answer stays hidden from who checks it."""
        return self.describe(response, item)[:1]

    def feedback(self, item: Item, response: Response, expected: Response) -> tuple[bool, list[str]]:
        """Right is what `compare` calls equal to the expected answer; a difference is named, as feedback."""
        if response.unanswerable != expected.unanswerable:
            expected_text = (
                gettext("The question is unanswerable.")
                if expected.unanswerable
                else " | ".join(expected.answers)
            )
            return False, [gettext("Expected: {wanted}").format(wanted=expected_text)]
        comparison = compare(response.answers, expected.answers)
        if comparison.equal and comparison.difference is None:
            return True, []
        return comparison.equal, [
            gettext("Expected: {answers}").format(answers=" | ".join(expected.answers)),
            gettext("Your answer is {differences}.").format(
                differences=gettext(DIFFERENCES[comparison.difference or ""])
            ),
        ]

    def report(self, rows: Sequence[ReportedResponse]) -> list[Report]:
        """Each person's accuracy for each source and contract, and how often which difference was found."""
        accuracy: dict[tuple[str, str, str], list[bool]] = {}
        differences: Counter[tuple[str, str]] = Counter()
        totals: Counter[str] = Counter()
        for row in rows:
            contract = str(row.item.inputs.get("contract", ORIGINAL))
            accuracy.setdefault((row.annotator, row.source, contract), []).append(
                _is_equal(row.response, row.item)
            )
            totals[contract] += 1
            if name := difference_name(row.response, row.item):
                differences[contract, name] += 1
        people = []
        for (annotator, source, contract), right in sorted(accuracy.items()):
            share = proportion(sum(right), len(right))
            people.append((annotator, source, contract, share.n, share.hits, share))
        difference_rows = tuple(
            (name, contract, count, proportion(count, totals[contract]), _consequence(name))
            for (contract, name), count in sorted(
                differences.items(), key=lambda entry: (entry[0][1], entry[0][0])
            )
        )
        return [
            Report(
                gettext("Accuracy by person, source and contract"),
                ("Person", "Source", "Contract", "Answers", "Correct", "Accuracy"),
                tuple(people),
                gettext(
                    "Correct: equal to the given answer; format, unit, rounding and order do not "
                    "matter. 95 % CI: Wilson."
                ),
            ),
            Report(
                gettext("Differences from the given answer"),
                ("Difference", "Contract", "Answers", gettext("Share of all"), "Then"),
                difference_rows,
                gettext("Format, unit, rounding and order: the answers count as equal."),
            ),
        ]

    def export(
        self, format: str, item: Item, response: Response, perturbed: PerturbedExample | None
    ) -> Iterator[ReleaseRecord]:
        """Askew's own form: what was read off the table beside the given answer, and how they differ."""
        if format != "askew":
            return
        yield ReleaseRecord(
            self.key,
            {
                **askew_record(item.example),
                "contract": item.inputs.get("contract", ORIGINAL),
                "checked": list(response.answers),
                "equal": _is_equal(response, item),
                "difference": difference_name(response, item),
            },
        )

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> dict[str, Any]:
        """The given answer where it is known; blind, the cell that everybody takes for it. The others miss sign or cell."""
        cells = [cell for row in item.example.table.rows for cell in row if cell.strip()]
        if not cells and not item.example.answers:
            return {"answers": [], "unanswerable": True}
        right = list(item.example.answers) or [truth.choice(cells)]
        if rng.random() < accuracy:
            return {"answers": right, "unanswerable": False}
        if right[0][:1].isdigit() and rng.random() < 0.5:
            return {"answers": [f"-{right[0]}", *right[1:]], "unanswerable": False}
        return {"answers": [rng.choice(cells or right)], "unanswerable": False}


def difference_name(response: Response, item: Item) -> str:
    """How an answer differs from the given one: a name of `DIFFERENCES`, for another scale with its factor; "" if not."""
    if response.unanswerable:
        return "unanswerable" if item.example.answers else ""
    comparison = compare(response.answers, item.example.answers)
    return f"scale x{comparison.factor}" if comparison.difference == "scale" else comparison.difference or ""


def _kind(name: str) -> str:
    """The difference without its factor."""
    return name.partition(" ")[0]


def _is_equal(response: Response, item: Item) -> bool:
    if response.unanswerable:
        return not item.example.answers
    return compare(response.answers, item.example.answers).equal


def _consequence(name: str) -> str:
    kind = _kind(name)
    if kind in REAL:
        return "adjudication"
    return "decided if a response gives it" if kind in SLIPS else "equal"


def _normal_form(response: Response) -> str:
    """What two people must have in common to agree: a set of answers, numbers by value, texts but for case and blanks."""
    if response.unanswerable:
        return "unanswerable"
    return "\n".join(sorted({_plain(answer) for answer in response.answers}))


def _plain(answer: str) -> str:
    number = number_of(answer)
    return fold(answer).casefold() if number is None else f"{number.value.normalize():f}"


task = AnswerCheck()
