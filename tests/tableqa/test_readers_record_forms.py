"""Questions wherever a JSON file holds them: by ids, in columns, in the record of their table, or in a member of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tableqa import Example
from tableqa.answers import accepted
from tableqa.readers import READERS, Mapped, ReaderError
from tableqa.readers.detection import detected

TABLE = [["Name", "Wins"], ["Ann", "3"]]
WHO = {"question": "who?", "answer": "Ann"}
HOW_MANY = {"question": "how many?", "answer": "3"}


def read(folder: Path, content: Any, indent: int | None = None, **fields: str) -> list[Example]:
    path = folder / "q.json"
    path.write_text(json.dumps(content, indent=indent), "utf-8")
    reader = READERS["own"]
    assert isinstance(reader, Mapped)
    return list(reader.with_fields(fields)(path))


def shown(examples: list[Example]) -> list[tuple[str, str, tuple[str, ...]]]:
    assert all(example.table.rows == (("Ann", "3"),) for example in examples)
    return [(example.id, example.question, example.answers) for example in examples]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("content", "ids"),
    [
        ({"a": {**WHO, "table": TABLE}, "b": {**HOW_MANY, "table": TABLE}}, ("a", "b")),
        (
            {"a": {**WHO, "table": TABLE, "qid": "x"}, "b": {**HOW_MANY, "table": TABLE, "qid": "y"}},
            ("x", "y"),
        ),
        (
            {
                "question": {"0": "who?", "1": "how many?"},
                "answer": {"0": "Ann", "1": "3"},
                "table": {"0": TABLE, "1": TABLE},
            },
            ("0", "1"),
        ),
        ([{"table": TABLE, "questions": [WHO, HOW_MANY]}], ("1", "2")),
        ({"table": TABLE, "questions": [WHO, HOW_MANY]}, ("1", "2")),
        ({"data": [{"id": "t", "table": TABLE, "qas": [WHO, HOW_MANY]}]}, ("t-1", "t-2")),
        ([{"id": "t", "table": TABLE, "qas": [{"id": "a", **WHO}, {"id": "b", **HOW_MANY}]}], ("a", "b")),
        ([{"id": "a", "table": TABLE, "qa": WHO}, {"id": "b", "table": TABLE, "qa": HOW_MANY}], ("a", "b")),
    ],
)
def test_questions_are_read_wherever_the_file_holds_them(
    tmp_path: Path, content: Any, ids: tuple[str, str], indent: int | None
) -> None:
    assert shown(read(tmp_path, content, indent)) == [
        (ids[0], "who?", ("Ann",)),
        (ids[1], "how many?", ("3",)),
    ]


def test_one_object_of_several_lines_is_one_record(tmp_path: Path) -> None:
    assert shown(read(tmp_path, {**WHO, "table": TABLE}, indent=2)) == [("1", "who?", ("Ann",))]


def test_columns_beside_the_questions_of_a_record_stay_in_the_meta(tmp_path: Path) -> None:
    record = {"id": "t", "level": 2, "table": TABLE, "qas": [{"id": "a", "level": "easy", **WHO}]}

    (example,) = read(tmp_path, [record])

    assert dict(example.meta) == {"record.id": "t", "record.level": 2, "level": "easy"}


def test_a_column_that_is_named_as_the_question_is_not_looked_for_elsewhere(tmp_path: Path) -> None:
    record = {"id": "t", "was": "who won?", "table": TABLE, "qa": WHO}

    (example,) = read(tmp_path, [record], question="was")

    assert example.question == "who won?"
    assert example.meta["qa"] == WHO


@pytest.mark.parametrize(
    ("header", "rows"), [("table_header", "table_data"), ("header", "rows"), ("columns", "data")]
)
def test_header_and_rows_in_separate_columns_are_the_table(tmp_path: Path, header: str, rows: str) -> None:
    record = {"id": 1, **WHO, "table_file": "gone.csv", header: TABLE[0], rows: TABLE[1:]}

    (example,) = read(tmp_path, [record])

    assert shown([example]) == [("1", "who?", ("Ann",))]
    assert dict(example.meta) == {"table_file": "gone.csv"}


@pytest.mark.parametrize(
    "answers",
    [{"text": ["Ann", "Bob"], "answer_start": [0, 4]}, [{"text": "Ann", "start": 0}, {"text": "Bob"}]],
)
def test_answers_as_squad_has_them_are_their_texts(tmp_path: Path, answers: Any) -> None:
    (example,) = read(tmp_path, [{"question": "who?", "table": TABLE, "answers": answers}])

    assert accepted(example.answers) == (("Ann",), ("Bob",))


def test_objects_of_several_lines_that_follow_each_other_are_one_fault(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_text(2 * json.dumps({**WHO, "table": TABLE}, indent=1))

    outcomes = READERS["own"]

    with pytest.raises(ReaderError) as error:
        list(outcomes(path))
    assert error.value.what == "unexpected content after the end of the object"
    assert "one JSON object per line" in error.value.mend


@pytest.mark.parametrize(
    "table",
    [
        {"Name": {"0": "Ann"}, "Wins": {"0": 3}},
        {"header": [["Name", []], ["Wins", []]], "data": [[["Ann", ["/wiki/Ann"]], ["3", []]]]},
    ],
)
def test_tables_as_pandas_and_hybridqa_write_them_are_read(tmp_path: Path, table: Any) -> None:
    (example,) = read(tmp_path, [{**WHO, "table": table}])

    assert (example.table.header, example.table.rows) == (("Name", "Wins"), (("Ann", "3"),))


@pytest.mark.parametrize("name", ["cup.csv", "cup", "tables/cup", "tables/cup.csv", 17])
@pytest.mark.parametrize("folder", ["", "tables"])
def test_a_table_file_is_known_without_its_suffix_and_folder(
    tmp_path: Path, name: str | int, folder: str
) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    file = "17" if name == 17 else "cup"
    (tmp_path / folder / f"{file}.csv").write_text("Name,Wins\nAnn,3\n")

    (example,) = read(tmp_path, [{**WHO, "table_id": name}])

    assert shown([example]) == [("1", "who?", ("Ann",))]
    assert example.meta["table"] == str(name)


def test_an_archive_is_not_known_by_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b'PK\x03\x04 {"sql": 1, "table_id": 2, "conds": 3}')

    assert detected(path) == "own"
