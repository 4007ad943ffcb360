"""Responses of a release in the files of other tools, each read by what reads such files."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from python_calamine import CalamineWorkbook

from annotation.journeys import releasing
from annotation.releases import exporting, release_files
from tableqa.readers import READERS
from tests.annotation.cast import NOON, World

RELEASE = Path(__file__).parent / "release_of_november"


def current(folder: Path) -> list[dict[str, Any]]:
    records = release_files.records(folder / "annotations.jsonl")
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
        (whole,) = [one for one in annotation["result"] if one["from_name"] == exporting.RESPONSE]
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
    releasing.make_release(project=world.project, name="v1", format="askew", by=None, now=NOON, out=folder)
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
