"""The readers of TabFact, SUC and Label Studio, and of records whose fields every project names in its own way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tableqa import Table
from tableqa.readers import READERS, MappedReader, ReaderError
from tableqa.readers.ingestion import ReadRequest, Rows
from tableqa.readers.responses.validation import examples_of, read_responses
from tableqa.writers import suc as written

tabfact, suc = READERS["tabfact"], READERS["suc"]


# TabFact --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    collected = tmp_path / "collected_data"
    tables = tmp_path / "data" / "all_csv"
    collected.mkdir()
    tables.mkdir(parents=True)
    (tables / "2-1.html.csv").write_text('name#wins "all"\nann, jr.#3\n')
    path = collected / "r1_training_all.json"
    path.write_text(json.dumps({"2-1.html.csv": [["ann won 3", "ann won 4"], [1, 0], "cup"]}))
    return path


def test_a_statement_has_its_table_its_label_and_the_caption(facts: Path) -> None:
    first, second = tabfact(facts)
    assert first.table == Table(["name", 'wins "all"'], [["ann, jr.", "3"]], caption="cup")
    assert (first.id, first.question, first.answers) == ("2-1.html.csv-1", "ann won 3", ("1",))
    assert (second.answers, second.meta["label"]) == (("0",), "refuted")
    assert second.meta["table_id"] == "2-1.html.csv"
    tables = facts.parent.parent / "data" / "all_csv"
    assert list(tabfact.files(facts)) == [facts, tables / "2-1.html.csv"]
    for given in (tables, tables.parent, tables.parent.parent):
        assert len(list(tabfact(facts, tables=given))) == 2


# SUC ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tabfact", "sqa", "hybridqa", "feverous"])
def test_the_published_records_are_read_and_written_again(test_data: Path, name: str) -> None:
    path = test_data / "suc" / f"{name}.first200.jsonl"
    examples = list(suc(path))
    with path.open(encoding="utf-8") as lines:
        published = [json.loads(line) for line in lines]
    assert [written.published_record(example) for example in examples] == published
    assert [example.id for example in examples] == [str(n + 1) for n in range(200)]
    label = published[0]["label"]
    assert list(examples[0].answers) == (label if isinstance(label, list) else [label])
    passages = published[0]["context"]
    text = "\n\n".join(passages) if isinstance(passages, list) else passages
    assert (examples[0].context.text if examples[0].context else "") == text


# Label Studio, and records of any form --------------------------------------------------------------------------------


def exported(folder: Path, *tasks: dict[str, Any]) -> Path:
    path = folder / "export.json"
    path.write_text(json.dumps(list(tasks), ensure_ascii=False), "utf-8")
    return path


GRID = Table(["Name", "Wins"], [["Ann, Jr.", "3"], ["", "4.50"]])
FORMS: dict[str, Any] = {
    "header and rows": {"header": ["Name", "Wins"], "rows": [["Ann, Jr.", "3"], ["", "4.50"]]},
    "columns and data": {"columns": ["Name", "Wins"], "data": [["Ann, Jr.", "3"], ["", "4.50"]]},
    "rows": [["Name", "Wins"], ["Ann, Jr.", "3"], ["", "4.50"]],
    "objects": [{"Name": "Ann, Jr.", "Wins": "3"}, {"Name": "", "Wins": "4.50"}],
    "columns": {"Name": ["Ann, Jr.", ""], "Wins": ["3", "4.50"]},
    "csv": 'Name,Wins\n"Ann, Jr.",3\n"",4.50\n',
    "json": '[{"Name": "Ann, Jr.", "Wins": 3}, {"Name": "", "Wins": 4.50}]',
    "html": "<table><thead><tr><th>Name</th><th>Wins</th></tr></thead><tbody><tr><td>Ann, Jr.</td><td>3</td></tr>"
    "<tr><td></td><td>4.50</td></tr></tbody></table>",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_table_is_read_in_any_of_its_forms(tmp_path: Path, form: str) -> None:
    data = {"question": "who?", "table": FORMS[form], "answer": "Ann, Jr."}
    (example,) = READERS["label_studio"](exported(tmp_path, {"id": 7, "data": data}))
    assert example.table.same_content(GRID)
    assert (example.id, example.answers) == ("7", ("Ann, Jr.",))


def test_what_people_and_models_said_is_kept_and_may_be_the_answer(tmp_path: Path) -> None:
    def said(text: str, **more: Any) -> dict[str, Any]:
        value = {"text": [text]}
        return {"id": 1, "result": [{"from_name": "answer", "to_name": "t", "value": value}], **more}

    annotations = [said("no", was_cancelled=True), said("Bob"), said("Ann", ground_truth=True)]
    data = {"frage": "wer?", "tabelle": FORMS["rows"], "level": "easy", "score": 1.5}
    path = exported(tmp_path, {"id": 1, "data": data, "annotations": annotations, "predictions": []})
    reader = READERS["label_studio"]
    assert isinstance(reader, MappedReader)
    told = reader.with_fields({"question": "frage", "table": "tabelle", "answers": "annotations.answer"})
    (example,) = told(path)
    assert (example.question, example.answers) == ("wer?", ("Ann",))
    assert example.meta["level"] == "easy"
    assert [one["id"] for one in example.meta["label_studio"]["annotations"]] == [1, 1, 1]
    with pytest.raises(ReaderError, match=r"there is no question: none of question, query.*question=FIELD"):
        list(reader(path))
    with pytest.raises(ReaderError, match="the field fragen is missing"):
        list(reader.with_fields({"question": "fragen", "table": "tabelle"})(path))
    with pytest.raises(ValueError, match="there is no part 'frage'"):
        reader.with_fields({"frage": "question"})


def test_answers_of_label_studio_are_lists_or_parted_as_in_other_files(tmp_path: Path) -> None:
    table = [["Name"], ["Ann"]]
    answers = ['["Ann", "[1]"]', "['Bob']", "Cy; Di", "[1]"]
    records = [
        {"id": at, "data": {"question": "who?", "table": table, "answers": text}}
        for at, text in enumerate(answers)
    ]
    reader = READERS["label_studio"]
    assert isinstance(reader, MappedReader)
    path = exported(tmp_path, *records)

    assert [example.answers for example in reader(path)] == [("Ann", "[1]"), ("Bob",), ("Cy; Di",), ("1",)]
    chosen = reader.with_fields({"answer_separator": ";"})
    assert [example.answers for example in chosen(path)][2] == ("Cy", "Di")
    path = exported(tmp_path, records[2], records[3])
    assert [example.answers for example in reader(path)] == [("Cy; Di",), ("[1]",)]


@pytest.mark.parametrize(
    ("text", "answers"), [('["Ann", "[1]"]', ["Ann", "[1]"]), ("[1]", ["[1]"]), ("a|b", ["a|b"])]
)
def test_examples_of_responses_have_lists_of_answers_as_other_examples(
    tmp_path: Path, text: str, answers: list[str]
) -> None:
    data = {"question": "who?", "table": [["Name"], ["Ann"]]}
    path = exported(
        tmp_path, {"id": 1, "data": data | {"answers": text}}, {"id": 2, "data": data | {"answers": "Ann"}}
    )
    rows = tmp_path / "rows"

    read_responses(ReadRequest("label_studio", str(path), str(rows), chosen={"makes_examples": True}))

    assert [row[2] for page in Rows.read(examples_of(rows)) for row in page] == [answers, ["Ann"]]


@pytest.mark.parametrize(
    ("table", "what"),
    [
        (3, "a number that is not a table"),
        ([], "the table has no header"),
        ({"Name": ["Ann"], "Wins": []}, "the columns are not of one length"),
        ([{"Name": "Ann"}, {"Nome": "Bob"}], "object 1 has no 'Nome'"),
        ({"header": ["a"], "rows": [["b", "c"]]}, "row 1 has 2 cells"),
        ([["a"], [None]], "row 1, column 1 is null"),
        ('[{"a": 1, "a": 2}]', "the name 'a' twice"),
        ('a,"b', "the text is not CSV"),
        ("<table><tr>", "the text is not an HTML"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused(tmp_path: Path, table: Any, what: str) -> None:
    path = exported(tmp_path, {"id": 1, "data": {"question": "who?", "table": table}})
    with pytest.raises(ReaderError) as error:
        list(READERS["label_studio"](path))
    assert what in str(error.value)
    assert error.value.mend
