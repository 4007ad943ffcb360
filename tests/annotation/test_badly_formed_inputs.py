"""Badly formed inputs of people who tried: each is imported as it was meant, or refused whole with what to do about it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
import xlsxwriter

from annotation.journeys import importing
from annotation.models import Example, Source, StoredTable
from annotation.refusals import Refused
from tests.annotation.cast import NOON, World
from tests.annotation.test_importing_formats import FILES

SHEET = "id,question,table,answers\n1,Wer gewann für Köln?,cup.csv,Bob\n2,who else?,cup.csv,Ann\n"
CUP = "Name,Wins\nJörg,3\nBob,4\n"
CELLS = [["Name", "Wins"], ["Jörg", "3"], ["Bob", "4"]]


def record(**change: Any) -> str:
    return json.dumps({"id": "1", "question": "who?", "answers": ["Bob"], "table": CELLS, **change}) + "\n"


def semicolons(text: str) -> str:
    return text.replace(",", ";")


def excel(path: Path) -> None:
    book = xlsxwriter.Workbook(str(path))
    questions, cup = book.add_worksheet("Questions"), book.add_worksheet("Cup")
    for i, row in enumerate([["question", "table"], ["who?", "Cup"], ["who else?", "Cup"]]):
        questions.write_row(i, 0, row)
    for i, row in enumerate(CELLS):
        cup.write_row(i, 0, row)
    book.close()


def climbing(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("q.csv", SHEET)
        archive.writestr("../cup.csv", CUP)


def locked(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("q.csv", SHEET)
    packed = bytearray(path.read_bytes())
    packed[6] |= 1  # the flags of a member that is encrypted, in both of its headers
    packed[packed.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(packed)


def cut_parquet(path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"question": ["who?"] * 99, "table": ["[]"] * 99}), path)
    path.write_bytes(path.read_bytes()[:-20])


@dataclass(frozen=True)
class Case:
    """An input: its files, texts or bytes, and what the refusal says; None where it is imported."""

    refused: str | None
    files: dict[str, str | bytes] = field(default_factory=dict)
    path: str = "q.csv"
    reader: str = "own"
    fields: dict[str, str] = field(default_factory=dict)
    tables: str | None = None
    source: Path | None = None
    make: Callable[[Path], None] | None = None


def sheet(refused: str | None, questions: str | bytes = SHEET, cup: str | bytes = CUP, **more: Any) -> Case:
    return Case(refused, {"q.csv": questions, "cup.csv": cup}, **more)


def lines(refused: str | None, text: str | bytes, **more: Any) -> Case:
    return Case(refused, {"q.jsonl": text}, path="q.jsonl", **more)


CASES = {
    "questions with semicolons": sheet(None, semicolons(SHEET)),
    "a table with semicolons": sheet(None, cup=semicolons(CUP)),
    "a table with tabs": sheet(None, cup=CUP.replace(",", "\t")),
    "Latin-1 questions": sheet(None, SHEET.encode("latin-1")),
    "a Latin-1 table": sheet(None, cup=CUP.encode("latin-1")),
    "UTF-16 questions": sheet(None, SHEET.encode("utf-16")),
    "a UTF-16 table": sheet(None, cup=CUP.encode("utf-16")),
    "old Macintosh line ends": sheet(None, SHEET.replace("\n", "\r")),
    "UTF-8 with a broken byte": sheet(
        r"q\.csv, line 4: the file is UTF-8 but", SHEET.encode() + b"3,\xfc?,cup.csv,ab\xe4\n"
    ),
    "another separator than the decimal comma": sheet(None, cup="Name;Wins\nJörg;3,5\nBob;4,0\n"),
    "a missing column": sheet(r"q\.csv, line 2: no column is known as the question", SHEET.replace("question", "frge")),
    "a duplicate id": sheet(r"q\.csv, line 3: the id 1 is already in line 2", SHEET.replace("2,who", "1,who")),
    "a duplicate column": sheet(r"q\.csv, line 1: two columns", SHEET.replace("answers", "id")),
    "a table that is nowhere": sheet(r"q\.csv, line 3: the table cop\.csv is not", SHEET.replace("else?,cup", "else?,cop")),
    "a table above the folder": sheet(r"q\.csv, line 3: .* is refused", SHEET.replace("else?,cup", "else?,../cup")),
    "a ragged table": sheet(r"cup\.csv, line 3: the row has 1 cells", cup="Name,Wins\nJörg,3\nBob\n"),
    "an open quote": sheet(r"q\.csv, line 3: the file ends within a quoted field", SHEET.replace("who else", '"who else')),
    "a short row": sheet(r"q\.csv, line 3: the row has 3 fields", SHEET.replace(",Ann", "")),
    "a file cut in the middle": sheet(r"q\.csv, line 3: the row has 2 fields", SHEET[:-14]),
    "an empty file": sheet(r"q\.csv, line 1: the file is empty", ""),
    "an empty table": sheet(r"cup\.csv, line 1: there is no header", cup=""),
    "the wrong folder of tables": sheet(r"the table cup\.csv is not in", tables="elsewhere"),
    "broken JSON": lines(r"q\.jsonl, line 2: this is not JSON", record() + '{"id": \n'),
    "JSON cut in the middle": lines(r"q\.jsonl, line 1: this is not JSON", record()[:-5]),
    "a ragged table in JSON": lines(r"q\.jsonl, line 1: table: ", record(table=[["a", "b"], ["c"]])),
    "NaN in JSON": lines(r"NaN is not a JSON number", record(level=float("nan"))),
    "names of one's own": lines(None, '{"qid": 7, "text": "who?", "gold": "Bob", "table": [["a"], ["b"]]}\n'),
    "a table as a list and one answer": lines(None, '{"question": "who?", "table": [["a"], ["b"]], "answer": "x"}\n'),
    "numbers as cells": lines(None, record(table=[["Name", "Wins"], ["Ann", 3], ["Bob", 1.50]])),
    "a path without its table": lines(r"the table tables/cities\.csv is not in", record(table="tables/cities.csv")),
    "a field that nobody named": lines(r"the field anwser is missing", record(), fields={"answers": "anwser"}),
    "a part that there is not": lines(r"no part 'anwsers'", record(), fields={"anwsers": "answers"}),
    "an Excel file": Case(None, path="q.xlsx", make=excel),
    "an Excel file that is called CSV": Case(None, path="q.csv", make=excel),
    "an Excel file as JSON Lines": Case("this is an Excel file", path="q.xlsx", reader="jsonl", make=excel),
    "a path as a table of Parquet": lines(
        "looks like the path of a file", record(table_file="cities.csv"), reader="parquet", fields={"table": "table_file"}
    ),
    "WikiTableQuestions as TAT-QA": Case(r"excerpt-dev\.tsv", reader="tat_qa", source=FILES["wtq"]),
    "TAT-QA as WikiTableQuestions": Case(r"excerpt-dev\.json", reader="wtq", source=FILES["tat_qa"]),
    "TAT-QA as FeTaQA": Case(r"excerpt-dev\.json", reader="fetaqa", source=FILES["tat_qa"]),
    "WikiTableQuestions as SQA": Case(r"excerpt-dev\.tsv", reader="sqa", source=FILES["wtq"]),
    "a byte order mark before JSON": lines(None, b"\xef\xbb\xbf" + record().encode()),
    "one object in place of lines": lines(
        r"q\.jsonl, line 1: this is not JSON", json.dumps(json.loads(record()), indent=1)
    ),
    "a name twice in a record": lines(r"an object has the name 'id' twice", '{"id": "1", "id": "2", "question": "who?"}\n'),
    "a header of typographic quotes": sheet(None, SHEET.replace("question", "“question”")),
    "a table that is a folder": Case(
        r"q\.csv, line 2: the table cup\.csv is not in", {"q.csv": SHEET, "cup.csv/x": CUP}
    ),
    "an archive that leads out of itself": Case(r"leads out of the archive", path="q.zip", make=climbing),
    "an archive with a password": Case(r"password|encrypted", path="q.zip", make=locked),
    "a Parquet file that is cut": Case(r"the file is damaged", path="q.parquet", make=cut_parquet),
    "an unknown reader": lines("There is no reader 'nothing'", record(), reader="nothing"),
    "no such file": Case("cannot be opened", path="none.csv"),
}  # fmt: skip


def bring_in(world: World, folder: Path, case: Case) -> importing.Imported:
    """Import the files of a case from a folder."""
    for file, content in case.files.items():
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "elsewhere").mkdir()
    if case.make:
        case.make(folder / case.path)
    return importing.import_examples(
        project=world.project,
        reader=case.reader,
        path=case.source or folder / case.path,
        tables=folder / case.tables if case.tables else None,
        fields=case.fields,
        name="badly formed",
        now=NOON,
    )


@pytest.mark.django_db
@pytest.mark.parametrize("name", CASES)
def test_a_badly_formed_input_is_imported_as_meant_or_refused_whole(
    world: World, tmp_path: Path, name: str
) -> None:
    case = CASES[name]
    before = [model.objects.count() for model in (Source, Example, StoredTable)]

    if case.refused is None:
        source = bring_in(world, tmp_path, case).source
        for example in Example.objects.filter(source=source).select_related("stored_table"):
            table = example.stored_table.table()
            assert table.rows
            assert "Wins" in table.header or table.header == ("a",)
            if "Wins" in table.header:
                assert table.rows[0][0] in ("Jörg", "Ann")
            assert "�" not in example.question
        return
    with pytest.raises(Refused, match=case.refused) as refused:
        bring_in(world, tmp_path, case)
    assert len(refused.value.detail) > 30
    assert [model.objects.count() for model in (Source, Example, StoredTable)] == before
