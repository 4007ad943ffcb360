"""The report of an import: the number of records, and the first line and the number of everything doubtful."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas
import pytest
import xlsxwriter

import tableqa.readers.preview
from tableqa.data.examples import Example
from tableqa.readers import READERS, ReaderError
from tableqa.readers.ingestion import ReadRequest, read_all
from tableqa.readers.own_data import OwnData
from tableqa.readers.preview import MOST_READ, preview
from tableqa.readers.reading_options import READING
from tableqa.readers.report import KINDS, Report, in_english
from tests.tableqa.reports import findings_of, report_of

BYTES_READ = Path("/proc/self/io")
TABLE = [["Name", "Wins"], ["Ann", "3"]]


def records(*changed: dict[str, Any]) -> list[dict[str, Any]]:
    usual = {"question": "who?", "answers": ["Ann"], "table": TABLE}
    return [{"id": f"q{at}", **usual, **more} for at, more in enumerate(changed)]


def lines(folder: Path, *changed: dict[str, Any]) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records(*changed)), "utf-8")
    return path


def test_a_file_without_doubts_has_its_records_and_columns_only(tmp_path: Path) -> None:
    report = report_of(lines(tmp_path, {}, {}))

    assert (report.records, report.examined, report.rejected, list(report.findings)) == (2, 2, 0, [])
    assert report.columns == {"id": "id", "question": "question", "answers": "answers", "table": "table"}


DOUBTFUL: list[tuple[str, dict[str, Any], str]] = [
    ("line_breaks", {"question": "who\nwon?"}, "who↵won?"),
    ("line_breaks", {"answers": ["Ann\r\nBob"]}, "Ann↵Bob"),
    ("line_breaks", {"note": "a\nb"}, "a↵b"),
    ("cell_line_breaks", {"table": [["Name"], ["Ann\nBob"]]}, "Ann↵Bob"),
    ("texts_like_lists", {"answers": "[a]"}, "[a]"),
    ("texts_like_lists", {"answers": "{'Ann', 'Bob'}"}, "{'Ann', 'Bob'}"),
    ("separators", {"answers": ["Ann; Bob"]}, "Ann; Bob"),
    ("separators", {"answers": ["Ann|Bob"]}, "Ann|Bob"),
    ("split", {"answers": "Ann|Bob"}, "Ann|Bob"),
    ("several", {"answers": ["Ann", "Bob"]}, "Ann | Bob"),
    ("lists", {"answers": "['Ann', 'Bob']"}, "['Ann', 'Bob']"),
    ("headers", {"table": [["Table 1", ""], ["Name", "Wins"]]}, "Table 1, "),
    ("headers", {"table": [["1", "2"], ["3", "4"]]}, "1, 2"),
    ("nan", {"answers": ["nan"]}, "nan"),
    ("NaN", {"table": [["Name"], ["NaN"]]}, "NaN"),
    ("NULL", {"question": "NULL"}, "NULL"),
    ("None", {"level": "None"}, "None"),
    ("NA", {"answers": "NA"}, "NA"),
    ("\\N", {"answers": "\\N"}, "\\N"),
    ("#REF!", {"table": [["Name"], [" #REF! "]]}, "#REF!"),
    ("#N/A", {"answers": ["#N/A"]}, "#N/A"),
    ("formulas", {"table": [["Name", "Wins"], ["Ann", "=SUM(A1:A3)"]]}, "=SUM(A1:A3)"),
    ("formulas", {"answers": ["=A1+B2"]}, "=A1+B2"),
    ("escapes", {"answers": '\\"Ann\\"'}, '\\"Ann\\"'),
    ("blank", {"answers": " "}, " "),
    ("spaces", {"table": " cup.csv"}, " cup.csv"),
    ("hidden_texts", {"table": "<table><tr><th>A<i hidden>B</i></tr><tr><td>3</tr></table>"}, ""),
    ("links", {"table": {"header": ["Name"], "rows": [[["Ann", ["/wiki/Ann"]]]]}}, "Ann"),
    ("members", {"table": {"header": ["Name"], "rows": [["Ann"]], "types": ["text"]}}, "types"),
    ("members", {"table": '{"header": ["Name"], "rows": [["Ann"]], "types": ["text"]}'}, "types"),
    ("members", {"table": {"header": ["A"], "rows": [["1"]], "title": "Cup"}, "title": "Cups"}, "Cups"),
    ("members", {"table": "<table><caption>Cup</caption><tr><th>A</tr></table>", "caption": "Cups"}, "Cup"),
    ("superscripts", {"table": "<table><tr><th>A</tr><tr><td>3<sup>2</sup></tr></table>"}, ""),
    ("struck", {"table": "<table><tr><th>A</tr><tr><td><s>3</s>2</tr></table>"}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "doubt", "text"), DOUBTFUL)
def test_everything_doubtful_is_counted_with_its_first_line(
    tmp_path: Path, kind: str, doubt: dict[str, Any], text: str
) -> None:
    table = doubt.get("table")
    again = {"table": [*table, ["x", "y"][: len(table[0])]]} if isinstance(table, list) else doubt
    (tmp_path / "cup.csv").write_text("Name\nAnn\n", "utf-8")

    findings = findings_of(lines(tmp_path, {}, doubt, {}, again))

    finding = findings[kind]
    assert (finding.number, finding.line, finding.record, finding.text) == (2, 2, "q1", text)


def test_spaces_around_ids_and_names_of_columns_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text(
        'id, question ,answers,table, note\n q1,who?,,"A\n1",\nq2,who?,Ann | Bob,"A\n1",\n', "utf-8"
    )

    findings = findings_of(path)

    spaces = findings["spaces"]
    assert (spaces.number, spaces.line, spaces.text) == (3, 1, " question ")
    assert findings.keys() == {"spaces", "split"}


def test_other_forms_of_answers_in_joined_rows_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    record = {"id": "7", "question": "who?", "table": [["a"], ["b"]]}
    forms = ({"answers": ["Ann"]}, {"answers": ["Bob"], "answer_aliases": ["Bobby"]})
    path.write_text("".join(json.dumps(record | more) + "\n" for more in forms))

    assert findings_of(path, rows="answers")["further_rows"].text == "7"


def test_what_is_doubtful_in_joined_rows_is_in_the_first_of_them(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    rows = ["7,who?,Ann", "7,who?,Bob;Cy", "8,where?,Rome", "9,when?,May;June"]
    table = '"Name,Wins\nAnn,3"'
    path.write_text("id,question,answers,table\n" + "".join(f"{row},{table}\n" for row in rows))

    finding = findings_of(path, rows="answers")["separators"]

    assert (finding.number, finding.line, finding.record, finding.text) == (2, 2, "7", "Bob;Cy")


def test_other_columns_of_further_rows_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text(
        'id,question,answers,table,by\nq1,who?,Ann,"A\n1",x\nq1,who?,Bob,"A\n1",y\nq1,who?,Cy,"A\n1",x\n',
        "utf-8",
    )

    findings = findings_of(path, rows="answers")

    assert {kind: (each.number, each.text) for kind, each in findings.items()} == {"further_rows": (1, "q1")}


def test_comments_above_a_table_are_counted_and_titles_are_its_caption(tmp_path: Path) -> None:
    (tmp_path / "cup.csv").write_text("# of May\nName,Wins\nAnn,3\n", "utf-8")
    (tmp_path / "medals.csv").write_text("Medals of 2024\n\nName,Wins\nAnn,3\n", "utf-8")

    tables = {"cup.csv": ("# of May", ""), "medals.csv": ("Medals of 2024", "Medals of 2024")}
    for name, (text, caption) in tables.items():
        path = lines(tmp_path, {"table": name})
        (example,) = READERS["own"](path)
        assert (example.table.header, example.table.caption) == (("Name", "Wins"), caption)
        assert (findings_of(path)["titles"].number, findings_of(path)["titles"].text) == (1, text)


@pytest.mark.parametrize(
    "usual",
    [
        {"answers": ["none of a null b, nano"]},
        {"answers": ["Ann won the first cup and the second one, too; Bob won none of them."]},
        {"table": [["", "Wins"], ["= 5", "n/a"]]},
        {"table": [["Year", "Wins"], ["2019", "-3"]]},
    ],
)
def test_usual_texts_are_not_named(tmp_path: Path, usual: dict[str, Any]) -> None:
    assert findings_of(lines(tmp_path, usual)) == {}


def test_a_table_of_several_records_is_counted_once(tmp_path: Path) -> None:
    doubtful = {"table": [["1", "2"], ["NULL", "NULL"]]}

    findings = findings_of(lines(tmp_path, doubtful, doubtful, doubtful))

    assert (findings["headers"].number, findings["NULL"].number) == (1, 2)


def test_records_of_one_line_are_named_by_their_ids(tmp_path: Path) -> None:
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(records({}, {}, {"answers": ["Ann; Bob"]})), "utf-8")

    finding = findings_of(path)["separators"]

    assert (finding.line, finding.record) == (1, "q2")


def test_records_with_a_problem_are_counted_and_lists_with_a_fault_named(tmp_path: Path) -> None:
    path = lines(
        tmp_path, {"answers": "['Ann', 'Bob']"}, {"answers": "['Ann' 'Bob', 'Cy']"}, {"question": ""}
    )

    report = report_of(path)

    assert (report.records, report.rejected) == (3, 2)
    assert [(each.kind, each.number, each.line) for each in report.findings] == [
        ("lists", 1, 1),
        ("no_lists", 1, 2),
    ]


def test_hidden_parts_of_a_workbook_are_counted(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(str(tmp_path / "q.xlsx"))
    old, questions, table = (book.add_worksheet(name) for name in ("Old", "Questions", "Cup"))
    for sheet in (old, questions):
        sheet.write_row(0, 0, ["question", "answer", "table", "note"])
        sheet.write_row(1, 0, ["who?", "Ann", "Cup", "x"])
    table.write_row(0, 0, ["Name", "Wins"])
    table.write_row(1, 0, ["Ann", 3])
    old.hide()
    questions.activate()
    questions.set_column(3, 6, None, None, {"hidden": True})
    questions.set_row(1, None, None, {"hidden": True})
    table.set_column(1, 1, None, None, {"hidden": True})
    book.close()

    findings = findings_of(tmp_path / "q.xlsx")

    told = {kind: (each.number, each.line, each.text) for kind, each in findings.items()}
    assert told == {
        "hidden_rows": (1, 2, "q.xlsx, Questions"),
        "hidden_columns": (2, 1, "q.xlsx, Questions, D1"),
        "hidden_sheets": (1, 1, "Old"),
    }


def doubtful_files(folder: Path) -> dict[str, Path]:
    """Two records, the second doubtful, on one doubtful table, by the reader of each form."""
    doubtful = records({}, {"question": "who\nwon?", "answers": ["Ann; Bob"]})
    names = {"jsonl": "a.jsonl", "parquet": "a.parquet", "csv": "a.csv", "wtq": "wtq.tsv", "own": "a.csv"}
    table = {"header": ["Name", "Wins"], "rows": [["NULL", "3"]]}
    lines = [json.dumps(record | {"table": table}) + "\n" for record in doubtful]
    (folder / "a.jsonl").write_text("".join(lines))
    frame = pandas.DataFrame([record | {"table": json.dumps([["Name"], ["NULL"]])} for record in doubtful])
    frame.to_parquet(folder / "a.parquet")
    (folder / "csv").mkdir()
    for name in ("t.csv", "csv/t.csv"):
        (folder / name).write_text("Name,Wins\nNULL,3\n")
    rows = 'q0,who?,t.csv,Ann\nq1,"who\nwon?",t.csv,Ann; Bob\n'
    (folder / "a.csv").write_text(f"id,question,table,answers\n{rows}")
    rows = "q0\twho?\tcsv/t.csv\tAnn\nq1\twho\\nwon?\tcsv/t.csv\tAnn; Bob\n"
    (folder / "wtq.tsv").write_text(f"id\tutterance\tcontext\ttargetValue\n{rows}")
    return {reader: folder / name for reader, name in names.items()}


@pytest.mark.parametrize("reader", ["jsonl", "parquet", "csv", "wtq", "own"])
def test_every_reader_has_the_same_report(tmp_path: Path, reader: str) -> None:
    report = report_of(doubtful_files(tmp_path)[reader], reader)

    assert (report.records, {each.kind: (each.number, each.record) for each in report.findings}) == (
        2,
        {"separators": (1, "q1"), "line_breaks": (1, "q1"), "placeholders": (1, "q0")},
    )


@pytest.mark.parametrize("reader", ["own", "parquet"])
def test_which_column_is_which_part_is_said(tmp_path: Path, reader: str) -> None:
    report = report_of(doubtful_files(tmp_path)[reader], reader)

    assert report.columns == {"id": "id", "question": "question", "answers": "answers", "table": "table"}
    assert "Columns: " in report.read_as
    assert "question = question" in report.read_as


def test_a_preview_reports_the_first_records_and_counts_all(tmp_path: Path) -> None:
    path = lines(tmp_path, *[{}] * 50, {"answers": ["NULL"]}, *[{}] * 200, {"answers": ["NULL"]})

    report = preview(ReadRequest("own", str(path), str(tmp_path / "rows"))).report

    assert (report.records, report.examined, report.is_counted) == (252, MOST_READ, True)
    assert [(each.text, each.number, each.line) for each in report.findings] == [("NULL", 1, 51)]


def test_a_preview_counts_records_for_a_while_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tableqa.readers.preview, "SECONDS_COUNTED", 0.0)

    report = preview(ReadRequest("own", str(lines(tmp_path, *[{}] * 250)), str(tmp_path / "rows"))).report

    assert (report.records, report.examined, report.is_counted) == (100, MOST_READ, False)


@pytest.mark.skipif(not BYTES_READ.exists(), reason="needs the counters of Linux")
def test_a_preview_reads_a_large_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tableqa.readers.preview, "SECONDS_COUNTED", 0.0)
    path = lines(tmp_path, *[{"notes": "x" * 8_000}] * 2_000)
    before = bytes_read()

    preview(ReadRequest("own", str(path), str(tmp_path / "rows")))

    assert bytes_read() - before < 2.5 * path.stat().st_size


def bytes_read() -> int:
    """Bytes that this process has read so far."""
    return int(BYTES_READ.read_text().split()[1])


def test_a_preview_of_another_reader_says_that_there_are_more_records(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    table = {"header": ["Name"], "rows": [["Ann"]]}
    path.write_text("".join(json.dumps(record | {"table": table}) + "\n" for record in records(*[{}] * 300)))

    report = preview(ReadRequest("jsonl", str(path), str(tmp_path / "rows"))).report

    assert (report.records, report.examined, report.is_counted) == (MOST_READ + 1, MOST_READ, False)


def test_a_preview_of_exactly_so_many_records_is_whole(tmp_path: Path) -> None:
    report = preview(
        ReadRequest("own", str(lines(tmp_path, *[{}] * MOST_READ)), str(tmp_path / "rows"))
    ).report

    assert (report.records, report.examined, report.is_counted) == (MOST_READ, MOST_READ, True)


def test_a_stored_report_is_the_same_and_its_texts_stay_texts(tmp_path: Path) -> None:
    text = '{"code": "text", "values": {"text": "x"}}'
    path = lines(tmp_path, {"answers": ["NULL", f"; {text}"]})

    read = read_all(ReadRequest("own", str(path), str(tmp_path / "rows"))).report

    stored = json.loads(json.dumps(read.to_dict()))
    assert Report.of(stored) == read
    assert (
        str(Report.of(stored).read_as)
        == "Columns: id = id, question = question, answers = answers, table = table."
    )
    assert in_english(stored)["read_as"] == read.read_as
    assert in_english(in_english(stored)) == in_english(stored)


def test_the_findings_are_in_the_order_of_their_kinds(tmp_path: Path) -> None:
    changed = [doubt for _, doubt, _ in DOUBTFUL]

    kinds = [each.kind for each in report_of(lines(tmp_path, *changed)).findings]

    assert kinds == sorted(kinds, key=list(KINDS).index)
    assert len(kinds) > 15


def test_the_documentation_names_every_kind_of_finding_and_every_option() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reference" / "readers.md").read_text("utf-8")
    report = text[text.index("## Report of an import") : text.index("## `own`")]

    assert [kind for kind in KINDS if f"`{kind}`" not in report] == []
    assert [name for name in READING if f"| `{name}=" not in text] == []


def test_numbers_that_a_format_does_not_show_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "q.xlsx"
    with xlsxwriter.Workbook(path) as workbook:
        sheet = workbook.add_worksheet()
        sheet.write_row(0, 0, ["question", "answer", "table"])
        sheet.write_row(1, 0, ["how many?", "", '[["n"], ["1"]]'])
        sheet.write_number(1, 1, 7, workbook.add_format({"num_format": ";;;"}))

    assert findings_of(path)["not_shown"].text == "7 (;;;)"


def test_sheets_that_cannot_be_read_beside_the_questions_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "q.xlsx"
    with xlsxwriter.Workbook(path) as workbook:
        sheet = workbook.add_worksheet()
        sheet.write_row(0, 0, ["question", "answer", "table"])
        sheet.write_row(1, 0, ["who?", "Ann", '[["n"], ["Ann"]]'])
        workbook.add_worksheet("more").write_formula(0, 0, "=1/0", value="#DIV/0!")

    assert findings_of(path)["error_sheets"].text == "more"


@pytest.mark.parametrize("blank", [" ", [""], [" \t"]])
def test_a_blank_answer_is_none_and_ids_lose_outer_spaces(tmp_path: Path, blank: Any) -> None:
    (example,) = READERS["own"](lines(tmp_path, {"id": " 001 ", "answers": blank}))

    assert isinstance(example, Example)
    assert (example.id, example.answers) == ("001", ())


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (',id,question,table\n0,a,who?,"x\n1"\n', 1),
        ('id,question,table,\na,who?,"x\n1",note\n', 1),
        ('id,question,table\na,who?,"x\n1",\n', 1),
        ('"id","question","table"\n"1","a","who?","x\n1"\n', 1),
        ('id,question,table\na,who?,"x\n1"\n', 0),
    ],
)
def test_columns_without_a_name_are_counted(tmp_path: Path, text: str, number: int) -> None:
    path = tmp_path / "q.csv"
    path.write_text(text)

    (example,) = READERS["own"](path)
    findings = [(each.number, each.line) for each in findings_of(path).values() if each.kind == "unnamed"]

    assert (example.id, example.table.rows) == ("a", (("1",),))
    assert findings == [(number, 1)] * number


@pytest.mark.parametrize(
    "text",
    [
        "id,question,table,answers\n1,Who is it, then?,t.csv,Ann\n2,What, if any?,t.csv,Bob\n",
        '"id","question","table"\n"b","a","who?","t.csv"\n',
        '"id","question","table"\n"2","a","who?","t.csv"\n"1","b","who?","t.csv"\n',
    ],
)
def test_rows_with_another_field_more_are_no_rows_with_names(tmp_path: Path, text: str) -> None:
    path = tmp_path / "q.csv"
    path.write_text(text)

    with pytest.raises(ReaderError, match=r"the row has . fields, the first line names"):
        list(READERS["own"](path))


def test_what_an_annotator_of_prodigy_answered_is_no_gold_answer(tmp_path: Path) -> None:
    accepted = {"answers": None, "answer": "accept", "_task_hash": 7}

    (example,) = READERS["own"](lines(tmp_path, accepted))

    assert (example.answers, example.meta["answer"]) == ((), "accept")


@pytest.mark.parametrize(("separator", "answers"), [("", ("a | b", "c")), ("|", ("a", "b", "c"))])
def test_a_row_with_one_answer_is_not_split_unless_a_separator_is_chosen(
    tmp_path: Path, separator: str, answers: tuple[str, ...]
) -> None:
    path = tmp_path / "q.csv"
    path.write_text(
        'id,question,table,answer\n1,Who?,"[[""a""],[""1""]]",a | b\n1,Who?,"[[""a""],[""1""]]",c\n'
    )
    fields = {"rows": "answers", "answer_separator": separator}

    (example,) = OwnData(fields=fields)(path)

    assert example.answers == answers
    assert ("split" in findings_of(path, **fields)) == bool(separator)
