"""Your own data: columns of any name in CSV, TSV, JSON and JSON Lines, with tables inside or in files beside."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tableqa import Example
from tableqa.readers import READERS, MappedReader, ReaderError, Rejection, checked_outcomes
from tableqa.readers.column_names import guess_columns
from tests.tableqa.reports import findings_of, report_of

TABLE = [["Name", "Wins"], ["Ann", "3"], ["Bob", "4"]]
OBJECTS = [{"Name": "Ann", "Wins": 3}, {"Name": "Bob", "Wins": 4}]
PAGE_TABLE = "<table><thead><tr><th>Name</th><th>Wins</th></tr></thead><tr><td>Ann</td><td>3</td></tr>"
HEADED = {"header": TABLE[0], "rows": TABLE[1:]}


def lines(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def text(folder: Path, name: str, content: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode(encoding))
    return path


def read(path: Path, **fields: str) -> list[Example]:
    reader = READERS["own"]
    assert isinstance(reader, MappedReader)
    return list(reader.with_fields(fields)(path))


def refused(path: Path, **fields: str) -> ReaderError:
    with pytest.raises(ReaderError) as error:
        read(path, **fields)
    return error.value


@pytest.mark.parametrize("table", [TABLE, OBJECTS, HEADED, "Name,Wins\nAnn,3\nBob,4\n", json.dumps(TABLE)])
def test_a_table_inside_the_record_is_read_in_every_form(tmp_path: Path, table: object) -> None:
    (example,) = read(lines(tmp_path, {"qid": 7, "text": "who won?", "gold": ["Bob"], "table": table}))

    assert (example.id, example.question, example.answers) == ("7", "who won?", ("Bob",))
    assert (example.table.header, example.table.rows) == (("Name", "Wins"), (("Ann", "3"), ("Bob", "4")))


@pytest.mark.parametrize("name", ["metadata", "about"])
def test_answers_in_an_object_beside_that_of_the_question_are_read(tmp_path: Path, name: str) -> None:
    inner = {"question": "who won?", "table": "Name,Wins\nAnn,3\nBob,4\n"}
    label = {"label": [{"value": "read", "user_id": "u1"}]}
    suggested = {"label": {"value": "read", "score": None}}
    record = {"id": "q1", "fields": inner, name: {"answers": 1.5, "page": 3}}

    (example,) = read(lines(tmp_path, {**record, "suggestions": suggested, "responses": label}))

    assert (example.id, example.answers, example.meta["page"]) == ("q1", ("1.5",), 3)


def test_answers_in_two_objects_beside_that_of_the_question_are_not_guessed(tmp_path: Path) -> None:
    inner = {"question": "who won?", "table": "Name,Wins\nAnn,3\nBob,4\n"}

    (example,) = read(lines(tmp_path, {"fields": inner, "one": {"answers": "1"}, "two": {"answers": "2"}}))

    assert example.answers == ()


@pytest.mark.parametrize(("named", "stored"), [("K\u00f6ln", "Ko\u0308ln"), ("Ko\u0308ln", "K\u00f6ln")])
def test_a_table_is_found_whose_file_has_its_name_in_another_unicode_form(
    named: str, stored: str, tmp_path: Path
) -> None:
    text(tmp_path, f"tabs/{stored}.csv", "a,b\n1,2\n")
    path = lines(tmp_path, {"question": "Who?", "table": f"tabs/{named}.csv"})

    (example,) = read(path)

    assert example.table.rows == (("1", "2"),)


def test_a_german_spreadsheet_with_its_tables_beside_is_read(tmp_path: Path) -> None:
    text(tmp_path, "tables/städte.csv", "Ort;Höhe\nKöln;3,50\n", "cp1252")
    path = text(
        tmp_path,
        "fragen.csv",
        "Nr;Frage;Antworten;Tabelle;Stufe\r\n1;Wie hoch?;3,50;städte.csv;a\r\n;;;;\r\n",
        "cp1252",
    )

    (example,) = list(READERS["own"](path, tables=tmp_path / "tables"))

    assert example.table.rows == (("Köln", "3,50"),)
    assert example.answers == ("3,50",)
    assert dict(example.meta) == {"Stufe": "a", "table": "städte.csv"}
    assert READERS["own"].read_as(path) == (  # type: ignore[attr-defined]
        "fragen.csv was read as semicolon-separated, Windows-1252 (städte). "
        "The encoding is a guess: check these letters. "
        "Tables that are not Unicode were read as Windows-1252 (Höhe, Köln). "
        "Columns: id = Nr, question = Frage, answers = Antworten, table = Tabelle."
    )
    assert [file.name for file in READERS["own"].files(path, tmp_path / "tables")] == [
        "fragen.csv",
        "städte.csv",
    ]


def test_answers_with_a_semicolon_in_quotes_are_one_answer_each_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Name\nAnn\n")
    path = text(tmp_path, "q.csv", 'question;answers;table\nwho?;"Ann; Bob";t.csv\nwhere?;Rome;t.csv\n')

    assert [example.answers for example in READERS["own"](path)] == [("Ann; Bob",), ("Rome",)]
    (said,) = report_of(path).sentences()
    assert said == (
        "Answers with “;” or “|”, read as one answer: 1 (the first: line 2, record 1, Ann; Bob). "
        "If the sign separates several answers, choose it as their separator."
    )


def test_answers_that_a_chosen_separator_parts_are_counted(tmp_path: Path) -> None:
    path = lines(tmp_path, {"question": "who?", "answer": "Ann; Bob", "table": TABLE})

    findings = findings_of(path, answer_separator=";")

    assert (list(findings), findings["split"].number) == (["split"], 1)


@pytest.mark.parametrize(
    "answers",
    [
        ["Ann", "Rome"],
        [3, None, ""],
        ["Ann won the first cup and the second one, too, in Rome; Bob won none of them at all, nor did Cy."],
    ],
)
def test_answers_without_doubt_about_their_separator_have_no_note(tmp_path: Path, answers: list[Any]) -> None:
    records = [{"question": "who?", "answer": answer, "table": TABLE} for answer in answers]

    assert "separators" not in findings_of(lines(tmp_path, *records))


def test_columns_of_any_name_are_told(tmp_path: Path) -> None:
    record = {"nummer": "a", "was": "who?", "dann": "Ann;Bob", "wo": TABLE, "title": "Cup", "part": "dev"}

    (example,) = read(
        lines(tmp_path, record),
        id="nummer",
        question="was",
        answers="dann",
        table="wo",
        split="part",
        answer_separator=";",
    )

    assert (example.id, example.answers, example.table.title) == ("a", ("Ann", "Bob"), "Cup")
    assert dict(example.meta) == {"split": "dev"}


@pytest.mark.parametrize(
    ("given", "answers"),
    [
        ("Ann|Bob", ("Ann", "Bob")),
        ('["Ann", "Bob"]', ("Ann", "Bob")),
        ("['Ann', 'Bob']", ("Ann", "Bob")),
        ("[unknown]", ("[unknown]",)),
        (["Ann", 3], ("Ann", "3")),
        (3.50, ("3.5",)),
        ("Ann, Bob", ("Ann, Bob",)),
        ("", ()),
        (None, ()),
        ([], ()),
    ],
)
def test_answers_are_a_list_or_a_text_with_a_separator(
    tmp_path: Path, given: object, answers: tuple[str, ...]
) -> None:
    (example,) = read(lines(tmp_path, {"question": "who?", "answer": given, "table": TABLE}))

    assert example.answers == answers


def test_without_ids_an_example_has_the_number_of_its_record(tmp_path: Path) -> None:
    examples = read(
        lines(tmp_path, *[{"question": q, "answers": [], "table": TABLE} for q in ("who?", "what?")])
    )

    assert [example.id for example in examples] == ["1", "2"]


def test_the_usual_names_are_guessed_whatever_their_capitals_and_signs() -> None:
    columns = [
        "Question ID",
        "Question",
        "Gold Answers",
        "Table-File",
        "Page Title",
        "Context",
        "Subset",
        "level",
    ]

    assert guess_columns(columns, {}) == {
        "id": "Question ID",
        "question": "Question",
        "answers": "Gold Answers",
        "table": "Table-File",
        "title": "Page Title",
        "context": "Context",
        "split": "Subset",
    }
    assert guess_columns(["id", "question", "text"], {"question": "text"}) == {"id": "id"}


@pytest.mark.parametrize(
    ("records", "what"),
    [
        ([{"question": "who?", "table": "no-such.csv"}], "the file of the table no-such.csv is missing"),
        ([{"question": "who?", "table": "../secret.csv"}], "the table '../secret.csv' is refused"),
        ([{"question": "who?", "table": "/etc/passwd"}], "the table '/etc/passwd' is refused"),
        ([{"question": "who?", "table": ""}], "table is empty"),
        ([{"who": "who?", "table": TABLE}], "no column is known as the question"),
        ([{"question": "who?"}], "no column is known as the table"),
        ([{"question": "who?", "table": TABLE}, {"table": TABLE}], "has no question, unlike those before it"),
        ([{"question": "who?", "table": None}], "there is null that is not a table"),
        ([{"question": "who?", "table": [["a", "b"], ["c"]]}], "row"),
        ([{"question": "who?", "table": TABLE, "id": "1"}] * 2, "the id 1 is already in line 1"),
        ([{"question": "who?", "table": TABLE, "id": ""}], "id is empty"),
        ([{"question": 3, "table": TABLE}], "question is a number, not a text"),
        ([{"question": "who?", "table": "Name;Wins\nAnn;3;4\n"}], "the table has one column"),
    ],
)
def test_a_record_that_cannot_be_read_exactly_is_refused(
    tmp_path: Path, records: list[dict[str, Any]], what: str
) -> None:
    error = refused(lines(tmp_path, *records))

    assert what in error.what
    assert error.line == len(records)


@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        ("id;question;table\n1;who?\n", 2, "the row has 2 fields, the first line names 3"),
        ("id;question;id\n1;who?;2\n", 1, "two columns have the name 'id'"),
        ('id;question;table\n1;"who?;t.csv\n', 2, "the file ends within a quoted field"),
        ("", 1, "the file is empty"),
        ("id;question;table\n;;\n", None, "the file contains no questions"),
    ],
)
def test_a_sheet_that_is_no_sheet_is_refused_with_its_line(
    tmp_path: Path, content: str, line: int | None, what: str
) -> None:
    error = refused(text(tmp_path, "q.csv", content))

    assert (error.line, error.what) == (line, what)


def test_bytes_of_no_text_are_not_read_as_an_encoding_before_unicode(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_bytes(b"question,table\n\x01\xfe\xff\x02,a\n")

    assert refused(path).what == "this is not a text file"


def test_options_that_there_are_not_are_refused() -> None:
    reader = READERS["own"]
    assert isinstance(reader, MappedReader)
    with pytest.raises(ValueError, match="no part 'anwser'"):
        reader.with_fields({"anwser": "a"})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t/x.html", f"<!doctype html>\n<h1>Cup</h1>\n{PAGE_TABLE}</table>"),
        ("t/x.md", "# Cup\n\n| Name | Wins |\n|------|-----:|\n| Ann | 3 |\n\nThe end.\n"),
        ("t/x.jsonl", '{"Name": "Ann", "Wins": 3}\n'),
        ("t/x.NDJSON", '["Name", "Wins"]\n["Ann", "3"]\n'),
        ("t/x.txt", "Name;Wins\nAnn;3\n"),
        ("t/x.tsv", "Name\tWins\nAnn\t3\n"),
        ("t/x", "Name,Wins\nAnn,3\n"),
    ],
)
def test_a_table_file_is_read_in_the_form_that_its_suffix_names(
    tmp_path: Path, name: str, content: str
) -> None:
    text(tmp_path, name, content)

    (example,) = read(text(tmp_path, "q.csv", f"question,table\nwho?,{name}\n"))

    assert (example.table.header, example.table.rows) == (("Name", "Wins"), (("Ann", "3"),))


def test_title_caption_and_header_rows_of_an_html_file_are_kept(tmp_path: Path) -> None:
    text(
        tmp_path,
        "x.html",
        '<table title="Cup"><caption>Final</caption><thead><tr><th colspan="2">All</th></tr>'
        "<tr><th>Name</th><th>Wins</th></tr></thead><tr><td>Ann</td><td>3</td></tr></table>",
    )

    (example,) = read(text(tmp_path, "q.csv", "question,table\nwho?,x.html\n"))

    assert (example.table.title, example.table.caption) == ("Cup", "Final")
    assert example.table.header_rows == (("All", ""),)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("x.xml", "<table><header/></table>", "tables are not read from .xml files"),
        ("x.parquet", "PAR1", "the file is damaged, or no Parquet or Arrow file"),
        ("x.txt", "A story\nof two lines, no more\n", "no separator"),
        ("x.md", "Only words.\n", "0 tables, not one"),
        ("x.html", "<table></table><table></table>", "2 tables, not one"),
        (
            "x.html",
            "<p>\n\n<table><tr><td>a</td></tr>\nwords</table>",
            "line 4: the text is not an HTML table: the text 'words' is outside of the cells",
        ),
        ("x.jsonl", '{"A": 1}\n{"A": \n', "line 2: this is not JSON"),
    ],
)
def test_a_table_file_that_holds_no_table_of_its_kind_is_refused(
    tmp_path: Path, name: str, content: str, reason: str
) -> None:
    text(tmp_path, name, content)

    error = refused(text(tmp_path, "q.csv", f"question,table\nwho?,{name}\n"))

    assert reason in str(error)


def test_the_reader_csv_refuses_table_files_of_another_kind_with_the_line_of_the_question(
    tmp_path: Path,
) -> None:
    text(tmp_path, "x.html", "<table>\n<tr>")
    questions = text(tmp_path, "q.csv", "id,question,table,answers\n1,who?,x.html,Ann\n")

    with pytest.raises(ReaderError) as error:
        list(READERS["csv"](questions))

    assert error.value.line == 2
    assert "tables are not read from .html files" in error.value.what


@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_cell_may_hold_a_table_of_over_a_megabyte(tmp_path: Path, form: str) -> None:
    rows = [["Name", "Note"], *([f"n{number}", "x" * 50_000] for number in range(30))]
    written = json.dumps(rows) if form == "json" else "".join(f"{','.join(row)}\n" for row in rows)
    with (tmp_path / "q.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["question", "table"], ["who?", written]])

    (example,) = read(tmp_path / "q.csv")

    assert example.table.shape == (30, 2)


def test_a_field_beyond_the_limit_is_refused_with_that_limit(tmp_path: Path) -> None:
    before = csv.field_size_limit(1_000)
    try:
        error = refused(text(tmp_path, "q.csv", f"question,table\nwho?,{'x' * 1_001}\n"))
    finally:
        csv.field_size_limit(before)

    assert error.what == "a field is longer than 1,000 characters, or its quotes are never closed"
    assert error.mend.startswith("Close the quotes, or save the table as a separate file")


@pytest.mark.parametrize("separator", ["#", "§", "^", "  "])
def test_any_character_may_be_named_as_the_separator(tmp_path: Path, separator: str) -> None:
    text(tmp_path, "t.csv", "Name,Wins\nAnn,3\n")

    (example,) = read(
        text(tmp_path, "q.txt", "question,table\nwho?,t.csv\n".replace(",", separator)), separator=separator
    )

    assert example.question == "who?"


@pytest.mark.parametrize("separator", ["ab", '"', "\n"])
def test_what_cannot_part_fields_is_refused_as_a_separator(separator: str) -> None:
    reader = READERS["own"]
    assert isinstance(reader, MappedReader)

    with pytest.raises(ValueError, match="is not one character"):
        reader.with_fields({"separator": separator})


def test_the_examples_of_an_object_are_its_only_list_of_objects(tmp_path: Path) -> None:
    records = [{"feta_id": 7, "question": "who?", "table": TABLE}, {"question": "where?"}]
    path = text(tmp_path, "q.json", json.dumps({"version": "1.0", "data": records}, indent=1))
    reader = READERS["own"]

    good, rejected = checked_outcomes(reader, path)

    assert isinstance(good, Example)
    assert isinstance(rejected, Rejection)
    assert good.id == "7"
    assert "record 2" in rejected.error.what


def test_a_record_with_a_list_of_objects_is_one_example(tmp_path: Path) -> None:
    path = text(tmp_path, "q.json", json.dumps({"question": "who?", "table": OBJECTS}))

    (example,) = read(path)

    assert example.table.rows == (("Ann", "3"), ("Bob", "4"))


def test_a_list_of_texts_is_the_context_by_paragraphs(tmp_path: Path) -> None:
    path = lines(tmp_path, {"question": "who?", "table": TABLE, "context": ["One.", "Two."]})

    (example,) = read(path)

    assert example.context is not None
    assert example.context.text == "One.\n\nTwo."
    assert "context = context" in READERS["own"].read_as(path)  # type: ignore[attr-defined]


def test_what_is_no_passage_is_not_said_to_be_the_context(tmp_path: Path) -> None:
    path = lines(tmp_path, {"question": "who?", "table": TABLE, "context": {"title": ["a"]}})

    (example,) = read(path)

    assert (example.context, example.meta["context"]) == (None, {"title": ("a",)})
    assert "context" not in READERS["own"].read_as(path)  # type: ignore[attr-defined]
    assert "context" not in READERS["own"].layout(path).parts  # type: ignore[attr-defined]
