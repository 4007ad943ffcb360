"""Keep the rows and columns that the question needs."""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from tableqa import Example, Table
from tableqa.cells import number_of
from tableqa.core.canonical_json import thaw
from tableqa.core.translation import gettext, gettext_noop
from tableqa.operations import Operation, OperationError, describe, normalise, replay
from tableqa.perturbations.contracts import Contract, cell_place, check
from tableqa.perturbations.short_tables import first_cut
from tableqa.programs import ProgramError
from tableqa.programs.evidence import CellRef, evidence, in_order
from tableqa.programs.executable_answers import (
    cells_read,
    offered_programs,
    program_entry,
    read_posted_program,
)
from tableqa.writers.askew import askew_record
from tableqa.writers.freb_tqa import freb_example
from tasks.contract import (
    CONTRACT_SETTING,
    Context,
    Field,
    InvalidResponse,
    Item,
    MakingTask,
    PerturbedExample,
    PreparedInputs,
    PreparingTask,
    Problem,
    ReleaseRecord,
    SuggestingTask,
    Surroundings,
)
from tasks.shared.answer_programs import (
    Program,
    answers_agree,
    cells_with_answer,
    effective_program,
    marked_cells,
    program_lines,
    program_preview,
    replay_response,
    run_program,
)
from tasks.shared.response_parts import ResponseReader

ONLY: dict[tuple[str, ...], str] = {
    ("remove_row",): gettext_noop("Remove rows the question does not need"),
    ("remove_column",): gettext_noop("Remove columns the question does not need"),
}
"""Instructions where only one operation is allowed."""


@dataclass(frozen=True)
class Response:
    """Rows and columns to leave out; or the word that the whole table is needed, or that it gives no answer.

    `program` is how the answer follows: the JSON of a confirmed program, `tableqa.programs.executable_answers.NONE`
    where none of the offered ones was right, None without a choice. `worked_out` says that the answer is no cell of the
    table, where it looks as if its cell were left out.
    """

    unanswerable: bool
    whole: bool = False
    operations: tuple[Operation, ...] = ()
    program: Mapping[str, Any] | None = None
    worked_out: bool = False


