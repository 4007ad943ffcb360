"""Excel workbooks: questions in a sheet, tables in others, and every cell as it is shown or refused."""

from __future__ import annotations

import datetime
import re
import time
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas
import pytest
import xlsxwriter

from tableqa import Span
from tableqa.readers import READERS, FormReportingReader, ReaderError
from tableqa.readers.number_formats import number_text
from tableqa.readers.own_data import OwnData
from tableqa.readers.reading_options import reading_options
from tableqa.readers.workbook import MAX_SHEET_CELLS, Workbook, cell_name
from tests.tableqa.reports import findings_of

QUESTIONS = [["Nr", "Question", "Gold", "Sheet"], [1, "who won?", "Bob", "Cup"], ["b", "how many?", 4, "Cup"]]
CUP = [["Name", "Wins"], ["Ann", 3], ["Bob", 4]]


def workbook(
    path: Path, change: Callable[[Any, dict[str, Any]], None] = lambda book, sheets: None, **sheets: Any
) -> Path:
    book = xlsxwriter.Workbook(str(path))
    added = {name: book.add_worksheet(name) for name in sheets}
    for name, rows in sheets.items():
        for i, row in enumerate(rows):
            added[name].write_row(i, 0, row)
    change(book, added)
    book.close()
    return path


def refused(path: Path) -> ReaderError:
    with pytest.raises(ReaderError) as error:
        list(READERS["own"](path))
    return error.value


def test_questions_in_a_sheet_name_other_sheets_as_their_tables(tmp_path: Path) -> None:
    path = workbook(tmp_path / "q.xlsx", Cup=CUP, Questions=QUESTIONS)

    first, second = READERS["own"](path)

    assert (first.id, first.answers, second.id, second.answers) == ("1", ("Bob",), "b", ("4",))
    assert first.table == second.table
    assert (first.table.header, first.table.rows) == (("Name", "Wins"), (("Ann", "3"), ("Bob", "4")))
    reader = READERS["own"]
    assert isinstance(reader, FormReportingReader)
    assert reader.read_as(path).startswith(
        "q.xlsx was read as an Excel file with its questions in the sheet 'Questions'. Columns: id = Nr,"
    )
    assert list(READERS["own"].files(path)) == [path]


def test_a_table_may_be_an_excel_file_beside_a_csv(tmp_path: Path) -> None:
    workbook(tmp_path / "cup.xlsx", Cup=CUP)
    path = tmp_path / "q.csv"
    path.write_text("question,table\nwho won?,cup.xlsx\n")

    (example,) = READERS["own"](path)

    assert example.table.rows == (("Ann", "3"), ("Bob", "4"))


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (1.0, "", "1"),
        (13.5, "General", "13.5"),
        (13.5, "0.00", "13.50"),
        (1204.0, "#,##0", "1,204"),
        (0.5, "0%", "50%"),
        (0.125, "0.0%", "12.5%"),
        (2.675, "0.00", "2.68"),
        (-3.0, "0", "-3"),
        (1e20, "", "1E+20"),
        (0.1 + 0.2, "", "0.3"),
        (1e21, "General", "1E+21"),
        (123456789012.0, "General", "123456789012"),
        (1.0, '0.00 "EUR"', "1.00 EUR"),
        (99.95, '"$"#,##0.00', "$99.95"),
        (1234567.5, "$#,##0.00", "$1,234,567.50"),
        (7.0, "000", "007"),
        (7.0, "00000", "00007"),
        (0.5, "#.00", ".50"),
        (1.5, "0.0#", "1.5"),
        (-5.0, "#,##0.00;[Red](#,##0.00)", "(5.00)"),
        (-5.0, "[$€-407] #,##0.00", "-€ 5.00"),
        (1200.0, '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)', "$1,200.00"),
        (0.0, '0;-0;"none"', "none"),
        (12345.0, '#,##0.0," T"', "12.3 T"),
        (12345.0, "0.00E+00", "1.23E+04"),
        (3.0, 'General" kg"', "3 kg"),
        (-0.001, "0.00", "0.00"),
        (1.5e30, "0.00", "15" + "0" * 29 + ".00"),
        (-1.7e308, "#,##0;(#,##0)", f"({17 * 10**307:,})"),
        (6.02e23, "0." + "0" * 30, "602" + "0" * 21 + "." + "0" * 30),
        (1e300, "0%", "1" + "0" * 302 + "%"),
        (5e-324, "0.0", "0.0"),
        (1.0, "0." + "0" * 254, None),
        (1.0, "0" + "%" * 100_000, None),
        (0.5, "# ?/?", None),
        (0.5, "[h]:mm", None),
        (0.5, "[>1]0;0.0", None),
        (-3.0, '[>=1000]#,##0,"K";0', None),
        (5551234.0, "000-0000", None),
    ],
)
def test_a_number_is_written_as_its_cell_shows_it(value: float, code: str, text: str | None) -> None:
    assert number_text(value, code) == text


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("d/m/yy", True),
        ("hh:mm", True),
        ("0.00", False),
        ('0 "days"', False),
        ("[Red]0", False),
        (14, True),
        (11, False),
    ],
)
def test_how_dates_are_read_is_said_where_there_are_some(tmp_path: Path, code: str | int, said: bool) -> None:
    def change(book: Any, sheets: dict[str, Any]) -> None:
        sheets["Cup"].write_number(1, 1, 3, book.add_format({"num_format": code}))

    path = workbook(tmp_path / "q.xlsx", change, Questions=QUESTIONS, Cup=CUP)

    assert ("dates" in findings_of(path)) is said


