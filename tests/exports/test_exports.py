"""Files of many programs are imported as the page suggests, and compared value by value with what was written.

`outcomes.json` has the outcome of each file. After a change of readers, write it again and read the difference:

    .venv/bin/python -m tests.exports.test_exports
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from tableqa.readers import ReaderError
from tableqa.readers.archive import is_archive
from tableqa.readers.ingestion import ReadRequest, Rows, read_all
from tableqa.readers.preview import ChosenColumns, Preview, preview
from tableqa.readers.rejections import Problem, describe
from tableqa.readers.report import Finding, Report
from tests.exports.content import content_of, expected_of
from tests.exports.drawing import FIRST, NAMES, ROUND, SECOND_SEED, SEED, drawn, plans

HERE = Path(__file__).parent
EQUAL, REFUSED, WARNED, WRONG = "equal", "refused", "wrong with a warning", "silently wrong"
UNUSUAL = NAMES[-1]
"""Names of columns that nobody can guess: a person chooses them on the page."""


def stored() -> list[dict[str, Any]]:
    return [json.loads(path.read_text("utf-8")) for path in sorted(HERE.glob("files/*.expected.json"))]


def outcome(expected: Mapping[str, Any], folder: Path) -> tuple[str, str]:
    """What becomes of a file, and the reason, the first difference, or the options with which it is equal.

    An option is chosen where a refusal or the preview names it, as a person does on the page.
    """
    path = HERE / "files" / expected["file"]
    own = tuple(expected["plan"]["names"]) == UNUSUAL
    parts = dict(zip(("id", "question", "answers", "table"), UNUSUAL, strict=True)) if own else {}
    if parts and "ids" not in expected["plan"]:
        del parts["id"]
    options: dict[str, str] = {}
    while True:
        request = ReadRequest(
            "",
            str(path),
            str(folder / "rows.jsonl"),
            fields=options,
            archives={str(path): str(folder / "unpacked")} if is_archive(path) else {},
            chosen=asdict(ChosenColumns(parts, options)) if parts or options else None,
        )
        first, problem = imported(request)
        ways = {**problem.ways} if problem else {}
        if not problem:
            ways = answers_to({finding.kind for finding in first.report.findings}, expected["plan"])
        further = {name: known(expected["plan"], name, values) for name, values in ways.items()}
        if all(options.get(name) == value for name, value in further.items()):
            break
        options |= further
    if problem:
        return REFUSED, problem.what
    chosen = ", ".join(f"{name}={value}" for name, value in options.items())
    differences = list(compare(wanted_records(expected), records(Path(request.rows))))
    if not differences:
        return EQUAL, chosen
    said = {part for part, _, read in differences if is_said(read, first)}
    said |= {"rows"} if "header" in said else set()  # rows that lie above the header are among those below it
    unsaid = [text for part, text, _ in differences if part not in said]
    return (WRONG, unsaid[0]) if unsaid else (WARNED, differences[0][1])


def wanted_records(expected: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The records that a file has: doccano numbers them in place of their ids, and some programs write other texts."""
    wanted: list[dict[str, Any]] = expected["records"]
    plan = expected["plan"]
    if plan["format"] == "jsonl doccano":
        return [record | {"id": str(number)} for number, record in enumerate(wanted, start=1)]
    if write := WRITTEN.get((plan["program"], plan["format"])):
        return [{part: written(value, write) for part, value in record.items()} for record in wanted]
    return wanted


def written(value: Any, write: Callable[[Any], str]) -> Any:
    """A value of a record with the text that a program writes for a number, a percentage or a truth value."""
    if isinstance(value, list):
        return [written(inner, write) for inner in value]
    known = value.get("bool", value.get("number")) if isinstance(value, dict) else None
    if known is None or not ("shown" not in value or value["shown"].endswith("%")):
        return value
    return value | {"shown": write(value.get("shown", known))}


def as_gnumeric(value: Any) -> str:
    """A number as Gnumeric fits it into a cell."""
    return f"{value:.2E}" if type(value) is int and value >= 10**11 else str(value)


def as_libreoffice(value: Any) -> str:
    """A percentage as LibreOffice writes it into CSV: 50% for 50.0%."""
    return value.replace(".0%", "%") if isinstance(value, str) else str(value)


