"""Questions wherever a JSON file holds them: by ids, in columns, in the record of their table, or in a member of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tableqa import Example
from tableqa.data.answers import accepted
from tableqa.readers import READERS, MappedReader, ReaderError, Rejection, checked_outcomes
from tableqa.readers.format_detection import detect_reader

TABLE = [["Name", "Wins"], ["Ann", "3"]]
WHO = {"question": "who?", "answer": "Ann"}
HOW_MANY = {"question": "how many?", "answer": "3"}


def read(folder: Path, content: Any, indent: int | None = None, **fields: str) -> list[Example]:
    path = folder / "q.json"
    path.write_text(json.dumps(content, indent=indent), "utf-8")
    reader = READERS["own"]
    assert isinstance(reader, MappedReader)
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


ROWS = [["a", "who?", "Ann", TABLE], ["b", "how many?", "3", TABLE]]
LABELS = {"id": "nr", "question": "was", "answers": "ja", "table": "gitter"}


@pytest.mark.parametrize("names", [("id", "question", "answer", "table"), tuple(LABELS.values())])
@pytest.mark.parametrize("orient", ["split", "columns", "index", "rows"])
def test_every_layout_of_pandas_is_read_by_any_names(
    tmp_path: Path, orient: str, names: tuple[str, ...]
) -> None:
    layouts = {
        "split": {"columns": names, "index": [0, 1], "data": ROWS},
        "columns": {name: {"0": ROWS[0][at], "1": ROWS[1][at]} for at, name in enumerate(names)},
        "index": {str(at): dict(zip(names, row, strict=True)) for at, row in enumerate(ROWS)},
        "rows": [names, *ROWS],
    }
    fields = LABELS if "nr" in names else {}

    examples = read(tmp_path, layouts[orient], None, **fields)

    assert shown(examples) == [("a", "who?", ("Ann",)), ("b", "how many?", ("3",))]
    assert not any(example.meta for example in examples)


def test_rows_without_names_have_numbers_for_columns(tmp_path: Path) -> None:
    fields = {part: f"column {at}" for at, part in enumerate(LABELS, start=1)}

    assert shown(read(tmp_path, ROWS, None, **fields)) == [
        ("a", "who?", ("Ann",)),
        ("b", "how many?", ("3",)),
    ]
    with pytest.raises(ReaderError, match="The columns are: column 1, column 2, column 3, column 4"):
        read(tmp_path, ROWS)


@pytest.mark.parametrize("orient", ["split", "columns", "index"])
def test_labels_of_rows_are_the_ids(tmp_path: Path, orient: str) -> None:
    names = ["question", "answer", "table"]
    labelled = {row[0]: dict(zip(names, row[1:], strict=True)) for row in ROWS}
    layouts = {
        "split": {"columns": names, "index": ["a", "b"], "data": [row[1:] for row in ROWS]},
        "columns": {name: {label: row[name] for label, row in labelled.items()} for name in names},
        "index": labelled,
    }

    assert [example.id for example in read(tmp_path, layouts[orient])] == ["a", "b"]


@pytest.mark.parametrize("member", [None, ["a", "who?"], "x", 7])
def test_a_member_of_an_array_that_is_no_record_is_left_out_alone(tmp_path: Path, member: Any) -> None:
    path = tmp_path / "q.json"
    good = {**WHO, "table": TABLE}
    path.write_text(json.dumps([good, member, good]))

    first, fault, last = checked_outcomes(READERS["own"], path)

    assert isinstance(first, Example)
    assert isinstance(fault, Rejection)
    assert isinstance(last, Example)
    assert fault.error.what.startswith("record 2: there is")


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (
            {"columns": ["Wins"], "index": ["Ann", "Bob"], "data": [["3"], ["4"]]},
            [["Ann", "3"], ["Bob", "4"]],
        ),
        (
            {"columns": ["Wins"], "index": [1990, 1994], "data": [["3"], ["4"]]},
            [["1990", "3"], ["1994", "4"]],
        ),
        ({"columns": ["Wins"], "index": [0, 1], "data": [["3"], ["4"]]}, [["3"], ["4"]]),
        ({"Wins": {"1": "3", "4": "4"}}, [["1", "3"], ["4", "4"]]),
        ({"0": {"Wins": "3"}, "1": {"Wins": "4"}}, [["3"], ["4"]]),
        ({"5": {"Wins": "3"}, "7": {"Wins": "4"}}, [["5", "3"], ["7", "4"]]),
    ],
)
def test_labels_of_the_rows_of_a_table_are_its_first_column(
    tmp_path: Path, table: Any, rows: list[list[str]]
) -> None:
    (example,) = read(tmp_path, [{**WHO, "table": table}])

    assert [list(row) for row in (example.table.header, *example.table.rows)] == [
        [""] * (len(rows[0]) - 1) + ["Wins"],
        *rows,
    ]


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ({"Ann": {"Wins": "3"}, "Bob": {"Wins": "4"}}, "there is an object that is not a table"),
        ({"columns": ["a"], "index": ["x"], "data": 5}, "the rows are a number, not a list"),
        ({"columns": ["a"], "index": ["x"], "data": [5]}, "row 1 is a number, not a list"),
    ],
)
def test_objects_that_are_no_layout_of_pandas_are_no_table(tmp_path: Path, table: Any, fault: str) -> None:
    with pytest.raises(ReaderError, match=fault):
        read(tmp_path, [{**WHO, "table": table}])


def test_a_passage_beside_the_list_of_questions_is_the_context_of_each(tmp_path: Path) -> None:
    own = {**HOW_MANY, "table": TABLE, "passage": "Her own."}
    content = {"version": 2, "context": "A cup.", "data": [{**WHO, "table": TABLE}, own]}

    first, second = read(tmp_path, content)

    assert first.context is not None
    assert second.context is not None
    assert (first.context.text, second.context.text) == ("A cup.", "Her own.")


def test_lists_by_their_splits_are_read_with_these(tmp_path: Path) -> None:
    of_test = {"id": "b", "table": TABLE, **HOW_MANY}

    examples = read(tmp_path, {"train": [{"id": "a", "table": TABLE, **WHO}], "test": [of_test]})

    assert shown(examples) == [("a", "who?", ("Ann",)), ("b", "how many?", ("3",))]
    assert [example.meta["split"] for example in examples] == ["train", "test"]


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

    assert detect_reader(path) == "own"
