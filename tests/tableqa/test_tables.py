"""The table: immutable, strings only, addressed by id."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest
from hypothesis import given

from tableqa import Span, Table
from tableqa.data.tables import TableError
from tests.tableqa.strategies import tables


@pytest.fixture
def medals() -> Table:
    return Table(
        ["Rank", "Name", ""], [["1", "Ann", "x"], ["2", "Bob", ""]], title="Medals", caption="of 1991"
    )


def test_lists_become_tuples(medals: Table) -> None:
    assert medals.header == ("Rank", "Name", "")
    assert medals.rows == (("1", "Ann", "x"), ("2", "Bob", ""))


def test_another_title_changes_nothing_else(medals: Table) -> None:
    digest = medals.digest()

    titled = medals.titled("Cups", "of 1992")

    assert titled == dataclasses.replace(medals, title="Cups", caption="of 1992")
    assert titled.digest() == dataclasses.replace(titled).digest() != digest
    with pytest.raises(TableError, match="the title contains a NUL"):
        medals.titled("\0", "")


def test_a_source_table_has_the_ids_of_its_places(medals: Table) -> None:
    assert medals.row_ids == ("r0", "r1")
    assert medals.column_ids == ("c0", "c1", "c2")
    assert medals.header_id == "h"
    assert medals.has_source_ids


def test_a_cell_is_addressed_by_ids(medals: Table) -> None:
    assert medals.cell("r1", "c1") == "Bob"
    assert medals.cell("h", "c1") == "Name"
    assert medals.column("c1") == ("Ann", "Bob")
    assert medals.row_index("r1") == 1
    assert medals.column_index("c2") == 2


@pytest.mark.parametrize(("row", "column"), [("r2", "c0"), ("r0", "c3"), ("n1", "c0"), ("", "")])
def test_an_unknown_place_is_named(medals: Table, row: str, column: str) -> None:
    with pytest.raises(KeyError, match=r"there is no (row|column)"):
        medals.cell(row, column)


def test_headers_that_repeat_or_are_empty_are_fine() -> None:
    table = Table(["", "", "a", "a"], [["1", "2", "3", "4"]])
    assert [table.cell("r0", column) for column in table.column_ids] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("shape", [([], []), (["a"], []), (["a"], [["1"]] * 753), ([], [[], []])])
def test_tables_may_lack_rows_and_columns(shape: tuple[list[str], list[list[str]]]) -> None:
    assert Table.from_dict(Table(*shape).to_dict()) == Table(*shape)


def test_nothing_of_a_table_can_be_changed(medals: Table) -> None:
    for field in dataclasses.fields(medals):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(medals, field.name, ())
    with pytest.raises(TypeError):
        medals.rows[0][0] = "2"  # type: ignore[index]


def test_the_lists_given_may_change_afterwards_the_table_does_not() -> None:
    row = ["1"]
    table = Table(["a"], [row])
    row[0] = "2"
    assert table.rows == (("1",),)


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        (["a", "b"], [["1", "2"], ["3"]], "row 2 has 1 cells, the header has 2"),
        (["a"], [["1", "2"]], "row 1 has 2 cells, the header has 1"),
        (["a"], [[1]], "row 1, column 1: a cell must be a string, not a number"),
        (["a", "b"], [["1", None]], "row 1, column 2: a cell must be a string, not nothing"),
        (["a", float("nan")], [], "the header, column 2: a cell must be a string, not a number"),
        ("ab", [], "the header must be a list, not a string"),
        (["a"], ["1"], "row 1 must be a list, not a string"),
        (["a"], {"a": 1}, "the rows must be a list, not an object"),
        (["a"], None, "the rows must be a list, not nothing"),
        (["a"], [["x\0"]], "row 1, column 1: the text contains a NUL character"),
        (["\ud800"], [], "the header, column 1: the text contains an unpaired surrogate"),
    ],
)
def test_what_is_not_a_table_is_refused_naming_the_place(header, rows, message: str) -> None:
    with pytest.raises(TableError) as error:
        Table(header, rows)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ({"row_ids": ["r0"]}, "there are"),
        ({"row_ids": ["r0", "r0"]}, "the row id r0 is given twice"),
        ({"row_ids": ["r0", "h"]}, "the row id h is given twice"),
        ({"row_ids": ["r0", ""]}, "cannot be a row id"),
        ({"row_ids": ["r0", 1]}, "cannot be a row id"),
        ({"column_ids": ["c0", "c1", "<b>"]}, "cannot be a column id"),
        ({"column_ids": ["c0", "c0", "c1"]}, "the column id c0 is given twice"),
        ({"header_id": "r1"}, "the row id r1 is given twice"),
    ],
)
def test_ids_are_checked(medals: Table, ids: dict[str, list[str]], message: str) -> None:
    with pytest.raises(TableError, match=message):
        Table(medals.header, medals.rows, **ids)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("span", "message"),
    [
        (Span("r9", "c0", 2, 1), "which is not in this table"),
        (Span("r0", "c0", 3, 1), "reaches beyond the table"),
        (Span("r0", "c0", 1, 1), "covers no second cell"),
        (Span("r0", "c0", 0, 5), "covers no second cell"),
        (Span("r0", "c0", "2", 1), "a span is a Span"),  # type: ignore[arg-type]
    ],
)
def test_a_merged_cell_lies_within_the_table(medals: Table, span: Span, message: str) -> None:
    with pytest.raises(TableError, match=message):
        Table(medals.header, medals.rows, spans=[span])


def test_merged_cells_do_not_overlap(medals: Table) -> None:
    with pytest.raises(TableError, match="overlaps another one"):
        Table(medals.header, medals.rows, spans=[Span("r0", "c0", 2, 2), Span("r1", "c1", 1, 2)])


def test_the_dict_names_only_what_is_set(medals: Table) -> None:
    assert Table(["a"], [["1"]]).to_dict() == {"header": ["a"], "rows": [["1"]]}
    assert medals.to_dict() == {
        "header": ["Rank", "Name", ""],
        "rows": [["1", "Ann", "x"], ["2", "Bob", ""]],
        "title": "Medals",
        "caption": "of 1991",
    }


def test_the_digest_is_known() -> None:
    # printf '{"header":["a"],"rows":[["é"]]}' | sha256sum
    expected = "6dbe493a2f113b8564e96c5af5a57e4260172c3857299e9d5967f404710b072f"
    assert Table(["a"], [["é"]]).digest() == expected


def test_ids_are_not_part_of_the_digest_and_are_on_the_wire() -> None:
    source = Table(["a", "b"], [["1", "2"], ["3", "4"]], spans=[Span("r0", "c0", 1, 2)])
    derived = Table(
        ["a", "b"],
        [["1", "2"], ["3", "4"]],
        spans=[Span("n1", "c3", 1, 2)],
        row_ids=["n1", "r0"],
        column_ids=["c3", "c1"],
    )
    assert derived.digest() == source.digest()
    assert derived != source
    assert derived.to_dict() == source.to_dict()
    assert derived.to_wire()["row_ids"] == ["n1", "r0"]
    assert "row_ids" not in source.to_wire()


def test_title_and_further_header_rows_are_part_of_the_digest() -> None:
    plain = Table(["a"], [["1"]])
    others = [
        Table(["a"], [["1"]], title="t"),
        Table(["a"], [["1"]], caption="t"),
        Table(["a"], [["1"]], header_rows=[["t"]]),
        Table(["a"], [["2"]]),
    ]
    assert len({table.digest() for table in (plain, *others)}) == 5


@given(tables)
def test_a_table_survives_the_wire(table: Table) -> None:
    assert Table.from_dict(table.to_wire()) == table
    assert Table.from_dict(table.to_dict()).digest() == table.digest()


@given(tables)
def test_a_table_is_copied_and_pickled(table: Table) -> None:
    assert table.digest() == pickle.loads(pickle.dumps(table)).digest()
    assert copy.deepcopy(table) == table
    assert hash(copy.deepcopy(table)) == hash(table)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "a table must be an object"),
        ([], "a table must be an object"),
        ({"header": ["a"]}, "a table needs rows"),
        ({"header": ["a"], "rows": [], "name": "t"}, "a table has no name"),
        ({"header": ["a"], "rows": [], "title": 1}, "the title must be a string"),
        ({"header": ["a"], "rows": [], "spans": [1]}, "a span has exactly the keys"),
        (
            {"header": ["a"], "rows": [], "spans": [{"row": [], "column": [], "rows": 1, "columns": 2}]},
            "a span",
        ),
        ({"header": ["a"], "rows": [], "row_ids": 3}, "row_ids must be a list"),
        ({"header": ["a"], "rows": [], "header_id": []}, "cannot be a row id"),
        ({"header": "a", "rows": []}, "the header must be a list"),
    ],
)
def test_what_cannot_be_read_is_refused(data: object, message: str) -> None:
    with pytest.raises(TableError, match=message):
        Table.from_dict(data)
