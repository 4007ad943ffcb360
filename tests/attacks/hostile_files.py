"""Hostile files: those with which people stopped the site or met internal errors, and mutations of good ones.

Each is made by code, so that none is in the repository, and each drawn by a seed is the same for everybody.
"""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.attacks.structured import mutated_file

TABLE: dict[str, Any] = {"header": ["Name", "Wins"], "rows": [["Ann", "3"], ["Bob", "4"]]}
RECORDS: list[dict[str, Any]] = [
    {
        "id": f"q{n}",
        "question": f"Who won in year {n}?",
        "answers": ["Bob"],
        "table": TABLE,
        "level": f"l{n}",
        "share": n / 4,
    }
    for n in range(1, 6)
]
SHEET = "".join(f"{n},Who won in year {n}?,cup.csv,Bob,l{n}\n" for n in range(1, 6))
QUESTIONS = f"id,question,table,answers,level\n{SHEET}"
CARD = """---
license: cc-by-4.0
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train-*.parquet
---
# Cups
"""
PAGE = """<html><body><table><tr><th>Name</th><th>Wins</th></tr><tr><td>Ann</td><td>3</td></tr>
<tr><td rowspan=2>Bob</td><td>4</td></tr><tr><td>5</td></tr></table></body></html>"""


@dataclass(frozen=True)
class HostileFile:
    """A file as it is sent: its name ends as people name such files; `kind` says how it was made."""

    kind: str
    name: str
    data: bytes


def hostile_files(number: int, seed: int) -> list[HostileFile]:
    """So many files: first those that were found, then mutations, in turn of each good file."""
    rng = random.Random(f"hostile:{seed}")
    files = [HostileFile(kind, name, make()) for kind, (name, make) in FOUND.items()][:number]
    good = [(name, make()) for name, make in GOOD.items()]
    for at in range(number - len(files)):
        name, data = good[at % len(good)]
        files.append(HostileFile(f"mutated {name}", name, mutated_file(name, data, rng)))
    return [HostileFile(one.kind, f"f{at:03}-{one.name}", one.data) for at, one in enumerate(files)]


# -- good files ---------------------------------------------------------------------------------------


