"""The reader of FeTaQA: sentences as answers, and the cells they rest on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tableqa import Example
from tableqa.readers import READERS, ReaderError
from tests.plugin import ROOT

fetaqa = READERS["fetaqa"]

RECORD: dict[str, Any] = {
    "feta_id": 7,
    "table_source_json": "totto_source/dev_json/example-6.json",
    "page_wikipedia_url": "http://en.wikipedia.org/wiki/Heat",
    "table_page_title": "Heat",
    "table_section_title": "Awards",
    "table_array": [["Year", "Year"], ["1995", ""], ["1996", "Won"]],
    "highlighted_cell_ids": [[0, 1], [2, 1]],
    "question": "What did it win?",
    "answer": "It won in 1996.",
}


def read(folder: Path, *records: object) -> list[Example]:
    text = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "dev.jsonl").write_text(text, "utf-8")
    return list(fetaqa(folder / "dev.jsonl"))


def test_every_question_and_highlighted_cell_of_the_dev_file(test_data: Path) -> None:
    path = test_data / "fetaqa" / "fetaQA-v1_dev.jsonl"
    with path.open(encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    examples = list(fetaqa(path))
    cells = in_headers = said = told = 0
    for record, example in zip(records, examples, strict=True):
        rows = record["table_array"]
        assert [list(example.table.header), *map(list, example.table.rows)] == rows
        assert (example.table.title, example.table.caption) == (
            record["table_page_title"],
            record["table_section_title"],
        )
        assert (example.id, example.question) == (str(record["feta_id"]), record["question"])
        assert example.answers == (record["answer"],)
        marked = example.meta["highlighted_cells"]
        texts = [example.table.cell(*cell) for cell in marked]
        assert texts == [rows[i][j] for i, j in record["highlighted_cell_ids"]]
        cells += len(marked)
        in_headers += sum(row == "h" for row, _ in marked)
        long = [text for text in texts if len(text) > 3]
        told += len(long)
        said += sum(text.lower() in record["answer"].lower() for text in long)
    assert len(examples) == len({example.id for example in examples}) == 1_001
    assert len({example.table.digest() for example in examples}) == 992
    assert (cells, in_headers) == (8_337, 5)
    # That row 0 is the header shows in the answers: counted from below it, 42 % of the texts would stand in them.
    assert said / told > 0.7


def test_the_excerpt_is_part_of_the_release(test_data: Path) -> None:
    whole = {example.id: example for example in fetaqa(test_data / "fetaqa")}
    excerpt = list(fetaqa(ROOT / "fixtures" / "fetaqa"))
    assert len(excerpt) == 12
    assert all(whole[example.id] == example for example in excerpt)
    assert any(row == "h" for example in excerpt for row, _ in example.meta["highlighted_cells"])


def test_a_record_is_read_as_it_stands(tmp_path: Path) -> None:
    (example,) = read(tmp_path, RECORD)
    assert example.to_dict() == {
        "id": "7",
        "question": "What did it win?",
        "table": {
            "header": ["Year", "Year"],
            "rows": [["1995", ""], ["1996", "Won"]],
            "title": "Heat",
            "caption": "Awards",
        },
        "answers": ["It won in 1996."],
        "meta": {
            "page_wikipedia_url": "http://en.wikipedia.org/wiki/Heat",
            "table_source_json": "totto_source/dev_json/example-6.json",
            "highlighted_cells": [["h", "c1"], ["r1", "c1"]],
        },
    }


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"feta_id": None}, "feta_id is null"),
        ({"feta_id": 1.5}, "feta_id is a number"),
        ({"table_array": []}, "table_array is empty"),
        ({"table_array": [["a"], ["b", "c"]]}, "row 1 has 2 cells, the header has 1"),
        ({"table_array": [["a", "b"], ["c", 1]], "highlighted_cell_ids": [[2, 0]]}, "row 1 below the header"),
        ({"highlighted_cell_ids": [[0]]}, "highlighted_cell_ids[0] is not a pair of numbers"),
        ({"highlighted_cell_ids": [[0, 0], [True, 0]]}, "highlighted_cell_ids[1] is not a pair"),
        ({"highlighted_cell_ids": [[-1, 0]]}, "outside the table"),
        ({"answer": ["a"]}, "answer is a list, not a text"),
        ({"question": None}, "question is null, not a text"),
    ],
)
def test_a_fault_is_named_with_its_line(tmp_path: Path, change: dict[str, Any], what: str) -> None:
    with pytest.raises(ReaderError) as error:
        read(tmp_path, RECORD, {**RECORD, "feta_id": 8, **change})
    assert error.value.line == 2
    assert what in error.value.what
    assert error.value.mend


def test_an_id_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match="the id 7 is already in line 1"):
        read(tmp_path, RECORD, RECORD)


def test_the_one_file_of_a_folder_is_found(tmp_path: Path) -> None:
    read(tmp_path, RECORD)
    (tmp_path / "notes.jsonl").write_text('{"a": 1}\n')
    assert list(fetaqa.files(tmp_path)) == [tmp_path / "dev.jsonl"]
    assert len(list(fetaqa(tmp_path, limit=5))) == 1
