"""WikiSQL's logical forms as programs (Zhong, Xiong and Socher 2017): an aggregation, a column and conditions."""

from collections.abc import Mapping, Sequence
from typing import Any

from tableqa.data.answers import compare
from tableqa.data.examples import Example
from tableqa.data.tables import Table
from tableqa.programs.semantics import run
from tableqa.programs.syntax import (
    Aggregate,
    AllRows,
    Comparison,
    Count,
    Function,
    Program,
    ProgramError,
    Rows,
    Select,
    Where,
    bad,
)

_FUNCTIONS: tuple[Function | None, ...] = (None, "largest", "smallest", None, "sum", "average")
"""In WikiSQL's order: "", MAX, MIN, COUNT, SUM, AVG."""

_COUNT = 3
_RELATIONS: tuple[Comparison, ...] = ("equals", "greater", "less")
"""In WikiSQL's order: =, >, <. Its fourth, OP, does not occur in its data."""


def program_of(sql: Mapping[str, Any], table: Table) -> Program:
    """The program of {"sel", "agg", "conds": [[column, operator, value]]}, whose columns are places counted from 0.

    Values compare as the cells are read: numbers as numbers, texts without case. ProgramError(bad_program) where the form
    is not well formed or names a column that the table does not have.
    """
    selected, aggregation, conditions = sql.get("sel"), sql.get("agg", 0), sql.get("conds", ())
    if isinstance(
        conditions, Mapping
    ):  # as in the data set on the hub: {"column_index": [...], "operator_index": ...}
        names = ("column_index", "operator_index", "condition")
        conditions = list(zip(*(conditions.get(name, ()) for name in names), strict=False))
    if type(aggregation) is not int or not 0 <= aggregation < len(_FUNCTIONS):
        raise bad(f"agg is a number from 0 to {len(_FUNCTIONS) - 1}")
    if not isinstance(conditions, Sequence) or isinstance(conditions, str):
        raise bad("conds is a list of conditions")
    rows: Rows = AllRows()
    for condition in conditions:
        if not isinstance(condition, Sequence) or isinstance(condition, str) or len(condition) != 3:
            raise bad("a condition is [column, operator, value]")
        column, operator, value = condition
        if type(operator) is not int or not 0 <= operator < len(_RELATIONS):
            raise bad("an operator is 0 (=), 1 (>) or 2 (<)")
        rows = Where(_column(column, table), _RELATIONS[operator], _value(value), rows)
    column = _column(selected, table)
    if aggregation == _COUNT:
        return Count(rows)
    function = _FUNCTIONS[aggregation]
    return Select(column, rows) if function is None else Aggregate(function, column, rows)


def from_logical_form(example: Example) -> list[Program]:
    """The program of `example.meta["sql"]`; nothing if there is none, or if it does not yield the gold answer.

    An example without gold answers, as WikiSQL's files hold them, has its program if that can be run at all.
    """
    sql = example.meta.get("sql")
    if not isinstance(sql, Mapping):
        return []
    try:
        program = program_of(sql, example.table)
        answers = run(program, example.table)
    except ProgramError:
        return []
    return [program] if not example.answers or compare(answers, example.answers).equal else []


def _column(index: object, table: Table) -> str:
    if type(index) is not int or not 0 <= index < len(table.column_ids):
        raise bad(f"there is no column {index!r} in a table of {len(table.column_ids)}")
    return table.column_ids[index]


def _value(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise bad(f"a condition compares with a text or a number, not {value!r}")
    return (
        value
        if isinstance(value, str)
        else f"{value:g}"
        if isinstance(value, float) and value.is_integer()
        else str(value)
    )
