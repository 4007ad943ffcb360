"""No import ends without a way: each file is read at once, or its refusal names an option with which it is read."""

from __future__ import annotations

import gzip
import io
import json
import math
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow
import pytest
import xlsxwriter
from pyarrow import feather, parquet

from tableqa.readers.archive import is_archive
from tableqa.readers.ingestion import ReadRequest
from tableqa.readers.preview import ChosenColumns, Preview, preview

Values = tuple[list[str], list[list[str]], list[str]]
"""The header and rows of the table of the first example, and its answers."""
AB: Values = (["a", "b"], [["1", "2"]], ["x"])


def record(**changed: Any) -> dict[str, Any]:
    return {"id": "q7", "question": "Who?", "answers": ["x"], "table": [["a", "b"], ["1", "2"]]} | changed


def lines(*records: Mapping[str, Any]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in records).encode()


def text(table: str) -> bytes:
    return lines(record(table=table))


def archive(**files: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as packed:
            for name, content in files.items():
                packed.writestr(name.replace("__", ".").replace("_", "/"), content)

    return write


def workbook(
    cell: Any = "2", number_format: str = "", result: Any = 0, **sheets: Any
) -> Callable[[Path], None]:
    """A workbook whose table has a cell with a value or a formula and its result; None leaves the result out."""

    def write(path: Path) -> None:
        book = xlsxwriter.Workbook(str(path))
        rows = [["id", "question", "answers", "table"], ["q7", "Who?", "x", "T"]]
        for name, of_sheet in ({"Q": rows} | sheets | {"T": [["a", "b"], ["1"]]}).items():
            sheet = book.add_worksheet(name)
            for at, row in enumerate(of_sheet):
                sheet.write_row(at, 0, row)
        form = book.add_format({"num_format": number_format} if number_format else {})
        if isinstance(cell, str) and cell.startswith("="):
            sheet.write_formula(1, 1, cell, form, result or 8128)
        else:
            sheet.write(1, 1, cell, form)
        book.close()
        if result is None:
            without_results(path)

    return write


def without_results(path: Path) -> None:
    """Write a workbook again without the results of its formulas."""
    with zipfile.ZipFile(path) as before:
        parts = {name: before.read(name).replace(b"<v>8128</v>", b"<v></v>") for name in before.namelist()}
    with zipfile.ZipFile(path, "w") as after:
        for name, part in parts.items():
            after.writestr(name, part)


def merged(path: Path) -> None:
    """A workbook in which two questions share the merged cell of their table."""
    book = xlsxwriter.Workbook(str(path))
    sheet = book.add_worksheet()
    for at, row in enumerate((["id", "question", "answers"], ["q7", "Who?", "x"], ["q8", "When?", "y"])):
        sheet.write_row(at, 0, row)
    sheet.write(0, 3, "table")
    sheet.merge_range(1, 3, 2, 3, "a,b\n1,2")
    book.close()


def two_sheets() -> bytes:
    content = io.BytesIO()
    book = xlsxwriter.Workbook(content)
    book.add_worksheet("Notes").write(0, 0, "checked")
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["a", "b"])
    sheet.write_row(1, 0, ["1", "2"])
    book.close()
    return content.getvalue()


def of_arrow(write: Callable[[Any, Path], None], cell: Any) -> Callable[[Path], None]:
    rows = [{"id": "q7", "question": "Who?", "answers": ["x"], "table": [{"a": "1", "b": cell}]}]
    return lambda path: write(pyarrow.Table.from_pylist(rows), path)


def table_of_parquet(cell: Any) -> bytes:
    content = io.BytesIO()
    parquet.write_table(pyarrow.table({"a": [1], "b": [cell]}), content)
    return content.getvalue()


def dated(cell: str) -> Values:
    return ["a", "b"], [["1", cell]], ["x"]