class ShortTable(MakingTask, PreparingTask, SuggestingTask):
    """A table without the rows and columns that the question does not need.

    An untouched table is accepted only where a person says that every row and column is needed: a table that
    was merely not looked at would look the same. It makes no new example, for there is none; what
    follows the batch continues with the table as it is.
    """

    key = "short_table"
    version = 2
    title = gettext_noop("Short table")
    step = "evidence"
    paper = "FREB-TQA (NAACL 2024) § 3.5"
    instruction = gettext_noop("Remove rows and columns the question does not need")
    response_type = Response
    shows = ("question", "table", "titles", "answers", "context", "history", "evidence", "program")
    fields = (
        Field("operations", "operations"),
        Field("program", "json", shape="program"),
        Field(
            "worked_out",
            "flag",
            note="`worked_out`: no cell of the table is the answer (asked if its cell seems to be removed)",
        ),
        Field("whole", "flag", note="`whole`: the table needs no shortening"),
        Field("unanswerable", "flag"),
    )
    grid = "structure"
    compares = "edits"
    rule: ClassVar[Mapping[str, Any]] = {"rule": "each"}
    excludes: ClassVar[Mapping[str, str]] = {"unanswerable": "unanswerable"}
    settings = {
        "protect_evidence": {
            "type": "boolean",
            "default": True,
            "title": gettext_noop("Protect marked cells"),
            "description": gettext_noop(
                "Rows and columns with a marked cell cannot be removed. Cells marked only by a "
                "model are never protected."
            ),
        },
        "answer_gone": {
            "enum": ["require", "warn", "ignore"],
            "default": "require",
            "title": gettext_noop("Answer no longer in any cell"),
            "description": gettext_noop(
                "What happens if the answer cell is removed and no program confirms the answer. "
                "require: the annotator must confirm that it is worked out. warn: a warning."
            ),
        },
        "contract": CONTRACT_SETTING,
    }

    def instruct(self, item: Item, *, has_model: bool = False) -> str:
        """Names rows or columns alone where the batch's contract allows only these."""
        allowed = self.contract(item).allowed or ()
        return gettext(ONLY.get(allowed, self.instruction))

    def prepare(self, example: Example, around: Surroundings) -> PreparedInputs:
        """Freezes the evidence, whether it protects, and the program that comes with the example."""
        inputs: dict[str, Any] = {}
        people = around.decided.get("relevant_cells", ())
        evidence_cells = evidence(example, people, around.model_answers.get("cells", ()))
        if evidence_cells is not None:
            inputs["evidence"] = evidence_cells.to_dict()
            # What the program reads is protected while it counts (`contract`), and not as evidence.
            inputs["protects"] = evidence(example, people, program=False) is not None
        if (own := effective_program(None, example)) is not None:
            inputs["program"] = program_entry(own, example.table)
        return PreparedInputs(inputs)

    def contract(self, item: Item) -> Contract:
        """What holds before any person has said anything: what the example's own program reads must stay."""
        return self._contract(item, effective_program(None, item.example))

    def payload(self, item: Item) -> dict[str, Any]:
        """What the page shows; with the program, the cells that it alone guards: free once a person turns it down."""
        payload = super().payload(item)
        if "program" in payload:
            protected_cells = set(self._contract(item, None).protected)
            guards = [cell for cell in self.contract(item).protected if cell not in protected_cells]
            payload["program"] = {**payload["program"], "guards": guards}
        return payload

    def _contract(self, item: Item, program: Program | None) -> Contract:
        protected = set(cells_read(program, item.example.table))
        if item.settings.get("protect_evidence", True) and item.inputs.get("protects"):
            protected.update(marked_cells(item))
        own = Contract(
            table="differs",
            answer="stays",
            allowed=("remove_row", "remove_column"),
            protected=in_order(item.example.table, protected),
            cell_format="ignore",
        )
        return own.overridden(item.settings.get("contract"))

    def parse(self, data: object, item: Item) -> Response:
        response = self._read_fields(data, item)
        if response.unanswerable:
            return Response(unanswerable=True)
        if response.whole:
            if response.operations:
                message = gettext(
                    "“The whole table is needed” is ticked, but something is removed. Restore it, or "
                    "untick the box."
                )
                raise InvalidResponse.of("whole", "whole_but_shortened", message)
            return Response(False, True, (), response.program)
        operations, short = replay_response(response.operations, item.example.table)
        edited = dataclasses.replace(item.example, table=short)
        program = effective_program(response.program, item.example)
        # A program that a person chose has its own message (`_check_program_cells`).
        contract = self._contract(item, program if response.program is None else None)
        problems = [
            Problem("operations", violation.code, violation.message, violation.level)
            for violation in check(contract, item.example, edited, operations)
        ]
        problems += _check_program_cells(program, item, short, contract.protected)
        vanished = _check_answer_cells(response.program, item, short)
        problems += [] if response.worked_out else vanished
        if any(problem.level == "error" for problem in problems):
            raise InvalidResponse(problems)
        worked_out = response.worked_out and bool(vanished)
        return Response(False, False, operations, response.program, worked_out)

    def _read_fields(self, data: object, item: Item) -> Response:
        """The response as it was sent, types checked and nothing judged yet but the program."""
        sent = ResponseReader(data, self.fields)
        response = Response(
            unanswerable=sent.flag("unanswerable"),
            whole=sent.flag("whole"),
            operations=sent.operations("operations", self._contract(item, None).allowed),
            program=sent.program("program", item.example),
            worked_out=sent.flag("worked_out"),
        )
        sent.finish()
        return response

    def warnings(self, response: Response, item: Item) -> Sequence[Problem]:
        """An answer that is in no cell any more, where that stops no submission."""
        if response.unanswerable or response.whole or response.worked_out:
            return ()
        return _check_answer_cells(response.program, item, replay(item.example.table, response.operations))

    def unmet(self, response: Response, item: Item) -> Sequence[Problem]:
        """Without marked cells and without a program nothing shows that the answer can still be found."""
        if response.unanswerable or response.whole or self._contract(item, None).protected:
            return ()
        if effective_program(response.program, item.example) is not None:
            return ()
        message = gettext(
            "No cells are marked and no program is chosen, so the answer cannot be checked. Choose a program."
        )
        return (Problem("program", "nothing_to_check_against", message, "warning"),)

    def explains(self, response: Response) -> bool:
        """A response that says the answer is worked out explains why no cell shows it."""
        return response.worked_out

    def upgrade(self, data: Mapping[str, Any], from_version: int) -> Mapping[str, Any]:
        """Version 1 had no word for an answer that is worked out: it was not asked for."""
        return {**data, "worked_out": True}

    def form_data(self, post: Mapping[str, str], draft: Mapping[str, Any]) -> dict[str, Any]:
        data = super().form_data(post, draft)
        return {**data, "program": read_posted_program(post.get("program"), data["program"])}

    def suggest(self, item: Item, context: Context) -> dict[str, Any] | None:
        """A first cut from the evidence, and the programs that the answer may follow by."""
        cells = marked_cells(item) or cells_read(effective_program(None, item.example), item.example.table)
        cut = first_cut(item.example.table, cells)
        return {
            **offered_programs(item.example, marked_cells(item)),
            "cut": [operation.to_dict() for operation in cut],
        }

    def preview(self, data: object, item: Item) -> dict[str, Any] | None:
        """What the confirmed program gives on the shortened table: it should still be the answer."""
        try:
            response = self._read_fields(data, item)
            short = replay(item.example.table, normalise(response.operations, item.example.table))
        except (InvalidResponse, OperationError):
            return {**program_preview(None, item.example, None), "after": list(item.example.answers)}
        preview = program_preview(effective_program(response.program, item.example), item.example, short)
        return {**preview, "after": preview["before"]}

    def perturb(self, item: Item, response: Response) -> PerturbedExample | None:
        if response.unanswerable or response.whole:
            return None
        short = dataclasses.replace(
            item.example,
            table=replay(item.example.table, response.operations),
            program=effective_program(response.program, item.example),
        )
        return PerturbedExample(short, response.operations)

    def word(self, response: Response) -> str:
        if response.unanswerable:
            return "unanswerable"
        return "whole" if response.whole else ""

    def describe(self, response: Response, item: Item) -> list[str]:
        if response.unanswerable:
            return [gettext("Unanswerable.")]
        table = item.example.table
        lines = [describe(operation, table) for operation in response.operations]
        if response.whole:
            lines = [gettext("Every row and column is needed.")]
        lines += program_lines(response.program, item.example)
        return lines + (
            [gettext("The answer is worked out, not read from a cell.")] if response.worked_out else []
        )

    def feedback(self, item: Item, response: Response, expected: Response) -> tuple[bool, list[str]]:
        """As good as expected is who keeps what is needed; what else could be removed is listed."""
        if (response.unanswerable, response.whole) != (expected.unanswerable, expected.whole):
            return False, ["Expected:", *self.describe(expected, item)]
        table = item.example.table
        mine, theirs = (replay(table, candidate.operations) for candidate in (response, expected))
        needed, more = _lines_only_in_first(table, theirs, mine), _lines_only_in_first(table, mine, theirs)
        lines = [gettext("Still needed: {needed}.").format(needed=", ".join(needed))] if needed else []
        return not needed, lines + (
            [gettext("Could also be removed: {more}.").format(more=", ".join(more))] if more else []
        )

    def export(
        self, format: str, item: Item, response: Response, perturbed: PerturbedExample | None
    ) -> Iterator[ReleaseRecord]:
        """FREB-TQA's part 3: the original and the shortened table under one id."""
        if response.unanswerable:
            return
        short = item.example if perturbed is None else perturbed.example
        if format == "freb_tqa":
            part = "03_agg_com/{reader}_nonfactoid_{split}_no_shuffle_"
            yield ReleaseRecord(part + "ori_table", freb_example(item.example), is_of_shown=True)
            yield ReleaseRecord(part + "short_table", freb_example(short))
        elif format == "askew":
            record = {
                **askew_record(short),
                "operations": [operation.to_dict() for operation in response.operations],
                "whole": response.whole,
                "program": thaw(response.program or effective_program(None, item.example)),
            }
            yield ReleaseRecord("short_table", record)

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> dict[str, Any]:
        """Cuts down to the evidence, or to what holds the answer; a careless person leaves too much."""
        data: dict[str, Any] = {"unanswerable": False, "whole": False, "operations": [], "program": None}
        table = item.example.table
        program = item.inputs.get("program", {}).get("program")
        needed_cells = {*marked_cells(item), *cells_read(program, table)}
        operations = first_cut(table, needed_cells or cells_with_answer(table, item.example.answers))
        if not operations:
            return {**data, "whole": True}
        if rng.random() > accuracy:
            operations = operations[: rng.randint(1, len(operations))]
        return {**data, "operations": [operation.to_dict() for operation in operations]}


