"""The audit of released edits: on the public files it finds what is known to be wrong, and in small it says so plainly."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tableqa import Example, Table
from tableqa.operations import InsertRow, Operation, RemoveRow, diff, from_list, replay
from tableqa.quality_control.audit_findings import meaning_of
from tableqa.quality_control.edit_alignment import match_ids
from tableqa.quality_control.edit_audit import CONTRACTS, Audit, AuditedItem, audit, audit_item
from tableqa.readers import READERS
from tests.tableqa.strategies import edits, tables

FILMS = Table(["Film", "Minutes", "Takings"], [["Heat", "170", "$67.4"], ["Alien", "117", "$78.9"]])


def film(table: Table = FILMS, answers: Iterable[str] = ("Heat",), **more: Any) -> Example:
    return Example("1", more.pop("question", "which film is longest?"), table, answers, **more)


def edit(
    table: Table, answers: Iterable[str] = ("Alien",), contract: str = "answer_changes", **more: Any
) -> AuditedItem:
    """The audit of one edit of FILMS."""
    return audit_item(film(), film(table, answers, **more), CONTRACTS[contract])


def codes(item: AuditedItem) -> list[str]:
    return [finding.code for finding in item.violations]


def found(result: Audit, code: str) -> set[str]:
    """The beginnings of the ids of items in which a code was found."""
    return {item.id[:8] for item in result.items if code in codes(item)}


# On the public files of FREB-TQA: every fault that is known of them ---------------------------------------------------


@pytest.fixture(scope="module")
def released(test_data: Path) -> dict[str, list[Example]]:
    """The four files of part 3, TAT."""
    folder = test_data / "freb_tqa" / "03_agg_com"
    names = ("ori_table", "short_table", "ans_change", "ans_no_change")
    read = READERS["freb_tqa"]
    return {name: [*read(folder / f"tat_nonfactoid_dev_no_shuffle_{name}.json")] for name in names}


@pytest.fixture(scope="module")
def changes(released: dict[str, list[Example]]) -> Audit:
    return audit(released["short_table"], released["ans_change"], "answer_changes")


@pytest.fixture(scope="module")
def stays(released: dict[str, list[Example]]) -> Audit:
    return audit(released["short_table"], released["ans_no_change"], "answer_stays")


@pytest.fixture(scope="module")
def shortened(released: dict[str, list[Example]]) -> Audit:
    return audit(released["ori_table"], released["short_table"], "shortened")


def test_every_item_is_paired_and_its_operations_make_the_edited_table(
    released: dict[str, list[Example]], changes: Audit, stays: Audit, shortened: Audit
) -> None:
    files = ((changes, "short_table", "ans_change"), (stays, "short_table", "ans_no_change"))
    for result, base, edited in (*files, (shortened, "ori_table", "short_table")):
        assert result.totals["items"] == result.totals["paired"] == 537
        for item, before, after in zip(result.items, released[base], released[edited], strict=True):
            assert replay(before.table, item.operations).same_content(after.table)


def test_most_edits_keep_to_one_or_two_changes(changes: Audit, stays: Audit) -> None:
    for result in (changes, stays):
        assert 0.88 < result.totals["one_or_two_changes"] / 537 < 0.90
        assert result.totals["codes"]["too_many_operations"]["items"] > 50
    assert [result.totals["one_or_two_besides_damage"] for result in (changes, stays)] == [488, 486]


def test_tables_that_are_not_edited_are_found(changes: Audit, stays: Audit) -> None:
    assert found(changes, "table_unchanged") == {"d2969c34", "df12359b", "40f5eb1c"}
    assert found(stays, "table_unchanged") == {"40f5eb1c"}


def test_answer_changes_that_keep_their_answer_are_found(changes: Audit) -> None:
    assert found(changes, "answer_unchanged") == {"27911d6f", "40f5eb1c"}
    assert (
        next(item for item in changes.items if item.id.startswith("27911d6f")).answer_difference == "rounding"
    )


def test_equal_tables_with_another_gold_answer_are_found(changes: Audit) -> None:
    """Somebody's edit was lost on saving, and the answer was not."""
    assert found(changes, "same_table_other_answer") == {"d2969c34", "df12359b"}


LOST_POINTS = {
    *(
        "0f59d1f7",
        "24395900",
        "43e6bb90",
        "4c5a0a4f",
        "56327885",
        "58adf6c4",
        "73693527",
        "8274a8e5",
        "890e40b2",
    ),
    *("9d2aa4d9", "a648d9e3", "d21b8fe8", "d614d083", "3a467fa9"),
}
"""Questions whose numbers are ten times too large in one of the files, as 41.0 -> 400 and 2,623.7 -> 2,6000."""