QUESTIONS = b"id,question,answers,table\nq7,Who?,x,t.csv\n"
TABLE = b"a,b\n1,2\n"
CASES: list[tuple[str, str, bytes | Callable[[Path], None], dict[str, str], Values]] = [
    (
        "a null cell",
        "q.jsonl",
        lines(record(table=[["a", "b"], ["1", None]])),
        {"missing": "empty"},
        (["a", "b"], [["1", ""]], ["x"]),
    ),
    (
        "a null cell of an array",
        "q.json",
        json.dumps([record(table=[["a"], [None]])]).encode(),
        {"missing": "empty"},
        (["a"], [[""]], ["x"]),
    ),
    (
        "a null cell of columns and data",
        "q.jsonl",
        lines(record(table={"columns": ["a", "b"], "data": [[None, 1]]})),
        {"missing": "empty"},
        (["a", "b"], [["", "1"]], ["x"]),
    ),
    ("a null answer in a list", "q.jsonl", lines(record(answers=["x", None])), {"missing": "empty"}, AB),
    (
        "NaN in JSON",
        "q.jsonl",
        b'{"id":"q7","question":"Who?","answers":["x"],"table":[["a","b"],["1",NaN]]}\n',
        {"missing": "empty"},
        (["a", "b"], [["1", ""]], ["x"]),
    ),
    (
        "infinite numbers in JSON",
        "q.json",
        b'[{"id":"q7","question":"Who?","answers":["x"],"table":[["a","b"],["1",-Infinity]],"n":Infinity}]',
        {"numbers": "stored"},
        (["a", "b"], [["1", "-Infinity"]], ["x"]),
    ),
    (
        "an infinite number of Parquet",
        "q.parquet",
        of_arrow(parquet.write_table, math.inf),
        {"numbers": "stored"},
        (["a", "b"], [["1", "inf"]], ["x"]),
    ),
    (
        "null of Parquet",
        "q.parquet",
        of_arrow(parquet.write_table, None),
        {"missing": "empty"},
        (["a", "b"], [["1", ""]], ["x"]),
    ),
    (
        "NaN of Parquet",
        "q.parquet",
        of_arrow(parquet.write_table, math.nan),
        {"missing": "empty"},
        (["a", "b"], [["1", ""]], ["x"]),
    ),
    ("Feather", "q.feather", of_arrow(feather.write_feather, "2"), {}, AB),
    (
        "objects with missing keys",
        "q.jsonl",
        lines(record(table=[{"Year": 2019, "Goals": 4}, {"Goals": 5, "Year": 2020}, {"Year": 2021}])),
        {"missing": "empty"},
        (["Year", "Goals"], [["2019", "4"], ["2020", "5"], ["2021", ""]], ["x"]),
    ),
    (
        "objects with another order of keys",
        "q.jsonl",
        lines(record(table=[{"a": 1, "b": 2}, {"b": 4, "a": 3}])),
        {},
        (["a", "b"], [["1", "2"], ["3", "4"]], ["x"]),
    ),
    (
        "a name twice in an object",
        "q.jsonl",
        b'{"id":"q7","question":"Who?","answers":["x"],"table":[{"a":"1","a":"2"}]}\n',
        {"names": "numbered"},
        (["a", "a#2"], [["1", "2"]], ["x"]),
    ),
    (
        "a column twice",
        "q.csv",
        b'id,question,answers,answers,table\nq7,Who?,x,y,"a,b\n1,2"\n',
        {"names": "numbered"},
        AB,
    ),
    (
        "true and false",
        "q.jsonl",
        lines(record(table=[["a", "b"], [True, False]], answers=[True])),
        {},
        (["a", "b"], [["true", "false"]], ["true"]),
    ),
    (
        "a NUL character and a lone surrogate",
        "q.jsonl",
        lines(record(answers=["x\0", "\ud83d"], note="a\0b", table=[["a", "b\0"], ["1", "2"]])),
        {"characters": "replaced"},
        (["a", "b\ufffd"], [["1", "2"]], ["x\ufffd", "\ufffd"]),
    ),
    (
        "a NUL character in CSV",
        "q.csv",
        QUESTIONS.replace(b"x", b"x\0"),
        {"characters": "replaced"},
        (["a", "b"], [["1", "2"]], ["x\ufffd"]),
    ),
    (
        "an unclosed quote",
        "q.tsv",
        b'id\tquestion\tanswers\ttable\nq7\t"Second" town?\tx\t{"header":["a","b"],"rows":[["1","2"]]}\n',
        {"quotes": "text"},
        AB,
    ),
    (
        "an open quote in the last field",
        "q.csv",
        b'id,question,table,answers\nq7,Who?,t.csv,"x\n',
        {"quotes": "text"},
        (["a", "b"], [["1", "2"]], ['"x']),
    ),
    (
        "backslashes before quotes",
        "q.csv",
        b'id,question,answers,table\nq7,"Who, \\"he\\"?","x","t.csv"\n',
        {"quotes": "backslash"},
        AB,
    ),
    (
        "escapes of jq",
        "q.tsv",
        b'id\tquestion\tanswers\ttable\nq7\tWho?\tx\t{"header": ["a", "b"], "rows": [["1\\\\n", "\\\\"2\\\\""]]}\n',
        {"quotes": "escapes"},
        (["a", "b"], [["1\n", '"2"']], ["x"]),
    ),
    (
        "the signs that Python's csv escapes without quotes",
        "q.csv",
        b'id,question,answers,table\nq7,Who\\, \\"he\\"?,x,a\\,b\\' + b"\n1\\,2\n",
        {"quotes": "escapes"},
        AB,
    ),
    (
        "escaped separators of a table file",
        "q.zip",
        archive(q__csv=QUESTIONS, t__csv=b"a,b\nx\\, y,\\\\n\n"),
        {"quotes": "escapes"},
        (["a", "b"], [["x, y", "\\n"]], ["x"]),
    ),
    (
        "JSON Lines of arrays",
        "q.jsonl",
        b'["id","question","answers","table"]\n\n["q7","Who?",["x"],[["a","b"],["1","2"]]]\n',
        {},
        AB,
    ),
    (
        "records in an array of one object, as DuckDB writes them",
        "q.json",
        json.dumps([{"version": 1, "data": {"rows": [record()]}}]).encode(),
        {},
        AB,
    ),
    (
        "an array of one record with its questions inside",
        "q.json",
        json.dumps(
            [{"table": "t.csv", "qas": [{"id": "q7", "question": "Who?", "answers": ["x"]}]}]
        ).encode(),
        {},
        AB,
    ),
    (
        "a table of Parquet",
        "q.zip",
        archive(q__csv=QUESTIONS.replace(b"t.csv", b"t.parquet"), t__parquet=table_of_parquet("2")),
        {},
        AB,
    ),
    (
        "a null cell of a table of Parquet",
        "q.zip",
        archive(q__csv=QUESTIONS.replace(b"t.csv", b"t.parquet"), t__parquet=table_of_parquet(None)),
        {"missing": "empty"},
        (["a", "b"], [["1", ""]], ["x"]),
    ),
    (
        "titles above an empty line of a table file",
        "q.zip",
        archive(q__csv=QUESTIONS, t__csv=b"Medals, by year\n\na,b,c\n1,2,3\n"),
        {},
        (["a", "b", "c"], [["1", "2", "3"]], ["x"]),
    ),
    (
        "dates as Python prints them",
        "q.jsonl",
        lines(
            record(
                answers="[datetime.date(2024, 5, 1)]",
                table="[['a', 'b'], [datetime.datetime(2024, 5, 1, 12, 30), datetime.time(9, 5)]]",
            )
        ),
        {},
        (["a", "b"], [["2024-05-01 12:30:00", "09:05:00"]], ["2024-05-01"]),
    ),
    (
        "objects as DuckDB prints them",
        "q.csv",
        b"""id,question,answers,table
q7,Who?,x,"{'header': [a, b c], 'rows': [[007, 'x, \\'y\\''], [2024-05-01 12:30:00, '[z]']]}"\n""",
        {},
        (["a", "b c"], [["007", "x, 'y'"], ["2024-05-01 12:30:00", "[z]"]], ["x"]),
    ),
    (
        "null in an object of DuckDB",
        "q.jsonl",
        text("[{'a': Ann, 'b': NULL}, {'a': 1.50, 'b': true}]"),
        {"missing": "empty"},
        (["a", "b"], [["Ann", ""], ["1.50", "true"]], ["x"]),
    ),
    ("comment lines above the header", "q.csv", b"# round 2, of May\n# by Ann\n" + QUESTIONS, {}, AB),
    (
        "row names of R",
        "q.tsv",
        b'"id"\t"question"\t"answers"\t"table"\n"1"\t"q7"\t"Who?"\t"x"\t"t.csv"\n',
        {},
        AB,
    ),
    (
        "row names of R with commas",
        "q.csv",
        b'"id","question","answers","table"\n"3","q7","Who, then?","x","t.csv"\n',
        {},
        AB,
    ),
    ("a separator at the end of each row", "q.csv", QUESTIONS.replace(b"t.csv\n", b"t.csv,\n"), {}, AB),
    (
        "a table file with row names of R",
        "q.zip",
        archive(q__csv=QUESTIONS, t__csv=b'"a","b"\n"5",1,"x"\n"7",2,"y"\n'),
        {},
        (["", "a", "b"], [["5", "1", "x"], ["7", "2", "y"]], ["x"]),
    ),
    (
        "a table file with a separator at the end of each row",
        "q.zip",
        archive(q__csv=QUESTIONS, t__csv=b"a,b\n1,2,\n"),
        {},
        (["a", "b", ""], [["1", "2", ""]], ["x"]),
    ),
    ("a path from here", "q.csv", QUESTIONS.replace(b"t.csv", b"./t.csv"), {}, AB),
    (
        "lists of one text, as R writes them",
        "q.json",
        json.dumps([record(id=["q7"], question=["Who?"], table=["t.csv"])]).encode(),
        {},
        AB,
    ),
    (
        "a table of Markdown",
        "q.md",
        b"# Round 2\n\n| id | question | answers | table |\n|:---|:---|---:|---|\n| q7 | Who \\| what? | x | t.csv |\n",
        {},
        AB,
    ),
    (
        "table files with several sheets",
        "q.zip",
        archive(q__csv=QUESTIONS.replace(b"t.csv", b"t.xlsx"), t__xlsx=two_sheets()),
        {"sheets": "largest"},
        AB,
    ),
    ("currency", "q.xlsx", workbook(99.95, "$#,##0.00"), {}, (["a", "b"], [["1", "$99.95"]], ["x"])),
    ("leading zeros of a format", "q.xlsx", workbook(7, "000"), {}, (["a", "b"], [["1", "007"]], ["x"])),
    (
        "an unknown number format",
        "q.xlsx",
        workbook(0.5, "# ?/?"),
        {"numbers": "stored"},
        (["a", "b"], [["1", "0.5"]], ["x"]),
    ),
    *(
        (
            f"no date of Excel: {number} as {code}",
            "q.xlsx",
            workbook(number, code),
            {"numbers": "stored"},
            (["a", "b"], [["1", str(number)]], ["x"]),
        )
        for number, code in [
            (60, "yyyy-mm-dd"),
            (60.5, "d mmm yyyy hh:mm"),
            (60, "dd"),
            (0, "m/d/yy"),
            (-5, "h:mm"),
        ]
    ),
    ("the day before 29 February 1900", "q.xlsx", workbook(59, "yyyy-mm-dd"), {}, dated("1900-02-28")),
    ("the day after 29 February 1900", "q.xlsx", workbook(61, "yyyy-mm-dd"), {}, dated("1900-03-01")),
    ("a time of midnight", "q.xlsx", workbook(0, "h:mm"), {}, dated("00:00")),
    ("a duration", "q.xlsx", workbook(2.5, "[h]:mm"), {}, dated("60:00")),
    (
        "a formula without a result",
        "q.xlsx",
        workbook("=1+1", result=None),
        {"missing": "empty"},
        (["a", "b"], [["1", ""]], ["x"]),
    ),
    (
        "an error in a cell",
        "q.xlsx",
        workbook("=NA()", result="#N/A"),
        {"missing": "empty"},
        (["a", "b"], [["1", ""]], ["x"]),
    ),
    (
        "two sheets with questions",
        "q.xlsx",
        workbook(Other=[["id", "question", "table"], ["p", "When?", "T"]]),
        {"questions": "Q"},
        AB,
    ),
    (
        "two files of questions",
        "q.zip",
        archive(q__csv=QUESTIONS, r__csv=QUESTIONS, t__csv=TABLE),
        {"questions": "q.csv"},
        AB,
    ),
    (
        "all files of questions",
        "q.zip",
        archive(q__csv=QUESTIONS, r__csv=QUESTIONS.replace(b"q7", b"q8"), t__csv=TABLE),
        {"questions": "*"},
        AB,
    ),
    (
        "all sheets with questions",
        "q.xlsx",
        workbook(Other=[["id", "question", "table"], ["p", "When?", "T"]]),
        {"questions": "*"},
        AB,
    ),
    (
        "an archive whose columns are not known",
        "q.zip",
        archive(q__csv=b"Nr,Was,Ja,T\n1,Wer?,x,t\n", tables_t__txt=TABLE),
        {},
        ([], [], []),
    ),
    ("gzip", "q.jsonl.gz", gzip.compress(lines(record())), {}, AB),
    ("gzip of CSV with a table beside it", "q.csv.gz", gzip.compress(QUESTIONS), {}, AB),
    (
        "JSON in Windows-1252",
        "q.jsonl",
        json.dumps(record(answers=["Zoë Müller für Ärzte"]), ensure_ascii=False).encode("cp1252"),
        {},
        (["a", "b"], [["1", "2"]], ["Zoë Müller für Ärzte"]),
    ),
    ("JSON in UTF-16", "q.json", json.dumps([record()]).encode("utf-16"), {}, AB),
    (
        "UTF-8 with damaged bytes",
        "q.csv",
        "id,question,answers,table\nq7,Für Zoë?,ü".encode() + b"\xfc,t.csv\n",
        {"characters": "replaced"},
        (["a", "b"], [["1", "2"]], ["ü\ufffd"]),
    ),
    (
        "JSON with damaged bytes",
        "q.jsonl",
        lines(record(answers=["ü?"])).replace(b"\\u00fc?", "üß".encode() + b"\xfc"),
        {"characters": "replaced"},
        (["a", "b"], [["1", "2"]], ["üß\ufffd"]),
    ),
    ("two separators that fit", "q.csv", b"a;b,c;d\n1;2,3;4\n", {"separator": ","}, ([], [], [])),
    (
        "text from a spreadsheet in a cell",
        "q.jsonl",
        text("a\tb, c\n1\t2, 3\n"),
        {},
        (["a", "b, c"], [["1", "2, 3"]], ["x"]),
    ),
    (
        "semicolons in a cell",
        "q.csv",
        b'id;question;answers;table\nq7;"Which; town ""has"" more?";x;"a;b\n1;2,5"\n',
        {},
        (["a", "b"], [["1", "2,5"]], ["x"]),
    ),
    (
        "a nested path",
        "q.jsonl",
        lines(
            {"id": "q7", "question": "Who?", "answers": ["x"], "payload": {"grid": [["a", "b"], ["1", "2"]]}}
        ),
        {"table": "payload.grid"},
        AB,
    ),
    (
        "an object with the answers in it",
        "q.jsonl",
        lines(record(answers={"value": "x", "aliases": ["y"]})),
        {"answers": "answers.value"},
        AB,
    ),
    (
        "an object with the table in it",
        "q.jsonl",
        lines(record(table={"uid": "t1", "table": [["a", "b"], ["1", "2"]]})),
        {"table": "table.table"},
        AB,
    ),
    (
        "columns and data of pandas",
        "q.json",
        json.dumps(
            {
                "columns": ["id", "question", "answers", "table"],
                "index": [0],
                "data": [["q7", "Who?", "x", [["a", "b"], ["1", "2"]]]],
            }
        ).encode(),
        {},
        AB,
    ),
    (
        "a list for each column",
        "q.json",
        json.dumps(
            {"id": ["q7"], "question": ["Who?"], "answers": ["x"], "table": [[["a", "b"], ["1", "2"]]]}
        ).encode(),
        {},
        AB,
    ),
    (
        "titles above the header of a text file",
        "q.csv",
        b'Made by a program, in May\nVersion 2\nid,question,answers,table\nq7,Who?,x,"[[""a"", ""b""], [""1"", ""2""]]"\n',
        {},
        AB,
    ),
    (
        "a page with a table of questions",
        "q.html",
        b"<table><tr><th>id</th><th>question</th><th>answers</th><th>table</th></tr><tr><td>q7</td><td>Who?</td><td>x</td><td>t.csv</td></tr></table>",
        {},
        AB,
    ),
    (
        "rows of sqlite3",
        "q.html",
        b"<TR><TH>id</TH>\n<TH>question</TH>\n<TH>answers</TH>\n<TH>table</TH>\n</TR>\n<TR><TD>q7</TD>\n<TD>Who?</TD>\n<TD>x</TD>\n<TD>a,b\n1,2\n</TD>\n</TR>\n",
        {},
        AB,
    ),
    (
        "one row per answer",
        "q.csv",
        QUESTIONS + b"q7,Who?,y,t.csv\n",
        {"rows": "answers"},
        (["a", "b"], [["1", "2"]], ["x", "y"]),
    ),
    ("an id twice", "q.csv", QUESTIONS + b"q7,When?,y,t.csv\n", {"id": ""}, AB),
]


