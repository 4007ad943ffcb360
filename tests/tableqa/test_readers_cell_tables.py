"""Tables with merged cells as HiTab and ToTTo write them, in a field or as files beside the questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tableqa import Example, Table
from tableqa.data.tables import Span
from tableqa.readers import READERS, ReaderError

own = READERS["own"]

HITAB: dict[str, Any] = {
    "title": "Winners",
    "top_header_rows_num": 2,
    "left_header_columns_num": 1,
    "texts": [["name", "wins", ""], ["", "home", "away"], ["Ann", "3", "1"], ["Bob", "4", "2"]],
    "merged_regions": [
        {"first_row": 0, "last_row": 0, "first_column": 1, "last_column": 2},
        {"first_row": 0, "last_row": 1, "first_column": 0, "last_column": 0},
    ],
    "top_root": {"row_index": -1, "column_index": -1, "children": []},
}
WINNERS = Table(
    ["", "home", "away"],
    [["Ann", "3", "1"], ["Bob", "4", "2"]],
    title="Winners",
    header_rows=[["name", "wins", ""]],
    spans=[Span("h0", "c1", 1, 2), Span("h0", "c0", 2, 1)],
)
SAMPLE = {
    "id": "e3",
    "table_id": "0_1_nsf-tab001",
    "question": "who won 4?",
    "answer": [4.0],
    "aggregation": ["none"],
}


def cell(value: str, is_header: bool = False, columns: int = 1, rows: int = 1) -> dict[str, Any]:
    return {"value": value, "is_header": is_header, "column_span": columns, "row_span": rows}


TOTTO: dict[str, Any] = {
    "example_id": 7,
    "table_page_title": "Cup",
    "table_section_title": "Final",
    "table": [
        [cell("Name", True, rows=2), cell("Wins", True, columns=2)],
        [cell("home", True), cell("away", True)],
        [cell("Ann "), cell("3"), cell("1")],
        [cell("Bob"), cell("4", columns=2)],
    ],
    "highlighted_cells": [[1, 0], [2, 1], [3, 1]],
    "sentence_annotations": [{"final_sentence": "Bob won four times."}],
}
FINAL = Table(
    ["", "home", "away"],
    [["Ann ", "3", "1"], ["Bob", "4", ""]],
    title="Cup",
    caption="Final",
    header_rows=[["Name", "Wins", ""]],
    spans=[Span("h0", "c0", 2, 1), Span("h0", "c1", 1, 2), Span("r1", "c1", 1, 2)],
)


def read(folder: Path, *records: dict[str, Any]) -> list[Example]:
    path = folder / "dev_samples.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return list(own(path))


@pytest.mark.parametrize("kept", ["tables/raw", "raw", "tables/hmt", "tables", "."])
def test_the_tables_of_hitab_are_found_by_their_ids(tmp_path: Path, kept: str) -> None:
    folder = tmp_path / kept
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "0_1_nsf-tab001.json").write_text(json.dumps(HITAB), "utf-8")

    (example,) = read(tmp_path, SAMPLE)

    assert example.table == WINNERS
    assert (example.id, example.answers) == ("e3", ("4.0",))


@pytest.mark.parametrize("top", ["", "data"])
def test_a_folder_of_hitab_with_its_splits_is_read_whole(tmp_path: Path, top: str) -> None:
    folder = tmp_path / top
    (folder / "tables" / "raw").mkdir(parents=True)
    (folder / "tables" / "raw" / "0_1_nsf-tab001.json").write_text(json.dumps(HITAB), "utf-8")
    for split in ("train", "dev"):
        (folder / f"{split}_samples.jsonl").write_text(json.dumps({**SAMPLE, "id": split}) + "\n", "utf-8")

    examples = list(own(tmp_path))

    assert [(example.id, example.meta["split"]) for example in examples] == [
        ("train", "train"), ("dev", "validation"),
    ]  # fmt: skip
    assert {example.table for example in examples} == {WINNERS}


@pytest.mark.parametrize("written", [HITAB, json.dumps(HITAB)])
def test_a_table_of_hitab_is_read_in_a_field(tmp_path: Path, written: Any) -> None:
    (example,) = read(tmp_path, {"question": "who?", "answer": "Bob", "table": written})

    assert example.table == WINNERS


def test_a_merged_region_that_leaves_the_table_ends_with_it(tmp_path: Path) -> None:
    region = {"first_row": 3, "last_row": 9, "first_column": 1, "last_column": 9}
    outside = {"first_row": 7, "last_row": 9, "first_column": 0, "last_column": 2}

    (example,) = read(tmp_path, {"question": "who?", "table": {**HITAB, "merged_regions": [region, outside]}})

    assert example.table.spans == (Span("r1", "c1", 1, 2),)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"top_header_rows_num": 5}, "4 rows are not enough for 5 header rows"),
        ({"top_header_rows_num": "2"}, "top_header_rows_num is a text, not a whole number"),
        ({"texts": []}, "0 rows are not enough for 1 header rows"),
        ({"texts": [["a"], "b"], "top_header_rows_num": 1, "merged_regions": []}, "row 1 is a text, not a list"),
        ({"merged_regions": [{"first_row": 0}]}, "the field last_row is missing"),
        (
            {"merged_regions": [{"first_row": -1, "last_row": 0, "first_column": 0, "last_column": 0}]},
            "the region begins outside of the table",
        ),
        ({"merged_regions": HITAB["merged_regions"][:1] * 2}, "overlaps another one"),
    ],
)  # fmt: skip
def test_a_fault_of_a_table_of_hitab_is_named(tmp_path: Path, change: dict[str, Any], what: str) -> None:
    if change.get("texts") == []:
        change = {**change, "top_header_rows_num": 1}
    with pytest.raises(ReaderError) as error:
        read(tmp_path, {"question": "who?", "table": {**HITAB, **change}})

    assert what in error.value.what
    assert error.value.mend


def test_a_table_of_totto_is_laid_out_with_its_highlighted_cells(tmp_path: Path) -> None:
    (example,) = read(tmp_path, {**TOTTO, "question": "who won?"})

    assert example.table == FINAL
    assert (example.id, example.table.title) == ("7", "Cup")
    assert example.meta["highlighted_cells"] == (("h", "c1"), ("r0", "c1"), ("r1", "c1"))


def test_an_extent_that_leaves_the_table_ends_with_it(tmp_path: Path) -> None:
    table = [[cell("A"), cell("B")], [cell("C", rows=10**9), cell("D", columns=10**9)]]

    (example,) = read(tmp_path, {"question": "who?", "table": table})

    assert (example.table.rows, example.table.spans) == ((("C", "D"),), ())


def test_a_table_of_totto_is_read_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "cup.json").write_text(json.dumps(TOTTO["table"]), "utf-8")

    (example,) = read(tmp_path, {"question": "who won?", "table_id": "cup"})

    assert example.table.rows == FINAL.rows
    assert example.table.spans == FINAL.spans


def test_totto_without_questions_says_which_field_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ReaderError) as error:
        read(tmp_path, TOTTO)

    assert error.value.what == "the field question is missing: ToTTo has sentences, not questions"
    assert error.value.mend == "Add the field question to each record"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"highlighted_cells": [[0, 2]]}, "highlighted_cells names a cell that the table does not have"),
        ({"highlighted_cells": [0]}, "highlighted_cells names a cell that the table does not have"),
        ({"table": [[cell("A"), {**cell(""), "value": None}]]}, "value is null, not a text"),
        ({"table": [[cell("A"), {**cell("B"), "row_span": "2"}]]}, "row_span is a text, not a whole number"),
        ({"table": [[cell("A"), cell("B", rows=2)], [cell("C", columns=2)]]}, "a merged cell overlaps"),
    ],
)
def test_a_fault_of_a_table_of_totto_is_named(tmp_path: Path, change: dict[str, Any], what: str) -> None:
    with pytest.raises(ReaderError) as error:
        read(tmp_path, {**TOTTO, "question": "who?", "highlighted_cells": [], **change})

    assert what in error.value.what
    assert error.value.mend
