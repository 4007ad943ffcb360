"""A zip archive of questions and tables: read in one, and refused where it would fill the disk or lead out."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tableqa.readers import READERS, FormReportingReader, ReaderError, archive

CUP = "Name;Wins\nAnn;3\nBob;4\n"
QUESTIONS = "id;question;answer;table\n1;who won?;Bob;tables/cup.csv\n"
RECORDS = '{"id": 1, "question": "who won?", "answer": "Bob", "table": "tables/cup.csv"}\n'


def packed(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as inside:
        for name, text in files.items():
            inside.writestr(name, text)
    return path


def refused(path: Path) -> ReaderError:
    with pytest.raises(ReaderError) as error:
        list(READERS["own"](path))
    assert "/askew-archive-" not in str(error.value)
    return error.value


@pytest.mark.parametrize(
    ("name", "text"),
    [("q.csv", QUESTIONS), ("q.jsonl", RECORDS), ("q.json", f"[{RECORDS}]")],
)
@pytest.mark.parametrize("top", ["", "my data/"])
def test_questions_and_their_tables_come_in_one_archive(
    tmp_path: Path, name: str, text: str, top: str
) -> None:
    path = packed(
        tmp_path / "all.zip", {f"{top}{name}": text, f"{top}tables/cup.csv": CUP, "__MACOSX/._q.csv": "x"}
    )
    nothing = tmp_path / "nothing"
    nothing.mkdir()

    (example,) = READERS["own"](path, tables=nothing)

    assert (example.id, example.answers) == ("1", ("Bob",))
    assert example.table.rows == (("Ann", "3"), ("Bob", "4"))
    assert list(READERS["own"].files(path)) == [path]
    reader = READERS["own"]
    assert isinstance(reader, FormReportingReader)
    assert "Columns: id = id" in reader.read_as(path)


def test_a_fault_in_an_archive_names_archive_file_and_line(tmp_path: Path) -> None:
    error = refused(packed(tmp_path / "all.zip", {"q.csv": QUESTIONS, "tables/cup.csv": CUP + "x\n"}))

    assert (error.file, error.line) == ("all.zip/tables/cup.csv", 4)
    assert (
        "the file of the table tables/cup.csv is missing"
        in refused(packed(tmp_path / "all.zip", {"q.csv": QUESTIONS})).what
    )


def test_paths_that_lead_out_and_links_are_refused(tmp_path: Path) -> None:
    assert "leads out" in refused(packed(tmp_path / "a.zip", {"../q.csv": QUESTIONS})).what
    assert "leads out" in refused(packed(tmp_path / "b.zip", {"/tmp/q.csv": QUESTIONS})).what

    link = zipfile.ZipInfo("q.csv")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as inside:
        inside.writestr(link, "/etc/passwd")
    assert refused(tmp_path / "c.zip").what == "'q.csv' is a link"


def test_an_archive_that_would_fill_the_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(tmp_path / "a.zip", {"q.csv": QUESTIONS, "tables/cup.csv": CUP})
    monkeypatch.setattr(archive, "MOST_UNPACKED", 50)
    assert refused(path).what == "it unpacks to more than 50 bytes"
    monkeypatch.setattr(archive, "MOST_MEMBERS", 1)
    assert refused(path).what == "it contains more than 1 files"


def test_a_damaged_archive_and_one_without_or_with_two_files_of_questions_are_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", {"q.csv": QUESTIONS, "p.csv": QUESTIONS, "tables/cup.csv": CUP})
    assert refused(path).what == "the folder contains several such files: p.csv, q.csv"
    assert refused(packed(tmp_path / "b.zip", {"cup.csv": CUP})).what == "no column is known as the question"
    assert refused(packed(tmp_path / "c.zip", {"a.md": CUP})).what == "the folder contains no such file"
    path.write_bytes(path.read_bytes()[:100])
    assert refused(path).what.startswith("the zip archive cannot be read")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as inside:
        inside.writestr("q.csv", QUESTIONS)
        inside.writestr("q.csv", RECORDS)

    assert refused(tmp_path / "a.zip").what == "two files have the name 'q.csv'"


def test_paths_with_backslashes_and_suffixes_in_capitals_are_read(tmp_path: Path) -> None:
    questions = "id,question,table\n1,who?,Tables\\T.CSV\n"
    path = packed(tmp_path / "a.zip", {"d\\Questions.CSV": questions, "d\\Tables\\T.CSV": "Name\nAnn\n"})

    (example,) = list(READERS["own"](path))

    assert example.table.rows == (("Ann",),)


@pytest.mark.parametrize("name", ["..\\q.csv", "a\\..\\..\\q.csv", "\\tmp\\q.csv", "C:\\q.csv"])
def test_paths_with_backslashes_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    assert "leads out" in refused(packed(tmp_path / "a.zip", {name: "question,table\n"})).what


@pytest.mark.parametrize("tables", ["tables", "data/tables", "data"])
@pytest.mark.parametrize("top", ["", "my study/"])
def test_questions_may_be_in_a_folder_beside_that_of_the_tables(
    tmp_path: Path, tables: str, top: str
) -> None:
    files = {f"{top}data/q.jsonl": RECORDS.replace("tables/", ""), f"{top}{tables}/cup.csv": CUP}
    files[f"{top}readme.txt"] = "Made in May\n"

    (example,) = READERS["own"](packed(tmp_path / "all.zip", files))

    assert example.table.rows == (("Ann", "3"), ("Bob", "4"))


def test_a_fault_in_the_folder_of_the_tables_names_archive_and_file(tmp_path: Path) -> None:
    files = {"data/q.jsonl": RECORDS, "tables/cup.csv": CUP + "Cy;1;2\n"}

    error = refused(packed(tmp_path / "all.zip", files))

    assert (error.file, error.line) == ("all.zip/tables/cup.csv", 4)


def test_a_folder_of_many_tables_is_not_searched_for_questions(tmp_path: Path) -> None:
    files = {f"data/{number}.jsonl": RECORDS for number in range(archive.MANY_IN_FOLDER + 1)}
    files["LICENSE"] = "CC0"

    assert "no such file" in refused(packed(tmp_path / "all.zip", files)).what
