"""Readers of published formats give each record as an example or with its fault, and read the corrected rest again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tableqa import Example
from tableqa.readers import READERS, ReaderError, Rejection, checked_outcomes
from tableqa.readers.ingestion import ReadRequest, Rows, read_all
from tableqa.readers.interface import Tolerant
from tableqa.readers.preview import preview
from tableqa.readers.rejections import FORMS, Rejections

TABLE: dict[str, Any] = {"header": ["Name", "Wins"], "rows": [["Ann", "3"], ["Bob", "4"]]}
ROWS = [TABLE["header"], *TABLE["rows"]]


def lines(*records: Any) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def fetaqa(number: int, **change: Any) -> dict[str, Any]:
    record = {
        "feta_id": number,
        "question": f"q{number}",
        "answer": "Ann.",
        "table_array": ROWS,
        "highlighted_cell_ids": [],
    }
    return {**record, **change}


def qtsumm(number: int, **change: Any) -> dict[str, Any]:
    table = {"header": TABLE["header"], "rows": TABLE["rows"], "title": ""}
    return {"example_id": f"e{number}", "query": f"q{number}", "summary": "s", "table": table, **change}


def freb(number: int, **change: Any) -> dict[str, Any]:
    return {"id": f"nt-{number}", "question": f"q{number}", "answers": ["Ann"], "table": TABLE, **change}


def suc(number: int, **change: Any) -> dict[str, Any]:
    return {"id": f"s{number}", "table": TABLE, "query": f"q{number}", "label": "Ann", **change}


def rated(number: int, **change: Any) -> dict[str, Any]:
    return {
        "example_id": f"e{number}",
        "model": "m",
        "model_output": "It is Ann.",
        "question": f"q{number}",
        "table_array": ROWS,
        **change,
    }


def robut(number: int, **change: Any) -> dict[str, Any]:
    return {
        **freb(number),
        "perturbation_type": "word",
        "original_id": "o",
        "original_question": "o",
        **change,
    }


def hybrid(*questions: dict[str, Any]) -> dict[str, Any]:
    return {"table": {"uid": "t", "table": ROWS}, "paragraphs": [], "questions": list(questions)}


def of_hybrid(number: int, **change: Any) -> dict[str, Any]:
    return {"uid": f"u{number}", "question": f"q{number}", "answer": ["3"], **change}


def sql(number: int, **change: Any) -> dict[str, Any]:
    form = {"sel": 0, "agg": 0, "conds": []}
    return {"phase": 1, "table_id": f"t{number}", "question": f"q{number}", "sql": form, **change}


def task(number: int, **change: Any) -> dict[str, Any]:
    return {"id": number, "data": {"question": f"q{number}", "table": ROWS, "answers": ["Ann"], **change}}


def sqa(*rows: str) -> str:
    columns = "id\tannotator\tposition\tquestion\ttable_file\tanswer_coordinates\tanswer_text\n"
    return columns + "".join(f"{row}\n" for row in rows)


def wtq(*rows: str) -> str:
    return "id\tutterance\tcontext\ttargetValue\n" + "".join(f"{row}\n" for row in rows)


@dataclass(frozen=True)
class Case:
    """Three records of a format, the second with a fault, and how the fault is corrected in the rest."""

    name: str
    text: str
    correct: Callable[[str], str]
    files: dict[str, str] = field(default_factory=dict)
    questions: tuple[str, ...] = ("q1", "q3")
    rest: tuple[str, ...] = ("q2",)


def without(what: str, by: str) -> Callable[[str], str]:
    def correct(text: str) -> str:
        assert what in text
        return text.replace(what, by)

    return correct


WTQ_TABLE = '"Name","Wins"\n"Ann","3"\n"Bob","4"\n'
CASES = {
    "fetaqa": Case("a.jsonl", lines(fetaqa(1), fetaqa(2, answer=7), fetaqa(3)), without('"answer": 7', '"answer": "x"')),
    "qtsumm": Case(
        "a.jsonl", lines(qtsumm(1), qtsumm(2, row_ids=[9]), qtsumm(3)), without('"row_ids": [9]', '"row_ids": [1]')
    ),
    "freb_tqa": Case(
        "a.jsonl", lines(freb(1), freb(2, answers="x"), freb(3)), without('"answers": "x"', '"answers": ["x"]')
    ),
    "suc": Case("a.jsonl", lines(suc(1), suc(2, context=3), suc(3)), without('"context": 3', '"context": "x"')),
    "lftqa": Case("a.json", lines(rated(1), rated(2, question=1), rated(3)), without('"question": 1', '"question": "q2"')),
    "robut": Case("a.json", lines(robut(1), robut(2, answers=1), robut(3)), without('"answers": 1', '"answers": ["x"]')),
    "jsonl": Case("a.jsonl", lines(freb(1), freb(2, answers=1), freb(3)), without('"answers": 1', '"answers": ["x"]')),
    "label_studio": Case(
        "a.json", lines(task(1), task(2, answers={}), task(3)), without('"answers": {}', '"answers": ["x"]')
    ),
    "tat_qa": Case(
        "a.json",
        json.dumps([hybrid(of_hybrid(1), of_hybrid(2, scale=1)), hybrid(of_hybrid(3))]),
        without('"scale": 1', '"scale": "million"'),
    ),
    "wikisql": Case(
        "dev.jsonl",
        lines(sql(1), sql(2, sql={"sel": 5, "agg": 0, "conds": []}), sql(3)),
        without('"sel": 5', '"sel": 1'),
        {"dev.tables.jsonl": lines(*({"id": f"t{n}", **TABLE} for n in (1, 2, 3)))},
    ),
    "wtq": Case(
        "a.tsv",
        wtq('nt-1\tq1\tcsv/a.csv\t"Ann"', 'nt-2\tq2\tcsv/b.csv\t"Bob" \\p x', "nt-3\tq3\tcsv/a.csv\tAnn"),
        without("csv/b.csv", "csv/a.csv"),
        {"csv/a.csv": WTQ_TABLE},
    ),
    "sqa": Case(
        "a.tsv",
        sqa(
            "a\t0\t0\tq1\ttable_csv/a.csv\t['(0, 0)']\t['Ann']",
            "b\t0\t0\tq2\ttable_csv/a.csv\t['(0, 0)']\t['Ann']",
            "b\t0\t1\tq2b\ttable_csv/a.csv\t['(0, 9)']\t['Ann']",
            "b\t0\t2\tq2c\ttable_csv/a.csv\t['(0, 0)']\t['Ann']",
            "c\t0\t0\tq3\ttable_csv/a.csv\t['(0, 0)']\t['Ann']",
        ),
        without("(0, 9)", "(0, 0)"),
        {"table_csv/a.csv": WTQ_TABLE},
        rest=("q2", "q2b", "q2c"),
    ),
    "csv": Case(
        "a.csv",
        "id,question,answers,table\n1,q1,Ann,a.csv\n2,q2,Ann,b.csv\n3,q3,Ann,a.csv\n",
        without("b.csv", "a.csv"),
        {"a.csv.d/x": "", "tables/a.csv": "Name,Wins\nAnn,3\n"},
    ),
    "tabfact": Case(
        "a.json",
        json.dumps({"a.csv": [["q1"], [1], "c"], "b.csv": [["q2"], [7], "c"], "c.csv": [["q3"], [0], "c"]}),
        without("[7]", "[1]"),
        {f"all_csv/{name}.csv": "Name#Wins\nAnn#3\n" for name in "abc"},
    ),
}  # fmt: skip


def put(folder: Path, case: Case) -> Path:
    for name, text in {**case.files, case.name: case.text}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / case.name


def test_every_reader_of_published_formats_is_tried() -> None:
    assert set(READERS) - set(CASES) == {"own", "parquet", "hf", "askew"}


@pytest.mark.parametrize("name", CASES)
def test_a_record_with_a_fault_costs_no_other_record(tmp_path: Path, name: str) -> None:
    outcomes = list(checked_outcomes(READERS[name], put(tmp_path, CASES[name])))
    rejected = [outcome for outcome in outcomes if isinstance(outcome, Rejection)]

    assert [one.question for one in outcomes if isinstance(one, Example)] == list(CASES[name].questions)
    assert len(rejected) == len(CASES[name].rest)
    assert all(one.record and one.error.what and one.error.mend for one in rejected)


@pytest.mark.parametrize("name", CASES)
def test_without_the_choice_the_first_fault_ends_reading(tmp_path: Path, name: str) -> None:
    with pytest.raises(ReaderError):
        list(READERS[name](put(tmp_path, CASES[name])))


@pytest.mark.parametrize("name", CASES)
def test_the_corrected_rest_is_read_by_the_same_reader(tmp_path: Path, name: str) -> None:
    case, read = CASES[name], READERS[name]
    path = put(tmp_path, case)
    assert isinstance(read, Tolerant)
    rest = path.with_name(f"{path.stem}-rejected{FORMS[read.rest_form]}")
    with Rejections() as rejections:
        for outcome in checked_outcomes(read, path):
            if isinstance(outcome, Rejection):
                rejections.add(outcome)
        rejections.write(rest, read.rest_form)
    rest.write_text(case.correct(rest.read_text("utf-8-sig")))
    if name == "wikisql":
        (tmp_path / f"{rest.stem}.tables.jsonl").write_text(case.files["dev.tables.jsonl"])

    examples = list(read(rest))

    assert [example.question for example in examples] == list(case.rest)
    assert all("problem" not in example.meta and "fix" not in example.meta for example in examples)


@pytest.mark.parametrize("name", CASES)
def test_a_limit_counts_examples_and_ends_reading(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, CASES[name])
    read = READERS[name]
    assert isinstance(read, Tolerant)

    outcomes = list(read.outcomes(path, limit=1))

    assert [isinstance(outcome, Example) for outcome in outcomes] == [True]
    assert list(read.outcomes(path, limit=0)) == []


def test_a_rejected_question_does_not_take_its_id(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(lines(fetaqa(1, answer=7), fetaqa(1)))

    rejected, example = checked_outcomes(READERS["fetaqa"], path)

    assert isinstance(rejected, Rejection)
    assert isinstance(example, Example)


def test_only_the_faulty_question_of_a_record_with_several_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([hybrid(of_hybrid(1), of_hybrid(2, scale=1), of_hybrid(3))]))

    first, rejected, third = checked_outcomes(READERS["tat_qa"], path)

    assert isinstance(first, Example)
    assert isinstance(third, Example)
    assert isinstance(rejected, Rejection)
    assert rejected.record is not None
    assert [question["uid"] for question in rejected.record["questions"]] == ["u2"]


def test_a_question_of_a_sequence_is_rejected_with_the_line_of_the_fault(tmp_path: Path) -> None:
    rejected = [
        outcome
        for outcome in checked_outcomes(READERS["sqa"], put(tmp_path, CASES["sqa"]))
        if isinstance(outcome, Rejection)
    ]

    assert [one.error.line for one in rejected] == [3, 4, 5]
    assert rejected[0].error.what == "line 4 of the same sequence has a problem"


def test_numbers_of_rejected_records_stay_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"question": 1, "table": [["Wins"], [1.50], [1e3]]}\n')
    rest = tmp_path / "rest.jsonl"
    with Rejections() as rejections:
        (rejected,) = checked_outcomes(READERS["own"], path)
        assert isinstance(rejected, Rejection)
        rejections.add(rejected)
        rejections.write(rest)
        rejections.write(rest.with_suffix(".csv"))

    assert '"table": [["Wins"], [1.50], [1e3]]' in rest.read_text()
    assert "1.50" in rest.with_suffix(".csv").read_text("utf-8-sig")


def test_a_bad_table_of_robut_is_a_problem_of_the_questions_about_it(tmp_path: Path) -> None:
    questions = [
        {**{name: value for name, value in robut(n).items() if name != "table"}, "table_id": table}
        for n, table in enumerate(["a", "b", "a"], start=1)
    ]
    path = tmp_path / "robut_wtq_qa.json"
    path.write_text(json.dumps(questions), encoding="utf-8")
    (tmp_path / "robut_wtq_table.json").write_text(
        json.dumps(
            {"a": {"header": ["Name"], "rows": [["Ann"]]}, "b": {"header": ["Name"], "rows": [["x", "y"]]}}
        )
    )
    read = READERS["robut"]
    assert isinstance(read, Tolerant)

    first, bad, last = read.outcomes(path)

    assert isinstance(first, Example)
    assert isinstance(last, Example)
    assert isinstance(bad, Rejection)
    assert bad.error.file.endswith("robut_wtq_table.json")


PUBLISHED = {
    "fetaqa": fetaqa(1, table_array=[["Name"], [None]]),
    "qtsumm": qtsumm(1, table={"header": ["Name"], "rows": [[None]], "title": ""}),
    "freb_tqa": freb(1, table={"header": ["Name"], "rows": [[None]]}),
    "suc": suc(1, table={"header": ["Name"], "rows": [[None]]}),
    "lftqa": rated(1, table_array=[["Name"], [None]]),
    "robut": robut(1, table={"header": ["Name"], "rows": [[None]]}),
    "jsonl": {
        "id": "1",
        "question": "q",
        "answers": ["Ann", None],
        "table": {"header": ["A"], "rows": [[None]]},
    },
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_formats_with_a_null_cell_are_read_with_the_option_that_the_refusal_names(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(lines(PUBLISHED[name]), "utf-8")

    refused = preview(ReadRequest(name, str(path), ""))
    (problem,) = refused.problems
    read = preview(ReadRequest(name, str(path), "", fields={way: of[0] for way, of in problem.ways.items()}))

    assert (dict(problem.ways), read.problems) == ({"missing": ["empty"]}, ())
    assert [example.table.rows for example in read.examples] == [(("",),)]
    assert "" not in read.examples[0].answers


@pytest.mark.parametrize(
    ("name", "text", "question"),
    [
        ("csv", 'id,question,table,answers\n1,"who,cup.csv,Ann\n', '"who'),
        ("sqa", sqa('nt-1\t0\t0\t"who\tcup.csv\t["(0, 0)"]\t["Ann"]'), '"who'),
    ],
)
def test_an_open_quote_of_a_published_format_is_text_with_the_option_that_the_refusal_names(
    tmp_path: Path, name: str, text: str, question: str
) -> None:
    (tmp_path / "cup.csv").write_text("Name\nAnn\n", "utf-8")
    path = tmp_path / "questions.csv"
    path.write_text(text, "utf-8")
    request = ReadRequest(name, str(path), str(tmp_path / "rows.jsonl"))

    with pytest.raises(ReaderError) as refused:
        read_all(request)
    read = read_all(replace(request, fields={way: of[0] for way, of in refused.value.ways.items()}))

    assert (refused.value.ways, read.number, read.rejected) == ({"quotes": ("text",)}, 1, 0)
    assert next(Rows.read(tmp_path / "rows.jsonl"))[0][1] == question


def test_a_reader_with_fixed_fields_takes_options_and_no_names_of_fields(tmp_path: Path) -> None:
    for fields, reason in (
        ({"question": "q"}, "has fixed field names"),
        ({"missing": "x"}, "missing may be"),
    ):
        with pytest.raises(ValueError, match=reason):
            read_all(ReadRequest("wtq", str(tmp_path), str(tmp_path / "rows"), fields=fields))
