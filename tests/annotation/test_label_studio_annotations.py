"""Annotations in a Label Studio export: an import says how many it leaves out, and the way it names brings them in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.imports import example_import
from annotation.models import Annotation
from annotation.platform.refusals import ActionRefused
from tableqa.readers.interface import Credit
from tests.annotation.cast import NOON, World

TABLE = [["Film", "Year"], ["Heat", "1995"]]


def annotation(label: str, **more: Any) -> dict[str, Any]:
    result = [{"from_name": "type", "to_name": "question", "value": {"choices": [label]}}]
    return {"id": 1, "result": result, **more}


def export(folder: Path, *annotations_of_tasks: list[dict[str, Any]]) -> Path:
    tasks = [
        {"id": number, "data": {"question": "when?", "table": TABLE}, "annotations": given}
        for number, given in enumerate(annotations_of_tasks, start=1)
    ]
    path = folder / "export.json"
    path.write_text(json.dumps(tasks), "utf-8")
    return path


def left_out(world: World, path: Path, **more: Any) -> str:
    done = example_import.import_examples(
        project=world.project, reader="label_studio", path=path, now=NOON, **more
    )
    return done.report.left_out


def test_an_import_says_how_many_annotations_it_leaves_out_and_how_to_import_them(
    world: World, tmp_path: Path
) -> None:
    skipped = annotation("c", was_cancelled=True)

    words = left_out(
        world, export(tmp_path, [annotation("a"), annotation("b")], [annotation("a"), skipped], [])
    )

    assert words.startswith("3 annotations of 2 tasks were not imported as responses.")
    for hint in ("Import responses", "import_responses", "answers=annotations.NAME"):
        assert hint in words


def test_one_annotation_is_one(world: World, tmp_path: Path) -> None:
    words = left_out(world, export(tmp_path, [annotation("a")]))

    assert words.startswith("1 annotation of 1 task was not imported as a response.")


def test_annotations_beyond_the_limit_are_not_counted(world: World, tmp_path: Path) -> None:
    path = export(tmp_path, [annotation("a")], [annotation("a")])

    assert left_out(world, path, limit=1).startswith("1 annotation of 1 task")


def test_what_was_taken_as_the_answer_is_not_counted(world: World, tmp_path: Path) -> None:
    path = export(tmp_path, [annotation("a"), annotation("b")], [annotation("a")])

    words = left_out(world, path, fields={"answers": "annotations.type"})

    assert words.startswith("1 annotation of 1 task was not imported")


@pytest.mark.parametrize("given", [[], [annotation("a", was_cancelled=True)]])
def test_an_export_without_annotations_says_nothing(
    world: World, tmp_path: Path, given: list[dict[str, Any]]
) -> None:
    assert left_out(world, export(tmp_path, given)) == ""


def test_the_command_says_it(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = export(tmp_path, [annotation("a")])
    command = ["import_examples", str(path), "--project", "films", "--reader", "label_studio"]

    call_command(*command)

    assert "1 annotation of 1 task was not imported" in capsys.readouterr().out


def test_examples_of_an_export_of_askew_keep_the_credit_of_their_sources(
    world: World, tmp_path: Path
) -> None:
    path = export(tmp_path, [], [], [])
    tasks = json.loads(path.read_text("utf-8"))
    for task, licence, url in zip(tasks, ("CC-BY-4.0", "MIT", "MIT"), ("https://a.org", "", ""), strict=True):
        task["meta"] = {"credit": {"licence": licence, "citation": f"Ann, {licence}", "url": url}}
    path.write_text(json.dumps(tasks), "utf-8")

    done = example_import.import_examples(project=world.project, reader="label_studio", path=path, now=NOON)

    credit = (done.source.licence, done.source.citation, done.source.url)
    assert credit == ("CC-BY-4.0 AND MIT", "Ann, CC-BY-4.0\nAnn, MIT", "https://a.org")


def test_a_licence_of_the_files_that_is_too_long_is_refused(world: World, tmp_path: Path) -> None:
    path = export(tmp_path, [])
    (task,) = json.loads(path.read_text("utf-8"))
    task["meta"] = {"credit": {"licence": "x" * 81}}
    path.write_text(json.dumps([task]), "utf-8")
    read: dict[str, Any] = {"project": world.project, "reader": "label_studio", "path": path, "now": NOON}

    with pytest.raises(ActionRefused, match=r"The licence has 81 characters, more than 80\. Enter an SPDX"):
        example_import.import_examples(**read)

    credit = Credit("MIT", "", "")
    assert example_import.import_examples(**read, credit=credit).source.licence == "MIT"


def test_applying_a_study_file_says_it(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(tmp_path, [annotation("a"), annotation("b")])
    file = tmp_path / "study.yaml"
    file.write_text(
        "study: 1\nproject: {slug: moved, name: Moved}\n"
        "sources:\n  - {name: tasks, reader: label_studio, path: export.json}\n"
    )

    call_command("study", "apply", str(file), manager="mara@example.org")

    assert "tasks: 2 annotations of 1 task were not imported" in capsys.readouterr().out


def test_the_way_it_names_brings_them_in(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    xenia, yuri = {"completed_by": 1}, {"completed_by": 2}
    path = export(tmp_path, [_typed("extraction", **xenia), _typed("reasoning", **yuri)])
    assert "import_responses --tool label_studio" in left_out(world, path)

    call_command("import_responses", str(path), project="films", tool="label_studio")

    labels = Annotation.objects.values_list("response__data__type_2", flat=True)
    assert sorted(labels) == ["extraction", "reasoning"]


def _typed(label: str, **more: Any) -> dict[str, Any]:
    result = [{"from_name": "type", "type": "choices", "value": {"choices": [label]}}]
    return {"id": 1, "result": result, **more}