def test_lost_decimal_points_are_found(changes: Audit, stays: Audit, shortened: Audit) -> None:
    results = (changes, stays, shortened)
    assert {id for result in results for id in found(result, "decimal_point_lost")} >= LOST_POINTS
    malformed = {id for result in results for id in found(result, "number_malformed")}
    assert malformed >= {
        "890e40b2",
        "9d2aa4d9",
        "d614d083",
        "4c5a0a4f",
        "24395900",
        "58adf6c4",
        "43e6bb90",
        "8274a8e5",
    }
    # $33.5 became $300, and with $30.00 the answer that is given would be right.
    item = next(item for item in changes.items if item.id.startswith("d21b8fe8"))
    finding = next(finding for finding in item.violations if finding.code == "decimal_point_lost")
    assert finding.level == "error"
    assert "$33.5 becomes $300; $30.00 would give the answer" in finding.message


def test_lost_encodings_are_found(changes: Audit, stays: Audit) -> None:
    for result in (changes, stays):
        assert len(found(result, "encoding_lost")) >= 24
    assert found(changes, "encoding_lost") >= {"a1fb1d57", "0339e2bb", "fb2036af", "ef466edc", "5c8c999e"}


def test_dates_numbers_and_capitals_that_a_spreadsheet_rewrote_are_found(
    changes: Audit, shortened: Audit
) -> None:
    assert found(changes, "date_rewritten") == {"c0d6605c", "1238d807", "ba16499f", "d9aa3edf", "9c43de49"}
    totals = shortened.totals["codes"]
    assert totals["date_rewritten"]["cells"] >= 20
    assert totals["number_reformatted"]["cells"] >= 190
    assert totals["case_changed"]["items"] >= 150
    assert totals["blanks_changed"]["cells"] >= 220


def test_signs_that_were_lost_are_found(shortened: Audit) -> None:
    """(21,387) became 21,387 when the table was shortened."""
    assert found(shortened, "sign_changed") >= {"fd59c14d", "ef9d4839", "10e936a6", "64c902c6", "2cbf4301"}
    assert shortened.totals["codes"]["sign_changed"]["items"] >= 35


def test_answers_that_the_derivation_contradicts_are_found(changes: Audit, stays: Audit) -> None:
    assert changes.totals["computed"] >= 480
    refuted = found(changes, "computed_answer_differs")
    # A fraction where a percentage was asked, arithmetic slips, an edit lost on saving, lost points, a minus sign lost.
    assert refuted >= {"dab0e943", "71162a9c", "4b1ab745"}
    assert refuted >= {"6a94f765", "22ea63c7", "f36e5912", "a30ab3a2"}
    assert refuted >= {"df12359b", "2438c6b7", "cf67e41d"}
    assert refuted >= {"d21b8fe8", "0f59d1f7", "56327885", "73693527", "a648d9e3"}
    assert "e4f21617" in refuted
    assert "73618a72" not in refuted  # (4-5)/5 became (1-2)/2, as was said
    assert 0.05 <= len(refuted) / changes.totals["computed"] <= 0.09
    # Answers that are said to stay, and drift in the second decimal.
    drifted = found(stays, "computed_answer_differs")
    assert drifted >= {"6befb6ea", "0d0c77cf", "24f8613a", "12a99674", "6cc73a99", "bd8bb8d3"}
    assert "681dcc0f" in drifted  # the sign


def test_the_difference_between_typed_and_computed_answer_is_named(changes: Audit) -> None:
    said = {
        item.id[:8]: finding.message
        for item in changes.items
        for finding in item.violations
        if finding.code == "computed_answer_differs"
    }
    assert said["dab0e943"] == (
        "The derivation “(136.4-131.7)/131.7” gives “100” on the edited table; the answer given is “1”. They differ by the "
        "factor 100."
    )
    assert said["e4f21617"].endswith("Only the sign differs.")


def test_an_original_audited_against_itself_has_no_findings(released: dict[str, list[Example]]) -> None:
    result = audit(released["ori_table"], released["ori_table"], "unchanged")
    assert result.totals["with_findings"] == 0
    assert result.totals["operations"] == {}