@pytest.mark.parametrize("code", ["d/m/yy", "0.00"])
def test_dates_of_tables_in_excel_files_beside_a_csv_are_said(tmp_path: Path, code: str) -> None:
    def change(book: Any, sheets: dict[str, Any]) -> None:
        sheets["Cup"].write_number(1, 1, 3, book.add_format({"num_format": code}))

    workbook(tmp_path / "cup.xlsx", change, Cup=CUP)
    path = tmp_path / "q.csv"
    path.write_text("question,table\nwho won?,cup.xlsx\n")

    assert ("dates" in findings_of(path)) is (code == "d/m/yy")


def test_formats_dates_and_truth_are_texts(tmp_path: Path) -> None:
    def write(book: Any, sheets: dict[str, Any]) -> None:
        sheet = sheets["Cells"]
        sheet.write(0, 0, 0.5, book.add_format({"num_format": "0%"}))
        sheet.write(0, 1, 13.5, book.add_format({"num_format": "0.00"}))
        sheet.write_datetime(0, 2, datetime.date(2024, 5, 1), book.add_format({"num_format": "d/m/yy"}))
        sheet.write(0, 3, True)
        sheet.write_formula(0, 4, "=1+1", None, 2)
        sheet.write(0, 5, "01")
        sheet.write(3, 9, None, book.add_format({"bold": True}))

    path = workbook(tmp_path / "a.xlsx", write, Cells=[])

    assert Workbook(path).sheet("Cells").rows == [["50%", "13.50", "2024-05-01", "TRUE", "2", "01"]]


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("yyyy", "2024"),
        ("yy", "2024"),
        ('yyyy" (year)"', "2024"),
        ("mmm yyyy", "2024-05"),
        ("[$-407]mmmm yyyy", "2024-05"),
        ("mm/yy;@", "2024-05"),
        (17, "2024-05"),
        ("d. mmmm", "05-01"),
        (16, "05-01"),
        ("mmmm", "May"),
        ("dddd", "Wednesday"),
        ("dd", "01"),
        ("ddd dd", "Wednesday 01"),
        ("e-mm-dd", "2024-05-01"),
        ('[$-411]ggge"年"m"月"d"日"', "2024-05-01"),
        ("dd.mm.yyyy", "2024-05-01"),
        (14, "2024-05-01"),
        (15, "2024-05-01"),
        ("h:mm", "13:45"),
        ("h:mm AM/PM", "13:45"),
        ("h AM/PM", "13"),
        ("mm:ss", "45:10"),
        ("mm:ss.00", "45:10.80"),
        (20, "13:45"),
        (21, "13:45:10"),
        (22, "2024-05-01 13:45"),
        (45, "45:10"),
        (47, "45:10.8"),
        ("yyyy-mm-dd hh:mm", "2024-05-01 13:45"),
        ("yyyy-mm-dd hh:mm:ss", "2024-05-01 13:45:10"),
    ],
)
def test_a_date_has_only_the_parts_that_its_cell_shows(tmp_path: Path, code: str | int, shown: str) -> None:
    def write(book: Any, sheets: dict[str, Any]) -> None:
        moment = datetime.datetime(2024, 5, 1, 13, 45, 10, 800_000)  # noqa: DTZ001 - Excel has no zones
        sheets["Cells"].write_datetime(0, 0, moment, book.add_format({"num_format": code}))

    path = workbook(tmp_path / "a.xlsx", write, Cells=[])

    assert Workbook(path).sheet("Cells").rows == [[shown]]


