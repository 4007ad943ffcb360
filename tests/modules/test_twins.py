"""What JavaScript and Python share: the same result for every edit that Hypothesis draws.

`twins.js` runs the modules in Node.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import unicodedata
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tableqa import Table
from tableqa.cells import ColumnFormats, format_of, model_for, same_format, visible
from tableqa.cells.columns import holds_numbers
from tableqa.operations import (
    OPERATIONS,
    MaskCells,
    Operation,
    OperationError,
    RemoveColumn,
    RemoveRow,
    SplitColumn,
    describe,
    diff,
    from_dict,
    normalise,
    replay,
)
from tableqa.operations.merged_tables import Line, merge
from tableqa.perturbations.contracts import Contract, structure
from tests.plugin import ROOT, missing
from tests.tableqa.strategies import edits, rich_tables, texts

FOLDER = Path(__file__).parent
ENOUGH = 150


def in_javascript(function: str, cases: list[Any]) -> list[Any]:
    """The results of a function of twins.js for all cases, from one Node process."""
    node = shutil.which("node")
    if not node:
        missing("no Node 20 or newer")
        return []
    result = subprocess.run(
        [node, "--import", str(FOLDER / "hooks.js"), str(FOLDER / "twins.js"), function],
        cwd=ROOT,
        input="".join(f"{json.dumps(case)}\n" for case in cases),
        text=True,
        encoding="utf-8",
        capture_output=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.split("\n") if line]


def drawn(strategy: st.SearchStrategy[Any], number: int = ENOUGH) -> list[Any]:
    """Many examples for one Node process; a process for each would take minutes."""
    examples: list[Any] = []

    @settings(max_examples=number, database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(example: Any) -> None:
        examples.append(example)

    collect()
    return examples


contracts = st.builds(
    Contract,
    table=st.sampled_from(["differs", "any"]),
    at_most=st.none() | st.integers(0, 4),
    more_with_reason=st.booleans(),
    allowed=st.none() | st.lists(st.sampled_from(sorted(OPERATIONS)), unique=True).map(tuple),
    protected=st.lists(
        st.tuples(
            st.sampled_from(["r0", "r1", "r2", "h", "n1"]), st.sampled_from(["c0", "c1", "c2", "n1", "n2a"])
        ),
        max_size=3,
    ).map(tuple),
    cell_format=st.sampled_from(["warn", "require", "ignore"]),
)


PIECES = (
    *(
        "1",
        "23",
        "456",
        "2019",
        "1,234",
        "0",
        ".",
        ",",
        "%",
        " ",
        "\u00a0",
        "$",
        "EUR",
        "km",
        "(",
        ")",
        "-",
        "−",
        "+",
    ),
    *("May", "Mar.", "March", "/", ":", "30", "st", "th", "n/a", "–", "", "x", "\u200b", "pm", "#", "'"),
)
near_formats = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)


@st.composite
def twin_inputs(draw: st.DrawFn) -> tuple[Table, list[list[Operation]], Contract, str, list[str], list[str]]:
    """A table, variants of it, a contract with a reason, texts, and a column that they could be in."""
    table, operations = draw(edits())
    others = draw(st.lists(edits(st.just(table), most=4).map(lambda edit: edit[1]), max_size=2))
    reason = draw(st.sampled_from(["", "because"]))
    new = draw(st.lists(near_formats | texts, min_size=2, max_size=3))
    column = draw(st.lists(near_formats | texts, max_size=4))
    return table, [operations, *others], draw(contracts), reason, new, column


@pytest.mark.parametrize("number", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_scripts_give_the_results_of_python_for_all_inputs(number: int) -> None:
    """Replay, net operations, contracts, sentences, merged tables and formats of cells."""
    examples = drawn(twin_inputs(), number)
    cases = [
        {
            "table": _wire(table),
            "variants": [[operation.to_dict() for operation in operations] for operations in variants],
            "contract": contract.to_dict(),
            "reason": reason,
            "texts": new,
            "column": column,
        }
        for table, variants, contract, reason, new, column in examples
    ]
    results = in_javascript("twins", cases)
    assert len(results) == len(examples) >= number
    differences = [
        f"{key} of {case}:\n{result[key]}\n{value}"
        for example, case, result in zip(examples, cases, results, strict=True)
        for key, value in in_python(*example).items()
        if json.loads(json.dumps(value)) != result[key] and (key not in OF_CHARACTERS or _is_assigned(value))
    ]
    assert not differences, f"{len(differences)} differences:\n" + "\n".join(differences[:5])


def in_python(
    table: Table,
    variants: list[list[Operation]],
    contract: Contract,
    reason: str,
    new: list[str],
    column: list[str],
) -> dict[str, Any]:
    """What tableqa makes of an input, in the form of twins.js."""
    operations, formats = variants[0], ColumnFormats(column)
    edited = replay(table, operations)
    merged = merge(table, [replay(table, variant) for variant in variants])
    return {
        "edited": [edited.header, edited.rows, edited.row_ids, edited.column_ids, edited.header_rows],
        "net": [operation.to_dict() for operation in normalise(operations, table)],
        "violations": [each.to_dict() for each in structure(contract, table, operations, reason)],
        "words": [describe(operation, table) for operation in operations],
        "merged": merged
        and {
            "lines": [[_line(line) for line in lines] for lines in (merged.columns, merged.rows)],
            "cells": [
                [cells.texts, sorted(cells.changes.items())]
                for cells in (*merged.above, merged.header, *merged.cells)
            ],
            "changed": [merged.has_changes(row) for row in range(len(merged.rows))],
        },
        "formats": [asdict(format_of(text)) for text in new],
        "same": [
            [same_format(old, text, formats), same_format(None, text, formats), model_for(old, text, formats)]
            for old, text in pairwise(new)
        ],
        "visible": [visible(text) for text in (*new, *column)],
    }


def _line(line: Line) -> list[Any]:
    return [line.id, line.base, line.places, line.moved, line.removed, line.inserted]


OF_CHARACTERS = ("words", "visible")
"""Results that depend on the class of a character: Node knows characters of a later Unicode than Python 3.11."""


def _is_assigned(sentences: list[str]) -> bool:
    return all(unicodedata.category(character) != "Cn" for character in "".join(sentences))


def test_operations_on_another_table_are_refused_with_the_same_code() -> None:
    examples = [(first[0], second[1]) for first, second in drawn(st.tuples(edits(), edits()))]
    examples += [(_with_other_cells(table), operations) for table, operations in drawn(edits())]
    refusals = in_javascript("refusal", [_case(table, operations) for table, operations in examples])
    expected = [_refusal(table, operations) for table, operations in examples]
    assert refusals == expected
    codes = {refusal[0] for refusal in expected if refusal}
    assert {"stale_base", "unknown_row"} <= codes  # the examples reach what they are for


def _with_other_cells(table: Table) -> Table:
    """A table of the same shape and ids, whose texts all differ."""
    return Table(
        [f"{name}~" for name in table.header],
        [[f"{cell}~" for cell in row] for row in table.rows],
        header_rows=[[f"{cell}~" for cell in row] for row in table.header_rows],
        row_ids=table.row_ids,
        column_ids=table.column_ids,
        header_id=table.header_id,
    )


def _refusal(table: Table, operations: list[Operation]) -> list[Any] | None:
    try:
        replay(table, operations)
    except OperationError as error:
        return [error.code, error.index]
    return None


def test_whatever_is_removed_comes_back_as_it_was() -> None:
    """Every second row and column is removed and restored: nothing is left of it, and further changes stay whole."""
    examples = drawn(edits(kinds=("set_cell", "rename_header", "insert_row", "insert_column", "move_row")))
    results = in_javascript("restore", [_case(table, operations) for table, operations in examples])
    assert results == [[0, True, True, True]] * len(examples)


GESTURES = st.lists(
    st.tuples(
        st.sampled_from(
            ["write", "name", "remove", "back", "new", "split", "mask", "one back", "undo", "redo"]
        ),
        st.integers(0, 7),
        st.integers(0, 7),
        texts,
    ),
    max_size=12,
)


def test_whatever_people_do_in_turn_is_net_and_means_the_same_in_python() -> None:
    """Sessions of every gesture of the grid, with undo and redo: the list that they leave is Python's net list."""
    examples = drawn(st.tuples(rich_tables(), GESTURES), 300)
    sessions = in_javascript("session", [[_wire(table), gestures] for table, gestures in examples])
    reached: set[str] = set()
    for (table, gestures), session in zip(examples, sessions, strict=True):
        operations = [from_dict(operation) for operation in session["operations"]]
        edited = replay(table, operations)
        rows = [list(row) for row in edited.rows]
        assert session["edited"] == [
            *(list(edited.header), rows, list(edited.row_ids), list(edited.column_ids)),
        ]
        net = [operation.to_dict() for operation in normalise(operations, table)]
        assert session["operations"] == net, gestures
        assert session["first"] == [], gestures
        restored = [from_dict(operation) for operation in session["restored"]]
        split = {operation.column for operation in restored if isinstance(operation, SplitColumn)}
        rows_lost = [each.row for each in restored if isinstance(each, RemoveRow)]
        columns_lost = [each.column for each in restored if isinstance(each, RemoveColumn)]
        assert not set(rows_lost) & set(table.row_ids), gestures
        assert not (set(columns_lost) - split) & set(table.column_ids), gestures
        if not any(isinstance(operation, (SplitColumn, MaskCells)) for operation in operations):
            assert replay(table, diff(table, edited, match="ids")) == edited
        reached |= {operation["op"] for operation in session["operations"]}
    assert reached >= {
        *("set_cell", "rename_header", "remove_row", "remove_column"),
        *("insert_row", "split_column", "mask_cells"),
    }