def zipped(members: dict[str, bytes | str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def lines(*records: dict[str, Any]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def workbook(change: Callable[[Any], None] = lambda sheet: None) -> bytes:
    import xlsxwriter

    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    questions, cup, old = (book.add_worksheet(name) for name in ("Questions", "Cup", "Old"))
    for at, row in enumerate(line.split(",") for line in QUESTIONS.replace("cup.csv", "Cup").splitlines()):
        questions.write_row(at, 0, row)
    cup.write_row(0, 0, ["Name", "Wins", "Share", "Day"])
    for at, name in enumerate(("Ann", "Bob", "Cy"), start=1):
        cup.write_row(at, 0, [name, at + 2])
        cup.write(at, 2, at / 8, book.add_format({"num_format": "0.0%"}))
        cup.write(at, 3, 45_000 + at, book.add_format({"num_format": "yyyy-mm-dd"}))
    cup.merge_range(4, 0, 5, 0, "Di")
    cup.set_row(2, None, None, {"hidden": True})
    old.write_row(0, 0, ["question", "table"])
    old.hide()
    change(cup)
    book.close()
    return out.getvalue()


def parquet(records: list[dict[str, Any]], **options: Any) -> bytes:
    import pyarrow
    from pyarrow import parquet as writer

    out = io.BytesIO()
    writer.write_table(pyarrow.Table.from_pylist(records), out, **options)
    return out.getvalue()


def arrow(table: Any, compression: str | None = None) -> bytes:
    import pyarrow

    out = io.BytesIO()
    options = pyarrow.ipc.IpcWriteOptions(compression=compression)
    with pyarrow.ipc.new_stream(out, table.schema, options=options) as stream:
        stream.write_table(table)
    return out.getvalue()


def saved_to_disk(file: bytes) -> bytes:
    """A folder as `datasets.Dataset.save_to_disk` writes it, as an archive."""
    name = "data-00000-of-00001.arrow"
    state = {"_data_files": [{"filename": name}], "_fingerprint": "x", "_split": "train"}
    return zipped({"dataset_info.json": "{}", "state.json": json.dumps(state), name: file})


def _arrow_records() -> bytes:
    import pyarrow

    return arrow(pyarrow.Table.from_pylist(RECORDS))


GOOD: dict[str, Callable[[], bytes]] = {
    "q.xlsx": workbook,
    "q.parquet": lambda: parquet(RECORDS),
    "saved.zip": lambda: saved_to_disk(_arrow_records()),
    "hub.zip": lambda: zipped({"README.md": CARD, "data/train-0.parquet": parquet(RECORDS)}),
    "tables.zip": lambda: zipped({"q.csv": QUESTIONS, "cup.csv": "Name,Wins\nAnn,3\nBob,4\n"}),
    "q.json": lambda: b"[\n" + b",\n".join(lines(*RECORDS).splitlines()) + b"\n]\n",
    "q.jsonl": lambda: lines(*RECORDS),
    "q.csv": lambda: QUESTIONS.replace("cup.csv", '"Name,Wins\nAnn,3\nBob,4"').encode(),
    "pages.zip": lambda: zipped({"q.csv": QUESTIONS.replace("cup.csv", "cup.html"), "cup.html": PAGE}),
}
"""Good files by their names: one of each kind that is mutated."""


# -- files that were found ----------------------------------------------------------------------------


def with_sheet(xml: str) -> Callable[[], bytes]:
    """A workbook whose sheet of questions is this text."""

    def make() -> bytes:
        with zipfile.ZipFile(io.BytesIO(workbook())) as archive:
            members: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
        return zipped(members | {"xl/worksheets/sheet1.xml": xml})

    return make


SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
FAR = f'<worksheet {SPACE}><sheetData><row r="1048576"><c r="XFD1048576" t="str"><v>x</v></c></row></sheetData></worksheet>'
ENTITY = """<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
<worksheet><sheetData><row r="1"><c r="A1" t="str"><v>&b;</v></c></row></sheetData></worksheet>"""


def with_page(page: str) -> Callable[[], bytes]:
    """Questions on a table that is this page."""
    return lambda: zipped({"q.csv": QUESTIONS.replace("cup.csv", "cup.html"), "cup.html": page})


def unclosed(part: str, times: int = 20_000) -> Callable[[], bytes]:
    head = f'<?xml version="1.0"?><worksheet {SPACE}><sheetData><row r="1">'
    return with_sheet(head + part * times)


def aliases(levels: int, key: str) -> Callable[[], bytes]:
    """A dataset card whose aliases become much text."""
    text = "a0: &a0 [x, x, x, x, x, x, x, x]\n"
    text += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]\n" for n in range(1, levels))
    last = f"*a{levels - 1}"
    value = last if key == "license" else f"[{{config_name: {last}}}]"
    card = f"---\n{text}{key}: {value}\n---\n"
    return lambda: zipped({"README.md": card, "train.csv": QUESTIONS, "cup.csv": "Name,Wins\nAnn,3\n"})


def records(**change: Any) -> Callable[[], bytes]:
    """Five good records, the third with a change."""
    return lambda: lines(*RECORDS[:2], {**RECORDS[2], **change}, *RECORDS[3:])


def equal_rows(number: int) -> bytes:
    """Very many equal records in a few bytes."""
    import pyarrow
    from pyarrow import parquet as writer

    columns = {"question": ["who?"], "answers": ["Bob"], "table": ["Name\nAnn"]}
    once = pyarrow.table({name: pyarrow.array(value).dictionary_encode() for name, value in columns.items()})
    table = once.take(pyarrow.array([0]).take(pyarrow.array([0] * number)))
    out = io.BytesIO()
    writer.write_table(table, out, compression="zstd", row_group_size=number)
    return out.getvalue()


def compressed_buffers(size: int = 2**29) -> bytes:
    """Arrow whose compressed buffer of one text has so many bytes."""
    import pyarrow

    columns = {"question": ["who?" + " " * size], "answers": ["Bob"], "table": ["Name\nAnn"]}
    return arrow(pyarrow.table(columns), "zstd")


def shared_strings() -> bytes:
    """A workbook of many cells that show one long shared text."""
    with zipfile.ZipFile(io.BytesIO(workbook())) as archive:
        members: dict[str, bytes | str] = {name: archive.read(name) for name in archive.namelist()}
    text = "question" + "x" * 1_000_000
    cells = "".join(f'<row r="{at}"><c r="A{at}" t="s"><v>0</v></c></row>' for at in range(1, 200_001))
    members["xl/sharedStrings.xml"] = f'<sst {SPACE} count="1" uniqueCount="1"><si><t>{text}</t></si></sst>'
    members["xl/worksheets/sheet1.xml"] = f"<worksheet {SPACE}><sheetData>{cells}</sheetData></worksheet>"
    return zipped(members)


def nested_bomb() -> bytes:
    """An archive of an archive of zeros."""
    inner = zipped({f"{n}.csv": b"0" * 2**24 for n in range(24)})
    return zipped({"q.csv": QUESTIONS, **{f"{n}.zip": inner for n in range(8)}})


FOUND: dict[str, tuple[str, Callable[[], bytes]]] = {
    "cells that are not closed": ("c.xlsx", unclosed('<c r="A1">')),
    "values that are not closed": ("v.xlsx", unclosed("<v>")),
    "formulas that are not closed": ("f.xlsx", unclosed("<f>")),
    "rows that are not closed": ("r.xlsx", unclosed("<row ")),
    "begun cells": ("b.xlsx", unclosed("<c ")),
    "a far cell": ("far.xlsx", with_sheet(FAR)),
    "an entity in a workbook": ("e.xlsx", with_sheet(ENTITY)),
    "one long shared text in many cells": ("shared.xlsx", shared_strings),
    "aliases as a licence": ("l8.zip", aliases(8, "license")),
    "more aliases as a licence": ("l9.zip", aliases(9, "license")),
    "aliases as the name of a configuration": ("n9.zip", aliases(9, "configs")),
    "three million equal records": ("equal.parquet", lambda: equal_rows(3_000_000)),
    "a text of half a gigabyte in a compressed buffer": (
        "buffer.zip",
        lambda: saved_to_disk(compressed_buffers()),
    ),
    "a surrogate in a question": ("sq.jsonl", records(question="who \ud83d?")),
    "a surrogate in a key": ("sk.jsonl", records(**{"ke\ud83dy": 1})),
    "a surrogate in a header": ("sh.jsonl", records(table={"header": ["Na\ud83dme"], "rows": [["Ann"]]})),
    "a surrogate in a split": ("ss.jsonl", records(split="tr\ud83dain")),
    "a NUL in another column": ("nul.jsonl", records(note="a\0b")),
    "NaN in another column": ("nan.jsonl", lambda: lines(*RECORDS).replace(b'"l3"', b"NaN")),
    "infinity in another column": ("inf.jsonl", lambda: lines(*RECORDS).replace(b'"l3"', b"1e999")),
    "a million digits": ("digits.jsonl", lambda: lines(*RECORDS).replace(b'"l3"', b"9" * 10**6)),
    "depth 200,000": ("deep.json", lambda: b"[" * 200_000),
    "deep objects": ("deep.jsonl", lambda: b'{"a":' * 200_000),
    "a table of null": (
        "null.jsonl",
        lambda: lines(
            {"question": "q?", "answer": "x", "table": {"columns": ["a", "b"], "data": [[None, 1], ["x", 2]]}}
        ),
    ),
    "rows of different objects": (
        "rows.jsonl",
        records(table=[{"Year": 2019, "Goals": 4}, {"Goals": 5, "Year": 2020}, {"Year": 2021}]),
    ),
    "answers as SQuAD has them": (
        "squad.jsonl",
        records(answers={"text": ["Ann", "Ann B."], "answer_start": [4, 0]}),
    ),
    "answers in brackets": (
        "bracket.csv",
        lambda: (
            b'id,question,answers,table\n1,Which note?,[1],"Note\n[1]\n[2]"\n2,Which?,"[a]","Note\n[a]\n[2]"\n'
        ),
    ),
    "semicolons and quotes": (
        "semi.csv",
        lambda: (
            b'id;question;answers;table\n1;"Which; town ""has"" more?";Bexley;"Town;People\nArlen;5\nBexley;7"\n'
        ),
    ),
    "a quote that opens a field": (
        "quote.tsv",
        lambda: (
            b'id\tquestion\tanswers\ttable\n1\t"Second" town?\tBexley\t{"header":["Town"],"rows":[["Bexley"]]}\n'
        ),
    ),
    "NaN in cells of Parquet": (
        "nan.parquet",
        lambda: parquet([{**RECORDS[0], "table": {"header": ["a"], "rows": [[float("nan")], [1.0], [0.1]]}}]),
    ),
    "a member that leads out": ("out.zip", lambda: zipped({"q.csv": QUESTIONS, "../cup.csv": "a\nb\n"})),
    "a path that leads out": (
        "path.csv",
        lambda: QUESTIONS.replace("cup.csv", "../../../etc/passwd").encode(),
    ),
    "a saved dataset that leads out": (
        "leads.zip",
        lambda: zipped(
            {
                "state.json": json.dumps({"_data_files": [{"filename": "../../../etc/passwd"}]}),
                "dataset_info.json": "{}",
            }
        ),
    ),
    "a card that leads out": (
        "card.zip",
        lambda: zipped(
            {"README.md": CARD.replace("data/train-*.parquet", "../../../../etc/*"), "q.csv": QUESTIONS}
        ),
    ),
    "an object of Python": (
        "p.zip",
        lambda: zipped(
            {
                "README.md": CARD.replace("cc-by-4.0", "!!python/object/apply:os.system ['id']"),
                "q.csv": QUESTIONS,
            }
        ),
    ),
    "a pickle": ("pickle.json", lambda: b"\x80\x04cposix\nsystem\n(S'id'\ntR."),
    "a nested archive bomb": ("bomb.zip", nested_bomb),
    "an empty archive": ("empty.zip", lambda: zipped({})),
    "a page that is not closed": ("unclosed.zip", with_page("<table>" + "<tr><td>" * 50_000)),
    "nested tables": ("nested.zip", with_page("<table><tr><td>" * 3_000)),
    "wide spans": ("spans.zip", with_page("<table><tr><td rowspan=65534 colspan=1000>x</td></tr></table>")),
}
"""By what they are: the name that each is sent under, and how it is made."""


def each_kind(number: int, seed: int) -> Iterator[HostileFile]:
    """A few files of different kinds, for a test."""
    rng = random.Random(f"few:{seed}")
    names = [
        "cells that are not closed",
        "more aliases as a licence",
        "a surrogate in a key",
        "three million equal records",
    ]
    for at, kind in enumerate(names):
        name, make = FOUND[kind]
        yield HostileFile(kind, f"f{at:03}-{name}", make())
    good = [(name, make()) for name, make in GOOD.items()]
    for at in range(number - len(names)):
        name, data = good[at % len(good)]
        yield HostileFile(f"mutated {name}", f"m{at:03}-{name}", mutated_file(name, data, rng))
