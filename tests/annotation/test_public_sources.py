"""Originals of a release are those of the public dataset: `verify_release --source` reads it again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.imports import example_import
from annotation.releases import creation, release_files
from tableqa.releases.public_sources import PublicFiles, compare_source
from tableqa.releases.record_files import Difference
from tableqa.releases.release_records import ReleaseRecords
from tests.annotation.cast import NOON, make_world

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = {
    "wtq": FIXTURES / "wtq/excerpt-dev.tsv",
    "tat_qa": FIXTURES / "tat_qa/excerpt-dev.json",
    "sqa": FIXTURES / "sqa/excerpt-dev.tsv",
}


@pytest.fixture
def folder(db: None, tmp_path: Path) -> Path:
    """A release of three imported datasets, without work."""
    project = make_world(tmp_path / "world").project
    for reader, path in FILES.items():
        example_import.import_examples(
            project=project, reader=reader, path=path, name=reader, now=NOON, limit=8
        )
    out = tmp_path / "release"
    creation.make_release(project=project, name="v1", format="askew", by=None, now=NOON, out=out)
    return out


def change(folder: Path, edit: Callable[[list[dict[str, Any]]], object]) -> ReleaseRecords:
    path = folder / "sources.jsonl"
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    edit(records)
    release_files.write_records(path, records)
    return ReleaseRecords.load(folder)


def original(records: list[dict[str, Any]], source: str) -> dict[str, Any]:
    return next(record for record in records if record["kind"] == "example" and record["source"] == source)


def test_originals_are_those_of_the_public_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("verify_release", folder, *(f"--source={name}={path}" for name, path in FILES.items()))

    printed = capsys.readouterr().out
    assert all(f"{name}: 8 originals are those of {path}." in printed for name, path in FILES.items())


def change_question(records: list[dict[str, Any]]) -> None:
    original(records, "wtq")["question"] += " really"


def change_answer(records: list[dict[str, Any]]) -> None:
    original(records, "wtq")["answers"] = ["42"]


def change_table(records: list[dict[str, Any]]) -> None:
    """A table with its right digest, in place of the one before."""
    record = original(records, "wtq")
    others = {line["digest"] for line in records if line["kind"] == "table"} - {record["table"]}
    record["table"] = min(others)


def change_licence(records: list[dict[str, Any]]) -> None:
    next(record for record in records if record.get("name") == "wtq")["licence"] = "MIT"


def change_paragraphs(records: list[dict[str, Any]]) -> None:
    original(records, "tat_qa")["more"]["context"] = {}


def change_id(records: list[dict[str, Any]]) -> None:
    original(records, "sqa")["id"] = "invented"


@pytest.mark.parametrize(
    ("source", "edit", "fault"),
    [
        ("wtq", change_question, "the question of example .* really"),
        ("wtq", change_answer, r"the answers of example .*\['42'\], there"),
        ("wtq", change_table, "the table of example"),
        ("wtq", change_licence, "the licence of wtq is 'MIT', excerpt-dev.tsv has"),
        ("tat_qa", change_paragraphs, "the context of example"),
        ("sqa", change_id, "example 'invented' of sqa is not in excerpt-dev.tsv"),
    ],
)
def test_an_original_that_was_changed_is_named(
    folder: Path, source: str, edit: Callable[[list[dict[str, Any]]], object], fault: str
) -> None:
    raw = change(folder, edit)

    with pytest.raises(Difference, match=fault):
        compare_source(raw, source, PublicFiles([FILES[source]]))


def test_a_source_or_a_file_that_is_not_there_is_named(folder: Path) -> None:
    for arguments, fault in (
        ("--source=nothing=x", "there is no source 'nothing'. Available: films-dev, sqa, tat_qa, wtq"),
        ("--source=wtq=nowhere.tsv", "nowhere.tsv"),
        ("--source=wtq", "write NAME=VALUE"),
    ):
        with pytest.raises(CommandError, match=fault):
            call_command("verify_release", folder, arguments)