def test_the_tables_of_part_1_are_those_of_wikitablequestions_but_for_breaks_and_blanks(
    test_data: Path,
) -> None:
    base = READERS["wtq"](test_data / "wtq" / "random-split-1-dev.tsv")
    edited = READERS["freb_tqa"](test_data / "freb_tqa" / "01_str" / "wtq_factoid_dev.json")
    result = audit(base, edited, "unchanged", subset=True)
    assert result.totals["items"] == result.totals["paired"] == 205
    assert set(result.totals["codes"]) == {"operation_not_allowed", "line_break_escaped", "blanks_changed"}
    assert result.totals["codes"]["line_break_escaped"] == {"items": 39, "cells": 242}
    assert result.totals["codes"]["blanks_changed"] == {"items": 15, "cells": 290}


# In small -------------------------------------------------------------------------------------------------------------


def test_an_edit_that_keeps_its_contract_has_no_findings() -> None:
    item = edit(Table(FILMS.header, [["Heat", "170", "$67.4"], ["Alien", "190", "$78.9"]]))
    assert (codes(item), item.changes) == ([], ("Row 2, Minutes: 117 becomes 190",))
    assert item.answer_difference == "value"


def test_no_edit_at_all() -> None:
    assert codes(edit(FILMS, ["Heat"])) == ["table_unchanged", "answer_unchanged"]
    assert codes(edit(FILMS, ["Alien"])) == ["table_unchanged", "same_table_other_answer"]
    assert codes(edit(FILMS, ["Heat"], "unchanged")) == []


def test_what_pandas_leaves_behind() -> None:
    base = film(
        Table(["Line", "Termini", "Termini"], [["J", "Embarcadero", "Balboa Park"], ["K", "", "Castro"]])
    )
    edited = film(
        Table(
            ["Line", "Termini", "Termini.1"],
            [["nan", "nan", "nan"], ["J", "Embarcadero", "Balboa Park"], ["K", "nan", "Castro"]],
        )
    )
    item = audit_item(base, edited, CONTRACTS["answer_stays"])
    findings = {finding.code: finding for finding in item.violations}
    assert findings["nan_cell"].cells == 4
    assert findings["numbered_header"].message.endswith("1 place: header of column 3: “Termini.1”.")
    unnamed = film(Table(["Line", "Termini", "Unnamed: 2"], base.table.rows))
    assert "unnamed_header" in codes(audit_item(base, unnamed, CONTRACTS["answer_stays"]))


def test_what_a_spreadsheet_does() -> None:
    base = film(
        Table(["Name", "Date", "Result"], [["López", "October 31", "13.50"], ["Bob", "May 1, 2019", "12.93"]])
    )
    edited = film(
        Table(["Name", "Date", "Result"], [["L¨®pez", "31-Oct", "13.5"], ["Bob", "1-May-19", "13.93"]]),
        ["Bob"],
    )
    item = audit_item(base, edited, CONTRACTS["answer_changes"])
    assert {finding.code: finding.cells for finding in item.violations if finding.cells} == {
        "date_rewritten": 2,
        "number_reformatted": 1,
        "encoding_lost": 1,
    }
    assert "too_many_operations" in codes(item)


def test_an_item_with_nothing_but_damage_has_no_change_besides_damage() -> None:
    base = film(Table(["Line", "Score"], [["A", "13.50"], ["B", "12.25"]]))
    damaged, edited = [
        film(Table(["Line", "Score"], [["A", first], ["B", second]]), ["B"])
        for first, second in (("13.5", "12.25"), ("13.5", "12.75"))
    ]
    totals = [audit([base], [other]).totals for other in (damaged, edited, base)]
    assert [each["one_or_two_besides_damage"] for each in totals] == [0, 1, 0]


def test_damage_that_the_base_has_as_well_is_told_as_such() -> None:
    base = film(Table(["Line", "Year"], [["nan", "1917"], ["K", "1918"]]))
    item = audit_item(
        base,
        film(Table(["Line", "Year"], [["nan", "1917"], ["K", "1919"]]), ["K"]),
        CONTRACTS["answer_changes"],
    )
    (finding,) = item.violations
    assert (finding.code, finding.level) == ("nan_cell", "warning")
    assert "1 place, as in the base" in finding.message


PAID = Example(
    "7",
    "What is the percentage change in fees?",
    Table(["", "2019", "2018"], [["Fees", "$33.5", "$24.9"]]),
    ["34.54"],
    {"derivation": "(33.5-24.9)/24.9", "scale": "percent", "answer_type": "arithmetic"},
)