WRITTEN: Mapping[tuple[str, str], Callable[[Any], str]] = {
    ("LibreOffice", "html"): lambda value: str(int(value)) if isinstance(value, bool) else str(value),
    ("LibreOffice", "csv"): as_libreoffice,
    ("gnumeric", "csv"): as_gnumeric,
    ("polars", "xlsx"): lambda value: f"{value:,}" if type(value) is int else str(value),
}
"""Programs whose files have other texts for some values: 0 for false, 50%, 1.23E+14, and 1,979 by a number format."""


def imported(request: ReadRequest) -> tuple[Preview, Problem | None]:
    """The preview of a file, and its import or the problem that stops it."""
    first = Preview("own")
    try:
        first = preview(request)
        if not first.examples and first.problems:
            return first, first.problems[0]
        result = read_all(replace(request, reader=first.reader, fields=first.fields, chosen=None))
    except ReaderError as error:
        return first, describe(error)
    return first, result.problems[0] if result.rejected else None


def answers_to(doubts: set[str], plan: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """What a person who knows the file chooses for doubts of the preview."""
    ways: dict[str, Sequence[str]] = {}
    if "separators" in doubts and (plan["answers"], plan.get("answer_form")) == ("lists", "semicolons"):
        ways["answer_separator"] = [";"]
    if "escapes" in doubts and "json" not in plan.get("table_form", ""):  # JSON has its own \\n
        ways["quotes"] = ["escapes"]
    if "headers" in doubts:
        ways["header_row"] = ["full"]
    return ways


def known(plan: Mapping[str, Any], name: str, values: Sequence[str]) -> str:
    """The value of an option that a person chooses who knows the file; else the first that is offered."""
    value = str(plan.get(name, ""))
    return value if value in values else values[0]


def records(rows: Path) -> list[dict[str, Any]]:
    """The imported examples."""
    tables: dict[str, Any] = {}
    examples = []
    for row in (row for chunk in Rows.read(rows) for row in chunk):
        if len(row) > 5:
            tables[row[4]] = json.loads(row[5])
        table = tables[row[4]]
        examples.append({"id": row[0], "question": row[1], "answers": row[2], **table})
    return examples


def compare(
    expected: Sequence[Mapping[str, Any]], read: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str, str]]:
    """Each difference: its part of a record, a sentence, and the text that was read in place of the value."""
    if len(expected) != len(read):
        yield "records", f"{len(read)} records in place of {len(expected)}", ""
        return
    for number, (wanted, example) in enumerate(zip(expected, read, strict=True), start=1):
        for part in ("id", "question", "header", "answers", "rows"):
            values, texts = wanted[part], example[part]
            if part == "id" and not values:
                continue  # the file has no ids
            if shape(values) != shape(texts):
                yield (
                    part,
                    f"record {number}, {part}: {texts!r} in place of {values!r}",
                    " ".join(flat(texts)[:1]),
                )
                continue
            for value, text in zip(flat(values), flat(texts), strict=True):
                if not is_equal(value, text):
                    yield part, f"record {number}, {part}: {text!r} in place of {value!r}", text


def flat(value: Any) -> list[Any]:
    """The texts and values of a part, row by row."""
    return [inner for member in value for inner in flat(member)] if isinstance(value, list) else [value]


def shape(value: Any) -> Any:
    return [shape(member) for member in value] if isinstance(value, list) else ""


def is_equal(expected: Any, text: str) -> bool:
    """Whether a text is the value: content.expected_value describes the forms."""
    if expected is None or isinstance(expected, str):
        return text.replace("\r\n", "\n") == (expected or "")
    if text == expected.get("shown"):
        return True
    if "bool" in expected:
        return text.casefold() == str(expected["bool"]).casefold()
    if "date" in expected:
        return text in {expected["date"] + time for time in ("", " 00:00:00", "T00:00:00", "T00:00:00.000")}
    try:
        text = text.replace("\u2212", "-").replace("\u2013", "-")  # signs of Gnumeric
        return "number" in expected and Decimal(text) == Decimal(str(expected["number"]))
    except InvalidOperation:
        return False


