"""What the kinds that perturb whole columns share: one operation, and the answer stays. (RobuT 3.1)

Renaming, splitting, removing and adding columns differ in the operation they allow and in what a person is shown while
doing it. Shared here: the table must differ, names are unique, a table may offer no such edit, and the export of the
result.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

from tableqa import Example, Table
from tableqa.cells import fold, number_of
from tableqa.core.translation import gettext, gettext_noop
from tableqa.data.answers import compare
from tableqa.data.tables import is_id
from tableqa.operations import InsertColumn, Operation, RenameHeader, SplitColumn, describe, replay
from tableqa.perturbations.contracts import Contract, check
from tableqa.programs import ProgramError
from tableqa.programs.evidence import CellRef, evidence
from tableqa.programs.executable_answers import (
    cells_read,
    confirmed_program,
    is_program,
    own_program,
    program_entry,
)
from tableqa.writers.robut import robut_pair, robut_record
from tasks.contract import (
    CONTRACT_SETTING,
    Field,
    InvalidResponse,
    Item,
    MakingTask,
    ModelInTheLoop,
    Nature,
    PerturbedExample,
    PreparedInputs,
    PreparingTask,
    Problem,
    ProposingTask,
    ReleaseRecord,
    SuggestingTask,
    Surroundings,
)
from tasks.shared.answer_programs import marked_cells, replay_response
from tasks.shared.response_parts import ResponseReader

MOST_ENTRIES = 2_000
LONGEST_TEXT = 2_000


class ColumnTask(MakingTask, ModelInTheLoop):
    """A making kind whose response is a list of operations on columns, or the word that none applies.

    A kind's `Response` is a frozen dataclass with `does_not_apply` and `operations` first; its other fields are
    listed in `fields` as JSON and read by `parse_extra_fields`.

    allowed       the operations that may be made
    doubts_to_confirm  codes of doubts that a submission gives a reason for or confirms
    perturbation  what RobuT calls the result
    nothing       what it means that the kind does not apply, as a sentence about the table
    """

    predicts: ClassVar[Literal["live", "on_request", ""]] = "live"
    prediction_in_form: ClassVar[bool] = True
    tried_on: ClassVar[tuple[str, ...]] = ("operations",)
    sheet: ClassVar[str] = "askew/columns.css"
    shows: ClassVar[tuple[str, ...]] = ("question", "table", "titles", "answers", "context", "history")
    fields: ClassVar[tuple[Field, ...]] = (Field("operations", "operations"), Field("does_not_apply", "flag"))
    grid: ClassVar[Literal["read", "select", "edit", "structure"] | None] = "read"
    compares: ClassVar[Nature | Literal[""]] = "edits"
    rule: ClassVar[Mapping[str, Any]] = {"rule": "each"}
    excludes: ClassVar[Mapping[str, str]] = {"does not apply": gettext_noop("does not apply")}
    settings: ClassVar[Mapping[str, Any]] = {
        "contract": CONTRACT_SETTING,
    }
    allowed: ClassVar[tuple[str, ...]]
    doubts_to_confirm: ClassVar[tuple[str, ...]] = ()
    perturbation: ClassVar[str]
    nothing: ClassVar[str]

    def contract(self, item: Item) -> Contract:
        own = Contract(table="differs", answer="stays", allowed=self.allowed, cell_format="ignore")
        return own.overridden(item.settings.get("contract"))

    # -- reading a response --------------------------------------------------------------------------

    def parse(self, data: object, item: Item) -> Any:
        sent = self._read_fields(data, item)
        if sent["does_not_apply"]:
            return self.response_type(
                True, **self.parse_extra_fields({**sent, "operations": ()}, item, item.example.table)
            )
        operations, edited = replay_response(sent["operations"], item.example.table)
        changed = dataclasses.replace(item.example, table=edited)
        problems = [
            Problem("operations", violation.code, violation.message, violation.level)
            for violation in check(self.contract(item), item.example, changed, operations)
        ]
        problems += check_new_names(item.example.table, edited, operations)
        if not any(problem.level == "error" for problem in problems):
            problems += self.judge(item, operations)
        if any(problem.level == "error" for problem in problems):
            raise InvalidResponse(problems)
        response = self.response_type(
            False, operations, **self.parse_extra_fields({**sent, "operations": operations}, item, edited)
        )
        if broken := [problem for problem in self.doubts(response, item) if problem.level == "error"]:
            raise InvalidResponse(broken)
        return response

    def judge(self, item: Item, operations: Sequence[Operation]) -> Iterable[Problem]:
        """What the kind asks for beyond its contract, of operations that replay and keep it."""
        return ()

    def doubts(self, response: Any, item: Item) -> Iterable[Problem]:
        """What is doubtful about a response as a whole: errors refuse it, the others are shown with each draft."""
        return ()

    def warnings(self, response: Any, item: Item) -> Sequence[Problem]:
        return () if response.does_not_apply else tuple(self.doubts(response, item))

    def unmet(self, response: Any, item: Item) -> Sequence[Problem]:
        if response.does_not_apply or not self.doubts_to_confirm:
            return ()
        doubts = self.doubts(dataclasses.replace(response, reason=""), item)
        return [
            dataclasses.replace(doubt, level="warning")
            for doubt in doubts
            if doubt.code in self.doubts_to_confirm
        ]

    def parse_extra_fields(self, sent: Mapping[str, Any], item: Item, edited: Table) -> dict[str, Any]:
        """The other fields of the response, read from what was sent. Raises `InvalidResponse`."""
        return {}

    def _read_fields(self, data: object, item: Item) -> dict[str, Any]:
        """The fields as they were sent, types checked where every kind has them, operations read."""
        sent = ResponseReader(data, self.fields)
        flag = sent.flag("does_not_apply")
        operations = list(sent.operations("operations", self.contract(item).allowed))
        sent.finish()
        return {
            **{field.name: sent.data.get(field.name) for field in self.fields},
            "does_not_apply": flag,
            "operations": operations,
        }

    # -- what follows from it ------------------------------------------------------------------------

    def preview(self, data: object, item: Item) -> dict[str, Any]:
        answers = list(item.example.answers)
        return {"before": answers, "after": answers, "program": None}

    def perturb(self, item: Item, response: Any) -> PerturbedExample | None:
        if response.does_not_apply:
            return None
        return PerturbedExample(edited_example(item.example, response.operations), response.operations)

    def word(self, response: Any) -> str:
        return "does not apply" if response.does_not_apply else ""

    def describe(self, response: Any, item: Item) -> list[str]:
        if response.does_not_apply:
            return [gettext("Does not apply: {nothing}").format(nothing=self.nothing)]
        return [describe(operation, item.example.table) for operation in response.operations]

    def in_short(self, response: Any, item: Item) -> str:
        """The changes of columns: `Points → Score`, `Score → Home, Away`, `without Total`, `with Capital`."""
        table = item.example.table
        parts = []
        for operation in response.operations:
            old = (
                columns_in_words(table, [operation.column])
                if getattr(operation, "column", "") in table.column_ids
                else ""
            )
            if isinstance(operation, RenameHeader):
                parts.append(f"{old} → “{operation.new}”")
            elif isinstance(operation, SplitColumn):
                parts.append(f"{old} → {', '.join(f'“{part.header}”' for part in operation.into)}")
            elif isinstance(operation, InsertColumn):
                parts.append(gettext("with “{header}”").format(header=operation.header))
            else:
                parts.append(gettext("without {old}").format(old=old))
        return ", ".join(parts) if parts else super().in_short(response, item)

    def feedback(self, item: Item, response: Any, expected: Any) -> tuple[bool | None, list[str]]:
        """As good as expected: the same columns are concerned. Names are a matter of taste, and none is held against it."""
        if response.does_not_apply != expected.does_not_apply:
            return False, ["Expected:", *self.describe(expected, item)]
        right = self.concerned_columns(response) == self.concerned_columns(expected)
        return right, [
            gettext("Another way to do it:") if right else "Expected:",
            *self.describe(expected, item),
        ]

    def concerned_columns(self, response: Any) -> frozenset[str]:
        """What two responses must have in common to be the same for practice: by default the columns they touch."""
        return frozenset(getattr(operation, "column", "") for operation in response.operations)

    def export(
        self, format: str, item: Item, response: Any, perturbed: PerturbedExample | None
    ) -> Iterator[ReleaseRecord]:
        """RobuT's item form, beside the original; in Askew's own also the operations, and what else the response holds."""
        if perturbed is None:
            return
        if format == "robut":
            for part, record in robut_pair(item.example, perturbed.example, self.perturbation):
                yield ReleaseRecord(part, record, is_of_shown=record["perturbation_type"] == "original")
        elif format == "askew":
            record = robut_record(item.example, perturbed.example, self.perturbation)
            operations = [operation.to_dict() for operation in response.operations]
            yield ReleaseRecord(self.key, {**record, "operations": operations, **self.beside(item, response)})

    def beside(self, item: Item, response: Any) -> dict[str, Any]:
        """What a record in Askew's own form holds beside the perturbed example and its operations."""
        return {}