def fees(new: str, answer: str, old: str = "$24.9") -> AuditedItem:
    edited = Example("7", PAID.question, Table(PAID.table.header, [["Fees", new, old]]), [answer], PAID.meta)
    return audit_item(PAID, edited, CONTRACTS["answer_changes"])


def test_an_answer_is_computed_again_from_the_derivation() -> None:
    right = fees("$30.5", "22.49")
    assert (codes(right), right.computed) == ([], ("22.49",))
    wrong = fees("$30.5", "22.94")
    assert codes(wrong) == ["computed_answer_differs"]
    assert fees("$49.8", "1").violations[0].message.endswith("They differ by the factor 100.")
    assert fees("$20.5", "17.67").violations[0].message.endswith("Only the sign differs.")


def test_a_lost_point_is_certain_where_the_answer_needs_it() -> None:
    item = fees("$300", "20.48")
    assert codes(item) == ["cell_format", "computed_answer_differs", "decimal_point_lost"]
    assert (item.violations[-1].level, item.violations[-1].cells) == ("error", 1)
    assert "$30.00 would give the answer" in item.violations[-1].message


def test_a_number_ten_times_as_large_is_fine_where_the_answer_follows_from_it() -> None:
    assert "decimal_point_lost" not in codes(fees("$335", "1245.38"))


def test_without_a_derivation_a_lost_point_is_a_warning() -> None:
    item = edit(Table(FILMS.header, [["Heat", "170", "$700"], ["Alien", "117", "$78.9"]]))
    assert [(finding.code, finding.level) for finding in item.violations] == [
        ("cell_format", "warning"),
        ("decimal_point_lost", "warning"),
    ]
    assert "It may be intended." in item.violations[-1].message


def test_a_sign_that_the_base_lost_is_put_back_before_the_answer_is_judged() -> None:
    table = Table(["", "2019", "2018"], [["Interest", "5,940", "598"]])  # (5,940) and (598) in the source
    meta = {"derivation": "-(5,940 + 598) / 2", "answer_type": "arithmetic"}
    base = Example("8", "What was the average interest expense?", table, ["-3269"], meta)
    edited = Example(
        "8", base.question, Table(table.header, [["Interest", "-5,940", "-600"]]), ["-3270"], meta
    )
    item = audit_item(base, edited, CONTRACTS["answer_changes"])
    assert "computed_answer_differs" not in codes(item)
    assert "sign_changed" in codes(item)


def test_a_small_divisor_that_is_also_a_changed_cell_is_that_cell() -> None:
    """(4-5)/5 reads as a difference divided by a number of terms, or by the second cell."""
    table = Table(["", "2019", "2018"], [["Deferred revenue", "4", "5"]])
    meta = {"derivation": "(4-5)/5", "scale": "percent", "answer_type": "arithmetic"}
    base = Example("9", "What was the percentage change in deferred revenue?", table, ["-20"], meta)
    edited = Example("9", base.question, Table(table.header, [["Deferred revenue", "1", "2"]]), ["-50"], meta)
    assert codes(audit_item(base, edited, CONTRACTS["answer_changes"])) == []


def test_items_of_one_file_only_other_questions_and_repeated_ids() -> None:
    one, two = film(), Example("2", "who?", FILMS, ["Heat"])
    result = audit([one, two], [film(question="which?"), Example("3", "who?", FILMS, ["Heat"])], "unchanged")
    assert [(item.id, codes(item), item.paired) for item in result.items] == [
        ("1", ["question_differs"], True),
        ("2", ["only_in_base"], False),
        ("3", ["only_in_edited"], False),
    ]
    assert (result.totals["items"], result.totals["paired"]) == (3, 1)
    subset = audit([one, two], [one], "unchanged", subset=True)
    assert subset.totals["with_findings"] == 0
    repeated = film(meta={"id": "0"})
    assert codes(audit([repeated], [repeated], "unchanged").items[0]) == ["repeated_id"]


def test_a_shortened_table_is_matched_by_what_its_cells_say() -> None:
    """Every text that is left was written anew; what was removed is removed, and the rest is changed."""
    base = Table(
        ["", "", "Fiscal year", ""],
        [
            ["", "2019", "2018", "2017"],
            ["Sales:", "", "", ""],
            ["Total (Loan)", "$  3,574", "$  3,497", "1"],
            ["Other", "(5,906)", "(5,901)", "2"],
        ],
    )
    edited = Table(
        ["", "", "Fiscal year"],
        [["", "2019.0", "2018"], ["total (loan)", "$3,574 ", "$3,497 "], ["other", "5,906", "-5,901"]],
    )
    table = match_ids(base, edited)
    assert (table.row_ids, table.column_ids) == (("r0", "r2", "r3"), ("c0", "c1", "c2"))
    item = audit_item(film(base), film(edited), CONTRACTS["shortened"])
    assert {finding.code: finding.cells for finding in item.violations if finding.cells} == {
        "blanks_changed": 2,
        "case_changed": 2,
        "number_reformatted": 2,
        "sign_changed": 1,
    }


