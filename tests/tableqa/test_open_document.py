"""OpenDocument spreadsheets: questions in a sheet, tables in others, every cell as it is shown or refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tableqa import Span
from tableqa.readers import READERS, ReaderError
from tableqa.readers.open_document import OpenDocument, open_workbook
from tableqa.readers.reading_options import reading_options
from tableqa.readers.workbook import MAX_SHEET_CELLS, is_workbook
from tests.tableqa.reports import findings_of

_NAMES = "".join(
    f' xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in [
        *[
            ("office", "office"),
            ("table", "table"),
            ("text", "text"),
            ("style", "style"),
            ("number", "datastyle"),
        ]
    ]
)
_STYLES = """<office:automatic-styles>
<number:date-style style:name="N1"><number:year/></number:date-style>
<number:date-style style:name="N2"><number:month number:textual="true"/></number:date-style>
<number:date-style style:name="N3P0"><number:month/><number:year/></number:date-style>
<number:text-style style:name="N3"><number:text-content/>
<style:map style:condition="value()&lt;=1.7976931348623157E+308" style:apply-style-name="N3P0"/></number:text-style>
<number:date-style style:name="N4"><number:day/><number:month/><number:year/><number:hours/><number:minutes/>
</number:date-style>
<number:date-style style:name="N5"><number:day/><number:month/><number:year/><number:hours/><number:minutes/>
<number:seconds number:decimal-places="1"/></number:date-style>
<style:style style:name="minutes" style:data-style-name="N4"/>
<style:style style:name="tenths" style:data-style-name="N5"/>
<style:style style:name="year" style:data-style-name="N1"/>
<style:style style:name="with_text_section" style:data-style-name="N3"/>
<style:style style:name="month" style:data-style-name="N2"/>
<style:style style:name="raised"><style:text-properties style:text-position="super 58%"/></style:style>
<style:style style:name="struck"><style:text-properties style:text-line-through-style="solid"/></style:style>
<style:style style:name="lowered"><style:text-properties style:text-position="sub 58%"/></style:style>
<style:style style:name="raised_by_a_third"><style:text-properties style:text-line-through-type="none"
  style:text-position="33% 58%"/></style:style>