def shown(path: Path, options: Mapping[str, str]) -> Preview:
    return preview(request(path, options))


def test_questions_that_share_a_merged_cell_each_have_its_text(tmp_path: Path) -> None:
    path = tmp_path / "q.xlsx"
    merged(path)

    (problem,) = shown(path, {}).problems
    first = shown(path, {"merged": "filled"})

    assert list(problem.ways["merged"]) == ["filled"]
    assert [(each.id, each.table.rows) for each in first.examples] == [
        ("q7", (("1", "2"),)),
        ("q8", (("1", "2"),)),
    ]


def request(path: Path, options: Mapping[str, str]) -> ReadRequest:
    parts = {name: value for name, value in options.items() if name in ("id", "answers", "table")}
    chosen = ChosenColumns(parts, {name: value for name, value in options.items() if name not in parts})
    archives = {str(path): str(path.parent / "unpacked")} if is_archive(path) else {}
    rows = str(path.parent / "rows.jsonl")
    return ReadRequest("own", str(path), rows, archives=archives, chosen=asdict(chosen), by_command=True)


@pytest.mark.parametrize(
    ("name", "content", "way", "values"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_file_is_read_at_once_or_with_the_option_that_its_refusal_names(
    tmp_path: Path, name: str, content: Any, way: dict[str, str], values: Values
) -> None:
    path = tmp_path / name
    (tmp_path / "t.csv").write_bytes(TABLE)
    content(path) if callable(content) else path.write_bytes(content)

    first = shown(path, {})

    if way and "table" not in way:
        (problem, *_) = first.problems
        ((option, value),) = way.items()
        assert value in problem.ways[option]
        assert f"--field {option}=" in problem.fix or option in ("separator", "encoding")
        first = shown(path, way)
    elif way:
        assert way["table"] in first.problems[0].fix
        assert way["table"] in first.layout.columns
        first = shown(path, way)
    if not values[0]:
        assert "no column is known as the question" in first.problems[0].what
        return
    assert not first.problems
    assert len(first.examples) == (2 if "*" in way.values() or way == {"id": ""} else 1)
    example = first.examples[0]
    assert (
        list(example.table.header),
        [list(row) for row in example.table.rows],
        list(example.answers),
    ) == values
