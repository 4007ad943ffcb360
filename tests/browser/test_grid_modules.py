"""The grid's modules without a page: what they share with Python says the same for whatever edit Hypothesis thinks of."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from tableqa import Table
from tableqa.cells.columns import holds_numbers
from tableqa.contracts import Contract, structure
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
from tests.tableqa.strategies import edits, rich_tables, texts

pytestmark = pytest.mark.django_db(transaction=True)
ENOUGH = 150


@pytest.fixture
def modules(page: Page, live_server: Any) -> Page:
    page.goto(f"{live_server.url}/sign-in/")
    return page


def drawn(strategy: st.SearchStrategy[Any], number: int = ENOUGH) -> list[Any]:
    """Many examples for one trip to the browser; a browser for each would take minutes."""
    found: list[Any] = []

    @settings(max_examples=number, database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(example: Any) -> None:
        found.append(example)

    collect()
    return found


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


def test_any_edit_is_replayed_made_net_judged_and_described_as_in_python(modules: Page) -> None:
    examples = drawn(st.tuples(edits(), contracts, st.sampled_from(["", "because"])))
    cases = [
        {
            "table": _wire(table),
            "operations": [operation.to_dict() for operation in operations],
            "contract": contract.to_dict(),
            "reason": reason,
        }
        for (table, operations), contract, reason in examples
    ]
    found = modules.evaluate(
        """async (cases) => {
            const { normalise, replay } = await import("/static/askew/operations.js");
            const { check } = await import("/static/askew/contract.js");
            const { describe } = await import("/static/askew/words.js");
            return cases.map(({ table, operations, contract, reason }) => {
                const edited = replay(table, operations);
                return {
                    edited: [edited.header, edited.rows, edited.row_ids, edited.column_ids, edited.header_rows],
                    net: normalise(operations, table),
                    violations: check(contract, table, operations, reason),
                    words: operations.map((operation) => describe(operation, table)),
                };
            });
        }""",
        cases,
    )
    for ((table, operations), contract, reason), browser in zip(examples, found, strict=True):
        edited = replay(table, operations)
        rows = [list(row) for row in edited.rows]
        above = [list(row) for row in edited.header_rows]
        ids = [list(edited.row_ids), list(edited.column_ids)]
        assert browser["edited"] == [list(edited.header), rows, *ids, above]
        assert browser["net"] == [operation.to_dict() for operation in normalise(operations, table)]
        assert browser["violations"] == [
            one.to_dict() for one in structure(contract, table, operations, reason)
        ]
        words = [describe(operation, table) for operation in operations]
        if all(unicodedata.category(character) != "Cn" for character in "".join(words)):
            # Which way characters run that are not assigned yet, the browser and Python may know differently.
            assert browser["words"] == words


def test_operations_on_another_table_are_refused_with_the_same_code(modules: Page) -> None:
    examples = [(one[0], other[1]) for one, other in drawn(st.tuples(edits(), edits()))]
    examples += [(_with_other_cells(table), operations) for table, operations in drawn(edits())]
    cases = [
        [_wire(table), [operation.to_dict() for operation in operations]] for table, operations in examples
    ]
    found = modules.evaluate(
        """async (cases) => {
            const { replay } = await import("/static/askew/operations.js");
            return cases.map(([table, operations]) => {
                try {
                    replay(table, operations);
                    return null;
                } catch (error) {
                    return [error.code, error.index];
                }
            });
        }""",
        cases,
    )
    expected = [_refusal(table, operations) for table, operations in examples]
    assert found == expected
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


def test_whatever_is_removed_comes_back_as_it_was(modules: Page) -> None:
    """Every second row and column is removed and put back: nothing is left of it, and further changes stay whole."""
    examples = drawn(edits(kinds=("set_cell", "rename_header", "insert_row", "insert_column", "move_row")))
    found = modules.evaluate(
        """async (cases) => {
            const { Edits } = await import("/static/askew/edits.js");
            const thereAndBack = (table, operations) => {
                const edits = new Edits(table);
                edits.begin(operations);
                const half = (ids) => ids.filter((_, place) => place % 2 === 0);
                const [rows, columns] = [half(edits.base.row_ids), half(edits.base.column_ids)];
                edits.become(edits.without(rows, columns));
                edits.become(edits.withBack(rows, columns));
                return edits;
            };
            return cases.map(([table, operations]) => {
                const { base, edited } = thereAndBack(table, operations);
                return [
                    thereAndBack(table, []).operations.length,
                    base.row_ids.every((id) => edited.row_ids.includes(id)),
                    base.column_ids.every((id) => edited.column_ids.includes(id)),
                    edited.rows.every((cells) => cells.length === edited.header.length),
                ];
            });
        }""",
        [[_wire(table), [operation.to_dict() for operation in operations]] for table, operations in examples],
    )
    assert found == [[0, True, True, True]] * len(examples)


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
SESSION = """async (cases) => {
    const { Edits } = await import("/static/askew/edits.js");
    const { History } = await import("/static/askew/history.js");
    const acts = {
        write: (edits, [row], [column], text) => edits.withTexts([{ row, column, text }]),
        name: (edits, _, [column], text) => edits.withTexts([{ row: edits.base.header_id, column, text }]),
        remove: (edits, rows, columns, text) => edits.without(text.length % 2 ? rows : [], text.length % 2 ? [] : columns),
        back: (edits) => edits.withBack(...["rows", "columns"].map((what) => gone(edits, what))),
        new: (edits, [row]) => edits.withNewRow(edits.edited.row_ids.includes(row) ? row : null)[1],
        split: (edits, _, [column], text) => edits.with(edits.edited.column_ids.includes(column)
            ? [{ op: "split_column", column, into: edits.freshIds(2).map((id, at) => (
                { column: id, header: `${text}${at}`, cells: edits.edited.rows.map(() => `${at}`) })) }]
            : []),
        mask: (edits, [row], [column], text) => edits.with(
            edits.edited.row_ids.includes(row) && edits.edited.column_ids.includes(column)
                ? [{ op: "mask_cells", cells: [[row, column]], with: text }]
                : []),
        "one back": (edits, _, __, text) => (edits.operations.length
            ? edits.withTakenBack(text.length % edits.operations.length) ?? edits.operations
            : edits.operations),
    };
    const gone = (edits, what) => edits.state[what].filter(({ removed }) => removed).map(({ id }) => id);
    const some = (ids, at) => (ids.length ? [ids[at % ids.length]] : ["nothing"]);
    return cases.map(([table, gestures]) => {
        const edits = new Edits(table);
        const history = new History();
        for (const [kind, row, column, text] of gestures) {
            if (kind === "undo" || kind === "redo") {
                const step = history[kind](edits.operations);
                if (step) edits.become(step);
                continue;
            }
            const before = edits.operations;
            const { rowIds, columnIds } = edits.state;
            const after = acts[kind](edits, some(rowIds, row), some(columnIds, column), text);
            if (JSON.stringify(after) === JSON.stringify(before)) continue;
            history.did(before);
            edits.become(after);
        }
        const { operations, edited } = edits;
        const found = { operations, edited: [edited.header, edited.rows, edited.row_ids, edited.column_ids] };
        edits.become(edits.withBack(gone(edits, "rows"), gone(edits, "columns")));
        found.whole = edits.operations;
        edits.become(operations);
        let step;
        const way = [];
        while ((step = history.undo(edits.operations))) {
            way.push(edits.operations);
            edits.become(step);
        }
        found.begun = edits.operations;
        while (way.length && (step = history.redo(edits.operations))) {
            edits.become(step);
            if (edits.operations !== way.pop()) found.begun = "another way back";
        }
        return found;
    });
}"""


def test_whatever_people_do_in_turn_is_net_and_means_the_same_in_python(modules: Page) -> None:
    """Sessions of every gesture of the grid, undo and redo among them: the list that they leave is Python's net list."""
    examples = drawn(st.tuples(rich_tables(), GESTURES), 300)
    found = modules.evaluate(SESSION, [[_wire(table), gestures] for table, gestures in examples])
    reached: set[str] = set()
    for (table, gestures), browser in zip(examples, found, strict=True):
        operations = [from_dict(one) for one in browser["operations"]]
        edited = replay(table, operations)
        rows = [list(row) for row in edited.rows]
        assert browser["edited"] == [
            *(list(edited.header), rows, list(edited.row_ids), list(edited.column_ids)),
        ]
        assert browser["operations"] == [one.to_dict() for one in normalise(operations, table)], gestures
        assert browser["begun"] == [], gestures
        whole = [from_dict(one) for one in browser["whole"]]
        split = {one.column for one in whole if isinstance(one, SplitColumn)}
        lost = [
            *(one.row for one in whole if isinstance(one, RemoveRow) and one.row in table.row_ids),
            *(one.column for one in whole if isinstance(one, RemoveColumn) and one.column not in split),
        ]
        assert not [id for id in lost if id in (*table.row_ids, *table.column_ids)], gestures
        if not any(isinstance(one, (SplitColumn, MaskCells)) for one in operations):
            assert replay(table, diff(table, edited, match="ids")) == edited
        reached |= {one["op"] for one in browser["operations"]}
    assert reached >= {
        *(
            "set_cell",
            "rename_header",
            "remove_row",
            "remove_column",
            "insert_row",
            "split_column",
            "mask_cells",
        ),
    }


