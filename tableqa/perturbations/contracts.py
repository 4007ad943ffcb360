"""Contracts: what must hold of a perturbation, as data, and what of it does not.

A contract has two halves. `structure` looks at the table and the operations alone; the browser has the same half, and
both are tested on the same vectors (tests/vectors/contracts.json). The answers are looked at here only. Contracts and
metrics go by `Comparison.equal`; the name of a difference is informative only.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any, Literal, get_args

from tableqa.cells import ColumnFormats, model_for, same_format, visible
from tableqa.core.translation import gettext, gettext_noop, ngettext
from tableqa.data.answers import Comparison, Difference, compare
from tableqa.data.examples import Example
from tableqa.data.tables import Table, is_id
from tableqa.operations import (
    OPERATIONS,
    InsertRow,
    Operation,
    OperationError,
    RenameHeader,
    SetCell,
    column_name,
    describe,
    normalise,
    replay,
)
from tableqa.programs.syntax import ProgramError

TableRule = Literal["differs", "gone", "any"]
AnswerRule = Literal["changes", "stays", "any"]
FormatRule = Literal["warn", "require", "ignore"]
Level = Literal["error", "warning"]

_SHAPE_CHANGING = frozenset(
    ("remove_row", "insert_row", "remove_column", "insert_column", "split_column", "transpose")
)


class ContractError(ValueError):
    """What was given is not a contract; the message names the field."""


@dataclass(frozen=True, slots=True)
class Violation:
    """Something that a contract does not allow; a warning is shown and stops no submission.

    Codes: stale_base, unknown_row, unknown_column, duplicate_id, bad_operation (the operations do not replay),
    table_unchanged, table_empty, too_many_operations, operation_not_allowed, shape_changed, protected_cell,
    cell_format, blanks_changed, table_differs_from_operations, answer_missing, answer_unchanged, answer_changed,
    same_table_other_answer, computed_answer_differs, program_fails.
    """

    code: str
    message: str
    level: Level = "error"

    def to_dict(self) -> dict[str, str]:
        return {"code": self.code, "message": self.message, "level": self.level}


@dataclass(frozen=True, slots=True)
class Contract:
    """What must hold of an edit.

    table             "differs": header or rows must not be those of the base, in more than blanks and invisible
                      characters (`cells.visible`); "gone": it is taken away
    answer            whether the answer "changes" or "stays"; an example without a gold answer has none that could
                      stay, and needs one that it changes to
    at_most           how many net operations (`operations.normalise`) may be made; None for any number
    more_with_reason  whether a stated reason lifts that bound
    allowed           the names of the operations that may be made; None for all
    protected         (row id, column id) of cells that must keep their text; the header row's id means headers
    cell_format       whether a new text must be written as its column is (`cells.same_format`)
    """

    table: TableRule = "any"
    answer: AnswerRule = "any"
    at_most: int | None = None
    more_with_reason: bool = False
    allowed: tuple[str, ...] | None = None
    protected: tuple[tuple[str, str], ...] = ()
    cell_format: FormatRule = "warn"

    def __post_init__(self) -> None:
        _one_of(self.table, "table", get_args(TableRule))
        _one_of(self.answer, "answer", get_args(AnswerRule))
        _one_of(self.cell_format, "cell_format", get_args(FormatRule))
        if self.at_most is not None and (type(self.at_most) is not int or self.at_most < 0):
            raise ContractError(gettext("at_most must be 0 or more, or null"))
        if type(self.more_with_reason) is not bool:
            raise ContractError(gettext("more_with_reason must be true or false"))
        if self.allowed is not None:
            if not isinstance(self.allowed, list | tuple):
                raise ContractError(gettext("allowed must be a list of operation names, or null"))
            for name in self.allowed:
                _one_of(name, "allowed", tuple(OPERATIONS))
            object.__setattr__(self, "allowed", tuple(self.allowed))
        object.__setattr__(self, "protected", _protected(self.protected))

    def to_dict(self) -> dict[str, Any]:
        """JSON, every field named."""
        allowed = None if self.allowed is None else list(self.allowed)
        return asdict(self) | {"allowed": allowed, "protected": [list(cell) for cell in self.protected]}

    def overridden(self, changes: Mapping[str, Any] | None) -> "Contract":
        """This contract with other fields, as a batch may ask for.

        Of `allowed`, only what is allowed here stays; `protected` is added to what is protected here.
        ContractError for an unknown field or a wrong type.
        """
        if not changes:
            return self
        contract = Contract.from_dict({**self.to_dict(), **changes})
        contract = replace(contract, protected=tuple(dict.fromkeys((*self.protected, *contract.protected))))
        if self.allowed is None or contract.allowed is None:
            return contract if self.allowed is None else replace(contract, allowed=self.allowed)
        return replace(contract, allowed=tuple(name for name in self.allowed if name in contract.allowed))

    @classmethod
    def from_dict(cls, data: object) -> "Contract":
        """Read JSON; fields that are left out have their defaults. ContractError for an unknown field or a wrong type."""
        if not isinstance(data, Mapping):
            raise ContractError(
                gettext("a contract is an object, not a {name}").format(name=type(data).__name__)
            )
        field_names = [field.name for field in fields(cls)]
        if unknown := sorted(str(name) for name in data if name not in field_names):
            message = gettext("a contract has no field {unknown}; it has {known}")
            raise ContractError(message.format(unknown=", ".join(unknown), known=", ".join(field_names)))
        return cls(**data)


def _one_of(value: object, name: str, allowed: Sequence[str]) -> None:
    if not isinstance(value, str) or value not in allowed:
        message = gettext("{name} must be one of {allowed}, not {value!r}")
        raise ContractError(message.format(name=name, allowed=", ".join(allowed), value=value))


def _protected(cells: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(cells, list | tuple):
        raise ContractError(gettext("protected must be a list of [row id, column id] pairs"))
    for cell in cells:
        if not isinstance(cell, list | tuple) or len(cell) != 2 or not all(is_id(name) for name in cell):
            message = gettext("protected contains {cell!r}, which is not a [row id, column id] pair")
            raise ContractError(message.format(cell=cell))
    return tuple((row, column) for row, column in cells)


def check(
    contract: Contract,
    base_example: Example,
    edited_example: Example,
    operations: Iterable[Operation],
    reason: str = "",
    *,
    computed: Sequence[str] | ProgramError | None = None,
    derived: bool = False,
) -> list[Violation]:
    """Everything that `contract` does not allow of this edit: structure first, then the answers.

    `operations` lead from the base's table to the edited one, which must hold what they make; `reason` is why there are
    more of them than `at_most`, or why the answer is not the computed one. `computed` is what the example's confirmed
    program gives on the edited table (`programs.run`), or the error that it ends with; None where there is no program.
    With `derived`, operations are net and make the edited table by construction: they are not replayed.
    An empty list means that the contract holds.
    """
    operations, base, edited = list(operations), base_example.table, edited_example.table
    if derived:
        violations = _structure(contract, base, edited, operations, reason)
    else:
        violations = structure(contract, base, operations, reason)
        with suppress(OperationError):  # structure() has said so
            if not replay(base, operations).same_content(edited):
                message = (
                    "The edited table is not what the operations make of the original. Record every edit."
                )
                violations.append(Violation("table_differs_from_operations", message))
    violations += _answers(contract, base_example, edited_example)
    return violations + against_computed(edited_example.answers, computed, reason)


def structure(
    contract: Contract, base_table: Table, operations: Sequence[Operation], reason: str = ""
) -> list[Violation]:
    """What `contract` does not allow of the operations and the table that they make, for any answers.

    The browser runs the same checks while a person types; the order of the violations is the order in which they are
    checked: table_unchanged, table_empty, operation_not_allowed, shape_changed, too_many_operations, protected_cell,
    cell_format, blanks_changed. A table that had cells must keep some, unless the contract wants it gone: nothing can be
    asked of an empty one.
    """
    try:
        edited = replay(base_table, operations)
        net = normalise(operations, base_table)
    except OperationError as error:
        return [Violation(error.code, f"{error}.")]
    return _structure(contract, base_table, edited, net, reason)


def _structure(
    contract: Contract, base_table: Table, edited: Table, net: Sequence[Operation], reason: str
) -> list[Violation]:
    violations: list[Violation] = []
    unchanged = contract.table == "differs" and _looks_the_same(base_table, edited)
    if unchanged:
        same = edited.same_content(base_table)
        message = gettext("The table is unchanged. Change something.") if same else gettext(_ONLY_BLANKS)
        violations.append(Violation("table_unchanged", message))
    if all(base_table.shape) and not all(edited.shape) and contract.table != "gone":
        message = gettext("The table now has {shape}. Restore at least one row and one column.")
        violations.append(Violation("table_empty", message.format(shape=_shape(edited))))
    if contract.allowed is not None:
        violations += _allowed(contract.allowed, base_table, edited, net)
    if contract.at_most is not None and len(net) > contract.at_most:
        violations += _too_many(contract, len(net), reason)
    violations += _protected_cells(contract, base_table, edited)
    if contract.cell_format != "ignore":
        level: Level = "error" if contract.cell_format == "require" else "warning"
        violations += _formats(base_table, edited, net, level)
    return violations if unchanged else [*violations, *_blanks(base_table, net)]


_ONLY_BLANKS = gettext_noop("Only whitespace or invisible characters have changed. Change a visible value.")


def _looks_the_same(first: Table, second: Table) -> bool:
    """Whether header and rows are equal but for blanks and invisible characters."""
    if first.same_content(second):
        return True
    return first.shape == second.shape and all(
        before == after or visible(before) == visible(after)
        for line, now in zip((first.header, *first.rows), (second.header, *second.rows), strict=True)
        for before, after in zip(line, now, strict=True)
    )


def _blanks(base: Table, net: Sequence[Operation]) -> list[Violation]:
    """Texts that changed in blanks or invisible characters alone, which nobody can see and hardly anybody meant."""
    message = gettext("{change}. Restore the old text.")
    return [
        Violation("blanks_changed", message.format(change=describe(operation, base)), "warning")
        for operation in net
        if isinstance(operation, SetCell | RenameHeader) and visible(operation.old) == visible(operation.new)
    ]


def not_allowed(allowed: Sequence[str] | None, operations: Sequence[Operation]) -> list[Violation]:
    """The kinds of operations that are not allowed; None allows all. Nothing is replayed for it."""
    names = {operation.op for operation in operations}
    message = gettext("{operation} is not allowed here.")
    return [
        Violation("operation_not_allowed", message.format(operation=gettext(_SPOKEN[name])))
        for name in OPERATIONS
        if allowed is not None and name in names and name not in allowed
    ]


def _allowed(allowed: Sequence[str], base: Table, edited: Table, net: Sequence[Operation]) -> list[Violation]:
    violations = not_allowed(allowed, net)
    if base.shape != edited.shape and not _SHAPE_CHANGING.intersection(allowed):
        message = gettext("The table had {before} and now has {after}. Its shape must not change.").format(
            before=_shape(base), after=_shape(edited)
        )
        violations.append(Violation("shape_changed", message))
    return violations


def _too_many(contract: Contract, count: int, reason: str) -> list[Violation]:
    if contract.more_with_reason and reason.strip():
        return []
    most = contract.at_most or 0
    message = ngettext(
        "There is {number} change; {most}.", "There are {number} changes; {most}.", count
    ).format(
        number=count,
        most=ngettext("at most {most} change is allowed", "at most {most} are allowed", most).format(
            most=most
        ),
    )
    if contract.more_with_reason:
        message += gettext(" Undo some, or say why more are needed.")
    return [Violation("too_many_operations", message)]


def _protected_cells(contract: Contract, base: Table, edited: Table) -> list[Violation]:
    violations = []
    for row, column in contract.protected:
        before, after = _cell(base, row, column), _cell(edited, row, column)
        if before is not None and before != after:
            message = (
                gettext("The protected cell ({place}) has been removed. Undo that change.")
                if after is None
                else gettext("The protected cell ({place}) has been changed. Undo that change.")
            ).format(place=cell_place(base, row, column))
            violations.append(Violation("protected_cell", message))
    return violations


def _cell(table: Table, row: str, column: str) -> str | None:
    # After a transposition the same cell is at (column, row).
    for first, second in ((row, column), (column, row)):
        if second in table.column_ids and (table.has_row(first) or first == table.header_id):
            return table.cell(first, second)
    return None


def cell_place(table: Table, row: str, column: str) -> str:
    """Where a cell is, in words: "row 2, Votes", "header of column 3"."""
    if row == table.header_id:
        position = table.column_index(column) + 1 if column in table.column_ids else column
        return gettext("header of column {column}").format(column=position)
    return gettext("row {row}, {column}").format(
        row=table.row_index(row) + 1 if table.has_row(row) else row, column=column_name(table, column)
    )


def _formats(base: Table, edited: Table, net: Sequence[Operation], level: Level) -> list[Violation]:
    violations = []
    columns: dict[str, ColumnFormats] = {}
    for row, column, old, new in _new_texts(base, edited, net):
        if column not in columns:
            columns[column] = _column_formats(base.column(column))
        cells = columns[column]
        if not same_format(old, new, cells):
            model = model_for(old, new, cells)
            message = gettext("Row {row}, {column}: {text} has a different format from {like}.").format(
                row=edited.row_index(row) + 1,
                column=column_name(edited, column),
                text=_quoted(new),
                like=gettext("the other cells in its column") if model is None else _quoted(model),
            )
            violations.append(Violation("cell_format", message, level))
    return violations


_column_formats = lru_cache(maxsize=64)(ColumnFormats)


def _new_texts(
    base: Table, edited: Table, net: Sequence[Operation]
) -> Iterable[tuple[str, str, str | None, str]]:
    """(row, column, old text or None, new text) of every cell of the edited table that an operation wrote."""
    if base.header_id != edited.header_id:
        return  # transposed: columns are rows, and no column has a format
    columns = [column for column in edited.column_ids if column in base.column_ids]
    rows = set(edited.row_ids)
    for operation in net:
        if isinstance(operation, SetCell) and operation.row in rows and operation.column in columns:
            yield operation.row, operation.column, operation.old, operation.new
        elif isinstance(operation, InsertRow) and operation.row in rows:
            for column in columns:
                yield operation.row, column, None, edited.cell(operation.row, column)


def _answers(contract: Contract, base: Example, edited: Example) -> list[Violation]:
    has_gold = any(answer.strip() for answer in base.answers)
    if contract.answer == "any" or (
        contract.answer == "stays" and (not has_gold or edited.answers == base.answers)
    ):
        return []  # without a gold answer nothing says what should stay, and an answer says itself
    if not edited.answers or not any(answer.strip() for answer in edited.answers):
        return [
            Violation(
                "answer_missing",
                gettext("The answer is missing. Write the answer that the edited table gives."),
            )
        ]
    if not has_gold:
        return []
    comparison = compare(edited.answers, base.answers)
    was, now = _list(base.answers), _list(edited.answers)
    violations = []
    if _looks_the_same(base.table, edited.table) and not comparison.equal:
        message = gettext(
            "The table is unchanged, but the answer was {was} and is now {now}. Change the table first."
        ).format(was=was, now=now)
        violations.append(Violation("same_table_other_answer", message))
    if contract.answer == "changes" and comparison.equal:
        message = (
            gettext("The answer is still {now}. It must change.")
            if comparison.difference is None
            else gettext("The answer {now} is only {was} {how}. It must change.")
        ).format(now=now, was=was, how=_note(comparison))
        violations.append(Violation("answer_unchanged", message))
    if contract.answer == "stays" and not comparison.equal:
        message = gettext("The answer was {was} and is now {now}{how}. It must not change.").format(
            was=was, now=now, how=_name(comparison)
        )
        violations.append(Violation("answer_changed", message))
    return violations


def against_computed(
    typed: Sequence[str], computed: Sequence[str] | ProgramError | None, reason: str
) -> list[Violation]:
    """Whether the typed answer is the one that the program gives; a stated reason lifts the difference.

    A typed answer that is missing is reported elsewhere. A program that does not run says nothing about the answer, so that
    is shown and stops no submission.
    """
    if isinstance(computed, ProgramError):
        message = gettext("The program cannot run on this table: {why} Check the answer yourself.")
        return [Violation("program_fails", message.format(why=computed), "warning")]
    if computed is None or reason.strip() or not any(answer.strip() for answer in typed):
        return []
    comparison = compare(typed, computed)
    if comparison.equal:
        return []
    message = gettext(
        "Your answer is {typed}, but the program gives {computed}{how}. Fix the answer or the table, "
        "or say why they differ."
    ).format(typed=_list(typed), computed=_list(computed), how=_name(comparison))
    return [Violation("computed_answer_differs", message)]


def _note(comparison: Comparison) -> str:
    notes: dict[Difference, str] = {
        "form": gettext("written in another way"),
        "unit": gettext("with or without its unit"),
        "rounding": gettext("rounded"),
        "order": gettext("in another order"),
    }
    return notes[comparison.difference] if comparison.difference else ""


def _name(comparison: Comparison) -> str:
    if comparison.difference == "sign":
        return gettext(" (only the sign differs)")
    if comparison.difference == "scale":
        return gettext(" (by the factor {factor})").format(factor=f"{comparison.factor:,}")
    return gettext(" (some answers are the same)") if comparison.difference == "partial" else ""


_SPOKEN = {
    "set_cell": gettext_noop("Changing a cell"),
    "remove_row": gettext_noop("Removing a row"),
    "insert_row": gettext_noop("Adding a row"),
    "move_row": gettext_noop("Moving a row"),
    "rename_header": gettext_noop("Renaming a column"),
    "remove_column": gettext_noop("Removing a column"),
    "insert_column": gettext_noop("Adding a column"),
    "move_column": gettext_noop("Moving a column"),
    "split_column": gettext_noop("Splitting a column"),
    "transpose": gettext_noop("Transposing the table"),
    "mask_cells": gettext_noop("Masking cells"),
}


def _shape(table: Table) -> str:
    rows, columns = table.shape
    return gettext("{rows} and {columns}").format(
        rows=ngettext("{number} row", "{number} rows", rows).format(number=rows),
        columns=ngettext("{number} column", "{number} columns", columns).format(number=columns),
    )


def _quoted(text: str) -> str:
    if not text.strip():
        return gettext("(whitespace)") if text else gettext("(empty)")
    return f"“{text if len(text) <= 60 else text[:59] + '…'}”"


def _list(answers: Sequence[str]) -> str:
    return ", ".join(_quoted(answer) for answer in answers[:5]) + (", …" if len(answers) > 5 else "")
