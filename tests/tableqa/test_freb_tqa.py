"""The published item form of FREB-TQA and RobuT."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from tableqa import Example, Table
from tableqa.perturbations import PERTURBATIONS
from tableqa.readers import READERS
from tableqa.writers.freb_tqa import freb_example, freb_record
from tests.tableqa.strategies import tables


def test_a_record_has_the_published_keys_in_their_order() -> None:
    record = freb_record("nt-1", "who?", ("Ann",), Table(["a"], [["1"]], title="t"), "csv/204-csv/1.csv")
    assert json.dumps(record) == (
        '{"id": "nt-1", "question": "who?", "answers": ["Ann"], '
        '"table": {"header": ["a"], "rows": [["1"]], "name": "csv/204-csv/1.csv"}}'
    )


def test_an_example_is_written_with_the_name_that_its_source_gives_the_table() -> None:
    table = Table(["a"], [["1"]])
    record = freb_example(Example("nt-1", "who?", table, ["Ann"], {"context": "csv/204-csv/1.csv"}))
    assert record == freb_record("nt-1", "who?", ["Ann"], table, "csv/204-csv/1.csv")
    assert freb_example(Example("nt-1", "who?", table, ["Ann"]))["table"]["name"] == ""


def test_published_records_are_written_as_they_were(test_data: Path) -> None:
    with (test_data / "freb_tqa" / "01_str" / "wtq_factoid_dev.json").open(encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    assert len(records) == 205
    for record in records:
        table = record["table"]
        written = freb_record(
            record["id"],
            record["question"],
            record["answers"],
            Table(table["header"], table["rows"]),
            table["name"],
        )
        assert written == {name: record[name] for name in ("id", "question", "answers")} | {
            "table": {name: table[name] for name in ("header", "rows", "name")}
        }


@given(tables)
def test_any_table_is_written_and_read_again(table: Table) -> None:
    written = freb_record("1", "q", [], table, "")["table"]
    assert Table(written["header"], written["rows"]).same_content(table)


MARKED = Example(
    "nt-1",
    "how long is Heat?",
    Table(["Film", "Minutes"], [["Alien", "117"], ["Heat", "170"]]),
    ["170"],
    {"relevant_cells": [["r1", "c1"], ["h", "c1"]]},
)


@pytest.mark.parametrize("kind", ["row_shuffle", "col_shuffle", "transpose", "mask_cell", "target_row_front"])
def test_relevant_cells_are_named_at_their_positions_after_a_perturbation(kind: str) -> None:
    made = PERTURBATIONS[kind](MARKED).example
    record = freb_example(made)
    texts = [record["table"]["rows"][row][column] for row, column in record["rel_cell"]]
    assert "Minutes" in texts if kind == "transpose" else "Minutes" not in texts
    assert ("170" in texts) == (kind != "mask_cell")
    (example,) = read_again([record])
    assert len(example.meta["relevant_cells"]) == len(texts)


def read_again(records: list[dict[str, object]]) -> list[Example]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "dev.json"
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        return list(READERS["freb_tqa"](path))


def test_relevant_cells_that_are_gone_are_not_named() -> None:
    assert "rel_cell" not in freb_example(PERTURBATIONS["escape_table"](MARKED).example)
    assert "rel_cell" not in freb_example(Example("nt-1", "who?", MARKED.table, ["Heat"]))
    assert freb_example(MARKED)["rel_cell"] == [[1, 1]]
    assert freb_example(MARKED, [["r0", "c0"]])["rel_cell"] == [[0, 0]]