def test_superscripts_and_struck_out_texts_are_read_as_in_html(tmp_path: Path) -> None:
    def write(book: Any, sheets: dict[str, Any]) -> None:
        raised, lowered = book.add_format({"font_script": 1}), book.add_format({"font_script": 2})
        struck, bold = book.add_format({"font_strikeout": True}), book.add_format({"bold": True})
        sheet = sheets["Cup"]
        sheet.write_rich_string(1, 0, "m", raised, "2", " of H", lowered, "2", "O")
        sheet.write_rich_string(1, 1, "3", raised, "ab", struck, "4", "5")
        sheet.write_rich_string(2, 0, bold, "bo", "ld ")
        sheet.write_rich_string(2, 1, "m", raised, "2", " of H", lowered, "2", "O")

    rows = [["id", "question", "table"], ["q7", "Who?", "Cup"]]
    path = workbook(tmp_path / "a.xlsx", write, Q=rows, Cup=[["a", "b"]])

    (example,) = READERS["own"](path)
    findings = findings_of(path)

    assert example.table.rows == (("m² of H2O", "3^ab5"), ("bold ", "m² of H2O"))
    assert (findings["superscripts"].number, findings["superscripts"].line) == (3, 2)
    assert (findings["struck"].number, findings["struck"].text) == (1, "3^ab5")