def _check_program_cells(
    program: Program | None, item: Item, short: Table, reported_cells: Collection[CellRef]
) -> list[Problem]:
    """What the program that counts reads must be left, and it must still give the answer; `reported_cells` receives
    elsewhere."""
    base, problems = item.example.table, []
    gone = [
        cell
        for cell in cells_read(program, base)
        if not _is_left(cell, base, short) and cell not in reported_cells
    ]
    if gone:
        more = (
            gettext(" (and {value} more of its cells)").format(value=len(gone) - 1) if len(gone) > 1 else ""
        )
        message = gettext("The program needs {cell_place}, which is removed{more}. Restore it.").format(
            cell_place=cell_place(base, *gone[0]), more=more
        )
        problems.append(Problem("operations", "protected_cell", message))
    result = run_program(program, short)
    if isinstance(result, ProgramError) or not answers_agree(result, item.example.answers):
        computed = "nothing" if isinstance(result, ProgramError) else " | ".join(result or ())
        message = gettext("The program now gives {found}. Restore the cells it needs.").format(found=computed)
        problems.append(Problem("operations", "computed_answer_differs", message))
    return problems


def _check_answer_cells(confirmed_program: Program | None, item: Item, short: Table) -> list[Problem]:
    """An answer that was in a cell of the table and is in none of what is left, where no program speaks for it.

    The statement that the answer is worked out is believed. Where it is likely, it is not required, and it is only
    pointed out: the answer may be a count, which is in some cell by chance, or cells are marked and protected,
    which the answer is made of.
    """
    rule, base = item.settings.get("answer_gone", "require"), item.example.table
    if rule == "ignore" or effective_program(confirmed_program, item.example) is not None:
        return []
    protects = (
        item.settings.get("protect_evidence", True) and item.inputs.get("protects") and marked_cells(item)
    )
    for answer in item.example.answers:
        cells = cells_with_answer(base, [answer], header=True)
        if cells and not any(_is_left(cell, base, short) for cell in cells):
            message = gettext(
                "The answer “{answer}” was in {cell_place} and is in no remaining cell. Restore it, "
                "or tick “The answer is worked out”."
            ).format(answer=answer, cell_place=cell_place(base, *cells[0]))
            believed = rule == "warn" or protects or _may_count_rows(answer, base)
            return [Problem("worked_out", "answer_gone", message, "warning" if believed else "error")]
    return []


def _may_count_rows(answer: str, table: Table) -> bool:
    number = number_of(answer)
    if number is None or number.value != number.value.to_integral_value():
        return False
    return 0 <= number.value <= len(table.rows)


def _is_left(cell: CellRef, base: Table, short: Table) -> bool:
    row, column = cell
    return column in short.column_ids and (short.has_row(row) or not base.has_row(row))


def _lines_only_in_first(table: Table, first: Table, other: Table) -> list[str]:
    """Rows and columns that only the first of two shortened tables has, by their numbers."""
    rows = [
        gettext("row {value}").format(value=table.row_index(id) + 1)
        for id in first.row_ids
        if not other.has_row(id)
    ]
    columns = [
        gettext("column {value}").format(value=table.column_index(id) + 1)
        for id in first.column_ids
        if id not in other.column_ids
    ]
    return rows + columns


task = ShortTable()