@given(tables, tables)
def test_the_operations_make_the_edited_table_of_the_base(base: Table, edited: Table) -> None:
    item = audit_item(film(base), film(edited), CONTRACTS["answer_changes"])
    assert replay(base, item.operations).same_content(edited)
    assert "table_differs_from_operations" not in codes(item)
    written = json.loads(json.dumps(item.to_dict()))
    assert replay(base, from_list(written["operations"])).same_content(edited)
    assert set(written) == {"id", "operations", "changes", "violations", "answer_difference", "computed"}


@given(tables)
def test_a_copy_of_any_table_is_unchanged(table: Table) -> None:
    item = audit_item(film(table), film(table), CONTRACTS["unchanged"])
    assert item.operations == ()
    assert all("as in the base" in finding.message for finding in item.violations)


@given(tables, st.data())
def test_removed_rows_and_columns_are_found_as_such(table: Table, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.booleans(), min_size=table.shape[0], max_size=table.shape[0]))
    left = Table(table.header, [row for row, kept in zip(table.rows, rows, strict=True) if kept])
    operations = diff(table, match_ids(table, left), match="ids")
    assert {operation.op for operation in operations} <= {"remove_row"}
    assert len(operations) == rows.count(False)


# Which edit was made, where several lead to one table -----------------------------------------------------------------

_OF_THE_EDIT = {"operation_not_allowed", "shape_changed", "too_many_operations"}


def kinds(item: AuditedItem) -> list[str]:
    return [operation.op for operation in item.operations]


def test_two_exchanged_values_in_one_column_are_two_changed_cells() -> None:
    base = film(Table(["Year"], [["1998"], ["1999"], ["2004"]]))
    edited = film(Table(["Year"], [["1999"], ["1998"], ["2004"]]), ["Alien"])
    item = audit_item(base, edited, CONTRACTS["answer_changes"])
    assert (kinds(item), codes(item)) == (["set_cell", "set_cell"], [])


def test_a_moved_row_is_a_breach() -> None:
    rows = [*FILMS.rows, ("Jaws", "124", "$470.7")]
    edited = film(Table(FILMS.header, [rows[2], *rows[:2]]), ["Alien"])
    item = audit_item(film(Table(FILMS.header, rows)), edited, CONTRACTS["answer_changes"])
    assert (kinds(item), codes(item)) == (["move_row"], ["operation_not_allowed"])


def test_a_row_that_stands_twice_and_moves_is_moved() -> None:
    same, *others = [("Heat", "170", "$67.4"), *((name, name, name) for name in "abcd")]
    base = film(Table(FILMS.header, [same, same, *others]))
    item = audit_item(base, film(Table(FILMS.header, [*others, same, same])), CONTRACTS["answer_stays"])
    assert set(kinds(item)) == {"move_row"}


def test_a_row_that_moved_in_a_table_that_lost_another_is_moved() -> None:
    rows = [(name, f"{name}{name}", f"{name}!") for name in "abcdef"]
    left = Table(FILMS.header, [rows[4], *rows[1:4], rows[5]])
    item = audit_item(film(Table(FILMS.header, rows)), film(left), CONTRACTS["answer_stays"])
    assert sorted(kinds(item)) == ["move_row", "remove_row"]


def test_a_rewritten_row_is_a_replaced_one_and_its_damage_is_still_found() -> None:
    """Three changed cells are one too many; one row removed and one inserted are not."""
    edited = film(Table(FILMS.header, [["Heat", "170", "$67.4"], ["Brazil", "132", "nan"]]), ["Brazil"])
    item = audit_item(film(), edited, CONTRACTS["answer_changes"])
    assert kinds(item) == ["remove_row", "insert_row"]
    assert not _OF_THE_EDIT & {*codes(item)}
    assert "nan_cell" in codes(item)


