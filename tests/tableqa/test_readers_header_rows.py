"""A choice of the row that is the header of tables: title rows, and tables that would lose their first row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from tableqa import Example, Span, Table
from tableqa.readers import READERS
from tableqa.readers.header_rows import with_header
from tableqa.readers.own_data import OwnData
from tests.tableqa.reports import findings_of

TITLED = [["Table 1: results", "", ""], ["Name", "Wins", "Year"], ["Ann", "3", "2024"]]
NUMBERS = [["1", "2"], ["3", "4"]]


def read(path: Path, header_row: str) -> list[Example]:
    own = READERS["own"]
    assert isinstance(own, OwnData)
    return list(own.with_fields({"header_row": header_row})(path))


def forms(folder: Path, rows: list[list[str]]) -> dict[str, Any]:
    """Values of the column table that hold or name a table with these rows."""
    (folder / "t.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    (folder / "t.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    book = xlsxwriter.Workbook(str(folder / "t.xlsx"))
    for at, row in enumerate(rows):
        (book.worksheets() or [book.add_worksheet()])[0].write_row(at, 0, row)
    book.close()
    page = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    (folder / "t.html").write_text(f"<table>{page}</table>")
    return {
        "list": rows,
        "text": "\n".join(",".join(row) for row in rows),
        "json": json.dumps(rows),
        "html": f"<table>{page}</table>",
        **{suffix: f"t.{suffix}" for suffix in ("csv", "tsv", "xlsx")},
        "html file": "t.html",
    }


@pytest.mark.parametrize("form", ["list", "text", "json", "html", "csv", "tsv", "xlsx", "html file"])
def test_each_form_of_a_table_has_the_chosen_header(tmp_path: Path, form: str) -> None:
    path = tmp_path / "q.jsonl"

    for rows, choice, expected in (
        (TITLED, "2", Table(TITLED[1], TITLED[2:], caption="Table 1: results")),
        (TITLED, "full", Table(TITLED[1], TITLED[2:], caption="Table 1: results")),
        (NUMBERS, "none", Table(["column 1", "column 2"], NUMBERS)),
        (NUMBERS, "1", Table(NUMBERS[0], NUMBERS[1:])),
        (NUMBERS, "9", Table(NUMBERS[0], NUMBERS[1:])),
    ):
        path.write_text(json.dumps({"question": "who?", "table": forms(tmp_path, rows)[form]}) + "\n")
        (example,) = read(path, choice)
        assert example.table == expected
        assert ("headers" in findings_of(path, header_row=choice)) is (choice in ("1", "9"))


def test_the_sheet_of_a_workbook_has_the_chosen_header(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(str(tmp_path / "q.xlsx"))
    questions, sheet = book.add_worksheet("Questions"), book.add_worksheet("Cup")
    for at, row in enumerate([["question", "table"], ["who?", "Cup"]]):
        questions.write_row(at, 0, row)
    sheet.merge_range(0, 0, 0, 2, "Results")
    sheet.write_row(1, 0, ["Name", "Wins", "Year"])
    sheet.write_row(2, 1, [3, 2024])
    sheet.merge_range(2, 0, 3, 0, "Ann")
    sheet.write_row(3, 1, [4, 2025])
    book.close()

    (example,) = read(tmp_path / "q.xlsx", "2")

    assert example.table == Table(
        ["Name", "Wins", "Year"],
        [["Ann", "3", "2024"], ["", "4", "2025"]],
        caption="Results",
        spans=[Span("r0", "c0", 2, 1)],
    )


@pytest.mark.parametrize(
    "value",
    [
        {"header": ["1", "2"], "rows": [["3", "4"]]},
        json.dumps({"header": ["1", "2"], "rows": [["3", "4"]]}),
        [{"1": "3", "2": "4"}],
        json.dumps([{"1": "3", "2": "4"}]),
    ],
)
def test_a_table_that_names_its_header_keeps_it(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"question": "who?", "table": value}) + "\n")

    (example,) = read(path, "none")

    assert example.table.header == ("1", "2")


def test_a_caption_of_the_table_stays(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"question": "who?", "table": TITLED, "caption": "Cup"}) + "\n")

    (example,) = read(path, "2")

    assert (example.table.caption, example.table.header) == ("Cup", ("Name", "Wins", "Year"))


def test_several_header_rows_become_rows_where_there_is_no_header() -> None:
    table = Table(["a", "b"], [["1", "2"]], header_rows=[["x", ""]], spans=[Span("h0", "c0", 1, 2)])

    assert with_header(table, "none") == Table(
        ["column 1", "column 2"], [["x", ""], ["a", "b"], ["1", "2"]], spans=[Span("r0", "c0", 1, 2)]
    )
    assert with_header(table, "full") == with_header(table, "") == table


def test_an_unknown_choice_is_refused_by_name() -> None:
    own = READERS["own"]
    assert isinstance(own, OwnData)

    for choice in ("0", "first", "-1", "100", "²"):
        with pytest.raises(ValueError, match="it is a number, full"):
            own.with_fields({"header_row": choice})
