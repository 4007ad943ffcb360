"""The two forms that anybody can write: JSON Lines, and csv with a file for each table."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tableqa import Context, Example, Span, Table, Turn
from tableqa.readers import READERS, ReaderError
from tests.plugin import ROOT
from tests.tableqa.strategies import tables, texts

jsonl, csv_reader = READERS["jsonl"], READERS["csv"]

PROGRAM = {"op": "select", "column": "c0", "rows": {"op": "all_rows"}}
LINE: dict[str, Any] = {
    "id": "1",
    "question": "who won?",
    "answers": ["Ann"],
    "table": {"header": ["Name", "Wins"], "rows": [["Ann", "3"]]},
}


def lines(folder: Path, *records: object) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


# JSON Lines -----------------------------------------------------------------------------------------------------------


@given(
    tables, texts.filter(bool), texts, st.lists(texts, max_size=3), st.dictionaries(st.text("ab"), texts, max_size=2)
)  # fmt: skip
def test_what_an_example_writes_is_read_again(
    tmp_path_factory: pytest.TempPathFactory,
    table: Table,
    id: str,
    question: str,
    answers: list[str],
    meta: dict[str, Any],
) -> None:
    source = Table.from_dict(table.to_dict())
    example = Example(
        id,
        question,
        source,
        answers,
        meta,
        program=PROGRAM,
        context=Context(text=question, scale="million") if question else None,
        history=[Turn(question, answers)],
    )
    path = lines(tmp_path_factory.getbasetemp(), example.to_dict())
    assert list(jsonl(path)) == [example]


def test_every_field_is_read(tmp_path: Path) -> None:
    line = {
        "id": 7,
        "question": "who won?",
        "answers": ["Ann", 3],
        "table": {
            "header": ["Name", "Wins"],
            "rows": [["Ann", 3]],
            "title": "Cup",
            "caption": "Final",
            "header_rows": [["", "Season"]],
            "spans": [{"row": "h0", "column": "c0", "rows": 1, "columns": 2}],
        },
        "context": {"text": "A cup.", "unit": "GBP", "scale": "million"},
        "history": [{"question": "who played?", "answers": ["Ann", "Bob"]}],
        "program": PROGRAM,
        "meta": {"level": 1.5},
        "answer_cells": [["r0", "c0"]],
        "highlighted_cells": [["h", "c1"], ["h0", "c1"]],
        "rated_answer": {"text": "Ann won.", "system": "A"},
        "reference": "Ann.",
        "human": {"faithfulness": 4.5},
        "metrics": {"rouge": 0.25},
    }
    (example,) = jsonl(lines(tmp_path, line))
    assert (example.id, example.answers) == ("7", ("Ann", "3"))
    assert example.table == Table(
        ["Name", "Wins"],
        [["Ann", "3"]],
        "Cup",
        "Final",
        header_rows=[["", "Season"]],
        spans=[Span("h0", "c0", 1, 2)],
    )
    assert example.context == Context("A cup.", "GBP", "million")
    assert example.history == (Turn("who played?", ["Ann", "Bob"]),)
    assert example.program == PROGRAM
    assert json.loads(json.dumps(example.to_dict()))["meta"] == {
        "level": 1.5,
        "answer_cells": [["r0", "c0"]],
        "highlighted_cells": [["h", "c1"], ["h0", "c1"]],
        "rated_answer": {"text": "Ann won.", "system": "A"},
        "reference": "Ann.",
        "human": {"faithfulness": 4.5},
        "metrics": {"rouge": 0.25},
    }
    assert list(jsonl(lines(tmp_path, example.to_dict()))) == [example]


def test_the_one_file_of_a_folder_is_found(tmp_path: Path) -> None:
    path = lines(tmp_path, LINE)
    assert [example.id for example in jsonl(tmp_path)] == ["1"]
    assert list(jsonl.files(tmp_path)) == [path]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"answer": "Ann"}, "there is no field answer"),
        ({"id": ""}, "id is empty"),
        ({"question": 3}, "question is a number, not a text"),
        ({"answers": "Ann"}, "answers is a text, not a list"),
        ({"answers": [None]}, "answers[0] is null, not a text"),
        ({"table": [["a"], ["b"]]}, "table: there is a list, not an object"),
        ({"table": {"header": ["a"]}}, "table: the field rows is missing"),
        ({"table": {"header": ["a"], "rows": [["b", "c"]]}}, "table: row 1 has 2 cells, the header has 1"),
        ({"table": {"header": ["a"], "rows": [[None]]}}, "table: row 1, column 1 is null, not a text"),
        ({"table": {"header": ["a"], "rows": [], "row_ids": []}}, "table: there is no field row_ids"),
        ({"table": {"header": ["a"], "rows": [], "spans": [{}]}}, "table: spans cannot be read"),
        ({"table": {"header": ["a"], "rows": [], "spans": 3}}, "table: spans cannot be read"),
        ({"table": {"header": ["a"], "rows": [], "header_rows": "x"}}, "header_rows is a text, not a list"),
        (
            {"table": {"header": ["a"], "rows": [], "header_rows": [[1]]}},
            "header row 1, column 1: a cell must be a",
        ),
        ({"context": "text"}, "context: there is a text, not an object"),
        ({"context": {"paragraphs": []}}, "context: there is no field paragraphs"),
        ({"context": {"text": 3}}, "context: text is a number"),
        ({"history": [{"question": "q"}]}, "history[0]: the field answers is missing"),
        ({"history": {}}, "history is an object, not a list"),
        ({"history": [{"question": "\0", "answers": []}]}, "history.question contains a NUL"),
        ({"program": []}, "program: there is a list"),
        ({"program": {"op": "guess"}}, "program: the program has the op 'guess'"),
        ({"meta": 3}, "meta: there is a number, not an object"),
        ({"highlighted_cells": [[0, 0]]}, "highlighted_cells[0] is not a pair of a row id and a column id"),
        (
            {"answer_cells": [["r0", "c0"], ["r1", "c0"]]},
            "answer_cells[1] is r1/c0, which the table does not",
        ),
        ({"relevant_cells": {}}, "relevant_cells is an object, not a list"),
        ({"meta": {"relevant_cells": [["r0", "c2"]]}}, "relevant_cells[0] is r0/c2"),
        ({"meta": {"metrics": {}}, "metrics": {}}, "metrics is both in the record and in its meta"),
        ({"rated_answer": "Ann won."}, "rated_answer: there is a text, not an object"),
        ({"rated_answer": {"text": "", "model": "A"}}, "rated_answer: there is no field model"),
        ({"rated_answer": {"system": "A"}}, "rated_answer: the field text is missing"),
        ({"metrics": {"rouge": "0.5"}}, "metrics: rouge is a text, not a number"),
        ({"human": [4]}, "human: there is a list, not an object"),
        ({"reference": ["a"]}, "reference is a list, not a text"),
    ],
)
def test_a_fault_of_a_line_is_named_with_its_field(tmp_path: Path, change: dict[str, Any], what: str) -> None:
    with pytest.raises(ReaderError) as error:
        list(jsonl(lines(tmp_path, LINE, {**LINE, "id": "2", **change})))
    assert error.value.line == 2
    assert what in error.value.what
    assert error.value.mend


def test_an_id_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match="line 3: the id 1 is already in line 1"):
        list(jsonl(lines(tmp_path, LINE, {**LINE, "id": "2"}, {**LINE, "id": 1})))


# csv ------------------------------------------------------------------------------------------------------------------


def sheet(path: Path, *rows: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sheet(tmp_path / "tables" / "cup.csv", ["Name", 'The "cup"'], ["Ann, Jr.", "3\n4"], ["", ""])
    sheet(
        tmp_path / "questions.csv",
        ["id", "question", "table", "answers", "text", "scale", "level"],
        ["1", "who, then?", "tables/cup.csv", "Ann|Bob\\pCy\\\\", "A cup.", "million", "easy"],
        ["2", "who else?", "tables/cup.csv", "", "", "", ""],
    )
    return tmp_path


def read(folder: Path) -> list[Example]:
    return list(csv_reader(folder / "questions.csv"))


def test_a_spreadsheet_of_questions_is_read_with_its_tables(folder: Path) -> None:
    first, second = read(folder)
    assert first.to_dict() == {
        "id": "1",
        "question": "who, then?",
        "table": {"header": ["Name", 'The "cup"'], "rows": [["Ann, Jr.", "3\n4"], ["", ""]]},
        "answers": ["Ann", "Bob|Cy\\"],
        "meta": {"table": "tables/cup.csv", "level": "easy"},
        "context": {"text": "A cup.", "scale": "million"},
    }
    assert (second.answers, second.context) == ((), None)
    assert second.table is first.table


def test_the_tables_are_found_beside_or_where_they_are_said_to_be(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert len(list(csv_reader(folder))) == 2
    elsewhere = (folder / "questions.csv").rename(tmp_path_factory.mktemp("elsewhere") / "questions.csv")
    for given_tables in (folder, folder / "tables"):
        assert len(list(csv_reader(elsewhere, tables=given_tables))) == 2
    assert list(csv_reader.files(elsewhere, folder)) == [elsewhere, folder / "tables" / "cup.csv"]
    with pytest.raises(ReaderError, match=r"the file of the table tables/cup\.csv is missing"):
        list(csv_reader(elsewhere))


@given(tables.filter(lambda table: table.shape[1] > 0))
def test_any_table_that_a_spreadsheet_writes_is_read_exactly(
    tmp_path_factory: pytest.TempPathFactory, table: Table
) -> None:
    folder = tmp_path_factory.getbasetemp() / "sheets"
    sheet(folder / "t.csv", list(table.header), *map(list, table.rows))
    sheet(folder / "q.csv", ["id", "question", "table", "answers"], ["1", "q", "t.csv", "a"])
    (example,) = csv_reader(folder / "q.csv")
    assert (example.table.header, example.table.rows) == (table.header, table.rows)


def questions(text: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / "questions.csv").write_text(text)

    return damage


def table(text: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / "tables" / "cup.csv").write_text(text)

    return damage


HEADER = "id,question,table,answers\n"


@pytest.mark.parametrize(
    ("damage", "file", "number", "what"),
    [
        (questions(""), "questions.csv", 1, "the first line lacks id, question, table, answers"),
        (questions("id;question;table;answers\n"), "questions.csv", 1, "lacks id, question"),
        (questions(HEADER + "1,q,tables/cup.csv\n"), "questions.csv", 2, "has 3 fields, the first line names 4"),
        (questions(HEADER + ",q,tables/cup.csv,a\n"), "questions.csv", 2, "the id is empty"),
        (questions(HEADER + "1,q,x.csv,a\n"), "questions.csv", 2, "the table x.csv is not in"),
        (questions(HEADER + "1,q,../x.csv,a\n"), "questions.csv", 2, "'../x.csv' is refused"),
        (questions(HEADER + "1,q,,a\n"), "questions.csv", 2, "'' is refused"),
        (questions(HEADER + "1,q,tables/cup.csv,a\n" * 2), "questions.csv", 3, "the id 1 is already in line 2"),
        (table(""), "cup.csv", 1, "there is no header line"),
        (table("a,b\n1,2,3\n"), "cup.csv", 2, "the row has 3 cells, the header has 2"),
        (table("a,b\n\n1,2\n"), "cup.csv", 2, "the line is empty"),
        (table('a,b\n"1"2,3\n'), "cup.csv", 2, "a field cannot be read"),
        (table('a,b\n1,"2\n3,4\n'), "cup.csv", 2, "the file ends within a quoted field"),
        (table("a\n" + "b\n" * 20_001), "cup.csv", 20_002, "more than 20,000 rows"),
    ],
)  # fmt: skip
def test_a_fault_of_a_sheet_is_named_with_file_and_line(
    folder: Path, damage: Callable[[Path], None], file: str, number: int, what: str
) -> None:
    damage(folder)
    with pytest.raises(ReaderError) as error:
        read(folder)
    assert (Path(error.value.file).name, error.value.line) == (file, number)
    assert what in error.value.what
    assert error.value.mend


def test_the_record_that_the_reference_shows_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reference" / "readers.md").read_text("utf-8")
    shown = page.split("```json\n")[1].split("```")[0]
    path = tmp_path / "shown.jsonl"
    path.write_text(f"[{shown}]")
    (example,) = jsonl(path)
    assert example.answers == ("Bob",)
    assert example.program is None
    assert [example.table.cell(*cell) for cell in example.meta["highlighted_cells"]] == ["Bob", "4"]
    assert set(json.loads(shown)) >= {"rated_answer", "human", "metrics", "history", "context"}


def test_the_reference_names_every_reader() -> None:
    page = (ROOT / "docs" / "reference" / "readers.md").read_text("utf-8")
    for name, reader in READERS.items():
        licence = {"NOASSERTION": ""}.get(reader.licence, reader.licence)
        assert any(line.startswith(f"| `{name}` |") and licence in line for line in page.split("\n")), name
