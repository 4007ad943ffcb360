"""A release is verified by the library: what follows from its records without task types."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tableqa import Release
from tableqa.releases.record_files import Difference
from tableqa.releases.verification import describe

RELEASE = Path(__file__).parents[1] / "annotation" / "release_of_november"
Change = Callable[[list[Any]], None]


def changed(folder: Path, name: str, change: Change) -> Release:
    """A copy of the release with changed records or, of manifest.json, a changed field. Its checksums are right."""
    shutil.copytree(RELEASE, folder, dirs_exist_ok=True)
    path = folder / name
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    change(records)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["files"] = describe(folder)
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return Release.load(folder)


def test_a_release_verifies_and_says_what_was_checked() -> None:
    checked = Release.load(RELEASE).verify()

    assert checked == {"files": 10, "annotations": 18, "decisions": 9, "replayed": 4, "made_again": 5}


def of_outcome(records: list[Any]) -> Any:
    """The first outcome with an example."""
    return next(
        outcome for record in records for outcome in record["outcomes"] if outcome["example"] is not None
    )


def set_new_text(records: list[Any]) -> None:
    of_outcome(records)["example"]["operations"][0]["new"] = "1901"


def name_another_annotation(records: list[Any]) -> None:
    of_outcome(records)["annotations"] = ["nobody"]


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("annotations.jsonl", lambda records: records.pop(), r"counts\.\w+ is \d+, the records give"),
        ("annotations.jsonl", lambda records: records[0].update(batch="x"), r"there is no batch 'x'"),
        ("annotations.jsonl", lambda records: records[0].update(example="x"), r"example 'x' .* in no record"),
        ("annotations.jsonl", lambda records: records.append(records[0]), r"appears 2 times"),
        (
            "annotations.jsonl",
            lambda records: records[0]["guidelines"].update(digest="x"),
            r"the guidelines 1 of",
        ),
        ("decisions.jsonl", name_another_annotation, r"annotation nobody is not one of this item"),
        ("decisions.jsonl", set_new_text, r"the replayed table of|does not replay"),
        ("perturbations.jsonl", lambda records: records[0].update(digest="x"), r"line 1: .* gives"),
        ("sources.jsonl", lambda records: records[0].update(licence="x"), r"the sources differ"),
    ],
    ids=["count", "batch", "example", "twice", "guidelines", "annotation", "replay", "automatic", "source"],
)
def test_a_record_that_does_not_fit_the_others_is_named(
    tmp_path: Path, name: str, change: Change, fault: str
) -> None:
    with pytest.raises(Difference, match=fault):
        changed(tmp_path, name, change).verify()


def test_a_file_that_is_not_as_the_manifest_says_is_named(tmp_path: Path) -> None:
    shutil.copytree(RELEASE, tmp_path, dirs_exist_ok=True)
    (tmp_path / "decisions.jsonl").write_text("{}\n", "utf-8")

    with pytest.raises(Difference, match=r"decisions\.jsonl: bytes is 3"):
        Release.load(tmp_path).verify()


def test_a_record_without_the_form_of_a_release_is_a_difference(tmp_path: Path) -> None:
    with pytest.raises(Difference, match="does not have the form of a release"):
        changed(tmp_path, "annotations.jsonl", lambda records: records[0].pop("place")).verify()