def test_superscripts_within_cells_of_openpyxl_are_read_like_shared_ones(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", lambda *_: None, Questions=QUESTIONS, Cup=[["a", "b"], [1, 2]])
    raised = b'<r><t>3</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>2</t></r>'
    struck = b"<r><rPr><strike/></rPr><t>old</t></r><r><t>new</t></r>"
    inline = b'<c r="A2" t="inlineStr"><is>%s</is></c><c r="B2" t="inlineStr"><is>%s</is></c>'
    path = rewritten(path, b'<c r="A2"><v>1</v></c><c r="B2"><v>2</v></c>', inline % (raised, struck))

    first, _ = READERS["own"](path)
    findings = findings_of(path)

    assert first.table.rows == (("3²", "new"),)
    assert (findings["superscripts"].number, findings["superscripts"].line) == (1, 2)
    assert (findings["struck"].number, findings["struck"].text) == (1, "new")


def test_a_duration_is_written_in_hours_as_its_cell_shows_it(tmp_path: Path) -> None:
    def write(book: Any, sheets: dict[str, Any]) -> None:
        hours = book.add_format({"num_format": "[h]:mm:ss"})
        sheets["Cells"].write_number(0, 0, 26 / 24, hours)
        sheets["Cells"].write_number(0, 1, 0.5 / 24, hours)
        for column, code in enumerate(("[h]:mm", "[h]", "[mm]:ss", "[ss]"), start=2):
            sheets["Cells"].write_number(
                0, column, 26.5 / 24 + 9 / 86400, book.add_format({"num_format": code})
            )

    path = workbook(tmp_path / "a.xlsx", write, Cells=[])

    assert Workbook(path).sheet("Cells").rows == [["26:00:00", "0:30:00", "26:30", "26", "1590:09", "95409"]]


NO_DATE = "is no date of Excel"


@pytest.mark.parametrize(
    ("is_1904", "number", "code", "text"),
    [
        (False, 1, "yyyy-mm-dd", "1900-01-01"),
        (False, 59.5, "yyyy-mm-dd hh:mm", "1900-02-28 12:00"),
        (False, 60, "yyyy-mm-dd", NO_DATE),
        (False, 60.5, "yyyy", NO_DATE),
        (False, 60.25, "h:mm", "06:00"),
        (False, 61, 14, "1900-03-01"),
        (False, 0, "yyyy-mm-dd", NO_DATE),
        (False, 0.25, "mmmm", NO_DATE),
        (False, -1, "h:mm", NO_DATE),
        (False, 2_958_466, "yyyy", NO_DATE),
        (False, 2, "h:mm", "00:00"),
        (False, 45_000, "mm:ss", "00:00"),
        (True, 0, "yyyy-mm-dd", "1904-01-01"),
        (True, 0.25, 22, "1904-01-01 06:00"),
        (True, 0, "h:mm", "00:00"),
        (True, 60, "yyyy-mm-dd", "1904-03-01"),
        (True, 43_586, "dd.mm.yyyy", "2023-05-02"),
        (True, 7, "h:mm", "00:00"),
        (True, -1, "yyyy-mm-dd", NO_DATE),
    ],
)
def test_the_first_days_of_excel_are_its_dates_or_refused(
    tmp_path: Path, is_1904: bool, number: float, code: str | int, text: str
) -> None:
    book = xlsxwriter.Workbook(str(tmp_path / "a.xlsx"), {"date_1904": is_1904})
    book.add_worksheet("Cells").write_number(0, 0, number, book.add_format({"num_format": code}))
    book.close()
    sheet = partial(Workbook(tmp_path / "a.xlsx").sheet, "Cells")

    if text != NO_DATE:
        assert sheet().rows == [[text]]
        return
    with pytest.raises(
        ReaderError, match=f"cell A1: the number {re.escape(str(number))} is no date of Excel"
    ):
        sheet()
    with reading_options({"numbers": "stored"}):
        assert sheet().rows == [[str(number)]]


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        (5, ["$1,235", "($1,235)", "$0"]),
        (6, ["$1,235", "($1,235)", "$0"]),
        (7, ["$1,234.50", "($1,234.50)", "$0.00"]),
        (8, ["$1,234.50", "($1,234.50)", "$0.00"]),
        (37, ["1,235", "(1,235)", "0"]),
        (40, ["1,234.50", "(1,234.50)", "0.00"]),
        (41, ["1,235", "(1,235)", "-"]),
        (42, ["$1,235", "$(1,235)", "$-"]),
        (43, ["1,234.50", "(1,234.50)", "-"]),
        (44, ["$1,234.50", "$(1,234.50)", "$-"]),
    ],
)
def test_formats_of_excel_itself_are_read_and_their_currency_is_said(
    tmp_path: Path, code: int, texts: list[str]
) -> None:
    def write(book: Any, sheets: dict[str, Any]) -> None:
        for row, number in enumerate((1234.5, -1234.5, 0), start=1):
            sheets["Cup"].write_number(row, 0, number, book.add_format({"num_format": code}))

    path = workbook(tmp_path / "a.xlsx", write, Questions=QUESTIONS, Cup=[["Price"]])

    first, _ = READERS["own"](path)
    currency = findings_of(path).get("currency")

    assert [row[0] for row in first.table.rows] == texts
    assert (currency.number if currency else 0) == (3 if "$" in texts[0] else 0)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ('"Dr. "@', "Dr. Bob"),
        ('0;-0;0;@" kg"', "Bob kg"),
        (r"0.00;[Red]@\!", "Bob!"),
        ("_-* #,##0_-;-* #,##0_-;_-* -_-;_-@_-", "Bob"),
        ("@*.", "Bob"),
        ('0" kg"', "Bob"),
        ("@@", "BobBob"),
        (";;;", ""),
        ("0;-0;0;", ""),
        ('0;0;0;"hidden"', "hidden"),
    ],
)
def test_a_text_is_written_as_its_cell_shows_it(tmp_path: Path, code: str, text: str) -> None:
    def write(book: Any, sheets: dict[str, Any]) -> None:
        sheets["Cup"].write_string(1, 0, "Bob", book.add_format({"num_format": code}))
        sheets["Cup"].write_blank(2, 0, None, book.add_format({"num_format": code}))

    path = workbook(tmp_path / "a.xlsx", write, Questions=QUESTIONS, Cup=[["Name", "Wins"], ["", 1], ["", 2]])

    first, _ = READERS["own"](path)

    assert first.table.rows == ((text, "1"), ("", "2"))
    assert (
        findings_of(path)["not_shown"].text == f"Bob ({code})"
        if not text
        else "not_shown" not in findings_of(path)
    )


def test_a_text_whose_format_is_not_known_is_refused_or_read_as_stored(tmp_path: Path) -> None:
    def write(book: Any, sheets: dict[str, Any]) -> None:
        sheets["Cup"].write_string(1, 0, "Bob", book.add_format({"num_format": "0;0;0;[=1]@"}))

    path = workbook(tmp_path / "a.xlsx", write, Questions=QUESTIONS, Cup=[["Name", "Wins"], ["", 1]])

    assert refused(path).what.startswith("sheet 'Cup', cell A2: the number format '0;0;0;[=1]@' is not known")
    first, _ = OwnData(fields={"numbers": "stored"})(path)
    assert first.table.rows == (("Bob", "1"),)


def test_merged_cells_of_a_table_are_its_spans(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "q.xlsx",
        lambda book, sheets: sheets["Cup"].merge_range(1, 0, 2, 0, "Ann"),
        Questions=QUESTIONS[:2],
        Cup=[CUP[0], ["", 3], ["", 4]],
    )

    (example,) = READERS["own"](path)

    assert example.table.rows == (("Ann", "3"), ("", "4"))
    assert example.table.spans == (Span("r0", "c0", 2, 1),)