def is_said(text: str, shown: Preview) -> bool:
    """Whether the preview quotes a text that was read, as whole words.

    A note quotes the first of its kind, up to some length, and says how many there are: its numbers quote nothing.
    """
    notes = [
        shown.read_as,
        *(finding.text for finding in shown.report.findings),
        *shown.losses,
        *(problem.what for problem in shown.problems),
    ]
    words = rf"(?<!\w){re.escape(text[:40])}" + (r"(?!\w)" if len(text) <= 40 else "")
    return bool(text) and any(re.search(words, note) for note in notes)


def measured() -> dict[str, dict[str, str]]:
    """Every file by its outcome, with the reason or the first difference."""
    outcomes: dict[str, dict[str, str]] = {EQUAL: {}, REFUSED: {}, WARNED: {}, WRONG: {}}
    for expected in stored():
        with tempfile.TemporaryDirectory() as folder:
            kind, reason = outcome(expected, Path(folder))
        outcomes[kind][expected["file"]] = reason.replace(str(HERE), "tests/exports")[:200]
    return outcomes


def test_files_of_other_programs_have_their_recorded_outcomes() -> None:
    recorded = json.loads((HERE / "outcomes.json").read_text("utf-8"))

    outcomes = measured()

    assert {kind: sorted(files) for kind, files in outcomes.items()} == {
        kind: sorted(files) for kind, files in recorded.items()
    }


def test_at_least_85_percent_are_imported_without_a_script_and_none_is_wrong_in_silence() -> None:
    recorded = json.loads((HERE / "outcomes.json").read_text("utf-8"))

    assert len(recorded[EQUAL]) >= 0.85 * sum(map(len, recorded.values()))
    assert recorded[WRONG] == {}


def test_plans_do_not_depend_on_how_many_are_drawn() -> None:
    assert plans(SEED, 1, 150)[FIRST:] == plans(SEED, FIRST + 1, 150)
    assert drawn(1, 150) == plans(SEED, 1, FIRST) + plans(SECOND_SEED, FIRST + 1, 150)


def test_every_program_is_drawn_in_each_round() -> None:
    programs = [plan.program for plan in drawn(1, 150)]

    for start in range(0, len(programs), len(ROUND)):
        assert Counter(programs[start : start + len(ROUND)]) == Counter(ROUND)


def test_expected_values_are_those_of_the_plans() -> None:
    files = stored()

    both = drawn(1, 2 * FIRST)

    assert [file["records"] for file in files] == [expected_of(plan, content_of(plan)) for plan in both]
    assert [file["plan"]["format"] for file in files] == [plan.format for plan in both]


def test_a_wrong_value_is_found() -> None:
    table = {"header": ["A"], "rows": [[{"number": 1.5}], ["007"], [None]]}
    expected = [{"id": "q1", "question": "Which?", "answers": [{"date": "2024-05-01"}], **table}]
    right = {
        "id": "q1",
        "question": "Which?",
        "answers": ["2024-05-01"],
        "header": ["A"],
        "rows": [["1.50"], ["007"], [""]],
    }

    def differences(**changed: Any) -> list[str]:
        return [text for _, text, _ in compare(expected, [right | changed])]

    assert differences() == []
    assert differences(rows=[["1.50"], ["7"], [""]]) == ["record 1, rows: '7' in place of '007'"]
    assert differences(answers=["2024"]) == ["record 1, answers: '2024' in place of {'date': '2024-05-01'}"]
    assert differences(answers=[]) == ["record 1, answers: [] in place of [{'date': '2024-05-01'}]"]
    assert list(compare(expected, [])) == [("records", "0 records in place of 1", "")]


def test_only_whole_words_of_a_note_quote_a_text() -> None:
    shown = Preview("own", report=Report(findings=(Finding("split", 1, 2, "q1", "e | f"),)))

    assert all(is_said(text, shown) for text in ("e", "e | f"))
    assert not any(is_said(text, shown) for text in ("1", "2", "q1", "", "the"))
    assert not is_said("a", Preview("own", report=Report(findings=(Finding("lists", 1, 2, "q1", "banana"),))))


if __name__ == "__main__":
    text = json.dumps(measured(), ensure_ascii=False, indent=1)
    (HERE / "outcomes.json").write_text(text + "\n", encoding="utf-8")
    print({kind: len(files) for kind, files in json.loads(text).items()})
