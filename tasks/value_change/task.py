"""Change one or two values so that the answer changes, or stays the same."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Literal

from tableqa import Example, Table
from tableqa.core.canonical_json import thaw
from tableqa.core.translation import gettext, gettext_noop
from tableqa.data.answers import compare
from tableqa.operations import Operation, OperationError, RemoveRow, SetCell, describe, normalise, replay
from tableqa.perturbations.contracts import Contract, against_computed, check, structure
from tableqa.programs import from_dict
from tableqa.programs.evidence import evidence
from tableqa.programs.executable_answers import (
    NONE,
    alternatives,
    candidates,
    cells_read,
    columns_scanned,
    is_program,
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
    ModelInTheLoop,
    PerturbedExample,
    PreparedInputs,
    PreparingTask,
    Problem,
    ReleaseRecord,
    SuggestingTask,
    Surroundings,
    from_lines,
)
from tasks.shared.answer_programs import (
    Program,
    answers_agree,
    effective_program,
    marked_cells,
    program_lines,
    program_preview,
    replay_response,
    run_program,
)
from tasks.shared.response_parts import ResponseReader

CHANGES = {
    "set_cell": (
        gettext_noop("Change values"),
        gettext_noop("Change one value"),
        gettext_noop("Change one or two values"),
        gettext_noop("Change up to {most} values"),
    ),
    "remove_row": (
        gettext_noop("Remove rows"),
        gettext_noop("Remove one row"),
        gettext_noop("Remove one or two rows"),
        gettext_noop("Remove up to {most} rows"),
    ),
    "insert_row": (
        gettext_noop("Insert rows"),
        gettext_noop("Insert one row"),
        gettext_noop("Insert one or two rows"),
        gettext_noop("Insert up to {most} rows"),
    ),
    "rows": (
        gettext_noop("Insert or remove rows"),
        gettext_noop("Insert or remove one row"),
        gettext_noop("Insert or remove one or two rows"),
        gettext_noop("Insert or remove up to {most} rows"),
    ),
}
"""For instructions, by the operation that is allowed: any number of changes, one, two, and `most`."""
MOST_CELLS_TRIED = 2_000_000
"""Cells of the table times operations that are tried alone against the program (`_check_evidence_cells`), which is a
second or two."""
OUTCOMES = {
    "answer_changes": gettext_noop("{change} so that the answer changes"),
    "answer_stays": gettext_noop("{change} so that the answer stays the same"),
}

SETTINGS: Mapping[str, Any] = {
    "at_most": {
        "type": "integer",
        "minimum": 1,
        "maximum": 100,
        "default": 2,
        "title": gettext_noop("Maximum changes"),
        "description": gettext_noop("More changes need a reason."),
    },
    "cell_format": {
        "enum": ["warn", "require", "ignore"],
        "default": "warn",
        "title": gettext_noop("Column format"),
        "description": gettext_noop(
            "What happens if a new value has a different format from its column (1,234 or 12 %)."
        ),
    },
    "outside": {
        "enum": ["warn", "require", "ignore"],
        "default": "warn",
        "title": gettext_noop("Changes outside the marked cells"),
        "description": gettext_noop(
            "What happens if a change is outside the marked cells and the cells of the "
            "program. No effect if both are unknown."
        ),
    },
    "contract": CONTRACT_SETTING,
}


@dataclass(frozen=True)
class Response:
    """Net operations on the base table with the answer they lead to, or `unanswerable` and nothing else.

    answers     empty for a change that keeps the answer
    reason      why more operations than the contract asks for were needed
    program     how the answer follows: the JSON of a confirmed program, `tableqa.programs.executable_answers.NONE` where
                none of the offered ones was right, None without a choice: then the example's own counts, if it has one
    difference  why the answer is another one than the program gives on the edited table
    """

    unanswerable: bool
    operations: tuple[Operation, ...] = ()
    answers: tuple[str, ...] = ()
    reason: str = ""
    program: Mapping[str, Any] | None = None
    difference: str = ""


class ValueChange(MakingTask, PreparingTask, SuggestingTask, ModelInTheLoop):
    """An edit of one or two values under a contract, or the word that the question is unanswerable.

    It starts from the shortened table where there is one. A confirmed program, or the example's own until it is
    turned down, is run on every draft: what it gives is filled in as the new answer, and another answer needs a
    stated reason.
    """

    key = "value_change"
    version = 2
    title = gettext_noop("Value change")
    step = "edit"
    paper = "FREB-TQA (NAACL 2024) § 3.5"
    prerequisite = gettext_noop("Works best with Short table first: fewer cells to read.")
    response_type = Response
    variants = {
        "answer_changes": gettext_noop("Change one or two values so that the answer changes"),
        "answer_stays": gettext_noop("Change one or two values so that the answer stays the same"),
    }
    of = ("originals", "perturbed")
    starts_from = ("short_table",)
    predicts = "live"
    sheet = ""
    tried_on = ("operations", "answers", "program")
    prediction_in_form = True
    shows = ("question", "table", "titles", "answers", "context", "history", "evidence", "program")
    fields = (
        Field("operations", "operations"),
        Field("program", "json", shape="program"),
        Field("answers", "lines"),
        Field("difference", "text", note="`difference`: why the typed answer differs from the program's"),
        Field("reason", "text", note="`reason`: why there are more changes than the contract allows"),
        Field("unanswerable", "flag"),
    )
    compares = "edits"
    rule: ClassVar[Mapping[str, Any]] = {"rule": "each"}
    excludes: ClassVar[Mapping[str, str]] = {"unanswerable": "unanswerable"}
    settings = SETTINGS

    def instruct(self, item: Item, *, has_model: bool = False) -> str:
        """Names the operations that the batch's contract allows, how many, and what they do to the answer."""
        contract = self.contract(item)
        allowed, most = set(contract.allowed or ()), contract.at_most or 0
        rows = allowed & {"remove_row", "insert_row"}
        operation = (
            "set_cell" if "set_cell" in allowed or not rows else rows.pop() if len(rows) == 1 else "rows"
        )
        change = gettext(CHANGES[operation][min(most, 3)]).format(most=most)
        return gettext(OUTCOMES[item.variant]).format(change=change)

    def prepare(self, example: Example, around: Surroundings) -> PreparedInputs:
        """Freezes the evidence, the program that comes with the example, and the id of its original."""
        inputs: dict[str, Any] = {}
        evidence_cells = evidence(
            example, around.decided.get("relevant_cells", ()), around.model_answers.get("cells", ())
        )
        if evidence_cells is not None:
            inputs["evidence"] = evidence_cells.to_dict()
        if (own := effective_program(None, example)) is not None:
            inputs["program"] = program_entry(own, example.table)
        if around.original is not None:
            inputs["original"] = {"id": around.original.id, "perturbation": around.perturbation}
        return PreparedInputs(inputs)

    def contract(self, item: Item) -> Contract:
        own = Contract(
            table="differs",
            answer="changes" if item.variant == "answer_changes" else "stays",
            at_most=item.settings.get("at_most", 2),
            more_with_reason=True,
            allowed=("set_cell", "remove_row", "insert_row"),
            cell_format=item.settings.get("cell_format", "warn"),
        )
        return own.overridden(item.settings.get("contract"))

    # -- reading a response --------------------------------------------------------------------------

    def parse(self, data: object, item: Item) -> Response:
        response = self._read_fields(data, item)
        if response.unanswerable:
            return Response(unanswerable=True)
        base = item.example
        operations, table = replay_response(response.operations, base.table)
        changes = item.variant == "answer_changes"
        answers = response.answers if changes else ()
        edited = dataclasses.replace(base, table=table, answers=answers if changes else base.answers)
        problems = [
            Problem("answers" if "answer" in v.code else "operations", v.code, v.message, v.level)
            for v in check(self.contract(item), base, edited, operations, reason=response.reason)
        ]
        if changes and not answers:
            problems = [p for p in problems if p.path != "answers"]
            problems.append(
                Problem("answers", "no_answer", gettext("Write the answer that the changed table gives."))
            )
        program = effective_program(response.program, base)
        problems += _check_evidence_cells(operations, program, item)
        problems += _check_program(program, response.difference, edited)
        if any(problem.level == "error" for problem in problems):
            raise InvalidResponse(problems)
        difference = (
            "" if answers_agree(run_program(program, edited.table), edited.answers) else response.difference
        )
        return Response(False, operations, answers, response.reason, response.program, difference)

    def _read_fields(self, data: object, item: Item) -> Response:
        """The response as it was sent, types checked and nothing judged yet but the program."""
        sent = ResponseReader(data, self.fields)
        response = Response(
            unanswerable=sent.flag("unanswerable"),
            operations=sent.operations("operations", self.contract(item).allowed),
            answers=sent.answers("answers"),
            reason=sent.text("reason"),
            program=sent.program("program", item.example),
            difference=sent.text("difference"),
        )
        sent.finish()
        return response

    def warnings(self, response: Response, item: Item) -> Sequence[Problem]:
        """What of the contract is pointed out, changes outside the cells that the answer comes from, and a program that
        runs no more."""
        if response.unanswerable:
            return []
        edited, program = (
            edited_example(item.example, response),
            effective_program(response.program, item.example),
        )
        pointed_out = structure(
            self.contract(item), item.example.table, response.operations, reason=response.reason
        )
        return [
            *(Problem("operations", v.code, v.message, v.level) for v in pointed_out),
            *_check_evidence_cells(response.operations, program, item),
            *_check_program(program, response.difference, edited),
        ]

    def form_data(self, post: Mapping[str, str], draft: Mapping[str, Any]) -> dict[str, Any]:
        """An answer that the page filled in and that still is there has no author until it is submitted."""
        data = super().form_data(post, draft)
        settled = read_posted_program(post.get("settled"), None)
        if isinstance(settled, Mapping) and isinstance(answers := settled.get("answers"), list):
            data["answers"] = [text for text in answers if isinstance(text, str)]
            return {**data, "program": settled.get("program")}
        filled = post.get("filled", "") if post.get("action") != "submit" else ""
        if from_lines(filled, draft.get("answers")) == data["answers"]:
            data["answers"] = []
        return {**data, "program": read_posted_program(post.get("program"), data["program"])}

    def fill_in(self, data: Mapping[str, Any], item: Item) -> Mapping[str, Any]:
        """What the program gives is the new answer where the table is changed, none was written and no program disagrees."""
        if item.variant == "answer_stays" or data.get("answers") or not data.get("operations"):
            return data
        preview = self.preview(data, item)
        return {**data, "answers": [] if preview["alternatives"] else preview["computed"] or []}

    def upgrade(self, data: Mapping[str, Any], from_version: int) -> Mapping[str, Any]:
        """Version 1 knew neither programs nor reasons for a difference from them."""
        return {**data, "program": None, "difference": ""}

    # -- while a person works ------------------------------------------------------------------------

    def suggest(self, item: Item, context: Context) -> dict[str, Any] | None:
        """The programs that the answer may follow by; those that read the marked cells come first."""
        return offered_programs(item.example, marked_cells(item))

    def preview(self, data: object, item: Item) -> dict[str, Any]:
        """Old and new answer: the confirmed program's, run on the draft, beside the typed one.

        after         what will be the answer: the typed one, else the computed one; nothing while programs disagree
        computed      what the program gives, None without one or where it does not run (`problem` says why)
        differs       whether the typed (or kept) answer is another one than the computed
        alternatives  what each of the offered programs gives, where they disagree on the draft, else []
        """
        try:
            response = self._read_fields(data, item)
        except InvalidResponse:
            response = Response(True)
        try:
            edited = replay(item.example.table, normalise(response.operations, item.example.table))
        except OperationError:
            edited = None
        program = None if response.unanswerable else effective_program(response.program, item.example)
        preview = program_preview(program, item.example, edited)
        answers = item.example.answers if item.variant == "answer_stays" else response.answers
        differs = bool(answers and preview["computed"]) and not answers_agree(
            tuple(preview["computed"]), answers
        )
        alternatives = _program_results(response, item, edited)
        return {
            **preview,
            "after": list(answers) or (None if alternatives else preview["computed"]),
            "differs": differs,
            "alternatives": alternatives,
        }

    # -- afterwards ----------------------------------------------------------------------------------

    def perturb(self, item: Item, response: Response) -> PerturbedExample | None:
        if response.unanswerable:
            return None
        return PerturbedExample(edited_example(item.example, response), response.operations)

    def word(self, response: Response) -> str:
        return "unanswerable" if response.unanswerable else ""

    def describe(self, response: Response, item: Item) -> list[str]:
        if response.unanswerable:
            return [gettext("Unanswerable.")]
        lines = [describe(operation, item.example.table) for operation in response.operations]
        if item.variant == "answer_changes":
            lines.append(gettext("New answer: {answers}").format(answers=" | ".join(response.answers)))
        lines += program_lines(response.program, item.example)
        if response.difference:
            message = gettext("Reason for differing from the program: {difference}")
            lines.append(message.format(difference=response.difference))
        message = gettext("Reason for more changes: {reason}")
        return lines + ([message.format(reason=response.reason)] if response.reason else [])

    def feedback(self, item: Item, response: Response, expected: Response) -> tuple[bool | None, list[str]]:
        """Any edit whose answer is the computed one is as good as the expected one. Not judged where nothing computes it."""
        if response.unanswerable != expected.unanswerable:
            return False, ["Expected:", *self.describe(expected, item)]
        if response.unanswerable:
            return True, []
        program = effective_program(expected.program, item.example)
        lines = [problem.message for problem in _check_evidence_cells(response.operations, program, item)]
        edited = edited_example(item.example, response)
        result = run_program(program, edited.table)
        if not isinstance(result, tuple):
            same = (response.operations, response.answers) == (expected.operations, expected.answers)
            return (
                (True, lines)
                if same
                else (None, [gettext("One way to do it:"), *self.describe(expected, item), *lines])
            )
        if answers_agree(result, edited.answers):
            return True, lines
        right = " | ".join(result)
        message = gettext("In your table the answer is {right}, not {answers}.")
        return False, [
            message.format(right=right, answers=" | ".join(edited.answers)),
            *lines,
        ]

    def export(
        self, format: str, item: Item, response: Response, perturbed: PerturbedExample | None
    ) -> Iterator[ReleaseRecord]:
        """FREB-TQA's part 3: what was changed beside the result, under the id of the original.

        What was changed is the original table, or the shortened one that was made of it.
        """
        if perturbed is None:
            return
        if format == "askew":
            record = {
                **askew_record(perturbed.example),
                "contract": item.variant,
                "original_answers": list(item.example.answers),
                "operations": [operation.to_dict() for operation in response.operations],
                "program": thaw(response.program or effective_program(None, item.example)),
                "difference": response.difference,
            }
            yield ReleaseRecord(f"value_change_{item.variant}", record)
        elif format == "freb_tqa":
            original = item.inputs.get("original", {})
            id = original.get("id", item.example.id)
            part = "03_agg_com/{reader}_nonfactoid_{split}_no_shuffle_"
            before = "short_table" if original.get("perturbation") == "short_table" else "ori_table"
            after = "ans_change" if item.variant == "answer_changes" else "ans_no_change"
            yield ReleaseRecord(part + before, {**freb_example(item.example), "id": id}, is_of_shown=True)
            yield ReleaseRecord(part + after, {**freb_example(perturbed.example), "id": id})

    def simulate(self, item: Item, rng: Random, accuracy: float, truth: Random) -> dict[str, Any]:
        """Edits one marked cell, or any; a careless person calls it unanswerable.

        Where a program is known, that is a cell which makes the contract hold by it; if there is none, the program is
        turned down.
        """
        return _simulate(item, rng, accuracy)