def test_a_text_that_a_merged_cell_covers_is_not_read(tmp_path: Path) -> None:
    def write(book: Any, sheets: dict[str, Any]) -> None:
        sheets["Cup"].merge_range(
            1, 0, 2, 1, "Ann"
        )  # without a format, the cells below keep what was in them

    path = workbook(tmp_path / "q.xlsx", write, Cup=[["a", "b"], ["x", "old"], ["old", "old"], ["Bob", 4]])

    assert Workbook(path).sheet("Cup").rows == [["a", "b"], ["Ann", ""], ["", ""], ["Bob", "4"]]


def error_cell(book: Any, sheets: dict[str, Any]) -> None:
    sheets["Cup"].write_formula(1, 1, "=1/0", None, "#DIV/0!")


def money(book: Any, sheets: dict[str, Any]) -> None:
    sheets["Cup"].write(1, 1, 3.5, book.add_format({"num_format": "# ?/?"}))


def merged_questions(book: Any, sheets: dict[str, Any]) -> None:
    sheets["Questions"].merge_range(1, 1, 2, 1, "who won?")


def far_away(book: Any, sheets: dict[str, Any]) -> None:
    sheets["Cup"].write(1_048_575, 16_383, "x")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (error_cell, "sheet 'Cup', cell B2: the cell shows an error"),
        (money, "sheet 'Cup', cell B2: the number format '# ?/?' is not known"),
        (merged_questions, "sheet 'Questions', cell B2: the cell is merged"),
        (far_away, "sheet 'Cup', cell XFD1048576: the sheet is too large"),
    ],
)
def test_a_cell_whose_text_is_not_known_is_refused_by_its_name(
    tmp_path: Path, change: Callable[[Any, dict[str, Any]], None], what: str
) -> None:
    error = refused(workbook(tmp_path / "q.xlsx", change, Questions=QUESTIONS, Cup=CUP))

    assert error.what.startswith(what)
    assert MAX_SHEET_CELLS < 1_048_576 * 16_384


def rewritten(path: Path, old: bytes, new: bytes) -> Path:
    """The workbook as another program would write it: in one of its parts, `old` is `new`."""
    again = path.with_name("again.xlsx")
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(again, "w") as after:
        parts = {name: before.read(name) for name in before.namelist()}
        assert any(old in part for part in parts.values())
        for name, part in parts.items():
            after.writestr(name, part.replace(old, new))
    return again


def test_a_formula_that_was_never_calculated_is_refused(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "made.xlsx",
        lambda book, sheets: sheets["Cup"].write_formula(1, 1, "=1+2", None, 3),
        Questions=QUESTIONS,
        Cup=CUP,
    )
    calculated = b'<c r="B2"><f>1+2</f><v>3</v></c>'
    script = rewritten(path, calculated, b'<c r="B2"><f>1+2</f><v></v></c>')

    assert "cell B2: the result of the formula is not in the file" in refused(script).what

    assert findings_of(script, missing="empty")["missing"].number == 1

    first, _ = READERS["own"](rewritten(path, calculated, b'<c r="B2" t="str"><f>""</f><v></v></c>'))
    assert first.table.rows[0] == ("Ann", "")  # the result is an empty text


def test_rows_of_errors_at_the_end_stay_and_each_of_their_cells_is_counted(tmp_path: Path) -> None:
    def add(book: Any, sheets: dict[str, Any]) -> None:
        for row in (3, 4):
            sheets["Cup"].write_formula(row, 0, "=1/0", None, "#DIV/0!")
            sheets["Cup"].write_formula(row, 2, "=1+2", None, 3)

    path = workbook(tmp_path / "made.xlsx", add, Questions=QUESTIONS, Cup=CUP)
    for cell in (b"C4", b"C5"):
        old = b'<c r="%s"><f>1+2</f><v>3</v></c>' % cell
        path = rewritten(path, old, b'<c r="%s"><f>1+2</f><v></v></c>' % cell).rename(
            tmp_path / cell.decode()
        )

    first, _ = OwnData(fields={"missing": "empty"})(path)
    assert first.table.rows == (("Ann", "3", ""), ("Bob", "4", ""), ("", "", ""), ("", "", ""))
    assert findings_of(path, missing="empty")["missing"].number == 4


def test_columns_of_unknown_names_are_those_below_a_title(tmp_path: Path) -> None:
    rows = [["My questions", "", ""], ["", "", ""], ["asked", "label", "cells"], ["Who?", "Ann", "Cup"]]
    path = workbook(tmp_path / "q.xlsx", Sheet=rows, Cup=CUP)
    own = OwnData(fields={"question": "asked", "answers": "label", "table": "cells"})

    assert OwnData().layout(path).columns == ("asked", "label", "cells")
    assert [example.answers for example in own(path)] == [("Ann",)]


SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>'
HOSTILE = {
    "cells that do not end": b'<row r="1">' + b'<c r="A1">' * 20_000,
    "rows whose tags do not end": b"<row " * 50_000,
    "cells whose tags do not end": b"<row>" + b"<c " * 50_000,
    "values that do not end": b'<row><c r="A1"><f>1</f>' + b"<v>" * 50_000,
    "a name of 50,000 letters": b'<row><c r="%s1"/></row>' % (b"A" * 50_000),
    "a row of 50,000 digits": b'<row r="%s"><c/></row>' % (b"9" * 50_000),
    "a cell of 50,000 digits": b'<row><c r="A%s"/></row>' % (b"9" * 50_000),
    "no number of a cell": b'<row><c r="A"/></row>',
}


def with_part(path: Path, name: str, content: bytes) -> Path:
    """The workbook with one of its parts replaced."""
    again = path.with_name("again.xlsx")
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(again, "w", zipfile.ZIP_DEFLATED) as after:
        for part in before.namelist():
            after.writestr(part, content if part == name else before.read(part))
    return again


def seconds_of_refusal(path: Path) -> float:
    began = time.process_time()
    assert refused(path).mend
    return time.process_time() - began


@pytest.mark.parametrize("content", HOSTILE)
def test_a_hostile_sheet_is_refused_at_once(tmp_path: Path, content: str) -> None:
    path = workbook(tmp_path / "q.xlsx", Questions=QUESTIONS, Cup=CUP)

    assert seconds_of_refusal(with_part(path, "xl/worksheets/sheet1.xml", SHEET % HOSTILE[content])) < 10


@pytest.mark.parametrize("part", ["xl/styles.xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"])
@pytest.mark.parametrize("repeated", [b"<numFmt ", b"<cellXfs>", b"<xf ", b"<sheet ", b"<Relationship "])
def test_hostile_parts_of_a_workbook_are_refused_at_once(tmp_path: Path, part: str, repeated: bytes) -> None:
    path = workbook(tmp_path / "q.xlsx", Questions=QUESTIONS, Cup=CUP)

    assert seconds_of_refusal(with_part(path, part, b"<x>" + repeated * 50_000)) < 10


@pytest.mark.parametrize("number", [b"NaN", b"-nan", b"INF", b"-inf", b"1e999", b"-1e999"])
@pytest.mark.parametrize("style", [b"0", b"1", b"2", b"3"])
def test_a_number_that_is_none_is_refused(tmp_path: Path, number: bytes, style: bytes) -> None:
    """In a cell of a number, of decimals, of a date and of a time. For some, python-calamine has a fault of its own."""

    def formats(book: Any, sheets: dict[str, Any]) -> None:
        for column, code in enumerate(("0.00", "yyyy-mm-dd", "h:mm")):
            sheets["Cup"].write(3, column, 1, book.add_format({"num_format": code}))

    path = workbook(tmp_path / "q.xlsx", formats, Cup=CUP, Questions=QUESTIONS)
    rows = (
        b'<row r="1"><c r="A1" t="str"><v>Name</v></c></row><row r="2"><c r="A2" s="%s"><v>%s</v></c></row>'
    )

    with pytest.raises(ReaderError, match="sheet 'Cup'"):
        Workbook(with_part(path, "xl/worksheets/sheet1.xml", SHEET % (rows % (style, number)))).sheet("Cup")


@pytest.mark.parametrize("merged", [[b"B3:A2"], [b"A2:B2", b"B2:B3"], [b"A2:A3", b"A2:A3"]])
def test_merged_cells_that_no_program_makes_are_refused(tmp_path: Path, merged: list[bytes]) -> None:
    rows = [["Name", "Wins"], ["Ann", 3], ["Bob", 4], ["Cy", 5]]
    path = workbook(
        tmp_path / "q.xlsx",
        lambda book, sheets: sheets["Cup"].merge_range("A3:A4", "Di"),
        Cup=rows,
        Questions=QUESTIONS,
    )
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    ranges = b"".join(b'<mergeCell ref="%s"/>' % cells for cells in merged)
    changed = sheet.replace(b'<mergeCell ref="A3:A4"/>', ranges)
    assert changed != sheet

    refusal = refused(with_part(path, "xl/worksheets/sheet1.xml", changed))

    assert "the sheet 'Cup' cannot be read" in refusal.what


