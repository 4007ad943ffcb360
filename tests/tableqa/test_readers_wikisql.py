"""The reader of WikiSQL: logical forms, and tables in a second file."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tableqa import Example, Table
from tableqa.programs import run
from tableqa.readers import READERS, FormReportingReader, ReaderError
from tableqa.readers import table_files as reading
from tableqa.readers.format_detection import detect_reader
from tableqa.readers.interface import SplitReader
from tests.plugin import ROOT

wikisql = READERS["wikisql"]

QUESTIONS: list[dict[str, Any]] = [
    {
        "phase": 1,
        "table_id": "1-9",
        "question": "who won 3?",
        "sql": {"sel": 0, "conds": [[1, 0, 3]], "agg": 0},
    },
    {"phase": 2, "table_id": "2-9", "question": "how many?", "sql": {"sel": 0, "conds": [], "agg": 3}},
    {
        "phase": 1,
        "table_id": "1-9",
        "question": "most wins?",
        "sql": {"sel": 1, "conds": [[0, 1, "a"]], "agg": 1},
    },
]
TABLES = (
    '{"id": "1-9", "header": ["Name", "Wins"], "types": ["text", "real"], "page_title": "Cup", '
    '"rows": [["Ann", 3.50], ["Bob", 4]], "section_title": "Final"}\n'
    '{"id": "2-9", "header": ["Naïve"], "rows": [], "caption": "Empty"}\n'
)


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dev.jsonl").write_text(lines(QUESTIONS) + "\n")
    (tmp_path / "dev.tables.jsonl").write_text(TABLES, "utf-8")
    return tmp_path


def read(folder: Path, **more: Any) -> list[Example]:
    return list(wikisql(folder / "dev.jsonl", **more))


# On the real data -----------------------------------------------------------------------------------------------------


def released(test_data: Path) -> list[dict[str, Any]]:
    text = (test_data / "wikisql" / "dev.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def test_every_question_of_the_dev_file(test_data: Path, tmp_path: Path) -> None:
    """The release's tables are not among the data: these are as wide as the logical forms need, and empty."""
    questions = released(test_data)
    widths: dict[str, int] = {}
    for question in questions:
        sql = question["sql"]
        widest = max([sql["sel"], *(column for column, *_ in sql["conds"])])
        widths[question["table_id"]] = max(widths.get(question["table_id"], 0), widest + 1)
    tables = tmp_path / "dev.tables.jsonl"
    tables.write_text(lines([{"id": id, "header": ["x"] * n, "rows": []} for id, n in widths.items()]))
    examples = list(wikisql(test_data / "wikisql" / "dev.jsonl", tables=tmp_path))
    for question, example in zip(questions, examples, strict=True):
        assert example.question == question["question"]
        # No row is there that could meet a condition; none of them counts, and none of them adds up to nothing.
        aggregation = question["sql"]["agg"]
        assert example.answers == (("0",) if aggregation in (3, 4) else ())
        assert (example.program is None) == (not example.answers)
        assert json.loads(json.dumps(example.to_dict()))["meta"] == {
            "sql": question["sql"],
            "phase": question["phase"],
            "table_id": question["table_id"],
        }
    assert (len(examples), len({example.id for example in examples}), len(widths)) == (8_421, 8_421, 2_630)


def test_the_logical_forms_fit_the_tables_that_freb_tqa_prints(test_data: Path, tmp_path: Path) -> None:
    """Where there is no aggregation, the cells that a logical form picks are the answers of FREB-TQA's file."""
    asked: dict[str, list[dict[str, Any]]] = {}
    for question in released(test_data):
        asked.setdefault(question["question"], []).append(question)
    tables: dict[str, dict[str, Any]] = {}
    answers: dict[tuple[str, str], list[str]] = {}
    with (test_data / "freb_tqa" / "01_str" / "wikisql_factoid_dev.partial.json").open("rb") as file:
        for line in file:
            item = json.loads(line)
            if len(found := asked[item["question"]]) == 1:
                table_id = found[0]["table_id"]
                tables[table_id] = {"id": table_id, **item["table"]}
                answers[table_id, item["question"]] = item["answers"]
    (tmp_path / "dev.tables.jsonl").write_text(lines(list(tables.values())))
    (tmp_path / "dev.jsonl").write_text(lines([asked[question][0] for _, question in answers]))
    examples = read(tmp_path)
    missed, differ = [], []
    for example in examples:
        assert example.meta["sql"]["agg"] == 0
        assert example.program is not None
        expected = answers[example.meta["table_id"], example.question]
        if {cell.lower() for cell in example.answers} != {cell.lower() for cell in expected}:
            differ.append(example.question)
        if set(picked(example)) != {cell.lower() for cell in expected}:
            missed.append(example.question)
    assert (len(examples), len(tables)) == (1_140, 593)
    # Its file has two spellings of one cell as two answers: 'kg ( lb )' and 'kg (lb)'.
    assert len(missed) == 1
    # The reader's answers go by what a cell says: "Saturday, 4 March 1995" is "Saturday 4 March 1995", too.
    assert differ == ["Name the time for saturday 4 march 1995", *missed]
    assert missed[0].startswith("What's the curb weight")


