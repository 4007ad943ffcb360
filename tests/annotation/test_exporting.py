"""Responses of a release in the files of other tools, each read by what reads such files."""

from __future__ import annotations

import csv
import json
import re
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from hypothesis import given
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from annotation.quality import guidelines
from annotation.releases import argilla, creation, raw_records, tool_exports
from tableqa.core.canonical_json import canonical
from tableqa.readers import READERS
from tableqa.releases import record_files
from tasks.contract import task_type
from tests.annotation.cast import NOON, World

RELEASE = Path(__file__).parent / "release_of_november"


def current(folder: Path) -> list[dict[str, Any]]:
    records = record_files.records(folder / "annotations.jsonl")
    return [one for one in records if one["newest"] and one["response"] is not None]


def test_a_csv_file_has_one_row_per_response(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "responses.csv"
    call_command("export_release", RELEASE, out, "--to", "csv")
    with out.open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    expected = current(RELEASE)
    assert [row["response"] for row in written] == [one["id"] for one in expected]
    assert [row["annotator"] for row in written] == [one["annotator"] for one in expected]
    labels = [one["response"]["data"].get("label", "") for one in expected]
    assert [row["response.label"] for row in written] == labels
    assert "Not included: earlier revisions" in capsys.readouterr().out


def test_rows_say_who_is_simulated(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(RELEASE, folder)
    path = folder / "annotations.jsonl"
    path.write_text(path.read_text("utf-8").replace('"simulated":false', '"simulated":true', 1), "utf-8")

    for form in ("csv", "xlsx"):
        call_command("export_release", folder, tmp_path / f"out.{form}", "--to", form)

    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        in_csv = [row["simulated"] for row in csv.DictReader(file)]
    sheet = CalamineWorkbook.from_path(tmp_path / "out.xlsx").get_sheet_by_name("Responses")
    header, *cells = sheet.to_python()
    assert [row[header.index("simulated")] for row in cells] == in_csv
    assert in_csv.count("true") == 1


def test_a_workbook_has_the_rows_of_the_csv_file(tmp_path: Path) -> None:
    for form in ("csv", "xlsx"):
        call_command("export_release", RELEASE, tmp_path / f"out.{form}", "--to", form)
    sheet = CalamineWorkbook.from_path(tmp_path / "out.xlsx").get_sheet_by_name("Responses")
    header, *cells = sheet.to_python()
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    assert header == names
    texts = [
        column for column, name in enumerate(names) if name in ("response", "question", "response.label")
    ]
    assert [[row[at] for at in texts] for row in cells] == [[row[at] for at in texts] for row in rows]


def test_tasks_of_label_studio_have_their_annotations(tmp_path: Path) -> None:
    out = tmp_path / "label_studio"
    call_command("export_release", RELEASE, out, "--to", "label_studio")
    written = [task for path in sorted(out.glob("*.json")) for task in json.loads(path.read_text("utf-8"))]
    annotations = {}
    for annotation in (one for task in written for one in task["annotations"]):
        (whole,) = [one for one in annotation["result"] if one["from_name"] == tool_exports.RESPONSE]
        stored = json.loads(whole["value"]["text"][0])
        annotations[stored["id"]] = stored | {"is_accepted": annotation["ground_truth"]}
    expected = {one["id"]: one for one in current(RELEASE)}
    assert annotations.keys() == expected.keys()
    for id, stored in annotations.items():
        assert stored["annotator"] == expected[id]["annotator"]
        assert stored["data"] == expected[id]["response"]["data"]
    assert any(stored["is_accepted"] for stored in annotations.values())


def test_controls_of_the_configuration_are_those_of_the_results(tmp_path: Path) -> None:
    out = tmp_path / "label_studio"
    call_command("export_release", RELEASE, out, "--to", "label_studio")
    for path in out.glob("*.json"):
        view = ElementTree.fromstring(path.with_suffix(".xml").read_text("utf-8"))
        controls = {one.get("name"): one for one in view if one.get("toName")}
        for task in json.loads(path.read_text("utf-8")):
            for result in (one for annotation in task["annotations"] for one in annotation["result"]):
                control = controls[result["from_name"]]
                assert control.tag.lower() == result["type"]
                if result["type"] == "choices":
                    options = {one.get("value") for one in control}
                    assert set(result["value"]["choices"]) <= options


def test_exported_tasks_are_read_by_the_reader_of_label_studio(tmp_path: Path) -> None:
    out = tmp_path / "label_studio"
    call_command("export_release", RELEASE, out, "--to", "label_studio")
    for path in out.glob("*.json"):
        tasks = json.loads(path.read_text("utf-8"))
        examples = list(READERS["label_studio"](path))
        assert [one.question for one in examples] == [task["data"]["question"] for task in tasks]
        assert [list(one.table.header) for one in examples] == [
            task["data"]["table"]["header"] for task in tasks
        ]


def test_texts_like_formulas_stay_texts(world: World, tmp_path: Path) -> None:
    batch = world.batch("question_type")
    while (assignment := world.take(batch, "ada")) is not None:
        world.answer(assignment, {"label": "extraction"})
    folder = tmp_path / "release"
    creation.make_release(project=world.project, name="v1", format="askew", by=None, now=NOON, out=folder)
    path = folder / "sources.jsonl"
    path.write_text(path.read_text("utf-8").replace('"question":"', '"question":"=1+1 '), encoding="utf-8")
    for form in ("csv", "xlsx"):
        call_command("export_release", folder, tmp_path / f"out.{form}", "--to", form)
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert all(row["question"].startswith("'=1+1") for row in csv.DictReader(file))


def test_a_file_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="already exists"):
        call_command("export_release", RELEASE, tmp_path, "--to", "csv")


def test_a_folder_that_is_no_release_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is not a release"):
        call_command("export_release", tmp_path, tmp_path / "out.csv", "--to", "csv")


def changed_release(folder: Path, **lines: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> Path:
    """A copy of the release; each record of the file `NAME.jsonl` becomes those that the function NAME gives."""
    shutil.copytree(RELEASE, folder)
    for name, change in lines.items():
        path = folder / f"{name}.jsonl"
        records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        written = [canonical(line) + "\n" for record in records for line in change(record)]
        path.write_text("".join(written), "utf-8")
    return folder


def export(folder: Path, out: Path, form: str) -> str:
    """The text of all files of an export."""
    call_command("export_release", folder, out, "--to", form)
    if form == "xlsx":
        return str(CalamineWorkbook.from_path(out).get_sheet_by_name("Responses").to_python())
    files = [out] if out.is_file() else sorted(path for path in out.rglob("*") if path.is_file())
    return "".join(path.read_text("utf-8") for path in files)


def test_columns_of_the_same_name_stay_apart_in_label_studio(tmp_path: Path) -> None:
    def twice(record: dict[str, Any]) -> list[dict[str, Any]]:
        if record["kind"] == "table":
            record["content"]["header"] = ["Year", "Year", "Year (2)"]
        return [record]

    folder = changed_release(tmp_path / "release", sources=twice)
    export(folder, tmp_path / "out", "label_studio")
    for path in (tmp_path / "out").glob("*.json"):
        for task, example in zip(
            json.loads(path.read_text("utf-8")), READERS["label_studio"](path), strict=True
        ):
            assert list(example.table.header) == task["data"]["table"]["header"]
            assert [tuple(row.values()) for row in task["data"]["cells"]] == list(example.table.rows)
            assert list(task["data"]["cells"][0]) == ["Year", "Year (3)", "Year (2)"]


@given(st.lists(st.sampled_from(["a", "", "a (2)", "a (3)", "b"])))
def test_columns_of_the_page_have_one_name_each_and_keep_the_first(header: list[str]) -> None:
    names = tool_exports._unique_names(header)
    assert len(set(names)) == len(header)
    assert [name for place, name in enumerate(header) if name not in header[:place]] == [
        name for name in names if name in header
    ]


def test_records_of_argilla_have_their_own_ids_where_examples_share_one(tmp_path: Path) -> None:
    """Two sources of a batch may have an example "nu-0"."""

    def of_two_sources(record: dict[str, Any]) -> list[dict[str, Any]]:
        if record["kind"] in ("source", "example"):
            name = "name" if record["kind"] == "source" else "source"
            return [record, {**record, name: "other"}]
        return [record]

    def moved(record: dict[str, Any]) -> list[dict[str, Any]]:
        if "~" in record["example"]:
            return [record]
        other = {**record, "item": f"other-{record['item']}", "id": f"o{record['id']}", "source": "other"}
        return [record, other]

    folder = changed_release(tmp_path / "release", sources=of_two_sources, annotations=moved)
    export(folder, tmp_path / "out", "argilla")
    number = 0
    for path in (tmp_path / "out").glob("*/records.json"):
        written = json.loads(path.read_text("utf-8"))
        ids = [record["id"] for record in written]
        assert len(set(ids)) == len(ids)
        assert {id.split(" ")[0].split("~")[0] for id in ids} <= {f"nu-{number}" for number in range(4)}
        number += sum(" (other-" in id for id in ids)
    assert number == 8


def test_argilla_gets_the_guidelines_that_people_of_a_batch_worked_under(
    world: World, tmp_path: Path
) -> None:
    task = task_type("question_type")
    first, second = world.batch("question_type", size=1), world.batch("question_type", size=1)
    world.label(first, "ada", "extraction")
    guidelines.revise(project=world.project, task=task, text="# Our own rules", person=world.mara, now=NOON)
    world.label(second, "ada", "extraction")
    unanswered = world.batch("question_type", size=1)
    folder, out = tmp_path / "release", tmp_path / "out"
    creation.make_release(project=world.project, name="v1", format="askew", by=None, now=NOON, out=folder)

    export(folder, out, "argilla")

    for file in ("dataset", "settings"):
        texts = [
            json.loads((out / batch.public_id / ".argilla" / f"{file}.json").read_text("utf-8"))["guidelines"]
            for batch in (first, second, unanswered)
        ]
        assert texts == [task.guidelines(), "# Our own rules", "# Our own rules"]


MARKS = {
    "earlier revisions": "M-revision",
    "history and context of questions": "M-context",
    "guidelines": "M-guidelines",
    "proposals": "M-proposal",
    "licences": "M-licence",
    "tables": "M-cell",
    "caption and further header rows of tables": "M-caption",
    "items without a response": "M-item",
}
"""What a release has, by how a form says that it does not have it."""


@pytest.mark.parametrize("form", [*tool_exports.FORMS, "argilla"])
def test_each_form_says_what_it_does_not_contain(tmp_path: Path, form: str) -> None:
    folder = marked(tmp_path / "release")
    text = export(folder, tmp_path / "out", form)
    said = {**tool_exports.LOSES, "argilla": argilla.LOSES, "xlsx": tool_exports.LOSES["csv"]}[form]
    lacking = {words for words, mark in MARKS.items() if mark not in text}
    parts = {part.strip() for part in re.split("[,;]", said)}
    assert lacking == {
        words for words in MARKS if words in parts or ("tables" in parts and words.endswith("tables"))
    }


def marked(folder: Path) -> Path:
    """The release with a mark in each of its parts."""

    def source(record: dict[str, Any]) -> list[dict[str, Any]]:
        if record["kind"] == "source":
            record["licence"] = "M-licence"
        if record["kind"] == "table":
            record["content"]["rows"][0][0] = "M-cell"
            record["content"]["caption"] = "M-caption"
        if record["kind"] == "example":
            record["more"]["context"] = {"text": "M-context"}
        return [record]

    def earlier(record: dict[str, Any]) -> list[dict[str, Any]]:
        data = {**record["response"]["data"], "label": "M-revision", "answers": ["M-revision"]}
        first = {
            **record,
            "id": f"e{record['id']}",
            "newest": False,
            "response": {**record["response"], "data": data},
        }
        return [first, {**record, "revision": 2}]

    changed_release(folder, sources=source, annotations=earlier)
    annotation = json.loads((RELEASE / "annotations.jsonl").read_text("utf-8").splitlines()[0])
    item = {
        "kind": "item",
        "id": "M-item",
        "batch": annotation["batch"],
        "source": "films-dev",
        "example": "nu-3",
    }
    with (folder / "sources.jsonl").open("a", encoding="utf-8") as file:
        file.write(canonical(item) + "\n")
    proposal = {
        **{name: annotation[name] for name in ("batch", "item")},
        "id": "p1",
        "maker": "M-proposal",
        "score": 0.5,
        "data": annotation["response"]["data"],
    }
    (folder / "proposals.jsonl").write_text(canonical(proposal) + "\n", "utf-8")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    for version in manifest["guidelines"]:
        version["text"] = "M-guidelines"
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return folder


@pytest.mark.parametrize("form", [*tool_exports.FORMS, "argilla"])
def test_an_export_holds_one_record_at_a_time(tmp_path: Path, form: str) -> None:
    """Items with 40 kB of response and of proposal each: more than 10 MB of decisions, and as much of proposals."""

    def many(record: dict[str, Any]) -> list[dict[str, Any]]:
        if record["batch"] != batch:
            return [record]
        data = {**record["outcomes"][0]["response"]["data"], "label": "x" * 40_000}
        outcome = {**record["outcomes"][0], "response": {**record["outcomes"][0]["response"], "data": data}}
        return [{**record, "item": f"{record['item']}-{n}", "outcomes": [outcome]} for n in range(80)]

    records = [json.loads(line) for line in (RELEASE / "decisions.jsonl").read_text("utf-8").splitlines()]
    batch = next(
        one["batch"]
        for one in records
        if one["outcomes"] and "label" in one["outcomes"][0]["response"]["data"]
    )
    decided = [one["item"] for one in records if one["batch"] == batch]
    folder = changed_release(tmp_path / "release", decisions=many)
    proposal = {"batch": batch, "maker": "m", "score": 1, "data": {"label": "x" * 40_000}}
    proposals = [
        canonical({**proposal, "item": f"{item}-{n}", "id": f"p{n}"}) for item in decided for n in range(80)
    ]
    (folder / "proposals.jsonl").write_text("\n".join(proposals) + "\n", "utf-8")
    del proposals
    release = raw_records.load(folder)
    write = {
        "csv": tool_exports.write_csv,
        "xlsx": tool_exports.write_xlsx,
        "label_studio": tool_exports.write_label_studio,
        "argilla": argilla.write_argilla,
    }[form]
    write(raw_records.load(RELEASE), tmp_path / "warm")  # what is imported and cached once
    tracemalloc.start()
    try:
        write(release, tmp_path / "out")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 5_000_000


def test_an_option_with_a_line_break_stays_one_in_label_studio() -> None:
    field = SimpleNamespace(name="kind", kind="choice", choices=[("first line\nsecond\tline", "")])

    written = tool_exports.configuration(cast(Any, SimpleNamespace(fields=[field])), 1)

    (choice,) = ElementTree.fromstring(written).iter("Choice")
    assert choice.get("value") == "first line\nsecond\tline"