def test_entities_of_a_workbook_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "q.xlsx", Questions=QUESTIONS, Cup=CUP)
    entity = (
        b'<!DOCTYPE x [<!ENTITY a "a">]>' + SHEET % b'<row><c t="inlineStr"><is><t>&a;</t></is></c></row>'
    )

    assert "DOCTYPE" in refused(with_part(path, "xl/worksheets/sheet1.xml", entity)).what


def test_a_sheet_with_prefixes_and_without_names_of_cells_is_read(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "a.xlsx",
        lambda book, sheets: sheets["Cells"].write(0, 0, 1, book.add_format({"num_format": "0.00"})),
        Cells=[],
    )
    sheet = (
        b"<?xml version='1.0' encoding='UTF-8'?>\n<!-- written by a program -->\n"
        b'<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData>'
        b'<x:row><x:c t="inlineStr"><x:is><x:t>A &amp; B</x:t></x:is></x:c><x:c s="1"><x:v>2</x:v></x:c></x:row>'
        b'<x:row><x:c><x:f>1+1</x:f><x:v>2</x:v></x:c><x:c t="b"><x:v>1</x:v></x:c></x:row>'
        b"</x:sheetData></x:worksheet>"
    )

    read = Workbook(with_part(path, "xl/worksheets/sheet1.xml", sheet)).sheet("Cells")

    assert read.rows == [["A & B", "2.00"], ["2", "TRUE"]]


def test_a_workbook_that_pandas_writes_is_read(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"Name": ["Ann", "Bob"], "Wins": [3, 4], "Share": [0.25, 1.5]})
    frame.to_excel(tmp_path / "p.xlsx", sheet_name="Cup", index=False, engine="xlsxwriter")

    assert Workbook(tmp_path / "p.xlsx").sheet("Cup").rows == [
        ["Name", "Wins", "Share"],
        ["Ann", "3", "0.25"],
        ["Bob", "4", "1.5"],
    ]