def picked(example: Example) -> list[str]:
    sql = example.meta["sql"]
    rows = [[cell.lower() for cell in row] for row in example.table.rows]
    for column, operator, value in sql["conds"]:
        rows = [row for row in rows if holds(row[column], operator, str(value).lower())]
    return [row[sql["sel"]] for row in rows]


def holds(cell: str, operator: int, value: str) -> bool:
    if cell == value:
        return operator == 0
    try:
        a, b = float(cell.replace(",", "")), float(value.replace(",", ""))
    except ValueError:
        return False
    return (a == b, a > b, a < b)[operator]


def test_the_excerpt_is_part_of_the_release(test_data: Path) -> None:
    whole = {(question["table_id"], question["question"]): question for question in released(test_data)}
    excerpt = list(wikisql(ROOT / "fixtures" / "wikisql"))
    assert len(excerpt) == 32
    for example in excerpt:
        assert example.answers
        question = whole[example.meta["table_id"], example.question]
        assert json.loads(json.dumps(example.to_dict()))["meta"]["sql"] == question["sql"]


# In small -------------------------------------------------------------------------------------------------------------


def test_a_question_is_read_with_its_logical_form_and_its_table(folder: Path) -> None:
    first, second, third = read(folder)
    assert first.to_dict() == {
        "id": "1-9-1",
        "question": "who won 3?",
        "table": {
            "header": ["Name", "Wins"],
            "rows": [["Ann", "3.50"], ["Bob", "4"]],
            "title": "Cup",
            "caption": "Final",
        },
        "answers": [],
        "meta": {
            "sql": {"sel": 0, "agg": 0, "conds": [[1, 0, 3]]},
            "phase": 1,
            "table_id": "1-9",
            "types": ["text", "real"],
            "page_title": "Cup",
            "section_title": "Final",
        },
    }
    assert (second.id, second.table) == ("2-9-1", Table(["Naïve"], [], caption="Empty"))
    assert (third.id, third.meta["sql"]["conds"]) == ("1-9-2", ((0, 1, "a"),))
    assert third.table is first.table


def test_the_answer_is_what_the_logical_form_gives(folder: Path) -> None:
    asked = [
        {**QUESTIONS[0], "sql": {"sel": 0, "agg": 0, "conds": [[1, 0, 3.5]]}},
        {**QUESTIONS[0], "sql": {"sel": 1, "agg": 4, "conds": []}},
        {**QUESTIONS[0], "sql": {"sel": 0, "agg": 4, "conds": []}},
        {**QUESTIONS[0], "sql": {"sel": 0, "agg": 0, "conds": [[1, 3, 3.5]]}},
    ]
    (folder / "dev.jsonl").write_text(lines(asked))
    picked, summed, of_texts, unknown = read(folder)
    assert (picked.answers, summed.answers) == (("Ann",), ("7.5",))
    assert picked.program is not None
    assert run(picked.program, picked.table) == ["Ann"]
    for without in (of_texts, unknown):
        assert (without.answers, without.program) == ((), None)


