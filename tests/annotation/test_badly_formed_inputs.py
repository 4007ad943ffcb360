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

from annotation.imports import example_import
from annotation.models import Example, Source, StoredTable
from annotation.platform.refusals import ActionRefused
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


def cup(*rows: list[Any], name: str = "Cup", more: Callable[[Any], None] = lambda sheet: None) -> Any:
    """Writes an Excel file with a question about the sheet `Cup`; `more` changes that sheet."""

    def make(path: Path) -> None:
        book = xlsxwriter.Workbook(str(path))
        questions, table = book.add_worksheet("Questions"), book.add_worksheet("Cup")
        questions.write_row(0, 0, ["question", "table"])
        questions.write_row(1, 0, ["who?", name])
        for i, row in enumerate([["Name", "Wins"], ["Ann", 3], *rows]):
            table.write_row(i, 0, row)
        more(table)
        book.close()

    return make


def cut_excel(path: Path) -> None:
    cup()(path)
    path.write_bytes(path.read_bytes()[:-200])


def parquet(**columns: Any) -> Callable[[Path], None]:
    return lambda path: pyarrow.parquet.write_table(pyarrow.table(columns), path)


def two_names(path: Path) -> None:
    columns = [pyarrow.array([text]) for text in ("who?", "what?", "[]")]
    table = pyarrow.Table.from_arrays(columns, names=["question", "question", "table"])
    pyarrow.parquet.write_table(table, path)


