"""Change one or two values so that the answer changes, or so that it stays. (FREB-TQA 3.5)"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tableqa import Example
from tableqa.contracts import Contract, check
from tableqa.operations import Operation, OperationError, SetCell, describe, from_dict, normalise, replay
from tableqa.writers.freb_tqa import freb_example
from tasks.contract import (
    Accepted,
    Adjudicate,
    Exported,
    Field,
    Invalid,
    Item,
    Outcome,
    Perturbed,
    Problem,
    Resolution,
    TaskType,
)

FIELDS = {"unanswerable", "operations", "answers", "reason"}
MOST_OPERATIONS = 500
MOST_ANSWERS = 200
LONGEST_TEXT = 2_000


@dataclass(frozen=True)
class Response:
    """Net operations on the base table with the answer they lead to, or `unanswerable` and nothing else.

    `answers` is empty for a change that keeps the answer; `reason` says why more operations than
    the contract asks for were needed.
    """

    unanswerable: bool
    operations: tuple[Operation, ...] = ()
    answers: tuple[str, ...] = ()
    reason: str = ""


class ValueChange(TaskType):
    """An edit of one or two values under a contract, or the word that the question is unanswerable."""

    key = "value_change"
    title = "Value change"
    response_type = Response
    making = True
    variants = {
        "answer_changes": "Change one or two values so that the answer changes",
        "answer_stays": "Change one or two values so that the answer stays the same",
    }
    shows = ("question", "table", "titles", "answers", "context", "history")
    fields = (
        Field("operations", "operations"),
        Field("answers", "lines"),
        Field("reason", "text"),
        Field("unanswerable", "flag"),
    )
    settings_schema = {
        "type": "object",
        "properties": {
            "at_most": {
                "type": "integer",
                "minimum": 1,
                "maximum": 100,
                "default": 2,
                "title": "Changes at most",
                "description": "More are possible with a stated reason.",
            },
            "cell_format": {
                "enum": ["warn", "require", "ignore"],
                "default": "warn",
                "title": "The form of a column",
                "description": "What happens when a new value is written unlike its column (1,234 or 12 %).",
            },
        },
        "additionalProperties": False,
    }

    def contract(self, item: Item) -> Contract:
        return Contract(
            table="differs",
            answer="changes" if item.variant == "answer_changes" else "stays",
            at_most=item.settings.get("at_most", 2),
            more_with_reason=True,
            allowed=("set_cell", "remove_row", "insert_row"),
            cell_format=item.settings.get("cell_format", "warn"),
        )

    def parse(self, data: object, item: Item) -> Response:
        response = self._shape(data)
        if response.unanswerable:
            return Response(unanswerable=True)
        try:
            operations = tuple(normalise(response.operations, item.example.table))
            edited = dataclasses.replace(item.example, table=replay(item.example.table, operations))
        except OperationError as error:
            raise Invalid([Problem("operations", error.code, str(error))]) from None
        answers = response.answers if item.variant == "answer_changes" else ()
        if item.variant == "answer_changes":
            edited = dataclasses.replace(edited, answers=answers)
        problems = [
            Problem("answers" if "answer" in v.code else "operations", v.code, v.message, v.level)
            for v in check(self.contract(item), item.example, edited, operations, reason=response.reason)
        ]
        if item.variant == "answer_changes" and not answers:
            problems = [p for p in problems if p.path != "answers"]
            problems.append(Problem("answers", "no_answer", "Write the answer that the changed table gives."))
        if any(problem.level == "error" for problem in problems):
            raise Invalid(problems)
        return Response(False, operations, answers, response.reason)

    def _shape(self, data: object) -> Response:
        """The response as it was sent, types checked and nothing judged yet."""
        if not isinstance(data, Mapping):
            raise Invalid([Problem("", "bad_response", "The response must be an object.")])
        problems = [
            Problem(str(name), "unknown_field", f"There is no field {str(name)!r}.")
            for name in sorted(data.keys() - FIELDS, key=str)
        ]
        unanswerable = data.get("unanswerable", False)
        if not isinstance(unanswerable, bool):
            problems.append(Problem("unanswerable", "wrong_type", "This field is true or false."))
        answers = data.get("answers", [])
        if (
            not isinstance(answers, list)
            or len(answers) > MOST_ANSWERS
            or not all(_is_text(a) for a in answers)
        ):
            problems.append(
                Problem("answers", "wrong_type", f"Answers are a list of at most {MOST_ANSWERS} texts.")
            )
        reason = data.get("reason", "")
        if not _is_text(reason):
            message = f"The reason is a text of at most {LONGEST_TEXT} characters."
            problems.append(Problem("reason", "wrong_type", message))
        raw = data.get("operations", [])
        operations: list[Operation] = []
        if not isinstance(raw, list) or len(raw) > MOST_OPERATIONS:
            message = f"Operations are a list of at most {MOST_OPERATIONS}."
            problems.append(Problem("operations", "wrong_type", message))
        else:
            for index, entry in enumerate(raw):
                try:
                    operations.append(from_dict(entry))
                except OperationError as error:
                    problems.append(Problem(f"operations.{index}", error.code, str(error)))
        if problems:
            raise Invalid(problems)
        stripped = tuple(answer.strip() for answer in answers if answer.strip())
        return Response(bool(unanswerable), tuple(operations), stripped, reason.strip())

    def preview(self, data: object, item: Item) -> dict[str, Any]:
        before = list(item.example.answers)
        try:
            answers = list(self._shape(data).answers)
        except Invalid:
            answers = []
        after = before if item.variant == "answer_stays" else answers or None
        return {"before": before, "after": after, "program": None}

    def perturb(self, item: Item, response: Response) -> Perturbed | None:
        if response.unanswerable:
            return None
        return Perturbed(edited_example(item.example, response), response.operations)

    def resolve(self, responses: Sequence[Response], item: Item) -> Resolution:
        """Every valid edit stands on its own; edits beside an `unanswerable` are for an adjudicator."""
        edits = [index for index, response in enumerate(responses) if not response.unanswerable]
        if not edits:
            return Accepted((), "unanswerable")
        if len(edits) < len(responses):
            return Adjudicate("Somebody edited the table, somebody else calls the question unanswerable.")
        return Accepted(tuple(Outcome(responses[index], (index,)) for index in edits))

    def describe(self, response: Response, item: Item) -> list[str]:
        if response.unanswerable:
            return ["Unanswerable."]
        lines = [describe(operation, item.example.table) for operation in response.operations]
        if item.variant == "answer_changes":
            lines.append(f"New answer: {' | '.join(response.answers)}")
        return lines + ([f"Reason for more changes: {response.reason}"] if response.reason else [])

    def export(
        self, format: str, item: Item, response: Response, perturbed: Perturbed | None
    ) -> Iterator[Exported]:
        """FREB-TQA's part 3: the original beside the changed table, under one id."""
        if format != "freb_tqa" or perturbed is None:
            return
        part = "03_agg_com/{reader}_nonfactoid_{split}_no_shuffle_"
        side = "ans_change" if item.variant == "answer_changes" else "ans_no_change"
        yield Exported(part + "ori_table", freb_example(item.example))
        yield Exported(part + side, freb_example(perturbed.example))

    def simulate(
        self, item: Item, rng: random.Random, accuracy: float, truth: random.Random
    ) -> dict[str, Any]:
        """Edits one cell; a careless person forgets the new answer's difference and calls it unanswerable."""
        table = item.example.table
        if not table.rows or rng.random() > accuracy:
            return {"unanswerable": True, "operations": [], "answers": [], "reason": ""}
        row, column = rng.randrange(len(table.rows)), rng.randrange(len(table.header))
        old = table.rows[row][column]
        new = str(int(old) + rng.randint(1, 9)) if old.isascii() and old.isdigit() else f"{old} II".strip()
        operation = SetCell(
            row=table.row_ids[row], column=table.column_ids[column], at=(row, column), old=old, new=new
        )
        answers = [f"{item.example.answers[0]} II"] if item.variant == "answer_changes" else []
        return {"unanswerable": False, "operations": [operation.to_dict()], "answers": answers, "reason": ""}


def edited_example(example: Example, response: Response) -> Example:
    """The example after the edit: the replayed table and, where it changed, the new answer as its gold."""
    return dataclasses.replace(
        example,
        table=replay(example.table, response.operations),
        answers=response.answers or example.answers,
        program=None,
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT


task = ValueChange()