@pytest.mark.parametrize("given_as", ["beside", "folder", "file", "deeper", "other name", "marked"])
def test_the_tables_are_found(folder: Path, tmp_path_factory: pytest.TempPathFactory, given_as: str) -> None:
    away = tmp_path_factory.mktemp("away")
    path, tables = folder / "dev.jsonl", folder / "dev.tables.jsonl"
    where: Path | None = None
    if given_as == "folder":
        path = folder
    elif given_as == "file":
        where = tables = tables.rename(away / "any.jsonl")
    elif given_as == "deeper":
        (away / "data").mkdir()
        (away / "data" / "train.tables.jsonl").write_text(TABLES, "utf-8")
        where, tables = away, tables.rename(away / "data" / "dev.tables.jsonl")
    elif given_as == "other name":
        where, tables = away, tables.rename(away / "tables.jsonl")
    elif given_as == "marked":
        tables.write_bytes(b"\xef\xbb\xbf" + tables.read_bytes())
    assert [example.id for example in wikisql(path, tables=where)] == ["1-9-1", "2-9-1", "1-9-2"]
    assert list(wikisql.files(path, where)) == [folder / "dev.jsonl", tables]


def test_tables_that_were_put_away_are_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = read(folder)
    monkeypatch.setattr(reading, "CACHED_CELLS", 1)
    assert read(folder) == expected


def question(**change: Any) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        changed = [QUESTIONS[0], {**QUESTIONS[1], **change}]
        (folder / "dev.jsonl").write_text(lines(changed))

    return damage


def tables(text: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / "dev.tables.jsonl").write_text(text)

    return damage


