"""Programs: what they mean, that they survive edits, what they read, and how they are told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tableqa import Table
from tableqa.operations import (
    MoveColumn,
    MoveRow,
    Operation,
    RemoveColumn,
    RemoveRow,
    RenameHeader,
    SetCell,
    Transpose,
    replay,
)
from tableqa.programs import NODES, Program, ProgramError, describe, follows_order, from_dict, reads, run
from tableqa.programs.syntax import (
    Add,
    Aggregate,
    AllRows,
    Beside,
    Cell,
    Choice,
    Count,
    CountDifferent,
    Divide,
    Extreme,
    Holds,
    Minus,
    MostCommon,
    Multiply,
    Number,
    Percent,
    Pick,
    Place,
    RoundedValue,
    Rows,
    Select,
    Subtract,
    Those,
    Where,
    Year,
)

FILMS = Table(
    ["Film", "Year", "Country", "Minutes", "Prize"],
    [
        ["Alien", "1979", "UK", "117", "$1,000"],
        ["Heat", "1995", "USA", "170", "-"],
        ["Ran (乱)", "1985", "Japan", "162", "$250"],
        ["Brazil", "1985", "UK", "132", "n/a"],
        ["Fargo", "1996", "USA", "98", "$1,000"],
    ],
)
IN_1985 = Where("c1", "equals", "1985")
FROM_USA = Where("c2", "equals", "usa")
ONE = {"op": "number", "value": "1"}


@pytest.mark.parametrize(
    ("program", "answers", "words"),
    [
        (Count(AllRows()), ["5"], "number of rows"),
        (Count(IN_1985), ["2"], "number of rows where Year is 1985"),
        (
            Count(Where("c2", "contains", "UK", Where("c1", "at_most", "1985"))),
            ["2"],
            "number of rows where Year is at most 1985 and Country contains UK",
        ),
        (Count(Where("c4", "differs", "")), ["3"], "number of rows where Prize is not empty"),
        (Count(Where("c3", "greater", Cell("r3", "c3"))), ["2"], None),
        (Count(Where("c3", "greater", Aggregate("average", "c3"))), ["2"], None),
        (CountDifferent("c2"), ["3"], "number of different Country"),
        (Select("c0", IN_1985), ["Ran (乱)", "Brazil"], "Film where Year is 1985"),
        (Select("c2", FROM_USA), ["USA"], "Country where Country is usa"),
        (Select("c0", Extreme("largest", "c3")), ["Heat"], "Film with the largest Minutes"),
        (
            Select("c0", Extreme("smallest", "c3", FROM_USA)),
            ["Fargo"],
            "Film with the smallest Minutes where Country is usa",
        ),
        (Select("c0", Extreme("largest", "c4")), ["Alien", "Fargo"], None),
        (
            Select("c0", Place("last", IN_1985)),
            ["Brazil"],
            "Film of the last row among rows where Year is 1985",
        ),
        (
            Select("c0", Beside("after", FROM_USA)),
            ["Ran (乱)"],
            "Film of the row below rows where Country is usa",
        ),
        (Select("c0", Beside("before", FROM_USA)), ["Alien", "Brazil"], None),
        (MostCommon("smallest", "c2"), ["Japan"], "least common Country"),
        (MostCommon("largest", "c2"), ["UK", "USA"], "most common Country"),
        (Aggregate("sum", "c3"), ["679"], "sum of Minutes"),
        (Aggregate("sum", "c4"), ["2250"], None),
        (Aggregate("average", "c3", FROM_USA), ["134"], None),
        (Aggregate("largest", "c3"), ["170"], "largest value of Minutes"),
        (Cell("r0", "c0"), ["Alien"], "Film in row 1 (UK)"),
        (
            Subtract(Cell("r1", "c3"), Cell("r0", "c3")),
            ["53"],
            "Minutes in row 2 (Heat) minus Minutes in row 1 (Alien)",
        ),
        (Divide(Add((Cell("r0", "c3"), Cell("r1", "c3"))), Number("2")), ["143.5"], None),
        (
            RoundedValue(Percent(Divide(Subtract(Cell("r1", "c3"), Cell("r0", "c3")), Cell("r0", "c3"))), 2),
            ["45.3"],
            "percent change from Minutes in row 1 (Alien) to Minutes in row 2 (Heat)",
        ),
        (Percent(Divide(Cell("r4", "c3"), Aggregate("sum", "c3"))), ["14.43299"], None),
        (Multiply((Minus(Cell("r4", "c3")), Number("-0.5"))), ["49"], None),
        (
            Pick(
                "largest",
                (Choice(Cell("r0", "c0"), Cell("r0", "c3")), Choice(Cell("r3", "c0"), Cell("r3", "c3"))),
            ),
            ["Brazil"],
            "which of Alien and Brazil has the largest Minutes",
        ),
        (
            Those(
                (Choice(Cell("h", "c1"), Cell("r0", "c1")), Choice(Cell("h", "c3"), Cell("r0", "c3"))),
                "less",
                Number("500"),
            ),
            ["Minutes"],
            "those of Year and Minutes whose value in row 1 (Alien) is less than 500",
        ),
        (Holds(Count(FROM_USA), "greater", Number("1")), ["yes"], None),
        (Holds(Cell("r0", "c1"), "less", Cell("r1", "c1"), ("before", "after")), ["before"], None),
    ],
)
def test_what_a_program_means(program: Program, answers: list[str], words: str | None) -> None:
    assert run(program, FILMS) == answers
    if words is not None:
        assert describe(program, FILMS) == words


def test_dates_and_times_are_compared_as_such() -> None:
    table = Table(
        ["Game", "Day", "Length", "Born"],
        [
            ["A", "31 January 2004", "1:05:04", "1899"],
            ["B", "2 January 2005", "59:10", "7 April 1901"],
            ["C", "7 April 1991", "1:20:00", "8 April 1901"],
        ],
    )
    assert run(Select("c0", Extreme("largest", "c1")), table) == ["B"]
    assert run(Select("c0", Extreme("smallest", "c2")), table) == ["B"]
    assert run(Select("c0", Extreme("smallest", "c3")), table) == ["A"], "a year stands among dates"
    assert run(Aggregate("largest", "c1"), table) == ["2 January 2005"]
    assert run(Count(Where("c1", "greater", "2004")), table) == ["1"], "a day in 2004 is not after 2004"
    assert run(Count(Where("c1", "less", "February 1, 2004")), table) == ["2"]
    assert run(Select("c0", Where("c1", "equals", "2005-01-02")), table) == ["B"]
    assert run(Subtract(Cell("r1", "c1"), Cell("r2", "c1")), table) == ["14"], "of dates, the years"
    assert run(Year(Select("c1", Where("c0", "equals", "c"))), table) == ["1991"]


@pytest.mark.parametrize(
    ("cell", "value", "relation", "meets"),
    [
        ("1,234", "1234", "equals", True),
        ("1,234", "1234.0", "equals", True),
        ("12 %", "12", "equals", True),
        ("Ann (USA)", "ann", "equals", False),
        ("Ann (USA)", "ann", "contains", True),
        ("Ann [1]", "ann", "equals", True),
        ("Ann", "Anna", "equals", False),
        ("5 (2)", "4", "greater", True),
        ("12th", "3", "greater", True),
        ("10.5 m (34 ft)", "10.5", "at_least", True),
        ("DNF", "3", "greater", False),
        ("2001–02", "2001", "contains", True),
        ("12001", "2001", "contains", False),
        ("São Paulo, Brazil", "sao paulo", "contains", True),
        ("", "a", "differs", False),
        ("b", "a", "differs", True),
    ],
)
def test_how_a_cell_meets_a_condition(cell: str, value: str, relation: Any, meets: bool) -> None:
    table = Table(["x"], [[cell]])
    assert run(Count(Where("c0", relation, value)), table) == [str(int(meets))]


@pytest.mark.parametrize(
    ("program", "operation", "code", "sentence"),
    [
        (
            Cell("r1", "c3"),
            RemoveRow(row="r1", old=("Heat", "1995", "USA", "170", "-")),
            "gone",
            "The program needs row 2 of the source, which is removed.",
        ),
        (
            Aggregate("sum", "c3"),
            RemoveColumn(column="c3", old=("Minutes", "117", "170", "162", "132", "98")),
            "gone",
            "The program needs column 4 of the source, which is removed.",
        ),
        (
            Subtract(Cell("r1", "c3"), Number("1")),
            SetCell(row="r1", column="c3", old="170", new="long"),
            "not_a_number",
            "Row 2, Minutes contains “long”, which is not a number.",
        ),
        (
            Aggregate("average", "c3"),
            SetCell(row="r1", column="c3", old="170", new="long"),
            "not_a_number",
            "Row 2, Minutes contains “long”, which is not a number.",
        ),
        (
            Select("c0", Where("c2", "equals", "Japan")),
            SetCell(row="r2", column="c2", old="Japan", new="France"),
            "no_value",
            "No row matches.",
        ),
        (
            Divide(Number("1"), Cell("r0", "c3")),
            SetCell(row="r0", column="c3", old="117", new="0"),
            "division_by_zero",
            "The program would divide by 0.",
        ),
        (
            Cell("r0", "c0"),
            SetCell(row="r0", column="c0", old="Alien", new=" "),
            "no_value",
            "Row 1, Film is empty.",
        ),
    ],
)
def test_a_program_that_no_longer_runs_says_why(
    program: Program, operation: Operation, code: str, sentence: str
) -> None:
    run(program, FILMS)
    with pytest.raises(ProgramError) as error:
        run(program, replay(FILMS, [operation]))
    assert (error.value.code, str(error.value)) == (code, sentence)


def test_a_dash_counts_as_nought_and_says_nothing() -> None:
    assert run(Subtract(Cell("r0", "c4"), Cell("r1", "c4")), FILMS) == ["1000"]
    assert run(Aggregate("smallest", "c4"), FILMS) == ["250"]


def test_the_answer_follows_an_edit() -> None:
    longest = Select("c0", Extreme("largest", "c3"))
    edited = replay(FILMS, [SetCell(row="r0", column="c3", old="117", new="190")])
    assert (run(longest, FILMS), run(longest, edited)) == (["Heat"], ["Alien"])


@pytest.mark.parametrize(
    ("program", "cells"),
    [
        (Count(IN_1985), {("r2", "c1"), ("r3", "c1")}),
        (
            Count(Where("c2", "equals", "UK", IN_1985)),
            {("r3", "c1"), ("r3", "c2")},
        ),
        (Count(AllRows()), {(f"r{i}", "c0") for i in range(5)}),
        (Aggregate("sum", "c3", FROM_USA), {(f"r{i}", f"c{j}") for i in (1, 4) for j in (2, 3)}),
        (Select("c0", Extreme("largest", "c3")), {*((f"r{i}", "c3") for i in range(5)), ("r1", "c0")}),
        (Subtract(Cell("r1", "c3"), Cell("r0", "c3")), {("r1", "c3"), ("r0", "c3")}),
        (
            Select("c0", Extreme("largest", "c4")),
            {("r0", "c4"), ("r2", "c4"), ("r4", "c4"), ("r0", "c0"), ("r4", "c0")},
        ),
    ],
)
def test_which_cells_an_answer_rests_on(program: Program, cells: set[tuple[str, str]]) -> None:
    assert reads(program, FILMS) == cells


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (5, "the program is an object with op, not 5"),
        ({}, "the program has the op None"),
        ({"op": "shell", "do": "rm"}, "the program has the op 'shell'"),
        ({"op": "count"}, "count lacks of"),
        ({"op": "count", "of": {"op": "all_rows"}, "more": 1}, "count has no field more"),
        ({"op": "count", "of": {"op": "cell", "row": "r0", "column": "c0"}}, "of is rows, or the choices"),
        ({"op": "all_rows"}, "a program is an expression or an answer made of texts, not all_rows"),
        ({"op": "number", "value": "1e9"}, "plain digits"),
        ({"op": "number", "value": 5}, "plain digits"),
        ({"op": "cell", "row": "3", "column": "c0"}, "row is the id of a row, not '3'"),
        ({"op": "add", "terms": [{"op": "number", "value": "1"}]}, "2 or more"),
        ({"op": "aggregate", "function": "median", "column": "c0"}, "function is one of"),
        ({"op": "rounded", "of": {"op": "number", "value": "1"}, "places": True}, "whole number"),
        ({"op": "count", "of": {"op": "where", "column": "c0", "relation": "equals", "value": 5}}, "value is a text"),
        ({"op": "holds", "left": ONE, "relation": "contains", "right": ONE}, "contains nothing"),
        ({"op": "holds", "left": ONE, "relation": "less", "right": ONE, "words": ["yes"]}, "words is a list of two"),
    ],
)  # fmt: skip
def test_what_is_no_program_is_refused(data: object, message: str) -> None:
    with pytest.raises(ProgramError, match="^.*" + message.replace("(", r"\(")) as error:
        from_dict(data)
    assert error.value.code == "bad_program"


def test_a_program_from_outside_is_bounded() -> None:
    data: dict[str, Any] = {"op": "number", "value": "1"}
    for _ in range(100):
        data = {"op": "minus", "of": data}
    with pytest.raises(ProgramError, match="too large"):
        from_dict(data)
    with pytest.raises(ProgramError, match="too large"):
        from_dict({"op": "add", "terms": [{"op": "number", "value": "1"}] * 3_000})


def test_enormous_numbers_are_an_error_of_the_program() -> None:
    table = Table(["x"], [["1e999"]])
    square: Any = Cell("r0", "c0")
    for _ in range(15):
        square = Multiply((square, square))
    with pytest.raises(ProgramError, match="too large"):
        run(square, table)


# Properties ----------------------------------------------------------------------------------------------------------

TEXTS = ["", "a", "b", "4", "1,234", "(9.9)", "12 %", "October 31, 1999", "5:04", "2001–02", "n/a", "7 (2)"]


@st.composite
def number_tables(draw: st.DrawFn) -> Table:
    width, height = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    cells = st.lists(st.sampled_from(TEXTS), min_size=width, max_size=width)
    header = draw(st.lists(st.sampled_from(["", "x", "y", "2019"]), min_size=width, max_size=width))
    return Table(header, draw(st.lists(cells, min_size=height, max_size=height)))


RELATIONS = ["equals", "differs", "contains", "greater", "less", "at_least", "at_most"]


class NodeDrawer:
    """Draws the nodes of programs for one table, a few levels deep."""

    def __init__(self, draw: st.DrawFn, table: Table) -> None:
        self.draw = draw
        self.table = table

    def one_of(self, *values: Any) -> Any:
        return self.draw(st.sampled_from(values))

    def column(self) -> str:
        return str(self.one_of(*self.table.column_ids))

    def cell(self) -> Cell:
        return Cell(self.one_of(*self.table.row_ids), self.column())

    def rows(self, depth: int = 2) -> Rows:
        kind = self.one_of("all", "where", "where", "extreme", "place", "beside") if depth else "all"
        if kind == "where":
            value = self.one_of(*TEXTS, None)
            return Where(self.column(), self.one_of(*RELATIONS), value or self.cell(), self.rows(depth - 1))
        if kind == "extreme":
            return Extreme(self.one_of("largest", "smallest"), self.column(), self.rows(depth - 1))
        if kind == "place":
            return Place(self.one_of("first", "last"), self.rows(depth - 1))
        return Beside(self.one_of("after", "before"), self.rows(depth - 1)) if kind == "beside" else AllRows()

    def expression(self, depth: int = 2) -> Any:
        leaves = ["number", "cell", "cell", "aggregate", "count", "different"]
        inner = ["add", "multiply", "subtract", "divide", "minus", "percent", "rounded"] if depth else []
        match self.one_of(*leaves, *inner):
            case "number":
                return Number(self.one_of("2", "100", "-0.5"))
            case "cell":
                return self.cell()
            case "aggregate":
                function = self.one_of("sum", "average", "largest", "smallest")
                return Aggregate(function, self.column(), self.rows())
            case "count":
                return Count(self.rows())
            case "different":
                return CountDifferent(self.column(), self.rows())
            case "add":
                return Add((self.expression(depth - 1), self.expression(depth - 1)))
            case "multiply":
                return Multiply((self.expression(depth - 1), self.expression(depth - 1)))
            case "subtract":
                return Subtract(self.expression(depth - 1), self.expression(depth - 1))
            case "divide":
                return Divide(self.expression(depth - 1), self.expression(depth - 1))
            case "minus":
                return Minus(self.expression(depth - 1))
            case "percent":
                return Percent(self.expression(depth - 1))
        return RoundedValue(self.expression(depth - 1), self.one_of(0, 2, 4))

    def choices(self) -> tuple[Choice, ...]:
        labels: list[Cell | Year] = [self.cell(), Year(self.cell())]
        return tuple(Choice(label, self.expression(1)) for label in labels)

    def program(self) -> Any:
        which = self.one_of("largest", "smallest")
        match self.one_of(
            "expression", "expression", "select", "year", "common", "pick", "those", "count", "holds"
        ):
            case "select":
                return Select(self.column(), self.rows())
            case "year":
                return Year(Select(self.column(), self.rows()))
            case "common":
                return MostCommon(which, self.column(), self.rows())
            case "pick":
                return Pick(which, self.choices())
            case "those":
                return Those(self.choices(), "at_most", self.expression(1))
            case "count":
                return Count(Those(self.choices(), "greater", self.expression(1)))
            case "holds":
                return Holds(self.expression(1), "greater", self.expression(1))
        return self.expression()


@st.composite
def drawn_programs(draw: st.DrawFn) -> tuple[Table, Program]:
    table = draw(number_tables())
    return table, NodeDrawer(draw, table).program()


@st.composite
def drawn_arithmetic(draw: st.DrawFn) -> tuple[Table, Program]:
    """Programs that read single cells and nothing else."""
    table = draw(number_tables())
    drawing = NodeDrawer(draw, table)
    one, other = Choice(drawing.cell(), drawing.cell()), Choice(drawing.cell(), drawing.cell())
    program: Any = drawing.one_of(
        Subtract(one.value, other.value),
        Divide(Add((one.value, other.value)), Number("2")),
        Pick("largest", (one, other)),
        Holds(one.value, "less", other.value),
    )
    return table, program


tables_and_programs = drawn_programs()


def outcome(program: Program, table: Table) -> object:
    """The answers as a set, or why there are none."""
    try:
        return frozenset(run(program, table))
    except ProgramError as error:
        return error.code


@given(tables_and_programs)
def test_a_program_survives_json(drawn: tuple[Table, Program]) -> None:
    table, program = drawn
    data = json.loads(json.dumps(program.to_dict()))
    assert from_dict(data) == program
    assert outcome(data, table) == outcome(program, table)
    assert {node.op for node in program.walk()} <= set(NODES)


@given(tables_and_programs, st.data())
def test_moving_and_renaming_change_no_answer(drawn: tuple[Table, Program], data: st.DataObject) -> None:
    table, program = drawn
    assume(not follows_order(program))
    row, column = data.draw(st.sampled_from(table.row_ids)), data.draw(st.sampled_from(table.column_ids))
    others = [other for other in table.row_ids if other != row]
    beside = [other for other in table.column_ids if other != column]
    operations: list[Operation] = [
        MoveRow(row=row, after=data.draw(st.sampled_from([None, *others]))),
        MoveColumn(column=column, after=data.draw(st.sampled_from([None, *beside]))),
        RenameHeader(column=column, old=table.cell("h", column), new="another name"),
    ]
    edited = replay(table, operations)
    assert outcome(program, edited) == outcome(program, table)
    if outcome(program, table) != frozenset() and not isinstance(outcome(program, table), str):
        # Rows that are only counted are stood for by whatever stands in the first column.
        assert {row for row, _ in reads(program, edited)} == {row for row, _ in reads(program, table)}


@given(tables_and_programs)
def test_exchanging_rows_and_columns_changes_no_answer(drawn: tuple[Table, Program]) -> None:
    table, program = drawn
    # "Count of all rows" names no column, and cannot know which way round the table was.
    assume(any(hasattr(node, "column") for node in program.walk()))
    turned = replay(table, [Transpose()])
    assert outcome(program, turned) == outcome(program, table)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(drawn_arithmetic(), st.data())
def test_cells_that_are_not_read_do_not_matter_to_arithmetic(
    drawn: tuple[Table, Program], data: st.DataObject
) -> None:
    table, program = drawn
    assume(not isinstance(outcome(program, table), str))
    free = [(r, c) for r in table.row_ids for c in table.column_ids if (r, c) not in reads(program, table)]
    assume(free)
    row, column = data.draw(st.sampled_from(free))
    change = SetCell(row=row, column=column, old=table.cell(row, column), new="777")
    assert run(program, replay(table, [change])) == run(program, table)


@given(tables_and_programs)
def test_every_program_can_be_told(drawn: tuple[Table, Program]) -> None:
    table, program = drawn
    words = describe(program, table)
    assert words
    assert "object at" not in words
    emptied = Table(["z"], [], column_ids=["n9"])
    assert describe(program, emptied), "even of a table that has nothing of it"


@given(tables_and_programs)
def test_what_is_read_is_in_the_table(drawn: tuple[Table, Program]) -> None:
    table, program = drawn
    try:
        read = reads(program, table)
    except ProgramError:
        return
    for row, column in read:
        table.cell(row, column)


@pytest.mark.parametrize(
    ("top", "column", "name"),
    [
        (["($ in millions)", "2019", "2018"], "c2", "column “2018”"),
        (["($ in millions)", "2019", "2018"], "c0", "column 1"),
        (["", "2018", "2018"], "c2", "column 3 (2018)"),
        (["", "Share", "Value"], "c2", "column “Value”"),
    ],
)
def test_a_column_without_a_name_is_told_by_what_stands_at_the_top_of_the_body(
    top: list[str], column: str, name: str
) -> None:
    table = Table(["", "", ""], [top, ["Cost", "14.7", "15.4"], ["Other", "26.5", "24.4"]])
    assert describe(Aggregate("sum", column, AllRows()), table) == f"sum of {name}"


def test_the_first_column_without_a_name_holds_the_names_of_the_rows() -> None:
    rows = [["($ in millions)", "2019", "2018"], ["Cost", "14.7", "15.4"], ["Cost of debt", "26.5", "24.4"]]
    table = Table(["", "", ""], rows)
    one = Select("c2", Where("c0", "equals", "Cost", AllRows()))
    assert describe(one, table) == "column “2018” of row “Cost”"
    some = Aggregate("smallest", "c2", Where("c0", "contains", "Cost", AllRows()))
    assert describe(some, table) == "smallest value of column “2018” where row name contains Cost"
    assert (
        describe(Count(Where("c0", "equals", "Cost", AllRows())), table)
        == "number of rows where row name is Cost"
    )
    named = Table(["Item", "", ""], rows)
    assert describe(one, named) == "column “2018” where Item is Cost"