def archive(**files: str | bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as packed:
            for name, content in files.items():
                packed.writestr(name.replace("_", "."), content)

    return make


def struct(**change: Any) -> dict[str, Any]:
    return {"header": ["Name", "Wins"], "rows": [["Ann", "3"]], **change}


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
    "a duplicate id": sheet(r"q\.csv, line 3, id 1: the id 1 is already in line 2", SHEET.replace("2,who", "1,who")),
    "a duplicate column": sheet(r"q\.csv, line 1: two columns", SHEET.replace("answers", "id")),
    "a table that is nowhere": sheet(r"q\.csv, line 3, id 2: the table cop\.csv", SHEET.replace("else?,cup", "else?,cop")),
    "a table above the folder": sheet(r"q\.csv, line 3, id 2: .* is refused", SHEET.replace("else?,cup", "else?,../cup")),
    "a ragged table": sheet(r"cup\.csv, line 3, id 1: the row has 1 cells", cup="Name,Wins\nJörg,3\nBob\n"),
    "an open quote": sheet(r"q\.csv, line 3: the file ends within a quoted field", SHEET.replace("who else", '"who else')),
    "a short row": sheet(r"q\.csv, line 3: the row has 3 fields", SHEET.replace(",Ann", "")),
    "a file cut in the middle": sheet(r"q\.csv, line 3: the row has 2 fields", SHEET[:-14]),
    "an empty file": sheet(r"q\.csv, line 1: the file is empty", ""),
    "an empty table": sheet(r"cup\.csv, line 1, id 1: there is no header", cup=""),
    "the wrong folder of tables": sheet(r"the file of the table cup\.csv is missing", tables="elsewhere"),
    "broken JSON": lines(r"q\.jsonl, line 2: this is not JSON", record() + '{"id": \n'),
    "JSON cut in the middle": lines(r"q\.jsonl, line 1: this is not JSON", record()[:-5]),
    "a ragged table in JSON": lines(r"q\.jsonl, line 1, id 1: table: ", record(table=[["a", "b"], ["c"]])),
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
    "one object in place of lines": lines(None, json.dumps(json.loads(record()), indent=1)),
    "a damaged object in place of lines": lines(
        r"q\.jsonl, line 4: there is 's', not ':'", json.dumps(json.loads(record()), indent=1).replace("answers", 'an"swers')
    ),
    "a name twice in a record": lines(r"an object has the name 'id' twice", '{"id": "1", "id": "2", "question": "who?"}\n'),
    "a header of typographic quotes": sheet(None, SHEET.replace("question", "“question”")),
    "a table that is a folder": Case(
        r"q\.csv, line 2, id 1: the table cup\.csv is not in", {"q.csv": SHEET, "cup.csv/x": CUP}
    ),
    "an archive that leads out of itself": Case(r"leads out of the archive", path="q.zip", make=climbing),
    "an archive with a password": Case(r"password|encrypted", path="q.zip", make=locked),
    "a Parquet file that is cut": Case(r"the file is damaged", path="q.parquet", make=cut_parquet),
    "an unknown reader": lines("There is no reader 'nothing'", record(), reader="nothing"),
    "no such file": Case("cannot be opened", path="none.csv"),
    "UTF-16 without a byte order mark": sheet(None, SHEET.encode("utf-16-le")),
    "UTF-32": sheet(None, SHEET.encode("utf-32")),
    "two encodings in one file": sheet(
        r"q\.csv, line 3: the file is UTF-8 but", SHEET.encode().replace(b"who else", b"Z\xfcrich")
    ),
    "a byte order mark between two lines": sheet(None, SHEET.replace("2,who", "\ufeff2,who")),
    "a file behind another one": sheet(r"q\.csv, line 4: the line repeats the first one", SHEET + SHEET),
    "a line of Excel that names the separator": sheet(None, "sep=;\n" + semicolons(SHEET)),
    "blank lines before the names and between rows": sheet(None, "\n\n" + SHEET.replace("2,who", "\n2,who")),
    "a blank question": sheet(r"q\.csv, line 3, id 2: question is empty", SHEET.replace("who else?", "  ")),
    "a NUL character in a question": sheet(r"q\.csv, line 3: .* NUL", SHEET.replace("else", "el\0se")),
    "a NUL character in JSON": lines(r"question contains a NUL", record(question="who\0?")),
    "half a surrogate pair": lines("unpaired surrogate", record(question="\ud800?")),
    "a huge cell": sheet(r"cup\.csv, line 2, id 1: column 1 has 1,048,576 characters", cup=f"Name,Wins\n{'x' * 2**20},3\n"),
    "too many columns": sheet("more than 500 columns", cup=",".join(map(str, range(501))) + "\n"),
    "JSON that is called CSV": Case(None, {"q.csv": record()}),
    "Parquet that is called CSV": Case("this is a Parquet file", make=parquet(question=["who?"], table=["[]"])),
    "CSV that is called JSON": Case("this is not JSON", {"q.json": SHEET}, path="q.json"),
    "a file that gzip packed": Case("the compressed file is damaged", {"q.csv": b"\x1f\x8b\x08 packed"}),
    "a PDF that is called CSV": Case("this is a PDF file", {"q.csv": b"%PDF-1.4\n"}),
    "a web page in place of the file": Case("this is a web page", {"q.csv": "<!DOCTYPE html>\n<html></html>"}),
    "a picture that is called Excel": Case("not a text file", {"q.xlsx": b"\x89PNG\r\n\x1a\n\0"}, path="q.xlsx"),
    "an Excel file that is cut": Case("the Excel file is damaged", path="q.xlsx", make=cut_excel),
    "a formula with its result": Case(
        None, path="q.xlsx", make=cup(more=lambda sheet: sheet.write_formula(1, 1, "=1+2", None, 3))
    ),
    "a formula without a result": Case(
        "cell B2: the result of the formula is not", path="q.xlsx",
        make=cup(more=lambda s: s.write_formula(1, 1, "=1", None, ""))
    ),
    "a cell with an error": Case(
        "cell B2: the cell shows an error", path="q.xlsx",
        make=cup(more=lambda s: s.write_formula(1, 1, "=1/0", None, "#DIV/0!"))
    ),
    "merged cells of a table": Case(None, path="q.xlsx", make=cup(more=lambda sheet: sheet.merge_range(1, 0, 2, 0, "Ann"))),
    "a cell far below the table": Case(
        "the sheet is too large", path="q.xlsx", make=cup(more=lambda s: s.write(1048575, 999, "x"))
    ),
    "a sheet in other letters": Case(None, path="q.xlsx", make=cup(name="CUP")),
    "a sheet that there is not": Case("The sheets are: Questions, Cup", path="q.xlsx", make=cup(name="Pokal")),
    "a table in Markdown": lines(None, record(table="| Name | Wins |\n|:--|--:|\n| Ann | 3 |")),
    "columns of unequal length": lines("columns are not of one length", record(table={"a": ["x"], "b": []})),
    "a cell that is an object": lines("row 1, column 1 is an object", record(table=[["a"], [{"b": 1}]])),
    "no table": lines("null that is not a table", record(table=None)),
    "JSON nested too deeply": lines(
        "nested too deeply", '{"question": "q", "table": ' + "[" * 10_000 + "]" * 10_000 + "}\n"
    ),
    "a number of 5,000 digits": lines(
        "a number of 5,000 digits", f'{{"question": "q", "table": [["a"], [{"9" * 5000}]]}}\n'
    ),
    "an id as a number and as a text": lines("the id 1 is already in line 1", record(id=1) + record(id="1")),
    "tables as structs of Parquet": Case(
        None, path="q.parquet", make=parquet(question=["who?", "else?"], table=[struct(), struct(title="Cup")])
    ),
    "a text of Parquet in bytes": Case(None, path="q.parquet", make=parquet(question=["wär?".encode()], table=[struct()])),
    "bytes of Parquet that are no text": Case(
        "not a text", path="q.parquet", make=parquet(question=[b"\xff"], table=[struct()])
    ),
    "a name twice in Parquet": Case("two columns have the name 'question'", path="q.parquet", make=two_names),
    "a Parquet file without records": Case(
        "contains no questions", path="q.parquet", make=parquet(question=pyarrow.array([], pyarrow.string()))
    ),
    "an archive in an archive": Case("contains no such file", path="q.zip", make=archive(inner_zip=b"PK\x03\x04")),
    "an archive with two files of questions": Case(
        r"several such files: a\.jsonl, b\.jsonl", path="q.zip", make=archive(a_jsonl=record(), b_jsonl=record())
    ),
}  # fmt: skip


def bring_in(world: World, folder: Path, case: Case) -> example_import.ImportResult:
    """Import the files of a case from a folder."""
    for file, content in case.files.items():
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "elsewhere").mkdir()
    if case.make:
        case.make(folder / case.path)
    return example_import.import_examples(
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
            assert not {"�", "\ufeff"} & {*example.question, *example.external_id}
        return
    with pytest.raises(ActionRefused, match=case.refused) as refused:
        bring_in(world, tmp_path, case)
    assert len(refused.value.detail) > 30
    assert [model.objects.count() for model in (Source, Example, StoredTable)] == before