@pytest.mark.parametrize(
    ("damage", "file", "number", "what"),
    [
        (question(table_id="3-9"), "dev.jsonl", 2, "the table 3-9 is not in"),
        (question(sql={"sel": 1, "agg": 0, "conds": []}), "dev.jsonl", 2, "sql: sel is 1"),
        (question(sql={"sel": 0, "agg": 6, "conds": []}), "dev.jsonl", 2, "sql: agg is 6"),
        (question(sql={"sel": 0, "agg": 0, "conds": [[0, 0]]}), "dev.jsonl", 2, "conds[0] is not a condition"),
        (question(sql={"sel": 0, "agg": 0, "conds": [[1, 0, ""]]}), "dev.jsonl", 2, "conds[0] is not a condition"),
        (question(sql={"sel": 0, "agg": 0, "conds": [[0, 4, ""]]}), "dev.jsonl", 2, "conds[0] is not a condition"),
        (question(sql={"sel": 0, "agg": 0, "conds": [[0, 0, None]]}), "dev.jsonl", 2, "conds[0] is not a condition"),
        (question(sql=None), "dev.jsonl", 2, "sql: there is null, not an object"),
        (tables(TABLES + TABLES), "dev.tables.jsonl", 3, "id is 1-9, as in line 1"),
        (tables("[]"), "dev.tables.jsonl", 1, "there is a list, not an object"),
        (tables('{"id": "1-9", "header": ["a", "b"], "rows": [["a"]]}'), "dev.tables.jsonl", 1, "row 1 has 1 cells"),
        (lambda folder: (folder / "dev.tables.jsonl").unlink(), "dev.jsonl", None, "there is no dev.tables.jsonl"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_file_and_line(
    folder: Path, damage: Callable[[Path], None], file: str, number: int | None, what: str
) -> None:
    damage(folder)
    with pytest.raises(ReaderError) as error:
        read(folder)
    assert (Path(error.value.file).name, error.value.line) == (file, number)
    assert what in error.value.what
    assert error.value.mend


def test_an_archive_without_tables_says_what_is_wanted(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.raises(ReaderError, match=r"dev\.tables\.jsonl: --tables DIR") as error:
        read(folder, tables=tmp_path_factory.mktemp("empty"))
    assert error.value.mend == "Upload the file of the tables, dev.tables.jsonl, too: in a zip archive"


# The release as a folder or an archive --------------------------------------------------------------------------------

TEST_QUESTION = {
    "phase": 1,
    "table_id": "1-7",
    "question": "which?",
    "sql": {"sel": 0, "conds": [], "agg": 0},
}
TEST_TABLE = '{"id": "1-7", "header": ["City"], "rows": [["Rome"]]}\n'


@pytest.fixture
def release(folder: Path) -> Path:
    """Two splits with their tables, and the database that lies beside them in the release."""
    (folder / "test.jsonl").write_text(lines([TEST_QUESTION]))
    (folder / "test.tables.jsonl").write_text(TEST_TABLE)
    (folder / "dev.db").write_bytes(b"SQLite format 3\0")
    return folder


def archive_of(folder: Path, archive: Path, top: str = "data/") -> Path:
    with zipfile.ZipFile(archive, "w") as inside:
        for file in sorted(folder.glob("*.*")):
            inside.write(file, top + file.name)
    return archive


@pytest.fixture(params=["folder", "archive", "archive without a folder"])
def packed(release: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    archive = tmp_path_factory.mktemp("sent") / "wikisql.zip"
    if request.param == "folder":
        return release
    return archive_of(release, archive, top="data/" if request.param == "archive" else "")


def test_the_release_is_recognised_and_read_with_all_its_splits(packed: Path) -> None:
    assert detect_reader(packed) == "wikisql"

    examples = list(wikisql(packed))

    assert [(example.id, example.meta["split"]) for example in examples] == [
        ("1-9-1", "dev"), ("2-9-1", "dev"), ("1-9-2", "dev"), ("1-7-1", "test"),
    ]  # fmt: skip
    assert examples[-1].answers == ("Rome",)


def test_one_split_of_the_release_is_read_alone(packed: Path) -> None:
    assert isinstance(wikisql, SplitReader)

    of_split = {name: wikisql.with_split(name, packed) for name in ("test", "validation")}

    assert [example.id for example in of_split["test"](packed)] == ["1-7-1"]
    assert [example.id for example in of_split["validation"](packed)] == ["1-9-1", "2-9-1", "1-9-2"]
    assert [file.name for file in of_split["test"].files(packed)] == ["test.jsonl", "test.tables.jsonl"]
    with pytest.raises(ReaderError, match="there is no split 'train'"):
        wikisql.with_split("train", packed)


def test_a_release_with_one_split_is_read_as_its_file_is(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = archive_of(folder, tmp_path_factory.mktemp("sent") / "wikisql.zip")

    assert detect_reader(path) == "wikisql"
    assert list(wikisql(path)) == read(folder)


def test_a_release_without_the_tables_of_a_split_names_their_file(packed: Path, release: Path) -> None:
    (release / "test.tables.jsonl").unlink()
    if packed.suffix == ".zip":
        archive_of(release, packed)

    assert detect_reader(packed) == "wikisql"
    with pytest.raises(ReaderError, match=r"test\.jsonl: there is no test\.tables\.jsonl beside it") as error:
        list(wikisql(packed))
    assert packed.name in error.value.file
    assert "/tmp" not in error.value.file.removeprefix(str(packed))


def test_a_release_without_any_tables_is_recognised(packed: Path, release: Path) -> None:
    for file in release.glob("*.tables.jsonl"):
        file.unlink()
    if packed.suffix == ".zip":
        archive_of(release, packed)

    assert detect_reader(packed) == "wikisql"


def test_a_question_with_a_fault_in_an_archive_is_named_by_it(
    release: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    question(table_id="3-9")(release)
    path = archive_of(release, tmp_path_factory.mktemp("sent") / "wikisql.zip")

    with pytest.raises(ReaderError) as error:
        list(wikisql(path))

    assert (error.value.file, error.value.line) == ("wikisql.zip/dev.jsonl", 2)
    assert error.value.what == "the table 3-9 is not in wikisql.zip/dev.tables.jsonl"


def test_a_table_that_two_splits_ask_about_gives_no_id_twice(packed: Path, release: Path) -> None:
    (release / "test.jsonl").write_text(lines([QUESTIONS[0]]))
    (release / "test.tables.jsonl").write_text(TABLES)
    if packed.suffix == ".zip":
        archive_of(release, packed)

    with pytest.raises(ReaderError, match=r"the id 1-9-1 is already in line 1 of dev\.jsonl"):
        list(wikisql(packed))


def test_the_splits_of_a_release_are_told(packed: Path, release: Path) -> None:
    assert isinstance(wikisql, FormReportingReader)
    assert wikisql.read_as(packed) == f"{packed.name} was read as WikiSQL. Its splits are dev, test."
    assert wikisql.read_as(release / "dev.jsonl") == ""


def test_questions_with_tables_as_files_of_their_own_are_a_persons_own_data(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text(lines([{**QUESTIONS[0], "table_id": "cup.csv"}]))
    (tmp_path / "cup.csv").write_text("Name,Wins\nAnn,3\n")

    assert detect_reader(tmp_path) == "own"


def test_the_reader_of_own_data_names_the_format_of_the_release(packed: Path) -> None:
    with pytest.raises(ReaderError, match="this is WikiSQL"):
        list(READERS["own"](packed))
