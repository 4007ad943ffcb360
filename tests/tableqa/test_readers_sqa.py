"""The reader of SQA: dialogues, and answers that are cells."""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tableqa import Example, Turn
from tableqa.readers import READERS, ReaderError
from tests.plugin import ROOT

sqa = READERS["sqa"]
HEADER = "id\tannotator\tposition\tquestion\ttable_file\tanswer_coordinates\tanswer_text\n"
ROWS = (
    "nt-1\t0\t0\twho won?\ttable_csv/1.csv\t['(0, 0)', '(1, 0)']\t['Ann', 'Bob']\n"
    "nt-1\t0\t1\twho won 4?\ttable_csv/1.csv\t['(1, 0)']\t['Bob']\n"
    'nt-1\t1\t0\t"how many\tdid\nAnn ""really"" win?"\ttable_csv/1.csv\t[\'(0, 1)\']\t[\'3\']\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "table_csv").mkdir()
    (tmp_path / "table_csv" / "1.csv").write_text('Name,Wins\nAnn,3\nBob,"4"\n')
    (tmp_path / "dev.tsv").write_text(HEADER + ROWS)
    return tmp_path


def read(folder: Path) -> list[Example]:
    return list(sqa(folder / "dev.tsv"))


# On the real data -----------------------------------------------------------------------------------------------------


def test_every_question_of_the_dev_split_and_every_answer_in_its_cell(test_data: Path) -> None:
    path = test_data / "sqa" / "random-split-1-dev.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    examples = list(sqa(path))
    turns: dict[tuple[str, str], list[Turn]] = {}
    cells = 0
    for row, example in zip(rows, examples, strict=True):
        answers = ast.literal_eval(row["answer_text"])
        assert example.id == f"{row['id']}-{row['annotator']}-{row['position']}"
        assert (example.question, list(example.answers)) == (row["question"], answers)
        before = turns.setdefault((row["id"], row["annotator"]), [])
        assert list(example.history) == before
        before.append(Turn(row["question"], answers))
        places = [ast.literal_eval(place) for place in ast.literal_eval(row["answer_coordinates"])]
        assert [list(cell) for cell in example.meta["answer_cells"]] == [
            [f"r{i}", f"c{j}"] for i, j in places
        ]
        assert [example.table.cell(*cell) for cell in example.meta["answer_cells"]] == answers
        cells += len(places)
    assert (len(examples), len({example.id for example in examples}), len(turns)) == (2_265, 2_265, 784)
    assert len({example.table.digest() for example in examples}) == 148
    assert cells == 12_300
    assert len(list(sqa.files(path))) == 149


def test_the_excerpt_is_part_of_the_release(test_data: Path) -> None:
    whole = {example.id: example for example in sqa(test_data / "sqa")}
    excerpt = list(sqa(ROOT / "fixtures" / "sqa"))
    assert len(excerpt) == 36
    assert all(whole[example.id] == example for example in excerpt)


# In small -------------------------------------------------------------------------------------------------------------


def test_a_dialogue_is_read_with_what_was_asked_before(folder: Path) -> None:
    first, second, third = read(folder)
    assert [example.id for example in (first, second, third)] == ["nt-1-0-0", "nt-1-0-1", "nt-1-1-0"]
    assert first.history == ()
    assert second.history == (Turn("who won?", ["Ann", "Bob"]),)
    assert third.history == (), "another annotator's dialogue begins anew"
    assert third.question == 'how many\tdid\nAnn "really" win?'
    assert second.meta == {
        "id": "nt-1",
        "annotator": 0,
        "position": 1,
        "table_file": "table_csv/1.csv",
        "answer_cells": (("r1", "c0"),),
    }
    assert second.table is first.table
    assert Example.from_dict(json.loads(json.dumps(second.to_dict()))) == second


def test_the_tables_are_found_beside_or_where_they_are_said_to_be(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = (folder / "dev.tsv").rename(tmp_path_factory.mktemp("elsewhere") / "dev.tsv")
    for tables in (folder, folder / "table_csv"):
        assert len(list(sqa(elsewhere, tables=tables))) == 3
    with pytest.raises(ReaderError, match=r"the table table_csv/1\.csv is not in"):
        list(sqa(elsewhere))


def line(number: int, text: str) -> Callable[[Path], None]:
    """Replace a line of the questions, counted from 1."""

    def damage(folder: Path) -> None:
        lines = (folder / "dev.tsv").read_text().split("\n")
        lines[number - 1] = text
        (folder / "dev.tsv").write_text("\n".join(lines))

    return damage


def row(**given: str) -> Callable[[Path], None]:
    values = {
        "id": "nt-2",
        "annotator": "0",
        "position": "0",
        "question": "q",
        "table_file": "table_csv/1.csv",
        "answer_coordinates": "['(0, 0)']",
        "answer_text": "['Ann']",
    }
    return line(3, "\t".join((values | given).values()))


@pytest.mark.parametrize(
    ("damage", "number", "what"),
    [
        (line(1, "id\tannotator"), 1, "the first line lacks position, question"),
        (line(1, HEADER.strip() + "\tid"), 1, "names a column twice"),
        (line(3, "nt-1\t0\t1"), 3, "the row has 3 fields, the first line names 7"),
        (line(3, ""), 3, "the line is empty"),
        (line(5, "Ann"), 4, "the file ends within a quoted field"),
        (line(3, 'nt-1\t1\t0\t"how" many'), 3, "a field cannot be read"),
        (row(id=""), 3, "the id is empty"),
        (row(annotator="A"), 3, "the annotator is 'A'"),
        (row(position="-1"), 3, "the position is '-1'"),
        (row(id="nt-1"), 3, "position 0 follows position 0 of the same sequence"),
        (row(answer_text="['Bob']"), 3, "the cell (0, 0) holds 'Ann', the answer is 'Bob'"),
        (row(answer_text="['Ann', 'Bob']"), 3, "there are 1 coordinates for 2 answers"),
        (row(answer_text="Ann"), 3, "answer_text is 'Ann'"),
        (row(answer_text="[1]"), 3, "answer_text is '[1]'"),
        (row(answer_text="__import__('os').getcwd()"), 3, "answer_text is"),
        (row(answer_text="[" * 5_000), 3, "answer_text is"),
        (row(answer_coordinates="['0, 0']"), 3, "the coordinates '0, 0' are not a pair"),
        (row(answer_coordinates="['(2, 0)']"), 3, "outside the table: row 2 below the header, column 0"),
        (row(table_file="table_csv/9.csv"), 3, "the table table_csv/9.csv is not in"),
        (row(table_file="../x.csv"), 3, "'../x.csv' is refused"),
    ],
)
def test_a_fault_is_named_with_its_line(
    folder: Path, damage: Callable[[Path], None], number: int, what: str
) -> None:
    damage(folder)
    with pytest.raises(ReaderError) as error:
        read(folder)
    assert (Path(error.value.file).name, error.value.line) == ("dev.tsv", number)
    assert what in error.value.what
    assert error.value.mend


def test_a_dialogue_that_is_torn_apart_is_refused(folder: Path) -> None:
    lines = ROWS.split("\n", 2)
    (folder / "dev.tsv").write_text(HEADER + lines[0] + "\n" + lines[2] + lines[0] + "\n")
    with pytest.raises(ReaderError, match="the id nt-1-0-0 is already in line 2"):
        read(folder)