@given(tables.filter(lambda table: all(table.shape)), st.sampled_from(sorted(CONTRACTS)), st.data())
def test_exchanging_two_cells_is_never_a_moved_row(table: Table, name: str, data: st.DataObject) -> None:
    rows = [[*row] for row in table.rows]
    place = st.tuples(st.integers(0, table.shape[0] - 1), st.integers(0, table.shape[1] - 1))
    (i, j), (k, m) = data.draw(place), data.draw(place)
    rows[i][j], rows[k][m] = rows[k][m], rows[i][j]
    item = audit_item(film(table), film(Table(table.header, rows)), CONTRACTS[name])
    assert set(kinds(item)) <= {"set_cell"}
    if name in ("answer_changes", "answer_stays"):
        assert not _OF_THE_EDIT & {*codes(item)}


@given(tables.filter(lambda table: table.shape[0] > 1), st.sampled_from(sorted(CONTRACTS)), st.data())
def test_a_row_move_that_changes_more_than_two_cells_is_a_moved_row(
    table: Table, name: str, data: st.DataObject
) -> None:
    start, end = (data.draw(st.integers(0, table.shape[0] - 1)) for _ in range(2))
    rows = [*table.rows]
    rows.insert(end, rows.pop(start))
    assume(texts_changed(table, rows) > 2)
    item = audit_item(film(table), film(Table(table.header, rows)), CONTRACTS[name])
    assert kinds(item) == ["move_row"]
    assert "operation_not_allowed" in codes(item)


def texts_changed(table: Table, rows: Sequence[Sequence[str]]) -> int:
    """Cells that differ, position by position."""
    lines = zip(table.rows, rows, strict=True)
    return sum(old != new for line, other in lines for old, new in zip(line, other, strict=True))


@settings(max_examples=2 * settings().max_examples)
@given(edits(kinds=("set_cell", "remove_row", "insert_row"), most=2))
def test_what_a_permitted_edit_explains_is_no_breach(edit: tuple[Table, list[Operation]]) -> None:
    base, operations = edit
    after = replay(base, operations)
    edited = Table(after.header, after.rows)
    if Counter(base.rows) == Counter(edited.rows):
        assume(texts_changed(base, edited.rows) <= 2)  # else a row has moved
    item = audit_item(film(base), film(edited), CONTRACTS["answer_changes"])
    assert not _OF_THE_EDIT & {*codes(item)}


@settings(max_examples=2 * settings().max_examples)
@given(edits(kinds=("remove_row", "remove_column")))
def test_a_table_from_which_rows_and_columns_were_removed_is_a_shortened_one(
    edit: tuple[Table, list[Operation]],
) -> None:
    base, operations = edit
    after = replay(base, operations)
    item = audit_item(film(base), film(Table(after.header, after.rows)), CONTRACTS["shortened"])
    assert not _OF_THE_EDIT & {*codes(item)}


@settings(max_examples=2 * settings().max_examples)
@given(
    edits(kinds=("move_row", "move_row", "set_cell", "remove_row", "insert_row"), most=5),
    st.sampled_from(sorted(CONTRACTS)),
)
def test_no_row_is_removed_and_inserted_unchanged(edit: tuple[Table, list[Operation]], name: str) -> None:
    base, operations = edit
    after = replay(base, operations)
    item = audit_item(film(base), film(Table(after.header, after.rows)), CONTRACTS[name])
    removed = {operation.old for operation in item.operations if isinstance(operation, RemoveRow)}
    inserted = {operation.cells for operation in item.operations if isinstance(operation, InsertRow)}
    assert not removed & inserted


def test_every_code_has_a_sentence(changes: Audit, stays: Audit, shortened: Audit) -> None:
    for result in (changes, stays, shortened):
        for code in result.totals["codes"]:
            assert meaning_of(code).endswith(".")


def test_the_figures_in_the_documents_are_those_of_the_files(
    changes: Audit, stays: Audit, shortened: Audit
) -> None:
    """docs/audit.md, its first table, but for what the search for programs finds."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "audit.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|$", text, flags=re.MULTILINE)
    told = {code: figures for code, *figures in rows}
    for code in set(told) - {"computed_answer_differs", "decimal_point_lost"}:
        for figure, result in zip(told[code], (changes, stays, shortened), strict=True):
            counts = result.totals["codes"].get(code, {"items": 0, "cells": 0})
            cells = f" ({counts['cells']})" if counts["cells"] else ""
            assert figure.strip() == (f"{counts['items']}{cells}" if counts["items"] else ""), code
    assert set(told) == {code for result in (changes, stays, shortened) for code in result.totals["codes"]}
