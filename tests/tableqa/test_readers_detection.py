"""The reader that suits a file is found by what the file holds, so that nobody has to choose a format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tableqa.readers import READERS, ReaderError
from tableqa.readers.format_detection import detect_reader
from tableqa.readers.own_data import Layout, OwnData

FIXTURES = Path(__file__).parents[2] / "fixtures"
OWN = READERS["own"]


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(FIXTURES.glob("*/excerpt-dev.*")) if ".tables" not in path.name],
    ids=lambda path: path.parent.name,
)
def test_excerpts_of_published_datasets_are_recognised(path: Path) -> None:
    assert detect_reader(path) == path.parent.name


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.csv", "question,table,answers\nwho?,a.csv,Ann\n"),
        ("mine.jsonl", json.dumps({"id": 1, "question": "who?", "answers": ["Ann"], "table": [["A"]]})),
        ("mine.json", json.dumps([{"query": "who?", "label": "Ann", "table": [["A"]]}])),
        ("empty.csv", ""),
    ],
)
def test_everything_else_is_a_persons_own_data(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)

    assert detect_reader(path) == "own"


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match="cannot be opened"):
        detect_reader(tmp_path / "missing.csv")


def test_the_layout_of_a_file_is_what_a_person_may_correct(tmp_path: Path) -> None:
    path = tmp_path / "fragen.csv"
    path.write_bytes("Nr;Frage;Tabelle;Titel;Text\n1;Wer gewann für Köln?;a.csv;Cup;x\n".encode("cp1252"))
    assert isinstance(OWN, OwnData)

    assert OWN.layout(path) == Layout(
        columns=("Nr", "Frage", "Tabelle", "Titel", "Text"),
        parts={"id": "Nr", "question": "Frage", "table": "Tabelle", "title": "Titel"},
        encoding="cp1252",
        separator=";",
    )
    corrected = OWN.with_fields({"question": "Text", "title": ""}).layout(path)
    assert corrected.parts == {"id": "Nr", "question": "Text", "table": "Tabelle"}


def test_the_columns_of_json_are_those_of_its_first_records(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(
        '{"question": "a?", "table": [["A"]]}\n{"question": "b?", "table": [["A"]], "topic": "x"}\n'
    )
    assert isinstance(OWN, OwnData)

    assert OWN.layout(path) == Layout(
        ("question", "table", "topic"), {"question": "question", "table": "table"}
    )