@dataclass(frozen=True)
class RemovalResponse:
    """Columns that were removed, or replaced by several.

    `reason` says how the others imply them, or where something comes from that the old cells do not hold.
    """

    does_not_apply: bool
    operations: tuple[Operation, ...] = ()
    reason: str = ""


class ColumnRemovalTask(ColumnTask, PreparingTask, SuggestingTask, ProposingTask):
    """A kind that takes cells away, and may not take the answer with them.

    Protected are the cells that hold an answer and those that it is worked out from: what the example's program reads,
    or, where none is known, the evidence (`tableqa.programs.evidence`; a model's word is none). What is taken must
    follow from what is left, or a person says how it does. A batch's setting `answer_cells` says whether that is required.
    """

    response_type = RemovalResponse
    shows = ("question", "table", "titles", "answers", "context", "history", "suggestions")
    fields = (Field("operations", "operations"), Field("reason", "text"), Field("does_not_apply", "flag"))
    settings: ClassVar[Mapping[str, Any]] = {
        "answer_cells": {
            "enum": ["require", "warn", "ignore"],
            "default": "require",
            "title": gettext_noop("Answer cells"),
            "description": gettext_noop(
                "What happens if answer cells are removed without a reason and they cannot be "
                "worked out from the rest."
            ),
        },
        "contract": CONTRACT_SETTING,
    }

    def prepare(self, example: Example, around: Surroundings) -> PreparedInputs:
        """Freezes how the answer follows: the program that people confirmed last, the example's own unless people turned
        it down, or the cells that people marked or the source names."""
        turned_down = False
        for responses in around.decided.values():
            for data in reversed(responses):
                try:
                    program = confirmed_program(data.get("program"), example)
                except ProgramError:  # confirmed for an edit of this example, or for what it was made from
                    continue
                if program is not None and is_program(program):
                    return PreparedInputs({"program": program_entry(program, example.table)})
                turned_down = turned_down or program is not None
        own = own_program(example)
        if own is not None and not turned_down:
            return PreparedInputs({"program": program_entry(own, example.table)})
        inputs: dict[str, Any] = {} if own is None else {"turned_down": True}
        evidence_cells = evidence(example, around.decided.get("relevant_cells", ()), program=False)
        return PreparedInputs(
            inputs if evidence_cells is None else {**inputs, "evidence": evidence_cells.to_dict()}
        )

    def response_data(self, operations: Iterable[Operation], reason: str = "") -> dict[str, Any]:
        """A response of these operations as it is sent; without any, the kind does not apply."""
        data = [operation.to_dict() for operation in operations]
        return {"does_not_apply": not data, "operations": data, "reason": reason}

    def parse_extra_fields(self, sent: Mapping[str, Any], item: Item, edited: Table) -> dict[str, Any]:
        return {"reason": "" if sent["does_not_apply"] else short_text(sent["reason"], "reason")}

    def describe(self, response: Any, item: Item) -> list[str]:
        reason = [gettext("Reason: {reason}").format(reason=response.reason)] if response.reason else []
        return super().describe(response, item) + reason

    def beside(self, item: Item, response: Any) -> dict[str, Any]:
        return {"reason": response.reason}

    def answer_rule(self, item: Item) -> Literal["require", "warn", "ignore"]:
        rule: Literal["require", "warn", "ignore"] = item.settings.get("answer_cells", "require")
        return rule

    def read_by_program(self, item: Item) -> frozenset[CellRef]:
        """The cells that the answer is worked out from, as a program says, or else the evidence."""
        if (marked := marked_cells(item)) or item.inputs.get("turned_down"):
            return frozenset(marked)
        frozen = item.inputs.get("program")
        program = frozen["program"] if frozen else own_program(item.example)
        return frozenset(cells_read(program, item.example.table))


