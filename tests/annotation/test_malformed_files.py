"""Files that are cut off, wrongly encoded, ragged, of the wrong type, or that point out of their folder: refused whole.

One small good file of every form is imported; then each of its faults, alone. What is said names the file and, where a
fault is in a line, the line; nothing is left in the database.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from annotation.imports import example_import
from annotation.models import Example, Source, StoredTable
from annotation.platform.refusals import ActionRefused
from tableqa import Table
from tableqa.core.canonical_json import canonical
from tableqa.readers import READERS, ReaderError
from tableqa.writers import robut
from tests.annotation.cast import NOON, World

TABLE: dict[str, Any] = {"header": ["Name", "Wins"], "rows": [["Ann", "3"], ["Bob", "4"]]}
NOT_UTF8 = "\udcff"
"""Stands for a byte that is not UTF-8: files are written with surrogateescape."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in a file: `old` is replaced by `new`, or the file ends before `old` where `new` is None."""

    name: str
    file: str
    old: str
    new: str | None
    line: int | None
    again: Callable[[Path], None] | None = None


@dataclass(frozen=True)
class Form:
    """A good file of a form with what lies beside it, and its faults."""

    path: str
    files: dict[str, str]
    faults: list[Fault] = field(default_factory=list)


def jsonl(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def array(*records: Any) -> str:
    """One record a line, between brackets on lines of their own."""
    return "[\n" + ",\n".join(json.dumps(record) for record in records) + "\n]\n"


def two(**record: Any) -> list[dict[str, Any]]:
    """A record and another one like it; what is called "ID" in the first is "ID2" in the second."""
    text = json.dumps(record)
    return [json.loads(text), json.loads(text.replace('"ID"', '"ID2"'))]


ITEMS = two(id="ID", question="who?", answers=["Ann"], table=TABLE)
ROBUT = two(
    id="ID", question="who?", answers="['Ann']", table=TABLE, perturbation_type="row", original_id="o"
)
ASKED = two(id="ID", question="who?", answers=["Ann"], table_id="t", perturbation_type="row", original_id="o")
FETA = two(
    feta_id="ID",
    question="who?",
    answer="Ann.",
    table_array=[["Name"], ["Ann"]],
    highlighted_cell_ids=[[1, 0]],
)
SUMMED = two(example_id="ID", query="who?", summary="Ann.", table={**TABLE, "title": "Cup"})
RATED = two(example_id="ID", model="a", model_output="Ann.", question="who?", table=TABLE)
LABELLED: list[dict[str, Any]] = [
    {"id": n, "data": {"question": "who?", "table": TABLE, "answer": "Ann"}, "annotations": []}
    for n in (1, 2)
]
TAT: list[dict[str, Any]] = [
    {
        "table": {"uid": f"t{n}", "table": [["Name"], ["Ann"]]},
        "paragraphs": [],
        "questions": [{"uid": f"q{n}", "order": 1, "question": "who?", "answer": ["Ann"], "scale": ""}],
    }
    for n in (1, 2)
]
SUC: list[dict[str, Any]] = [
    {"title": "", "context": "", "table": {**TABLE, "caption": ""}, "query": "who?", "label": ["Ann"]}
] * 2
SQL: list[dict[str, Any]] = [
    {"phase": 1, "table_id": "t", "question": f"who {n}?", "sql": {"sel": 0, "agg": 0, "conds": []}}
    for n in (1, 2)
]
FACTS = '{\n"t.csv": [["Ann won 3."], [1], "Cup"],\n"u.csv": [["Bob won."], [0], "Cup"]\n}\n'
WTQ = "id\tutterance\tcontext\ttargetValue\nnt-1\twho?\tcsv/t.csv\tAnn\nnt-2\twho else?\tcsv/t.csv\tBob\n"
DIALOGUE = (
    "id\tannotator\tposition\tquestion\ttable_file\tanswer_coordinates\tanswer_text\n"
    "nt-1\t0\t0\twho?\ttable_csv/t.csv\t['(0, 0)']\t['Ann']\n"
    "nt-1\t0\t1\twho else?\ttable_csv/t.csv\t['(1, 0)']\t['Bob']\n"
)
SHEET = "id,question,table,answers\n1,who?,t.csv,Ann\n2,who else?,t.csv,Bob\n"
QUOTED = '"Name","Wins"\n"Ann","3"\n"Bob","4"\n'
PLAIN = "Name,Wins\nAnn,3\nBob,4\n"


def replaced(records: list[dict[str, Any]], **change: Any) -> str:
    """The second record as JSON, with other values for some of its fields."""
    return json.dumps({**records[1], **change})


def faults(
    file: str, records: list[dict[str, Any]], first_line: int, **changes: dict[str, Any]
) -> list[Fault]:
    """Faults of the second of two records, which stand a line each: cut off, not UTF-8, and the changes by their names."""
    second = json.dumps(records[1])
    line = first_line + 1
    half = second[len(second) // 2 :]
    found = [
        Fault("truncated", file, "@half", half, line),
        Fault("wrong encoding", file, second, second.replace("who", f"w{NOT_UTF8}o"), line),
    ]
    return found + [
        Fault(name, file, second, replaced(records, **change), line) for name, change in changes.items()
    ]


RAGGED = {"header": ["Name", "Wins"], "rows": [["Ann"]]}
FORMS: dict[str, Form] = {
    "freb_tqa": Form(
        "dev.json",
        {"dev.json": jsonl(*ITEMS)},
        faults(
            "dev.json",
            ITEMS,
            1,
            ragged={"table": RAGGED},
            wrong_type={"answers": "Ann"},
            no_cell={"rel_cell": [0]},
        ),
    ),
    "robut": Form(
        "dev.json",
        {"dev.json": jsonl(*ROBUT)},
        faults(
            "dev.json",
            ROBUT,
            1,
            ragged={"table": RAGGED},
            wrong_type={"answers": "Ann"},
            no_list={"answers": "['A'"},
        ),
    ),
    "robut beside": Form(
        "dev_qa.json",
        {"dev_qa.json": array(*ASKED), "dev_table.json": '{\n"t":\n' + json.dumps(TABLE) + "\n}\n"},
        [
            *faults("dev_qa.json", ASKED, 2, unknown_table={"table_id": "../t"}),
            Fault("truncated tables", "dev_table.json", "\n}\n", None, 3),
            Fault("ragged tables", "dev_table.json", '["Bob", "4"]', '["Bob"]', 3),
            Fault("a table twice", "dev_table.json", "\n}\n", ',\n"t": {}}\n', 4),
        ],
    ),
    "fetaqa": Form(
        "dev.jsonl",
        {"dev.jsonl": jsonl(*FETA)},
        faults(
            "dev.jsonl",
            FETA,
            1,
            ragged={"table_array": [["Name"], ["Ann", "3"]]},
            duplicate_id={"feta_id": "ID"},
            wrong_type={"answer": 3},
            outside={"highlighted_cell_ids": [[9, 9]]},
        ),
    ),
    "qtsumm": Form(
        "dev.json",
        {"dev.json": array(*SUMMED)},
        faults(
            "dev.json",
            SUMMED,
            2,
            ragged={"table": RAGGED},
            duplicate_id={"example_id": "ID"},
            wrong_type={"summary": 1},
        ),
    ),
    "lftqa": Form(
        "model_outputs.json",
        {
            "model_outputs.json": array(*RATED),
            "human_scores/human_faithfulness_scores.json": array(
                {"example_id": "ID", "model": "a", "score": 4}
            ),
        },
        [
            *faults(
                "model_outputs.json",
                RATED,
                2,
                ragged={"table": RAGGED},
                duplicate_id={"example_id": "ID"},
                wrong_type={"model_output": 1},
            ),
            Fault("a score of six", "human_scores/human_faithfulness_scores.json", "4}", "6}", 2),
        ],
    ),
    "tat_qa": Form(
        "dev.json",
        {"dev.json": array(*TAT)},
        [
            Fault("truncated", "dev.json", "@half", json.dumps(TAT[1])[40:], 3),
            Fault("wrong encoding", "dev.json", '"t2"', f'"{NOT_UTF8}"', 3),
            Fault(
                "ragged",
                "dev.json",
                json.dumps(TAT[1]),
                json.dumps(TAT[1]).replace('["Ann"]]', '["A", "B"]]'),
                3,
            ),
            Fault("duplicate id", "dev.json", '"q2"', '"q1"', 3),
            Fault(
                "wrong type",
                "dev.json",
                json.dumps(TAT[1]),
                json.dumps(TAT[1]).replace('"answer": ["Ann"]', '"answer": {}'),
                3,
            ),
        ],
    ),
    "suc": Form(
        "dev.jsonl",
        {"dev.jsonl": jsonl({**SUC[0], "id": "ID"}, {**SUC[1], "id": "ID2"})},
        faults(
            "dev.jsonl",
            [{**SUC[0], "id": "ID"}, {**SUC[1], "id": "ID2"}],
            1,
            ragged={"table": {**RAGGED, "caption": ""}},
            duplicate_id={"id": "ID"},
            wrong_type={"label": {}},
        ),
    ),
    "jsonl": Form(
        "dev.jsonl",
        {"dev.jsonl": jsonl(*ITEMS)},
        faults(
            "dev.jsonl",
            ITEMS,
            1,
            ragged={"table": RAGGED},
            duplicate_id={"id": "ID"},
            wrong_type={"answers": "A"},
        ),
    ),
    "label_studio": Form(
        "dev.json",
        {"dev.json": array(*LABELLED)},
        faults(
            "dev.json",
            LABELLED,
            2,
            ragged={"data": {**LABELLED[1]["data"], "table": RAGGED}},
            wrong_type={"data": {**LABELLED[1]["data"], "table": 3}},
            no_question={"data": {"table": TABLE}},
            no_csv={"data": {**LABELLED[1]["data"], "table": 'a,"b'}},
        ),
    ),
    "wikisql": Form(
        "dev.jsonl",
        {"dev.jsonl": jsonl(*SQL), "dev.tables.jsonl": jsonl({"id": "t", **TABLE})},
        [
            *faults(
                "dev.jsonl",
                SQL,
                1,
                wrong_type={"sql": []},
                outside={"table_id": "../t"},
                no_column={"sql": {"sel": 7}},
            ),
            Fault("ragged", "dev.tables.jsonl", '["Bob", "4"]', '["Bob"]', 1),
        ],
    ),
    "wtq": Form(
        "dev.tsv",
        {"dev.tsv": WTQ, "csv/t.csv": QUOTED},
        [
            Fault("truncated", "dev.tsv", "\tcsv/t.csv\tBob", None, 3),
            Fault("wrong encoding", "dev.tsv", "Bob", f"{NOT_UTF8}", 3),
            Fault("duplicate id", "dev.tsv", "nt-2", "nt-1", 3),
            Fault("outside", "dev.tsv", "csv/t.csv\tBob", "../t.csv\tBob", 3),
            Fault("truncated table", "csv/t.csv", '4"', None, 3),
            Fault("ragged", "csv/t.csv", '"Bob",', "", 3),
        ],
    ),
    "sqa": Form(
        "dev.tsv",
        {"dev.tsv": DIALOGUE, "table_csv/t.csv": QUOTED},
        [
            Fault("truncated", "dev.tsv", "\t['Bob']", None, 3),
            Fault("wrong encoding", "dev.tsv", "else", f"{NOT_UTF8}", 3),
            Fault("duplicate id", "dev.tsv", "nt-1\t0\t1", "nt-1\t0\t0", 3),
            Fault("outside", "dev.tsv", "table_csv/t.csv\t['(1", "../t.csv\t['(1", 3),
            Fault("wrong type", "dev.tsv", "['Bob']", "Bob", 3),
            Fault("ragged", "table_csv/t.csv", '"Bob",', "", 3),
        ],
    ),
    "tabfact": Form(
        "dev.json",
        {"dev.json": FACTS, "all_csv/t.csv": "name#wins\nann#3\n", "all_csv/u.csv": "name#wins\nbob#4\n"},
        [
            Fault("truncated", "dev.json", ' [["Bob won."]', None, 3),
            Fault("wrong encoding", "dev.json", "Bob won", f"{NOT_UTF8}", 3),
            Fault("duplicate id", "dev.json", '"u.csv"', '"t.csv"', 3),
            Fault("wrong type", "dev.json", "[0]", "[2]", 3),
            Fault("too few labels", "dev.json", "[0]", "[]", 3),
            Fault("outside", "dev.json", '"u.csv"', '"../u.csv"', 3),
            Fault("ragged", "all_csv/u.csv", "bob#4", "bob", 2),
        ],
    ),
    "csv": Form(
        "dev.csv",
        {"dev.csv": SHEET, "t.csv": PLAIN},
        [
            Fault("truncated", "dev.csv", ",t.csv,Bob", None, 3),
            Fault("wrong encoding", "dev.csv", "Bob", f"{NOT_UTF8}", 3),
            Fault("duplicate id", "dev.csv", "2,who", "1,who", 3),
            Fault("outside", "dev.csv", "t.csv,Bob", "../t.csv,Bob", 3),
            Fault("ragged", "t.csv", "Bob,", "", 3),
        ],
    ),
    "own": Form(
        "dev.csv",
        {"dev.csv": SHEET.replace(",", ";"), "t.csv": PLAIN.replace(",", "\t")},
        [
            Fault("truncated", "dev.csv", ";t.csv;Bob", None, 3),
            Fault("duplicate id", "dev.csv", "2;who", "1;who", 3),
            Fault("outside", "dev.csv", "t.csv;Bob", "../t.csv;Bob", 3),
            Fault("wrong type", "dev.csv", "question", "frge", 2),
            Fault("ragged", "t.csv", "Bob\t", "", 3),
        ],
    ),
}


def release_files_of() -> dict[str, str]:
    table = Table(TABLE["header"], TABLE["rows"])
    source = {"kind": "source", "name": "s", "licence": "MIT", "citation": "", "url": ""}
    example = {"source": "s", "question": "who?", "answers": ["Ann"], "table": table.digest(), "more": {}}
    lines = [
        source,
        {"kind": "table", "digest": table.digest(), "content": table.to_dict()},
        {"kind": "example", "id": "1", **example},
        {"kind": "example", "id": "2", **example},
    ]
    step = {"op": "set_cell", "row": "r1", "column": "c1", "at": [1, 1], "old": "4", "new": "5"}
    made = {
        **{name: example[name] for name in ("question", "answers", "table", "more")},
        "id": "1~x",
        "parent": "1",
        "perturbation": "x",
        "operations": [step],
        "digest": Table(TABLE["header"], [["Ann", "3"], ["Bob", "5"]]).digest(),
    }
    return {
        "sources.jsonl": "".join(canonical(line) + "\n" for line in lines),
        "decisions.jsonl": canonical({"source": "s", "outcomes": [{"example": made}]}) + "\n",
    }


def sealed(folder: Path) -> None:
    """A manifest that describes the files as they are now: the fault is in the records, not in a checksum."""
    shas = {
        path.name: {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in folder.glob("*.jsonl")
    }
    (folder / "manifest.json").write_text(canonical({"layout": 1, "sources": [], "files": shas}) + "\n")


FORMS["askew"] = Form(
    "manifest.json",
    release_files_of(),
    [
        Fault("another checksum", "sources.jsonl", "who?", "what?", None),
        Fault("truncated", "decisions.jsonl", '"outcomes"', None, 1, sealed),
        Fault("wrong encoding", "sources.jsonl", '"id":"2"', f'"id":"{NOT_UTF8}"', 4, sealed),
        Fault("duplicate id", "sources.jsonl", '"id":"2"', '"id":"1"', 4, sealed),
        Fault("another digest", "sources.jsonl", '"Bob"', '"Bert"', 2, sealed),
        Fault("wrong type", "decisions.jsonl", '"outcomes":[', '"outcomes":{"a":[', 1, sealed),
        Fault("a stale base", "decisions.jsonl", '"old":"4"', '"old":"9"', 1, sealed),
        Fault("no parent", "decisions.jsonl", '"parent":"1"', '"parent":"7"', 1, sealed),
        Fault("outside", "sources.jsonl", '"rows":[["Ann","3"]', '"rows":[["Ann"]', 2, sealed),
    ],
)
BROKEN = [(name, fault) for name, form in FORMS.items() for fault in form.faults]


def laid_out(folder: Path, form: Form) -> Path:
    for name, text in form.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
    if form is FORMS["askew"]:
        sealed(folder)
    return folder / form.path


def damage(folder: Path, fault: Fault) -> None:
    path = folder / fault.file
    text = path.read_text("utf-8")
    if fault.old == "@half":
        assert fault.new is not None
        text = text[: text.rindex(fault.new)]
    else:
        at = text.rindex(fault.old)
        text = text[:at] if fault.new is None else text[:at] + fault.new + text[at + len(fault.old) :]
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    if fault.again is not None:
        fault.again(folder)


def reader_of(name: str) -> str:
    return name.split(" ")[0]


def test_every_reader_that_needs_no_extra_is_here() -> None:
    assert {reader_of(name) for name in FORMS} == set(READERS) - {"parquet", "hf"}


@pytest.mark.parametrize("name", FORMS)
def test_the_good_file_is_read(tmp_path: Path, name: str) -> None:
    path = laid_out(tmp_path, FORMS[name])
    assert len(list(READERS[reader_of(name)](path))) >= 2


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "fault"), BROKEN, ids=[f"{name}: {fault.name}" for name, fault in BROKEN])
def test_a_fault_is_refused_with_file_and_line_and_nothing_is_imported(
    world: World, tmp_path: Path, name: str, fault: Fault
) -> None:
    folder = tmp_path / "given"
    path = laid_out(folder, FORMS[name])
    damage(folder, fault)
    with pytest.raises(ReaderError) as error:
        list(READERS[reader_of(name)](path))
    assert Path(error.value.file).name == Path(fault.file).name
    assert error.value.line == fault.line, str(error.value)
    assert error.value.mend
    before = (Source.objects.count(), Example.objects.count(), StoredTable.objects.count())
    with pytest.raises(ActionRefused, match=re.escape(error.value.what)):
        example_import.import_examples(
            project=world.project, reader=reader_of(name), path=path, name="broken", now=NOON
        )
    assert (Source.objects.count(), Example.objects.count(), StoredTable.objects.count()) == before


@pytest.mark.parametrize("name", ["freb_tqa", "robut"])
def test_where_a_publication_repeats_ids_they_are_numbered(tmp_path: Path, name: str) -> None:
    path = laid_out(tmp_path, FORMS[name])
    path.write_text(path.read_text("utf-8").replace('"ID2"', '"ID"'), "utf-8")
    first, second = READERS[name](path)
    assert (first.id, second.id, second.meta["id"]) == ("ID", "ID#2", "ID")
    if name == "robut":
        assert [robut.published_record(one) for one in (first, second)] == [ROBUT[0], ROBUT[0]]


GARBAGE: dict[str, bytes] = {
    "bytes of no text": b"\xff\xfe\x00\x01" * 300,
    "an open brace": b'{"id": "1", "question": ',
    "an open bracket": b'[{"id": "1"',
    "a number": b"7\n",
    "nested without end": b"[" * 100_000,
    "an archive": b"PK\x03\x04" + b"\x00" * 200,
    "quotes that do not close": b'id,question,table,answers\n1,"who?\n',
    "one long line": b"x" * (2 * 1024 * 1024),
}


@pytest.mark.parametrize("what", GARBAGE)
@pytest.mark.parametrize("name", READERS)
def test_no_reader_takes_garbage_for_a_dataset_or_fails_in_another_way(
    tmp_path: Path, name: str, what: str
) -> None:
    """Every reader there is, also one that comes later: a plain refusal that names the file and says how to mend it."""
    for file in ("given.json", "given.tsv"):
        path = tmp_path / file
        path.write_bytes(GARBAGE[what])
        with pytest.raises(ReaderError) as error:
            list(READERS[name](path))
        assert error.value.file
        assert error.value.mend
        with pytest.raises(ReaderError):
            list(READERS[name](tmp_path))