def _simulate(item: Item, rng: Random, accuracy: float) -> dict[str, Any]:
    empty: dict[str, Any] = {
        "operations": [],
        "answers": [],
        "reason": "",
        "program": None,
        "difference": "",
    }
    table = item.example.table
    if not table.rows or not table.header or rng.random() > accuracy:
        return {"unanswerable": True, **empty}
    anywhere = [(rng.randrange(len(table.rows)), rng.randrange(len(table.header))) for _ in range(8)]
    marked = [
        (table.row_index(r), table.column_index(c)) for r, c in marked_cells(item) if r in table.row_ids
    ]
    edits = [
        _simulated_edit(table, position, rng) for position in [*rng.sample(marked, len(marked)), *anywhere]
    ]
    program = effective_program(item.inputs.get("program", {}).get("program"), item.example)
    changes = item.variant == "answer_changes"
    for edit in edits if program else ():
        result = run_program(program, replay(table, [edit]))
        if isinstance(result, tuple) and answers_agree(result, item.example.answers) is not changes:
            edit_data = {"operations": [edit.to_dict()], "answers": list(result) if changes else []}
            return {**empty, "unanswerable": False, "program": thaw(program), **edit_data}
    answers = [f"{item.example.answers[0]} II"] if item.example.answers else ["II"]
    edit_data = {"operations": [edits[0].to_dict()], "answers": answers if changes else []}
    return {**empty, "unanswerable": False, "program": dict(NONE) if program else None, **edit_data}