def test_a_damaged_workbook_and_one_of_no_questions_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "q.xlsx", Questions=QUESTIONS, Cup=CUP)
    data = path.read_bytes()
    path.write_bytes(data[:2000] + b"XXXXXXXXXX" + data[2010:])
    assert refused(path).mend
    path.write_bytes(data[: len(data) // 2])
    assert refused(path).mend

    assert "no column is known as the question" in refused(workbook(tmp_path / "a.xlsx", Cup=CUP)).what
    missing = workbook(tmp_path / "b.xlsx", Questions=QUESTIONS)
    assert "there is no sheet 'Cup'" in refused(missing).what


def test_cells_are_named_as_in_excel() -> None:
    assert [cell_name(0, column) for column in (0, 25, 26, 701, 702, 16_383)] == [
        "A1", "Z1", "AA1", "ZZ1", "AAA1", "XFD1",
    ]  # fmt: skip


OLD = [["Nr", "Question", "Gold", "Sheet"], [1, "an old question?", "Ann", "Cup"]]


@pytest.mark.parametrize("hidden", ["hide", "very_hidden"])
def test_a_hidden_sheet_is_never_read_in_place_of_a_visible_one(hidden: str, tmp_path: Path) -> None:
    def hide(book: Any, sheets: dict[str, Any]) -> None:
        getattr(sheets["Old"], hidden)()
        sheets["Questions"].activate()
        sheets["Questions"].set_first_sheet()

    path = workbook(tmp_path / "q.xlsx", hide, Old=OLD, Questions=QUESTIONS, Cup=CUP)

    assert [example.question for example in READERS["own"](path)] == ["who won?", "how many?"]
    reader = READERS["own"]
    assert isinstance(reader, FormReportingReader)
    assert "in the sheet 'Questions'" in reader.read_as(path)


def test_a_hidden_sheet_is_not_read_where_the_visible_one_has_no_questions(tmp_path: Path) -> None:
    def hide(book: Any, sheets: dict[str, Any]) -> None:
        sheets["Questions"].hide()
        sheets["Notes"].activate()

    path = workbook(tmp_path / "q.xlsx", hide, Notes=[["a", "b"], ["1", "2"]], Questions=QUESTIONS, Cup=CUP)

    assert refused(path).what == "no column is known as the question"


def test_a_table_file_with_one_visible_sheet_is_that_sheet(tmp_path: Path) -> None:
    def hide(book: Any, sheets: dict[str, Any]) -> None:
        sheets["Old"].very_hidden()
        sheets["Cup"].activate()

    workbook(tmp_path / "cup.xlsx", hide, Old=[["Name", "Wins"], ["Cy", 9]], Cup=CUP)
    (tmp_path / "q.csv").write_text("question,table\nwho won?,cup.xlsx\n")

    (example,) = READERS["own"](tmp_path / "q.csv")

    assert example.table.rows == (("Ann", "3"), ("Bob", "4"))


def test_a_hidden_sheet_that_a_question_names_is_its_table(tmp_path: Path) -> None:
    def hide(book: Any, sheets: dict[str, Any]) -> None:
        sheets["Cup"].hide()

    path = workbook(tmp_path / "q.xlsx", hide, Questions=QUESTIONS, Cup=CUP)

    assert [example.table.rows[0] for example in READERS["own"](path)] == [("Ann", "3")] * 2


def test_titles_above_the_header_of_questions_are_left_out_and_counted(tmp_path: Path) -> None:
    def merge(book: Any, sheets: dict[str, Any]) -> None:
        sheets["Questions"].merge_range(0, 0, 0, 3, "Study of 2024")

    path = workbook(tmp_path / "q.xlsx", merge, Cup=CUP, Questions=[[], ["Draft"], *QUESTIONS])

    assert [(example.id, example.question) for example in READERS["own"](path)] == [
        ("1", "who won?"),
        ("b", "how many?"),
    ]
    finding = findings_of(path)["titles"]
    assert (finding.number, finding.line, finding.text) == (2, 1, "Study of 2024 Draft")


def test_hidden_rows_are_read_and_named(tmp_path: Path) -> None:
    """As pandas and LibreOffice export them: a filter that was left on loses nobody's data."""

    def hide(book: Any, sheets: dict[str, Any]) -> None:
        for row in (2, 7):  # the second has no cells
            sheets["Questions"].set_row(row, None, None, {"hidden": True})
        sheets["Cup"].set_row(1, None, None, {"hidden": True})

    path = workbook(tmp_path / "q.xlsx", hide, Questions=QUESTIONS, Cup=CUP)
    reader = READERS["own"]
    assert isinstance(reader, FormReportingReader)

    assert [example.id for example in reader(path)] == ["1", "b"]
    finding = findings_of(path)["hidden_rows"]
    assert (finding.number, finding.line, finding.text) == (2, 3, "q.xlsx, Questions")


def test_hidden_rows_of_table_files_are_named(tmp_path: Path) -> None:
    def hide(book: Any, sheets: dict[str, Any]) -> None:
        for row in (1, 2):
            sheets["Cup"].set_row(row, None, None, {"hidden": True})

    workbook(tmp_path / "cup.xlsx", hide, Cup=CUP)
    (tmp_path / "q.csv").write_text("question,table\nwho won?,cup.xlsx\nwho lost?,cup.xlsx\n")
    reader = READERS["own"]
    assert isinstance(reader, FormReportingReader)

    assert [len(example.table.rows) for example in reader(tmp_path / "q.csv")] == [2, 2]
    finding = findings_of(tmp_path / "q.csv")["hidden_rows"]
    assert (finding.number, finding.line, finding.text) == (2, 2, "cup.xlsx, Cup")


def test_a_sheet_of_notes_before_questions_of_unknown_names_is_passed_over(tmp_path: Path) -> None:
    rows = [["asked", "label", "cells"], ["Who?", "Ann", "Cup"]]
    path = workbook(
        tmp_path / "q.xlsx", Notes=[["Made by Ada"], ["Please do not change"]], Asked=rows, Cup=CUP
    )
    own = OwnData(fields={"question": "asked", "answers": "label", "table": "cells"})

    assert OwnData().layout(path).columns == ("asked", "label", "cells")
    assert [example.answers for example in own(path)] == [("Ann",)]


def test_questions_of_unknown_names_behind_a_table_are_found_by_the_sheet_that_a_person_chooses(
    tmp_path: Path,
) -> None:
    rows = [["asked", "label", "cells"], ["Who?", "Ann", "Cup"]]
    path = workbook(tmp_path / "q.xlsx", Cup=CUP, Asked=rows)
    named = {"question": "asked", "answers": "label", "table": "cells"}

    with pytest.raises(ReaderError, match="no column is known as the question") as error:
        list(OwnData(fields={})(path))

    assert error.value.ways == {"questions": ("Cup", "Asked")}
    assert OwnData(fields={"questions": "Asked"}).layout(path).columns == ("asked", "label", "cells")
    (example,) = OwnData(fields={**named, "questions": "Asked"})(path)
    assert (example.question, example.table.rows) == ("Who?", (("Ann", "3"), ("Bob", "4")))
