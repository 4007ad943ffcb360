"""Files of another kind than the reader expects are refused with a hint, where they would be read as something else."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tableqa.readers import READERS, ReaderError
from tests.tableqa.reports import findings_of

QUESTIONS = "id,question,table,answers\n1,who won?,cup.csv,Ann\n"


def refused(reader: str, path: Path) -> ReaderError:
    with pytest.raises(ReaderError) as error:
        list(READERS[reader](path))
    return error.value


def label_studio(folder: Path, table: str) -> Path:
    path = folder / "export.json"
    path.write_text(json.dumps([{"id": 1, "data": {"question": "who won?", "table": table}}]), "utf-8")
    return path


def with_table(folder: Path, table: str) -> Path:
    (folder / "cup.csv").write_text(table, "utf-8")
    path = folder / "questions.csv"
    path.write_text(QUESTIONS, "utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "tables/cities.csv",
        "cities.csv",
        "my tables/cities, large.csv",
        "csv/204-csv/772",
        r"C:\tables\cities.xlsx",
        "cities.json\n",
    ],
)
def test_a_path_is_not_taken_for_a_table_without_rows(tmp_path: Path, text: str) -> None:
    error = refused("label_studio", label_studio(tmp_path, text))

    assert "looks like the path of a file" in error.what
    assert "The reader csv" in error.mend


@pytest.mark.parametrize("text", ["Name,Wins", "Name", "Wins in/out,Name\nAnn,3"])
def test_a_text_that_is_no_path_is_a_table_with_or_without_rows(tmp_path: Path, text: str) -> None:
    (example,) = READERS["label_studio"](label_studio(tmp_path, text))

    assert example.table.shape[0] == text.count("\n")


@pytest.mark.parametrize(("sign", "name"), [(";", "semicolon"), ("\t", "tab")])
class TestSeparators:
    def test_a_table_with_another_separator_is_not_one_column(
        self, tmp_path: Path, sign: str, name: str
    ) -> None:
        error = refused("csv", with_table(tmp_path, f"Name{sign}Wins\nAnn{sign}3\n"))

        assert (Path(error.file).name, error.line) == ("cup.csv", 1)
        assert error.mend == f"Is the separator a {name}? Save the file with commas"

    def test_a_decimal_comma_in_it_does_not_hide_the_hint(self, tmp_path: Path, sign: str, name: str) -> None:
        error = refused("csv", with_table(tmp_path, f"Name{sign}Price\nAnn{sign}3,50\n"))

        assert f"Is the separator a {name}?" in error.mend

    def test_a_text_in_a_record_with_it_is_read(self, tmp_path: Path, sign: str, name: str) -> None:
        (example,) = READERS["label_studio"](label_studio(tmp_path, f"Name{sign}Wins\nAnn{sign}3,5\n"))

        assert example.table.rows == (("Ann", "3,5"),)

    def test_an_uneven_text_in_a_record_with_it_is_not_one_column(
        self, tmp_path: Path, sign: str, name: str
    ) -> None:
        error = refused("label_studio", label_studio(tmp_path, f"Name{sign}Wins\nAnn{sign}3{sign}4\n"))

        assert f"Is the separator a {name}?" in error.mend

    def test_a_file_of_questions_with_it_gets_the_same_hint(
        self, tmp_path: Path, sign: str, name: str
    ) -> None:
        path = tmp_path / "questions.csv"
        path.write_text(QUESTIONS.replace(",", sign), "utf-8")

        assert f"Is the separator a {name}?" in refused("csv", path).mend


def jsonl(folder: Path, header: str, *cells: str) -> Path:
    path = folder / "questions.jsonl"
    table = {"header": [header], "rows": [[cell] for cell in cells]}
    path.write_text(json.dumps({"id": "1", "question": "who?", "answers": ["Ann"], "table": table}), "utf-8")
    return path


class TestTablesOfRecords:
    """A file with another separator is one column in every form that a script makes of it: the preview says so."""

    @pytest.mark.parametrize(
        "table",
        [
            [["Name;Wins"], ["Ann;3"]],
            [{"Name;Wins": "Ann;3"}],
            {"Name;Wins": ["Ann;3", "Bob;5"]},
            {"header": ["Name\tWins"], "rows": [["Ann\t3"]]},
            '[["Name;Wins"], ["Ann;3"]]',
        ],
    )
    def test_lines_that_were_not_parted_are_counted(self, tmp_path: Path, table: object) -> None:
        path = tmp_path / "export.json"
        path.write_text(json.dumps([{"id": 1, "data": {"question": "who won?", "table": table}}]), "utf-8")

        assert findings_of(path, "label_studio")["one_column"].number == 1

    def test_in_json_lines_too(self, tmp_path: Path) -> None:
        findings = findings_of(jsonl(tmp_path, "Name;Wins", "Ann;3"), "jsonl")

        assert findings["one_column"].text == "Name;Wins"

    def test_a_column_whose_name_has_a_semicolon_is_a_table(self, tmp_path: Path) -> None:
        (example,) = READERS["jsonl"](jsonl(tmp_path, "Name; first", "Ann", "Bob"))

        assert example.table.header == ("Name; first",)


def test_a_column_without_another_separator_is_a_table(tmp_path: Path) -> None:
    (example,) = READERS["csv"](with_table(tmp_path, "Name\nAnn; Bob\n"))

    assert example.table.rows == (("Ann; Bob",),)


def workbook(path: Path, first: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in dict.fromkeys([first, "[Content_Types].xml", "xl/workbook.xml"]):
            archive.writestr(name, "<x/>" * 500)
    return path


@pytest.mark.parametrize("reader", ["csv", "jsonl", "label_studio", "wtq", "tat_qa"])
@pytest.mark.parametrize("first", ["[Content_Types].xml", "docProps/app.xml", "xl/worksheets/sheet1.xml"])
def test_an_excel_file_is_named_as_one(tmp_path: Path, reader: str, first: str) -> None:
    error = refused(reader, workbook(tmp_path / "questions.csv", first))

    assert error.what == "this is an Excel file"
    assert "Save it as CSV UTF-8" in error.mend


def test_an_excel_file_of_the_old_format_and_one_among_the_tables_are_named(tmp_path: Path) -> None:
    old = tmp_path / "old.xls"
    old.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    assert refused("csv", old).what == "this is an Excel file"

    questions = with_table(tmp_path, "")
    workbook(tmp_path / "cup.csv", "[Content_Types].xml")
    error = refused("csv", questions)
    assert (Path(error.file).name, error.what) == ("cup.csv", "this is an Excel file")


@pytest.mark.parametrize(
    ("name", "what"), [("mimetype", "this is an OpenDocument file"), ("a.csv", "this is a zip archive")]
)
def test_other_archives_are_named_too(tmp_path: Path, name: str, what: str) -> None:
    path = tmp_path / "questions.csv"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, "application/vnd.oasis.opendocument.spreadsheet")

    assert refused("csv", path).what == what
