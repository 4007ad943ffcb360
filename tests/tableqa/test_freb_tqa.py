"""The published item form of FREB-TQA and RobuT."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given

from tableqa import Example, Table
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