def test_a_row_that_is_put_back_after_a_split_leaves_nothing_behind(modules: Page) -> None:
    """Removed after the split it has its parts again; removed before it, its parts are empty, for nobody knows them."""
    table = {"header": ["a", "b"], "rows": [["1-2", "x"], ["3-4", "y"], ["5-6", "z"]]}
    after, before, texts_before, column = modules.evaluate(
        """async (table) => {
            const { Edits } = await import("/static/askew/edits.js");
            const edits = new Edits(table);
            const split = () => edits.with([{ op: "split_column", column: "c0", into: [0, 1].map((part) => ({
                column: `n${part + 1}`, header: `part ${part}`,
                cells: edits.edited.rows.map(([text]) => text.split("-")[part]) })) }]);
            const ops = () => edits.operations.map(({ op }) => op);
            edits.become(split());
            const whole = JSON.stringify(edits.operations);
            edits.become(edits.without(["r1"], []));
            edits.become(edits.withBack(["r1"], []));
            const after = JSON.stringify(edits.operations) === whole;
            edits.become([]);
            edits.become(edits.without(["r1"], ["c1"]));
            edits.become(split());
            edits.become(edits.withBack(["r1"], []));
            const before = ops();
            const texts = edits.edited.rows;
            edits.become(edits.withBack([], ["c1"]));
            return [after, before, texts, [ops(), edits.edited.header, edits.edited.rows]];
        }""",
        table,
    )
    assert after
    assert before == ["remove_column", "split_column"]
    assert texts_before == [["1", "2"], ["", ""], ["5", "6"]]
    assert column == [
        ["split_column"],
        ["part 0", "part 1", "b"],
        [["1", "2", "x"], ["", "", "y"], ["5", "6", "z"]],
    ]


