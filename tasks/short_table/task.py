"""Shorten the table to the rows and columns that the question works on. (FREB-TQA 3.5, step 1)"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tableqa import Example, Table
from tableqa.answers import compare, normal_forms
from tableqa.canonical import thaw
from tableqa.contracts import Contract, check
from tableqa.evidence import CellRef, cells_in, evidence, in_order
from tableqa.executable import cells_read, computed, confirmed, entry, in_words, is_program, offered, posted
from tableqa.operations import (
    MAX_OPERATIONS,
    Operation,
    OperationError,
    describe,
    from_dict,
    normalise,
    replay,
)
from tableqa.programs import ProgramError
from tableqa.shortening import first_cut
from tableqa.writers.askew import askew_record
from tableqa.writers.freb_tqa import freb_example
from tasks.contract import (
    CONTRACT_SETTING,
    Accepted,
    Adjudicate,
    Context,
    Exported,
    Field,
    Invalid,
    Item,
    Outcome,
    Perturbed,
    Prepared,
    Problem,
    Resolution,
    Surroundings,
    TaskType,
)

FIELDS = {"unanswerable", "whole", "operations", "program"}


@dataclass(frozen=True)
class Response:
    """Rows and columns to leave out; or the word that the whole table is needed, or that it gives no answer.

    `program` is how the answer follows: the JSON of a confirmed program, `tableqa.executable.NONE` where none of the
    offered ones was right, None where nobody said.
    """

    unanswerable: bool
    whole: bool = False
    operations: tuple[Operation, ...] = ()
    program: Mapping[str, Any] | None = None


class ShortTable(TaskType):
    """A table without the rows and columns that the question does not need.

    An untouched table is accepted only where somebody says that every row and column is needed: a table that
    was merely not looked at would look the same. It makes no new example, for there is none; what
    follows the batch goes on with the table as it is.
    """

    key = "short_table"
    title = "Shortened table"
    response_type = Response
    making = True
    shows = ("question", "table", "titles", "answers", "context", "history", "evidence", "program")
    fields = (
        Field("operations", "operations"),
        Field("program", "json"),
        Field("whole", "flag"),
        Field("unanswerable", "flag"),
    )
    grid = "structure"
    settings_schema = {
        "type": "object",
        "properties": {
            "protect_evidence": {
                "type": "boolean",
                "default": True,
                "title": "Protect the marked cells",
                "description": "Rows and columns with a marked cell cannot be left out. Cells that only a model "
                "pointed at are never protected.",
            },
            "contract": CONTRACT_SETTING,
        },
        "additionalProperties": False,
    }

    def prepare(self, example: Example, around: Surroundings) -> Prepared:
        """Freezes the evidence, whether it protects, and the program that the example has already."""
        inputs: dict[str, Any] = {}
        found = evidence(example, around.decided.get("relevant_cells", ()))
        guess = found or evidence(example, (), around.model_answers.get("cells", ()))
        if guess is not None:
            inputs["evidence"] = guess.to_dict()
            inputs["protects"] = found is not None
        if example.program is not None:
            inputs["program"] = entry(example.program, example.table)
        return Prepared(inputs)

    def contract(self, item: Item) -> Contract:
        protected = set(cells_read(item.example.program, item.example.table))
        if item.settings.get("protect_evidence", True) and item.inputs.get("protects"):
            protected.update(marked(item))
        own = Contract(
            table="differs",
            answer="stays",
            allowed=("remove_row", "remove_column"),
            protected=in_order(item.example.table, protected),
            cell_format="ignore",
        )
        return own.overridden(item.settings.get("contract"))

    def parse(self, data: object, item: Item) -> Response:
        response = self._shape(data, item)
        if response.unanswerable:
            return Response(unanswerable=True)
        if response.whole:
            if response.operations:
                message = (
                    "You say that the whole table is needed, and yet something is left out. Put it back, or "
                    "take that word back."
                )
                raise Invalid([Problem("whole", "whole_but_shortened", message)])
            return Response(False, True, (), response.program)
        try:
            operations = tuple(normalise(response.operations, item.example.table))
            short = replay(item.example.table, operations)
        except OperationError as error:
            raise Invalid([Problem("operations", error.code, str(error))]) from None
        edited = dataclasses.replace(item.example, table=short)
        problems = [
            Problem("operations", violation.code, violation.message, violation.level)
            for violation in check(self.contract(item), item.example, edited, operations)
        ]
        problems += _what_is_missing(response.program, item, short)
        if any(problem.level == "error" for problem in problems):
            raise Invalid(problems)
        return Response(False, False, operations, response.program)

    def _shape(self, data: object, item: Item) -> Response:
        """The response as it was sent, types checked and nothing judged yet but the program."""
        if not isinstance(data, Mapping):
            raise Invalid([Problem("", "bad_response", "The response must be an object.")])
        problems = [
            Problem(str(name), "unknown_field", f"There is no field {str(name)!r}.")
            for name in sorted(data.keys() - FIELDS, key=str)
        ]
        problems += [
            Problem(name, "wrong_type", "This field is true or false.")
            for name in ("unanswerable", "whole")
            if not isinstance(data.get(name, False), bool)
        ]
        raw = data.get("operations", [])
        operations: list[Operation] = []
        if not isinstance(raw, list) or len(raw) > MAX_OPERATIONS:
            message = f"Operations are a list of at most {MAX_OPERATIONS}."
            problems.append(Problem("operations", "wrong_type", message))
        else:
            for index, entry in enumerate(raw):
                try:
                    operations.append(from_dict(entry))
                except OperationError as error:
                    problems.append(Problem(f"operations.{index}", error.code, str(error)))
                    break
        program = None
        try:
            program = confirmed(data.get("program"), item.example)
        except ProgramError as error:
            problems.append(Problem("program", error.code, error.message))
        if problems:
            raise Invalid(problems)
        return Response(data.get("unanswerable", False), data.get("whole", False), tuple(operations), program)

    def form_data(self, post: Mapping[str, str], draft: Mapping[str, Any]) -> dict[str, Any]:
        data = super().form_data(post, draft)
        return {**data, "program": posted(post.get("program"), data["program"])}

    def suggest(self, item: Item, context: Context) -> dict[str, Any] | None:
        """A first cut from the evidence, and the programs that the answer may follow by."""
        cells = marked(item) or cells_read(item.example.program, item.example.table)
        cut = first_cut(item.example.table, cells)
        return {**offered(item.example, marked(item)), "cut": [operation.to_dict() for operation in cut]}

    def preview(self, data: object, item: Item) -> dict[str, Any] | None:
        """What the confirmed program gives on the shortened table: it should still be the answer."""
        before = list(item.example.answers)
        found = {"before": before, "after": before, "program": None, "computed": None, "problem": ""}
        try:
            response = self._shape(data, item)
            short = replay(item.example.table, normalise(response.operations, item.example.table))
        except (Invalid, OperationError):
            return found
        if response.program is None or not is_program(response.program):
            return found
        result = computed(response.program, short)
        words = in_words(response.program, item.example.table)
        if isinstance(result, ProgramError):
            return {**found, "program": words, "problem": result.message}
        return {**found, "program": words, "computed": list(result)}

    def perturb(self, item: Item, response: Response) -> Perturbed | None:
        if response.unanswerable or response.whole:
            return None
        short = dataclasses.replace(
            item.example,
            table=replay(item.example.table, response.operations),
            program=_program(response, item),
        )
        return Perturbed(short, response.operations)

    def resolve(self, responses: Sequence[Response], item: Item) -> Resolution:
        """Every shortened table stands on its own; different words about the table are for an adjudicator."""
        kinds = {(response.unanswerable, response.whole) for response in responses}
        if len(kinds) > 1:
            return Adjudicate(
                "People differ on whether the table can be shortened, or answers the question at all."
            )
        if responses[0].unanswerable:
            return Accepted((), "unanswerable")
        if responses[0].whole:
            first = min(responses, key=lambda response: repr(response.program))
            by = tuple(index for index, response in enumerate(responses) if response == first)
            return Accepted((Outcome(first, by),))
        return Accepted(tuple(Outcome(response, (index,)) for index, response in enumerate(responses)))

    def describe(self, response: Response, item: Item) -> list[str]:
        if response.unanswerable:
            return ["Unanswerable."]
        table = item.example.table
        lines = [describe(operation, table) for operation in response.operations]
        if response.whole:
            lines = ["Every row and column is needed."]
        words = in_words(response.program, table)
        return lines + ([f"How the answer follows: {words}"] if words else [])

    def feedback(self, item: Item, response: Response, expected: Response) -> tuple[bool, list[str]]:
        """As good as expected is who keeps what is needed; what could have gone as well is said."""
        if (response.unanswerable, response.whole) != (expected.unanswerable, expected.whole):
            return False, ["Expected:", *self.describe(expected, item)]
        table = item.example.table
        mine, theirs = (replay(table, one.operations) for one in (response, expected))
        needed, more = _what_only(table, theirs, mine), _what_only(table, mine, theirs)
        words = [f"Needed after all: {', '.join(needed)}."] if needed else []
        return not needed, words + ([f"Could go as well: {', '.join(more)}."] if more else [])

    def export(
        self, format: str, item: Item, response: Response, perturbed: Perturbed | None
    ) -> Iterator[Exported]:
        """FREB-TQA's part 3: the original and the shortened table under one id."""
        if response.unanswerable:
            return
        short = item.example if perturbed is None else perturbed.example
        if format == "freb_tqa":
            part = "03_agg_com/{reader}_nonfactoid_{split}_no_shuffle_"
            yield Exported(part + "ori_table", freb_example(item.example))
            yield Exported(part + "short_table", freb_example(short))
        elif format == "askew":
            record = {
                **askew_record(short),
                "operations": [operation.to_dict() for operation in response.operations],
                "whole": response.whole,
                "program": thaw(_program(response, item)),
            }
            yield Exported("short_table", record)

    def simulate(
        self, item: Item, rng: random.Random, accuracy: float, truth: random.Random
    ) -> dict[str, Any]:
        """Cuts down to the evidence, or to what holds the answer; a careless person leaves too much."""
        data: dict[str, Any] = {"unanswerable": False, "whole": False, "operations": [], "program": None}
        table = item.example.table
        shown = item.inputs.get("program", {}).get("program")
        wanted = {*marked(item), *cells_read(shown, table)}
        operations = first_cut(table, wanted or _with_answer(table, item.example.answers))
        if not operations:
            return {**data, "whole": True}
        if rng.random() > accuracy:
            operations = operations[: rng.randint(1, len(operations))]
        return {**data, "operations": [operation.to_dict() for operation in operations]}


