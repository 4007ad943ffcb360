"""What the preview says of tables: superscripts, struck-out texts, and headers that are probably none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tableqa.readers import READERS
from tableqa.readers.own_data import OwnData

PAGE = "<table><tr><th>A<th>B</tr><tr><td>3<sup>2</sup><td><s>5</s> 6</tr></table>"


def lines(folder: Path, *tables: Any) -> Path:
    path = folder / "questions.jsonl"
    records = [{"question": "who?", "answer": "Ann", "table": table} for table in tables]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def notes(path: Path) -> str:
    own = READERS["own"]
    assert isinstance(own, OwnData)
    return own.read_as(path)


def test_superscripts_and_struck_out_texts_are_counted_in_the_preview(tmp_path: Path) -> None:
    (tmp_path / "t.html").write_text(PAGE)

    said = notes(lines(tmp_path, PAGE, "t.html", "t.html", [["A"], ["3"]]))

    assert "Superscripts are written as in 3² or 3^a: 2 in the tables of the first 50 records." in said
    assert "Struck-out texts are left out: 2 in the tables of the first 50 records." in said


def test_tables_without_them_have_no_note(tmp_path: Path) -> None:
    said = notes(lines(tmp_path, PAGE.replace("sup>", "b>").replace("s>", "i>"), [["A"], ["3"]]))

    assert "Superscripts" not in said
    assert "Struck-out" not in said