<style:style style:name="lowered_by_a_part"><style:text-properties style:text-position="-8% 58%"/></style:style>
<style:style style:name="on_the_line"><style:text-properties style:text-position="0% 100%"/></style:style>
<style:style style:name="struck_once"><style:text-properties style:text-line-through-type="single"/></style:style>
<style:style style:name="hidden"><style:table-properties table:display="false"/></style:style>
</office:automatic-styles>"""


def cell(shown: str = "", kind: str = "string", **attributes: str) -> str:
    said = "".join(
        f' {name.replace("_", ":", 1).replace("_", "-")}="{value}"' for name, value in attributes.items()
    )
    text = f"<text:p>{shown}</text:p>" if shown else ""
    return f'<table:table-cell office:value-type="{kind}"{said}>{text}</table:table-cell>'


def sheet(name: str, *rows: str, style: str = "", columns: str = "") -> str:
    inner = "".join(
        row if row.startswith("<table:table-row") else f"<table:table-row>{row}</table:table-row>"
        for row in rows
    )
    return f'<table:table table:name="{name}" table:style-name="{style}">{columns}{inner}</table:table>'


QUESTIONS = sheet(
    "Q",
    cell("id") + cell("question") + cell("answers") + cell("table"),
    cell("q7") + cell("Who?") + cell("x") + cell("T"),
)


def document(path: Path, *sheets: str) -> Path:
    body = f"<office:body>{''.join(sheets)}</office:body>"
    content = f"<office:document-content{_NAMES}>{_STYLES}{body}</office:document-content>"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet", zipfile.ZIP_STORED)
        packed.writestr("content.xml", content)
    return path


def rows(path: Path, name: str = "T") -> list[list[str]]:
    return open_workbook(path).sheet(name).rows


def test_questions_and_their_table_are_read(tmp_path: Path) -> None:
    path = document(tmp_path / "q.ods", QUESTIONS, sheet("T", cell("a") + cell("b"), cell("1") + cell("2")))

    (example,) = READERS["own"](path)

    assert (example.id, example.question, example.answers) == ("q7", "Who?", ("x",))
    assert (example.table.header, example.table.rows) == (("a", "b"), (("1", "2"),))


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (cell("$1,200.50", "currency", office_value="1200.5"), "$1,200.50"),
        (cell("00007", "float", office_value="7"), "00007"),
        (cell("1,200", "float", office_value="1200"), "1,200"),
        (cell("1,5", "float", office_value="1.5"), "1.5"),
        (cell("1.50", "float", office_value="1.5"), "1.50"),
        (cell("12.5%", "percentage", office_value="0.125"), "12.5%"),
        (cell("TRUE", "boolean", office_boolean_value="true"), "TRUE"),
        (cell("01.05.24", "date", office_date_value="2024-05-01"), "2024-05-01"),
        (cell("01.05.24", "date", office_date_value="2024-05-01T10:30:00"), "2024-05-01 10:30:00"),
        (cell("2024", "date", office_date_value="2024-05-01", table_style_name="year"), "2024"),
        (
            cell("1.5. 10:30", "date", office_date_value="2024-05-01T10:30:45.3", table_style_name="minutes"),
            "2024-05-01 10:30",
        ),
        (
            cell(
                "1.5. 30:45.3", "date", office_date_value="2024-05-01T10:30:45.3", table_style_name="tenths"
            ),
            "2024-05-01 10:30:45.3",
        ),
        (
            cell("5/24", "date", office_date_value="2024-05-01", table_style_name="with_text_section"),
            "2024-05",
        ),
        (cell("May", "date", office_date_value="2024-05-01", table_style_name="month"), "May"),
        (cell("a<text:s text:c='2'/>b<text:tab/>c<text:line-break/>d"), "a  b\tc\nd"),
        (cell("<text:span>bo</text:span>ld</text:p><text:p>next"), "bold\nnext"),
    ],
)
def test_a_cell_is_read_as_it_is_shown(tmp_path: Path, written: str, text: str) -> None:
    path = document(tmp_path / "q.ods", sheet("T", cell("a"), written))

    assert rows(path) == [["a"], [text]]


def span(style: str, text: str) -> str:
    return f'<text:span text:style-name="{style}">{text}</text:span>'


@pytest.mark.parametrize(
    ("shown", "text", "kinds"),
    [
        (f"m{span('raised', '2')} is H{span('lowered', '2')}O", "m² is H2O", ["superscripts"]),
        (f"3{span('raised', 'ab')}{span('struck', '4')}5", "3^ab5", ["superscripts", "struck"]),
        (f"m{span('raised_by_a_third', '2')}{span('on_the_line', '!')}", "m²!", ["superscripts"]),
        (f"H{span('lowered_by_a_part', '2')}O{span('struck_once', 'x')}", "H2O", ["struck"]),
        (span("raised", "7"), "7", []),
        (f"a{span('raised', ' ')}b{span('struck', '')}", "a b", []),
    ],
)
def test_superscripts_and_struck_out_texts_are_read_as_in_html(
    tmp_path: Path, shown: str, text: str, kinds: list[str]
) -> None:
    path = document(tmp_path / "q.ods", sheet("T", cell("a"), cell(shown)))

    read = open_workbook(path).sheet("T")

    assert read.rows == [["a"], [text]]
    assert read.marked == [(kind, text, 2) for kind in kinds]


def test_a_date_has_the_style_of_its_column(tmp_path: Path) -> None:
    of_years = 'table:default-cell-style-name="year" table:number-columns-repeated="2"'
    columns = f"<table:table-column/><table:table-column {of_years}/>"
    date = cell("2024", "date", office_date_value="2024-05-01")
    path = document(tmp_path / "q.ods", sheet("T", cell("a") + date + date, columns=columns))

    assert rows(path) == [["a", "2024", "2024"]]
    assert open_workbook(path).sheet("T").dates == [1, 1]


def test_repeated_cells_and_rows_are_read_and_the_unused_rest_is_not(tmp_path: Path) -> None:
    twice = '<table:table-row table:number-rows-repeated="2">'
    rest = '<table:table-row table:number-rows-repeated="1048000">'
    path = document(
        tmp_path / "q.ods",
        sheet(
            "T",
            cell("a", table_number_columns_repeated="2") + cell(table_number_columns_repeated="16382"),
            f"{twice}{cell('1')}{cell('2')}</table:table-row>",
            f"{rest}{cell(table_number_columns_repeated='16384')}</table:table-row>",
        ),
    )

    assert rows(path) == [["a", "a"], ["1", "2"], ["1", "2"]]


def test_empty_rows_and_cells_before_others_are_read_however_many(tmp_path: Path) -> None:
    empty = '<table:table-row table:number-rows-repeated="1500"><table:table-cell/></table:table-row>'
    wide = cell(table_number_columns_repeated="1200") + cell("z") + cell(table_number_columns_repeated="9000")
    path = document(tmp_path / "q.ods", sheet("T", cell("a"), empty, wide, empty), sheet("U", cell("b")))

    read = rows(path)

    assert [at for at, row in enumerate(read) if any(row)] == [0, 1501]
    assert (len(read), read[0][0], read[1501].index("z"), len(read[1501])) == (1502, "a", 1200, 1201)
    assert rows(path, "U") == [["b"]]


def test_empty_rows_before_others_count_for_the_limit(tmp_path: Path) -> None:
    empty = f'<table:table-row table:number-rows-repeated="{MAX_SHEET_CELLS}"><table:table-cell/></table:table-row>'

    with pytest.raises(ReaderError, match="the sheet is too large"):
        open_workbook(document(tmp_path / "q.ods", sheet("T", empty, cell("a"))))


def test_hidden_columns_with_texts_are_said(tmp_path: Path) -> None:
    hidden = '<table:table-column table:visibility="collapse" table:number-columns-repeated="2"/>'
    columns = f"<table:table-column/>{hidden}<table:table-column/>"
    path = document(
        tmp_path / "q.ods", sheet("T", cell("a") + cell("b") + cell() + cell("d"), columns=columns)
    )

    assert open_workbook(path).sheet("T").hidden_columns == [2]


def test_more_cells_than_the_limit_are_refused(tmp_path: Path) -> None:
    rest = f'<table:table-row table:number-rows-repeated="{MAX_SHEET_CELLS}">{cell("1")}{cell("2")}</table:table-row>'

    with pytest.raises(ReaderError, match="the sheet is too large"):
        open_workbook(document(tmp_path / "q.ods", sheet("T", rest)))


def test_a_wide_row_above_many_narrow_ones_counts_with_all_of_them(tmp_path: Path) -> None:
    wide = cell("1", table_number_columns_repeated=str(MAX_SHEET_CELLS // 1_000))
    narrow = f'<table:table-row table:number-rows-repeated="1001">{cell("1")}</table:table-row>'

    with pytest.raises(ReaderError, match="the sheet is too large"):
        open_workbook(document(tmp_path / "q.ods", sheet("T", wide, narrow)))


def test_merged_cells_are_spans_and_hidden_rows_are_said(tmp_path: Path) -> None:
    merged = cell("1", table_number_columns_spanned="2") + "<table:covered-table-cell/>"
    hidden = f'<table:table-row table:visibility="filter">{cell("3")}{cell("4")}</table:table-row>'
    path = document(tmp_path / "q.ods", QUESTIONS, sheet("T", cell("a") + cell("b"), merged, hidden))

    (example,) = READERS["own"](path)

    assert example.table.spans == (Span("r0", "c0", 1, 2),)
    assert open_workbook(path).sheet("T").hidden_rows == [3]


def test_a_hidden_sheet_is_not_that_of_the_questions(tmp_path: Path) -> None:
    old = QUESTIONS.replace('"Q"', '"Old"').replace('style-name=""', 'style-name="hidden"')
    path = document(tmp_path / "q.ods", old, QUESTIONS, sheet("T", cell("a"), cell("1")))

    workbook = open_workbook(path)

    assert isinstance(workbook, OpenDocument)
    assert (workbook.sheet_names, workbook.visible_names) == (["Old", "Q", "T"], ["Q", "T"])


def test_an_error_is_refused_by_its_cell_or_empty_as_chosen(tmp_path: Path) -> None:
    path = document(tmp_path / "q.ods", sheet("T", cell("a"), cell("Err:502", "error")))

    with reading_options({}), pytest.raises(ReaderError, match="cell A2: the cell shows an error") as refused:
        rows(path)
    assert refused.value.ways == {"missing": ("empty",)}
    with reading_options({"missing": "empty"}):
        assert rows(path) == [["a"], [""]]
        assert open_workbook(path).sheet("T").marked == [("missing", "", 2)]


def test_several_errors_of_a_row_are_counted_one_by_one(tmp_path: Path) -> None:
    errors = cell("Err:502", "error") * 2
    path = document(tmp_path / "q.ods", QUESTIONS, sheet("T", cell("a") + cell("b"), errors))

    assert findings_of(path, missing="empty")["missing"].number == 2


def test_a_comment_on_a_cell_is_not_read(tmp_path: Path) -> None:
    note = "<office:annotation><text:p>check</text:p></office:annotation>"
    path = document(tmp_path / "q.ods", sheet("T", cell("a").replace("<text:p>", f"{note}<text:p>", 1)))

    assert rows(path) == [["a"]]


def test_a_damaged_document_is_refused(tmp_path: Path) -> None:
    path = document(tmp_path / "q.ods", "<table:table>")

    assert is_workbook(path)
    with pytest.raises(ReaderError, match="cannot be read"):
        open_workbook(path)


def test_an_archive_that_begins_with_a_small_file_and_an_ods_is_no_ods(tmp_path: Path) -> None:
    table = document(tmp_path / "t.ods", sheet("T", cell("a") + cell("b"), cell("1") + cell("2")))
    path = tmp_path / "q.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("q.csv", "question,table\nwho?,t.ods\n")
        archive.write(table, "t.ods")

    (example,) = READERS["own"](path)

    assert not is_workbook(path)
    assert example.table.rows == (("1", "2"),)
