"""A first cut of a table leaves what the answer rests on, with what names it."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tableqa import Table
from tableqa.operations import replay
from tableqa.perturbations.short_tables import first_cut
from tableqa.programs.evidence import evidence
from tableqa.readers import READERS
from tests.tableqa.strategies import rich_tables

SALES = Table(
    ["", "2019", "2018", "2017"],
    [
        ["", "", "in millions", ""],
        ["Revenue", "900", "800", "700"],
        ["Expenses:", "", "", ""],
        ["Cost", "$100", "$82", "$91"],
        ["Research", "126", "67", "59"],
        ["Assets:", "", "", ""],
        ["Cash", "5", "6", "7"],
    ],
)


def test_rows_and_columns_of_the_evidence_stay_with_what_names_them() -> None:
    short = replay(SALES, first_cut(SALES, [("r3", "c1"), ("r3", "c2")]))
    assert short.header == ("", "2019", "2018")
    assert short.rows == (("", "", "in millions"), ("Expenses:", "", ""), ("Cost", "$100", "$82"))


def test_where_nothing_would_go_there_is_no_cut() -> None:
    table = Table(["a", "b"], [["x", "1"]])
    assert first_cut(table, [("r0", "c1")]) == []
    assert first_cut(SALES, []) == []
    assert first_cut(SALES, [("h", "c1")]) == [], "a cell of the header says nothing about rows"


@given(rich_tables(), st.data())
def test_a_cut_can_be_done_and_keeps_every_cell_that_was_asked_for(table: Table, data: st.DataObject) -> None:
    places = [(row, column) for row in table.row_ids for column in table.column_ids]
    wanted = data.draw(st.lists(st.sampled_from(places), max_size=4)) if places else []
    short = replay(table, first_cut(table, wanted))
    for row, column in wanted:
        assert short.cell(row, column) == table.cell(row, column)


def test_cuts_of_published_questions_are_nearly_those_that_people_made(test_data: Path) -> None:
    """FREB-TQA's people cut the same tables; how many columns they left is told from the header alone."""
    folder = test_data / "freb_tqa" / "03_agg_com"
    name = "tat_nonfactoid_dev_no_shuffle_{}_table.json"
    pairs = zip(
        READERS["freb_tqa"](folder / name.format("ori")),
        READERS["freb_tqa"](folder / name.format("short")),
        strict=True,
    )
    same = number = 0
    for original, theirs in pairs:
        found = evidence(original)
        if found is not None:
            short = replay(original.table, first_cut(original.table, found.cells))
            number += 1
            same += len(short.header) == len(theirs.table.header)
    assert number > 400
    assert same > 0.75 * number