def _simulated_edit(table: Table, position: tuple[int, int], rng: Random) -> SetCell:
    row, column = position
    old = table.rows[row][column]
    new = str(int(old) + rng.randint(1, 9)) if old.isascii() and old.isdigit() else f"{old} II".strip()
    return SetCell(row=table.row_ids[row], column=table.column_ids[column], at=position, old=old, new=new)


def edited_example(example: Example, response: Response) -> Example:
    """The example after the edit: the replayed table, the new answer as its gold, and how that follows if it does."""
    table, answers = replay(example.table, response.operations), response.answers or example.answers
    program = effective_program(response.program, example)
    result = run_program(program, table)
    follows = isinstance(result, tuple) and answers_agree(result, answers)
    return dataclasses.replace(example, table=table, answers=answers, program=program if follows else None)


def _program_results(response: Response, item: Item, edited: Table | None) -> list[dict[str, Any]]:
    """What the offered programs give on the draft where they disagree.

    They are guesses: the example's own program, which its source or people vouch for, is not held against them.
    """
    own = effective_program(None, item.example)
    turned_down = response.program is not None and not is_program(response.program)
    if edited is None or not response.operations or response.unanswerable or turned_down:
        return []
    if own is not None and response.program in (None, own):
        return []
    offered_, _ = candidates(item.example, marked_cells(item))
    programs = [program for program, _ in offered_]
    if response.program is not None:  # first: it is the one that the person chose
        chosen = from_dict(response.program)
        programs = [chosen, *(program for program in programs if program != chosen)]
    return alternatives(programs, item.example.table, edited)