def marked(item: Item) -> tuple[CellRef, ...]:
    """The evidence of the item, in the order of its table."""
    return cells_in(item.example.table, item.inputs.get("evidence", {}).get("cells"))


def _program(response: Response, item: Item) -> Mapping[str, Any] | None:
    """The program that the shortened example has: the confirmed one, else its own unless that was turned down."""
    if response.program is None:
        return item.example.program
    return response.program if is_program(response.program) else None


def _what_is_missing(program: Mapping[str, Any] | None, item: Item, short: Table) -> list[Problem]:
    """What a confirmed program reads must be left, and it must still give the answer."""
    if program is None or not is_program(program):
        return []
    base = item.example.table
    gone = [
        cell
        for cell in cells_read(program, base)
        if cell[1] not in short.column_ids or (cell[0] in base.row_ids and cell[0] not in short.row_ids)
    ]
    if gone:
        row, column = gone[0]
        place = f"column {base.column_index(column) + 1}"
        where = f"row {base.row_index(row) + 1}, {place}" if row in base.row_ids else f"the header, {place}"
        more = f" ({len(gone) - 1} more of its cells, too)" if len(gone) > 1 else ""
        message = f"The program reads {where}, which is left out{more}. Put it back."
        return [Problem("operations", "protected_cell", message)]
    result = computed(program, short)
    if isinstance(result, ProgramError):
        found = result.message
    elif compare(result, item.example.answers).equal:
        return []
    else:
        found = f"It gives {' | '.join(result)} now."
    message = f"The program no longer gives the answer. {found} Put back what it needs."
    return [Problem("operations", "computed_answer_differs", message)]


def _what_only(table: Table, one: Table, other: Table) -> list[str]:
    """Rows and columns that only the first of two shortened tables has, by their numbers."""
    rows = [f"row {table.row_index(id) + 1}" for id in one.row_ids if id not in other.row_ids]
    columns = [f"column {table.column_index(id) + 1}" for id in one.column_ids if id not in other.column_ids]
    return rows + columns


def _with_answer(table: Table, answers: Sequence[str]) -> list[CellRef]:
    wanted = {form for answer in answers for form in normal_forms(answer)}
    return [
        (row, column)
        for row, cells in zip(table.row_ids, table.rows, strict=True)
        for column, text in zip(table.column_ids, cells, strict=True)
        if text.strip() and not wanted.isdisjoint(normal_forms(text))
    ]


task = ShortTable()
