"""What the report says of tables: superscripts, struck-out texts, and headers that are probably none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tableqa.reports import findings_of

PAGE = "<table><tr><th>A<th>B</tr><tr><td>3<sup>2</sup><td><s>5</s> 6</tr></table>"


def lines(folder: Path, *tables: Any) -> Path:
    path = folder / "questions.jsonl"
    records = [{"question": "who?", "answer": "Ann", "table": table} for table in tables]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def test_superscripts_and_struck_out_texts_are_counted_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "t.html").write_text(PAGE)

    findings = findings_of(lines(tmp_path, [["A"], ["3"]], PAGE, "t.html", "t.html"))

    for kind in ("superscripts", "struck"):
        assert (findings[kind].number, findings[kind].line, findings[kind].record) == (2, 2, "2")


def test_tables_without_them_have_no_note(tmp_path: Path) -> None:
    assert not findings_of(lines(tmp_path, PAGE.replace("sup>", "b>").replace("s>", "i>"), [["A"], ["3"]]))


@pytest.mark.parametrize(
    "table",
    [
        [["Table 1: results", "", ""], ["Name", "Wins", "Year"], ["Ann", "3", "2024"]],
        [["Title", " "], ["Name", "Wins"]],
        [["Ann", "3"], ["Bob", "4"]],
        [["Ann", "31"], ["Bob", " 4"]],
        [["Ann", "-3.5 %"], ["Bob", "4"], ["Cy", "1,204"]],
        [["1", "2"], ["3", "4"]],
        [["2019", "2020"], ["3", "4"]],
        [["", ""], ["Name", "Wins"]],
        "<table><tr><th colspan=2>Table 1</th></tr><tr><td>Name<td>Wins</tr></table>",
    ],
)
def test_a_header_that_is_probably_none_is_named_in_the_report(tmp_path: Path, table: Any) -> None:
    shown = ", ".join(table[0]) if isinstance(table, list) else "Table 1, "

    finding = findings_of(lines(tmp_path, [["Name"], ["Ann"]], table, table, [["Name"], ["Bob"]]))["headers"]

    assert (finding.number, finding.line, finding.text) == (1, 2, shown)


@pytest.mark.parametrize(
    "table",
    [
        [["", "Name", "Wins"], ["0", "Ann", "3"]],
        [["Country", "2019", "2020"], ["Peru", "3", "4"]],
        [["Name", "1"], ["Ann", "won"]],
        [["Name", "Wins"], ["Ann", "3"]],
        "<table><tr><th>Name<th colspan=2>Wins</tr><tr><td>Ann<td>3<td>4</tr></table>",
    ],
)
def test_a_usual_header_has_no_note(tmp_path: Path, table: Any) -> None:
    assert "headers" not in findings_of(lines(tmp_path, table))


@pytest.mark.parametrize(
    "table",
    ["Name Wins\n1 Ann 3\n", "a/b\n1/2\n", [["a|b"], ["1|2"]], {"header": ["a\tb"], "rows": []}, "a\n1;2\n"],
)
def test_a_table_of_one_column_that_a_sign_may_part_is_counted(tmp_path: Path, table: Any) -> None:
    assert findings_of(lines(tmp_path, table, table))["one_column"].number == 1


def test_a_column_of_words_is_not_counted(tmp_path: Path) -> None:
    assert not findings_of(lines(tmp_path, [["Name"], ["Ann"], ["(Bob)"]]))


def test_a_text_that_several_separators_part_is_counted(tmp_path: Path) -> None:
    finding = findings_of(lines(tmp_path, "a,b\n1,2\n", "a;b, c\n1;2, 3\n"))["parted"]

    assert (finding.number, finding.record, finding.text) == (1, "2", "a;b, c")


@pytest.mark.parametrize(("cell", "is_counted"), [("1.23E+14", True), ("1E+3 m", False), ("1.5", False)])
def test_numbers_that_a_program_may_have_rounded_are_counted(
    tmp_path: Path, cell: str, is_counted: bool
) -> None:
    assert ("rounded" in findings_of(lines(tmp_path, [["n", "a"], [cell, "x"]]))) == is_counted