def test_columns_of_numbers_are_recognised_by_the_same_rule_as_in_python() -> None:
    near = st.sampled_from(["1", "2.5", "(9.9)", "$4", "12 %", "-", "", "n/a", "1,234", "May 2", "x"])
    columns = drawn(st.lists(near | texts, max_size=130))
    assert in_javascript("numbers", columns) == [holds_numbers(column) for column in columns]


def test_copied_cells_come_out_of_a_text_as_they_went_in() -> None:
    cells = texts | st.text(st.sampled_from('\t\n"a ='), max_size=6)
    tables = [
        lines
        for lines in drawn(st.lists(st.lists(cells, min_size=1, max_size=4), min_size=1, max_size=4))
        if lines != [[""]]
    ]
    copies = in_javascript("clipboard", tables)
    for lines, (copy, with_line_end) in zip(tables, copies, strict=True):
        assert copy == lines or lines[-1] == [""]  # an empty last line and a line end are the same text
        assert with_line_end == lines


def _case(table: Table, operations: list[Operation]) -> list[Any]:
    return [_wire(table), [operation.to_dict() for operation in operations]]


def _wire(table: Table) -> dict[str, Any]:
    return {**table.to_wire(), "row_ids": list(table.row_ids), "column_ids": list(table.column_ids)}