def test_columns_of_numbers_are_told_by_the_same_rule_as_in_python(modules: Page) -> None:
    near = st.sampled_from(["1", "2.5", "(9.9)", "$4", "12 %", "-", "", "n/a", "1,234", "May 2", "x"])
    columns = drawn(st.lists(near | texts, max_size=130))
    found = modules.evaluate(
        "async (columns) => columns.map((await import('/static/askew/painting.js')).holdsNumbers)", columns
    )
    assert found == [holds_numbers(column) for column in columns]


def test_copied_cells_come_out_of_a_text_as_they_went_in(modules: Page) -> None:
    cells = texts | st.text(st.sampled_from('\t\n"a ='), max_size=6)
    tables = [
        lines
        for lines in drawn(st.lists(st.lists(cells, min_size=1, max_size=4), min_size=1, max_size=4))
        if lines != [[""]]
    ]
    found = modules.evaluate(
        """async (tables) => {
            const { fromText, toText } = await import("/static/askew/clipboard.js");
            return tables.map((lines) => [fromText(toText(lines)), fromText(toText(lines) + "\\r\\n")]);
        }""",
        tables,
    )
    for lines, (back, with_end) in zip(tables, found, strict=True):
        assert back == lines or lines[-1] == [""]  # an empty last line cannot be told from a line end
        assert with_end == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a", [["a"]]),
        ("a\tb\r\nc\td\r\n", [["a", "b"], ["c", "d"]]),
        ("a\rb", [["a"], ["b"]]),
        ('"a\tb"\tc', [["a\tb", "c"]]),
        ('"a ""quoted"" one"', [['a "quoted" one']]),
        ('"not closed\tb', [['"not closed', "b"]]),
        ('"a" and more\tb', [['"a" and more', "b"]]),
        ('5" disk', [['5" disk']]),
        ("", [[""]]),
        ("\t", [["", ""]]),
        ("a\n\nb", [["a"], [""], ["b"]]),
    ],
)
def test_texts_of_spreadsheets_are_taken_apart(modules: Page, text: str, lines: list[list[str]]) -> None:
    found = modules.evaluate(
        "async (text) => (await import('/static/askew/clipboard.js')).fromText(text)", text
    )
    assert found == lines


def test_a_set_of_cells_is_given_in_the_order_of_the_table(modules: Page) -> None:
    found = modules.evaluate(
        """async () => {
            const { Cells } = await import("/static/askew/selection.js");
            const cells = Cells.of([["r2", "c1"], ["r0", "c1"], ["r2", "c0"], ["gone", "c0"]]);
            const more = cells.with(["r0", "r1"], ["c0"]);
            const less = more.with(["r2"], ["c0", "c1"], false);
            const places = new Map([["r0", 0], ["r1", 1], ["r2", 2]]);
            const said = (some) => some.pairs(places, ["c0", "c1"]).map((pair) => pair.join("/")).join(" ");
            const differ = [...Cells.between(cells, more)].join(" ");
            return [said(cells), said(more), said(less), more.size, more.hasAll(["r0", "r2"], ["c0", "c1"]), differ];
        }"""
    )
    assert found == [
        "r0/c1 r2/c0 r2/c1",
        "r0/c0 r0/c1 r1/c0 r2/c0 r2/c1",
        "r0/c0 r0/c1 r1/c0",
        6,
        True,
        "r0 r1",
    ]


def _wire(table: Table) -> dict[str, Any]:
    return {**table.to_wire(), "row_ids": list(table.row_ids), "column_ids": list(table.column_ids)}