@lru_cache(maxsize=32)
def answer_cells(table: Table, answers: tuple[str, ...]) -> Mapping[str, frozenset[CellRef]]:
    """For each answer that is in the table, the cells that hold it: the same text, number or date."""
    cells_by_answer: dict[str, frozenset[CellRef]] = {}
    seen: dict[tuple[str, str], bool] = {}
    for answer in answers:
        number = number_of(answer)
        cells = set()
        for row, texts in zip(table.row_ids, table.rows, strict=True):
            for column, text in zip(table.column_ids, texts, strict=True):
                if (answer, text) not in seen:
                    alike = plain(text) == plain(answer) or plain(answer) in plain(text) or number_of(text)
                    seen[answer, text] = bool(
                        text.strip() and (alike or number) and compare([text], [answer]).equal
                    )
                if seen[answer, text]:
                    cells.add((row, column))
        if cells:
            cells_by_answer[answer] = frozenset(cells)
    return cells_by_answer


def columns_in_words(table: Table, columns: Iterable[str]) -> str:
    """Columns in a sentence, in the order of the table: “Total”, column 3."""
    column_ids = set(columns)
    return ", ".join(
        f"“{header.strip()}”" if header.strip() else gettext("column {place}").format(place=column_number)
        for column_number, (column, header) in enumerate(
            zip(table.column_ids, table.header, strict=True), start=1
        )
        if column in column_ids
    )