def _check_program(program: Program | None, reason: str, edited: Example) -> list[Problem]:
    """What the program that counts says against the answer of the edited table, unless a reason for it is given."""
    violations = against_computed(edited.answers, run_program(program, edited.table), reason)
    paths = {"computed_answer_differs": "difference", "program_fails": "program"}
    return [Problem(paths[v.code], v.code, v.message, v.level) for v in violations]


def _check_evidence_cells(
    operations: Sequence[Operation], program: Program | None, item: Item
) -> list[Problem]:
    """Changes of cells that the answer does not come from.

    It comes from the marked cells, the cells and columns that the program reads, and all that change its result, within
    `MOST_CELLS_TRIED` tries.
    """
    rule = item.settings.get("outside", "warn")
    table = item.example.table
    source_cells = {*marked_cells(item), *cells_read(program, table)}
    if rule == "ignore" or not source_cells:
        return []
    rows, scanned = {row for row, _ in source_cells}, columns_scanned(program)
    problems, before = [], run_program(program, table)
    tries = max(20, MOST_CELLS_TRIED // max(1, len(table.rows) * len(table.header)))
    for operation in operations:
        if isinstance(operation, SetCell):
            inside = (operation.row, operation.column) in source_cells or not table.has_row(operation.row)
            inside = inside or not scanned.isdisjoint((operation.column, operation.row))
        elif isinstance(operation, RemoveRow):
            inside = operation.row in rows or bool(scanned)
        else:
            inside = True
        if not inside and isinstance(before, tuple) and tries > 0:
            tries -= 1
            inside = _changes_result(operation, program, table, before)
        if not inside:
            message = gettext("{describe}: this is outside the cells that the answer depends on.").format(
                describe=describe(operation, table)
            )
            level: Literal["error", "warning"] = "error" if rule == "require" else "warning"
            problems.append(Problem("operations", "outside_evidence", message, level))
    return problems


def _changes_result(
    operation: Operation, program: Program | None, table: Table, before: tuple[str, ...]
) -> bool:
    """Whether an operation, made alone, changes what the program gave before."""
    after = run_program(program, replay(table, [operation]))
    return not isinstance(after, tuple) or not compare(after, before).equal


task = ValueChange()
