"""The file of rejected records: everything of them, with the reason, in a form that can be imported again."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

from tableqa.readers import READERS, ReaderError, Rejection, checked_outcomes
from tableqa.readers.rejections import MOST_DESCRIBED, Rejections


def fault(line: int = 3, column: str = "") -> ReaderError:
    error = ReaderError("/tmp/folder/questions.csv", line, "the id is empty", "Give each question its own id")
    error.column = column
    return error


def test_the_file_of_rejected_rows_can_be_corrected_and_imported(tmp_path: Path) -> None:
    path = tmp_path / "rest.csv"
    with Rejections() as rejections:
        rejections.add(Rejection(fault(), {"id": "", "question": "wer?", "table": "A\n1"}))
        rejections.write(path)

    with path.open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row == {
        "id": "",
        "question": "wer?",
        "table": "A\n1",
        "problem": "the id is empty",
        "fix": "Give each question its own id",
        "line": "3",
    }
    path.write_text(path.read_text("utf-8-sig").replace("\n,wer", "\n7,wer"), "utf-8-sig")
    (example,) = checked_outcomes(READERS["own"], path)
    assert not isinstance(example, Rejection)
    assert (example.id, example.question) == ("7", "wer?")


def test_records_of_json_keep_their_form(tmp_path: Path) -> None:
    path = tmp_path / "rest.jsonl"
    with Rejections() as rejections:
        rejections.add(Rejection(fault(column="answers"), {"question": "wer?", "table": [["Köln"]]}))
        rejections.write(path)

    record = json.loads(path.read_text("utf-8"))
    assert record["table"] == [["Köln"]]
    assert record["problem"] == "answers: the id is empty"


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_records_of_columns_keep_numbers_that_json_does_not_know(tmp_path: Path, number: float) -> None:
    for name in ("rest.jsonl", "rest.csv"):
        with Rejections() as rejections:
            rejections.add(Rejection(fault(), {"share": number, "shares": [number]}))
            rejections.write(tmp_path / name)

    record = json.loads((tmp_path / "rest.jsonl").read_text("utf-8"))
    assert [repr(value) for value in (record["share"], *record["shares"])] == [repr(number)] * 2
    (row,) = csv.DictReader((tmp_path / "rest.csv").open(encoding="utf-8-sig"))
    assert float(row["share"]) == number or math.isnan(number)


def test_nested_values_of_records_fit_into_cells(tmp_path: Path) -> None:
    path = tmp_path / "rest.csv"
    with Rejections() as rejections:
        rejections.add(Rejection(fault(), {"table": [["A"]]}))
        rejections.write(path)

    assert '"[[""A""]]"' in path.read_text("utf-8-sig")


def test_all_are_counted_and_the_first_are_described_without_the_folder_of_uploads() -> None:
    with Rejections(lambda text: text.replace("/tmp/folder/", "")) as rejections:
        for line in range(MOST_DESCRIBED + 5):
            rejections.add(Rejection(fault(line), {}))

        assert (rejections.number, len(rejections.first)) == (MOST_DESCRIBED + 5, MOST_DESCRIBED)
        assert rejections.first[0].file == "questions.csv"
        assert rejections.whole


def test_a_file_that_cannot_be_read_to_its_end_is_not_whole() -> None:
    with Rejections() as rejections:
        rejections.add(Rejection(fault()))

        assert not rejections.whole