def rows_in_words(positions: Iterable[int], most: int = 5) -> str:
    """Rows in a sentence: "row 3", "rows 1, 2, 5, …"."""
    row_numbers = sorted(set(positions))
    text = ", ".join(map(str, row_numbers[:most])) + (", …" if len(row_numbers) > most else "")
    return (
        gettext("row {shown}").format(shown=text)
        if len(row_numbers) == 1
        else gettext("rows {shown}").format(shown=text)
    )


# -- names ------------------------------------------------------------------------------------------


def check_new_names(base: Table, edited: Table, operations: Sequence[Operation]) -> Iterator[Problem]:
    """New names that are empty, or that another column of the edited table has as well."""
    for column in new_names(base, operations):
        if column not in edited.column_ids:
            continue
        index = edited.column_index(column)
        name = edited.header[index]
        if not plain(name):
            message = gettext("The new name of column {value} is empty. Give it a name.")
            yield Problem("operations", "header_empty", message.format(value=index + 1))
            continue
        for other, twin in enumerate(edited.header):
            if other != index and plain(twin) == plain(name):
                message = gettext("Two columns are now called “{name}”: {value} and {value_2}. ").format(
                    name=name, value=min(index, other) + 1, value_2=max(index, other) + 1
                )
                yield Problem("operations", "header_repeats", message + gettext("Choose another name."))
                break


def new_names(base: Table, operations: Iterable[Operation]) -> Iterator[str]:
    """The ids of the columns to which these operations gave a name."""
    for operation in operations:
        if isinstance(operation, RenameHeader | InsertColumn):
            yield operation.column
        elif isinstance(operation, SplitColumn):
            yield from (part.column for part in operation.into)


def plain(name: str) -> str:
    """A column's name as it is compared with others: case, accents and blanks do not make it another one."""
    return fold(name).casefold()


def edited_example(example: Example, operations: Sequence[Operation]) -> Example:
    """The example after the edit. A program goes where a column that it may read is gone, and stays otherwise."""
    keeps_program = all(isinstance(operation, RenameHeader | InsertColumn) for operation in operations)
    return dataclasses.replace(
        example, table=replay(example.table, operations), program=example.program if keeps_program else None
    )


# -- reading JSON -----------------------------------------------------------------------------------


def read_entries(
    value: object, field: str, size: int, checks: Mapping[int, Callable[[str], bool]]
) -> tuple[tuple[str, ...], ...]:
    """A list of lists of `size` texts, the first one the id of a column; None is an empty list.

    `checks` says which texts may be at a place. Each entry is kept once. Raises `InvalidResponse` for the first bad
    one.
    """
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or len(value) > MOST_ENTRIES:
        message = gettext("This field must be a list of at most {most_entries} entries.")
        raise InvalidResponse.of(field, "wrong_type", message.format(most_entries=MOST_ENTRIES))
    unique_entries: dict[tuple[str, ...], None] = {}
    for index, texts in enumerate(value):
        if (
            not isinstance(texts, list | tuple)
            or len(texts) != size
            or not all(isinstance(text, str) and len(text) <= LONGEST_TEXT for text in texts)
            or not is_id(texts[0])
        ):
            message = gettext("An entry must be a list of {size} texts; the first is a column id.")
            raise InvalidResponse.of(f"{field}.{index}", "wrong_type", message.format(size=size))
        for position, fits in checks.items():
            if not fits(texts[position]):
                message = gettext("“{one}” is not allowed here.").format(one=texts[position][:80])
                raise InvalidResponse.of(f"{field}.{index}.{position}", "unknown_value", message)
        unique_entries[tuple(texts)] = None
    return tuple(unique_entries)


def short_text(value: object, field: str) -> str:
    """A text of a form, None an empty one. Raises `InvalidResponse`."""
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        message = gettext("This field must be a text of at most {longest_text} characters.")
        raise InvalidResponse.of(field, "wrong_type", message.format(longest_text=LONGEST_TEXT))
    return value.strip()
